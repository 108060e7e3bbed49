//! A folder of randomly edited notes.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::fuzzing::random_cases::Dice;

const PATHS: &[&str] = &["a.md", "b.md", "sub/c.md", "d.md"];

/// The folder: every file's text by path, as it is on the disk.
pub(super) struct Notes {
    root: PathBuf,
    pub(super) files: BTreeMap<String, String>,
    /// Every text that a file ever had.
    versions: Vec<(String, String)>,
    n_written: u64,
    /// Number of words made so far; no word is repeated.
    pub(super) n_words: usize,
}

impl Notes {
    pub(super) fn new(root: PathBuf) -> Notes {
        fs::create_dir_all(root.join("sub")).unwrap();
        let (files, versions) = (BTreeMap::new(), Vec::new());
        Notes { root, files, versions, n_written: 0, n_words: 0 }
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    pub(super) fn word(&mut self) -> String {
        self.n_words += 1;
        word(self.n_words)
    }

    /// Writes a file, or deletes it; its time always changes.
    pub(super) fn set(&mut self, path: &str, text: Option<&str>) {
        let at = self.root.join(path);
        let Some(text) = text else {
            fs::remove_file(at).unwrap();
            self.files.remove(path);
            return;
        };
        fs::write(&at, text).unwrap();
        self.n_written += 1;
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000 + self.n_written);
        fs::File::options().write(true).open(&at).unwrap().set_modified(time).unwrap();
        self.files.insert(path.to_owned(), text.to_owned());
        self.versions.push((path.to_owned(), text.to_owned()));
    }

    /// Edits a file in a random way; returns its name.
    pub(super) fn edit(&mut self, dice: &mut Dice) -> String {
        let known: Vec<String> = self.files.keys().cloned().collect();
        let path = match dice.one_in(6) || known.is_empty() {
            true => dice.pick(PATHS).to_string(),
            false => dice.pick(&known).clone(),
        };
        let is_there = self.files.contains_key(&path);
        match dice.below(24) {
            0 if is_there => {
                self.set(&path, None);
                format!("delete {path}")
            }
            1 | 2 if is_there => {
                let to = *dice.pick(PATHS);
                if self.files.contains_key(to) {
                    return self.edit(dice);
                }
                let text = self.files[&path].clone();
                self.set(&path, None);
                self.set(to, Some(&text));
                format!("rename {path} to {to}")
            }
            3 if is_there => {
                self.set(&path, Some(""));
                format!("empty {path}")
            }
            4..=6 if !self.versions.is_empty() => {
                let (path, text) = dice.pick(&self.versions).clone();
                self.set(&path, Some(&text));
                format!("restore {path}: {text:?}")
            }
            _ => {
                let how: Vec<String> =
                    (0..1 + dice.below(3)).map(|_| self.edit_blocks(&path, dice)).collect();
                format!("edit {path}: {}", how.join(", "))
            }
        }
    }

    fn blocks(&self, path: &str) -> Vec<String> {
        let text = self.files.get(path).map_or("", String::as_str);
        let blocks = text.split("\n\n").map(|it| it.trim_end().to_owned());
        blocks.filter(|it| !it.is_empty()).collect()
    }

    fn edit_blocks(&mut self, path: &str, dice: &mut Dice) -> String {
        let mut blocks = self.blocks(path);
        let (at, n) = (dice.below(blocks.len()), blocks.len());
        let edit = match dice.below(12) {
            0 if 0 < n => format!("cut {:?}", blocks.remove(at)),
            1 | 2 if 0 < n && !blocks[at].contains('|') && !blocks[at].contains("```") => {
                let word = self.word();
                blocks[at].push_str(&format!(" {word}"));
                format!("add {word} to {:?}", blocks[at])
            }
            3 | 4 if 1 < n => {
                let block = blocks.remove(at);
                let to = dice.below(n);
                blocks.insert(to, block.clone());
                format!("move {block:?} from {at} to {to}")
            }
            5 | 6 if 0 < n => {
                let other = *dice.pick(PATHS);
                let block = blocks.remove(at);
                if other == path {
                    blocks.push(block);
                    "move to the end".to_owned()
                } else {
                    let mut others = self.blocks(other);
                    others.insert(dice.below(others.len() + 1), block.clone());
                    self.set(other, Some(&(others.join("\n\n") + "\n")));
                    format!("move {block:?} to {other}")
                }
            }
            7 if 0 < n && dice.one_in(2) => {
                let block = blocks[at].clone();
                blocks.insert(dice.below(n + 1), block.clone());
                format!("copy {block:?}")
            }
            _ => {
                let block = self.block(dice);
                blocks.insert(dice.below(n + 1), block.clone());
                format!("insert {block:?}")
            }
        };
        self.set(path, Some(&(blocks.join("\n\n") + "\n")));
        edit
    }

    /// Returns a block that never existed before; a few are short and equal.
    pub(super) fn block(&mut self, dice: &mut Dice) -> String {
        let (a, b) = (self.word(), self.word());
        let old = word(1 + dice.below(self.n_words));
        match dice.below(12) {
            0..=2 => format!("{} Title {a}", ["#", "##", "###"][dice.below(3)]),
            3 => format!("- item {a}\n- item {b} of some length"),
            4 => format!("```rust\nlet {a} = \"{b}\";\n```"),
            5 => format!("See [[Title {old}]] for {a}"),
            6 => format!("| {a} | {b} |\n|---|---|\n| 1 | 2 |"),
            7 if dice.one_in(2) => "ok".to_owned(),
            _ => format!("A paragraph that speaks of {a} and {b}, long enough to be known."),
        }
    }
}

/// Returns the nth word. No two are alike, and stemming does not change them.
pub(super) fn word(n: usize) -> String {
    format!("w{n}q")
}
