//! Knowledge: episodes that are remembered, recalled and consolidated to concepts and facts.
//!
//! Everything is a node of the tree with fields, and every change of it is one snapshot. Edges of
//! types are fields of the node that they begin at, so that undoing a change undoes its edges.

mod apply_changeset;
mod arguments;
mod changeable_nodes;
mod changeset_base_and_names;
mod changeset_line_format;
mod changeset_operations;
mod conflict_update_after_write;
mod conflict_writes;
pub(crate) mod consolidate;
mod contradicting_facts;
mod deleted_flag_in_json;
mod edge_redirection;
mod entity_resolution;
mod equal_fact_merge;
mod export_knowledge_as_remind_json;
mod fact_of_fact_episode;
mod fact_subject;
mod fact_writes;
mod facts_by_value;
mod foreign_remind_import;
mod ingest_queue;
mod node_writes;
mod purge_keeping_old_versions;
mod recall;
mod remember;
mod remember_request;
pub(crate) mod remind_compatible_requests;
mod resource_json;
mod topic_member_release;
mod worksheets;

#[cfg(test)]
mod tests;

pub(crate) use apply_changeset::ApplyRequest;
pub(crate) use changeable_nodes::why_not_written;
#[cfg(any(test, fuzzing))]
pub(crate) use changeset_line_format::print_changeset;
pub(crate) use changeset_line_format::{NumberedOperation, parse_changeset};
pub(crate) use conflict_update_after_write::{release_statements, settle_statements};
pub(crate) use export_knowledge_as_remind_json::{ExportCounts, export_remind};
pub(crate) use fact_of_fact_episode::fact_forgotten_with;
pub(crate) use foreign_remind_import::KnowledgeImportReport;
pub(crate) use ingest_queue::{MemoryIngestArgs, hand_in};
pub(crate) use recall::{RecallRequest, recall};
pub(crate) use remember_request::RememberRequest;
pub(crate) use resource_json::{
    BOOTSTRAP_DEFAULT, BOOTSTRAP_RANGE, LIST_DEFAULT, LIST_MAX, RecordPageRequest,
    bootstrap_document, concept_document, concept_record, concept_records, concepts_document,
    concepts_of_entity, conflict_document, conflicts_document, deleted_records, deletion_of,
    entities_document, entity_document, entity_graph_record, entity_record, entity_records,
    episode_record, episode_records, episodes_document, episodes_of_entity, events_document,
    graph_record, n_open_conflicts, query_record, stats_record, topic_record, topic_records,
    topics_document,
};
pub(crate) use topic_member_release::{n_episodes_of, release_members};
pub(crate) use worksheets::{ConsolidateRequest, TASKS, WorksheetRequest, review};
