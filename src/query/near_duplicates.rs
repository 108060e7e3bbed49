//! Near duplicates: nodes that have almost the same words as a text.

use std::collections::HashSet;

use super::words::parse_query;
use super::{Error, candidates};
use crate::model::tree::NodeType;
use crate::store::reader::{NodeFilter, NodeHead, Reader};

/// Distinct words of a text, at least; fewer are alike by chance.
const WORDS_MIN: usize = 4;
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
    let n_max = COMPARED_MAX + except.len();
    let matches = candidates::match_words(reader, &asked.terms, NodeFilter::default(), n_max)?;
    let keys: Vec<_> = matches.iter().map(|it| it.node.key).collect();
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
