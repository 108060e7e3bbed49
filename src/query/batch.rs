//! Fetching several nodes at once: their texts in the order they were asked for, nothing around
//! them.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::{QueryAnswer, QueryError, ViewKind, budget, excerpt, facts, quote_input};
use crate::model::heat;
use crate::query::render;
use crate::store::reader::{NodeHead, Reader};

/// Ids of one request, the same one twice counting twice.
pub(crate) const IDS_MAX: usize = 256;

/// Returns the texts of the nodes of those ids; says which ids are unknown and which nodes did not
/// fit.
pub(crate) fn fetch_batch(
    reader: &Reader,
    ids: &[&str],
    budget: Option<u32>,
) -> Result<QueryAnswer, QueryError> {
    if ids.is_empty() {
        return Err(QueryError::BadArgument("`node_ids` must be non-empty".to_owned()));
    }
    if IDS_MAX < ids.len() {
        let n = ids.len();
        let why = format!("`node_ids` exceeds cap {IDS_MAX}: {n} ids; ask in several calls");
        return Err(QueryError::BadArgument(why));
    }
    reader.at_one_state(|reader| {
        let attended = reader.attended()?;
        let mut seen = HashSet::new();
        let mut found: Vec<NodeHead> = Vec::new();
        let mut missing: Vec<String> = Vec::new();
        for &id in ids.iter().filter(|id| seen.insert(**id)) {
            match reader.head(id)? {
                Some(head) => found.push(head),
                None => missing.push(quote_input(id)),
            }
        }
        let max = budget.unwrap_or(u32::MAX);
        let score = |head: &NodeHead| heat::score(1.0, head.heat.now(attended));
        let lists = lists(&missing, &[]).iter().map(|it| it.len() as u32 / 2 + 4).sum::<u32>();
        let needs: Vec<u32> = match budget {
            None => vec![0; found.len()],
            Some(_) => found.iter().map(|it| excerpt::tokens_needed(it, score(it))).collect(),
        };
        let mut chosen = budget::choose_within(&needs, max.saturating_sub(lists));
        let mut contents =
            reader.contents(&chosen.iter().map(|&at| found[at].key).collect::<Vec<_>>())?;
        let blocks: Vec<String> = found
            .iter()
            .map(|it| {
                render::render_block(it, score(it), &contents.remove(&it.key).unwrap_or_default())
            })
            .collect();
        let render = |chosen: &[usize]| {
            let mut out: Vec<String> = chosen.iter().map(|&at| blocks[at].clone()).collect();
            out.extend(lists_of(&found, chosen, &missing));
            Ok::<_, QueryError>(render::render_blocks(&out))
        };
        let text = match budget::render_within(budget, chosen, |_| None, render)? {
            Some((settled, text)) => {
                chosen = settled;
                text
            }
            None => {
                chosen = Vec::new();
                budget::first_fitting(max, short_lists(found.len(), missing.len()))
            }
        };
        let shown: Vec<&NodeHead> = chosen.iter().map(|&at| &found[at]).collect();
        let facts_of = |it: &&NodeHead| facts(it, it.heat.now(attended), Some(score(it)));
        let over: Value = (0..found.len())
            .filter(|at| !chosen.contains(at))
            .map(|at| json!({ "id": found[at].id, "tokens": needs[at] }))
            .collect();
        let structured = Value::from_iter([
            ("nodes", shown.iter().map(facts_of).collect()),
            ("not_found", json!(missing)),
            ("over_budget", over),
        ]);
        let warmed = shown.iter().map(|it| (it.key, ViewKind::Read)).collect();
        Ok(QueryAnswer { text, structured, warmed })
    })
}

fn lists_of(found: &[NodeHead], chosen: &[usize], missing: &[String]) -> Vec<String> {
    let over: Vec<&str> = (0..found.len())
        .filter(|at| !chosen.contains(at))
        .map(|at| found[at].id.as_str())
        .collect();
    lists(missing, &over)
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

/// What is said where not even the ids fit.
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
