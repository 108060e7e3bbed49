//! Near duplicates: nodes that have almost the same words as a text.
//!
//! Every write asks, and the answer is not worth the time of a search. So the index is asked for
//! few words, the longest first, since these are mostly the rarest, and for few nodes of each; it
//! is asked no more once too many words are new. Words known to be common are rarely asked for
//! again ([`CommonWordCache`]). A write asks before it adds its own nodes, on its own connection,
//! whose pages are in memory.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

pub(crate) use common_word_cache::CommonWordCache;

use super::function_words::is_function_word;
use super::query_parser::{QuestionTermRole, parse_query};
use crate::store::{NearDuplicateCandidate, NodeRowId};
use crate::text::spaceless_script_bigrams::{self, ScriptSpacing};

mod common_word_cache;

/// Distinct words of a text, at least; fewer are alike by chance.
const WORDS_MIN: usize = 4;
/// Distinct words of a text that are compared; further ones are ignored.
const WORDS_MAX: usize = 48;
/// Bigrams of a run without spaces that count as words, too.
const PAIRS_MAX: usize = 16;
/// Words of a text that are looked up, at most.
const LOOKED_UP_MAX: usize = 6;
/// Words that tell a few nodes from all others; more are not looked for.
const TELLING_ENOUGH: usize = 4;
/// Common words that a candidate has all of, where no word tells anything.
const COMMON_TOGETHER: usize = 3;
/// A word in this many nodes is common, and tells little of a node.
const COMMON: usize = 50;
/// Candidates by the index whose texts are compared.
const COMPARED_MAX: usize = 8;
/// Least part of the words of both texts that they have in common.
const SHARED_MIN: f64 = 0.75;

/// The words of a text whose near duplicates are looked for.
pub(crate) struct NearDuplicateQuery {
    words: HashSet<String>,
    /// The words to look up, the longest first.
    terms: Vec<LookupTerm>,
}

/// A word to look up, in any of its forms, or a phrase.
struct LookupTerm {
    /// The full-text expression.
    text: String,
    is_word: bool,
}

/// A node that has nearly the words of a text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NearDuplicate {
    pub(crate) node: NearDuplicateCandidate,
    /// The part of the words of both texts that they have in common.
    shared: f64,
}

impl NearDuplicateQuery {
    /// Returns the words of a text; `None` where they are too few. Those of a long text count up to
    /// a limit.
    pub(crate) fn of(text: &str) -> Option<NearDuplicateQuery> {
        let words = words_of(text);
        if words.len() < WORDS_MIN {
            return None;
        }
        let subjects = parse_query(text).terms.into_iter();
        let subjects = subjects.filter(|it| it.role == QuestionTermRole::Subject);
        let mut terms: Vec<LookupTerm> = subjects
            .map(|it| LookupTerm { is_word: !it.words.is_empty(), text: it.text })
            .collect();
        terms.sort_by_key(|it| Reverse(it.text.chars().count()));
        terms.truncate(LOOKED_UP_MAX);
        Some(NearDuplicateQuery { words, terms })
    }

    /// Returns the near duplicates of the text among the nodes that `index` has; never a heading or
    /// an archived node.
    ///
    /// # Errors
    ///
    /// The index fails.
    pub(crate) fn near_duplicates<I: TextIndex>(
        &self,
        index: &I,
        known: &CommonWordCache,
    ) -> Result<Vec<NearDuplicate>, I::Error> {
        let mut near = Vec::new();
        for key in self.candidates(index, known)? {
            let is_fit = |it: &NearDuplicateCandidate| !it.is_heading && !it.is_archived;
            let Some(node) = index.compared_node(key)?.filter(is_fit) else { continue };
            let other = words_of(&node.content);
            let n_shared = self.words.intersection(&other).count();
            let n_all = self.words.len() + other.len() - n_shared;
            let shared = n_shared as f64 / n_all as f64;
            if SHARED_MIN <= shared {
                near.push(NearDuplicate { node, shared });
            }
        }
        Ok(near)
    }

    /// Returns nodes that may be near duplicates: those with most of the telling words, or with
    /// several common words where no word tells anything.
    fn candidates<I: TextIndex>(
        &self,
        index: &I,
        known: &CommonWordCache,
    ) -> Result<Vec<NodeRowId>, I::Error> {
        let mut n_words: HashMap<NodeRowId, usize> = HashMap::new();
        let (mut n_new, mut n_telling, mut common) = (0, 0, Vec::new());
        for LookupTerm { text, is_word } in &self.terms {
            if known.take_use(text) {
                common.push(&text[..]);
                continue;
            }
            let keys = index.nodes_with(text, COMMON)?;
            if COMMON <= keys.len() {
                known.add(text);
                common.push(&text[..]);
                continue;
            }
            n_new += usize::from(*is_word && keys.is_empty());
            n_telling += usize::from(!keys.is_empty());
            keys.into_iter().for_each(|key| *n_words.entry(key).or_default() += 1);
            let n_known = self.words.len().saturating_sub(n_new);
            if (n_known as f64) < SHARED_MIN * self.words.len() as f64 {
                return Ok(Vec::new());
            }
            if n_telling == TELLING_ENOUGH {
                break;
            }
        }
        if n_telling == 0 {
            common.truncate(COMMON_TOGETHER);
            return match common.is_empty() {
                true => Ok(Vec::new()),
                false => index.nodes_with(&common.join(" AND "), COMPARED_MAX),
            };
        }
        n_words.retain(|_, n| n_telling <= 2 * *n);
        let mut found: Vec<(NodeRowId, usize)> = n_words.into_iter().collect();
        found.sort_by_key(|&(key, n)| (Reverse(n), key));
        found.truncate(COMPARED_MAX);
        Ok(found.into_iter().map(|(key, _)| key).collect())
    }
}

/// An index of the nodes' texts.
pub(crate) trait TextIndex {
    /// The error of a lookup.
    type Error;

    /// Returns the eldest nodes that an expression matches, at most `n_max`.
    fn nodes_with(&self, expression: &str, n_max: usize) -> Result<Vec<NodeRowId>, Self::Error>;

    /// Returns a node to compare.
    fn compared_node(&self, key: NodeRowId) -> Result<Option<NearDuplicateCandidate>, Self::Error>;
}

/// Returns the most similar of near duplicates other than the nodes `except`.
pub(crate) fn nearest_duplicate<'a>(
    near: &'a [NearDuplicate],
    except: &[String],
) -> Option<&'a NearDuplicateCandidate> {
    let near = near.iter().filter(|it| !except.contains(&it.node.id));
    let nearest = near.max_by(|one, other| {
        let by_words = one.shared.total_cmp(&other.shared);
        by_words.then_with(|| other.node.id.cmp(&one.node.id))
    });
    nearest.map(|it| &it.node)
}

/// Returns the distinct words of a text, in lower case and without function words.
fn words_of(text: &str) -> HashSet<String> {
    let mut words = HashSet::new();
    for segment in spaceless_script_bigrams::segments(text) {
        let word = segment.text.to_lowercase();
        match segment.script {
            ScriptSpacing::Spaced if is_function_word(&word) => (),
            ScriptSpacing::Spaced => {
                words.insert(word);
            }
            ScriptSpacing::Spaceless => {
                let pairs = spaceless_script_bigrams::bigrams_of_run(&word, PAIRS_MAX);
                words.extend(pairs.iter().map(String::from_iter));
                words.insert(word);
            }
        }
        if WORDS_MAX <= words.len() {
            break;
        }
    }
    words
}

#[cfg(test)]
mod tests;
