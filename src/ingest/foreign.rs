//! Foreign memories: reads what other programs remember as notes in Markdown.
//!
//! A reader takes one file of a program and adds notes; entities and relations, which may lie in
//! several files, become notes at the end. What cannot be read costs itself and is named. Input is
//! untrusted: any bytes are some notes. This module opens no file.

mod agent_sessions;
mod chat_exports;
mod cognee_archive;
mod entity_graph;
mod json_records;
mod markdown_folder;
mod mem0;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::io::BufRead;
use std::mem;

pub(crate) use agent_sessions::{SessionMetadata, add_session};
use entity_graph::EntityGraph;

/// Bytes of a line; a longer one is refused.
pub(crate) const RECORD_LINE_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Refused pieces that are named; of more, the number.
const REFUSED_MAX: usize = 1_000;

/// A note that another program keeps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ForeignNote {
    /// The program's name of it, by which a second import finds it.
    pub(crate) key: String,
    /// The heading; without one the note is its text.
    pub(crate) title: Option<String>,
    /// Texts in Markdown, each parsed on its own.
    pub(crate) texts: Vec<String>,
    /// The minute in which a conversation began, in UTC.
    pub(crate) started: Option<String>,
}

/// Collects the notes of an import.
#[derive(Debug, Default)]
pub(crate) struct NoteCollector {
    /// Notes that are ready, to be taken out.
    pub(crate) notes: Vec<ForeignNote>,
    /// `FILE:LINE: reason` of each piece that could not be read.
    pub(crate) refused: Vec<String>,
    /// Pieces that could not be read and are not named.
    pub(crate) n_unnamed: usize,
    keys: HashSet<String>,
    /// The last number that a key got, where several notes have one.
    numbers: HashMap<String, usize>,
    graph: EntityGraph,
}

/// Reads one file, which messages name.
pub(crate) type ForeignReader =
    fn(file: &ForeignFileOrigin<'_>, input: &mut dyn BufRead, notes: &mut NoteCollector);

/// Names a file of another program, without its content.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ForeignFileOrigin<'a> {
    /// The path below the folder of the import, with `/` between names.
    pub(crate) path: &'a str,
    /// As messages name it.
    pub(crate) shown: &'a str,
    /// The folder that a session worked in, where a file beside it says so.
    pub(crate) project: Option<&'a str>,
    /// The program.
    pub(crate) source: &'static ImportableProgram,
}

/// A program whose memories can be read.
#[derive(Debug)]
pub(crate) struct ImportableProgram {
    pub(crate) name: &'static str,
    /// Another name for it.
    pub(crate) alias: &'static str,
    /// Its folder below the home, where it has one.
    pub(crate) home: &'static str,
    /// The files, as a message names them.
    pub(crate) files: &'static str,
    /// Returns the reader of a file, by its path; `None`: it is not read.
    pub(crate) reader: fn(path: &str) -> Option<ForeignReader>,
}

/// The programs. OpenCode also has a database, which is read elsewhere.
pub(crate) static FOREIGN_SOURCES: [ImportableProgram; 11] = [
    ImportableProgram {
        name: "claude-code",
        alias: "",
        home: ".claude",
        files: "projects/*/*.jsonl, CLAUDE.md and memory/*.md",
        reader: |path| match path {
            _ if is_below(path, "subagents") => None,
            _ if path.ends_with(".jsonl") && !path.ends_with("history.jsonl") => {
                Some(agent_sessions::read_lines)
            }
            _ => markdown_folder::reader_of_memory(path),
        },
    },
    ImportableProgram {
        name: "codex",
        alias: "",
        home: ".codex",
        files: "sessions/**/rollout-*.jsonl, AGENTS.md and memories/*.md",
        reader: |path| match file_name(path).starts_with("rollout-") {
            true => path.ends_with(".jsonl").then_some(agent_sessions::read_lines as ForeignReader),
            false => markdown_folder::reader_of_memory(path),
        },
    },
    ImportableProgram {
        name: "gemini-cli",
        alias: "gemini",
        home: ".gemini",
        files: "tmp/*/chats/session-*.json, .jsonl and GEMINI.md",
        reader: |path| match file_name(path).starts_with("session-") {
            true if path.ends_with(".jsonl") => Some(agent_sessions::read_lines),
            true if path.ends_with(".json") => Some(agent_sessions::read_value),
            _ => markdown_folder::reader_of_memory(path),
        },
    },
    ImportableProgram {
        name: "opencode",
        alias: "",
        home: ".local/share/opencode",
        files: "opencode.db, and files by `opencode export`",
        reader: |path| match path.ends_with(".json") && !is_below(path, "storage") {
            true => Some(agent_sessions::read_value),
            false => markdown_folder::reader_of_memory(path),
        },
    },
    ImportableProgram {
        name: "qwen-code",
        alias: "qwen",
        home: ".qwen",
        files: "projects/*/chats/*.jsonl, QWEN.md and memory/*.md",
        reader: |path| match is_below(path, "chats") || !path.contains('/') {
            true if path.ends_with("usage_record.jsonl") => None,
            true if path.ends_with(".jsonl") => Some(agent_sessions::read_lines),
            _ => markdown_folder::reader_of_memory(path),
        },
    },
    ImportableProgram {
        name: "chatgpt",
        alias: "",
        home: "",
        files: "conversations.json of an unpacked export",
        reader: |path| is_conversations(path).then_some(chat_exports::read_chatgpt),
    },
    ImportableProgram {
        name: "claude",
        alias: "claude.ai",
        home: "",
        files: "conversations.json of an unpacked export",
        reader: |path| is_conversations(path).then_some(chat_exports::read_claude),
    },
    ImportableProgram {
        name: "server-memory",
        alias: "memory",
        home: "",
        files: "memory.jsonl",
        reader: |path| {
            let is_it = path.ends_with(".jsonl") || file_name(path) == "memory.json";
            is_it.then_some(entity_graph::read_lines)
        },
    },
    ImportableProgram {
        name: "basic-memory",
        alias: "",
        home: "basic-memory",
        files: "*.md",
        reader: |path| path.ends_with(".md").then_some(markdown_folder::read_note),
    },
    ImportableProgram {
        name: "mem0",
        alias: "",
        home: "",
        files: "*.json or *.jsonl with what `get_all` returns",
        reader: |path| match path {
            _ if path.ends_with(".jsonl") => Some(mem0::read_mem0_lines),
            _ => path.ends_with(".json").then_some(mem0::read_mem0),
        },
    },
    ImportableProgram {
        name: "cogx",
        alias: "cognee",
        home: "",
        files: "the .jsonl files of an archive",
        reader: cognee_archive::reader_of,
    },
];

impl PartialEq for ImportableProgram {
    fn eq(&self, other: &ImportableProgram) -> bool {
        self.name == other.name
    }
}

impl Eq for ImportableProgram {}

impl ImportableProgram {
    /// Returns the program of that name.
    pub(crate) fn named(name: &str) -> Option<&'static ImportableProgram> {
        FOREIGN_SOURCES.iter().find(|it| it.name == name || !name.is_empty() && it.alias == name)
    }
}

impl NoteCollector {
    /// Adds a note; of two with one key, the second gets a number.
    pub(crate) fn add(&mut self, mut note: ForeignNote) {
        note.texts.retain(|it| !it.trim().is_empty());
        if note.texts.is_empty() && note.title.is_none() {
            return;
        }
        if !self.keys.insert(note.key.clone()) {
            let mut nth = self.numbers.get(&note.key).copied().unwrap_or(1);
            let numbered = loop {
                nth += 1;
                let numbered = format!("{} ({nth})", note.key);
                if self.keys.insert(numbered.clone()) {
                    break numbered;
                }
            };
            let key = mem::replace(&mut note.key, numbered);
            self.numbers.insert(key, nth);
        }
        self.notes.push(note);
    }

    /// Notes a piece that could not be read.
    pub(crate) fn refuse(&mut self, place: &str, why: impl std::fmt::Display) {
        match self.refused.len() < REFUSED_MAX {
            true => self.refused.push(format!("{place}: {why}")),
            false => self.n_unnamed += 1,
        }
    }

    /// Makes notes of the entities and relations.
    pub(crate) fn finish(&mut self) {
        for note in mem::take(&mut self.graph).notes() {
            self.add(note);
        }
    }
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Returns the name of a file without its ending.
fn stem(path: &str) -> &str {
    let name = file_name(path);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

/// Returns whether a folder of that name is above the file.
fn is_below(path: &str, folder: &str) -> bool {
    path.rsplit_once('/').is_some_and(|(above, _)| above.split('/').any(|it| it == folder))
}

/// Large exports are several files: `conversations-000.json`.
fn is_conversations(path: &str) -> bool {
    let name = file_name(path);
    name.starts_with("conversations") && name.ends_with(".json")
}

/// Returns a text as one paragraph that begins with the name of its speaker.
fn spoken(speaker: &str, text: &str) -> String {
    let text = text.trim();
    // A list, heading, quotation, table or fence stays one below the name.
    let is_block = text.starts_with(['#', '-', '*', '+', '>', '|', '`', '~', '<', '\t', '=', '$'])
        || text.starts_with(|at: char| at.is_ascii_digit());
    format!("**{speaker}:**{}{text}", if is_block { "\n\n" } else { " " })
}

/// Returns why a text is no JSON, on one line.
fn why(error: &serde_json::Error) -> String {
    format!("no JSON: {error}")
}
