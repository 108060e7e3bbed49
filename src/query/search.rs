//! Search: the best matches, in as much detail as requested and as fits.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::bag_of_words::BagOfWords;
use super::candidates::{self, NodeMatch};
use super::rank::{self, RankCandidate};
use super::words::{self, ParsedQuery};
use super::{Answer, Error, Output, QueryOptions, ViewKind, block_facts, budget, excerpt, facts};
use crate::model::clock::Millis;
use crate::model::kinds::{Kind, form_of};
use crate::model::tree::NodeType;
use crate::query::render::{self, FileLabel, NodeFacts};
use crate::store::NodeKey;
use crate::store::reader::{MatchedNode, NodeFilter, NodeHead, Reader};

/// Nodes that are ranked; further matches are ignored.
const CANDIDATES_MAX: usize = 200;
/// Hits whose following text gains relevance.
const LENDERS_MAX: usize = 5;
/// Least words of a question; fewer name a thing, and the text after it gains nothing.
const QUESTION_WORDS_MIN: usize = 3;
/// Default number of hits without a budget.
const LIMIT_DEFAULT: usize = 20;
/// Least tokens of a hit.
const HIT_TOKENS_MIN: u32 = 16;

/// The text of an answer without hits.
pub(crate) const NO_RESULTS: &str = "no results";

/// A query for the nodes that match words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SearchQuery<'a> {
    /// The query as typed.
    pub(crate) query: &'a str,
    pub(crate) detail: Detail,
    /// Only nodes that meet it.
    pub(crate) filter: NodeFilter<'a>,
    /// Number of hits; `None`: 20, or as many as fit a budget.
    pub(crate) limit: Option<usize>,
}

/// The detail of a hit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Detail {
    /// One line.
    #[default]
    Label,
    /// The line, and the words in their context.
    Snippet,
    /// The line, and the whole text.
    Full,
}

impl Detail {
    /// Returns the detail of that name.
    pub(crate) fn parse(name: &str) -> Option<Detail> {
        match name {
            "label" => Some(Detail::Label),
            "snippet" => Some(Detail::Snippet),
            "full" => Some(Detail::Full),
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
    let asked = words::parse_query(query.query);
    let limit = query.limit.unwrap_or(match options.budget {
        Some(_) => CANDIDATES_MAX,
        None => LIMIT_DEFAULT,
    });
    let n_fitting = max.map_or(usize::MAX, |it| (it / HIT_TOKENS_MIN) as usize + 1);
    let found = found(reader, &asked, query.filter, (limit, n_fitting), options.now)?;
    let shown = match (found.hits.is_empty(), query.detail) {
        (true, _) => ShownHits::nothing(max),
        (false, Detail::Label) => lines(&found, HashMap::new(), max)?,
        (false, Detail::Snippet) => lines(&found, snippets(reader, &found.hits, &asked)?, max)?,
        (false, Detail::Full) => full(reader, &found, max.unwrap_or(u32::MAX))?,
    };
    Ok(shown.answer(&found, query.detail, options.output))
}

/// Refuses conditions that exclude each other, since an empty answer would not say why.
fn check_filter(filter: &NodeFilter<'_>) -> Result<(), Error> {
    let why = match (filter.node_type, filter.of_memories().first(), filter.status) {
        (Some(of), Some(name), _) if Kind::of(of).is_none() => {
            format!("`{name}` is of memories, and a {of} is none; leave out `type` or `{name}`")
        }
        (Some(of), _, Some(_)) if of != NodeType::Task => {
            format!("`status` is of tasks, and the type is {of}; leave out one of them")
        }
        _ if !filter.tags.is_empty()
            && let Err(why) = form_of("tags").check(&json!(filter.tags)) =>
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

/// The hits of a search, best first.
struct RankedHits {
    hits: Vec<SearchHit>,
    /// Further hits, too many to be shown.
    n_unread: usize,
    n_matches: usize,
}

struct SearchHit {
    head: NodeHead,
    temperature: f64,
    score: f64,
}

impl RankedHits {
    /// Appends the mean of the prices for each unread hit.
    fn price_unread(&self, prices: &mut Vec<u32>) {
        let sum: u64 = prices.iter().copied().map(u64::from).sum();
        let mean = sum.div_ceil(prices.len().max(1) as u64);
        let n_prices = prices.len() + self.n_unread;
        prices.resize(n_prices, u32::try_from(mean).unwrap_or(u32::MAX));
    }
}

impl SearchHit {
    fn line(&self) -> String {
        render::render_line(NodeFacts {
            head: &self.head,
            file: FileLabel::Yes,
            temperature: self.temperature,
            score: Some(self.score),
        })
    }
}

/// The hits as shown.
struct ShownHits {
    text: String,
    /// Indices of the hits, best first.
    chosen: Vec<usize>,
    /// The snippets or the texts.
    texts: HashMap<NodeKey, String>,
    /// Tokens of the whole text of a single hit that was cut.
    needs: Option<u32>,
    /// Tokens of the hits that were left out.
    tokens_left_out: u64,
}

impl ShownHits {
    fn nothing(budget: Option<u32>) -> ShownHits {
        let text = NO_RESULTS.to_owned();
        let text = match budget {
            None => text,
            Some(budget) => budget::first_fitting(budget, [text]),
        };
        let (chosen, texts) = (Vec::new(), HashMap::new());
        ShownHits { text, chosen, texts, needs: None, tokens_left_out: 0 }
    }

    fn answer(self, found: &RankedHits, detail: Detail, output: Output) -> Answer {
        let shown: Vec<&SearchHit> = self.chosen.iter().map(|&at| &found.hits[at]).collect();
        let structured = output.json(|| self.json(found, &shown, detail));
        let looked_at = shown.iter().map(|hit| (hit.head.key, ViewKind::Listed)).collect();
        Answer { text: self.text, structured, shown: looked_at, budget: None }
    }

    fn json(&self, found: &RankedHits, shown: &[&SearchHit], detail: Detail) -> Value {
        let facts_of = |hit: &&SearchHit| {
            let text = self.texts.get(&hit.head.key).map_or("", String::as_str);
            if detail == Detail::Full {
                return block_facts(&hit.head, (hit.temperature, hit.score), text, self.needs);
            }
            let mut facts = facts(&hit.head, hit.temperature, Some(hit.score));
            if !text.is_empty() {
                facts["snippet"] = json!(text);
            }
            facts
        };
        let n_matches = found.n_matches;
        let mut structured = Value::from_iter([
            ("hits", shown.iter().map(facts_of).collect::<Value>()),
            ("matches", n_matches.into()),
            ("more_matches", (n_matches == CANDIDATES_MAX).into()),
        ]);
        let n_left_out = found.hits.len() + found.n_unread - shown.len();
        if 0 < n_left_out {
            structured["left_out"] = json!({ "hits": n_left_out, "tokens": self.tokens_left_out });
        }
        structured
    }
}

/// Returns the hits of a query, best first, at most `limit`, with the heads of `n_fitting`.
fn found(
    reader: &Reader,
    asked: &ParsedQuery,
    filter: NodeFilter<'_>,
    (limit, n_fitting): (usize, usize),
    now: Millis,
) -> Result<RankedHits, Error> {
    let (matches, are_of_words) = matches(reader, asked, filter)?;
    let attended = reader.attended()?;
    let mut candidates: Vec<RankCandidate<'_>> = matches
        .iter()
        .map(|it| candidate(&it.node, (it.relevance, Some(&it.bag)), (attended, now)))
        .collect();
    let mut relevance = rank::relevance_scores(&candidates);
    let is_of_notes = filter.of_memories().is_empty();
    if are_of_words && is_of_notes && QUESTION_WORDS_MIN <= asked.marks.len() {
        for (next, lent) in lent(reader, &candidates, &relevance, filter.node_type)? {
            match candidates.iter().position(|it| it.key == next.key) {
                Some(at) => relevance[at] = relevance[at].max(lent),
                None => {
                    candidates.push(candidate(&next, (0.0, None), (attended, now)));
                    relevance.push(lent);
                }
            }
        }
    }
    let n_matches = matches.len();
    let mut ranked = rank::rank_candidates(&candidates, &relevance);
    ranked.truncate(limit);
    let n_ranked = ranked.len();
    ranked.truncate(n_fitting);
    let keys: Vec<NodeKey> = ranked.iter().map(|&(at, _)| candidates[at].key).collect();
    let mut heads: HashMap<NodeKey, NodeHead> =
        reader.heads(&keys)?.into_iter().map(|it| (it.key, it)).collect();
    let hit = |&(at, score): &(usize, f64)| {
        let head = heads.remove(&candidates[at].key)?;
        Some(SearchHit { head, temperature: candidates[at].temperature, score })
    };
    let hits: Vec<SearchHit> = ranked.iter().filter_map(hit).collect();
    Ok(RankedHits { hits, n_unread: n_ranked - ranked.len(), n_matches })
}

/// Returns the texts after the best candidates, with their least relevance.
fn lent(
    reader: &Reader,
    candidates: &[RankCandidate<'_>],
    relevance: &[f64],
    node_type: Option<NodeType>,
) -> Result<Vec<(MatchedNode, f64)>, Error> {
    let lenders = rank::best_indices(relevance, LENDERS_MAX);
    let keys: Vec<NodeKey> = lenders.iter().map(|&at| candidates[at].key).collect();
    let behind = reader.following_texts(&keys, node_type)?;
    let lent = |(at, key): (usize, NodeKey)| {
        Some((*behind.get(&key)?, rank::lent_relevance(relevance[at])))
    };
    Ok(lenders.into_iter().zip(keys).filter_map(lent).collect())
}

fn candidate<'a>(
    node: &MatchedNode,
    (relevance, bag): (f64, Option<&'a BagOfWords>),
    (attended, now): (i64, Millis),
) -> RankCandidate<'a> {
    RankCandidate {
        key: node.key,
        parent: node.parent,
        is_heading: node.is_heading,
        relevance,
        temperature: node.heat.now(attended),
        bag,
        memory_weight: node.memory.map(|it| rank::memory_weight(it, now)),
    }
}

/// Returns the matches of the expression if the query is one, else those of its words. The flag is
/// true for words.
fn matches(
    reader: &Reader,
    asked: &ParsedQuery,
    filter: NodeFilter<'_>,
) -> Result<(Vec<NodeMatch>, bool), Error> {
    if let Some(text) = &asked.expression
        && let Some(found) = candidates::match_expression(reader, text, filter, CANDIDATES_MAX)?
    {
        return Ok((found, false));
    }
    Ok((candidates::match_words(reader, &asked.terms, filter, CANDIDATES_MAX)?, true))
}

/// Returns the snippets of the hits.
fn snippets(
    reader: &Reader,
    hits: &[SearchHit],
    asked: &ParsedQuery,
) -> Result<HashMap<NodeKey, String>, Error> {
    let keys: Vec<NodeKey> = hits.iter().map(|it| it.head.key).collect();
    let contents = reader.contents(&keys)?;
    let mut snippets = HashMap::new();
    for hit in hits {
        let Some(content) = contents.get(&hit.head.key) else { continue };
        let snippet = excerpt::make_snippet(content, &asked.marks);
        let snippet = excerpt::without_label(snippet, &hit.head.label);
        if !snippet.is_empty() {
            snippets.insert(hit.head.key, snippet);
        }
    }
    Ok(snippets)
}

fn lines(
    found: &RankedHits,
    snippets: HashMap<NodeKey, String>,
    budget: Option<u32>,
) -> Result<ShownHits, Error> {
    let hits = &found.hits;
    let pieces: Vec<String> = hits
        .iter()
        .map(|hit| match snippets.get(&hit.head.key) {
            Some(snippet) => format!("{}\n  {snippet}\n", hit.line()),
            None => format!("{}\n", hit.line()),
        })
        .collect();
    let Some(max) = budget else {
        let text = trimmed(pieces.concat());
        let chosen = (0..hits.len()).collect();
        return Ok(ShownHits { text, chosen, texts: snippets, needs: None, tokens_left_out: 0 });
    };
    let (mut prices, n_exact) = budget::line_costs(&pieces, max);
    found.price_unread(&mut prices);
    let mut chosen = budget::choose_within(&prices, max);
    chosen.retain(|&at| at < n_exact);
    let render = |chosen: &[usize]| {
        let mut text: String = chosen.iter().map(|&at| pieces[at].as_str()).collect();
        text.extend(rest_line(&prices, chosen));
        Ok::<_, Error>(trimmed(text))
    };
    // The prices of chosen hits are exact. The last line loses its line break: the tokens of a
    // closing parenthesis stay the same, but those of a snippet's end may change.
    let bound = |chosen: &[usize]| {
        let rest = rest_line(&prices, chosen);
        let last = chosen.last().filter(|_| rest.is_none());
        if last.is_some_and(|&at| snippets.contains_key(&hits[at].head.key)) {
            return None;
        }
        let rest = rest.map_or(0, |it| budget::line_cost(&it));
        Some(chosen.iter().fold(rest, |sum, &at| sum.saturating_add(prices[at])))
    };
    let settled = budget::render_within(budget, chosen, bound, render)?;
    let (chosen, text) = settled.unwrap_or_else(|| (Vec::new(), budget::first_fitting(max, [])));
    let tokens_left_out = left_out(&prices, &chosen);
    Ok(ShownHits { text, chosen, texts: snippets, needs: None, tokens_left_out })
}

fn full(reader: &Reader, found: &RankedHits, max: u32) -> Result<ShownHits, Error> {
    let hits = &found.hits;
    let mut prices: Vec<u32> = hits
        .iter()
        .map(|hit| {
            let frame = (hit.line().len() / 2) as u32 + 5;
            frame.saturating_add(hit.head.tokens)
        })
        .collect();
    found.price_unread(&mut prices);
    // The best hit is most likely the answer: a part of it is better than all of the others.
    let mut chosen = match prices.first() {
        Some(&best) if max < best => vec![0],
        _ => budget::choose_within(&prices, max),
    };
    chosen.retain(|&at| at < hits.len());
    let keys: Vec<NodeKey> = chosen.iter().map(|&at| hits[at].head.key).collect();
    let mut contents = reader.contents(&keys)?;
    let content = |at: usize| contents.get(&hits[at].head.key).map_or("", String::as_str);
    let render = |chosen: &[usize]| {
        let rest = rest_line(&prices, chosen).map(|it| format!("{it}\n"));
        let blocks = chosen.iter().map(|&at| match content(at) {
            "" => format!("{}\n", hits[at].line()),
            content => format!("{}\n{content}\n", hits[at].line()),
        });
        Ok::<_, Error>(render::render_blocks(&blocks.chain(rest).collect::<Vec<_>>()))
    };
    let bound = |chosen: &[usize]| {
        chosen.iter().try_fold(budget::BLOCK_REST_TOKENS, |sum: u32, &at| {
            let bound = budget::block_bound(&hits[at].line(), hits[at].head.tokens, content(at))?;
            Some(sum.saturating_add(bound))
        })
    };
    let settled = budget::render_within(Some(max), chosen, bound, render)?;
    let (chosen, text, needs) = match settled {
        Some((chosen, text)) if !chosen.is_empty() => (chosen, text, None),
        _ => {
            let best = &hits[0];
            let cut = excerpt::cut(&best.head, best.score, content(0), max);
            contents.insert(best.head.key, cut.content);
            (vec![0], cut.block, Some(cut.needs))
        }
    };
    let tokens_left_out = left_out(&prices, &chosen);
    Ok(ShownHits { text, chosen, texts: contents, needs, tokens_left_out })
}

fn rest_line(prices: &[u32], chosen: &[usize]) -> Option<String> {
    let n = prices.len() - chosen.len();
    (0 < n).then(|| render::render_left_out(n, "hit", left_out(prices, chosen), "tokens"))
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
