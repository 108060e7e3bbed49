//! Values in statements: numbers with their units and switches, to find statements that may
//! contradict each other.

use std::collections::{BTreeSet, HashMap};

/// Words that two statements share at least before their values are compared.
const SHARED_WORDS_MIN: usize = 2;

/// Spellings of units, each with the one that it counts as.
const UNITS: &[(&str, &str)] = &[
    ("ms", "ms"),
    ("milliseconds", "ms"),
    ("s", "s"),
    ("sec", "s"),
    ("second", "s"),
    ("seconds", "s"),
    ("m", "min"),
    ("min", "min"),
    ("minute", "min"),
    ("minutes", "min"),
    ("h", "h"),
    ("hour", "h"),
    ("hours", "h"),
    ("d", "d"),
    ("day", "d"),
    ("days", "d"),
    ("b", "b"),
    ("bytes", "b"),
    ("kb", "kb"),
    ("mb", "mb"),
    ("gb", "gb"),
    ("tb", "tb"),
    ("kib", "kib"),
    ("mib", "mib"),
    ("gib", "gib"),
    ("%", "%"),
    ("percent", "%"),
];

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
    words: BTreeSet<String>,
}

impl StatementFeatures {
    /// Reads a statement.
    pub(crate) fn of(text: &str) -> StatementFeatures {
        let is_inner = |it: char| it.is_alphanumeric() || it == '%' || it == '.';
        let mut parts: Vec<String> = Vec::new();
        for raw in text.to_lowercase().split(|it: char| !is_inner(it)) {
            let raw = raw.trim_matches('.');
            let n_number =
                raw.find(|it: char| !it.is_ascii_digit() && it != '.').unwrap_or(raw.len());
            let (number, unit) = raw.split_at(n_number);
            parts.extend([number, unit].into_iter().filter(|it| !it.is_empty()).map(str::to_owned));
        }
        let mut read = StatementFeatures::default();
        let mut parts = parts.iter().peekable();
        while let Some(part) = parts.next() {
            let meaning = |table: &[(&'static str, &'static str)], word: &str| {
                table.iter().find(|(it, _)| *it == word).map(|(_, it)| *it)
            };
            if part.starts_with(|it: char| it.is_ascii_digit()) {
                let unit = parts.peek().and_then(|it| meaning(UNITS, it));
                if unit.is_some() {
                    parts.next();
                }
                read.values.insert(format!("{}{}", plain_number(part), unit.unwrap_or("")));
            } else if let Some(switch) = meaning(SWITCHES, part) {
                read.values.insert(switch.to_owned());
            } else if 2 < part.chars().count() && !COMMON.contains(&part.as_str()) {
                read.words.insert(part.clone());
            }
        }
        read
    }

    /// Returns whether both speak of the same with other values.
    pub(crate) fn may_contradict(&self, other: &StatementFeatures) -> bool {
        !self.values.is_empty()
            && !other.values.is_empty()
            && self.values != other.values
            && SHARED_WORDS_MIN <= self.words.intersection(&other.words).count()
    }
}

/// Statements by their words, to find those that one of them may contradict.
#[derive(Debug, Default)]
pub(crate) struct StatementIndex {
    all: Vec<StatementFeatures>,
    /// The numbers of the statements that have a word.
    by_word: HashMap<String, Vec<usize>>,
}

impl StatementIndex {
    /// Adds a statement, whose number is that of the statements before it.
    pub(crate) fn push(&mut self, statement: StatementFeatures) {
        for word in &statement.words {
            self.by_word.entry(word.clone()).or_default().push(self.all.len());
        }
        self.all.push(statement);
    }

    /// Returns the numbers of those that a statement may contradict.
    pub(crate) fn contradicting(&self, statement: &StatementFeatures) -> Vec<usize> {
        let mut n_shared = vec![0_usize; self.all.len()];
        for word in &statement.words {
            for &nth in self.by_word.get(word).into_iter().flatten() {
                n_shared[nth] += 1;
            }
        }
        let shares_words = |nth: &usize| SHARED_WORDS_MIN <= n_shared[*nth];
        let numbers = (0..self.all.len()).filter(shares_words);
        numbers.filter(|nth| statement.may_contradict(&self.all[*nth])).collect()
    }
}

/// Returns a number without zeros that mean nothing.
fn plain_number(text: &str) -> &str {
    let text =
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text };
    let short = text.trim_start_matches('0');
    if short.is_empty() || short.starts_with('.') { text } else { short }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(a: &str, b: &str, contradicts: bool) {
        let read = StatementFeatures::of;
        let mut index = StatementIndex::default();
        index.push(read(b));
        assert_eq!(index.contradicting(&read(a)).len(), usize::from(contradicts), "{a} / {b}");
        assert_eq!(read(a).may_contradict(&read(b)), contradicts, "{a} / {b}");
        assert_eq!(read(b).may_contradict(&read(a)), contradicts, "{b} / {a}");
    }

    #[test]
    fn other_values_of_the_same_subject_may_contradict() {
        check("The cache timeout is 30 s", "Cache timeout: 45s", true);
        check("The cache timeout is 30 s", "cache timeout of 30 seconds", false);
        check("Retries are enabled for payments", "payments: retries disabled", true);
        check("The cache timeout is 30 s", "The queue holds 45 items", false);
        check("The cache timeout is short", "The cache timeout is 45 s", false);
        check("cache timeout 1.50 s", "cache timeout 1.5 s", false);
    }
}
