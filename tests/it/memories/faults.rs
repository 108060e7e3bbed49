//! Faults of file and system, provoked for real: each call is refused with its code, changes
//! nothing, and the server goes on.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::process::Command;

use serde_json::{Value, json};

use super::super::support::{Client, Folder};
use super::{Door, NOBODY, OFFER};

/// A fault with the calls that meet it.
pub(crate) struct Fault {
    /// What is done to the file before a server opens it.
    before: fn(&Folder),
    /// Makes the command of the server.
    pub(crate) command: fn(&Folder, &[&str]) -> Command,
    pub(crate) check: fn(&mut Door<'_>, &Folder),
}

/// Every fault; each is met over every transport in both eras.
pub(crate) const FAULTS: &[Fault] = &[
    Fault { before: |_| (), command: as_another_user, check: a_reader_writes_nothing },
    Fault { before: |_| (), command: without_room, check: a_full_disk_takes_nothing },
    Fault { before: |_| (), command: as_usual, check: a_file_that_went_is_not_written },
    Fault { before: damage_the_index, command: as_usual, check: damage_is_named },
    Fault { before: damage_the_fields, command: as_usual, check: damaged_fields_are_named },
    Fault { before: |_| (), command: as_usual, check: a_lost_table_is_named },
    Fault { before: fill, command: as_usual, check: one_core_memory_too_many },
];

impl Fault {
    /// Returns a folder with a memory of three memories, after the fault.
    pub(crate) fn folder(&self) -> Folder {
        let folder = Folder::new();
        let mut client = Client::modern(&folder, &OFFER);
        let mut door = Door(&mut |tool, args| client.call(tool, args).result);
        for (memory_type, content) in
            [("core", "Likes tea"), ("learning", "Ice is slippery"), ("task", "Buy salt")]
        {
            door.store(json!({"type": memory_type, "content": content, "tags": ["all"]}));
        }
        client.end();
        (self.before)(&folder);
        folder
    }
}

/// A call of each tool that writes, at the core memory of that id.
fn writes(id: &str) -> [(&'static str, Value); 5] {
    [
        ("store_memory", json!({"type": "core", "content": "One more"})),
        ("store_memory", json!({"type": "core", "content": "Likes coffee", "id": id})),
        ("update_memory", json!({"id": id, "importance": "low"})),
        ("delete_memory", json!({"id": id})),
        ("delete_memory", json!({"id": id, "permanent": true})),
    ]
}

/// The id of the core memory.
fn core(state: &[Value]) -> String {
    state.iter().find(|it| it["type"] == "core").unwrap()["id"].as_str().unwrap().to_owned()
}

fn as_usual(folder: &Folder, args: &[&str]) -> Command {
    folder.command(["serve"].iter().chain(args))
}

/// The server of a user who may read the memory and not write it.
fn as_another_user(folder: &Folder, args: &[&str]) -> Command {
    let mode = |path: &str, mode: u32| {
        fs::set_permissions(folder.path(path), fs::Permissions::from_mode(mode)).unwrap();
    };
    mode("m.db", 0o444);
    let is_root = fs::metadata("/proc/self").unwrap().uid() == 0;
    let args = [&["serve"], args].concat();
    if !is_root {
        return folder.command(args);
    }
    // Nothing is forbidden to root, and what is below its home may be hidden from others.
    fs::copy(env!("CARGO_BIN_EXE_remindb"), folder.path("program")).unwrap();
    mode("program", 0o755);
    // A log has to be made beside the file even to read it.
    mode("", 0o777);
    let outer = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "sh", "-c"];
    folder.wrapped(&[&outer[..], &["shift; exec ./program \"$@\"", "sh"]].concat(), &args)
}

/// The server on a disk that has room for a few pages of a log.
fn without_room(folder: &Folder, args: &[&str]) -> Command {
    let args = [&["serve"], args].concat();
    folder.wrapped(&["sh", "-c", "ulimit -f 64; exec \"$0\" \"$@\""], &args)
}

/// Overwrites the page at the root of the index of fields.
fn damage_the_index(folder: &Folder) {
    const ROOT: &str = "SELECT rootpage FROM sqlite_schema WHERE name = 'facet'";
    let page: usize =
        folder.database("m.db").query_row(ROOT, [], |row| row.get::<_, i64>(0)).unwrap() as usize;
    let mut bytes = fs::read(folder.path("m.db")).unwrap();
    bytes[(page - 1) * 4096..page * 4096].fill(0xa5);
    folder.write("m.db", bytes);
}

/// Nests the fields of the core memory deeper than any that are written.
fn damage_the_fields(folder: &Folder) {
    let sql = "UPDATE node SET fields = json_set(fields, '$.tags', json('[[[[[[[[[]]]]]]]]]'))
                WHERE node_type = 'core'";
    assert_eq!(folder.database("m.db").execute(sql, []).unwrap(), 1);
}

fn drop_the_index(folder: &Folder) {
    let sql = "DROP TRIGGER facet_node_added; DROP TRIGGER facet_node_changed;
               DROP TRIGGER facet_node_removed; DROP TABLE facet;";
    folder.database("m.db").execute_batch(sql).unwrap();
}

/// Adds core memories until there are as many as there may be.
fn fill(folder: &Folder) {
    const CORE_MAX: usize = 1_000;
    let mut client = Client::modern(folder, &OFFER);
    let mut door = Door(&mut |tool, args| client.call(tool, args).result);
    for nth in 1..CORE_MAX {
        door.store(json!({"type": "core", "content": format!("Fact {nth}"), "importance": "low"}));
    }
    client.end();
}

fn a_reader_writes_nothing(door: &mut Door<'_>, _: &Folder) {
    let before = (door.head(), door.state());
    for (tool, args) in writes(&core(&before.1)) {
        door.assert_refused(tool, args, "PERMISSION_ERROR", "this user has to be able to write");
    }
    assert_eq!((door.head(), door.state()), before);
    assert_eq!(before.1.len(), 3);
    assert_eq!(door.ok("get_memory_stats", json!({}))["total_memories"], 3);
}

fn a_full_disk_takes_nothing(door: &mut Door<'_>, _: &Folder) {
    let before = door.state();
    for nth in 0..3 {
        let args = json!({"type": "core", "content": format!("{nth} {}", "long ".repeat(900))});
        door.assert_refused("store_memory", args, "STORAGE_ERROR", "nothing was changed");
    }
    assert_eq!(door.state(), before);
}

fn a_file_that_went_is_not_written(door: &mut Door<'_>, folder: &Folder) {
    let before = door.state();
    fs::rename(folder.path("m.db"), folder.path("elsewhere.db")).unwrap();
    for (tool, args) in writes(&core(&before)) {
        door.assert_refused(tool, args, "STORAGE_ERROR", "was deleted, replaced or shortened");
    }
    for tool in ["query_memories", "get_memory_stats"] {
        door.assert_refused(tool, json!({}), "STORAGE_ERROR", "was deleted, replaced or shortened");
    }
    fs::rename(folder.path("elsewhere.db"), folder.path("m.db")).unwrap();
    assert_eq!(door.state(), before);
}

fn damage_is_named(door: &mut Door<'_>, _: &Folder) {
    for (tool, args) in writes(NOBODY) {
        door.assert_refused(tool, args, "CORRUPTED_DATA", "remindb salvage");
    }
    for tool in ["query_memories", "get_memory_stats"] {
        door.assert_refused(tool, json!({}), "CORRUPTED_DATA", "remindb salvage");
    }
}

fn damaged_fields_are_named(door: &mut Door<'_>, _: &Folder) {
    let core = json!({"type": "core"});
    door.assert_refused("query_memories", core, "CORRUPTED_DATA", "run `remindb doctor`");
    let again = json!({"type": "core", "content": "Likes tea"});
    door.assert_refused("store_memory", again, "CORRUPTED_DATA", "cannot be read");
    // What is sound is there as before.
    assert_eq!(door.ok("query_memories", json!({"type": "task"}))["total"], 1);
    door.store(json!({"type": "core", "content": "Likes coffee"}));
}

fn a_lost_table_is_named(door: &mut Door<'_>, folder: &Folder) {
    // The server has opened the file once it answers.
    door.ok("get_memory_stats", json!({}));
    drop_the_index(folder);
    let why = "missing table `facet`";
    for (tool, args) in writes(NOBODY) {
        door.assert_refused(tool, args, "STORAGE_ERROR", why);
    }
    for tool in ["query_memories", "get_memory_stats"] {
        door.assert_refused(tool, json!({}), "STORAGE_ERROR", why);
    }
}

fn one_core_memory_too_many(door: &mut Door<'_>, _: &Folder) {
    let one_more = json!({"type": "core", "content": "One more"});
    let error = door.error("store_memory", one_more.clone());
    assert_eq!(error["error"]["code"], "LIMIT_EXCEEDED", "{error}");
    assert_eq!(super::keys(&error["error"]), ["code", "message", "suggestions"]);
    let suggestions = error["error"]["suggestions"].as_array().unwrap().clone();
    assert_eq!(suggestions.len(), 5);
    door.ok("delete_memory", json!({"id": suggestions[0]}));
    door.ok("store_memory", one_more);
    let back = json!({"id": suggestions[0], "archived": false});
    assert_eq!(door.error("update_memory", back)["error"]["code"], "LIMIT_EXCEEDED");
}

#[test]
fn faults_over_stdio() {
    for fault in FAULTS {
        let base = fault.folder();
        for meet in [Client::shake_hands as fn(Client) -> Client, Client::without_hands] {
            let folder = base.copy();
            let mut client = meet(Client::of(&mut (fault.command)(&folder, &OFFER)));
            (fault.check)(&mut Door(&mut |tool, args| client.call(tool, args).result), &folder);
            client.end();
        }
    }
}

#[test]
fn a_resource_that_cannot_be_read_says_why() {
    let codes = [
        (damage_the_index as fn(&Folder), "CORRUPTED_DATA"),
        (damage_the_fields, "CORRUPTED_DATA"),
    ];
    for (damage, code) in codes {
        let folder = Fault { before: damage, command: as_usual, check: |_, _| () }.folder();
        for meet in [Client::shake_hands as fn(Client) -> Client, Client::without_hands] {
            let mut client = meet(Client::start(&folder, &OFFER));
            let read = client.ask("resources/read", json!({"uri": "memory://core"}));
            let data = json!({"uri": "memory://core", "code": code});
            assert_eq!((&read["error"]["code"], &read["error"]["data"]), (&json!(-32603), &data));
            client.end();
        }
    }
    let folder = Fault { before: |_| (), command: as_usual, check: |_, _| () }.folder();
    let mut client = Client::modern(&folder, &OFFER);
    client.ask("resources/list", json!({}));
    fs::rename(folder.path("m.db"), folder.path("elsewhere.db")).unwrap();
    let read = client.ask("resources/read", json!({"uri": "memory://core"}));
    assert_eq!(read["error"]["data"]["code"], "STORAGE_ERROR", "{read}");
    fs::rename(folder.path("elsewhere.db"), folder.path("m.db")).unwrap();
    client.end();
}
