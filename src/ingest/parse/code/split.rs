//! Splits the lines of a source into definitions, each with the comments and attributes directly
//! above it, and the loose code between them.

use std::ops::Range;

use super::definition::{LineRole, MemberCapability, begins, goes_on};
use super::languages::{Language, Layout};
use super::line_and_bracket_lexer::{LexedSource, Line, PunctuationMark};

/// Consecutive lines that belong together.
#[derive(Clone, Debug)]
pub(super) struct Chunk {
    /// The lines, none of them blank at either end.
    pub(super) lines: Range<usize>,
    /// The line with the definition; `None`: loose code.
    pub(super) defined: Option<(usize, MemberCapability)>,
}

/// The place of blocks: which lines begin something.
#[derive(Clone, Copy, Debug)]
pub(super) struct CodeNestingLevel {
    /// Number of blocks around it.
    pub(super) nth: usize,
    /// Open brackets around it.
    depth: usize,
    /// White space before its lines, where that counts.
    indent: usize,
}

impl CodeNestingLevel {
    pub(super) const TOP: CodeNestingLevel = CodeNestingLevel { nth: 0, depth: 0, indent: 0 };

    /// Returns the first line of a definition's body, and the level of its lines.
    pub(super) fn of_body(
        self,
        source: &LexedSource,
        language: &Language,
        (defined, end): (usize, usize),
    ) -> Option<(usize, CodeNestingLevel)> {
        let nth = self.nth + 1;
        let lines = &source.lines[..end];
        match language.layout {
            Layout::Braces => {
                let depth = self.depth + 1;
                let brace = source.marks_of(defined).find(|it| it.byte == b'{')?;
                let first = lines.partition_point(|it| it.range.start <= brace.at);
                (first < end).then_some((first, CodeNestingLevel { nth, depth, indent: 0 }))
            }
            Layout::Indented => {
                let is_body = |it: &Line| {
                    !it.is_blank && !it.is_inside && it.depth == 0 && self.indent < it.indent
                };
                let first = (defined + 1..end).find(|at| is_body(&lines[*at]))?;
                let indent = lines[first].indent;
                Some((first, CodeNestingLevel { nth, depth: 0, indent }))
            }
            Layout::Unknown => None,
        }
    }

    /// Returns whether a line may begin something on this level.
    fn has(self, line: &Line, layout: Layout) -> bool {
        let is_here = match layout {
            Layout::Indented => line.depth == 0 && line.indent <= self.indent,
            _ => line.depth == self.depth,
        };
        is_here && !line.is_inside && !line.is_blank
    }
}

/// The chunk that grows.
struct OpenChunk {
    start: usize,
    defined: Option<(usize, MemberCapability)>,
    /// Whether a blank line of its level, a block or a semicolon followed.
    is_ended: bool,
    /// The marks that were looked at for that.
    n_marks: usize,
}

/// Splits lines of a level.
pub(super) fn split(
    text: &str,
    source: &LexedSource,
    lines: Range<usize>,
    (language, level): (&Language, CodeNestingLevel),
) -> Vec<Chunk> {
    let mut chunks = DefinitionChunkBuilder { source, chunks: Vec::new(), open: None };
    // The first of the comments and attributes for what comes next.
    let mut above: Option<usize> = None;
    for at in lines.clone() {
        let line = &source.lines[at];
        let code = &text[line.range.clone()];
        if line.is_blank && !line.is_inside {
            if let Some(start) = above.take() {
                chunks.begin_loose(start);
            }
            if let Some(open) = chunks.open.as_mut() {
                open.is_ended |= line.depth == level.depth;
            }
            continue;
        }
        if !level.has(line, language.layout) || goes_on(code, language) {
            // It belongs to what is open, or to the attribute above.
            if above.is_none() && chunks.open.is_none() {
                chunks.begin(at, None);
            }
            continue;
        }
        match begins(text, source, at, (language, level.nth)) {
            LineRole::Above => {
                let is_ended = chunks.is_ended(at, language.layout, level);
                above = above.or(is_ended.then_some(at));
            }
            LineRole::Definition(members) => {
                chunks.begin(above.take().unwrap_or(at), Some((at, members)));
            }
            LineRole::Loose if chunks.is_ended(at, language.layout, level) => {
                chunks.begin_loose(above.take().unwrap_or(at));
            }
            LineRole::Loose => above = None,
        }
    }
    if let Some(start) = above {
        chunks.begin_loose(start);
    }
    chunks.close(lines.end);
    chunks.chunks
}

struct DefinitionChunkBuilder<'a> {
    source: &'a LexedSource,
    chunks: Vec<Chunk>,
    open: Option<OpenChunk>,
}

impl DefinitionChunkBuilder<'_> {
    fn begin(&mut self, start: usize, defined: Option<(usize, MemberCapability)>) {
        self.close(start);
        let from = self.source.lines[defined.map_or(start, |it| it.0)].range.start;
        let n_marks = self.source.marks.partition_point(|it| it.at < from);
        self.open = Some(OpenChunk { start, defined, is_ended: false, n_marks });
    }

    /// Begins loose code, unless it goes on.
    fn begin_loose(&mut self, start: usize) {
        if self.open.as_ref().is_none_or(|it| it.defined.is_some()) {
            self.begin(start, None);
        }
    }

    /// Returns whether the open definition is complete before a line of its level.
    fn is_ended(&mut self, at: usize, layout: Layout, level: CodeNestingLevel) -> bool {
        let Some(open) = self.open.as_mut() else { return true };
        if open.defined.is_none() || layout == Layout::Indented {
            return true;
        }
        let end = self.source.lines[at].range.start;
        let to = self.source.marks.partition_point(|it| it.at < end).max(open.n_marks);
        let ends = |it: &PunctuationMark| it.depth == level.depth && matches!(it.byte, b'}' | b';');
        open.is_ended |= self.source.marks[open.n_marks..to].iter().any(ends);
        open.n_marks = to;
        open.is_ended
    }

    fn close(&mut self, end: usize) {
        let Some(OpenChunk { start, defined, .. }) = self.open.take() else { return };
        let is_text = |at: &usize| !self.source.lines[*at].is_blank;
        let last = (start..end).rev().find(is_text);
        if let Some(last) = last {
            self.chunks.push(Chunk { lines: start..last + 1, defined });
        }
    }
}
