//! Searches without a hit: the reason, and the next step.

use serde_json::json;

use super::{Answer, Error, NO_RESULTS, SearchQuery, budget};
use crate::model::clock::Millis;
use crate::store::reader::{Filling, Reader};

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
    if answer.text != NO_RESULTS {
        return Ok(answer);
    }
    let is_narrow = query.filter.node_type.is_some() || !query.filter.of_memories().is_empty();
    let advice = match reader.filling(now)? {
        Filling::Begun => {
            "the notes are being compiled for the first time; ask again in a few seconds"
        }
        Filling::Empty => {
            "the memory is empty; MemoryCompile reads a folder of notes into it, and MemoryWrite a \
             text"
        }
        Filling::Filled if is_narrow => "no node meets all conditions; leave one out",
        Filling::Filled => {
            "nothing has these words; try fewer or other ones, or MemoryTree for the outline"
        }
    };
    let full = format!("{NO_RESULTS}: {advice}");
    let short = answer.text;
    answer.text = budget::first_fitting(max.unwrap_or(u32::MAX), [full.clone(), short]);
    if answer.text == full
        && let Some(facts) = answer.structured.as_object_mut()
    {
        facts.insert("reason".to_owned(), json!(advice));
    }
    Ok(answer)
}
