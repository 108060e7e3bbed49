//! Every column of text that the schema has, and what redaction does with it.
//!
//! The table is compared with the schema by a test, so that a new column of text is decided upon
//! here before anything can be stored in it.

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holds {
    /// Text of the user's, each value on its own.
    Words,
    /// Text whose hash, label or place is kept elsewhere: rewritten by a step of its own.
    Bound,
    /// Hashes of texts: they follow the texts.
    Hash,
    /// Names that the program itself chooses: ids, types, hashes of whole files.
    Names,
}

/// A column of text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Column {
    pub(super) table: &'static str,
    pub(super) name: &'static str,
    pub(super) holds: Holds,
}

const fn column(table: &'static str, name: &'static str, holds: Holds) -> Column {
    Column { table, name, holds }
}

/// All of them.
pub(super) const COLUMNS: &[Column] = &[
    column("root", "path", Holds::Bound),
    column("file", "path", Holds::Bound),
    column("file", "content_hash", Holds::Names),
    column("file", "error", Holds::Words),
    column("node", "id", Holds::Names),
    column("node", "node_type", Holds::Names),
    column("node", "lang", Holds::Bound),
    column("node", "key_path", Holds::Bound),
    column("node", "format", Holds::Names),
    column("node", "content_hash", Holds::Bound),
    column("node", "source_hash", Holds::Hash),
    column("node", "label", Holds::Bound),
    column("node", "trail", Holds::Bound),
    column("node", "grams", Holds::Bound),
    column("node", "content", Holds::Bound),
    column("snapshot", "cursor_hash", Holds::Names),
    column("snapshot", "message", Holds::Words),
    column("snapshot", "compile_root", Holds::Bound),
    column("cursor", "name", Holds::Names),
    column("diff", "op", Holds::Names),
    column("diff", "node_id", Holds::Names),
    column("diff", "old_hash", Holds::Hash),
    column("diff", "new_hash", Holds::Hash),
    column("diff", "old_parent", Holds::Names),
    column("diff", "old_path", Holds::Bound),
    column("diff", "old_type", Holds::Names),
    column("diff", "old_lang", Holds::Words),
    column("diff", "old_key_path", Holds::Words),
    column("diff", "old_label", Holds::Bound),
    column("diff", "old_format", Holds::Names),
    column("blob", "hash", Holds::Bound),
    column("blob", "content", Holds::Bound),
    column("reference", "origin", Holds::Names),
    column("reference", "form", Holds::Names),
    column("reference", "label", Holds::Bound),
    column("reference", "path", Holds::Bound),
    column("reference", "id_hint", Holds::Bound),
    column("reference", "heading", Holds::Bound),
    column("reference", "alias", Holds::Bound),
    column("reference", "candidates", Holds::Names),
    column("file_name", "name", Holds::Bound),
    column("lease", "name", Holds::Names),
    column("lease", "holder", Holds::Names),
    column("tombstone", "node_id", Holds::Names),
    column("tombstone", "parent", Holds::Names),
    column("tombstone", "node_type", Holds::Names),
    column("tombstone", "source_hash", Holds::Hash),
];

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;
    use crate::store::schema::MIGRATIONS;

    /// The index is made from `node` and rebuilt as a whole.
    const INDEX: &str = "node_fts";

    #[test]
    fn every_column_of_text_is_scrubbed_or_listed_as_safe() {
        const TEXTS: &str = "
            SELECT t.name, c.name
              FROM sqlite_schema AS t
              JOIN pragma_table_info(t.name) AS c
             WHERE t.type = 'table'
               AND c.type NOT IN ('INTEGER', 'REAL')
             ORDER BY t.rowid, c.cid";
        let conn = Connection::open_in_memory().unwrap();
        MIGRATIONS.iter().for_each(|it| conn.execute_batch(it).unwrap());
        let mut query = conn.prepare(TEXTS).unwrap();
        let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        let mut schema: Vec<(String, String)> = rows.map(Result::unwrap).collect();
        schema.retain(|(table, _)| !table.starts_with(INDEX) && !table.starts_with("sqlite_"));
        let listed: Vec<(String, String)> =
            COLUMNS.iter().map(|it| (it.table.to_owned(), it.name.to_owned())).collect();
        schema.sort();
        let mut sorted = listed;
        sorted.sort();
        assert_eq!(sorted, schema);
    }
}
