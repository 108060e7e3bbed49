//! Tests rescans of a folder that changes while it is served, and while it is not.
//!
//! They check the client's notifications, the stored nodes and the log.

use std::fs::{self, File};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;

use expect_test::expect;
use serde_json::json;

use super::support::{Client, Folder, signal};

const ARGS: [&str; 7] =
    ["--db", "m.db", "--source", "notes", "--rescan-interval", "20ms", "--structured"];

/// Starts a server of the folder, and waits for its first scan.
fn serve(folder: &Folder) -> Client {
    let client = Client::legacy(folder, &ARGS);
    client.logged("compiled: ");
    client
}

/// Writes a note that looks finished by its date.
fn write(folder: &Folder, path: &str, text: impl AsRef<[u8]>) {
    folder.write(path, text);
    folder.date(path, 7);
}

/// Returns the outline without ids.
#[track_caller]
fn outline(client: &mut Client) -> String {
    let tree = client.text("MemoryTree", json!({}));
    let lines: Vec<&str> = tree.lines().map(|it| it.split(" (id=").next().unwrap()).collect();
    lines.join("\n")
}

/// Returns the messages of the log up to the one that contains `what`.
#[track_caller]
fn messages(client: &Client, what: &str) -> Vec<String> {
    let mut messages = Vec::new();
    loop {
        let line = client.log_line().unwrap_or_else(|| panic!("`{what}` should have been logged"));
        let message = line.split_once(' ').unwrap().1.to_owned();
        let message = message.split(" took_ms=").next().unwrap().to_owned();
        let is_last = message.contains(what);
        messages.push(message);
        if is_last {
            return messages;
        }
    }
}

#[test]
fn edits_show_while_the_server_runs() {
    let folder = Folder::new();
    write(&folder, "notes/kept.md", "Kept.\n");
    write(&folder, "notes/gone.md", "Gone soon.\n");
    let mut client = serve(&folder);
    fs::remove_file(folder.path("notes/gone.md")).unwrap();
    client.logged("compiled: 0 added, 0 modified, 1 removed");
    write(&folder, "notes/sub/new.md", "New.\n");
    client.logged("compiled: 1 added");
    write(&folder, "notes/kept.md", "");
    client.logged("compiled: 0 added, 0 modified, 1 removed");
    write(&folder, "notes/kept.md", "Kept again.\n");
    client.logged("compiled: 1 added");
    assert_eq!(outline(&mut client), "[text] Kept again.\n[text] New.");
    let stats = client.call("MemoryStats", json!({})).result["structuredContent"].clone();
    assert_eq!((&stats["snapshots"], &stats["head"]["message"]), (&json!(5), &json!("rescan")));
    client.end();
    folder.assert_healthy("m.db");
}

#[test]
fn edits_show_that_were_made_while_the_server_was_down() {
    let folder = Folder::new();
    for name in ["edited", "deleted", "emptied", "restored", "renamed"] {
        write(&folder, &format!("notes/{name}.md"), format!("Of {name}.\n"));
    }
    serve(&folder).end();
    let before = folder.facts("m.db")["snapshots"].clone();
    write(&folder, "notes/edited.md", "Edited.\n");
    fs::remove_file(folder.path("notes/deleted.md")).unwrap();
    folder.write("notes/emptied.md", "");
    folder.write("notes/restored.md", "Restored.\n");
    folder.date("notes/restored.md", 0);
    fs::rename(folder.path("notes/renamed.md"), folder.path("notes/a new name.md")).unwrap();
    let mut client = serve(&folder);
    assert_eq!(outline(&mut client), "[text] Of renamed.\n[text] Edited.\n[text] Restored.");
    client.end();
    assert_eq!(before, json!(1));
    assert_eq!(folder.facts("m.db")["snapshots"], json!(2));
    folder.assert_healthy("m.db");
}

#[test]
fn an_odd_file_is_named_once_and_the_rest_compiled() {
    let folder = Folder::new();
    write(&folder, "notes/good.md", "Good.\n");
    write(&folder, "notes/broken.yaml", "a: [1, 2\nb: }\n");
    write(&folder, "notes/shut/inside.md", "Inside.\n");
    let notes = folder.path("notes");
    symlink("nowhere", notes.join("dangling.md")).unwrap();
    assert!(Command::new("mkfifo").arg(notes.join("fifo.md")).status().unwrap().success());
    File::create(notes.join("sparse.md")).unwrap().set_len(5 << 30).unwrap();
    folder.date("notes/sparse.md", 7);
    let shut = |mode| fs::set_permissions(notes.join("shut"), PermissionsExt::from_mode(mode));
    shut(0).unwrap();
    let is_shut = fs::read_dir(notes.join("shut")).is_err();
    let mut client = Client::legacy(&folder, &ARGS);
    let mut logged = messages(&client, "compiled: ");
    // A user who may read everything gets no complaint.
    logged.retain(|it| !it.contains("shut"));
    assert_eq!(is_shut, logged.last().unwrap().contains(", 5 warnings"), "{logged:?}");
    logged.pop();
    expect![[r#"
        [INFO] a new memory was made at `m.db`
        [INFO] serving name=remindb version=0.1.0
        [INFO] initialized version=2025-11-25
        [WARN] broken.yaml:2: not valid YAML: illegal placement of ':' indicator; the rest is kept as text
        [WARN] dangling.md: cannot look at it: No such file or directory (os error 2)
        [WARN] fifo.md: neither a file nor a link to one; passed over
        [WARN] sparse.md: 5120 MiB are too large; split it into files of up to 256 MiB"#]]
    .assert_eq(&logged.join("\n"));
    shut(0o755).unwrap();
    for n in 0..3 {
        write(&folder, "notes/good.md", format!("Good{} at last, {n}.\n", "!".repeat(n)));
        let logged = messages(&client, "compiled: ");
        assert_eq!(logged.len(), 1, "{logged:?}");
    }
    while !outline(&mut client).contains("Good!! at last, 2.") {}
    client.end();
    folder.assert_healthy("m.db");
}

#[test]
fn a_secret_that_appears_is_nowhere() {
    const SECRET: &str = "AKIAIOSFODNN7EXAMPLE";
    let folder = Folder::new();
    write(&folder, "notes/a.md", "# Keys\n\nNone yet.\n");
    let mut client = serve(&folder);
    write(&folder, "notes/a.md", format!("# Keys\n\nIt is {SECRET}, they say.\n"));
    write(&folder, &format!("notes/{SECRET}.md"), "Named so.\n");
    while !outline(&mut client).contains("Named so.") {}
    while !outline(&mut client).contains("«redacted:aws_access_key», they say") {}
    for name in folder.names().iter().filter(|it| it.starts_with("m.db")) {
        let bytes = fs::read(folder.path(name)).unwrap();
        assert!(!bytes.windows(SECRET.len()).any(|it| it == SECRET.as_bytes()), "{name}");
    }
    client.close();
    let mut logged = String::new();
    while let Some(line) = client.log_line() {
        logged += &line;
    }
    assert!(!logged.contains(SECRET), "{logged}");
}

#[test]
fn of_two_servers_one_scans() {
    let folder = Folder::new();
    for n in 0..20 {
        write(&folder, &format!("notes/{n}.md"), format!("# Note {n}\n\nWords of it.\n"));
    }
    let mut servers: Vec<Client> = (0..2).map(|_| Client::legacy(&folder, &ARGS)).collect();
    for server in &servers {
        // One of them compiles, the other finds that done.
        let logged = messages(server, "compiled: ");
        assert!(
            logged.iter().all(|it| !it.contains("[WARN]") && !it.contains("[ERROR]")),
            "{logged:?}"
        );
    }
    assert_eq!(folder.facts("m.db")["snapshots"], json!(1));
    write(&folder, "notes/0.md", "# Note 0\n\nOther words of it, and more.\n");
    for server in &mut servers {
        while !outline(server).contains("Other words") {}
    }
    assert_eq!(folder.facts("m.db")["snapshots"], json!(2));
    // After either one's end, the other takes over, or a new one.
    signal(servers[0].pid(), "KILL");
    servers[0].wait();
    write(&folder, "notes/1.md", "# Note 1\n\nWords at last.\n");
    let mut third = serve(&folder);
    assert!(outline(&mut third).contains("Words at last"));
    third.end();
    for mut server in servers.drain(1..) {
        assert!(outline(&mut server).contains("Words at last"));
        server.end();
    }
    folder.assert_healthy("m.db");
}

#[test]
fn a_folder_that_goes_away_takes_nothing_with_it() {
    let folder = Folder::new();
    write(&folder, "notes/a.md", "Still here.\n");
    let mut client = serve(&folder);
    fs::rename(folder.path("notes"), folder.path("away")).unwrap();
    let logged = client.logged("the folder was not scanned");
    assert!(logged.contains("No such file or directory"), "{logged}");
    fs::create_dir(folder.path("notes")).unwrap();
    let logged = client.logged("the folder was not scanned");
    assert!(logged.contains("has no notes and is not the folder that it was"), "{logged}");
    assert_eq!(outline(&mut client), "[text] Still here.");
    fs::remove_dir(folder.path("notes")).unwrap();
    fs::rename(folder.path("away"), folder.path("notes")).unwrap();
    write(&folder, "notes/b.md", "Back.\n");
    client.logged("compiled: 1 added, 0 modified, 0 removed");
    client.end();
}

#[test]
fn the_interval_comes_from_the_flag_then_the_environment() {
    let folder = Folder::new().file("notes/a.md", "Words.\n");
    folder.check_session(expect![[r#"
        $ serve --db m.db --rescan-interval 5s
        ! remindb: `--rescan-interval` is for a source folder; name one with --source
        = 2
        $ serve --db m.db --source notes --rescan-interval 0
        ! remindb: `--rescan-interval` must be positive, not `0`; see `remindb help serve`
        = 2
    "#]]);
    let with = |value: &str, args: &[&str]| {
        let args = [&["serve", "--db", "m.db", "--source", "notes"], args].concat();
        let mut command = folder.command(args);
        super::support::Ran::of(&folder, command.env("REMINDB_RESCAN_INTERVAL", value))
    };
    expect![[r#"
        ! remindb: `REMINDB_RESCAN_INTERVAL` is no duration, `often`; write it with its unit, as in "500ms", "30s", "1h30m"
        = 2
    "#]]
    .assert_eq(&with("often", &[]).transcript());
    assert_eq!(with("often", &["--rescan-interval", "1m"]).code, Some(0));
    assert_eq!(with("1h", &[]).code, Some(0));
}
