//! References in any text, and in texts made of pieces of references.

use crate::ingest::parse::link::{extract, strip_parameters};
use crate::model::links::front_matter_names;
use crate::model::links::reference::WEIGHT_MAX;
use crate::model::links::resolve::names_needed_by;

#[rustfmt::skip]
const PIECES: [&str; 40] = [
    "[[", "]]", "[", "]", "(", ")", "![[", "|", "#", ";", " w=2", "w = 1e9", "; w=-3", "; id=",
    ";source=a.md", "; why", "Label", "Development", "\n", "\n\n", "```", "`", "``", "~~~", "\\",
    "*", "_", "**", "<knowledge", " weight=\"3\"", ">", "</knowledge>", "<code>", "</code>", "<!--",
    "&amp;", "other.md", " \"t\"", "ä", "\u{0}",
];

/// Panics when extracting references from the text in `data` violates an invariant.
pub fn link(data: &[u8]) {
    check(&String::from_utf8_lossy(data));
    let woven: String = data.iter().map(|byte| PIECES[usize::from(*byte) % PIECES.len()]).collect();
    check(&woven);
}

fn check(text: &str) {
    for reference in extract(text) {
        assert!(!reference.label.trim().is_empty(), "{text:?}");
        assert!(!reference.label.contains('\n'), "{text:?}");
        assert!(reference.weight.is_finite(), "{text:?}");
        assert!((0.0..=WEIGHT_MAX).contains(&reference.weight), "{text:?}");
        let names = names_needed_by(&reference);
        assert!(!names.is_empty() && names.is_sorted(), "{text:?}");
    }
    let label = strip_parameters(text);
    assert_eq!(strip_parameters(&label), label, "{text:?}");
    assert!(label.len() <= text.len() + '…'.len_utf8(), "{text:?}");
    assert!(
        front_matter_names::front_matter_names(text).iter().all(|it| !it.is_empty()),
        "{text:?}"
    );
}
