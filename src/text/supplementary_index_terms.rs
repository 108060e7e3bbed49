//! Supplementary index terms: what a node stores beside its text, so that full-text search finds
//! it.

use super::{diacritic_folding, spaceless_script_bigrams};

/// Returns the bigrams of a node's label and text, and the plain forms of accented words; `None`
/// without any.
pub(crate) fn index_terms(label: &str, content: &str) -> Option<String> {
    let may_have_any = |it: &str| {
        spaceless_script_bigrams::may_have_spaceless_run(it)
            || diacritic_folding::has_kept_accents(it)
    };
    if !may_have_any(label) && !may_have_any(content) {
        return None;
    }
    let text = format!("{label}\n{content}");
    match (spaceless_script_bigrams::bigrams(&text), diacritic_folding::plain_words(&text)) {
        (Some(pairs), Some(words)) => Some([pairs, words].join(" ")),
        (pairs, words) => pairs.or(words),
    }
}
