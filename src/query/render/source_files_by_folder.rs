//! Source files as a tree of folders, one for each root.

use std::collections::BTreeMap;

use super::{render_count, to_label, to_value};
use crate::store::reader::FileSummary;

/// Deeper folders are drawn flat in the deepest one.
const DEPTH_MAX: usize = 64;

/// Renders the folders and files of every root: each file with its nodes, tokens and error, if
/// any.
pub(crate) fn render_files(files: &[FileSummary]) -> String {
    if files.is_empty() {
        return "No files in database.\n".to_owned();
    }
    let mut out = String::from("=== Files ===\n");
    for root in files.chunk_by(|a, b| a.root == b.root) {
        let mut folder = FolderTree::default();
        for file in root {
            folder.add(&file.path, file, 0);
        }
        out.push_str(&format!("{}\n", to_value(&root[0].root)));
        folder.draw(&mut out, "");
    }
    out
}

#[derive(Default)]
struct FolderTree<'a> {
    folders: BTreeMap<&'a str, FolderTree<'a>>,
    files: Vec<(&'a str, &'a FileSummary)>,
}

impl<'a> FolderTree<'a> {
    fn add(&mut self, path: &'a str, file: &'a FileSummary, depth: usize) {
        match path.split_once('/') {
            Some((name, rest)) if depth < DEPTH_MAX => {
                self.folders.entry(name).or_default().add(rest, file, depth + 1);
            }
            _ => self.files.push((path, file)),
        }
    }

    fn draw(&self, out: &mut String, indent: &str) {
        let n = self.folders.len() + self.files.len();
        let twigs =
            |at: usize| if at + 1 == n { ("└── ", "    ") } else { ("├── ", "│   ") };
        for (at, (name, folder)) in self.folders.iter().enumerate() {
            let (twig, below) = twigs(at);
            out.push_str(&format!("{indent}{twig}{}/\n", to_value(name)));
            folder.draw(out, &format!("{indent}{below}"));
        }
        for (at, (name, file)) in self.files.iter().enumerate() {
            let (twig, _) = twigs(self.folders.len() + at);
            let noun = if file.n_nodes == 1 { "node" } else { "nodes" };
            let facts = format!("({} {noun}, {} tok)", file.n_nodes, render_count(file.tokens));
            out.push_str(&format!("{indent}{twig}{} {facts}", to_value(name)));
            if let Some(error) = &file.error {
                out.push_str(&format!(" error: {}", to_label(error)));
            }
            out.push('\n');
        }
    }
}
