//! Tests imports of memories with secrets that were let in: markers take their place, in the past,
//! too, and nothing that was altered becomes genuine by it.

use std::fs;

use crate::support::{Folder, Ran};

const SECRET: &str = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";

/// Returns a memory of three snapshots; the first two have a secret in labels and texts.
fn memory_with_secrets() -> Folder {
    let settings = r#"{"redaction": {"disable_builtin_kinds": ["github_pat"]}}"#;
    let folder = Folder::new().file("notes/.remindb/config.json", settings);
    for text in [
        format!("# Use {SECRET}\n\nDeploy with {SECRET}.\n"),
        format!("# Use {SECRET} today\n\nDeploy with {SECRET}, not another.\n"),
        format!("# Ask Ana\n\nThey deployed with {SECRET}.\n"),
    ] {
        folder.write("notes/a.md", text);
        folder.ok(["compile", "notes", "--db", "m.db", "--trust-workspace"]);
    }
    folder
}

/// Exports a memory and imports it as `n.db`.
fn import(folder: &Folder) -> Ran {
    folder.ok(["export", "a.jsonl", "--force", "--db", "m.db"]);
    folder.run(["import", "a.jsonl", "--db", "n.db"])
}

#[test]
fn secrets_of_an_export_become_markers_in_every_state() {
    let folder = memory_with_secrets();
    let ran = import(&folder);
    assert!(ran.stderr.contains("secrets were replaced"), "{}", ran.transcript());
    folder.assert_healthy("n.db");
    assert_eq!(folder.facts("n.db")["snapshots"], folder.facts("m.db")["snapshots"]);
    let bytes = fs::read(folder.path("n.db")).unwrap();
    assert!(!bytes.windows(12).any(|it| it == &SECRET.as_bytes()[..12]), "a secret is in the file");
    for (snapshot, text) in [
        ("1", "Deploy with «redacted:github_pat»."),
        ("2", "Deploy with «redacted:github_pat», not another."),
        ("3", "They deployed with «redacted:github_pat»."),
    ] {
        folder.ok(["rollback", snapshot, "--db", "n.db"]);
        assert!(
            folder.ok(["search", "deploy deployed", "--db", "n.db"]).contains(text),
            "{snapshot}"
        );
        folder.assert_healthy("n.db");
    }
}

#[test]
fn what_was_altered_is_not_made_genuine_by_a_marker() {
    let sound = memory_with_secrets();
    fs::rename(sound.path("m.db"), sound.path("sound.db")).unwrap();
    for (altered, named) in [
        ("UPDATE diff SET old_label = 'Forged' WHERE snapshot = 2 AND op = 'mod'", "restored"),
        ("UPDATE diff SET old_label = old_label || '!' WHERE snapshot = 3", "restored"),
        ("UPDATE snapshot SET cursor_hash = '0123456789abcdef' WHERE id = 1", "restored, since"),
        ("DELETE FROM blob WHERE content LIKE '%not another%'", "restored, since"),
        ("UPDATE blob SET content = content || ' Forged.'", "texts differ from their hash"),
        ("UPDATE node SET content = content || ' Forged.'", "texts differ from their hash"),
        ("UPDATE node SET label = 'Forged'", "fingerprint: the state is"),
        ("UPDATE memory SET fingerprint = 7", "kept was 0000000000000007"),
    ] {
        fs::copy(sound.path("sound.db"), sound.path("m.db")).unwrap();
        let conn = sound.database("m.db");
        assert!(0 < conn.execute(altered, []).unwrap(), "{altered}");
        drop(conn);
        let ran = import(&sound);
        assert_eq!(ran.code, Some(2), "{altered}: {}", ran.transcript());
        assert!(ran.stderr.contains(named), "{altered}: {}", ran.stderr);
        assert!(!sound.path("n.db").exists(), "{altered}");
        // The advice of the error.
        sound.ok(["doctor", "--fix", "--db", "m.db"]);
        let ran = import(&sound);
        assert_eq!(ran.code, Some(0), "{altered}: {}", ran.transcript());
        sound.assert_healthy("n.db");
        fs::remove_file(sound.path("n.db")).unwrap();
    }
}

/// The label of a long text ends within its secret, and so does the breadcrumb of what is below.
#[test]
fn a_secret_that_a_label_was_cut_through_leaves_no_beginning() {
    let kinds = r#"["github_pat", "env_secret_assignment"]"#;
    let settings = format!(r#"{{"redaction": {{"disable_builtin_kinds": {kinds}}}}}"#);
    let folder = Folder::new().file("notes/.remindb/config.json", settings);
    let text = format!("The deploy token of the build machine in the old cellar is {SECRET}");
    for end in ["and it never ends.", "and it ends today.", ""] {
        let text = format!("# {text} {end}\n\n{text} {end}\n\n## Below\n\nMore.\n");
        folder.write("notes/a.md", text);
        folder.ok(["compile", "notes", "--db", "m.db", "--trust-workspace"]);
    }
    let shown = folder.ok(["tree", "--db", "m.db"]);
    assert!(shown.contains("ghp_16C7e42F292c6912…"), "{shown}");
    let ran = import(&folder);
    assert!(ran.stderr.contains("secrets were replaced"), "{}", ran.transcript());
    folder.assert_healthy("n.db");
    // The index has words in lower case.
    let bytes = fs::read(folder.path("n.db")).unwrap().to_ascii_lowercase();
    assert!(!bytes.windows(8).any(|it| it == b"16c7e42f"), "a secret is in the file");
    for snapshot in ["1", "2", "3"] {
        folder.ok(["rollback", snapshot, "--db", "n.db"]);
        let shown = folder.ok(["tree", "--db", "n.db"]);
        assert!(shown.contains("in the old cellar is «redacted:g"), "{shown}");
        folder.assert_healthy("n.db");
    }
}

/// Their names differ in a secret alone, in the past, too.
#[test]
fn folders_and_files_stay_distinct_when_their_names_become_equal() {
    let settings = r#"{"redaction": {"disable_builtin_kinds": ["github_pat"]}}"#;
    let other = SECRET.replace('1', "2");
    let folder = Folder::new().file("notes/.remindb/config.json", settings);
    for (name, text) in [(SECRET, "One."), (&other, "Two.")] {
        folder.write(format!("notes/{name}.md"), text);
    }
    folder.ok(["compile", "notes", "--db", "m.db", "--trust-workspace"]);
    folder.write(format!("notes/{other}.md"), "Three.");
    folder.ok(["compile", "notes", "--db", "m.db", "--trust-workspace"]);
    let conn = folder.database("m.db");
    // Roots are always redacted; those of an older build are not.
    let roots = format!(
        "UPDATE root SET path = '/no/{SECRET}';
         INSERT INTO root (path) VALUES ('/no/{other}');
         UPDATE snapshot SET compile_root = '/no/{SECRET}' WHERE compile_root <> ''"
    );
    conn.execute_batch(&roots).unwrap();
    drop(conn);
    let ran = import(&folder);
    assert_eq!(ran.code, Some(0), "{}", ran.transcript());
    folder.assert_healthy("n.db");
    let bytes = fs::read(folder.path("n.db")).unwrap();
    assert!(!bytes.windows(8).any(|it| it == &SECRET.as_bytes()[..8]), "a secret is in the file");
    folder.ok(["rollback", "1", "--db", "n.db"]);
    folder.assert_healthy("n.db");
}

#[test]
fn nodes_below_themselves_are_refused_though_their_labels_had_a_secret() {
    let folder = memory_with_secrets();
    let circle = "UPDATE node SET parent = key, file = NULL WHERE label LIKE '%ghp%'";
    assert_eq!(folder.database("m.db").execute(circle, []).unwrap(), 1);
    let ran = import(&folder);
    assert!(ran.stderr.contains("parent_cycles: 1 nodes"), "{}", ran.transcript());
    folder.run(["redact", "--db", "m.db"]);
}

/// The words of a secret can be divided between a title and the one above it.
#[test]
fn a_secret_that_only_a_breadcrumb_shows_is_no_hindrance() {
    let text = "# Set password: \"\n\n## hunter3secretword99abc\"\n\nfoo\n";
    let folder = Folder::new().file("notes/a.md", text);
    folder.ok(["compile", "notes", "--db", "m.db"]);
    folder.assert_healthy("m.db");
    folder.ok(["export", "out.jsonl", "--db", "m.db"]);
    folder.ok(["import", "out.jsonl", "--db", "new.db"]);
    folder.assert_healthy("new.db");
    folder.run(["redact", "--db", "m.db"]);
    folder.assert_healthy("m.db");
}
