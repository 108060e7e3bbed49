//! The lines of code and raw markup, as the source has them.

use std::ops::Range;

use super::masked_parser_input::WikilinkPipeMaskedMarkdown;

/// Gathers the lines of one block.
#[derive(Debug, Default)]
pub(super) struct VerbatimBlockTextBuilder {
    text: String,
    /// Its span in the source, while it is one piece.
    whole: Option<Range<usize>>,
    /// End of the last line.
    end: usize,
}

impl VerbatimBlockTextBuilder {
    /// Adds a line that the parser found at `range`.
    pub(super) fn line(
        &mut self,
        source: WikilinkPipeMaskedMarkdown<'_>,
        line: &str,
        range: Range<usize>,
    ) {
        let WikilinkPipeMaskedMarkdown { text, parsed } = source;
        let is_authored = parsed[range.clone()] == *line;
        let is_first = self.text.is_empty();
        let mut start = range.start;
        // The parser drops the carriage return of a line break.
        let is_cut = line.starts_with('\n') && (is_first || self.end < start);
        if is_cut && 0 < start && text.as_bytes()[start - 1] == b'\r' {
            self.text.push('\r');
            start -= 1;
        }
        match is_authored {
            true => self.text.push_str(&text[range.clone()]),
            false => self.text.push_str(&source.restored(line)),
        }
        self.whole = match self.whole.take() {
            None if is_first && is_authored => Some(start..range.end),
            Some(whole) if is_authored && start == self.end => Some(whole.start..range.end),
            _ => None,
        };
        self.end = range.end;
    }

    /// Returns the code, without the line break before the closing fence. Also returns its offset
    /// in the source if it is there unchanged.
    pub(super) fn into_code(mut self) -> (String, Option<usize>) {
        if self.text.ends_with('\n') {
            self.text.pop();
            if self.text.ends_with('\r') {
                self.text.pop();
            }
        }
        (self.text, self.whole.map(|whole| whole.start))
    }

    /// Returns the markup, with plain line breaks and without blank lines around it.
    pub(super) fn into_markup(self) -> String {
        let text = self.text.replace("\r\n", "\n").replace('\r', "\n");
        text.trim_matches('\n').trim_end().to_owned()
    }
}
