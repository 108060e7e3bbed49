//! Inserts rows of `node`, with every column of the table and what is computed for it.

use rusqlite::{CachedStatement, ToSql};

use super::node_columns::SqlTemplate;
use super::record::{NodePlace, NodeRowId, UnplacedNodeData};

/// Adds a row, unless its id is taken.
pub(crate) static INSERT: SqlTemplate = SqlTemplate::new(
    "
    INSERT INTO node ({columns})
    VALUES ({values})
    ON CONFLICT (id) DO NOTHING",
);

/// Holds a row of `node` to be inserted.
#[derive(Clone, Copy)]
pub(crate) struct NodeInsertRow<'a> {
    pub(crate) key: NodeRowId,
    pub(crate) id: &'a str,
    pub(crate) place: NodePlace,
    pub(crate) data: &'a UnplacedNodeData<'a>,
    /// Hash of the content, as text.
    pub(crate) hash: &'a str,
    pub(crate) source_hash: Option<&'a str>,
    pub(crate) breadcrumb: &'a str,
    /// The hash of its label, by which links find it.
    pub(crate) name: Option<i64>,
}

impl NodeInsertRow<'_> {
    /// Runs [`INSERT`], and returns whether the id was free.
    pub(crate) fn insert(&self, insert: &mut CachedStatement<'_>) -> rusqlite::Result<bool> {
        let NodeInsertRow { key, id, place, data, hash, source_hash, breadcrumb, name } = self;
        let (file, parent) = (place.file.map(|it| it.0), place.parent.map(|it| it.0));
        let (node_type, format) = (data.node_type.as_str(), data.format.as_str());
        let index_terms = data.index_terms();
        let own: [&dyn ToSql; 15] = [
            &key.0,
            id,
            &file,
            &parent,
            &place.position,
            &node_type,
            &format,
            &data.label,
            hash,
            &data.token_count,
            source_hash,
            breadcrumb,
            &data.content,
            &index_terms,
            name,
        ];
        let row: Vec<&dyn ToSql> = own.into_iter().chain(data.attributes.params()).collect();
        Ok(0 < insert.execute(&row[..])?)
    }
}
