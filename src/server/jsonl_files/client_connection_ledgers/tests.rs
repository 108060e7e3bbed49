use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;
use crate::server::client_presence_and_history::ClientIdentity;

fn home() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn entry(client: &str, session: &str, tool_calls: u64) -> ClientSessionRecord {
    ClientSessionRecord {
        session_id: session.to_owned(),
        client: ClientIdentity { name: client.to_owned(), ..ClientIdentity::default() },
        transport: "stdio".to_owned(),
        connected_at: 10,
        last_seen: 20,
        disconnected_at: None,
        tool_calls,
    }
}

#[track_caller]
fn append(
    history: &ClientConnectionLedgers,
    entries: impl IntoIterator<Item = ClientSessionRecord>,
) {
    let mut entries: Vec<ClientSessionRecord> = entries.into_iter().collect();
    history.append(&mut entries).unwrap();
    assert_eq!(entries, []);
}

fn summary(history: &ClientConnectionLedgers) -> Vec<(String, usize, u64)> {
    let clients = history.clients().unwrap();
    clients.into_iter().map(|it| (it.client.name, it.sessions, it.tool_calls)).collect()
}

fn ledger_of(home: &Path, client: &str) -> std::path::PathBuf {
    let stem = entry(client, "", 0).client.stem("stdio");
    home.join(".remindb/sessions").join(format!("{stem}.jsonl"))
}

#[test]
fn written_sessions_are_read_back() {
    let home = home();
    let history = ClientConnectionLedgers::new(home.path());
    assert_eq!(summary(&history), []);
    append(&history, [entry("desk", "a", 1), entry("code", "b", 2), entry("desk", "c", 3)]);
    append(&history, [entry("desk", "a", 5)]);
    let expected = [("code".to_owned(), 1, 2), ("desk".to_owned(), 2, 8)];
    assert_eq!(summary(&history), expected);
    let hash = entry("desk", "", 0).client.hash("stdio");
    assert_eq!(history.client(&hash).unwrap().unwrap().tool_calls, 8);
    history.compact().unwrap();
    assert_eq!(summary(&history), expected);
    assert_eq!(fs::read_to_string(ledger_of(home.path(), "desk")).unwrap().lines().count(), 2);
}

#[test]
fn a_client_is_found_by_its_whole_hash_and_nothing_else() {
    let home = home();
    let history = ClientConnectionLedgers::new(home.path());
    append(&history, [entry("desk", "a", 1)]);
    fs::write(home.path().join(".remindb/secret.jsonl"), entry("x", "y", 1).to_line()).unwrap();
    fs::write(home.path().join(".remindb/sessions/odd.jsonl"), "{}").unwrap();
    let hash = entry("desk", "", 0).client.hash("stdio");
    let stem = entry("desk", "", 0).client.stem("stdio");
    let odd = ["", "*", "%2A", "?", "..", "../secret", "odd", "-", &hash[1..], &stem, "\0"];
    for asked in odd.into_iter().chain([hash.to_lowercase().as_str()]) {
        assert_eq!(history.client(asked).unwrap(), None, "{asked}");
    }
    assert!(history.client(&hash).unwrap().is_some());
}

#[test]
fn a_torn_line_costs_only_itself() {
    let home = home();
    let history = ClientConnectionLedgers::new(home.path());
    append(&history, [entry("desk", "a", 1)]);
    let path = ledger_of(home.path(), "desk");
    let whole = fs::read(&path).unwrap();
    for n_bytes in 0..whole.len() {
        fs::write(&path, [&whole, &whole[..n_bytes]].concat()).unwrap();
        append(&history, [entry("desk", "b", 2)]);
        assert_eq!(summary(&history), [("desk".to_owned(), 2, 3)], "cut after {n_bytes} bytes");
    }
}

#[test]
fn only_the_user_can_read_the_files() {
    let home = home();
    let history = ClientConnectionLedgers::new(home.path());
    append(&history, [entry("desk", "a", 1)]);
    append(&history, [entry("desk", "a", 2)]);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let path = ledger_of(home.path(), "desk");
    assert_eq!(mode(&path), 0o600);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    history.compact().unwrap();
    assert_eq!(mode(&path), 0o600);
    assert_eq!(mode(path.parent().unwrap()), 0o700);
    assert_eq!(mode(&home.path().join(".remindb")), 0o700);
}

#[test]
fn nothing_is_read_or_written_outside() {
    let outside = home();
    let stem = entry("desk", "", 0).client.stem("stdio");
    let name = format!("{stem}.jsonl");
    fs::write(outside.path().join(&name), entry("desk", "a", 1).to_line()).unwrap();
    let before = fs::read(outside.path().join(&name)).unwrap();
    let links = [".remindb", ".remindb/sessions", ".remindb/sessions/lock"];
    let ledger = format!(".remindb/sessions/{name}");
    for link in links.into_iter().chain([ledger.as_str()]) {
        let inner = home();
        fs::create_dir_all(inner.path().join(link).parent().unwrap()).unwrap();
        let is_file = link.len() > ".remindb/sessions".len();
        let target = if is_file { outside.path().join(&name) } else { outside.path().to_owned() };
        symlink(target, inner.path().join(link)).unwrap();
        let history = ClientConnectionLedgers::new(inner.path());
        assert!(history.append(&mut vec![entry("desk", "b", 1)]).is_err(), "{link}");
        assert!(history.clients().unwrap_or_default().is_empty(), "{link}");
        // The call may succeed, but changes nothing.
        let _ = history.compact();
    }
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
    assert_eq!(fs::read(outside.path().join(&name)).unwrap(), before);
}

#[test]
fn links_within_the_folder_cost_no_file_of_the_user() {
    let ledger = format!("{}.jsonl", entry("desk", "", 0).client.stem("stdio"));
    // As long as one that is compacted.
    let theirs = format!("{}\nno session at all\n", entry("desk", "a", 1).to_line()).repeat(99);
    let links = [
        (".remindb/sessions".to_owned(), "../theirs".to_owned()),
        (format!(".remindb/sessions/{ledger}"), format!("../../theirs/{ledger}")),
        (".remindb".to_owned(), "theirs".to_owned()),
    ];
    for (link, target) in links {
        let home = home();
        fs::create_dir_all(home.path().join("theirs/sessions")).unwrap();
        fs::write(home.path().join("theirs").join(&ledger), &theirs).unwrap();
        fs::write(home.path().join("theirs/sessions").join(&ledger), &theirs).unwrap();
        fs::create_dir_all(home.path().join(&link).parent().unwrap()).unwrap();
        symlink(target, home.path().join(&link)).unwrap();
        let history = ClientConnectionLedgers::new(home.path());
        let error = history.append(&mut vec![entry("desk", "b", 1)]).unwrap_err().to_string();
        assert!(error.contains(&format!("{link}` is not used: it is a link")), "{error}");
        // The call may succeed, but changes nothing.
        let _ = history.compact();
        for folder in ["theirs", "theirs/sessions"] {
            let left = fs::read_to_string(home.path().join(folder).join(&ledger)).unwrap();
            assert_eq!(left, theirs, "{link}");
        }
    }
}

#[test]
fn one_bad_file_costs_only_itself() {
    let home = home();
    let history = ClientConnectionLedgers::new(home.path());
    fs::create_dir_all(ledger_of(home.path(), "desk")).unwrap();
    let mut entries = vec![entry("desk", "a", 1), entry("code", "b", 2)];
    assert!(history.append(&mut entries).is_err());
    assert_eq!(entries, [entry("desk", "a", 1)], "it waits");
    assert_eq!(summary(&history), [("code".to_owned(), 1, 2)]);
    fs::remove_dir(ledger_of(home.path(), "desk")).unwrap();
    append(&history, entries);
    assert_eq!(summary(&history).len(), 2);
}

#[test]
fn no_line_is_lost_during_compaction() {
    const WRITERS: u64 = 4;
    const LINES: u64 = 60;
    let home = home();
    let history = ClientConnectionLedgers::new(home.path());
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let history = &history;
            scope.spawn(move || {
                for line in 1..=LINES {
                    let own = format!("{writer}");
                    let once = format!("{writer}.{line}");
                    append(history, [entry("desk", &own, line), entry("desk", &once, 0)]);
                    if line % 5 == writer {
                        history.compact().unwrap();
                    }
                    let seen = summary(history);
                    assert_eq!(seen.len(), 1, "a reader sees a whole file at any time");
                }
            });
        }
    });
    let n_sessions = usize::try_from(WRITERS * (1 + LINES)).unwrap();
    assert_eq!(summary(&history), [("desk".to_owned(), n_sessions, WRITERS * LINES)]);
}
