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
    split(CountedText::of(text), chars_max.max(1), SEPARATORS, &mut parts);
    let mut pieces = Vec::new();
    let (mut start, mut end, mut n_chars) = (0, 0, 0);
    for part in parts {
        if start < end && chars_max < n_chars + part.n_chars {
            pieces.push(&text[start..end]);
            (start, n_chars) = (end, 0);
        }
        end += part.text.len();
        n_chars += part.n_chars;
    }
    if start < end {
        pieces.push(&text[start..end]);
    }
    pieces
}

/// A text and the number of its characters.
#[derive(Clone, Copy)]
struct CountedText<'t> {
    text: &'t str,
    n_chars: usize,
}

impl<'t> CountedText<'t> {
    fn of(text: &'t str) -> CountedText<'t> {
        CountedText { text, n_chars: text.chars().count() }
    }

    /// Splits it after `n_bytes`, of which only the first part is counted.
    fn split_at(self, n_bytes: usize) -> (CountedText<'t>, CountedText<'t>) {
        let (first, text) = self.text.split_at(n_bytes);
        let first = CountedText::of(first);
        (first, CountedText { text, n_chars: self.n_chars - first.n_chars })
    }
}

/// Adds the parts of a text that fit, in a row.
fn split<'t>(
    text: CountedText<'t>,
    chars_max: usize,
    separators: &[&'static [&'static str]],
    parts: &mut Vec<CountedText<'t>>,
) {
    let finer = separators.get(1..).unwrap_or_default();
    let ends = separators.first().map(|here| ends_of_separators(text.text, here));
    let mut next = ends.iter().flatten();
    let mut rest = text;
    while chars_max < rest.n_chars {
        let start = text.text.len() - rest.text.len();
        let n_bytes = match &ends {
            Some(_) => next.next().map_or(text.text.len(), |it| *it) - start,
            None => rest.text.char_indices().nth(chars_max).map_or(rest.text.len(), |it| it.0),
        };
        let (part, after) = rest.split_at(n_bytes);
        match part.n_chars <= chars_max {
            true => parts.push(part),
            false => split(part, chars_max, finer, parts),
        }
        rest = after;
    }
    if !rest.text.is_empty() {
        parts.push(rest);
    }
}

/// Returns where separators end in a text, ascending. Each is looked for once.
fn ends_of_separators(text: &str, separators: &[&str]) -> Vec<usize> {
    let found = separators.iter().flat_map(|it| text.match_indices(*it));
    let mut ends: Vec<usize> = found.map(|(start, it)| start + it.len()).collect();
    ends.sort_unstable();
    ends
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
    fn long_texts_are_split_in_linear_time() {
        // Pieces of one kind, and those in which all separators but one are missing.
        for unit in ["\n", ". ", "1. ", ".. ", "! x", "; ", ", ", " ", "\n\n", "。", "é", "? \n"]
        {
            let text = unit.repeat(300_000 / unit.len());
            let pieces = split_into_pieces(&text, 4_000);
            assert_eq!(pieces.concat(), text);
            assert!(pieces.iter().all(|it| it.chars().count() <= 4_000), "{unit:?}");
        }
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
