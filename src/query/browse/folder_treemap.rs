//! The map: folders and files as areas, with the sums of their nodes.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Error, quote_input, thousandths};
use crate::model::clock::UnixMillis;
use crate::store::reader::{FileSums, Reader};

/// A folder or a file, with sums over what it has.
#[derive(Default)]
struct PathSums {
    is_folder: bool,
    n_files: u64,
    n_nodes: u64,
    tokens: u64,
    warmth: f64,
    n_read: u64,
}

impl PathSums {
    fn add(&mut self, of: &FileSums) {
        self.n_files += u64::from(!of.path.is_empty());
        self.n_nodes += of.n_nodes;
        self.tokens = self.tokens.saturating_add(of.tokens);
        self.warmth += of.warmth;
        self.n_read += of.n_read;
    }

    /// Returns the mean temperature.
    fn temperature(&self) -> f64 {
        thousandths(self.warmth / self.n_nodes.max(1) as f64)
    }
}

/// Returns the folders and files in the folder `path`, or in the whole memory, those with most
/// tokens first. Nodes without a file are one item without a name. The sums of many nodes may be a
/// minute old.
pub(crate) fn map_document(
    reader: &Reader,
    path: Option<&str>,
    n_max: usize,
    now: UnixMillis,
) -> Result<Value, Error> {
    let path = path.unwrap_or_default().trim_matches('/');
    let within = if path.is_empty() { String::new() } else { format!("{path}/") };
    let mut areas: BTreeMap<String, PathSums> = BTreeMap::new();
    for file in reader.file_sums(now)?.iter() {
        let Some(rest) = file.path.strip_prefix(&within) else { continue };
        let (name, is_folder) = match rest.split_once('/') {
            Some((folder, _)) => (folder, true),
            None => (rest, false),
        };
        let area = areas.entry(name.to_owned()).or_default();
        area.is_folder |= is_folder;
        area.add(file);
    }
    if areas.is_empty() && !path.is_empty() {
        let what = format!("no folder `{}`; the map without `path` lists them", quote_input(path));
        return Err(Error::NotFound(what));
    }
    let mut areas: Vec<(String, PathSums)> = areas.into_iter().collect();
    areas.sort_by_key(|(_, it)| Reverse(it.tokens));
    let rest = areas.split_off(n_max.min(areas.len()));
    let items: Vec<Value> = areas.iter().map(|(name, it)| item(name, it)).collect();
    let mut sum = PathSums::default();
    for (_, area) in &rest {
        sum.n_nodes += area.n_nodes;
        sum.tokens = sum.tokens.saturating_add(area.tokens);
        sum.warmth += area.warmth;
    }
    Ok(json!({
        "path": path,
        "items": items,
        "rest": {
            "items": rest.len(),
            "nodes": sum.n_nodes,
            "tokens": sum.tokens,
            "temperature": sum.temperature(),
        },
    }))
}

fn item(name: &str, area: &PathSums) -> Value {
    json!({
        "name": name,
        "is_folder": area.is_folder,
        "files": area.n_files,
        "nodes": area.n_nodes,
        "tokens": area.tokens,
        "temperature": area.temperature(),
        "read": area.n_read,
    })
}
