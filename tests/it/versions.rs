//! Tests the history through the real server and the command line.
//!
//! An agent reads what changed and rolls back, and dropped texts leave no byte in the file.

use std::fs;

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use super::support::{Client, Folder};

const NOTES: &str = "# Deploy\n\nBy hand, on Fridays.\n\n## Roll back\n\nUndo it.\n";

fn notes() -> (Folder, Client) {
    let folder = Folder::new().file("notes/deploy.md", NOTES);
    folder.date("notes/deploy.md", 0);
    folder.ok(["compile", "notes", "--db", "m.db"]);
    let client = Client::legacy(&folder, &["--db", "m.db", "--source", "notes", "--structured"]);
    client.logged("compiled: ");
    (folder, client)
}

#[track_caller]
fn check(client: &mut Client, tool: &str, arguments: Value, expected: Expect) {
    let reply = client.call(tool, arguments).result;
    let text = reply["content"][0]["text"].as_str().unwrap();
    let is_error = reply["isError"] == json!(true);
    expected.assert_eq(&if is_error { format!("error: {text}") } else { text.to_owned() });
}

#[test]
fn an_agent_catches_up_in_one_call_and_goes_back() {
    let (folder, mut client) = notes();
    let secret = json!({"anchor": "", "payload": "# Secret plan\n\nZyzzyva quokka 4711.\n"});
    client.text("MemoryWrite", json!({"payload": secret["payload"]}));
    folder.write("notes/deploy.md", NOTES.replace("By hand", "By robot"));
    folder.date("notes/deploy.md", 1);
    client.text("MemoryCompile", json!({"path": "deploy.md"}));
    check(
        &mut client,
        "MemoryDelta",
        json!({"since_snapshot": 1, "detail": true}),
        expect![[r#"
            [mod] KYmpBmfceIW (snapshot 3) [text] By robot, on Fridays. (file=deploy.md tok=6)
              By robot, on Fridays.
            [add] HSOMANPaUbK (snapshot 2) [heading] Secret plan (tok=2)
              Secret plan
            [add] L6GAeWvTTS5 (snapshot 2) [text] Zyzzyva quokka 4711. (tok=11)
              Zyzzyva quokka 4711."#]],
    );
    check(
        &mut client,
        "MemoryDiff",
        json!({"from_snapshot_id": 2, "to_snapshot_id": 3}),
        expect![[r#"
            [mod] KYmpBmfceIW [text] By robot, on Fridays. (file=deploy.md tok=6)
            @@ -1 +1 @@
            -By hand, on Fridays.
            \ No newline at end of file
            +By robot, on Fridays.
            \ No newline at end of file"#]],
    );
    check(
        &mut client,
        "MemoryDelta",
        json!({"since_snapshot": 99}),
        expect!["error: `since_snapshot`: no snapshot 99; there are 1 to 3"],
    );
    check(
        &mut client,
        "MemoryDelta",
        json!({"cursor": "x"}),
        expect!["error: `cursor` must be one that a reply named, such as 7.12, not `x`"],
    );
    check(
        &mut client,
        "MemoryHistory",
        json!({"anchor": "nobody"}),
        expect!["no history for nobody"],
    );
    let rolled = client.call("MemoryRollback", json!({"snapshot_id": 1})).result;
    let facts = json!({"target": 1, "snapshot": 4, "nodes": 3, "dropped": null,
        "was_head": false, "unscrubbed": false});
    assert_eq!(rolled["structuredContent"], facts);
    // The compile does not restore the files' text.
    client.text("MemoryCompile", json!({"path": "."}));
    check(&mut client, "MemoryDelta", json!({"since_snapshot": 4}), expect!["no changes"]);
    check(
        &mut client,
        "MemoryRollback",
        json!({"snapshot_id": 4}),
        expect!["already at snapshot 4; nothing to do"],
    );
    for target in [0, -1, 999] {
        let reply = client.call("MemoryRollback", json!({"snapshot_id": target})).result;
        assert_eq!(reply["isError"], true);
    }
    check(
        &mut client,
        "MemoryRollback",
        json!({"snapshot_id": 1, "drop_after": true}),
        expect![
            "no rollback applied; computed state matches HEAD for snapshot 1; pruned 3 intermediate snapshot(s)"
        ],
    );
    check(
        &mut client,
        "MemoryRollback",
        json!({"snapshot_id": 3}),
        expect!["error: `snapshot_id`: no snapshot 3; there is only 1"],
    );
    client.end();
    for name in ["m.db", "m.db-wal"] {
        let bytes = fs::read(folder.path(name)).unwrap_or_default().to_ascii_lowercase();
        for word in ["zyzzyva", "quokka", "4711", "by robot", "secret plan"] {
            let found = bytes.windows(word.len()).any(|it| it == word.as_bytes());
            assert!(!found, "`{word}` is in {name}");
        }
    }
    folder.assert_healthy("m.db");
}

#[test]
fn a_restart_recompiles_nothing_that_was_rolled_back() {
    let (folder, mut client) = notes();
    folder.write("notes/deploy.md", NOTES.replace("Undo it.", "Undo all of it."));
    folder.date("notes/deploy.md", 1);
    client.text("MemoryCompile", json!({"path": "."}));
    client.text("MemoryRollback", json!({"snapshot_id": 1}));
    client.end();
    let compiled = folder.ok(["compile", "notes", "--db", "m.db"]);
    assert_eq!(compiled, "compiled: 0 added, 0 modified, 0 removed (0 ops)\n");
    assert!(folder.ok(["search", "undo", "--db", "m.db"]).contains("Undo it."));
}

#[test]
fn old_snapshots_are_collected_and_their_bytes_are_gone() {
    let (folder, client) = notes();
    client.end();
    for (nth, word) in ["aardwolf", "binturong", "caracal"].into_iter().enumerate() {
        folder.write("notes/deploy.md", NOTES.replace("By hand", word));
        folder.date("notes/deploy.md", nth as u64 + 1);
        folder.ok(["compile", "notes", "--db", "m.db"]);
    }
    let texts = |told: String| told.split("; file ").next().unwrap().to_owned();
    let told = folder.ok(["gc", "--keep", "2", "--dry-run", "--db", "m.db"]);
    expect![[r#"
        would forget 2 snapshot(s) with 6 change(s) and 2 text(s) of 41.0 B; 2 snapshots left, from 3 on
    "#]].assert_eq(&texts(told));
    expect![
        "forgot 2 snapshot(s) with 6 change(s) and 2 text(s) of 41.0 B; 2 snapshots left, from 3 on"
    ]
    .assert_eq(&texts(folder.ok(["gc", "--keep", "2", "--db", "m.db"])));
    expect![
        "forgot 0 snapshot(s) with 0 change(s) and 0 text(s) of 0.0 B; 2 snapshots left, from 3 on"
    ]
    .assert_eq(&texts(folder.ok(["gc", "--older-than", "1h", "--db", "m.db"])));
    let bytes = fs::read(folder.path("m.db")).unwrap();
    let has = |word: &str| bytes.windows(word.len()).any(|it| it == word.as_bytes());
    assert_eq!(
        ["By hand", "aardwolf", "binturong", "caracal"].map(has),
        [false, false, true, true]
    );
    let mut client = Client::legacy(&folder, &["--db", "m.db"]);
    check(
        &mut client,
        "MemoryDelta",
        json!({}),
        expect![[r#"
            [mod] KYmpBmfceIW (snapshot 4) [text] caracal, on Fridays. (file=deploy.md tok=8 → 7)
            … history begins at snapshot 3; what is older is not listed"#]],
    );
    check(
        &mut client,
        "MemoryDiff",
        json!({"from_snapshot_id": 0, "to_snapshot_id": 4}),
        expect!["error: `from_snapshot_id`: history begins at snapshot 3; what was before is gone"],
    );
    check(
        &mut client,
        "MemoryRollback",
        json!({"snapshot_id": 2}),
        expect!["error: `snapshot_id`: no snapshot 2; there are 3 to 4"],
    );
    check(
        &mut client,
        "MemoryRollback",
        json!({"snapshot_id": 3}),
        expect!["rolled back to snapshot 3 (new snapshot 5, 1 nodes affected)"],
    );
    client.end();
    folder.assert_healthy("m.db");
}

/// Returns a memory of two snapshots, the second of which brought the note `zyzzyva.md`.
fn with_a_second_note() -> Folder {
    let folder = Folder::new().file("notes/a.md", "# A\n\nThe first.\n");
    folder.ok(["compile", "notes", "--db", "m.db"]);
    folder.write("notes/zyzzyva.md", "# Zyzzyva\n\nThe second.\n");
    folder.ok(["compile", "notes", "--db", "m.db"]);
    folder
}

#[track_caller]
fn assert_nowhere(folder: &Folder, word: &str) {
    for name in ["m.db", "m.db-wal"] {
        let bytes = fs::read(folder.path(name)).unwrap_or_default().to_ascii_lowercase();
        assert!(!bytes.windows(word.len()).any(|it| it == word.as_bytes()), "{name}");
    }
    folder.assert_healthy("m.db");
}

#[test]
fn the_name_of_a_file_goes_with_the_snapshots_that_knew_it() {
    for is_on_disk in [true, false] {
        let folder = with_a_second_note();
        if !is_on_disk {
            fs::remove_file(folder.path("notes/zyzzyva.md")).unwrap();
        }
        let mut client = Client::modern(&folder, &["--db", "m.db"]);
        client.text("MemoryRollback", json!({"snapshot_id": 1, "drop_after": true}));
        assert_nowhere(&folder, "zyzzyva");
        client.end();
        let compiled = folder.ok(["compile", "notes", "--db", "m.db"]);
        let n_added = if is_on_disk { 2 } else { 0 };
        assert!(compiled.starts_with(&format!("compiled: {n_added} added, ")), "{compiled}");
    }
}

#[test]
fn the_name_of_a_deleted_file_goes_with_the_history() {
    let folder = with_a_second_note();
    let mut client = Client::modern(&folder, &["--db", "m.db"]);
    client.text("MemoryRollback", json!({"snapshot_id": 1}));
    client.end();
    let compile = || folder.ok(["compile", "notes", "--db", "m.db"]);
    assert_eq!(compile(), "compiled: 0 added, 0 modified, 0 removed (0 ops)\n", "it is forgotten");
    fs::remove_file(folder.path("notes/zyzzyva.md")).unwrap();
    compile();
    folder.ok(["gc", "--keep", "1", "--db", "m.db"]);
    assert_nowhere(&folder, "zyzzyva");
}

/// The file is still on the disk, and is new to the next compile.
#[test]
fn the_name_of_an_emptied_file_goes_with_the_history() {
    for text in ["", "\n \n"] {
        let folder = with_a_second_note();
        folder.write("notes/zyzzyva.md", text);
        folder.ok(["compile", "notes", "--db", "m.db"]);
        folder.write("notes/a.md", "# A\n\nThe first, again.\n");
        folder.ok(["compile", "notes", "--db", "m.db"]);
        folder.ok(["gc", "--keep", "1", "--no-backup", "--db", "m.db"]);
        assert_nowhere(&folder, "zyzzyva");
        let compiled = folder.ok(["compile", "notes", "--db", "m.db"]);
        assert_eq!(compiled, "compiled: 0 added, 0 modified, 0 removed (0 ops)\n");
        folder.write("notes/zyzzyva.md", "# Back\n");
        let compiled = folder.ok(["compile", "notes", "--db", "m.db"]);
        assert_eq!(compiled, "compiled: 1 added, 0 modified, 0 removed (1 ops)\n");
        folder.assert_healthy("m.db");
    }
}

/// The file is still there, and what an agent forgot of it stays forgotten.
#[test]
fn the_name_of_a_file_on_the_disk_stays_for_what_was_forgotten() {
    let folder = with_a_second_note();
    let mut client = Client::modern(&folder, &["--db", "m.db"]);
    client.text("MemoryRollback", json!({"snapshot_id": 1}));
    client.end();
    folder.ok(["gc", "--keep", "1", "--db", "m.db"]);
    let compiled = folder.ok(["compile", "notes", "--db", "m.db"]);
    assert_eq!(compiled, "compiled: 0 added, 0 modified, 0 removed (0 ops)\n");
}

/// A wrong clock once made a snapshot of the next century.
#[test]
fn a_snapshot_of_the_future_keeps_no_old_one() {
    let folder = with_a_second_note();
    folder.write("notes/a.md", "# A\n\nThe first, again.\n");
    folder.ok(["compile", "notes", "--db", "m.db"]);
    let times = "
        UPDATE snapshot SET created_at = 4000000000000 WHERE id = 1;
        UPDATE snapshot SET created_at = 1000000000000 WHERE id = 2";
    folder.database("m.db").execute_batch(times).unwrap();
    let done = folder.ok(["gc", "--older-than", "30d", "--db", "m.db"]);
    assert!(done.starts_with("forgot 2 snapshot(s) "), "{done}");
    folder.assert_healthy("m.db");
}

#[test]
fn snapshots_of_a_clock_that_was_ahead_are_not_old() {
    let folder = with_a_second_note();
    folder.write("notes/a.md", "# A\n\nThe first, again.\n");
    folder.ok(["compile", "notes", "--db", "m.db"]);
    let forgets = |times: &str, told: &str| {
        folder.database("m.db").execute_batch(times).unwrap();
        let done = folder.ok(["gc", "--older-than", "30d", "--dry-run", "--db", "m.db"]);
        assert!(done.starts_with(told), "{done}");
    };
    forgets("UPDATE snapshot SET created_at = 4000000000000 WHERE id < 3", "would forget 0 ");
    forgets("UPDATE snapshot SET created_at = 4000000000000", "would forget 0 ");
    // An old one before them is forgotten, and they are not.
    forgets("UPDATE snapshot SET created_at = 1000000000000 WHERE id = 1", "would forget 1 ");
}

#[test]
fn a_folder_that_only_dropped_snapshots_knew_leaves_no_name() {
    let is_named = |folder: &Folder| {
        ["m.db", "m.db-wal"].iter().any(|name| {
            let bytes = std::fs::read(folder.path(name)).unwrap_or_default();
            bytes.windows(12).any(|it| it == b"hushed-place")
        })
    };
    let folder = Folder::new().file("notes/a.md", "# A\n\nText.\n");
    folder.write("hushed-place/b.md", "# B\n\nOther text.\n");
    folder.ok(["compile", "notes", "--db", "m.db"]);
    folder.ok(["compile", "hushed-place", "--db", "m.db"]);
    assert!(is_named(&folder));
    folder.ok(["rollback", "1", "--drop-after", "--db", "m.db"]);
    assert!(!is_named(&folder));
    // The same by `gc`, once the folder's files are gone.
    folder.ok(["compile", "hushed-place", "--db", "m.db"]);
    std::fs::remove_file(folder.path("hushed-place/b.md")).unwrap();
    folder.ok(["compile", "hushed-place", "--db", "m.db"]);
    folder.ok(["write", "One more.", "--db", "m.db"]);
    folder.ok(["gc", "--keep", "1", "--no-backup", "--db", "m.db"]);
    assert!(!is_named(&folder));
    folder.assert_healthy("m.db");
}
