//! Queries as values, and their dispatch, for agents, embedders and the command line.

use serde_json::json;

use super::{
    Answer, BatchFetchQuery, DeltaDetail, DeltaQuery, DiffQuery, Error, FetchQuery, HistoryQuery,
    HitDetail, QueryOptions, RelatedQuery, SearchQuery, TreeQuery,
};
use super::{
    batch_fetch, budget_enforcement, delta, fetch, history, no_hits, related, search,
    snapshot_text_diff, stats, tree,
};
use crate::model::vector::QueryVector;
use crate::settings::config::BudgetSettings;
use crate::store::reader::Reader;
use crate::text::terminal_safe_json::json_text;
use crate::text::tokens;

/// A query to a memory.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Query<'a> {
    /// The nodes that match words.
    Search(SearchQuery<'a>),
    /// The outline.
    Tree(TreeQuery<'a>),
    /// A node with its surroundings.
    Fetch(FetchQuery<'a>),
    /// The texts of the nodes with these ids.
    Batch(BatchFetchQuery<'a>),
    /// The nodes that references connect with one.
    Related(RelatedQuery<'a>),
    /// The changes since a snapshot.
    Delta(DeltaQuery<'a>),
    /// The changes between two snapshots.
    Diff(DiffQuery<'a>),
    /// The changes of a node.
    History(HistoryQuery<'a>),
    /// The statistics of the whole memory.
    Stats,
}

impl<'a> Query<'a> {
    /// Returns it with the meaning of its words, if it is a search.
    pub(crate) fn meant_as(&self, meaning: &'a QueryVector) -> Query<'a> {
        match self {
            Query::Search(search) => {
                Query::Search(SearchQuery { meaning: Some(meaning), ..*search })
            }
            other => other.clone(),
        }
    }
}

impl Query<'_> {
    /// Returns its budget from the settings.
    pub(crate) fn budget_in(&self, budgets: &BudgetSettings) -> Option<u32> {
        match self {
            Query::Search(_) => budgets.search,
            Query::Fetch(_) => budgets.fetch,
            Query::Batch(_) => budgets.fetch_batch,
            Query::Related(_) => Some(budgets.related),
            _ => None,
        }
    }

    /// Returns its default budget; `None`: bounded by other limits only.
    fn budget_default(&self) -> Option<u32> {
        match self {
            Query::Batch(_) | Query::Stats => None,
            Query::Search(query) if query.detail != HitDetail::Full => None,
            Query::Related(_) => Some(1_000),
            Query::Search(_) | Query::Tree(_) => Some(4_000),
            Query::Delta(query) if query.show == DeltaDetail::Lines => Some(4_000),
            Query::Fetch(_) | Query::Delta(_) | Query::Diff(_) | Query::History(_) => Some(8_000),
        }
    }

    /// Answers in at most `max` tokens of text.
    fn answer(
        &self,
        reader: &Reader,
        max: Option<u32>,
        options: &QueryOptions,
    ) -> Result<Answer, Error> {
        let (bound, output) = (max.unwrap_or(u32::MAX), options.output);
        match self {
            Query::Search(query) => {
                // A given budget asks for as many hits as fit.
                no_hits::check_query(query.query)?;
                let answer = search::search(reader, query, max, options)?;
                no_hits::explain(reader, query, answer, max, options.now)
            }
            Query::Tree(query) => tree::tree(reader, query, bound, output),
            Query::Fetch(query) => fetch::fetch(reader, query, bound, options),
            Query::Batch(query) => batch_fetch::fetch_batch(reader, query, max, options),
            Query::Related(query) => related::related(reader, query, bound, output),
            Query::Delta(query) => delta::delta(reader, query, bound, output),
            Query::Diff(query) => snapshot_text_diff::diff(reader, query, bound, output),
            Query::History(query) => history::history(reader, query, bound, options),
            Query::Stats => stats::stats(reader, options),
        }
    }
}

/// Answers a query from one state of the memory, within its budget in every form. Where the JSON
/// is too long, it answers again with less room.
pub(crate) fn answer(
    reader: &Reader,
    query: &Query<'_>,
    options: &QueryOptions,
) -> Result<Answer, Error> {
    const ROUNDS_MAX: usize = 12;
    let given = options.budget.filter(|it| 0 < *it);
    let options = QueryOptions { budget: given, ..*options };
    let max = given.or(query.budget_default());
    reader.at_one_state(|reader| {
        let mut room = max;
        for _ in 0..ROUNDS_MAX {
            let answer = query.answer(reader, room, &options)?;
            let answer = Answer { budget: given, ..answer };
            match max.and_then(|max| less_room(&answer, room?, max)) {
                None => return Ok(answer),
                Some(0) => break,
                less => room = less,
            }
        }
        let text = budget_enforcement::first_fitting(max.unwrap_or(u32::MAX), []);
        Ok(Answer { budget: given, ..Answer::plain(text, options.output, || json!({})) })
    })
}

/// Returns a smaller room if the JSON of an answer is too long.
fn less_room(answer: &Answer, room: u32, max: u32) -> Option<u32> {
    if answer.structured.is_null() {
        return None;
    }
    let json = json_text(&answer.structured);
    if tokens::fits(&json, max) {
        return None;
    }
    let (n_text, n_json) = (tokens::count(&answer.text), tokens::count(&json));
    let in_proportion = (u64::from(n_text) * u64::from(max) / u64::from(n_json)) as u32;
    Some(in_proportion.min(room - room / 16).saturating_sub(1))
}
