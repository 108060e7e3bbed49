//! Plans of file changes: one step per file, decided before anything is written.
//!
//! A step that replaces a user's text copies it first. Undoing restores an unchanged file byte for
//! byte; from an edited one, only the server is removed.

use std::path::{Path, PathBuf};

use super::edit::SettingsFormat;
use super::file_edits::{self, CurrentFile};
use super::manifest::{PriorCopy, WrittenFile};
use super::settings_edit_types::{self, EditRefusal, EditedSettings, Grant, ServerEntry};
use crate::cli::CommandError;
use crate::text;

/// The change of one file.
#[derive(Debug)]
pub(super) struct FileStep {
    pub(super) path: PathBuf,
    pub(super) old: Option<String>,
    /// The new text; `None` removes the file.
    pub(super) new: Option<String>,
    /// Whether the file has to be copied before it is replaced.
    pub(super) needs_copy: bool,
    /// A copy that is no longer needed.
    pub(super) spent: Option<PathBuf>,
    /// The record of the file for the manifest.
    pub(super) record: Option<WrittenFile>,
    /// The reason why nothing changes, where a change is expected.
    pub(super) why: Option<&'static str>,
}

impl FileStep {
    pub(super) fn leave(
        found: CurrentFile,
        record: Option<WrittenFile>,
        why: Option<&'static str>,
    ) -> FileStep {
        let CurrentFile { path, text } = found;
        FileStep { path, new: text.clone(), old: text, needs_copy: false, spent: None, record, why }
    }

    /// Returns whether the file changes.
    pub(super) fn is_change(&self) -> bool {
        self.old != self.new
    }
}

/// The content to add to a settings file.
pub(super) struct EntryAndGrantsToAdd<'a> {
    /// The server, if it belongs there.
    pub(super) entry: Option<&'a ServerEntry>,
    pub(super) grants: &'a [Grant],
}

/// The record of an earlier setup of a settings file.
#[derive(Clone, Copy)]
pub(super) struct EarlierSetupOfFile<'a> {
    pub(super) record: &'a WrittenFile,
    /// The server's name in it.
    pub(super) name: &'a str,
}

/// The outcome of editing a settings file: the former entry of the server, and new grants.
#[derive(Default)]
struct SettingsEditUndo {
    entry: Option<String>,
    is_container_new: bool,
    /// Whether the known entry was taken out first, so that its record is outdated.
    is_anew: bool,
    grants: Vec<Grant>,
}

impl SettingsEditUndo {
    /// Returns the record of a file that is written once more.
    fn update(self, record: &WrittenFile, after: String) -> WrittenFile {
        let record = WrittenFile { after, grants: self.grants, ..record.clone() };
        match self.is_anew {
            true => {
                WrittenFile { entry: self.entry, is_container_new: self.is_container_new, ..record }
            }
            false => record,
        }
    }
}

/// Plans adding the server and permissions to a settings file.
pub(super) fn add(
    found: CurrentFile,
    notation: SettingsFormat,
    wanted: &EntryAndGrantsToAdd<'_>,
    known: Option<EarlierSetupOfFile<'_>>,
) -> Result<FileStep, CommandError> {
    let old = found.text.as_deref().unwrap_or_default();
    let edited = edit(old, notation, wanted, known).map_err(|refusal| {
        let snippet = wanted.entry.map_or_else(String::new, |it| notation.snippet(it));
        explained(&found.path, old, refusal, &format!("add this by hand:\n{snippet}"))
    });
    let (new, had) = edited?;
    written(found, new, known.map(|it| it.record), had)
}

fn edit(
    old: &str,
    notation: SettingsFormat,
    wanted: &EntryAndGrantsToAdd<'_>,
    known: Option<EarlierSetupOfFile<'_>>,
) -> Result<(String, SettingsEditUndo), EditRefusal> {
    let given = known.map_or(&[][..], |it| &it.record.grants);
    let (kept, gone) = settings_edit_types::parted(given, wanted.grants);
    let mut had = SettingsEditUndo::default();
    let mut text = if gone.is_empty() { old.to_owned() } else { notation.revoke(old, &gone)? };
    if let Some(entry) = wanted.entry {
        let (put, is_anew) = put(&text, notation, entry, known)?;
        text = put.text;
        let EditedSettings { entry, is_container_new, .. } = put;
        had = SettingsEditUndo { entry, is_container_new, is_anew, ..had };
    }
    if !wanted.grants.is_empty() {
        let (granted, given) = notation.grant(&text, wanted.grants)?;
        text = granted;
        had.grants = settings_edit_types::joined(kept, given);
    }
    Ok((text, had))
}

/// Puts the server into `text`. A known entry of another name or kind is taken out first.
fn put(
    text: &str,
    notation: SettingsFormat,
    entry: &ServerEntry,
    known: Option<EarlierSetupOfFile<'_>>,
) -> Result<(EditedSettings, bool), EditRefusal> {
    let anew = |known: EarlierSetupOfFile<'_>| {
        let EarlierSetupOfFile { record, name } = known;
        let text = notation.take(text, name, record.entry.as_deref(), record.is_container_new)?;
        Ok((notation.put(&text, entry)?, true))
    };
    match (known, notation.put(text, entry)) {
        (Some(known), _) if known.name != entry.name => anew(known),
        (Some(known), Err(EditRefusal::ForeignEntry(_))) => anew(known),
        (_, put) => Ok((put?, false)),
    }
}

/// Plans writing a skill.
pub(super) fn add_skill(
    found: CurrentFile,
    skill: &str,
    record: Option<&WrittenFile>,
) -> Result<FileStep, CommandError> {
    written(found, skill.to_owned(), record, SettingsEditUndo::default())
}

fn written(
    found: CurrentFile,
    new: String,
    record: Option<&WrittenFile>,
    had: SettingsEditUndo,
) -> Result<FileStep, CommandError> {
    if found.text.as_ref() == Some(&new) {
        return Ok(FileStep::leave(found, record.cloned(), None));
    }
    file_edits::check_writable(&found.path)?;
    let now = found.text.as_deref().map(file_edits::hash);
    let after = file_edits::hash(&new);
    let (record, needs_copy) = match record {
        // The present text is by setup or is the former one: both are safe.
        Some(record)
            if now.as_ref() == Some(&record.after)
                || now.as_ref() == record.before.as_ref().map(|it| &it.hash) =>
        {
            (had.update(record, after), false)
        }
        Some(record) if had.is_anew || had.entry.is_some() || !record.grants.is_empty() => {
            (WrittenFile { is_edited: true, ..had.update(record, after) }, true)
        }
        _ => {
            let SettingsEditUndo { entry, is_container_new, grants, .. } = had;
            let path = found.path.clone();
            let is_edited = false;
            let fresh = WrittenFile {
                path,
                before: None,
                after,
                entry,
                is_container_new,
                is_edited,
                grants,
            };
            (fresh, found.text.is_some())
        }
    };
    Ok(FileStep {
        path: found.path,
        old: found.text,
        new: Some(new),
        needs_copy,
        spent: None,
        record: Some(record),
        why: None,
    })
}

/// Plans removing the server and permissions from a settings file.
pub(super) fn remove(
    found: CurrentFile,
    notation: SettingsFormat,
    name: &str,
    record: &WrittenFile,
) -> Result<FileStep, CommandError> {
    let found = match restored(found, record)? {
        Ok(step) => return Ok(step),
        Err(found) => found,
    };
    let Some(text) = &found.text else {
        return Ok(FileStep::leave(found, None, Some("it is gone")));
    };
    let new = unedit(text, notation, name, record).map_err(|refusal| {
        explained(&found.path, text, refusal, &format!("remove `{name}` by hand"))
    })?;
    if new == *text {
        return Ok(FileStep::leave(found, None, Some("the server is not in it any more")));
    }
    file_edits::check_writable(&found.path)?;
    let is_ours = record.before.is_none() && notation.is_blank(&new);
    Ok(FileStep {
        path: found.path,
        old: found.text,
        new: (!is_ours).then_some(new),
        needs_copy: !is_ours,
        spent: None,
        record: None,
        why: None,
    })
}

fn unedit(
    text: &str,
    notation: SettingsFormat,
    name: &str,
    record: &WrittenFile,
) -> Result<String, EditRefusal> {
    let text = notation.revoke(text, &record.grants)?;
    notation.take(&text, name, record.entry.as_deref(), record.is_container_new)
}

/// Plans removing a skill, unless it was edited.
pub(super) fn remove_skill(
    found: CurrentFile,
    record: &WrittenFile,
) -> Result<FileStep, CommandError> {
    Ok(match restored(found, record)? {
        Ok(step) => step,
        Err(found) => {
            let why = match found.text {
                None => "it is gone",
                Some(_) => "somebody changed it since; remove it by hand",
            };
            FileStep::leave(found, None, Some(why))
        }
    })
}

/// Plans restoring the former content, if the file is unchanged since.
fn restored(
    found: CurrentFile,
    record: &WrittenFile,
) -> Result<Result<FileStep, CurrentFile>, CommandError> {
    let is_as_written = found.text.as_deref().map(file_edits::hash).as_ref() == Some(&record.after);
    if !is_as_written || record.is_edited {
        return Ok(Err(found));
    }
    let (new, spent) = match &record.before {
        None => (None, None),
        Some(PriorCopy { copy, hash }) => {
            let copied = file_edits::read(copy, None)?;
            match copied.text {
                Some(text) if file_edits::hash(&text) == *hash => (Some(text), Some(copied.path)),
                _ => return Ok(Err(found)),
            }
        }
    };
    file_edits::check_writable(&found.path)?;
    let CurrentFile { path, text: old } = found;
    Ok(Ok(FileStep { path, old, new, needs_copy: false, spent, record: None, why: None }))
}

fn explained(path: &Path, text: &str, refusal: EditRefusal, instead: &str) -> CommandError {
    match refusal {
        EditRefusal::Broken { at, what } => {
            let what =
                format!("line {}: {what}; nothing was changed", text::line_number_at(text, at));
            file_edits::refused("understand", path, &what)
        }
        EditRefusal::ForeignEntry(what) => file_edits::refused("edit", path, &what),
        EditRefusal::Unsure => {
            let what = format!("it is written in a way that no edit here keeps; {instead}");
            file_edits::refused("edit", path, what.trim_end())
        }
    }
}
