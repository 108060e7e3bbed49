//! The hits of a search as an agent sees them, with the reasons of each rank.

use serde_json::{Value, json};

use super::{Error, quote_input, thousandths};
use crate::model::clock::UnixMillis;
use crate::model::heat::{self, HeatThresholds};
use crate::model::tree::NodeType;
use crate::query::ranked_hits::{SearchHit, ranked_hits};
use crate::query::{
    OutputFormat, Query, QueryOptions, SearchQuery, answer, excerpt, highlight, no_hits,
    query_parser,
};
use crate::store::NodeRowId;
use crate::store::reader::{NodeFilter, Reader, TextWithBreadcrumb};
use crate::text::tokens;

/// Hits that are listed.
const HITS_MAX: usize = 50;

/// A question about the nodes that match words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct HitsQuery<'a> {
    pub(crate) query: Option<&'a str>,
    /// Only nodes of this type.
    pub(crate) node_type: Option<&'a str>,
    /// Tokens of the reply.
    pub(crate) budget: Option<u32>,
}

/// Returns the hits of a search at the detail `label`, in their order, with the reply's exact text.
pub(crate) fn search_document(
    reader: &Reader,
    asked: HitsQuery<'_>,
    lines: HeatThresholds,
    now: UnixMillis,
) -> Result<Value, Error> {
    let HitsQuery { query, node_type, budget } = asked;
    let node_type = match node_type {
        None => None,
        Some(name) => Some(NodeType::parse(name).ok_or_else(|| {
            Error::BadArgument(format!("`type` is `{}`, which is none", quote_input(name)))
        })?),
    };
    let Some(query) = query.filter(|it| !it.trim().is_empty()) else {
        let budget = json!({"asked": budget, "used": 0, "left_out": []});
        return Ok(json!({"q": "", "hits": [], "text": "", "budget": budget}));
    };
    no_hits::check_query(query)?;
    let filter = NodeFilter { node_type, ..NodeFilter::default() };
    let search = Query::Search(SearchQuery { query, filter, ..SearchQuery::default() });
    let options = QueryOptions { budget, output: OutputFormat::Text, lines, now };
    let reply = answer(reader, &search, &options)?;
    let shown: Vec<NodeRowId> = reply.shown.iter().map(|it| it.0).collect();
    let parsed = query_parser::parse_query(query);
    let n_max = HITS_MAX.max(shown.len());
    // As many nodes are ranked as for the answer.
    let limits = (budget.is_none().then_some(n_max), n_max);
    let found = ranked_hits(reader, (query, &parsed, None), filter, limits, now)?;
    let (kept, left_out): (Vec<&SearchHit>, Vec<&SearchHit>) =
        found.hits.iter().partition(|it| shown.contains(&it.head.key));
    let texts = reader.texts(&kept.iter().map(|it| it.head.key).collect::<Vec<_>>())?;
    let nothing = TextWithBreadcrumb::default();
    let hits: Vec<Value> = kept
        .iter()
        .map(|hit| {
            let text = texts.get(&hit.head.key).unwrap_or(&nothing);
            row(hit, text, &parsed.marks)
        })
        .collect();
    let left_out: Vec<Value> = left_out
        .iter()
        .map(|it| json!({"id": it.head.id, "label": it.head.label, "tokens": it.head.tokens}))
        .collect();
    let used = tokens::count(&reply.text);
    Ok(json!({
        "q": query,
        "hits": hits,
        "text": reply.text,
        "budget": {"asked": budget, "used": used, "left_out": left_out},
    }))
}

fn row(hit: &SearchHit, text: &TextWithBreadcrumb, marks: &[String]) -> Value {
    let own = format!("{}\n{}", hit.head.label, text.content);
    let in_text = words_in(&own, marks);
    let in_section = words_in(&text.breadcrumb, marks);
    let warmth = heat::score(1.0, hit.temperature);
    let both = marks.iter().filter(|it| in_text.contains(it) || in_section.contains(it));
    json!({
        "id": hit.head.id,
        "type": hit.head.node_type,
        "label": hit.head.label,
        "source": hit.head.path,
        "tokens": hit.head.tokens,
        "temperature": thousandths(hit.temperature),
        "pinned": hit.head.heat.pinned,
        "score": hit.score,
        "relevance": thousandths(hit.relevance),
        "why": {
            "relevance": hit.score / warmth,
            "warmth": warmth,
            "words": both.collect::<Vec<_>>(),
            "section": in_section.iter().any(|it| !in_text.contains(it)),
            "neighbour": in_text.is_empty() && in_section.is_empty(),
        },
    })
}

/// Returns the words of a question that a text has, in any of their forms.
fn words_in<'a>(text: &str, marks: &'a [String]) -> Vec<&'a String> {
    let places = highlight::matched_places(text, &marks.join(" "));
    let found: Vec<String> = places.into_iter().map(|it| text[it].to_lowercase()).collect();
    let is_found = |mark: &&String| {
        found.iter().any(|it| {
            let mut words = it.split_whitespace();
            excerpt::is_same_word(it, mark)
                || words.any(|word| excerpt::is_same_word(word, mark))
                || it.contains(mark.as_str())
        })
    };
    marks.iter().filter(is_found).collect()
}
