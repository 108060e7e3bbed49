//! Near duplicates: nodes that have almost the same words as a text.
//!
//! Every write asks, and the answer is not worth the time of a search. So the index is asked for
//! few words, the longest first, since these are mostly the rarest, and for few nodes of each.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use super::Error;
use super::words::{Term, TermRole, parse_query};
use crate::model::tree::NodeType;
use crate::store::NodeKey;
use crate::store::reader::{MatchOrder, NodeFilter, NodeHead, Reader};

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

/// Returns the node whose words are nearly those of `text`, if there is one; never one of `except`.
/// The words of a long text count up to the limit of a query.
pub(crate) fn near_duplicate(
    reader: &Reader,
    text: &str,
    except: &[String],
) -> Result<Option<NodeHead>, Error> {
    let asked = parse_query(text);
    let words: HashSet<&str> = asked.marks.iter().map(String::as_str).collect();
    if words.len() < WORDS_MIN {
        return Ok(None);
    }
    let keys = candidates(reader, &asked.terms, COMPARED_MAX + except.len())?;
    let contents = reader.contents(&keys)?;
    let mut best: Option<(f64, NodeHead)> = None;
    for head in reader.heads(&keys)? {
        if except.contains(&head.id) || head.node_type == NodeType::Heading.as_str() {
            continue;
        }
        let content = contents.get(&head.key).map_or("", String::as_str);
        let other = parse_query(content);
        let other: HashSet<&str> = other.marks.iter().map(String::as_str).collect();
        let n_shared = words.intersection(&other).count() as f64;
        let shared = n_shared / words.union(&other).count() as f64;
        let is_better = best.as_ref().is_none_or(|(most, it)| {
            shared.total_cmp(most).then_with(|| it.id.cmp(&head.id)).is_gt()
        });
        if SHARED_MIN <= shared && is_better {
            best = Some((shared, head));
        }
    }
    Ok(best.map(|(_, head)| head))
}

/// Returns nodes that may be near duplicates, at most `n_max`: those with most of the telling
/// words, or with several common words where no word tells anything.
fn candidates(reader: &Reader, terms: &[Term], n_max: usize) -> Result<Vec<NodeKey>, Error> {
    let mut longest: Vec<&str> =
        terms.iter().filter(|it| it.role == TermRole::Subject).map(|it| &it.text[..]).collect();
    longest.sort_by_key(|text| Reverse(text.chars().count()));
    let filter = reader.simplified(NodeFilter::default())?;
    let nodes = |expression: &str, n_max| {
        let found = reader.matching(expression, &filter, MatchOrder::EldestFirst, n_max)?;
        Ok::<_, Error>(found.unwrap_or_default())
    };
    let mut n_words: HashMap<NodeKey, usize> = HashMap::new();
    let (mut n_telling, mut common) = (0, Vec::new());
    for &term in longest.iter().take(LOOKED_UP_MAX) {
        match nodes(term, COMMON)? {
            // The text itself is there already.
            keys if keys.len() < 2 => continue,
            keys if keys.len() < COMMON => {
                n_telling += 1;
                keys.into_iter().for_each(|key| *n_words.entry(key).or_default() += 1);
            }
            _ => common.push(term),
        }
        if n_telling == TELLING_ENOUGH {
            break;
        }
    }
    if n_telling == 0 {
        common.truncate(TELLING_ENOUGH);
        return nodes(&common.join(" AND "), n_max);
    }
    let mut found: Vec<(NodeKey, usize)> = n_words.into_iter().collect();
    found.sort_by_key(|&(key, n)| (Reverse(n), key));
    found.truncate(n_max);
    Ok(found.into_iter().map(|(key, _)| key).collect())
}
