//! Texts of nodes with their breadcrumbs, as ranking and excerpts read them.

use std::collections::HashMap;

use rusqlite::Row;

use super::{Reader, list};
use crate::model::breadcrumb::{SEPARATOR, child_breadcrumb, to_title};
use crate::store::{ErrorContext, NodeRowId, StoreError};
use crate::text;

/// Most ancestors of a node that are read; no document nests deeper.
const ANCESTORS_MAX: u32 = 256;

/// The text of a node, and its breadcrumb.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TextWithBreadcrumb {
    /// The stem of its file and the titles above it; ` / ` only stands between two of these.
    pub(crate) breadcrumb: String,
    pub(crate) content: String,
}

impl Reader {
    /// Returns the texts of nodes with their breadcrumbs.
    pub(crate) fn texts(
        &self,
        keys: &[NodeRowId],
    ) -> Result<HashMap<NodeRowId, TextWithBreadcrumb>, StoreError> {
        const TEXTS: &str = "
            SELECT n.key, n.trail, n.content, n.file IS NOT NULL
              FROM json_each(?1) AS wanted
              JOIN node AS n ON n.key = wanted.value";
        let (mut stems, mut ambiguous) = (HashMap::new(), Vec::new());
        let read = |row: &Row<'_>| {
            let text = TextWithBreadcrumb { breadcrumb: row.get(1)?, content: row.get(2)? };
            Ok((NodeRowId(row.get(0)?), text, row.get(3)?))
        };
        let rows: Vec<(NodeRowId, TextWithBreadcrumb, bool)> =
            self.all(TEXTS, [list(keys)], read).doing("read texts and breadcrumbs")?;
        let mut texts = HashMap::with_capacity(rows.len());
        for (key, text, has_file) in rows {
            let (stem, titles) = match text.breadcrumb.split_once(SEPARATOR) {
                Some((stem, titles)) if has_file => (stem, titles),
                _ => ("", &*text.breadcrumb),
            };
            if titles.contains(SEPARATOR) || titles.contains(text::is_invisible) {
                stems.insert(key, stem.to_owned());
                ambiguous.push(key);
            }
            texts.insert(key, text);
        }
        for (key, titles) in self.titles_with_separators(&ambiguous)? {
            let stem = stems.remove(&key).unwrap_or_default();
            let breadcrumb = titles.iter().fold(stem, |it, title| child_breadcrumb(&it, title));
            texts.entry(key).and_modify(|it| it.breadcrumb = breadcrumb);
        }
        Ok(texts)
    }

    /// Returns the titles above nodes, the outermost first, where a label among them has ` / ` in
    /// it.
    fn titles_with_separators(
        &self,
        of: &[NodeRowId],
    ) -> Result<Vec<(NodeRowId, Vec<String>)>, StoreError> {
        const LABELS_ABOVE: &str = "
            WITH RECURSIVE above (node, key, distance) AS (
                SELECT n.key, n.parent, 1
                  FROM json_each(?1) AS wanted
                  JOIN node AS n ON n.key = wanted.value
                 WHERE n.parent IS NOT NULL
                UNION ALL
                SELECT above.node, n.parent, above.distance + 1
                  FROM above
                  JOIN node AS n ON n.key = above.key
                 WHERE n.parent IS NOT NULL AND above.distance < ?2
            )
            SELECT above.node, n.label
              FROM above
             CROSS JOIN node AS n ON n.key = above.key
             ORDER BY above.node, above.distance DESC";
        if of.is_empty() {
            return Ok(Vec::new());
        }
        let read = |row: &Row<'_>| Ok((NodeRowId(row.get(0)?), row.get(1)?));
        let params = rusqlite::params![list(of), ANCESTORS_MAX];
        let rows: Vec<(NodeRowId, String)> =
            self.all(LABELS_ABOVE, params, read).doing("read the titles above nodes")?;
        let of_nodes = rows.chunk_by(|a, b| a.0 == b.0);
        let told_apart = of_nodes.filter_map(|rows| {
            let titles = rows.iter().map(|(_, label)| to_title(label).into_owned());
            let titles: Vec<String> = titles.collect();
            let is_changed = rows.iter().zip(&titles).any(|((_, label), title)| label != title);
            is_changed.then(|| (rows[0].0, titles))
        });
        Ok(told_apart.collect())
    }
}
