//! Related nodes: those that references lead to from an anchor, and those that refer to it.
//!
//! Nodes are visited breadth first, each once. A node's weight is the greatest sum of edge weights
//! over its shortest paths. Heavier nodes come first, warmer ones among equals.

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};

use super::{
    AccessKind, Answer, Error, OutputFormat, budget_enforcement, facts, hundredths, node_by_id,
};
use crate::query::render;
use crate::store::NodeRowId;
use crate::store::reader::{ArchivedVisibility, EdgeDirection, NodeSummary, Reader};

/// Default and greatest number of hops.
const HOPS: (u32, u32) = (1, 5);
/// Nodes that a reply chooses from.
const NODES_MAX: usize = 100;
/// Edges examined.
const EDGES_MAX: usize = 20_000;

/// A query for the nodes related to a node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RelatedQuery<'a> {
    /// Its id.
    pub(crate) anchor: &'a str,
    pub(crate) direction: Direction,
    /// Hops, 1 to 5; `None` or less than one: 1.
    pub(crate) depth: Option<i64>,
    /// Edges of less weight are ignored.
    pub(crate) weight_min: f64,
    /// Whether archived memories are walked through and shown.
    pub(crate) archived: ArchivedVisibility,
}

/// The direction in which references are followed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Direction {
    /// From source to target.
    Out,
    /// From target to source.
    In,
    #[default]
    Both,
}

impl Direction {
    /// The names of the directions.
    pub(crate) const NAMES: &[&str] = &["out", "in", "both"];

    /// Returns the direction of that name.
    pub(crate) fn parse(name: &str) -> Option<Direction> {
        match name {
            "out" => Some(Direction::Out),
            "in" => Some(Direction::In),
            "both" => Some(Direction::Both),
            _ => None,
        }
    }

    fn ways(self) -> &'static [EdgeDirection] {
        match self {
            Direction::Out => &[EdgeDirection::Out],
            Direction::In => &[EdgeDirection::In],
            Direction::Both => &[EdgeDirection::Out, EdgeDirection::In],
        }
    }
}

/// Returns the nodes that references connect with a node, heaviest first, in at most `max` tokens
/// of text.
pub(super) fn related(
    reader: &Reader,
    query: &RelatedQuery<'_>,
    max: u32,
    output: OutputFormat,
) -> Result<Answer, Error> {
    let anchor = node_by_id(reader, query.anchor)?;
    let hops = super::clamp_levels(query.depth, HOPS.0).min(HOPS.1);
    let walk = walk(reader, anchor.key, query, hops)?;
    let mut found = neighbours(reader, &walk)?;
    let is_partial = walk.is_partial || NODES_MAX < found.len();
    found.truncate(NODES_MAX);
    let RelatedReply { text, chosen, tokens_left_out } = lines(&found, max)?;
    let nodes: Vec<&Neighbour> = chosen.iter().map(|&at| &found[at]).collect();
    let structured = output.json(|| {
        let mut all = Value::from_iter([
            ("anchor", json!(anchor.id)),
            ("nodes", nodes.iter().map(|it| it.facts()).collect()),
        ]);
        if nodes.len() < found.len() {
            let n_nodes = found.len() - nodes.len();
            all["left_out"] = json!({"nodes": n_nodes, "tokens": tokens_left_out});
        }
        if is_partial {
            all["more"] = json!(true);
        }
        all
    });
    let shown = nodes.iter().map(|it| (it.head.key, AccessKind::Read)).collect();
    Ok(Answer { text, structured, shown, budget: None })
}

/// The nodes reached by a walk.
struct ReachedNodes {
    /// Hops and weight of each node.
    reached: HashMap<NodeRowId, (u32, f64)>,
    /// Whether there were more edges than were examined.
    is_partial: bool,
}

fn walk(
    reader: &Reader,
    start: NodeRowId,
    query: &RelatedQuery<'_>,
    hops: u32,
) -> Result<ReachedNodes, Error> {
    let mut walk = ReachedNodes { reached: HashMap::new(), is_partial: false };
    let mut frontier: HashMap<NodeRowId, f64> = HashMap::from([(start, 0.0)]);
    let mut seen = HashSet::from([start]);
    let mut n_left = EDGES_MAX;
    for hop in 1..=hops {
        let mut keys: Vec<NodeRowId> = frontier.keys().copied().collect();
        keys.sort_unstable();
        let mut next: HashMap<NodeRowId, f64> = HashMap::new();
        for &way in query.direction.ways() {
            let edges = reader.edges(&keys, way, query.weight_min, n_left + 1)?;
            walk.is_partial |= n_left < edges.len();
            for edge in edges.iter().take(n_left).filter(|it| !seen.contains(&it.to)) {
                let weight = frontier.get(&edge.from).copied().unwrap_or(0.0) + edge.weight;
                let best = next.entry(edge.to).or_insert(weight);
                *best = best.max(weight);
            }
            n_left = n_left.saturating_sub(edges.len());
        }
        if query.archived == ArchivedVisibility::Hidden {
            let reached: Vec<NodeRowId> = next.keys().copied().collect();
            for archived in reader.archived_among(&reached)? {
                next.remove(&archived);
            }
        }
        seen.extend(next.keys());
        walk.reached.extend(next.iter().map(|(&key, &weight)| (key, (hop, weight))));
        if next.is_empty() || n_left == 0 {
            break;
        }
        frontier = next;
    }
    Ok(walk)
}

struct Neighbour {
    head: NodeSummary,
    temperature: f64,
    hop: u32,
    weight: f64,
}

impl Neighbour {
    fn line(&self) -> String {
        render::render_related(&self.head, self.hop, self.weight, self.temperature) + "\n"
    }

    fn facts(&self) -> Value {
        let mut facts = facts(&self.head, self.temperature, None);
        facts["hop"] = json!(self.hop);
        facts["weight"] = hundredths(self.weight);
        facts
    }
}

/// Returns the reached nodes, in the order of the reply.
fn neighbours(reader: &Reader, walk: &ReachedNodes) -> Result<Vec<Neighbour>, Error> {
    let attended = reader.attended()?;
    let keys: Vec<NodeRowId> = walk.reached.keys().copied().collect();
    let heads = reader.heads(&keys)?;
    let mut found: Vec<Neighbour> = heads
        .into_iter()
        .filter_map(|head| {
            let &(hop, weight) = walk.reached.get(&head.key)?;
            let temperature = head.heat.now(attended);
            Some(Neighbour { head, temperature, hop, weight })
        })
        .collect();
    found.sort_unstable_by(|a, b| {
        let by_warmth = b.temperature.total_cmp(&a.temperature);
        b.weight.total_cmp(&a.weight).then(by_warmth).then(a.head.key.cmp(&b.head.key))
    });
    Ok(found)
}

/// A reply as lines.
struct RelatedReply {
    text: String,
    /// The indices of the nodes shown.
    chosen: Vec<usize>,
    tokens_left_out: u64,
}

fn lines(found: &[Neighbour], max: u32) -> Result<RelatedReply, Error> {
    if found.is_empty() {
        let text = budget_enforcement::first_fitting(max, ["no related nodes".to_owned()]);
        return Ok(RelatedReply { text, chosen: Vec::new(), tokens_left_out: 0 });
    }
    let pieces: Vec<String> = found.iter().map(Neighbour::line).collect();
    let (prices, n_exact) = budget_enforcement::line_costs(&pieces, max);
    let mut chosen = budget_enforcement::choose_within(&prices, max);
    chosen.retain(|&at| at < n_exact);
    let left_out = |chosen: &[usize]| {
        let all = prices.iter().map(|&it| u64::from(it)).sum::<u64>();
        all - chosen.iter().map(|&at| u64::from(prices[at])).sum::<u64>()
    };
    let render = |chosen: &[usize]| {
        let mut text: String = chosen.iter().map(|&at| pieces[at].as_str()).collect();
        match prices.len() - chosen.len() {
            0 => drop(text.pop()),
            n => text.push_str(&render::render_left_out(n, "node", left_out(chosen), "tokens")),
        }
        Ok::<_, Error>(text)
    };
    let settled = budget_enforcement::render_within(Some(max), chosen, |_| None, render)?;
    let (chosen, text) =
        settled.unwrap_or_else(|| (Vec::new(), budget_enforcement::first_fitting(max, [])));
    let tokens_left_out = left_out(&chosen);
    Ok(RelatedReply { text, chosen, tokens_left_out })
}
