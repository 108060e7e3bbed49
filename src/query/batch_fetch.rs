//! Batch fetch: the texts of several nodes in the requested order, without their surroundings.

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};

use super::excerpt::{BreadcrumbAlreadyShown, CutEntry};
use super::{
    AccessKind, Answer, Error, OutputFormat, QueryOptions, block_facts, block_parts,
    budget_enforcement, excerpt, find_by_id, quote_input,
};
use crate::model::heat;
use crate::query::render::entry::{TextEntry, render_entries};
use crate::store::NodeRowId;
use crate::store::reader::{NodeSummary, Reader, TextWithBreadcrumb};
use crate::text::tokens;

/// Ids of one request; repeated ids count.
pub(crate) const IDS_MAX: usize = 256;
/// Tokens of an entry's frame.
const FRAME_TOKENS: u32 = 12;
/// Texts that are read in one query.
const TEXTS_READ_AT_ONCE: usize = 32;
/// Nodes that are tried to be cut.
const CUTS_TRIED_MAX: usize = 4;
/// Least tokens for a part of a text beside whole ones.
const CUT_TOKENS_MIN: u32 = 40;

/// A request for the texts of several nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct BatchFetchQuery<'a> {
    pub(crate) ids: Vec<&'a str>,
    /// Whether entries tell when their texts last changed.
    pub(crate) has_dates: bool,
}

/// Returns the texts of the given nodes, and lists unknown ids and nodes over budget. Instead of a
/// large block come its parts.
pub(super) fn fetch_batch(
    reader: &Reader,
    query: &BatchFetchQuery<'_>,
    max: Option<u32>,
    options: &QueryOptions,
) -> Result<Answer, Error> {
    let ids = &query.ids;
    if ids.is_empty() {
        return Err(Error::BadArgument("`node_ids` must be non-empty".to_owned()));
    }
    if IDS_MAX < ids.len() {
        let n = ids.len();
        let why = format!("`node_ids` exceeds cap {IDS_MAX}: {n} ids; ask in several calls");
        return Err(Error::BadArgument(why));
    }
    let attended = reader.attended()?;
    let (mut seen, mut seen_keys) = (HashSet::new(), HashSet::new());
    let mut batch = BatchNodes::default();
    for &id in ids.iter().filter(|id| seen.insert(**id)) {
        match find_by_id(reader, id)? {
            Some(head) => {
                let parts = block_parts(reader, &head)?;
                let heads = if parts.is_empty() { vec![head] } else { parts };
                for head in heads.into_iter().filter(|it| seen_keys.insert(it.key)) {
                    let temperature = head.heat.now(attended);
                    batch.found.push((head, temperature, heat::score(1.0, temperature)));
                }
            }
            None => batch.missing.push(quote_input(id)),
        }
    }
    reader.mark_left_out(batch.found.iter_mut().map(|it| &mut it.0), options.now)?;
    if query.has_dates {
        reader.date_nodes(batch.found.iter_mut().map(|it| &mut it.0))?;
    }
    batch.answer(reader, max, options.output)
}

/// The nodes of a batch, found and missing.
#[derive(Default)]
struct BatchNodes {
    /// The nodes, their temperatures and scores.
    found: Vec<(NodeSummary, f64, f64)>,
    /// Ids without a node.
    missing: Vec<String>,
}

impl BatchNodes {
    fn answer(
        &self,
        reader: &Reader,
        budget: Option<u32>,
        output: OutputFormat,
    ) -> Result<Answer, Error> {
        let BatchNodes { found, missing } = self;
        let max = budget.unwrap_or(u32::MAX);
        let room_beside = |list: &str| max.saturating_sub(budget_enforcement::line_cost(list));
        let mut filling = BatchFilling { found, budget, texts: HashMap::new(), needs: Vec::new() };
        let room = room_beside(&lists(missing, &[]).concat());
        let (mut fitting, mut cut) = filling.choose(reader, room)?;
        if fitting.is_empty() && cut.is_none() {
            // The missing ids leave no room for a node; their number takes less.
            let room = room_beside(&short_lists(0, missing.len()));
            (fitting, cut) = filling.choose(reader, room)?;
        }
        let render = |shown: &[usize]| {
            let text = filling.render(shown, cut.as_ref());
            let over: Vec<&str> =
                left(found.len(), shown).map(|at| found[at].0.id.as_str()).collect();
            let full = text.clone() + &lists(missing, &over).concat();
            Ok::<_, Error>(match budget.is_none_or(|max| tokens::fits(&full, max)) {
                true => full,
                false => text + &short_lists(over.len(), missing.len()),
            })
        };
        // The first to be dropped is the one that was cut.
        let worth = fitting.into_iter().chain(cut.as_ref().map(|it| it.0)).collect();
        let settled = budget_enforcement::render_within(budget, worth, |_| None, render)?;
        let (mut shown, text) =
            settled.unwrap_or_else(|| (Vec::new(), budget_enforcement::first_fitting(max, [])));
        shown.sort_unstable();
        let structured = output.json(|| {
            let is_counted = text.ends_with(" nodes\n");
            self.json(&shown, cut.as_ref(), &filling, is_counted)
        });
        let shown = shown.iter().map(|&at| (found[at].0.key, AccessKind::Read)).collect();
        Ok(Answer { text, structured, shown, budget: None })
    }

    fn json(
        &self,
        shown: &[usize],
        cut: Option<&(usize, CutEntry)>,
        filling: &BatchFilling<'_>,
        is_counted: bool,
    ) -> Value {
        let facts_of = |&at: &usize| {
            let (head, temperature, score) = &self.found[at];
            let text = filling.texts.get(&head.key);
            let whole = text.map_or("", |it| it.content.as_str());
            let part = cut.filter(|it| it.0 == at).map(|it| (it.1.content.as_str(), it.1.needs));
            let (shown, needs) = part.map_or((whole, None), |it| (it.0, Some(it.1)));
            let mut facts = block_facts(head, (*temperature, *score), shown, needs);
            if let Some(text) = text {
                facts["under"] = json!(TextEntry::with_text(head, text, "").breadcrumb());
            }
            facts
        };
        let nodes: Value = shown.iter().map(facts_of).collect();
        let over: Value = left(self.found.len(), shown)
            .map(|at| json!({"id": self.found[at].0.id, "tokens": filling.need(at)}))
            .collect();
        let n_over = over.as_array().map_or(0, Vec::len);
        match 0 < n_over && is_counted {
            true if self.missing.is_empty() => {
                json!({"nodes": nodes, "over_budget": [], "left_out": {"nodes": n_over}})
            }
            true => {
                let left_out = json!({"nodes": n_over, "not_found": self.missing.len()});
                json!({"nodes": nodes, "over_budget": [], "left_out": left_out})
            }
            false => json!({"nodes": nodes, "not_found": self.missing, "over_budget": over}),
        }
    }
}

/// The indices of the nodes that fit, and one of the others, cut to the rest.
type ChosenNodes = (Vec<usize>, Option<(usize, CutEntry)>);

/// The texts of a batch, read as far as they may fit.
struct BatchFilling<'a> {
    found: &'a [(NodeSummary, f64, f64)],
    budget: Option<u32>,
    texts: HashMap<NodeRowId, TextWithBreadcrumb>,
    /// The tokens of each entry, as far as the texts were read.
    needs: Vec<Option<u32>>,
}

impl BatchFilling<'_> {
    /// Returns the nodes whose entries fit, and one of the others that is cut to the rest.
    fn choose(&mut self, reader: &Reader, room: u32) -> Result<ChosenNodes, Error> {
        let fitting = self.fill(reader, room)?;
        let cut = self.cut_first_left(reader, &fitting, room)?;
        Ok((fitting, cut))
    }

    /// Returns the nodes whose entries fit, in the requested order. Where not all do, room is kept
    /// for a line about the rest.
    fn fill(&mut self, reader: &Reader, room: u32) -> Result<Vec<usize>, Error> {
        let all = self.fill_to(reader, room)?;
        match all.len() == self.found.len() {
            true => Ok(all),
            false => self.fill_to(reader, room.saturating_sub(budget_enforcement::REST_TOKENS)),
        }
    }

    fn fill_to(&mut self, reader: &Reader, room: u32) -> Result<Vec<usize>, Error> {
        let (mut left, mut fitting, mut place) = (room, Vec::new(), String::new());
        for start in (0..self.found.len()).step_by(TEXTS_READ_AT_ONCE) {
            let end = self.found.len().min(start + TEXTS_READ_AT_ONCE);
            // A text is not shorter as an entry.
            self.read(
                reader,
                (start..end).filter(|&at| self.found[at].0.tokens <= left).collect(),
            )?;
            for at in start..end {
                let Some(entry) = self.entry(at) else { continue };
                // Neighbours in one section share its breadcrumb.
                let shared = if entry.place == place { tokens::count(&place) } else { 0 };
                let cost = self.need(at).saturating_sub(shared);
                if cost <= left {
                    (left, place) = (left - cost, entry.place);
                    fitting.push(at);
                }
            }
        }
        Ok(fitting)
    }

    fn read(&mut self, reader: &Reader, nodes: Vec<usize>) -> Result<(), Error> {
        self.needs.resize(self.found.len(), None);
        let keys = nodes.iter().map(|&at| self.found[at].0.key);
        let keys: Vec<NodeRowId> = keys.filter(|it| !self.texts.contains_key(it)).collect();
        self.texts.extend(reader.texts(&keys)?);
        if self.budget.is_some() {
            for at in nodes {
                let need = || self.entry(at).map(|it| it.n_tokens());
                self.needs[at] = self.needs[at].or_else(need);
            }
        }
        Ok(())
    }

    fn entry(&self, at: usize) -> Option<TextEntry<'_>> {
        let head = &self.found[at].0;
        Some(TextEntry::whole(head, self.texts.get(&head.key)?))
    }

    /// Returns the tokens of an entry; an estimate where there is no budget or no text was read.
    fn need(&self, at: usize) -> u32 {
        let estimate = || self.found[at].0.tokens.saturating_add(FRAME_TOKENS);
        self.needs.get(at).copied().flatten().unwrap_or_else(estimate)
    }

    /// Cuts the first node that does not fit to what is left.
    ///
    /// Room is kept for the ids of the others; where nothing fits beside them, for their number.
    fn cut_first_left(
        &mut self,
        reader: &Reader,
        fitting: &[usize],
        room: u32,
    ) -> Result<Option<(usize, CutEntry)>, Error> {
        let over: Vec<usize> = left(self.found.len(), fitting).collect();
        let tried: Vec<usize> = over.iter().copied().take(CUTS_TRIED_MAX).collect();
        self.read(reader, tried.clone())?;
        let used = fitting.iter().fold(0, |sum: u32, &at| sum.saturating_add(self.need(at)));
        let ids: Vec<&str> = over.iter().skip(1).map(|&at| self.found[at].0.id.as_str()).collect();
        let named = budget_enforcement::line_cost(&lists(&[], &ids).concat());
        for list in [named, budget_enforcement::REST_TOKENS] {
            let left = room.saturating_sub(used).saturating_sub(list);
            if left < CUT_TOKENS_MIN && !fitting.is_empty() {
                continue;
            }
            for &at in &tried {
                let head = &self.found[at].0;
                let cut = self.texts.get(&head.key).and_then(|text| {
                    excerpt::cut_entry(head, text, BreadcrumbAlreadyShown::Missing, left)
                });
                if let Some(cut) = cut {
                    return Ok(Some((at, cut)));
                }
            }
        }
        Ok(None)
    }

    /// Writes entries in the requested order.
    fn render(&self, shown: &[usize], cut: Option<&(usize, CutEntry)>) -> String {
        let mut shown = shown.to_vec();
        shown.sort_unstable();
        let entries = shown.into_iter().filter_map(|at| {
            let entry = self.entry(at)?;
            let Some((_, part)) = cut.filter(|it| it.0 == at) else { return Some(entry) };
            Some(TextEntry { lines: part.text[entry.place.len()..].to_owned(), ..entry })
        });
        render_entries(&entries.collect::<Vec<TextEntry<'_>>>())
    }
}

/// Returns the indices that were not chosen.
fn left(n: usize, chosen: &[usize]) -> impl Iterator<Item = usize> {
    (0..n).filter(|at| !chosen.contains(at))
}

fn lists(missing: &[String], over: &[&str]) -> Vec<String> {
    let mut lists = Vec::new();
    if !missing.is_empty() {
        lists.push(format!("not found: {}\n", missing.join(", ")));
    }
    if !over.is_empty() {
        lists.push(format!("over budget: {}\n", over.join(", ")));
    }
    lists
}

/// Returns the counts to show where the ids do not fit.
fn short_lists(n_over: usize, n_missing: usize) -> String {
    let mut lists = String::new();
    if 0 < n_missing {
        lists.push_str(&format!("not found: {n_missing} nodes\n"));
    }
    if 0 < n_over {
        lists.push_str(&format!("over budget: {n_over} nodes\n"));
    }
    lists
}
