//! Searches without a hit: the reason, and the next step.

use serde_json::json;

use super::query_parser::{self, QuestionTermRole, Term};
use super::{Answer, Error, NO_ANSWER, NO_RESULTS, SearchQuery, budget};
use crate::model::clock::Millis;
use crate::query::render::to_one_line;
use crate::store::reader::{MatchAgeOrder, NodeExcerpt, NodeFilter, PopulationState, Reader};
use crate::text::bigrams;
use crate::text::suggest::suggest;

/// Words that an answer without hits names.
const NEAREST_MAX: usize = 5;
/// Nodes in which a word like a mistyped one is sought.
const LIKE_NODES_MAX: usize = 20;
/// Characters that a word shares with a mistyped one, and those that may differ after them.
const PREFIX_CHARS_MIN: usize = 3;
const ENDING_CHARS: usize = 3;

/// Returns whether the text of a search says that nothing was found.
pub(crate) fn is_no_answer(text: &str) -> bool {
    text.starts_with(NO_RESULTS) || text.starts_with(NO_ANSWER)
}

/// Refuses a query without a word.
pub(super) fn check_query(query: &str) -> Result<(), Error> {
    match query.trim() {
        "" => Err(Error::BadArgument(
            "`query` is empty; give the words to look for, such as `who is on call`, or call \
             MemoryTree for an outline of everything"
                .to_owned(),
        )),
        _ => Ok(()),
    }
}

/// Adds the reason to an answer without hits, where the budget allows.
pub(super) fn explain(
    reader: &Reader,
    query: &SearchQuery<'_>,
    mut answer: Answer,
    max: Option<u32>,
    now: Millis,
) -> Result<Answer, Error> {
    let is_none = answer.text == NO_RESULTS;
    if !is_none && answer.text != NO_ANSWER {
        return Ok(answer);
    }
    let filter = &query.filter;
    let is_narrow =
        filter.node_type.is_some() || filter.is_timed() || !filter.of_memories().is_empty();
    let advice = match reader.filling(now)? {
        PopulationState::Begun => {
            "the notes are being compiled for the first time; ask again in a few seconds"
        }
        PopulationState::Empty => {
            "the memory is empty; MemoryCompile reads a folder of notes into it, and MemoryWrite a \
             text"
        }
        PopulationState::Filled if is_none && is_narrow => {
            "no node meets all conditions; leave one out"
        }
        PopulationState::Filled => {
            "nothing has these words; try fewer or other ones, or MemoryTree for the outline"
        }
    };
    let nearest = match is_none && is_narrow {
        true => Vec::new(),
        false => nearest_words(reader, query.query)?,
    };
    let (full, advice) = match nearest.is_empty() {
        true => (format!("{NO_RESULTS}: {advice}"), advice.to_owned()),
        false => {
            let words = format!("nearest words: {}", nearest.join(", "));
            (format!("{NO_ANSWER}; {words}"), words)
        }
    };
    let short = answer.text;
    answer.text = budget::first_fitting(max.unwrap_or(u32::MAX), [full.clone(), short]);
    if answer.text == full
        && let Some(facts) = answer.structured.as_object_mut()
    {
        facts.insert("reason".to_owned(), json!(advice));
    }
    Ok(answer)
}

/// Returns the words of a query that nodes have; of a word that none has, the one that is spelt
/// most like it.
fn nearest_words(reader: &Reader, query: &str) -> Result<Vec<String>, Error> {
    let mut nearest: Vec<String> = Vec::new();
    for term in query_parser::parse_query(query).terms {
        let Some(word) = term.words.first().filter(|_| term.role == QuestionTermRole::Subject)
        else {
            continue;
        };
        let found = match is_used(reader, &term)? {
            true => Some(word.clone()),
            false => word_like(reader, word)?,
        };
        nearest.extend(found.filter(|it| !nearest.contains(it)));
        if nearest.len() == NEAREST_MAX {
            break;
        }
    }
    Ok(nearest)
}

fn is_used(reader: &Reader, term: &Term) -> Result<bool, Error> {
    let filter = reader.simplified(NodeFilter::default())?;
    let found = reader.matching(&term.text, &filter, MatchAgeOrder::EldestFirst, 1)?;
    Ok(found.is_some_and(|it| !it.is_empty()))
}

/// Returns the word that is spelt most like this one, of those with the same beginning.
fn word_like(reader: &Reader, word: &str) -> Result<Option<String>, Error> {
    let n_chars = word.chars().count();
    if n_chars <= PREFIX_CHARS_MIN {
        return Ok(None);
    }
    let n_alike = n_chars.saturating_sub(ENDING_CHARS).max(PREFIX_CHARS_MIN);
    let prefix: String = word.chars().take(n_alike).collect();
    let filter = reader.simplified(NodeFilter::default())?;
    let expression = format!("\"{prefix}\"*");
    let found =
        reader.matching(&expression, &filter, MatchAgeOrder::NewestFirst, LIKE_NODES_MAX)?;
    let alike = |it: NodeExcerpt<'_>| {
        let texts = [it.label, it.beginning, it.breadcrumb];
        let words = texts.iter().flat_map(|it| bigrams::segments(it));
        let words = words.map(|it| it.text.to_lowercase());
        words.filter(|it| it.starts_with(&prefix)).collect::<Vec<_>>()
    };
    let found = reader.load_matches(&found.unwrap_or_default(), alike)?;
    let words: Vec<&str> = found.iter().flat_map(|it| &it.1).map(String::as_str).collect();
    Ok(suggest(word, words).map(|it| to_one_line(it).into_owned()))
}
