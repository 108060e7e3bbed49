//! Tests of write-back: the place of a text that lands.

/// Files and blocks that stay as they are.
mod left_alone;
/// Random edits by both sides.
mod random;

use std::fs;
use std::path::PathBuf;

use expect_test::{Expect, expect};

use crate::maintenance::doctor::{self, CheckStatus};
use crate::memory::{AppendOrReplaceMode, ForgetChildrenMode, Memory};
use crate::model::clock::{Clock, UnixMillis};
use crate::settings::root_settings::{LiveRootSettings, OperatorOptions};
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
        let options = OperatorOptions { write_back: true, ..OperatorOptions::default() };
        let live = LiveRootSettings::start(&root, options).unwrap();
        // A time far in the future, so that every file's time is old enough to be trusted.
        let clock = Clock::manual(UnixMillis(4_000_000_000_000));
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

    /// Checks a write as [`Desk::write_at`] shows it.
    #[track_caller]
    fn check_write(&self, at: &str, mode: AppendOrReplaceMode, words: &str, shown: Expect) {
        shown.assert_eq(&self.write_at(at, mode, words));
    }

    /// Writes at the node with this text, and shows the file and the rest of the reply.
    #[track_caller]
    fn write_at(&self, at: &str, mode: AppendOrReplaceMode, words: &str) -> String {
        let id = self.id(at);
        let reply = self.memory.write(words, Some(&id), mode).unwrap().text;
        let rest = reply.split_once(" tokens)").map_or(reply.as_str(), |(_, rest)| rest);
        let rest: Vec<&str> = rest.lines().filter(|it| it.starts_with("kept")).collect();
        let shown = format!("{}\n{}", self.file("a.md"), rest.join("\n"));
        self.check_settled();
        if mode == AppendOrReplaceMode::Replace {
            let conn = rusqlite::Connection::open(self.dir.path().join("memory.db")).unwrap();
            let sql = "SELECT count(*) FROM node WHERE id = ?1";
            assert_eq!(conn.query_row(sql, [&id], |row| row.get::<_, i64>(0)).unwrap(), 1);
        }
        shown
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
        AppendOrReplaceMode::Replace,
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
        AppendOrReplaceMode::Replace,
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
        AppendOrReplaceMode::Replace,
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
        AppendOrReplaceMode::Replace,
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
        AppendOrReplaceMode::Replace,
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
        AppendOrReplaceMode::Replace,
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
        AppendOrReplaceMode::Append,
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
        AppendOrReplaceMode::Append,
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
        AppendOrReplaceMode::Append,
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
        AppendOrReplaceMode::Append,
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
        AppendOrReplaceMode::Append,
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
        desk.memory.write("More.", Some(&at), AppendOrReplaceMode::Append).unwrap();
        assert_eq!(desk.file("a.md"), format!("{NOTE}\nMore.\n"));
        desk.check_settled();
    }
    let first =
        desk.memory.write("# A note\n\nText.", None, AppendOrReplaceMode::Auto).unwrap().text;
    let second =
        desk.memory.write("# A note\n\nText.", None, AppendOrReplaceMode::Auto).unwrap().text;
    assert_eq!(first, second);
    let other =
        desk.memory.write("# A note\n\nAnother.", None, AppendOrReplaceMode::Auto).unwrap().text;
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
    let mut all = forget("One writes.", ForgetChildrenMode::Strict);
    all += &forget("fn a() {}", ForgetChildrenMode::Strict);
    all += &forget("Later", ForgetChildrenMode::Reparent);
    all += &forget("Bye.", ForgetChildrenMode::Strict);
    all += &forget("Store", ForgetChildrenMode::Cascade);
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
