//! Query parsing: turns any input into full-text expressions; no input is a syntax error.
//!
//! A query has two readings:
//!
//! - **Words** ([`ParsedQuery::terms`]): every run of letters and digits is quoted, and any of
//!   them matches. `rate-limit` is its parts and, for a bonus, the phrase. `"a phrase"` stays one,
//!   `conf*` is a prefix. Function words are left out while others remain. A word matches with its
//!   irregular forms and, with accents that the index keeps, without them. Scripts without spaces
//!   are matched by their bigrams.
//! - **Expression** ([`ParsedQuery::expression`]): `a AND b`, `a OR b`, `a NOT b`, `NEAR(a b, 5)`,
//!   `label : a` and parentheses, rebuilt with quoted operands. The database decides whether it
//!   parses; where it doesn't, the words answer.
//!
//! Capitals in prose are no operators. A query is read as an expression only if every two operands
//! have an operator between them (`email column NOT NULL` has none between the first two) and no
//! operator precedes a bare word in capitals (`NOT NULL`, `DO NOT EDIT`). Quotes lift the second
//! rule: `"HTTP" NOT "HTTPS"`. This module does no IO.

mod operator_expressions;

use std::collections::HashSet;

use operator_expressions::expression;

use super::function_words::{
    ASKING_WORDS, begins_question, is_asking_bigram, is_function_word, is_request_word,
    is_written_as_noun,
};
use crate::text::diacritic_folding::plain_word;
use crate::text::spaceless_script_bigrams::{self, ScriptRun, ScriptSpacing};
use crate::text::thesaurus::{other_forms, related_words, words_of_kind};

/// Bytes of a query that are read.
const QUERY_BYTES_MAX: usize = 64 * 1024;
/// Terms of a query; further ones are ignored.
pub(super) const TERMS_MAX: usize = 48;
/// Bytes of a word; the rest of a longer one is ignored.
const WORD_BYTES_MAX: usize = 256;
/// Tokens of an expression; a longer one is read as words.
const EXPRESSION_TOKENS_MAX: usize = 256;
/// A run of this many characters is a sentence rather than a word: its bigrams are terms, too.
const SENTENCE_CHARS: usize = 5;
/// Bigrams of such a run.
const PAIRS_MAX: usize = 16;
/// Words that a phrase counts as at most.
const PHRASE_WORDS_MAX: usize = 3;
/// Terms of related words and of kinds; further ones are ignored.
const RELATED_MAX: usize = 16;
/// Bytes between the braces of a column filter.
const COLUMNS_BYTES_MAX: usize = 64;

/// The columns of the index that a query may name.
const COLUMNS: [&str; 4] = ["label", "content", "trail", "grams"];

/// A query in both readings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ParsedQuery {
    /// The query as an expression, if it looks like one.
    pub(crate) expression: Option<String>,
    /// The terms to match.
    pub(crate) terms: Vec<Term>,
    /// The words themselves, lower case, to find them again in a text.
    pub(crate) marks: Vec<String>,
    /// The number of its words; a script without spaces has two characters a word.
    pub(crate) n_words: usize,
    /// Whether it begins with a word such as `what`.
    pub(crate) is_asked: bool,
    /// Whether it has nothing but function words.
    pub(crate) is_of_function_words: bool,
}

/// A term of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Term {
    /// The term as a full-text expression.
    pub(crate) text: String,
    /// The words that the term is, if it is a single whole one, in any of its forms.
    pub(crate) words: Vec<String>,
    pub(crate) role: QuestionTermRole,
    pub(crate) unit: TermUnitKind,
    /// Whether it is written as a name: with a capital, behind a word that has none.
    pub(crate) is_name: bool,
}

/// The role of a term in its question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum QuestionTermRole {
    Subject,
    /// A word that questions are made of, such as `kind` in `what kind of`.
    Asking,
    /// The date of the question, in any of its forms.
    Date,
    /// Words that mean nearly the same as the term with this index.
    Related {
        of: usize,
    },
    /// Words of the kind that the term with this index names.
    Kind {
        of: usize,
    },
}

/// The kind of unit that a term is, by which it counts as more or fewer words of its question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TermUnitKind {
    /// A word in any of its forms, several words of which one is enough, or a beginning of words.
    Word,
    /// Words side by side that are no terms: those in quotes, or parts of one character, as in
    /// `3.9`. It counts as its words that tell something.
    Phrase { n_words: u32 },
    /// Words or bigrams side by side that are terms, too.
    Adjacency,
    /// A word of a script without spaces, whose bigrams are terms where no node has all of it.
    ShortRun(String),
    /// Two characters side by side of a script without spaces.
    Bigram([char; 2]),
}

/// Parses a query.
pub(crate) fn parse_query(query: &str) -> ParsedQuery {
    let query = &query[..query.floor_char_boundary(QUERY_BYTES_MAX)];
    let tokens = tokens(query);
    let is_mixed_case = query.contains(char::is_lowercase);
    let mut terms = TermCollector { is_mixed_case, ..TermCollector::default() };
    for token in &tokens {
        if TERMS_MAX <= terms.content.len() {
            break;
        }
        match token {
            QueryToken::Phrase(text) => terms.add_phrase(text),
            QueryToken::Word { text, is_prefix } => terms.add_word(text, *is_prefix),
            QueryToken::Columns { names, .. } => terms.add_word(names, false),
            QueryToken::Open | QueryToken::Close | QueryToken::Near => (),
        }
    }
    let (n_words, is_asked) = (terms.n_words, begins_question(query));
    let is_of_function_words = terms.content.is_empty() && !terms.function.is_empty();
    let (terms, marks) = terms.finish();
    let expression = expression(&tokens);
    ParsedQuery { expression, terms, marks, n_words, is_asked, is_of_function_words }
}

impl ParsedQuery {
    /// Returns the terms, followed by those of related words, then of kinds.
    pub(crate) fn terms_and_related(&self) -> Vec<Term> {
        let asked: HashSet<&str> =
            self.terms.iter().flat_map(|it| &it.words).map(String::as_str).collect();
        let others = |words_by: fn(&str) -> Vec<&'static str>,
                      role: fn(usize) -> QuestionTermRole| {
            let other = |(of, term): (usize, &Term)| {
                let word = term.words.first().filter(|_| term.role == QuestionTermRole::Subject)?;
                let words = words_by(word).into_iter().filter(|it| !asked.contains(it));
                Term::of_words(words.map(str::to_owned).collect(), role(of))
            };
            self.terms.iter().enumerate().filter_map(other).collect::<Vec<Term>>()
        };
        let related = others(related_words, |of| QuestionTermRole::Related { of });
        let kinds = others(words_of_kind, |of| QuestionTermRole::Kind { of });
        let all = related.into_iter().chain(kinds).take(RELATED_MAX);
        self.terms.iter().cloned().chain(all).collect()
    }
}

impl Term {
    /// Returns whether it may say how, rather than what, is asked.
    pub(super) fn is_asking(&self) -> bool {
        self.role == QuestionTermRole::Asking
            || self.words.first().is_some_and(|it| is_request_word(it))
    }

    /// Returns the term for a bigram of a script without spaces.
    pub(super) fn of_bigram(pair: [char; 2]) -> Option<Term> {
        let text = text_of_run(&String::from_iter(pair))?;
        let role = match is_asking_bigram(pair) {
            true => QuestionTermRole::Asking,
            false => QuestionTermRole::Subject,
        };
        Some(Term {
            text,
            words: Vec::new(),
            role,
            unit: TermUnitKind::Bigram(pair),
            is_name: false,
        })
    }

    /// Returns the term for any of these words; `None` without any.
    fn of_words(words: Vec<String>, role: QuestionTermRole) -> Option<Term> {
        let quoted: Vec<String> = words.iter().map(|it| quoted(it, false)).collect();
        let text = match &quoted[..] {
            [] => return None,
            [text] => text.clone(),
            several => format!("({})", several.join(" OR ")),
        };
        Some(Term { text, words, role, unit: TermUnitKind::Word, is_name: false })
    }
}

enum QueryToken<'a> {
    /// A text between double quotes.
    Phrase(&'a str),
    /// A run up to white space or a character with a meaning of its own.
    Word {
        text: &'a str,
        is_prefix: bool,
    },
    Open,
    Close,
    /// `NEAR(`, including the parenthesis.
    Near,
    /// `label :`, `- label :` or `{label trail} :`.
    Columns {
        sign: &'static str,
        names: &'a str,
    },
}

fn tokens(query: &str) -> Vec<QueryToken<'_>> {
    let mut tokens = Vec::new();
    let mut rest = query;
    while let Some(first) = rest.chars().next() {
        if let Some((columns, after)) = columns(rest) {
            tokens.push(columns);
            rest = after;
            continue;
        }
        if let Some(after) = rest.strip_prefix("NEAR(") {
            tokens.push(QueryToken::Near);
            rest = after;
            continue;
        }
        match first {
            // Past the longest expression they mean nothing.
            '(' | ')' if EXPRESSION_TOKENS_MAX < tokens.len() => (),
            '(' => tokens.push(QueryToken::Open),
            ')' => tokens.push(QueryToken::Close),
            '"' => {
                if let Some((phrase, after)) = rest[1..].split_once('"') {
                    tokens.push(QueryToken::Phrase(phrase));
                    rest = after;
                    continue;
                }
            }
            _ if !is_break(first) => {
                let end = rest.find(is_break).unwrap_or(rest.len());
                let text = &rest[..end];
                let bare = text.trim_end_matches('*');
                let is_prefix = bare.len() < text.len();
                tokens.push(QueryToken::Word { text: bare, is_prefix });
                rest = &rest[end..];
                continue;
            }
            _ => (),
        }
        rest = &rest[first.len_utf8()..];
    }
    tokens
}

fn is_break(letter: char) -> bool {
    letter.is_whitespace() || matches!(letter, '(' | ')' | '"' | '{' | '}' | '\0')
}

/// Parses a column filter at the start of `text`, if a name is there; returns it and the rest.
fn columns(text: &str) -> Option<(QueryToken<'_>, &str)> {
    let (sign, rest) = match text.strip_prefix('-') {
        Some(rest) => ("- ", rest.trim_start_matches(' ')),
        None => ("", text),
    };
    let (names, after) = match rest.strip_prefix('{') {
        Some(inside) => {
            let end = inside.bytes().take(COLUMNS_BYTES_MAX).position(|it| it == b'}')?;
            (&inside[..end], &inside[end + 1..])
        }
        None => rest.split_at(rest.find(|it: char| !it.is_ascii_lowercase()).filter(|it| 0 < *it)?),
    };
    let after = after.trim_start_matches(' ').strip_prefix(':')?;
    // `content://authority` and `label::name` are no filters.
    if after.starts_with([':', '/']) || COLUMNS_BYTES_MAX < names.len() {
        return None;
    }
    let mut known = names.split_ascii_whitespace().peekable();
    let is_filter = known.peek().is_some() && known.all(|it| COLUMNS.contains(&it));
    is_filter.then_some((QueryToken::Columns { sign, names }, after))
}

/// Collects the terms of a query, in order, each once.
#[derive(Default)]
struct TermCollector {
    content: Vec<Term>,
    function: Vec<Term>,
    marks: Vec<String>,
    n_words: usize,
    seen: HashSet<String>,
    /// Whether a word without a capital was met.
    has_small_word: bool,
    /// Whether the query has small letters, so that capitals tell something.
    is_mixed_case: bool,
}

impl TermCollector {
    fn add_phrase(&mut self, text: &str) {
        let segments = || spaceless_script_bigrams::segments(text).take(TERMS_MAX);
        let is_telling = |it: &ScriptRun<'_>| !is_function_word(&it.text.to_lowercase());
        let n_words = segments().filter(is_telling).count().clamp(1, PHRASE_WORDS_MAX) as u32;
        if let Some(term) = all_of(text, false) {
            self.push(term, TermUnitKind::Phrase { n_words }, true);
        }
        segments().for_each(|it| self.mark(&it));
    }

    fn add_word(&mut self, text: &str, is_prefix: bool) {
        let segments: Vec<ScriptRun<'_>> =
            spaceless_script_bigrams::segments(text).take(TERMS_MAX).collect();
        let n_spaced = segments.iter().filter(|it| it.script == ScriptSpacing::Spaced).count();
        let is_contraction = text.trim_matches(['\'', '’']).contains(['\'', '’']);
        for (phrase, has_crumb) in phrases(&segments) {
            let is_own = has_crumb && !is_contraction;
            let unit =
                if is_own { TermUnitKind::Phrase { n_words: 1 } } else { TermUnitKind::Adjacency };
            self.push(phrase, unit, true);
        }
        for (at, segment) in segments.iter().enumerate() {
            let lower = segment.text.to_lowercase();
            match segment.script {
                ScriptSpacing::Spaceless => {
                    self.mark(segment);
                    self.add_run(segment.text);
                }
                ScriptSpacing::Spaced => {
                    // The `s` of `what's` and the `C` of `a-C`: the phrase matches them.
                    let is_crumb = 1 < n_spaced && segment.text.chars().nth(1).is_none();
                    let is_inside = self.has_small_word || is_contraction;
                    let is_noun = self.is_mixed_case && is_written_as_noun(segment.text, is_inside);
                    let is_content = !is_crumb && (is_noun || !is_function_word(&lower));
                    let is_prefix = is_prefix && at + 1 == segments.len();
                    let text = quoted(segment.text, is_prefix);
                    match text.ends_with('"') {
                        true => self.push_word(text, &lower, (is_content, is_noun)),
                        false => self.push(text, TermUnitKind::Word, is_content),
                    }
                    if is_content {
                        self.mark(segment);
                    }
                    self.has_small_word |= segment.text.starts_with(char::is_lowercase);
                }
            }
        }
    }

    fn add_run(&mut self, run: &str) {
        let Some(text) = text_of_run(run) else { return };
        let pairs = spaceless_script_bigrams::bigrams_of_run(run, PAIRS_MAX);
        let unit = match pairs.len() {
            0 => TermUnitKind::Word,
            1 => return self.add_bigrams(&pairs),
            n if n + 1 < SENTENCE_CHARS => TermUnitKind::ShortRun(run.to_owned()),
            _ => TermUnitKind::Adjacency,
        };
        let is_sentence = unit == TermUnitKind::Adjacency;
        self.push(text, unit, true);
        for pair in &pairs {
            self.mark_text(&String::from_iter(pair));
        }
        if is_sentence {
            self.add_bigrams(&pairs);
        }
    }

    fn add_bigrams(&mut self, pairs: &[[char; 2]]) {
        for term in pairs.iter().filter_map(|it| Term::of_bigram(*it)) {
            self.push_term(term, true);
        }
    }

    fn push(&mut self, text: String, unit: TermUnitKind, is_content: bool) {
        let (words, role) = (Vec::new(), QuestionTermRole::Subject);
        self.push_term(Term { text, words, role, unit, is_name: false }, is_content);
    }

    /// Adds a word with its other forms, and the plain one of one with accents.
    fn push_word(&mut self, text: String, lower: &str, (is_content, is_noun): (bool, bool)) {
        let role = match ASKING_WORDS.binary_search(&lower) {
            Ok(_) if !is_noun => QuestionTermRole::Asking,
            _ => QuestionTermRole::Subject,
        };
        // Behind the quote.
        let is_name = self.has_small_word && text[1..].starts_with(char::is_uppercase);
        let mut words = vec![lower.to_owned()];
        words.extend(plain_word(lower));
        words.extend(other_forms(lower).into_iter().map(str::to_owned));
        let term = match words.len() {
            1 => Some(Term { text, words, role, unit: TermUnitKind::Word, is_name: false }),
            _ => Term::of_words(words, role),
        };
        if let Some(term) = term {
            self.push_term(Term { is_name, ..term }, is_content);
        }
    }

    fn push_term(&mut self, term: Term, is_content: bool) {
        let list = if is_content { &mut self.content } else { &mut self.function };
        if list.len() < TERMS_MAX && self.seen.insert(term.text.to_lowercase()) {
            list.push(term);
        }
    }

    fn mark(&mut self, segment: &ScriptRun<'_>) {
        let n_words = match segment.script {
            ScriptSpacing::Spaced => 1,
            ScriptSpacing::Spaceless => {
                spaceless_script_bigrams::n_letters(segment.text).div_ceil(2)
            }
        };
        if self.mark_text(segment.text) {
            self.n_words += n_words;
        }
    }

    /// Returns whether the text was not marked before.
    fn mark_text(&mut self, text: &str) -> bool {
        let text = text.to_lowercase();
        let is_new = self.marks.len() < TERMS_MAX && !self.marks.contains(&text);
        if is_new {
            self.marks.push(text);
        }
        is_new
    }

    fn finish(self) -> (Vec<Term>, Vec<String>) {
        let terms = if self.content.is_empty() { self.function } else { self.content };
        (terms, self.marks)
    }
}

/// Returns the phrases in a word of several parts, `rate-limit` or `api.v2`, and whether a part of
/// each is a single character, which is no term. Function words and single letters alone make none.
fn phrases(segments: &[ScriptRun<'_>]) -> Vec<(String, bool)> {
    let is_crumb = |part: &ScriptRun<'_>| part.text.chars().nth(1).is_none();
    let is_telling =
        |part: &ScriptRun<'_>| !is_crumb(part) && !is_function_word(&part.text.to_lowercase());
    segments
        .chunk_by(|a, b| a.script == ScriptSpacing::Spaced && b.script == ScriptSpacing::Spaced)
        .filter(|parts| {
            1 < parts.len() && (parts.iter().any(is_telling) || parts.iter().all(is_crumb))
        })
        .map(|parts| {
            let words: Vec<&str> = parts.iter().map(|it| head(it.text)).collect();
            (format!("\"{}\"", words.join(" ")), parts.iter().any(is_crumb))
        })
        .collect()
}

/// Returns the expression for a run of a script without spaces: its bigrams side by side, or a word
/// of the breadcrumb that begins with it. `None` when the run has no character of its own.
fn text_of_run(run: &str) -> Option<String> {
    let pattern = spaceless_script_bigrams::fts_pattern(run)?;
    let forms = spaceless_script_bigrams::canonical_forms(head(run));
    let forms: Vec<String> = forms.iter().map(|it| quoted(it, true)).collect();
    Some(format!("(grams : {pattern} OR trail : ({}))", forms.join(" OR ")))
}

/// Returns an expression for all of `text` at once: the words as one phrase, and each run. `None`
/// when there are no words.
fn all_of(text: &str, is_prefix: bool) -> Option<String> {
    let segments: Vec<ScriptRun<'_>> =
        spaceless_script_bigrams::segments(text).take(TERMS_MAX).collect();
    let mut parts: Vec<String> = Vec::new();
    for stretch in segments.chunk_by(|a, b| a.script == b.script) {
        match stretch[0].script {
            ScriptSpacing::Spaced => {
                let words: Vec<&str> = stretch.iter().map(|it| head(it.text)).collect();
                parts.push(quoted(&words.join(" "), is_prefix));
            }
            ScriptSpacing::Spaceless => {
                let patterns =
                    stretch.iter().filter_map(|it| spaceless_script_bigrams::fts_pattern(it.text));
                parts.extend(patterns.map(|it| format!("grams : {it}")));
            }
        }
    }
    match parts.len() {
        0 => None,
        1 => parts.pop(),
        _ => Some(format!("({})", parts.join(" AND "))),
    }
}

fn quoted(word: &str, is_prefix: bool) -> String {
    let head = if word.contains(' ') { word } else { head(word) };
    let star = if is_prefix || head.len() < word.len() { "*" } else { "" };
    format!("\"{head}\"{star}")
}

fn head(word: &str) -> &str {
    &word[..word.floor_char_boundary(WORD_BYTES_MAX)]
}

#[cfg(test)]
mod tests;
