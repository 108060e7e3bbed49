//! Parses Org: headings with stars, `#+begin_…` blocks, tables, lists, paragraphs.

use std::ops::Range;

use super::{PlainReader, item, lines};
use crate::ingest::parse::Parsed;
use crate::model::tree::NodeType;

/// Blocks whose lines are kept together, and whether they are code.
const BLOCKS: [(&str, bool); 7] = [
    ("src", true),
    ("example", true),
    ("export", true),
    ("quote", false),
    ("verse", false),
    ("center", false),
    ("comment", false),
];

/// Parses an Org file.
pub(in crate::ingest::parse) fn parse(source: &str) -> Parsed {
    let mut page = PlainReader::new(source);
    let mut rest = lines(source);
    // Kinds of blocks that are known to have no end any more.
    let mut unclosed = [false; BLOCKS.len()];
    let mut open: Option<(NodeType, Range<usize>)> = None;
    while let Some(line) = rest.next() {
        if page.is_full(open.as_ref().map_or(line.start, |(_, range)| range.start)) {
            return page.finish();
        }
        let words = &source[line.clone()];
        let kind = group(words, open.as_ref().map(|(kind, _)| *kind));
        match (kind, &mut open) {
            (Some(kind), Some((same, range))) if kind == *same => {
                range.end = line.end;
                continue;
            }
            _ => close(&mut page, &mut open),
        }
        if let Some(kind) = kind {
            page.end_paragraph();
            open = Some((kind, line));
        } else if let Some((level, title)) = heading(words) {
            page.heading(level, line, title);
        } else if let Some((place, args)) = block(words)
            && !unclosed[place]
        {
            let (name, is_code) = BLOCKS[place];
            match end_of(source, rest.clone(), name) {
                None => {
                    unclosed[place] = true;
                    page.text_line(line);
                }
                Some((inner, end)) => {
                    add_block(&mut page, is_code, args, line, inner, &end);
                    while rest.clone().next().is_some_and(|next| next.start <= end.start) {
                        rest.next();
                    }
                }
            }
        } else {
            page.text_line(line);
        }
    }
    close(&mut page, &mut open);
    page.finish()
}

fn close(page: &mut PlainReader<'_>, open: &mut Option<(NodeType, Range<usize>)>) {
    if let Some((kind, range)) = open.take() {
        page.add(kind, range);
    }
}

/// Returns the type of node that a line is part of together with its neighbours.
fn group(words: &str, open: Option<NodeType>) -> Option<NodeType> {
    let is_indented = words.starts_with([' ', '\t']) && !words.trim().is_empty();
    if words.trim_start().starts_with('|') {
        Some(NodeType::Table)
    } else if item(words).is_some() || open == Some(NodeType::List) && is_indented {
        Some(NodeType::List)
    } else {
        None
    }
}

fn heading(words: &str) -> Option<(u8, &str)> {
    let stars = words.bytes().take_while(|&byte| byte == b'*').count();
    let title = words[stars..].strip_prefix(' ').filter(|title| !title.trim().is_empty())?;
    let level = u8::try_from(stars.min(6)).unwrap_or(6);
    (0 < stars).then_some((level, title))
}

/// Returns the block that a line begins, and the text behind that.
fn block(words: &str) -> Option<(usize, &str)> {
    let rest = strip(words, "#+begin_")?;
    BLOCKS.iter().enumerate().find_map(|(place, (name, _))| {
        let args = strip(rest, name)?;
        (args.is_empty() || args.starts_with([' ', '\t'])).then_some((place, args.trim()))
    })
}

fn strip<'a>(words: &'a str, prefix: &str) -> Option<&'a str> {
    let words = words.trim_start();
    let head = words.get(..prefix.len())?;
    head.eq_ignore_ascii_case(prefix).then(|| &words[prefix.len()..])
}

/// Returns the content of a block whose first line was read, and the line that ends it.
fn end_of(
    source: &str,
    rest: impl Iterator<Item = Range<usize>>,
    name: &str,
) -> Option<(Range<usize>, Range<usize>)> {
    let mut inner: Option<Range<usize>> = None;
    for line in rest {
        let is_end = strip(&source[line.clone()], "#+end_")
            .is_some_and(|it| it.trim().eq_ignore_ascii_case(name));
        if is_end {
            return Some((inner.unwrap_or(line.start..line.start), line));
        }
        let start = inner.map_or(line.start, |it| it.start);
        inner = Some(start..line.end);
    }
    None
}

fn add_block(
    page: &mut PlainReader<'_>,
    is_code: bool,
    args: &str,
    first: Range<usize>,
    inner: Range<usize>,
    end: &Range<usize>,
) {
    page.end_paragraph();
    if !is_code {
        return page.add(NodeType::Text, inner);
    }
    let (lang, more) = args.split_once([' ', '\t']).unwrap_or((args, ""));
    let span = first.start..end.end;
    if !more.trim().is_empty() {
        // Switches and arguments are words of their own.
        page.add(NodeType::Text, first);
    }
    let content = page.text[inner].to_owned();
    page.code(lang, span, content);
}
