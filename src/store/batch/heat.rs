//! Temperatures in a write. None of this is a change of what the memory says, so that it makes no
//! snapshot.

use rusqlite::params;

use super::Batch;
use crate::heat::Heat;
use crate::store::{Doing, NodeKey, StoreError};

impl Batch<'_> {
    /// Sets a node's temperature; a pinned one keeps the new one.
    pub(crate) fn warm_to(&self, node: NodeKey, temperature: f64) -> Result<(), StoreError> {
        let heat = self.heat(node)?;
        self.set_heat(node, Heat { temperature, at: self.attended, ..heat })
    }

    /// Lets a node stand still at its temperature, or at the one given; returns that.
    pub(crate) fn pin(&self, node: NodeKey, temperature: Option<f64>) -> Result<f64, StoreError> {
        let temperature = temperature.unwrap_or(self.heat(node)?.now(self.attended));
        self.set_heat(node, Heat { temperature, at: self.attended, pinned: true })?;
        Ok(temperature)
    }

    /// Lets a node cool from here on; returns its temperature.
    pub(crate) fn unpin(&self, node: NodeKey) -> Result<f64, StoreError> {
        let temperature = self.heat(node)?.now(self.attended);
        self.set_heat(node, Heat { temperature, at: self.attended, pinned: false })?;
        Ok(temperature)
    }

    fn heat(&self, node: NodeKey) -> Result<Heat, StoreError> {
        const HEAT: &str = "SELECT temperature, at, pinned FROM heat WHERE node = ?1";
        let read = |row: &rusqlite::Row<'_>| {
            Ok(Heat { temperature: row.get(0)?, at: row.get(1)?, pinned: row.get(2)? })
        };
        self.tx
            .prepare_cached(HEAT)
            .and_then(|mut it| it.query_row([node.0], read))
            .doing("read a temperature")
    }

    fn set_heat(&self, node: NodeKey, heat: Heat) -> Result<(), StoreError> {
        const SET: &str = "UPDATE heat SET temperature = ?2, at = ?3, pinned = ?4 WHERE node = ?1";
        self.tx
            .prepare_cached(SET)
            .and_then(|mut it| it.execute(params![node.0, heat.temperature, heat.at, heat.pinned]))
            .map(drop)
            .doing("set a temperature")
    }
}
