//! Lexical relevance: the share of a question's words that a node has, weighed by their rarity.
//!
//! It is absolute: a node with every word has 1, so that an answer can say that nothing is
//! relevant. Words in [`COMMON`] or more nodes are looked up among the nodes with rarer words;
//! where these are few, also among concepts, labels and the newest nodes.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use crate::model::tree::NodeType;
use crate::query::{
    QuestionTermRole, Term, TermUnitKind, has_written_name, parse_query, whole_or_in_bigrams,
};
use crate::store::reader::{ArchivedVisibility, MatchAgeOrder, NodeFilter, Reader};
use crate::store::{NodeRowId, StoreError};

/// A word in this many nodes is common.
const COMMON: usize = 2_000;

/// Nodes from rare words that make looking up common ones needless.
const ENOUGH: usize = 20;

/// Nodes that a common word yields, at most.
const COMMON_MAX: usize = 200;

/// A question's words, with their weights.
#[derive(Clone, Debug)]
pub(super) struct QuestionTerms {
    terms: Vec<Term>,
    /// The words in lower case, to find them again in a text.
    marks: Vec<String>,
    /// Share of the question that each term is; they add up to 1.
    shares: Vec<f64>,
    /// Whether it has nothing but function words: it asks for what has it as its name.
    pub(super) is_of_function_words: bool,
    /// Whether these ask for nothing by themselves, unlike `The Who`.
    pub(super) tells_nothing: bool,
}

/// Nodes that have words of a question: the sum of the shares, and the set of the terms.
pub(super) type LexicalMatches =
    HashMap<NodeRowId, (f64, u64), BuildHasherDefault<NodeRowIdHasher>>;

/// The terms of nodes, a bit each.
type QueryTermBitsByNode = HashMap<NodeRowId, u64, BuildHasherDefault<NodeRowIdHasher>>;

/// Hashes keys of nodes, which nobody chooses, by one multiplication.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct NodeRowIdHasher(u64);

/// An odd number with bits all over, from the golden ratio.
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

impl Hasher for NodeRowIdHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(GOLDEN);
        }
    }

    fn write_i64(&mut self, number: i64) {
        self.0 = (self.0 ^ number as u64).wrapping_mul(GOLDEN);
    }
}

impl QuestionTerms {
    /// Reads a question and finds the nodes that have words of it. Function words alone, such as
    /// `and of`, ask for nothing.
    pub(super) fn ask(
        reader: &Reader,
        text: &str,
    ) -> Result<(QuestionTerms, LexicalMatches), StoreError> {
        let parsed = parse_query(text);
        let is_whole = |it: &Term| it.unit != TermUnitKind::Adjacency;
        let is_only = !parsed.terms.iter().any(is_whole);
        let is_own = |it: &Term| !matches!(it.role, QuestionTermRole::Related { .. });
        let is_of_function_words = parsed.is_of_function_words;
        let tells_nothing = is_of_function_words && !has_written_name(text);
        let is_asked = |it: &Term| !tells_nothing && is_own(it) && (is_only || is_whole(it));
        let terms: Vec<Term> = parsed.terms.into_iter().filter(is_asked).collect();
        let terms = whole_or_in_bigrams(reader, filter_of(None), terms)?;
        let (marks, shares) = (parsed.marks, Vec::new());
        let mut question =
            QuestionTerms { terms, marks, shares, is_of_function_words, tells_nothing };
        let sets = question.sets(reader)?;
        let shares = &question.shares;
        let sum = |set: u64| -> f64 {
            (0..shares.len()).filter(|nth| set & (1 << nth) != 0).map(|nth| shares[nth]).sum()
        };
        let matches = sets.into_iter().map(|(key, set)| (key, (sum(set), set))).collect();
        Ok((question, matches))
    }

    /// Finds the terms of each node, and sets the shares.
    fn sets(&mut self, reader: &Reader) -> Result<QueryTermBitsByNode, StoreError> {
        let n_nodes = reader.n_ever_created()? as f64;
        let (mut sets, mut rare, mut common) = (QueryTermBitsByNode::default(), 0_u64, Vec::new());
        let mut rarities = Vec::with_capacity(self.terms.len());
        for (nth, term) in self.terms.iter().enumerate() {
            let keys = matching(reader, &term.text, None, MatchAgeOrder::EldestFirst, COMMON)?;
            let n_having = match keys.last() {
                Some(last) if COMMON <= keys.len() => keys.len() as f64 * n_nodes / last.0 as f64,
                _ => keys.len() as f64,
            };
            rarities.push((1.0 + (n_nodes - n_having).max(0.0) / (n_having + 0.5)).ln());
            if COMMON <= keys.len() {
                common.push(nth);
            } else if !keys.is_empty() {
                rare |= 1 << nth;
                add(&mut sets, keys, nth);
            }
        }
        for &nth in common.iter().filter(|_| rare != 0) {
            let both = format!("({}) AND ({})", self.terms[nth].text, self.any(rare));
            add(&mut sets, matching(reader, &both, None, MatchAgeOrder::EldestFirst, COMMON)?, nth);
        }
        if sets.len() < ENOUGH {
            self.add_common(reader, &common, &mut sets)?;
        }
        let total: f64 = rarities.iter().sum();
        self.shares = rarities.iter().map(|it| it / total.max(f64::MIN_POSITIVE)).collect();
        Ok(sets)
    }

    /// Adds concepts, labels and the newest nodes with common words.
    fn add_common(
        &self,
        reader: &Reader,
        common: &[usize],
        sets: &mut QueryTermBitsByNode,
    ) -> Result<(), StoreError> {
        let newest = MatchAgeOrder::NewestFirst;
        let all: Vec<&str> = common.iter().map(|&nth| self.terms[nth].text.as_str()).collect();
        if 1 < all.len() {
            let keys = matching(reader, &all.join(" AND "), None, newest, COMMON_MAX)?;
            common.iter().for_each(|&nth| add(sets, keys.clone(), nth));
        }
        for &nth in common {
            let text = &self.terms[nth].text;
            let concepts = matching(reader, text, Some(NodeType::Concept), newest, COMMON_MAX)?;
            add(sets, concepts, nth);
            let in_label = format!("label : ({text})");
            add(sets, matching(reader, &in_label, None, newest, COMMON_MAX)?, nth);
            add(sets, matching(reader, text, None, newest, COMMON_MAX)?, nth);
        }
        Ok(())
    }

    fn any(&self, set: u64) -> String {
        let terms = self.terms.iter().enumerate().filter(|(nth, _)| set & (1 << nth) != 0);
        terms.map(|(_, it)| it.text.as_str()).collect::<Vec<_>>().join(" OR ")
    }

    /// Returns the share of the question's words that occur within a text, even inside of words.
    pub(super) fn share_in(&self, text: &str) -> f64 {
        if self.marks.is_empty() {
            return 0.0;
        }
        let text = text.to_lowercase();
        let n = self.marks.iter().filter(|it| text.contains(it.as_str())).count();
        n as f64 / self.marks.len() as f64
    }

    /// Returns the words of a set of terms, as the question has them.
    pub(super) fn words_of(&self, set: u64) -> Vec<&str> {
        let terms = self.terms.iter().enumerate().filter(|(nth, _)| set & (1 << nth) != 0);
        terms.map(|(_, it)| it.words.first().unwrap_or(&it.text).as_str()).collect()
    }
}

fn add(sets: &mut QueryTermBitsByNode, keys: Vec<NodeRowId>, nth: usize) {
    keys.into_iter().for_each(|key| *sets.entry(key).or_insert(0) |= 1 << nth);
}

fn matching(
    reader: &Reader,
    expression: &str,
    node_type: Option<NodeType>,
    order: MatchAgeOrder,
    n_max: usize,
) -> Result<Vec<NodeRowId>, StoreError> {
    Ok(reader.matching(expression, &filter_of(node_type), order, n_max)?.unwrap_or_default())
}

fn filter_of(node_type: Option<NodeType>) -> NodeFilter<'static> {
    NodeFilter { node_type, archived: ArchivedVisibility::Shown, ..NodeFilter::default() }
}
