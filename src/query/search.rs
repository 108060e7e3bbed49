//! Search: the best matches, in as much detail as requested and as fits.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::budget_filling::{AnswerBuilder, AnswerWithoutOmissionLine, HitCutPermission};
use super::query_parser::{self, ParsedQuery};
use super::ranked_hits::{RankedHits, SearchHit, ranked_hits};
use super::{
    AccessKind, Answer, Error, OutputFormat, QueryOptions, block_facts, budget_enforcement,
    excerpt, facts, facts_with_language, hundredths,
};
use crate::model::tree::NodeType;
use crate::model::typed_node_field_schemas::{TypedNodeSchema, value_type_of};
use crate::model::vector::QueryVector;
use crate::query::render::entry::TextEntry;
use crate::query::render::{self, FileNameVisibility, NodeLineFields};
use crate::store::NodeRowId;
use crate::store::reader::{NodeFilter, Reader, TextWithBreadcrumb};
use crate::text::tokens;

/// Default number of hits without a budget.
const LIMIT_DEFAULT: usize = 20;
/// Least tokens of a hit.
const HIT_TOKENS_MIN: u32 = 16;
/// Hits behind those of a budget, of which some may fit where better ones do not.
const FURTHER_HITS: usize = 24;

/// The text of an answer without hits.
pub(super) const NO_RESULTS: &str = "no results";
/// The same, where nodes have some of the words.
pub(super) const NO_ANSWER: &str = "nothing here answers that";

/// A query for the nodes that match words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SearchQuery<'a> {
    /// The query as typed.
    pub(crate) query: &'a str,
    pub(crate) detail: HitDetail,
    /// Only nodes that meet it.
    pub(crate) filter: NodeFilter<'a>,
    /// Number of hits; `None`: 20, or as many as fit a budget.
    pub(crate) limit: Option<usize>,
    /// The meaning of the query, where the user named a source of vectors.
    pub(crate) meaning: Option<&'a QueryVector>,
    /// Whether hits tell when their texts last changed; those of a filter on time always do.
    pub(crate) has_dates: bool,
}

/// The detail of a hit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum HitDetail {
    /// One line, with its facts.
    #[default]
    Label,
    /// The words in their context, under the breadcrumb.
    Snippet,
    /// The whole text, under the breadcrumb.
    Full,
}

impl HitDetail {
    /// Returns the detail of that name.
    pub(crate) fn parse(name: &str) -> Option<HitDetail> {
        match name {
            "label" => Some(HitDetail::Label),
            "snippet" => Some(HitDetail::Snippet),
            "full" => Some(HitDetail::Full),
            _ => None,
        }
    }
}

/// Returns the nodes that match a query, in at most `max` tokens of text. A query without words
/// matches nothing; a filter that no node can meet is an error.
pub(super) fn search(
    reader: &Reader,
    query: &SearchQuery<'_>,
    max: Option<u32>,
    options: &QueryOptions,
) -> Result<Answer, Error> {
    check_filter(&query.filter)?;
    let asked = query_parser::parse_query(query.query);
    let limit = query.limit.or(options.budget.is_none().then_some(LIMIT_DEFAULT));
    let n_fitting = |max: u32| (max / HIT_TOKENS_MIN) as usize + FURTHER_HITS;
    let n_fitting = max.map_or(usize::MAX, n_fitting);
    let mut found = ranked_hits(
        reader,
        (query.query, &asked, query.meaning),
        query.filter,
        (limit, n_fitting),
        options.now,
    )?;
    if query.detail != HitDetail::Label {
        found.show_parts(reader)?;
    }
    reader.mark_left_out(found.hits.iter_mut().map(|it| &mut it.head), options.now)?;
    if query.has_dates || query.filter.is_timed() {
        reader.date_nodes(found.hits.iter_mut().map(|it| &mut it.head))?;
    }
    let shown = match (found.hits.is_empty(), query.detail) {
        (true, _) => RenderedHits::nothing(found.is_answered, max),
        (false, HitDetail::Label) => lines(&found, max)?,
        (false, HitDetail::Snippet) => {
            texts(&found, snippets(reader, &found.hits, &asked)?, HitCutPermission::Never, max)
        }
        (false, HitDetail::Full) => {
            let read = reader.texts(&found.shown_keys(max))?;
            let whole =
                |(key, text): (NodeRowId, TextWithBreadcrumb)| (key, (text.content.clone(), text));
            texts(&found, read.into_iter().map(whole).collect(), HitCutPermission::Last, max)
        }
    };
    Ok(shown.answer(&found, query.detail, options.output))
}

/// Refuses conditions that exclude each other, since an empty answer would not say why.
fn check_filter(filter: &NodeFilter<'_>) -> Result<(), Error> {
    let why = match (filter.node_type, filter.of_memories().first(), filter.status) {
        (Some(of), Some(name), _) if TypedNodeSchema::of(of).is_none() => {
            format!("`{name}` is of memories, and a {of} is none; leave out `type` or `{name}`")
        }
        (Some(of), _, Some(_)) if of != NodeType::Task => {
            format!("`status` is of tasks, and the type is {of}; leave out one of them")
        }
        _ if !filter.tags.is_empty()
            && let Err(why) = value_type_of("tags").check(&json!(filter.tags)) =>
        {
            format!("`tags` {why}")
        }
        _ if filter.until.is_some_and(|until| filter.since.is_some_and(|it| until < it)) => {
            "`until` is before `since`; swap them".to_owned()
        }
        _ => return Ok(()),
    };
    Err(Error::BadArgument(why))
}

impl SearchHit {
    fn line(&self) -> String {
        render::render_line(NodeLineFields {
            head: &self.head,
            file: FileNameVisibility::Yes,
            temperature: self.temperature,
            score: Some(self.score),
            relevance: Some(self.relevance),
        })
    }
}

/// The hits as rendered, and what was left out.
struct RenderedHits {
    text: String,
    /// Indices of the hits, in their order.
    chosen: Vec<usize>,
    /// The snippets or the texts, as shown, and where they stand.
    texts: HashMap<NodeRowId, (String, TextWithBreadcrumb)>,
    /// The hit that was cut, and the tokens of its whole entry.
    cut: Option<(usize, u32)>,
    /// Tokens of the hits that were left out.
    tokens_left_out: u64,
}

impl RenderedHits {
    fn nothing(is_answered: bool, budget: Option<u32>) -> RenderedHits {
        let text = if is_answered { NO_RESULTS } else { NO_ANSWER }.to_owned();
        let text = match budget {
            None => text,
            Some(budget) => budget_enforcement::first_fitting(budget, [text]),
        };
        let (chosen, texts) = (Vec::new(), HashMap::new());
        RenderedHits { text, chosen, texts, cut: None, tokens_left_out: 0 }
    }

    fn answer(self, found: &RankedHits, detail: HitDetail, output: OutputFormat) -> Answer {
        let structured = output.json(|| self.json(found, detail));
        let key = |&at: &usize| (found.hits[at].head.key, AccessKind::Listed);
        let mut best_first = self.chosen;
        best_first.sort_unstable();
        let shown = best_first.iter().map(key).collect();
        Answer { text: self.text, structured, shown, budget: None }
    }

    fn json(&self, found: &RankedHits, detail: HitDetail) -> Value {
        let facts_of = |&at: &usize| {
            let hit = &found.hits[at];
            let Some((shown, text)) = self.texts.get(&hit.head.key) else {
                let mut facts = facts(&hit.head, hit.temperature, Some(hit.score));
                facts["relevance"] = hundredths(hit.relevance);
                return facts;
            };
            let mut facts = if detail == HitDetail::Full {
                let needs = self.cut.filter(|it| it.0 == at).map(|it| it.1);
                block_facts(&hit.head, (hit.temperature, hit.score), shown, needs)
            } else {
                let mut facts = facts_with_language(&hit.head, hit.temperature, hit.score);
                facts["snippet"] = json!(shown);
                facts
            };
            let entry = TextEntry::with_text(&hit.head, text, shown);
            facts["under"] = json!(entry.breadcrumb());
            facts
        };
        let n_matches = found.n_matches;
        let mut structured = Value::from_iter([
            ("hits", self.chosen.iter().map(facts_of).collect::<Value>()),
            ("matches", n_matches.into()),
            ("more_matches", found.has_more_matches.into()),
        ]);
        let n_left_out = found.hits.len() + found.n_unread - self.chosen.len();
        if 0 < n_left_out {
            structured["left_out"] = json!({ "hits": n_left_out, "tokens": self.tokens_left_out });
        }
        structured
    }
}

/// Returns the snippets of the hits.
fn snippets(
    reader: &Reader,
    hits: &[SearchHit],
    asked: &ParsedQuery,
) -> Result<HashMap<NodeRowId, (String, TextWithBreadcrumb)>, Error> {
    let keys: Vec<NodeRowId> = hits.iter().map(|it| it.head.key).collect();
    let excerpt = |(key, text): (NodeRowId, TextWithBreadcrumb)| {
        (key, (excerpt::make_snippet(&text.content, &asked.marks), text))
    };
    Ok(reader.texts(&keys)?.into_iter().map(excerpt).collect())
}

fn lines(found: &RankedHits, budget: Option<u32>) -> Result<RenderedHits, Error> {
    let hits = &found.hits;
    let pieces: Vec<String> = hits.iter().map(|hit| hit.line() + "\n").collect();
    let texts = HashMap::new();
    let Some(max) = budget else {
        let mut prices = match found.n_unread {
            0 => vec![0; pieces.len()],
            _ => pieces.iter().map(|it| tokens::count(it)).collect(),
        };
        found.price_unread(&mut prices);
        let chosen: Vec<usize> = (0..hits.len()).collect();
        let text = trimmed(pieces.into_iter().chain(rest_line(&prices, &chosen)).collect());
        let tokens_left_out = left_out(&prices, &chosen);
        return Ok(RenderedHits { text, chosen, texts, cut: None, tokens_left_out });
    };
    let (mut prices, n_exact) = budget_enforcement::line_costs(&pieces, max);
    found.price_unread(&mut prices);
    let mut chosen = budget_enforcement::choose_within(&prices, max);
    chosen.retain(|&at| at < n_exact);
    let render = |chosen: &[usize]| {
        let mut text: String = chosen.iter().map(|&at| pieces[at].as_str()).collect();
        text.extend(rest_line(&prices, chosen));
        Ok::<_, Error>(trimmed(text))
    };
    // The prices of chosen hits are exact: the last line loses its line break, which leaves the
    // tokens of a closing parenthesis the same.
    let bound = |chosen: &[usize]| {
        let rest = rest_line(&prices, chosen).map_or(0, |it| budget_enforcement::line_cost(&it));
        Some(chosen.iter().fold(rest, |sum, &at| sum.saturating_add(prices[at])))
    };
    let settled = budget_enforcement::render_within(budget, chosen, bound, render)?;
    let (chosen, text) =
        settled.unwrap_or_else(|| (Vec::new(), budget_enforcement::first_fitting(max, [])));
    let tokens_left_out = left_out(&prices, &chosen);
    Ok(RenderedHits { text, chosen, texts, cut: None, tokens_left_out })
}

/// Shows the texts of the hits that fit, those of one section together.
fn texts(
    found: &RankedHits,
    mut texts: HashMap<NodeRowId, (String, TextWithBreadcrumb)>,
    cutting: HitCutPermission,
    max: Option<u32>,
) -> RenderedHits {
    let hits = &found.hits;
    let max = max.unwrap_or(u32::MAX);
    let mut prices: Vec<u32> = hits.iter().map(|it| it.head.tokens).collect();
    found.price_unread(&mut prices);
    let mut filling = AnswerBuilder::within(max, longest_rest(&prices));
    for (at, hit) in hits.iter().enumerate() {
        let Some((shown, text)) = texts.get(&hit.head.key) else { continue };
        filling.take(at, TextEntry::with_text(&hit.head, text, shown), text, cutting);
    }
    filling.cut_skipped();
    for (at, hit) in hits.iter().enumerate() {
        if filling.has_room_for(at, &hit.head, cutting)
            && let Some((shown, text)) = texts.get(&hit.head.key)
        {
            filling.take_below_shown(at, &TextEntry::with_text(&hit.head, text, shown));
        }
    }
    let AnswerWithoutOmissionLine { mut text, chosen, cut } = filling.finish();
    let tokens_left_out = left_out(&prices, &chosen);
    if let Some(rest) = rest_line(&prices, &chosen) {
        match chosen.is_empty() {
            true => text = budget_enforcement::first_fitting(max, [rest]),
            false => text.push_str(&rest),
        }
    }
    let cut = cut.map(|(at, cut)| {
        if let Some(shown) = texts.get_mut(&hits[at].head.key) {
            shown.0 = cut.content;
        }
        (at, cut.needs)
    });
    RenderedHits { text, chosen, texts, cut, tokens_left_out }
}

fn rest_line(prices: &[u32], chosen: &[usize]) -> Option<String> {
    let n = prices.len() - chosen.len();
    (0 < n).then(|| render::render_left_out(n, "hit", left_out(prices, chosen), "tokens"))
}

/// Returns the most tokens of the line about hits that were left out, whichever they are.
fn longest_rest(prices: &[u32]) -> u32 {
    // From a thousand on, fewer may be more digits.
    let longest = |n: u64| if n < 1_000 { n } else { 1_200 };
    let (n, sum) = (longest(prices.len() as u64), longest(left_out(prices, &[])));
    tokens::count(&render::render_left_out(n as usize, "hit", sum, "tokens"))
}

fn left_out(prices: &[u32], chosen: &[usize]) -> u64 {
    let sum = |prices: &mut dyn Iterator<Item = u32>| prices.map(u64::from).sum::<u64>();
    sum(&mut prices.iter().copied()) - sum(&mut chosen.iter().map(|&at| prices[at]))
}

/// Removes the final line break.
fn trimmed(mut text: String) -> String {
    if text.ends_with('\n') {
        text.pop();
    }
    text
}
