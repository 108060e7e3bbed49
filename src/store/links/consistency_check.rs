//! Checks references and names against those computed anew from the texts.

use std::collections::BTreeSet;

use rusqlite::{Connection, Row};

use super::stored_file_names::{file_names, names_now};
use super::{DatabaseLinkIndex, compare_target, name, read_reference, read_text};
use super::{reference_columns, wanted_of};
use crate::model::links::reference::Reference;
use crate::model::links::resolve::{Resolver, names_needed_by};
use crate::store::{FileId, NodeRowId, PreparedStatements, StoreError};

/// Returns the faults, a line each, and the number of references checked.
pub(crate) fn check_references(conn: &Connection) -> Result<(Vec<String>, usize), StoreError> {
    let mut faults = Vec::new();
    texts(conn, &mut faults)?;
    files(conn, &mut faults)?;
    let n = targets(conn, &mut faults)?;
    Ok((faults, n))
}

/// Checks that the rows have the references of each text, and that each node has its name.
fn texts(conn: &Connection, faults: &mut Vec<String>) -> Result<(), StoreError> {
    const NODES: &str = "SELECT key, node_type, label, content, id, name FROM node";
    let read = |row: &Row<'_>| {
        Ok((read_text(row)?, row.get::<_, String>(4)?, row.get::<_, Option<i64>>(5)?))
    };
    conn.each(NODES, [], read, "read all texts", |((key, mut found, label), id, name_key)| {
        if name(&label) != name_key {
            faults.push(format!("node `{id}` is not found by its label"));
        }
        let mut stored = stored(conn, key)?;
        // A link of an imported database keeps its weight until its text changes.
        found.iter_mut().chain(&mut stored).for_each(|it| it.weight = 0.0);
        let order = |a: &Reference, b: &Reference| format!("{a:?}").cmp(&format!("{b:?}"));
        found.sort_unstable_by(order);
        stored.sort_unstable_by(order);
        if found != stored {
            let (found, stored) = (found.len(), stored.len());
            faults
                .push(format!("node `{id}` has {found} references, and other {stored} are noted"));
        }
        Ok(())
    })
}

fn stored(conn: &Connection, source: NodeRowId) -> Result<Vec<Reference>, StoreError> {
    const NOTED: &str = concat!(
        "SELECT ",
        reference_columns!(),
        " FROM reference WHERE source = ?1 AND origin = 'parsed'"
    );
    conn.rows(NOTED, [source.0], read_reference, "read references")
}

/// Checks that every file is found by its names.
fn files(conn: &Connection, faults: &mut Vec<String>) -> Result<(), StoreError> {
    const FILES: &str = "SELECT id, path FROM file";
    let read = |row: &Row<'_>| Ok((FileId(row.get(0)?), row.get(1)?));
    let files: Vec<(FileId, String)> = conn.rows(FILES, [], read, "list the files")?;
    for (file, path) in files {
        if file_names(conn, file)? != names_now(conn, file)? {
            faults.push(format!("file `{path}` is not found by its names"));
        }
    }
    Ok(())
}

/// Checks that every reference has its target, and waits for every name that could change it.
fn targets(conn: &Connection, faults: &mut Vec<String>) -> Result<usize, StoreError> {
    const ALL: &str = concat!("SELECT ", reference_columns!(), ", id FROM reference");
    let mut resolver = Resolver::new(DatabaseLinkIndex { conn });
    let mut n = 0;
    let read = |row: &Row<'_>| Ok((read_reference(row)?, row.get(7)?));
    let check = |(reference, id): (Reference, i64)| {
        n += 1;
        if compare_target(conn, &mut resolver, id)?.is_none_or(|(was, is)| was != is) {
            faults.push(format!("the reference to `{}` points elsewhere", reference.label));
        }
        if wanted_of(conn, id)? != names_needed_by(&reference).into_iter().collect::<BTreeSet<_>>()
        {
            faults.push(format!("the reference to `{}` waits for others", reference.label));
        }
        Ok::<_, StoreError>(())
    };
    conn.each(ALL, [], read, "read references", check)?;
    Ok(n)
}
