//! Tests of knowledge: remembered, recalled, undone.

use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;
use crate::memory::Memory;
use crate::memory::typed::MemoryError;
use crate::model::clock::{Clock, UnixMillis};
use crate::store::IfMissing;
use crate::store::reader::FieldFilter;

mod applying;
mod carrying;
mod carrying_again;
mod carrying_edges;
mod carrying_equal_texts;
mod carrying_settled;
mod changing;
mod conflicts_of_many;
mod consolidating;
mod deleted_marks;
mod disputing;
mod equal_statements;
mod guarantees;
mod ingesting;
mod kept_as_given;
mod lapsing;
mod leniency;
mod promises;
mod questions;
mod recalling;
mod recalling_within_budgets;
mod remembering;
mod replaying;
mod reviewing;
mod said_again;
mod standing;
mod stating;
mod subjects_of_files;
mod subjects_of_roots;
mod taught_calls;
mod topics;

/// A memory at a folder of its own, with a clock that tests set.
struct Case {
    folder: TempDir,
    clock: Clock,
    memory: Memory,
}

/// 2026-11-23T10:00:00Z.
const START: UnixMillis = UnixMillis(1_795_428_000_000);

impl Case {
    fn new() -> Case {
        let folder = TempDir::new().unwrap();
        let clock = Clock::manual(START);
        let path = folder.path().join("memory.db");
        let memory = Memory::open_at(&path, IfMissing::Create, clock.clone()).unwrap();
        Case { folder, clock, memory }
    }

    fn try_remember(&self, args: Value) -> Result<Value, MemoryError> {
        let Value::Object(args) = args else { panic!("an object") };
        self.memory.remember(RememberRequest::parse(&args)?)
    }

    #[track_caller]
    fn remember(&self, args: Value) -> Value {
        self.try_remember(args).unwrap()
    }

    #[track_caller]
    fn refused(&self, args: Value, why: &str) {
        let before = self.memory.stats().unwrap().text;
        assert_eq!(self.try_remember(args).unwrap_err().message, why);
        assert_eq!(self.memory.stats().unwrap().text, before, "an error writes nothing");
    }

    /// The id of the cluster that holds the fact of a text.
    fn cluster_of(&self, text: &str) -> String {
        let reader = self.memory.read(|reader| {
            let facts = reader.nodes_with(&[FieldFilter::text("type", "fact")])?;
            let facts = reader.knowledge(&facts)?;
            let parent = facts.into_iter().find(|it| it.content == text).and_then(|it| it.parent);
            reader.knowledge(&[parent.unwrap()])
        });
        reader.unwrap().remove(0).id
    }

    /// Every node below the roots of knowledge: type, label, and the fields that tests look at.
    fn tree(&self) -> String {
        let _ = &self.folder;
        self.memory.tree(None, Some(100_000)).unwrap().text
    }
}

fn id(answer: &Value, nth: usize) -> String {
    answer["results"][nth]["id"].as_str().unwrap().to_owned()
}
