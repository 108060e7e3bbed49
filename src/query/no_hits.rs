//! Searches without a hit: the reason, and the next step.

use serde_json::{Value, json};

use super::asked_dates::asked_dates;
use super::nearest_spellings::nearest_words;
use super::ranked_hits::question_matches;
use super::{Answer, Error, NO_ANSWER, NO_RESULTS, SearchQuery, budget_enforcement, query_parser};
use crate::model::clock::UnixMillis;
use crate::model::next_step_advice::CallableTools;
use crate::store::reader::{NodeFilter, PopulationState, Reader};

/// Returns whether the text of a search says that nothing was found.
pub(crate) fn is_no_answer(text: &str) -> bool {
    text.starts_with(NO_RESULTS) || text.starts_with(NO_ANSWER)
}

/// Returns the answer of a search whose advice, where nothing was found, its reader can follow.
pub(crate) fn advised_answer(mut answer: Answer, tools: &CallableTools) -> Answer {
    if answer.text.starts_with(NO_RESULTS) {
        answer.text = tools.advise(&answer.text);
        if let Some(Value::String(reason)) = answer.structured.get_mut("reason") {
            *reason = tools.advise(reason);
        }
    }
    answer
}

/// Returns whether the text of a search tells more than that of another without hits.
pub(crate) fn tells_more(text: &str, than: &str) -> bool {
    let is_unexplained = |text: &str| text.starts_with(NO_RESULTS);
    !is_no_answer(text) || is_unexplained(than) && !is_unexplained(text)
}

/// Refuses a query without a word.
pub(super) fn check_query(query: &str) -> Result<(), Error> {
    match query.trim() {
        "" => Err(Error::BadArgument(
            "`query` is empty; give the words to look for, such as `who is on call`; \
             MemoryTree gives an outline of everything"
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
    now: UnixMillis,
) -> Result<Answer, Error> {
    let is_none = answer.text == NO_RESULTS;
    if !is_none && answer.text != NO_ANSWER {
        return Ok(answer);
    }
    let filter = &query.filter;
    let is_narrow =
        filter.node_type.is_some() || filter.is_timed() || !filter.of_memories().is_empty();
    let is_unmet = is_none && is_narrow && !reader.has_node_meeting(filter)?;
    let advice = match reader.filling(now)? {
        PopulationState::Begun => {
            "the notes are being compiled for the first time; ask again in a few seconds"
        }
        PopulationState::Empty => {
            "the memory is empty; MemoryCompile reads a folder of notes into it; MemoryWrite keeps \
             a text"
        }
        PopulationState::Filled if is_unmet => "no node meets all conditions; leave one out",
        PopulationState::Filled => {
            "nothing has these words; try fewer or other ones, or MemoryTree for the outline"
        }
    };
    let mut nearest = match is_unmet {
        true => Vec::new(),
        false => nearest_words(reader, query.query, now)?,
    };
    let asked = query.query.to_lowercase();
    let are_asked = |words: &[String]| words.iter().all(|it| asked.contains(&it.to_lowercase()));
    let may_be_elsewhere = is_none && is_narrow && !is_unmet && are_asked(&nearest);
    let advice = match may_be_elsewhere && is_matched(reader, query.query, now)? {
        true => {
            nearest.clear();
            "no node that meets the conditions has these words; leave one out"
        }
        false => advice,
    };
    let (full, advice) = match nearest.is_empty() {
        true => (format!("{NO_RESULTS}: {advice}"), advice.to_owned()),
        false => {
            let words = format!("nearest words: {}", nearest.join(", "));
            (format!("{NO_ANSWER}; {words}"), words)
        }
    };
    let short = answer.text;
    answer.text = budget_enforcement::first_fitting(max.unwrap_or(u32::MAX), [full.clone(), short]);
    if answer.text == full
        && let Some(facts) = answer.structured.as_object_mut()
    {
        facts.insert("reason".to_owned(), json!(advice));
    }
    Ok(answer)
}

/// Returns whether a node matches a query, whatever the conditions.
fn is_matched(reader: &Reader, query: &str, now: UnixMillis) -> Result<bool, Error> {
    let (parsed, dates) = (query_parser::parse_query(query), asked_dates(query, now));
    let found = question_matches(reader, (&parsed, &dates), NodeFilter::default(), 1)?;
    Ok(!found.matches.is_empty())
}
