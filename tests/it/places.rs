//! Tests where the memory is: found from any folder, private, and passed over by git.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use expect_test::expect;
use serde_json::json;

use super::support::{Client, Folder, Ran};

const NOTES: &str = "# People\n\n## Ana\n\nKnows the billing service.\n";

fn mode(path: impl AsRef<Path>) -> String {
    format!("{:o}", fs::metadata(path).unwrap().permissions().mode() & 0o777)
}

#[test]
fn notes_are_compiled_and_searched_without_naming_the_memory() {
    let folder = Folder::new().file("notes/people.md", NOTES);
    folder.check_session(expect![[r#"
            $ compile notes
            compiled: 3 added, 0 modified, 0 removed (3 ops)
            ! remindb: new memory: `notes/.remindb/memory.db`
            = 0
        "#]]);
    let found = "[text] Knows the billing service.";
    assert!(folder.ok(["search", "billing"]).starts_with(found));
    // Everything else has the same memory, from the folder of the notes, too.
    folder.check_session(expect![[r#"
            $ compile notes
            compiled: 0 added, 0 modified, 0 removed (0 ops)
            = 0
        "#]]);
    let mut inside = folder.command(["search", "billing"]);
    let inside = Ran::of(&folder, inside.current_dir(folder.path("notes")));
    assert!(inside.stdout.starts_with(found) && inside.stderr.is_empty(), "{}", inside.stderr);
    for command in ["doctor", "inspect", "backup", "export", "gc --keep 1", "redact"] {
        folder.ok(command.split(' '));
    }
    let mut client = Client::modern(&folder, &[]);
    assert!(client.text("MemorySearch", json!({"query": "billing"})).contains("billing service"));
    client.end();
    assert_eq!(folder.names(), ["notes"]);
}

#[test]
fn the_former_place_is_still_found_and_says_so() {
    let folder = Folder::new().file("notes/people.md", NOTES);
    folder.ok(["compile", "notes", "--db", "memory.db"]);
    folder.check_session(expect![[r#"
        $ search billing
        [text] Knows the billing service. (id=KY4pzVDXWmD file=people.md score=0.65 relevance=1.00 temp=0.50 tok=6)
        ! remindb: using `memory.db` in this folder; a new memory would be in `.remindb`
        = 0
    "#]],
    );
    folder.ok(["compile", "notes"]);
    assert!(!folder.path("notes/.remindb").exists());
}

#[test]
fn a_folder_of_the_environment_is_made_and_used() {
    let folder = Folder::new().file("notes/people.md", NOTES);
    for args in ["compile notes", "search billing"] {
        let mut command = folder.command(args.split(' '));
        let ran = Ran::of(&folder, command.env("MEMORY_DIR", folder.path("kept/here")));
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    }
    assert_eq!(mode(folder.path("kept/here")), "700");
    assert_eq!(folder.names(), ["kept", "notes"]);
}

#[test]
fn the_memory_and_its_copies_are_for_their_user_alone() {
    let folder = Folder::new().file("notes/people.md", NOTES);
    folder.ok(["compile", "notes"]);
    folder.ok(["compile", "notes", "--db", "named.db"]);
    folder.ok(["backup"]);
    let client = Client::modern(&folder, &[]);
    let own = folder.path("notes/.remindb");
    assert_eq!(mode(&own), "700");
    let mut files: Vec<_> = fs::read_dir(&own).unwrap().map(|it| it.unwrap().path()).collect();
    files.retain(|it| it.file_name().unwrap() != ".gitignore");
    assert!(files.iter().any(|it| it.ends_with("memory.db-wal")), "{files:?}");
    assert!(files.iter().any(|it| it.to_str().unwrap().ends_with(".backup")), "{files:?}");
    for file in files.into_iter().chain([folder.path("named.db")]) {
        assert_eq!(mode(&file), "600", "{}", file.display());
    }
    client.end();
}

#[test]
fn git_passes_over_a_memory_and_sees_its_settings() {
    let git = |folder: &Folder, args: &[&str]| {
        let mut command = Command::new("git");
        let output = command.args(args).current_dir(folder.path("")).output();
        output.ok().map(|it| String::from_utf8(it.stdout).unwrap())
    };
    let folder = Folder::new().file("notes/people.md", NOTES);
    if git(&folder, &["init", "--quiet"]).is_none() {
        eprintln!("git is not here");
        return;
    }
    folder.ok(["compile", "."]);
    folder.ok(["backup"]);
    let status = || git(&folder, &["status", "--porcelain", "-uall"]).unwrap();
    assert_eq!(status(), "?? notes/people.md\n");
    folder.write(".remindb/config.json", "{}");
    assert_eq!(status(), "?? .remindb/config.json\n?? notes/people.md\n");
}

#[test]
fn a_server_makes_the_memory_of_the_scope_it_is_started_for() {
    let folder = Folder::new().file("project/.git/config", "").file("project/src/a.md", NOTES);
    let serve = |args: &[&str]| {
        let mut command = folder.command([&["serve"], args].concat());
        let ran = Ran::of(&folder, command.current_dir(folder.path("project/src")));
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        ran.stderr
    };
    let said = serve(&["--scope", "project"]);
    assert!(said.starts_with("remindb: new memory: `DIR/project/.remindb/memory.db`\n"), "{said}");
    assert!(!serve(&["--scope", "project"]).contains("new memory"));
    // Paths in the settings of a project are relative to it, wherever the server is started.
    folder.write("project/notes/b.md", NOTES);
    folder.ok(["compile", "project/notes", "--db", "project/notes/.remindb/memory.db"]);
    let relative = ["--scope", "project", "--db", "notes/.remindb/memory.db", "--source", "notes"];
    serve(&relative);
    assert!(!folder.path("project/src/notes").exists());
    let said = serve(&["--scope", "user"]);
    assert!(said.starts_with("remindb: new memory: `DIR/.data/remindb/memory.db`\n"), "{said}");
    assert_eq!(mode(folder.path(".data/remindb")), "700");
    assert_eq!(mode(folder.path(".data/remindb/memory.db")), "600");
}

/// Two memories: that of a project, and one of the user that knows of Ben.
fn two_memories() -> Folder {
    let folder = Folder::new()
        .file("notes/people.md", NOTES)
        .file("own/people.md", "# People\n\n## Ben\n\nPays for the billing service.\n");
    folder.ok(["compile", "notes"]);
    fs::create_dir_all(folder.path(".data/remindb")).unwrap();
    folder.ok(["compile", "own", "--db", ".data/remindb/memory.db"]);
    folder
}

#[test]
fn a_search_says_why_it_has_nothing_of_the_second_memory() {
    let folder = two_memories();
    let second = folder.path(".data/remindb/memory.db");
    let mut client = Client::legacy(&folder, &["--also", "user"]);
    fs::hard_link(&second, folder.path("other-name.db")).unwrap();
    for (words, own) in [("billing", "Knows the billing service."), ("Pays", "no results: ")] {
        let found = client.call("MemorySearch", json!({"query": words})).text;
        let (entries, notice) = found.rsplit_once("\n… ").unwrap();
        assert!(entries.contains(own), "{found}");
        let why = "the second memory was not searched: ";
        assert!(notice.starts_with(why) && notice.contains("2 names (hard links)"), "{found}");
    }
    let vocabulary = tiktoken_rs::cl100k_base().unwrap();
    for budget in [20, 60, 120, 500] {
        let asked = json!({"query": "billing", "budget": budget});
        let found = client.call("MemorySearch", asked).text;
        let n_tokens = vocabulary.encode_ordinary(&found).len();
        assert!(n_tokens <= budget, "{n_tokens} of {budget}: {found}");
    }
    fs::remove_file(folder.path("other-name.db")).unwrap();
    let found = client.call("MemorySearch", json!({"query": "Pays"})).text;
    assert!(found.contains("Pays for the billing service."), "{found}");
    client.end();
}

#[test]
fn a_server_searches_a_second_memory_and_marks_what_it_found_there() {
    let folder = two_memories();
    let before = fs::read(folder.path(".data/remindb/memory.db")).unwrap();
    let mut client = Client::legacy(&folder, &["--also", "user"]);
    let found = client.text("MemorySearch", json!({"query": "billing"}));
    expect![[r#"
        [text] Knows the billing service. (id=KY4pzVDXWmD file=people.md score=0.65 relevance=1.00 temp=0.50 tok=6)
        from the second memory:
        [text] Pays for the billing service. (id=also:KY4oGmLiFPW file=people.md score=0.65 relevance=1.00 temp=0.50 tok=7)"#]]
    .assert_eq(&found);
    let (_, id) = found.rsplit_once("(id=").unwrap();
    let id = id.split(' ').next().unwrap();
    let fetched = client.text("MemoryFetch", json!({"anchor": id}));
    assert!(fetched.contains("Pays for the billing service."), "{fetched}");
    let both = client.text("MemoryFetchBatch", json!({"node_ids": ["KY4pzVDXWmD", id]}));
    assert!(both.contains("Knows the") && both.contains("Pays for"), "{both}");
    for budget in [30, 60, 120, 500] {
        let found = client.text("MemorySearch", json!({"query": "billing", "budget": budget}));
        assert!(found.contains("Knows the") || budget < 60, "{budget}: {found}");
        assert!(found.contains("Pays for") || budget < 500, "{budget}: {found}");
    }
    // Only the second has this, and nothing of it can be changed from here.
    for budget in [60, 95, 200] {
        let found = client.text("MemorySearch", json!({"query": "Pays", "budget": budget}));
        assert!(found.contains("Pays for the billing"), "{budget}: {found}");
    }
    let found = client.text("MemorySearch", json!({"query": "payz"}));
    assert_eq!(found, "nothing here answers that; nearest words: pays");
    let found = client.text("MemorySearch", json!({"query": "Ben"}));
    assert!(found.starts_with("[heading] Ben (id=also:"), "{found}");
    let refused = client.call("MemoryWrite", json!({"payload": "No.", "anchor": id}));
    assert!(refused.text.contains("a second memory is only read"), "{}", refused.text);
    client.end();
    assert!(before == fs::read(folder.path(".data/remindb/memory.db")).unwrap());
    folder.check_session(expect![[r#"
            $ serve --also notes/.remindb/memory.db
            ! remindb: `DIR/notes/.remindb/memory.db` is the memory itself; name another with --also
            = 2
        "#]]);
    let mut command = folder.command(["serve", "--also", "user"]);
    let ran = Ran::of(&folder, command.env("XDG_DATA_HOME", folder.path("nothing")));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    folder.check_session(expect![[r#"
            $ serve --also nowhere.db
            ! remindb: no database at `DIR/nowhere.db`; make one with `remindb compile FOLDER --db DIR/nowhere.db`
            = 2
        "#]],
    );
}

/// A project's memory on a disk that is not mounted is there: nothing goes into another one.
#[test]
fn a_memory_that_cannot_be_reached_is_not_taken_for_none() {
    let own = "project/.remindb";
    let begin = || {
        let other = r#"{"type":"entity","name":"A","entityType":"B","observations":["C."]}"#;
        Folder::new().file("project/notes/people.md", NOTES).file("project/a.jsonl", other)
    };
    let without = |folder: &Folder, text: &str| {
        for args in [
            &["write", "Nora has the key."] as &[&str],
            &["search", "key"],
            &["compile", "notes"],
            &["serve"],
            &["doctor"],
            &["restore", "notes/people.md"],
            &["serve", "--db", ".remindb/memory.db"],
            &[
                "import",
                "--from",
                "server-memory",
                "a.jsonl",
                "--dry-run",
                "--db",
                ".remindb/memory.db",
            ],
        ] {
            let mut command = folder.command(args);
            let ran = Ran::of(folder, command.current_dir(folder.path("project")));
            assert_eq!(ran.code, Some(2), "{args:?}: {}", ran.transcript());
            assert!(ran.stderr.contains(text), "{args:?}: {}", ran.transcript());
            assert!(!folder.path(".data").exists(), "{args:?}");
        }
    };
    let folder = begin().file(&format!("{own}/.keep"), "");
    symlink("../disk/memory.db", folder.path(own).join("memory.db")).unwrap();
    without(
        &folder,
        "memory.db` is a symbolic link to `../disk/memory.db`, which cannot be reached: No such \
         file or directory (os error 2); mount the disk that has it, or let this user enter its \
         folder; remove the link only to begin anew",
    );
    let folder = begin();
    symlink("../disk", folder.path(own)).unwrap();
    without(&folder, ".remindb` is a symbolic link to `../disk`, which cannot be reached: ");
    let folder = begin();
    symlink(".remindb", folder.path(own)).unwrap();
    without(
        &folder,
        ".remindb` is a symbolic link to `.remindb`, which cannot be reached: Too many",
    );
    let ran = folder.run(["search", "key", "--db", "project/.remindb/deep/memory.db"]);
    assert_eq!(
        ran.transcript(),
        "! remindb: cannot look whether a database is at `project/.remindb/deep/memory.db`: Too \
         many levels of symbolic links (os error 40); let this user enter its folder, or name \
         another file\n= 2\n"
    );
}

/// Folders of others are below many a working folder.
#[test]
fn a_folder_below_in_which_nothing_can_be_looked_up_has_no_memory() {
    let folder = Folder::new().file("project/other/.keep", "").file("project/notes/a.md", NOTES);
    let refuse = |mode| {
        let permissions = fs::Permissions::from_mode(mode);
        fs::set_permissions(folder.path("project/other"), permissions).unwrap();
    };
    refuse(0o000);
    let mut command = folder.command(["compile", "notes"]);
    let ran = Ran::of(&folder, command.current_dir(folder.path("project")));
    refuse(0o700);
    assert_eq!(ran.code, Some(0), "{}", ran.transcript());
}
