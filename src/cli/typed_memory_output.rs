//! Typed memories on the command line: opened with settings of a folder, shown in 80 columns.

use std::iter::repeat;
use std::path::Path;

use serde_json::{Map, Value};

use super::color::{PaintedText, TextRole};
use super::private_temporary_folder::PrivateTemporaryFolder;
use super::{
    CommandError, CommandStreamsAndClock, configured_providers, options, serve, user_settings,
    variable,
};
use crate::maintenance::transfer;
use crate::memory::Memory;
use crate::memory::dry_run::WriteOrDryRun;
use crate::memory::typed::TypedMemory;
use crate::query::render::to_label;
use crate::settings::root_settings::LiveRootSettings;
use crate::store::{IfMissing, check_path, is_missing};
use crate::surface::kinds_in_given;
use crate::text;

/// Before a line of facts.
const INDENT: &str = "  ";

/// Before a further line of a text, so that it cannot be taken for one of facts.
const TEXT_INDENT: &str = "    ";

/// Columns of a line behind the indent, at most.
const WIDTH: usize = 76;

/// Lines that the content of one memory takes, at most.
const LINES_MAX: usize = 4;

/// Opens a memory to write to. It follows the settings of `REMINDB_SOURCE`, else of the one folder
/// that was compiled into it, so that secrets are found as in a server of that folder.
pub(super) fn open_to_write(
    db: &Path,
    if_missing: IfMissing,
    context: &mut CommandStreamsAndClock<'_>,
) -> Result<Memory, CommandError> {
    let providers = configured_providers::providers(context)?;
    let settings = user_settings::memory_settings()?;
    let options = options(false, false)?;
    let named = variable("REMINDB_SOURCE").map(|it| serve::folder(Path::new(&it))).transpose()?;
    let named = named.map(|it| LiveRootSettings::start(&it, options.clone())).transpose()?;
    let memory = Memory::open_at(db, if_missing, context.clock.clone())?;
    // A root that lies on other machines only has no settings here.
    let mut roots = memory.roots()?;
    roots.retain(|it| Path::new(&it.path).is_absolute());
    let live = match (named, roots.as_slice()) {
        (Some(live), _) => live,
        (None, [root]) => LiveRootSettings::start(Path::new(&root.path), options)?,
        (None, _) => LiveRootSettings::without_folder(options)?,
    };
    let knowledge = user_settings::knowledge_settings(live.root())?;
    let memory = memory.with_workspace(live).with_memory_settings(settings);
    Ok(memory.with_knowledge_settings(knowledge).with_providers(providers))
}

/// Says which kinds of secrets were replaced in the arguments of a write.
pub(super) fn tell_replaced(
    memory: &Memory,
    arguments: &Map<String, Value>,
    context: &mut CommandStreamsAndClock<'_>,
) {
    let kinds = kinds_in_given(memory, arguments);
    if !kinds.is_empty() {
        let kinds = kinds.join(", ");
        // The work is done, even if this cannot be written.
        let _ = writeln!(context.err, "remindb: secrets were replaced by markers: {kinds}");
    }
}

/// A memory to import into.
pub(super) struct OpenedImportMemory {
    memory: Memory,
    /// Of a dry run that has no database to open; it is removed in the end.
    _folder: Option<PrivateTemporaryFolder>,
}

impl OpenedImportMemory {
    pub(super) fn memory(&self) -> &Memory {
        &self.memory
    }
}

/// Opens a memory to import into. A dry run makes no database; where there is none yet, or none
/// that can be written to, it runs on one among the temporary files.
pub(super) fn open_to_import(
    db: &Path,
    mode: WriteOrDryRun,
    context: &mut CommandStreamsAndClock<'_>,
) -> Result<OpenedImportMemory, CommandError> {
    let is_elsewhere = mode == WriteOrDryRun::DryRun && !(db.exists() && is_writable(db));
    if !is_elsewhere {
        let memory = open_to_write(db, IfMissing::Create, context)?;
        return Ok(OpenedImportMemory { memory, _folder: None });
    }
    let folder = PrivateTemporaryFolder::new("dry-run", context.clock.now())?;
    if !is_missing(db) {
        check_path(db, IfMissing::Refuse)?;
        transfer::copy_still(db, &folder.db())?;
    }
    let memory = open_to_write(&folder.db(), IfMissing::Create, context)?;
    Ok(OpenedImportMemory { memory, _folder: Some(folder) })
}

/// Returns whether a database can be written to, which needs files beside it.
#[cfg(target_os = "linux")]
fn is_writable(db: &Path) -> bool {
    use rustix::fs::{Access, access};
    let folder = db.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
    [db, folder].into_iter().all(|it| {
        let is_read_only = it.metadata().is_ok_and(|it| it.permissions().readonly());
        !is_read_only && access(it, Access::WRITE_OK).is_ok()
    })
}

#[cfg(not(target_os = "linux"))]
fn is_writable(_: &Path) -> bool {
    true
}

/// Says in one line what an import wrote, or would write.
pub(super) fn tell_import(
    of: &str,
    counts: &str,
    (mode, snapshot): (WriteOrDryRun, Option<i64>),
    db: &Path,
    context: &mut CommandStreamsAndClock<'_>,
) -> Result<(), CommandError> {
    let db = db.display();
    match mode {
        WriteOrDryRun::DryRun => context
            .say(format_args!("would import{of}: {counts}, to {db}; nothing was written\n"))?,
        WriteOrDryRun::Write => {
            let snapshot = snapshot.map_or("no snapshot".to_owned(), |it| format!("snapshot {it}"));
            context.say(format_args!("imported{of}: {counts}, {snapshot}, to {db}\n"))?;
        }
    }
    Ok(())
}

/// Renders a memory: its type and text, then its id and the facts about it.
pub(super) fn render_memory(memory: &TypedMemory) -> PaintedText {
    let TypedMemory { id, memory_type, category, importance, .. } = memory;
    let head = format!("[{memory_type}]");
    let mut out = PaintedText::default();
    let lines = wrapped(&format!("{head} {}", to_label(&memory.content)));
    for (nth, line) in lines.iter().enumerate() {
        match line.strip_prefix(&head).filter(|_| nth == 0) {
            Some(rest) => {
                out.paint(TextRole::Type, &head);
                out.push(&format!("{rest}\n"));
            }
            None => out.push(&format!("{TEXT_INDENT}{line}\n")),
        }
    }
    let value = |it: &str| to_label(it).replace('·', "-");
    let mut facts = format!("{} {} · {} · ", value(id), value(category), value(importance));
    facts += memory.updated_at.to_second().split('T').next().unwrap_or_default();
    if memory.archived {
        facts += " · archived";
    }
    let mut facts = vec![(INDENT, cut(&facts))];
    let tags: Vec<String> = memory.tags.iter().map(|it| format!("#{}", to_label(it))).collect();
    let tags = wrapped(&tags.join(" ")).into_iter().filter(|it| !it.is_empty());
    facts.extend([INDENT].into_iter().chain(repeat(TEXT_INDENT)).zip(tags));
    for (indent, line) in facts {
        out.push(indent);
        out.paint(TextRole::Dim, &line);
        out.push("\n");
    }
    out
}

/// Breaks a text at white space into lines; what does not fit is left out.
fn wrapped(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace().flat_map(parts) {
        let is_full = !line.is_empty() && WIDTH < columns(&line) + 1 + columns(word);
        if is_full && lines.len() + 1 == LINES_MAX {
            line += " …";
            break;
        }
        if is_full {
            lines.push(cut(&line));
            line.clear();
        } else if !line.is_empty() {
            line.push(' ');
        }
        line += word;
    }
    lines.push(cut(&line));
    lines
}

/// Breaks a word that is wider than a line, such as a sentence of a script without spaces.
fn parts(word: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut start, mut n_columns) = (0, 0);
    for (at, char) in word.char_indices() {
        if WIDTH < n_columns + char_columns(char) {
            parts.push(&word[start..at]);
            (start, n_columns) = (at, 0);
        }
        n_columns += char_columns(char);
    }
    parts.push(&word[start..]);
    parts
}

/// Cuts a line, the last character being `…` where it was longer.
fn cut(line: &str) -> String {
    let mut n_chars = line.chars().count();
    let mut out = line.to_owned();
    while WIDTH < columns(&out) && 0 < n_chars {
        n_chars -= 1;
        out = text::truncate_chars(line, n_chars);
    }
    out
}

/// Returns the columns that a text takes on a terminal.
fn columns(text: &str) -> usize {
    text.chars().map(char_columns).sum()
}

fn char_columns(it: char) -> usize {
    match it {
        '\u{300}'..='\u{36f}' | '\u{200b}'..='\u{200f}' | '\u{fe00}'..='\u{fe0f}' => 0,
        '\u{1100}'..='\u{115f}'
        | '\u{2e80}'..='\u{a4cf}'
        | '\u{ac00}'..='\u{d7a3}'
        | '\u{f900}'..='\u{faff}'
        | '\u{fe30}'..='\u{fe6f}'
        | '\u{ff00}'..='\u{ff60}'
        | '\u{ffe0}'..='\u{ffe6}'
        | '\u{1f300}'..='\u{1faff}'
        | '\u{20000}'..='\u{3fffd}' => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests;
