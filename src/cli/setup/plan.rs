//! What is to be written, decided before anything is: one step a file.
//!
//! A step that replaces words of somebody else has a copy made of them first. Undoing restores a
//! file byte for byte where nobody changed it since; where somebody did, only the server goes.

use std::path::{Path, PathBuf};

use super::edit::SettingsFormat;
use super::entry::{self, Entry, Grant, Refusal};
use super::file::{self, FileState};
use super::ledger::{PriorCopy, WrittenFile};
use crate::cli::CommandError;
use crate::text;

/// What happens to one file.
#[derive(Debug)]
pub(super) struct FileStep {
    pub(super) path: PathBuf,
    pub(super) old: Option<String>,
    /// Nothing, when the file goes.
    pub(super) new: Option<String>,
    /// Whether what is there has to be copied before it is replaced.
    pub(super) needs_copy: bool,
    /// The copy that is of no use any more.
    pub(super) spent: Option<PathBuf>,
    /// What the ledger says of the file then.
    pub(super) record: Option<WrittenFile>,
    /// Why nothing is done, where one would expect something.
    pub(super) why: Option<&'static str>,
}

impl FileStep {
    fn leave(found: FileState, record: Option<WrittenFile>, why: Option<&'static str>) -> FileStep {
        let FileState { path, text } = found;
        FileStep { path, new: text.clone(), old: text, needs_copy: false, spent: None, record, why }
    }

    /// Whether the file will be another one.
    pub(super) fn is_change(&self) -> bool {
        self.old != self.new
    }
}

/// What comes into a settings file.
pub(super) struct Wanted<'a> {
    /// The server, if it belongs there.
    pub(super) entry: Option<&'a Entry>,
    pub(super) grants: &'a [Grant],
}

/// What else a settings file had to say of the server, and what it says now.
#[derive(Default)]
struct PriorEntry {
    entry: Option<String>,
    is_container_new: bool,
    grants: Vec<Grant>,
}

/// The server and permissions come into a settings file.
pub(super) fn add(
    found: FileState,
    notation: SettingsFormat,
    wanted: &Wanted<'_>,
    record: Option<&WrittenFile>,
) -> Result<FileStep, CommandError> {
    let old = found.text.as_deref().unwrap_or_default();
    let edited = edit(old, notation, wanted, record).map_err(|refusal| {
        let snippet = wanted.entry.map_or_else(String::new, |it| notation.snippet(it));
        explained(&found.path, old, refusal, &format!("add this by hand:\n{snippet}"))
    });
    let (new, had) = edited?;
    written(found, new, record, had)
}

fn edit(
    old: &str,
    notation: SettingsFormat,
    wanted: &Wanted<'_>,
    record: Option<&WrittenFile>,
) -> Result<(String, PriorEntry), Refusal> {
    let known = record.map_or(&[][..], |it| &it.grants);
    let (kept, gone) = entry::parted(known, wanted.grants);
    let mut had = PriorEntry::default();
    let mut text = if gone.is_empty() { old.to_owned() } else { notation.revoke(old, &gone)? };
    if let Some(entry) = wanted.entry {
        let put = notation.put(&text, entry)?;
        text = put.text;
        had = PriorEntry { entry: put.entry, is_container_new: put.is_container_new, ..had };
    }
    if !wanted.grants.is_empty() {
        let (granted, given) = notation.grant(&text, wanted.grants)?;
        text = granted;
        had.grants = entry::joined(kept, given);
    }
    Ok((text, had))
}

/// A skill becomes a file.
pub(super) fn add_skill(
    found: FileState,
    skill: &str,
    record: Option<&WrittenFile>,
) -> Result<FileStep, CommandError> {
    written(found, skill.to_owned(), record, PriorEntry::default())
}

fn written(
    found: FileState,
    new: String,
    record: Option<&WrittenFile>,
    had: PriorEntry,
) -> Result<FileStep, CommandError> {
    if found.text.as_ref() == Some(&new) {
        return Ok(FileStep::leave(found, record.cloned(), None));
    }
    file::check_writable(&found.path)?;
    let now = found.text.as_deref().map(file::hash);
    let after = file::hash(&new);
    let (record, needs_copy) = match record {
        // What is there is what setup wrote, or what was there before: both are safe.
        Some(record)
            if now.as_ref() == Some(&record.after)
                || now.as_ref() == record.before.as_ref().map(|it| &it.hash) =>
        {
            (WrittenFile { after, grants: had.grants, ..record.clone() }, false)
        }
        Some(record) if had.entry.is_some() || !record.grants.is_empty() => {
            let grants = had.grants;
            (WrittenFile { after, is_edited: true, grants, ..record.clone() }, true)
        }
        _ => {
            let PriorEntry { entry, is_container_new, grants } = had;
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

/// The server and permissions go from a settings file.
pub(super) fn remove(
    found: FileState,
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
    file::check_writable(&found.path)?;
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
) -> Result<String, Refusal> {
    let text = notation.revoke(text, &record.grants)?;
    notation.take(&text, name, record.entry.as_deref(), record.is_container_new)
}

/// A skill goes, unless somebody made it his own.
pub(super) fn remove_skill(
    found: FileState,
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

/// The step back to what was there before, where nobody changed the file since.
fn restored(
    found: FileState,
    record: &WrittenFile,
) -> Result<Result<FileStep, FileState>, CommandError> {
    let is_as_written = found.text.as_deref().map(file::hash).as_ref() == Some(&record.after);
    if !is_as_written || record.is_edited {
        return Ok(Err(found));
    }
    let (new, spent) = match &record.before {
        None => (None, None),
        Some(PriorCopy { copy, hash }) => {
            let copied = file::read(copy, None)?;
            match copied.text {
                Some(text) if file::hash(&text) == *hash => (Some(text), Some(copied.path)),
                _ => return Ok(Err(found)),
            }
        }
    };
    file::check_writable(&found.path)?;
    let FileState { path, text: old } = found;
    Ok(Ok(FileStep { path, old, new, needs_copy: false, spent, record: None, why: None }))
}

fn explained(path: &Path, text: &str, refusal: Refusal, instead: &str) -> CommandError {
    match refusal {
        Refusal::Broken { at, what } => {
            let what =
                format!("line {}: {what}; nothing was changed", text::line_number_at(text, at));
            file::refused("understand", path, &what)
        }
        Refusal::Other(what) => file::refused("edit", path, &what),
        Refusal::Unsure => {
            let what = format!("it is written in a way that no edit here keeps; {instead}");
            file::refused("edit", path, what.trim_end())
        }
    }
}
