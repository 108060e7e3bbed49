//! Typed nodes in a write: added below buckets that no file says, found by UUID or by text.
//!
//! Their texts and fields are changed by [`Batch::set_agent_text`], and they go by
//! [`Batch::forget`], as other nodes of agents.

use rusqlite::{OptionalExtension, Row, params};

use super::Batch;
use crate::model::identity::{ContentHash, NodeId};
use crate::model::tree::{ContentFormat, NodeType};
use crate::store::node_columns::{LEVEL, SqlTemplate};
use crate::store::reader::{self, AccessStats, ArchiveCandidate, read_access};
use crate::store::{
    ErrorContext, NodeRecord, NodeRowId, OptionalColumnValue, OptionalColumnValues,
    PreparedStatements, StoreError, UnplacedNodeData, heat_rows, links, one,
};
use crate::text::tokens;

/// Levels of headings that there are.
const LEVEL_MAX: usize = 6;

impl Batch<'_> {
    /// Adds a typed node as the last one below a bucket: headings by their labels, outermost first,
    /// which belong to no file and are made where they are missing.
    pub(crate) fn insert_typed_node(
        &mut self,
        data: &UnplacedNodeData<'_>,
        bucket: &[&str],
    ) -> Result<(NodeRowId, NodeId), StoreError> {
        let parent = self.bucket(bucket)?;
        self.insert_agent_node(data, self.last_place(None, parent)?)
    }

    /// Returns the innermost heading of a bucket, which is made where it is missing.
    pub(crate) fn bucket(&mut self, bucket: &[&str]) -> Result<Option<NodeRowId>, StoreError> {
        let mut parent = None;
        for (label, level) in bucket.iter().zip(1..=LEVEL_MAX) {
            parent = Some(match self.find_bucket(label, parent)? {
                Some(key) => key,
                None => {
                    let level = OptionalColumnValue::Integer(level as i64);
                    let attributes = OptionalColumnValues::default().with(LEVEL, Some(level));
                    let data = UnplacedNodeData {
                        node_type: NodeType::Heading,
                        format: ContentFormat::Plain,
                        label,
                        content: label,
                        token_count: tokens::count(label),
                        attributes,
                    };
                    self.insert_agent_node(&data, self.last_place(None, parent)?)?.0
                }
            });
        }
        Ok(parent)
    }

    /// Returns the nodes in a bucket, in order; none where there is no such bucket.
    pub(crate) fn nodes_in_bucket(&self, bucket: &[&str]) -> Result<Vec<NodeRecord>, StoreError> {
        let mut parent = None;
        for label in bucket {
            parent = self.find_bucket(label, parent)?;
            if parent.is_none() {
                return Ok(Vec::new());
            }
        }
        parent.map_or(Ok(Vec::new()), |it| self.children_of(it))
    }

    fn find_bucket(
        &self,
        label: &str,
        parent: Option<NodeRowId>,
    ) -> Result<Option<NodeRowId>, StoreError> {
        const FIND: &str = "
            SELECT key
              FROM node
             WHERE name = ?1
               AND label = ?2
               AND parent IS ?3
               AND file IS NULL
               AND node_type = 'heading'
             ORDER BY position, key
             LIMIT 1";
        let found = self.tx.prepare_cached(FIND).and_then(|mut it| {
            let row = params![links::name(label), label, parent.map(|it| it.0)];
            it.query_row(row, |row| row.get(0)).optional()
        });
        Ok(found.doing("find a bucket")?.map(NodeRowId))
    }

    /// Returns the typed node of that UUID.
    pub(crate) fn find_typed(&self, uuid: &str) -> Result<Option<NodeRecord>, StoreError> {
        static FIND: SqlTemplate = SqlTemplate::new(
            "
            SELECT {record}
              FROM facet
              JOIN node ON node.key = facet.node
             WHERE facet.key = 'uuid'
               AND facet.value = ?1
             ORDER BY facet.node
             LIMIT 1",
        );
        Ok(self.typed(&FIND, uuid)?.pop())
    }

    /// Returns the typed nodes that say exactly this, eldest first.
    pub(crate) fn typed_with_text(
        &self,
        node_type: NodeType,
        content: &str,
    ) -> Result<Vec<NodeRecord>, StoreError> {
        static FIND: SqlTemplate = SqlTemplate::new(
            "
            SELECT {record}
              FROM facet
              JOIN node ON node.key = facet.node
             WHERE facet.key = 'content_hash'
               AND facet.value = ?1
             ORDER BY facet.node",
        );
        let mut found = self.typed(&FIND, &ContentHash::of(content).to_string())?;
        found.retain(|it| it.node_type == node_type && it.content == content);
        Ok(found)
    }

    /// Returns how many nodes of a type are there that are not archived.
    pub(crate) fn n_unarchived(&self, node_type: NodeType) -> Result<u64, StoreError> {
        const COUNT: &str = "
            SELECT count(*)
              FROM facet AS of_type
             WHERE of_type.key = 'type'
               AND of_type.value = ?1
               AND EXISTS (
                   SELECT 1
                     FROM facet
                    WHERE node = of_type.node AND key = 'archived' AND value = 0)";
        self.tx
            .prepare_cached(COUNT)
            .and_then(|mut it| it.query_row([node_type.as_str()], |row| row.get::<_, i64>(0)))
            .map(i64::unsigned_abs)
            .doing("count typed nodes")
    }

    /// Returns the typed nodes of a type that are not archived, eldest first.
    pub(crate) fn archivable(
        &self,
        node_type: NodeType,
    ) -> Result<Vec<ArchiveCandidate>, StoreError> {
        reader::archivable(self.tx, node_type)
    }

    /// Returns what is noted of the reads of a node.
    pub(crate) fn access_counts_of(&self, node: NodeRowId) -> Result<AccessStats, StoreError> {
        const ACCESS: &str = "SELECT accessed_at, access_count FROM heat WHERE node = ?1";
        let mut query = self.tx.prepare_cached(ACCESS).doing("read access counts")?;
        let access = query.query_row([node.0], |row| read_access(row, 0)).optional();
        Ok(access.doing("read access counts")?.unwrap_or_default())
    }

    /// Sets what is noted of the reads of a node. Its temperature stays.
    pub(crate) fn set_access_counts(
        &self,
        node: NodeRowId,
        counts: AccessStats,
    ) -> Result<(), StoreError> {
        const SET: &str = "UPDATE heat SET accessed_at = ?2, access_count = ?3 WHERE node = ?1";
        let doing = "set access counts";
        heat_rows::ensure_heat_row(self.tx, node)?;
        let n_accesses = i64::try_from(counts.access_count).unwrap_or(i64::MAX);
        self.tx.run(SET, params![node.0, counts.accessed_at, n_accesses], doing).map(drop)
    }

    /// Returns a random UUID of version 4.
    pub(crate) fn random_uuid(&self) -> Result<String, StoreError> {
        const BYTES: &str = "SELECT randomblob(16)";
        let mut bytes: [u8; 16] = one(self.tx, BYTES).doing("make a UUID")?;
        bytes[6] = bytes[6] & 0x0f | 0x40;
        bytes[8] = bytes[8] & 0x3f | 0x80;
        let mut uuid = String::with_capacity(36);
        for (at, byte) in bytes.iter().enumerate() {
            if matches!(at, 4 | 6 | 8 | 10) {
                uuid.push('-');
            }
            uuid.push_str(&format!("{byte:02x}"));
        }
        Ok(uuid)
    }

    fn typed(&self, sql: &'static SqlTemplate, value: &str) -> Result<Vec<NodeRecord>, StoreError> {
        let mut query = self.tx.prepare_cached(sql.text()).doing("find a typed node")?;
        let read = |row: &Row<'_>| NodeRecord::read(row);
        let rows = query.query_map([value], read).doing("find a typed node")?;
        rows.map(|row| row.doing("find a typed node").and_then(|it| it)).collect()
    }
}
