//! The beginnings of definitions: attributes and modifiers, then a word that defines.
//!
//! In some languages a name with parentheses and a body defines a function, too.

use super::languages::{KeywordlessFunctions, Language};
use super::line_and_bracket_lexer::LexedSource;

/// The role of a line of code that begins something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineRole {
    /// An attribute or a comment, for what is below it.
    Above,
    Definition(MemberCapability),
    Loose,
}

/// Whether a definition can have members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MemberCapability {
    Possible,
    None,
}

/// Words before parentheses that define nothing.
const CONTROLS: &[&str] = &[
    "if", "for", "while", "switch", "catch", "return", "else", "do", "case", "using", "lock",
    "foreach", "with", "new", "throw", "sizeof", "await", "yield", "assert", "try", "until",
];

/// Words that define a function only if the line has one.
const BINDINGS: &[&str] = &["const", "let", "var"];

/// Returns whether a line at the margin begins with a word that defines.
pub(super) fn has_defining_word(line: &str, language: &Language) -> bool {
    let (rest, _) = without_modifiers(line, language);
    definer(rest, language).is_some_and(|it| !BINDINGS.contains(&it))
}

/// Returns what the line `nth` begins, which stands `level` blocks deep.
pub(super) fn begins(
    text: &str,
    source: &LexedSource,
    nth: usize,
    (language, level): (&Language, usize),
) -> LineRole {
    let line = &source.lines[nth];
    if line.is_comment {
        return LineRole::Above;
    }
    let code = &text[line.range.clone()];
    let (rest, has_attribute) = without_modifiers(code, language);
    if rest.trim().is_empty() && has_attribute {
        return LineRole::Above;
    }
    let word = definer(rest, language);
    let defines = match word {
        Some(word) if BINDINGS.contains(&word) => {
            ["=>", "= function", "= async function", "= class"].iter().any(|it| rest.contains(it))
        }
        Some(word) => !language.bodied.contains(&word) || has_body(source, nth),
        None => {
            let is_here = match language.functions {
                KeywordlessFunctions::Named => false,
                KeywordlessFunctions::Members => 0 < level,
                KeywordlessFunctions::Anywhere => true,
            };
            is_here && is_function(text, source, nth, rest)
        }
    };
    let is_container = word.is_some_and(|it| language.containers.contains(&it));
    match defines {
        true if is_container => LineRole::Definition(MemberCapability::Possible),
        true => LineRole::Definition(MemberCapability::None),
        false => LineRole::Loose,
    }
}

/// Returns whether a line goes on with what is above it: a closing bracket, an opening brace, or a
/// word that follows.
pub(super) fn goes_on(line: &str, language: &Language) -> bool {
    let code = line.trim_start();
    let word = first_word(code);
    code.starts_with(['}', ')', ']', '{']) || is_listed(word, language.follows, language)
}

/// Returns the rest of a line behind its attributes and modifiers, and whether it had attributes.
fn without_modifiers<'t>(line: &'t str, language: &Language) -> (&'t str, bool) {
    let mut rest = line.trim_start();
    let mut has_attribute = false;
    loop {
        if let Some(mark) = language.attributes.iter().find(|it| rest.starts_with(**it)) {
            rest = behind_attribute(rest, mark).trim_start();
            has_attribute = true;
            continue;
        }
        let word = first_word(rest);
        if word.is_empty() || !language.modifiers.contains(&word) {
            return (rest, has_attribute);
        }
        let behind = rest[word.len()..].trim_start();
        // A name: `get(key)`.
        if word != "pub" && behind.starts_with(['(', '=', ':', ';', ',', '.', '<']) {
            return (rest, has_attribute);
        }
        // `pub(crate)`, `extern "C"`.
        rest = match behind.chars().next() {
            Some('(') if word == "pub" => behind.split_once(')').map_or("", |it| it.1),
            Some('"') => behind[1..].split_once('"').map_or("", |it| it.1),
            _ => behind,
        };
        rest = rest.trim_start();
    }
}

/// Returns the rest of a line behind an attribute; one that goes on below has none.
fn behind_attribute<'t>(line: &'t str, mark: &str) -> &'t str {
    let is_name = |it: char| it.is_alphanumeric() || matches!(it, '_' | '.' | ':');
    let named = &line[mark.len()..];
    let after = match mark {
        "@" => named.trim_start_matches(is_name),
        "template" => named.trim_start(),
        _ => &line[mark.find('[').unwrap_or(0)..],
    };
    let is_open = after.starts_with(['(', '[', '<']);
    if !is_open {
        return after;
    }
    let mut depth = 0_usize;
    for (at, c) in after.char_indices() {
        match c {
            '(' | '[' | '<' => depth += 1,
            ')' | ']' | '>' => depth = depth.saturating_sub(1),
            _ => (),
        }
        if depth == 0 {
            return &after[at + c.len_utf8()..];
        }
    }
    ""
}

/// Returns the word that defines, if the code begins with one.
fn definer<'t>(code: &'t str, language: &Language) -> Option<&'t str> {
    let word = first_word(code);
    let is_name = code[word.len()..].starts_with(['(', '=', '.', ':', ',']);
    (is_listed(word, language.definers, language) && !is_name).then_some(word)
}

fn is_listed(word: &str, words: &[&str], language: &Language) -> bool {
    words.iter().any(|it| match language.traits.ignores_case {
        true => it.eq_ignore_ascii_case(word),
        false => *it == word,
    })
}

fn first_word(code: &str) -> &str {
    let is_letter = |it: char| it.is_alphanumeric() || matches!(it, '_' | '!' | '$');
    &code[..code.find(|it| !is_letter(it)).unwrap_or(code.len())]
}

/// Returns whether a block follows before the statement ends.
fn has_body(source: &LexedSource, nth: usize) -> bool {
    let mut own = source.marks_of(nth);
    own.find(|it| matches!(it.byte, b'{' | b';')).is_some_and(|it| it.byte == b'{')
}

/// Returns whether a line begins with a name with parentheses, and a body follows.
fn is_function(text: &str, source: &LexedSource, nth: usize, rest: &str) -> bool {
    let line = &source.lines[nth];
    let Some(paren) = source.marks_of(nth).find(|it| !matches!(it.byte, b'[' | b']')) else {
        return false;
    };
    let start = line.range.end - rest.len();
    if paren.byte != b'(' || paren.at < start || line.range.end < paren.at {
        return false;
    }
    let name = text[start..paren.at].trim_end();
    let is_named = name.ends_with(|it: char| it.is_alphanumeric() || matches!(it, '_' | '>' | '$'));
    let is_value = name.contains(['=', '"', '\'']) && !name.contains("operator");
    is_named && !is_value && !CONTROLS.contains(&first_word(rest)) && has_body(source, nth)
}
