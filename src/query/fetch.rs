//! Fetch: a node's text, and the nodes around it that help to understand it.
//!
//! The anchor is the last block. Before it come its ancestors, outermost first, the siblings
//! nearest to it, and its descendants, each in document order. They are chosen by kind before
//! warmth, so that no hot cousin takes the place of a parent: ancestors, children, deeper
//! descendants, siblings. Where the anchor has no text of its own, its descendants come first of
//! all.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::{Answer, Error, Output, ViewKind, block_facts, budget, excerpt, node_by_id, rank};
use crate::model::heat;
use crate::query::render;
use crate::store::NodeKey;
use crate::store::reader::{NodeHead, Reader};
use crate::text::tokens;

/// Ancestors examined.
const ANCESTORS_MAX: usize = 256;
/// Descendants examined.
const DESCENDANTS_MAX: usize = 1_024;
/// Siblings examined on each side.
const SIBLINGS_MAX: usize = 32;
/// Tokens of a block's head, without the file's path.
const FRAME_TOKENS: u32 = 26;
/// Tokens between two blocks.
const SEPARATOR_TOKENS: u32 = 3;
/// Smaller budgets need exact counts instead of estimates.
const SMALL_BUDGET: u32 = 2_000;

/// A request for a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FetchQuery<'a> {
    /// Its id.
    pub(crate) anchor: &'a str,
    /// Levels below it.
    pub(crate) levels: u32,
}

/// Returns a node's text, preceded by its surroundings, in at most `max` tokens of text.
pub(super) fn fetch(
    reader: &Reader,
    query: &FetchQuery<'_>,
    max: u32,
    output: Output,
) -> Result<Answer, Error> {
    let head = node_by_id(reader, query.anchor)?;
    Neighbourhood::around(reader, head, query.levels)?.answer(reader, max, output)
}

/// An anchor, its text, and the nodes around it in order of worth.
struct Neighbourhood {
    anchor: Relative,
    content: String,
    relatives: Vec<Relative>,
    /// Whether there are more nodes than were examined.
    is_partial: bool,
}

impl Neighbourhood {
    fn around(reader: &Reader, anchor: NodeHead, levels: u32) -> Result<Neighbourhood, Error> {
        let attended = reader.attended()?;
        let mut relatives: Vec<Relative> = Vec::new();
        let mut add = |head: NodeHead, relation: Relation, distance: usize, order: usize| {
            // Container nodes have no text to show.
            if 0 < head.tokens {
                relatives.push(Relative::new(head, relation, distance, order, attended));
            }
        };
        let ancestors = reader.ancestors(anchor.key, ANCESTORS_MAX)?;
        for (at, head) in ancestors.into_iter().enumerate() {
            add(head, Relation::Ancestor, at + 1, ANCESTORS_MAX - at);
        }
        let mut below = reader.descendants(anchor.key, levels, DESCENDANTS_MAX + 1)?;
        let is_partial = DESCENDANTS_MAX < below.len();
        below.truncate(DESCENDANTS_MAX);
        for (order, (head, distance)) in
            in_document_order(below, anchor.key).into_iter().enumerate()
        {
            add(head, Relation::Descendant, distance, order);
        }
        let siblings = reader.siblings(&anchor, SIBLINGS_MAX)?;
        for (order, head) in siblings.into_iter().enumerate() {
            add(head, Relation::Sibling, 2, order);
        }
        by_worth(&mut relatives, &anchor);
        let content = reader.contents(&[anchor.key])?.remove(&anchor.key).unwrap_or_default();
        let anchor = Relative::new(anchor, Relation::Anchor, 0, 0, attended);
        Ok(Neighbourhood { anchor, content, relatives, is_partial })
    }

    fn answer(&self, reader: &Reader, max: u32, output: Output) -> Result<Answer, Error> {
        let own = self.anchor.block(&self.content);
        let prices = self.prices(max);
        let own_price = (own.len() as u32).min(estimate(&self.anchor.head));
        let room = max.saturating_sub(own_price).saturating_sub(SEPARATOR_TOKENS);
        let chosen = budget::choose_within(&prices, room);
        let keys: Vec<NodeKey> = chosen.iter().map(|&at| self.relatives[at].head.key).collect();
        let contents = reader.contents(&keys)?;
        let render = |chosen: &[usize]| {
            let mut blocks: Vec<String> =
                self.left_out(&prices, chosen).map(|it| it.line() + "\n").into_iter().collect();
            let around = self.in_order(chosen);
            blocks.extend(around.into_iter().map(|it| it.block(it.content(&contents))));
            blocks.push(own.clone());
            Ok::<_, Error>(render::render_blocks(&blocks))
        };
        let bound = |chosen: &[usize]| {
            let own = self.anchor.bound(&self.content)?;
            chosen.iter().try_fold(own.saturating_add(budget::BLOCK_REST_TOKENS), |sum, &at| {
                let it = &self.relatives[at];
                Some(u32::saturating_add(sum, it.bound(it.content(&contents))?))
            })
        };
        let settled = budget::render_within(Some(max), chosen, bound, render)?;
        let cut = match &settled {
            None if !tokens::fits(&own, max) => {
                Some(excerpt::cut(&self.anchor.head, self.anchor.score, &self.content, max))
            }
            _ => None,
        };
        let (chosen, text) = settled.unwrap_or((Vec::new(), own));
        let around = self.in_order(&chosen);
        let structured = output.json(|| {
            let mut nodes: Vec<Value> =
                around.iter().map(|it| it.facts(it.content(&contents), None)).collect();
            nodes.push(match &cut {
                None => self.anchor.facts(&self.content, None),
                Some(cut) => self.anchor.facts(&cut.content, Some(cut.needs)),
            });
            let anchor = Value::String(self.anchor.head.id.clone());
            let mut all = Value::from_iter([("anchor", anchor), ("nodes", nodes.into())]);
            if let Some(rest) = self.left_out(&prices, &chosen) {
                all["left_out"] = rest.facts();
            }
            all
        });
        let shown = around.into_iter().chain([&self.anchor]);
        let shown = shown.map(|it| (it.head.key, ViewKind::Read)).collect();
        Ok(Answer { text: cut.map_or(text, |it| it.block), structured, shown, budget: None })
    }

    /// Returns the cost of each block: counted for as many as a small budget holds, else
    /// estimated.
    fn prices(&self, max: u32) -> Vec<u32> {
        let n_counted = if max < SMALL_BUDGET { (max / FRAME_TOKENS + 1) as usize } else { 0 };
        let price = |(at, it): (usize, &Relative)| match at < n_counted {
            true => excerpt::tokens_needed(&it.head, it.score).saturating_add(SEPARATOR_TOKENS),
            false => estimate(&it.head),
        };
        self.relatives.iter().enumerate().map(price).collect()
    }

    fn in_order(&self, chosen: &[usize]) -> Vec<&Relative> {
        let mut chosen: Vec<&Relative> = chosen.iter().map(|&at| &self.relatives[at]).collect();
        chosen.sort_by_key(|it| (it.relation, it.order));
        chosen
    }

    fn left_out(&self, prices: &[u32], chosen: &[usize]) -> Option<OmittedNodes> {
        let sum = |prices: &mut dyn Iterator<Item = u32>| prices.map(u64::from).sum::<u64>();
        let tokens =
            sum(&mut prices.iter().copied()) - sum(&mut chosen.iter().map(|&at| prices[at]));
        let n_nodes = prices.len() - chosen.len();
        let is_at_least = self.is_partial;
        (0 < n_nodes || is_at_least).then_some(OmittedNodes { n_nodes, tokens, is_at_least })
    }
}

/// Estimates the tokens of a node's block from stored counts.
fn estimate(head: &NodeHead) -> u32 {
    let frame = FRAME_TOKENS + head.path.as_ref().map_or(0, |it| it.len() as u32 / 3);
    frame.saturating_add(head.tokens)
}

/// A node's relation to the anchor, in the order of the reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Relation {
    Ancestor,
    Sibling,
    Descendant,
    Anchor,
}

struct Relative {
    head: NodeHead,
    relation: Relation,
    /// Steps through the tree.
    distance: usize,
    /// Position in the reply among those of the same relation.
    order: usize,
    temperature: f64,
    score: f64,
}

impl Relative {
    fn new(
        head: NodeHead,
        relation: Relation,
        distance: usize,
        order: usize,
        attended: i64,
    ) -> Relative {
        let temperature = head.heat.now(attended);
        let score = heat::score(rank::relative_relevance(distance), temperature);
        Relative { head, relation, distance, order, temperature, score }
    }

    fn content<'a>(&self, contents: &'a HashMap<NodeKey, String>) -> &'a str {
        contents.get(&self.head.key).map_or("", String::as_str)
    }

    fn block(&self, content: &str) -> String {
        render::render_block(&self.head, self.score, content)
    }

    /// Returns an upper bound for the tokens of the block, if one is known.
    fn bound(&self, content: &str) -> Option<u32> {
        let top = render::render_block_head(&self.head, self.score);
        budget::block_bound(&top, self.head.tokens, content)
    }

    fn facts(&self, content: &str, needs: Option<u32>) -> Value {
        let mut facts = block_facts(&self.head, (self.temperature, self.score), content, needs);
        facts["relation"] = json!(match self.relation {
            Relation::Ancestor => "ancestor",
            Relation::Sibling => "sibling",
            Relation::Descendant => "descendant",
            Relation::Anchor => "anchor",
        });
        facts
    }
}

/// The nodes left out of a reply.
struct OmittedNodes {
    n_nodes: usize,
    tokens: u64,
    is_at_least: bool,
}

impl OmittedNodes {
    fn line(&self) -> String {
        match self.is_at_least {
            true => render::render_folded(self.n_nodes as u64, self.tokens, true),
            false => render::render_left_out(self.n_nodes, "node", self.tokens, "tokens"),
        }
    }

    fn facts(&self) -> Value {
        json!({ "nodes": self.n_nodes, "tokens": self.tokens, "at_least": self.is_at_least })
    }
}

/// Sorts the relatives of an anchor by worth, best first.
fn by_worth(relatives: &mut [Relative], anchor: &NodeHead) {
    let before = relatives.iter().filter(|it| it.relation == Relation::Sibling);
    let own_order = before.filter(|it| it.head.position < anchor.position).count();
    let parts_first = anchor.tokens == 0;
    relatives.sort_by(|a, b| {
        let class = |it: &Relative| match (it.relation, it.distance) {
            (Relation::Descendant, _) if parts_first => (0, 0),
            (Relation::Ancestor, distance) => (1, distance),
            (Relation::Descendant, distance) => (2, distance),
            (Relation::Sibling, _) | (Relation::Anchor, _) => (3, 0),
        };
        let warmth = |it: &Relative| if class(it).0 == 0 { 0.0 } else { it.score };
        let step = |it: &Relative| match it.relation {
            Relation::Sibling => it.order.abs_diff(own_order),
            _ => it.order,
        };
        class(a).cmp(&class(b)).then(warmth(b).total_cmp(&warmth(a))).then(step(a).cmp(&step(b)))
    });
}

/// Returns the nodes below `top` with their distances, in document order.
fn in_document_order(heads: Vec<NodeHead>, top: NodeKey) -> Vec<(NodeHead, usize)> {
    let mut children: HashMap<NodeKey, Vec<NodeHead>> = HashMap::new();
    for head in heads {
        if let Some(parent) = head.parent {
            children.entry(parent).or_default().push(head);
        }
    }
    let mut ordered = Vec::new();
    let mut open: Vec<(NodeHead, usize)> = Vec::new();
    let mut enter = |open: &mut Vec<(NodeHead, usize)>, parent: NodeKey, distance: usize| {
        let mut of_parent = children.remove(&parent).unwrap_or_default();
        of_parent.sort_unstable_by_key(|it| std::cmp::Reverse(it.position));
        open.extend(of_parent.into_iter().map(|it| (it, distance)));
    };
    enter(&mut open, top, 1);
    while let Some((head, distance)) = open.pop() {
        enter(&mut open, head.key, distance + 1);
        ordered.push((head, distance));
    }
    ordered
}
