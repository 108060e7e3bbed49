//! Splits a long text into pieces at the best places: between sections, paragraphs, lines,
//! sentences, clauses or words.
//!
//! The pieces in a row are the text, character by character.

/// Ends after which a text may be split, best first. A piece keeps its end.
const SEPARATORS: &[&[&str]] = &[
    &["\n\n\n"],
    &["\n\n"],
    &["\n"],
    &[". ", "! ", "? ", "。", "！", "？"],
    &["; "],
    &[", "],
    &[" "],
];

/// Returns the pieces of a text, each of at most `chars_max` characters. Neighbours are one piece
/// as long as they fit.
pub(crate) fn split_into_pieces(text: &str, chars_max: usize) -> Vec<&str> {
    let mut parts = Vec::new();
    split(text, chars_max.max(1), SEPARATORS, &mut parts);
    let mut pieces = Vec::new();
    let (mut start, mut end, mut n_chars) = (0, 0, 0);
    for part in parts {
        let n_part = part.chars().count();
        if start < end && chars_max < n_chars + n_part {
            pieces.push(&text[start..end]);
            (start, n_chars) = (end, 0);
        }
        end += part.len();
        n_chars += n_part;
    }
    if start < end {
        pieces.push(&text[start..end]);
    }
    pieces
}

/// Adds the parts of a text that fit, in a row.
fn split<'t>(text: &'t str, chars_max: usize, separators: &[&[&str]], parts: &mut Vec<&'t str>) {
    let mut rest = text;
    while !rest.is_empty() {
        if rest.chars().nth(chars_max).is_none() {
            return parts.push(rest);
        }
        let Some((here, finer)) = separators.split_first() else {
            let (end, _) = rest.char_indices().nth(chars_max).unwrap_or((rest.len(), ' '));
            parts.push(&rest[..end]);
            rest = &rest[end..];
            continue;
        };
        let part = first_part(rest, here);
        match part.chars().nth(chars_max) {
            None => parts.push(part),
            Some(_) => split(part, chars_max, finer, parts),
        }
        rest = &rest[part.len()..];
    }
}

/// Returns the text up to the end of the first separator.
fn first_part<'t>(text: &'t str, separators: &[&str]) -> &'t str {
    let ends = separators.iter().filter_map(|it| text.find(it).map(|at| at + it.len()));
    &text[..ends.min().unwrap_or(text.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, chars_max: usize, pieces: &[&str]) {
        assert_eq!(split_into_pieces(text, chars_max), pieces);
    }

    #[test]
    fn texts_are_split_at_the_best_places() {
        check("", 5, &[]);
        check("short", 5, &["short"]);
        check(
            "One.\n\nTwo two. Three.\n\nFour.",
            12,
            &["One.\n\n", "Two two. ", "Three.\n\n", "Four."],
        );
        check("One. Two. Three.", 10, &["One. Two. ", "Three."]);
        check("abcdefgh", 3, &["abc", "def", "gh"]);
        check("ünïcödé", 3, &["ünï", "cöd", "é"]);
    }

    #[test]
    fn nothing_is_lost_and_nothing_is_too_long() {
        let text = "A word, another; a sentence. 句子。\nA line\n\n\nA section 🦀 withoutanyspaces"
            .repeat(7);
        for chars_max in 1..60 {
            let pieces = split_into_pieces(&text, chars_max);
            assert_eq!(pieces.concat(), text);
            assert!(pieces.iter().all(|it| (1..=chars_max).contains(&it.chars().count())));
        }
    }
}
