//! Reads the sessions of OpenCode out of its database, which stays as it is.

use std::path::Path;

use rusqlite::{Connection, OpenFlags, Row};
use serde_json::{Value, json};

use crate::store::{ErrorContext, StoreError};

/// Bytes of one message or part; larger ones hold output of tools.
const DATA_BYTES_MAX: i64 = 8 * 1024 * 1024;

/// A session of OpenCode, with its records as `opencode export` writes them.
#[derive(Debug)]
pub(crate) struct OpencodeSession {
    pub(crate) id: String,
    pub(crate) title: String,
    /// The folder that it worked in.
    pub(crate) folder: String,
    /// Milliseconds since 1970.
    pub(crate) created_ms: i64,
    pub(crate) records: Vec<Value>,
}

/// Hands on the sessions of a database, eldest first. Those of sub-agents are left out.
pub(crate) fn each_opencode_session(
    db: &Path,
    each: &mut dyn FnMut(OpencodeSession),
) -> Result<(), StoreError> {
    const SESSIONS: &str = "
        SELECT id, title, directory, time_created
          FROM session
         WHERE parent_id IS NULL
         ORDER BY time_created, id";
    let conn = Connection::open_with_flags(db, OpenFlags::SQLITE_OPEN_READ_ONLY)
        .doing("open the database of OpenCode")?;
    let mut sessions = conn.prepare(SESSIONS).doing("find the sessions of OpenCode")?;
    let read = |row: &Row<'_>| {
        Ok(OpencodeSession {
            id: row.get(0)?,
            title: row.get(1)?,
            folder: row.get(2)?,
            created_ms: row.get(3)?,
            records: Vec::new(),
        })
    };
    let rows = sessions.query_map([], read).doing("read the sessions of OpenCode")?;
    for session in rows {
        let mut session = session.doing("read a session of OpenCode")?;
        session.records = records(&conn, &session.id).doing("read the messages of OpenCode")?;
        each(session);
    }
    Ok(())
}

/// Returns the messages of a session with their parts.
fn records(conn: &Connection, session: &str) -> rusqlite::Result<Vec<Value>> {
    const MESSAGES: &str = "
        SELECT message.id, message.data, part.data
          FROM message
          LEFT JOIN part ON part.message_id = message.id AND length(part.data) <= ?2
         WHERE message.session_id = ?1
           AND length(message.data) <= ?2
         ORDER BY message.time_created, message.id, part.id";
    let mut statement = conn.prepare_cached(MESSAGES)?;
    let mut rows = statement.query((session, DATA_BYTES_MAX))?;
    let mut records: Vec<Value> = Vec::new();
    let mut last = String::new();
    let parse = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_default();
    while let Some(row) = rows.next()? {
        let (id, info, part): (String, String, Option<String>) =
            (row.get(0)?, row.get(1)?, row.get(2)?);
        if id != last {
            records.push(json!({"info": parse(&info), "parts": []}));
            last = id;
        }
        let parts = records.last_mut().and_then(|it| it["parts"].as_array_mut());
        if let (Some(parts), Some(part)) = (parts, part) {
            parts.push(parse(&part));
        }
    }
    Ok(records)
}
