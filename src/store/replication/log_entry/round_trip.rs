//! Reads a part and writes it again, for tests and fuzz targets.

use super::{LogEntryOperation, LogEntryOperationReader, LogEntryOperationWriter};

/// Returns a part with the same steps; `None` where the bytes are of another form.
pub(crate) fn rewrite_part(part: &[u8]) -> Option<Vec<u8>> {
    let mut reader = LogEntryOperationReader::new(part)?;
    let mut bodies: Vec<Vec<u8>> = Vec::new();
    let mut sink = |body| {
        bodies.push(body);
        Ok(())
    };
    let mut writer = LogEntryOperationWriter::new(&mut sink);
    // A table without a step of its own leaves nothing, and a step needs a table.
    let mut has_table = false;
    while !reader.is_at_end() {
        match reader.next_step()? {
            LogEntryOperation::After(hash) => writer.after(hash),
            LogEntryOperation::Wipe => writer.wipe(),
            LogEntryOperation::Table { name, columns } => {
                writer.table(name, &columns);
                has_table = true;
            }
            LogEntryOperation::Delete(values) | LogEntryOperation::Row(values) if !has_table => {
                assert!(values.is_empty(), "{values:?} without a table");
                return None;
            }
            LogEntryOperation::Delete(values) => writer.delete(values.iter().map(borrowed)).ok()?,
            LogEntryOperation::Row(values) => writer.row(values.iter().map(borrowed)).ok()?,
        }
    }
    let last = writer.finish();
    bodies.push(last);
    // The bytes of a large part are several.
    (bodies.len() == 1).then(|| bodies.concat())
}

fn borrowed<'b>(value: &rusqlite::types::ToSqlOutput<'b>) -> rusqlite::types::ValueRef<'b> {
    match value {
        rusqlite::types::ToSqlOutput::Borrowed(value) => *value,
        other => unreachable!("a step reads no {other:?}"),
    }
}
