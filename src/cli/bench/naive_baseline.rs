//! The naive side of the benchmark: lists of files, matching lines, whole files.

use std::cmp::Reverse;

use crate::text::tokens;

/// A file of notes.
pub(super) struct NoteFile {
    /// Relative to the folder.
    pub(super) path: String,
    pub(super) text: String,
}

impl NoteFile {
    /// Returns the tokens of its text.
    pub(super) fn tokens(&self) -> u32 {
        tokens::count(&self.text)
    }
}

/// Returns the tokens of the list of all files.
pub(super) fn listing_tokens(notes: &[NoteFile]) -> u32 {
    tokens::count(&notes.iter().map(|it| format!("./{}\n", it.path)).collect::<String>())
}

/// Returns the tokens of a search by `grep`. It sends every line with a word of the question, then
/// the whole files with most of the words, up to one that `has` the answer; `None` when no such
/// file has it.
pub(super) fn search_tokens(
    notes: &[NoteFile],
    words: &[String],
    has: impl Fn(&NoteFile) -> bool,
) -> Option<u32> {
    let mut lines = String::new();
    let mut matched: Vec<(usize, usize, &NoteFile)> = Vec::new();
    for note in notes {
        let mut seen = vec![false; words.len()];
        let mut n_lines = 0;
        for (line, nth) in note.text.lines().zip(1..) {
            let lower = line.to_lowercase();
            let mut is_match = false;
            for (word, seen) in words.iter().zip(&mut seen) {
                let is_here = lower.contains(word.as_str());
                *seen |= is_here;
                is_match |= is_here;
            }
            if is_match {
                n_lines += 1;
                lines += &format!("{}:{nth}:{line}\n", note.path);
            }
        }
        if 0 < n_lines {
            matched.push((seen.iter().filter(|it| **it).count(), n_lines, note));
        }
    }
    matched.sort_unstable_by_key(|&(n_words, n_lines, note)| {
        Reverse((n_words, n_lines, Reverse(&note.path)))
    });
    let mut sent = tokens::count(&lines);
    for (_, _, note) in matched {
        sent = sent.saturating_add(note.tokens());
        if has(note) {
            return Some(sent);
        }
    }
    None
}

#[cfg(test)]
mod tests;
