//! Databases of older and later builds, for tests.

use std::cell::Cell;
use std::path::Path;

use rusqlite::Connection;

use super::node_columns::NodeColumn;

/// A schema with more columns than this build's.
#[derive(Clone, Copy)]
pub(crate) struct ExtendedTestSchema {
    pub(crate) columns: &'static [NodeColumn],
    /// Columns of optional values.
    pub(crate) attributes: &'static [NodeColumn],
    pub(crate) migrations: &'static [&'static str],
}

thread_local! {
    static SCRATCH: Cell<Option<ExtendedTestSchema>> = const { Cell::new(None) };
}

/// Returns the schema set for this test's thread, if it differs from this build's.
pub(crate) fn scratch() -> Option<ExtendedTestSchema> {
    SCRATCH.get()
}

/// Sets another schema for this test's thread.
pub(crate) fn set_scratch(scratch: Option<ExtendedTestSchema>) {
    SCRATCH.set(scratch);
}

/// Takes the running totals out of the schema, and what came after them.
pub(crate) const FORGET_TOTALS: &str = "
    DROP INDEX node_of_file;
    DROP INDEX snapshot_by_parent;
    DROP TRIGGER total_node_added;
    DROP TRIGGER total_node_removed;
    DROP TRIGGER total_node_changed;
    DROP TRIGGER total_reference_added;
    DROP TRIGGER total_reference_removed;
    DROP TRIGGER total_reference_changed;
    DROP VIEW running_total_made;
    DROP TABLE running_total;";

/// Downgrades the database to the last schema without fields.
pub(crate) fn forget_fields(path: &Path) {
    let conn = Connection::open(path).expect("it is there");
    conn.execute_batch(FORGET_TOTALS).expect("sound SQL");
    conn.execute_batch(
        "DROP TRIGGER vector_of_old_text;
         DROP TRIGGER vector_of_no_text;
         DROP TABLE vector;
         DROP TABLE forgotten_note;
         DROP TABLE change_count;
         DROP TABLE replica;
         DROP INDEX root_by_name;
         ALTER TABLE root DROP COLUMN name;
         DROP TRIGGER facet_node_added;
         DROP TRIGGER facet_node_changed;
         DROP TRIGGER facet_node_removed;
         DROP VIEW facet_made;
         DROP VIEW facet_change;
         DROP TRIGGER node_fts_insert;
         DROP TABLE facet_program;
         CREATE TRIGGER node_fts_insert AFTER INSERT ON node BEGIN
             INSERT INTO node_fts (rowid, label, content, trail, grams)
             VALUES (new.key, new.label, new.content, new.trail, new.grams);
         END;
         DROP TABLE facet;
         DROP TABLE receipt;
         DROP TABLE restored;
         DROP VIEW typed_edge_made;
         DROP TABLE typed_edge;
         DROP TABLE custom_view;
         ALTER TABLE pulse DROP COLUMN views;
         DROP INDEX node_with_fields;
         ALTER TABLE node DROP COLUMN fields;
         ALTER TABLE diff DROP COLUMN old_fields;
         PRAGMA user_version = 9;",
    )
    .expect("sound SQL");
}

/// Downgrades the database to the last schema without references.
pub(crate) fn forget_references(path: &Path) {
    forget_fields(path);
    let conn = Connection::open(path).expect("it is there");
    conn.execute_batch(
        "DROP TRIGGER pulse_edge_made;
         DROP TRIGGER pulse_edge_weighed;
         DROP TRIGGER pulse_edge_taken;
         DROP TRIGGER pulse_file_noted;
         DROP TRIGGER pulse_file_moved;
         DROP TRIGGER pulse_file_dropped;
         DROP TRIGGER pulse_heat;
         DROP TRIGGER pulse_heat_noted;
         DROP TABLE pulse;
         DROP TABLE lease;
         DROP TABLE tombstone;
         ALTER TABLE file DROP COLUMN gone;
         DROP TRIGGER heat_rearm;
         DROP INDEX heat_to_announce;
         ALTER TABLE heat DROP COLUMN full_at;
         ALTER TABLE heat DROP COLUMN announced;
         ALTER TABLE heat DROP COLUMN announced_at;
         ALTER TABLE memory DROP COLUMN ticked_at;
         ALTER TABLE memory DROP COLUMN heated;
         DROP TABLE wanted;
         DROP TABLE file_name;
         DROP TABLE reference;
         DROP INDEX node_by_name;
         ALTER TABLE node DROP COLUMN name;
         PRAGMA user_version = 1;",
    )
    .expect("sound SQL");
}
