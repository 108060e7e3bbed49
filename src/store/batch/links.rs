//! Edges by hand in a write: made, changed, taken away. They are no part of the state that
//! snapshots keep, and no recompile touches them.

use rusqlite::params;

use super::Batch;
use crate::model::links::name::Target;
use crate::model::links::reference::Reference;
use crate::store::links::{self, Origin};
use crate::store::{ErrorStep, NodeKey, StoreError};

/// Where a reference by hand leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ManualEdge {
    /// To the node of that id.
    Resolved(String),
    /// Nowhere yet; perhaps to one of those ids.
    Pending(Vec<String>),
}

/// What taking an edge away did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum UnrelateOutcome {
    /// It led there.
    Removed(ManualEdge),
    /// A text says that the edge is there, and nobody by hand.
    InText,
    /// There is no such edge.
    Nothing,
}

impl Batch<'_> {
    /// The node of that id.
    pub(crate) fn node(&self, id: &str) -> Result<Option<NodeKey>, StoreError> {
        links::node(self.tx, id)
    }

    /// Relates a node with what `reference` means. What is related already gets the new weight.
    pub(crate) fn relate(
        &mut self,
        source: NodeKey,
        reference: &Reference,
    ) -> Result<ManualEdge, StoreError> {
        const WEIGH: &str = "UPDATE reference SET weight = ?2 WHERE id = ?1";
        let same = links::same_references(self.tx, source, Origin::Manual, reference)?;
        if same.is_empty() {
            links::insert(self.tx, source, Origin::Manual, reference)?;
        }
        for id in same {
            self.tx
                .execute(WEIGH, params![id, reference.weight])
                .doing("change the weight of an edge")?;
        }
        self.edge(source, reference)
    }

    /// Takes the edge by hand away that leads from a node to what `reference` means.
    pub(crate) fn unrelate(
        &mut self,
        source: NodeKey,
        reference: &Reference,
    ) -> Result<UnrelateOutcome, StoreError> {
        const FORGET: &str = "DELETE FROM reference WHERE id = ?1";
        let same = links::same_references(self.tx, source, Origin::Manual, reference)?;
        if same.is_empty() {
            let told = links::same_references(self.tx, source, Origin::Parsed, reference)?;
            return Ok(if told.is_empty() {
                UnrelateOutcome::Nothing
            } else {
                UnrelateOutcome::InText
            });
        }
        let edge = self.edge(source, reference)?;
        for id in same {
            self.tx.execute(FORGET, [id]).doing("take an edge away")?;
        }
        Ok(UnrelateOutcome::Removed(edge))
    }

    /// Where `reference` leads; a row that says the same is resolved with it.
    fn edge(&mut self, source: NodeKey, reference: &Reference) -> Result<ManualEdge, StoreError> {
        for id in links::same_references(self.tx, source, Origin::Manual, reference)? {
            self.dirty_refs.reference_changed(id);
        }
        Ok(match links::resolve_text_target(self.tx, source, reference)? {
            Target::Node(key) => ManualEdge::Resolved(links::ids(self.tx, &[key])?),
            Target::Missing => ManualEdge::Pending(Vec::new()),
            Target::Ambiguous(keys) => {
                let ids = links::ids(self.tx, &keys)?;
                ManualEdge::Pending(ids.split(' ').map(str::to_owned).collect())
            }
        })
    }
}
