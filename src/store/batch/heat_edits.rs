//! Pins nodes and sets temperatures in a write. Neither changes the memory's state, so neither
//! makes a snapshot.

use std::collections::BTreeMap;

use rusqlite::params;

use super::Batch;
use crate::model::heat::StoredHeat;
use crate::store::{ErrorContext, FileId, NodeRowId, PreparedStatements, StoreError, heat_rows};

impl Batch<'_> {
    /// Sets a node's temperature as of now; a pinned node keeps the new one.
    pub(crate) fn set_temperature(
        &self,
        node: NodeRowId,
        temperature: f64,
    ) -> Result<(), StoreError> {
        self.set_heat(node, |heat, attended| heat.with_temperature(temperature, attended)).map(drop)
    }

    /// Sets the temperature of all nodes of files that are not pinned, and returns their number.
    pub(crate) fn reseed(&self, files: &BTreeMap<FileId, f64>) -> Result<usize, StoreError> {
        const NODES: &str = "
            SELECT node.key, node.file
              FROM node
              LEFT JOIN heat ON heat.node = node.key
             WHERE node.file IS NOT NULL
               AND NOT ifnull(heat.pinned, 0)";
        let mut query = self.tx.prepare_cached(NODES).doing("read nodes")?;
        let rows = query
            .query_map([], |row| Ok((NodeRowId(row.get(0)?), FileId(row.get(1)?))))
            .doing("read nodes")?;
        // All rows are read before the first write: a query must not see its own changes.
        let nodes: Vec<(NodeRowId, FileId)> = rows.collect::<Result<_, _>>().doing("read nodes")?;
        let mut n_nodes = 0;
        for (node, file) in nodes {
            if let Some(temperature) = files.get(&file) {
                self.set_temperature(node, *temperature)?;
                n_nodes += 1;
            }
        }
        Ok(n_nodes)
    }

    /// Pins a node at its temperature or at a given one, and returns it.
    pub(crate) fn pin(&self, node: NodeRowId, temperature: Option<f64>) -> Result<f64, StoreError> {
        let heat = self.set_heat(node, |heat, attended| {
            let heat = heat.with_pin(true, attended);
            temperature.map_or(heat, |it| heat.with_temperature(it, attended))
        });
        heat.map(|it| it.temperature)
    }

    /// Unpins a node, which cools from here on, and returns its temperature.
    pub(crate) fn unpin(&self, node: NodeRowId) -> Result<f64, StoreError> {
        let heat = self.set_heat(node, |heat, attended| heat.with_pin(false, attended));
        heat.map(|it| it.temperature)
    }

    /// Changes a node's heat at the present reading of the memory clock, and returns the new heat.
    fn set_heat(
        &self,
        node: NodeRowId,
        change: impl FnOnce(StoredHeat, i64) -> StoredHeat,
    ) -> Result<StoredHeat, StoreError> {
        const SET: &str = "
            UPDATE heat
               SET temperature = ?2, at = ?3, pinned = ?4, full_at = ?5
             WHERE node = ?1";
        let old = heat_rows::ensure_heat_row(self.tx, node)?;
        let old = old.ok_or(rusqlite::Error::QueryReturnedNoRows).doing("read a temperature")?;
        let new = change(old, self.attended);
        let row = params![node.0, new.temperature, new.at, new.pinned, new.full_at()];
        self.tx.run(SET, row, "set a temperature")?;
        Ok(new)
    }
}
