//! The index of an exported folder, and the names of its files.
//!
//! `remindb.md` at the top says in its first line which folder has the files of which root, and
//! which one has what agents wrote without a file. It counts only in a folder that is compiled
//! itself, or in the one above.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Map, Value, json};

use super::marker::{MARKER_END, to_comment};
use crate::ingest::parse::Syntax;
use crate::ingest::scan;

/// The name of the index.
pub(crate) const INDEX_FILE: &str = "remindb.md";

/// Bytes of an index, at most.
const INDEX_BYTES_MAX: usize = 256 * 1024;

/// The beginning of an index.
const INDEX_START: &str = "<!-- remindb export 1 ";

/// The text below the first line, for a person.
const GUIDE: &str = "
# A memory in Markdown

Each file has a part of it, and each comment names the node below it: leave the comments where they
are, and edit, add and remove the rest as in any other note. `remindb compile` on this folder makes
the same memory of it, with its ids, pins and links. What was no Markdown is in fenced blocks.
";

/// The folders of an export.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FoldersByRoot {
    /// The folder of each root by its number; an empty one is the exported folder itself.
    pub(crate) roots: BTreeMap<i64, String>,
    /// The folder of what agents wrote without a file.
    pub(crate) agents: String,
}

impl FoldersByRoot {
    /// Reads the index of a folder, if it has one.
    pub(crate) fn read(folder: &Path) -> Option<FoldersByRoot> {
        let bytes = scan::read_root_file(folder, INDEX_FILE, INDEX_BYTES_MAX).ok()??;
        FoldersByRoot::parse(std::str::from_utf8(&bytes).ok()?)
    }

    /// Parses an index. Its folders are single names.
    pub(crate) fn parse(text: &str) -> Option<FoldersByRoot> {
        let line = text.strip_prefix('\u{feff}').unwrap_or(text).lines().next()?.trim_end();
        let json = line.strip_prefix(INDEX_START)?.strip_suffix(MARKER_END)?;
        let object: Map<String, Value> = serde_json::from_str(json).ok()?;
        let agents = object.get("agents")?.as_str()?.to_owned();
        let mut roots = BTreeMap::new();
        for (number, folder) in object.get("roots")?.as_object()? {
            let (number, folder): (i64, &str) = (number.parse().ok()?, folder.as_str()?);
            roots.insert(number, folder.to_owned());
        }
        let is_name = |it: &String| !it.is_empty() && !it.contains(['/', '\\']) && it != "..";
        let is_root = |it: &String| it.is_empty() && roots.len() == 1 || is_name(it) && it != ".";
        let is_valid = is_name(&agents)
            && roots.keys().all(|it| (1..1 << 31).contains(it))
            && roots.values().all(is_root);
        is_valid.then_some(FoldersByRoot { roots, agents })
    }

    /// Returns the text of the index.
    pub(crate) fn text(&self) -> String {
        let roots: Map<String, Value> =
            self.roots.iter().map(|(number, it)| (number.to_string(), json!(it))).collect();
        let json = to_comment(&json!({"agents": self.agents, "roots": roots}));
        format!("{}{}{MARKER_END}\n{GUIDE}", INDEX_START.trim_end(), json)
    }

    /// Returns the folders of roots other than the exported folder itself.
    pub(crate) fn other_folders(&self) -> impl Iterator<Item = &str> {
        self.roots.values().map(String::as_str).filter(|it| !it.is_empty())
    }
}

/// The part of an export that a root is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RootWithinExport {
    /// The number that the root had.
    pub(crate) number: Option<i64>,
    /// The folder of what agents wrote without a file.
    pub(crate) agents: Option<String>,
    /// Folders that are roots of their own.
    pub(crate) others: Vec<String>,
}

impl RootWithinExport {
    /// Returns what the folder at `root` is, if it was exported.
    pub(crate) fn find(root: &Path) -> Option<RootWithinExport> {
        if let Some(index) = FoldersByRoot::read(root) {
            let own = index.roots.iter().find(|(_, folder)| folder.is_empty());
            let number = own.map(|(number, _)| *number);
            let others = index.other_folders().map(str::to_owned).collect();
            return Some(RootWithinExport { number, agents: Some(index.agents), others });
        }
        let name = root.file_name()?.to_str()?;
        let index = FoldersByRoot::read(root.parent()?)?;
        let (number, _) = index.roots.iter().find(|(_, folder)| folder.as_str() == name)?;
        Some(RootWithinExport { number: Some(*number), ..RootWithinExport::default() })
    }

    /// Returns the path of a file's row by its path in the exported folder; `None` for a file that
    /// is not of this root.
    pub(crate) fn path_of(&self, file: &str) -> Option<String> {
        let top = file.split('/').next().unwrap_or(file);
        let is_index = self.agents.is_some() && file == INDEX_FILE;
        if is_index || self.others.iter().any(|it| it == top) {
            return None;
        }
        Some(if self.is_of_agents(file) { file.to_owned() } else { path_of(file).to_owned() })
    }

    /// Returns whether a file has what agents wrote without a file.
    pub(crate) fn is_of_agents(&self, file: &str) -> bool {
        let within = self.agents.as_deref().and_then(|it| file.strip_prefix(it));
        within.is_some_and(|it| it.starts_with('/'))
    }
}

/// Returns the name in an exported folder of the file at `path`: it ends with `.md`.
pub(crate) fn name_of(path: &str) -> String {
    match path_of(path) == path && path.ends_with(".md") {
        true => path.to_owned(),
        false => format!("{path}.md"),
    }
}

/// Returns the path of the file whose name in an exported folder is `name`.
fn path_of(name: &str) -> &str {
    name.strip_suffix(".md").filter(|it| Syntax::of(it).is_some()).unwrap_or(name)
}
