//! Renders inline text: from parser events back to Markdown that reads and parses the same.
//!
//! Marks stay as authored, entities become their characters, reference links get their destination.
//! Beside the Markdown, the plain text of the first line is kept for the label.

use std::borrow::Cow;
use std::ops::Range;

use pulldown_cmark::{CowStr, Event, LinkType, Tag};

use super::masked_parser_input::WikilinkPipeMaskedMarkdown;

/// Maximum bytes of plain text that are kept; a label is cut from it.
const PLAIN_BYTES_MAX: usize = 1024;

/// The block that the text is part of, which decides how line breaks are rendered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InlineBreaks {
    /// Line breaks stay.
    Lines,
    /// Line breaks become spaces: a heading.
    OneLine,
    /// There are none, and pipes need no backslash: a table's cell.
    Cell,
}

/// Inline text while it is rendered.
#[derive(Debug)]
pub(super) struct InlineRenderer<'a> {
    source: WikilinkPipeMaskedMarkdown<'a>,
    flow: InlineBreaks,
    out: String,
    plain: String,
    is_plain_done: bool,
    /// The closings of the open marks, innermost last.
    closings: Vec<Cow<'static, str>>,
    /// End of the source that has been rendered.
    rendered: usize,
    /// Display math, as long as the text has nothing else.
    sole_math: Option<String>,
    pub(super) span: Range<usize>,
}

/// Complete inline text.
#[derive(Debug)]
pub(super) struct RenderedInline {
    pub(super) markdown: String,
    /// The first line without its marks.
    pub(super) plain: String,
    /// The formula, if the text is nothing but display math.
    pub(super) sole_math: Option<String>,
    pub(super) span: Range<usize>,
}

impl<'a> InlineRenderer<'a> {
    pub(super) fn new(
        source: WikilinkPipeMaskedMarkdown<'a>,
        flow: InlineBreaks,
        span: Range<usize>,
    ) -> InlineRenderer<'a> {
        InlineRenderer {
            source,
            flow,
            out: String::new(),
            plain: String::new(),
            is_plain_done: false,
            closings: Vec::new(),
            rendered: span.start,
            sole_math: None,
            span,
        }
    }

    /// Renders one event at `range`.
    pub(super) fn event(&mut self, event: Event<'_>, range: Range<usize>) {
        let is_first = self.out.is_empty();
        let mut sole_math = None;
        let mut rendered = range.end;
        match event {
            Event::Text(text) => self.text(&text, &range),
            Event::Code(code) => self.code(&code, &range),
            Event::InlineMath(tex) => self.math("$", &tex),
            Event::DisplayMath(tex) => {
                self.math("$$", &tex);
                sole_math = is_first.then(|| self.source.restored(&tex).into_owned());
            }
            Event::Html(html) | Event::InlineHtml(html) => self.html(&html),
            Event::FootnoteReference(label) => {
                let label = self.source.restored(&label);
                self.out.push_str(&format!("[^{label}]"));
            }
            Event::SoftBreak | Event::HardBreak => self.line_break(),
            Event::TaskListMarker(is_done) => {
                self.out.push_str(if is_done { "[x] " } else { "[ ] " });
            }
            Event::Start(tag) => {
                rendered = range.start + 1;
                self.start(tag, &range);
            }
            Event::End(_) => {
                let closing = self.closings.pop().unwrap_or_default();
                if closing == "]" {
                    self.see("]");
                }
                self.out.push_str(&closing);
            }
            Event::Rule => (),
        }
        self.sole_math = sole_math;
        self.rendered = self.rendered.max(rendered);
        self.span.end = self.span.end.max(range.end);
    }

    /// Returns the text rendered so far.
    pub(super) fn finish(mut self) -> RenderedInline {
        while let Some(closing) = self.closings.pop() {
            self.out.push_str(&closing);
        }
        let markdown = match self.flow {
            InlineBreaks::Cell => self.out.replace(['\t', '\n', '\r'], " "),
            InlineBreaks::Lines | InlineBreaks::OneLine => self.out,
        };
        let trimmed = markdown.trim_matches([' ', '\t', '\n', '\r']);
        let markdown = if trimmed.len() == markdown.len() { markdown } else { trimmed.to_owned() };
        RenderedInline { markdown, plain: self.plain, sole_math: self.sole_math, span: self.span }
    }

    fn text(&mut self, text: &CowStr<'_>, range: &Range<usize>) {
        self.see(text);
        if **text != self.source.parsed[range.clone()] {
            self.decoded(text, range.end);
            return;
        }
        let words = &self.source.text[range.clone()];
        let is_escaped =
            self.rendered < range.start && self.source.text.as_bytes()[range.start - 1] == b'\\';
        if is_escaped && !(self.flow == InlineBreaks::Cell && words.starts_with('|')) {
            self.out.push('\\');
        }
        self.out.push_str(words);
    }

    /// Writes the character of an entity, with a backslash if it would be read as a mark.
    fn decoded(&mut self, text: &str, end: usize) {
        let text = self.source.restored(text);
        let after = &self.source.text.as_bytes()[end..];
        for c in text.chars() {
            let is_mark = match c {
                '*' | '_' | '`' | '[' | ']' | '\\' | '~' | '$' => true,
                '<' => after.first().is_some_and(|next| {
                    next.is_ascii_alphabetic() || matches!(next, b'/' | b'!' | b'?')
                }),
                '&' => after.first().is_some_and(|next| {
                    (next.is_ascii_alphanumeric() || *next == b'#')
                        && after.iter().take(32).any(|byte| *byte == b';')
                }),
                _ => false,
            };
            if is_mark {
                self.out.push('\\');
            }
            self.out.push(if matches!(c, '\n' | '\r' | '\t') { ' ' } else { c });
        }
    }

    fn code(&mut self, code: &str, range: &Range<usize>) {
        self.see(code);
        let authored = &self.source.text[range.clone()];
        let is_spread = authored.contains(['\n', '\r']);
        let has_pipe = self.flow == InlineBreaks::Cell && authored.contains("\\|");
        if !is_spread && !has_pipe {
            self.out.push_str(authored);
            return;
        }
        let n_ticks = authored.bytes().take_while(|byte| *byte == b'`').count();
        let ticks = &authored[..n_ticks];
        let code = self.source.restored(code);
        let is_bare = code.starts_with('`') || code.ends_with('`');
        let is_padded = code.starts_with(' ') && code.ends_with(' ') && !code.trim().is_empty();
        let pad = if is_bare || is_padded { " " } else { "" };
        // A line break of two bytes was read as two spaces.
        let code = if authored.contains('\r') { code.replace("  ", " ") } else { code.into() };
        for piece in [ticks, pad, &code, pad, ticks] {
            self.out.push_str(piece);
        }
    }

    fn math(&mut self, mark: &str, tex: &str) {
        self.see(tex);
        self.out.push_str(mark);
        self.lines(tex);
        self.out.push_str(mark);
    }

    fn html(&mut self, html: &str) {
        self.lines(html);
    }

    fn lines(&mut self, text: &str) {
        let text = self.source.restored(text);
        match self.flow {
            InlineBreaks::Lines => {
                self.out.push_str(&text.replace("\r\n", "\n").replace('\r', "\n"))
            }
            InlineBreaks::OneLine | InlineBreaks::Cell => {
                self.out.push_str(&text.replace("\r\n", " ").replace(['\n', '\r'], " "));
            }
        }
    }

    fn line_break(&mut self) {
        match self.flow {
            InlineBreaks::Lines => {
                let len = self.out.trim_end_matches([' ', '\t']).len();
                self.out.truncate(len);
                self.out.push('\n');
                self.is_plain_done |= !self.plain.trim().is_empty();
            }
            InlineBreaks::OneLine | InlineBreaks::Cell => {
                self.out.push(' ');
                self.see(" ");
            }
        }
    }

    fn start(&mut self, tag: Tag<'_>, range: &Range<usize>) {
        let authored = &self.source.text[range.clone()];
        let mark = |n: usize| authored.get(..n).unwrap_or("").to_owned();
        let closing: Cow<'static, str> = match tag {
            Tag::Emphasis => mark(1).into(),
            Tag::Strong => mark(2).into(),
            Tag::Strikethrough if authored.starts_with("~~") => mark(2).into(),
            Tag::Strikethrough => mark(1).into(),
            Tag::Link { link_type: LinkType::Autolink | LinkType::Email, .. } => {
                self.out.push('<');
                self.closings.push(">".into());
                return;
            }
            Tag::Link { link_type: LinkType::Shortcut, .. } if self.source.is_wikilink(range) => {
                // A wikilink's brackets are text.
                self.see("[");
                self.out.push('[');
                self.closings.push("]".into());
                return;
            }
            Tag::Link { dest_url, title, .. } => {
                self.out.push('[');
                self.closings.push(self.target(&dest_url, &title).into());
                return;
            }
            Tag::Image { dest_url, title, .. } => {
                self.out.push_str("![");
                self.closings.push(self.target(&dest_url, &title).into());
                return;
            }
            _ => "".into(),
        };
        self.out.push_str(&closing);
        self.closings.push(closing);
    }

    /// Returns the end of a link: `](destination "title")`.
    fn target(&self, destination: &str, title: &str) -> String {
        let destination = self.source.restored(destination);
        let title = self.source.restored(title);
        let mut out = String::from("](");
        let is_bare = !destination.is_empty()
            && !destination.starts_with('<')
            && !destination.contains(|c: char| {
                c.is_ascii_control() || c.is_whitespace() || matches!(c, '(' | ')')
            });
        // Balanced parentheses need no brackets, as in many an encyclopedia's addresses.
        let is_empty = destination.is_empty() && title.is_empty();
        if is_bare || is_empty || is_balanced(&destination) {
            push_escaped(&mut out, &destination, &[]);
        } else {
            out.push('<');
            push_escaped(&mut out, &destination, &['<', '>']);
            out.push('>');
        }
        if !title.is_empty() {
            out.push_str(" \"");
            push_escaped(&mut out, &title, &['"']);
            out.push('"');
        }
        out.push(')');
        out
    }

    fn see(&mut self, text: &str) {
        if !self.is_plain_done && self.plain.len() < PLAIN_BYTES_MAX {
            let text = self.source.restored(text);
            self.plain.push_str(&text[..text.floor_char_boundary(PLAIN_BYTES_MAX)]);
        }
    }
}

/// Returns whether a destination with parentheses needs no angle brackets.
fn is_balanced(destination: &str) -> bool {
    let mut depth = 0usize;
    for c in destination.chars() {
        match c {
            '(' if depth < 8 => depth += 1,
            '(' => return false,
            ')' if depth == 0 => return false,
            ')' => depth -= 1,
            '<' | '\\' => return false,
            c if c.is_ascii_control() || c.is_whitespace() => return false,
            _ => (),
        }
    }
    depth == 0 && !destination.is_empty()
}

/// Writes `text` so that Markdown reads it back unchanged; `marks` are escaped as well.
fn push_escaped(out: &mut String, text: &str, marks: &[char]) {
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let next = chars.peek();
        let is_mark = match c {
            '\\' => next.is_none_or(|next| next.is_ascii_punctuation()),
            '&' => next.is_some_and(|next| *next == '#'),
            c => marks.contains(&c),
        };
        if is_mark {
            out.push('\\');
        }
        out.push(if matches!(c, '\n' | '\r') { ' ' } else { c });
    }
}
