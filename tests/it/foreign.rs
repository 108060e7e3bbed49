//! Tests of `import --from NAME`, on samples that the real programs made.

use std::fs;
use std::path::{Path, PathBuf};

use expect_test::{Expect, expect};

use super::support::Folder;

fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/foreign").join(name)
}

/// Returns the tree below the program's heading, without ids, temperatures and sizes.
fn shown(folder: &Folder) -> String {
    let tree = folder.ok(["tree", "--db", "memory.db", "--budget", "20000"]);
    let lines = tree.lines().map(|it| it.split(" (id=").next().unwrap_or(it));
    lines.map(|it| format!("{it}\n")).collect()
}

fn copy(from: &Path, to: &Path) {
    if from.is_dir() {
        fs::create_dir_all(to).unwrap();
        for entry in fs::read_dir(from).unwrap() {
            let name = entry.unwrap().file_name();
            copy(&from.join(&name), &to.join(&name));
        }
    } else {
        fs::copy(from, to).unwrap();
    }
}

/// Imports a sample twice, after a dry run; `said` is of the first time.
#[track_caller]
fn check(name: &str, n_notes: usize, tree: Expect) -> Folder {
    let folder = Folder::new();
    if name != "opencode" {
        copy(&sample(name), &folder.path("there"));
    } else {
        fs::create_dir(folder.path("there")).unwrap();
        let sql = fs::read_to_string(sample("opencode.sql")).unwrap();
        let conn = rusqlite::Connection::open(folder.path("there/opencode.db")).unwrap();
        conn.execute_batch(&sql).unwrap();
    }
    let import = ["import", "--from", name, "there", "--db", "memory.db"];
    let dry = folder.ok([&import[..], &["--dry-run"]].concat());
    let would = format!(
        "would import notes of {name}: {n_notes} added, 0 updated, 0 unchanged, to memory.db; \
         nothing was written\n"
    );
    assert_eq!(dry, would);
    assert!(!folder.path("memory.db").exists());
    let first = folder.ok(import);
    assert_eq!(
        first,
        format!(
            "imported notes of {name}: {n_notes} added, 0 updated, 0 unchanged, snapshot 1, to \
             memory.db\n"
        )
    );
    let second = folder.ok(import);
    assert_eq!(
        second,
        format!(
            "imported notes of {name}: 0 added, 0 updated, {n_notes} unchanged, no snapshot, to \
             memory.db\n"
        )
    );
    tree.assert_eq(&shown(&folder));
    folder.ok(["doctor", "--db", "memory.db"]);
    folder
}

#[test]
fn a_session_of_a_client_is_one_note() {
    for name in ["claude-code", "codex", "gemini-cli", "qwen-code"] {
        let folder = Folder::new();
        copy(&sample(name), &folder.path("there"));
        folder.ok(["import", "--from", name, "there", "--db", "memory.db"]);
        let tree = shown(&folder);
        let lines: Vec<&str> = tree.lines().skip(2).map(str::trim_start).collect();
        let [title, head, asked, answered] = lines[..] else { panic!("{name}: {tree}") };
        assert_eq!(title, "[heading] 2026-11-24 What is known of the quasar valve?", "{name}");
        let head = head.strip_prefix(&format!("[text] {name} session of 2026-11-24 09:0"));
        assert!(head.is_some_and(|it| it.ends_with(" in /home/al/plant")), "{name}: {tree}");
        assert_eq!(asked, "[text] User: What is known of the quasar valve?", "{name}");
        assert_eq!(answered, "[text] Assistant: All is done.", "{name}");
        // Neither what tools answered nor what the system said.
        let all = folder.ok(["inspect", "--tree", "--json", "--db", "memory.db"]);
        for noise in ["TANGERINE", "PERSIMMON", "MemorySearch", "sandbox", "remindb memory:"] {
            assert!(!all.contains(noise), "{name}: {noise}");
        }
    }
}

#[test]
fn opencode_has_a_database() {
    check(
        "opencode",
        1,
        expect![[r#"
        [heading] @imported
          [heading] opencode
            [heading] 2026-11-24 There is no MemorySearch.
              [text] opencode session of 2026-11-24 09:08 in /home/al/plant
              [text] User: What is known of the quasar valve?
              [text] Assistant: All is done.
    "#]],
    );
}

#[test]
fn entities_become_notes_with_links() {
    let folder = check(
        "server-memory",
        3,
        expect![[r#"
        [heading] @imported
          [heading] server-memory
            [heading] Leyla Demir
              [text] type: person
              [list] 4-item list: Runs the pumping station
            [heading] Pumping station
              [text] type: site
              [list] 2-item list: The quasar valve is calibrated at 41.7 kPa
            [heading] Reporting
              [text] type: process
    "#]],
    );
    let found = folder.ok(["search", "works_at", "--detail", "full", "--db", "memory.db"]);
    assert!(found.contains("works_at [[Pumping station]]"), "{found}");
    let related = folder.ok(["search", "Pumping station", "--db", "memory.db"]);
    assert!(related.contains("Pumping station"), "{related}");
    check(
        "basic-memory",
        2,
        expect![[r#"
        [heading] @imported
          [heading] basic-memory
            [heading] Pumping station
              [text] type: note
              [list] 1-item list: place: At the pond
            [heading] Quasar valve
              [text] type: note
              [text] Calibrated each spring.
              [list] 4-item list: measure: Opens at 41.7 kPa #pressure (reference port)
    "#]],
    );
    check(
        "cogx",
        6,
        expect![[r#"
        [heading] @imported
          [heading] cogx
            [heading] Report of March
              [heading] Flow
                [text] The flow was low.
            [text] The quasar valve opens at 41.7 kPa
            [heading] persona
              [text] Short answers, please.
            [heading] Leyla Demir
              [text] type: person
              [list] 3-item list: Runs the station
            [heading] Pumping station
              [text] type: site
            [heading] 2026-03-04 Valve
              [text] User: Why is it low?
              [text] Assistant: The spring is weak.
    "#]],
    );
    check(
        "mem0",
        2,
        expect![[r#"
        [heading] @imported
          [heading] mem0
            [text] The quasar valve opens at 41.7 kPa
            [text] Leyla prefers meetings in the morning
    "#]],
    );
}

/// An export of ChatGPT: a prompt of the system, a call of a tool, and an edited question.
const CHATGPT: &str = r#"[{"title": "Valve", "create_time": 1772616600.5, "conversation_id": "c1",
 "current_node": "n5", "mapping": {
 "n0": {"id": "n0", "message": null, "parent": null, "children": ["n1"]},
 "n1": {"message": {"author": {"role": "system"}, "content": {"content_type": "text", "parts":
  ["You are ChatGPT"]}}, "parent": "n0", "children": ["n2", "n2b"]},
 "n2": {"message": {"author": {"role": "user"}, "content": {"content_type": "multimodal_text",
  "parts": [{"content_type": "image_asset_pointer"}, "Why is it low?"]}}, "parent": "n1"},
 "n2b": {"message": {"author": {"role": "user"}, "content": {"content_type": "text", "parts":
  ["An earlier wording"]}}, "parent": "n1"},
 "n3": {"message": {"author": {"role": "assistant"}, "recipient": "python", "content":
  {"content_type": "code", "text": "print(1)"}}, "parent": "n2"},
 "n4": {"message": {"author": {"role": "tool"}, "content": {"content_type": "text", "parts":
  ["output 1"]}}, "parent": "n3"},
 "n5": {"message": {"author": {"role": "assistant"}, "recipient": "all", "content":
  {"content_type": "text", "parts": ["The spring is weak."]}}, "parent": "n4"}}},
 {"title": "broken"}]"#;

/// An export of Claude, with the use of a tool.
const CLAUDE: &str = r#"[{"uuid": "u1", "name": "Valve", "created_at": "2026-03-04T09:30:00.1Z",
 "chat_messages": [
 {"sender": "human", "text": "Why?", "content": [{"type": "text", "text": "Why is it low?"}]},
 {"sender": "assistant", "text": "…", "content": [{"type": "thinking", "thinking": "hm"},
  {"type": "tool_use", "name": "web", "input": {}}, {"type": "tool_result", "content": "noise"},
  {"type": "text", "text": "- The spring\n- The seal"}]}]},
 {"uuid": "u2", "name": "", "created_at": "2026-03-05T09:30:00Z", "chat_messages": []}]"#;

#[test]
fn exports_of_chats_are_one_note_a_conversation() {
    let folder = Folder::new();
    folder.write("gpt/conversations.json", CHATGPT);
    folder.write("gpt/user.json", "{}");
    let ran = folder.run(["import", "--from", "chatgpt", "gpt", "--db", "memory.db"]);
    assert_eq!(ran.code, Some(0));
    assert_eq!(ran.stderr, "gpt/conversations.json: conversation 2: no `mapping`\n");
    folder.write("cl/conversations.json", CLAUDE);
    folder.ok(["import", "--from", "claude", "cl", "--db", "memory.db"]);
    expect![[r#"
        [heading] @imported
          [heading] chatgpt
            [heading] 2026-03-04 Valve
              [text] chatgpt conversation of 2026-03-04 09:30
              [text] User: Why is it low?
              [text] Assistant: The spring is weak.
          [heading] claude
            [heading] 2026-03-04 Valve
              [text] claude conversation of 2026-03-04 09:30
              [text] User: Why is it low?
              [text] Assistant:
              [list] 2-item list: The spring
    "#]]
    .assert_eq(&shown(&folder));
    let all = folder.ok(["inspect", "--tree", "--json", "--db", "memory.db"]);
    for noise in ["You are ChatGPT", "print(1)", "output 1", "An earlier", "noise", "hm"] {
        assert!(!all.contains(noise), "{noise}");
    }
}

#[test]
fn a_session_that_grew_is_updated_and_one_that_did_not_is_left_alone() {
    let folder = Folder::new();
    let turn = |role: &str, text: &str| {
        format!(
            "{{\"type\":\"{role}\",\"sessionId\":\"s1\",\"cwd\":\"/p\",\"timestamp\":\
             \"2026-03-04T09:30:00Z\",\"message\":{{\"role\":\"{role}\",\"content\":\"{text}\"}}}}\n"
        )
    };
    let first = turn("user", "first question") + &turn("assistant", "# One\\n\\nfirst answer");
    folder.write("s/a.jsonl", &first);
    let import = ["import", "--from", "claude-code", "s", "--db", "memory.db"];
    folder.ok(import);
    let before = folder.ok(["tree", "--db", "memory.db"]);
    let grown = first + &turn("user", "password: hunter2x") + "{\"type\": \"user\", \n";
    folder.write("s/a.jsonl", grown);
    let ran = folder.run(import);
    assert_eq!(ran.code, Some(0));
    assert!(ran.stderr.starts_with("s/a.jsonl:4: no JSON: "), "{}", ran.stderr);
    assert_eq!(
        ran.stdout,
        "imported notes of claude-code: 0 added, 1 updated, 0 unchanged, 1 piece could not be \
         read, snapshot 2, to memory.db\nsecrets replaced by markers: 1\n"
    );
    // The nodes of what was there keep their ids.
    let after = folder.ok(["tree", "--db", "memory.db"]);
    let ids = |tree: &str| -> Vec<String> {
        tree.lines().filter_map(|it| Some(it.split_once("id=")?.1[..11].to_owned())).collect()
    };
    assert_eq!(ids(&before), ids(&after)[..ids(&before).len()]);
    assert_eq!(ids(&after).len(), ids(&before).len() + 1);
    assert!(!folder.ok(["inspect", "--tree", "--json", "--db", "memory.db"]).contains("hunter2x"));
    let again = folder.run(import).stdout;
    assert!(again.contains("0 added, 0 updated, 1 unchanged"), "{again}");
}

#[test]
fn what_cannot_be_imported_says_why() {
    let folder = Folder::new();
    folder.write("empty/readme.txt", "x");
    let check = |args: &[&str], code: i32, expected: &str| {
        let ran = folder.run(args);
        assert_eq!(ran.code, Some(code), "{}", ran.transcript());
        assert!(ran.stderr.contains(expected), "{}", ran.stderr);
        assert!(!folder.path("memory.db").exists());
    };
    check(
        &["import", "--from", "claude-cod", "empty", "--db", "memory.db"],
        2,
        "did you mean `claude-code`?",
    );
    check(
        &["import", "--from", "claudecode", "--db", "memory.db"],
        2,
        "did you mean `claude-code`?",
    );
    check(
        &["import", "--from", "codex", "empty", "--db", "memory.db"],
        2,
        "no memories of codex in `empty`; what is read: sessions/**/rollout-*.jsonl",
    );
    check(
        &["import", "--from", "chatgpt", "--db", "memory.db"],
        2,
        "`--from chatgpt` needs the file or folder to import: conversations.json",
    );
    check(&["import", "--from", "mem0", "none.json", "--db", "memory.db"], 2, "cannot read");
    check(&["import", "x.jsonl", "--dry-run", "--db", "memory.db"], 2, "`--dry-run` is for");
}

/// Imports a sample of two notes, and returns what the import says between the name and the end.
fn imported(folder: &Folder) -> String {
    let said = folder.ok(["import", "--from", "server-memory", "graph.jsonl", "--db", "memory.db"]);
    let said = said.strip_prefix("imported notes of server-memory: ").expect(&said);
    said.split(", to ").next().unwrap_or(said).to_owned()
}

/// Makes a memory with two imported notes.
fn with_two_notes() -> Folder {
    let folder = Folder::new();
    let lines = ["Ana", "Bo"].map(|name| {
        format!(
            r#"{{"type":"entity","name":"{name}","entityType":"person","observations":["on call"]}}"#
        )
    });
    fs::write(folder.path("graph.jsonl"), lines.join("\n")).unwrap();
    assert_eq!(imported(&folder), "2 added, 0 updated, 0 unchanged, snapshot 1");
    folder
}

/// Forgets the first node whose line in the tree has this text, with all below it.
#[track_caller]
fn forget(folder: &Folder, text: &str) {
    let tree = folder.ok(["tree", "--db", "memory.db"]);
    let line = tree.lines().find(|it| it.contains(text)).expect(&tree);
    let id = &line[line.find("(id=").unwrap() + 4..][..11];
    folder.ok(["forget", id, "--mode", "cascade", "--db", "memory.db"]);
}

#[test]
fn a_forgotten_note_is_not_imported_again() {
    let folder = with_two_notes();
    forget(&folder, "[heading] Ana");
    let again = "0 added, 0 updated, 1 unchanged, 1 forgotten before, no snapshot";
    assert_eq!(imported(&folder), again);
    // Not even after its history is gone, or in a copy of the memory.
    folder.ok(["gc", "--keep", "1", "--db", "memory.db"]);
    assert_eq!(imported(&folder), again);
    folder.ok(["export", "all.jsonl", "--db", "memory.db"]);
    let copy = Folder::new();
    fs::copy(folder.path("graph.jsonl"), copy.path("graph.jsonl")).unwrap();
    fs::copy(folder.path("all.jsonl"), copy.path("all.jsonl")).unwrap();
    copy.ok(["import", "all.jsonl", "--db", "memory.db"]);
    assert_eq!(imported(&copy), again);
    copy.ok(["doctor", "--db", "memory.db"]);
}

#[test]
fn a_forgotten_program_is_not_imported_again() {
    for heading in ["[heading] server-memory", "[heading] @imported"] {
        let folder = with_two_notes();
        forget(&folder, heading);
        let again = "0 added, 0 updated, 0 unchanged, 2 forgotten before, no snapshot";
        assert_eq!(imported(&folder), again, "{heading}");
    }
}

#[test]
fn a_rollback_decides_what_was_forgotten() {
    let folder = with_two_notes();
    forget(&folder, "[heading] Ana");
    // The state before it was forgotten, and the one after.
    folder.ok(["rollback", "1", "--db", "memory.db"]);
    assert_eq!(imported(&folder), "0 added, 0 updated, 2 unchanged, no snapshot");
    folder.ok(["rollback", "2", "--db", "memory.db"]);
    let again = "0 added, 0 updated, 1 unchanged, 1 forgotten before, no snapshot";
    assert_eq!(imported(&folder), again);
    // An import that was undone may be repeated.
    let folder = with_two_notes();
    folder.ok(["write", "Something else.", "--db", "memory.db"]);
    forget(&folder, "[heading] Ana");
    folder.ok(["rollback", "1", "--db", "memory.db"]);
    folder.ok(["write", "Something else.", "--db", "memory.db"]);
    assert_eq!(imported(&folder), "0 added, 0 updated, 2 unchanged, no snapshot");
}
