//! The setup manifest: records the changes of setup, to undo them exactly.
//!
//! It is a small file in the user's state folder, which exists only while it has records.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::client_hooks;
use super::file_edits::{self, CurrentFile, NewFileMode};
use super::server_connection::server_name;
use super::settings_edit_types::Grant;
use crate::cli::CommandError;
use crate::cli::args::{Client, ProjectOrUser};

/// The content of the manifest.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct SetupManifest {
    setups: Vec<SetupRecord>,
    /// Folders that were created and are removed with the last setup.
    #[serde(default)]
    folders: Vec<PathBuf>,
}

/// The setup of one client.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct SetupRecord {
    client: String,
    scope: String,
    /// The project; none for a user.
    #[serde(default)]
    project: Option<PathBuf>,
    /// The server's name in the settings.
    #[serde(default = "former_name")]
    pub(super) name: String,
    pub(super) files: Vec<WrittenFile>,
    /// Folders that were created for it.
    #[serde(default)]
    pub(super) folders: Vec<PathBuf>,
}

/// A file that setup wrote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct WrittenFile {
    pub(super) path: PathBuf,
    /// The former content; `None` when setup created the file.
    pub(super) before: Option<PriorCopy>,
    /// The hash of the written content.
    pub(super) after: String,
    /// The former entry of the same name.
    #[serde(default)]
    pub(super) entry: Option<String>,
    #[serde(default)]
    pub(super) is_container_new: bool,
    /// Permissions that setup added.
    #[serde(default)]
    pub(super) grants: Vec<Grant>,
    /// Whether the file was edited between two setups, so that the former content is outdated.
    #[serde(default)]
    pub(super) is_edited: bool,
}

/// A copy of a file's former content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PriorCopy {
    pub(super) copy: PathBuf,
    pub(super) hash: String,
}

/// The manifest and its file.
pub(super) struct LoadedManifest {
    file: CurrentFile,
    pub(super) manifest: SetupManifest,
}

impl SetupRecord {
    pub(super) fn new(client: Client, scope: ProjectOrUser, project: &Path) -> SetupRecord {
        SetupRecord {
            client: client.name().to_owned(),
            scope: scope.name().to_owned(),
            project: (scope == ProjectOrUser::Project).then(|| project.to_owned()),
            name: server_name(scope).to_owned(),
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

impl WrittenFile {
    /// Returns whether setup writes the file as a whole, rather than edits it.
    pub(super) fn is_whole(&self) -> bool {
        self.path.ends_with("SKILL.md") || client_hooks::is_own_file(&self.path)
    }
}

impl SetupManifest {
    /// Adds folders to be removed with the last setup.
    pub(super) fn keep(&mut self, folders: impl IntoIterator<Item = PathBuf>) {
        self.folders.extend(folders.into_iter().filter(|it| it.exists()));
    }

    /// Returns the setup of the same client in the same place.
    pub(super) fn like(&self, setup: &SetupRecord) -> Option<&SetupRecord> {
        self.setups.iter().find(|it| it.is_like(setup))
    }

    /// Returns the file at `path` as another setup recorded it, and the client of that.
    pub(super) fn shared(&self, setup: &SetupRecord, path: &Path) -> Option<(&str, &WrittenFile)> {
        let others = self.setups.iter().filter(|it| !it.is_like(setup));
        others.filter_map(|it| Some((it.client.as_str(), it.record(path)?))).next()
    }

    /// Updates what every setup records of files that they share.
    pub(super) fn share(&mut self, files: &[WrittenFile]) {
        for record in self.setups.iter_mut().flat_map(|it| &mut it.files) {
            if let Some(file) = files.iter().find(|it| it.is_whole() && it.path == record.path) {
                *record = file.clone();
            }
        }
    }

    /// Replaces the setup of the same client in the same place; one without files is dropped.
    pub(super) fn set(&mut self, setup: SetupRecord) {
        self.setups.retain(|it| !it.is_like(&setup));
        if !setup.files.is_empty() {
            self.setups.push(setup);
        }
    }
}

impl LoadedManifest {
    /// Reads the manifest below the user's state folder.
    pub(super) fn open(state: &Path) -> Result<LoadedManifest, CommandError> {
        let path = state.join("remindb/setup.json");
        let file = file_edits::read(&path, None)?;
        let manifest = match &file.text {
            None => SetupManifest::default(),
            Some(text) => serde_json::from_str(text).map_err(|error| {
                let what = format!("{error}; move it away, and undo by hand what it lists");
                file_edits::refused("understand", &path, &what)
            })?,
        };
        Ok(LoadedManifest { file, manifest })
    }

    /// Writes the manifest, or removes it when it has no records.
    pub(super) fn save(&mut self) -> Result<(), CommandError> {
        let path = &self.file.path;
        let old = self.file.text.as_deref();
        if self.manifest.setups.is_empty() {
            if let Some(old) = old {
                file_edits::remove(path, old)?;
            }
            remove_folders(&self.manifest.folders);
            self.file.text = None;
            return Ok(());
        }
        let made = file_edits::make_folders(path.parent().unwrap_or(path))?;
        self.manifest.folders.extend(made);
        let text = serde_json::to_string_pretty(&self.manifest)? + "\n";
        // A former entry may contain a secret.
        file_edits::replace(path, old, &text, NewFileMode::Owner)?;
        self.file.text = Some(text);
        Ok(())
    }
}

/// Returns the server's name in records that have none.
fn former_name() -> String {
    server_name(ProjectOrUser::Project).to_owned()
}

/// Removes empty folders, innermost first.
pub(super) fn remove_folders(folders: &[PathBuf]) {
    let mut folders: Vec<&PathBuf> = folders.iter().collect();
    folders.sort_by_key(|it| std::cmp::Reverse(it.components().count()));
    for folder in folders {
        // A folder with other content stays.
        let _ = fs::remove_dir(folder);
    }
}
