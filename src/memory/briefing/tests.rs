//! Tests for briefings: what they hold, in which order, and within which budget.

use expect_test::expect;
use serde_json::json;

use super::*;
use crate::memory::Memory;
use crate::memory::typed::StoreRequest;
use crate::text::tokens;

const NOTES: &str = "# Mill\n\n## Valve\n\nThe valve closes at night.\n\n## Pump\n\nIt is old.\n";

struct Place {
    folder: tempfile::TempDir,
    memory: Memory,
}

impl Place {
    fn new() -> Place {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("notes")).unwrap();
        let memory = Memory::create(&folder.path().join("memory.db")).unwrap();
        Place { folder, memory }.compiled(NOTES)
    }

    fn compiled(self, text: &str) -> Place {
        std::fs::write(self.folder.path().join("notes/mill.md"), text).unwrap();
        self.memory.compile(&self.folder.path().join("notes"), "").unwrap();
        self
    }

    fn store(&self, arguments: serde_json::Value) {
        let request = StoreRequest::parse(arguments.as_object().unwrap()).unwrap();
        self.memory.store_memory(request).unwrap();
    }

    /// The briefing below its first line, without ids.
    fn brief(&self, since: Option<i64>, budget: u32) -> String {
        let request = BriefingRequest { since, budget };
        let briefing = self.memory.read(|reader| brief(reader, request)).unwrap();
        assert!(tokens::fits(&briefing.text, budget), "{}", briefing.text);
        let mut text = briefing.text;
        while let Some(at) = text.find("id=") {
            text.replace_range(at..at + 14, "ID");
        }
        text.split_once('\n').map_or(text.clone(), |(_, rest)| rest.to_owned())
    }
}

#[test]
fn a_memory_that_nobody_used_shows_its_files() {
    expect![[r#"
        It holds:
        - Mill (ID mill.md)
    "#]]
    .assert_eq(&Place::new().brief(None, 800));
    let folder = tempfile::tempdir().unwrap();
    let memory = Memory::create(&folder.path().join("memory.db")).unwrap();
    expect![[r#"
        The memory is empty so far.
    "#]]
    .assert_eq(&Place { folder, memory }.brief(None, 800));
}

#[test]
fn all_sections_in_their_order() {
    let place = Place::new();
    place.store(json!({"type": "core", "content": "Ana runs the mill.", "importance": "low"}));
    place.store(json!({"type": "core", "content": "Water is scarce.", "importance": "high"}));
    place.store(json!({"type": "task", "content": "Order a\nseal.",
        "task_metadata": {"status": "blocked"}}));
    place.store(json!({"type": "task", "content": "Paint the door.",
        "task_metadata": {"status": "completed"}}));
    let since = place.memory.read(|it| it.change_counters()).unwrap().head;
    let place = place.compiled(&NOTES.replace("old", "new"));
    place.memory.search("valve closes", None).unwrap();
    expect![[r#"
        Core memories:
        - Water is scarce. (ID)
        - Ana runs the mill. (ID)
        Open tasks:
        - Order a seal. (ID blocked)
        Changed since your last session, at snapshot 5:
        - It is new. (ID mill.md)
        Headings in use:
        - Valve (ID mill.md)
    "#]]
    .assert_eq(&place.brief(Some(since), 800));
}

#[test]
fn pinned_headings_come_first() {
    let place = Place::new();
    place.memory.search("valve closes", None).unwrap();
    let pump = place.memory.read(|it| it.ids_matching("label : pump", 1)).unwrap();
    place.memory.pin(&pump[0], Some(0.1)).unwrap();
    expect![[r#"
        Headings in use:
        - Pump (ID mill.md)
        - Valve (ID mill.md)
    "#]]
    .assert_eq(&place.brief(None, 800));
}

#[test]
fn a_small_budget_is_kept() {
    let place = Place::new();
    for nth in 0..30 {
        place.store(
            json!({"type": "core", "content": format!("Fact {nth}: {}", "word ".repeat(60))}),
        );
    }
    for budget in [0, 1, 20, 60, 100, 200, 400] {
        place.brief(Some(0), budget);
    }
}
