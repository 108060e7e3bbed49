//! Edits that land in files: each is tried there first, and a reason is told where it cannot be.

use std::collections::HashMap;
use std::sync::PoisonError;

use super::WrittenNode;
use crate::memory::compile::agent_edit_write_back::{
    NodeEditInFile, WriteBackFolder, WriteBackOutcome, landed_nodes,
};
use crate::memory::{Error, Memory};
use crate::model::tree::DocumentTree;
use crate::store::{Batch, NodeRecord, NodeRowId};

/// The folder that takes what agents write, and why a change is not in it.
pub(super) struct WriteBackAttempt {
    folder: Option<WriteBackFolder>,
    kept: Option<String>,
}

impl Memory {
    /// Returns the folder that takes what agents write, if the settings say so.
    pub(super) fn in_file(&self) -> WriteBackAttempt {
        WriteBackAttempt { folder: self.write_back(), kept: None }
    }

    /// Returns the memory's own folder, if what agents write lands in it.
    fn write_back(&self) -> Option<WriteBackFolder> {
        let workspace = self.workspace();
        if !workspace.config.compile.write_back {
            return None;
        }
        let live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        let root = live.root()?.to_owned();
        drop(live);
        Some(WriteBackFolder::new(&root, workspace, self.clock.now()))
    }
}

impl WriteBackAttempt {
    /// Makes a change at a node in its file; `None` if it is not there.
    pub(super) fn change(
        &mut self,
        batch: &mut Batch<'_>,
        node: &NodeRecord,
        edit: NodeEditInFile<'_>,
    ) -> Result<Option<Vec<WrittenNode>>, Error> {
        let Some(folder) = &self.folder else { return Ok(None) };
        let landing = folder.change(batch, node, edit)?;
        self.settle(batch, landing)
    }

    /// Writes a new note as a file; `None` if there is none.
    pub(super) fn add_note(
        &mut self,
        batch: &mut Batch<'_>,
        words: &str,
        tree: &DocumentTree,
    ) -> Result<Option<Vec<WrittenNode>>, Error> {
        let Some(folder) = &self.folder else { return Ok(None) };
        let landing = folder.add_note(batch, words, tree)?;
        self.settle(batch, landing)
    }

    fn settle(
        &mut self,
        batch: &Batch<'_>,
        landing: WriteBackOutcome,
    ) -> Result<Option<Vec<WrittenNode>>, Error> {
        match landing {
            WriteBackOutcome::Landed(keys) => {
                let mut depths: HashMap<NodeRowId, usize> = HashMap::new();
                let mut written = Vec::with_capacity(keys.len());
                for node in landed_nodes(batch, &keys)? {
                    let above = node.place.parent.and_then(|it| depths.get(&it));
                    let depth = above.map_or(0, |it| it + 1);
                    depths.insert(node.key, depth);
                    written.push(WrittenNode::of(node.id, &node.data(), depth));
                }
                Ok(Some(written))
            }
            WriteBackOutcome::Kept(why) => {
                self.kept = Some(why);
                Ok(None)
            }
            WriteBackOutcome::Elsewhere => Ok(None),
        }
    }

    /// Puts the file back after a write that failed, so that nothing was changed, as its error
    /// says. A write in doubt may be kept: its words stay in the file.
    pub(super) fn put_back(&self, error: Error) -> Error {
        let is_in_doubt = matches!(&error, Error::Store(it) if it.is_in_doubt());
        match self.folder.as_ref().filter(|_| !is_in_doubt).and_then(WriteBackFolder::put_back) {
            None => error,
            Some(path) => Error::Unavailable(format!(
                "{}; {path} has the words already, and the next compile brings them",
                error.after_a_change()
            )),
        }
    }

    /// Returns a reply that ends with the reason why a change is not in the folder.
    pub(super) fn told(&self, mut reply: String) -> String {
        if let Some(why) = &self.kept {
            reply += &format!("\nkept as overlay: {}", crate::query::render::to_label(why));
        }
        reply
    }
}
