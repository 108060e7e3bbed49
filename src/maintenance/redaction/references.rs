//! Scrubs references: manual ones keep their target, all others are parsed anew.

use rusqlite::{Row, params};

use super::MemoryRedactor;
use crate::model::links::name::fold_name;
use crate::store::{ErrorContext, PreparedStatements, StoreError, links};

/// The texts of a reference: label, path, id, heading, alias.
type LinkRowTexts = [Option<String>; 5];

impl MemoryRedactor<'_> {
    /// Scrubs manual references; then parses all references and names again, if any text changed.
    pub(super) fn scrub_references(&mut self) -> Result<(), StoreError> {
        const BY_HAND: &str = "
            SELECT id, label, path, id_hint, heading, alias
              FROM reference
             WHERE origin = 'manual'
             ORDER BY id";
        // A resolved reference keeps its target, even if the words that distinguished two nodes are
        // gone.
        const SET: &str = "
            UPDATE reference
               SET label = ?2, path = ?3,
                   id_hint = ifnull(?4, (SELECT node.id FROM node WHERE key = target)),
                   heading = ?5, alias = ?6
             WHERE id = ?1";
        let rows: Vec<_> = self.tx.rows(BY_HAND, [], read, "read references")?;
        for (id, words) in rows {
            let scrubbed = words.clone().map(|it| it.map(|it| self.scrub_name(it)));
            if scrubbed != words {
                let [label, path, id_hint, heading, alias] = scrubbed;
                let row = params![id, label, path, id_hint, heading, alias];
                self.redaction.n_others += self.tx.execute(SET, row).doing("scrub a reference")?;
            }
        }
        let is_any_new = 0 < self.redaction.n_nodes + self.redaction.n_others;
        if is_any_new { links::read_again(self.tx) } else { Ok(()) }
    }

    /// Returns a reference's name without secrets, or the new label of the node that it names.
    fn scrub_name(&mut self, name: String) -> String {
        let name = self.relabelled.get(&fold_name(&name)).cloned().unwrap_or(name);
        self.scrub(&name).map_or(name, |(scrubbed, _)| scrubbed)
    }

    /// Notes a node's new label.
    pub(super) fn relabel(&mut self, old: &str, new: &str) {
        self.relabelled.insert(fold_name(old), new.to_owned());
    }
}

fn read(row: &Row<'_>) -> rusqlite::Result<(i64, LinkRowTexts)> {
    Ok((row.get(0)?, [row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?]))
}
