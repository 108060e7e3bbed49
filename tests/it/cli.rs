//! Tests the command line by transcripts of its streams and exit codes.
//!
//! A session is commands after `$ `, each with stdout, stderr after `! ` and the exit code after
//! `= `; `DIR` is the test's own folder. Commands with one outcome stand together above it.

use std::io::Read;
use std::process::Stdio;

use expect_test::{Expect, expect};
use serde_json::Value;

use super::support::{Folder, Ran, finish};

const NOTES: &str = "# Store\n\nOne connection writes.\n\n## Limits\n\nFive kilobytes.\n";

fn compiled() -> Folder {
    let folder = Folder::new().file("notes/store.md", NOTES);
    folder.ok(["compile", "notes", "--db", "m.db"]);
    folder
}

/// Checks a session of commands that add no file to the folder.
#[track_caller]
fn check_no_file_is_added(folder: &Folder, session: Expect) {
    // SQLite may leave the companions of a file opened for reading.
    let names = || -> Vec<String> {
        let names = folder.names().into_iter();
        names.filter(|it| !it.ends_with("-shm") && !it.ends_with("-wal")).collect()
    };
    let before = names();
    folder.check_session(session);
    assert_eq!(names(), before);
}

#[test]
fn a_folder_becomes_a_memory_and_stays_the_same() {
    let folder = Folder::new().file("notes/store.md", NOTES);
    folder.check_session(expect![[r#"
        $ compile notes
        compiled: 4 added, 0 modified, 0 removed (4 ops)
        ! remindb: new memory: `notes/.remindb/memory.db`
        = 0
        $ compile notes
        $ compile notes/store.md
        compiled: 0 added, 0 modified, 0 removed (0 ops)
        = 0
    "#]]);
    assert_eq!(folder.names(), ["notes"]);
}

#[test]
fn warnings_name_file_and_line_and_are_counted() {
    let folder = Folder::new()
        .file("notes/a.md", b"fine\n\nbroken \xff\n")
        .file("notes/b.md", "---\na: [\n---\n\nText.\n");
    folder.check_session(expect![[r#"
        $ compile notes
        compiled: 4 added, 0 modified, 0 removed (4 ops), 2 warnings
        ! remindb: new memory: `notes/.remindb/memory.db`
        ! remindb: warning: a.md:3: not valid UTF-8 in 1 place, this is the first; read as `�`
        ! remindb: warning: b.md:3: front matter is not understood: while parsing a node, did not find expected node content; kept as text
        = 0
        $ compile notes
        compiled: 0 added, 0 modified, 0 removed (0 ops)
        = 0
    "#]]);
}

#[test]
fn search_finds_or_says_that_it_does_not() {
    let folder = compiled();
    folder.check_session(expect![[r#"
        $ search five kilobytes --db m.db
        [text] Five kilobytes. (id=KXzqDXmWNfj file=store.md score=0.65 relevance=1.00 temp=0.50 tok=5)
        = 0
        $ search writes --detail full --db m.db
        # store.md / Store
        KXzrJdhKGsa One connection writes.
        = 0
        $ search zebra --db m.db
        no results: nothing has these words; try fewer or other ones, or `remindb tree` for the outline
        = 1
        $ search five --budget 7 --db m.db
        …
        = 0
        $ search five --type heading --db m.db
        no results: no node that meets the conditions has these words; leave one out
        = 1
    "#]]);
}

#[test]
fn inspect_shows_files_and_tree() {
    let folder = compiled();
    let shown = folder.ok("inspect --tree --files --db m.db".split(' '));
    let (_, files) = shown.split_once("=== Files").unwrap();
    expect![[r#"
         ===
        DIR/notes
        └── store.md (4 nodes, 11 tok)
        === Node Tree ===
        [heading] Store (id=KXzqoKCaC7T file=store.md temp=0.50 tok=1)
          [text] One connection writes. (id=KXzrJdhKGsa temp=0.50 tok=4)
          [heading] Limits (id=KXzn8EJa5e8 temp=0.50 tok=1)
            [text] Five kilobytes. (id=KXzqDXmWNfj temp=0.50 tok=5)
    "#]]
    .assert_eq(files);
    let first = shown.lines().next().unwrap();
    assert!(first.starts_with("=== Database: ") && first.ends_with(" ==="), "{first}");
    assert!(shown.contains("Nodes:                4 ("), "{shown}");
    folder.check_session(expect![[r#"
        $ inspect --depth 3 --db m.db
        ! remindb: `--depth` is for `--tree`; add it; see `remindb help inspect`
        = 2
    "#]]);
}

#[test]
fn doctor_reports_every_check() {
    let folder = compiled();
    folder.check_session(expect![[r#"
        $ doctor --db m.db
        ✓ Database is healthy

        ✓ fts5_sync            FTS5 index in sync with 4 nodes
        ✓ orphan_parent_id     no orphans
        ✓ parent_cycles        every node stands below a root
        ✓ head_cursor          HEAD → snapshot 1
        ✓ dangling_diffs       no dangling diffs
        ✓ schema_version       23/23 migrations applied
        ✓ schema_objects       every table, index, trigger and view is ours
        ✓ stale_compile_root   1 compile roots present
        ✓ integrity_check      every page and index is sound
        ✓ foreign_keys         every reference has its row
        ✓ text_encoding        every text is UTF-8
        ✓ single_rows          the memory's clock and counters are there
        ✓ row_keys             there is room for the keys of new rows
        ✓ number_ranges        times, sizes and counters are within their bounds
        ✓ file_paths           1 files are below their roots
        ✓ node_rows            4 nodes can be read
        ✓ node_files           4 nodes are of the file of the node above
        ✓ history_rows         4 changes can be read
        ✓ heat_rows            every node has a temperature
        ✓ fingerprint          the state is 0687da5f96dcbe84, as HEAD says
        ✓ content_hashes       4 texts match their hashes
        ✓ fields               0 nodes have sound fields
        ✓ facets               0 facets follow the fields
        ✓ typed_edges          0 typed edges follow the fields
        ✓ custom_views         0 custom views are sound
        ✓ references           0 references point where they should
        ✓ running_totals       nodes and references are as many as the totals say
        = 0
    "#]]);
    folder.database("m.db").execute_batch("UPDATE node SET content = 'x' WHERE key = 2").unwrap();
    folder.check_session(expect![[r#"
        $ doctor --db m.db
        ✗ Database is unhealthy

        ✓ fts5_sync            FTS5 index in sync with 4 nodes
        ✓ orphan_parent_id     no orphans
        ✓ parent_cycles        every node stands below a root
        ✓ head_cursor          HEAD → snapshot 1
        ✓ dangling_diffs       no dangling diffs
        ✓ schema_version       23/23 migrations applied
        ✓ schema_objects       every table, index, trigger and view is ours
        ✓ stale_compile_root   1 compile roots present
        ✓ integrity_check      every page and index is sound
        ✓ foreign_keys         every reference has its row
        ✓ text_encoding        every text is UTF-8
        ✓ single_rows          the memory's clock and counters are there
        ✓ row_keys             there is room for the keys of new rows
        ✓ number_ranges        times, sizes and counters are within their bounds
        ✓ file_paths           1 files are below their roots
        ✓ node_rows            4 nodes can be read
        ✓ node_files           4 nodes are of the file of the node above
        ✓ history_rows         4 changes can be read
        ✓ heat_rows            every node has a temperature
        ✓ fingerprint          the state is 0687da5f96dcbe84, as HEAD says
        ✗ content_hashes       1 of 4 texts differ from their hash: `KXzrJdhKGsa` "One connection writes." of store.md
        ✓ fields               0 nodes have sound fields
        ✓ facets               0 facets follow the fields
        ✓ typed_edges          0 typed edges follow the fields
        ✓ custom_views         0 custom views are sound
        ✓ references           0 references point where they should
        ✓ running_totals       nodes and references are as many as the totals say
        = 1
    "#]]);
}

#[test]
fn json_output_parses() {
    let folder = compiled().file("notes/odd.md", b"\xff");
    for (args, code) in [
        ("compile notes --json --db m.db", 0),
        ("inspect --json --tree --files --db m.db", 0),
        ("inspect --json --db m.db", 0),
        ("search five --json --db m.db", 0),
        ("search zebra --json --db m.db", 1),
        ("doctor --json --db m.db", 0),
    ] {
        let ran = folder.run(args.split(' '));
        assert_eq!(ran.code, Some(code), "{args}: {}", ran.stderr);
        serde_json::from_str::<Value>(&ran.stdout).unwrap();
    }
    let ran = folder.run("compile notes --json --db m.db".split(' '));
    expect![[r#"
        {"added":0,"modified":0,"removed":0,"snapshot":null,"warnings":[]}
        = 0
    "#]]
    .assert_eq(&ran.transcript());
}

#[test]
fn advice_in_json_names_commands() {
    let ran = compiled().run("search zebra --json --db m.db".split(' '));
    let answer: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(
        answer["reason"],
        "nothing has these words; try fewer or other ones, or `remindb tree` for the outline"
    );
}

#[test]
fn a_mistyped_database_is_an_error_and_makes_nothing() {
    let folder = compiled();
    check_no_file_is_added(
        &folder,
        expect![[r#"
            $ inspect --db typo.db
            $ inspect --json --db typo.db
            $ search a --db typo.db
            $ doctor --db typo.db
            ! remindb: no database at `typo.db`; make one with `remindb compile FOLDER --db typo.db`
            = 2
            $ inspect
            ! remindb: no memory in `DIR`, above it or at `DIR/.data/remindb/memory.db`; make one with `remindb compile FOLDER`, or name one with --db
            = 2
            $ inspect --db no/such/folder.db
            ! remindb: no database at `no/such/folder.db`; make one with `remindb compile FOLDER --db no/such/folder.db`
            = 2
            $ compile notes --db no/such/folder.db
            $ serve --source notes --db no/such/folder.db
            ! remindb: no folder `no/such` to keep the database in; make it first
            = 2
        "#]],
    );
}

#[test]
fn a_failed_first_compile_makes_no_database() {
    let folder = compiled().file("picture.png", "x");
    check_no_file_is_added(
        &folder,
        expect![[r#"
        $ compile nots
        $ compile nots --db new.db
        ! remindb: cannot compile `DIR/nots`: No such file or directory (os error 2)
        = 2
        $ compile picture.png
        $ compile picture.png --db new.db
        ! remindb: cannot compile `DIR/picture.png`: not a format that is understood; name a folder, or a file that ends in .md, .markdown, .html, .htm, .xhtml, .json, .jsonc, .jsonl, .ndjson, .yaml, .yml, .toml, .toon, .csv, .tsv, .txt, .org, .rst, .mdx
        = 2
        $ serve --source nots --db new.db
        ! remindb: cannot serve `nots`: No such file or directory (os error 2)
        = 2
        $ serve --source picture.png --db new.db
        ! remindb: `picture.png` is no folder; name one
        = 2
    "#]],
    );
    let ran = folder.run(["compile", ""]);
    expect![[r#"
        ! remindb: an empty path names nothing
        = 2
    "#]]
    .assert_eq(&ran.transcript());
    let ran = folder.run(["compile", "notes", "--db", ""]);
    expect![[r#"
        ! remindb: `` names no file; name one with --db
        = 2
    "#]]
    .assert_eq(&ran.transcript());
    check_no_file_is_added(
        &folder,
        expect![[r#"
        $ compile notes --db :memory:
        ! remindb: `:memory:` names no file; name one with --db
        = 2
    "#]],
    );
}

#[test]
fn a_foreign_file_is_refused_and_left_alone() {
    let folder =
        compiled().file("text.db", "This is no database, and it is long enough to tell.\n");
    let foreign = folder.path("foreign.db");
    rusqlite::Connection::open(&foreign).unwrap().execute_batch("CREATE TABLE t (a)").unwrap();
    std::fs::create_dir(folder.path("folder.db")).unwrap();
    let newer = folder.path("newer.db");
    std::fs::copy(folder.path("m.db"), &newer).unwrap();
    folder.database("newer.db").pragma_update(None, "user_version", 99).unwrap();
    let bytes = |name: &str| std::fs::read(folder.path(name)).unwrap();
    let before: Vec<_> = ["text.db", "foreign.db", "newer.db"].map(bytes).into();
    check_no_file_is_added(
        &folder,
        expect![[r#"
            $ inspect --db text.db
            $ compile notes --db text.db
            ! remindb: `text.db` is no SQLite database, not a remindb memory; name another file with --db
            = 2
            $ doctor --db foreign.db
            $ serve --source notes --db foreign.db
            ! remindb: `foreign.db` is a database of another program, not a remindb memory; name another file with --db
            = 2
            $ inspect --db newer.db
            $ compile notes --db newer.db
            $ serve --db newer.db
            $ search a --db newer.db
            ! remindb: `newer.db` has schema 99, newer than 23, the newest this build knows; update the program
            = 2
            $ inspect --db folder.db
            $ compile notes --db folder.db
            $ serve --db folder.db
            ! remindb: `folder.db` is a folder, not a remindb memory; name another file with --db
            = 2
        "#]],
    );
    assert_eq!(before, ["text.db", "foreign.db", "newer.db"].map(bytes));
}

#[test]
fn an_empty_file_is_no_memory_to_read_but_may_become_one() {
    let folder = Folder::new().file("notes/store.md", NOTES).file("m.db", "");
    check_no_file_is_added(
        &folder,
        expect![[r#"
        $ inspect --db m.db
        $ doctor --db m.db
        ! remindb: no database at `m.db`; make one with `remindb compile FOLDER --db m.db`
        = 2
    "#]],
    );
    folder.check_session(expect![[r#"
        $ compile notes --db m.db
        compiled: 4 added, 0 modified, 0 removed (4 ops)
        = 0
    "#]]);
}

#[test]
fn a_folder_that_takes_no_database_is_named() {
    let folder = Folder::new().file("notes/store.md", NOTES);
    // Even root cannot write there.
    folder.check_session(expect![[r#"
        $ compile notes --db /proc/m.db
        ! remindb: cannot open the database: unable to open database file: /proc/m.db; nothing was changed; this user has to be able to write the file and its folder
        = 2
    "#]]);
}

#[test]
fn usage_errors_are_explained() {
    let folder = Folder::new();
    folder.check_session(expect![[r#"
        $ compile
        ! remindb: `compile` needs the folder or file to compile; see `remindb help compile`
        = 2
        $ compile a b
        ! remindb: `compile` does not take `b`; see `remindb help compile`
        = 2
        $ compil a
        ! remindb: no command `compil`; did you mean `compile`? See `remindb help`
        = 2
        $ compile a --databse x
        ! remindb: `compile` has no flag `--databse`; see `remindb help compile`
        = 2
        $ compile a --db
        ! remindb: missing argument for option `--db`; see `remindb help compile`
        = 2
        $ serve notes
        ! remindb: `serve` does not take `notes`; see `remindb help serve`
        = 2
        $ search
        ! remindb: `search` needs words to look for; see `remindb help search`
        = 2
        $ search a --budget -3
        ! remindb: `--budget` needs a whole number, not `-3`; see `remindb help search`
        = 2
        $ search a --budget=many
        ! remindb: `--budget` needs a whole number, not `many`; see `remindb help search`
        = 2
        $ search a --detail everything --db x
        ! remindb: no detail `everything`; there are label, snippet and full
        = 2
        $ search a --type prose --db x
        ! remindb: no node type `prose`; there are heading, list, kv, table, preamble, text, code, embed, core, learning, task, episode, concept, fact, topic, entity, conflict, chunk
        = 2
        $ inspect --depth 3
        ! remindb: `--depth` is for `--tree`; add it; see `remindb help inspect`
        = 2
        $ doctor -x
        ! remindb: `doctor` has no flag `-x`; see `remindb help doctor`
        = 2
        $ doctor --json=1
        ! remindb: unexpected argument for option `--json`: "1"; see `remindb help doctor`
        = 2
        $ completion tcsh
        ! remindb: no completion for `tcsh`; there is one for bash, zsh and fish; see `remindb help completion`
        = 2
        $ help me
        ! remindb: no help for `me`; there is for compile, serve, view, inspect, search, tree, fetch, related, history, delta, diff, stats, write, summarize, forget, pin, unpin, relate, unrelate, rollback, remember, recall, review, apply, consolidate, undo, ingest, conflicts, topics, entities, memories, bench, doctor, archive, view-query, gc, redact, backup, restore, export, import, salvage, space, setup, hook, completion, help
        = 2
        $ --nonsense
        ! remindb: invalid option `--nonsense`; see `remindb help`
        = 2
    "#]]);
    assert_eq!(folder.names(), [] as [&str; 0]);
}

#[test]
fn arguments_that_are_no_text_are_an_error() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let folder = compiled();
    let odd = OsStr::from_bytes(b"a\xff");
    // A path may have any bytes, and a word may not.
    let is_path = "No such file or directory";
    let is_word = r#"argument is invalid unicode: "a\xFF""#;
    for (before, why) in [("", is_word), ("search", is_word), ("compile", is_path)] {
        let args = before.split_whitespace().map(OsStr::new).chain([odd]);
        let shown = folder.run(args).transcript();
        assert!(shown.contains(why) && shown.ends_with("= 2\n"), "{before}: {shown}");
    }
    assert_eq!(folder.run([OsStr::new("inspect"), OsStr::new("--db"), odd]).code, Some(2));
}

#[test]
fn the_environment_names_the_database() {
    let folder = compiled();
    let mut command = folder.command(["search", "five"]);
    let ran = Ran::of(&folder, command.env("REMINDB_DB", "m.db"));
    expect![[r#"
        [text] Five kilobytes. (id=KXzqDXmWNfj file=store.md score=0.65 relevance=1.00 temp=0.50 tok=5)
        = 0
    "#]]
    .assert_eq(&ran.transcript());
    let mut command = folder.command(["inspect", "--db", "typo.db"]);
    let ran = Ran::of(&folder, command.env("REMINDB_DB", "m.db"));
    assert_eq!(ran.code, Some(2));
    let ran = Ran::of(&folder, folder.command(["search", "five"]).env("REMINDB_DB", ""));
    expect![[r#"
        ! remindb: no memory in `DIR`, above it or at `DIR/.data/remindb/memory.db`; make one with `remindb compile FOLDER`, or name one with --db
        = 2
    "#]]
    .assert_eq(&ran.transcript());
}

#[test]
fn a_pipe_gets_no_colour() {
    let folder = compiled();
    for args in ["inspect --tree --files", "doctor", "search five", "help", "compile notes"] {
        for colour in [None, Some("1")] {
            let mut command = folder.command(args.split(' ').chain(["--db", "m.db"]));
            if args == "help" {
                command = folder.command(["help"]);
            }
            if let Some(colour) = colour {
                command.env("NO_COLOR", colour);
            }
            let ran = Ran::of(&folder, command.env("TERM", "xterm-256color"));
            assert_eq!(ran.code, Some(0), "{args}: {}", ran.stderr);
            assert!(!ran.stdout.contains('\x1b') && !ran.stderr.contains('\x1b'), "{args}");
        }
    }
}

/// Runs in a terminal made by `script`, which not every machine has.
#[test]
fn a_terminal_gets_colour_unless_it_does_not_want_it() {
    let folder = compiled();
    let on_terminal = |name: &str, value: &str| {
        let line = format!("'{}' doctor --db m.db", env!("CARGO_BIN_EXE_remindb"));
        let mut command = std::process::Command::new("script");
        command.args(["-qec", &line, "/dev/null"]).current_dir(folder.path(""));
        command.env("TERM", "xterm").env_remove("NO_COLOR").env(name, value);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().ok()?;
        Some(String::from_utf8(finish(child).stdout).unwrap())
    };
    let Some(painted) = on_terminal("LANG", "C") else { return };
    assert!(painted.contains("\x1b[32m✓\x1b[0m"), "{painted:?}");
    for (name, value) in [("NO_COLOR", "1"), ("TERM", "dumb")] {
        let plain = on_terminal(name, value).unwrap();
        assert!(plain.contains('✓') && !plain.contains('\x1b'), "{name}: {plain:?}");
    }
}

#[test]
fn a_search_is_highlighted_where_colour_is_wanted() {
    let folder = compiled();
    let search = |flags: &str| {
        let args = format!("search five --db m.db {flags}");
        Ran::of(&folder, folder.command(args.split_whitespace()).env("NO_COLOR", "1"))
    };
    let painted = search("--color always").stdout;
    assert!(painted.contains("\x1b[1;31mFive\x1b[0m kilobytes."), "{painted:?}");
    let plain = search("--color never").stdout;
    assert_eq!((&search("").stdout, &search("--color auto").stdout), (&plain, &plain));
    let mut rest = painted;
    for code in ["\x1b[1;31m", "\x1b[2m", "\x1b[0m"] {
        rest = rest.replace(code, "");
    }
    assert_eq!(rest, plain);
    let mistake = search("--color sometimes").stderr;
    assert!(mistake.contains("needs `auto`, `always` or `never`, not `sometimes`"), "{mistake}");
}

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    let folder = compiled();
    let many: String = (0..4000).map(|n| format!("# Heading {n}\n\nText {n}.\n\n")).collect();
    folder.write("notes/many.md", many);
    folder.ok(["compile", "notes", "--db", "m.db"]);
    for args in ["inspect --tree --db m.db", "inspect --tree --json --db m.db", "help"] {
        let mut child = folder.command(args.split(' ')).spawn().unwrap();
        let mut out = child.stdout.take().unwrap();
        out.read_exact(&mut [0; 8]).unwrap();
        drop(out);
        let output = finish(child);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), stderr.as_ref()), (Some(0), ""), "{args}");
    }
}

#[test]
fn help_and_version_are_there_in_80_columns() {
    let folder = Folder::new();
    let overview = folder.ok(["help"]);
    assert_eq!(overview, folder.ok(["--help"]));
    assert_eq!(overview, folder.ok(["-h"]));
    assert_eq!(overview, folder.ok([] as [&str; 0]));
    let commands =
        ["compile", "serve", "inspect", "search", "remember", "memories", "doctor", "completion"];
    for name in commands {
        let text = folder.ok(["help", name]);
        assert_eq!(text, folder.ok([name, "--help"]));
        assert_eq!(text, folder.ok([name, "-h"]));
        assert!(overview.contains(&format!("  {name} ")), "{name}");
        assert!(text.starts_with(&format!("remindb {name}: ")), "{text}");
        for line in text.lines().chain(overview.lines()) {
            assert!(line.chars().count() <= 80, "{name}: {line}");
        }
    }
    let version = format!("remindb {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(folder.ok(["--version"]), version);
    assert_eq!(folder.ok(["-V"]), version);
}

#[test]
fn completions_are_scripts_that_their_shell_reads() {
    let folder = Folder::new();
    let bash = folder.ok(["completion", "bash"]);
    folder.write("remindb.bash", &bash);
    folder.write("mine.db", "");
    folder.write("mine.md", "");
    let ask = |words: &str| {
        format!(
            "source remindb.bash; COMP_WORDS=(remindb {words}); \
             COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); _remindb; echo ${{COMPREPLY[@]}}"
        )
    };
    let asked = [
        ("compile --m", "--message\n"),
        ("setup claude-c", "claude-code\n"),
        ("setup codex --scope p", "project\n"),
        ("remember --type dec", "decision\n"),
        ("import --from server", "server-memory\n"),
        ("inspect --db mi", "mine.db\n"),
        ("export --format m", "markdown\n"),
        ("space j", "join\n"),
        ("conflicts --status o", "open\n"),
        ("search --type epi", "episode\n"),
        ("search --type dec", "\n"),
    ];
    let asked = asked.map(|(words, completed)| (["-c".to_owned(), ask(words)], completed));
    let read = (["-n".to_owned(), "remindb.bash".to_owned()], "");
    for (args, stderr) in [read].into_iter().chain(asked) {
        let mut command = std::process::Command::new("bash");
        command.args(args).current_dir(folder.path(""));
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let output = finish(command.spawn().unwrap());
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
        assert_eq!(String::from_utf8_lossy(&output.stdout), stderr);
    }
    assert!(folder.ok(["completion", "zsh"]).ends_with(&bash));
    let fish = folder.ok(["completion", "fish"]);
    assert!(fish.contains("__fish_seen_subcommand_from compile' -l message\n"), "{fish}");
}
