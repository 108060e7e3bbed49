//! Values in statements: numbers with their units, versions, dates and switches, to find statements
//! that may contradict each other.
//!
//! A value has one form, however it is written. Two values are the same where that is sure; all
//! others may contradict, also those of which nobody can tell, such as `2 GB` and `2048 MB`, `10%`
//! and `10`, or `3.10` and `3.1`. Units of several letters that are not known are words, and no
//! part of a value. So are time zones, unless they touch their time, as in `10:00Z`.

mod date_normalization;
mod decimal;
mod numbers;
mod units;

use std::collections::{BTreeSet, HashMap};

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

/// The values and the words of a statement.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct StatementFeatures {
    values: BTreeSet<String>,
    /// The values if a comma between digits is none between thousands, as `80,443` may be two
    /// ports, or a letter behind a space is no unit, as in `3 A records`.
    other_readings: Vec<BTreeSet<String>>,
    words: BTreeSet<String>,
}

impl StatementFeatures {
    /// Reads a statement.
    pub(crate) fn of(text: &str) -> StatementFeatures {
        let read = StatementFeatures::read(text);
        let mut readings = vec![read.values];
        let is_digit = |it: &u8| it.is_ascii_digit();
        let is_doubtful = |it: &[u8]| is_digit(&it[0]) && it[1] == b',' && is_digit(&it[2]);
        if text.as_bytes().windows(3).any(is_doubtful) {
            readings.push(StatementFeatures::read(&text.replace(',', ", ")).values);
        }
        let read_as = |nth: usize, values: &BTreeSet<String>| -> BTreeSet<String> {
            let readings = values.iter().map(|it| it.split_once(' ').unwrap_or((it, it)));
            readings.map(|it| [it.0, it.1][nth].to_owned()).collect()
        };
        let values = read_as(0, &readings[0]);
        let other_readings = readings.iter().flat_map(|it| [read_as(0, it), read_as(1, it)]);
        let other_readings = other_readings.filter(|it| *it != values).collect();
        StatementFeatures { values, other_readings, words: read.words }
    }

    /// Reads a statement in which a comma between digits stands between thousands. Values with a
    /// letter that may be no unit are there with and without it, a space between both.
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
                let word = word.to_lowercase();
                read.add_word(&word, (&word_before, &text[at..]));
                word_before = word;
                n_words = n_words.saturating_add(1);
            } else {
                at += first.len_utf8();
            }
        }
        // `billed per month` tells how something is counted, and not how much it is.
        if read.has_values() {
            read.values.append(&mut rates);
        }
        read
    }

    /// Adds a word in lower case, between the one before it and the text behind it.
    fn add_word(&mut self, word: &str, (before, behind): (&str, &str)) {
        match SWITCHES.iter().find(|it| it.0 == word) {
            Some(("on", _)) if !is_switch(before, behind) => (),
            Some((_, switch)) => drop(self.values.insert((*switch).to_owned())),
            None if 2 < word.chars().count() && !COMMON.contains(&word) => {
                self.words.insert(word.to_owned());
            }
            None => (),
        }
    }

    /// Returns whether there is a value to compare.
    pub(crate) fn has_values(&self) -> bool {
        !self.values.is_empty()
    }

    /// Returns whether both have values, and the same ones. A comma between digits has two readings
    /// only beside a text that writes its numbers apart, and a letter only beside one without it.
    pub(crate) fn has_equal_values(&self, other: &StatementFeatures) -> bool {
        let is_equal = self.values == other.values
            || self.other_readings.contains(&other.values)
            || other.other_readings.contains(&self.values);
        !self.values.is_empty() && is_equal
    }

    /// Returns whether both have values, and not the same ones.
    fn has_other_values(&self, other: &StatementFeatures) -> bool {
        !self.values.is_empty() && !other.values.is_empty() && !self.has_equal_values(other)
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
fn value(text: &str, before: Option<char>) -> Option<(String, usize)> {
    if text.starts_with(char::is_whitespace) {
        return None;
    }
    date_normalization::date(text)
        .or_else(|| numbers::number(text, before))
        .or_else(|| numbers::version(text))
        .or_else(|| numbers::price(text))
}

/// Returns the word at the beginning of a text, without a number that has a point: `python3.11`.
fn word(text: &str) -> &str {
    let is_digit = |it: char| it.is_ascii_digit();
    let n_letters = text.find(|it| is_digit(it) || !it.is_alphanumeric()).unwrap_or(text.len());
    let (name, number) = text.split_at(n_letters);
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
