//! A run of inline content: text with its white space folded, code, links, images, formulas.

use std::ops::Range;

use crate::text::fold_whitespace;

/// Maximum bytes of a run's first line that a label may need.
const PLAIN_BYTES_MAX: usize = 400;

/// Maximum bytes of an address that holds its data itself; a longer one is cut.
const DATA_BYTES_MAX: usize = 256;

/// Whether a run may have line breaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum LineBreaks {
    #[default]
    Lines,
    OneLine,
}

/// A complete run.
#[derive(Debug, Default)]
pub(super) struct RenderedRun {
    pub(super) markdown: String,
    /// The first line without its marks.
    pub(super) plain: String,
    /// Whether it has anything beside images and formulas.
    pub(super) has_text: bool,
    pub(super) soles: Vec<SoleImageOrFormula>,
    pub(super) span: Range<usize>,
}

/// Content that becomes a node of its own if the run has nothing else.
#[derive(Clone, Debug)]
pub(super) enum SoleImageOrFormula {
    Image { markdown: String, alt: String, address: String },
    Math(u32),
}

#[derive(Debug)]
struct OpenLink {
    href: String,
    /// Start of its text, once it has some.
    start: Option<usize>,
}

/// A run while it is read.
#[derive(Debug, Default)]
pub(super) struct InlineRun {
    flow: LineBreaks,
    out: String,
    plain: String,
    is_plain_done: bool,
    /// Whether white space was read that is not written yet.
    has_space: bool,
    link: Option<OpenLink>,
    code: Option<String>,
    /// The code span written last, and its start: the next one may continue it.
    last_code: Option<(usize, String)>,
    has_text: bool,
    soles: Vec<SoleImageOrFormula>,
    span: Option<Range<usize>>,
}

impl InlineRun {
    pub(super) fn new(flow: LineBreaks) -> InlineRun {
        InlineRun { flow, ..InlineRun::default() }
    }

    /// Returns whether nothing has been written.
    pub(super) fn is_empty(&self) -> bool {
        self.out.is_empty() && self.code.as_ref().is_none_or(|it| it.trim().is_empty())
    }

    /// Returns whether a link is open that has text.
    pub(super) fn has_used_link(&self) -> bool {
        self.link.as_ref().is_some_and(|it| it.start.is_some())
    }

    pub(super) fn widen(&mut self, span: Range<usize>) {
        let all = self.span.get_or_insert(span.clone());
        *all = all.start.min(span.start)..all.end.max(span.end);
    }

    /// Adds text, in which each run of white space becomes one space.
    pub(super) fn text(&mut self, text: &str) {
        if let Some(code) = &mut self.code {
            code.push_str(text);
            return;
        }
        let mut rest = text;
        loop {
            let trimmed = rest.trim_start();
            self.has_space |= trimmed.len() < rest.len();
            if trimmed.is_empty() {
                return;
            }
            let end = trimmed.find(char::is_whitespace).unwrap_or(trimmed.len());
            self.has_text = true;
            self.start_piece();
            self.out.push_str(&trimmed[..end]);
            self.push_plain(&trimmed[..end]);
            rest = &trimmed[end..];
        }
    }

    /// Ends a word.
    pub(super) fn space(&mut self) {
        match &mut self.code {
            Some(code) => code.push(' '),
            None => self.has_space = true,
        }
    }

    /// Adds a line break.
    pub(super) fn line_break(&mut self) {
        if self.flow == LineBreaks::OneLine {
            return self.space();
        }
        let is_code = self.code.is_some();
        self.end_code();
        self.has_space = false;
        if !self.out.is_empty() && !self.out.ends_with("\n\n") {
            self.out.push('\n');
            self.is_plain_done |= !self.plain.is_empty();
        }
        self.last_code = None;
        if is_code {
            self.start_code();
        }
    }

    /// Starts a line, if one has been started.
    pub(super) fn new_line(&mut self) {
        if !self.out.ends_with('\n') || self.code.is_some() {
            self.line_break();
        }
    }

    /// Starts a code span, which keeps its spaces.
    pub(super) fn start_code(&mut self) {
        self.code.get_or_insert_default();
    }

    /// Ends the code span.
    pub(super) fn end_code(&mut self) {
        let Some(code) = self.code.take() else { return };
        let code: String =
            code.chars().map(|c| if matches!(c, '\n' | '\r' | '\t') { ' ' } else { c }).collect();
        let words = code.trim();
        self.has_space |= code.starts_with(' ');
        if words.is_empty() {
            return;
        }
        self.has_text = true;
        match self.last_code.take() {
            // Two adjacent spans would read as one with marks inside.
            Some((start, before)) if !self.has_space => {
                self.out.truncate(start);
                self.push_plain(words);
                self.push_code(before + words);
            }
            _ => {
                self.start_piece();
                self.push_plain(words);
                self.push_code(words.to_owned());
            }
        }
        self.has_space = code.ends_with(' ');
    }

    fn push_code(&mut self, code: String) {
        let start = self.out.len();
        let longest = code.split(|c| c != '`').map(str::len).max().unwrap_or(0);
        let fence = "`".repeat(longest + 1);
        let pad = if code.starts_with('`') || code.ends_with('`') { " " } else { "" };
        for part in [&fence, pad, &code, pad, &fence] {
            self.out.push_str(part);
        }
        self.last_code = Some((start, code));
    }

    /// Opens a link, which is written once it gets text.
    pub(super) fn open_link(&mut self, href: &str) {
        self.close_link();
        self.link = destination(href).map(|href| OpenLink { href, start: None });
    }

    /// Closes the open link.
    pub(super) fn close_link(&mut self) {
        let code = self.code.is_some();
        if self.link.is_some() {
            self.end_code();
        }
        if let Some(OpenLink { href, start: Some(start) }) = self.link.take() {
            self.out.push_str("](");
            self.out.push_str(&href);
            self.out.push(')');
            self.last_code = None;
            if let [SoleImageOrFormula::Image { markdown, .. }] = &mut self.soles[..]
                && !self.has_text
            {
                *markdown = self.out[start..].to_owned();
            }
        }
        if code {
            self.start_code();
        }
    }

    /// Adds an image, or its alternative text if it has no address.
    pub(super) fn image(&mut self, alt: &str, address: &str) {
        let alt = fold_whitespace(alt);
        let Some(address) = destination(address) else { return self.text(&alt) };
        let markdown = format!("![{alt}]({address})");
        self.push(&markdown, &alt);
        self.soles.push(SoleImageOrFormula::Image { markdown, alt, address });
    }

    /// Adds a formula; `element` is its element.
    pub(super) fn math(&mut self, markdown: &str, element: u32) {
        self.push(markdown, markdown);
        self.soles.push(SoleImageOrFormula::Math(element));
    }

    /// Adds a mark or a piece of markup, unchanged.
    pub(super) fn mark(&mut self, mark: &str, plain: &str) {
        self.has_text = true;
        self.push(mark, plain);
    }

    fn push(&mut self, markdown: &str, plain: &str) {
        let code = self.code.is_some();
        self.end_code();
        self.start_piece();
        self.out.push_str(markdown);
        self.push_plain(plain);
        self.last_code = None;
        if code {
            self.start_code();
        }
    }

    /// Returns whether an exponent would directly follow something to raise.
    pub(super) fn can_be_raised(&self) -> bool {
        let end = match &self.code {
            Some(code) => code.chars().next_back(),
            None => self.out.chars().next_back(),
        };
        !self.has_space && end.is_some_and(|c| c.is_alphanumeric() || matches!(c, ')' | ']'))
    }

    /// Writes what is due before the next word: a space, the start of a link.
    fn start_piece(&mut self) {
        if self.has_space {
            if !self.out.is_empty() && !self.out.ends_with('\n') {
                self.out.push(' ');
            }
            if !self.plain.is_empty() && !self.is_plain_done {
                self.plain.push(' ');
            }
            self.has_space = false;
        }
        self.last_code = None;
        if let Some(link) = &mut self.link
            && link.start.is_none()
        {
            link.start = Some(self.out.len());
            self.out.push('[');
        }
    }

    fn push_plain(&mut self, words: &str) {
        if !self.is_plain_done && self.plain.len() < PLAIN_BYTES_MAX {
            self.plain.push_str(words);
        }
    }

    /// Ends the run.
    pub(super) fn finish(mut self) -> RenderedRun {
        self.end_code();
        self.close_link();
        self.end_code();
        self.out.truncate(self.out.trim_end().len());
        RenderedRun {
            markdown: self.out,
            plain: fold_whitespace(&self.plain),
            has_text: self.has_text,
            soles: self.soles,
            span: self.span.unwrap_or(0..0),
        }
    }
}

/// Returns an address as Markdown has it; `None` for one that leads nowhere.
pub(super) fn destination(address: &str) -> Option<String> {
    let mut address: String = address.chars().filter(|c| !c.is_control()).collect();
    address = address.trim().to_owned();
    let scheme = address.split(':').next().unwrap_or("").to_ascii_lowercase();
    if address.is_empty() || address == "#" || scheme == "javascript" {
        return None;
    }
    if scheme == "data" && DATA_BYTES_MAX < address.len() {
        let end = address.find(',').map_or(0, |at| at + 1).min(DATA_BYTES_MAX);
        address.truncate(address.floor_char_boundary(end));
        address.push('…');
    }
    match address.contains(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | '<' | '>')) {
        true => Some(format!("<{}>", address.replace('<', "%3C").replace('>', "%3E"))),
        false => Some(address),
    }
}
