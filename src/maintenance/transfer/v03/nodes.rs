//! Imports the nodes of an old database in row order, with their ids, heat and texts.
//!
//! The old program kept no order among siblings; its rows are in the order of their insertion.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use rusqlite::{Connection, OptionalExtension, params};

use super::files::{V03FileImporter, V03InsertedFile};
use super::{SkippedCounts, rows};
use crate::maintenance::transfer::ProgressFn;
use crate::maintenance::transfer::row_redaction::ImportRedactor;
use crate::model::breadcrumb;
use crate::model::heat;
use crate::model::identity::{ContentHash, NodeId};
use crate::model::order_keys;
use crate::model::tree::{ContentFormat, NodeType};
use crate::model::typed_node_field_schemas::TypedNodeSchema;
use crate::store::links;
use crate::store::node_columns::{LANG, LEVEL};
use crate::store::node_insert::{INSERT, NodeInsertRow};
use crate::store::{
    ErrorContext, FileId, NodePlace, NodeRowId, OptionalColumnValue, OptionalColumnValues,
    PreparedStatements, StoreError, UnplacedNodeData,
};
use crate::text::{self, tokens};

/// Imported nodes with their new ids and keys, by their old ids.
pub(super) type InsertedNodes = HashMap<String, InsertedNode>;

#[derive(Clone, Debug)]
pub(super) struct InsertedNode {
    pub(super) key: i64,
    pub(super) id: String,
    pub(super) node_type: NodeType,
    pub(super) label: String,
    pub(super) hash: ContentHash,
}

/// A node's place in the old tree.
struct V03NodePlace {
    row: i64,
    old_id: String,
    parent: Option<usize>,
    position: i64,
}

/// Splits a text of the old form: code had its language on the first line.
pub(super) fn modern(
    node_type: NodeType,
    label: &str,
    content: String,
) -> (Option<String>, String) {
    let lang = label
        .strip_prefix("Code (")
        .and_then(|it| it.split_once("): "))
        .map(|(lang, _)| lang)
        .filter(|it| node_type == NodeType::Code && !it.is_empty());
    match lang.and_then(|lang| content.strip_prefix(lang)?.strip_prefix('\n')) {
        Some(code) => (lang.map(str::to_owned), code.to_owned()),
        None => (None, content),
    }
}

/// Imports every node.
pub(super) fn import_nodes(
    from: &Connection,
    to: &Connection,
    files: &mut V03FileImporter<'_>,
    cleaner: &mut ImportRedactor<'_>,
    notes: &mut SkippedCounts,
    progress: ProgressFn<'_>,
) -> Result<InsertedNodes, StoreError> {
    let placed = tree(from, files, cleaner, notes)?;
    let mut taking = NodeImporter { to, files, cleaner, notes, ids: HashSet::new() };
    let list = rows::columns(
        from,
        "nodes",
        &[
            ("source_file", "''"),
            ("node_type", "'text'"),
            ("depth", "1"),
            ("label", "''"),
            ("content", "''"),
            ("format", "'plain'"),
            ("temperature", "0.5"),
            ("access_count", "0"),
            ("last_accessed_at", "NULL"),
            ("pinned", "0"),
        ],
    )?;
    let base_text = rows::columns(from, "snapshots", &[("compile_root", "''")])?;
    let base_text = format!(
        "SELECT diffs.new_content
           FROM diffs
           JOIN snapshots ON snapshots.id = diffs.snapshot_id
          WHERE diffs.node_id = ?1 AND diffs.op <> 'rem' AND {base_text} <> ''
          ORDER BY diffs.id DESC
          LIMIT 1"
    );
    let one = format!("SELECT {list} FROM nodes WHERE rowid = ?1");
    let mut one = from.prepare(&one).doing("read an old node")?;
    let mut base_text = from.prepare(&base_text).doing("read an old node")?;
    let mut nodes = InsertedNodes::with_capacity(placed.len());
    let mut breadcrumbs: Vec<Option<String>> = vec![None; placed.len()];
    let n_all = placed.len() as u64;
    // Parents before children, so that every child finds its parent's breadcrumb.
    for (nth, idx) in parents_first(&placed).into_iter().enumerate() {
        let node = &placed[idx];
        let mut found = one.query([node.row]).doing("read an old node")?;
        let Some(row) = found.next().doing("read an old node")? else { continue };
        // The file's last text, which may lie below an agent's.
        let base_text = base_text
            .query_row([&node.old_id], |row| Ok(rows::text(row, 0)))
            .optional()
            .doing("read an old node")?
            .transpose()?
            .flatten();
        let above = node.parent.map(|it| (it, breadcrumbs[it].as_deref().unwrap_or_default()));
        let above = above.map(|(it, breadcrumb)| {
            let label = nodes.get(&placed[it].old_id).map_or("", |it| it.label.as_str());
            breadcrumb::child_breadcrumb(breadcrumb, label)
        });
        let key = |idx: usize| NodeRowId(i64::try_from(idx).unwrap_or(i64::MAX - 1) + 1);
        let parent = node.parent.map(key);
        let place = NodePlace { file: None, parent, position: node.position };
        let (taken, breadcrumb) =
            taking.node(row, &node.old_id, (key(idx), place), above, base_text)?;
        breadcrumbs[idx] = Some(breadcrumb);
        nodes.insert(node.old_id.clone(), taken);
        progress(nth as u64, n_all);
    }
    Ok(nodes)
}

struct NodeImporter<'a, 'f, 'c> {
    to: &'a Connection,
    files: &'a mut V03FileImporter<'f>,
    cleaner: &'a mut ImportRedactor<'c>,
    notes: &'a mut SkippedCounts,
    ids: HashSet<NodeId>,
}

impl NodeImporter<'_, '_, '_> {
    /// Imports one node, and returns its breadcrumb, too. `place` lacks the file.
    fn node(
        &mut self,
        row: &rusqlite::Row<'_>,
        old_id: &str,
        (key, place): (NodeRowId, NodePlace),
        above: Option<String>,
        base_text: Option<String>,
    ) -> Result<(InsertedNode, String), StoreError> {
        let file = self.files.of(&rows::word(row, 0)?, self.cleaner)?;
        let noted = NodeType::parse(&rows::word(row, 1)?);
        // Of a type with fields, none was ever made there.
        let node_type =
            noted.filter(|it| TypedNodeSchema::of(*it).is_none()).unwrap_or_else(|| {
                self.notes.add("nodes of a type that is not known here are text now");
                NodeType::Text
            });
        let format = ContentFormat::parse(&rows::word(row, 5)?).unwrap_or_else(|| {
            self.notes.add("nodes of a format that is not known here are plain now");
            ContentFormat::Plain
        });
        let level = rows::whole(row, 2)?.filter(|_| node_type == NodeType::Heading);
        let mut label = rows::word(row, 3)?;
        let (mut lang, mut content) = modern(node_type, &label, rows::word(row, 4)?);
        let found = self.cleaner.scrub_text(&mut content).map(|(_, found)| found);
        lang.as_mut().map(|it| self.cleaner.scrub(it));
        let old_label = label.clone();
        let own = self.cleaner.scrub(&mut label);
        label = text::fold_whitespace(&label);
        let of_text = self.cleaner.scrub_label(&mut label, &found.unwrap_or_default());
        let hash = ContentHash::of(&content);
        let base_text = base_text.map(|base_text| modern(node_type, &label, base_text).1);
        let source = file.as_ref().map(|_| self.source_hash(hash, base_text).to_string());
        let label = text::truncate_chars(&label, text::LABEL_CHARS_MAX);
        if own.or(of_text).is_some() {
            self.cleaner.note_label(&old_label, &label);
        }
        let path = file.as_ref().map_or("", |it| it.path.as_str());
        let id = self.id(old_id, node_type, path, &content).to_string();
        let breadcrumb = above.unwrap_or_else(|| breadcrumb::file_stem(path).to_owned());
        let file = file.as_ref().map(|it: &V03InsertedFile| it.id);
        let level = level.map(|it| OptionalColumnValue::Integer(it.clamp(1, 6)));
        let attributes = OptionalColumnValues::default()
            .with(LEVEL, level)
            .with(LANG, lang.map(OptionalColumnValue::Text));
        let data = UnplacedNodeData {
            node_type,
            format,
            label: &label,
            content: &content,
            token_count: tokens::count(&content),
            attributes,
        };
        let new = NodeInsertRow {
            key,
            id: &id,
            place: NodePlace { file, ..place },
            data: &data,
            hash: &hash.to_string(),
            source_hash: source.as_deref(),
            breadcrumb: &breadcrumb,
            name: links::name(&label),
        };
        let doing = "take over a node";
        new.insert(&mut self.to.prepared(INSERT.text(), doing)?).doing(doing)?;
        self.heat(row, key.0)?;
        Ok((InsertedNode { key: key.0, id, node_type, label, hash }, breadcrumb))
    }

    /// Returns the hash of the base text: the node's own unless `said` differs.
    fn source_hash(&mut self, hash: ContentHash, base_text: Option<String>) -> ContentHash {
        let Some(mut base_text) = base_text else { return hash };
        self.cleaner.scrub(&mut base_text);
        let source = ContentHash::of(&base_text);
        if source != hash {
            self.notes.add("nodes whose text an agent changed keep it until their file changes");
        }
        source
    }

    fn heat(&mut self, row: &rusqlite::Row<'_>, key: i64) -> Result<(), StoreError> {
        const ADD: &str = "
            INSERT INTO heat (node, temperature, at, pinned, access_count, accessed_at)
            VALUES (?1, ?2, 0, ?3, ?4, ?5)";
        let noted = rows::real(row, 6)?.filter(|it| it.is_finite());
        let temperature = noted.unwrap_or(heat::BIRTH_TEMPERATURE).clamp(0.0, 1.0);
        if noted != Some(temperature) {
            self.notes.add("temperatures outside of 0 to 1 were brought back into it");
        }
        let n_reads = rows::whole(row, 7)?.unwrap_or(0).max(0);
        let is_pinned = rows::whole(row, 9)?.unwrap_or(0) != 0;
        let heat = params![key, temperature, is_pinned, n_reads, rows::millis(row, 8)?];
        self.to.run(ADD, heat, "import a temperature").map(drop)
    }

    /// Returns the old id if it is valid here, else the birth id.
    fn id(&mut self, old: &str, node_type: NodeType, path: &str, content: &str) -> NodeId {
        if let Some(id) = NodeId::parse(old)
            && self.ids.insert(id)
        {
            return id;
        }
        self.notes.add("ids that are not 11 letters and digits were replaced");
        let mut ordinal = 0;
        loop {
            let id = NodeId::birth(node_type, path, content, ordinal);
            if self.ids.insert(id) {
                return id;
            }
            ordinal += 1;
        }
    }
}

/// Returns the old nodes in row order, with their parents and order keys.
///
/// Roots are ordered among those of the same file here: several old names can mean one, or none.
fn tree(
    from: &Connection,
    files: &mut V03FileImporter<'_>,
    cleaner: &mut ImportRedactor<'_>,
    notes: &mut SkippedCounts,
) -> Result<Vec<V03NodePlace>, StoreError> {
    const NODES: &str = "SELECT rowid, id, parent_id, source_file FROM nodes ORDER BY rowid";
    let mut query = from.prepare(NODES).doing("read the old tree")?;
    let mut found = query.query([]).doing("read the old tree")?;
    let mut placed: Vec<V03NodePlace> = Vec::new();
    let mut above: Vec<(Option<String>, String)> = Vec::new();
    while let Some(row) = found.next().doing("read the old tree")? {
        let row_id = row.get(0).doing("read the old tree")?;
        let parent = rows::text(row, 2)?.filter(|it| !it.is_empty());
        placed.push(V03NodePlace {
            row: row_id,
            old_id: rows::word(row, 1)?,
            parent: None,
            position: 0,
        });
        above.push((parent, rows::word(row, 3)?));
    }
    let by_id: HashMap<String, usize> =
        placed.iter().enumerate().map(|(idx, it)| (it.old_id.clone(), idx)).collect();
    for (node, (parent, _)) in placed.iter_mut().zip(&above) {
        node.parent = parent.as_ref().and_then(|it| by_id.get(it).copied());
        if parent.is_some() && node.parent.is_none() {
            notes.add("nodes whose parent is missing are roots now");
        }
    }
    cut_circles(&mut placed, notes);
    let mut families: BTreeMap<(Option<usize>, Option<FileId>), Vec<usize>> = BTreeMap::new();
    for (idx, (_, source_file)) in above.iter().enumerate() {
        let parent = placed[idx].parent;
        let file = match parent {
            Some(_) => None,
            None => files.of(source_file, cleaner)?.map(|it| it.id),
        };
        families.entry((parent, file)).or_default().push(idx);
    }
    for children in families.into_values() {
        for (idx, rank) in
            children.iter().zip(order_keys::assign_order_keys(&vec![None; children.len()]))
        {
            placed[*idx].position = rank.position;
        }
    }
    Ok(placed)
}

/// Breaks each cycle by making one of its nodes a root.
fn cut_circles(placed: &mut [V03NodePlace], notes: &mut SkippedCounts) {
    // The walk that visited each node first, counted from 1.
    let mut seen = vec![0; placed.len()];
    for start in 0..placed.len() {
        let mut at = start;
        while seen[at] == 0 {
            seen[at] = start + 1;
            match placed[at].parent {
                Some(parent) if seen[parent] == start + 1 => {
                    notes.add("nodes that stood below themselves are roots now");
                    placed[at].parent = None;
                }
                Some(parent) => at = parent,
                None => (),
            }
        }
    }
}

fn parents_first(placed: &[V03NodePlace]) -> Vec<usize> {
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); placed.len()];
    let mut open: VecDeque<usize> = VecDeque::new();
    for (idx, node) in placed.iter().enumerate() {
        match node.parent {
            Some(parent) => children[parent].push(idx),
            None => open.push_back(idx),
        }
    }
    let mut order = Vec::with_capacity(placed.len());
    while let Some(idx) = open.pop_front() {
        open.extend(&children[idx]);
        order.push(idx);
    }
    order
}
