//! Vectors of texts: the scan over those of a model, and the texts that have none yet.

use rusqlite::types::Value;
use rusqlite::{Row, params, params_from_iter};

use super::filter::{NodeFilter, changed_at, meets_filter};
use super::{Reader, limit, list};
use crate::store::{ErrorContext, NodeRowId, PreparedStatements, StoreError};

/// Characters of a text that its vector is made of.
const TEXT_CHARS: i64 = 2_000;

/// A text without a vector, as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TextWithoutVector {
    pub(crate) node: NodeRowId,
    pub(crate) content_hash: String,
    /// Where it stands.
    pub(crate) breadcrumb: String,
    /// Its beginning.
    pub(crate) content: String,
}

impl Reader {
    /// Passes each vector of a model on.
    pub(crate) fn scan_vectors(
        &self,
        model: i64,
        mut see: impl FnMut(NodeRowId, &[u8]),
    ) -> Result<(), StoreError> {
        const VECTORS: &str = "SELECT node, data FROM vector WHERE model = ?1";
        let doing = "read vectors";
        let mut query = self.conn.prepared(VECTORS, doing)?;
        let mut rows = query.query([model]).doing(doing)?;
        while let Some(row) = rows.next().doing(doing)? {
            let node = NodeRowId(row.get(0).doing(doing)?);
            let data = row.get_ref(1).doing(doing)?;
            see(node, data.as_blob().unwrap_or_default());
        }
        Ok(())
    }

    /// Returns texts that have no vector of a model, at most `n_max`, from a key on.
    pub(crate) fn bare_texts(
        &self,
        model: i64,
        from: NodeRowId,
        n_max: usize,
    ) -> Result<Vec<TextWithoutVector>, StoreError> {
        const BARE: &str = "
            SELECT key, content_hash, trail, substr(content, 1, ?4)
              FROM node
             WHERE ?2 <= key
               AND NOT EXISTS (SELECT 1 FROM vector WHERE vector.node = node.key AND model = ?1)
               AND content <> ''
             ORDER BY key
             LIMIT ?3";
        let read = |row: &Row<'_>| {
            Ok(TextWithoutVector {
                node: NodeRowId(row.get(0)?),
                content_hash: row.get(1)?,
                breadcrumb: row.get(2)?,
                content: row.get(3)?,
            })
        };
        let params = params![model, from.0, limit(n_max), TEXT_CHARS];
        self.conn.rows(BARE, params, read, "look for texts without a vector")
    }

    /// Returns those of some nodes that meet a filter, in their order.
    pub(crate) fn meeting(
        &self,
        keys: &[NodeRowId],
        filter: &NodeFilter<'_>,
    ) -> Result<Vec<NodeRowId>, StoreError> {
        const MEETING: &str = concat!(
            "SELECT near.value FROM json_each(?1) AS near WHERE ?2 = 0",
            meets_filter!("near.value"),
            " ORDER BY near.key"
        );
        if filter.is_met_by_all() || keys.is_empty() {
            return Ok(keys.to_vec());
        }
        let first = [list(keys), Value::Integer(0)];
        let params = params_from_iter(first.into_iter().chain(filter.values()));
        let read = |row: &Row<'_>| Ok(NodeRowId(row.get(0)?));
        self.conn.rows(MEETING, params, read, "filter what is near")
    }
}
