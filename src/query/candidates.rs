//! Candidates: the nodes that match a question, with their relevance.
//!
//! The index lists the nodes with a word quickly. Reading a node to count its words takes thirty
//! times as long, so only the best candidates are scored ([`bm25`]): a candidate is worth the
//! summed rarities of its words.
//!
//! Work is bounded whatever the size of the memory. Words in [`COMMON`] or more nodes are looked
//! up only among the nodes that rarer words match. Where these are fewer than [`ENOUGH`],
//! candidates are added: nodes with all common words, labels with one of them, then the newest
//! nodes. Related words and those of a kind add nodes only where they are not common; a node with
//! words of a kind alone comes last.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::Error;
use super::bm25::{self, QueryTerm};
use super::query_parser::{QuestionTermRole, Term, TermUnitKind};
use super::spaceless_run_bigram_fallback::share_of_absent;
use super::stems_for_ranking::{StemHash, StemmedText};
use crate::store::NodeRowId;
use crate::store::reader::{MatchAgeOrder, MatchedNode, NodeFilter, NodeTextStart, Reader};
use crate::text::thesaurus::{inflections, other_forms};

/// A word in this many nodes is common.
const COMMON: usize = 1_000;
/// Candidates from rare words that make looking up common ones needless.
const ENOUGH: usize = 20;
/// Weight of a word that questions are made of.
const ASKING_WEIGHT: f64 = 0.3;
/// Weight of words that mean nearly the same as one of the question.
const RELATED_WEIGHT: f64 = 0.4;
/// Weight of the words of a kind that the question names.
const KIND_WEIGHT: f64 = 0.6;
/// Part of a word that a related one covers.
const RELATED_SHARE: f64 = 0.5;
/// Weight of a word that no node has, relative to its rarity; the same of a name.
const ABSENT_WEIGHT: f64 = 1.5;
const ABSENT_NAME_WEIGHT: f64 = 3.0;
/// Nodes fetched per scored node where common words match too many.
const NEWEST_PER_NODE: usize = 2;

/// A node that matches a question.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct NodeMatch {
    pub(super) node: MatchedNode,
    /// The stems of its label, its breadcrumb and its beginning.
    pub(super) bag: StemmedText,
    /// Higher is better; never negative. Words of a kind do not count.
    pub(super) relevance: f64,
    /// Relevance by term, words of a kind included; none for an expression.
    pub(super) parts: Vec<f64>,
    /// Whether a word of the question is in its lead.
    pub(super) is_led: bool,
    pub(super) coverage: RarityWeightedCoverage,
    /// The part of the question that it has, by term; words that no node has count more.
    pub(super) shares: Vec<f64>,
}

impl NodeMatch {
    /// Returns the share of the question that it has.
    pub(super) fn share(&self) -> f64 {
        self.shares.iter().sum::<f64>().min(1.0)
    }

    /// Returns a text beside a match, which has none of the words.
    pub(super) fn beside(node: MatchedNode, bag: StemmedText, leads: &[StemHash]) -> NodeMatch {
        let coverage = RarityWeightedCoverage { share: 0.0, weight: 0.0, n_words: 0 };
        let is_led = is_led(&bag, leads);
        let (parts, shares) = (Vec::new(), Vec::new());
        NodeMatch { node, bag, relevance: 0.0, parts, is_led, coverage, shares }
    }
}

/// The part of a question that a node has, counted in rarities. Unlike relevance it is comparable
/// between questions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RarityWeightedCoverage {
    /// Share of the question's words, from 0 to 1.
    pub(super) share: f64,
    /// Weight of its words; a word that one node alone has weighs 1.
    pub(super) weight: f64,
    /// Number of its words.
    pub(super) n_words: u32,
}

impl RarityWeightedCoverage {
    /// The coverage of an expression, which a node matches as a whole.
    const WHOLE: RarityWeightedCoverage =
        RarityWeightedCoverage { share: 1.0, weight: 1.0, n_words: 1 };
}

/// A set of the question's terms, one bit each.
type TermSet = u64;

/// Candidates with their terms, in the order of their keys.
type NodesWithTerms = Vec<(NodeRowId, TermSet)>;

/// Returns the best `n_max` nodes that an expression matches; `None` when it does not parse.
pub(super) fn match_expression(
    reader: &Reader,
    expression: &str,
    filter: NodeFilter<'_>,
    n_max: usize,
) -> Result<Option<Vec<NodeMatch>>, Error> {
    let filter = reader.simplified(filter)?;
    let Some(ranked) = reader.matches(expression, &filter, n_max)? else { return Ok(None) };
    let keys: Vec<NodeRowId> = ranked.iter().map(|it| it.0).collect();
    let relevance: HashMap<NodeRowId, f64> = ranked.into_iter().collect();
    let matched = |(node, bag): (MatchedNode, StemmedText)| {
        let relevance = *relevance.get(&node.key)?;
        let (parts, coverage, shares) = (Vec::new(), RarityWeightedCoverage::WHOLE, vec![1.0]);
        Some(NodeMatch { node, bag, relevance, parts, is_led: false, coverage, shares })
    };
    Ok(Some(reader.load_matches(&keys, bag_of)?.into_iter().filter_map(matched).collect()))
}

/// Returns the nodes that share most of the words, at most `n_max`, best first.
pub(super) fn match_words(
    reader: &Reader,
    terms: &[Term],
    filter: NodeFilter<'_>,
    n_max: usize,
) -> Result<Vec<NodeMatch>, Error> {
    match_words_and_date(reader, (terms, &[]), filter, n_max)
}

/// Returns the nodes that share most of the words and the date of a question, whose nodes are
/// `dated`, in the order of their keys.
pub(super) fn match_words_and_date(
    reader: &Reader,
    (terms, dated): (&[Term], &[NodeRowId]),
    filter: NodeFilter<'_>,
    n_max: usize,
) -> Result<Vec<NodeMatch>, Error> {
    let filter = reader.simplified(filter)?;
    let n_born = reader.n_ever_created()?;
    let index = FullTextCandidateSearch { reader, terms, dated, filter, n_born, n_max };
    let (candidates, rarities, absent) = index.candidates()?;
    let keys: Vec<NodeRowId> = candidates.iter().map(|it| it.0).collect();
    let found = reader.load_matches(&keys, bag_of)?;
    // The found nodes keep the order of the candidates.
    let mut candidates = candidates.into_iter();
    let has = |(node, _): &(MatchedNode, StemmedText)| {
        candidates.find(|it| it.0 == node.key).map_or(0, |it| it.1)
    };
    let sets: Vec<TermSet> = found.iter().map(has).collect();
    let texts = found.iter().zip(&sets).map(|((_, bag), &has)| bm25::Bm25Document { bag, has });
    let sought: Vec<QueryTerm> = terms.iter().zip(&rarities).map(sought).collect();
    let parts = bm25::bm25_scores(&sought, &texts.collect::<Vec<_>>());
    let weights = index.weights(&rarities, absent);
    let leads = lead_stems(terms);
    let matched = |(((node, bag), parts), set): (((_, StemmedText), Vec<f64>), _)| NodeMatch {
        node,
        is_led: is_led(&bag, &leads),
        bag,
        relevance: parts.iter().zip(terms).filter(|it| !is_kind(it.1)).map(|it| it.0).sum(),
        parts,
        coverage: covered(set, terms, &weights),
        shares: shares(set, terms, &weights, absent),
    };
    let found = found.into_iter().zip(parts).zip(sets);
    let mut matches: Vec<NodeMatch> = found.map(matched).collect();
    let with_kinds = |it: &NodeMatch| it.parts.iter().sum::<f64>();
    matches.sort_by(|a, b| with_kinds(b).total_cmp(&with_kinds(a)));
    Ok(matches)
}

fn is_kind(term: &Term) -> bool {
    matches!(term.role, QuestionTermRole::Kind { .. })
}

/// Returns the term to score; its rarity is weighted already.
fn sought((term, &rarity): (&Term, &f64)) -> QueryTerm {
    let words = match term.role {
        QuestionTermRole::Kind { .. } => term.words.iter().map(|it| stems_of_forms(it)).collect(),
        _ if term.words.is_empty() => Vec::new(),
        _ => vec![term.words.iter().map(|it| StemHash::of(it)).collect()],
    };
    QueryTerm { words, rarity, weight: weight_of(term.role) }
}

/// Returns the stems of all forms of a word: stemming cuts no ending of a short word.
fn stems_of_forms(word: &str) -> Vec<StemHash> {
    let mut stems: Vec<StemHash> = inflections(word).iter().map(|it| StemHash::of(it)).collect();
    stems.push(StemHash::of(word));
    stems.extend(other_forms(word).into_iter().map(StemHash::of));
    stems
}

/// Returns the stems of the question's words, which may be in a lead.
pub(super) fn lead_stems(terms: &[Term]) -> Vec<StemHash> {
    let subjects = terms.iter().filter(|it| it.role == QuestionTermRole::Subject);
    subjects.flat_map(|it| &it.words).map(|it| StemHash::of(it)).collect()
}

/// Returns whether one of these stems is in the lead of a text.
pub(super) fn is_led(bag: &StemmedText, leads: &[StemHash]) -> bool {
    bag.lead_stems().iter().any(|it| leads.contains(it))
}

pub(super) fn bag_of(wording: NodeTextStart<'_>) -> StemmedText {
    StemmedText::of(&[wording.label, wording.breadcrumb], wording.beginning)
}

/// The full-text index, for one question.
struct FullTextCandidateSearch<'a> {
    reader: &'a Reader,
    terms: &'a [Term],
    /// The nodes that have the term of a date.
    dated: &'a [NodeRowId],
    filter: NodeFilter<'a>,
    /// Nodes ever created.
    n_born: u64,
    /// Nodes to score.
    n_max: usize,
}

impl FullTextCandidateSearch<'_> {
    /// Returns the best candidates with their terms, the rarity of each term, and the words that no
    /// node has.
    fn candidates(&self) -> Result<(NodesWithTerms, Vec<f64>, TermSet), Error> {
        let (mut found, mut rarities) = (Vec::new(), Vec::new());
        let (mut rare, mut absent, mut common) = (0, 0, Vec::new());
        let mut related = Vec::new();
        for (nth, term) in self.terms.iter().enumerate() {
            let keys = match term.role {
                QuestionTermRole::Date => self.dated.to_vec(),
                _ => self.eldest(&term.text, COMMON)?,
            };
            rarities.push(self.rarity(&keys) * weight_of(term.role));
            match keys.len() {
                _ if matches!(
                    term.role,
                    QuestionTermRole::Related { .. } | QuestionTermRole::Kind { .. }
                ) =>
                {
                    if keys.len() < COMMON {
                        related.push((nth, keys));
                    }
                }
                0 => absent |= 1 << nth,
                COMMON if term.role != QuestionTermRole::Date => common.push(nth),
                _ => {
                    rare |= 1 << nth;
                    found = merged(found, keys, 1 << nth);
                }
            }
        }
        for &nth in common.iter().filter(|_| rare != 0) {
            let both = format!("({}) AND ({})", self.terms[nth].text, self.any(rare));
            found = merged(found, self.eldest(&both, usize::MAX)?, 1 << nth);
        }
        if found.len() < self.enough() {
            found = self.and_common(found, &common)?;
        }
        for (nth, keys) in related {
            found = merged(found, keys, 1 << nth);
        }
        let kinds = self.terms.iter().zip(0..).filter(|it| is_kind(it.0));
        let own = !kinds.fold(0, |all: TermSet, (_, nth)| all | 1 << nth);
        let all = found.into_iter().map(|(key, words)| (worth(words & own, &rarities), key, words));
        Ok((self.worthiest(all.collect())?, rarities, absent))
    }

    /// Adds candidates for common words: nodes with all of them, and labels with one of them.
    /// Where these are too few, the newest nodes follow.
    fn and_common(
        &self,
        mut found: NodesWithTerms,
        common: &[usize],
    ) -> Result<NodesWithTerms, Error> {
        let n_max = NEWEST_PER_NODE * self.n_max;
        if 1 < common.len() {
            let texts: Vec<&str> = common.iter().map(|&it| self.terms[it].text.as_str()).collect();
            let all = common.iter().fold(0, |all, nth| all | 1 << nth);
            found = merged(found, self.newest(&texts.join(" AND "), n_max)?, all);
        }
        for &nth in common {
            found = merged(found, self.newest(&self.in_label(1 << nth), n_max)?, 1 << nth);
        }
        if found.len() < self.enough() {
            for &nth in common {
                let keys = self.newest(&self.terms[nth].text, self.enough())?;
                found = merged(found, keys, 1 << nth);
            }
        }
        Ok(found)
    }

    /// Keeps the best `n_max`. Among nodes with equal terms, those with a term in the label come
    /// first, then the newest.
    fn worthiest(&self, mut all: Vec<(f64, NodeRowId, TermSet)>) -> Result<NodesWithTerms, Error> {
        if self.n_max < all.len() {
            all.select_nth_unstable_by(self.n_max, |a, b| b.0.total_cmp(&a.0));
            let (least, _, words) = all[self.n_max];
            let mut last: Vec<_> = all.iter().copied().filter(|it| it.0 == least).collect();
            all.retain(|it| least < it.0);
            last.sort_unstable_by_key(|it| Reverse(it.1));
            let mut labelled = self.newest(&self.in_label(words), NEWEST_PER_NODE * self.n_max)?;
            labelled.sort_unstable();
            let (first, rest): (Vec<_>, Vec<_>) =
                last.into_iter().partition(|it| labelled.binary_search(&it.1).is_ok());
            all.extend(first.into_iter().chain(rest));
            all.truncate(self.n_max);
        }
        Ok(all.into_iter().map(|(_, key, words)| (key, words)).collect())
    }

    fn enough(&self) -> usize {
        ENOUGH.min(self.n_max)
    }

    /// Returns at most `n_max` matches of an expression, oldest first: the order of the index.
    fn eldest(&self, expression: &str, n_max: usize) -> Result<Vec<NodeRowId>, Error> {
        let found =
            self.reader.matching(expression, &self.filter, MatchAgeOrder::EldestFirst, n_max)?;
        Ok(found.unwrap_or_default())
    }

    /// Returns at most `n_max` matches, newest first, which takes twice as long as
    /// [`Self::eldest`].
    fn newest(&self, expression: &str, n_max: usize) -> Result<Vec<NodeRowId>, Error> {
        let found =
            self.reader.matching(expression, &self.filter, MatchAgeOrder::NewestFirst, n_max)?;
        Ok(found.unwrap_or_default())
    }

    /// Returns the full-text expression for any of those terms in a label.
    fn in_label(&self, words: TermSet) -> String {
        format!("label : ({})", self.any(words))
    }

    /// Returns the full-text expression for any of those terms.
    fn any(&self, words: TermSet) -> String {
        let terms = self.terms.iter().enumerate().filter(|(nth, _)| words & (1 << nth) != 0);
        terms.map(|(_, term)| term.text.as_str()).collect::<Vec<_>>().join(" OR ")
    }

    /// Returns the weight of each term, 1 for a word that one node alone has. Words side by side
    /// have none where each is a term, too; nor has an absent word that only asks.
    fn weights(&self, rarities: &[f64], absent: TermSet) -> Vec<f64> {
        let of_one = (1.0 + (self.n_born as f64 - 1.0).max(0.0) / 1.5).ln().max(f64::MIN_POSITIVE);
        let is_only = self.terms.iter().all(|it| it.unit == TermUnitKind::Adjacency);
        let weight = |(nth, (term, rarity)): (usize, (&Term, &f64))| {
            let is_absent = absent & (1 << nth) != 0;
            let n_words = match term.unit {
                TermUnitKind::Adjacency if !is_only => 0.0,
                TermUnitKind::Phrase { n_words } => f64::from(n_words),
                TermUnitKind::Bigram(pair) if is_absent => {
                    share_of_absent(pair, self.terms, absent)
                }
                _ if is_absent && term.is_asking() => 0.0,
                _ => 1.0,
            };
            n_words * (rarity / of_one).min(1.0)
        };
        self.terms.iter().zip(rarities).enumerate().map(weight).collect()
    }

    /// Returns the inverse document frequency of a term, given its oldest matches.
    fn rarity(&self, keys: &[NodeRowId]) -> f64 {
        let n_nodes = self.n_born as f64;
        let n_having = match keys.last() {
            // Extrapolated: the term is assumed as frequent among newer nodes.
            Some(last) if COMMON <= keys.len() => keys.len() as f64 * n_nodes / last.0 as f64,
            _ => keys.len() as f64,
        };
        (1.0 + (n_nodes - n_having).max(0.0) / (n_having + 0.5)).ln()
    }
}

fn weight_of(role: QuestionTermRole) -> f64 {
    match role {
        QuestionTermRole::Subject | QuestionTermRole::Date => 1.0,
        QuestionTermRole::Asking => ASKING_WEIGHT,
        QuestionTermRole::Related { .. } => RELATED_WEIGHT,
        QuestionTermRole::Kind { .. } => KIND_WEIGHT,
    }
}

/// Returns the summed rarities of a set of terms.
fn worth(words: TermSet, rarities: &[f64]) -> f64 {
    let mut left = words;
    let mut sum = 0.0;
    while left != 0 {
        sum += rarities[left.trailing_zeros() as usize];
        left &= left - 1;
    }
    sum
}

/// Returns the coverage of a set of terms. A related word counts for a part of the one that it
/// stands for, where that is missing.
fn covered(words: TermSet, terms: &[Term], weights: &[f64]) -> RarityWeightedCoverage {
    let has = |nth: usize| words & (1 << nth) != 0;
    let mut coverage = RarityWeightedCoverage { share: 0.0, weight: 0.0, n_words: 0 };
    let mut total = 0.0;
    for (nth, (term, weight)) in terms.iter().zip(weights).enumerate() {
        match term.role {
            QuestionTermRole::Related { of } => {
                if has(nth) && !has(of) {
                    coverage.weight += RELATED_SHARE * weights[of];
                }
                continue;
            }
            QuestionTermRole::Kind { .. } => continue,
            QuestionTermRole::Subject | QuestionTermRole::Date | QuestionTermRole::Asking => (),
        }
        total += weight;
        if has(nth) && 0.0 < *weight {
            coverage.weight += weight;
            coverage.n_words += 1;
        }
    }
    // Words that all nodes have tell nothing apart, but are all of such a question.
    coverage.share = match (0.0 < total, words) {
        (true, _) => coverage.weight / total,
        (false, 0) => 0.0,
        (false, _) => 1.0,
    };
    coverage
}

/// Returns the part of a question that a set of terms is, by term. A word that no node has counts
/// more than its rarity: what it means was never told.
fn shares(words: TermSet, terms: &[Term], weights: &[f64], absent: TermSet) -> Vec<f64> {
    let has = |nth: usize, set: TermSet| set & (1 << nth) != 0;
    let part_of = |role: QuestionTermRole| match role {
        QuestionTermRole::Related { .. } | QuestionTermRole::Kind { .. } => 0.0,
        QuestionTermRole::Subject | QuestionTermRole::Date | QuestionTermRole::Asking => 1.0,
    };
    let weight = |(nth, (term, weight)): (usize, (&Term, &f64))| {
        let absence = match term.is_name {
            _ if !has(nth, absent) => 1.0,
            true => ABSENT_NAME_WEIGHT,
            false => ABSENT_WEIGHT,
        };
        part_of(term.role) * absence * weight
    };
    let weights: Vec<f64> = terms.iter().zip(weights).enumerate().map(weight).collect();
    let total: f64 = weights.iter().sum();
    if total <= 0.0 {
        // Words that all nodes have tell nothing apart, but are all of such a question.
        return vec![if words == 0 { 0.0 } else { 1.0 }];
    }
    let mut shares = vec![0.0; terms.len()];
    for (nth, term) in terms.iter().enumerate().filter(|it| has(it.0, words)) {
        match term.role {
            QuestionTermRole::Related { of } if !has(of, words) => {
                shares[of] = RELATED_SHARE * weights[of] / total;
            }
            _ => shares[nth] = weights[nth] / total,
        }
    }
    shares
}

/// Merges `keys`, which have `words`, into `found`: each node once, with all its known terms.
fn merged(mut found: NodesWithTerms, keys: Vec<NodeRowId>, words: TermSet) -> NodesWithTerms {
    found.extend(keys.into_iter().map(|key| (key, words)));
    // A stable sort: these are two sorted runs.
    found.sort_by_key(|it| it.0);
    found.dedup_by(|next, kept| {
        let is_same = next.0 == kept.0;
        kept.1 |= if is_same { next.1 } else { 0 };
        is_same
    });
    found
}

#[cfg(test)]
mod tests;
