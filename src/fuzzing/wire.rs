//! Answers of a PostgreSQL server with any bytes: cut in any way, they come to the same.

use crate::server::postgres::talk_to_scripted;

/// Panics when `data` as all that a server says violates an invariant: how it comes in pieces
/// matters, or an answer has fewer or more lists of rows than there are statements.
pub fn wire(data: &[u8]) {
    let whole = talk_to_scripted([data]);
    assert!(!whole.is_empty());
    assert_eq!(whole, talk_to_scripted(data.chunks(1)), "byte by byte");
    let n = 2 + usize::from(data.first().copied().unwrap_or_default());
    assert_eq!(whole, talk_to_scripted(data.chunks(n)), "{n} bytes at a time");
}
