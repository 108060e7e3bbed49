//! Caches common words: those that many nodes had when the index was last asked.
//!
//! A common word stays one through most writes. So a process asks the index for it again only
//! after some uses.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Uses of a word before the index is asked again.
const USES_MAX: u8 = 64;
/// Words that are kept; with more, all are asked for again.
const WORDS_MAX: usize = 1_024;

/// Remembers which words are common, for the writes of one process.
#[derive(Debug, Default)]
pub(crate) struct CommonWordCache {
    uses_left: Mutex<HashMap<String, u8>>,
}

impl CommonWordCache {
    /// Takes one use of a word, and returns whether one was left.
    pub(super) fn take_use(&self, word: &str) -> bool {
        let mut uses_left = self.lock();
        let Some(left) = uses_left.get_mut(word) else { return false };
        match left.checked_sub(1) {
            Some(fewer) => *left = fewer,
            None => {
                uses_left.remove(word);
                return false;
            }
        }
        true
    }

    /// Notes that a word is common.
    pub(super) fn add(&self, word: &str) {
        let mut uses_left = self.lock();
        if WORDS_MAX <= uses_left.len() {
            uses_left.clear();
        }
        uses_left.insert(word.to_owned(), USES_MAX);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, u8>> {
        // Each entry is whole, whatever happened to the thread that held the lock.
        self.uses_left.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
