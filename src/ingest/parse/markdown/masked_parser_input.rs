//! The text for the Markdown parser, and facts about it that the walk needs.

use std::borrow::Cow;
use std::ops::Range;

use pulldown_cmark::{Event, LinkType, Options, Parser, Tag};

/// The placeholder for a pipe inside a wikilink while the parser splits the cells of tables.
const PIPE: u8 = 0x1F;

/// Maximum bytes between the brackets of a wikilink.
const WIKILINK_BYTES_MAX: usize = 1024;

/// A text, and the same text as the parser sees it. The second has the same bytes except for the
/// pipes inside wikilinks, which must not end a table's cell.
#[derive(Clone, Copy, Debug)]
pub(super) struct WikilinkPipeMaskedMarkdown<'a> {
    pub(super) text: &'a str,
    pub(super) parsed: &'a str,
}

impl<'a> WikilinkPipeMaskedMarkdown<'a> {
    /// Restores the pipes in a text from the parser.
    pub(super) fn restored<'b>(&self, given: &'b str) -> Cow<'b, str> {
        let is_same = std::ptr::eq(self.text, self.parsed);
        if is_same || !given.as_bytes().contains(&PIPE) {
            return Cow::Borrowed(given);
        }
        Cow::Owned(given.replace(PIPE as char, "|"))
    }

    /// Returns whether a link at `range` is the inner bracket of a `[[wikilink]]`.
    pub(super) fn is_wikilink(&self, range: &Range<usize>) -> bool {
        let bytes = self.text.as_bytes();
        0 < range.start && bytes[range.start - 1] == b'[' && bytes.get(range.end) == Some(&b']')
    }

    pub(super) fn parser(&self) -> Parser<'a> {
        Parser::new_ext(self.parsed, options())
    }
}

/// Returns the extensions of CommonMark that are parsed.
pub(crate) fn options() -> Options {
    Options::ENABLE_TABLES
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_MATH
        | Options::ENABLE_HEADING_ATTRIBUTES
        | Options::ENABLE_GFM
}

/// Returns `text` with the pipes inside wikilinks masked; `text` itself if there are none.
pub(super) fn mask_pipes(text: &str) -> Cow<'_, str> {
    if text.as_bytes().contains(&PIPE) || !text.contains("[[") {
        return Cow::Borrowed(text);
    }
    let mut masked: Option<Vec<u8>> = None;
    let mut from = 0;
    while let Some(at) = text[from..].find("[[") {
        let start = from + at + 2;
        from = start;
        let end = text.floor_char_boundary(start + WIKILINK_BYTES_MAX);
        let inner = &text[start..end];
        let Some(len) = inner.find(['[', ']', '\n', '\r']) else { continue };
        if !inner[len..].starts_with("]]") {
            continue;
        }
        for (index, byte) in inner[..len].bytes().enumerate() {
            let is_escaped = 0 < index && inner.as_bytes()[index - 1] == b'\\';
            if byte == b'|' && !is_escaped {
                masked.get_or_insert_with(|| text.as_bytes().to_vec())[start + index] = PIPE;
            }
        }
        from = start + len;
    }
    match masked.map(String::from_utf8) {
        Some(Ok(masked)) => Cow::Owned(masked),
        _ => Cow::Borrowed(text),
    }
}

/// Finds the link definitions of a text that no link uses.
#[derive(Debug, Default)]
pub(super) struct UnusedLinkDefinitionFinder {
    /// Span of each definition, and whether a link uses it.
    spans: Vec<(Range<usize>, bool)>,
    /// Whether the text may have definitions at all.
    is_possible: bool,
}

impl UnusedLinkDefinitionFinder {
    /// Finds definitions and their uses, which takes a parse of its own.
    pub(super) fn of(source: WikilinkPipeMaskedMarkdown<'_>) -> UnusedLinkDefinitionFinder {
        if !source.text.contains("]:") {
            return UnusedLinkDefinitionFinder::default();
        }
        let mut events = source.parser().into_offset_iter();
        let mut spans: Vec<(Range<usize>, bool)> =
            events.reference_definitions().iter().map(|(_, it)| (it.span.clone(), false)).collect();
        spans.sort_by_key(|(span, _)| span.start);
        while !spans.is_empty()
            && let Some((event, range)) = events.next()
        {
            let (Event::Start(Tag::Link { link_type, id, .. })
            | Event::Start(Tag::Image { link_type, id, .. })) = event
            else {
                continue;
            };
            let is_reference = match link_type {
                LinkType::Reference | LinkType::Collapsed => true,
                LinkType::Shortcut => !source.is_wikilink(&range),
                _ => false,
            };
            let definition = events.reference_definitions().get(&id);
            if is_reference
                && let Some(start) = definition.map(|it| it.span.start)
                && let Ok(index) = spans.binary_search_by_key(&start, |(span, _)| span.start)
            {
                spans[index].1 = true;
            }
        }
        UnusedLinkDefinitionFinder { spans, is_possible: true }
    }

    /// Returns the definitions in `gap` that no link uses, one a line; the parser drops them. Empty
    /// if there are none.
    pub(super) fn unused_in(
        &self,
        source: WikilinkPipeMaskedMarkdown<'_>,
        gap: Range<usize>,
    ) -> String {
        let mut out = String::new();
        if !self.is_possible || gap.end <= gap.start {
            return out;
        }
        let mut from = gap.start;
        let first = self.spans.partition_point(|(span, _)| span.end <= gap.start);
        for (span, is_used) in &self.spans[first..] {
            if gap.end <= span.start {
                break;
            }
            if *is_used {
                let end = span.start.clamp(from, gap.end);
                push_definitions(&mut out, &source.text[from..end]);
                from = span.end.clamp(from, gap.end);
            }
        }
        push_definitions(&mut out, &source.text[from..gap.end]);
        out
    }
}

/// Adds the lines of `gap` that define links, without the marks of quotes and lists around them.
fn push_definitions(out: &mut String, gap: &str) {
    if !gap.contains("]:") {
        return;
    }
    let mut is_inside = false;
    for line in gap.lines() {
        let line = line.trim_matches([' ', '\t', '>']);
        is_inside = !line.is_empty() && (is_inside || line.starts_with('['));
        if is_inside {
            if !out.is_empty() {
                out.push('\n');
            }
            out.push_str(line);
        }
    }
}
