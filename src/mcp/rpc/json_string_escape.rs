//! JSON escaping: writes text into a JSON string.

use std::fmt;

use crate::text::{self, terminal_safe_json};

/// Bytes that a character may begin with which is escaped.
const MAY_BE_SPECIAL: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < table.len() {
        // Those from 0xC2 on begin some character that steers or hides.
        table[byte] = byte < 0x20
            || matches!(
                byte as u8,
                b'"' | b'\\' | 0x7F | 0xC2 | 0xCD | 0xD8 | 0xE1 | 0xE2 | 0xE3 | 0xEF | 0xF0 | 0xF3
            );
        byte += 1;
    }
    table
};

/// Appends escaped text to a line, without a second copy of a long text.
pub(crate) struct JsonStringEscaper<'a>(pub(crate) &'a mut String);

impl fmt::Write for JsonStringEscaper<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let (mut n_written, mut from) = (0, 0);
        let may_be_special = |it: &u8| MAY_BE_SPECIAL[usize::from(*it)];
        while let Some(n_plain) = text.as_bytes()[from..].iter().position(may_be_special) {
            let at = from + n_plain;
            let Some(special) = text[at..].chars().next() else { break };
            from = at + special.len_utf8();
            if !matches!(special, '"' | '\\') && !text::is_hidden(special) {
                continue;
            }
            self.0.push_str(&text[n_written..at]);
            n_written = from;
            match special {
                '"' => self.0.push_str("\\\""),
                '\\' => self.0.push_str("\\\\"),
                '\n' => self.0.push_str("\\n"),
                '\r' => self.0.push_str("\\r"),
                '\t' => self.0.push_str("\\t"),
                other => terminal_safe_json::push_escape(self.0, other),
            }
        }
        self.0.push_str(&text[n_written..]);
        Ok(())
    }
}
