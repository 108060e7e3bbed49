//! The second memory: searched and read beside the own one, and never written or warmed.
//!
//! Its ids begin with [`SECOND_MARK`], in answers and in queries. A search asks both memories: the
//! hits of the own one come first, and those of the second get at most a third of the budget.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::query::render::to_one_line;
use crate::query::{
    self, Answer, BatchFetchQuery, Error, FetchQuery, HistoryQuery, Query, QueryOptions,
    RelatedQuery,
};
use crate::query::{SECOND_MARK, TreeQuery};
use crate::store::read_marked;
use crate::text::terminal_safe_json::json_text;
use crate::text::tokens;

/// The line above the hits of the second memory.
const HEADING: &str = "from the second memory:\n";

/// Least tokens of a part of an answer.
const PART_TOKENS_MIN: u32 = 32;

/// Asks the own memory.
type OwnMemory<'a> = dyn Fn(&Query<'_>, &QueryOptions) -> Result<Answer, Error> + 'a;

/// A memory that is only read.
#[derive(Clone, Debug)]
pub(crate) struct SecondMemory {
    path: PathBuf,
}

impl SecondMemory {
    /// Checks that `path` is a memory that can be read.
    pub(crate) fn open(path: &Path) -> Result<SecondMemory, Error> {
        read_marked(path, SECOND_MARK, |_| Ok::<(), Error>(()))?;
        Ok(SecondMemory { path: path.to_owned() })
    }

    /// Answers a query; `own` asks the own memory.
    pub(super) fn answer_beside(
        &self,
        query: &Query<'_>,
        options: &QueryOptions,
        own: &OwnMemory<'_>,
    ) -> Result<Answer, Error> {
        match query {
            Query::Search(_) => self.search(query, options, own),
            Query::Batch(BatchFetchQuery { ids, has_dates }) => {
                let (theirs, ours): (Vec<&str>, Vec<&str>) =
                    ids.iter().partition(|it| it.starts_with(SECOND_MARK));
                let of = |ids| Query::Batch(BatchFetchQuery { ids, has_dates: *has_dates });
                match (ours.is_empty(), theirs.is_empty()) {
                    (_, true) => own(query, options),
                    (true, false) => self.ask(query, options),
                    (false, false) => {
                        let half = |budget: u32| (budget / 2).max(1);
                        let options = QueryOptions { budget: options.budget.map(half), ..*options };
                        let ours = own(&of(ours), &options)?;
                        Ok(joined(ours, self.ask(&of(theirs), &options)?, "\n"))
                    }
                }
            }
            _ if anchor(query).is_some_and(|it| it.starts_with(SECOND_MARK)) => {
                self.ask(query, options)
            }
            _ => own(query, options),
        }
    }

    fn search(
        &self,
        query: &Query<'_>,
        options: &QueryOptions,
        own: &OwnMemory<'_>,
    ) -> Result<Answer, Error> {
        let with = |budget| QueryOptions { budget, ..*options };
        let share = options.budget.map(|it| it / 3);
        let has_room = share.is_none_or(|it| PART_TOKENS_MIN <= it);
        let (theirs, unanswered) = match has_room.then(|| self.ask(query, &with(share))) {
            Some(Err(error)) => return unsearched(&error, query, options, own),
            Some(Ok(it)) if query::is_no_answer(&it.text) => (None, Some(it)),
            Some(Ok(it)) => (Some(it), None),
            None => (None, None),
        };
        let price = theirs.as_ref().map_or(0, cost);
        let rest = options.budget.map(|it| it.saturating_sub(price).max(1));
        let ours = own(query, &with(rest))?;
        if query::is_no_answer(&ours.text) {
            return self.answer_or_reason(query, ours, unanswered, (options, own));
        }
        let Some(theirs) = theirs else { return Ok(ours) };
        let both = joined(ours, theirs, &format!("\n{HEADING}"));
        match options.budget.is_some_and(|it| it < cost(&both)) {
            true => own(query, options),
            false => Ok(both),
        }
    }

    /// Returns the answer of the second memory alone, where the own one has none; of two reasons
    /// for none, that with the nearest words. `unanswered` is its reason, where it was asked.
    fn answer_or_reason(
        &self,
        query: &Query<'_>,
        ours: Answer,
        unanswered: Option<Answer>,
        (options, own): (&QueryOptions, &OwnMemory<'_>),
    ) -> Result<Answer, Error> {
        match unanswered.map_or_else(|| self.ask(query, options), Ok) {
            Ok(theirs) if query::tells_more(&theirs.text, &ours.text) => {
                Ok(Answer { budget: ours.budget, ..theirs })
            }
            Ok(_) => Ok(ours),
            Err(error) => unsearched(&error, query, options, own),
        }
    }

    fn ask(&self, query: &Query<'_>, options: &QueryOptions) -> Result<Answer, Error> {
        let mut answer =
            read_marked(&self.path, SECOND_MARK, |it| query::answer(it, query, options))?;
        // These are keys of another database.
        answer.shown.clear();
        Ok(answer)
    }
}

/// Returns the answer of the own memory, with a line that says why it is all, if there is room.
fn unsearched(
    error: &Error,
    query: &Query<'_>,
    options: &QueryOptions,
    own: &OwnMemory<'_>,
) -> Result<Answer, Error> {
    log::warn!("the second memory was not searched: {error}");
    let why = to_one_line(&error.to_string()).into_owned();
    let line = format!("\n… the second memory was not searched: {why}\n");
    // The reason is in the text, and in the JSON.
    let price = 2 * tokens::count(&line);
    let rest = options.budget.map(|it| it.saturating_sub(price));
    if rest.is_some_and(|it| it < PART_TOKENS_MIN) {
        return own(query, options);
    }
    let mut ours = own(query, &QueryOptions { budget: rest, ..*options })?;
    ours.text = ours.text.trim_end_matches('\n').to_owned() + &line;
    ours.budget = options.budget;
    if let Value::Object(members) = &mut ours.structured {
        members.insert("also_error".to_owned(), why.into());
    }
    Ok(ours)
}

/// Returns the id that a query is about.
fn anchor<'a>(query: &Query<'a>) -> Option<&'a str> {
    match query {
        Query::Fetch(FetchQuery { anchor, .. })
        | Query::Related(RelatedQuery { anchor, .. })
        | Query::History(HistoryQuery { anchor, .. }) => Some(anchor),
        Query::Tree(TreeQuery { root, .. }) => *root,
        Query::Search(_) | Query::Batch(_) | Query::Delta(_) | Query::Diff(_) | Query::Stats => {
            None
        }
    }
}

/// Returns the tokens of the longer form of an answer, and of what joins it with another.
fn cost(answer: &Answer) -> u32 {
    let structured = match &answer.structured {
        Value::Null => 0,
        json => tokens::count(&json_text(json)),
    };
    tokens::count(&answer.text).max(structured) + tokens::count(HEADING)
}

/// Joins two answers; the JSON of the second is a member `also` of that of the first.
fn joined(mut ours: Answer, theirs: Answer, between: &str) -> Answer {
    ours.text = format!("{}{between}{}", ours.text.trim_end_matches('\n'), theirs.text);
    if let Value::Object(members) = &mut ours.structured {
        members.insert("also".to_owned(), theirs.structured);
    }
    ours
}
