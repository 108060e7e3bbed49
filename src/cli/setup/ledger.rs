//! What setup did and where, so that it can be undone exactly: one small file in the user's state
//! folder, which is there only as long as it says something.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::entry::Grant;
use super::file::{self, FileAccess, FileState};
use crate::cli::CommandError;
use crate::cli::args::{Client, Scope};

/// What the file says.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct SetupLedger {
    setups: Vec<SetupRecord>,
    /// Folders that were made and go with the last setup.
    #[serde(default)]
    folders: Vec<PathBuf>,
}

/// One client that was set up.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct SetupRecord {
    client: String,
    scope: String,
    /// The project; none for a user.
    #[serde(default)]
    project: Option<PathBuf>,
    pub(super) files: Vec<WrittenFile>,
    /// Folders that were made for it.
    #[serde(default)]
    pub(super) folders: Vec<PathBuf>,
}

/// One file that was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct WrittenFile {
    pub(super) path: PathBuf,
    /// What was there before; nothing when the file was made.
    pub(super) before: Option<PriorCopy>,
    /// The hash of what was written.
    pub(super) after: String,
    /// The entry of the same name that was there before.
    #[serde(default)]
    pub(super) entry: Option<String>,
    #[serde(default)]
    pub(super) is_container_new: bool,
    /// Permissions that were not there before.
    #[serde(default)]
    pub(super) grants: Vec<Grant>,
    /// Whether somebody edited the file between two setups, so that what was before is outdated.
    #[serde(default)]
    pub(super) is_edited: bool,
}

/// A copy of what was there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PriorCopy {
    pub(super) copy: PathBuf,
    pub(super) hash: String,
}

/// The ledger as it is on the disk.
pub(super) struct LedgerFile {
    file: FileState,
    pub(super) ledger: SetupLedger,
}

impl SetupRecord {
    pub(super) fn new(client: Client, scope: Scope, project: &Path) -> SetupRecord {
        SetupRecord {
            client: client.name().to_owned(),
            scope: scope.name().to_owned(),
            project: (scope == Scope::Project).then(|| project.to_owned()),
            files: Vec::new(),
            folders: Vec::new(),
        }
    }

    fn is_like(&self, other: &SetupRecord) -> bool {
        let key = |it: &SetupRecord| (it.client.clone(), it.scope.clone(), it.project.clone());
        key(self) == key(other)
    }

    pub(super) fn record(&self, path: &Path) -> Option<&WrittenFile> {
        self.files.iter().find(|it| it.path == path)
    }
}

impl SetupLedger {
    /// Folders to be removed once nobody is set up any more.
    pub(super) fn keep(&mut self, folders: impl IntoIterator<Item = PathBuf>) {
        self.folders.extend(folders.into_iter().filter(|it| it.exists()));
    }

    /// The setup of the same client in the same place.
    pub(super) fn like(&self, setup: &SetupRecord) -> Option<&SetupRecord> {
        self.setups.iter().find(|it| it.is_like(setup))
    }

    /// Puts a setup in the place of the one like it; none of a setup without files stays.
    pub(super) fn set(&mut self, setup: SetupRecord) {
        self.setups.retain(|it| !it.is_like(&setup));
        if !setup.files.is_empty() {
            self.setups.push(setup);
        }
    }
}

impl LedgerFile {
    /// Reads the ledger below the user's state folder.
    pub(super) fn open(state: &Path) -> Result<LedgerFile, CommandError> {
        let path = state.join("remindb/setup.json");
        let file = file::read(&path, None)?;
        let ledger = match &file.text {
            None => SetupLedger::default(),
            Some(text) => serde_json::from_str(text).map_err(|error| {
                let what = format!("{error}; move it away, and undo by hand what it lists");
                file::refused("understand", &path, &what)
            })?,
        };
        Ok(LedgerFile { file, ledger })
    }

    /// Writes what the ledger says now, and removes it when that is nothing.
    pub(super) fn save(&mut self) -> Result<(), CommandError> {
        let path = &self.file.path;
        let old = self.file.text.as_deref();
        if self.ledger.setups.is_empty() {
            if let Some(old) = old {
                file::remove(path, old)?;
            }
            remove_folders(&self.ledger.folders);
            self.file.text = None;
            return Ok(());
        }
        let made = file::make_folders(path.parent().unwrap_or(path))?;
        self.ledger.folders.extend(made);
        let text = serde_json::to_string_pretty(&self.ledger)? + "\n";
        // An entry that was there before may have had a secret in it.
        file::replace(path, old, &text, FileAccess::Owner)?;
        self.file.text = Some(text);
        Ok(())
    }
}

/// Removes folders that are empty, the innermost first.
pub(super) fn remove_folders(folders: &[PathBuf]) {
    let mut folders: Vec<&PathBuf> = folders.iter().collect();
    folders.sort_by_key(|it| std::cmp::Reverse(it.components().count()));
    for folder in folders {
        // What somebody put something into stays.
        let _ = fs::remove_dir(folder);
    }
}
