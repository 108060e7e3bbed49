//! A worksheet whose lists are filled as long as the budget of tokens lasts.

use serde_json::Value;

use crate::text::terminal_safe_json::json_text;
use crate::text::{self, tokens};

/// Tokens of a worksheet that are kept free: separators and numbers that grow.
const SPARE_TOKENS: u32 = 12;

/// Characters that a text which does not fit is cut to, at least.
const CUT_CHARS_MIN: usize = 40;

/// A JSON document with lists, and the tokens that are left for them.
pub(in crate::memory::knowledge) struct Worksheet {
    document: Value,
    budget: u32,
    n_used: u32,
}

impl Worksheet {
    pub(in crate::memory::knowledge) fn new(document: Value, budget: u32) -> Worksheet {
        let n_used = tokens::count(&json_text(&document)) + SPARE_TOKENS;
        Worksheet { document, budget, n_used }
    }

    /// Adds a value to a list if it fits into that share of the whole budget.
    pub(in crate::memory::knowledge) fn add(
        &mut self,
        list: &str,
        share: f64,
        value: Value,
    ) -> bool {
        let n_tokens = tokens::count(&json_text(&value)) + 1;
        if self.room(share) < n_tokens {
            return false;
        }
        self.n_used += n_tokens;
        if let Some(list) = self.document[list].as_array_mut() {
            list.push(value);
        }
        true
    }

    /// Adds a value with a text, which is cut until the value fits.
    pub(in crate::memory::knowledge) fn add_cut(
        &mut self,
        list: &str,
        share: f64,
        content: &str,
        chars_max: usize,
        shown: impl Fn(&str) -> Value,
    ) -> bool {
        let mut n_chars = chars_max;
        loop {
            let text = text::truncate_chars(content, n_chars);
            if self.add(list, share, shown(&text)) {
                return true;
            }
            n_chars = n_chars.min(content.chars().count()) / 2;
            if n_chars < CUT_CHARS_MIN {
                return false;
            }
        }
    }

    /// Sets a member with a text, which is cut until the value fits.
    pub(super) fn set_cut(
        &mut self,
        name: &str,
        share: f64,
        content: &str,
        shown: impl Fn(&str) -> Value,
    ) -> bool {
        let mut n_chars = content.chars().count();
        loop {
            let value = shown(&text::truncate_chars(content, n_chars));
            let n_tokens = tokens::count(&json_text(&value));
            if n_tokens <= self.room(share) {
                self.n_used += n_tokens;
                self.document[name] = value;
                return true;
            }
            n_chars = n_chars * 3 / 4;
            if n_chars < CUT_CHARS_MIN {
                return false;
            }
        }
    }

    fn room(&self, share: f64) -> u32 {
        ((f64::from(self.budget) * share) as u32).saturating_sub(self.n_used)
    }

    /// Sets the number of what is shown.
    pub(super) fn set_shown(&mut self, n_shown: usize) {
        self.document["pending"]["shown"] = n_shown.into();
    }

    pub(in crate::memory::knowledge) fn finish(self) -> Value {
        self.document
    }
}
