//! Questions to a memory, whose answers warm the nodes that they show.

use std::sync::Arc;

use super::Memory;
use crate::query::{self, Answer, Error, Query, QueryOptions};
use crate::store::StoreError;
use crate::store::reader::{IsCancelledFn, Reader};

impl Memory {
    /// Answers a query and warms the nodes shown; the budget defaults to the settings. Every query
    /// is answered here, and nothing else warms nodes.
    pub(crate) fn query_and_warm(
        &self,
        query: &Query<'_>,
        budget: Option<u32>,
    ) -> Result<Answer, Error> {
        self.query_and_warm_until(query, budget, &(Arc::new(|| false) as IsCancelledFn))
    }

    /// Answers a query as [`Memory::query_and_warm`] does, or fails soon after nobody waits for the
    /// answer any more.
    pub(crate) fn query_and_warm_until(
        &self,
        query: &Query<'_>,
        budget: Option<u32>,
        is_cancelled: &IsCancelledFn,
    ) -> Result<Answer, Error> {
        let given = budget.filter(|it| 0 < *it);
        let budget = given.or_else(|| query.budget_in(&self.workspace().config.budgets));
        let (lines, now) = (self.rates().thresholds(), self.clock.now());
        let options = QueryOptions { budget, output: self.output, lines, now };
        let own = |query: &Query<'_>, options: &QueryOptions| {
            self.read(|reader| {
                reader.end_when(is_cancelled);
                query::answer(reader, query, options)
            })
        };
        let meaning = match query {
            Query::Search(search) => self.meaning_of(search.query),
            _ => None,
        };
        let meant = meaning.as_ref().map(|it| query.meant_as(it));
        let query = meant.as_ref().unwrap_or(query);
        let answer = match &self.second {
            Some(second) => second.answer_beside(query, &options, &own)?,
            None => own(query, &options)?,
        };
        self.warm(&answer.shown);
        Ok(match query {
            Query::Search(_) => query::advised_answer(answer, &self.tools),
            _ => answer,
        })
    }

    /// Reads without warming any node.
    pub(crate) fn read<T, E: From<StoreError>>(
        &self,
        question: impl FnOnce(&Reader) -> Result<T, E>,
    ) -> Result<T, E> {
        self.readers.read(question)
    }
}
