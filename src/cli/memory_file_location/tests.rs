//! Tests for the place of the memory, as a table of folders and what is found in them.

use super::*;

/// Makes files of a scratch folder, and looks for the memory from `from`.
struct Scratch(tempfile::TempDir);

impl Scratch {
    fn with(files: &[&str]) -> Scratch {
        let scratch = Scratch(tempfile::tempdir().unwrap());
        for folder in ["home", "project/notes", "project/src/deep"] {
            fs::create_dir_all(scratch.0.path().join(folder)).unwrap();
        }
        for file in files {
            let path = scratch.0.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        scratch
    }

    fn around(&self, from: &str) -> MemoryLookupFolders {
        let root = self.0.path();
        let home = root.join("home");
        let data = Some(home.join(".local/share"));
        MemoryLookupFolders { folder: root.join(from), home: Some(home), data }
    }

    fn shown(&self, path: &Path) -> String {
        let path = path
            .strip_prefix(self.0.path())
            .map_or(path.to_owned(), |it| Path::new("ROOT").join(it));
        path.display().to_string()
    }

    /// Returns the place as text: its path, and its rule.
    fn found(&self, from: &str, scope: Option<ProjectOrUser>) -> String {
        match self.around(from).find(scope) {
            Ok(None) => "none".to_owned(),
            Ok(Some(place)) => format!("{} ({:?})", self.shown(&place.path), place.origin),
            Err(CommandError::Because(what)) => what,
            Err(CommandError::BrokenPipe) => "broken pipe".to_owned(),
        }
    }
}

const OWN: &str = "project/.remindb/memory.db";
const FORMER: &str = "project/memory.db";
const NOTES: &str = "project/notes/.remindb/memory.db";
const USER: &str = "home/.local/share/remindb/memory.db";

#[test]
fn the_nearest_memory_is_the_one() {
    let user = "ROOT/home/.local/share/remindb/memory.db (User)";
    let above = "ROOT/project/.remindb/memory.db (Project)";
    for (files, from, expected) in [
        (&[][..], "project", "none"),
        (&[USER], "project", user),
        (&[OWN, USER], "project", ".remindb/memory.db (Project)"),
        (&[OWN, USER], "project/src/deep", above),
        (&[OWN, FORMER, NOTES], "project", ".remindb/memory.db (Project)"),
        (&[FORMER, NOTES, USER], "project", "memory.db (Former)"),
        (&[FORMER, USER], "project/src", user),
        (&[OWN, "project/src/memory.db"], "project/src", "memory.db (Former)"),
        (&[NOTES, USER], "project", "notes/.remindb/memory.db (Below)"),
        (&[NOTES], "project/src", "none"),
        (&[NOTES], "project/notes", ".remindb/memory.db (Project)"),
        (&["project/.hidden/.remindb/memory.db"], "project", "none"),
        // A folder has settings of its own without a memory.
        (&["project/.remindb/config.json", USER], "project", user),
        // In a home, one's own comes first.
        (&["home/notes/.remindb/memory.db"], "home", "notes/.remindb/memory.db (Below)"),
        (&["home/notes/.remindb/memory.db", USER], "home", user),
    ] {
        assert_eq!(Scratch::with(files).found(from, None), expected, "{files:?} from {from}");
    }
}

#[test]
fn a_scope_finds_only_its_own() {
    for (files, scope, expected) in [
        (&[USER][..], ProjectOrUser::Project, "none"),
        (&[OWN], ProjectOrUser::User, "none"),
        (&[NOTES, USER], ProjectOrUser::User, "ROOT/home/.local/share/remindb/memory.db (User)"),
        (&[OWN, USER], ProjectOrUser::Project, ".remindb/memory.db (Project)"),
    ] {
        assert_eq!(Scratch::with(files).found("project", Some(scope)), expected, "{files:?}");
    }
}

#[test]
fn several_memories_below_are_an_error_without_one_of_the_user() {
    let other = "project/src/.remindb/memory.db";
    let what = "several memories are below this folder: `notes/.remindb/memory.db`, \
                `src/.remindb/memory.db`; name one with --db, or change to its folder";
    assert_eq!(Scratch::with(&[NOTES, other]).found("project", None), what);
    let found = Scratch::with(&[NOTES, other, USER]).found("project", None);
    assert_eq!(found, "ROOT/home/.local/share/remindb/memory.db (User)");
}

#[test]
fn a_new_memory_in_a_home_of_several_is_of_the_user() {
    let (notes, other) = ("home/notes/.remindb/memory.db", "home/plant/.remindb/memory.db");
    let made = |files: &[&str], from: &str| {
        let place = Scratch::with(files).around(from).find_or_make(None).ok().flatten();
        place.map(|it| it.path.display().to_string())
    };
    assert_eq!(made(&[notes], "home").as_deref(), Some("notes/.remindb/memory.db"));
    assert_eq!(made(&[notes, other], "home"), None);
    assert_eq!(made(&[notes, other, "home/memory.db"], "home").as_deref(), Some("memory.db"));
    let what = Scratch::with(&[notes, other]).found("home", None);
    assert!(what.starts_with("several memories are below this folder: `notes/"), "{what}");
}

#[test]
fn a_new_memory_of_a_project_is_where_git_begins() {
    let scratch = Scratch::with(&["project/.git/config"]);
    let new = |from| scratch.shown(&scratch.around(from).new_in_project().path);
    assert_eq!(new("project/src/deep"), "ROOT/project/.remindb/memory.db");
    assert_eq!(new("project"), ".remindb/memory.db");
    assert_eq!(new("home"), ".remindb/memory.db");
}

#[cfg(unix)]
#[test]
fn a_link_out_of_the_folder_is_refused() {
    let scratch = Scratch::with(&[USER]);
    let own = scratch.0.path().join("project/.remindb");
    fs::create_dir(&own).unwrap();
    std::os::unix::fs::symlink(scratch.0.path().join(USER), own.join("memory.db")).unwrap();
    let what = scratch.found("project", None);
    assert!(
        what.ends_with(
            "is a link that leaves its folder, and is not followed; name its target with --db"
        ),
        "{what}"
    );
}
