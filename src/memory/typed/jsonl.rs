//! Memories as lines of JSON, in the files of the agent memory format.
//!
//! A folder has three files, one for each type, and below `archive/<year>/` the same names for
//! archived memories of that year. `index.json` names the file of each memory; it follows from the
//! rest, and nobody needs to read it.

use std::io::{self, BufRead, Read};
use std::str;

use serde_json::{Map, Value};

use super::MemoryError;
use super::request::{FieldChanges, RequestArguments, check_is_task, missing, mistyped};
use super::typed_memory::{DEFAULT_STATUS, NO_CATEGORY};
use crate::model::clock::UnixMillis;
use crate::model::tree::NodeType;

/// The folder of archived memories, with a folder for each year in it.
pub(crate) const ARCHIVE: &str = "archive";

/// The file that names the file of each memory.
pub(crate) const INDEX: &str = "index.json";

/// The file of each type, in the order in which files are read and written.
pub(crate) const FILES: [(&str, NodeType); 3] = [
    ("core_memories.jsonl", NodeType::Core),
    ("learnings.jsonl", NodeType::Learning),
    ("tasks.jsonl", NodeType::Task),
];

/// Bytes of a line, at most; a memory has less, every character of it escaped.
const LINE_BYTES_MAX: usize = 1024 * 1024;

/// Accesses of a memory, at most: the largest number that every reader of JSON knows exactly.
const ACCESSES_MAX: u64 = (1 << 53) - 1;

/// The members of a line, in their order.
const MEMBERS: &[&str] = &[
    "id",
    "type",
    "content",
    "category",
    "created_at",
    "updated_at",
    "accessed_at",
    "access_count",
    "tags",
    "importance",
    "archived",
    "task_metadata",
];

/// Tells what a file says about the lines that leave it out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LineDefaults {
    pub(crate) memory_type: NodeType,
    pub(crate) archived: bool,
}

/// Holds a memory as a line has it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MemoryLine {
    /// UUID.
    pub(crate) id: String,
    pub(crate) memory_type: NodeType,
    pub(crate) content: String,
    /// Every field that it has; `archived` always.
    pub(super) changes: FieldChanges,
    pub(super) created_at: Option<UnixMillis>,
    pub(super) updated_at: Option<UnixMillis>,
    pub(super) accessed_at: Option<UnixMillis>,
    pub(super) access_count: u64,
}

/// A line of a file: its number, counted from 1, and the memory on it or the reason why it is none.
#[derive(Clone, Debug)]
pub(crate) struct NumberedLine<'a> {
    /// The name of the file in messages.
    pub(super) file: &'a str,
    pub(super) number: u64,
    pub(super) memory: Result<MemoryLine, String>,
}

/// Reads the lines of a file that are not blank. A longer one than any memory is not held.
pub(crate) fn read_lines<'a>(
    input: &mut dyn BufRead,
    name: &'a str,
    file: LineDefaults,
    lines: &mut Vec<NumberedLine<'a>>,
) -> io::Result<()> {
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let mut bounded = (&mut *input).take(LINE_BYTES_MAX as u64 + 1);
        if bounded.read_until(b'\n', &mut line)? == 0 {
            break;
        }
        let is_whole = line.ends_with(b"\n") || line.len() <= LINE_BYTES_MAX;
        if is_whole && without_mark(&line).trim_ascii().is_empty() {
            continue;
        }
        let memory = if is_whole {
            MemoryLine::parse(&line, file)
        } else {
            input.skip_until(b'\n')?;
            Err(format!("is longer than {LINE_BYTES_MAX} bytes, and no memory is"))
        };
        lines.push(NumberedLine { file: name, number, memory });
    }
    Ok(())
}

/// Returns a line without a byte order mark before it.
fn without_mark(line: &[u8]) -> &[u8] {
    line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line)
}

impl MemoryLine {
    /// Reads a line.
    ///
    /// # Errors
    ///
    /// The text says why the line is no memory; no value of the line is in it.
    fn parse(line: &[u8], file: LineDefaults) -> Result<MemoryLine, String> {
        let text = str::from_utf8(without_mark(line)).map_err(|error| {
            format!("is not UTF-8, from byte {} of the line on", error.valid_up_to() + 1)
        })?;
        match serde_json::from_str(text) {
            Ok(Value::Object(object)) => {
                MemoryLine::of(&object, file).map_err(|error| error.message)
            }
            Ok(_) => Err("is no JSON object".to_owned()),
            Err(error) => {
                let what = error.to_string();
                let what = what.split(" at line ").next().unwrap_or_default();
                Err(format!("is no JSON: {what}, at column {}", error.column()))
            }
        }
    }

    fn of(object: &Map<String, Value>, file: LineDefaults) -> Result<MemoryLine, MemoryError> {
        if let Some(name) = object.keys().find(|it| !MEMBERS.contains(&it.as_str())) {
            let known = MEMBERS.join(", ");
            let what = format!("`{name}` is no field of a memory; known are {known}");
            return Err(MemoryError::invalid(what));
        }
        let args = RequestArguments::new(object, MEMBERS)?;
        let id = args.id()?.ok_or_else(|| missing("id"))?;
        let memory_type = args.memory_type()?.unwrap_or(file.memory_type);
        let content = args.content()?.ok_or_else(|| missing("content"))?;
        let mut changes = args.changes()?;
        if changes.task_metadata.is_some() {
            check_is_task(memory_type)?;
        }
        changes.archived.get_or_insert(file.archived);
        let status = changes.task_metadata.as_ref().and_then(|it| it.get("status"));
        let no_category = match memory_type {
            NodeType::Task => status.and_then(Value::as_str).unwrap_or(DEFAULT_STATUS),
            _ => NO_CATEGORY,
        };
        // Shown where none was given; kept, it would no longer follow the status.
        if changes.category.as_deref() == Some(no_category) {
            changes.category = None;
        }
        let time = |name: &str| match args.text(name)? {
            None => Ok(None),
            Some(text) => match UnixMillis::parse_rfc3339(text) {
                Some(at) => Ok(Some(at)),
                None => Err(mistyped(name, "a time like 2026-01-01T10:00:00Z")),
            },
        };
        Ok(MemoryLine {
            id,
            memory_type,
            content,
            changes,
            created_at: time("created_at")?,
            updated_at: time("updated_at")?,
            accessed_at: time("accessed_at")?,
            access_count: args.number("access_count", 0, ACCESSES_MAX)?.unwrap_or(0),
        })
    }
}

/// Returns the path of the file that has memories of a type, relative to the folder.
pub(super) fn file_of(memory_type: NodeType, archived_in: Option<&str>) -> String {
    let name = FILES.iter().find(|(_, it)| *it == memory_type).map_or("", |(name, _)| name);
    match archived_in {
        None => name.to_owned(),
        Some(year) => format!("{ARCHIVE}/{year}/{name}"),
    }
}
