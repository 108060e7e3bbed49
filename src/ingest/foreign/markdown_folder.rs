//! Folders of Markdown: the notes of basic-memory, and what clients remember beside their sessions.
//!
//! Front matter gives the title and goes. An observation `- [kind] text` becomes `- kind: text`; a
//! relation `- name [[Target]]` is a link as it stands.

use std::io::{BufRead, Read};

use super::{
    ForeignFileOrigin, ForeignNote, ForeignReader, NoteCollector, file_name, is_below, stem,
};

/// Bytes of a note; the rest of a longer one is refused.
const NOTE_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Names of the files in which clients keep what they are told to remember.
const MEMORY_FILES: [&str; 5] = ["CLAUDE.md", "AGENTS.md", "GEMINI.md", "QWEN.md", "MEMORY.md"];

/// Returns the reader of a client's own memory.
pub(super) fn reader_of_memory(path: &str) -> Option<ForeignReader> {
    let is_memory = MEMORY_FILES.contains(&file_name(path))
        || path.ends_with(".md") && (is_below(path, "memory") || is_below(path, "memories"));
    // Files that a client brings along are no memory.
    let is_its_own = ["skills", "plugins", "extensions", "node_modules"];
    (is_memory && !is_its_own.iter().any(|it| is_below(path, it))).then_some(read_note)
}

/// Reads one note.
pub(super) fn read_note(
    file: &ForeignFileOrigin<'_>,
    input: &mut dyn BufRead,
    notes: &mut NoteCollector,
) {
    let mut bytes = Vec::new();
    if let Err(error) = input.take(NOTE_BYTES_MAX + 1).read_to_end(&mut bytes) {
        return notes.refuse(file.shown, error);
    }
    if NOTE_BYTES_MAX < bytes.len() as u64 {
        return notes.refuse(file.shown, format_args!("it has more than {NOTE_BYTES_MAX} bytes"));
    }
    let Ok(text) = String::from_utf8(bytes) else {
        return notes.refuse(file.shown, "it is no text in UTF-8");
    };
    let (front, body) = split(text.trim_start_matches('\u{feff}'));
    let field = |name: &str| {
        let line = front.lines().find_map(|it| it.strip_prefix(name)?.strip_prefix(':'));
        line.map(|it| it.trim().trim_matches(['"', '\'']).to_owned()).filter(|it| !it.is_empty())
    };
    let title = field("title").unwrap_or_else(|| stem(file.path).to_owned());
    // The note's heading says its title.
    let heading = format!("# {title}");
    let body = body.trim_start();
    let body = match body.split_once('\n') {
        Some((first, rest)) if first.trim_end() == heading => rest,
        None if body.trim_end() == heading => "",
        _ => body,
    };
    if body.trim().is_empty() {
        return;
    }
    let facts = ["type", "tags"].map(|it| {
        let value = field(it).or_else(|| list(front, it));
        value.map(|value| format!("{it}: {value}"))
    });
    let facts: Vec<String> = facts.into_iter().flatten().collect();
    let key = field("permalink").unwrap_or_else(|| file.path.to_owned());
    let texts = vec![facts.join("\n"), observed(body)];
    notes.add(ForeignNote { key, title: Some(title), texts, ..ForeignNote::default() });
}

/// Returns the front matter and the text below it.
fn split(text: &str) -> (&str, &str) {
    let Some(rest) = text.strip_prefix("---\n").or_else(|| text.strip_prefix("---\r\n")) else {
        return ("", text);
    };
    let mut from = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == "---" {
            return (&rest[..from], &rest[from + line.len()..]);
        }
        from += line.len();
    }
    ("", text)
}

/// Returns the items of a list below its name.
fn list(front: &str, name: &str) -> Option<String> {
    let mut lines = front.lines().skip_while(|it| it.strip_suffix(':') != Some(name)).skip(1);
    let items: Vec<&str> =
        lines.by_ref().map_while(|it| it.trim_start().strip_prefix("- ")).collect();
    (!items.is_empty()).then(|| items.join(", "))
}

/// Returns the text with its observations as plain items.
fn observed(body: &str) -> String {
    let mut out = String::with_capacity(body.len());
    for line in body.split_inclusive('\n') {
        let kind = line.trim_start().strip_prefix("- [").and_then(|it| it.split_once("] "));
        match kind {
            Some((kind, rest)) if 1 < kind.len() && !kind.contains(['[', '(']) => {
                let indent = &line[..line.len() - line.trim_start().len()];
                out += &format!("{indent}- {kind}: {rest}");
            }
            _ => out += line,
        }
    }
    out
}
