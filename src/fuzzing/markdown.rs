//! Parsing Markdown: no word lost, none doubled, sound trees, bounded nodes, deterministic trees.

use std::collections::HashMap;

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};

use super::parser_invariants::{parse_twice, without_escapes, words};
use crate::ingest::parse::{PART_TOKENS_MAX, Parsed, Syntax, decode, markdown_options};
use crate::model::tree::{ContentFormat, Node, NodeType};
use crate::text::tokens;

/// Panics when parsing `data` as Markdown violates an invariant.
pub fn markdown(data: &[u8]) {
    let (text, _) = decode(data);
    let parsed = parse_twice(Syntax::Markdown, &text);
    if let Err(report) = check(&parsed, &text) {
        panic!("{report} in {:?}", parsed.tree);
    }
}

/// Checks that nothing of the text is lost: words, code and front matter.
pub(crate) fn check(parsed: &Parsed, text: &str) -> Result<(), String> {
    check_words(parsed, text)?;
    check_code(parsed, text)?;
    check_preamble(parsed, text)
}

/// Checks that every word the source shows is in the tree as often as in the source.
///
/// The source's words are those of the parser's events, the tree's those of its contents: links'
/// destinations and titles, markers and names may add words to the tree, but remove none.
fn check_words(parsed: &Parsed, text: &str) -> Result<(), String> {
    let front = front_matter_end(parsed, text);
    let mut budget: HashMap<&str, i64> = HashMap::new();
    let body = &text[front..];
    let source = ExpectedWords::read(body);
    for node in &parsed.tree.nodes {
        if front <= node.span.start {
            for word in words(&node.content) {
                *budget.entry(word).or_default() += 1;
            }
        }
    }
    let mut lost = Vec::new();
    for word in source.visible.iter().flat_map(|it| words(it)) {
        let left = budget.entry(word).or_default();
        *left -= 1;
        if *left < 0 {
            lost.push(word);
        }
    }
    if !lost.is_empty() {
        return Err(format!("lost: {lost:?}"));
    }
    for word in source.allowed.iter().flat_map(|it| words(it)) {
        *budget.entry(word).or_default() -= 1;
    }
    let mut doubled: Vec<&str> =
        budget.iter().filter(|(_, left)| 0 < **left).map(|(word, _)| *word).collect();
    doubled.sort_unstable();
    match doubled.is_empty() {
        true => Ok(()),
        false => Err(format!("more often in the tree than in the source: {doubled:?}")),
    }
}

/// Checks that a fenced block at the margin is a code node with the bytes between the two fences.
fn check_code(parsed: &Parsed, text: &str) -> Result<(), String> {
    let body = &text[front_matter_end(parsed, text)..];
    let mut depth = 0usize;
    for (event, range) in Parser::new_ext(body, markdown_options()).into_offset_iter() {
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))) if depth == 0 => {
                let block = &body[range.clone()];
                let is_at_margin = range.start == 0 || body[..range.start].ends_with('\n');
                let mark = &block[..block.bytes().take_while(|it| b"`~".contains(it)).count()];
                let Some((_, inner)) = block.split_once('\n') else { continue };
                let Some((inner, closing)) = inner.rsplit_once('\n') else { continue };
                let closing = closing.trim_matches([' ', '\r']);
                let is_closed = closing.len() >= mark.len()
                    && closing.bytes().all(|byte| mark.as_bytes().contains(&byte));
                if !is_at_margin || mark.len() < 3 || !is_closed {
                    continue;
                }
                let code = inner.strip_suffix('\r').unwrap_or(inner);
                let is_kept =
                    |node: &Node| node.node_type == NodeType::Code && node.content == code;
                let is_small = tokens::count(code) <= PART_TOKENS_MAX;
                if is_small && !code.is_empty() && !parsed.tree.nodes.iter().any(is_kept) {
                    return Err(format!("no node has the code {code:?}"));
                }
            }
            Event::Start(Tag::List(_) | Tag::BlockQuote(_) | Tag::FootnoteDefinition(_)) => {
                depth += 1;
            }
            Event::End(TagEnd::List(_) | TagEnd::BlockQuote(_) | TagEnd::FootnoteDefinition) => {
                depth -= 1;
            }
            _ => (),
        }
    }
    Ok(())
}

/// Checks that the words of the front matter are in its nodes. In YAML, where the text is the
/// value, they are there as often as in the source. Comments, escapes and indentation marks may be
/// missing.
fn check_preamble(parsed: &Parsed, text: &str) -> Result<(), String> {
    let end = match parsed.tree.nodes.first() {
        Some(first) if first.node_type == NodeType::Preamble => first.span.end,
        _ => return Ok(()),
    };
    let source = &text[..end];
    if source.contains(['#', '\\', '%', '|', '>', '?']) {
        return Ok(());
    }
    let front = parsed.tree.nodes.iter().filter(|node| node.span.end <= end);
    let has_table = front.clone().any(|node| node.format == ContentFormat::Toon);
    let contents: Vec<String> = front.map(|node| without_escapes(&node.content)).collect();
    let mut kept: Vec<&str> = contents.iter().flat_map(|it| words(it)).collect();
    let mut wanted: Vec<&str> = words(source).collect();
    kept.sort_unstable();
    wanted.sort_unstable();
    if source.starts_with('+') {
        // A table's name is written once, however many headers have it.
        kept.dedup();
        wanted.dedup();
    }
    if has_table {
        // A table has its size and its columns once; its contents are checked by a target of their
        // own.
        kept.dedup();
        wanted.dedup();
        kept.retain(|it| wanted.binary_search(it).is_ok());
    }
    match kept == wanted {
        true => Ok(()),
        false => Err(format!("front matter says {wanted:?}, its nodes {kept:?}")),
    }
}

/// The words that the source shows, and the words that the tree may show beside them.
#[derive(Default)]
struct ExpectedWords {
    visible: Vec<String>,
    allowed: Vec<String>,
}

impl ExpectedWords {
    fn read(body: &str) -> ExpectedWords {
        let mut out = ExpectedWords::default();
        let mut code: Option<String> = None;
        let events = Parser::new_ext(body, markdown_options()).into_offset_iter();
        for (label, definition) in events.reference_definitions().iter() {
            out.allowed.push(body[definition.span.clone()].to_owned());
            out.allowed.push(label.to_owned());
        }
        out.allow_lines(body);
        let mut is_text = false;
        for (event, range) in events {
            let was_text = is_text;
            is_text = matches!(event, Event::Text(_));
            match event {
                Event::Start(Tag::CodeBlock(_)) => code = Some(String::new()),
                Event::End(TagEnd::CodeBlock) => out.visible.extend(code.take()),
                Event::Text(text) => match &mut code {
                    Some(code) => code.push_str(&text),
                    // An entity is an event of its own, but not a word of its own.
                    None if was_text => {
                        if let Some(last) = out.visible.last_mut() {
                            last.push_str(&text);
                        }
                    }
                    None => out.visible.push(text.into_string()),
                },
                Event::Code(text)
                | Event::InlineMath(text)
                | Event::DisplayMath(text)
                | Event::Html(text)
                | Event::InlineHtml(text) => out.visible.push(text.into_string()),
                Event::FootnoteReference(label) => out.visible.push(label.into_string()),
                Event::Start(Tag::FootnoteDefinition(label)) => {
                    out.visible.push(label.into_string());
                }
                Event::Start(Tag::Link { dest_url, title, .. })
                | Event::Start(Tag::Image { dest_url, title, .. }) => {
                    out.allowed.push(dest_url.into_string());
                    out.allowed.push(title.into_string());
                }
                Event::Start(Tag::Heading { .. }) => {
                    // The attributes, which the parser normalizes.
                    let after = body[range].split_once('{').map_or("", |(_, after)| after);
                    out.allowed.push(after.to_owned());
                }
                Event::Start(Tag::BlockQuote(Some(_))) => {
                    // The kind of an alert, in letters of either case.
                    let mark = body[range].split_once("[!").and_then(|it| it.1.split_once(']'));
                    out.allowed.extend(mark.map(|it| it.0.to_owned()));
                }
                Event::Start(Tag::Item) => {
                    let digits = body[range].chars().take_while(char::is_ascii_digit);
                    out.visible.push(digits.collect());
                }
                Event::TaskListMarker(true) => out.allowed.push("x".to_owned()),
                // The cells beyond a table's last column, which the parser drops; in its head, it
                // does not count a first one of other white space than blanks.
                Event::Start(Tag::TableHead | Tag::TableRow) => {
                    out.allowed.push(body[range].to_owned())
                }
                _ => (),
            }
        }
        out
    }

    /// Allows words of lines that the tree may read differently.
    fn allow_lines(&mut self, body: &str) {
        // A repeated definition is none to the parser, and no text either. Its label may begin some
        // lines before, and its title ends before the next empty line.
        let mut label: Vec<&str> = Vec::new();
        let mut is_definition = false;
        for line in body.lines() {
            // A text that the pipe of a wikilink would cut in two cells is one text to the tree,
            // and may be code there: the name of an entity is a word of it.
            if line.contains("[[") {
                let named = line.split('&').skip(1).filter_map(|it| it.split_once(';'));
                self.allowed.extend(named.map(|it| it.0.to_owned()));
            }
            if line.trim_matches([' ', '\t', '\r']).is_empty() {
                label.clear();
                is_definition = false;
            } else if is_definition || !label.is_empty() || line.contains('[') {
                label.push(line);
            }
            is_definition |= line.contains("]:");
            if is_definition {
                self.allowed.extend(label.drain(..).map(str::to_owned));
            }
        }
    }
}

/// Returns the start of the body behind the front matter, according to the tree.
fn front_matter_end(parsed: &Parsed, text: &str) -> usize {
    let Some(first) = parsed.tree.nodes.first() else { return 0 };
    if first.node_type == NodeType::Preamble {
        return first.span.end + closing_fence_len(&text[first.span.end..]);
    }
    // Faulty front matter is text, which the parser would read as a heading.
    let is_broken = |what: &str| what.starts_with("front matter is not understood");
    match parsed.warnings.iter().any(|warning| is_broken(&warning.what)) {
        true => {
            let rest = &text[first.span.end..];
            first.span.end + rest.find('\n').map_or(rest.len(), |at| at + 1)
        }
        false => 0,
    }
}

/// Returns the bytes up to the end of the line that closes front matter: its fence would begin a
/// paragraph, which a definition cannot interrupt.
fn closing_fence_len(rest: &str) -> usize {
    let mut len = 0;
    for line in rest.split_inclusive('\n') {
        len += line.len();
        match line.trim() {
            "---" | "+++" | "..." => return len,
            "" => (),
            comment if comment.starts_with('#') => (),
            _ => break,
        }
    }
    0
}
