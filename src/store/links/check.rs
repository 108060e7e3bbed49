//! Checks references and names against those computed anew from the texts.

use std::collections::BTreeSet;

use rusqlite::Connection;

use super::names::{file_names, names_now};
use super::{LinkRows, compare_target, name, read_reference, read_text};
use super::{reference_columns, wanted_of};
use crate::model::links::reference::Reference;
use crate::model::links::resolve::{Resolver, names_needed_by};
use crate::store::{ErrorStep, FileId, NodeKey, Prepared, StoreError};

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
    let mut query = conn.prepare(NODES).doing("read all texts")?;
    let mut rows = query.query([]).doing("read all texts")?;
    while let Some(row) = rows.next().doing("read all texts")? {
        let (key, mut told, label) = read_text(row).doing("read all texts")?;
        let id: String = row.get(4).doing("read all texts")?;
        if name(&label) != row.get(5).doing("read all texts")? {
            faults.push(format!("node `{id}` is not found by its label"));
        }
        let mut noted = noted(conn, key)?;
        // A link of an imported database keeps its weight until its text changes.
        told.iter_mut().chain(&mut noted).for_each(|it| it.weight = 0.0);
        let order = |a: &Reference, b: &Reference| format!("{a:?}").cmp(&format!("{b:?}"));
        told.sort_by(order);
        noted.sort_by(order);
        if told != noted {
            let (told, noted) = (told.len(), noted.len());
            faults.push(format!("node `{id}` has {told} references, and other {noted} are noted"));
        }
    }
    Ok(())
}

fn noted(conn: &Connection, source: NodeKey) -> Result<Vec<Reference>, StoreError> {
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
    let read = |row: &rusqlite::Row<'_>| Ok((FileId(row.get(0)?), row.get(1)?));
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
    let mut resolver = Resolver::new(LinkRows { conn });
    let mut query = conn.prepare(ALL).doing("read references")?;
    let mut rows = query.query([]).doing("read references")?;
    let mut n = 0;
    while let Some(row) = rows.next().doing("read references")? {
        let reference = read_reference(row).doing("read references")?;
        let id: i64 = row.get(7).doing("read references")?;
        n += 1;
        if compare_target(conn, &mut resolver, id)?.is_none_or(|(was, is)| was != is) {
            faults.push(format!("the reference to `{}` points elsewhere", reference.label));
        }
        if wanted_of(conn, id)? != names_needed_by(&reference).into_iter().collect::<BTreeSet<_>>()
        {
            faults.push(format!("the reference to `{}` waits for others", reference.label));
        }
    }
    Ok(n)
}
