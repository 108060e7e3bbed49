//! Notifies clients of each cold node once: offers nodes, and records those that a client got.
//!
//! A node is offered when it is below the line and no client was notified since it was last above.
//! It is recorded as notified only when the offer is confirmed; a dropped offer has no effect.
//! There is at most one offer at a time, one at the start and one for each tick.
//!
//! Servers of one memory take turns by a lease, so that two do not notify of the same node. A node
//! can be announced twice only if a client leaves its server's output unread for longer than a
//! lease lasts.

use std::sync::Arc;

use rusqlite::{Connection, Row, params};

use super::{HeatWriter, note_full_at, unless_busy};
use crate::model::clock::UnixMillis;
use crate::model::heat::{HeatParameters, StoredHeat, cold_before};
use crate::store::relaxed_durability_connection::RelaxedDurabilityConnection;
use crate::store::{
    ClaimableLeaseAge, ErrorContext, LeaseManager, NodeRowId, PreparedStatements, StoreError,
    heat_rows,
};

/// The lease of the server that notifies of cold nodes.
const LEASE: &str = "cold-nodes";

/// Rows that are read and corrected at once, unless a notification may have more.
const LATE_MAX: u32 = 1_000;

/// A cold node, with the fields that a client gets.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ColdNode {
    pub(crate) key: NodeRowId,
    /// The anchor.
    pub(crate) id: String,
    pub(crate) label: String,
    /// Path relative to its root.
    pub(crate) file: Option<String>,
    pub(crate) temperature: f64,
}

/// Cold nodes offered to a client. Dropping the offer gives them back.
pub(crate) struct ColdNodesOffer {
    heat_writer: Arc<HeatWriter>,
    leases: LeaseManager,
    nodes: Vec<ColdNode>,
    line: f64,
}

/// The state of offers.
#[derive(Debug)]
pub(super) struct ColdOfferTracker {
    /// Whether there was no offer yet since the start or the last tick.
    is_armed: bool,
    is_offered: bool,
    /// Confirmed nodes that are not recorded yet.
    notified: Vec<NotifiedNode>,
}

#[derive(Clone, Copy, Debug)]
struct NotifiedNode {
    node: NodeRowId,
    line: f64,
    at: UnixMillis,
}

impl HeatWriter {
    /// Returns whether an offer is due, without a look into the database.
    pub(crate) fn may_have_cold_nodes(&self) -> bool {
        let state = self.lock();
        state.cold.is_armed && !state.cold.is_offered
    }

    /// Offers the coldest nodes without a notification, in the order in which they crossed the
    /// line.
    ///
    /// `None` when there are none, or when no offer is due.
    pub(crate) fn offer_cold_nodes(
        self: &Arc<HeatWriter>,
        rates: &HeatParameters,
        now: UnixMillis,
    ) -> Result<Option<ColdNodesOffer>, StoreError> {
        let mut state = self.lock_checked()?;
        if !state.cold.is_armed || state.cold.is_offered || !rates.is_enabled {
            return Ok(None);
        }
        // Confirmed nodes must be recorded before the next offer.
        state.write_waiting()?;
        if !state.cold.notified.is_empty() {
            return Ok(None);
        }
        if cold_nodes(state.conn.get()?, rates, now)?.is_empty() {
            state.cold.is_armed = false;
            return Ok(None);
        }
        let leases = LeaseManager::open(&self.path, &self.file_identity, &self.holder)?;
        if !leases.take(LEASE, ClaimableLeaseAge::Expired, now)? {
            return Ok(None);
        }
        // Read again under the lease: another server may have notified of them just now.
        let nodes = cold_nodes(state.conn.get()?, rates, now)?;
        state.cold.is_armed = false;
        state.cold.is_offered = true;
        drop(state);
        let offer =
            ColdNodesOffer { heat_writer: Arc::clone(self), leases, nodes, line: rates.line() };
        Ok((!offer.nodes.is_empty()).then_some(offer))
    }
}

impl ColdNodesOffer {
    /// Returns the nodes, at least one.
    pub(crate) fn nodes(&self) -> &[ColdNode] {
        &self.nodes
    }

    /// Keeps the first `n` and leaves the others to the next offer.
    pub(crate) fn truncate(&mut self, n: usize) {
        self.nodes.truncate(n.max(1));
    }

    /// Records that a client was notified, now or with the next write.
    pub(crate) fn confirm(mut self, at: UnixMillis) -> Result<(), StoreError> {
        let line = self.line;
        let notified = std::mem::take(&mut self.nodes).into_iter();
        let mut state = self.heat_writer.lock_checked()?;
        state.cold.notified.extend(notified.map(|it| NotifiedNode { node: it.key, line, at }));
        state.write_waiting()
    }
}

impl Drop for ColdNodesOffer {
    fn drop(&mut self) {
        let mut state = self.heat_writer.lock();
        state.cold.is_offered = false;
        // Confirming empties the list.
        state.cold.is_armed |= !self.nodes.is_empty();
        let is_noted = state.cold.notified.is_empty();
        drop(state);
        // Other servers wait until the notified nodes are recorded.
        if is_noted && let Err(error) = self.leases.release(LEASE) {
            log::warn!("{error}");
        }
    }
}

impl Default for ColdOfferTracker {
    fn default() -> ColdOfferTracker {
        ColdOfferTracker { is_armed: true, is_offered: false, notified: Vec::new() }
    }
}

impl ColdOfferTracker {
    /// Allows the next offer after a tick.
    pub(super) fn arm(&mut self) {
        self.is_armed = true;
    }

    pub(super) fn is_waiting(&self) -> bool {
        !self.notified.is_empty()
    }

    pub(super) fn write_notified(
        &mut self,
        conn: &RelaxedDurabilityConnection,
    ) -> Result<(), StoreError> {
        if !self.notified.is_empty() && unless_busy(note(conn, &self.notified))? {
            self.notified.clear();
        }
        Ok(())
    }
}

fn note(conn: &RelaxedDurabilityConnection, notified: &[NotifiedNode]) -> Result<(), StoreError> {
    const NOTE: &str = "UPDATE heat SET announced = ?2, announced_at = ?3 WHERE node = ?1";
    let tx = conn.begin_write("begin to note cold nodes")?;
    let attended = heat_rows::memory_clock(&tx)?;
    for NotifiedNode { node, line, at } in notified {
        // The node may be gone by now.
        let Some(heat) = heat_rows::heat_row_of(&tx, *node)? else { continue };
        // Warmed since, it is announced again when it cools again.
        let announced = (heat.now(attended) < *line).then_some(*line);
        tx.run(NOTE, params![node.0, announced, at.0], "note a cold node")?;
    }
    tx.commit().doing("commit cold nodes")
}

/// Returns the first cold nodes without a notification; none while another process writes.
fn cold_nodes(
    conn: &RelaxedDurabilityConnection,
    rates: &HeatParameters,
    now: UnixMillis,
) -> Result<Vec<ColdNode>, StoreError> {
    loop {
        let found = candidates(conn, rates, now, rates.notify_max)?;
        let is_done = if found.iter().any(ColdCandidate::is_late) {
            let mut late = candidates(conn, rates, now, rates.notify_max.max(LATE_MAX))?;
            late.retain(ColdCandidate::is_late);
            unless_busy(correct(conn, &late))?
        } else if may_untouched_come_before(conn, rates, &found)? {
            unless_busy(give_rows(conn))?
        } else {
            return Ok(found.into_iter().map(|it| it.node).collect());
        };
        if !is_done {
            return Ok(Vec::new());
        }
    }
}

/// Returns whether nodes without rows may be among the first cold ones.
fn may_untouched_come_before(
    conn: &Connection,
    rates: &HeatParameters,
    found: &[ColdCandidate],
) -> Result<bool, StoreError> {
    let full_at = heat_rows::untouched().full_at();
    let is_full = rates.notify_max as usize <= found.len();
    let are_before = match found.last() {
        Some(last) if is_full => full_at < last.full_at,
        _ => full_at < cold_before(rates.line(), heat_rows::memory_clock(conn)?),
    };
    Ok(are_before && heat_rows::has_untouched(conn)?)
}

fn give_rows(conn: &RelaxedDurabilityConnection) -> Result<(), StoreError> {
    let tx = conn.begin_write("begin to give temperatures")?;
    heat_rows::add_next_heat_rows(&tx)?;
    tx.commit().doing("commit temperatures")
}

/// A node that may be cold.
struct ColdCandidate {
    node: ColdNode,
    heat: StoredHeat,
    full_at: f64,
}

impl ColdCandidate {
    /// Returns whether it becomes cold later than its row says, since it was read.
    fn is_late(&self) -> bool {
        self.heat.full_at() != self.full_at
    }
}

fn correct(conn: &RelaxedDurabilityConnection, late: &[ColdCandidate]) -> Result<(), StoreError> {
    let tx = conn.begin_write("begin to work out temperatures")?;
    for ColdCandidate { node, .. } in late {
        // It may have been read, or be gone, by now.
        let Some(heat) = heat_rows::heat_row_of(&tx, node.key)? else { continue };
        note_full_at(&tx, node.key, heat)?;
    }
    tx.commit().doing("commit temperatures")
}

/// Returns the first nodes that are cold by their rows and without a notification.
fn candidates(
    conn: &Connection,
    rates: &HeatParameters,
    now: UnixMillis,
    n_max: u32,
) -> Result<Vec<ColdCandidate>, StoreError> {
    const COLD: &str = "
        SELECT heat.node, node.id, node.label, file.path, heat.temperature, heat.at, heat.full_at
          FROM heat INDEXED BY heat_to_announce
          JOIN node ON node.key = heat.node
          LEFT JOIN file ON file.id = node.file
         WHERE heat.pinned = 0 AND heat.announced IS NULL AND heat.full_at < ?1
           AND (heat.announced_at IS NULL OR heat.announced_at NOT BETWEEN ?2 AND ?3)
         ORDER BY heat.full_at, heat.node
         LIMIT ?4";
    let attended = heat_rows::memory_clock(conn)?;
    let read = |row: &Row<'_>| {
        let heat = StoredHeat { temperature: row.get(4)?, at: row.get(5)?, pinned: false };
        let node = ColdNode {
            key: NodeRowId(row.get(0)?),
            id: row.get(1)?,
            label: row.get(2)?,
            file: row.get(3)?,
            temperature: heat.now(attended),
        };
        Ok(ColdCandidate { node, heat, full_at: row.get(6)? })
    };
    // Skips nodes notified this recently. A later time was written by another clock.
    let since = now.0.saturating_sub(rates.notify_ttl_ms.max(0)).saturating_add(1);
    let before = cold_before(rates.line(), attended);
    conn.rows(COLD, params![before, since, now.0, n_max], read, "find cold nodes")
}
