//! Plain types: trees, ids, links, heat and time as values; no files and no threads.

pub(crate) mod breadcrumb;
pub(crate) mod clock;
pub(crate) mod consolidation_schedule;
pub(crate) mod contradicting_statement_values;
pub(crate) mod database_state_fingerprint;
pub(crate) mod entity_extraction;
pub(crate) mod file_stat;
pub(crate) mod heat;
pub(crate) mod identity;
pub(crate) mod imported_note_keys;
pub(crate) mod links;
pub(crate) mod month_names;
pub(crate) mod next_step_advice;
pub(crate) mod node_fields;
pub(crate) mod order_keys;
pub(crate) mod schedule;
pub(crate) mod topic_name_matching_and_slugs;
pub(crate) mod tree;
pub(crate) mod typed_node_field_schemas;
pub(crate) mod validity;
pub(crate) mod value_coercion;
pub(crate) mod vector;
