//! Nearest spellings: words of a question that the memory has, and for others the closest in
//! spelling.
//!
//! A word that is named can be searched: it stands whole in a node. Words are looked up in the
//! index by their stems and read from the nodes found; a label or breadcrumb that was cut does not
//! tell its last word. For a word that no node has, all spellings at one edit are looked up at
//! once, then the words with the same beginning.

use std::collections::HashMap;

use super::Error;
use super::asked_dates::asked_dates;
use super::function_words::is_function_word;
use super::query_parser::{self, QuestionTermRole};
use crate::model::clock::UnixMillis;
use crate::query::render::to_one_line;
use crate::store::NodeRowId;
use crate::store::reader::{MatchAgeOrder, NodeFilter, Reader};
use crate::text::spaceless_script_bigrams;
use crate::text::suggest::{spellings_at_one_edit, suggest};

/// Words that are named.
const NEAREST_MAX: usize = 5;
/// Words that no node has for which others are sought.
const UNKNOWN_MAX: usize = 5;
/// Nodes in which a word is sought, the newest.
const NODES_MAX: usize = 20;
/// Spellings of one look at the index.
const SPELLINGS_MAX: usize = 200;
/// Least and most characters of a word for which others are sought: too many are at one edit from a
/// shorter one.
const CHARS_MIN: usize = 4;
const CHARS_MAX: usize = 32;
/// Characters that a word shares with one that has several edits, and those that may differ after
/// them.
const PREFIX_CHARS_MIN: usize = 3;
const ENDING_CHARS: usize = 3;

/// Returns words that nodes have, the nearest to each of a query's; none to words of a date or a
/// request.
pub(super) fn nearest_words(
    reader: &Reader,
    query: &str,
    now: UnixMillis,
) -> Result<Vec<String>, Error> {
    let dates = asked_dates(query, now);
    let mut nearest: Vec<String> = Vec::new();
    let mut n_unknown = 0;
    // The words of a phrase may stand apart.
    for term in query_parser::parse_query(&query.replace('"', " ")).terms {
        let Some(typed) = term.words.first().filter(|_| term.role == QuestionTermRole::Subject)
        else {
            continue;
        };
        if dates.iter().any(|it| it.has_words_of(&term)) {
            continue;
        }
        let words = words_of(reader, &term.text)?;
        let found = match words.is_empty() {
            true if n_unknown < UNKNOWN_MAX && !term.is_asking() => {
                n_unknown += 1;
                word_like(reader, typed)?
            }
            true => None,
            false => {
                let is_form = |it: &&String| term.words.contains(it);
                words.iter().find(is_form).cloned().or_else(|| closest(typed, &words))
            }
        };
        let found = found.map(|it| to_one_line(&it).into_owned());
        nearest.extend(found.filter(|it| !nearest.contains(it)));
        if nearest.len() == NEAREST_MAX {
            break;
        }
    }
    Ok(nearest)
}

/// Returns the word that is spelt most like one that no node has.
fn word_like(reader: &Reader, typed: &str) -> Result<Option<String>, Error> {
    let n_chars = typed.chars().count();
    if !(CHARS_MIN..=CHARS_MAX).contains(&n_chars) {
        return Ok(None);
    }
    let mut words = Vec::new();
    for spellings in spellings_at_one_edit(typed).chunks(SPELLINGS_MAX) {
        let quoted: Vec<String> = spellings.iter().map(|it| format!("\"{it}\"")).collect();
        words.extend(words_of(reader, &quoted.join(" OR "))?);
    }
    if let Some(word) = closest(typed, &words) {
        return Ok(Some(word));
    }
    let n_alike = n_chars.saturating_sub(ENDING_CHARS).max(PREFIX_CHARS_MIN);
    let prefix: String = typed.chars().take(n_alike).collect();
    Ok(closest(typed, &words_of(reader, &format!("\"{prefix}\"*"))?))
}

/// Returns the word that is spelt most like another; of several, the first.
fn closest(typed: &str, words: &[String]) -> Option<String> {
    suggest(typed, words.iter().map(String::as_str)).map(str::to_owned)
}

/// Returns the words of nodes that an expression matches, in lower case, the most frequent first.
/// None is a function word, and none was cut.
fn words_of(reader: &Reader, expression: &str) -> Result<Vec<String>, Error> {
    let filter = reader.simplified(NodeFilter::default())?;
    let found = reader.matching(expression, &filter, MatchAgeOrder::NewestFirst, NODES_MAX)?;
    let keys: Vec<NodeRowId> = found.unwrap_or_default();
    let titles = reader.load_matches(&keys, |it| format!("{} / {}", it.breadcrumb, it.label))?;
    let contents = reader.contents(&keys)?;
    let titles = titles.iter().flat_map(|it| it.1.split(" / ")).map(without_cut_word);
    let mut counts: HashMap<String, usize> = HashMap::new();
    for text in titles.chain(contents.values().map(String::as_str)) {
        for word in spaceless_script_bigrams::segments(text).map(|it| it.text.to_lowercase()) {
            if !is_function_word(&word) {
                *counts.entry(word).or_default() += 1;
            }
        }
    }
    let mut words: Vec<(String, usize)> = counts.into_iter().collect();
    words.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    Ok(words.into_iter().map(|it| it.0).collect())
}

/// Returns a title without its last word, if it was cut.
fn without_cut_word(title: &str) -> &str {
    match title.strip_suffix('…') {
        None => title,
        Some(cut) => cut.rfind(char::is_whitespace).map_or("", |at| &cut[..at]),
    }
}

#[cfg(test)]
mod tests;
