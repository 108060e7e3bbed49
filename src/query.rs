//! Questions an agent asks: search, tree, fetch, statistics, what changed. Each answer is a text in
//! a layout that clients know, the same facts as JSON, and what reading it warms.
//!
//! Nothing here changes the memory: an [`Answer`] names the nodes that it showed, and whoever holds
//! the writer warms them. A budget bounds the tokens of each form of an answer, kept exactly.

pub(crate) mod render;

mod answer;
mod bag_of_words;
mod batch;
mod bm25;
mod budget;
mod candidates;
mod changes;
pub(crate) mod dashboard;
mod delta;
mod diff;
mod error;
mod excerpt;
mod fetch;
mod history;
mod page;
mod query_expansion;
mod question;
mod rank;
mod related;
mod search;
mod stats;
mod tree;
pub(crate) mod unified_diff;
mod words;

use serde_json::{Value, json};

pub use answer::Answer;
pub(crate) use answer::{Output, QueryOptions, ViewKind};
pub(crate) use changes::unknown_snapshot;
pub(crate) use delta::{DeltaDetail, DeltaQuery};
pub(crate) use diff::DiffQuery;
pub use error::{CompileError, Error};
pub(crate) use fetch::FetchQuery;
pub(crate) use history::{DEPTH_DEFAULT as HISTORY_DEPTH, HistoryQuery};
pub(crate) use question::{Query, answer};
pub(crate) use related::{Direction, RelatedQuery};
pub(crate) use search::{Detail, NO_RESULTS, SearchQuery};
pub(crate) use tree::TreeQuery;

use crate::model::kinds::is_uuid;
use crate::query::render::to_one_line;
use crate::store::reader::{Facet, NodeHead, Reader};
use crate::text;

/// Characters of what somebody typed that an error repeats.
const ECHO_CHARS_MAX: usize = 60;
/// Nodes that an error about an unknown one names.
const NEAREST_MAX: usize = 3;

/// The node of that id, or of that UUID, or an error that names the nearest ones.
pub(crate) fn node_by_id(reader: &Reader, id: &str) -> Result<NodeHead, Error> {
    if let Some(head) = reader.head(id)? {
        return Ok(head);
    }
    let uuid = id.to_ascii_lowercase();
    if is_uuid(&uuid)
        && let Some(head) = reader.heads(&reader.nodes_with(&[Facet::text("uuid", &uuid)])?)?.pop()
    {
        return Ok(head);
    }
    let mut message = format!("no node `{}`", quote_input(id));
    let nearest = similar_ids(reader, id)?;
    if nearest.is_empty() {
        message.push_str("; find one with a search");
    } else {
        message.push_str(&format!("; nearest: {}", nearest.join(", ")));
    }
    Err(Error::NotFound(message))
}

/// What somebody typed, fit to be repeated in an error.
pub(crate) fn quote_input(typed: &str) -> String {
    to_one_line(&text::truncate_chars(typed, ECHO_CHARS_MAX)).into_owned()
}

/// Nodes that may have been meant: ids that begin alike, and nodes that the words find.
fn similar_ids(reader: &Reader, id: &str) -> Result<Vec<String>, Error> {
    const ALIKE_CHARS_MIN: usize = 3;
    let mut ids: Vec<(usize, String)> = Vec::new();
    for other in reader.ids_around(id)? {
        let n_alike = id.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
        if ALIKE_CHARS_MIN <= n_alike {
            ids.push((n_alike, other));
        }
    }
    ids.sort_by(|a, b| b.cmp(a));
    let mut heads: Vec<NodeHead> = Vec::new();
    for (_, id) in ids {
        heads.extend(reader.head(&id)?);
    }
    let found = candidates::match_words(reader, &words::parse_query(id).terms, None, NEAREST_MAX)?;
    for it in found {
        heads.extend(reader.heads(&[it.node.key])?);
    }
    heads.truncate(NEAREST_MAX);
    Ok(heads.iter().map(|it| format!("`{}` {}", it.id, to_one_line(&it.label))).collect())
}

/// The words that a query looks for, lower case, function words left out.
pub(crate) fn words_to_highlight(query: &str) -> Vec<String> {
    words::parse_query(query).marks
}

/// Levels of a tree, when none are asked for.
pub(crate) const TREE_LEVELS: u32 = 5;
/// Levels below a fetched node, when none are asked for.
pub(crate) const FETCH_LEVELS: u32 = 32;

/// Levels to go down, or changes to go back: what was asked for, `default` when that is nothing or
/// less, at most 128.
pub(crate) fn clamp_levels(asked: Option<i64>, default: u32) -> u32 {
    const LEVELS_MAX: u32 = 128;
    match asked {
        Some(asked) if 0 < asked => u32::try_from(asked).unwrap_or(LEVELS_MAX).min(LEVELS_MAX),
        _ => default,
    }
}

/// What is known of a node, as JSON; nothing that was left out of the text.
fn facts(head: &NodeHead, temperature: f64, score: Option<f64>) -> Value {
    let mut facts =
        json!({ "id": head.id, "type": head.node_type, "label": to_one_line(&head.label) });
    if let Some(path) = &head.path {
        facts["file"] = json!(to_one_line(path));
    }
    if let Some(score) = score {
        facts["score"] = hundredths(score);
    }
    facts["temperature"] = hundredths(temperature);
    facts["tokens"] = json!(head.tokens);
    facts
}

/// The facts of a node that is shown with its text, or with a part of it where all of it `needs` so
/// many tokens.
fn block_facts(head: &NodeHead, heat: (f64, f64), content: &str, needs: Option<u32>) -> Value {
    let (temperature, score) = heat;
    let mut facts = facts(head, temperature, Some(score));
    if let Some(lang) = head.lang.as_deref().filter(|it| !it.is_empty()) {
        facts["lang"] = json!(to_one_line(lang));
    }
    if !content.is_empty() {
        facts["text"] = json!(content);
    }
    if let Some(needs) = needs {
        facts["needs"] = json!(needs);
    }
    facts
}

fn hundredths(value: f64) -> Value {
    json!((value * 100.0).round() / 100.0)
}

#[cfg(test)]
mod tests;
