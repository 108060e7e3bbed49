//! Cuts very large files into regions before the parser sees them.
//!
//! The parser needs some fifty bytes for each byte of hostile input, so it gets no more than a few
//! megabytes at a time. A region ends before a line that starts at the margin after a blank line.
//! A line of a megabyte is not parsed, and is kept unchanged.

use std::ops::Range;

/// Maximum bytes of a file that is one region.
const SECTION_BYTES_MAX: usize = 2 * 1024 * 1024;

/// Minimum bytes of a region, which ends at the first good place after that.
const SECTION_BYTES_MIN: usize = 1024 * 1024;

/// Maximum bytes of a line that is checked for marks.
const LINE_BYTES_MAX: usize = 1024 * 1024;

/// A stretch of the text, read in one way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum MarkdownOrVerbatimRegion {
    /// Parsed as Markdown.
    Markdown(Range<usize>),
    /// The inside of a fenced block too large to be parsed with the rest.
    Code {
        /// Span of the info string.
        info: Range<usize>,
        /// Span of the code.
        range: Range<usize>,
    },
    /// Kept as it is.
    Plain(Range<usize>),
}

/// An open fenced block.
struct OpenFence {
    /// Start of its first line, and start of the code.
    start: usize,
    code_start: usize,
    info: Range<usize>,
    mark: u8,
    n_marks: usize,
    is_at_margin: bool,
}

/// Returns the regions of `text` from `start` on.
pub(super) fn regions(text: &str, start: usize) -> Vec<MarkdownOrVerbatimRegion> {
    if text.len() - start <= SECTION_BYTES_MAX {
        return vec![MarkdownOrVerbatimRegion::Markdown(start..text.len())];
    }
    let mut cutter =
        SourceRegionsBuilder { text, start, fence: None, is_after_blank: false, out: Vec::new() };
    let mut at = start;
    while at < text.len() {
        let len = text[at..].find('\n').map_or(text.len() - at, |len| len + 1);
        cutter.line(at..at + len);
        at += len;
    }
    cutter.finish()
}

struct SourceRegionsBuilder<'a> {
    text: &'a str,
    /// Start of the open region.
    start: usize,
    fence: Option<OpenFence>,
    is_after_blank: bool,
    out: Vec<MarkdownOrVerbatimRegion>,
}

impl SourceRegionsBuilder<'_> {
    fn line(&mut self, line: Range<usize>) {
        let text = self.text;
        let words = &text[line.clone()];
        let margin = words.len() - words.trim_start_matches([' ', '\t']).len();
        let trimmed = words[margin..].trim_end();
        match &self.fence {
            Some(fence) => {
                let n = trimmed.bytes().take_while(|byte| *byte == fence.mark).count();
                if fence.n_marks <= n && n == trimmed.len() {
                    self.end_fence(line);
                } else if SECTION_BYTES_MAX < line.end - self.start && !fence.is_at_margin {
                    self.cut(line.start);
                }
                return;
            }
            None => {
                let size = line.start - self.start;
                let is_good = self.is_after_blank && margin == 0 && !trimmed.is_empty();
                if (SECTION_BYTES_MIN <= size && is_good)
                    || SECTION_BYTES_MAX < line.end - self.start
                {
                    self.cut(line.start);
                }
            }
        }
        self.is_after_blank = trimmed.is_empty();
        if LINE_BYTES_MAX < words.len() {
            self.cut(line.start);
            self.out.push(MarkdownOrVerbatimRegion::Plain(line.clone()));
            self.start = line.end;
            return;
        }
        self.start_fence(line, margin, trimmed);
    }

    fn start_fence(&mut self, line: Range<usize>, margin: usize, trimmed: &str) {
        let Some(mark @ (b'`' | b'~')) = trimmed.bytes().next() else { return };
        let n_marks = trimmed.bytes().take_while(|byte| *byte == mark).count();
        let info = &trimmed[n_marks..];
        if n_marks < 3 || (mark == b'`' && info.contains('`')) {
            return;
        }
        let info_start = line.start + margin + n_marks;
        self.fence = Some(OpenFence {
            start: line.start,
            code_start: line.end,
            info: info_start..info_start + info.len(),
            mark,
            n_marks,
            is_at_margin: margin == 0,
        });
    }

    fn end_fence(&mut self, closing: Range<usize>) {
        let Some(fence) = self.fence.take() else { return };
        self.is_after_blank = true;
        if closing.end - fence.start <= SECTION_BYTES_MAX || !fence.is_at_margin {
            return;
        }
        self.cut(fence.start);
        self.push_code(&fence, closing.start);
        self.start = closing.end;
    }

    fn push_code(&mut self, fence: &OpenFence, end: usize) {
        let code = &self.text[fence.code_start..end];
        let code = code.strip_suffix('\n').unwrap_or(code);
        let code = code.strip_suffix('\r').unwrap_or(code);
        let range = fence.code_start..fence.code_start + code.len();
        self.out.push(MarkdownOrVerbatimRegion::Code { info: fence.info.clone(), range });
    }

    fn cut(&mut self, at: usize) {
        if self.start < at {
            self.out.push(MarkdownOrVerbatimRegion::Markdown(self.start..at));
            self.start = at;
        }
    }

    fn finish(mut self) -> Vec<MarkdownOrVerbatimRegion> {
        let end = self.text.len();
        match self.fence.take() {
            // A fence without an end goes on to the end of the text.
            Some(fence) if fence.is_at_margin && SECTION_BYTES_MAX < end - fence.start => {
                self.cut(fence.start);
                self.push_code(&fence, end);
            }
            _ => self.cut(end),
        }
        self.out
    }
}

#[cfg(test)]
mod tests;
