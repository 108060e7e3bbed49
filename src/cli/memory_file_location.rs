//! The location of the memory's file: one rule, which every command follows.
//!
//! A command uses the first of these:
//!
//! 1. the file that `--db` names, else that of `REMINDB_DB`, else `memory.db` in the folder that
//!    `MEMORY_DIR` names;
//! 2. `.remindb/memory.db` in the working folder;
//! 3. `memory.db` in the working folder, the place of earlier versions;
//! 4. the nearest `.remindb/memory.db` in a folder above;
//! 5. the only `.remindb/memory.db` in a folder of the working folder;
//! 6. the user's own `remindb/memory.db` in the data folder, which in a home comes before the one
//!    below it.
//!
//! Only the named file may be missing; [`MemoryLookupFolders::new_in_project`] and
//! [`MemoryLookupFolders::of_user`] are the places of new memories. A folder of another user is
//! passed over, and a link that leads out of its folder is refused, since both may be a stranger's.

#[cfg(test)]
mod tests;

use std::fs;
use std::path::{Path, PathBuf};

use super::args::ProjectOrUser;
use super::{CommandError, CommandStreamsAndClock, path_variable, user_folder, variable};
use crate::ingest::scan::OWN_FOLDER;
use crate::server::remindb_folder::{make_own_folder, make_private_folder};
use crate::store::is_missing;
use crate::store::unsafe_wal_open_refusal::is_there;

/// The file's name, wherever the memory is.
const MEMORY_FILE: &str = "memory.db";

/// The value of `--also` for the user's own memory.
pub(super) const OF_USER: &str = "user";

/// Entries of the working folder in which a memory is looked for.
const ENTRIES_MAX: usize = 4096;

/// The file of a memory, which may not exist yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MemoryFileLocation {
    /// Relative to the working folder where it is below that.
    pub(super) path: PathBuf,
    pub(super) origin: PlaceOrigin,
}

/// The rule that led to a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PlaceOrigin {
    Named,
    /// In the folder that `MEMORY_DIR` names.
    NamedFolder,
    /// `.remindb/memory.db` in the working folder or above.
    Project,
    /// `memory.db` in the working folder.
    Former,
    /// `.remindb/memory.db` in a folder of the working folder.
    Below,
    User,
}

/// The folders in which a memory is looked up, by the environment.
#[derive(Clone, Debug)]
pub(super) struct MemoryLookupFolders {
    /// The working folder.
    folder: PathBuf,
    home: Option<PathBuf>,
    /// The user's data folder.
    data: Option<PathBuf>,
}

impl MemoryLookupFolders {
    pub(super) fn of_process() -> Result<MemoryLookupFolders, CommandError> {
        let folder = std::env::current_dir().map_err(|error| {
            CommandError::Because(format!("cannot find the working folder: {error}"))
        })?;
        Ok(MemoryLookupFolders::around(folder))
    }

    /// Returns the surroundings of a folder that is worked in.
    pub(super) fn around(folder: PathBuf) -> MemoryLookupFolders {
        let data = user_folder("XDG_DATA_HOME", ".local/share");
        MemoryLookupFolders { folder, home: path_variable("HOME"), data }
    }

    /// Returns the memory of a scope, or of any; `None` when there is none yet.
    pub(super) fn find(
        &self,
        scope: Option<ProjectOrUser>,
    ) -> Result<Option<MemoryFileLocation>, CommandError> {
        let project = match scope {
            Some(ProjectOrUser::User) => None,
            Some(ProjectOrUser::Project) | None => self.of_project()?,
        };
        let user = match scope {
            Some(ProjectOrUser::Project) => None,
            Some(ProjectOrUser::User) | None => self.existing_of_user(),
        };
        match project {
            Some(place) => Ok(Some(place)),
            None if scope == Some(ProjectOrUser::User) => Ok(user),
            None => match (self.below()?, user) {
                // A home has the memories of projects below it; one's own comes first.
                (_, Some(user)) if self.is_home() => Ok(Some(user)),
                (FoundSubfolderMemories::One(path), _) => {
                    Ok(Some(self.place(path, PlaceOrigin::Below)))
                }
                (FoundSubfolderMemories::Several(paths), None) => Err(several(&paths)),
                (_, user) => Ok(user),
            },
        }
    }

    /// Returns the memory of a command that may make one, as [`MemoryLookupFolders::find`] does. In
    /// a home with several memories below it, that is the user's own, which may be made.
    fn find_or_make(
        &self,
        scope: Option<ProjectOrUser>,
    ) -> Result<Option<MemoryFileLocation>, CommandError> {
        match self.is_home()
            && scope.is_none()
            && matches!(self.below()?, FoundSubfolderMemories::Several(_))
        {
            true => Ok(self.of_project()?.or_else(|| self.existing_of_user())),
            false => self.find(scope),
        }
    }

    /// Returns a path as seen from the working folder.
    pub(super) fn full(&self, path: &Path) -> PathBuf {
        self.folder.join(path)
    }

    /// Returns the place of the user's own memory; `None` without a home.
    pub(super) fn of_user(&self) -> Option<MemoryFileLocation> {
        let path = self.data.as_ref()?.join("remindb").join(MEMORY_FILE);
        Some(MemoryFileLocation { path, origin: PlaceOrigin::User })
    }

    /// Returns the place of a new memory of the project: the nearest folder under git, or else the
    /// working folder.
    pub(super) fn new_in_project(&self) -> MemoryFileLocation {
        let is_repository = |it: &&Path| fs::symlink_metadata(it.join(".git")).is_ok();
        let root = self.folder.ancestors().find(is_repository).unwrap_or(&self.folder);
        new_in(root, &self.folder)
    }

    /// Returns the folder that `path` is relative to in the settings of a project: the working
    /// folder where it is found there, else the folder of the project.
    pub(super) fn folder_of(&self, path: &Path) -> PathBuf {
        let here = self.folder.join(path);
        let is_repository = |it: &&Path| fs::symlink_metadata(it.join(".git")).is_ok();
        match self.folder.ancestors().find(is_repository) {
            Some(root) if is_missing(&here) && !is_missing(&root.join(path)) => root.join(path),
            _ => here,
        }
    }

    fn existing_of_user(&self) -> Option<MemoryFileLocation> {
        self.of_user().filter(|it| is_there(&it.path))
    }

    fn of_project(&self) -> Result<Option<MemoryFileLocation>, CommandError> {
        for folder in self.folder.ancestors() {
            let own = folder.join(OWN_FOLDER).join(MEMORY_FILE);
            if self.is_memory_of(folder, &own)? {
                return Ok(Some(self.place(own, PlaceOrigin::Project)));
            }
            let former = folder.join(MEMORY_FILE);
            if folder == self.folder && is_there(&former) {
                return Ok(Some(self.place(former, PlaceOrigin::Former)));
            }
        }
        Ok(None)
    }

    /// Returns whether the working folder is the user's home.
    fn is_home(&self) -> bool {
        self.home.as_ref().is_some_and(|it| *it == self.folder)
    }

    /// Looks for memories in the folders of the working folder.
    fn below(&self) -> Result<FoundSubfolderMemories, CommandError> {
        if self.folder.parent().is_none() {
            return Ok(FoundSubfolderMemories::None);
        }
        let mut found = Vec::new();
        // A folder that cannot be listed has nothing to offer.
        for entry in fs::read_dir(&self.folder).into_iter().flatten().take(ENTRIES_MAX).flatten() {
            let folder = entry.path();
            let is_folder = entry.file_type().is_ok_and(|it| it.is_dir());
            // Nor has one in which nothing can be looked up.
            let has_own = folder.join(OWN_FOLDER).symlink_metadata().is_ok();
            let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
            let own = folder.join(OWN_FOLDER).join(MEMORY_FILE);
            if is_folder && !is_hidden && has_own && self.is_memory_of(&folder, &own)? {
                found.push(own);
            }
        }
        found.sort_unstable();
        let relative = |path: &PathBuf| self.place(path.clone(), PlaceOrigin::Below).path;
        Ok(match &found[..] {
            [] => FoundSubfolderMemories::None,
            [one] => FoundSubfolderMemories::One(one.clone()),
            several => FoundSubfolderMemories::Several(several.iter().map(relative).collect()),
        })
    }

    /// Returns whether `folder` has the memory `own` that may be used.
    fn is_memory_of(&self, folder: &Path, own: &Path) -> Result<bool, CommandError> {
        if !is_there(own) || !self.is_of_user(&folder.join(OWN_FOLDER)) {
            return Ok(false);
        }
        // Of a database that is gone, the log is there.
        let place = own.canonicalize().or_else(|_| folder.join(OWN_FOLDER).canonicalize());
        let is_inside = match (place, folder.canonicalize()) {
            (Ok(own), Ok(folder)) => own.starts_with(folder),
            // The opening says why it cannot be reached.
            (Err(_), _) => true,
            (Ok(_), Err(_)) => false,
        };
        if is_inside {
            return Ok(true);
        }
        let own = own.display();
        let what = format!(
            "`{own}` is a link that leaves its folder, and is not followed; name its target with \
             --db"
        );
        Err(CommandError::Because(what))
    }

    /// Returns whether the owner of a folder is that of the working folder, of the home, or root.
    fn is_of_user(&self, folder: &Path) -> bool {
        let Some(owner) = owner(folder) else { return true };
        let known = [Some(&self.folder), self.home.as_ref()];
        owner == 0 || known.into_iter().flatten().any(|it| self::owner(it) == Some(owner))
    }

    fn place(&self, path: PathBuf, origin: PlaceOrigin) -> MemoryFileLocation {
        let path = path.strip_prefix(&self.folder).map(Path::to_owned).unwrap_or(path);
        MemoryFileLocation { path, origin }
    }

    /// Explains that there is no memory.
    fn nothing(&self) -> CommandError {
        let elsewhere = match self.of_user() {
            Some(place) => format!(", above it or at `{}`", place.path.display()),
            None => " or above it".to_owned(),
        };
        let folder = self.folder.display();
        CommandError::Because(format!(
            "no memory in `{folder}`{elsewhere}; make one with `remindb compile FOLDER`, or name \
             one with --db"
        ))
    }
}

/// The memories in the folders of the working folder.
enum FoundSubfolderMemories {
    None,
    One(PathBuf),
    Several(Vec<PathBuf>),
}

impl MemoryFileLocation {
    /// Returns the place that a flag names, else the environment.
    pub(super) fn named(flag: Option<PathBuf>) -> Option<MemoryFileLocation> {
        let file = flag.or_else(|| variable("REMINDB_DB").map(PathBuf::from));
        if let Some(path) = file {
            return Some(MemoryFileLocation { path, origin: PlaceOrigin::Named });
        }
        let path = PathBuf::from(variable("MEMORY_DIR")?).join(MEMORY_FILE);
        Some(MemoryFileLocation { path, origin: PlaceOrigin::NamedFolder })
    }

    /// Says where the memory is, if that is news: a new one, or one at the former place.
    pub(super) fn tell(&self, context: &mut CommandStreamsAndClock<'_>) {
        let path = self.path.display();
        let line = match self.origin {
            PlaceOrigin::Named | PlaceOrigin::NamedFolder => return,
            PlaceOrigin::Former => {
                format!("using `{path}` in this folder; a new memory would be in `.remindb`")
            }
            _ if is_there(&self.path) || self.path.symlink_metadata().is_ok() => return,
            _ => format!("new memory: `{path}`"),
        };
        // A line that cannot be written must not keep the command from its work.
        let _ = writeln!(context.err, "remindb: {line}");
    }

    /// Creates the missing folder of a memory: one named `.remindb`, or that of the user.
    pub(super) fn make_folder(&self) -> Result<(), CommandError> {
        let Some(folder) = self.path.parent() else { return Ok(()) };
        let made = if folder.file_name().is_some_and(|it| it == OWN_FOLDER) {
            let is_there =
                folder.parent().is_some_and(|it| it.as_os_str().is_empty() || it.is_dir());
            if is_there { make_own_folder(folder) } else { Ok(()) }
        } else if matches!(self.origin, PlaceOrigin::User | PlaceOrigin::NamedFolder) {
            let above = folder.parent().map_or(Ok(()), fs::create_dir_all);
            above.and_then(|()| make_private_folder(folder))
        } else {
            Ok(())
        };
        match made {
            // Where the memory cannot be reached, the opening says why.
            Err(_) if !is_missing(&self.path) => Ok(()),
            Err(error) => {
                let what = format!("cannot make `{}`: {error}", folder.display());
                Err(CommandError::Because(what))
            }
            Ok(()) => Ok(()),
        }
    }
}

/// Returns the memory of a command that reads, which has to exist unless it is named.
pub(super) fn known_database(
    named: Option<PathBuf>,
    context: &mut CommandStreamsAndClock<'_>,
) -> Result<PathBuf, CommandError> {
    if let Some(place) = MemoryFileLocation::named(named) {
        return Ok(place.path);
    }
    let around = MemoryLookupFolders::of_process()?;
    let place = around.find(None)?.ok_or_else(|| around.nothing())?;
    place.tell(context);
    Ok(place.path)
}

/// Tells of the memory of a command that may make one, and makes its folder; returns its path.
pub(super) fn database_to_make(
    named: Option<PathBuf>,
    scope: Option<ProjectOrUser>,
    context: &mut CommandStreamsAndClock<'_>,
) -> Result<PathBuf, CommandError> {
    let place = place_to_make(named, scope)?;
    place.tell(context);
    place.make_folder()?;
    Ok(place.path)
}

/// Returns the memory of a command that may make one: without any, the user's own.
pub(super) fn place_to_make(
    named: Option<PathBuf>,
    scope: Option<ProjectOrUser>,
) -> Result<MemoryFileLocation, CommandError> {
    if let Some(place) = MemoryFileLocation::named(named) {
        return Ok(place);
    }
    let around = MemoryLookupFolders::of_process()?;
    match (around.find_or_make(scope)?, scope) {
        (Some(place), _) => Ok(place),
        (None, Some(ProjectOrUser::Project)) => Ok(around.new_in_project()),
        (None, _) => around.of_user().ok_or_else(|| around.nothing()),
    }
}

/// Returns the memory of a compile: without any, a new one in the folder that is compiled.
pub(super) fn database_of_notes(
    named: Option<PathBuf>,
    notes: &Path,
) -> Result<MemoryFileLocation, CommandError> {
    if let Some(place) = MemoryFileLocation::named(named) {
        return Ok(place);
    }
    let around = MemoryLookupFolders::of_process()?;
    let folder = match notes.is_dir() {
        true => notes,
        false => notes.parent().unwrap_or(notes),
    };
    let new = new_in(folder, &around.folder);
    Ok(match around.of_project()? {
        Some(place) => place,
        // Notes outside the project may have a memory of their own.
        None if is_there(&new.path) => new,
        None => match (around.below()?, around.existing_of_user()) {
            (_, Some(user)) if around.is_home() => user,
            (FoundSubfolderMemories::One(path), _) => around.place(path, PlaceOrigin::Below),
            (_, Some(user)) => user,
            (FoundSubfolderMemories::None | FoundSubfolderMemories::Several(_), None) => new,
        },
    })
}

fn new_in(folder: &Path, working: &Path) -> MemoryFileLocation {
    let path = folder.join(OWN_FOLDER).join(MEMORY_FILE);
    let path = path.strip_prefix(working).map(Path::to_owned).unwrap_or(path);
    MemoryFileLocation { path, origin: PlaceOrigin::Project }
}

fn several(paths: &[PathBuf]) -> CommandError {
    let names: Vec<String> = paths.iter().take(3).map(|it| format!("`{}`", it.display())).collect();
    let more = if names.len() < paths.len() { " and others" } else { "" };
    CommandError::Because(format!(
        "several memories are below this folder: {}{more}; name one with --db, or change to its \
         folder",
        names.join(", ")
    ))
}

#[cfg(unix)]
fn owner(path: &Path) -> Option<u32> {
    fs::metadata(path).ok().map(|it| std::os::unix::fs::MetadataExt::uid(&it))
}

#[cfg(not(unix))]
fn owner(_: &Path) -> Option<u32> {
    None
}
