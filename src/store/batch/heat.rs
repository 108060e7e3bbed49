//! Heat in a write: pins, and temperatures that somebody sets. No snapshot knows of them.

use std::collections::BTreeMap;

use rusqlite::{OptionalExtension, Row, params};

use super::Batch;
use crate::heat::Heat;
use crate::store::{Doing, FileId, NodeKey, StoreError};

impl Batch<'_> {
    /// Gives a node a temperature, as of now.
    #[allow(dead_code, reason = "for the tools that pin and summarize, and for seeds")]
    pub(crate) fn set_temperature(
        &self,
        node: NodeKey,
        temperature: f64,
    ) -> Result<(), StoreError> {
        self.set_heat(node, |heat, attended| heat.with_temperature(temperature, attended)).map(drop)
    }

    /// Gives all nodes of files a temperature, as of now, but for those that are pinned; returns
    /// how many.
    #[allow(dead_code, reason = "for seeds")]
    pub(crate) fn reseed(&self, files: &BTreeMap<FileId, f64>) -> Result<usize, StoreError> {
        const NODES: &str = "
            SELECT node.key, node.file
              FROM node
              JOIN heat ON heat.node = node.key
             WHERE node.file IS NOT NULL
               AND NOT heat.pinned";
        let mut query = self.tx.prepare_cached(NODES).doing("read nodes")?;
        let rows = query
            .query_map([], |row| Ok((NodeKey(row.get(0)?), FileId(row.get(1)?))))
            .doing("read nodes")?;
        // All of them are read before the first is written: a query must not see its own changes.
        let nodes: Vec<(NodeKey, FileId)> = rows.collect::<Result<_, _>>().doing("read nodes")?;
        let mut n_nodes = 0;
        for (node, file) in nodes {
            if let Some(temperature) = files.get(&file) {
                self.set_temperature(node, *temperature)?;
                n_nodes += 1;
            }
        }
        Ok(n_nodes)
    }

    /// Changes a node's heat, given what it is and the reading of the memory clock; what it is
    /// then, or `None` when there is no such node.
    #[allow(dead_code, reason = "for the tools that pin and summarize")]
    pub(crate) fn set_heat(
        &self,
        node: NodeKey,
        change: impl FnOnce(Heat, i64) -> Heat,
    ) -> Result<Option<Heat>, StoreError> {
        const HEAT: &str = "SELECT temperature, at, pinned FROM heat WHERE node = ?1";
        const SET: &str = "
            UPDATE heat
               SET temperature = ?2, at = ?3, pinned = ?4, full_at = ?5
             WHERE node = ?1";
        let read = |row: &Row<'_>| {
            Ok(Heat { temperature: row.get(0)?, at: row.get(1)?, pinned: row.get(2)? })
        };
        let old = self
            .tx
            .prepare_cached(HEAT)
            .and_then(|mut it| it.query_row([node.0], read).optional())
            .doing("read a temperature")?;
        let Some(old) = old else { return Ok(None) };
        let new = change(old, self.attended);
        let row = params![node.0, new.temperature, new.at, new.pinned, new.full_at()];
        self.tx
            .prepare_cached(SET)
            .and_then(|mut it| it.execute(row))
            .doing("set a temperature")?;
        Ok(Some(new))
    }
}
