//! Equal facts of a changeset: those that say the same of one subject become one.
//!
//! A merge, a restoration and an edit bring them together; white space is no meaning. The eldest
//! stays, from the earliest beginning to the latest end that any of them says. It takes over what
//! they mention, the episodes that state them and their conflicts.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::{Map, Value, json};

use super::conflict_writes::{have_same_terms, keys_of_fact};
use super::contradicting_facts::{facts_saying, is_standing_fact};
use super::edge_redirection::redirect_edges;
use super::fact_subject::{FactSubjectCache, NAMES_MAX};
use super::fact_writes::COMPARED_MAX;
use super::node_writes::{StoredKnowledgeNode, add_edge, edge, find_node, set_bounds, set_fields};
use crate::memory::typed::MemoryError;
use crate::model::clock::UnixMillis;
use crate::model::entity_extraction::{normal_name, normal_statement};
use crate::model::node_fields;
use crate::model::typed_node_field_schemas::knowledge::LINKS_MAX;
use crate::model::validity::Validity;
use crate::store::{Batch, NodeRowId};

/// Makes each fact that this write changed, and those that say the same by now, one.
pub(super) fn merge_equal_facts(batch: &mut Batch<'_>, now: UnixMillis) -> Result<(), MemoryError> {
    let mut subjects = FactSubjectCache::default();
    let mut known = FactsByStatement::default();
    for changed in StoredKnowledgeNode::all(batch.facts_changed_by_this_write()?)? {
        let mut others = known.equal_to(batch, &changed)?;
        if others.is_empty() {
            continue;
        }
        // One before it may have taken it in.
        let Some(fact) = find_node(batch, &changed.id().to_string())? else { continue };
        if !is_standing_fact(batch, &fact, now)? {
            continue;
        }
        let subject = subjects.of(batch, &fact)?;
        subject.retain_own(batch, &mut others)?;
        let mut group = Vec::new();
        for other in others {
            let has_subject = fact.has("attribute") || subject.is_of(batch, &other)?;
            if has_subject && is_one(&fact, &other) && is_standing_fact(batch, &other, now)? {
                group.push(other);
            }
        }
        group.push(fact);
        group.sort_by_key(|it| it.record.key);
        let mut group = group.into_iter();
        let Some(mut eldest) = group.next() else { continue };
        let subject = subjects.of(batch, &eldest)?.clone();
        for younger in group {
            // One of a shared name is between two that are about a file each.
            if subjects.is_one(batch, (&subject, &eldest), &younger)? {
                take_in(batch, &mut eldest, younger, now)?;
            }
        }
    }
    Ok(())
}

/// The key by which facts that may be one are grouped: of a statement, or else of their cluster.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum FactBlockingKey {
    Key(String),
    Cluster(NodeRowId),
}

/// The facts of the blocking keys that were looked up, by what they say.
#[derive(Default)]
struct FactsByStatement(BTreeMap<FactBlockingKey, HashMap<String, Vec<NodeRowId>>>);

impl FactsByStatement {
    /// Returns the other facts that share a blocking key with one and say the same.
    fn equal_to(
        &mut self,
        batch: &Batch<'_>,
        fact: &StoredKnowledgeNode,
    ) -> Result<Vec<StoredKnowledgeNode>, MemoryError> {
        let terms: Vec<FactBlockingKey> = match fact.has("attribute") {
            true => keys_of_fact(fact)
                .into_iter()
                .map(|it| FactBlockingKey::Key(it.to_owned()))
                .collect(),
            false => fact.record.place.parent.map(FactBlockingKey::Cluster).into_iter().collect(),
        };
        let mut others = facts_saying(batch, &fact.record.content)?;
        let statement = normal_statement(&fact.record.content);
        let mut equal = BTreeSet::new();
        for term in terms {
            let known = match self.0.entry(term) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(new) => {
                    let facts = facts_of(batch, new.key())?;
                    new.insert(facts)
                }
            };
            equal.extend(known.get(&statement).into_iter().flatten().copied());
        }
        others.retain(|it| it.id() != fact.id());
        equal.remove(&fact.record.key);
        equal.retain(|key| others.iter().all(|it| it.record.key != *key));
        for key in equal {
            others.extend(batch.at(key)?.map(StoredKnowledgeNode::of).transpose()?);
        }
        Ok(others)
    }
}

/// Returns the facts of a blocking key, of a cluster the newest ones, by what they say.
fn facts_of(
    batch: &Batch<'_>,
    term: &FactBlockingKey,
) -> Result<HashMap<String, Vec<NodeRowId>>, MemoryError> {
    let texts = match term {
        FactBlockingKey::Key(key) => {
            let facts = batch.living_facts_of(&[key], 0)?.into_iter();
            facts.map(|it| (it.key, it.content)).collect()
        }
        FactBlockingKey::Cluster(key) => batch.texts_of_newest_facts(*key, COMPARED_MAX)?,
    };
    let mut facts: HashMap<String, Vec<NodeRowId>> = HashMap::new();
    for (key, text) in texts {
        facts.entry(normal_statement(&text)).or_default().push(key);
    }
    Ok(facts)
}

/// Returns whether two equal texts are one statement: of one attribute, for a common time.
fn is_one(a: &StoredKnowledgeNode, b: &StoredKnowledgeNode) -> bool {
    let attribute = |it: &StoredKnowledgeNode| it.text("attribute").map(normal_name);
    attribute(a) == attribute(b) && have_same_terms(a, b) && a.validity().overlaps(b.validity())
}

/// Gives a fact everything of another one, which leads to it from then on. Both stay where their
/// edges do not fit in one.
fn take_in(
    batch: &mut Batch<'_>,
    eldest: &mut StoredKnowledgeNode,
    mut younger: StoredKnowledgeNode,
    now: UnixMillis,
) -> Result<(), MemoryError> {
    let (id, into) = (younger.id(), eldest.id());
    let n_links = |it: &StoredKnowledgeNode| node_fields::list(&it.fields, "links").len();
    if LINKS_MAX <= n_links(eldest) + n_links(&younger) {
        return Ok(());
    }
    redirect_edges(batch, id, into, now)?;
    // The edges of both are among those that change.
    for fact in [&mut *eldest, &mut younger] {
        if let Some(now) = find_node(batch, &fact.id().to_string())? {
            *fact = now;
        }
    }
    let (a, b) = (eldest.validity(), younger.validity());
    let from = a.from.into_iter().chain(b.from).min();
    let to = a.to.into_iter().chain(b.to).max();
    let [links, names] =
        ["links", "names"].map(|it| node_fields::list(&younger.fields, it).to_vec());
    let take = |it: &mut Map<String, Value>| {
        set_bounds(it, Validity { from, to });
        for name in ["contested", "asserted_by", "source_ref"] {
            if let Some(value) = younger.fields.get(name) {
                it.entry(name).or_insert_with(|| value.clone());
            }
        }
        links.into_iter().filter(|it| it["to"] != into.to_string()).for_each(|to| add_edge(it, to));
        add_edge(it, edge("derived_from", id, 1.0, None));
        if let Value::Array(known) = it.entry("names").or_insert_with(|| json!([])) {
            let new: Vec<Value> = names.into_iter().filter(|it| !known.contains(it)).collect();
            let room = NAMES_MAX.saturating_sub(known.len());
            known.extend(new.into_iter().take(room));
        }
    };
    set_fields(batch, eldest, take, now)?;
    let hide = |it: &mut Map<String, Value>| {
        it.insert("merged_into".to_owned(), into.to_string().into());
        it.shift_remove("links");
        it.shift_remove("contested");
    };
    set_fields(batch, &mut younger, hide, now).map(drop)
}
