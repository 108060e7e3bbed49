//! Ignore patterns: lines in git's notation, matched against a path as git would.
//!
//! Matching is left to globs that run in linear time. Notation that globs read differently is
//! rewritten first: trailing spaces, braces, classes of characters, and the folder that a pattern
//! with a slash is relative to. A line that is no pattern is reported with its number and skipped.

mod character_class_translation;
#[cfg(test)]
mod tests;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

/// Maximum patterns of one file.
const PATTERNS_MAX: usize = 10_000;

/// Maximum bytes of one pattern.
const PATTERN_BYTES_MAX: usize = 1024;

/// Number of patterns that are compiled together.
const CHUNK: usize = 500;

/// The patterns of one file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Patterns {
    /// The patterns in the order of the file; a later one takes precedence.
    chunks: Vec<Gitignore>,
}

/// The verdict of the patterns on a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// No pattern matches.
    NoMatch,
    /// It is excluded.
    Ignored,
    /// An earlier pattern excludes it and a later one includes it again.
    Included,
}

/// A line that is no pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BadLine {
    /// Number of the line, counted from 1.
    pub(crate) number: u32,
    /// The fault, and how it was handled.
    pub(crate) what: String,
}

/// A pattern in the dialect of the globs, with the number of its line.
type NumberedGlob = (u32, String);

impl Patterns {
    /// Parses the text of an ignore file.
    pub(crate) fn parse(text: &str) -> (Patterns, Vec<BadLine>) {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let (mut lines, mut bad) = (Vec::new(), Vec::new());
        for (line, number) in text.lines().zip(1..) {
            let line = without_trailing_spaces(line);
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            if lines.len() + bad.len() == PATTERNS_MAX {
                let what = format!("only {PATTERNS_MAX} patterns are read; join some with a `*`");
                bad.push(BadLine { number, what });
                break;
            }
            let translated = if PATTERN_BYTES_MAX < line.len() {
                Err(format!("it is longer than {PATTERN_BYTES_MAX} bytes"))
            } else {
                translate(line)
            };
            match translated {
                Ok(pattern) => lines.push((number, pattern)),
                Err(why) => bad.push(BadLine::new(number, &why)),
            }
        }
        let mut chunks = Vec::new();
        for lines in lines.chunks(CHUNK) {
            compile(lines, &mut chunks, &mut bad);
        }
        bad.sort_by_key(|it| it.number);
        (Patterns { chunks }, bad)
    }

    /// Returns the verdict on `path`, relative to the folder of the file, `/` between names.
    /// Folders above it are not checked.
    pub(crate) fn verdict(&self, path: &str, is_dir: bool) -> Verdict {
        for chunk in self.chunks.iter().rev() {
            match chunk.matched(path, is_dir) {
                Match::None => (),
                Match::Ignore(_) => return Verdict::Ignored,
                Match::Whitelist(_) => return Verdict::Included,
            }
        }
        Verdict::NoMatch
    }
}

impl BadLine {
    fn new(number: u32, why: &str) -> BadLine {
        BadLine { number, what: format!("not a pattern: {why}; the line is passed over") }
    }
}

/// Compiles lines together, and halves those that fail until the faulty line is alone.
fn compile(lines: &[NumberedGlob], chunks: &mut Vec<Gitignore>, bad: &mut Vec<BadLine>) {
    let mut builder = GitignoreBuilder::new("");
    builder.allow_unclosed_class(false);
    let mut refused = Vec::new();
    for (number, line) in lines {
        match builder.add_line(None, line) {
            Ok(_) => (),
            Err(ignore::Error::Glob { err, .. }) => refused.push(BadLine::new(*number, &err)),
            Err(error) => refused.push(BadLine::new(*number, &error.to_string())),
        }
    }
    match (builder.build(), lines) {
        (Ok(chunk), _) => {
            chunks.push(chunk);
            bad.append(&mut refused);
        }
        (Err(_), [] | [_]) => {
            bad.extend(lines.iter().map(|(it, _)| BadLine::new(*it, "it takes too much to match")));
        }
        (Err(_), lines) => {
            let (before, after) = lines.split_at(lines.len() / 2);
            compile(before, chunks, bad);
            compile(after, chunks, bad);
        }
    }
}

/// Returns a line without its trailing spaces, except one behind a backslash.
fn without_trailing_spaces(line: &str) -> &str {
    let trimmed = line.trim_end_matches(' ');
    let n_backslashes = trimmed.bytes().rev().take_while(|it| *it == b'\\').count();
    let is_escaped = n_backslashes % 2 == 1 && trimmed.len() < line.len();
    &line[..trimmed.len() + usize::from(is_escaped)]
}

/// Translates a pattern from git's notation to that of the globs.
fn translate(line: &str) -> Result<String, String> {
    let (sign, line) = match line.strip_prefix('!') {
        Some(rest) => ("!", rest),
        None => ("", line),
    };
    let (line, end) = match line.strip_suffix('/') {
        Some(rest) => (rest, "/"),
        None => (line, ""),
    };
    // A slash anywhere but at the end makes it relative to the folder that the file is for.
    let start = if line.contains('/') { "/" } else { "**/" };
    let line = line.strip_prefix('/').unwrap_or(line);
    if line.is_empty() {
        return Err("it names nothing".to_owned());
    }
    if line.contains("//") || line.starts_with('/') || line.ends_with('/') {
        return Err("it has an empty name, which no path has; write one `/`".to_owned());
    }
    let mut pattern = format!("{sign}{start}");
    let mut rest = line.chars();
    while let Some(char) = rest.next() {
        match char {
            '\\' => match rest.next() {
                Some(next) => pattern.extend(['\\', next]),
                None => return Err("it ends in a backslash; write two".to_owned()),
            },
            '{' | '}' => pattern.extend(['\\', char]),
            '[' => {
                let (class, after) = character_class_translation::read(rest.as_str())?;
                pattern.push_str(&class);
                rest = after.chars();
            }
            // Three stars and more are two to git.
            '*' if pattern.ends_with("**") => (),
            // Trailing white space is dropped, but not within a class.
            char if char != ' ' && char.is_whitespace() => pattern.extend(['[', char, ']']),
            char => pattern.push(char),
        }
    }
    pattern.push_str(end);
    Ok(pattern)
}
