//! References in the database: read from texts as they change, and resolved at the end of the write
//! that changed a text, or anything that a reference was or could have been resolved by.
//!
//! [`Stale`] collects what a write made doubtful. [`Stale::settle`] puts it right, in the same
//! transaction, and looks at nothing else: what a write costs follows what it changed.

mod index;

use std::collections::{BTreeMap, BTreeSet, HashSet};

use index::Rows;
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::{Doing, FileId, NodeKey, StoreError};
use crate::links::resolve::{self, Name, Resolver, Target, last_name, stem};
use crate::links::title;
use crate::parse::link::{self, Form, Reference};
use crate::tree::NodeType;

/// The columns that [`read_reference`] expects first.
macro_rules! reference_columns {
    () => {
        "reference.label, reference.path, reference.id_hint, reference.heading, reference.alias,
         reference.weight, reference.form"
    };
}
/// What a write made doubtful so far.
#[derive(Debug, Default)]
pub(super) struct Stale {
    /// Names of what came, went, changed or moved.
    names: HashSet<Name>,
    /// Files whose names or first nodes changed.
    files: BTreeSet<FileId>,
    /// Files whose nodes all stand elsewhere.
    moved: BTreeSet<FileId>,
    /// Rows of references that are new or whose source moved.
    references: BTreeSet<i64>,
}

/// What a node's names and references are made of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Said<'a> {
    pub(super) key: NodeKey,
    pub(super) file: Option<FileId>,
    pub(super) is_top: bool,
    pub(super) node_type: NodeType,
    pub(super) key_path: Option<&'a str>,
    pub(super) label: &'a str,
    pub(super) content: &'a str,
}

impl Said<'_> {
    /// Whether its file's names, or what stands for the file, may depend on it.
    fn tells_of_file(&self) -> bool {
        self.is_top || self.key_path.is_some_and(title::is_naming)
    }
}

/// The name of a node in its row.
pub(super) fn name(label: &str) -> Option<i64> {
    (!label.is_empty()).then(|| Name::of(label).0)
}

impl Stale {
    /// A node is new.
    pub(super) fn came(
        &mut self,
        conn: &Connection,
        said: &Said<'_>,
        id: &str,
    ) -> Result<(), StoreError> {
        self.names.insert(Name::of_id(id));
        self.stands(said);
        self.add_references(conn, said.key, &parsed(said.node_type, said.content))
    }

    /// A node's text is another.
    pub(super) fn changed(
        &mut self,
        conn: &Connection,
        said: &Said<'_>,
        old_label: &str,
    ) -> Result<(), StoreError> {
        const FORGET: &str = "DELETE FROM reference WHERE source = ?1 AND origin = 'parsed'";
        if old_label != said.label {
            self.names.insert(Name::of(old_label));
            self.stands(said);
        } else if said.tells_of_file() {
            self.files.extend(said.file);
        }
        conn.prepare_cached(FORGET)
            .and_then(|mut it| it.execute([said.key.0]))
            .doing("forget references")?;
        self.add_references(conn, said.key, &parsed(said.node_type, said.content))
    }

    /// A node stands elsewhere, and so may everything below it.
    pub(super) fn moved(&mut self, from: Option<FileId>, to: Option<FileId>) {
        self.moved.extend(from);
        self.moved.extend(to);
    }

    /// A node goes.
    pub(super) fn goes(&mut self, said: &Said<'_>, id: &str) {
        self.names.insert(Name::of_id(id));
        self.stands(said);
    }

    /// A file is new, or its path is another.
    pub(super) fn renamed(&mut self, file: FileId) {
        self.moved.insert(file);
    }

    /// A file goes; its nodes went before.
    pub(super) fn drops(&mut self, conn: &Connection, file: FileId) -> Result<(), StoreError> {
        self.files.remove(&file);
        self.moved.remove(&file);
        let names = file_names(conn, file)?;
        self.names.extend(names.iter().map(|it| Name::of(it)));
        Ok(())
    }

    fn stands(&mut self, said: &Said<'_>) {
        self.names.insert(Name::of(said.label));
        if said.tells_of_file() {
            self.files.extend(said.file);
        }
    }

    fn add_references(
        &mut self,
        conn: &Connection,
        source: NodeKey,
        references: &[Reference],
    ) -> Result<(), StoreError> {
        for reference in references {
            let id = insert(conn, source, Origin::Parsed, reference)?;
            self.references.insert(id);
        }
        Ok(())
    }

    /// Resolves what is doubtful.
    pub(super) fn settle(mut self, conn: &Connection) -> Result<(), StoreError> {
        const INSIDE: &str = "
            WITH RECURSIVE inside (key) AS (
                SELECT key FROM node WHERE parent IS NULL AND file = ?1
                UNION ALL
                SELECT node.key FROM inside JOIN node ON node.parent = inside.key
            )
            SELECT node.name, reference.id
              FROM inside
              JOIN node ON node.key = inside.key
              LEFT JOIN reference ON reference.source = node.key";
        for &file in &self.moved {
            let mut query = conn.prepare_cached(INSIDE).doing("list the names in a file")?;
            let mut rows = query.query([file.0]).doing("list the names in a file")?;
            while let Some(row) = rows.next().doing("list the names in a file")? {
                let name: Option<i64> = row.get(0).doing("list the names in a file")?;
                let reference: Option<i64> = row.get(1).doing("list the names in a file")?;
                self.names.extend(name.map(Name));
                self.references.extend(reference);
            }
        }
        for &file in self.files.union(&self.moved) {
            let names = name_file(conn, file)?;
            self.names.extend(names.iter().map(|it| Name::of(it)));
        }
        self.references.extend(wanting(conn, &self.names)?);
        resolve_rows(conn, self.references)
    }
}

/// The rows that want one of the names.
fn wanting(conn: &Connection, names: &HashSet<Name>) -> Result<Vec<i64>, StoreError> {
    const WANTING: &str = "SELECT reference FROM wanted WHERE name = ?1";
    let mut found = Vec::new();
    let mut query = conn.prepare_cached(WANTING).doing("look who wants a name")?;
    for name in names {
        let rows = query.query_map([name.0], |row| row.get(0)).doing("look who wants a name")?;
        for row in rows {
            found.push(row.doing("look who wants a name")?);
        }
    }
    Ok(found)
}

/// Resolves those references; what no longer exists is passed over.
fn resolve_rows(conn: &Connection, ids: BTreeSet<i64>) -> Result<(), StoreError> {
    const READ: &str = concat!(
        "SELECT ",
        reference_columns!(),
        ", ifnull(file.root || '/' || file.path, ''), reference.target, reference.candidates
           FROM reference
           JOIN node ON node.key = reference.source
           LEFT JOIN file ON file.id = node.file
          WHERE reference.id = ?1"
    );
    const POINT: &str = "UPDATE reference SET target = ?2, candidates = ?3 WHERE id = ?1";
    let mut resolver = Resolver::new(Rows { conn });
    let mut read = conn.prepare_cached(READ).doing("read a reference")?;
    let mut point = conn.prepare_cached(POINT).doing("resolve a reference")?;
    for id in ids {
        let row = |row: &Row<'_>| {
            let (from, was): (String, (Option<i64>, Option<String>)) =
                (row.get(7)?, (row.get(8)?, row.get(9)?));
            Ok((read_reference(row)?, from, was))
        };
        let found = read.query_row([id], row).optional().doing("read a reference")?;
        let Some((reference, from, was)) = found else { continue };
        let is = match resolver.resolve(&from, &reference)? {
            Target::Node(key) => (Some(key.0), None),
            Target::Missing => (None, None),
            Target::Ambiguous(keys) => (None, Some(index::ids(conn, &keys)?)),
        };
        if is != was {
            point.execute(params![id, is.0, is.1]).doing("resolve a reference")?;
        }
    }
    Ok(())
}

/// The references of a text as a set: of those that name the same target, the one that weighs most.
pub(super) fn parsed(node_type: NodeType, content: &str) -> Vec<Reference> {
    let mut set: BTreeMap<_, Reference> = BTreeMap::new();
    for reference in link::references(node_type, content) {
        let Reference { label, source, id_hint, heading, .. } = reference.clone();
        let is_markdown = reference.form == Form::Markdown;
        let kept = set
            .entry((label, source, id_hint, heading, is_markdown))
            .or_insert_with(|| reference.clone());
        if kept.weight < reference.weight {
            *kept = reference;
        }
    }
    set.into_values().collect()
}

/// Who says that a reference is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// A text.
    Parsed,
    /// Whoever related two nodes by hand.
    Manual,
}

/// Adds the row of a reference, not resolved yet, and returns its id.
pub(super) fn insert(
    conn: &Connection,
    source: NodeKey,
    origin: Origin,
    reference: &Reference,
) -> Result<i64, StoreError> {
    const ADD: &str = "
        INSERT INTO reference (source, origin, form, label, path, id_hint, heading, alias, weight)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
    const WANT: &str = "INSERT INTO wanted (name, reference) VALUES (?1, ?2)";
    let Reference { label, source: path, id_hint, heading, alias, weight, form } = reference;
    let (origin, form) = match origin {
        Origin::Parsed => ("parsed", form_name(*form)),
        Origin::Manual => ("manual", "manual"),
    };
    let row = params![source.0, origin, form, label, path, id_hint, heading, alias, weight];
    let id =
        conn.prepare_cached(ADD).and_then(|mut it| it.insert(row)).doing("note a reference")?;
    let mut want = conn.prepare_cached(WANT).doing("note what a reference wants")?;
    for name in resolve::wanted(reference) {
        want.execute([name.0, id]).doing("note what a reference wants")?;
    }
    Ok(id)
}

fn form_name(form: Form) -> &'static str {
    match form {
        Form::Wiki => "wiki",
        Form::Embed => "embed",
        Form::Knowledge => "knowledge",
        Form::Markdown => "markdown",
    }
}

/// Reads a row of `reference_columns!()`.
pub(super) fn read_reference(row: &Row<'_>) -> rusqlite::Result<Reference> {
    let form: String = row.get(6)?;
    Ok(Reference {
        label: row.get(0)?,
        source: row.get(1)?,
        id_hint: row.get(2)?,
        heading: row.get(3)?,
        alias: row.get(4)?,
        weight: row.get(5)?,
        form: match form.as_str() {
            "markdown" => Form::Markdown,
            "embed" => Form::Embed,
            "knowledge" => Form::Knowledge,
            _ => Form::Wiki,
        },
    })
}

/// Makes the names of a file what they are now; returns those that it had and has.
fn name_file(conn: &Connection, file: FileId) -> Result<Vec<String>, StoreError> {
    const FORGET: &str = "DELETE FROM file_name WHERE file = ?1";
    const ADD: &str = "INSERT INTO file_name (name, file) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
    let had = file_names(conn, file)?;
    let has = names_now(conn, file)?;
    if had != has {
        conn.prepare_cached(FORGET).and_then(|mut it| it.execute([file.0])).doing("name a file")?;
        let mut add = conn.prepare_cached(ADD).doing("name a file")?;
        for name in &has {
            add.execute(params![name, file.0]).doing("name a file")?;
        }
    }
    Ok(had.union(&has).cloned().collect())
}

/// The names of a file as they are noted.
pub(super) fn file_names(conn: &Connection, file: FileId) -> Result<BTreeSet<String>, StoreError> {
    const NAMES: &str = "SELECT name FROM file_name WHERE file = ?1";
    let mut query = conn.prepare_cached(NAMES).doing("read a file's names")?;
    let rows = query.query_map([file.0], |row| row.get(0)).doing("read a file's names")?;
    rows.collect::<Result<_, _>>().doing("read a file's names")
}

/// The names of a file as its path and its front matter say.
pub(super) fn names_now(conn: &Connection, file: FileId) -> Result<BTreeSet<String>, StoreError> {
    const PATH: &str = "SELECT path FROM file WHERE id = ?1";
    const FRONT: &str = "
        SELECT top.content, part.content, part.key_path
          FROM node AS top
          LEFT JOIN node AS part ON part.parent = top.key
         WHERE top.file = ?1
           AND top.parent IS NULL
           AND top.node_type = 'preamble'";
    let mut names = BTreeSet::new();
    let path: Option<String> = conn
        .prepare_cached(PATH)
        .and_then(|mut it| it.query_row([file.0], |row| row.get(0)).optional())
        .doing("read a file's path")?;
    let Some(path) = path else { return Ok(names) };
    let file_name = resolve::key(last_name(&path));
    names.insert(resolve::key(stem(&file_name)));
    names.insert(file_name);
    let mut query = conn.prepare_cached(FRONT).doing("read front matter")?;
    let mut rows = query.query([file.0]).doing("read front matter")?;
    while let Some(row) = rows.next().doing("read front matter")? {
        let top: String = row.get(0).doing("read front matter")?;
        let part: Option<String> = row.get(1).doing("read front matter")?;
        let key_path: Option<String> = row.get(2).doing("read front matter")?;
        let part = part.filter(|_| key_path.as_deref().is_some_and(title::is_naming));
        let told = title::names(&top).into_iter().chain(title::names(&part.unwrap_or_default()));
        names.extend(told.map(|it| resolve::key(&it)).filter(|it| !it.is_empty()));
    }
    Ok(names)
}

/// Reads all texts of a memory that was made before references were noted.
pub(super) fn read_all(conn: &Connection) -> Result<(), StoreError> {
    const NODES: &str = "SELECT key, node_type, label, content FROM node ORDER BY key";
    const NAME: &str = "UPDATE node SET name = ?2 WHERE key = ?1";
    const FILES: &str = "SELECT id FROM file";
    let mut stale = Stale::default();
    let mut query = conn.prepare(NODES).doing("read all texts")?;
    let mut rows = query.query([]).doing("read all texts")?;
    while let Some(row) = rows.next().doing("read all texts")? {
        let (key, references, label) = read_text(row).doing("read all texts")?;
        stale.add_references(conn, key, &references)?;
        conn.prepare_cached(NAME)
            .and_then(|mut it| it.execute(params![key.0, name(&label)]))
            .doing("name a node")?;
    }
    let mut query = conn.prepare(FILES).doing("list the files")?;
    let files = query.query_map([], |row| row.get(0).map(FileId)).doing("list the files")?;
    stale.files = files.collect::<Result<_, _>>().doing("list the files")?;
    stale.settle(conn)
}

/// Reads `key, node_type, label, content`: the node, what its text refers to, its label.
fn read_text(row: &Row<'_>) -> rusqlite::Result<(NodeKey, Vec<Reference>, String)> {
    let node_type: String = row.get(1)?;
    let content = row.get_ref(3)?.as_str()?;
    let node_type = NodeType::parse(&node_type).unwrap_or_default();
    Ok((NodeKey(row.get(0)?), parsed(node_type, content), row.get(2)?))
}
