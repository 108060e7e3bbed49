//! The flag of what is deleted, in JSON documents that show it among what is not.

use serde_json::Value;

use crate::store::reader::KnowledgeRow;

/// Returns a document of a node, which says so where the node is deleted.
pub(super) fn marked_if_deleted(row: &KnowledgeRow, mut shown: Value) -> Value {
    if row.has("deleted") {
        shown["deleted"] = true.into();
    }
    shown
}
