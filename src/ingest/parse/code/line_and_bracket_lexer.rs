//! The lines of a source, with what is outside of comments and texts: brackets and their depth.

use std::ops::Range;

use super::languages::{Heredoc, Language, Layout, Quote, QuoteForm};

/// Marks that are looked at to find the body of a definition.
const STATEMENT_MARKS_MAX: usize = 512;

/// Bytes of a pattern, at most.
const PATTERN_BYTES_MAX: usize = 1024;

/// Bytes before a slash that tell whether it begins a pattern.
const NEAR_BYTES: usize = 64;

/// A line of a source.
#[derive(Clone, Debug)]
pub(super) struct Line {
    /// Without the break.
    pub(super) range: Range<usize>,
    /// Bytes of white space at its beginning.
    pub(super) indent: usize,
    /// Open brackets at its beginning.
    pub(super) depth: usize,
    /// Whether it begins in a comment or a text.
    pub(super) is_inside: bool,
    /// Whether it begins with a comment.
    pub(super) is_comment: bool,
    pub(super) is_blank: bool,
}

/// A bracket or a semicolon of the code.
#[derive(Clone, Copy, Debug)]
pub(super) struct PunctuationMark {
    pub(super) at: usize,
    pub(super) byte: u8,
    /// Open brackets around it.
    pub(super) depth: usize,
}

/// A source, lexed into lines and punctuation marks, both in order.
#[derive(Debug, Default)]
pub(super) struct LexedSource {
    pub(super) lines: Vec<Line>,
    pub(super) marks: Vec<PunctuationMark>,
}

impl LexedSource {
    /// Returns the marks of a statement from a line on, on its own level.
    pub(super) fn marks_of(&self, nth: usize) -> impl Iterator<Item = &PunctuationMark> {
        let line = &self.lines[nth];
        let first = self.marks.partition_point(|it| it.at < line.range.start);
        let near = self.marks[first..].iter().take(STATEMENT_MARKS_MAX);
        near.filter(|it| it.depth == line.depth)
    }
}

/// The beginnings of lines that open a block whose definitions count as those around it.
const TRANSPARENT: &[&str] = &["namespace ", "extern \"C"];

/// The surroundings of a place in a source.
#[derive(Clone, Copy, Debug)]
enum State {
    Code,
    /// A comment of that many levels.
    Block(&'static str, &'static str, usize),
    Quote(Quote),
}

/// Reads a source once.
struct SourceLexer<'a> {
    text: &'a str,
    language: &'static Language,
    at: usize,
    state: State,
    /// The open brackets, and whether each counts.
    open: Vec<(u8, bool)>,
    /// Number of open braces among them.
    n_braces: usize,
    depth: usize,
    /// Whether the next brace does not count.
    is_transparent: bool,
    /// The word that ends a text, which begins with the next line.
    heredoc: Option<&'a str>,
    source: LexedSource,
}

/// Reads the lines of a source; `is_definition` knows which begin with a word that defines.
pub(super) fn read(
    text: &str,
    language: &'static Language,
    is_definition: &dyn Fn(&str) -> bool,
) -> LexedSource {
    let source = LexedSource::default();
    let mut reader = SourceLexer {
        text,
        language,
        at: 0,
        state: State::Code,
        open: Vec::new(),
        n_braces: 0,
        depth: 0,
        is_transparent: false,
        heredoc: None,
        source,
    };
    while reader.at < text.len() {
        let end = text[reader.at..].find('\n').map_or(text.len(), |it| reader.at + it);
        if let Some(word) = reader.heredoc.take() {
            reader.heredoc_line(end, word);
            continue;
        }
        reader.begin_line(end, is_definition);
        reader.code_line(end);
        reader.at = end + 1;
    }
    reader.source
}

impl<'a> SourceLexer<'a> {
    fn heredoc_line(&mut self, end: usize, word: &'a str) {
        let range = self.at..end;
        let line = &self.text[range.clone()];
        self.add_line(range, true);
        let word_end = line.trim().trim_end_matches([';', ',', ')']);
        self.heredoc = (word_end != word).then_some(word);
        self.at = end + 1;
    }

    fn begin_line(&mut self, end: usize, is_definition: &dyn Fn(&str) -> bool) {
        let is_inside = !matches!(self.state, State::Code);
        let line = &self.text[self.at..end];
        // A definition at the margin is below nothing: a bracket before it was misread.
        let is_margin = !is_inside && 0 < self.depth && self.language.layout == Layout::Braces;
        if is_margin && !line.starts_with([' ', '\t']) && is_definition(line) {
            self.open.clear();
            (self.n_braces, self.depth) = (0, 0);
        }
        self.add_line(self.at..end, is_inside);
    }

    fn add_line(&mut self, range: Range<usize>, is_inside: bool) {
        let line = self.text[range.clone()].trim_end();
        let code = line.trim_start();
        let is_comment = self.language.comments.iter().any(|it| code.starts_with(it))
            || self.language.blocks.iter().any(|it| code.starts_with(it.0.trim_start()));
        let is_attribute = self.language.attributes.iter().any(|it| code.starts_with(it));
        self.source.lines.push(Line {
            indent: line.len() - code.len(),
            depth: self.depth,
            is_inside,
            is_comment: is_comment && !is_attribute && !is_inside,
            is_blank: code.is_empty(),
            range,
        });
    }

    /// Reads a line up to its break.
    fn code_line(&mut self, end: usize) {
        let start = self.at;
        let line = self.text[start..end].trim_start();
        self.is_transparent |= TRANSPARENT.iter().any(|it| line.starts_with(it));
        let is_of_preprocessor = self.language.traits.has_preprocessor && line.starts_with('#');
        while self.at < end {
            let rest = &self.text[self.at..end];
            let step = match self.state {
                State::Code => match self.begins(rest) {
                    Some(step) => step,
                    None => {
                        if !is_of_preprocessor {
                            self.mark(rest.as_bytes()[0]);
                        }
                        1
                    }
                },
                State::Block(open, close, level) => self.block(rest, (open, close), level),
                State::Quote(quote) => self.quote(rest, quote),
            };
            self.at += step;
            while !self.text.is_char_boundary(self.at) {
                self.at += 1;
            }
        }
        if let State::Quote(Quote { form: QuoteForm::Line | QuoteForm::Character, .. }) = self.state
            && !self.text[start..end].trim_end_matches('\r').ends_with('\\')
        {
            self.state = State::Code;
        }
    }

    /// Begins a comment or a text; returns the bytes of what begins, or of what is passed over.
    fn begins(&mut self, rest: &'a str) -> Option<usize> {
        let language = self.language;
        if rest.starts_with('\\') && 1 < rest.len() {
            return Some(2);
        }
        let is_start = self.at == 0 || self.text[..self.at].ends_with('\n');
        for &(open, close) in language.blocks {
            let is_here = match open.strip_prefix('\n') {
                Some(open) => is_start && rest.starts_with(open),
                None => rest.starts_with(open),
            };
            if is_here {
                self.state = State::Block(open, close, 1);
                return Some(open.trim_start().len());
            }
        }
        if language.comments.iter().any(|it| rest.starts_with(it)) && self.is_comment(rest) {
            return Some(rest.len());
        }
        if language.traits.heredoc != Heredoc::None && rest.starts_with("<<") {
            return Some(self.begin_heredoc(rest));
        }
        let quote = *language.quotes.iter().find(|it| rest.starts_with(it.open))?;
        if quote.form == QuoteForm::Character {
            return Some(character(rest));
        }
        self.state = State::Quote(quote);
        Some(quote.open.len())
    }

    /// Returns whether the mark of a comment is one: `$#` and `#[` are none.
    fn is_comment(&self, rest: &str) -> bool {
        let is_attribute = self.language.attributes.iter().any(|it| rest.starts_with(it));
        let before = &self.text[..self.at];
        let is_apart = before.is_empty() || before.ends_with([' ', '\t', '\n', ';', ')', '}', '{']);
        !is_attribute && (!rest.starts_with('#') || is_apart && !before.ends_with("${"))
    }

    fn begin_heredoc(&mut self, rest: &'a str) -> usize {
        let marks = rest.len() - rest.trim_start_matches('<').len();
        let wanted = if self.language.traits.heredoc == Heredoc::Three { 3 } else { 2 };
        let behind = &rest[marks..];
        let word = match self.language.traits.heredoc {
            Heredoc::Spaced => behind.trim_start_matches(['-', '~']).trim_start_matches(' '),
            _ => behind.trim_start_matches(['-', '~']),
        };
        let quoted = word.trim_start_matches(['"', '\'']);
        let is_letter = |it: char| it.is_ascii_alphanumeric() || it == '_';
        let len = quoted.find(|it| !is_letter(it)).unwrap_or(quoted.len());
        let is_word = quoted[..len].starts_with(|it: char| it.is_ascii_uppercase() || it == '_');
        if marks != wanted || !is_word {
            return marks;
        }
        self.heredoc = self.heredoc.or(Some(&quoted[..len]));
        rest.len() - quoted[len..].trim_start_matches(['"', '\'']).len()
    }

    fn block(
        &mut self,
        rest: &str,
        (open, close): (&'static str, &'static str),
        level: usize,
    ) -> usize {
        let is_start = self.text[..self.at].ends_with('\n');
        let ends = match close.strip_prefix('\n') {
            Some(close) => is_start && rest.starts_with(close),
            None => rest.starts_with(close),
        };
        if ends {
            self.state = match level {
                0 | 1 => State::Code,
                _ => State::Block(open, close, level - 1),
            };
            return close.trim_start().len();
        }
        if self.language.traits.nests_comments && rest.starts_with(open) {
            self.state = State::Block(open, close, level + 1);
            return open.len();
        }
        1
    }

    fn quote(&mut self, rest: &str, quote: Quote) -> usize {
        if rest.starts_with(quote.close) {
            self.state = State::Code;
            return quote.close.len();
        }
        let has_escapes = quote.form != QuoteForm::Raw;
        if has_escapes && rest.starts_with('\\') && 1 < rest.len() { 2 } else { 1 }
    }

    fn mark(&mut self, byte: u8) {
        match byte {
            b'(' | b'[' | b'{' => {
                let is_counted = !(self.is_transparent && byte == b'{');
                self.source.marks.push(PunctuationMark { at: self.at, byte, depth: self.depth });
                self.open.push((byte, is_counted));
                self.n_braces += usize::from(byte == b'{');
                self.depth += usize::from(is_counted);
                self.is_transparent &= byte == b'[';
            }
            b')' | b']' | b'}' => {
                self.close(byte);
                self.source.marks.push(PunctuationMark { at: self.at, byte, depth: self.depth });
            }
            b';' => {
                self.is_transparent = false;
                self.source.marks.push(PunctuationMark { at: self.at, byte, depth: self.depth });
            }
            b'/' if self.language.traits.has_patterns => self.skip_pattern(),
            _ => (),
        }
    }

    /// Closes a bracket; a brace also those in it. Any other bracket that does not fit is none, as
    /// in `case x in a) …`.
    fn close(&mut self, byte: u8) {
        let opening = match byte {
            b')' => b'(',
            b']' => b'[',
            _ => b'{',
        };
        let place = match byte {
            b'}' if self.n_braces == 0 => None,
            b'}' => self.open.iter().rposition(|it| it.0 == opening),
            _ => self.open.len().checked_sub(1).filter(|last| self.open[*last].0 == opening),
        };
        if let Some(place) = place {
            let n_counted = self.open.drain(place..).filter(|it| it.1).count();
            self.depth -= n_counted;
            self.n_braces -= usize::from(byte == b'}');
        }
    }

    /// Passes over a pattern, which stands where a value may begin.
    fn skip_pattern(&mut self) {
        let text = self.text;
        let before = &text[text.floor_char_boundary(self.at.saturating_sub(NEAR_BYTES))..self.at];
        let before = before.trim_end_matches([' ', '\t']);
        let is_value = before.is_empty()
            || before
                .ends_with(['(', ',', '=', ':', '[', '!', '&', '|', '?', '{', '}', ';', '~', '\n'])
            || ["return", "when", "if", "and", "or"].iter().any(|it| before.ends_with(it));
        if !is_value {
            return;
        }
        let (mut is_escaped, mut is_in_class) = (false, false);
        for (at, byte) in text.as_bytes()[self.at + 1..].iter().take(PATTERN_BYTES_MAX).enumerate()
        {
            match byte {
                b'\n' => return,
                _ if is_escaped => is_escaped = false,
                b'\\' => is_escaped = true,
                b'[' => is_in_class = true,
                b']' => is_in_class = false,
                b'/' if !is_in_class => {
                    self.at += at + 1;
                    return;
                }
                _ => (),
            }
        }
    }
}

/// Returns the bytes of a quoted character, or of its mark alone.
fn character(rest: &str) -> usize {
    let mut chars = rest.char_indices().skip(1);
    match chars.next() {
        Some((_, '\\')) => {
            let end = rest.get(3..).and_then(|it| it.find('\''));
            end.filter(|it| *it < 12).map_or(1, |it| it + 4)
        }
        Some(_) => match chars.next() {
            Some((at, '\'')) => at + 1,
            _ => 1,
        },
        None => 1,
    }
}
