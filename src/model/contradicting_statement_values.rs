//! Values in statements: numbers with their units, versions, dates and switches, to find statements
//! that may contradict each other.
//!
//! A value has one form, however it is written. Two values are the same where that is sure; all
//! others may contradict, also those of which nobody can tell, such as `2 GB` and `2048 MB`, `10%`
//! and `10`, or `3.10` and `3.1`. Behind a space, units of several letters that are not known are
//! words, and no part of a value. So are time zones, unless they touch their time, as in `10:00Z`.

mod date_normalization;
mod decimal;
mod numbers;
mod units;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::text::spaceless_script_bigrams::is_spaceless;

/// Words that two statements share at least before their values are compared.
const SHARED_WORDS_MIN: usize = 2;

/// Statements with a word of one that are compared with it, at most.
const COMPARED_MAX: usize = 10_000;

/// Words that stand for a switch.
const SWITCHES: &[(&str, &str)] = &[
    ("true", "on"),
    ("enabled", "on"),
    ("on", "on"),
    ("yes", "on"),
    ("false", "off"),
    ("disabled", "off"),
    ("off", "off"),
    ("no", "off"),
];

/// Words before `on` that make it a switch.
const TURNING: &[&str] = &[
    "turn",
    "turned",
    "turning",
    "turns",
    "switch",
    "switched",
    "switches",
    "switching",
    "stays",
    "always",
];

/// Words behind `on` that leave it a switch. Before any other it is where or when something is.
const BEHIND_ON: &[&str] = &[
    "again", "and", "as", "at", "but", "by", "during", "for", "if", "in", "now", "only", "or",
    "since", "unless", "until", "when", "while", "with",
];

/// Words that say nothing of the subject.
const COMMON: &[&str] = &[
    "about", "after", "also", "and", "are", "been", "before", "but", "can", "for", "from", "had",
    "has", "have", "into", "its", "may", "must", "not", "now", "only", "our", "set", "should",
    "than", "that", "the", "their", "then", "there", "this", "use", "used", "uses", "was", "were",
    "when", "which", "will", "with", "you", "your",
];

/// A value in its one form, however it is written.
///
/// Where something stands behind a number that may be its unit or another word, as in `16px` and
/// `3 A records`, there is a second form without it. It counts beside a value that has none.
#[derive(Clone, Debug, PartialEq, Eq)]
struct StatementValue {
    form: String,
    without_unit: Option<String>,
}

impl From<String> for StatementValue {
    fn from(form: String) -> StatementValue {
        StatementValue { form, without_unit: None }
    }
}

/// The values of one reading of a statement.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct ReadValues {
    /// By their forms, with their second ones.
    by_form: BTreeMap<String, Option<String>>,
    without_unit: BTreeSet<String>,
    /// Values that were read once more.
    n_repeated: usize,
}

impl ReadValues {
    fn insert(&mut self, value: StatementValue) {
        self.without_unit.extend(value.without_unit.clone());
        let known = self.by_form.insert(value.form, value.without_unit);
        self.n_repeated += usize::from(known.is_some());
    }

    /// Returns whether each value of either is among those of the other.
    fn agree(&self, other: &ReadValues) -> bool {
        self.are_among(other) && other.are_among(self)
    }

    fn are_among(&self, other: &ReadValues) -> bool {
        let is_among = |form: &String| other.by_form.contains_key(form);
        self.by_form.iter().all(|(form, without_unit)| {
            is_among(form)
                || without_unit.as_ref().is_some_and(is_among)
                || other.without_unit.contains(form)
        })
    }
}

/// The values and the words of a statement.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct StatementFeatures {
    values: ReadValues,
    /// The values if a comma between digits is none between thousands, as `80,443` may be two
    /// ports.
    other_values: Option<ReadValues>,
    /// Numbers with a letter before them, such as `A4`. They name things as often as they tell
    /// something of one, so those of one statement differ from those of another, and not from none.
    codes: BTreeSet<String>,
    words: BTreeSet<String>,
}

impl StatementFeatures {
    /// Reads a statement.
    pub(crate) fn of(text: &str) -> StatementFeatures {
        let text = in_half_width(text);
        let mut read = StatementFeatures::read(&text);
        let other = with_commas_apart(&text).map(|it| StatementFeatures::read(&it).values);
        // A list has no number twice: `555,555` is none.
        let n_repeated = read.values.n_repeated;
        read.other_values = other.filter(|it| it.n_repeated <= n_repeated);
        read
    }

    /// Reads a statement in which a comma between digits stands between thousands.
    fn read(text: &str) -> StatementFeatures {
        let mut read = StatementFeatures::default();
        let (mut at, mut word_before) = (0, String::new());
        // The words since the last value.
        let mut n_words = usize::MAX;
        let mut rates = BTreeSet::new();
        while let Some(first) = text[at..].chars().next() {
            let (before, rest) = (text[..at].chars().next_back(), &text[at..]);
            let rate = numbers::rate(rest).filter(|_| first != '/' || n_words <= 1);
            if let Some((rate, n_bytes)) = rate {
                rates.insert(rate);
                at += n_bytes;
            } else if let Some((value, n_bytes)) = value(rest, before) {
                read.values.insert(value);
                n_words = 0;
                // The time behind a date.
                let is_timed = rest[n_bytes..].starts_with('T');
                at += n_bytes + usize::from(is_timed);
            } else if first.is_alphanumeric() {
                let word = word(rest);
                at += word.len();
                if is_code(before, word, &text[at..]) {
                    read.codes.insert(word.to_lowercase());
                }
                let word = word.to_lowercase();
                read.add_word(&word, (&word_before, &text[at..]));
                word_before = word;
                n_words = n_words.saturating_add(1);
            } else {
                at += first.len_utf8();
            }
        }
        // `billed per month` tells how something is counted, and not how much it is.
        if !read.values.by_form.is_empty() {
            rates.into_iter().for_each(|it| read.values.insert(it.into()));
        }
        read
    }

    /// Adds a word in lower case, between the one before it and the text behind it.
    fn add_word(&mut self, word: &str, (before, behind): (&str, &str)) {
        match SWITCHES.iter().find(|it| it.0 == word) {
            Some(("on", _)) if !is_switch(before, behind) => (),
            Some((_, switch)) => self.values.insert((*switch).to_owned().into()),
            None if is_long(word) && !COMMON.contains(&word) => {
                self.words.insert(word.to_owned());
            }
            None => (),
        }
    }

    /// Returns whether there is a value to compare.
    pub(crate) fn has_values(&self) -> bool {
        !self.values.by_form.is_empty() || !self.codes.is_empty()
    }

    /// Returns whether both have values, and the same ones.
    pub(crate) fn has_equal_values(&self, other: &StatementFeatures) -> bool {
        let are_equal = match [self, other].map(|it| it.values.by_form.is_empty()) {
            [true, true] => self.codes == other.codes && !self.codes.is_empty(),
            [false, false] => self.have_values_that_agree(other),
            _ => false,
        };
        are_equal && !self.has_other_codes(other)
    }

    /// Returns whether the values of both are the same. A comma between digits has two readings
    /// only beside a text that writes its numbers apart.
    fn have_values_that_agree(&self, other: &StatementFeatures) -> bool {
        let is_other = |a: &StatementFeatures, b: &StatementFeatures| {
            a.other_values.as_ref().is_some_and(|it| it.agree(&b.values))
        };
        self.values.agree(&other.values) || is_other(self, other) || is_other(other, self)
    }

    /// Returns whether each has a code that the other has not.
    fn has_other_codes(&self, other: &StatementFeatures) -> bool {
        !self.codes.is_subset(&other.codes) && !other.codes.is_subset(&self.codes)
    }

    /// Returns whether both have values, and not the same ones.
    fn has_other_values(&self, other: &StatementFeatures) -> bool {
        let have_values = [self, other].iter().all(|it| !it.values.by_form.is_empty());
        have_values && !self.have_values_that_agree(other) || self.has_other_codes(other)
    }

    /// Returns whether both speak of the same with other values.
    pub(crate) fn may_contradict(&self, other: &StatementFeatures) -> bool {
        self.has_other_values(other)
            && SHARED_WORDS_MIN <= self.words.intersection(&other.words).count()
    }
}

/// Statements by their words, to find those that one of them may contradict.
#[derive(Debug, Default)]
pub(crate) struct StatementWordIndex {
    all: Vec<StatementFeatures>,
    /// The numbers of the statements that have a word.
    by_word: HashMap<String, Vec<usize>>,
}

impl StatementWordIndex {
    /// Adds a statement, whose number is that of the statements before it.
    pub(crate) fn push(&mut self, statement: StatementFeatures) {
        for word in &statement.words {
            self.by_word.entry(word.clone()).or_default().push(self.all.len());
        }
        self.all.push(statement);
    }

    /// Returns the numbers of those that a statement may contradict, newest first, among the newest
    /// that have a word of it.
    pub(crate) fn contradicting(
        &self,
        statement: &StatementFeatures,
    ) -> impl Iterator<Item = usize> {
        let lists = statement.words.iter().filter_map(|it| self.by_word.get(it));
        let mut lists: Vec<&[usize]> = lists.map(Vec::as_slice).collect();
        let next = move |_| {
            let newest = lists.iter().filter_map(|it| it.last()).max().copied()?;
            let mut n_shared = 0;
            for list in &mut lists {
                if let [rest @ .., last] = list
                    && *last == newest
                {
                    *list = rest;
                    n_shared += 1;
                }
            }
            Some((newest, n_shared))
        };
        let near = (0..COMPARED_MAX).map_while(next);
        let near = near.filter_map(|(nth, n_shared)| (SHARED_WORDS_MIN <= n_shared).then_some(nth));
        near.filter(|nth| statement.has_other_values(&self.all[*nth]))
    }
}

/// Returns the value at the beginning of a text in its one form, and the bytes that it takes.
fn value(text: &str, before: Option<char>) -> Option<(StatementValue, usize)> {
    if text.starts_with(char::is_whitespace) {
        return None;
    }
    date_normalization::date(text)
        .map(|(date, n_bytes)| (date.into(), n_bytes))
        .or_else(|| numbers::number(text, before))
        .or_else(|| numbers::version(text))
        .or_else(|| numbers::price(text))
}

/// Returns a text with letters, digits and signs of full width, as in `５％`, in the usual one.
fn in_half_width(text: &str) -> Cow<'_, str> {
    let half = |it: char| match it {
        '！'..='～' => char::from_u32(it as u32 - '！' as u32 + '!' as u32).unwrap_or(it),
        '\u{3000}' => ' ',
        _ => it,
    };
    match text.is_ascii() {
        true => Cow::Borrowed(text),
        false => Cow::Owned(text.chars().map(half).collect()),
    }
}

/// Returns a text with a space behind each comma between digits that may stand between two
/// numbers, if there is one. No number in a list begins with a zero.
fn with_commas_apart(text: &str) -> Option<String> {
    let is_apart =
        |it: &[u8]| it[0].is_ascii_digit() && it[1] == b',' && (b'1'..=b'9').contains(&it[2]);
    let windows = text.as_bytes().windows(3).enumerate();
    let commas: Vec<usize> = windows.filter(|it| is_apart(it.1)).map(|it| it.0 + 2).collect();
    let mut parts = Vec::new();
    let mut from = 0;
    for at in commas {
        parts.push(&text[from..at]);
        from = at;
    }
    parts.push(&text[from..]);
    (1 < parts.len()).then(|| parts.join(" "))
}

/// Returns whether a word between two parts of a text is a letter and digits that stand for
/// themselves, unlike the `s3` of `s3-logs`.
fn is_code(before: Option<char>, word: &str, behind: &str) -> bool {
    let is_numbered = word.starts_with(|it: char| it.is_ascii_alphabetic())
        && 1 < word.len()
        && word[1..].bytes().all(|it| it.is_ascii_digit());
    let is_part = |it: char| "-_/.@#$=:".contains(it);
    let more = behind.strip_prefix(is_part).or_else(|| behind.strip_prefix('('));
    is_numbered
        && !before.is_some_and(|it| is_part(it) || it.is_alphanumeric())
        && !more.is_some_and(|it| it.starts_with(|it: char| it.is_alphanumeric() || it == '_'))
}

/// Returns whether a word is long enough to tell what a statement is about.
fn is_long(word: &str) -> bool {
    let n_min = if word.starts_with(is_spaceless) { 2 } else { 3 };
    word.chars().nth(n_min - 1).is_some()
}

/// Returns the word at the beginning of a text, without a number that has a point: `python3.11`.
fn word(text: &str) -> &str {
    let is_digit = |it: char| it.is_ascii_digit();
    let n_letters = text.find(|it| is_digit(it) || !it.is_alphanumeric()).unwrap_or(text.len());
    let (name, number) = text.split_at(n_letters);
    if name.ends_with(is_spaceless) {
        return name;
    }
    let point = number.trim_start_matches(is_digit);
    let is_numbered = point.len() < number.len()
        && point.strip_prefix('.').is_some_and(|it| it.starts_with(is_digit));
    if is_numbered {
        return name;
    }
    numbers::code(text)
}

/// Returns whether `on` between a word and a text is a switch, as in `is on.` and `turned on TLS`.
fn is_switch(before: &str, behind: &str) -> bool {
    let word = behind.trim_start_matches(' ');
    let n_bytes = word.find(|it: char| !it.is_alphanumeric()).unwrap_or(word.len());
    let word = word[..n_bytes].to_lowercase();
    let is_end = word.is_empty() && !behind.trim_start().starts_with(['`', '"', '\'', '$', '-']);
    is_end || TURNING.contains(&before) || BEHIND_ON.contains(&word.as_str())
}

#[cfg(test)]
mod tests;
