//! Budget filling: takes the texts of hits, best first, until a budget is used.
//!
//! Hits of one section stand together under its breadcrumb, in the order of their file; sections
//! come in the order of their best hit. A long answer has parts, each grouped by itself, so that
//! the best hits come first in it. A hit that is longer than what is left is cut at a
//! sentence, once; where little is left, shorter hits come before it. Counts of lines add up, so
//! nothing is measured twice. This module does no IO.

use std::collections::{HashMap, HashSet};

use super::excerpt::{self, BreadcrumbAlreadyShown, CutEntry};
use crate::query::render::entry::{TextEntry, render_entries};
use crate::store::reader::TextWithBreadcrumb;
use crate::text::tokens;

/// Tokens reserved for the line about hits that were left out.
const REST_TOKENS: u32 = 16;
/// Part of the budget below which what is left goes to shorter hits first.
const TAIL: u32 = 8;
/// Least tokens for a part of a hit.
const CUT_TOKENS_MIN: u32 = 40;

/// Tokens of a part of an answer.
const PART_TOKENS: u32 = 1_500;

/// Whether a hit may be cut to what is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TruncationMode {
    Never,
    Last,
}

/// An answer that is being filled.
pub(super) struct AnswerBuilder<'a> {
    max: u32,
    left: u32,
    /// The breadcrumbs of the last part.
    places: HashSet<String>,
    /// The hits and their entries, best first.
    taken: Vec<TakenHit<'a>>,
    /// The hit that was cut.
    cut: Option<(usize, CutEntry)>,
    /// The best hit that did not fit.
    skipped: Option<(usize, TextEntry<'a>, &'a TextWithBreadcrumb)>,
}

struct TakenHit<'a> {
    at: usize,
    entry: TextEntry<'a>,
    /// The part of the answer that it is in.
    part: u32,
}

/// The text of an answer, without the line about the rest.
pub(super) struct FinishedAnswer {
    pub(super) text: String,
    /// The hits in it, in its order.
    pub(super) chosen: Vec<usize>,
    /// The hit that was cut.
    pub(super) cut: Option<(usize, CutEntry)>,
}

impl<'a> AnswerBuilder<'a> {
    /// Begins an answer of at most `max` tokens.
    pub(super) fn within(max: u32) -> AnswerBuilder<'a> {
        let left = max.saturating_sub(REST_TOKENS);
        let (places, taken) = (HashSet::new(), Vec::new());
        AnswerBuilder { max, left, places, taken, cut: None, skipped: None }
    }

    /// Takes the next hit, or what fits of it.
    pub(super) fn take(
        &mut self,
        at: usize,
        entry: TextEntry<'a>,
        text: &'a TextWithBreadcrumb,
        cutting: TruncationMode,
    ) {
        let is_large = self.left < entry.head.tokens && cutting == TruncationMode::Last;
        if is_large || !self.take_whole(at, &entry) {
            let is_tail = self.left < self.max / TAIL && !self.taken.is_empty();
            if cutting == TruncationMode::Last && self.cut.is_none() {
                match is_tail {
                    true => drop(self.skipped.get_or_insert((at, entry, text))),
                    false => self.take_part(at, entry, text),
                }
            }
        }
    }

    /// Cuts the best hit that did not fit to what is left, and writes the answer.
    pub(super) fn finish(mut self) -> FinishedAnswer {
        if let Some((at, entry, text)) = self.skipped.take()
            && self.cut.is_none()
        {
            self.take_part(at, entry, text);
        }
        let mut ranks: HashMap<(u32, &str), usize> = HashMap::new();
        for (rank, it) in self.taken.iter().enumerate() {
            ranks.entry((it.part, &it.entry.place)).or_insert(rank);
        }
        let mut order: Vec<&TakenHit<'_>> = self.taken.iter().collect();
        let place = |it: &TakenHit<'_>| ranks[&(it.part, it.entry.place.as_str())];
        order.sort_by_key(|it| (it.part, place(it), it.entry.head.position));
        FinishedAnswer {
            text: render_entries(order.iter().map(|it| &it.entry)),
            chosen: order.iter().map(|it| it.at).collect(),
            cut: self.cut,
        }
    }

    /// Returns the part of the answer that comes next. A new one begins without breadcrumbs.
    fn part(&mut self) -> u32 {
        let part = (self.max - self.left) / PART_TOKENS;
        if self.taken.last().is_some_and(|it| it.part < part) {
            self.places.clear();
        }
        part
    }

    fn take_whole(&mut self, at: usize, entry: &TextEntry<'a>) -> bool {
        let part = self.part();
        let above =
            if self.places.contains(&entry.place) { 0 } else { tokens::count(&entry.place) };
        if self.left <= above {
            return false;
        }
        let cost = above.saturating_add(tokens::count(&entry.lines));
        let fits = cost <= self.left;
        if fits {
            self.left -= cost;
            self.places.insert(entry.place.clone());
            self.taken.push(TakenHit { at, entry: entry.clone(), part });
        }
        fits
    }

    fn take_part(&mut self, at: usize, entry: TextEntry<'a>, text: &TextWithBreadcrumb) {
        let part = self.part();
        let is_shown = self.places.contains(&entry.place);
        let place =
            if is_shown { BreadcrumbAlreadyShown::Shown } else { BreadcrumbAlreadyShown::Missing };
        if self.left < CUT_TOKENS_MIN && !self.taken.is_empty() {
            return;
        }
        if let Some(cut) = excerpt::cut_entry(entry.head, text, place, self.left) {
            self.left -= tokens::count(&cut.text).min(self.left);
            self.places.insert(entry.place.clone());
            let lines = match place {
                BreadcrumbAlreadyShown::Shown => cut.text.clone(),
                BreadcrumbAlreadyShown::Missing => cut.text[entry.place.len()..].to_owned(),
            };
            self.taken.push(TakenHit { at, entry: TextEntry { lines, ..entry }, part });
            self.cut = Some((at, cut));
        }
    }
}
