//! Tests that a compile says which files it did not read: one line with kinds, and each path on request.

use std::os::unix::fs::symlink;

use expect_test::expect;
use serde_json::{Value, json};

use crate::support::{Client, Folder};

/// Returns notes beside documents, sources and what is excluded.
fn folder() -> Folder {
    Folder::new()
        .file("notes/a.md", "# A\n\nText.\n")
        .file("notes/books/rust.pdf", "%PDF-1.7")
        .file("notes/books/plan.DOCX", "PK")
        .file("notes/src/main.rs", "fn main() {}")
        .file("notes/src/lib.rs", "")
        .file("notes/LICENSE", "Free.")
        .file("notes/drafts/b.md", "# Draft\n")
        .file("notes/c.draft.md", "# Draft\n")
        .file("notes/target/d.md", "# Built\n")
        .file("notes/.remindb/ignore", "drafts/\n*.draft.md\n")
}

#[test]
fn one_line_counts_by_kind_and_each_path_is_named_on_request() {
    let folder = folder();
    folder.check_session(expect![[r#"
        $ compile notes --db m.db
        compiled: 2 added, 0 modified, 0 removed (2 ops)
        passed over: 6 files (1 PDF, 1 office document, 2 .rs, 1 excluded by an ignore file, 1 without an ending) and 2 folders; --verbose lists them
        = 0
        $ compile notes --db m.db --verbose
        compiled: 0 added, 0 modified, 0 removed (0 ops)
        passed over: 6 files (1 PDF, 1 office document, 2 .rs, 1 excluded by an ignore file, 1 without an ending) and 2 folders:
          .remindb/ (folder)
          LICENSE (without an ending)
          books/plan.DOCX (office document)
          books/rust.pdf (PDF)
          c.draft.md (excluded by an ignore file)
          drafts/ (folder)
          src/lib.rs (.rs)
          src/main.rs (.rs)
          target/ (folder)
        = 0
        $ compile notes/books/rust.pdf --db m.db
        ! remindb: cannot compile `DIR/notes/books/rust.pdf`: PDFs are not read; name a folder, or a file that ends in .md, .markdown, .html, .htm, .xhtml, .json, .jsonc, .jsonl, .ndjson, .yaml, .yml, .toml, .toon, .csv, .tsv, .txt, .org, .rst, .mdx
        = 2
        $ compile notes/src --db m.db --json
        {"added":0,"modified":0,"removed":0,"snapshot":null,"warnings":[],"passed_over":{"files":2,"folders":0,"kinds":{".rs":2}}}
        = 0
    "#]]);
}

#[test]
fn what_an_interrupted_change_left_is_named() {
    let folder = Folder::new()
        .file("notes/a.md", "# A\n\nAn agent's.\n")
        .file("notes/.a.md.draft", "# A\n\nMine.\n")
        .file("notes/b/.c.md.saved-1", "# C\n\nMine.\n")
        .file("notes/.a.rs.draft", "fn main() {}");
    folder.check_session(expect![[r#"
        $ compile notes --db m.db
        compiled: 2 added, 0 modified, 0 removed (2 ops), 2 warnings
        ! remindb: warning: .a.md.draft: left by a change that was interrupted, and maybe a version that was saved meanwhile; compare it with the file, then delete it
        ! remindb: warning: b/.c.md.saved-1: left by a change that was interrupted, and maybe a version that was saved meanwhile; compare it with the file, then delete it
        = 0
    "#]]);
}

#[test]
fn a_folder_without_other_files_needs_no_line() {
    let folder = Folder::new().file("notes/a.md", "# A\n").file("notes/.git/config.md", "");
    let told = folder.ok(["compile", "notes", "--db", "m.db"]);
    assert_eq!(told, "compiled: 1 added, 0 modified, 0 removed (1 ops)\n");
    let shown = folder.ok(["inspect", "--skipped", "--db", "m.db"]);
    assert!(shown.ends_with("=== Passed over ===\nDIR/notes\n  .git/ (folder)\n"), "{shown}");
    let folder = Folder::new().file("notes/a.md", "# A\n");
    folder.ok(["compile", "notes", "--db", "m.db", "--verbose"]);
    let shown = folder.ok(["inspect", "--skipped", "--db", "m.db"]);
    assert!(shown.ends_with("=== Passed over ===\nNothing in the compiled folders.\n"), "{shown}");
}

#[test]
fn inspect_lists_what_is_passed_over_with_what_failed() {
    let folder = folder().file("notes/.gitignore", "*.rs\n");
    symlink("/etc/hostname", folder.path("notes/out.md")).unwrap();
    folder.ok(["compile", "notes", "--db", "m.db"]);
    let shown = folder.run(["inspect", "--skipped", "--gitignore", "--db", "m.db"]).stdout;
    let (_, shown) = shown.split_once("=== Passed").unwrap();
    expect![[r#"
         over ===
        DIR/notes
          .gitignore (without an ending)
          .remindb/ (folder)
          LICENSE (without an ending)
          books/plan.DOCX (office document)
          books/rust.pdf (PDF)
          c.draft.md (excluded by an ignore file)
          drafts/ (folder)
          out.md (a link that leaves the folder; not followed)
          src/lib.rs (excluded by an ignore file)
          src/main.rs (excluded by an ignore file)
          target/ (folder)
    "#]]
    .assert_eq(shown);
    let json = folder.ok(["inspect", "--skipped", "--json", "--db", "m.db"]);
    let json: Value = serde_json::from_str(&json).unwrap();
    let pdf = json!({"root": "DIR/notes", "path": "books/rust.pdf", "line": null, "why": "PDF"});
    assert!(json["skipped"].as_array().unwrap().contains(&pdf), "{json:#}");
}

#[test]
fn json_has_counts_and_paths_on_request() {
    let folder = Folder::new().file("notes/a.md", "# A\n").file("notes/b.pdf", "");
    let json = |flags: &[&str]| -> Value {
        let flags = [&["compile", "notes", "--db", "m.db", "--json"], flags].concat();
        serde_json::from_str(&folder.ok(flags)).unwrap()
    };
    let counts = json!({"files": 1, "folders": 0, "kinds": {"PDF": 1}});
    assert_eq!(json(&[])["passed_over"], counts);
    let paths = json!([{"path": "b.pdf", "kind": "PDF"}]);
    assert_eq!(json(&["--verbose"])["passed_over"]["paths"], paths);
}

#[test]
fn an_agent_is_told_too() {
    let folder = folder();
    let mut client = Client::legacy(&folder, &["--source", "notes"]);
    let reply = client.call("MemoryCompile", json!({"path": "books"}));
    let line = "passed over: 2 files (1 PDF, 1 office document); `remindb inspect --skipped` lists \
                them";
    assert_eq!(reply.text.lines().nth(1), Some(line));
    assert_eq!(reply.result["structuredContent"], Value::Null);
}
