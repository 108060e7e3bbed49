//! Imports the links of an old database, beside those already parsed from the texts. The old rows
//! add weights and manual links. Each target is resolved as for any other link; a target that
//! differs from the old one is counted.

use std::collections::BTreeMap;

use rusqlite::{Connection, Row, params};

use super::nodes::{InsertedNode, InsertedNodes};
use super::{SkippedCounts, rows};
use crate::maintenance::transfer::row_redaction::ImportRedactor;
use crate::model::links::reference::{Reference, ReferenceSyntax, WEIGHT_DEFAULT, WEIGHT_MAX};
use crate::store::links::{ParsedOrManualReference, insert, resolve_rows};
use crate::store::{ErrorContext, NodeRowId, PreparedStatements, StoreError};

/// Imports the links; returns the number of all references afterwards.
pub(super) fn import_links(
    from: &Connection,
    to: &Connection,
    nodes: &InsertedNodes,
    cleaner: &mut ImportRedactor<'_>,
    notes: &mut SkippedCounts,
) -> Result<u64, StoreError> {
    let resolved = [
        ("source_node_id", "''"),
        ("target_node_id", "''"),
        ("weight", "1.0"),
        ("origin", "'parsed'"),
    ];
    let pending = [
        ("source_node_id", "''"),
        ("target_id_hint", "NULL"),
        ("weight", "1.0"),
        ("origin", "'parsed'"),
        ("target_label", "NULL"),
        ("target_source", "NULL"),
    ];
    let mut taking = LinkImporter { to, nodes, cleaner, notes, targets: BTreeMap::new() };
    taking.table(from, "relations", &resolved)?;
    taking.table(from, "pending_relations", &pending)?;
    taking.resolve()?;
    let n: i64 = to
        .query_row("SELECT count(*) FROM reference", [], |row| row.get(0))
        .doing("count the links")?;
    Ok(n.cast_unsigned())
}

struct LinkImporter<'a, 'c> {
    to: &'a Connection,
    nodes: &'a InsertedNodes,
    cleaner: &'a mut ImportRedactor<'c>,
    notes: &'a mut SkippedCounts,
    /// Former target of each imported link, by the id of its row.
    targets: BTreeMap<i64, Option<i64>>,
}

impl LinkImporter<'_, '_> {
    fn table(
        &mut self,
        from: &Connection,
        table: &str,
        list: &[(&str, &str)],
    ) -> Result<(), StoreError> {
        if !rows::has_table(from, table)? {
            return Ok(());
        }
        let n_columns = list.len();
        let list = rows::columns(from, table, list)?;
        // `table` is one of the caller's constants.
        let sql = format!("SELECT {list} FROM {table} ORDER BY rowid");
        let mut query = from.prepare(&sql).doing("read the old links")?;
        let mut found = query.query([]).doing("read the old links")?;
        while let Some(row) = found.next().doing("read the old links")? {
            let is_pending = 4 < n_columns;
            let (label, path) = match is_pending {
                true => (rows::text(row, 4)?, rows::text(row, 5)?),
                false => (None, None),
            };
            self.link(row, label, path, is_pending)?;
        }
        Ok(())
    }

    fn link(
        &mut self,
        row: &Row<'_>,
        label: Option<String>,
        path: Option<String>,
        is_pending: bool,
    ) -> Result<(), StoreError> {
        let Some(source) = self.nodes.get(&rows::word(row, 0)?) else {
            self.notes.add("links of a node that is missing were left out");
            return Ok(());
        };
        let hint = rows::text(row, 1)?.filter(|it| !it.is_empty());
        let target = hint.as_ref().and_then(|it| self.nodes.get(it));
        if !is_pending && target.is_none() {
            self.notes.add("links to a node that is missing were left out");
            return Ok(());
        }
        let weight = rows::real(row, 2)?.filter(|it| it.is_finite()).unwrap_or(WEIGHT_DEFAULT);
        let weight = weight.clamp(0.0, WEIGHT_MAX);
        let clean = |text: Option<String>, cleaner: &mut _| {
            text.filter(|it| !it.is_empty()).map(|mut it| {
                ImportRedactor::scrub_name(cleaner, &mut it);
                it
            })
        };
        let label = clean(label, self.cleaner);
        let path = clean(path, self.cleaner);
        if rows::word(row, 3)? == "manual" {
            let reference = Reference {
                label: label.unwrap_or_default(),
                source: path,
                id_hint: target.map(|it| it.id.clone()).or(hint),
                heading: None,
                alias: None,
                weight,
                form: ReferenceSyntax::Wiki,
            };
            let row = insert(
                self.to,
                NodeRowId(source.key),
                ParsedOrManualReference::Manual,
                &reference,
            )?;
            self.targets.insert(row, target.map(|it| it.key));
            return Ok(());
        }
        let name = label.or_else(|| target.map(|it| it.label.clone())).unwrap_or_default();
        match weigh(self.to, source, target, &name, weight)? {
            Some(row) => drop(self.targets.insert(row, target.map(|it| it.key))),
            None => self.notes.add("links that no text has any more were left out"),
        }
        Ok(())
    }

    /// Resolves the links. One without a target may find one now.
    fn resolve(self) -> Result<(), StoreError> {
        const TARGET: &str = "SELECT target FROM reference WHERE id = ?1";
        resolve_rows(self.to, self.targets.keys().copied().collect())?;
        let mut query = self.to.prepare(TARGET).doing("read a link")?;
        for (row, was) in &self.targets {
            let is: Option<i64> = query.query_row([row], |it| it.get(0)).doing("read a link")?;
            if was.is_some() && *was != is {
                self.notes.add("links lead elsewhere by the rules for names here, or wait");
            }
        }
        Ok(())
    }
}

/// Sets the weight of a text's link to its former one; returns its row, if the text has the link.
fn weigh(
    to: &Connection,
    source: &InsertedNode,
    target: Option<&InsertedNode>,
    name: &str,
    weight: f64,
) -> Result<Option<i64>, StoreError> {
    const FIND: &str = "
        SELECT id
          FROM reference
         WHERE source = ?1
           AND origin = 'parsed'
           AND (target = ?2 OR lower(label) = lower(?3))
         ORDER BY target IS NOT ?2, id
         LIMIT 1";
    const WEIGH: &str = "UPDATE reference SET weight = ?2 WHERE id = ?1";
    let target = target.map(|it| it.key);
    let found: Option<i64> =
        to.find(FIND, params![source.key, target, name], |row| row.get(0), "find a link")?;
    if let Some(row) = found {
        to.run(WEIGH, params![row, weight], "set the weight of a link")?;
    }
    Ok(found)
}
