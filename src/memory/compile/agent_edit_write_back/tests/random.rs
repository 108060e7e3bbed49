//! Random edits by a person and an agent: no word of either is lost, and both end equal.
//!
//! `REMINDB_OWN_EDITS=10000` makes more of them, and `REMINDB_OWN_SEED=7` others.

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::fuzzing::random_cases::{Dice, env_number};

/// Edits of a plain test run.
const N_EDITS: usize = 250;

/// Returns the words that are in a text and that nobody wrote twice.
fn words_in(text: &str) -> BTreeSet<String> {
    let words = text.split(|it: char| !it.is_ascii_alphanumeric());
    words.filter(|it| it.starts_with('w') && it.ends_with('q')).map(str::to_owned).collect()
}

/// Both sides, and every word that they wrote.
struct Sides {
    desk: Desk,
    dice: Dice,
    n_words: usize,
    words: BTreeSet<String>,
    n_landed: usize,
    /// Changes that stayed overlays, by reason.
    kept: BTreeMap<String, usize>,
    log: Vec<String>,
}

impl Drop for Sides {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let from = self.log.len().saturating_sub(12);
            eprintln!("{}", self.log[from..].join("\n"));
        }
    }
}

impl Sides {
    fn new(seed: u64) -> Sides {
        let desk = Desk::new();
        desk.person("a.md", "# A\n\nFirst w0q.\n");
        desk.compile();
        let (words, log) = (["w0q".to_owned()].into(), Vec::new());
        let dice = Dice::new(seed);
        Sides { desk, dice, n_words: 1, words, n_landed: 0, kept: BTreeMap::new(), log }
    }

    fn word(&mut self) -> String {
        let word = format!("w{}q", self.n_words);
        self.n_words += 1;
        word
    }

    /// Returns a block of Markdown with a word that nobody wrote before.
    fn block(&mut self) -> String {
        let word = self.word();
        match self.dice.below(9) {
            0 => format!("## Title {word}"),
            1 => format!("- one {word}\n- two"),
            2 => format!("```sh\nmake {word}\n```"),
            3 => format!("| a | b |\n|---|---|\n| 1 | {word} |"),
            4 => format!("> Quoted {word}.\n> Twice."),
            5 => format!("### Deep {word}\n\nText below."),
            6 => format!("1. first {word}\n   - nested\n2. second"),
            _ => format!("A paragraph that says {word} and `code`, long enough to be known."),
        }
    }

    fn files(&self) -> Vec<String> {
        let mut open = vec![String::new()];
        let mut files = Vec::new();
        while let Some(folder) = open.pop() {
            for entry in fs::read_dir(self.desk.path(&folder)).unwrap() {
                let name = entry.unwrap().file_name().into_string().unwrap();
                assert!(!name.ends_with(".draft"), "{name} is left");
                let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
                if self.desk.path(&path).is_dir() { open.push(path) } else { files.push(path) }
            }
        }
        files.sort();
        files
    }

    fn contents(&self) -> Vec<(String, String)> {
        self.files().into_iter().map(|it| (it.clone(), self.desk.file(&it))).collect()
    }

    /// Edits a file as a person does: block by block.
    fn person(&mut self) {
        let files = self.files();
        let file = files[self.dice.below(files.len())].clone();
        let text = self.desk.file(&file);
        let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let text = text.replace("\r\n", "\n");
        let mut blocks: Vec<String> = text.split("\n\n").map(str::to_owned).collect();
        let at = self.dice.below(blocks.len());
        let what = match self.dice.below(12) {
            0..4 => {
                let block = self.block();
                blocks.insert(at + 1, block);
                "inserts"
            }
            4..7 => {
                let word = self.word();
                blocks[at] = blocks[at].replacen(' ', &format!(" {word} "), 1);
                "edits"
            }
            7 => {
                blocks.remove(at);
                "removes"
            }
            8 => {
                let other = self.dice.below(blocks.len());
                blocks.swap(at, other);
                "swaps"
            }
            9 => {
                let (path, block) = (format!("p{}.md", self.n_words), self.block());
                self.desk.person(&path, &format!("# New\n\n{block}\n"));
                self.words.extend(words_in(&block));
                self.log.push(format!("person makes {path}"));
                return;
            }
            _ => {
                let word = self.word();
                blocks[at] = format!("{} {word}", blocks[at]);
                "adds a word"
            }
        };
        self.log.push(format!("person {what} in {file} at {at}"));
        let before = words_in(&text);
        let mut text = blocks.join("\n\n");
        if self.dice.one_in(10) {
            text = text.trim_end().to_owned();
        }
        let newline = if self.dice.one_in(20) { "\r\n" } else { newline };
        self.desk.person(&file, &text.replace('\n', newline));
        let after = words_in(&text);
        // A word that a person took out of a file before any compile was never the memory's.
        let known = words_in(&self.remembered());
        self.words.retain(|it| !before.contains(it) || after.contains(it) || known.contains(it));
        self.words.extend(after);
    }

    /// Returns all texts of the memory, of now and of then.
    fn remembered(&self) -> String {
        let conn = rusqlite::Connection::open(self.desk.dir.path().join("memory.db")).unwrap();
        let mut all: Vec<String> = Vec::new();
        for sql in ["SELECT content FROM node", "SELECT content FROM blob"] {
            let mut query = conn.prepare(sql).unwrap();
            all.extend(query.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap));
        }
        all.join("\n")
    }

    /// Writes, summarizes or forgets as an agent does.
    fn agent(&mut self) {
        let conn = rusqlite::Connection::open(self.desk.dir.path().join("memory.db")).unwrap();
        let sql = "SELECT id, node_type FROM node ORDER BY key";
        let nodes: Vec<(String, String)> = conn
            .prepare(sql)
            .unwrap()
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
            .unwrap()
            .map(Result::unwrap)
            .collect();
        drop(conn);
        let before = self.contents();
        let choice = self.dice.below(12);
        // Below most nodes there is no place for another block.
        let is_fit = |it: &&(String, String)| choice >= 3 || it.1 == "heading";
        let nodes: Vec<&(String, String)> = nodes.iter().filter(is_fit).collect();
        let (choice, (id, node_type)) = match nodes.len() {
            0 => (11, Default::default()),
            n => (choice, nodes[self.dice.below(n)].clone()),
        };
        let mut said = BTreeSet::new();
        let reply = match choice {
            0..4 => {
                let block = self.block();
                said = words_in(&block);
                self.desk.memory.write(&block, Some(&id), AppendOrReplaceMode::Append)
            }
            4..8 => {
                let word = self.word();
                let words = match node_type.as_str() {
                    "list" => format!("- said {word}"),
                    "table" => format!("| c |\n|---|\n| {word} |"),
                    "code" => format!("run {word}"),
                    "heading" => format!("Said {word}"),
                    _ if self.dice.one_in(4) => format!("Said {word}.\n\nTwice."),
                    _ => format!("Said {word}."),
                };
                said = words_in(&words);
                self.desk.memory.write(&words, Some(&id), AppendOrReplaceMode::Replace)
            }
            8 => {
                let summary = format!("In short {}.", self.word());
                said = words_in(&summary);
                self.desk.memory.summarize(&id, &summary, None)
            }
            9 => self.desk.memory.forget(&id, ForgetChildrenMode::Strict),
            10 => {
                let mode =
                    [ForgetChildrenMode::Cascade, ForgetChildrenMode::Reparent][self.dice.below(2)];
                self.desk.memory.forget(&id, mode)
            }
            _ => {
                let block = self.block();
                said = words_in(&block);
                self.desk.memory.write(&block, None, AppendOrReplaceMode::Auto)
            }
        };
        if reply.is_ok() {
            self.words.extend(said);
        }
        let reply = reply.map_or_else(|it| it.to_string(), |it| it.text);
        self.log.push(format!("agent {choice} at {id} {node_type}: {reply}"));
        let after = self.contents();
        match reply.contains("kept as overlay") {
            true => {
                let why = reply.rsplit("kept as overlay: ").next().unwrap_or_default();
                let why = why.split_once(' ').map_or(why, |(_, it)| it).to_owned();
                *self.kept.entry(why).or_default() += 1;
                assert_eq!(before, after, "{reply}");
            }
            false => self.n_landed += usize::from(before != after),
        }
    }

    /// Checks that every word is in a file, in a node or in the history.
    #[track_caller]
    fn check_words(&self) {
        let mut all: Vec<String> = self.contents().into_iter().map(|(_, text)| text).collect();
        all.push(self.remembered());
        let found = words_in(&all.join("\n"));
        let lost: Vec<&String> = self.words.iter().filter(|it| !found.contains(*it)).collect();
        assert!(lost.is_empty(), "lost: {lost:?}");
    }

    /// Checks that files which no overlay hides say what the memory says.
    #[track_caller]
    fn check_equal(&self) -> (usize, usize) {
        let fresh = Desk::new();
        let fresh_db = fresh.dir.path().join("memory.db");
        let root = self.desk.path("");
        fresh.memory.compile(&root, "fresh").unwrap();
        let outline = |db: PathBuf| -> Vec<(String, String)> {
            let conn = rusqlite::Connection::open(db).unwrap();
            let sql = "
                WITH RECURSIVE tree (key, file, place, text, odd) AS (
                    SELECT key, file, printf('%020d', position + (1 << 62)), node_type || content,
                           source_hash IS NOT content_hash
                      FROM node WHERE parent IS NULL AND file IS NOT NULL
                     UNION ALL
                    SELECT node.key, tree.file, tree.place || printf('/%020d', node.position + (1 << 62)),
                           node.node_type || node.content, node.source_hash IS NOT node.content_hash
                      FROM tree JOIN node ON node.parent = tree.key)
                SELECT path, group_concat(text, char(10)) FROM
                       (SELECT file.path, text, file.id AS id FROM tree
                          JOIN file ON file.id = tree.file
                         WHERE NOT EXISTS (SELECT 1 FROM tombstone WHERE tombstone.file = file.id)
                           AND NOT EXISTS (SELECT 1 FROM tree AS t WHERE t.file = file.id AND t.odd)
                         ORDER BY path, place)
                 GROUP BY id ORDER BY path";
            let mut query = conn.prepare(sql).unwrap();
            query
                .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
                .unwrap()
                .map(Result::unwrap)
                .collect()
        };
        let own = outline(self.desk.dir.path().join("memory.db"));
        let files = outline(fresh_db);
        for file in &own {
            let read = files.iter().find(|it| it.0 == file.0);
            assert_eq!(read, Some(file));
        }
        (own.len(), files.len())
    }
}

#[test]
fn no_word_of_either_is_lost_and_both_end_equal() {
    let n_edits = env_number("REMINDB_OWN_EDITS").unwrap_or(N_EDITS);
    let mut sides = Sides::new(env_number("REMINDB_OWN_SEED").unwrap_or(1));
    for nth in 0..n_edits {
        match sides.dice.below(10) {
            0..2 => sides.person(),
            2..5 => {
                let report = sides.desk.memory.compile(&sides.desk.path(""), "test").unwrap();
                sides.log.push(report.to_string());
            }
            _ => sides.agent(),
        }
        if nth % 50 == 0 {
            sides.check_words();
        }
    }
    sides.desk.compile();
    sides.desk.check_settled();
    sides.check_words();
    let (n_equal, n_files) = sides.check_equal();
    let (n_landed, kept) = (sides.n_landed, &sides.kept);
    println!("{n_landed} landed, {n_equal} of {n_files} files without an overlay, kept: {kept:#?}");
    assert!(kept.values().sum::<usize>() < n_landed);
}
