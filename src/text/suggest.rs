//! Suggestions: the known name or word that a mistyped one most likely means.

/// Maximum length of names in bytes; longer ones get no suggestion.
const NAME_BYTES_MAX: usize = 64;

/// Returns the name at the smallest edit distance from `typed`, if that is small for its length.
/// Case, hyphens, underscores and spaces do not count.
pub(crate) fn suggest<'n>(
    typed: &str,
    names: impl IntoIterator<Item = &'n str>,
) -> Option<&'n str> {
    if NAME_BYTES_MAX < typed.len() {
        return None;
    }
    let letters = |name: &str| -> Vec<char> {
        let name = name.chars().filter(|it| !['_', '-', ' '].contains(it));
        name.flat_map(char::to_lowercase).collect()
    };
    let typed = letters(typed);
    names
        .into_iter()
        .map(|name| {
            let known = letters(name);
            (distance(&typed, &known), known.len(), name)
        })
        .min_by_key(|(n_edits, ..)| *n_edits)
        .filter(|(n_edits, n_letters, _)| *n_edits <= (*n_letters.max(&typed.len()) / 3).max(1))
        .map(|(.., name)| name)
}

/// Returns all spellings at one edit from a word in lower case, with the letters of its alphabet.
pub(crate) fn spellings_at_one_edit(word: &str) -> Vec<String> {
    let letters: Vec<char> = word.chars().collect();
    let alphabet = match letters.first() {
        Some('a'..='z') => 'a'..='z',
        Some('α'..='ω') => 'α'..='ω',
        Some('а'..='ё') => 'а'..='ё',
        // One of no letters.
        _ => 'z'..='a',
    };
    let mut found = Vec::new();
    let mut add = |before: &[char], between: &[char], after: &[char]| {
        found.push([before, between, after].concat().into_iter().collect());
    };
    for at in 0..=letters.len() {
        let (before, after) = letters.split_at(at);
        for letter in alphabet.clone() {
            add(before, &[letter], after);
            if let [_, rest @ ..] = after {
                add(before, &[letter], rest);
            }
        }
        if let [first, rest @ ..] = after {
            add(before, &[], rest);
            if let [second, rest @ ..] = rest {
                add(before, &[*second, *first], rest);
            }
        }
    }
    found
}

/// Returns the edit distance: insertions, deletions, replacements and swaps of neighbours.
fn distance(from: &[char], to: &[char]) -> usize {
    let mut rows: Vec<Vec<usize>> = vec![(0..=to.len()).collect()];
    for i in 1..=from.len() {
        let mut row = vec![i];
        for j in 1..=to.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(from[i - 1] != to[j - 1]);
            let mut best = replaced.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if 1 < i && 1 < j && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[from.len()][to.len()]
}

#[cfg(test)]
mod tests;
