//! Parsing JSON: every scalar's exact text in the node of its path, nothing lost or doubled.

use std::collections::HashMap;
use std::fmt;

use serde::de::{Deserializer as _, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::parser_invariants::{check_present, check_present_but, counts, parse_twice};
use crate::ingest::parse::{Parsed, Syntax, decode};
use crate::model::tree::Node;

/// Panics when parsing `data` as JSON or JSON Lines violates an invariant.
pub fn json(data: &[u8]) {
    let (text, _) = decode(data);
    let parsed = parse_twice(Syntax::Json, &text);
    if let Err(report) = check_scalars(&parsed, &text) {
        panic!("{report}");
    }
    let lines = parse_twice(Syntax::JsonLines, &text);
    if !text.contains('\\') {
        // A turn of a conversation without other fields is its content, and its label begins with
        // the role.
        let is_role = |node: &Node, word: &str| node.label.split(':').next() == Some(word);
        check_present_but(&lines, &text, |word| {
            matches!(word, "role" | "content")
                || lines.tree.nodes.iter().any(|node| is_role(node, word))
        });
    }
}

/// Checks the tree against the result of another parser, if it accepts the text.
pub fn check_scalars(parsed: &Parsed, text: &str) -> Result<(), String> {
    let mut oracle = JsonOracle::default();
    // It reads neither every text nor every string: half of a surrogate pair is no character.
    let root = serde_json::from_str::<&RawValue>(text);
    if root.and_then(|it| oracle.read(it.get(), String::new())).is_err() {
        if !text.contains('\\') {
            check_present(parsed, text);
        }
        return Ok(());
    }
    let mut by_path: HashMap<String, String> = HashMap::new();
    for node in &parsed.tree.nodes {
        let mut path = node.key_path.clone().unwrap_or_default();
        if let Some((base, group)) = path.rsplit_once('[')
            && group.contains("..")
        {
            path = base.to_owned();
        }
        let contents = by_path.entry(path).or_default();
        contents.push_str(&node.content);
        contents.push('\n');
    }
    // Parts of a large text are cut at line breaks, and inside of long lines.
    let plain = |text: &str| text.replace('\n', "");
    for (path, scalar) in &oracle.scalars {
        let is_there = homes(&by_path, path)
            .into_iter()
            .any(|found| found.contains(scalar.as_str()) || plain(found).contains(&plain(scalar)));
        if !is_there && path.len() < 800 {
            return Err(format!("{path}: {scalar:?} is not in {by_path:?}"));
        }
    }
    let contents: Vec<&str> = parsed.tree.nodes.iter().map(|it| &*it.content).collect();
    let have = counts(contents.iter().copied());
    let want = counts(oracle.scalars.iter().map(|(_, scalar)| &**scalar));
    let keys = counts(oracle.keys.iter().map(|key| &**key));
    let is_cut = parsed.tree.nodes.iter().any(|node| node.label.starts_with('…'));
    for (word, n) in &want {
        let found = have.get(word).copied().unwrap_or(0);
        if found < *n && !is_cut {
            return Err(format!("{word:?}: {n} times in the source, {found} times in the tree"));
        }
        let is_other = keys.contains_key(word) || word.parse::<u64>().is_ok() || *word == "null";
        if *n < found && !is_other && !is_cut {
            return Err(format!("{word:?}: {n} times in the source, {found} times in the tree"));
        }
    }
    match keys.keys().find(|word| !have.contains_key(*word)) {
        Some(word) if !is_cut && !text.contains('\\') => Err(format!("the key {word:?} is lost")),
        _ => Ok(()),
    }
}

/// Returns the contents of the nodes at a path and above it.
fn homes<'a>(by_path: &'a HashMap<String, String>, path: &str) -> Vec<&'a str> {
    let ends = (0..=path.len()).rev().filter(|&end| path.is_char_boundary(end));
    ends.filter_map(|end| by_path.get(&path[..end]).map(String::as_str)).collect()
}

#[derive(Default)]
struct JsonOracle {
    scalars: Vec<(String, String)>,
    keys: Vec<String>,
}

impl JsonOracle {
    fn read(&mut self, raw: &str, path: String) -> serde_json::Result<()> {
        let mut due = vec![(raw.to_owned(), path)];
        while let Some((raw, path)) = due.pop() {
            let mut reader = serde_json::Deserializer::from_str(&raw);
            if raw.starts_with('{') {
                for (key, value) in reader.deserialize_map(MapEntriesVisitor)? {
                    due.push((value.get().to_owned(), step(&path, &key)));
                    self.keys.push(key);
                }
            } else if raw.starts_with('[') {
                let items: Vec<Box<RawValue>> = serde_json::from_str(&raw)?;
                for (place, item) in items.iter().enumerate() {
                    due.push((item.get().to_owned(), format!("{path}[{place}]")));
                }
            } else if raw.starts_with('"') {
                self.scalars.push((path, serde_json::from_str(&raw)?));
            } else {
                self.scalars.push((path, raw));
            }
        }
        Ok(())
    }
}

fn step(path: &str, key: &str) -> String {
    let is_plain = key.chars().all(|c| c.is_alphanumeric() || "_-$".contains(c))
        && key.starts_with(|c: char| c.is_alphabetic() || "_$".contains(c));
    match is_plain && key.chars().count() <= 100 {
        true if path.is_empty() => key.to_owned(),
        true => format!("{path}.{key}"),
        false => format!("{path}[{:?}]", crate::text::truncate_chars(key, 100)),
    }
}

struct MapEntriesVisitor;

impl<'de> Visitor<'de> for MapEntriesVisitor {
    type Value = Vec<(String, Box<RawValue>)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(entries)
    }
}
