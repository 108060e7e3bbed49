//! Tests writes while the files of a memory lose or change their names under a server.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::json;

use crate::support::{Client, Folder, Ran, signal};

const WRITES: usize = 10;

/// The acknowledged texts.
#[derive(Default)]
struct Acknowledged(Vec<String>);

impl Acknowledged {
    /// Writes a text, and returns whether it was acknowledged.
    fn write(&mut self, client: &mut Client, text: String) -> bool {
        let reply = client.call("MemoryWrite", json!({"payload": text}));
        match reply.is_error {
            true => {
                let is_explained = reply.text.contains("deleted, replaced or shortened");
                assert!(is_explained && reply.text.contains("start again"), "{}", reply.text);
            }
            false => self.0.push(text),
        }
        !reply.is_error
    }

    /// Asserts that the memory is sound and has all of them.
    #[track_caller]
    fn check(&self, folder: &Folder, db: &str) {
        folder.assert_healthy(db);
        let conn = folder.database(db);
        let mut query = conn.prepare("SELECT count(*) FROM node WHERE content = ?1").unwrap();
        for text in &self.0 {
            let n: i64 = query.query_row([text], |row| row.get(0)).unwrap();
            assert_eq!(n, 1, "`{text}` was acknowledged");
        }
    }
}

/// The end of a server.
#[derive(Clone, Copy, Debug)]
enum End {
    Kill,
    Close,
}

fn end(client: Client, how: End) {
    match how {
        End::Kill => drop(client.kill()),
        End::Close => client.end(),
    }
}

fn server(folder: &Folder, db: &str) -> Client {
    Client::legacy(folder, &["--db", db])
}

/// Returns a memory in its folder, the server that has it open, and so many writes that it
/// acknowledged.
fn served(n_writes: usize) -> (Folder, Acknowledged, Client) {
    let (folder, mut acknowledged) = (Folder::new(), Acknowledged::default());
    let mut client = server(&folder, "m.db");
    for nth in 0..n_writes {
        acknowledged.write(&mut client, format!("Before, number {nth}."));
    }
    (folder, acknowledged, client)
}

/// Starts a server that is refused, and returns its error.
#[track_caller]
fn refused(folder: &Folder, db: &str) -> String {
    let ran = folder.run(["serve", "--db", db]);
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    ran.stderr
}

/// Loses names of a memory's files under a server, which then ends.
fn lose_names(endings: &[&str], how: End) {
    let (folder, mut acknowledged, mut client) = served(WRITES);
    for ending in endings {
        fs::remove_file(folder.path(format!("m.db{ending}"))).unwrap();
    }
    // No other server starts beside it until it has ended.
    let error = refused(&folder, "m.db");
    assert!(error.contains("another process") && error.contains("was deleted"), "{error}");
    match how {
        End::Kill => {
            for nth in 0..WRITES {
                acknowledged.write(&mut client, format!("After, number {nth}."));
            }
        }
        // It notices only now.
        End::Close => (),
    }
    end(client, how);
    acknowledged.check(&folder, "m.db");
    let mut client = server(&folder, "m.db");
    assert!(acknowledged.write(&mut client, "At last.".to_owned()));
    client.end();
    acknowledged.check(&folder, "m.db");
}

/// A server that is refused waits for seconds first, so the cases wait at once.
#[test]
fn what_is_acknowledged_around_the_loss_of_a_name_is_kept() {
    std::thread::scope(|scope| {
        for (endings, how) in [
            (&["-wal"] as &[&str], End::Kill),
            (&["-shm"], End::Kill),
            (&["-wal", "-shm"], End::Kill),
            (&["-wal"], End::Close),
            (&["-wal", "-shm"], End::Close),
        ] {
            scope.spawn(move || lose_names(endings, how));
        }
    });
}

#[test]
fn servers_whose_memory_lost_a_name_between_them_lose_nothing() {
    for ending in ["-wal", "-shm"] {
        let folder = Folder::new();
        let mut acknowledged = Acknowledged::default();
        let mut clients = vec![server(&folder, "m.db"), server(&folder, "m.db")];
        for nth in 0..WRITES * 3 {
            if nth == WRITES {
                fs::remove_file(folder.path(format!("m.db{ending}"))).unwrap();
            }
            // Servers are restarted one by one, so each is refused only at first.
            for (which, client) in clients.iter_mut().enumerate() {
                acknowledged.write(client, format!("Server {which} says {nth}."));
            }
            if nth == WRITES * 2 {
                clients.drain(..).for_each(|it| drop(it.kill()));
                clients = vec![server(&folder, "m.db"), server(&folder, "m.db")];
            }
        }
        clients.into_iter().for_each(|it| drop(it.kill()));
        assert!(WRITES * 4 - 2 <= acknowledged.0.len(), "{}", acknowledged.0.len());
        acknowledged.check(&folder, "m.db");
    }
}

#[test]
fn a_stranger_that_makes_new_files_costs_no_acknowledged_write() {
    // Another program checks neither lock nor name: it gets a log and an index of its own.
    for ending in ["-wal", "-shm"] {
        let folder = Folder::new();
        let mut acknowledged = Acknowledged::default();
        let mut client = server(&folder, "m.db");
        folder.database("m.db").execute_batch("PRAGMA wal_checkpoint").unwrap();
        fs::remove_file(folder.path(format!("m.db{ending}"))).unwrap();
        let stranger = folder.database("m.db");
        stranger.execute_batch("CREATE TABLE strange (x); INSERT INTO strange VALUES (1)").unwrap();
        for nth in 0..WRITES {
            assert!(!acknowledged.write(&mut client, format!("After, number {nth}.")));
        }
        drop(client.kill());
        stranger.execute_batch("DROP TABLE strange").unwrap();
        drop(stranger);
        acknowledged.check(&folder, "m.db");
    }
}

#[test]
fn an_empty_file_in_place_of_a_deleted_log_costs_no_acknowledged_write() {
    let (folder, acknowledged, client) = served(WRITES);
    fs::remove_file(folder.path("m.db-wal")).unwrap();
    folder.write("m.db-wal", "");
    let ran = folder.run(["write", "Beside it.", "--db", "m.db"]);
    assert_eq!(ran.code, Some(2), "{}", ran.stdout);
    assert!(ran.stderr.contains("was replaced or shortened: end every process"), "{}", ran.stderr);
    client.end();
    acknowledged.check(&folder, "m.db");
}

#[test]
#[cfg(target_os = "linux")]
fn a_stopped_process_is_named_where_no_log_is_beside_the_database() {
    let (folder, acknowledged, client) = served(1);
    // So it is where a process is stopped while it opens or closes the database.
    let [log, aside] = ["m.db-wal", "aside"].map(|it| folder.path(it));
    fs::rename(&log, &aside).unwrap();
    signal(client.pid(), "STOP");
    let error = refused(&folder, "m.db");
    signal(client.pid(), "CONT");
    let told = format!("process {} (`remindb`), which is stopped, holds its lock", client.pid());
    assert!(error.contains(&told), "{error}");
    fs::rename(&aside, &log).unwrap();
    client.end();
    acknowledged.check(&folder, "m.db");
}

#[test]
#[cfg(target_os = "linux")]
fn a_backup_moved_over_the_database_of_a_server_is_not_read_with_its_log() {
    let (folder, acknowledged, mut client) = served(1);
    folder.ok(["backup", "backup.db", "--db", "m.db"]);
    assert!(Acknowledged::default().write(&mut client, "Only in the log.".to_owned()));
    fs::rename(folder.path("backup.db"), folder.path("m.db")).unwrap();
    let error = refused(&folder, "m.db");
    assert!(error.contains("was `m.db` before; end that process first"), "{error}");
    client.end();
    acknowledged.check(&folder, "m.db");
    assert!(folder.ok(["doctor", "--db", "m.db"]).contains("m.db-wal.kept"));
    let found = folder.run(["search", "log", "--db", "m.db"]);
    assert_eq!(found.code, Some(1), "{}", found.stdout);
}

#[test]
fn new_files_are_refused_while_a_server_has_the_deleted_ones_open() {
    let (folder, acknowledged, client) = served(WRITES);
    for ending in ["-wal", "-shm"] {
        fs::remove_file(folder.path(format!("m.db{ending}"))).unwrap();
    }
    // Another program makes new ones, and leaves.
    let stranger = folder.database("m.db");
    stranger.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(())).unwrap();
    drop(stranger);
    assert!(folder.path("m.db-shm").exists());
    let error = refused(&folder, "m.db");
    assert!(error.contains("another process") && error.contains("was deleted"), "{error}");
    client.end();
    // What the server says of the log is done.
    fs::rename(folder.path("m.db-wal.kept"), folder.path("m.db-wal")).unwrap();
    fs::remove_file(folder.path("m.db-shm")).unwrap();
    acknowledged.check(&folder, "m.db");
}

/// Nobody has the database open, so each asks whether another one has it, and all at the same time.
#[test]
fn servers_that_start_at_the_same_time_all_start() {
    let folder = Folder::new();
    folder.ok(["write", "What was there.", "--db", "m.db"]);
    for _ in 0..3 {
        std::thread::scope(|scope| {
            for _ in 0..24 {
                scope.spawn(|| folder.ok(["serve", "--db", "m.db"]));
            }
        });
    }
}

#[test]
fn behind_a_log_that_was_emptied_or_shortened_nothing_is_acknowledged() {
    let few_frames = 32 + 3 * (4096 + 24);
    for (n_bytes, how) in [
        (0, End::Kill),
        (0, End::Close),
        (132, End::Kill),
        (4152, End::Close),
        (few_frames, End::Kill),
    ] {
        let folder = Folder::new();
        folder.ok(["write", "What was there.", "--db", "m.db"]);
        let mut client = server(&folder, "m.db");
        for nth in 0..3 {
            client.text("MemoryWrite", json!({"payload": format!("In the log, {nth}.")}));
        }
        let log = fs::File::options().write(true).open(folder.path("m.db-wal")).unwrap();
        assert!(n_bytes < log.metadata().unwrap().len());
        log.set_len(n_bytes).unwrap();
        let mut acknowledged = Acknowledged::default();
        for nth in 0..3 {
            assert!(!acknowledged.write(&mut client, format!("After, number {nth}.")));
        }
        end(client, how);
        // What the log held is gone with it; the file is as it was.
        acknowledged.0.push("What was there.".to_owned());
        acknowledged.check(&folder, "m.db");
    }
}

/// Copies the log into the database, as another process does, in that mode.
fn checkpoint(folder: &Folder, mode: &str) {
    let sql = format!("PRAGMA wal_checkpoint({mode})");
    let is_busy = |row: &rusqlite::Row<'_>| row.get::<_, bool>(0);
    assert!(!folder.database("m.db").query_row(&sql, [], is_busy).unwrap());
}

#[test]
fn behind_a_database_that_was_shortened_nothing_is_acknowledged() {
    for (mode, n_pages_left, how) in [
        ("NOOP", 0, End::Kill),
        ("NOOP", 0, End::Close),
        ("NOOP", 1, End::Kill),
        ("NOOP", 40, End::Close),
        ("PASSIVE", 40, End::Kill),
        ("PASSIVE", 0, End::Close),
        ("TRUNCATE", 40, End::Kill),
        ("TRUNCATE", 0, End::Close),
    ] {
        let folder = Folder::new();
        folder.ok(["write", "What was there.", "--db", "m.db"]);
        let mut client = server(&folder, "m.db");
        for nth in 0..3 {
            client.text("MemoryWrite", json!({"payload": format!("In the log, {nth}.")}));
        }
        checkpoint(&folder, mode);
        let database = fs::File::options().write(true).open(folder.path("m.db")).unwrap();
        assert!(n_pages_left * 4096 < database.metadata().unwrap().len());
        database.set_len(n_pages_left * 4096).unwrap();
        for nth in 0..3 {
            let reply = client.call("MemoryWrite", json!({"payload": format!("After, {nth}.")}));
            assert!(reply.is_error, "{mode}, {n_pages_left}: {}", reply.text);
            let is_explained = ["shortened", "is damaged"].iter().any(|it| reply.text.contains(it));
            assert!(is_explained, "{mode}, {n_pages_left}: {}", reply.text);
        }
        let log = fs::read(folder.path("m.db-wal")).unwrap();
        end(client, how);
        assert_eq!(fs::read(folder.path("m.db-wal")).unwrap_or_default(), log, "{mode}");
        assert_eq!(fs::metadata(folder.path("m.db")).unwrap().len(), n_pages_left * 4096);
    }
}

/// SQLite deletes the log of an empty file, which here has all of the memory.
#[test]
fn the_log_of_an_emptied_database_is_kept_and_salvaged() {
    let folder = Folder::new();
    let mut acknowledged = Acknowledged::default();
    let mut client = server(&folder, "m.db");
    for nth in 0..3 {
        acknowledged.write(&mut client, format!("In the log, {nth}."));
    }
    fs::File::options().write(true).open(folder.path("m.db")).unwrap().set_len(0).unwrap();
    assert!(!acknowledged.write(&mut client, "After.".to_owned()));
    client.end();
    let log = fs::read(folder.path("m.db-wal")).unwrap();
    for args in [["serve"].as_slice(), &["search", "log"], &["doctor"], &["write", "more"]] {
        let ran = folder.run(args.iter().chain(&["--db", "m.db"]));
        assert_eq!(ran.code, Some(2), "{args:?}: {}", ran.stdout);
        assert!(ran.stderr.contains("`m.db` was emptied"), "{args:?}: {}", ran.stderr);
    }
    assert!(fs::read(folder.path("m.db-wal")).unwrap() == log);
    folder.ok(["salvage", "m.db", "--out", "new.db"]);
    acknowledged.check(&folder, "new.db");
}

/// SQLite deletes the log of a database that it makes anew.
#[test]
fn the_log_of_a_missing_database_is_kept_and_salvaged() {
    let folder = Folder::new().file("notes/a.md", "A note.\n");
    let mut acknowledged = Acknowledged::default();
    let mut client = server(&folder, "m.db");
    for nth in 0..3 {
        acknowledged.write(&mut client, format!("In the log, {nth}."));
    }
    fs::rename(folder.path("m.db"), folder.path("aside.db")).unwrap();
    assert!(!acknowledged.write(&mut client, "After.".to_owned()));
    let log = fs::read(folder.path("m.db-wal")).unwrap();
    let is_refused_with_the_log_kept = || {
        for args in [
            ["serve"].as_slice(),
            &["remember", "more", "--type", "core"],
            &["compile", "notes"],
            &["ingest", "more"],
            &["search", "log"],
            &["doctor"],
            &["restore", "aside.db"],
        ] {
            let ran = folder.run(args.iter().chain(&["--db", "m.db"]));
            assert_eq!(ran.code, Some(2), "{args:?}: {}", ran.stdout);
            let says = "`m.db` is gone, and what was written last is in `m.db-wal`; put the";
            assert!(ran.stderr.contains(says), "{args:?}: {}", ran.stderr);
        }
        assert!(!folder.path("m.db").exists());
        assert!(fs::read(folder.path("m.db-wal")).unwrap() == log);
    };
    is_refused_with_the_log_kept();
    drop(client.kill());
    is_refused_with_the_log_kept();
    folder.ok(["salvage", "m.db", "--out", "new.db"]);
    acknowledged.check(&folder, "new.db");
    fs::rename(folder.path("aside.db"), folder.path("m.db")).unwrap();
    acknowledged.check(&folder, "m.db");
}

/// All of a young memory is in its log, and SQLite takes a log with a damaged beginning for empty.
#[test]
fn a_log_with_a_damaged_beginning_is_kept_and_salvaged() {
    for (at, n_bytes) in [(0, 32), (20, 1), (32, 24), (40, 8000)] {
        let folder = Folder::new().file("notes/a.md", "A note.\n");
        let mut acknowledged = Acknowledged::default();
        let mut client = server(&folder, "m.db");
        for nth in 0..3 {
            acknowledged.write(&mut client, format!("In the log, {nth}."));
        }
        drop(client.kill());
        let mut log = fs::read(folder.path("m.db-wal")).unwrap();
        // Salts are random, so that a value might be there already.
        log[at..at + n_bytes].iter_mut().for_each(|it| *it ^= 0xa5);
        fs::write(folder.path("m.db-wal"), &log).unwrap();
        for args in [
            ["serve"].as_slice(),
            &["compile", "notes"],
            &["write", "more"],
            &["search", "log"],
            &["doctor"],
            &["doctor", "--fix"],
            &["gc", "--keep", "1"],
        ] {
            let ran = folder.run(args.iter().chain(&["--db", "m.db"]));
            assert_eq!(ran.code, Some(2), "{args:?}: {}", ran.stdout);
            let says = "m.db-wal` is damaged at its beginning, and has all that was written to";
            assert!(ran.stderr.contains(says), "{args:?}: {}", ran.stderr);
            assert!(ran.stderr.contains("remindb salvage m.db"), "{args:?}: {}", ran.stderr);
        }
        assert!(fs::read(folder.path("m.db-wal")).unwrap() == log);
        let salvaged = folder.ok(["salvage", "m.db", "--out", "new.db"]);
        assert!(salvaged.contains("the log: its beginning is damaged"), "{salvaged}");
        acknowledged.check(&folder, "new.db");
    }
}

#[test]
fn an_empty_log_without_a_database_is_no_hindrance() {
    let folder = Folder::new().file("notes/a.md", "A note.\n").file("m.db-wal", "");
    folder.ok(["compile", "notes", "--db", "m.db"]);
    assert!(folder.ok(["search", "note", "--db", "m.db"]).contains("A note."));
}

/// Other processes make the database smaller while a server has it open, and it grows again.
#[test]
fn a_database_that_others_make_smaller_is_not_called_shortened() {
    let folder = Folder::new();
    let n_bytes = || fs::metadata(folder.path("m.db")).unwrap().len();
    let mut acknowledged = Acknowledged::default();
    let mut client = server(&folder, "m.db");
    for round in 0..3 {
        let notes: String = (0..200).map(|nth| format!("Note {nth} of {round}.\n\n")).collect();
        folder.write("notes/a.md", notes);
        folder.ok(["compile", "notes", "--db", "m.db"]);
        assert!(acknowledged.write(&mut client, format!("Before {round}.")));
        checkpoint(&folder, ["PASSIVE", "FULL", "TRUNCATE"][round]);
        assert!(acknowledged.write(&mut client, format!("Between {round}.")));
        let before = n_bytes();
        folder.write("notes/a.md", "Little.\n");
        folder.ok(["compile", "notes", "--db", "m.db"]);
        folder.ok(["gc", "--keep", "1", "--db", "m.db"]);
        assert!(n_bytes() < before, "{} of {before}", n_bytes());
        for nth in 0..WRITES {
            assert!(acknowledged.write(&mut client, format!("After {round}, number {nth}.")));
        }
    }
    client.end();
    acknowledged.check(&folder, "m.db");
}

#[test]
#[cfg(unix)]
fn a_pipe_in_place_of_the_log_holds_up_no_write() {
    let folder = Folder::new();
    let mut client = server(&folder, "m.db");
    client.text("MemoryWrite", json!({"payload": "What was there."}));
    fs::remove_file(folder.path("m.db-wal")).unwrap();
    let made = std::process::Command::new("mkfifo").arg(folder.path("m.db-wal")).status().unwrap();
    assert!(made.success());
    let mut acknowledged = Acknowledged::default();
    assert!(!acknowledged.write(&mut client, "After.".to_owned()));
    drop(client.kill());
    fs::remove_file(folder.path("m.db-shm")).unwrap();
    for part in ["m.db-wal", "m.db-journal"] {
        for command in [&["write", "more"][..], &["search", "there"], &["doctor"], &["salvage"]] {
            let out = ["--out", "s.db"].into_iter().filter(|_| command[0] == "salvage");
            let (place, from) =
                if command[0] == "salvage" { ("m.db", None) } else { ("--db", Some("m.db")) };
            let ran = folder.run(command.iter().copied().chain([place]).chain(from).chain(out));
            assert_eq!(ran.code, Some(2), "{command:?}: {}", ran.stdout);
            let names_it = ran.stderr.contains(part) && ran.stderr.contains("pipe");
            assert!(names_it, "{command:?}: {}", ran.stderr);
        }
        fs::rename(folder.path("m.db-wal"), folder.path("m.db-journal")).unwrap_or_default();
    }
}

#[test]
fn rivals_that_open_and_close_the_memory_change_no_name() {
    let folder = Folder::new().file("notes/a.md", "Words of a note.\n");
    let mut acknowledged = Acknowledged::default();
    for _ in 0..3 {
        let mut client = server(&folder, "m.db");
        for nth in 0..3 {
            folder.ok(["compile", "notes", "--db", "m.db"]);
            folder.ok(["doctor", "--db", "m.db"]);
            folder.ok(["gc", "--db", "m.db"]);
            let text = format!("Number {nth} of {}.", client.pid());
            assert!(acknowledged.write(&mut client, text));
        }
        client.end();
        let left: Vec<String> = folder.names().into_iter().filter(|it| it.contains('-')).collect();
        assert_eq!(left, [] as [&str; 0], "the last one puts all of it into one file");
    }
    acknowledged.check(&folder, "m.db");
}

#[test]
#[cfg(unix)]
fn a_memory_of_two_names_is_refused_under_both() {
    let (folder, mut acknowledged, mut client) = served(1);
    fs::hard_link(folder.path("m.db"), folder.path("n.db")).unwrap();
    for (db, args) in [
        ("n.db", &["serve", "--db", "n.db"] as &[&str]),
        ("m.db", &["compile", ".", "--db", "m.db"]),
        ("n.db", &["search", "before", "--db", "n.db"]),
        ("n.db", &["backup", "o.db", "--db", "n.db"]),
        ("n.db", &["doctor", "--db", "n.db"]),
    ] {
        let ran = folder.run(args);
        assert_eq!(ran.code, Some(2), "{args:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(&format!("{db}` has 2 names (hard links)")), "{}", ran.stderr);
    }
    // No file was made for the second name, and the first server waits for its removal.
    assert_eq!(folder.names(), ["m.db", "m.db-shm", "m.db-wal", "n.db"]);
    let refused = client.call("MemoryWrite", json!({"payload": "Between."}));
    let says = "keep the name that has a log beside it (`NAME-wal`)";
    assert!(refused.is_error && refused.text.contains(says), "{}", refused.text);
    fs::remove_file(folder.path("n.db")).unwrap();
    assert!(acknowledged.write(&mut client, "After.".to_owned()));
    client.end();
    acknowledged.check(&folder, "m.db");
}

#[test]
#[cfg(unix)]
fn a_memory_behind_symbolic_links_is_one_memory() {
    let folder = Folder::new().file("deep/there", "");
    std::os::unix::fs::symlink("deep/real.db", folder.path("m.db")).unwrap();
    std::os::unix::fs::symlink("m.db", folder.path("n.db")).unwrap();
    let mut acknowledged = Acknowledged::default();
    let mut clients = ["deep/real.db", "m.db", "n.db"].map(|it| server(&folder, it));
    for nth in 0..WRITES {
        for (which, client) in clients.iter_mut().enumerate() {
            assert!(acknowledged.write(client, format!("Server {which} says {nth}.")));
        }
    }
    assert!(folder.path("deep/real.db-wal").exists() && !folder.path("m.db-wal").exists());
    clients.into_iter().for_each(|it| drop(it.kill()));
    acknowledged.check(&folder, "m.db");
}

/// Returns a folder with a database whose log has everything that was acknowledged: its server was
/// killed.
#[cfg(unix)]
fn killed(db: &str) -> (Folder, Acknowledged) {
    let folder = Folder::new().file("notes/a.md", "A note.\n").file("deep/there", "");
    let mut acknowledged = Acknowledged::default();
    let mut client = server(&folder, db);
    for nth in 0..3 {
        assert!(acknowledged.write(&mut client, format!("In the log, {nth}.")));
    }
    drop(client.kill());
    (folder, acknowledged)
}

/// Asserts that every door refuses the database with these words, and keeps its log.
#[cfg(unix)]
#[track_caller]
fn assert_refused(folder: &Folder, db: &str, log: &str, says: &str) {
    let before = fs::read(folder.path(log)).unwrap();
    for args in [
        ["serve"].as_slice(),
        &["write", "more"],
        &["compile", "notes"],
        &["search", "log"],
        &["doctor"],
        &["doctor", "--fix"],
        &["gc"],
        &["backup", "copy.db"],
    ] {
        let ran = folder.run(args.iter().chain(&["--db", db]));
        assert_eq!(ran.code, Some(2), "{args:?}: {}", ran.transcript());
        assert!(ran.stderr.contains(says), "{args:?}: {}", ran.stderr);
    }
    assert!(fs::read(folder.path(log)).unwrap() == before, "the log was changed");
}

/// Somebody moved the database to another disk and left its log.
#[test]
#[cfg(unix)]
fn a_log_beside_a_link_to_the_database_is_named_and_not_passed_over() {
    let (folder, mut acknowledged) = killed("m.db");
    fs::rename(folder.path("m.db"), folder.path("deep/real.db")).unwrap();
    std::os::unix::fs::symlink("deep/real.db", folder.path("m.db")).unwrap();
    std::os::unix::fs::symlink("m.db", folder.path("n.db")).unwrap();
    for db in ["m.db", "n.db"] {
        let says = "m.db` is a symbolic link, and what was written last may be in `";
        assert_refused(&folder, db, "m.db-wal", says);
        folder.ok(["salvage", db, "--out", "new.db"]);
        acknowledged.check(&folder, "new.db");
        fs::remove_file(folder.path("new.db")).unwrap();
    }
    // The advice: the log goes where the database is.
    let refused = folder.run(["doctor", "--db", "m.db"]).stderr;
    let (_, rest) = refused.split_once("rename the log to `").unwrap();
    let name = rest.split('`').next().unwrap();
    fs::rename(folder.path("m.db-wal"), folder.path(name.trim_start_matches("DIR/"))).unwrap();
    acknowledged.check(&folder, "n.db");
    // What was written since cannot be read with an older log.
    fs::write(folder.path("m.db-wal"), "an older log").unwrap();
    folder.date("m.db-wal", 0);
    let mut client = server(&folder, "deep/real.db");
    assert!(acknowledged.write(&mut client, "Later.".to_owned()));
    let says = "real.db` seems to be written since: copy both into a folder";
    assert_refused(&folder, "m.db", "m.db-wal", says);
    fs::remove_file(folder.path("m.db-wal")).unwrap();
    client.end();
    acknowledged.check(&folder, "m.db");
}

/// The database was written where it is now, and its own log was copied into it: the log that was
/// left behind is older, and reading it would damage what is there.
#[test]
#[cfg(unix)]
fn a_log_left_behind_is_not_read_with_what_was_written_since() {
    let (folder, _) = killed("m.db");
    fs::rename(folder.path("m.db"), folder.path("deep/real.db")).unwrap();
    std::os::unix::fs::symlink("deep/real.db", folder.path("m.db")).unwrap();
    folder.ok(["compile", "notes", "--db", "deep/real.db"]);
    folder.ok(["write", "Later.", "--db", "deep/real.db"]);
    assert!(!folder.path("deep/real.db-wal").exists());
    folder.date("m.db-wal", 0);
    let says = "real.db` seems to be written since: copy both into a folder";
    assert_refused(&folder, "m.db", "m.db-wal", says);
    let refused = folder.run(["salvage", "m.db", "--out", "new.db"]);
    assert!(refused.stderr.contains("name the database itself to read it without that log"));
    assert!(!folder.path("new.db").exists());
    let salvaged = folder.ok(["salvage", "deep/real.db", "--out", "new.db"]);
    assert!(salvaged.ends_with("every row could be read\n"), "{salvaged}");
    folder.assert_healthy("new.db");
    assert_eq!(folder.facts("new.db")["nodes"], folder.facts("deep/real.db")["nodes"]);
    fs::remove_file(folder.path("m.db-wal")).unwrap();
    folder.assert_healthy("m.db");
}

/// A copy has a new time, so that the log that belongs to it seems to be older.
#[test]
#[cfg(unix)]
fn a_log_beside_a_link_to_a_copy_is_not_passed_over() {
    let (folder, acknowledged) = killed("m.db");
    fs::write(folder.path("deep/real.db"), fs::read(folder.path("m.db")).unwrap()).unwrap();
    // Both may have one time otherwise, within a tick of the clock of files.
    folder.date("m.db-wal", 0);
    fs::remove_file(folder.path("m.db")).unwrap();
    std::os::unix::fs::symlink("deep/real.db", folder.path("m.db")).unwrap();
    let refused = folder.run(["salvage", "m.db", "--out", "new.db"]);
    assert_eq!(refused.code, Some(2), "{}", refused.stdout);
    // As it is told: both together.
    fs::copy(folder.path("deep/real.db"), folder.path("deep/copy.db")).unwrap();
    fs::copy(folder.path("m.db-wal"), folder.path("deep/copy.db-wal")).unwrap();
    folder.ok(["salvage", "deep/copy.db", "--out", "new.db"]);
    acknowledged.check(&folder, "new.db");
    // Nothing was written to an empty one.
    fs::write(folder.path("deep/real.db"), "").unwrap();
    fs::remove_file(folder.path("new.db")).unwrap();
    folder.ok(["salvage", "m.db", "--out", "new.db"]);
    acknowledged.check(&folder, "new.db");
}

/// A log at the name of a link, which leads to the log of the database, is that log.
#[test]
#[cfg(unix)]
fn a_link_to_the_log_beside_a_link_to_the_database_is_no_hindrance() {
    let (folder, acknowledged) = killed("deep/real.db");
    std::os::unix::fs::symlink("deep/real.db", folder.path("m.db")).unwrap();
    std::os::unix::fs::symlink("deep/real.db-wal", folder.path("m.db-wal")).unwrap();
    folder.ok(["salvage", "m.db", "--out", "new.db"]);
    acknowledged.check(&folder, "new.db");
    acknowledged.check(&folder, "m.db");
}

/// The database is gone, and a link to it is left: the log is beside one or the other.
#[test]
#[cfg(unix)]
fn the_log_of_a_database_that_a_link_leads_to_is_kept_when_it_is_missing() {
    for log in ["m.db-wal", "deep/real.db-wal"] {
        let (folder, acknowledged) = killed("deep/real.db");
        fs::rename(folder.path("deep/real.db"), folder.path("aside.db")).unwrap();
        std::os::unix::fs::symlink("deep/real.db", folder.path("m.db")).unwrap();
        if log == "m.db-wal" {
            fs::rename(folder.path("deep/real.db-wal"), folder.path(log)).unwrap();
        }
        let says = format!("deep/real.db` is gone, and what was written last is in `{log}`; put");
        assert_refused(&folder, "m.db", log, &says);
        let refused = folder.run(["doctor", "--db", "m.db"]).stderr;
        let (_, advice) = refused.split_once("remindb salvage ").unwrap();
        let name = advice.split(" --out").next().unwrap();
        folder.ok(["salvage", name, "--out", "new.db"]);
        acknowledged.check(&folder, "new.db");
    }
}

/// A command that looks for the memory finds what is left of it, and makes no other one.
#[test]
fn a_log_whose_database_is_gone_is_found_without_a_name() {
    for log in [".remindb/memory.db-wal", "memory.db-wal", ".data/remindb/memory.db-wal"] {
        let folder = Folder::new().file("notes/a.md", "A note.\n").file(log, "what a log held");
        for args in [["search", "log"].as_slice(), &["compile", "notes"], &["write", "more"]] {
            let ran = folder.run(args);
            assert_eq!(ran.code, Some(2), "{args:?}: {}", ran.transcript());
            let says = "is gone, and what was written last is in `";
            assert!(ran.stderr.contains(says) && ran.stderr.contains(log), "{}", ran.stderr);
            assert!(!ran.stderr.contains("remindb: new memory"), "{}", ran.stderr);
        }
    }
}

/// SQLite follows no link at the name of the log, and nothing is lost.
#[test]
#[cfg(unix)]
fn a_log_that_is_a_symbolic_link_is_named_as_one() {
    for ending in ["-wal", "-shm"] {
        let (folder, acknowledged) = killed("m.db");
        let name = format!("m.db{ending}");
        fs::rename(folder.path(&name), folder.path("deep/moved")).unwrap();
        std::os::unix::fs::symlink("deep/moved", folder.path(&name)).unwrap();
        let says =
            format!("{name}` is a symbolic link, which SQLite does not follow; put the file");
        assert_refused(&folder, "m.db", "deep/moved", &says);
        fs::rename(folder.path("deep/moved"), folder.path(&name)).unwrap();
        acknowledged.check(&folder, "m.db");
    }
}

/// Runs the program with `outside` mounted at `inside` of the folder; `None` where this user cannot
/// mount.
fn mounted(folder: &Folder, outside: &str, inside: &str, args: &[&str]) -> Option<Ran> {
    let script = "mount --bind \"$0\" \"$1\" || exit 99; shift; exec \"$@\"";
    let program = folder.command([] as [&str; 0]);
    let mut command = Command::new("unshare");
    command.args(["--mount", "--map-root-user", "sh", "-c", script, outside, inside]);
    command.arg(program.get_program()).args(args).current_dir(folder.path(""));
    command.stdin(std::process::Stdio::null());
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    if !Path::new("/usr/bin/unshare").exists() {
        return None;
    }
    let ran = Ran::of(folder, &mut command);
    let is_refused = ran.code == Some(99) || ran.stderr.contains("unshare");
    (!is_refused).then_some(ran)
}

#[test]
#[cfg(target_os = "linux")]
fn a_memory_that_is_mounted_by_itself_is_refused() {
    let folder = Folder::new().file("inside/m.db", "").file("notes/a.md", "Words.\n");
    folder.ok(["compile", "notes", "--db", "m.db"]);
    let compile = ["compile", "notes", "--db", "inside/m.db"];
    let Some(ran) = mounted(&folder, "m.db", "inside/m.db", &compile) else {
        eprintln!("skipped: this user cannot mount");
        return;
    };
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("inside/m.db` is mounted without its folder"), "{}", ran.stderr);
    assert!(!folder.path("inside/m.db-wal").exists());
    // Mounting the folder is permitted.
    folder.write("host/a.txt", "");
    fs::rename(folder.path("m.db"), folder.path("host/m.db")).unwrap();
    let ran = mounted(&folder, "host", "inside", &compile).unwrap();
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    folder.assert_healthy("host/m.db");
}
