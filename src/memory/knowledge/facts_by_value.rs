//! Facts of clusters by their values, read once a write, to find those that a new one contradicts.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use super::contradicting_facts::{are_rivals, is_current_fact};
use super::node_writes::StoredKnowledgeNode;
use crate::memory::typed::MemoryError;
use crate::model::clock::UnixMillis;
use crate::model::contradicting_statement_values::{StatementFeatures, StatementWordIndex};
use crate::model::identity::NodeId;
use crate::model::typed_node_field_schemas::knowledge::LINKS_MAX;
use crate::store::{Batch, NodeRowId};

/// Facts of a cluster, beside the new ones, that are compared with these, at most.
const COMPARED_MAX: usize = 10_000;

/// The facts that the new ones of a write are compared with, by their clusters.
pub(super) struct ContradictableFacts {
    /// The new ones, each of which is compared with the elder ones.
    new: BTreeSet<NodeId>,
    clusters: BTreeMap<NodeRowId, FactsOfCluster>,
}

/// The current facts of a cluster, eldest first.
#[derive(Default)]
struct FactsOfCluster {
    facts: Vec<StoredKnowledgeNode>,
    index: StatementWordIndex,
}

impl FactsOfCluster {
    fn push(&mut self, fact: StoredKnowledgeNode, statement: StatementFeatures) {
        self.index.push(statement);
        self.facts.push(fact);
    }
}

impl ContradictableFacts {
    /// Returns those beside some new ones, which are compared eldest first.
    pub(super) fn beside(new: &[StoredKnowledgeNode]) -> ContradictableFacts {
        ContradictableFacts {
            new: new.iter().map(StoredKnowledgeNode::id).collect(),
            clusters: BTreeMap::new(),
        }
    }

    /// Returns the facts of some clusters that count and whose values a new one may contradict,
    /// eldest first: of each cluster as many of the newest as a conflict has. Later ones find the
    /// new one.
    pub(super) fn differing(
        &mut self,
        batch: &Batch<'_>,
        (fact, statement): (&StoredKnowledgeNode, StatementFeatures),
        clusters: &[NodeRowId],
        now: UnixMillis,
        mut counts: impl FnMut(&StoredKnowledgeNode) -> Result<bool, MemoryError>,
    ) -> Result<Vec<StoredKnowledgeNode>, MemoryError> {
        for cluster in clusters {
            self.read(batch, fact, *cluster, now)?;
        }
        let mut found: Vec<&StoredKnowledgeNode> = Vec::new();
        for there in clusters.iter().filter_map(|it| self.clusters.get(it)) {
            let n_max = found.len() + LINKS_MAX;
            let others = there.index.contradicting(&statement).map(|nth| &there.facts[nth]);
            for other in others.filter(|it| are_rivals(fact, it)) {
                if found.len() == n_max {
                    break;
                }
                if counts(other)? {
                    found.push(other);
                }
            }
        }
        found.sort_by_key(|it| it.record.key);
        let found = found.into_iter().cloned().collect();
        if let Some(own) = fact.record.place.parent.and_then(|it| self.clusters.get_mut(&it)) {
            own.push(fact.clone(), statement);
        }
        Ok(found)
    }

    /// Reads the facts of a cluster that are elder than a new one, unless they are read.
    fn read(
        &mut self,
        batch: &Batch<'_>,
        fact: &StoredKnowledgeNode,
        cluster: NodeRowId,
        now: UnixMillis,
    ) -> Result<(), MemoryError> {
        let Entry::Vacant(unread) = self.clusters.entry(cluster) else { return Ok(()) };
        let there = unread.insert(FactsOfCluster::default());
        let n_max = COMPARED_MAX + self.new.len();
        let facts = StoredKnowledgeNode::all(batch.living_facts_below(&[cluster], n_max)?)?;
        let is_elder = |it: &StoredKnowledgeNode| {
            !self.new.contains(&it.id()) || it.record.key < fact.record.key
        };
        let elder = facts.into_iter().rev().filter(|it| is_elder(it) && is_current_fact(it, now));
        for it in elder {
            let statement = StatementFeatures::of(&it.record.content);
            there.push(it, statement);
        }
        Ok(())
    }
}
