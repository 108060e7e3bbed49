//! Subjects of imported clusters: each cluster has that of its record, unless another one of this
//! memory holds the facts of it.

use super::KnowledgeImporter;
use super::record_values::{RecordValues, named_entity};
use crate::maintenance::transfer::RemindRecord;
use crate::memory::knowledge::fact_subject::other_clusters;
use crate::memory::knowledge::node_writes::find_node;
use crate::memory::typed::MemoryError;
use crate::model::entity_extraction::name_key;
use crate::model::identity::NodeId;
use crate::model::tree::NodeType;
use crate::model::typed_node_field_schemas::knowledge::FACT_CLUSTER;

impl KnowledgeImporter<'_, '_, '_> {
    /// Returns the subject of a cluster, unless another cluster has its name.
    pub(super) fn free_subject_of(
        &mut self,
        record: &RemindRecord,
    ) -> Result<Option<String>, MemoryError> {
        let Some(name) = subject_of(record) else { return Ok(None) };
        let mut taken = self.batch.with_facet(NodeType::Concept, "subject", &name_key(&name))?;
        // Where a record says that it has a subject, it has it beside other ones of its file.
        if record.text("subject").is_some() {
            taken.retain(|it| !self.made.contains(&it.id));
        }
        Ok(taken.is_empty().then_some(name))
    }

    /// Gives a cluster that this import made the subject of its record, where only clusters of
    /// other files have that name.
    pub(super) fn give_subject(
        &mut self,
        record: &RemindRecord,
        id: NodeId,
    ) -> Result<(), MemoryError> {
        let is_cluster = record.text("concept_type") == Some(FACT_CLUSTER);
        let Some(name) = subject_of(record).filter(|_| is_cluster && self.made.contains(&id))
        else {
            return Ok(());
        };
        let Some(mut cluster) = find_node(self.batch, &id.to_string())? else { return Ok(()) };
        let hash = name_key(&name);
        if cluster.has("subject") || !other_clusters(self.batch, &cluster, &hash)?.is_empty() {
            return Ok(());
        }
        self.change(&mut cluster, |it| drop(it.insert("subject".to_owned(), hash.into())))
    }
}

/// Returns the subject of a cluster: the one that it names, else its first entity.
pub(super) fn subject_of(record: &RemindRecord) -> Option<String> {
    if let Some(subject) = record.text("subject") {
        return Some(subject.to_owned());
    }
    let entities = record.texts("entity_ids");
    named_entity(entities.first()?, None).map(|it| it.name)
}
