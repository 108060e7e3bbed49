//! When a text last changed: a file's, an agent's, after an edit, a rollback and a collection.

use serde_json::json;

use super::support::{Client, Folder};

/// A day of seconds.
const DAY: u64 = 86_400;

/// Two notes that say the opposite, and when.
fn opposites() -> Folder {
    let folder = Folder::new()
        .file("notes/old.md", "# Lease\n\nThe lease ends in May.\n\nAna signed the lease.\n")
        .file("notes/new.md", "# Lease\n\nThe lease ends in June.\n");
    folder.date("notes/old.md", 0); // 2020-09-13
    folder.date("notes/new.md", 400 * DAY); // 2021-10-18
    folder.ok(["compile", "notes", "--db", "m.db"]);
    folder
}

/// Returns the days and texts that a search on the command line shows, in their order.
fn dated(folder: &Folder, flags: &[&str]) -> Vec<String> {
    let search = ["search", "lease", "--type", "text", "--detail", "full", "--db", "m.db"];
    let ran = folder.run([&search[..], flags].concat());
    let mut found: Vec<String> = ran.stdout.lines().filter_map(entry).collect();
    found.sort();
    found
}

/// Returns an entry without its id; `None` for another line.
fn entry(line: &str) -> Option<String> {
    let (id, text) = line.split_at_checked(11)?;
    id.bytes().all(|it| it.is_ascii_alphanumeric()).then(|| text.to_owned())
}

#[test]
fn texts_of_files_are_as_old_as_their_files_and_narrowed_by_it() {
    let folder = opposites();
    let [may, ana] = ["@2020-09-13 The lease ends in May.", "@2020-09-13 Ana signed the lease."];
    let june = "@2021-10-18 The lease ends in June.";
    assert_eq!(dated(&folder, &["--dates"]), [ana, may, june]);
    assert_eq!(dated(&folder, &["--since", "2021-01-01"]), [june]);
    assert_eq!(dated(&folder, &["--until", "2021-01-01"]), [ana, may]);
    assert_eq!(dated(&folder, &["--since", "2020-09-13", "--until", "2020-09-13"]), [ana, may]);
    assert_eq!(dated(&folder, &["--since", "2020-09-14", "--until", "2021-10-17"]), [""; 0]);
    assert_eq!(dated(&folder, &["--since", "2020-09-13T12:26:40Z"]).len(), 3);
    assert_eq!(dated(&folder, &["--since", "2020-09-13T12:26:41Z"]), [june]);
    let none = folder.run(["search", "lease", "--db", "m.db", "--until", "1999-12-31"]);
    let why = "no results: no node meets all conditions; leave one out\n";
    assert_eq!((none.stdout.as_str(), none.code), (why, Some(1)));
    let fetched = folder.ok(["fetch", "new.md", "--dates", "--db", "m.db"]);
    assert!(fetched.contains("@2021-10-18[#]\n"), "{fetched}");
}

#[test]
fn a_question_keeps_to_its_time() {
    let folder = opposites();
    // The text behind the best hit is lent some of its worth, and stands in no time but its own.
    folder.write("notes/more.md", "# Rent\n\nWho pays the rent of the harbour office?\n");
    folder.date("notes/more.md", 800 * DAY);
    folder.ok(["compile", "notes", "--db", "m.db"]);
    let mut client = Client::modern(&folder, &["--db", "m.db"]);
    let [id, root] = ["text", "heading"].map(|it| {
        let ask = json!({"query": "rent", "type": it});
        let found = client.text("MemorySearch", ask);
        found.split_once("(id=").unwrap().1[..11].to_owned()
    });
    client.text("MemoryWrite", json!({"anchor": root, "payload": "Ben does, since spring."}));
    let ask = json!({"query": "who pays the rent of the harbour office"});
    let all = client.text("MemorySearch", ask.clone());
    assert!(all.contains("Ben does"), "{all}");
    let mut ask = ask;
    ask["until"] = json!("2022-12-31");
    let then = client.text("MemorySearch", ask);
    assert!(then.contains(&id) && !then.contains("Ben does"), "{then}");
    client.end();
}

#[test]
fn the_last_change_of_a_text_counts() {
    let folder = opposites();
    let mut client = Client::modern(&folder, &["--db", "m.db", "--source", "notes"]);
    let found = client.text("MemorySearch", json!({"query": "ana signed"}));
    let id = found.split_once("(id=").unwrap().1[..11].to_owned();
    // An agent's text is newer than the file; a move is no change.
    client.text("MemoryWrite", json!({"anchor": id, "payload": "Ana and Ben signed the lease."}));
    client.end();
    let signed = |folder: &Folder| {
        dated(folder, &["--dates"]).into_iter().find(|it| it.contains("signed")).unwrap()
    };
    let day = signed(&folder);
    assert!(day[1..5].parse::<u32>().unwrap() >= 2026, "{day}");
    let date_last_snapshot = |day: i64| {
        const DATE: &str =
            "UPDATE snapshot SET created_at = ?1 WHERE id = (SELECT max(id) FROM snapshot)";
        let ms = (1_600_000_000 + day * DAY as i64) * 1000;
        folder.database("m.db").execute(DATE, [ms]).unwrap();
    };
    date_last_snapshot(500);
    assert_eq!(signed(&folder), "@2022-01-26 Ana and Ben signed the lease.");
    folder.write("notes/old.md", "# Lease\n\nAna signed the lease.\n\nThe lease ends in May.\n");
    folder.date("notes/old.md", 600 * DAY);
    folder.ok(["compile", "notes", "--db", "m.db"]);
    assert_eq!(signed(&folder), "@2022-01-26 Ana and Ben signed the lease.");
    // A rollback is a change of the texts that it brings back.
    folder.ok(["rollback", "1", "--db", "m.db"]);
    date_last_snapshot(550);
    assert_eq!(signed(&folder), "@2022-03-17 Ana signed the lease.");
    // What is older than the history has the time at which it begins.
    folder.ok(["gc", "--keep", "1", "--db", "m.db"]);
    assert_eq!(signed(&folder), "@2022-03-17 Ana signed the lease.");
}

#[test]
fn front_matter_meets_the_date_of_a_question() {
    let note =
        |date: &str| format!("---\n{date}\n---\n\n# Lease\n\n## Talk\n\nThe lease was signed.\n");
    let folder = Folder::new()
        .file("notes/a.md", note("date: 2024-03-10"))
        .file("notes/b.md", note("created: 2024-05-20T10:00:00Z"))
        .file("notes/c.md", note("title: Lease"));
    folder.ok(["compile", "notes", "--db", "m.db"]);
    for (question, file) in [
        ("what about the signed lease on 10 March 2024", "a.md"),
        ("what about the signed lease on May 20, 2024", "b.md"),
        ("what about the signed lease in May 2024", "b.md"),
    ] {
        let found = folder.ok(["search", question, "--type", "text", "--db", "m.db"]);
        let best = found.lines().next().unwrap();
        assert!(best.contains(&format!(" file={file} ")), "{question}: {found}");
    }
}
