//! Budget filling: takes the texts of hits, best first, until a budget is used.
//!
//! Hits of one section stand together under its breadcrumb, in the order of their file; sections
//! come in the order of their best hit. What was replaced keeps its rank, behind its replacement. A
//! long answer has parts, each grouped by itself, so that the best hits come first in it. A hit
//! that is longer than what is left is cut at a sentence, once; where little is left, shorter hits
//! come before it, and later ones that fit fill the rest. Counts of lines add up, so the answer is
//! not measured again. This module does no IO.

use std::collections::{HashMap, HashSet};

use super::excerpt::{self, BreadcrumbAlreadyShown, CutEntry};
use crate::query::render::entry::{TextEntry, render_entries};
use crate::store::reader::{NodeSummary, TextWithBreadcrumb};
use crate::text::tokens;

/// Part of the budget below which what is left goes to shorter hits first.
const TAIL: u32 = 8;
/// Least tokens for a part of a hit.
const CUT_TOKENS_MIN: u32 = 40;
/// Hits that are tried to be cut.
const CUTS_TRIED_MAX: usize = 4;

/// Tokens of a part of an answer.
const PART_TOKENS: u32 = 1_500;

/// Whether a hit may be cut to what is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HitCutPermission {
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
    n_cuts_tried: usize,
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
pub(super) struct AnswerWithoutOmissionLine {
    pub(super) text: String,
    /// The hits in it, in its order.
    pub(super) chosen: Vec<usize>,
    /// The hit that was cut.
    pub(super) cut: Option<(usize, CutEntry)>,
}

impl<'a> AnswerBuilder<'a> {
    /// Begins an answer of at most `max` tokens, of which `rest` are kept for a line about the hits
    /// that were left out.
    pub(super) fn within(max: u32, rest: u32) -> AnswerBuilder<'a> {
        let left = max.saturating_sub(rest);
        let (places, taken) = (HashSet::new(), Vec::new());
        AnswerBuilder { max, left, places, taken, cut: None, n_cuts_tried: 0, skipped: None }
    }

    /// Takes the next hit, or what fits of it.
    pub(super) fn take(
        &mut self,
        at: usize,
        entry: TextEntry<'a>,
        text: &'a TextWithBreadcrumb,
        cutting: HitCutPermission,
    ) {
        if self.is_too_large(entry.head, cutting) || !self.take_whole(at, &entry) {
            let is_tail = self.left < self.max / TAIL && !self.taken.is_empty();
            if cutting == HitCutPermission::Last && self.cut.is_none() {
                match is_tail {
                    true => drop(self.skipped.get_or_insert((at, entry, text))),
                    false => self.take_part(at, entry, text),
                }
            }
        }
    }

    /// Returns whether a hit was passed over that may fit now.
    pub(super) fn has_room_for(
        &self,
        at: usize,
        head: &NodeSummary,
        cutting: HitCutPermission,
    ) -> bool {
        !self.is_too_large(head, cutting) && self.taken.iter().all(|it| it.at != at)
    }

    /// Takes a hit that did not fit before, if it does below a breadcrumb that came meanwhile.
    pub(super) fn take_below_shown(&mut self, at: usize, entry: &TextEntry<'a>) {
        if self.breadcrumb(entry) == BreadcrumbAlreadyShown::Shown {
            self.take_whole(at, entry);
        }
    }

    /// Cuts the best hit that did not fit to what is left.
    pub(super) fn cut_skipped(&mut self) {
        if let Some((at, entry, text)) = self.skipped.take()
            && self.cut.is_none()
        {
            self.take_part(at, entry, text);
        }
    }

    /// Writes the answer.
    pub(super) fn finish(self) -> AnswerWithoutOmissionLine {
        let mut ranks: HashMap<(u32, &str), usize> = HashMap::new();
        for it in self.taken.iter().filter(|it| !is_replaced(&it.entry)) {
            let rank = ranks.entry((it.part, &it.entry.place)).or_insert(it.at);
            *rank = it.at.min(*rank);
        }
        let place = |it: &TakenHit<'_>| match is_replaced(&it.entry) {
            true => (it.part, it.at, 0),
            false => {
                let rank = ranks[&(it.part, it.entry.place.as_str())];
                (it.part, rank, it.entry.head.position)
            }
        };
        let mut order: Vec<&TakenHit<'_>> = self.taken.iter().collect();
        order.sort_by_key(|it| place(it));
        AnswerWithoutOmissionLine {
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

    /// Returns whether the text of a hit is longer than what is left, where it is shown whole.
    fn is_too_large(&self, head: &NodeSummary, cutting: HitCutPermission) -> bool {
        self.left < head.tokens && cutting == HitCutPermission::Last
    }

    /// Takes a hit if there is room for all of it, and returns whether there was.
    fn take_whole(&mut self, at: usize, entry: &TextEntry<'a>) -> bool {
        let part = self.part();
        let above = match self.breadcrumb(entry) {
            BreadcrumbAlreadyShown::Shown => 0,
            BreadcrumbAlreadyShown::Missing => tokens::count(&entry.place),
        };
        if self.left <= above {
            return false;
        }
        let cost = above.saturating_add(tokens::count(&entry.lines));
        let fits = cost <= self.left;
        if fits {
            self.left -= cost;
            self.push(TakenHit { at, entry: entry.clone(), part });
        }
        fits
    }

    /// Returns whether the breadcrumb of an entry is there. A replaced hit may stand by itself.
    fn breadcrumb(&self, entry: &TextEntry<'_>) -> BreadcrumbAlreadyShown {
        match !is_replaced(entry) && self.places.contains(&entry.place) {
            true => BreadcrumbAlreadyShown::Shown,
            false => BreadcrumbAlreadyShown::Missing,
        }
    }

    fn push(&mut self, hit: TakenHit<'a>) {
        if !is_replaced(&hit.entry) {
            self.places.insert(hit.entry.place.clone());
        }
        self.taken.push(hit);
    }

    fn take_part(&mut self, at: usize, entry: TextEntry<'a>, text: &TextWithBreadcrumb) {
        let part = self.part();
        let place = self.breadcrumb(&entry);
        let is_little = self.left < CUT_TOKENS_MIN && !self.taken.is_empty();
        if is_little || CUTS_TRIED_MAX <= self.n_cuts_tried {
            return;
        }
        self.n_cuts_tried += 1;
        if let Some(cut) = excerpt::cut_entry(entry.head, text, place, self.left) {
            self.left -= tokens::count(&cut.text).min(self.left);
            let lines = match place {
                BreadcrumbAlreadyShown::Shown => cut.text.clone(),
                BreadcrumbAlreadyShown::Missing => cut.text[entry.place.len()..].to_owned(),
            };
            self.push(TakenHit { at, entry: TextEntry { lines, ..entry }, part });
            self.cut = Some((at, cut));
        }
    }
}

/// Returns whether another took the place of a hit, or it is left out otherwise.
fn is_replaced(entry: &TextEntry<'_>) -> bool {
    entry.head.left_out_as.is_some()
}
