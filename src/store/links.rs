//! References in the database: parsed from changed texts, resolved when the write ends.
//!
//! [`DirtyRefs`] collects the references and names that a write may have affected: those in changed
//! texts, and those whose target changed or could now be another. [`DirtyRefs::settle`] resolves
//! them in the same transaction and reads nothing else, so that the cost of a write follows what it
//! changed. New rows have ascending keys: the first key identifies them all and takes no memory.

pub(crate) mod consistency_check;
mod file_entity_path_sql;
mod newly_added_target_names;
mod rebuild;
mod resolution;
mod stored_file_names;
mod target_lookup;

use std::collections::{BTreeMap, BTreeSet};

pub(super) use file_entity_path_sql::{entity_path, name_in_file, part_of_file, root_label};
use newly_added_target_names::{KeyWatermarks, WantedNewNameFilter, name_of_path};
pub(crate) use rebuild::{read_again, read_all};
pub(crate) use resolution::resolve_rows;
use resolution::{RefsAwaitingNameFinder, compare_target, resolve_all};
use rusqlite::{Connection, Row, params};
use stored_file_names::{file_names, name_file, path_of};
use target_lookup::DatabaseLinkIndex;
pub(super) use target_lookup::{file_head, ids};

use super::{ErrorContext, FileId, NodeRowId, PreparedStatements, StoreError};
use crate::ingest::parse::link;
use crate::ingest::redact::Redactor;
use crate::model::links::front_matter_names;
use crate::model::links::name::{self, LinkNameHash, LinkResolution};
use crate::model::links::reference::{Reference, ReferenceSyntax};
use crate::model::links::resolve::{self, Resolver};
use crate::model::tree::NodeType;

/// References up to which the names of many new nodes are compared with all of theirs at once; it
/// costs a look at each.
const COMPARED_REFERENCES_MAX: i64 = 100_000;

/// The columns that [`read_reference`] expects first.
macro_rules! reference_columns {
    () => {
        "reference.label, reference.path, reference.id_hint, reference.heading, reference.alias,
         reference.weight, reference.form"
    };
}
pub(crate) use reference_columns;

/// The references and names that a write may have affected so far.
#[derive(Debug)]
pub(super) struct DirtyRefs {
    /// The greatest keys before the write; rows with greater ones are new.
    newest: KeyWatermarks,
    /// Names of nodes that were added, removed, changed or moved.
    names: BTreeSet<LinkNameHash>,
    /// The names of such nodes by their file.
    inside: BTreeSet<(FileId, LinkNameHash)>,
    /// Files whose names or first nodes changed.
    files: BTreeSet<FileId>,
    /// Files whose nodes have all moved.
    moved: BTreeSet<FileId>,
    /// Rows of references that are new or whose source moved.
    references: BTreeSet<i64>,
    /// The filter of the names of new nodes, where they are many.
    new_names: Option<WantedNewNameFilter>,
}

/// The parts of a node that yield its names and references.
#[derive(Clone, Copy, Debug)]
pub(super) struct LinkParseInput<'a> {
    pub(super) key: NodeRowId,
    pub(super) file: Option<FileId>,
    pub(super) is_top: bool,
    pub(super) node_type: NodeType,
    pub(super) key_path: Option<&'a str>,
    pub(super) label: &'a str,
    pub(super) content: &'a str,
}

impl LinkParseInput<'_> {
    /// Returns whether the file's names, or the node that represents it, may depend on this node.
    fn tells_of_file(&self) -> bool {
        self.is_top || self.key_path.is_some_and(front_matter_names::is_name_field)
    }
}

/// Returns the hash of a node's name, as its row has it.
pub(crate) fn name(label: &str) -> Option<i64> {
    (!label.is_empty()).then(|| LinkNameHash::of(label).0)
}

impl DirtyRefs {
    /// Begins with nothing to resolve.
    pub(super) fn begin(conn: &Connection) -> Result<DirtyRefs, StoreError> {
        Ok(DirtyRefs::since(KeyWatermarks::of(conn)?))
    }

    fn since(newest: KeyWatermarks) -> DirtyRefs {
        DirtyRefs {
            newest,
            names: BTreeSet::new(),
            inside: BTreeSet::new(),
            files: BTreeSet::new(),
            moved: BTreeSet::new(),
            references: BTreeSet::new(),
            new_names: None,
        }
    }

    /// Prepares for many new nodes: their names are compared as they are added, and the nodes need
    /// not be read again for them.
    pub(super) fn expect_many(&mut self, conn: &Connection) -> Result<(), StoreError> {
        if self.new_names.is_none()
            && (1..=COMPARED_REFERENCES_MAX).contains(&self.newest.reference)
        {
            self.new_names = Some(WantedNewNameFilter::of(conn)?);
        }
        Ok(())
    }

    /// Notes an added node; `name` is its row's.
    pub(super) fn node_added(
        &mut self,
        conn: &Connection,
        link_text: &LinkParseInput<'_>,
        (id, name): (&str, Option<i64>),
    ) -> Result<(), StoreError> {
        if link_text.key.0 <= self.newest.node {
            self.names.insert(LinkNameHash::of_id(id));
            self.stands(link_text);
        } else {
            if link_text.tells_of_file() {
                self.tells_of(link_text.file);
            }
            if let Some(filter) = &mut self.new_names {
                let name = name.map(LinkNameHash);
                filter.wanted_of(conn, link_text.file, (id, name), &mut self.names)?;
            }
        }
        self.add_references(conn, link_text.key, &parsed(link_text.node_type, link_text.content))
    }

    /// Notes a changed text.
    pub(super) fn text_changed(
        &mut self,
        conn: &Connection,
        link_text: &LinkParseInput<'_>,
        old_label: &str,
    ) -> Result<(), StoreError> {
        const FORGET: &str = "DELETE FROM reference WHERE source = ?1 AND origin = 'parsed'";
        if old_label != link_text.label {
            self.stands(&LinkParseInput { label: old_label, ..*link_text });
            self.stands(link_text);
        } else if link_text.tells_of_file() {
            self.tells_of(link_text.file);
        }
        conn.run(FORGET, [link_text.key.0], "forget references")?;
        self.add_references(conn, link_text.key, &parsed(link_text.node_type, link_text.content))
    }

    /// Notes a moved node; everything below it moves along.
    pub(super) fn node_moved(&mut self, from: Option<FileId>, to: Option<FileId>) {
        self.moved.extend(from);
        self.moved.extend(to);
    }

    /// Notes that a node leaves its file for another one or for none.
    pub(super) fn file_changed(
        &mut self,
        conn: &Connection,
        key: NodeRowId,
    ) -> Result<(), StoreError> {
        const NAMED: &str = "
            SELECT node.name, reference.id
              FROM node
              LEFT JOIN reference ON reference.source = node.key
             WHERE node.key = ?1";
        conn.each(NAMED, [key.0], read_name, "read a node's names", |(name, reference)| {
            self.names.extend(name.map(LinkNameHash));
            self.references.extend(reference);
            Ok(())
        })
    }

    /// Notes a removed node.
    pub(super) fn node_removed(&mut self, link_text: &LinkParseInput<'_>, id: &str) {
        self.names.insert(LinkNameHash::of_id(id));
        self.stands(link_text);
    }

    /// Notes an added file.
    pub(super) fn file_added(&mut self, file: FileId) {
        self.tells_of(Some(file));
    }

    /// Notes a changed path, or a file that may be new.
    pub(super) fn file_renamed(&mut self, file: FileId) {
        self.moved.insert(file);
    }

    /// Notes a removed file, whose nodes were removed before.
    pub(super) fn file_removed(
        &mut self,
        conn: &Connection,
        file: FileId,
    ) -> Result<(), StoreError> {
        self.files.remove(&file);
        self.moved.remove(&file);
        let names = file_names(conn, file)?;
        self.names.extend(names.iter().map(|it| LinkNameHash::of(it)));
        self.scope(conn, file)
    }

    /// Notes a reference whose target may be another.
    pub(super) fn reference_changed(&mut self, reference: i64) {
        self.references.insert(reference);
    }

    fn stands(&mut self, link_text: &LinkParseInput<'_>) {
        let name = LinkNameHash::of(link_text.label);
        self.names.insert(name);
        self.inside.extend(link_text.file.map(|file| (file, name)));
        if link_text.tells_of_file() {
            self.tells_of(link_text.file);
        }
    }

    fn tells_of(&mut self, file: Option<FileId>) {
        self.files.extend(file.filter(|it| it.0 <= self.newest.file));
    }

    fn add_references(
        &mut self,
        conn: &Connection,
        source: NodeRowId,
        references: &[Reference],
    ) -> Result<(), StoreError> {
        for reference in references {
            let id = insert(conn, source, ParsedOrManualReference::Parsed, reference)?;
            if id <= self.newest.reference {
                self.references.insert(id);
            }
        }
        Ok(())
    }

    /// Adds the names that changed inside a file, qualified by the file's name.
    fn scope(&mut self, conn: &Connection, file: FileId) -> Result<(), StoreError> {
        let Some(path) = path_of(conn, file)? else { return Ok(()) };
        let file_name = name_of_path(&path);
        let all = (file, LinkNameHash(i64::MIN))..=(file, LinkNameHash(i64::MAX));
        let inside = self.inside.range(all).map(|(_, name)| name.qualified_by(file_name));
        self.names.extend(inside);
        Ok(())
    }

    /// Returns the number of entries held.
    pub(super) fn len(&self) -> usize {
        self.names.len() + self.inside.len() + self.references.len()
    }

    /// Resolves everything noted.
    pub(super) fn settle(&mut self, conn: &Connection) -> Result<(), StoreError> {
        let mut settled = DirtyRefs::begin(conn)?;
        if self.new_names.is_some() {
            settled.expect_many(conn)?;
        }
        std::mem::replace(self, settled).resolve(conn)
    }

    /// Resolves everything noted, at the end of the write.
    pub(super) fn settle_last(&mut self, conn: &Connection) -> Result<(), StoreError> {
        let nothing = DirtyRefs::since(self.newest);
        std::mem::replace(self, nothing).resolve(conn)
    }

    fn resolve(mut self, conn: &Connection) -> Result<(), StoreError> {
        const INSIDE: &str = "
            WITH RECURSIVE inside (key) AS (
                SELECT key FROM node WHERE parent IS NULL AND file = ?1
                UNION ALL
                SELECT node.key FROM inside JOIN node ON node.parent = inside.key
            )
            SELECT node.name, reference.id
              FROM inside
             CROSS JOIN node ON node.key = inside.key
              LEFT JOIN reference ON reference.source = node.key";
        for file in self.moved.clone() {
            let doing = "list the names in a file";
            conn.each(INSIDE, [file.0], read_name, doing, |(name, reference)| {
                self.names.extend(name.map(LinkNameHash));
                self.inside.extend(name.map(|it| (file, LinkNameHash(it))));
                self.references.extend(reference);
                Ok::<_, StoreError>(())
            })?;
        }
        for &file in self.files.union(&self.moved) {
            let names = name_file(conn, file)?;
            self.names.extend(names.iter().map(|it| LinkNameHash::of(it)));
        }
        let files: BTreeSet<FileId> = self.inside.iter().map(|(file, _)| *file).collect();
        for file in files {
            self.scope(conn, file)?;
        }
        let DirtyRefs { newest, names, mut references, new_names, .. } = self;
        let (filter, noted_since) =
            new_names.map_or((None, i64::MAX), WantedNewNameFilter::into_parts);
        let found = &mut references;
        let mut wanting = RefsAwaitingNameFinder { conn, newest: newest.reference, found, filter };
        for name in names {
            wanting.add(name)?;
        }
        newly_added_target_names::name_new(&mut wanting, newest, noted_since)?;
        references.retain(|it| *it <= newest.reference);
        resolve_all(conn, references, newest.reference)
    }
}

/// Returns the target that a reference in the text of a node would have.
pub(crate) fn resolve_text_target(
    conn: &Connection,
    source: NodeRowId,
    reference: &Reference,
) -> Result<LinkResolution<NodeRowId>, StoreError> {
    const FROM: &str = "
        SELECT ifnull(file.root || '/' || file.path, '')
          FROM node
          LEFT JOIN file ON file.id = node.file
         WHERE node.key = ?1";
    let from: String =
        conn.query_row(FROM, [source.0], |row| row.get(0)).doing("find a node's file")?;
    Resolver::new(DatabaseLinkIndex { conn }).resolve(source, &from, reference)
}

/// Returns the rows of a node equal to `reference`, by their words or by their target.
pub(super) fn same_references(
    conn: &Connection,
    source: NodeRowId,
    origin: ParsedOrManualReference,
    reference: &Reference,
) -> Result<Vec<i64>, StoreError> {
    const OF_NODE: &str = concat!(
        "SELECT ",
        reference_columns!(),
        ", reference.id, reference.target FROM reference WHERE source = ?1 AND origin = ?2"
    );
    let target = match resolve_text_target(conn, source, reference)? {
        LinkResolution::Node(key) => Some(key.0),
        LinkResolution::Missing | LinkResolution::Ambiguous(_) => None,
    };
    let named = |it: &Reference| {
        let key = |name: &Option<String>| name.as_deref().map(name::fold_name);
        (name::fold_name(&it.label), key(&it.source), key(&it.heading))
    };
    let is_same = |it: &Reference, its_target: Option<i64>| match (&it.id_hint, its_target) {
        (_, Some(its_target)) if target == Some(its_target) => true,
        (Some(id), _) if reference.id_hint.as_ref() == Some(id) => true,
        _ => it.id_hint == reference.id_hint && named(it) == named(reference),
    };
    let read = |row: &Row<'_>| Ok((read_reference(row)?, row.get(8)?, row.get(7)?));
    let of = params![source.0, origin.as_str()];
    let rows: Vec<(Reference, Option<i64>, i64)> = conn.rows(OF_NODE, of, read, "find an edge")?;
    let same = rows.into_iter().filter(|(other, target, _)| is_same(other, *target));
    Ok(same.map(|(_, _, id)| id).collect())
}

/// Reads the hash of a node's name, and the row id of a reference.
fn read_name(row: &Row<'_>) -> rusqlite::Result<(Option<i64>, Option<i64>)> {
    Ok((row.get(0)?, row.get(1)?))
}

/// Returns the references of a text as a set: the heaviest of those that name one target. A
/// reference is dropped if it shows a secret that escapes or markup hide in the text.
pub(super) fn parsed(node_type: NodeType, content: &str) -> Vec<Reference> {
    let mut references = link::references(node_type, content);
    if references.is_empty() {
        return references;
    }
    let mut set: BTreeMap<_, Reference> = BTreeMap::new();
    let redactor = Redactor::builtin();
    references.retain(|it| !it.words().any(|it| redactor.has_secret(it)));
    for reference in references {
        let Reference { label, source, id_hint, heading, .. } = reference.clone();
        let is_markdown = reference.form == ReferenceSyntax::Markdown;
        let kept = set
            .entry((label, source, id_hint, heading, is_markdown))
            .or_insert_with(|| reference.clone());
        if kept.weight < reference.weight {
            *kept = reference;
        }
    }
    set.into_values().collect()
}

/// The origin of a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ParsedOrManualReference {
    /// A text contains it.
    Parsed,
    /// An agent or a person related two nodes.
    Manual,
}

impl ParsedOrManualReference {
    fn as_str(self) -> &'static str {
        match self {
            ParsedOrManualReference::Parsed => "parsed",
            ParsedOrManualReference::Manual => "manual",
        }
    }
}

/// Adds an unresolved reference, and returns its row id.
pub(crate) fn insert(
    conn: &Connection,
    source: NodeRowId,
    origin: ParsedOrManualReference,
    reference: &Reference,
) -> Result<i64, StoreError> {
    const ADD: &str = "
        INSERT INTO reference (source, origin, form, label, path, id_hint, heading, alias, weight)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
    let Reference { label, source: path, id_hint, heading, alias, weight, form } = reference;
    let (origin, form) = (origin.as_str(), form_name(*form));
    let row = params![source.0, origin, form, label, path, id_hint, heading, alias, weight];
    let id =
        conn.prepare_cached(ADD).and_then(|mut it| it.insert(row)).doing("note a reference")?;
    want(conn, id, reference)?;
    Ok(id)
}

/// Records the names by which a reference waits for its target.
pub(crate) fn want(conn: &Connection, id: i64, reference: &Reference) -> Result<(), StoreError> {
    const WANT: &str = "INSERT INTO wanted (name, reference) VALUES (?1, ?2)";
    let mut want = conn.prepare_cached(WANT).doing("store the names of a reference")?;
    for name in resolve::names_needed_by(reference) {
        want.execute([name.0, id]).doing("store the names of a reference")?;
    }
    Ok(())
}

/// Returns the names by which a reference waits for its target.
pub(crate) fn wanted_of(conn: &Connection, id: i64) -> Result<BTreeSet<LinkNameHash>, StoreError> {
    const WANTED: &str = "SELECT name FROM wanted WHERE reference = ?1";
    conn.rows(WANTED, [id], |row| row.get(0).map(LinkNameHash), "read the names of a reference")
}

/// The forms of references, by the words of the database. An unknown word counts as the first.
pub(crate) const FORMS: [(ReferenceSyntax, &str); 5] = [
    (ReferenceSyntax::Wiki, "wiki"),
    (ReferenceSyntax::Embed, "embed"),
    (ReferenceSyntax::Knowledge, "knowledge"),
    (ReferenceSyntax::Markdown, "markdown"),
    (ReferenceSyntax::Manual, "manual"),
];

fn form_name(form: ReferenceSyntax) -> &'static str {
    FORMS.iter().find(|it| it.0 == form).unwrap_or(&FORMS[0]).1
}

/// Reads a row of `reference_columns!()`.
pub(crate) fn read_reference(row: &Row<'_>) -> rusqlite::Result<Reference> {
    let form: String = row.get(6)?;
    Ok(Reference {
        label: row.get(0)?,
        source: row.get(1)?,
        id_hint: row.get(2)?,
        heading: row.get(3)?,
        alias: row.get(4)?,
        weight: row.get(5)?,
        form: FORMS.iter().find(|it| it.1 == form).unwrap_or(&FORMS[0]).0,
    })
}

/// Reads `key, node_type, label, content` into the node, its references and its label.
fn read_text(row: &Row<'_>) -> rusqlite::Result<(NodeRowId, Vec<Reference>, String)> {
    let node_type: String = row.get(1)?;
    let content = row.get_ref(3)?.as_str()?;
    let node_type = NodeType::parse(&node_type).unwrap_or_default();
    Ok((NodeRowId(row.get(0)?), parsed(node_type, content), row.get(2)?))
}
