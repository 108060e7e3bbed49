//! Knowledge: episodes that are remembered, recalled and consolidated to concepts and facts.
//!
//! Everything is a node of the tree with fields, and every change of it is one snapshot. Edges of
//! types are fields of the node that they begin at, so that undoing a change undoes its edges.

mod apply;
mod changeset;
pub(crate) mod consolidate;
mod documents;
mod entities;
mod exported;
mod facts;
mod given;
mod imported;
mod ingest;
mod lines;
mod nodes;
mod operations;
mod purge;
mod recall;
mod remember;
mod request;
mod review;
pub(crate) mod taught;

#[cfg(test)]
mod tests;

pub(crate) use apply::ApplyRequest;
pub(crate) use documents::{
    BOOTSTRAP_DEFAULT, BOOTSTRAP_RANGE, LIST_DEFAULT, LIST_MAX, RecordFilter, bootstrap_document,
    concept_document, concept_record, concept_records, concepts_document, concepts_of_entity,
    conflicts_document, deleted_records, deletion_of, entities_document, entity_document,
    entity_graph_record, entity_record, entity_records, episode_record, episode_records,
    episodes_document, episodes_of_entity, events_document, graph_record, query_record,
    stats_document, stats_record, topic_record, topic_records, topics_document,
};
pub(crate) use exported::{ExportCounts, export_remind};
pub(crate) use imported::KnowledgeImport;
pub(crate) use ingest::{IngestRequest, hand_in};
#[cfg(any(test, fuzzing))]
pub(crate) use lines::print_changeset;
pub(crate) use lines::{NumberedOperation, parse_changeset};
pub(crate) use recall::{RecallRequest, recall};
pub(crate) use request::RememberRequest;
pub(crate) use review::{ConsolidateRequest, ReviewRequest, TASKS, review};
