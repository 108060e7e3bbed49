//! Thesaurus: other forms of a word, words of nearly the same meaning, and words of a kind.
//!
//! A stemmer cuts endings; it does not find `bought` for `buy`, `mom` for `mother`, nor `violin`
//! for `instrument`. Three tables do, with a family on each line:
//!
//! - `forms.txt`: irregular forms, spellings and derivations. All words of a line are one word.
//! - `related.txt`: the first word of a line is related to each of the others, and they to it.
//! - `kinds.txt`: the first word of a line names a kind, the others are what is told of it.
//!
//! The tables have base forms; [`other_forms`], [`related_words`] and [`words_of_kind`] take
//! inflected words, too. This module does no IO.

use std::collections::HashMap;
use std::sync::LazyLock;

/// Words with the lines that they are on.
type LinesByWord = HashMap<&'static str, Vec<&'static str>>;

static FORMS: LazyLock<LinesByWord> =
    LazyLock::new(|| lines_by_word(include_str!("thesaurus/forms.txt")));
static RELATED: LazyLock<LinesByWord> =
    LazyLock::new(|| lines_by_word(include_str!("thesaurus/related.txt")));
static KINDS: LazyLock<HashMap<&'static str, &'static str>> = LazyLock::new(|| {
    include_str!("thesaurus/kinds.txt").lines().filter_map(|it| it.split_once(' ')).collect()
});

/// Returns the other forms of a lower-case word.
pub(crate) fn other_forms(word: &str) -> Vec<&'static str> {
    let mut found = Vec::new();
    for base in bases(word) {
        for line in FORMS.get(base.as_str()).into_iter().flatten() {
            found.extend(line.split(' ').filter(|it| *it != word && *it != base));
        }
    }
    unique(found)
}

/// Returns the words related to a lower-case word.
pub(crate) fn related_words(word: &str) -> Vec<&'static str> {
    let mut found = Vec::new();
    for base in bases(word) {
        for line in RELATED.get(base.as_str()).into_iter().flatten() {
            let (first, others) = line.split_once(' ').unwrap_or((line, ""));
            match first == base {
                true => found.extend(others.split(' ')),
                false => found.push(first),
            }
        }
    }
    unique(found)
}

/// Returns the words of the kind that a lower-case word names.
pub(crate) fn words_of_kind(word: &str) -> Vec<&'static str> {
    let bases = bases(word);
    unique(
        bases.iter().filter_map(|it| KINDS.get(it.as_str())).flat_map(|it| it.split(' ')).collect(),
    )
}

/// Returns the regular inflections of a lower-case word, those of a noun and of a verb.
pub(crate) fn inflections(word: &str) -> Vec<String> {
    let with = |stem: &str, endings: &[&str]| -> Vec<String> {
        endings.iter().map(|it| [stem, it].concat()).collect()
    };
    if let Some(stem) = word.strip_suffix('e') {
        return with(stem, &["es", "ed", "ing"]);
    }
    if let Some(stem) = word.strip_suffix('y')
        && !stem.ends_with(['a', 'e', 'o', 'u'])
    {
        return with(stem, &["ies", "ied", "ying"]);
    }
    let mut found = with(word, &["s", "es", "ed", "ing"]);
    if let Some(last) = word.chars().next_back() {
        found.extend(with(&format!("{word}{last}"), &["ed", "ing"]));
    }
    found
}

fn lines_by_word(table: &'static str) -> LinesByWord {
    let mut lines: LinesByWord = HashMap::new();
    for line in table.lines() {
        for word in line.split(' ') {
            lines.entry(word).or_default().push(line);
        }
    }
    lines
}

/// Returns what a word may be an inflection of, itself first: `stopped` of `stopp`, `stop` and
/// `stoppe`.
fn bases(word: &str) -> Vec<String> {
    /// Least bytes of a base.
    const BASE_BYTES_MIN: usize = 3;
    let mut bases = vec![word.to_owned()];
    for (ending, put) in
        [("ies", "y"), ("ied", "y"), ("es", ""), ("s", ""), ("ing", ""), ("ed", "")]
    {
        let Some(stem) = word.strip_suffix(ending).filter(|it| BASE_BYTES_MIN <= it.len()) else {
            continue;
        };
        bases.push([stem, put].concat());
        if matches!(ending, "ing" | "ed") {
            bases.push([stem, "e"].concat());
            let mut letters = stem.chars().rev();
            if letters.next() == letters.next() {
                bases.push(
                    stem[..stem.len() - stem.chars().next_back().map_or(0, char::len_utf8)]
                        .to_owned(),
                );
            }
        }
    }
    bases
}

/// Returns the words in their order, each once.
fn unique(words: Vec<&'static str>) -> Vec<&'static str> {
    let mut kept: Vec<&str> = Vec::with_capacity(words.len());
    for word in words {
        if !word.is_empty() && !kept.contains(&word) {
            kept.push(word);
        }
    }
    kept
}

#[cfg(test)]
mod tests;
