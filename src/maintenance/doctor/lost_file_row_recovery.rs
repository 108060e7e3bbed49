//! Gives the nodes of a file whose row was lost a row again, so that the next compile finds them
//! there and doubles no text.
//!
//! The path is nowhere else but in HEAD's fingerprint, which proves a guess. Under a path that is
//! not the right one, the nodes look like those of a file that was renamed, and the next compile
//! moves them to where their text is. Of several roots, only a proven path is taken. A path that
//! was altered comes back if it is proven.

use std::collections::BTreeSet;

use rusqlite::{Connection, Row, params};

use super::repair_history_recorder::head_snapshot;
use super::text_hashes::node_name;
use super::{compute_state_fingerprint, first_few, shown};
use crate::model::database_state_fingerprint::{NodeState, sum_of_children};
use crate::model::identity::ContentHash;
use crate::store::node_columns::SqlTemplate;
use crate::store::record::read_state;
use crate::store::{PreparedStatements, StoreError};

/// Paths that are tried at most.
const TRIES_MAX: usize = 100_000;

/// Returns the number of nodes whose file is missing and the first ones, those at the top of each
/// file before others, for a message; `None` where there are none.
pub(super) fn named(conn: &Connection) -> Result<Option<String>, StoreError> {
    const NODES: &str = "
        SELECT id, label
          FROM node
         WHERE file IS NOT NULL AND file NOT IN (SELECT id FROM file)
         ORDER BY parent IS NOT NULL, file, position";
    let read = |row: &Row<'_>| {
        let (id, label): (String, String) = (row.get(0)?, row.get(1)?);
        Ok(node_name(&id, &label))
    };
    let nodes: Vec<String> = conn.rows(NODES, [], read, "find nodes without their file")?;
    let n = nodes.len();
    let named = || format!("{n} nodes lost the row of their file: {}", first_few(&nodes));
    Ok((0 < n).then(named))
}

/// Adds the row of a lost root, whose path the snapshots of its compiles have.
pub(super) fn restore_root(conn: &Connection) -> Result<(), StoreError> {
    const ADD: &str = "
        INSERT INTO root (id, path)
        SELECT lost.root, compiled.path
          FROM (SELECT root FROM file UNION SELECT old_root FROM diff) AS lost
          JOIN (SELECT DISTINCT compile_root AS path FROM snapshot) AS compiled
         WHERE lost.root IS NOT NULL
           AND lost.root NOT IN (SELECT id FROM root)
           AND compiled.path NOT IN (SELECT path FROM root)
           AND compiled.path <> ''";
    const N_CHOICES: &str = "
        SELECT (SELECT count(*)
                  FROM (SELECT root FROM file UNION SELECT old_root FROM diff)
                 WHERE root IS NOT NULL AND root NOT IN (SELECT id FROM root)),
               (SELECT count(DISTINCT compile_root)
                  FROM snapshot
                 WHERE compile_root NOT IN (SELECT path FROM root) AND compile_root <> '')";
    let doing = "restore a root";
    let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
    let choices: (i64, i64) = conn.row(N_CHOICES, [], read, doing)?;
    match choices {
        (1, 1) => conn.run(ADD, [], doing).map(drop),
        _ => Ok(()),
    }
}

/// Gives nodes the file of the nodes above them, and adds a row for each file that is lost; returns
/// notes with the paths.
pub(super) fn restore(conn: &Connection) -> Result<Vec<String>, StoreError> {
    const FOLLOW_PARENT: &str = "
        UPDATE node
           SET file = (SELECT above.file FROM node AS above WHERE above.key = node.parent)
         WHERE parent IS NOT NULL
           AND file NOT IN (SELECT id FROM file)
           AND (SELECT above.file FROM node AS above WHERE above.key = node.parent)
               IN (SELECT id FROM file)";
    const LOST: &str = "
        SELECT DISTINCT file FROM node WHERE 0 < file AND file NOT IN (SELECT id FROM file)";
    const ADD: &str = "
        INSERT INTO file (id, root, path, size, mtime)
        SELECT ?1, root.id, ?2, 0, 0
          FROM root
         WHERE NOT EXISTS (SELECT 1 FROM file WHERE file.root = root.id AND file.path = ?2)
         ORDER BY root.id
         LIMIT 1";
    const DOING: &str = "restore a file";
    conn.run(FOLLOW_PARENT, [], DOING)?;
    let lost: Vec<i64> = conn.rows(LOST, [], |row| row.get(0), DOING)?;
    let mut notes = Vec::new();
    for &file in &lost {
        let stem = stem(conn, file)?;
        let guesses = [format!("{stem}.md"), format!("{stem}.lost-{file}.md")];
        for guess in &guesses {
            if 0 < conn.run(ADD, params![file, guess], DOING)? {
                notes.push((file, guess.clone()));
                break;
            }
        }
    }
    if let ([_], [(file, _)]) = (&lost[..], &notes[..])
        && let Some(path) = prove(conn, *file)?
    {
        let path = shown(&path);
        return Ok(vec![format!(
            "the row of a file was lost, and the next compile reads it again: {path}"
        )]);
    }
    if 1 < conn.row("SELECT count(*) FROM root", [], |row| row.get::<_, i64>(0), DOING)? {
        // Of several roots, a guess may be the wrong one, whose compile would remove the nodes.
        for (file, _) in notes.drain(..) {
            conn.run("DELETE FROM file WHERE id = ?1", [file], DOING)?;
        }
    }
    let note = |(_, path): (i64, String)| {
        format!(
            "the row of a file was lost; its path is guessed to be `{}`, until the next compile \
             finds its texts",
            shown(&path)
        )
    };
    Ok(notes.into_iter().map(note).collect())
}

/// Returns the name of a file without its ending, which the breadcrumbs of its nodes begin with.
fn stem(conn: &Connection, file: i64) -> Result<String, StoreError> {
    const STEM: &str = "
        SELECT trail FROM node WHERE file = ?1 AND parent IS NULL ORDER BY position LIMIT 1";
    let stem: Option<String> = conn.find(STEM, [file], |row| row.get(0), "read a breadcrumb")?;
    Ok(stem.filter(|it| !it.is_empty() && !it.contains('/')).unwrap_or_else(|| "lost".to_owned()))
}

/// Gives a file the root and the path that HEAD's fingerprint proves, and returns the path.
fn prove(conn: &Connection, file: i64) -> Result<Option<String>, StoreError> {
    let Some(difference) = difference_to_head(conn)? else { return Ok(None) };
    KnownPaths::read(conn)?.prove(conn, file, difference)
}

/// Gives the one file whose path was altered the root and the path back that HEAD's fingerprint
/// proves. Files whose nodes have another name in their breadcrumbs are tried first.
pub(super) fn restore_altered_path(conn: &Connection) -> Result<Vec<String>, StoreError> {
    const FILES: &str = "
        SELECT id, path
          FROM file
         WHERE id IN (SELECT file FROM node WHERE parent IS NULL)
         ORDER BY (SELECT 0 < instr(file.path, node.trail)
                     FROM node
                    WHERE node.file = file.id AND node.parent IS NULL
                    ORDER BY node.position
                    LIMIT 1),
                  id";
    let Some(difference) = difference_to_head(conn)?.filter(|it| *it != 0) else {
        return Ok(Vec::new());
    };
    let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
    let files: Vec<(i64, String)> = conn.rows(FILES, [], read, "list the files")?;
    let mut known = KnownPaths::read(conn)?;
    for (file, altered) in files {
        if known.n_left == 0 {
            break;
        }
        if let Some(path) = known.prove(conn, file, difference)? {
            let [altered, path] = [&altered, &path].map(|it| shown(it));
            return Ok(vec![format!(
                "the path of a file was altered: `{altered}` is again `{path}`"
            )]);
        }
    }
    Ok(Vec::new())
}

/// Returns what the state lacks of HEAD's fingerprint.
fn difference_to_head(conn: &Connection) -> Result<Option<u64>, StoreError> {
    let head = head_snapshot(conn)?.and_then(|it| ContentHash::parse(&it.1));
    let Some(head) = head else { return Ok(None) };
    Ok(Some(head.0.wrapping_sub(compute_state_fingerprint(conn)?)))
}

/// The parts of paths that a file may have had: the folder of another file, or one that the history
/// names, and the ending of one.
struct KnownPaths {
    folders: BTreeSet<(i64, String)>,
    endings: BTreeSet<String>,
    /// Paths that may still be tried.
    n_left: usize,
}

impl KnownPaths {
    fn read(conn: &Connection) -> Result<KnownPaths, StoreError> {
        const PATHS: &str = "
            SELECT root, path FROM file
             UNION
            SELECT old_root, old_path
              FROM diff
             WHERE old_root IS NOT NULL AND old_path IS NOT NULL";
        let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
        let known: Vec<(i64, String)> = conn.rows(PATHS, [], read, "look for a file's path")?;
        let mut folders: BTreeSet<(i64, String)> =
            known.iter().map(|it| (it.0, String::new())).collect();
        let mut endings = BTreeSet::from(["", ".md"].map(str::to_owned));
        for (root, path) in known {
            let (folder, name) = path.rsplit_once('/').unwrap_or(("", &path));
            folders.insert((root, folder.to_owned()));
            endings.extend(name.rfind('.').map(|at| name[at..].to_owned()));
        }
        Ok(KnownPaths { folders, endings, n_left: TRIES_MAX })
    }

    /// Gives a file the root and the path that make up a difference, and returns the path.
    fn prove(
        &mut self,
        conn: &Connection,
        file: i64,
        difference: u64,
    ) -> Result<Option<String>, StoreError> {
        const NOW: &str = "SELECT root || ':' || path FROM file WHERE id = ?1";
        const SET: &str = "UPDATE OR IGNORE file SET root = ?2, path = ?3 WHERE id = ?1";
        static TOPS: SqlTemplate = SqlTemplate::new(
            "
            SELECT id, {state}
              FROM node
             WHERE file = ?1 AND parent IS NULL
             ORDER BY position, key",
        );
        let doing = "look for a file's path";
        let read = |row: &Row<'_>| read_state(row, row.get(0)?, 1);
        let tops: Vec<NodeState<'static>> = conn.rows(TOPS.text(), [file], read, doing)?;
        let sum = |family: &str| sum_of_children(Some(family), &tops);
        let now: String = conn.row(NOW, [file], |row| row.get(0), doing)?;
        let (wanted, stem) = (difference.wrapping_add(sum(&now)), stem(conn, file)?);
        for (root, folder) in &self.folders {
            let slash = if folder.is_empty() { "" } else { "/" };
            for ending in &self.endings {
                let Some(n_left) = self.n_left.checked_sub(1) else { return Ok(None) };
                self.n_left = n_left;
                let path = format!("{folder}{slash}{stem}{ending}");
                if sum(&format!("{root}:{path}")) == wanted {
                    conn.run(SET, params![file, root, path], doing)?;
                    return Ok(Some(path));
                }
            }
        }
        Ok(None)
    }
}
