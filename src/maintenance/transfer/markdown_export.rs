//! Exports a memory as a folder of Markdown, which compiles back to the same nodes.
//!
//! `remindb.md` at the top says which folder has which root. A root that is alone has its files in
//! the exported folder itself, each under its own path with `.md` at its end. What agents wrote
//! without a file is in a folder of its own, `memory`: a file for each heading whose label begins
//! with `@` and for each heading below it, one for each other heading, and `notes.md`.
//!
//! The export is one state of the memory, read node by node with a bounded use of RAM.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufWriter, Write};
use std::path::Path;

use rusqlite::{Connection, Row, params_from_iter};

use super::{AtomicFolder, IfExists, ProgressFn, TransferError};
use crate::ingest::markdown_export_format::export_root_folders::{INDEX_FILE, name_of};
use crate::ingest::markdown_export_format::{
    ExportedNodeAttributes, FILE_HEADER, FoldersByRoot, push_node,
};
use crate::ingest::scan;
use crate::model::node_fields::CanonicalFields;
use crate::model::tree::{Node, NodeType};
use crate::store::links::{read_reference, reference_columns};
use crate::store::node_columns::SqlTemplate;
use crate::store::{ErrorContext, NodeRecord, PreparedStatements, StoreError, connection};
use crate::text;

/// The folder of what agents wrote without a file, unless a root has one of that name.
const AGENTS_FOLDER: &str = "memory";

/// The file of nodes that are below no heading.
const NOTES: &str = "notes";

/// Nodes between two reports of progress.
const STEP_NODES: u64 = 1000;

/// Characters of a heading in the name of its file, at most.
const NAME_CHARS_MAX: usize = 60;

/// Counts of what was exported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct MarkdownExportReport {
    pub(crate) n_nodes: u64,
    pub(crate) n_files: u64,
}

/// Writes the memory at `db` as Markdown below `dest`, which must be empty or absent.
pub(crate) fn export_markdown(
    db: &Path,
    dest: &Path,
    progress: ProgressFn<'_>,
) -> Result<MarkdownExportReport, TransferError> {
    let conn = connection::open_reader(db)?;
    let state = connection::begin_read(&conn, "begin an export")?;
    let mut draft = AtomicFolder::of(dest, IfExists::Refuse).map_err(|error| match error {
        TransferError::Refused(what) => {
            // Nothing is replaced here: a folder of notes may have edits that nobody compiled.
            TransferError::Refused(what.replace(", or replace its files by --force", ""))
        }
        error => error,
    })?;
    let n_all = state.row("SELECT count(*) FROM node", [], |row| row.get(0), "count the nodes")?;
    let (report, n_all) = (MarkdownExportReport::default(), i64::unsigned_abs(n_all));
    let reader = StoredNodeReader { state: &state };
    let mut export = MarkdownExporter { reader, draft: &mut draft, report, n_all, progress };
    let layout = ExportLayout::of(&state)?;
    for root in &layout.roots {
        for (file, path) in &root.files {
            let tops = export.reader.records(&OF_FILE, &[*file])?;
            export.write(
                &path_below(&root.folder, &name_of(path)),
                tops,
                AllOrWithoutSubheadings::All,
            )?;
        }
    }
    export.write_agents(&layout.index.agents)?;
    let report = export.report;
    draft.write(INDEX_FILE, |file| put(file, &layout.index.text()))?;
    draft.publish(db, &[])?;
    Ok(report)
}

/// Where everything goes.
struct ExportLayout {
    index: FoldersByRoot,
    roots: Vec<RootLayout>,
}

/// The files of a root that have nodes, and their folder.
struct RootLayout {
    folder: String,
    files: Vec<(i64, String)>,
}

impl ExportLayout {
    fn of(conn: &Connection) -> Result<ExportLayout, StoreError> {
        const FILES: &str = "
            SELECT root.id, root.path, file.id, file.path
              FROM root
              JOIN file ON file.root = root.id
             WHERE EXISTS (SELECT 1 FROM node WHERE node.file = file.id AND parent IS NULL)
             ORDER BY root.id, file.path";
        let read = |row: &Row<'_>| {
            let (root, path): (i64, String) = (row.get(0)?, row.get(1)?);
            Ok(((root, path), (row.get::<_, i64>(2)?, row.get::<_, String>(3)?)))
        };
        let rows: Vec<((i64, String), (i64, String))> = conn.rows(FILES, [], read, "list files")?;
        let mut by_root: BTreeMap<(i64, String), Vec<(i64, String)>> = BTreeMap::new();
        for (root, file) in rows {
            by_root.entry(root).or_default().push(file);
        }
        let tops: BTreeSet<String> = match by_root.len() {
            1 => by_root.values().flatten().map(|(_, path)| top_of(&name_of(path))).collect(),
            _ => BTreeSet::new(),
        };
        let is_alone = by_root.len() == 1 && !tops.contains(INDEX_FILE);
        let mut taken = if is_alone { tops } else { BTreeSet::new() };
        let agents = free_name(AGENTS_FOLDER, &mut taken);
        let mut layout = ExportLayout {
            index: FoldersByRoot { roots: BTreeMap::new(), agents },
            roots: Vec::new(),
        };
        for ((number, path), files) in by_root {
            let name = path.rsplit(['/', '\\']).next().unwrap_or("");
            let folder = match is_alone {
                true => String::new(),
                false => free_name(&folder_name(name, "notes"), &mut taken),
            };
            layout.index.roots.insert(number, folder.clone());
            layout.roots.push(RootLayout { folder, files });
        }
        Ok(layout)
    }
}

/// How much of what is below its nodes a file has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AllOrWithoutSubheadings {
    All,
    /// Without the headings right below its nodes, which have files of their own.
    WithoutHeadings,
}

static OF_FILE: SqlTemplate = SqlTemplate::new(
    "SELECT {record} FROM node WHERE parent IS NULL AND file = ?1 ORDER BY position, key",
);
static OF_NODE: SqlTemplate =
    SqlTemplate::new("SELECT {record} FROM node WHERE parent = ?1 ORDER BY position, key");
static OF_NOBODY: SqlTemplate = SqlTemplate::new(
    "SELECT {record} FROM node WHERE parent IS NULL AND file IS NULL ORDER BY position, key",
);

struct MarkdownExporter<'a> {
    reader: StoredNodeReader<'a>,
    draft: &'a mut AtomicFolder,
    report: MarkdownExportReport,
    n_all: u64,
    progress: ProgressFn<'a>,
}

/// A file of what agents wrote without one: its first nodes, and the id of their parent.
struct UnfiledNotesFile {
    path: String,
    tops: Vec<NodeRecord>,
    above: Option<NodeRecord>,
}

impl MarkdownExporter<'_> {
    /// Writes what belongs to no file.
    fn write_agents(&mut self, folder: &str) -> Result<(), TransferError> {
        let mut taken = BTreeSet::new();
        let mut notes = Vec::new();
        let mut waiting: Vec<UnfiledNotesFile> = Vec::new();
        for top in self.reader.records(&OF_NOBODY, &[])? {
            let name = match (is_heading(&top), top.label.strip_prefix('@')) {
                (false, _) => {
                    notes.push(top);
                    continue;
                }
                (true, Some(bucket)) => folder_name(bucket, NOTES),
                (true, None) => format!("{NOTES}/{}", folder_name(&top.label, NOTES)),
            };
            let path = free_name(&format!("{folder}/{name}"), &mut taken);
            waiting.push(UnfiledNotesFile { path, tops: vec![top], above: None });
        }
        if !notes.is_empty() {
            let path = free_name(&format!("{folder}/{NOTES}"), &mut taken);
            waiting.push(UnfiledNotesFile { path, tops: notes, above: None });
        }
        while let Some(UnfiledNotesFile { path, tops, above }) = waiting.pop() {
            let bucket = match &tops[..] {
                [top] if is_heading(top) => top.label.starts_with('@') || above.is_some(),
                _ => false,
            };
            if !bucket {
                self.write(&format!("{path}.md"), tops, AllOrWithoutSubheadings::All)?;
                continue;
            }
            for child in self.reader.children(&tops[0])?.into_iter().filter(is_heading) {
                let name = format!("{path}/{}", folder_name(&child.label, NOTES));
                let path = free_name(&name, &mut taken);
                let above = Some(tops[0].clone());
                waiting.push(UnfiledNotesFile { path, tops: vec![child], above });
            }
            self.write_below(
                &format!("{path}.md"),
                tops,
                AllOrWithoutSubheadings::WithoutHeadings,
                above.as_ref(),
            )?;
        }
        Ok(())
    }

    fn write(
        &mut self,
        path: &str,
        tops: Vec<NodeRecord>,
        extent: AllOrWithoutSubheadings,
    ) -> Result<(), TransferError> {
        self.write_below(path, tops, extent, None)
    }

    /// Writes a file of nodes and of what is below them.
    fn write_below(
        &mut self,
        path: &str,
        tops: Vec<NodeRecord>,
        extent: AllOrWithoutSubheadings,
        above: Option<&NodeRecord>,
    ) -> Result<(), TransferError> {
        let (reader, n_all) = (&self.reader, self.n_all);
        let (report, progress) = (&mut self.report, &mut self.progress);
        self.draft.write(path, |file| {
            let mut out = BufWriter::new(file);
            let mut text = format!("{FILE_HEADER}\n\n");
            let mut open: Vec<(NodeRecord, usize)> =
                tops.into_iter().rev().map(|it| (it, 0)).collect();
            while let Some((record, depth)) = open.pop() {
                let mut marks = reader.marks(&record)?;
                marks.parent = above.filter(|_| depth == 0).map(|it| it.id);
                push_node(&mut text, &node_of(&record), depth, &marks);
                put(&mut out, &text)?;
                text.clear();
                let first = open.len();
                let children = reader.children(&record)?.into_iter();
                let is_cut = depth == 0 && extent == AllOrWithoutSubheadings::WithoutHeadings;
                let stay = children.filter(|it| !(is_cut && is_heading(it)));
                open.extend(stay.map(|it| (it, depth + 1)));
                open[first..].reverse();
                report.n_nodes += 1;
                if report.n_nodes % STEP_NODES == 0 {
                    progress(report.n_nodes, n_all);
                }
            }
            out.flush().map_err(TransferError::Output)
        })?;
        self.report.n_files += 1;
        Ok(())
    }
}

struct StoredNodeReader<'a> {
    state: &'a Connection,
}

impl StoredNodeReader<'_> {
    fn records(
        &self,
        sql: &'static SqlTemplate,
        of: &[i64],
    ) -> Result<Vec<NodeRecord>, StoreError> {
        let doing = "read nodes";
        let mut query = self.state.prepare_cached(sql.text()).doing(doing)?;
        let rows = query.query_map(params_from_iter(of), NodeRecord::read).doing(doing)?;
        rows.map(|it| it.doing(doing).and_then(|it| it)).collect()
    }

    fn children(&self, of: &NodeRecord) -> Result<Vec<NodeRecord>, StoreError> {
        self.records(&OF_NODE, &[of.key.0])
    }

    /// Returns what a marker has to say of a node.
    fn marks(&self, record: &NodeRecord) -> Result<ExportedNodeAttributes, StoreError> {
        const PINNED: &str = "SELECT 1 FROM heat WHERE node = ?1 AND pinned";
        const LINKS: &str = concat!(
            "SELECT ",
            reference_columns!(),
            "
              FROM reference
             WHERE source = ?1 AND origin = 'manual'
             ORDER BY id"
        );
        let key = record.key.0;
        let fields = record.attributes.fields();
        Ok(ExportedNodeAttributes {
            id: Some(record.id),
            exported_hash: Some(record.content_hash),
            parent: None,
            position: record.place.file.is_none().then_some(record.place.position),
            fields: fields.and_then(|it| CanonicalFields::parse_loosely(it).ok()),
            is_pinned: self.state.has(PINNED, [key], "read pins")?,
            links: self.state.rows(LINKS, [key], read_reference, "read edges")?,
        })
    }
}

fn node_of(record: &NodeRecord) -> Node {
    Node {
        node_type: record.node_type,
        level: record.attributes.level(),
        lang: record.attributes.lang().map(str::to_owned),
        key_path: record.attributes.key_path().map(str::to_owned),
        label: record.label.clone(),
        content: record.content.clone(),
        format: record.format,
        ..Node::default()
    }
}

fn is_heading(node: &NodeRecord) -> bool {
    node.node_type == NodeType::Heading
}

fn put(out: &mut impl Write, text: &str) -> Result<(), TransferError> {
    out.write_all(text.as_bytes()).map_err(TransferError::Output)
}

fn path_below(folder: &str, path: &str) -> String {
    if folder.is_empty() { path.to_owned() } else { format!("{folder}/{path}") }
}

fn top_of(path: &str) -> String {
    path.split('/').next().unwrap_or(path).to_owned()
}

/// Returns a name that no other file or folder has, whatever the case of its letters.
fn free_name(name: &str, taken: &mut BTreeSet<String>) -> String {
    let mut free = name.to_owned();
    for nth in 2.. {
        if taken.insert(free.to_lowercase()) {
            break;
        }
        free = format!("{name}-{nth}");
    }
    free
}

/// Returns the text as a name that every file system allows and every compile enters.
fn folder_name(text: &str, fallback: &str) -> String {
    let is_safe = |it: char| it.is_alphanumeric() || matches!(it, '-' | '_');
    let words = text::fold_whitespace(text).to_lowercase();
    let mut name = String::new();
    for it in words.chars().map(|it| if is_safe(it) { it } else { '-' }) {
        if !(it == '-' && (name.is_empty() || name.ends_with('-'))) {
            name.push(it);
        }
    }
    let name: String = name.chars().take(NAME_CHARS_MAX).collect();
    let name = name.trim_matches('-');
    match name {
        "" => fallback.to_owned(),
        name if scan::is_skipped_folder(name) => format!("{fallback}-{name}"),
        name => name.to_owned(),
    }
}
