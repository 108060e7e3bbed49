//! Fetch: a node's text, and the nodes around it that help to understand it.
//!
//! The anchor is the last entry. Before it come its ancestors, outermost first, the siblings
//! nearest to it, and its descendants, each in document order. They are chosen by kind before
//! warmth, so that no hot cousin takes the place of a parent: ancestors, children, deeper
//! descendants, siblings. Where the anchor has no text of its own, its descendants come first of
//! all, without a gap. The best that does not fit is cut to what is left.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::excerpt::{BreadcrumbAlreadyShown, CutEntry};
use super::{
    AccessKind, Answer, Error, OutputFormat, QueryOptions, block_facts, budget_enforcement,
    excerpt, node_by_id, rank,
};
use crate::model::heat;
use crate::query::render::{
    self,
    entry::{TextEntry, render_entries},
};
use crate::store::NodeRowId;
use crate::store::reader::{NodeSummary, Reader, TextWithBreadcrumb};
use crate::text::tokens;

/// Ancestors examined.
const ANCESTORS_MAX: usize = 256;
/// Descendants examined.
const DESCENDANTS_MAX: usize = 1_024;
/// Siblings examined on each side.
const SIBLINGS_MAX: usize = 32;
/// Tokens of an entry's frame, without its breadcrumb.
const FRAME_TOKENS: u32 = 12;
/// Least tokens of an entry's frame, without its breadcrumb.
const FRAME_TOKENS_MIN: u32 = 6;
/// Least tokens for a part of a node beside whole ones.
const CUT_TOKENS_MIN: u32 = 40;

/// A request for a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FetchQuery<'a> {
    /// Its id.
    pub(crate) anchor: &'a str,
    /// Levels below it.
    pub(crate) levels: u32,
    /// Whether entries tell when their texts last changed.
    pub(crate) has_dates: bool,
}

/// Returns a node's text, preceded by its surroundings, in at most `max` tokens of text.
pub(super) fn fetch(
    reader: &Reader,
    query: &FetchQuery<'_>,
    max: u32,
    options: &QueryOptions,
) -> Result<Answer, Error> {
    let head = node_by_id(reader, query.anchor)?;
    let mut found = AnchorNeighbourhood::around(reader, head, query.levels)?;
    let all = found.relatives.iter_mut().chain([&mut found.anchor]);
    reader.mark_left_out(all.map(|it| &mut it.head), options.now)?;
    if query.has_dates {
        let all = found.relatives.iter_mut().chain([&mut found.anchor]);
        reader.date_nodes(all.map(|it| &mut it.head))?;
    }
    found.answer(reader, max, options.output)
}

/// An anchor, its text, and the nodes around it in order of worth.
struct AnchorNeighbourhood {
    anchor: NeighbourhoodNode,
    text: TextWithBreadcrumb,
    relatives: Vec<NeighbourhoodNode>,
    /// Whether there are more nodes than were examined.
    is_partial: bool,
}

impl AnchorNeighbourhood {
    fn around(
        reader: &Reader,
        anchor: NodeSummary,
        levels: u32,
    ) -> Result<AnchorNeighbourhood, Error> {
        let attended = reader.attended()?;
        let mut relatives: Vec<NeighbourhoodNode> = Vec::new();
        let mut add =
            |head: NodeSummary, relation: RelationToAnchor, distance: usize, order: usize| {
                // Container nodes have no text to show.
                if 0 < head.tokens {
                    relatives
                        .push(NeighbourhoodNode::new(head, relation, distance, order, attended));
                }
            };
        let ancestors = reader.ancestors(anchor.key, ANCESTORS_MAX)?;
        for (at, head) in ancestors.into_iter().enumerate() {
            add(head, RelationToAnchor::Ancestor, at + 1, ANCESTORS_MAX - at);
        }
        let mut below = reader.descendants(anchor.key, levels, DESCENDANTS_MAX + 1)?;
        let is_partial = DESCENDANTS_MAX < below.len();
        below.truncate(DESCENDANTS_MAX);
        for (order, (head, distance)) in
            in_document_order(below, anchor.key).into_iter().enumerate()
        {
            add(head, RelationToAnchor::Descendant, distance, order);
        }
        let siblings = reader.siblings(&anchor, SIBLINGS_MAX)?;
        for (order, head) in siblings.into_iter().enumerate() {
            add(head, RelationToAnchor::Sibling, 2, order);
        }
        by_worth(&mut relatives, &anchor);
        let text = reader.texts(&[anchor.key])?.remove(&anchor.key).unwrap_or_default();
        let anchor = NeighbourhoodNode::new(anchor, RelationToAnchor::Anchor, 0, 0, attended);
        Ok(AnchorNeighbourhood { anchor, text, relatives, is_partial })
    }

    fn answer(&self, reader: &Reader, max: u32, output: OutputFormat) -> Result<Answer, Error> {
        let own = TextEntry::whole(&self.anchor.head, &self.text);
        let own_tokens = own.n_tokens();
        let prices: Vec<u32> = self.relatives.iter().map(|it| estimate(&it.head)).collect();
        let texts = reader.texts(&self.near(max.saturating_sub(own_tokens)))?;
        let (chosen, part) = self.fill(&texts, &own, max);
        let n_filled = chosen.len();
        let part_of = |chosen: &[usize]| part.as_ref().filter(|_| chosen.len() == n_filled);
        let render = |chosen: &[usize]| {
            let part = part_of(chosen);
            let left_out = self.left_out(&prices, chosen, part).map(|it| it.line() + "\n");
            let around = self.in_order(chosen, part);
            let around: Vec<TextEntry<'_>> = around
                .into_iter()
                .map(|at| match part.filter(|it| it.at == at) {
                    Some(part) => part.entry.clone(),
                    None => self.relatives[at].entry(&texts),
                })
                .collect();
            let entries = render_entries(around.iter().chain([&own]));
            Ok::<_, Error>(left_out.unwrap_or_default() + &entries)
        };
        let settled = budget_enforcement::render_within(Some(max), chosen, |_| None, render)?;
        let is_settled = settled.is_some();
        let cut = (!is_settled && max < own_tokens)
            .then(|| excerpt::cut_or_size(&self.anchor.head, &self.text, max));
        let (chosen, text) =
            settled.unwrap_or_else(|| (Vec::new(), render_entries(std::iter::once(&own))));
        let part = part_of(&chosen).filter(|_| is_settled);
        let around = self.in_order(&chosen, part);
        let structured = output.json(|| {
            let mut nodes: Vec<Value> = around
                .iter()
                .map(|&at| {
                    let (it, cut) = (&self.relatives[at], part.filter(|it| it.at == at));
                    let text = it.text(&texts);
                    let shown = cut.map_or(&text.content, |it| &it.cut.content);
                    it.facts(text, shown, cut.map(|it| it.cut.needs))
                })
                .collect();
            nodes.push(match &cut {
                None => self.anchor.facts(&self.text, &self.text.content, None),
                Some(cut) => self.anchor.facts(&self.text, &cut.content, Some(cut.needs)),
            });
            let anchor = Value::String(self.anchor.head.id.clone());
            let mut all = Value::from_iter([("anchor", anchor), ("nodes", nodes.into())]);
            if let Some(rest) = self.left_out(&prices, &chosen, part) {
                all["left_out"] = rest.facts();
            }
            all
        });
        let shown = around.into_iter().map(|at| &self.relatives[at]).chain([&self.anchor]);
        let shown = shown.map(|it| (it.head.key, AccessKind::Read)).collect();
        Ok(Answer { text: cut.map_or(text, |it| it.text), structured, shown, budget: None })
    }

    /// Returns the relatives whose texts may be shown: the best, with some to spare, since one that
    /// does not fit leaves its room to shorter ones.
    fn near(&self, room: u32) -> Vec<NodeRowId> {
        let enough = u64::from(room) + u64::from(room) / 4;
        let mut sum = 0;
        let mut is_near = |head: &NodeSummary| {
            let before = sum;
            sum += u64::from((head.tokens + FRAME_TOKENS_MIN).min(room));
            before <= enough
        };
        let heads = self.relatives.iter().map(|it| &it.head);
        heads.take_while(|it| is_near(it)).map(|it| it.key).collect()
    }

    /// Chooses the relatives that fit beside the anchor, best first, and cuts the best of the
    /// others to what is left. Counts of lines add up, so nothing is measured twice.
    fn fill<'a>(
        &'a self,
        texts: &'a HashMap<NodeRowId, TextWithBreadcrumb>,
        own: &TextEntry<'_>,
        max: u32,
    ) -> (Vec<usize>, Option<TruncatedRelative<'a>>) {
        let read = self.relatives.iter().take_while(|it| texts.contains_key(&it.head.key));
        let entries: Vec<TextEntry<'_>> = read.map(|it| it.entry(texts)).collect();
        let is_all = entries.len() == self.relatives.len() && !self.is_partial;
        let size = |it: &TextEntry<'_>| it.place.len() + it.lines.len();
        if is_all && entries.iter().map(size).sum::<usize>() + size(own) <= max as usize {
            return ((0..entries.len()).collect(), None);
        }
        let lines: Vec<u32> = entries.iter().map(|it| tokens::count(&it.lines)).collect();
        let mut places: HashMap<&str, u32> = HashMap::new();
        for it in entries.iter().chain([own]) {
            places.entry(&it.place).or_insert_with(|| tokens::count(&it.place));
        }
        let own_lines = tokens::count(&own.lines);
        let cost = |ordered: &[usize]| {
            let (mut sum, mut place) = (u64::from(own_lines), "");
            for it in ordered.iter().map(|&at| &entries[at]).chain([own]) {
                if it.place != place {
                    place = &it.place;
                    sum += u64::from(places[place]);
                }
            }
            ordered.iter().fold(sum, |sum, &at| sum + u64::from(lines[at]))
        };
        let choose = |room: u32| {
            let mut chosen = Vec::new();
            let mut ordered: Vec<usize> = Vec::new();
            for at in 0..entries.len() {
                let key = |at: usize| (self.relatives[at].relation, self.relatives[at].order);
                let place = ordered.partition_point(|&it| key(it) < key(at));
                ordered.insert(place, at);
                if cost(&ordered) <= u64::from(room) {
                    chosen.push(at);
                    continue;
                }
                ordered.remove(place);
                if self.is_part(at) {
                    break;
                }
            }
            (chosen, cost(&ordered))
        };
        let (chosen, _) = choose(max);
        if is_all && chosen.len() == entries.len() {
            return (chosen, None);
        }
        let room = max.saturating_sub(budget_enforcement::REST_TOKENS);
        let (chosen, spent) = choose(room);
        let left = room.saturating_sub(u32::try_from(spent).unwrap_or(u32::MAX));
        let next = (0..entries.len()).find(|at| !chosen.contains(at));
        let next = next.filter(|&at| CUT_TOKENS_MIN <= left || self.is_part(at));
        let part = next.and_then(|at| {
            let (head, whole) = (&self.relatives[at].head, &entries[at]);
            let text = self.relatives[at].text(texts);
            let cut = excerpt::cut_entry(head, text, BreadcrumbAlreadyShown::Missing, left)?;
            let lines = cut.text[whole.place.len()..].to_owned();
            Some(TruncatedRelative { at, entry: TextEntry { lines, ..whole.clone() }, cut })
        });
        (chosen, part)
    }

    /// Returns whether a relative is below an anchor without a text of its own.
    fn is_part(&self, at: usize) -> bool {
        self.anchor.head.tokens == 0 && self.relatives[at].relation == RelationToAnchor::Descendant
    }

    /// Returns the relatives that are shown, in the order of the reply.
    fn in_order(&self, chosen: &[usize], part: Option<&TruncatedRelative<'_>>) -> Vec<usize> {
        let mut shown: Vec<usize> = chosen.iter().copied().chain(part.map(|it| it.at)).collect();
        shown.sort_by_key(|&at| (self.relatives[at].relation, self.relatives[at].order));
        shown
    }

    fn left_out(
        &self,
        prices: &[u32],
        chosen: &[usize],
        part: Option<&TruncatedRelative<'_>>,
    ) -> Option<OmittedNodes> {
        let shown = chosen.iter().copied().chain(part.map(|it| it.at));
        let sum = |prices: &mut dyn Iterator<Item = u32>| prices.map(u64::from).sum::<u64>();
        let tokens = sum(&mut prices.iter().copied()) - sum(&mut shown.map(|at| prices[at]));
        let n_nodes = prices.len() - chosen.len() - usize::from(part.is_some());
        let is_at_least = self.is_partial;
        (0 < n_nodes || is_at_least).then_some(OmittedNodes { n_nodes, tokens, is_at_least })
    }
}

/// The relative of the anchor that was cut to the tokens left.
struct TruncatedRelative<'a> {
    at: usize,
    /// The entry with a line about its size.
    entry: TextEntry<'a>,
    cut: CutEntry,
}

/// Estimates the tokens of a node's entry from stored counts.
fn estimate(head: &NodeSummary) -> u32 {
    let frame = FRAME_TOKENS + head.path.as_ref().map_or(0, |it| it.len() as u32 / 3);
    frame.saturating_add(head.tokens)
}

/// A node's relation to the anchor, in the order of the reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum RelationToAnchor {
    Ancestor,
    Sibling,
    Descendant,
    Anchor,
}

struct NeighbourhoodNode {
    head: NodeSummary,
    relation: RelationToAnchor,
    /// Steps through the tree.
    distance: usize,
    /// Position in the reply among those of the same relation.
    order: usize,
    temperature: f64,
    score: f64,
}

impl NeighbourhoodNode {
    fn new(
        head: NodeSummary,
        relation: RelationToAnchor,
        distance: usize,
        order: usize,
        attended: i64,
    ) -> NeighbourhoodNode {
        let temperature = head.heat.now(attended);
        let score = heat::score(rank::relative_relevance(distance), temperature);
        NeighbourhoodNode { head, relation, distance, order, temperature, score }
    }

    fn text<'a>(
        &self,
        texts: &'a HashMap<NodeRowId, TextWithBreadcrumb>,
    ) -> &'a TextWithBreadcrumb {
        static NOTHING: TextWithBreadcrumb =
            TextWithBreadcrumb { breadcrumb: String::new(), content: String::new() };
        texts.get(&self.head.key).unwrap_or(&NOTHING)
    }

    fn entry<'a>(&'a self, texts: &'a HashMap<NodeRowId, TextWithBreadcrumb>) -> TextEntry<'a> {
        TextEntry::whole(&self.head, self.text(texts))
    }

    fn facts(&self, text: &TextWithBreadcrumb, shown: &str, needs: Option<u32>) -> Value {
        let mut facts = block_facts(&self.head, (self.temperature, self.score), shown, needs);
        facts["under"] = json!(TextEntry::with_text(&self.head, text, "").breadcrumb());
        facts["relation"] = json!(match self.relation {
            RelationToAnchor::Ancestor => "ancestor",
            RelationToAnchor::Sibling => "sibling",
            RelationToAnchor::Descendant => "descendant",
            RelationToAnchor::Anchor => "anchor",
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
fn by_worth(relatives: &mut [NeighbourhoodNode], anchor: &NodeSummary) {
    let before = relatives.iter().filter(|it| it.relation == RelationToAnchor::Sibling);
    let own_order = before.filter(|it| it.head.position < anchor.position).count();
    let parts_first = anchor.tokens == 0;
    relatives.sort_by(|a, b| {
        let class = |it: &NeighbourhoodNode| match (it.relation, it.distance) {
            (RelationToAnchor::Descendant, _) if parts_first => (0, 0),
            (RelationToAnchor::Ancestor, distance) => (1, distance),
            (RelationToAnchor::Descendant, distance) => (2, distance),
            (RelationToAnchor::Sibling, _) | (RelationToAnchor::Anchor, _) => (3, 0),
        };
        let warmth = |it: &NeighbourhoodNode| if class(it).0 == 0 { 0.0 } else { it.score };
        let step = |it: &NeighbourhoodNode| match it.relation {
            RelationToAnchor::Sibling => it.order.abs_diff(own_order),
            _ => it.order,
        };
        class(a).cmp(&class(b)).then(warmth(b).total_cmp(&warmth(a))).then(step(a).cmp(&step(b)))
    });
}

/// Returns the nodes below `top` with their distances, in document order.
fn in_document_order(heads: Vec<NodeSummary>, top: NodeRowId) -> Vec<(NodeSummary, usize)> {
    let mut children: HashMap<NodeRowId, Vec<NodeSummary>> = HashMap::new();
    for head in heads {
        if let Some(parent) = head.parent {
            children.entry(parent).or_default().push(head);
        }
    }
    let mut ordered = Vec::new();
    let mut open: Vec<(NodeSummary, usize)> = Vec::new();
    let mut enter = |open: &mut Vec<(NodeSummary, usize)>, parent: NodeRowId, distance: usize| {
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
