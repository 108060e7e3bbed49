//! Highlighting: the places of a question's words in a text, for people who read hits.

use std::ops::Range;

use super::{excerpt, query_parser};
use crate::text::spaceless_script_bigrams::{self, ScriptSpacing};

/// Returns the places of the words of `query` and of their forms in `text`, in order.
pub(crate) fn matched_places(text: &str, query: &str) -> Vec<Range<usize>> {
    let marks = query_parser::parse_query(query).marks;
    let origin = text.as_ptr() as usize;
    let mut places: Vec<Range<usize>> = Vec::new();
    for segment in spaceless_script_bigrams::segments(text) {
        let at = segment.text.as_ptr() as usize - origin;
        match segment.script {
            ScriptSpacing::Spaced => {
                let word = segment.text.to_lowercase();
                if marks.iter().any(|it| excerpt::is_same_word(&word, it)) {
                    places.push(at..at + segment.text.len());
                }
            }
            ScriptSpacing::Spaceless => {
                for mark in marks.iter().filter(|it| !it.is_empty()) {
                    let found = segment.text.match_indices(mark.as_str());
                    places.extend(found.map(|(offset, it)| at + offset..at + offset + it.len()));
                }
            }
        }
    }
    places.sort_unstable_by_key(|it| (it.start, it.end));
    places.dedup_by(|next, last| {
        let is_joined = next.start <= last.end;
        if is_joined {
            last.end = last.end.max(next.end);
        }
        is_joined
    });
    places
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(text: &str, query: &str, expected: Expect) {
        let mut marked = text.to_owned();
        for place in matched_places(text, query).into_iter().rev() {
            marked.insert(place.end, '>');
            marked.insert(place.start, '<');
        }
        expected.assert_eq(&marked);
    }

    #[test]
    fn words_and_their_forms_are_found() {
        check(
            "Valves leak; the valve's Valvet",
            "valve",
            expect!["<Valves> leak; the <valve>'s <Valvet>"],
        );
        check("Café and CAFÉ", "café", expect!["<Café> and <CAFÉ>"]);
        check("who is on call", "who is on call?", expect!["who is on <call>"]);
        check("rate-limit is a rate", "rate-limit", expect!["<rate>-<limit> is a <rate>"]);
        check("a text", "", expect!["a text"]);
    }

    #[test]
    fn words_of_scripts_without_spaces_are_found_within_a_run() {
        check("记忆系统很快", "系统", expect!["记忆<系统>很快"]);
    }
}
