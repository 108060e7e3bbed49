//! Imported notes: what other programs remember, as trees below `@imported` and the program's name.
//!
//! A note is found again by its key, and is left alone while the program's text is the same, even
//! if an agent changed it meanwhile. A text that grew keeps the nodes before its first change. A
//! note that was forgotten stays forgotten.
//! Texts are redacted together: a secret that one of them shows is replaced in all.

use std::collections::HashMap;

use super::dry_run::WriteOrDryRun;
use super::edits::forget_all;
use super::{Error, Memory, compile};
use crate::ingest::conversation::TranscriptRedactor;
use crate::ingest::foreign::ForeignNote;
use crate::ingest::parse::Syntax;
use crate::ingest::redact::Redactor;
use crate::model::identity::ContentHash;
use crate::model::imported_note_keys::{IMPORTED_ROOT, note_key, note_mark};
use crate::model::tree::{ContentFormat, DocumentTree, Node, NodeType};
use crate::store::{
    Batch, KEY_PATH, LEVEL, NodeRecord, NodeRowId, OptionalColumnValue, OptionalColumnValues,
    StoreError, UnplacedNodeData,
};
use crate::text::{self, LABEL_CHARS_MAX, tokens};

/// The level of a note's heading, below its root and its program.
const NOTE_LEVEL: i64 = 3;

/// Holds what an import of notes did, or would do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ForeignImportReport {
    pub(crate) n_added: usize,
    pub(crate) n_updated: usize,
    pub(crate) n_unchanged: usize,
    /// Notes that are left out, since they were forgotten after an earlier import.
    pub(crate) n_forgotten: usize,
    /// Secrets that became markers, in notes that were added or updated.
    pub(crate) n_secrets: usize,
    pub(crate) snapshot: Option<i64>,
}

/// A note without secrets, parsed.
struct PreparedNote {
    key: String,
    /// The key, with a hash of the note.
    mark: String,
    title: Option<String>,
    trees: Vec<DocumentTree>,
    n_secrets: usize,
}

impl Memory {
    /// Imports notes of a program in one snapshot.
    pub(crate) fn import_notes(
        &self,
        source: &str,
        notes: Vec<ForeignNote>,
        mode: WriteOrDryRun,
    ) -> Result<ForeignImportReport, Error> {
        let workspace = self.workspace();
        let notes: Vec<PreparedNote> =
            notes.into_iter().map(|it| PreparedNote::of(it, &workspace.redactor)).collect();
        let message = format!("import:{source}");
        let now = self.clock.now();
        let (import, snapshot) = self.write_or_count(mode, &message, now, |batch| {
            let bucket = [IMPORTED_ROOT, source];
            let there = batch
                .nodes_in_bucket(&bucket)?
                .into_iter()
                .filter_map(|it| Some((note_key(it.attributes.key_path()?)?.to_owned(), it)));
            let there: HashMap<String, NodeRecord> = there.collect();
            let mut import = ForeignImportReport::default();
            for note in &notes {
                let known = there.get(&note.key);
                if known.and_then(|it| it.attributes.key_path()) == Some(&note.mark) {
                    import.n_unchanged += 1;
                    continue;
                }
                if known.is_none() && batch.is_note_forgotten(source, &note.key)? {
                    import.n_forgotten += 1;
                    continue;
                }
                import.n_secrets += note.n_secrets;
                match known {
                    Some(_) => import.n_updated += 1,
                    None => import.n_added += 1,
                }
                match known {
                    Some(old) => note.update(batch, old)?,
                    None => note.insert(batch, &bucket)?,
                }
                batch.flush_if_large()?;
            }
            Ok::<_, Error>(import)
        })?;
        Ok(ForeignImportReport { snapshot, ..import })
    }
}

impl PreparedNote {
    fn of(note: ForeignNote, redactor: &Redactor) -> PreparedNote {
        let mut scrubber = TranscriptRedactor::new(vec![redactor]);
        let whole = note.title.iter().chain(&note.texts);
        let n_secrets = whole.map(|it| scrubber.learn(it)).sum();
        let title = note.title.map(|it| scrubber.scrub(&it));
        let texts: Vec<String> = note.texts.iter().map(|it| scrubber.scrub(it)).collect();
        let hash = ContentHash::of(&format!("{title:?}{texts:?}"));
        let trees = texts.iter().map(|text| {
            let mut tree = compile::parse_text_redacted(Syntax::Markdown, text, redactor).1.tree;
            if tree.nodes.is_empty() {
                tree.push(Node {
                    label: text::label_of_text(text),
                    content: text.clone(),
                    token_count: tokens::count(text),
                    ..Node::default()
                });
            }
            tree
        });
        let trees: Vec<DocumentTree> = trees.collect();
        // A text of several blocks needs a heading.
        let is_one = matches!(&trees[..], [tree] if tree.nodes.len() == 1);
        let title = title.or_else(|| {
            let first = trees.first().and_then(|it| it.nodes.first());
            first.filter(|_| !is_one).map(|it| it.label.clone())
        });
        let key = scrubber.scrub(&note.key);
        let mark = note_mark(&key, hash);
        PreparedNote { key, mark, title, trees, n_secrets }
    }

    /// Returns the data of the note's first node, and the trees below it.
    fn root(&self) -> (UnplacedNodeData<'_>, &[DocumentTree]) {
        let mark = Some(OptionalColumnValue::Text(self.mark.clone()));
        let Some(title) = self.title.as_deref() else {
            let first = UnplacedNodeData::of(&self.trees[0].nodes[0]);
            return (
                UnplacedNodeData { attributes: first.attributes.with(KEY_PATH, mark), ..first },
                &[],
            );
        };
        let level = Some(OptionalColumnValue::Integer(NOTE_LEVEL));
        let data = UnplacedNodeData {
            node_type: NodeType::Heading,
            format: ContentFormat::Plain,
            label: title,
            content: title,
            token_count: tokens::count(title),
            attributes: OptionalColumnValues::default().with(KEY_PATH, mark).with(LEVEL, level),
        };
        (data, &self.trees)
    }

    fn insert(&self, batch: &mut Batch<'_>, bucket: &[&str]) -> Result<(), StoreError> {
        let (data, trees) = self.root();
        let label = text::truncate_chars(data.label, LABEL_CHARS_MAX);
        let (key, _) =
            batch.insert_typed_node(&UnplacedNodeData { label: &label, ..data }, bucket)?;
        trees.iter().try_for_each(|it| append(batch, key, it))
    }

    fn update(&self, batch: &mut Batch<'_>, old: &NodeRecord) -> Result<(), StoreError> {
        let (data, trees) = self.root();
        let label = text::truncate_chars(data.label, LABEL_CHARS_MAX);
        // A type stays; a text that became a heading is one with children.
        let node_type = old.node_type;
        batch.set_agent_text(old, &UnplacedNodeData { label: &label, node_type, ..data })?;
        let there = batch.children_of(old.key)?;
        let (mut n_kept, mut n_trees) = (0, 0);
        for tree in trees {
            let n_roots = tree.nodes.iter().filter(|it| it.parent.is_none()).count();
            let Some(roots) = there.get(n_kept..n_kept + n_roots) else { break };
            if !is_same(batch, roots.to_vec(), tree)? {
                break;
            }
            (n_kept, n_trees) = (n_kept + n_roots, n_trees + 1);
        }
        there.into_iter().skip(n_kept).try_for_each(|it| forget_all(batch, it))?;
        trees[n_trees..].iter().try_for_each(|it| append(batch, old.key, it))
    }
}

/// Appends a tree to the children of a node.
fn append(batch: &mut Batch<'_>, parent: NodeRowId, tree: &DocumentTree) -> Result<(), StoreError> {
    let mut keys: Vec<NodeRowId> = Vec::with_capacity(tree.nodes.len());
    for node in &tree.nodes {
        let parent = node.parent.map_or(parent, |at| keys[at]);
        let place = batch.last_place(None, Some(parent))?;
        keys.push(batch.insert_agent_node(&UnplacedNodeData::of(node), place)?.0);
    }
    Ok(())
}

/// Returns whether stored nodes and what is below them equal a tree.
fn is_same(
    batch: &Batch<'_>,
    roots: Vec<NodeRecord>,
    tree: &DocumentTree,
) -> Result<bool, StoreError> {
    // The remaining children of each node; the roots come first.
    let mut left: Vec<std::vec::IntoIter<NodeRecord>> = vec![roots.into_iter()];
    for node in &tree.nodes {
        let family = node.parent.map_or(0, |at| at + 1);
        let Some(stored) = left[family].next() else { return Ok(false) };
        if stored.node_type != node.node_type || stored.content != node.content {
            return Ok(false);
        }
        left.push(batch.children_of(stored.key)?.into_iter());
    }
    Ok(left.iter().all(|it| it.len() == 0))
}
