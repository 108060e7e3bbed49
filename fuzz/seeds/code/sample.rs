// A licence.

use std::fmt;
const LIMIT: usize = 3;

/// Opens the store.
#[inline]
pub(crate) fn open<'a>(
    path: &'a str,
) -> Option<Store<'a>>
where
    Store<'a>: Sized,
{
    let brace = '{';
    let text = r#"
fn not_a_function() {
"#;
    None
}

#[derive(Clone)]
pub struct Store<'a>(&'a str);

impl Store<'_> {
    const NAME: &'static str = "}";

    /// Reads.
    fn read(&self) {}

    /* A comment /* in a comment */ */
    async fn write(&mut self) {
        loop {}
    }
}
static LAST: u8 = 0;
macro_rules! twice { ($it:expr) => { $it; $it } }
