//! Temperatures in a write: set by whoever knows better than the birth. No snapshot shows them.

use std::collections::BTreeMap;

use rusqlite::params;

use super::Batch;
use crate::store::{Doing, FileId, NodeKey, StoreError};

impl Batch<'_> {
    /// Gives a node a temperature, as of now.
    pub(crate) fn set_temperature(
        &self,
        node: NodeKey,
        temperature: f64,
    ) -> Result<(), StoreError> {
        const SET: &str = "UPDATE heat SET temperature = ?2, at = ?3 WHERE node = ?1";
        self.tx
            .prepare_cached(SET)
            .and_then(|mut it| it.execute(params![node.0, temperature, self.attended]))
            .map(drop)
            .doing("set a temperature")
    }

    /// Gives all nodes of files a temperature, as of now, but for those that are pinned; returns
    /// how many.
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
}
