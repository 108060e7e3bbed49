//! Changes of a file's text in place: the candidate bytes, and the nodes that they must read as.
//!
//! A candidate is a guess, made from the bytes that each node was read from. Its reader parses it
//! and compares the outcome with what is expected, so that a notation in which a block means
//! something else by its surroundings costs nothing but the attempt.

use std::borrow::Cow;
use std::ops::Range;

use crate::ingest::parse::Syntax;
use crate::ingest::redact::Redactor;
use crate::memory::compile::export_marks::ExportedFileOwner;
use crate::memory::compile::redaction;
use crate::model::tree::{ContentFormat, DocumentTree, Node, NodeType};

const MARK: &str = "\u{feff}";

/// A change of a file at one of its nodes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum NodeEditInFile<'a> {
    /// Replaces the text of the node.
    Replace(&'a str, &'a DocumentTree),
    /// Adds a text at the end of what is below the node.
    Append(&'a str, &'a DocumentTree),
    /// Takes out the node and what is below it.
    Remove,
    /// Takes out the node alone; what is below it moves up.
    Lift,
}

/// The text of a file with the nodes that it was read as.
pub(super) struct ParsedSource {
    text: String,
    has_mark: bool,
    /// Ranges of the text that were secrets, and the bytes of their markers.
    secrets: Vec<(Range<usize>, usize)>,
    pub(super) tree: DocumentTree,
}

/// A node as it must be read.
#[derive(Clone, Debug, PartialEq)]
struct ExpectedNodeAfterSplice<'a> {
    depth: usize,
    node_type: NodeType,
    level: Option<u8>,
    lang: Option<&'a str>,
    key_path: Option<&'a str>,
    format: ContentFormat,
    content: Cow<'a, str>,
}

/// A node as it must be read, and the one that it was.
type ExpectedNodeWithOldIndex<'a> = (ExpectedNodeAfterSplice<'a>, Option<usize>);

/// The outcome of a change.
pub(super) enum SpliceOutcome {
    /// The new bytes, their tree, and for each of its nodes the one that it was.
    New { bytes: Vec<u8>, tree: DocumentTree, origins: Vec<Option<usize>> },
    /// The file says it already: in these nodes.
    Same(Range<usize>),
}

impl ParsedSource {
    /// Reads the bytes of a file as a compile does; `None` if they are no UTF-8.
    pub(super) fn read(bytes: &[u8], syntax: Syntax, redactor: &Redactor) -> Option<ParsedSource> {
        let text = std::str::from_utf8(bytes).ok()?;
        let (has_mark, text) = match text.strip_prefix(MARK) {
            Some(text) => (true, text),
            None => (false, text),
        };
        let scrubbed = redactor.scrub(text);
        let secrets = scrubbed.hits.iter().map(|it| (it.range.clone(), it.marker().len()));
        let secrets = secrets.collect();
        let (parsed, _) =
            redaction::parse_bytes_redacted((syntax, None::<ExportedFileOwner>), bytes, redactor);
        Some(ParsedSource { text: text.to_owned(), has_mark, secrets, tree: parsed.tree })
    }

    /// Returns the index after the last node below one.
    pub(super) fn end_of(&self, idx: usize) -> usize {
        end_of(&self.tree, idx)
    }

    /// Changes the text at the node `idx`; the error says why that cannot be.
    pub(super) fn change(
        &self,
        idx: usize,
        edit: NodeEditInFile<'_>,
        (syntax, redactor): (Syntax, &Redactor),
    ) -> Result<SpliceOutcome, String> {
        let parse = (syntax, redactor);
        match edit {
            NodeEditInFile::Replace(words, tree) => {
                self.checked(self.replaced(idx, words, tree)?, parse)
            }
            NodeEditInFile::Append(words, tree) => {
                if let Some(same) = self.run_below(idx, tree) {
                    return Ok(SpliceOutcome::Same(same));
                }
                let last = self.appended((idx, self.end_of(idx)), words, tree)?;
                match (self.checked(last, parse), self.first_section(idx)) {
                    // After a section that is the last, a text would belong to that.
                    (Err(_), Some(at)) => {
                        self.checked(self.appended((idx, at), words, tree)?, parse)
                    }
                    (outcome, _) => outcome,
                }
            }
            NodeEditInFile::Remove => {
                self.checked(self.removed(idx, idx..self.end_of(idx), 0)?, parse)
            }
            NodeEditInFile::Lift => self.checked(self.removed(idx, idx..idx + 1, 1)?, parse),
        }
    }

    /// Returns the first heading right below a node.
    fn first_section(&self, idx: usize) -> Option<usize> {
        let is_section = |it: &usize| {
            let node = &self.tree.nodes[*it];
            node.parent == Some(idx) && node.node_type == NodeType::Heading
        };
        (idx + 1..self.end_of(idx)).find(is_section)
    }

    /// Parses a new text, which must read as expected.
    fn checked(
        &self,
        (text, expected): (String, Vec<ExpectedNodeWithOldIndex<'_>>),
        (syntax, redactor): (Syntax, &Redactor),
    ) -> Result<SpliceOutcome, String> {
        let mark = if self.has_mark { MARK } else { "" };
        let bytes = [mark, &text].concat().into_bytes();
        let (parsed, _) =
            redaction::parse_bytes_redacted((syntax, None::<ExportedFileOwner>), &bytes, redactor);
        let tree = parsed.tree;
        let is_same = shapes(&tree).eq(expected.iter().map(|(shape, _)| shape.clone()));
        if !is_same {
            return Err("would read otherwise with it".to_owned());
        }
        let origins = expected.iter().map(|(_, origin)| *origin).collect();
        Ok(SpliceOutcome::New { bytes, tree, origins })
    }

    fn replaced<'a>(
        &'a self,
        idx: usize,
        words: &str,
        tree: &'a DocumentTree,
    ) -> Result<(String, Vec<ExpectedNodeWithOldIndex<'a>>), String> {
        let node = &self.tree.nodes[idx];
        let depth = self.tree.depths()[idx];
        let RenderedBlock { text, says } = RenderedBlock::of(node, words, tree);
        let mut shown: Vec<ExpectedNodeWithOldIndex<'a>> = match says {
            Some(content) => {
                let content = Cow::Owned(content);
                vec![(ExpectedNodeAfterSplice { content, ..shape(node, depth) }, None)]
            }
            None => shapes_at(tree, depth).map(|it| (it, None)).collect(),
        };
        let has_parts = idx + 1 < self.end_of(idx);
        if has_parts && (shown.len() != 1 || node.node_type != NodeType::Heading) {
            return Err("has parts below that text".to_owned());
        }
        let is_heir = |it: &&mut ExpectedNodeWithOldIndex<'_>| {
            it.0.depth == depth && it.0.node_type == node.node_type
        };
        match shown.iter_mut().find(is_heir) {
            Some(heir) => heir.1 = Some(idx),
            None => return Err(format!("would have no {} there", node.node_type)),
        }
        let span = self.span_of(node)?;
        let text = self.with(span.clone(), &self.fitted(&text, span.start));
        let mut expected = self.kept(0..idx, 0);
        expected.extend(shown);
        expected.extend(self.kept(idx + 1..self.tree.nodes.len(), 0));
        Ok((text, expected))
    }

    /// Adds a text below the node `idx`, before the node `end`.
    fn appended<'a>(
        &'a self,
        (idx, end): (usize, usize),
        words: &str,
        tree: &'a DocumentTree,
    ) -> Result<(String, Vec<ExpectedNodeWithOldIndex<'a>>), String> {
        let depth = self.tree.depths()[idx];
        let last = self.tree.nodes[idx..end].iter().map(|it| it.span.end).max().unwrap_or(0);
        let last = self.bytes_of(last..last)?.start;
        let last = self.text[..last].trim_end().len();
        let at = self.text[last..].find('\n').map_or(self.text.len(), |it| last + it + 1);
        let newline = self.newline();
        let (before, after) = self.text.split_at(at);
        let mut added = String::new();
        if !before.ends_with('\n') {
            added.push_str(newline);
        }
        added.push_str(newline);
        added.push_str(&self.fitted(words, at));
        if before.ends_with('\n') {
            added.push_str(newline);
        }
        let is_followed = after.trim_start_matches('\r').starts_with('\n');
        if !after.is_empty() && !is_followed {
            added.push_str(newline);
        }
        let mut expected = self.kept(0..end, 0);
        expected.extend(shapes_at(tree, depth + 1).map(|it| (it, None)));
        expected.extend(self.kept(end..self.tree.nodes.len(), 0));
        Ok(([before, &added, after].concat(), expected))
    }

    /// Takes out some nodes; those below `idx` that stay move up by `lifted`.
    fn removed(
        &self,
        idx: usize,
        gone: Range<usize>,
        lifted: usize,
    ) -> Result<(String, Vec<ExpectedNodeWithOldIndex<'_>>), String> {
        let nodes = &self.tree.nodes[gone.clone()];
        let start = nodes.iter().map(|it| it.span.start).min().unwrap_or(0);
        let end = nodes.iter().map(|it| it.span.end).max().unwrap_or(start);
        let Range { start, mut end } = self.bytes_of(start..end)?;
        let mut done = start;
        for node in nodes {
            let span = self.span_of(node)?;
            if self.text.get(done..span.start).is_some_and(|it| !it.trim().is_empty()) {
                return Err("has something there that is no block".to_owned());
            }
            done = done.max(span.end);
            end = end.max(span.end);
        }
        let below = self.end_of(idx).max(gone.end);
        let mut expected = self.kept(0..gone.start, 0);
        expected.extend(self.kept(gone.end..below, lifted));
        expected.extend(self.kept(below..self.tree.nodes.len(), 0));
        Ok((self.without(start, end), expected))
    }

    /// Returns the text without a block, and without the blank lines that belong to it.
    fn without(&self, start: usize, end: usize) -> String {
        let end = start + self.text[start..end].trim_end().len();
        let line = self.text[..start].rfind('\n').map_or(0, |it| it + 1);
        if !self.text[line..start].trim().is_empty() {
            return self.with(start..end, "");
        }
        let rest = &self.text[end..];
        let after = rest.trim_start();
        if after.is_empty() {
            // The block that is last now ends as the file did.
            let kept = self.text[..line].trim_end();
            let is_ended = self.text.ends_with('\n') && !kept.is_empty();
            return [kept, if is_ended { self.newline() } else { "" }].concat();
        }
        let blank = &rest[..rest.len() - after.len()];
        match blank.rfind('\n') {
            Some(at) => self.with(line..end + at + 1, ""),
            None => self.with(start..end, ""),
        }
    }

    /// Returns nodes that stay, moved up.
    fn kept(&self, which: Range<usize>, lifted: usize) -> Vec<ExpectedNodeWithOldIndex<'_>> {
        let depths = self.tree.depths();
        let shape = |idx: usize| shape(&self.tree.nodes[idx], depths[idx] - lifted);
        which.map(|idx| (shape(idx), Some(idx))).collect()
    }

    /// Returns the nodes below one that equal a tree, if there are some in a row.
    fn run_below(&self, idx: usize, tree: &DocumentTree) -> Option<Range<usize>> {
        let depth = self.tree.depths()[idx] + 1;
        let wanted: Vec<ExpectedNodeAfterSplice<'_>> = shapes_at(tree, depth).collect();
        let all: Vec<ExpectedNodeAfterSplice<'_>> = shapes(&self.tree).collect();
        let end = self.end_of(idx);
        let is_run = |at: &usize| {
            let after = at + wanted.len();
            all[*at..end].starts_with(&wanted)
                && all[after..end].first().is_none_or(|it| it.depth <= depth)
        };
        (idx + 1..end).find(is_run).map(|at| at..at + wanted.len())
    }

    /// Returns the range of a node's text, without line ends after it; a heading's underline
    /// belongs to it.
    fn span_of(&self, node: &Node) -> Result<Range<usize>, String> {
        let span = self.bytes_of(node.span.clone())?;
        let own = self.text[span.clone()].trim_end();
        let mut end = span.start + own.len();
        if node.node_type == NodeType::Heading && !own.trim_start().starts_with('#') {
            let rest = &self.text[end..];
            let below = rest.find('\n').map_or(rest.len(), |it| it + 1);
            let line = rest[below..].lines().next().unwrap_or("");
            if is_underline(line) {
                end += below + line.trim_end().len();
            }
        }
        Ok(span.start..end)
    }

    /// Returns the range of the file's text that a range of the redacted text is.
    fn bytes_of(&self, range: Range<usize>) -> Result<Range<usize>, String> {
        let (mut shown, mut own) = (0, 0);
        let (mut start, mut end) = (range.start, range.end);
        for (secret, marker) in &self.secrets {
            let at = shown + secret.start - own;
            (shown, own) = (at + marker, secret.end);
            if at < range.end && range.start < shown {
                return Err("has a secret there, which the memory does not know".to_owned());
            }
            if shown <= range.start {
                start = range.start - shown + own;
            }
            if shown <= range.end {
                end = range.end - shown + own;
            }
        }
        match self.text.get(start..end) {
            Some(_) => Ok(start..end),
            None => Err("cannot be found there".to_owned()),
        }
    }

    fn with(&self, span: Range<usize>, text: &str) -> String {
        [&self.text[..span.start], text, &self.text[span.end..]].concat()
    }

    /// Returns words with the line ends of the file, and what its lines begin with at a place.
    fn fitted(&self, words: &str, at: usize) -> String {
        let line = self.text[..at].rfind('\n').map_or(0, |it| it + 1);
        let prefix: String = self.text[line..at]
            .chars()
            .map(|it| if it == '>' || it.is_whitespace() { it } else { ' ' })
            .collect();
        let newline = self.newline();
        let mut fitted = String::with_capacity(words.len());
        for (nth, line) in words.split('\n').enumerate() {
            if 0 < nth {
                fitted.push_str(newline);
                fitted.push_str(if line.trim().is_empty() { prefix.trim_end() } else { &prefix });
            }
            fitted.push_str(line.strip_suffix('\r').unwrap_or(line));
        }
        fitted
    }

    fn newline(&self) -> &'static str {
        if self.text.contains("\r\n") { "\r\n" } else { "\n" }
    }
}

/// A text as a block of a file.
struct RenderedBlock {
    text: String,
    /// The text of the block's one node; `None`: the block is the tree of the words.
    says: Option<String>,
}

impl RenderedBlock {
    fn of(old: &Node, words: &str, tree: &DocumentTree) -> RenderedBlock {
        let first = tree.nodes.first();
        let is_alike =
            tree.nodes.len() == 1 && first.is_some_and(|it| it.node_type == old.node_type);
        let content = match first {
            Some(first) if is_alike => first.content.clone(),
            _ => words.to_owned(),
        };
        match (old.node_type, old.level) {
            (NodeType::Heading, Some(level)) => {
                let text = format!("{} {content}", "#".repeat(level.into()));
                RenderedBlock { text, says: Some(content) }
            }
            (NodeType::Code, _) if !is_alike && old.format == ContentFormat::Plain => {
                let longest = words.split(|it| it != '`').map(str::len).max().unwrap_or(0);
                let fence = "`".repeat(longest.max(2) + 1);
                let lang = old.lang.as_deref().unwrap_or("");
                RenderedBlock {
                    text: format!("{fence}{lang}\n{words}\n{fence}"),
                    says: Some(content),
                }
            }
            _ => RenderedBlock { text: words.to_owned(), says: None },
        }
    }
}

fn is_underline(line: &str) -> bool {
    let line = line.trim();
    !line.is_empty() && (line.bytes().all(|it| it == b'=') || line.bytes().all(|it| it == b'-'))
}

fn end_of(tree: &DocumentTree, idx: usize) -> usize {
    let is_below = |it: &Node| it.parent.is_some_and(|parent| idx <= parent);
    let n_below = tree.nodes[idx + 1..].iter().take_while(|it| is_below(it)).count();
    idx + 1 + n_below
}

fn shape(node: &Node, depth: usize) -> ExpectedNodeAfterSplice<'_> {
    ExpectedNodeAfterSplice {
        depth,
        node_type: node.node_type,
        level: node.level,
        lang: node.lang.as_deref(),
        key_path: node.key_path.as_deref(),
        format: node.format,
        content: Cow::Borrowed(&node.content),
    }
}

fn shapes(tree: &DocumentTree) -> impl Iterator<Item = ExpectedNodeAfterSplice<'_>> {
    shapes_at(tree, 0)
}

fn shapes_at(
    tree: &DocumentTree,
    above: usize,
) -> impl Iterator<Item = ExpectedNodeAfterSplice<'_>> {
    tree.nodes.iter().zip(tree.depths()).map(move |(it, depth)| shape(it, above + depth))
}
