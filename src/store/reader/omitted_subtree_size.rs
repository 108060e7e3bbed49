//! Counts nodes that an answer leaves out, up to a bound.
//!
//! A branch is counted before the next one, and no family further than the bound, so that neither
//! the size of the tree nor its widest family decides the cost.

use rusqlite::{Params, Row, params};

use super::{ArchivedVisibility, Reader, limit, unless_archived, unsigned};
use crate::store::{ErrorContext, NodeRowId, StoreError};

/// Size of a part of the tree, counted up to a bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SubtreeSize {
    pub(crate) n_nodes: u32,
    pub(crate) tokens: u64,
    /// Whether the bound was reached; there may be more nodes.
    pub(crate) is_at_least: bool,
}

/// The siblings that follow a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SiblingRangeAfterPage {
    /// None: the page was complete.
    Nothing,
    /// The children of a node after a position.
    Children(NodeRowId, i64),
    /// The roots after the first so many.
    Roots(usize),
}

impl Reader {
    /// Returns the size of the subtrees below `tops`, and of `rest` with theirs; archived memories
    /// count where they are shown.
    ///
    /// It counts at most `n_max` nodes.
    pub(crate) fn subtree_size(
        &self,
        tops: &[NodeRowId],
        rest: SiblingRangeAfterPage,
        archived: ArchivedVisibility,
        n_max: u32,
    ) -> Result<SubtreeSize, StoreError> {
        // One node above the bound shows that there are more.
        let n_left = n_max as usize + 1;
        let mut count = SizeCounter { reader: self, archived, n_left, n: 0, tokens: 0 };
        for &top in tops {
            count.below(top)?;
        }
        for key in count.parents(rest)? {
            count.below(key)?;
        }
        Ok(SubtreeSize {
            n_nodes: count.n.min(n_max),
            tokens: count.tokens,
            is_at_least: n_max < count.n,
        })
    }
}

/// A query of a node's key and tokens, and of whether it has children.
macro_rules! counted {
    ($from:expr) => {
        concat!(
            "SELECT n.key, n.token_count, EXISTS (SELECT 1 FROM node WHERE parent = n.key) ",
            $from
        )
    };
}

/// A count in progress.
struct SizeCounter<'r> {
    reader: &'r Reader,
    archived: ArchivedVisibility,
    /// Nodes that may still be counted.
    n_left: usize,
    n: u32,
    tokens: u64,
}

impl SizeCounter<'_> {
    fn below(&mut self, top: NodeRowId) -> Result<(), StoreError> {
        let mut open = vec![top];
        while let Some(key) = open.pop() {
            open.extend(
                self.parents(SiblingRangeAfterPage::Children(key, i64::MIN))?.into_iter().rev(),
            );
        }
        Ok(())
    }

    /// Counts siblings, and returns those that have children.
    fn parents(&mut self, of: SiblingRangeAfterPage) -> Result<Vec<NodeRowId>, StoreError> {
        const CHILDREN: &str = counted!(concat!(
            "
              FROM node AS n
             WHERE n.parent = ?1 AND ?2 < n.position",
            unless_archived!("?4"),
            "
             ORDER BY n.position
             LIMIT ?3"
        ));
        const ROOTS: &str = counted!(concat!(
            "
              FROM (SELECT * FROM (
                        SELECT n.key, n.token_count
                          FROM file AS f
                         CROSS JOIN node AS n ON n.file = f.id AND n.parent IS NULL
                         ORDER BY f.root, f.path, n.position
                    )
                    UNION ALL
                    SELECT n.key, n.token_count
                      FROM node AS n
                     WHERE n.parent IS NULL AND n.file IS NULL",
            unless_archived!("?3"),
            "
                     LIMIT ?2 OFFSET ?1) AS n"
        ));
        let n_max = limit(self.n_left);
        let is_shown = self.archived == ArchivedVisibility::Shown;
        match of {
            _ if self.n_left == 0 => Ok(Vec::new()),
            SiblingRangeAfterPage::Nothing => Ok(Vec::new()),
            SiblingRangeAfterPage::Children(parent, after) => {
                self.count(CHILDREN, params![parent.0, after, n_max, is_shown])
            }
            SiblingRangeAfterPage::Roots(n_passed) => {
                self.count(ROOTS, params![limit(n_passed), n_max, is_shown])
            }
        }
    }

    fn count(&mut self, sql: &'static str, of: impl Params) -> Result<Vec<NodeRowId>, StoreError> {
        let read = |row: &Row<'_>| {
            self.tokens = self.tokens.saturating_add(unsigned(row, 1)?);
            Ok((NodeRowId(row.get(0)?), row.get(2)?))
        };
        let siblings: Vec<(NodeRowId, bool)> =
            self.reader.all(sql, of, read).doing("measure a part of the tree")?;
        self.n_left = self.n_left.saturating_sub(siblings.len());
        self.n += siblings.len() as u32;
        Ok(siblings.into_iter().filter_map(|(key, is_parent)| is_parent.then_some(key)).collect())
    }
}
