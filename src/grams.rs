//! placeholder
pub(crate) fn bigrams(_text: &str) -> Option<String> {
    None
}
