//! Exact cl100k token counts, over a vocabulary that is loaded at the first count and can be let
//! go.
//!
//! Loading costs tens of milliseconds and some 20 MB, so nothing that does not count pays for it,
//! and an idle server drops it with [`release`].

use std::sync::{Arc, Mutex, PoisonError};

use tiktoken_rs::CoreBPE;

/// Longer texts are counted piece by piece, which bounds the tokenizer's memory.
const PIECE_BYTES_MAX: usize = 64 * 1024;

static VOCABULARY: Mutex<Option<Arc<CoreBPE>>> = Mutex::new(None);

/// Tokens of `text` in the cl100k_base encoding, special tokens being ordinary text.
///
/// Exact for every text whose lines are shorter than 64 KiB; beyond that, each further 64 KiB of
/// one line may be off by one token.
pub(crate) fn count(text: &str) -> u32 {
    if text.is_empty() {
        return 0;
    }
    let vocabulary = vocabulary();
    let mut total: usize = 0;
    let mut rest = text;
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(piece_end(rest));
        total += vocabulary.encode_ordinary(piece).len();
        rest = after;
    }
    u32::try_from(total).unwrap_or(u32::MAX)
}

/// Whether `text` has at most `max` tokens; loads no vocabulary when the bytes alone say yes.
pub(crate) fn fits(text: &str, max: u32) -> bool {
    // A token is at least one byte.
    text.len() <= max as usize || count(text) <= max
}

/// Drops the vocabulary; the next count loads it again.
pub(crate) fn release() {
    *VOCABULARY.lock().unwrap_or_else(PoisonError::into_inner) = None;
}

fn vocabulary() -> Arc<CoreBPE> {
    let mut slot = VOCABULARY.lock().unwrap_or_else(PoisonError::into_inner);
    let loaded = slot.get_or_insert_with(|| {
        Arc::new(tiktoken_rs::cl100k_base().expect("the vocabulary is part of the binary"))
    });
    Arc::clone(loaded)
}

/// Where to cut so that counting both sides apart gives the same sum: after a line break that is
/// followed by something other than white space, which is where the encoding's own pattern ends a
/// piece.
fn piece_end(text: &str) -> usize {
    if text.len() <= PIECE_BYTES_MAX {
        return text.len();
    }
    let head = &text.as_bytes()[..PIECE_BYTES_MAX];
    let seam = (1..head.len()).rev().find(|&at| {
        head[at - 1] == b'\n' && text.is_char_boundary(at) && starts_a_piece(&text[at..])
    });
    seam.unwrap_or_else(|| text.floor_char_boundary(PIECE_BYTES_MAX))
}

fn starts_a_piece(text: &str) -> bool {
    text.chars().next().is_some_and(|first| !first.is_whitespace())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_those_of_the_encoding() {
        assert_eq!(count(""), 0);
        assert_eq!(count("hello world"), 2);
        assert_eq!(count("<|endoftext|>"), 7);
    }

    #[test]
    fn counting_in_pieces_changes_nothing() {
        let text = "One line of text, 12345, `code`.\n\n  - indented\n".repeat(4000);
        assert!(PIECE_BYTES_MAX < text.len());
        let whole = vocabulary().encode_ordinary(&text).len();
        assert_eq!(count(&text) as usize, whole);
    }

    #[test]
    fn a_line_of_a_megabyte_is_counted_quickly() {
        assert!(0 < count(&"a".repeat(1 << 20)));
        assert!(0 < count(&" ".repeat(1 << 20)));
    }
}
