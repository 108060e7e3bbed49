//! Writes vectors of texts, on a connection of its own and outside of snapshots.
//!
//! A vector is stored only while its node still has the text that it was made of.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::params;

use super::file_identity_check::OpenedFiles;
use super::relaxed_durability_connection::RelaxedDurabilityConnection;
use super::{ErrorContext, PreparedStatements, StoreError, Writer};
use crate::model::vector::NormalizedInt8Vector;
use crate::store::reader::TextWithoutVector;

/// Longest wait for a write in progress; other work goes before this.
const BUSY_WAIT: Duration = Duration::from_millis(500);

/// The connection that writes vectors.
pub(crate) struct VectorWriter {
    conn: Mutex<RelaxedDurabilityConnection>,
    file_identity: Arc<OpenedFiles>,
}

impl VectorWriter {
    /// Opens the connection beside the writer of everything else.
    pub(crate) fn open(path: &Path, writer: &Writer) -> Result<VectorWriter, StoreError> {
        let file_identity = Arc::clone(writer.file_identity());
        let mut conn = RelaxedDurabilityConnection::open(path, &file_identity, BUSY_WAIT)?;
        writer.log().attach(&mut conn)?;
        Ok(VectorWriter { conn: Mutex::new(conn), file_identity })
    }

    /// Removes the vectors of other models.
    pub(crate) fn drop_others(&self, model: i64) -> Result<(), StoreError> {
        const DROP: &str = "DELETE FROM vector WHERE model <> ?1";
        self.file_identity.check()?;
        let (conn, doing) = (self.lock(), "remove vectors of another model");
        let tx = conn.begin_write(doing)?;
        tx.run(DROP, [model], doing)?;
        tx.commit().doing(doing)
    }

    /// Stores the vectors of texts in one transaction.
    pub(crate) fn put(
        &self,
        model: i64,
        vectors: &[(TextWithoutVector, NormalizedInt8Vector)],
    ) -> Result<(), StoreError> {
        const PUT: &str = "
            INSERT INTO vector (node, model, data)
            SELECT key, ?2, ?3
              FROM node
             WHERE key = ?1 AND content_hash = ?4 AND trail = ?5
            ON CONFLICT (node) DO UPDATE SET model = excluded.model, data = excluded.data";
        let doing = "store vectors";
        let conn = self.lock();
        let tx = conn.begin_write(doing)?;
        self.file_identity.check_locked()?;
        for (text, vector) in vectors {
            let TextWithoutVector { node, content_hash, breadcrumb, .. } = text;
            let row = params![node.0, model, vector.as_bytes(), content_hash, breadcrumb];
            tx.run(PUT, row, doing)?;
        }
        tx.commit().doing(doing)
    }

    fn lock(&self) -> MutexGuard<'_, RelaxedDurabilityConnection> {
        // A poisoned lock is sound: its transaction was rolled back when it was dropped.
        self.conn.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
