//! Says of each table whether all machines share its rows, and which columns they do not.

/// The place of a table's rows.
#[derive(Clone, Copy, Debug)]
pub(super) enum TableScope {
    /// Every replica has the same rows.
    Shared(SharedTable),
    /// Each machine has its own.
    Local,
    /// Triggers make the rows from shared ones, the same everywhere.
    Derived,
}

/// A table whose rows every replica has.
#[derive(Clone, Copy, Debug)]
pub(super) struct SharedTable {
    pub(super) name: &'static str,
    /// The columns of its primary key.
    pub(super) key: &'static [&'static str],
    /// Columns that each machine has values of its own for.
    pub(super) local: &'static [LocalColumn],
    /// Columns whose values are translated on their way out and in.
    pub(super) translated: &'static [TranslatedColumn],
}

/// A column of a shared table with values of this machine.
#[derive(Clone, Copy, Debug)]
pub(super) struct LocalColumn {
    pub(super) name: &'static str,
    /// The value in a row that is new here, as SQL; `{x}` is the row's value of the column `x`.
    pub(super) default: &'static str,
}

/// A column whose values mean something on this machine only.
#[derive(Clone, Copy, Debug)]
pub(super) struct TranslatedColumn {
    pub(super) name: &'static str,
    /// The value that is published, as SQL.
    pub(super) out: &'static str,
    /// The value that is stored, as SQL; `{x}` is the published value of the column `x`.
    pub(super) stored: &'static str,
}

const fn shared(name: &'static str, key: &'static [&'static str]) -> (&'static str, TableScope) {
    shared_but(name, key, &[], &[])
}

const fn shared_but(
    name: &'static str,
    key: &'static [&'static str],
    local: &'static [LocalColumn],
    translated: &'static [TranslatedColumn],
) -> (&'static str, TableScope) {
    (name, TableScope::Shared(SharedTable { name, key, local, translated }))
}

const fn local(name: &'static str, default: &'static str) -> LocalColumn {
    LocalColumn { name, default }
}

/// The folder of a compile is published by its root's name.
const COMPILE_ROOT: TranslatedColumn = TranslatedColumn {
    name: "compile_root",
    out: "CASE compile_root
               WHEN '' THEN ''
               ELSE ifnull((SELECT root.name FROM root WHERE root.path = compile_root), '?')
          END",
    stored: "CASE {compile_root}
                  WHEN '' THEN ''
                  ELSE ifnull((SELECT path FROM root WHERE root.name = {compile_root}),
                              {compile_root})
             END",
};

/// The table of heat, of which only pins are shared, with rules of their own.
pub(super) const HEAT: &str = "heat";

/// Every table. Shared ones are in the order in which their rows are published: none needs a later
/// one to be stored.
pub(super) const TABLES: &[(&str, TableScope)] = &[
    shared_but("root", &["id"], &[local("path", "{name}")], &[]),
    shared_but("file", &["id"], &[local("size", "0"), local("mtime", "0")], &[]),
    shared("file_name", &["name", "file"]),
    shared("tombstone", &["node_id", "file"]),
    shared("node", &["key"]),
    shared("span", &["node"]),
    shared("reference", &["id"]),
    shared("wanted", &["name", "reference"]),
    shared_but(
        "memory",
        &["one"],
        &[local("attended", "0"), local("ticked_at", "0"), local("heated", "0")],
        &[],
    ),
    shared_but("snapshot", &["id"], &[], &[COMPILE_ROOT]),
    shared("cursor", &["name"]),
    shared("diff", &["snapshot", "seq"]),
    shared("change_count", &["snapshot"]),
    shared("blob", &["hash"]),
    shared("custom_view", &["name"]),
    shared("receipt", &["name", "since"]),
    shared("restored", &["snapshot"]),
    shared("forgotten_note", &["hash"]),
    (HEAT, TableScope::Local),
    ("lease", TableScope::Local),
    ("pulse", TableScope::Local),
    ("replica", TableScope::Local),
    ("vector", TableScope::Local),
    ("node_fts", TableScope::Derived),
    ("running_total", TableScope::Derived),
    ("running_total_made", TableScope::Derived),
    ("facet", TableScope::Derived),
    ("facet_made", TableScope::Derived),
    ("facet_program", TableScope::Derived),
    ("facet_change", TableScope::Derived),
    ("typed_edge", TableScope::Derived),
    ("typed_edge_made", TableScope::Derived),
];

/// Returns the shared tables, in the order in which their rows are published.
pub(super) fn shared_tables() -> impl DoubleEndedIterator<Item = SharedTable> {
    TABLES.iter().filter_map(|(_, scope)| match scope {
        TableScope::Shared(table) => Some(*table),
        TableScope::Local | TableScope::Derived => None,
    })
}

impl SharedTable {
    /// Returns the table of this name.
    pub(super) fn named(name: &str) -> Option<SharedTable> {
        shared_tables().find(|it| it.name == name)
    }

    /// Returns whether each machine has values of its own for a column.
    pub(super) fn is_local(&self, column: &str) -> bool {
        self.local.iter().any(|it| it.name == column)
    }

    /// Returns a condition on the key, whose values are the first parameters.
    pub(super) fn has_key(&self) -> String {
        let terms: Vec<String> =
            (1..).zip(self.key).map(|(nth, column)| format!("{column} = ?{nth}")).collect();
        terms.join(" AND ")
    }
}
