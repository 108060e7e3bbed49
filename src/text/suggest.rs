//! Suggestions: the known name that a mistyped one most likely means.

/// Maximum length of names in bytes; longer ones get no suggestion.
const NAME_BYTES_MAX: usize = 64;

/// Returns the name at the smallest edit distance from `typed`, if that is small for its length.
pub(crate) fn suggest<'n>(
    typed: &str,
    names: impl IntoIterator<Item = &'n str>,
) -> Option<&'n str> {
    let typed = typed.to_ascii_lowercase();
    if NAME_BYTES_MAX < typed.len() {
        return None;
    }
    names
        .into_iter()
        .map(|name| (distance(typed.as_bytes(), name.to_ascii_lowercase().as_bytes()), name))
        .min_by_key(|(n_edits, _)| *n_edits)
        .filter(|(n_edits, name)| *n_edits <= (name.len().max(typed.len()) / 3).max(1))
        .map(|(_, name)| name)
}

/// Returns the Levenshtein distance.
fn distance(from: &[u8], to: &[u8]) -> usize {
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (idx, a) in from.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = idx + 1;
        for (jdx, b) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(a != b);
            diagonal = row[jdx + 1];
            row[jdx + 1] = replaced.min(row[jdx] + 1).min(row[jdx + 1] + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests;
