//! Batch fetch: the texts of several nodes in the requested order, without their surroundings.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::{
    Answer, Error, Output, ViewKind, block_facts, budget, excerpt, find_by_id, quote_input,
};
use crate::model::heat;
use crate::query::render;
use crate::store::NodeKey;
use crate::store::reader::{NodeHead, Reader};

/// Ids of one request; repeated ids count.
pub(crate) const IDS_MAX: usize = 256;

/// Returns the texts of the given nodes, and lists unknown ids and nodes over budget.
pub(super) fn fetch_batch(
    reader: &Reader,
    ids: &[&str],
    max: Option<u32>,
    output: Output,
) -> Result<Answer, Error> {
    if ids.is_empty() {
        return Err(Error::BadArgument("`node_ids` must be non-empty".to_owned()));
    }
    if IDS_MAX < ids.len() {
        let n = ids.len();
        let why = format!("`node_ids` exceeds cap {IDS_MAX}: {n} ids; ask in several calls");
        return Err(Error::BadArgument(why));
    }
    let attended = reader.attended()?;
    let mut seen = HashSet::new();
    let mut batch = FoundNodes::default();
    for &id in ids.iter().filter(|id| seen.insert(**id)) {
        match find_by_id(reader, id)? {
            Some(head) => {
                let temperature = head.heat.now(attended);
                batch.found.push((head, temperature, heat::score(1.0, temperature)));
            }
            None => batch.missing.push(quote_input(id)),
        }
    }
    batch.answer(reader, max, output)
}

/// The nodes of a batch, found and missing.
#[derive(Default)]
struct FoundNodes {
    /// The nodes, their temperatures and scores.
    found: Vec<(NodeHead, f64, f64)>,
    /// Ids without a node.
    missing: Vec<String>,
}

impl FoundNodes {
    fn answer(
        &self,
        reader: &Reader,
        budget: Option<u32>,
        output: Output,
    ) -> Result<Answer, Error> {
        let FoundNodes { found, missing } = self;
        let max = budget.unwrap_or(u32::MAX);
        let lists = lists(missing, &[]).iter().map(|it| it.len() as u32 / 2 + 4).sum::<u32>();
        let needs: Vec<u32> = match budget {
            None => vec![0; found.len()],
            Some(_) => {
                found.iter().map(|(head, _, score)| excerpt::tokens_needed(head, *score)).collect()
            }
        };
        let chosen = budget::choose_within(&needs, max.saturating_sub(lists));
        let keys: Vec<NodeKey> = chosen.iter().map(|&at| found[at].0.key).collect();
        let contents = reader.contents(&keys)?;
        let content = |head: &NodeHead| contents.get(&head.key).map_or("", String::as_str);
        let render = |chosen: &[usize]| {
            let shown = chosen.iter().map(|&at| &found[at]);
            let mut out: Vec<String> = shown
                .map(|(head, _, score)| render::render_block(head, *score, content(head)))
                .collect();
            let over: Vec<&str> =
                left(found.len(), chosen).map(|at| found[at].0.id.as_str()).collect();
            out.extend(self::lists(missing, &over));
            Ok::<_, Error>(render::render_blocks(&out))
        };
        let settled = budget::render_within(budget, chosen, |_| None, render)?;
        let has_lists = settled.is_some();
        let (chosen, text) = settled.unwrap_or_else(|| {
            (Vec::new(), budget::first_fitting(max, short_lists(found.len(), missing.len())))
        });
        let structured = output.json(|| {
            let facts_of = |&at: &usize| {
                let (head, temperature, score) = &found[at];
                block_facts(head, (*temperature, *score), content(head), None)
            };
            let nodes = ("nodes", chosen.iter().map(facts_of).collect());
            if !has_lists {
                let left_out = json!({"nodes": found.len(), "not_found": missing.len()});
                return Value::from_iter([nodes, ("left_out", left_out)]);
            }
            let over = left(found.len(), &chosen)
                .map(|at| json!({"id": found[at].0.id, "tokens": needs[at]}))
                .collect();
            Value::from_iter([nodes, ("not_found", json!(missing)), ("over_budget", over)])
        });
        let shown = chosen.iter().map(|&at| (found[at].0.key, ViewKind::Read)).collect();
        Ok(Answer { text, structured, shown, budget: None })
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

/// Returns the counts to show where not even the ids fit.
fn short_lists(n_found: usize, n_missing: usize) -> Vec<String> {
    let mut parts = Vec::new();
    if 0 < n_missing {
        parts.push(format!("not found: {n_missing} nodes"));
    }
    if 0 < n_found {
        parts.push(format!("over budget: {n_found} nodes"));
    }
    vec![parts.join("\n")]
}
