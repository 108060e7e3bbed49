//! JSON escaping: writes text into a JSON string.

use std::fmt;

/// Appends escaped text to a line, without a second copy of a long text.
pub(crate) struct EscapingWriter<'a>(pub(crate) &'a mut String);

impl fmt::Write for EscapingWriter<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let mut rest = text;
        // The last three end a line for some readers.
        let is_special =
            |it: char| it < ' ' || matches!(it, '"' | '\\' | '\u{85}' | '\u{2028}' | '\u{2029}');
        while let Some(at) = rest.find(is_special) {
            let (plain, from) = rest.split_at(at);
            self.0.push_str(plain);
            let mut chars = from.chars();
            match chars.next() {
                Some('"') => self.0.push_str("\\\""),
                Some('\\') => self.0.push_str("\\\\"),
                Some('\n') => self.0.push_str("\\n"),
                Some('\r') => self.0.push_str("\\r"),
                Some('\t') => self.0.push_str("\\t"),
                Some(other) => write!(self.0, "\\u{:04x}", u32::from(other))?,
                None => (),
            }
            rest = chars.as_str();
        }
        self.0.push_str(rest);
        Ok(())
    }
}
