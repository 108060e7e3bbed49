//! Exact cl100k token counts, from a vocabulary that is compiled into the program.
//!
//! A text is split into words by the encoding's own pattern ([`pretokenize`]), and the bytes of
//! each word are merged by the ranks of the [`cl100k_vocabulary`]. Tests compare both with the
//! encoding's reference, over random texts and over characters of all scripts.

mod cl100k_vocabulary;
mod pretokenize;
mod word_token_cache;

use word_token_cache::WordTokenCache;

/// Maximum bytes counted at once. Longer texts are counted piece by piece, which bounds the time
/// for one word.
const PIECE_BYTES_MAX: usize = 64 * 1024;

/// Returns the tokens of `text` in the cl100k_base encoding; special tokens count as ordinary text.
///
/// Exact for every text whose lines are shorter than 64 KiB; beyond that, each further 64 KiB of
/// one line may be off by one token.
pub(crate) fn count(text: &str) -> u32 {
    WordTokenCache::with(|counted| count_with(text, counted))
}

fn count_with(text: &str, counted: &mut WordTokenCache) -> u32 {
    let mut merge = cl100k_vocabulary::TokenCounter::default();
    let mut total: usize = 0;
    let mut rest = text;
    while !rest.is_empty() {
        let (mut piece, after) = rest.split_at(piece_end(rest));
        while !piece.is_empty() {
            let (word, left) = piece.split_at(pretokenize::word_end(piece));
            total += counted.tokens(word.as_bytes(), |word| merge.count(word));
            piece = left;
        }
        rest = after;
    }
    u32::try_from(total).unwrap_or(u32::MAX)
}

/// Returns whether `text` has at most `max` tokens; counts only when the bytes leave it open.
pub(crate) fn fits(text: &str, max: u32) -> bool {
    // A token is at least one byte.
    text.len() <= max as usize || count(text) <= max
}

/// Returns the end of a piece whose tokens can be counted apart. That is after a line break before
/// anything but white space, where the encoding's own pattern ends a word.
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
mod tests;
