//! Tests of write-back: what lands where, what stays an overlay, and random edits by both sides.

mod random;

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

use expect_test::{Expect, expect};

use crate::maintenance::doctor::{self, CheckStatus};
use crate::memory::{ForgetMode, Memory, WriteMode};
use crate::model::clock::{Clock, Millis};
use crate::settings::workspace::{LiveWorkspace, WorkspaceOptions};
use crate::store::IfMissing;

/// A folder that takes what agents write, and its memory.
struct Desk {
    dir: tempfile::TempDir,
    memory: Memory,
}

impl Desk {
    fn new() -> Desk {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("notes");
        fs::create_dir(&root).unwrap();
        let options = WorkspaceOptions { write_back: true, ..WorkspaceOptions::default() };
        let live = LiveWorkspace::start(&root, options).unwrap();
        // A time far in the future, so that every file's time is old enough to be trusted.
        let clock = Clock::manual(Millis(4_000_000_000_000));
        let db = dir.path().join("memory.db");
        let memory = Memory::open_at(&db, IfMissing::Create, clock).unwrap();
        Desk { dir, memory: memory.with_workspace(live) }
    }

    /// Returns a desk with one file, compiled.
    fn with(text: &str) -> Desk {
        let desk = Desk::new();
        desk.person("a.md", text);
        desk.compile();
        desk
    }

    fn path(&self, path: &str) -> PathBuf {
        self.dir.path().join("notes").join(path)
    }

    fn person(&self, path: &str, text: &str) {
        let full = self.path(path);
        fs::create_dir_all(full.parent().unwrap()).unwrap();
        fs::write(full, text).unwrap();
    }

    fn file(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap()
    }

    fn compile(&self) -> String {
        let report = self.memory.compile(&self.path(""), "test").unwrap();
        let report = doctor_says(&self.dir).map_or(report.to_string(), |it| it);
        report.split(" (").next().unwrap().to_owned()
    }

    /// Checks that the next compile has nothing to do.
    #[track_caller]
    fn check_settled(&self) {
        assert_eq!(self.compile(), "compiled: 0 added, 0 modified, 0 removed");
    }

    /// Returns the id of the node with this text.
    #[track_caller]
    fn id(&self, content: &str) -> String {
        let conn = rusqlite::Connection::open(self.dir.path().join("memory.db")).unwrap();
        let sql = "SELECT id FROM node WHERE content = ?1";
        conn.query_row(sql, [content], |row| row.get(0)).unwrap_or_else(|_| panic!("no {content}"))
    }

    /// Writes at the node with this text, and shows the rest of the reply and the file.
    #[track_caller]
    fn check_write(&self, at: &str, mode: WriteMode, words: &str, shown: Expect) {
        let id = self.id(at);
        let reply = self.memory.write(words, Some(&id), mode).unwrap().text;
        let rest = reply.split_once(" tokens)").map_or(reply.as_str(), |(_, rest)| rest);
        let rest: Vec<&str> = rest.lines().filter(|it| it.starts_with("kept")).collect();
        shown.assert_eq(&format!("{}\n{}", self.file("a.md"), rest.join("\n")));
        self.check_settled();
        if mode == WriteMode::Replace {
            let conn = rusqlite::Connection::open(self.dir.path().join("memory.db")).unwrap();
            let sql = "SELECT count(*) FROM node WHERE id = ?1";
            assert_eq!(conn.query_row(sql, [&id], |row| row.get::<_, i64>(0)).unwrap(), 1);
        }
    }
}

/// Returns what the doctor finds wrong.
fn doctor_says(dir: &tempfile::TempDir) -> Option<String> {
    let report = doctor::examine(&dir.path().join("memory.db")).unwrap();
    let bad = report.checks.into_iter().find(|it| it.status == CheckStatus::Fail);
    bad.map(|it| format!("{}: {}", it.name, it.detail))
}

const NOTE: &str =
    "# Store\n\nOne writes.\n\n- x\n- y\n\n```rust\nfn a() {}\n```\n\n## Later\n\nBye.\n";

#[test]
fn a_changed_text_lands_in_its_place() {
    let desk = Desk::with(NOTE);
    desk.check_write(
        "One writes.",
        WriteMode::Replace,
        "Two `write`.",
        expect![[r#"
        # Store

        Two `write`.

        - x
        - y

        ```rust
        fn a() {}
        ```

        ## Later

        Bye.

    "#]],
    );
    desk.check_write(
        "- x\n- y",
        WriteMode::Replace,
        "- z",
        expect![[r#"
        # Store

        Two `write`.

        - z

        ```rust
        fn a() {}
        ```

        ## Later

        Bye.

    "#]],
    );
    desk.check_write(
        "fn a() {}",
        WriteMode::Replace,
        "fn b() {}\nfn c() {}",
        expect![[r#"
        # Store

        Two `write`.

        - z

        ```rust
        fn b() {}
        fn c() {}
        ```

        ## Later

        Bye.

    "#]],
    );
    desk.check_write(
        "Later",
        WriteMode::Replace,
        "Soon",
        expect![[r#"
        # Store

        Two `write`.

        - z

        ```rust
        fn b() {}
        fn c() {}
        ```

        ## Soon

        Bye.

    "#]],
    );
    desk.check_write(
        "Bye.",
        WriteMode::Replace,
        "Hello.\n\nAnd more.",
        expect![[r#"
        # Store

        Two `write`.

        - z

        ```rust
        fn b() {}
        fn c() {}
        ```

        ## Soon

        Hello.

        And more.

    "#]],
    );
    desk.check_write(
        "Hello.",
        WriteMode::Replace,
        "- a list",
        expect![[r#"
        # Store

        Two `write`.

        - z

        ```rust
        fn b() {}
        fn c() {}
        ```

        ## Soon

        Hello.

        And more.

        kept as overlay: a.md would have no text there"#]],
    );
}

#[test]
fn an_added_text_lands_at_the_end_of_its_section() {
    let desk = Desk::with(NOTE);
    desk.check_write(
        "Later",
        WriteMode::Append,
        "More.\n\n```sh\nmake\n```",
        expect![[r#"
        # Store

        One writes.

        - x
        - y

        ```rust
        fn a() {}
        ```

        ## Later

        Bye.

        More.

        ```sh
        make
        ```

    "#]],
    );
    desk.check_write(
        "Store",
        WriteMode::Append,
        "Last.",
        expect![[r#"
            # Store

            One writes.

            - x
            - y

            ```rust
            fn a() {}
            ```

            Last.

            ## Later

            Bye.

            More.

            ```sh
            make
            ```

        "#]],
    );
    desk.check_write(
        "Later",
        WriteMode::Append,
        "### Deep\n\nText.",
        expect![[r#"
            # Store

            One writes.

            - x
            - y

            ```rust
            fn a() {}
            ```

            Last.

            ## Later

            Bye.

            More.

            ```sh
            make
            ```

            ### Deep

            Text.

        "#]],
    );
    desk.check_write(
        "Later",
        WriteMode::Append,
        "# Too high\n\nText.",
        expect![[r#"
            # Store

            One writes.

            - x
            - y

            ```rust
            fn a() {}
            ```

            Last.

            ## Later

            Bye.

            More.

            ```sh
            make
            ```

            ### Deep

            Text.

            kept as overlay: a.md would read otherwise with it"#]],
    );
    desk.check_write(
        "Bye.",
        WriteMode::Append,
        "Below a paragraph.",
        expect![[r#"
            # Store

            One writes.

            - x
            - y

            ```rust
            fn a() {}
            ```

            Last.

            ## Later

            Bye.

            More.

            ```sh
            make
            ```

            ### Deep

            Text.

            kept as overlay: a.md would read otherwise with it"#]],
    );
}

#[test]
fn a_repeated_write_changes_nothing() {
    let desk = Desk::with(NOTE);
    for _ in 0..2 {
        let at = desk.id("Later");
        desk.memory.write("More.", Some(&at), WriteMode::Append).unwrap();
        assert_eq!(desk.file("a.md"), format!("{NOTE}\nMore.\n"));
        desk.check_settled();
    }
    let first = desk.memory.write("# A note\n\nText.", None, WriteMode::Auto).unwrap().text;
    let second = desk.memory.write("# A note\n\nText.", None, WriteMode::Auto).unwrap().text;
    assert_eq!(first, second);
    let other = desk.memory.write("# A note\n\nAnother.", None, WriteMode::Auto).unwrap().text;
    assert_ne!(first, other);
    assert_eq!(desk.file("agents/a-note.md"), "# A note\n\nText.\n");
    assert_eq!(desk.file("agents/a-note-2.md"), "# A note\n\nAnother.\n");
    desk.check_settled();
}

#[test]
fn what_is_forgotten_leaves_the_file() {
    let desk = Desk::with(NOTE);
    let forget = |text: &str, mode| {
        let reply = desk.memory.forget(&desk.id(text), mode).unwrap().text;
        desk.check_settled();
        let kept = reply.split_once('\n').map_or("", |(_, it)| it);
        format!("{}{kept}\n---\n", desk.file("a.md"))
    };
    let mut all = forget("One writes.", ForgetMode::Strict);
    all += &forget("fn a() {}", ForgetMode::Strict);
    all += &forget("Later", ForgetMode::Reparent);
    all += &forget("Bye.", ForgetMode::Strict);
    all += &forget("Store", ForgetMode::Cascade);
    expect![[r#"
        # Store

        - x
        - y

        ```rust
        fn a() {}
        ```

        ## Later

        Bye.

        ---
        # Store

        - x
        - y

        ## Later

        Bye.

        ---
        # Store

        - x
        - y

        Bye.

        ---
        # Store

        - x
        - y

        ---

        ---
    "#]]
    .assert_eq(&all);
}

#[test]
fn a_file_that_changed_is_left_alone() {
    let desk = Desk::with(NOTE);
    desk.person("a.md", &NOTE.replace("Bye", "Good bye"));
    let id = desk.id("One writes.");
    let reply = desk.memory.write("Two write.", Some(&id), WriteMode::Replace).unwrap().text;
    let kept = "kept as overlay: a.md changed since it was compiled";
    assert!(reply.ends_with(kept), "{reply}");
    let reply = desk.memory.forget(&desk.id("- x\n- y"), ForgetMode::Strict).unwrap().text;
    assert!(reply.ends_with(kept), "{reply}");
    assert_eq!(desk.file("a.md"), NOTE.replace("Bye", "Good bye"));
    assert_eq!(desk.compile(), "compiled: 0 added, 1 modified, 0 removed");
    // The overlay and the tombstone stay; other nodes of the file land again.
    desk.check_write(
        "Good bye.",
        WriteMode::Replace,
        "So long.",
        expect![[r#"
        # Store

        One writes.

        - x
        - y

        ```rust
        fn a() {}
        ```

        ## Later

        So long.

    "#]],
    );
    desk.check_write(
        "Two write.",
        WriteMode::Replace,
        "Three write.",
        expect![[r#"
        # Store

        Three write.

        - x
        - y

        ```rust
        fn a() {}
        ```

        ## Later

        So long.

    "#]],
    );
}

#[test]
fn line_ends_marks_and_modes_of_a_file_stay() {
    let desk = Desk::new();
    let text = format!("\u{feff}{}", NOTE.trim_end().replace('\n', "\r\n"));
    desk.person("a.md", &text);
    fs::set_permissions(desk.path("a.md"), fs::Permissions::from_mode(0o640)).unwrap();
    desk.compile();
    desk.memory.write("Two\nwrite.", Some(&desk.id("One writes.")), WriteMode::Replace).unwrap();
    desk.memory.write("More.", Some(&desk.id("Later")), WriteMode::Append).unwrap();
    let expected = text.replace("One writes.", "Two\r\nwrite.") + "\r\n\r\nMore.";
    assert_eq!(desk.file("a.md"), expected);
    assert_eq!(fs::metadata(desk.path("a.md")).unwrap().permissions().mode() & 0o777, 0o640);
    desk.check_settled();
}

#[test]
fn a_secret_of_a_person_is_never_written_over() {
    let secret = ["ghp", "0123456789abcdefghijABCDEFGHIJ012345"].join("_");
    let text = format!("# A\n\nBefore.\n\nThe token is {secret} here.\n\nAfter.\n");
    let desk = Desk::with(&text);
    let marked = "The token is «redacted:github_pat» here.";
    desk.memory.write("Later.", Some(&desk.id("After.")), WriteMode::Replace).unwrap();
    assert_eq!(desk.file("a.md"), text.replace("After.", "Later."));
    desk.check_settled();
    for words in ["No token.", "The token is «redacted:github_pat» there."] {
        let at = desk.id(marked);
        let reply = desk.memory.write(words, Some(&at), WriteMode::Replace).unwrap().text;
        assert!(reply.contains("kept as overlay: a.md has a secret there"), "{reply}");
        desk.memory.write(marked, Some(&at), WriteMode::Replace).unwrap();
    }
    let reply = desk.memory.forget(&desk.id(marked), ForgetMode::Strict).unwrap().text;
    assert!(reply.contains("has a secret there"), "{reply}");
    let reply = desk.memory.forget(&desk.id("A"), ForgetMode::Cascade).unwrap().text;
    assert!(reply.contains("kept as overlay"), "{reply}");
    assert!(desk.file("a.md").contains(&secret));
    desk.check_settled();
}

#[test]
fn nothing_is_written_in_other_formats_or_through_links() {
    let desk = Desk::new();
    desk.person("c.json", "{\"port\": 80}");
    desk.person("elsewhere/b.md", "Linked.\n");
    symlink(desk.path("elsewhere/b.md"), desk.path("b.md")).unwrap();
    desk.person("page.html", "<p>A page.</p>");
    desk.person("plain.txt", "A plain text.\n\nAnother.\n");
    desk.compile();
    let replace = |text: &str, words: &str| {
        let at = desk.id(text);
        desk.memory.write(words, Some(&at), WriteMode::Replace).unwrap().text
    };
    assert!(replace("port: 80", "port: 81").contains("c.json is neither Markdown nor plain text"));
    assert!(replace("A page.", "No page.").contains("page.html is neither"));
    assert_eq!(desk.file("c.json"), "{\"port\": 80}");
    assert!(!replace("A plain text.", "A simple text.").contains("kept"));
    assert_eq!(desk.file("plain.txt"), "A simple text.\n\nAnother.\n");
    desk.check_settled();
    symlink("/etc", desk.path("agents")).unwrap();
    let reply = desk.memory.write("A new one.", None, WriteMode::Auto).unwrap().text;
    assert!(reply.contains("kept as overlay: agents/a-new-one.md"), "{reply}");
}

#[test]
fn a_folder_without_the_setting_is_not_written_to() {
    let desk = Desk::with(NOTE);
    let live = LiveWorkspace::start(&desk.path(""), WorkspaceOptions::default()).unwrap();
    let Desk { dir, memory } = desk;
    let desk = Desk { dir, memory: memory.with_workspace(live) };
    desk.memory.write("Two.", Some(&desk.id("One writes.")), WriteMode::Replace).unwrap();
    desk.memory.write("A new one.", None, WriteMode::Auto).unwrap();
    assert_eq!(desk.file("a.md"), NOTE);
    assert!(!desk.path("agents").exists());
    desk.check_settled();
}
