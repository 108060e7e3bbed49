//! Batch fetch: the texts of several nodes in the requested order, without their surroundings.

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};

use super::excerpt::{BreadcrumbAlreadyShown, CutEntry};
use super::{
    AccessKind, Answer, Error, OutputFormat, QueryOptions, block_facts, block_parts,
    budget_enforcement, excerpt, find_by_id, quote_input,
};
use crate::model::heat;
use crate::query::render::entry::{TextEntry, render_entries};
use crate::store::NodeRowId;
use crate::store::reader::{NodeSummary, Reader, TextWithBreadcrumb};
use crate::text::tokens;

/// Ids of one request; repeated ids count.
pub(crate) const IDS_MAX: usize = 256;
/// Tokens of an entry's frame.
const FRAME_TOKENS: u32 = 12;

/// A request for the texts of several nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct BatchFetchQuery<'a> {
    pub(crate) ids: Vec<&'a str>,
    /// Whether entries tell when their texts last changed.
    pub(crate) has_dates: bool,
}

/// Returns the texts of the given nodes, and lists unknown ids and nodes over budget. Instead of a
/// large block come its parts.
pub(super) fn fetch_batch(
    reader: &Reader,
    query: &BatchFetchQuery<'_>,
    max: Option<u32>,
    options: &QueryOptions,
) -> Result<Answer, Error> {
    let ids = &query.ids;
    if ids.is_empty() {
        return Err(Error::BadArgument("`node_ids` must be non-empty".to_owned()));
    }
    if IDS_MAX < ids.len() {
        let n = ids.len();
        let why = format!("`node_ids` exceeds cap {IDS_MAX}: {n} ids; ask in several calls");
        return Err(Error::BadArgument(why));
    }
    let attended = reader.attended()?;
    let (mut seen, mut seen_keys) = (HashSet::new(), HashSet::new());
    let mut batch = BatchNodes::default();
    for &id in ids.iter().filter(|id| seen.insert(**id)) {
        match find_by_id(reader, id)? {
            Some(head) => {
                let parts = block_parts(reader, &head)?;
                let heads = if parts.is_empty() { vec![head] } else { parts };
                for head in heads.into_iter().filter(|it| seen_keys.insert(it.key)) {
                    let temperature = head.heat.now(attended);
                    batch.found.push((head, temperature, heat::score(1.0, temperature)));
                }
            }
            None => batch.missing.push(quote_input(id)),
        }
    }
    reader.mark_left_out(batch.found.iter_mut().map(|it| &mut it.0), options.now)?;
    if query.has_dates {
        reader.date_nodes(batch.found.iter_mut().map(|it| &mut it.0))?;
    }
    batch.answer(reader, max, options.output)
}

/// The nodes of a batch, found and missing.
#[derive(Default)]
struct BatchNodes {
    /// The nodes, their temperatures and scores.
    found: Vec<(NodeSummary, f64, f64)>,
    /// Ids without a node.
    missing: Vec<String>,
}

impl BatchNodes {
    fn answer(
        &self,
        reader: &Reader,
        budget: Option<u32>,
        output: OutputFormat,
    ) -> Result<Answer, Error> {
        let BatchNodes { found, missing } = self;
        let max = budget.unwrap_or(u32::MAX);
        let room = max.saturating_sub(budget_enforcement::line_cost(&lists(missing, &[]).concat()));
        let texts = reader.texts(&self.near(room))?;
        let entry = |at: usize| Some(TextEntry::whole(&found[at].0, texts.get(&found[at].0.key)?));
        let need = |at: usize| match entry(at) {
            Some(entry) if budget.is_some() => entry.n_tokens(),
            _ => found[at].0.tokens.saturating_add(FRAME_TOKENS),
        };
        let needs: Vec<u32> = (0..found.len()).map(need).collect();
        let mut chosen = budget_enforcement::choose_within(&needs, room);
        chosen.retain(|&at| entry(at).is_some());
        let first = found.first().filter(|_| chosen.is_empty()).map(|it| &it.0);
        let room = room.saturating_sub(budget_enforcement::REST_TOKENS);
        let cut = first.and_then(|it| {
            excerpt::cut_entry(it, texts.get(&it.key)?, BreadcrumbAlreadyShown::Missing, room)
        });
        let render = |chosen: &[usize]| {
            let entries: Vec<TextEntry<'_>> = chosen.iter().filter_map(|&at| entry(at)).collect();
            let part = cut.as_ref().filter(|_| chosen.is_empty());
            let shown = part.map_or_else(|| render_entries(&entries), |it| it.text.clone());
            let n_shown = chosen.len() + usize::from(part.is_some());
            let over = left(found.len(), chosen).skip(usize::from(part.is_some()));
            let over: Vec<&str> = over.map(|at| found[at].0.id.as_str()).collect();
            let full = shown.clone() + &lists(missing, &over).concat();
            Ok::<_, Error>(match budget.is_none_or(|max| tokens::fits(&full, max)) {
                true => full,
                false => shown + &short_lists(found.len() - n_shown, missing.len()),
            })
        };
        let settled = budget_enforcement::render_within(budget, chosen, |_| None, render)?;
        let (is_settled, (chosen, text)) = match settled {
            Some(settled) => (true, settled),
            None => (false, (Vec::new(), budget_enforcement::first_fitting(max, []))),
        };
        let cut = cut.filter(|_| chosen.is_empty() && is_settled);
        let structured = output.json(|| {
            let is_counted = text.ends_with(" nodes\n");
            self.json(&chosen, cut.as_ref(), (&texts, &needs), is_counted)
        });
        let seen = if cut.is_some() { &[0][..] } else { &chosen };
        let shown = seen.iter().map(|&at| (found[at].0.key, AccessKind::Read)).collect();
        Ok(Answer { text, structured, shown, budget: None })
    }

    /// Returns the nodes whose texts may be shown: those that fit by their own tokens, else the
    /// first.
    fn near(&self, room: u32) -> Vec<NodeRowId> {
        let sizes: Vec<u32> = self.found.iter().map(|it| it.0.tokens).collect();
        let mut near = budget_enforcement::choose_within(&sizes, room);
        if near.is_empty() && !sizes.is_empty() {
            near.push(0);
        }
        near.into_iter().map(|at| self.found[at].0.key).collect()
    }

    fn json(
        &self,
        chosen: &[usize],
        cut: Option<&CutEntry>,
        (texts, needs): (&HashMap<NodeRowId, TextWithBreadcrumb>, &[u32]),
        is_counted: bool,
    ) -> Value {
        let facts_of = |at: usize, shown: &str, needs: Option<u32>| {
            let (head, temperature, score) = &self.found[at];
            let mut facts = block_facts(head, (*temperature, *score), shown, needs);
            if let Some(text) = texts.get(&head.key) {
                facts["under"] = json!(TextEntry::with_text(head, text, "").breadcrumb());
            }
            facts
        };
        let whole = |&at: &usize| {
            let text = texts.get(&self.found[at].0.key);
            facts_of(at, text.map_or("", |it| it.content.as_str()), None)
        };
        let cut_facts = cut.map(|it| facts_of(0, &it.content, Some(it.needs)));
        let nodes: Value = chosen.iter().map(whole).chain(cut_facts).collect();
        let over: Value = left(self.found.len(), chosen)
            .skip(usize::from(cut.is_some()))
            .map(|at| json!({"id": self.found[at].0.id, "tokens": needs[at]}))
            .collect();
        let n_over = over.as_array().map_or(0, Vec::len);
        match 0 < n_over && is_counted {
            true if self.missing.is_empty() => {
                json!({"nodes": nodes, "over_budget": [], "left_out": {"nodes": n_over}})
            }
            true => {
                let left_out = json!({"nodes": n_over, "not_found": self.missing.len()});
                json!({"nodes": nodes, "over_budget": [], "left_out": left_out})
            }
            false => json!({"nodes": nodes, "not_found": self.missing, "over_budget": over}),
        }
    }
}

/// Returns the indices that were not chosen.
fn left(n: usize, chosen: &[usize]) -> impl Iterator<Item = usize> {
    (0..n).filter(|at| !chosen.contains(at))
}

fn lists(missing: &[String], over: &[&str]) -> Vec<String> {
    let mut lists = Vec::new();
    if !missing.is_empty() {
        lists.push(format!("not found: {}\n", missing.join(", ")));
    }
    if !over.is_empty() {
        lists.push(format!("over budget: {}\n", over.join(", ")));
    }
    lists
}

/// Returns the counts to show where the ids do not fit.
fn short_lists(n_over: usize, n_missing: usize) -> String {
    let mut lists = String::new();
    if 0 < n_missing {
        lists.push_str(&format!("not found: {n_missing} nodes\n"));
    }
    if 0 < n_over {
        lists.push_str(&format!("over budget: {n_over} nodes\n"));
    }
    lists
}
