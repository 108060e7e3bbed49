//! Near duplicates: nodes that have almost the same words as a text.
//!
//! Every write asks, and the answer is not worth the time of a search. So the index is asked for
//! few words, the longest first, since these are mostly the rarest, and for few nodes of each. A
//! write asks it before it adds its own nodes, on its own connection, whose pages are in memory.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use super::Error;
use super::words::{TermRole, parse_query};
use crate::model::tree::NodeType;
use crate::store::NodeKey;
use crate::store::reader::{NodeHead, Reader};

/// Distinct words of a text, at least; fewer are alike by chance.
const WORDS_MIN: usize = 4;
/// Words of a text that are looked up, at most.
const LOOKED_UP_MAX: usize = 12;
/// Words that tell a few nodes from all others; more are not looked for.
const TELLING_ENOUGH: usize = 4;
/// A word in this many nodes is common, and tells little of a node.
const COMMON: usize = 100;
/// Candidates by the index whose texts are compared.
const COMPARED_MAX: usize = 8;
/// Least part of the words of both texts that they have in common.
const SHARED_MIN: f64 = 0.75;

/// The words of a text whose near duplicates are looked for.
pub(crate) struct WordsOfText {
    words: HashSet<String>,
    /// Full-text expressions of the words to look up, the longest first.
    terms: Vec<String>,
}

impl WordsOfText {
    /// Returns the words of a text; `None` where they are too few. Those of a long text count up to
    /// the limit of a query.
    pub(crate) fn of(text: &str) -> Option<WordsOfText> {
        let asked = parse_query(text);
        let words: HashSet<String> = asked.marks.into_iter().collect();
        let subjects = asked.terms.into_iter().filter(|it| it.role == TermRole::Subject);
        let mut terms: Vec<String> = subjects.map(|it| it.text).collect();
        terms.sort_by_key(|it| Reverse(it.chars().count()));
        terms.truncate(LOOKED_UP_MAX);
        (WORDS_MIN <= words.len()).then_some(WordsOfText { words, terms })
    }

    /// Returns nodes that may be near duplicates: those with most of the telling words, or with
    /// several common words where no word tells anything.
    ///
    /// `nodes_with` returns the eldest nodes that an expression matches, at most so many.
    pub(crate) fn candidates<E>(
        &self,
        nodes_with: impl Fn(&str, usize) -> Result<Vec<NodeKey>, E>,
    ) -> Result<Vec<NodeKey>, E> {
        let mut n_words: HashMap<NodeKey, usize> = HashMap::new();
        let (mut n_telling, mut common) = (0, Vec::new());
        for term in &self.terms {
            let keys = nodes_with(term, COMMON)?;
            if COMMON <= keys.len() {
                common.push(&term[..]);
                continue;
            }
            n_telling += usize::from(!keys.is_empty());
            keys.into_iter().for_each(|key| *n_words.entry(key).or_default() += 1);
            if n_telling == TELLING_ENOUGH {
                break;
            }
        }
        if n_telling == 0 {
            common.truncate(TELLING_ENOUGH);
            return match common.is_empty() {
                true => Ok(Vec::new()),
                false => nodes_with(&common.join(" AND "), COMPARED_MAX),
            };
        }
        n_words.retain(|_, n| n_telling <= 2 * *n);
        let mut found: Vec<(NodeKey, usize)> = n_words.into_iter().collect();
        found.sort_by_key(|&(key, n)| (Reverse(n), key));
        found.truncate(COMPARED_MAX);
        Ok(found.into_iter().map(|(key, _)| key).collect())
    }

    /// Returns the candidate whose words are nearly those of the text, if there is one; never an
    /// archived one or one of `except`.
    pub(crate) fn nearest(
        &self,
        reader: &Reader,
        candidates: &[NodeKey],
        except: &[String],
    ) -> Result<Option<NodeHead>, Error> {
        if candidates.is_empty() {
            return Ok(None);
        }
        let archived = reader.archived_among(candidates)?;
        let contents = reader.contents(candidates)?;
        let mut best: Option<(f64, NodeHead)> = None;
        for head in reader.heads(candidates)? {
            let is_heading = head.node_type == NodeType::Heading.as_str();
            if is_heading || except.contains(&head.id) || archived.contains(&head.key) {
                continue;
            }
            let content = contents.get(&head.key).map_or("", String::as_str);
            let other: HashSet<String> = parse_query(content).marks.into_iter().collect();
            let n_shared = self.words.intersection(&other).count() as f64;
            let shared = n_shared / self.words.union(&other).count() as f64;
            let is_better = best.as_ref().is_none_or(|(most, it)| {
                shared.total_cmp(most).then_with(|| it.id.cmp(&head.id)).is_gt()
            });
            if SHARED_MIN <= shared && is_better {
                best = Some((shared, head));
            }
        }
        Ok(best.map(|(_, head)| head))
    }
}
