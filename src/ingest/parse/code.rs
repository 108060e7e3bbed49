//! Parses source code: a code node for each definition, labelled by its signature.
//!
//! The comments and attributes directly above a definition belong to it. The code between two
//! definitions is one node.
//!
//! Members of a class or block are children of it, one level deep. A language is a row of
//! `languages`; in any other one, a file is one text, cut at blank lines where it is large. Every
//! line that is not blank is in exactly one node, byte for byte.

mod definition;
mod languages;
mod line_and_bracket_lexer;
mod split;

use std::ops::Range;

use languages::{Language, Layout};
use line_and_bracket_lexer::LexedSource;
use split::{Chunk, CodeNestingLevel};

use super::node_tree_builder::NodeTreeBuilder;
use super::{Parsed, Warning, label};
use crate::model::tree::{Node, NodeType};
use crate::text::{LABEL_CHARS_MAX, fold_whitespace, truncate_chars};

/// Maximum bytes of a file that is split by its definitions; a larger one is generated.
const SPLIT_BYTES_MAX: usize = 2 * 1024 * 1024;

/// Bytes of a signature that its label is made from.
const SIGNATURE_BYTES_MAX: usize = 1024;

/// A programming language, known by the ending of a file's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodeLanguage(usize);

impl CodeLanguage {
    /// Returns the language of files with this ending; `None` if they are no source code.
    pub(super) fn of_ending(ending: &str) -> Option<CodeLanguage> {
        languages::nth_of(ending).map(CodeLanguage)
    }

    /// Returns every language with rules, and one without.
    #[cfg(any(test, fuzzing))]
    pub(crate) fn all() -> impl Iterator<Item = CodeLanguage> {
        (0..=languages::LANGUAGES.len()).map(CodeLanguage)
    }
}

/// Parses a source.
pub(super) fn parse(CodeLanguage(nth): CodeLanguage, text: &str) -> Parsed {
    let (name, language) = languages::nth(nth);
    let (source, outline) = (LexedSource::default(), NodeTreeBuilder::default());
    let mut reader = CodeReader { text, name, language, source, outline };
    let mut warnings = Vec::new();
    let is_large = SPLIT_BYTES_MAX < text.len();
    if is_large {
        let mib = SPLIT_BYTES_MAX / (1024 * 1024);
        let what = format!("more than {mib} MiB; kept in parts, without its definitions");
        warnings.push(Warning { line: 1, what });
    }
    if is_large || language.layout == Layout::Unknown {
        reader.add(0..text.len(), None, None);
        return Parsed { tree: reader.outline.tree, warnings };
    }
    reader.source = line_and_bracket_lexer::read(text, language, &|line| {
        definition::has_defining_word(line, language)
    });
    let all = 0..reader.source.lines.len();
    for chunk in &split::split(text, &reader.source, all, (language, CodeNestingLevel::TOP)) {
        reader.add_chunk(chunk);
    }
    Parsed { tree: reader.outline.tree, warnings }
}

struct CodeReader<'a> {
    text: &'a str,
    name: &'static str,
    language: &'static Language,
    source: LexedSource,
    outline: NodeTreeBuilder,
}

impl CodeReader<'_> {
    /// Adds a chunk of the top level; one with members has them as children.
    fn add_chunk(&mut self, chunk: &Chunk) {
        let members = self.members(chunk);
        let header = match members.first() {
            Some(first) => chunk.lines.start..first.lines.start,
            None => chunk.lines.clone(),
        };
        let parent = self.add(self.bytes(&header), self.signature(chunk), None);
        for member in &members {
            self.add(self.bytes(&member.lines), self.signature(member), parent);
        }
    }

    /// Returns the definitions in a chunk, and the code between them, without what comes first.
    fn members(&self, chunk: &Chunk) -> Vec<Chunk> {
        let Some((defined, definition::MemberCapability::Possible)) = chunk.defined else {
            return Vec::new();
        };
        let end = chunk.lines.end;
        let body = CodeNestingLevel::TOP.of_body(&self.source, self.language, (defined, end));
        let Some((first, level)) = body else { return Vec::new() };
        let parts = split::split(self.text, &self.source, first..end, (self.language, level));
        let n_before = parts.iter().position(|it| it.defined.is_some()).unwrap_or(parts.len());
        parts.into_iter().skip(n_before).collect()
    }

    /// Returns the bytes of lines.
    fn bytes(&self, lines: &Range<usize>) -> Range<usize> {
        match &self.source.lines[lines.clone()] {
            [] => 0..0,
            of => of[0].range.start..of[of.len() - 1].range.end,
        }
    }

    /// Returns the signature of a definition on one line.
    fn signature(&self, chunk: &Chunk) -> Option<String> {
        let (defined, _) = chunk.defined?;
        let line = &self.source.lines[defined];
        let start = line.range.start;
        let mut marks = self.source.marks_of(defined);
        let body = marks.find(|it| matches!(it.byte, b'{' | b';')).map(|it| it.at);
        let end = match self.language.layout {
            // A table's columns are no signature.
            Layout::Indented if self.language.traits.ignores_case => line.range.end,
            Layout::Indented => self.end_of_statement(defined),
            _ => body.unwrap_or(line.range.end),
        };
        let end = end.max(start).min(start + SIGNATURE_BYTES_MAX).min(self.text.len());
        let code = fold_whitespace(&self.text[start..self.text.floor_char_boundary(end)]);
        let code = code.trim_end_matches([':', '{', '(', '=', ';']).trim_end();
        let code = code.strip_suffix("=>").unwrap_or(code).trim_end();
        (!code.is_empty()).then(|| truncate_chars(code, LABEL_CHARS_MAX))
    }

    /// Returns the end of the first line after which no more brackets are open than before it.
    fn end_of_statement(&self, defined: usize) -> usize {
        let lines = &self.source.lines[defined..];
        let depth = lines[0].depth;
        let next = lines.iter().skip(1).position(|it| it.depth <= depth && !it.is_inside);
        lines[next.unwrap_or(lines.len() - 1)].range.end
    }

    /// Adds a stretch of the source; returns its node, if it has text.
    fn add(
        &mut self,
        range: Range<usize>,
        signature: Option<String>,
        parent: Option<usize>,
    ) -> Option<usize> {
        let range = trimmed(self.text, range);
        let content = &self.text[range.clone()];
        if content.is_empty() {
            return None;
        }
        let name = self.name;
        let node = Node {
            parent,
            node_type: NodeType::Code,
            lang: Some(name.to_owned()),
            span: range.clone(),
            label: signature.unwrap_or_else(|| label::of_code(name, content)),
            content: content.to_owned(),
            ..Node::default()
        };
        Some(self.outline.add_source(node, range.start))
    }
}

/// Returns a range without the blank lines at its beginning and the white space at its end.
fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let content = &text[range.clone()];
    let end = range.start + content.trim_end().len();
    let blank = content.len() - content.trim_start().len();
    let line_start = content[..blank].rfind('\n').map_or(0, |it| it + 1);
    (range.start + line_start).min(end)..end
}

#[cfg(test)]
mod tests;
