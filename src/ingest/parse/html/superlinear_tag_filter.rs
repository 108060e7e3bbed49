//! The tag filter in front of the HTML parser: text to a document, in time and space linear in it.
//!
//! The standard's tree construction is linear but for three things, which are removed before it
//! sees them:
//!
//! 1. Formatting tags that nobody closed are opened again in every block that follows: 59 KB of
//!    `<p><b id=…>x` become 8 million nodes. They mean nothing here and are left out; links and
//!    code are renamed to elements without that habit. On a page with drawings the others are
//!    renamed, too, and noted while they are open: their end tags end drawings around them.
//! 2. Every tag looks through the elements that are open: 80 KB of `<div>` take 10 s, twice as
//!    much takes four times as long. So their number is bounded, and deeper elements are
//!    flattened.
//! 3. A tag's attributes are compared with each other: 200 KB of them take 0.6 s, 8 MB a quarter
//!    of an hour. So a tag with very many is read as text.
//!
//! The price is that tags are rewritten on their way. The parser has no limits of its own, a
//! tokenizer alone would need tree rules of ours, and a limit on the size of files would refuse
//! sound ones. The text is fed piece by piece, from one `<` to the next, which gives nodes their
//! spans. The line breaks of code, which tokenizers change, are marked on that way.

mod active_formatting_elements;
mod element_categories;

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use html5ever::buffer_queue::BufferQueue;
use html5ever::interface::Tracer;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{
    EndTag, StartTag, Tag, TagToken, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};
use html5ever::tree_builder::{TreeBuilder, TreeBuilderOpts, TreeSink};
use html5ever::{LocalName, TokenizerResult, local_name};

use self::active_formatting_elements::{ActiveFormattingElements, InnermostBarrierAndMarker};
use self::element_categories::{FORMATTING, RAW_TEXT, VOID, is_block, is_inline};
use super::dom::{Dom, DomId, DomSink};
use crate::ingest::parse::Warning;
use crate::text;

/// Maximum number of open elements; deeper ones are flattened.
const DEPTH_MAX: usize = 256;

/// Maximum depth at which headings, paragraphs and code are still elements.
const DEPTH_BLOCKS_MAX: usize = DEPTH_MAX + 64;

/// Maximum number of open elements around formatting that is kept.
const DEPTH_FORMATTING_MAX: usize = 64;

/// Maximum attributes of one tag.
const ATTRIBUTES_MAX: usize = 256;

/// Placeholders for the carriage return before a line break in code, which tokenizers drop.
const MARKS: [char; 3] = ['\u{F8D0}', '\u{E88D}', '\u{10FF0D}'];

/// Names of links, code and boundaries in the document, which no tag of the source can have.
pub(super) const LINK: &str = "A";
pub(super) const CODE: &str = "CODE";
pub(super) const BOUNDARY: &str = "BOUNDARY";

/// Builds the document of `text`.
pub(super) fn build_dom(text: &str) -> (Dom, Vec<Warning>) {
    let tokenizer =
        Tokenizer::new(SuperlinearTagFilter::new(has_drawings(text)), TokenizerOpts::default());
    let mut warnings = Vec::new();
    let whole = StrTendril::from_slice(text);
    let queue = BufferQueue::default();
    let mut tag = AttributeLimitScan::default();
    let mut n_unread = 0;
    let mut start = 0;
    let mark = text.contains("\r\n").then(|| MARKS.into_iter().find(|&it| !text.contains(it)));
    let mark = mark.flatten();
    while start < text.len() {
        let next = text.as_bytes()[start + 1..].iter().position(|&byte| byte == b'<');
        let end = next.map_or(text.len(), |at| start + 1 + at);
        let filter = &tokenizer.sink;
        filter.builder.sink.place.set((place(start), place(end)));
        let mut from = start;
        if !filter.is_raw.get() && tag.is_too_large(text, start, filter.n_tokens.get()) {
            if n_unread == 0 {
                let what =
                    format!("a tag with more than {ATTRIBUTES_MAX} attributes; read as text");
                warnings.push(Warning { line: text::line_number_at(text, start), what });
            }
            n_unread += 1;
            queue.push_back(StrTendril::from_slice("&lt;"));
            from += 1;
        }
        let n_pres = filter.n_pres.get();
        let marked = mark.and_then(|mark| {
            let code_start = code_start(text, start, tag.text_start(text, start, end), n_pres)?;
            let code = text.get(code_start..end).filter(|it| it.contains("\r\n"))?;
            Some((code_start, code.replace("\r\n", &format!("{mark}\n"))))
        });
        match marked {
            Some((code_start, code)) if from <= code_start => {
                queue.push_back(whole.subtendril(place(from), place(code_start - from)));
                queue.push_back(StrTendril::from(code));
            }
            _ => queue.push_back(whole.subtendril(place(from), place(end - from))),
        }
        while !matches!(tokenizer.feed(&queue), TokenizerResult::Done) {}
        start = end;
    }
    tokenizer.end();
    let filter = tokenizer.sink;
    if let Some(line) = filter.flattened_line.get() {
        let what =
            format!("elements nest deeper than {DEPTH_MAX} levels; the inner ones are flattened");
        warnings.push(Warning { line: u32::try_from(line).unwrap_or(u32::MAX), what });
    }
    let mut dom = filter.builder.sink.finish();
    dom.mark = mark;
    (dom, warnings)
}

/// Returns the start of code in the piece of the source at `start`; `None` if it is no code.
fn code_start(text: &str, start: usize, text_start: usize, n_pres: u32) -> Option<usize> {
    let tag = text[start..].strip_prefix('<').unwrap_or("");
    let is_first = is_tag(tag, "pre") || is_tag(tag, "listing");
    let is_code = !tag.starts_with('/') && (is_first || 0 < n_pres);
    // The line break after the tag is no part of the code.
    let lead = if is_first && text[text_start..].starts_with("\r\n") { 2 } else { 0 };
    is_code.then_some(text_start + lead)
}

/// Returns whether a drawing or a formula may start in `text`.
fn has_drawings(text: &str) -> bool {
    text.match_indices('<').any(|(at, _)| {
        let rest = &text.as_bytes()[at + 1..];
        ["svg", "math"].iter().any(|name| {
            rest.get(..name.len()).is_some_and(|it| it.eq_ignore_ascii_case(name.as_bytes()))
        })
    })
}

/// Returns whether `tag`, which follows a `<`, has this name.
fn is_tag(tag: &str, name: &str) -> bool {
    let head = tag.as_bytes().get(..name.len());
    let next = tag.as_bytes().get(name.len());
    head.is_some_and(|it| it.eq_ignore_ascii_case(name.as_bytes()))
        && next.is_some_and(|&it| it.is_ascii_whitespace() || matches!(it, b'/' | b'>'))
}

fn place(at: usize) -> u32 {
    u32::try_from(at).expect("the source is shorter than 4 GiB")
}

/// Scans ahead in a tag, to count its attributes.
#[derive(Debug, Default)]
struct AttributeLimitScan {
    end: usize,
    n_tokens: u64,
}

impl AttributeLimitScan {
    /// Returns the start of the text behind the tag, in the piece of the source from `start` to
    /// `end`.
    fn text_start(&self, text: &str, start: usize, end: usize) -> usize {
        let is_tag = text[start..].starts_with('<') && start < self.end;
        if is_tag { (self.end + 1).min(end) } else { start }
    }

    /// Returns whether a tag starts at `start` that has too many attributes.
    ///
    /// A wrong answer inside a comment or a value does no harm: `<` and `&lt;` are the same in a
    /// value, and comments are not read.
    fn is_too_large(&mut self, text: &str, start: usize, n_tokens: u64) -> bool {
        if start < self.end && n_tokens == self.n_tokens {
            // No token has come out since the tag around this place began.
            return false;
        }
        let bytes = text.as_bytes();
        let slash = usize::from(bytes.get(start + 1) == Some(&b'/'));
        let name = start + 1 + slash;
        if bytes[start] != b'<' || !bytes.get(name).is_some_and(u8::is_ascii_alphabetic) {
            return false;
        }
        self.n_tokens = n_tokens;
        match tag_end(bytes, name) {
            Some(end) => {
                self.end = end;
                false
            }
            None => true,
        }
    }
}

/// Returns the end of the tag whose name starts at `at`; `None` if it has too many attributes.
fn tag_end(bytes: &[u8], at: usize) -> Option<usize> {
    let skip = |from: usize, ends: fn(u8) -> bool| {
        let rest = bytes.get(from..).unwrap_or(&[]);
        from + rest.iter().position(|&byte| ends(byte)).unwrap_or(rest.len())
    };
    let ends_name = |byte: u8| byte.is_ascii_whitespace() || matches!(byte, b'/' | b'>');
    let mut at = skip(at, ends_name);
    for _ in 0..=ATTRIBUTES_MAX {
        at = skip(at, |byte| !byte.is_ascii_whitespace() && byte != b'/');
        if bytes.get(at).is_none_or(|&byte| byte == b'>') {
            return Some(at);
        }
        at = skip(at + 1, |byte| byte.is_ascii_whitespace() || matches!(byte, b'/' | b'>' | b'='));
        let value = skip(at, |byte| !byte.is_ascii_whitespace());
        if bytes.get(value) != Some(&b'=') {
            continue;
        }
        at = skip(value + 1, |byte| !byte.is_ascii_whitespace());
        at = match bytes.get(at) {
            Some(b'"') => skip(at + 1, |byte| byte == b'"') + 1,
            Some(b'\'') => skip(at + 1, |byte| byte == b'\'') + 1,
            _ => skip(at, |byte| byte.is_ascii_whitespace() || byte == b'>'),
        };
    }
    None
}

/// Filters the tags between the tokenizer and the tree builder.
struct SuperlinearTagFilter {
    builder: TreeBuilder<DomId, DomSink>,
    /// Tags that were left out for their depth, and whose end tags have to be left out, too.
    dropped: RefCell<HashMap<LocalName, u32>>,
    /// The formatting elements that the standard has open; `None` if nothing depends on them.
    formatting: Option<RefCell<ActiveFormattingElements>>,
    /// Number of open elements, or more.
    depth: Cell<usize>,
    is_depth_exact: Cell<bool>,
    /// Whether the tokenizer is inside a script, a style or the like, which has no tags.
    is_raw: Cell<bool>,
    is_at_boundary: Cell<bool>,
    n_links: Cell<u32>,
    n_pres: Cell<u32>,
    n_tokens: Cell<u64>,
    flattened_line: Cell<Option<u64>>,
}

impl TokenSink for SuperlinearTagFilter {
    type Handle = DomId;

    fn process_token(&self, token: Token, line: u64) -> TokenSinkResult<DomId> {
        if matches!(token, Token::ParseError(_)) {
            return TokenSinkResult::Continue;
        }
        self.n_tokens.set(self.n_tokens.get() + 1);
        match token {
            TagToken(tag) => self.tag(tag, line),
            token => {
                self.is_at_boundary.set(false);
                self.builder.process_token(token, line)
            }
        }
    }

    fn end(&self) {
        self.builder.end();
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.builder.adjusted_current_node_present_but_not_in_html_namespace()
    }
}

impl SuperlinearTagFilter {
    fn new(has_drawings: bool) -> SuperlinearTagFilter {
        let options = TreeBuilderOpts { scripting_enabled: false, ..Default::default() };
        SuperlinearTagFilter {
            builder: TreeBuilder::new(DomSink::new(), options),
            dropped: RefCell::default(),
            formatting: has_drawings.then(RefCell::default),
            depth: Cell::new(0),
            is_depth_exact: Cell::new(false),
            is_raw: Cell::new(false),
            is_at_boundary: Cell::new(false),
            n_links: Cell::new(0),
            n_pres: Cell::new(0),
            n_tokens: Cell::new(0),
            flattened_line: Cell::new(None),
        }
    }

    fn tag(&self, mut tag: Tag, line: u64) -> TokenSinkResult<DomId> {
        self.is_raw.set(false);
        let is_link = tag.name == local_name!("a");
        let is_formatting = FORMATTING.contains(&&*tag.name);
        if is_link || is_formatting || tag.name == local_name!("code") {
            match self.formatting_owner(&tag, line) {
                FormattingTagNamespace::Drawing => (),
                FormattingTagNamespace::Page if !is_formatting || self.formatting.is_some() => {
                    if is_link && tag.kind == StartTag {
                        self.end_link(line);
                    }
                    tag.name = renamed(&tag.name);
                }
                FormattingTagNamespace::Page | FormattingTagNamespace::Nothing => {
                    return TokenSinkResult::Continue;
                }
            }
        }
        if tag.name == local_name!("pre") || tag.name == local_name!("listing") {
            let n = self.n_pres.get();
            let is_start = tag.kind == StartTag;
            self.n_pres.set(if is_start { n.saturating_add(1) } else { n.saturating_sub(1) });
        }
        match tag.kind {
            StartTag => self.start(tag, line),
            EndTag => self.end_of(tag, line),
        }
    }

    /// Ends the link before the next one.
    fn end_link(&self, line: u64) {
        let is_in_drawing = self.builder.adjusted_current_node_present_but_not_in_html_namespace();
        if 0 < self.n_links.get() && !is_in_drawing {
            let _ = self.pass(end_tag(LocalName::from(LINK)), line);
        }
        self.n_links.set(self.n_links.get().saturating_add(1));
    }

    /// Returns what a tag of formatting belongs to. Ends the drawing around it where the standard
    /// does.
    fn formatting_owner(&self, tag: &Tag, line: u64) -> FormattingTagNamespace {
        let Some(formatting) = &self.formatting else { return FormattingTagNamespace::Page };
        let (open, sink) = (self.open_elements(), &self.builder.sink);
        let is_start = tag.kind == StartTag;
        let is_in_drawing = self.builder.adjusted_current_node_present_but_not_in_html_namespace()
            && !(is_start
                && open.last().is_some_and(|&it| active_formatting_elements::is_barrier(sink, it)));
        let is_of_drawing = match tag.kind {
            StartTag => tag.name == local_name!("a") || is_font_of_drawing(tag),
            EndTag => active_formatting_elements::is_open_in_drawing(sink, &open, &tag.name),
        };
        if is_in_drawing && is_of_drawing {
            return FormattingTagNamespace::Drawing;
        }
        let scope = InnermostBarrierAndMarker::innermost(&open, sink);
        let mut formatting = formatting.borrow_mut();
        let has_effect = match tag.kind {
            StartTag => {
                formatting.start(&tag.name, scope, &open);
                true
            }
            EndTag => formatting.end(&tag.name, scope, &open),
        };
        match (is_in_drawing, has_effect) {
            (true, true) => self.empty(local_name!("span"), line),
            (true, false) => return FormattingTagNamespace::Nothing,
            (false, _) => (),
        }
        if is_start && DEPTH_FORMATTING_MAX < open.len() && FORMATTING.contains(&&*tag.name) {
            *self.dropped.borrow_mut().entry(renamed(&tag.name)).or_default() += 1;
            return FormattingTagNamespace::Nothing;
        }
        FormattingTagNamespace::Page
    }

    fn start(&self, tag: Tag, line: u64) -> TokenSinkResult<DomId> {
        if !VOID.contains(&&*tag.name) && !self.has_room(&tag.name) {
            if !is_inline(&tag.name) {
                self.boundary(line);
            }
            *self.dropped.borrow_mut().entry(tag.name).or_default() += 1;
            if self.flattened_line.get().is_none() {
                self.flattened_line.set(Some(line));
            }
            return TokenSinkResult::Continue;
        }
        let result = self.pass(tag, line);
        self.is_raw.set(matches!(result, TokenSinkResult::RawData(_) | TokenSinkResult::Plaintext));
        result
    }

    fn end_of(&self, tag: Tag, line: u64) -> TokenSinkResult<DomId> {
        let is_dropped = match self.dropped.borrow_mut().get_mut(&tag.name) {
            Some(n @ 1..) => {
                *n -= 1;
                true
            }
            _ => false,
        };
        if is_dropped {
            if !is_inline(&tag.name) {
                self.boundary(line);
            }
            return TokenSinkResult::Continue;
        }
        self.pass(tag, line)
    }

    fn pass(&self, tag: Tag, line: u64) -> TokenSinkResult<DomId> {
        self.is_at_boundary.set(false);
        self.is_depth_exact.set(false);
        self.builder.process_token(TagToken(tag), line)
    }

    /// Returns whether an element may be opened.
    fn has_room(&self, name: &LocalName) -> bool {
        if self.depth.get() < DEPTH_MAX {
            // A tag opens at most two elements beside its own.
            self.depth.set(self.depth.get() + 3);
            return true;
        }
        if !self.is_depth_exact.get() {
            self.depth.set(self.traced_elements().len());
            self.is_depth_exact.set(true);
        }
        if self.depth.get() < DEPTH_MAX {
            self.dropped.borrow_mut().clear();
            self.depth.set(self.depth.get() + 3);
            return true;
        }
        let is_html = !self.builder.adjusted_current_node_present_but_not_in_html_namespace();
        let max = if is_block(name) { DEPTH_BLOCKS_MAX } else { DEPTH_MAX };
        is_html && (RAW_TEXT.contains(&&**name) || self.depth.get() < max)
    }

    /// Returns the open elements, of which each is younger than the one around it.
    fn open_elements(&self) -> Vec<DomId> {
        let mut all = self.traced_elements();
        // Behind them stand elements that need not be open: the head and the form.
        let n_open = all.windows(2).take_while(|it| it[0] < it[1]).count() + 1;
        all.truncate(n_open);
        all
    }

    fn traced_elements(&self) -> Vec<DomId> {
        let tracer = TreeBuilderHandleCollector::default();
        self.builder.trace_handles(&tracer);
        tracer.0.into_inner()
    }

    /// Marks the start or end of an element that is left out of the document.
    fn boundary(&self, line: u64) {
        if !self.is_at_boundary.get() {
            let is_depth_exact = self.is_depth_exact.get();
            self.empty(LocalName::from(BOUNDARY), line);
            self.is_depth_exact.set(is_depth_exact);
            self.is_at_boundary.set(true);
        }
    }

    fn empty(&self, name: LocalName, line: u64) {
        let start = Tag { kind: StartTag, ..end_tag(name.clone()) };
        let _ = self.pass(start, line);
        let _ = self.pass(end_tag(name), line);
    }
}

fn end_tag(name: LocalName) -> Tag {
    Tag {
        kind: EndTag,
        name,
        self_closing: false,
        attrs: Vec::new(),
        had_duplicate_attributes: false,
    }
}

/// The namespace of a formatting tag: the drawing around it, or the page.
enum FormattingTagNamespace {
    /// The drawing around it.
    Drawing,
    /// The page, also where a part of it stands in a drawing.
    Page,
    /// Nothing: an end tag in a drawing that has nothing to end.
    Nothing,
}

/// Returns the name of an element of links, code or formatting, which no tag of the source can
/// have.
fn renamed(name: &str) -> LocalName {
    LocalName::from(name.to_ascii_uppercase())
}

/// Returns whether a drawing goes on behind this tag, as its `<font>` is one of its own.
fn is_font_of_drawing(tag: &Tag) -> bool {
    let is_of_page = |name: &str| matches!(name, "color" | "face" | "size");
    tag.name == local_name!("font") && !tag.attrs.iter().any(|it| is_of_page(&it.name.local))
}

#[derive(Default)]
struct TreeBuilderHandleCollector(RefCell<Vec<DomId>>);

impl Tracer for TreeBuilderHandleCollector {
    type Handle = DomId;

    fn trace_handle(&self, id: &DomId) {
        self.0.borrow_mut().push(*id);
    }
}
