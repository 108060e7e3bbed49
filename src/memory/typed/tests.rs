//! The use cases against the specification.

mod archiving;
mod fields;
mod lines;
mod model;
mod random;
mod second_process;

use std::path::PathBuf;

use super::*;
use crate::model::clock::Clock;
use crate::settings::config::TypedMemorySettings;
use crate::store::IfMissing;

/// 2026-01-01T10:00:00Z.
const START: UnixMillis = UnixMillis(1_767_261_600_000);

/// A memory at a folder of its own, with a clock that tests set.
struct World {
    dir: tempfile::TempDir,
    clock: Clock,
    memory: Option<Memory>,
}

impl World {
    fn new() -> World {
        let mut world =
            World { dir: tempfile::tempdir().unwrap(), clock: Clock::manual(START), memory: None };
        world.reopen(TypedMemorySettings::default());
        world
    }

    fn database(&self) -> PathBuf {
        self.dir.path().join("memory.db")
    }

    fn memory(&self) -> &Memory {
        self.memory.as_ref().unwrap()
    }

    fn open(&self, settings: TypedMemorySettings) -> Memory {
        let memory =
            Memory::open_at(&self.database(), IfMissing::Create, self.clock.clone()).unwrap();
        memory.with_memory_settings(settings)
    }

    fn reopen(&mut self, settings: TypedMemorySettings) {
        self.memory = None;
        self.memory = Some(self.open(settings));
    }

    fn call(&self, tool: &str, args: Value) -> Result<Value, Value> {
        call(self.memory(), tool, args)
    }

    #[track_caller]
    fn ok(&self, tool: &str, args: Value) -> Value {
        self.call(tool, args).unwrap()
    }

    #[track_caller]
    fn store(&self, args: Value) -> Value {
        self.ok("store_memory", args)["memory"].clone()
    }

    fn n_snapshots(&self) -> i64 {
        let conn = rusqlite::Connection::open(self.database()).unwrap();
        conn.query_row("SELECT ifnull(max(id), 0) FROM snapshot", [], |row| row.get(0)).unwrap()
    }

    /// The error of a call that changes nothing.
    #[track_caller]
    fn assert_refused(&self, tool: &str, args: Value, code: &str, message: &str) {
        let before = self.n_snapshots();
        let error = self.call(tool, args.clone()).expect_err("it is refused");
        assert_eq!(error["error"]["code"], code, "{args} {error}");
        assert_eq!(error["error"]["message"], message, "{args}");
        assert_eq!(self.n_snapshots(), before);
    }
}

/// Runs a tool as a client does: JSON in, JSON out.
fn call(memory: &Memory, tool: &str, args: Value) -> Result<Value, Value> {
    let Value::Object(args) = args else { panic!("an object") };
    let answer = match tool {
        "store_memory" => {
            StoreRequest::parse(&args).and_then(|it| memory.store_memory(it)).map(|it| it.to_json())
        }
        "query_memories" => QueryRequest::parse(&args)
            .and_then(|it| memory.query_memories(&it))
            .map(|it| it.to_json()),
        "update_memory" => UpdateRequest::parse(&args)
            .and_then(|it| memory.update_memory(it))
            .map(|it| it.to_json()),
        "delete_memory" => DeleteRequest::parse(&args)
            .and_then(|it| memory.delete_memory(&it))
            .map(|it| it.to_json()),
        "get_memory_stats" => memory.memory_stats().map(|it| it.to_json()),
        other => panic!("no tool {other}"),
    };
    answer.map_err(|it| it.to_json())
}

/// The ids of a page, as the contents that they have.
fn contents(page: &Value) -> Vec<&str> {
    let memories = page["memories"].as_array().unwrap().iter();
    memories.map(|it| it["content"].as_str().unwrap()).collect()
}
