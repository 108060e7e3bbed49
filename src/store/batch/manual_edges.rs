//! Manual edges in a write: added, changed, removed. They are no part of the state that snapshots
//! keep, and no compile touches them.

use rusqlite::params;

use super::Batch;
use crate::model::links::name::LinkResolution;
use crate::model::links::reference::Reference;
use crate::store::links::{self, ParsedOrManualReference};
use crate::store::{ErrorContext, NodeRowId, StoreError};

/// The target of a manual edge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ManualEdgeResolution {
    /// The node of that id.
    Resolved(String),
    /// None yet; the ids are candidates.
    Pending(Vec<String>),
}

/// The outcome of removing an edge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum UnrelateOutcome {
    /// The edge was removed; this was its target.
    Removed(ManualEdgeResolution),
    /// Only a text contains the edge.
    InText,
    /// There is no such edge.
    Nothing,
}

impl Batch<'_> {
    /// Relates a node with the target of `reference`. An edge that exists gets the new weight.
    pub(crate) fn relate(
        &mut self,
        source: NodeRowId,
        reference: &Reference,
    ) -> Result<ManualEdgeResolution, StoreError> {
        const WEIGH: &str = "UPDATE reference SET weight = ?2 WHERE id = ?1";
        let same =
            links::same_references(self.tx, source, ParsedOrManualReference::Manual, reference)?;
        if same.is_empty() {
            links::insert(self.tx, source, ParsedOrManualReference::Manual, reference)?;
        }
        for id in same {
            self.tx
                .execute(WEIGH, params![id, reference.weight])
                .doing("change the weight of an edge")?;
        }
        self.edge(source, reference)
    }

    /// Removes the manual edge from a node to the target of `reference`.
    pub(crate) fn unrelate(
        &mut self,
        source: NodeRowId,
        reference: &Reference,
    ) -> Result<UnrelateOutcome, StoreError> {
        const FORGET: &str = "DELETE FROM reference WHERE id = ?1";
        let same =
            links::same_references(self.tx, source, ParsedOrManualReference::Manual, reference)?;
        if same.is_empty() {
            let parsed = links::same_references(
                self.tx,
                source,
                ParsedOrManualReference::Parsed,
                reference,
            )?;
            return Ok(if parsed.is_empty() {
                UnrelateOutcome::Nothing
            } else {
                UnrelateOutcome::InText
            });
        }
        let edge = self.edge(source, reference)?;
        for id in same {
            self.tx.execute(FORGET, [id]).doing("remove an edge")?;
        }
        Ok(UnrelateOutcome::Removed(edge))
    }

    /// Resolves `reference`, together with the node's rows equal to it, and returns its target.
    fn edge(
        &mut self,
        source: NodeRowId,
        reference: &Reference,
    ) -> Result<ManualEdgeResolution, StoreError> {
        for id in
            links::same_references(self.tx, source, ParsedOrManualReference::Manual, reference)?
        {
            self.dirty_refs.reference_changed(id);
        }
        Ok(match links::resolve_text_target(self.tx, source, reference)? {
            LinkResolution::Node(key) => {
                ManualEdgeResolution::Resolved(links::ids(self.tx, &[key])?)
            }
            LinkResolution::Missing => ManualEdgeResolution::Pending(Vec::new()),
            LinkResolution::Ambiguous(keys) => {
                let ids = links::ids(self.tx, &keys)?;
                ManualEdgeResolution::Pending(ids.split(' ').map(str::to_owned).collect())
            }
        })
    }
}
