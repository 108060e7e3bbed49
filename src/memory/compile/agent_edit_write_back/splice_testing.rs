//! Changes a text by its bytes alone, for tests and fuzz targets.

use super::splice::{NodeEditInFile, ParsedSource, SpliceOutcome};
use crate::ingest::parse::Syntax;
use crate::ingest::redact::Redactor;
use crate::memory::compile::redaction::parse_text_redacted;

/// A change of a text at one of its nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EditKind {
    Replace,
    Append,
    Remove,
    Lift,
}

/// Changes a Markdown file at its node `nth`, counted from the first again after the last; `None`
/// where the change is refused or changes nothing.
///
/// # Panics
///
/// The nodes of the new bytes are not those that the change promises.
pub(crate) fn splice_text(file: &[u8], nth: usize, kind: EditKind, words: &str) -> Option<Vec<u8>> {
    let redactor = Redactor::builtin();
    let parse = (Syntax::Markdown, &redactor);
    let source = ParsedSource::read(file, Syntax::Markdown, &redactor)?;
    let (words, parsed) = parse_text_redacted(Syntax::Markdown, words, &redactor);
    let (words, tree) = (words.trim_matches(['\r', '\n']).trim_end(), parsed.tree);
    let n_nodes = source.tree.nodes.len();
    if n_nodes == 0 || tree.nodes.is_empty() || words.is_empty() {
        return None;
    }
    let edit = match kind {
        EditKind::Replace => NodeEditInFile::Replace(words, &tree),
        EditKind::Append => NodeEditInFile::Append(words, &tree),
        EditKind::Remove => NodeEditInFile::Remove,
        EditKind::Lift => NodeEditInFile::Lift,
    };
    let idx = nth % n_nodes;
    match source.change(idx, edit, parse).ok()? {
        SpliceOutcome::Same(range) => {
            assert!(idx < range.start && range.end <= n_nodes, "{range:?}");
            None
        }
        SpliceOutcome::New { bytes, tree, origins } => {
            assert_eq!(tree.nodes.len(), origins.len());
            let again = ParsedSource::read(&bytes, Syntax::Markdown, &redactor)?;
            assert_eq!(again.tree, tree, "it is read otherwise");
            // Nodes that stay keep their order, each once, and their texts, but for the changed.
            let kept: Vec<usize> = origins.iter().flatten().copied().collect();
            assert!(kept.is_sorted_by(|a, b| a < b), "{origins:?}");
            for (node, origin) in tree.nodes.iter().zip(&origins) {
                let Some(old) = origin.map(|it| &source.tree.nodes[it]) else { continue };
                let is_changed = kind == EditKind::Replace && *origin == Some(idx);
                assert!(is_changed || old.content == node.content, "{old:?} is {node:?}");
            }
            Some(bytes)
        }
    }
}
