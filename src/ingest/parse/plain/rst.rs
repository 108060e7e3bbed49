//! Parses reStructuredText: underlined headings, literal blocks, code directives, paragraphs.

use std::ops::Range;

use super::{PlainReader, lines};
use crate::ingest::parse::Parsed;
use crate::model::tree::NodeType;

/// Parses a reStructuredText file.
pub(in crate::ingest::parse) fn parse(source: &str) -> Parsed {
    let lines: Vec<Range<usize>> = lines(source).collect();
    let mut walk =
        RstReader { text: source, lines, page: PlainReader::new(source), styles: Vec::new() };
    let mut at = 0;
    while at < walk.lines.len() {
        if walk.page.is_full(walk.lines[at].start) {
            break;
        }
        at = walk.step(at);
    }
    walk.page.finish()
}

struct RstReader<'a> {
    text: &'a str,
    lines: Vec<Range<usize>>,
    page: PlainReader<'a>,
    /// Styles of headings, outermost first: the mark and whether it is above, too.
    styles: Vec<(char, bool)>,
}

impl<'a> RstReader<'a> {
    fn line(&self, at: usize) -> &'a str {
        self.lines.get(at).map_or("", |range| &self.text[range.clone()])
    }

    /// Reads the block at a line; returns the first line behind it.
    fn step(&mut self, at: usize) -> usize {
        let is_start = self.page.paragraph.is_none();
        if is_start && let Some(after) = self.heading(at) {
            return after;
        }
        let words = self.line(at);
        if is_start
            && let Some(lang) = code_directive(words)
            && at + 1 < self.block_end(at)
        {
            return self.code_block(at, lang);
        }
        self.page.text_line(self.lines[at].clone());
        let is_directive = words.trim_start().starts_with("..");
        let announces = words.trim_end().ends_with("::") && !is_directive;
        if announces && self.line(at + 1).trim().is_empty() {
            let end = self.block_end(at);
            if at + 1 < end {
                if words.trim() == "::" && is_start {
                    self.page.paragraph = None;
                }
                self.page.end_paragraph();
                self.code("", at, at + 1, end);
                return end;
            }
        }
        at + 1
    }

    fn heading(&mut self, at: usize) -> Option<usize> {
        let (first, second, third) = (self.line(at), self.line(at + 1), self.line(at + 2));
        let (style, title, after) = match (mark(first), mark(second)) {
            (Some(above), _) if mark(third) == Some(above) && !second.trim().is_empty() => {
                ((above, true), second, at + 3)
            }
            (None, Some(below)) if !first.trim().is_empty() && !first.starts_with(' ') => {
                let is_long = first.trim_end().chars().count() <= second.trim_end().len();
                is_long.then_some(((below, false), first, at + 2))?
            }
            // A line of marks alone is a separator.
            (Some(_), _) if second.trim().is_empty() && 4 <= first.trim().len() => {
                return Some(at + 1);
            }
            _ => return None,
        };
        let place = self.styles.iter().position(|it| *it == style).unwrap_or_else(|| {
            self.styles.push(style);
            self.styles.len() - 1
        });
        let level = u8::try_from(place + 1).unwrap_or(6).min(6);
        let span = self.lines[at].start..self.lines[after - 1].end;
        self.page.heading(level, span, title);
        Some(after)
    }

    /// Returns the line behind the last one that is indented more than the one at `at`.
    fn block_end(&self, at: usize) -> usize {
        let indent = indent_of(self.line(at));
        let mut end = at + 1;
        for next in at + 1..self.lines.len() {
            let words = self.line(next);
            if words.trim().is_empty() {
                continue;
            }
            if indent_of(words) <= indent {
                break;
            }
            end = next + 1;
        }
        end
    }

    fn code_block(&mut self, at: usize, lang: &str) -> usize {
        let end = self.block_end(at);
        let mut start = at + 1;
        // Options are directly below the directive.
        while start < end && self.line(start).trim_start().starts_with(':') {
            start += 1;
        }
        if at + 1 < start {
            let options = self.lines[at + 1].start..self.lines[start - 1].end;
            self.page.add(NodeType::Text, options);
        }
        self.code(lang, at, start, end);
        end
    }

    /// Adds lines as code, without their common indentation.
    fn code(&mut self, lang: &str, at: usize, start: usize, end: usize) {
        let first = (start..end).find(|&it| !self.line(it).trim().is_empty()).unwrap_or(end);
        let lines = || (first..end).map(|it| self.line(it));
        let first_line = self.line(first);
        let mut common = &first_line[..indent_of(first_line)];
        for line in lines().filter(|line| !line.trim().is_empty()) {
            let n = common.bytes().zip(line.bytes()).take_while(|(a, b)| a == b).count();
            common = &common[..n];
        }
        let mut content = String::new();
        for (place, line) in lines().enumerate() {
            if 0 < place {
                // The break between two lines is kept from the source.
                let before = &self.lines[first + place - 1];
                content.push_str(&self.text[before.end..self.lines[first + place].start]);
            }
            content.push_str(line.strip_prefix(common).unwrap_or(line.trim_start()));
        }
        let span = self.lines[at].start..self.lines[end - 1].end;
        self.page.code(lang, span, content);
    }
}

fn indent_of(words: &str) -> usize {
    words.len() - words.trim_start_matches([' ', '\t']).len()
}

/// Returns the mark that a line consists of, if it can underline a heading.
fn mark(words: &str) -> Option<char> {
    let words = words.trim_end();
    let mark = words.chars().next().filter(char::is_ascii_punctuation)?;
    (2 <= words.len() && words.chars().all(|c| c == mark)).then_some(mark)
}

/// Returns the language of the code of a directive, which may be empty.
fn code_directive(words: &str) -> Option<&str> {
    let rest = words.trim_start().strip_prefix(".. ")?;
    let (name, args) = rest.split_once("::")?;
    let is_code = matches!(name.trim(), "code-block" | "code" | "sourcecode" | "parsed-literal");
    is_code.then_some(args.trim())
}
