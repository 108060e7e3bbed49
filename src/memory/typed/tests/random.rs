//! Random calls on a memory and on the model of the specification, with rollbacks, reopenings and a
//! second process in between.
//!
//! `REMINDB_MODEL_CALLS=10000` makes more calls, as `make model` does; `REMINDB_MODEL_SEED=7`
//! repeats one history.

use super::model::{Entry, Model};
use super::second_process::SecondProcess;
use super::*;
use crate::fuzzing::random_cases::{Dice, env_number};
use crate::maintenance::doctor::{self, CheckStatus};
use crate::store::reader::Reader;

/// Calls of a plain test run.
const N_CALLS: u64 = 1_000;

/// Core memories that may be there.
const CORE_MAX: u64 = 12;

pub(super) fn limits() -> TypedMemorySettings {
    TypedMemorySettings { max_core: Some(CORE_MAX as u32), ..TypedMemorySettings::default() }
}

struct Simulation {
    world: World,
    /// `None` between its death and the next start.
    second: Option<SecondProcess>,
    model: Model,
    dice: Dice,
    log: Vec<String>,
    seed: u64,
}

impl Drop for Simulation {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let from = self.log.len().saturating_sub(60);
            eprintln!("{}\nREMINDB_MODEL_SEED={}", self.log[from..].join("\n"), self.seed);
        }
    }
}

#[test]
fn random_calls_do_what_the_specification_says() {
    let n_calls = env_number("REMINDB_MODEL_CALLS").unwrap_or(N_CALLS);
    let seed = env_number("REMINDB_MODEL_SEED").unwrap_or(1);
    let limits = limits();
    let mut world = World::new();
    world.reopen(limits);
    let second = Some(SecondProcess::start(&world.database()));
    let (model, dice, log) = (Model::default(), Dice::new(seed), Vec::new());
    let mut simulation = Simulation { world, second, model, dice, log, seed };
    for nth in 1..=n_calls {
        simulation.step();
        simulation.check_memories();
        if nth % 100 == 0 {
            simulation.check_health();
        }
    }
}

fn all_memories(reader: &Reader) -> Result<Vec<TypedMemory>, StoreError> {
    let nodes: Vec<_> = reader.facet_values("uuid")?.into_iter().map(|(node, _)| node).collect();
    Ok(reader.typed_nodes(&nodes)?.iter().map(TypedMemory::of).collect())
}

impl Simulation {
    /// Returns the second process for about every other call.
    fn second(&mut self) -> Option<&mut SecondProcess> {
        if self.dice.one_in(2) { self.second.as_mut() } else { None }
    }

    fn now(&self) -> i64 {
        self.world.clock.now().0
    }

    fn call(&mut self, tool: &str, args: &Value) -> Result<Value, Value> {
        self.log.push(format!("{tool} {args}"));
        let now = self.world.clock.now();
        match self.second() {
            Some(second) => second.call(now, tool, args),
            None => self.world.call(tool, args.clone()),
        }
    }

    fn step(&mut self) {
        let by = *self.dice.pick(&[0, 1, 999, 60_000, 86_400_000]);
        self.world.clock.advance(by);
        match self.dice.below(100) {
            0..30 => self.store(),
            30..55 => self.update(),
            55..65 => self.delete(),
            65..85 => self.query(),
            85..88 => self.stats(),
            88..93 => self.mistake(),
            93..97 => self.roll_back(),
            _ => self.reopen(),
        }
    }

    /// An id that is there, now and then one that is not.
    fn id(&mut self) -> String {
        if self.model.entries.is_empty() || self.dice.one_in(20) {
            return "00000000-0000-4000-8000-000000000000".to_owned();
        }
        self.dice.pick(&self.model.entries).id.clone()
    }

    fn fields(&mut self, is_task: bool) -> Value {
        let mut args = json!({});
        if self.dice.one_in(3) {
            args["category"] = (*self.dice.pick(&["fact", "preference", "blocked"])).into();
        }
        if self.dice.one_in(2) {
            let mut tags: Vec<&str> = ["a", "b", "c", "ü"].to_vec();
            tags.retain(|_| self.dice.one_in(2));
            args["tags"] = json!(tags);
        }
        if self.dice.one_in(2) {
            args["importance"] = (*self.dice.pick(&["high", "medium", "low"])).into();
        }
        if is_task && self.dice.one_in(2) {
            let mut metadata = json!({});
            if self.dice.one_in(2) {
                let words = ["completed", "in-progress", "blocked"];
                metadata["status"] = (*self.dice.pick(&words)).into();
            }
            if self.dice.one_in(4) {
                metadata["blockers"] = json!(["rain"]);
            }
            if self.dice.one_in(4) {
                metadata["completed_at"] = "2026-02-02T02:02:02Z".into();
            }
            if self.dice.one_in(4) {
                metadata["outcome"] = format!("outcome {}", self.dice.below(3)).into();
            }
            args["task_metadata"] = metadata;
        }
        args
    }

    fn content(&mut self) -> String {
        let words = ["One", "TWO", "three", "Ärger", "東京"];
        let n_words = 1 + self.dice.below(3);
        let words: Vec<&str> = (0..n_words).map(|_| *self.dice.pick(&words)).collect();
        words.join(" ")
    }

    fn n_core(&self) -> u64 {
        let core = self.model.entries.iter();
        core.filter(|it| it.memory_type == "core" && !it.archived).count() as u64
    }

    fn store(&mut self) {
        let memory_type = *self.dice.pick(&["core", "learning", "task"]);
        let mut args = self.fields(memory_type == "task");
        args["type"] = memory_type.into();
        args["content"] = self.content().into();
        if self.dice.one_in(6) {
            args["id"] = self.id().into();
            return self.change("store_memory", &args);
        }
        let answer = self.call("store_memory", &args);
        let equal = self.model.entries.iter().find(|it| {
            it.memory_type == memory_type && args["content"] == *it.content && !it.archived
        });
        if let Some(equal) = equal {
            let answer = answer.unwrap();
            assert_eq!(answer["created"], false);
            // Of several equal ones, which updates make, it may be any.
            let shown = self.model.entries.iter().find(|it| answer["id"] == *it.id).unwrap();
            assert_eq!((&shown.memory_type, &shown.content), (&equal.memory_type, &equal.content));
            assert_eq!(answer["memory"], self.model.json(shown));
            return;
        }
        if memory_type == "core" && CORE_MAX <= self.n_core() {
            return self.beyond_the_limit(&answer.unwrap_err());
        }
        let answer = answer.unwrap();
        assert_eq!(answer["created"], true);
        let id = answer["id"].as_str().unwrap().to_owned();
        let memory = self.world.memory();
        let node = memory.read::<_, StoreError>(|it| it.typed_by_uuid(&id)).unwrap().unwrap().id;
        let now = self.now();
        let mut entry = Entry {
            id,
            node,
            memory_type: memory_type.to_owned(),
            content: String::new(),
            category: None,
            tags: Vec::new(),
            importance: "medium".to_owned(),
            archived: false,
            metadata: Default::default(),
            created_at: now,
            updated_at: now,
        };
        entry.change(&args, now);
        assert_eq!(answer["memory"], self.model.json(&entry));
        self.model.entries.push(entry);
        self.commit();
    }

    fn update(&mut self) {
        let id = self.id();
        let is_task = self.model.entries.iter().any(|it| it.id == id && it.memory_type == "task");
        let mut args = self.fields(is_task);
        if self.dice.one_in(3) {
            args["content"] = self.content().into();
        }
        if self.dice.one_in(3) {
            args["archived"] = self.dice.one_in(2).into();
        }
        if args == json!({}) {
            args["importance"] = "high".into();
        }
        args["id"] = id.into();
        self.change("update_memory", &args);
    }

    fn change(&mut self, tool: &str, args: &Value) {
        let answer = self.call(tool, args);
        let at = self.model.entries.iter().position(|it| args["id"] == *it.id);
        let Some(at) = at else {
            // A type that has no metadata is found out before the memory is looked for.
            let code = answer.unwrap_err()["error"]["code"].clone();
            return assert_eq!(code, "NOT_FOUND");
        };
        let old = &self.model.entries[at];
        if tool == "store_memory" && args["type"] != *old.memory_type {
            return assert_eq!(answer.unwrap_err()["error"]["code"], "INVALID_INPUT");
        }
        let is_back = old.archived && args["archived"] == false;
        if is_back && old.memory_type == "core" && CORE_MAX <= self.n_core() {
            return self.beyond_the_limit(&answer.unwrap_err());
        }
        let answer = answer.unwrap();
        let now = self.now();
        let differing = self.model.entries[at].change(args, now);
        let entry = self.model.entries[at].clone();
        assert_eq!(answer["memory"], self.model.json(&entry));
        if tool == "update_memory" {
            assert_eq!(answer["updated_fields"], json!(differing));
        }
        self.model.read(&entry.node, now);
        self.commit();
    }

    fn beyond_the_limit(&mut self, error: &Value) {
        assert_eq!(error["error"]["code"], "LIMIT_EXCEEDED");
        let args = json!({"type": "core", "sort_by": "accessed_at", "sort_order": "asc"});
        let mut all = self.model.query(&args);
        let words = ["low", "medium", "high"];
        all.sort_by_key(|it| words.iter().position(|word| *word == it.importance));
        let ids: Vec<&String> = all.iter().take(5).map(|it| &it.id).collect();
        assert_eq!(error["error"]["suggestions"], json!(ids));
    }

    fn delete(&mut self) {
        let id = self.id();
        let is_for_good = self.dice.one_in(2);
        let args = json!({"id": id, "permanent": is_for_good});
        let answer = self.call("delete_memory", &args);
        let Some(at) = self.model.entries.iter().position(|it| it.id == id) else {
            return assert_eq!(answer.unwrap_err()["error"]["code"], "NOT_FOUND");
        };
        let action = if is_for_good { "deleted" } else { "archived" };
        assert_eq!(answer.unwrap(), json!({"success": true, "action": action, "id": id}));
        let now = self.now();
        if is_for_good {
            self.model.entries.remove(at);
            self.model.forget_reads();
        } else {
            self.model.entries[at].change(&json!({"archived": true}), now);
        }
        self.commit();
    }

    fn query(&mut self) {
        let mut args = json!({});
        let mut give = |dice: &mut Dice, key: &str, values: &[Value]| {
            if dice.one_in(3) {
                args[key] = dice.pick(values).clone();
            }
        };
        let dice = &mut self.dice;
        give(dice, "type", &[json!("core"), json!("learning"), json!("task")]);
        give(dice, "tags", &[json!([]), json!(["a"]), json!(["b", "ü"])]);
        give(dice, "importance", &[json!("high"), json!("low")]);
        give(dice, "category", &[json!("other"), json!("fact"), json!("blocked")]);
        give(dice, "archived", &[json!(true), json!(false)]);
        give(dice, "search", &[json!("two"), json!("ÄRGER one"), json!(""), json!("東")]);
        give(dice, "limit", &[json!(1), json!(3), json!(100)]);
        give(dice, "offset", &[json!(0), json!(2), json!(1_000)]);
        let keys = ["created_at", "updated_at", "accessed_at", "importance", "access_count"];
        give(dice, "sort_by", &keys.map(Value::from));
        give(dice, "sort_order", &[json!("asc"), json!("desc")]);
        let answer = self.call("query_memories", &args).unwrap();
        let all = self.model.query(&args);
        let limit = args["limit"].as_u64().unwrap_or(10);
        let offset = args["offset"].as_u64().unwrap_or(0);
        let page: Vec<Entry> =
            all.iter().skip(offset as usize).take(limit as usize).cloned().collect();
        let shown: Vec<Value> = page.iter().map(|it| self.model.json(it)).collect();
        let has_more = offset + (shown.len() as u64) < all.len() as u64;
        let expected = json!({
            "memories": shown, "total": all.len(), "limit": limit, "offset": offset, "has_more": has_more,
        });
        assert_eq!(answer, expected);
        let now = self.now();
        page.iter().for_each(|it| self.model.read(&it.node, now));
    }

    fn stats(&mut self) {
        let mut answer = self.call("get_memory_stats", &json!({})).unwrap();
        let object = answer.as_object_mut().unwrap();
        object.remove("total_storage_kb");
        let most = object.remove("most_accessed").unwrap();
        assert_eq!(most["access_count"].as_u64().unwrap_or(0), self.model.most_reads());
        assert_eq!(answer, self.model.stats());
    }

    fn mistake(&mut self) {
        let id = self.id();
        let mistakes = [
            ("store_memory", json!({"type": "core", "content": ""})),
            ("store_memory", json!({"type": "core", "content": "x", "task_metadata": {}})),
            ("store_memory", json!({"type": "note", "content": "x"})),
            ("update_memory", json!({"id": id})),
            ("update_memory", json!({"id": id, "tags": ["x".repeat(31)]})),
            ("update_memory", json!({"id": id, "updated_at": "2026-01-01T10:00:00Z"})),
            ("delete_memory", json!({"id": 7})),
            ("query_memories", json!({"limit": 0})),
        ];
        let (tool, args) = self.dice.pick(&mistakes).clone();
        let error = self.call(tool, &args).unwrap_err();
        assert_eq!(error["error"]["code"], "INVALID_INPUT");
    }

    fn roll_back(&mut self) {
        if self.model.past.is_empty() {
            return;
        }
        let (target, entries) = self.dice.pick(&self.model.past).clone();
        let is_dropping = self.dice.one_in(5);
        self.log.push(format!("rollback to {target}, dropping {is_dropping}"));
        let now = self.world.clock.now();
        match self.second() {
            Some(second) => second.roll_back(now, target, is_dropping),
            None => drop(self.world.memory().rollback(target, is_dropping).unwrap()),
        }
        self.model.entries = entries;
        self.model.forget_reads();
        if !is_dropping {
            return self.commit();
        }
        self.model.past.retain(|it| it.0 <= target);
        let last = self.world.n_snapshots();
        if last != target {
            self.model.past.push((last, self.model.entries.clone()));
        }
    }

    fn reopen(&mut self) {
        self.log.push("reopen".to_owned());
        if self.dice.one_in(2) {
            // Killed before the next one starts.
            self.second = None;
            self.second = Some(SecondProcess::start(&self.world.database()));
        } else {
            self.world.reopen(limits());
        }
    }

    /// One snapshot where something changed, none where nothing did.
    fn commit(&mut self) {
        let last = self.world.n_snapshots();
        let empty = (0, Vec::new());
        let newest = self.model.past.last().unwrap_or(&empty);
        let is_same = newest.1 == self.model.entries;
        assert_eq!(last, newest.0 + i64::from(!is_same), "one call, one snapshot");
        if !is_same {
            self.model.past.push((last, self.model.entries.clone()));
        }
    }

    /// Every memory is as the model has it, and there are no others; looking counts no access.
    fn check_memories(&mut self) {
        let mut entries: Vec<&Entry> = self.model.entries.iter().collect();
        entries.sort_by(|a, b| a.id.cmp(&b.id));
        let memory = self.world.memory();
        let mut found = memory.read(all_memories).unwrap();
        found.sort_by(|a, b| a.id.cmp(&b.id));
        assert_eq!(found.len(), entries.len());
        for (found, entry) in found.iter().zip(entries) {
            assert_eq!(found.to_json(), self.model.json(entry));
        }
    }

    fn check_health(&mut self) {
        for entry in &self.model.entries {
            let memory = self.world.memory();
            let found = memory.typed_memory(&entry.id).unwrap().unwrap();
            assert_eq!(found.to_json(), self.model.json(entry));
        }
        let report = doctor::examine(&self.world.dir.path().join("memory.db")).unwrap();
        assert_eq!(report.status(), CheckStatus::Pass, "{report:#?}");
    }
}
