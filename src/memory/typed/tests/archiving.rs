//! Archiving against the specification: each age and each limit, to the millisecond.

use super::*;
use crate::fuzzing::random_cases::Dice;
use crate::memory::typed::retention_archiving::ArchiveReport;
use crate::model::clock::DAY_MS;

impl World {
    fn archive(&self, days: Option<u32>) -> ArchiveReport {
        self.memory.as_ref().unwrap().archive_memories(days, ArchiveOrDryRun::Real).unwrap()
    }

    /// The contents of what is shown, by name.
    #[track_caller]
    fn shown(&self, archived: bool) -> String {
        let ask = json!({"archived": archived, "limit": 100});
        let args = ask.as_object().unwrap().clone();
        let request = QueryRequest::parse(&args).unwrap();
        // Without an access, which keeps a learning from being archived.
        let memory = self.memory.as_ref().unwrap();
        let page = memory.read::<_, StoreError>(|it| query::query(it, &request)).unwrap().0;
        let mut contents: Vec<&str> = page.memories.iter().map(|it| it.content.as_str()).collect();
        contents.sort_unstable();
        contents.join(" ")
    }

    fn age(&self, days: i64) {
        self.clock.advance(days * DAY_MS);
    }
}

#[test]
fn learnings_are_archived_after_ninety_days_without_access() {
    let world = World::new();
    for (memory_type, content) in
        [("learning", "dusty"), ("learning", "fresh"), ("core", "core"), ("task", "open")]
    {
        world.store(json!({"type": memory_type, "content": content}));
    }
    world.age(30);
    world.ok("query_memories", json!({"search": "dusty"}));
    world.clock.advance(1);
    world.ok("query_memories", json!({"search": "fresh"}));
    world.age(90);
    world.clock.advance(-2);
    assert_eq!(world.archive(None), ArchiveReport::default(), "a millisecond before");
    world.clock.advance(1);
    let done = world.archive(None);
    assert_eq!((done.learnings.len(), done.tasks.len()), (1, 0));
    assert_eq!((world.shown(true), world.shown(false)), ("dusty".into(), "core fresh open".into()));
    world.clock.advance(1);
    world.archive(None);
    assert_eq!(world.shown(false), "core open", "the other was read a millisecond later");
}

#[test]
fn tasks_are_archived_thirty_days_after_their_completion() {
    let world = World::new();
    let id = world.store(json!({"type": "task", "content": "done"}))["id"].clone();
    world.store(json!({"type": "task", "content": "open"}));
    world.store(
        json!({"type": "task", "content": "blocked", "task_metadata": {"status": "blocked"}}),
    );
    world.age(400);
    world.ok("update_memory", json!({"id": id, "task_metadata": {"status": "completed"}}));
    world.age(30);
    world.ok("query_memories", json!({}));
    world.clock.advance(-1);
    assert_eq!(world.archive(None).n_archived(), 0, "a millisecond before");
    world.clock.advance(1);
    assert_eq!(world.archive(None).tasks, [id.as_str().unwrap()], "reading it changes nothing");
    assert_eq!(world.shown(false), "blocked open");
    // Opened again, it has no completion.
    world.ok(
        "update_memory",
        json!({"id": id, "archived": false, "task_metadata": {"status": "in-progress"}}),
    );
    world.age(400);
    assert_eq!(world.archive(None).n_archived(), 0);
}

#[test]
fn beyond_the_soft_limits_the_eldest_are_archived() {
    let mut world = World::new();
    let settings =
        TypedMemorySettings { max_learnings: Some(2), max_tasks: Some(1), ..Default::default() };
    world.reopen(settings);
    for content in ["a", "b"] {
        world.store(json!({"type": "learning", "content": content, "importance": "high"}));
        world.clock.advance(1);
    }
    world.store(json!({"type": "task", "content": "t"}));
    assert_eq!(world.archive(None).n_archived(), 0, "at the limits");
    for content in ["c", "d"] {
        world.store(json!({"type": "learning", "content": content, "importance": "low"}));
        world.clock.advance(1);
    }
    world.store(json!({"type": "task", "content": "u"}));
    // The eldest by creation, however often it is read.
    world.ok("query_memories", json!({"search": "a"}));
    let n = world.n_snapshots();
    let done = world.archive(None);
    assert_eq!(done.counts(), "3 memories: 2 learnings, 1 task");
    assert_eq!(done.snapshot, Some(n + 1), "one snapshot");
    assert_eq!(world.n_snapshots(), n + 1);
    assert_eq!((world.shown(true), world.shown(false)), ("a b t".to_owned(), "c d u".to_owned()));
    assert_eq!(world.archive(None), ArchiveReport::default());
    assert_eq!(world.n_snapshots(), n + 1);
}

#[test]
fn age_counts_before_the_limits() {
    let mut world = World::new();
    world.reopen(TypedMemorySettings { max_learnings: Some(1), ..Default::default() });
    world.store(json!({"type": "learning", "content": "dusty"}));
    world.clock.advance(-1);
    world.store(json!({"type": "learning", "content": "fresh"}));
    world.age(91);
    world.ok("query_memories", json!({"search": "fresh"}));
    let done = world.archive(None);
    assert_eq!(done.learnings.len(), 1, "what is left is at the limit");
    assert_eq!(world.shown(false), "fresh");
}

#[test]
fn named_days_replace_both_ages_and_a_dry_run_changes_nothing() {
    let world = World::new();
    world.store(json!({"type": "learning", "content": "l"}));
    world.store(json!({"type": "task", "content": "t", "task_metadata": {"status": "completed"}}));
    world.age(7);
    assert_eq!(world.archive(Some(8)).n_archived(), 0);
    let n = world.n_snapshots();
    let memory = world.memory();
    let dry = memory.archive_memories(Some(7), ArchiveOrDryRun::DryRun).unwrap();
    assert_eq!((dry.n_archived(), dry.snapshot, world.n_snapshots()), (2, None, n));
    let done = world.archive(Some(7));
    assert_eq!((&done.learnings, &done.tasks), (&dry.learnings, &dry.tasks));
    assert_eq!(world.shown(false), "");
}

#[test]
fn one_rollback_undoes_archiving() {
    let world = World::new();
    for nth in 0..5 {
        world.store(json!({"type": "learning", "content": format!("l{nth}"), "tags": ["x"]}));
    }
    let (before, n) = (world.shown(false), world.n_snapshots());
    world.age(90);
    assert_eq!(world.archive(None).n_archived(), 5);
    world.memory().rollback(n, false).unwrap();
    assert_eq!(world.shown(false), before);
}

#[test]
fn another_process_archives_only_what_is_left() {
    let world = World::new();
    let other = world.open(TypedMemorySettings::default());
    world.store(json!({"type": "learning", "content": "l"}));
    world.age(90);
    assert_eq!(other.archive_memories(None, ArchiveOrDryRun::Real).unwrap().n_archived(), 1);
    assert_eq!(world.archive(None), ArchiveReport::default());
}

#[test]
fn a_memory_with_broken_fields_keeps_no_other_from_being_archived() {
    let mut world = World::new();
    for content in ["broken", "l", "m"] {
        world.store(json!({"type": "learning", "content": content}));
    }
    world.memory = None;
    let conn = rusqlite::Connection::open(world.dir.path().join("memory.db")).unwrap();
    const BREAK: &str = "UPDATE node SET fields = ?1 WHERE content = ?2";
    conn.execute(BREAK, ["[]", "broken"]).unwrap();
    let huge = json!({"uuid": "00000000-0000-4000-8000-000000000000", "created_at": 1, "x": "y".repeat(20_000)});
    conn.execute(BREAK, [&huge.to_string(), "l"]).unwrap();
    drop(conn);
    world.reopen(TypedMemorySettings::default());
    world.age(90);
    let done = world.archive(None);
    assert_eq!((done.learnings.len(), done.skipped.len()), (1, 1), "{done:?}");
}

#[test]
fn a_limit_follows_the_settings_as_they_are_now() {
    let mut world = World::new();
    for nth in 0..3 {
        world.store(json!({"type": "core", "content": format!("c{nth}")}));
    }
    world.reopen(TypedMemorySettings { max_core: Some(3), ..Default::default() });
    world.refuses_core("there are 3 core memories, the most there may be; archive one first");
    world.reopen(TypedMemorySettings { max_core: Some(4), ..Default::default() });
    world.store(json!({"type": "core", "content": "c3"}));
    world.refuses_core("there are 4 core memories, the most there may be; archive one first");
}

impl World {
    #[track_caller]
    fn refuses_core(&self, message: &str) {
        let error = self.call("store_memory", json!({"type": "core", "content": "one more"}));
        assert_eq!(error.unwrap_err()["error"]["message"], message);
    }
}

/// A memory as the specification has it, for [`archives_by_chance_are_those_of_a_simple_list`].
#[derive(Clone, Debug)]
struct Listed {
    id: String,
    is_task: bool,
    created_at: i64,
    accessed_at: i64,
    completed_at: Option<i64>,
    archived: bool,
}

/// Archives as the specification says; returns the ids, sorted.
fn archive_listed(list: &mut [Listed], now: i64) -> Vec<String> {
    let mut ids = Vec::new();
    for (is_task, days, n_max) in [(false, 9, 6), (true, 3, 4)] {
        let mut kept: Vec<&mut Listed> =
            list.iter_mut().filter(|it| it.is_task == is_task && !it.archived).collect();
        kept.sort_by_key(|it| (it.created_at, it.id.clone()));
        for it in &mut kept {
            let since = if is_task { it.completed_at } else { Some(it.accessed_at) };
            it.archived = since.is_some_and(|at| days * DAY_MS <= now - at);
        }
        let n_left = kept.iter().filter(|it| !it.archived).count();
        let beyond = n_left.saturating_sub(n_max);
        kept.iter_mut().filter(|it| !it.archived).take(beyond).for_each(|it| it.archived = true);
        ids.extend(kept.iter().filter(|it| it.archived).map(|it| it.id.clone()));
    }
    ids.sort();
    ids
}

#[test]
fn archives_by_chance_are_those_of_a_simple_list() {
    let mut world = World::new();
    world.reopen(TypedMemorySettings {
        max_learnings: Some(6),
        max_tasks: Some(4),
        archive_learnings_days: Some(9),
        archive_tasks_days: Some(3),
        ..TypedMemorySettings::default()
    });
    let mut dice = Dice::new(7);
    let mut list: Vec<Listed> = Vec::new();
    let (mut n_archives, mut n_archived) = (0, 0);
    for nth in 0..400 {
        world.clock.advance(dice.pick(&[0, 1, DAY_MS - 1, DAY_MS, 3 * DAY_MS]) / 4);
        let now = world.clock.now().0;
        let at = dice.below(list.len());
        match dice.below(10) {
            0..5 => {
                let is_task = dice.one_in(2);
                let memory_type = if is_task { "task" } else { "learning" };
                let args = json!({"type": memory_type, "content": format!("memory {nth}.")});
                let id = world.store(args)["id"].as_str().unwrap().to_owned();
                let (created_at, accessed_at) = (now, now);
                let (completed_at, archived) = (None, false);
                list.push(Listed { id, is_task, created_at, accessed_at, completed_at, archived });
            }
            5..8 if !list.is_empty() => {
                let it = &mut list[at];
                let mut args = json!({"id": it.id, "archived": dice.one_in(4) && it.archived});
                it.archived = args["archived"] == true;
                if it.is_task {
                    let is_done = !dice.one_in(3);
                    let status = if is_done { "completed" } else { "blocked" };
                    args["task_metadata"] = json!({"status": status});
                    it.completed_at = is_done.then(|| it.completed_at.unwrap_or(now));
                }
                it.accessed_at = now;
                world.ok("update_memory", args);
            }
            _ => {
                let report = world.archive(None);
                let mut ids = [report.learnings, report.tasks].concat();
                ids.sort();
                assert_eq!(ids, archive_listed(&mut list, now), "at step {nth}");
                n_archives += usize::from(report.snapshot.is_some());
                n_archived += ids.len();
            }
        }
    }
    assert!(20 < n_archives && 40 < n_archived, "{n_archives} archives, {n_archived} memories");
}
