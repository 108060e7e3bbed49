//! Queries: search, tree, fetch, statistics and changes. Each answer is a text in a layout that
//! clients know, the facts of that text as JSON, and the nodes that reading it warms.
//!
//! Nothing here changes the memory: an [`Answer`] names the nodes that it showed, and the holder
//! of the writer warms them. The token budget bounds each form of an answer exactly.

pub(crate) mod render;

mod answer_and_query_options;
mod asked_dates;
mod batch_fetch;
mod bm25;
pub(crate) mod browse;
mod budget_enforcement;
mod budget_filling;
mod budgeted_page;
mod candidates;
pub(crate) mod dashboard_documents;
mod dates_to_fts_query;
mod delta;
mod document_dates;
mod excerpt;
mod fetch;
mod function_words;
mod highlight;
mod history;
mod memory_operation_error;
mod near_duplicate_check;
mod nearest_spellings;
mod net_changes;
mod no_hits;
mod nodes_of_asked_date;
mod prompt_hits;
mod pseudo_relevance_reranking;
mod query_dispatch;
mod query_parser;
mod rank;
mod ranked_hits;
mod related;
mod relative_dates;
mod replacement_order;
mod search;
mod sibling_relevance_boost;
mod snapshot_text_diff;
mod spaceless_run_bigram_fallback;
mod speaker_match_weighting;
mod stats;
mod stems_for_ranking;
mod tree;
pub(crate) mod unified_diff;
mod vector_search;

use serde_json::{Value, json};

pub use answer_and_query_options::Answer;
pub(crate) use answer_and_query_options::{AccessKind, OutputFormat, QueryOptions};
pub(crate) use batch_fetch::BatchFetchQuery;
pub(crate) use budget_enforcement::cut_to_tokens;
pub(crate) use delta::{DeltaDetail, DeltaQuery};
pub(crate) use fetch::FetchQuery;
pub(crate) use function_words::has_written_name;
pub(crate) use highlight::matched_places;
pub(crate) use history::{DEPTH_DEFAULT as HISTORY_DEPTH, HistoryQuery};
pub use memory_operation_error::{CompileError, Error};
pub(crate) use near_duplicate_check::{
    CommonWordCache, NearDuplicate, NearDuplicateQuery, TextIndex, nearest_duplicate,
};
pub(crate) use net_changes::unknown_snapshot;
pub(crate) use no_hits::{advised_answer, is_no_answer, tells_more};
pub(crate) use prompt_hits::{PromptHitsRequest, prompt_hits};
pub(crate) use query_dispatch::{Query, answer};
pub(crate) use query_parser::{QuestionTermRole, Term, TermUnitKind, parse_query};
pub(crate) use related::{Direction, RelatedQuery};
pub(crate) use replacement_order::{descending, replacements_first};
pub(crate) use search::{HitDetail, SearchQuery};
pub(crate) use snapshot_text_diff::DiffQuery;
pub(crate) use spaceless_run_bigram_fallback::whole_or_in_bigrams;
pub(crate) use tree::TreeQuery;
pub(crate) use vector_search::nearest_meeting;

use search::{NO_ANSWER, NO_RESULTS};

use crate::model::typed_node_field_schemas::is_uuid;
use crate::query::render::{to_name, to_one_line};
use crate::store::reader::{ArchivedVisibility, FieldFilter, NodeFilter, NodeSummary, Reader};
use crate::text;

/// Characters of an input that an error repeats.
const ECHO_CHARS_MAX: usize = 60;
/// Similar nodes that an error about an unknown id names.
const NEAREST_MAX: usize = 3;
/// Parts of a large block that are shown.
const PARTS_MAX: usize = 1_024;

/// The beginning of an id in a second memory.
pub(crate) const SECOND_MARK: &str = "also:";

/// Returns the node of that id, UUID or file, if there is one. A file has the path that outputs
/// show, relative to its root, or an absolute one.
pub(crate) fn find_by_id(reader: &Reader, id: &str) -> Result<Option<NodeSummary>, Error> {
    if let Some(head) = reader.head(id)? {
        return Ok(Some(head));
    }
    let uuid = id.to_ascii_lowercase();
    if !is_uuid(&uuid) {
        return find_by_path(reader, id);
    }
    let mut nodes = reader.nodes_with(&[FieldFilter::text("uuid", &uuid)])?;
    // The eldest, as in writes.
    nodes.truncate(1);
    Ok(reader.heads(&nodes)?.pop())
}

/// Returns the node that represents a file.
fn find_by_path(reader: &Reader, path: &str) -> Result<Option<NodeSummary>, Error> {
    let path = path.trim();
    match &reader.files_at(path.strip_prefix("./").unwrap_or(path))?[..] {
        [] => Ok(None),
        [(key, _)] => Ok(reader.heads(&[*key])?.pop()),
        several => {
            let paths: Vec<String> =
                several.iter().map(|(_, path)| format!("`{}`", to_name(path))).collect();
            let n = several.len();
            let path = quote_input(path);
            let what = format!("{n} files are called `{path}`; name one: {}", paths.join(", "));
            Err(Error::BadArgument(what))
        }
    }
}

/// Returns the node of that id, UUID or file, or an error that names the most similar nodes.
pub(crate) fn node_by_id(reader: &Reader, id: &str) -> Result<NodeSummary, Error> {
    if let Some(head) = find_by_id(reader, id)? {
        return Ok(head);
    }
    if id.starts_with(SECOND_MARK) {
        let what =
            format!("`{}` is not of this memory; a second memory is only read", quote_input(id));
        return Err(Error::NotFound(what));
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

/// Returns the parts of a block that was too large for one node; none of any other.
fn block_parts(reader: &Reader, head: &NodeSummary) -> Result<Vec<NodeSummary>, Error> {
    if 0 < head.tokens || head.node_type == "heading" {
        return Ok(Vec::new());
    }
    let mut parts = reader.children(head.key, ArchivedVisibility::Shown, PARTS_MAX)?;
    parts.retain(|it| it.node_type == head.node_type && 0 < it.tokens);
    Ok(parts)
}

/// Shortens an input to one line, fit to be repeated in an error.
pub(crate) fn quote_input(typed: &str) -> String {
    to_one_line(&text::truncate_chars(typed, ECHO_CHARS_MAX)).into_owned()
}

/// Returns likely candidates for a mistyped id: ids with the longest common beginning, and search
/// hits. All ids of a file begin alike.
fn similar_ids(reader: &Reader, id: &str) -> Result<Vec<String>, Error> {
    const ALIKE_CHARS_MIN: usize = 3;
    let n_alike =
        |other: &String| id.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
    let mut ids = reader.ids_around(id)?;
    let n_most = ids.iter().map(n_alike).fold(ALIKE_CHARS_MIN, usize::max);
    ids.retain(|other| n_alike(other) == n_most);
    ids.sort_unstable_by(|a, b| b.cmp(a));
    let mut heads: Vec<NodeSummary> = Vec::new();
    for id in ids {
        heads.extend(reader.head(&id)?);
    }
    let terms = query_parser::parse_query(id).terms;
    let found = candidates::match_words(reader, &terms, NodeFilter::default(), NEAREST_MAX)?;
    for it in found {
        heads.extend(reader.heads(&[it.node.key])?);
    }
    heads.truncate(NEAREST_MAX);
    Ok(heads.iter().map(|it| format!("`{}` {}", it.id, to_name(&it.label))).collect())
}

/// Returns the words that a query looks for, lower case, without function words.
pub(crate) fn words_to_highlight(query: &str) -> Vec<String> {
    query_parser::parse_query(query).marks
}

/// Default levels of a tree.
pub(crate) const TREE_LEVELS: u32 = 5;
/// Default levels below a fetched node.
pub(crate) const FETCH_LEVELS: u32 = 32;

/// Returns the requested levels or changes, at most 128; `default` for none or less than one.
pub(crate) fn clamp_levels(asked: Option<i64>, default: u32) -> u32 {
    const LEVELS_MAX: u32 = 128;
    match asked {
        Some(asked) if 0 < asked => u32::try_from(asked).unwrap_or(LEVELS_MAX).min(LEVELS_MAX),
        _ => default,
    }
}

/// Sorts ascending indices by worth, best first; equals stay in order.
fn sort_by_worth(indices: &mut [usize], worth: &dyn Fn(usize) -> f64) {
    indices.sort_unstable_by(|&a, &b| worth(b).total_cmp(&worth(a)).then(a.cmp(&b)));
}

/// Returns the facts of a node as JSON; nothing that was left out of the text.
fn facts(head: &NodeSummary, temperature: f64, score: Option<f64>) -> Value {
    let mut facts =
        json!({ "id": head.id, "type": head.node_type, "label": to_one_line(&head.label) });
    if let Some(path) = &head.path {
        facts["file"] = json!(to_one_line(path));
    }
    if let Some(score) = score {
        facts["score"] = hundredths(score);
    }
    if let Some(at) = head.changed_at {
        facts["changed_at"] = json!(at.rfc3339());
    }
    if let Some(reason) = head.left_out_as {
        facts["left_out_as"] = json!(reason);
    }
    facts["temperature"] = hundredths(temperature);
    facts["tokens"] = json!(head.tokens);
    facts
}

/// Returns the facts of a node that is shown as an entry.
fn facts_with_language(head: &NodeSummary, temperature: f64, score: f64) -> Value {
    let mut facts = facts(head, temperature, Some(score));
    let lang = head.lang.as_deref().map(to_one_line);
    if let Some(lang) = lang.filter(|it| !it.is_empty()) {
        facts["lang"] = json!(lang);
    }
    facts
}

/// Returns the facts of a node that is shown with its text. `needs` is the tokens of the whole
/// block where only a part of it is shown.
fn block_facts(head: &NodeSummary, heat: (f64, f64), content: &str, needs: Option<u32>) -> Value {
    let (temperature, score) = heat;
    let mut facts = facts_with_language(head, temperature, score);
    if !content.is_empty() {
        facts["text"] = json!(content);
    }
    if let Some(needs) = needs {
        facts["needs"] = json!(needs);
    }
    facts
}

/// Returns a number rounded as texts have it, also where the third digit behind its point is a 5.
fn hundredths(value: f64) -> Value {
    json!(format!("{value:.2}").parse().unwrap_or(value))
}

#[cfg(test)]
mod tests;
