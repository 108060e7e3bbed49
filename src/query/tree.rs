//! The tree: labels indented by level; where not everything fits, the warmest branches first.
//!
//! Lines are added from the top down: always the warmest node whose parent is already shown, upper
//! levels first among equals, and the first root of every file before any second. Nodes left out
//! under a parent are folded into one line after its children. The cost follows the output:
//! children are read for shown nodes only, and folded nodes are counted up to a bound.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use serde_json::{Value, json};

use super::{Answer, Error, OutputFormat, budget_enforcement, facts, node_by_id};
use crate::query::render::{self, FileNameVisibility, NodeLineFields};
use crate::store::NodeRowId;
use crate::store::reader::{
    ArchivedVisibility, NodeSummary, Reader, SiblingRangeAfterPage, SubtreeSize,
};
use crate::text::tokens;

/// Least tokens of a line.
const LINE_TOKENS_MIN: u32 = 10;
/// Least number of roots compared by warmth.
const ROOTS_MIN: usize = 1_024;
/// Least number of children compared by warmth; more while there is room for more.
const CHILDREN_MIN: usize = 64;
/// Tokens, and bytes, of a line about folded nodes.
const FOLD_TOKENS: u32 = 15;
const FOLD_BYTES: u32 = 64;
/// Lines tried after the first that did not fit.
const MISSES_MAX: u32 = 16;
/// Folded nodes counted in one reply.
const COUNTED_MAX: u32 = 2_000;

/// A query for the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TreeQuery<'a> {
    /// The id of the top node; `None` or empty: all roots.
    pub(crate) root: Option<&'a str>,
    /// Levels below the roots.
    pub(crate) levels: u32,
    /// Whether archived memories are shown.
    pub(crate) archived: ArchivedVisibility,
}

/// Returns the tree below a node, or below all roots, in at most `max` tokens of text.
pub(super) fn tree(
    reader: &Reader,
    query: &TreeQuery<'_>,
    max: u32,
    output: OutputFormat,
) -> Result<Answer, Error> {
    let mut picture = OutlineBuilder::begin(reader, query, max)?;
    let text = picture.text(query.levels, max)?;
    Ok(Answer::plain(text, output, || picture.structured()))
}

/// An outline under construction.
struct OutlineBuilder<'a> {
    reader: &'a Reader,
    archived: ArchivedVisibility,
    attended: i64,
    items: Vec<TreeItem>,
    roots: Vec<usize>,
    /// Roots after those that were read.
    rest: SiblingRangeAfterPage,
    /// The folds of the last drawing: the parent's id, and the size.
    folds: Vec<(Option<String>, SubtreeSize)>,
    /// Sizes of folds, by parent and number of hidden children. Nodes are shown and hidden in one
    /// order, so the number identifies the hidden ones.
    counted: HashMap<(Option<usize>, usize), SubtreeSize>,
}

struct TreeItem {
    head: NodeSummary,
    up: Option<usize>,
    depth: u32,
    /// A root's position within its file: every file comes before any comes again.
    turn: usize,
    temperature: f64,
    children: Vec<usize>,
    /// Children after those that were read.
    rest: SiblingRangeAfterPage,
    is_shown: bool,
}

impl OutlineBuilder<'_> {
    /// Reads the roots, or the node of that id.
    fn begin<'a>(
        reader: &'a Reader,
        query: &TreeQuery<'_>,
        max: u32,
    ) -> Result<OutlineBuilder<'a>, Error> {
        let mut picture = OutlineBuilder {
            reader,
            archived: query.archived,
            attended: reader.attended()?,
            items: Vec::new(),
            roots: Vec::new(),
            rest: SiblingRangeAfterPage::Nothing,
            folds: Vec::new(),
            counted: HashMap::new(),
        };
        match query.root.filter(|it| !it.is_empty()) {
            Some(id) => drop(picture.add(node_by_id(reader, id)?, None)),
            None => picture.add_roots(ROOTS_MIN.max(n_lines(max)))?,
        }
        Ok(picture)
    }

    /// Returns the lines that fit.
    fn text(&mut self, levels: u32, max: u32) -> Result<String, Error> {
        if self.roots.is_empty() {
            return Ok(budget_enforcement::first_fitting(max, ["empty tree".to_owned()]));
        }
        let order = self.grow(levels, max)?;
        let chosen = (0..order.len()).collect();
        let draw = |chosen: &[usize]| {
            self.show(chosen.iter().map(|&at| order[at]));
            self.draw()
        };
        match budget_enforcement::render_within(Some(max), chosen, |_| None, draw)? {
            Some((_, text)) => Ok(text),
            None => {
                self.show([].into_iter());
                Ok(budget_enforcement::first_fitting(max, []))
            }
        }
    }

    fn add(&mut self, head: NodeSummary, up: Option<usize>) -> usize {
        let at = self.items.len();
        self.items.push(TreeItem {
            temperature: head.heat.now(self.attended),
            head,
            up,
            depth: up.map_or(0, |up| self.items[up].depth + 1),
            turn: 0,
            children: Vec::new(),
            rest: SiblingRangeAfterPage::Nothing,
            is_shown: false,
        });
        match up {
            Some(up) => self.items[up].children.push(at),
            None => self.roots.push(at),
        }
        at
    }

    fn add_roots(&mut self, n_max: usize) -> Result<(), Error> {
        let mut heads = self.reader.roots(self.archived, n_max.saturating_add(1))?;
        if n_max < heads.len() {
            heads.truncate(n_max);
            self.rest = SiblingRangeAfterPage::Roots(n_max);
        }
        let mut turn = 0;
        let mut last_file = None;
        for head in heads {
            turn = if Some(head.file) == last_file { turn + 1 } else { 0 };
            last_file = Some(head.file);
            let root = self.add(head, None);
            self.items[root].turn = turn;
        }
        Ok(())
    }

    fn add_children(&mut self, up: usize, n_max: usize) -> Result<(), Error> {
        let key = self.items[up].head.key;
        let mut heads = self.reader.children(key, self.archived, n_max.saturating_add(1))?;
        if n_max < heads.len() {
            heads.truncate(n_max);
            let last = heads.last().map_or(i64::MAX, |it| it.position);
            self.items[up].rest = SiblingRangeAfterPage::Children(key, last);
        }
        for head in heads {
            self.add(head, Some(up));
        }
        Ok(())
    }

    /// Reads the nodes that may be shown; returns them in order of worth.
    fn grow(&mut self, levels: u32, max: u32) -> Result<Vec<usize>, Error> {
        let mut budget_left = RemainingBudget::new(max);
        let mut heap = BinaryHeap::new();
        let mut order = Vec::new();
        let enter = |heap: &mut BinaryHeap<_>, items: &[TreeItem], at: usize| {
            let percent = (items[at].temperature * 100.0).round() as i64;
            let place = (items[at].depth, items[at].turn, at);
            heap.push((percent, Reverse(place)));
        };
        for &root in &self.roots {
            enter(&mut heap, &self.items, root);
        }
        let mut n_hidden: Vec<usize> = vec![0; self.items.len()];
        // A parent with hidden children needs a fold line, and so do the roots.
        budget_left.n_folds += 1;
        let mut n_hidden_roots = self.roots.len();
        let mut n_misses = 0;
        while let Some((_, Reverse((_, _, at)))) = heap.pop() {
            if self.items[at].depth < levels {
                let n_fitting = n_lines(max.saturating_sub(budget_left.spent));
                self.add_children(at, CHILDREN_MIN.max(n_fitting))?;
                n_hidden.resize(self.items.len(), 0);
                n_hidden[at] = self.items[at].children.len();
            }
            let line = self.line(at, FileNameVisibility::Yes);
            if !budget_left.take(line, u32::from(0 < n_hidden[at])) {
                n_misses += 1;
                if MISSES_MAX < n_misses {
                    break;
                }
                continue;
            }
            order.push(at);
            let (left, rest) = match self.items[at].up {
                Some(up) => (&mut n_hidden[up], self.items[up].rest),
                None => (&mut n_hidden_roots, self.rest),
            };
            *left -= 1;
            if *left == 0 && rest == SiblingRangeAfterPage::Nothing {
                budget_left.n_folds -= 1;
            }
            for &child in &self.items[at].children {
                enter(&mut heap, &self.items, child);
            }
        }
        Ok(order)
    }

    fn show(&mut self, shown: impl Iterator<Item = usize>) {
        for item in &mut self.items {
            item.is_shown = false;
        }
        for at in shown {
            self.items[at].is_shown = true;
        }
    }

    fn line(&self, at: usize, file: FileNameVisibility) -> String {
        let item = &self.items[at];
        let facts = NodeLineFields {
            head: &item.head,
            file,
            temperature: item.temperature,
            score: None,
            relevance: None,
        };
        format!("{}{}\n", indent(item.depth), render::render_line(facts))
    }

    /// Draws the lines of shown and folded nodes.
    fn draw(&mut self) -> Result<String, Error> {
        self.folds.clear();
        let mut out = String::new();
        let mut n_left = COUNTED_MAX;
        let roots = self.roots.clone();
        // Nodes to draw, last first; `None` is the end of a parent's children.
        let mut stack: Vec<(Option<usize>, Option<usize>)> = vec![(None, None)];
        stack.extend(roots.iter().rev().map(|&root| (Some(root), None)));
        while let Some((at, up)) = stack.pop() {
            let Some(at) = at else {
                self.fold(up, &mut n_left, &mut out)?;
                continue;
            };
            let item = &self.items[at];
            if !item.is_shown {
                continue;
            }
            let parent_file = item.up.map(|up| self.items[up].head.file);
            let named = if parent_file == Some(item.head.file) {
                FileNameVisibility::No
            } else {
                FileNameVisibility::Yes
            };
            out.push_str(&self.line(at, named));
            stack.push((None, Some(at)));
            stack.extend(item.children.iter().rev().map(|&child| (Some(child), Some(at))));
        }
        Ok(out)
    }

    /// Draws the line about the hidden children of `up`, if any.
    fn fold(&mut self, up: Option<usize>, n_left: &mut u32, out: &mut String) -> Result<(), Error> {
        let (children, rest, depth, id) = match up {
            Some(up) => {
                let item = &self.items[up];
                (&item.children, item.rest, item.depth + 1, Some(item.head.id.clone()))
            }
            None => (&self.roots, self.rest, 0, None),
        };
        let hidden: Vec<&NodeSummary> = children
            .iter()
            .map(|&at| &self.items[at])
            .filter(|it| !it.is_shown)
            .map(|it| &it.head)
            .collect();
        if hidden.is_empty() && rest == SiblingRangeAfterPage::Nothing {
            return Ok(());
        }
        let keys: Vec<NodeRowId> = hidden.iter().map(|it| it.key).collect();
        let mut extent = match (self.counted.get(&(up, hidden.len())), *n_left) {
            (Some(&extent), _) => extent,
            (None, 0) => SubtreeSize { is_at_least: true, ..SubtreeSize::default() },
            (None, n_left) => self.reader.subtree_size(&keys, rest, self.archived, n_left)?,
        };
        self.counted.insert((up, keys.len()), extent);
        *n_left = n_left.saturating_sub(extent.n_nodes);
        extent.n_nodes += hidden.len() as u32;
        extent.tokens =
            hidden.iter().fold(extent.tokens, |sum, it| sum.saturating_add(it.tokens.into()));
        let line =
            render::render_folded(u64::from(extent.n_nodes), extent.tokens, extent.is_at_least);
        out.push_str(&format!("{}{line}\n", indent(depth)));
        self.folds.push((id, extent));
        Ok(())
    }

    fn structured(&self) -> Value {
        let mut nodes = Vec::new();
        let mut stack: Vec<usize> = self.roots.iter().rev().copied().collect();
        while let Some(at) = stack.pop() {
            let item = &self.items[at];
            if !item.is_shown {
                continue;
            }
            let mut facts = facts(&item.head, item.temperature, None);
            facts["depth"] = json!(item.depth);
            nodes.push(facts);
            stack.extend(item.children.iter().rev());
        }
        let folds: Value = self
            .folds
            .iter()
            .map(|(under, extent)| {
                json!({
                    "under": under,
                    "nodes": extent.n_nodes,
                    "tokens": extent.tokens,
                    "at_least": extent.is_at_least,
                })
            })
            .collect();
        let mut structured = Value::from_iter([("nodes", nodes)]);
        if !self.folds.is_empty() {
            structured["folded"] = folds;
        }
        structured
    }
}

/// Returns twice the greatest number of lines in so many tokens.
fn n_lines(tokens: u32) -> usize {
    2 * (tokens / LINE_TOKENS_MIN) as usize
}

fn indent(depth: u32) -> String {
    "  ".repeat(depth as usize)
}

/// The rest of a budget: counted in bytes while these suffice, then in tokens.
struct RemainingBudget {
    max: u32,
    spent: u32,
    /// Fold lines that may become necessary.
    n_folds: u32,
    /// Lines taken while bytes sufficed.
    lines: Vec<String>,
    is_exact: bool,
}

impl RemainingBudget {
    fn new(max: u32) -> RemainingBudget {
        RemainingBudget { max, spent: 0, n_folds: 0, lines: Vec::new(), is_exact: false }
    }

    /// Takes a line, with `n_folds` fold lines that may follow, if there is room.
    fn take(&mut self, line: String, n_folds: u32) -> bool {
        let n_folds = self.n_folds.saturating_add(n_folds);
        if !self.is_exact {
            let spent = self.spent.saturating_add(u32::try_from(line.len()).unwrap_or(u32::MAX));
            if spent.saturating_add(n_folds.saturating_mul(FOLD_BYTES)) <= self.max {
                self.spent = spent;
                self.n_folds = n_folds;
                self.lines.push(line);
                return true;
            }
            self.is_exact = true;
            self.spent = self.lines.drain(..).map(|it| tokens::count(&it)).sum();
        }
        let spent = self.spent.saturating_add(tokens::count(&line));
        // The last line to come needs no fold line.
        let folds = n_folds.saturating_sub(1).saturating_mul(FOLD_TOKENS);
        if self.max < spent.saturating_add(folds) {
            return false;
        }
        self.spent = spent;
        self.n_folds = n_folds;
        true
    }
}
