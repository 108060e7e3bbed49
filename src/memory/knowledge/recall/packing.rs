//! Packing: as many items as the budget of an answer allows.
//!
//! Items are whole, but for two: a cluster whose facts do not all fit shows the first of them, and
//! the best item is cut, so that no answer is empty while something matches. The places of what
//! does not fit go to what comes next.

use serde_json::{Value, json};

use super::items::{RecallItem, put_replacements_first, rounded};
use super::{NOTHING, RecallRequest};
use crate::memory::knowledge::remember::add_pending;
use crate::model::next_step_advice::CallableTools;
use crate::model::tree::NodeType;
use crate::query::cut_to_tokens;
use crate::store::NodeRowId;
use crate::text::terminal_safe_json::json_text;
use crate::text::{self, cutting, tokens};

/// Tokens between two items of a list.
const SEPARATOR_TOKENS: u32 = 1;

/// Characters of the title of an item of which nothing else fits, at most.
const TITLE_CHARS_MAX: usize = 40;

/// An item of an answer, in the form in which it fits.
struct PackedItem {
    nth: usize,
    json: Value,
    n_tokens: u32,
    /// Facts that are shown.
    n_facts: usize,
}

/// Returns the answer with as many items as the budget allows, and the nodes that it shows.
pub(super) fn packed(
    items: Vec<RecallItem>,
    request: &RecallRequest,
    n_pending: u64,
) -> (Value, Vec<NodeRowId>) {
    let items = put_replacements_first(items);
    let answer = |shown: Vec<Value>, n_left_out: usize| {
        let mut answer = json!({"items": shown});
        if items.is_empty() {
            answer["note"] = request.tools.advise(NOTHING).into();
        }
        add_pending(&mut answer, n_pending, &request.tools);
        answer["left_out"] = n_left_out.into();
        answer
    };
    let frame = tokens::count(&json_text(&answer(Vec::new(), items.len())));
    let mut packer = AnswerPacker {
        items: &items,
        request,
        room: request.budget.saturating_sub(frame),
        shown: Vec::new(),
        n_left_out: 0,
    };
    packer.pack();
    let AnswerPacker { mut shown, mut n_left_out, .. } = packer;
    loop {
        let mut all = answer(shown.iter().map(|it| it.json.clone()).collect(), n_left_out);
        if let Some(members) = all.as_object_mut().filter(|_| is_least(&shown)) {
            // What to fetch matters more.
            members.shift_remove("hint");
        }
        if tokens::fits(&json_text(&all), request.budget) || shown.is_empty() {
            let nodes = |it: &PackedItem| {
                let RecallItem { row, facts, .. } = &items[it.nth];
                let facts = facts.iter().take(it.n_facts).map(|it| it.key);
                std::iter::once(row.key).chain(facts).collect::<Vec<NodeRowId>>()
            };
            return (all, shown.iter().flat_map(nodes).collect());
        }
        match &shown[..] {
            [only] if !is_least(&shown) => {
                shown = vec![least_of(&items[only.nth], only.nth, &request.tools)];
            }
            _ => {
                let dropped = shown.pop();
                n_left_out += usize::from(dropped.is_some_and(|it| !items[it.nth].is_spare));
            }
        }
    }
}

/// Returns whether an answer has nothing but the least of its best item.
fn is_least(shown: &[PackedItem]) -> bool {
    matches!(shown, [only] if only.json.get("why").is_none())
}

/// An answer that is being filled.
struct AnswerPacker<'a> {
    items: &'a [RecallItem],
    request: &'a RecallRequest,
    /// Tokens that are left.
    room: u32,
    shown: Vec<PackedItem>,
    /// Items that do not fit, without those that were tried in their places.
    n_left_out: usize,
}

impl AnswerPacker<'_> {
    fn pack(&mut self) {
        let Some(first) = self.items.iter().position(|it| !it.is_spare) else { return };
        // What is cut takes the room that others leave, so that its least part is kept free.
        let cut = match self.fitting(first) {
            Some(packed) => {
                self.add(packed);
                None
            }
            None => {
                let least = least_of(&self.items[first], first, &self.request.tools).n_tokens;
                self.room = self.room.saturating_sub(least);
                Some(least)
            }
        };
        let (mut concepts_free, mut others_free) = (0, 0);
        for is_spare in [false, true] {
            for (nth, item) in self.items.iter().enumerate() {
                let is_concept = item.row.node_type == NodeType::Concept;
                let free = if is_concept { &mut concepts_free } else { &mut others_free };
                if nth == first || item.is_spare != is_spare || is_spare && *free == 0 {
                    continue;
                }
                match self.fitting(nth) {
                    Some(packed) => {
                        self.add(packed);
                        *free -= usize::from(is_spare);
                    }
                    None => {
                        self.n_left_out += usize::from(!is_spare);
                        *free += usize::from(!is_spare);
                    }
                }
            }
        }
        if let Some(least) = cut {
            self.room += least;
            let packed = self
                .cut(first)
                .unwrap_or_else(|| least_of(&self.items[first], first, &self.request.tools));
            self.add(packed);
        }
        self.shown.sort_by_key(|it| it.nth);
    }

    fn add(&mut self, packed: PackedItem) {
        self.room = self.room.saturating_sub(packed.n_tokens);
        self.shown.push(packed);
    }

    /// Returns an item with its whole text, and with all of its facts or the first that fit.
    fn fitting(&self, nth: usize) -> Option<PackedItem> {
        let item = &self.items[nth];
        let n_least = item.facts.len().min(1);
        (n_least..=item.facts.len()).rev().find_map(|n_facts| {
            let json = item.to_json(self.request, n_facts);
            Some(packed_item(nth, json, n_facts)).filter(|it| it.n_tokens <= self.room)
        })
    }

    /// Returns an item whose text is cut at a sentence, with its first fact if that fits.
    fn cut(&self, nth: usize) -> Option<PackedItem> {
        let item = &self.items[nth];
        (0..=item.facts.len().min(1)).rev().find_map(|n_facts| {
            let mut json = item.to_json(self.request, n_facts);
            let content = json["text"].as_str().unwrap_or_default().to_owned();
            json["text"] = "".into();
            json["cut"] = advice(item, &self.request.tools);
            let mut room = self.room.checked_sub(packed_item(nth, json.clone(), 0).n_tokens)?;
            while 0 < room {
                let text = cutting::cut_at_sentence(cut_to_tokens(&content, room));
                json["text"] = text.into();
                let packed = packed_item(nth, json.clone(), n_facts);
                if packed.n_tokens <= self.room {
                    return Some(packed);
                }
                room = room.saturating_sub(packed.n_tokens - self.room);
            }
            None
        })
    }
}

fn packed_item(nth: usize, json: Value, n_facts: usize) -> PackedItem {
    let n_tokens = tokens::count(&json_text(&json)) + SEPARATOR_TOKENS;
    PackedItem { nth, json, n_tokens, n_facts }
}

/// Returns the least that tells of an item: where the rest of it is.
fn least_of(item: &RecallItem, nth: usize, tools: &CallableTools) -> PackedItem {
    let RecallItem { row, score, .. } = item;
    let least = json!({
        "id": row.id,
        "type": row.node_type.as_str(),
        "kind": row.text("kind").unwrap_or(row.node_type.as_str()),
        "title": text::truncate_chars(row.title(), TITLE_CHARS_MAX),
        "score": rounded(*score),
        "cut": advice(item, tools),
    });
    packed_item(nth, least, 0)
}

fn advice(item: &RecallItem, tools: &CallableTools) -> Value {
    let id = &item.row.id;
    tools.advise(&format!("MemoryFetch {id} shows all; a larger `budget` shows more")).into()
}
