//! Names nodes whose text and hash were both altered, where the state is not the one of HEAD.
//!
//! Such a text matches its hash, and is not the one of the node's latest change. A file's text
//! looks like an agent's then, which a compile keeps; it is called the file's again, so that the
//! next compile brings the true one back.

use rusqlite::{Connection, Row};

use super::first_few;
use super::text_hashes::{earlier_texts, node_name};
use crate::store::{PreparedStatements, StoreError};
use crate::text::fold_whitespace;

/// A node whose text its latest change did not give it.
struct ReplacedText {
    key: i64,
    id: String,
    name: String,
    /// Whether the latest change gave the node the text of its file.
    is_of_file: bool,
}

/// Has the next compile replace such texts of files; returns notes on all of them.
pub(super) fn mend(conn: &Connection) -> Result<Vec<String>, StoreError> {
    const CALL_OF_FILE: &str = "UPDATE node SET source_hash = content_hash WHERE key = ?1";
    let (mut names, mut notes) = (Vec::new(), Vec::new());
    for it in replaced(conn)? {
        if it.is_of_file {
            conn.run(CALL_OF_FILE, [it.key], "mend a text")?;
            names.push(it.name);
        } else {
            notes.push(format!("{}: {}", it.name, earlier_texts(conn, &it.id)?));
        }
    }
    if !names.is_empty() {
        notes.insert(0, format!("altered: {}", first_few(&names)));
    }
    Ok(notes)
}

fn replaced(conn: &Connection) -> Result<Vec<ReplacedText>, StoreError> {
    const REPLACED: &str = "
        SELECT node.key, node.id, node.label, ifnull(file.path, ''),
               file.id IS NOT NULL AND node.source_hash IN (node.content_hash, last.new_hash)
          FROM node
          JOIN diff AS last
               ON last.node_id = node.id
              AND (last.snapshot, last.seq) = (SELECT snapshot, seq
                                                 FROM diff
                                                WHERE node_id = node.id AND new_hash IS NOT NULL
                                                ORDER BY snapshot DESC, seq DESC
                                                LIMIT 1)
          LEFT JOIN file ON file.id = node.file
         WHERE node.content_hash <> last.new_hash
         ORDER BY node.key";
    let read = |row: &Row<'_>| {
        let (id, label, path): (String, String, String) = (row.get(1)?, row.get(2)?, row.get(3)?);
        let node = node_name(&id, &label);
        let name = match path.is_empty() {
            true => node,
            false => format!("{node} of {}", fold_whitespace(&path)),
        };
        Ok(ReplacedText { key: row.get(0)?, id, name, is_of_file: row.get(4)? })
    };
    conn.rows(REPLACED, [], read, "look for altered texts")
}
