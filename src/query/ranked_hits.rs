//! Ranked hits: the nodes that match a question, best first, with the texts beside them.

use std::collections::{HashMap, HashSet};

use super::asked_dates::{AskedDate, asked_dates};
use super::candidates::{self, NodeMatch};
use super::document_dates::DaySpan;
use super::nodes_of_asked_date::{days_of_nodes, replace_dates};
use super::query_parser::{ParsedQuery, QuestionTermRole};
use super::rank::{self, RankCandidate, TurnFeatures};
use super::replacement_order::{descending, replacements_first};
use super::sibling_relevance_boost::SiblingBoostedScores;
use super::spaceless_run_bigram_fallback::whole_or_in_bigrams;
use super::speaker_match_weighting::AskedSpeakers;
use super::stems_for_ranking::StemmedText;
use super::vector_search::nearest_in_meaning;
use super::{Error, block_parts};
use crate::model::clock::UnixMillis;
use crate::model::tree::NodeType;
use crate::model::vector::QueryVector;
use crate::store::NodeRowId;
use crate::store::reader::{MatchedNode, NodeFilter, NodeSummary, Reader};

/// Most nodes that are ranked; further matches are ignored.
const CANDIDATES_MAX: usize = 200;
/// Nodes that are ranked for a question of few words with a limit of no more hits. Few words leave
/// few ways to match, and the nodes that follow have one of its common words.
const CANDIDATES_OF_FEW_WORDS_MAX: usize = 160;
/// Words of a question that has few.
const FEW_WORDS_MAX: usize = 4;
/// Part of its relevance that a text gains which has the date of the question.
const DATED: f64 = 0.5;
/// Part of its relevance that it gains where its day is the likelier one: equals are told apart.
const LIKELIER: f64 = 0.01;
/// Hits whose following text gains relevance.
const LENDERS_MAX: usize = 5;
/// Weight of nearness in meaning, beside the relevance of the best by its words.
const MEANT: f64 = 0.5;
/// Least words of a question; fewer name a thing, and the text after it gains nothing.
const QUESTION_WORDS_MIN: usize = 3;
/// Least words of a question behind a word such as `what`.
const ASKED_WORDS_MIN: usize = 2;
/// Least share of a question that the best hit has, and the weight of its words that is enough in
/// a long one; with less of both, nothing answers the question.
const SHARE_MIN: f64 = 0.2;
const WEIGHT_MIN: f64 = 2.0;

/// Short hits behind those of twice the budget whose texts may fill it.
const SHORT_HITS_MAX: usize = 16;

/// The hits of a search, best first.
#[derive(Default)]
pub(super) struct RankedHits {
    pub(super) hits: Vec<SearchHit>,
    /// Further hits: beyond the limit, or too many to be shown.
    pub(super) n_unread: usize,
    pub(super) n_matches: usize,
    /// Whether there may be more matches than these.
    pub(super) has_more_matches: bool,
    /// Whether the best has enough of the question.
    pub(super) is_answered: bool,
}

pub(super) struct SearchHit {
    pub(super) head: NodeSummary,
    pub(super) temperature: f64,
    pub(super) score: f64,
    /// Share of the question that it has, whatever its temperature.
    pub(super) relevance: f64,
}

impl RankedHits {
    /// Appends the mean of the prices for each unread hit.
    pub(super) fn price_unread(&self, prices: &mut Vec<u32>) {
        let sum: u64 = prices.iter().copied().map(u64::from).sum();
        let mean = sum.div_ceil(prices.len().max(1) as u64);
        let n_prices = prices.len() + self.n_unread;
        prices.resize(n_prices, u32::try_from(mean).unwrap_or(u32::MAX));
    }

    /// Returns the hits whose texts may be shown: those of twice the budget, and some short ones
    /// behind them.
    pub(super) fn shown_keys(&self, max: Option<u32>) -> Vec<NodeRowId> {
        let max = max.map_or(u64::MAX, u64::from);
        let (mut sum, mut n_short) = (0u64, 0);
        let mut keys = Vec::new();
        for hit in &self.hits {
            let n_tokens = u64::from(hit.head.tokens);
            let is_near = sum <= max.saturating_mul(2);
            let is_short = n_tokens <= max / 4 && n_short < SHORT_HITS_MAX;
            match is_near {
                true => sum = sum.saturating_add(n_tokens.min(max)),
                false if is_short => n_short += 1,
                false => continue,
            }
            keys.push(hit.head.key);
        }
        keys
    }

    /// Puts its first part in the place of a large block, which has no text of its own.
    pub(super) fn show_parts(&mut self, reader: &Reader) -> Result<(), Error> {
        let attended = reader.attended()?;
        for hit in &mut self.hits {
            if let Some(part) = block_parts(reader, &hit.head)?.into_iter().next() {
                hit.temperature = part.heat.now(attended);
                hit.head = part;
            }
        }
        let mut seen = HashSet::new();
        self.hits.retain(|it| seen.insert(it.head.key));
        Ok(())
    }
}

/// Returns the hits of a query, best first, at most `limit` where there is one, of which
/// `n_fitting` may be shown.
pub(super) fn ranked_hits(
    reader: &Reader,
    (query, asked, meaning): (&str, &ParsedQuery, Option<&QueryVector>),
    filter: NodeFilter<'_>,
    (limit, n_fitting): (Option<usize>, usize),
    now: UnixMillis,
) -> Result<RankedHits, Error> {
    let dates = asked_dates(query, now);
    let n_max = candidates_max(asked, limit);
    let NodesMatchingQuestion { mut matches, dated, are_of_words, is_of_date_alone } =
        question_matches(reader, (asked, &dates), filter, n_max)?;
    let meant = meaning.filter(|_| are_of_words);
    let near = meant.map(|it| nearest_in_meaning(reader, it, &filter)).transpose()?;
    let near = near.unwrap_or_default();
    let is_long = are_of_words && QUESTION_WORDS_MIN <= asked.n_words;
    let is_doubted = is_long && !is_answered(&matches);
    if is_doubted {
        // Its date is enough, whatever words no node has.
        matches.retain(|it| dated.binary_search(&it.node.key).is_ok());
    }
    if is_doubted && matches.is_empty() && near.is_empty() {
        return Ok(RankedHits::default());
    }
    let times = (reader.attended()?, now);
    let is_question = are_of_words && filter.of_memories().is_empty() && is_question(asked);
    let speakers = match is_question {
        true => AskedSpeakers::of(&candidates::lead_stems(&asked.terms), &matches),
        false => AskedSpeakers::default(),
    };
    let vicinity = is_question.then(|| SiblingBoostedScores::of(reader, &matches, &speakers));
    let vicinity = vicinity.transpose()?.unwrap_or_default();
    let unmatched = match filter.node_type.is_none() && !filter.is_timed() {
        true => unmatched(reader, &vicinity, &matches, asked)?,
        false => Vec::new(),
    };
    let mut candidates: Vec<RankCandidate<'_>> = matches
        .iter()
        .chain(&unmatched)
        .map(|it| {
            let turn = turn_features(it, &vicinity);
            // A date alone has no words that others would tell more of.
            let bag = (0.0 < it.relevance && !is_of_date_alone).then_some(&it.bag);
            let candidate = candidate(&it.node, (it.relevance, bag), times);
            RankCandidate { turn, ..candidate }
        })
        .collect();
    let mut relevance = rank::relevance_scores(&candidates);
    if are_of_words && !dates.is_empty() {
        relevance = with_dates(reader, &dates, &candidates, relevance)?;
    }
    add_meant(reader, &near, (&mut candidates, &mut relevance), times)?;
    let texts = matches.iter().chain(&unmatched);
    let mut shares = shares(texts, &vicinity, (&speakers, speakers.certainty(&matches)), near);
    if is_question && !filter.is_timed() {
        let ranked = (&mut candidates, &mut relevance, &mut shares);
        add_following(reader, ranked, filter.node_type, times)?;
    }
    let mut ranked = rank::rank_candidates(&candidates, &relevance);
    put_replacements_first(reader, &candidates, &mut ranked, now)?;
    let n_ranked = ranked.len();
    ranked.truncate(limit.map_or(n_fitting, |it| it.min(n_fitting)));
    let hits = hits(reader, &ranked, &candidates, &shares)?;
    Ok(RankedHits {
        hits,
        n_unread: n_ranked - ranked.len(),
        n_matches: matches.len(),
        has_more_matches: n_max <= matches.len(),
        is_answered: true,
    })
}

/// Puts what took the place of a ranked candidate before it.
fn put_replacements_first(
    reader: &Reader,
    candidates: &[RankCandidate<'_>],
    ranked: &mut Vec<(usize, f64)>,
    now: UnixMillis,
) -> Result<(), Error> {
    let keys: Vec<NodeRowId> = ranked.iter().map(|it| candidates[it.0].key).collect();
    let replaced = reader.replacements_among(&keys, now)?;
    if replaced.is_empty() {
        return Ok(());
    }
    let ranks: HashMap<NodeRowId, usize> = keys.into_iter().zip(0..).collect();
    let pairs = replaced.iter().filter_map(|(old, by)| Some((*ranks.get(old)?, *ranks.get(by)?)));
    let order = replacements_first(ranked.len(), &pairs.collect());
    let scores = descending(order.iter().map(|&rank| ranked[rank].1).collect());
    *ranked = order.into_iter().map(|rank| ranked[rank].0).zip(scores).collect();
    Ok(())
}

/// Returns the share of the question that each text has, by its words or its meaning.
fn shares<'a>(
    texts: impl Iterator<Item = &'a NodeMatch>,
    vicinity: &SiblingBoostedScores,
    (speakers, certainty): (&AskedSpeakers, f64),
    near: Vec<(NodeRowId, f64)>,
) -> HashMap<NodeRowId, f64> {
    let by_words = |it: &NodeMatch| {
        let share = it.share().max(vicinity.share(it.node.key));
        (it.node.key, share * speakers.telling(&it.bag) * certainty)
    };
    let mut shares: HashMap<NodeRowId, f64> = texts.map(by_words).collect();
    for (key, nearness) in near {
        let known = shares.entry(key).or_default();
        *known = known.max(nearness);
    }
    shares
}

/// Reads the heads of ranked candidates.
fn hits(
    reader: &Reader,
    ranked: &[(usize, f64)],
    candidates: &[RankCandidate<'_>],
    shares: &HashMap<NodeRowId, f64>,
) -> Result<Vec<SearchHit>, Error> {
    let keys: Vec<NodeRowId> = ranked.iter().map(|&(at, _)| candidates[at].key).collect();
    let mut heads: HashMap<NodeRowId, NodeSummary> =
        reader.heads(&keys)?.into_iter().map(|it| (it.key, it)).collect();
    let hit = |&(at, score): &(usize, f64)| {
        let head = heads.remove(&candidates[at].key)?;
        let relevance = shares.get(&head.key).copied().unwrap_or(0.0);
        Some(SearchHit { head, temperature: candidates[at].temperature, score, relevance })
    };
    Ok(ranked.iter().filter_map(hit).collect())
}

/// Adds nearness in meaning to the relevance of candidates, and the nodes that have no word.
fn add_meant(
    reader: &Reader,
    near: &[(NodeRowId, f64)],
    (candidates, relevance): (&mut Vec<RankCandidate<'_>>, &mut Vec<f64>),
    times: (i64, UnixMillis),
) -> Result<(), Error> {
    if near.is_empty() {
        return Ok(());
    }
    let known: HashMap<NodeRowId, usize> = candidates.iter().map(|it| it.key).zip(0..).collect();
    let others: Vec<NodeRowId> =
        near.iter().map(|it| it.0).filter(|it| !known.contains_key(it)).collect();
    let others = reader.load_matches(&others, |_| ())?;
    for (key, nearness) in near {
        let gain = MEANT * nearness;
        if let Some(at) = known.get(key) {
            relevance[*at] += gain;
        } else if let Some((node, ())) = others.iter().find(|it| it.0.key == *key) {
            candidates.push(candidate(node, (0.0, None), times));
            relevance.push(gain);
        }
    }
    *relevance = rank::normalized(std::mem::take(relevance));
    Ok(())
}

/// Returns the relevance of candidates, higher for those whose headings, file or front matter have
/// a date that the question asks about.
fn with_dates(
    reader: &Reader,
    asked: &[AskedDate],
    candidates: &[RankCandidate<'_>],
    mut relevance: Vec<f64>,
) -> Result<Vec<f64>, Error> {
    let keys: Vec<NodeRowId> = candidates.iter().map(|it| it.key).collect();
    let told = days_of_nodes(reader, &keys)?;
    for (it, relevance) in candidates.iter().zip(&mut relevance) {
        let gain = |it: &AskedDate, told: DaySpan| {
            DATED * it.days.closeness(told) + LIKELIER * it.likelihood(told)
        };
        let most = |told: &DaySpan| asked.iter().map(|it| gain(it, *told)).fold(0.0, f64::max);
        *relevance *= 1.0 + told.get(&it.key).map_or(0.0, most);
    }
    Ok(rank::normalized(relevance))
}

/// Returns the best texts beside the matches that match nothing themselves.
fn unmatched(
    reader: &Reader,
    vicinity: &SiblingBoostedScores,
    matches: &[NodeMatch],
    asked: &ParsedQuery,
) -> Result<Vec<NodeMatch>, Error> {
    let leads = candidates::lead_stems(&asked.terms);
    let found = reader.load_matches(&vicinity.unmatched(matches), candidates::bag_of)?;
    let is_text =
        |(node, _): &(MatchedNode, StemmedText)| !node.is_heading && node.memory.is_none();
    let read = |(node, bag)| NodeMatch::beside(node, bag, &leads);
    Ok(found.into_iter().filter(is_text).map(read).collect())
}

/// Adds the texts after the best candidates, and raises their relevance where they are candidates.
fn add_following(
    reader: &Reader,
    (candidates, relevance, shares): (
        &mut Vec<RankCandidate<'_>>,
        &mut Vec<f64>,
        &mut HashMap<NodeRowId, f64>,
    ),
    node_type: Option<NodeType>,
    times: (i64, UnixMillis),
) -> Result<(), Error> {
    for (from, next, lent) in lent(reader, candidates, relevance, node_type)? {
        let share = rank::lent_relevance(shares.get(&from).copied().unwrap_or(0.0));
        shares.entry(next.key).or_insert(share);
        match candidates.iter().position(|it| it.key == next.key) {
            Some(at) => relevance[at] = relevance[at].max(lent),
            None => {
                candidates.push(candidate(&next, (0.0, None), times));
                relevance.push(lent);
            }
        }
    }
    Ok(())
}

/// Returns the texts after the best candidates, each with the candidate and its least relevance.
fn lent(
    reader: &Reader,
    candidates: &[RankCandidate<'_>],
    relevance: &[f64],
    node_type: Option<NodeType>,
) -> Result<Vec<(NodeRowId, MatchedNode, f64)>, Error> {
    let lenders = rank::best_indices(relevance, LENDERS_MAX);
    let keys: Vec<NodeRowId> = lenders.iter().map(|&at| candidates[at].key).collect();
    let behind = reader.following_texts(&keys, node_type)?;
    let lent = |(at, key): (usize, NodeRowId)| {
        Some((key, *behind.get(&key)?, rank::lent_relevance(relevance[at])))
    };
    Ok(lenders.into_iter().zip(keys).filter_map(lent).collect())
}

/// Returns whether words are a question rather than the name of a thing.
fn is_question(asked: &ParsedQuery) -> bool {
    let n_words_min = if asked.is_asked { ASKED_WORDS_MIN } else { QUESTION_WORDS_MIN };
    n_words_min <= asked.n_words
}

/// Returns whether a match has enough of the question. None at all is no doubt: the reason is
/// another.
fn is_answered(matches: &[NodeMatch]) -> bool {
    let has_enough =
        |it: &NodeMatch| SHARE_MIN <= it.coverage.share || WEIGHT_MIN <= it.coverage.weight;
    matches.is_empty() || matches.iter().any(has_enough)
}

fn turn_features(it: &NodeMatch, vicinity: &SiblingBoostedScores) -> TurnFeatures {
    TurnFeatures {
        beside: vicinity.relevance(it.node.key),
        n_siblings: vicinity.n_siblings(it.node.parent),
        is_led: it.is_led,
        is_question: it.bag.is_question(),
        is_opening: vicinity.is_opening(it.node.key) && !it.bag.lead_stems().is_empty(),
    }
}

fn candidate<'a>(
    node: &MatchedNode,
    (relevance, bag): (f64, Option<&'a StemmedText>),
    (attended, now): (i64, UnixMillis),
) -> RankCandidate<'a> {
    RankCandidate {
        key: node.key,
        parent: node.parent,
        is_heading: node.is_heading,
        relevance,
        turn: TurnFeatures::default(),
        tokens: node.tokens,
        temperature: node.heat.now(attended),
        bag,
        memory_weight: node.memory.map(|it| rank::memory_weight(it, now)),
    }
}

/// Returns the number of nodes that are ranked: fewer for a question of few words, unless many hits
/// are asked for, or as many as a budget has room for.
fn candidates_max(asked: &ParsedQuery, limit: Option<usize>) -> usize {
    let n_words = asked.terms.iter().filter(|it| it.role == QuestionTermRole::Subject).count();
    let is_short = asked.expression.is_none() && n_words <= FEW_WORDS_MAX;
    let is_enough = limit.is_some_and(|it| it <= CANDIDATES_OF_FEW_WORDS_MAX);
    if is_short && is_enough { CANDIDATES_OF_FEW_WORDS_MAX } else { CANDIDATES_MAX }
}

/// The matches of a question.
pub(super) struct NodesMatchingQuestion {
    pub(super) matches: Vec<NodeMatch>,
    /// The nodes of its dates, in the order of their keys.
    dated: Vec<NodeRowId>,
    /// Whether it was read as words, rather than as an expression.
    are_of_words: bool,
    /// Whether it asks about a date, and has no other word.
    is_of_date_alone: bool,
}

/// Returns the matches of the expression if the query is one, else those of its words and dates.
pub(super) fn question_matches(
    reader: &Reader,
    (asked, dates): (&ParsedQuery, &[AskedDate]),
    filter: NodeFilter<'_>,
    n_max: usize,
) -> Result<NodesMatchingQuestion, Error> {
    if let Some(text) = &asked.expression
        && let Some(matches) = candidates::match_expression(reader, text, filter, n_max)?
    {
        let (dated, are_of_words, is_of_date_alone) = (Vec::new(), false, false);
        return Ok(NodesMatchingQuestion { matches, dated, are_of_words, is_of_date_alone });
    }
    let mut asked = asked.clone();
    asked.terms = whole_or_in_bigrams(reader, filter, asked.terms)?;
    let dated = replace_dates(reader, dates, &filter, &mut asked.terms)?;
    let is_of_date_alone = asked.terms.iter().all(|it| it.role == QuestionTermRole::Date);
    let terms = match is_question(&asked) {
        true => asked.terms_and_related(),
        false => asked.terms,
    };
    let terms = (&terms[..], &dated[..]);
    let matches = candidates::match_words_and_date(reader, terms, filter, n_max)?;
    Ok(NodesMatchingQuestion { matches, dated, are_of_words: true, is_of_date_alone })
}
