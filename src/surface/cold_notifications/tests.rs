use expect_test::expect;

use super::*;
use crate::model::clock::UnixMillis;
use crate::model::next_step_advice::CallableTools;
use crate::store::IfMissing;

/// Returns a memory in which every node went cold long ago.
fn cold(notes: &str) -> (tempfile::TempDir, Memory) {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("notes.md"), notes).unwrap();
    let clock = Clock::manual(UnixMillis(1_700_000_000_000));
    let path = dir.path().join("memory.db");
    let memory = Memory::open_at(&path, IfMissing::Create, clock).unwrap();
    memory.compile(dir.path(), "").unwrap();
    memory.attend(40 * 3_600_000).unwrap();
    (dir, memory)
}

fn reply(text: &str, budget: Option<u32>) -> ToolReply {
    ToolReply { text: text.to_owned(), budget, ..ToolReply::default() }
}

#[test]
fn a_notice_names_what_went_cold() {
    let (_dir, memory) = cold("# Store\n\nOne connection\nwrites.\n");
    let notice = notice(&memory, None).unwrap();
    expect![[r#"
        These nodes went cold: nothing has read them for long. Keep what still matters of them with MemorySummarize.
        Store (id=KXhqsCoHU7S file=notes.md temp=0.07)
        One connection (id=KXhsGxZfds8 file=notes.md temp=0.07)"#]]
    .assert_eq(&notice.text);
    expect![[r#"
        {
          "message": "These nodes went cold: nothing has read them for long. Keep what still matters of them with MemorySummarize.",
          "suggested_action": "MemorySummarize",
          "nodes": [
            {
              "id": "KXhqsCoHU7S",
              "label": "Store",
              "file": "notes.md",
              "temperature": 0.06767
            },
            {
              "id": "KXhsGxZfds8",
              "label": "One connection",
              "file": "notes.md",
              "temperature": 0.06767
            }
          ]
        }"#]]
    .assert_eq(&serde_json::to_string_pretty(&notice.data).unwrap());
}

#[test]
fn nothing_is_told_where_nothing_can_be_done() {
    let (_dir, memory) = cold("# Store\n\nOne connection\nwrites.\n");
    let memory = memory.with_tools(CallableTools::of([("MemorySummarize", None)]));
    assert!(notice(&memory, None).is_none());
    let memory = memory.with_tools(CallableTools::default());
    assert!(notice(&memory, None).is_some());
}

#[test]
fn a_notice_keeps_the_budget_of_its_reply() {
    let notes: Vec<String> = (0..60).map(|it| format!("Thought {it} of many.")).collect();
    let (_dir, memory) = cold(&notes.join("\n\n"));
    let text = "Twelve words stand in this reply, and they are paid for first.";
    let mut most = 0;
    for budget in 1..400 {
        let beside = reply(text, Some(budget));
        let Some(notice) = notice(&memory, Some(&beside)) else { continue };
        let sent = tokens::count(&format!("{text}\n{}", notice.text));
        assert!(sent <= budget, "{sent} tokens of {budget}");
        most = most.max(notice.text.lines().count());
    }
    assert!(10 < most, "{most} lines");
    assert!(notice(&memory, Some(&reply(text, None))).is_some());
}

#[test]
fn a_long_reply_carries_no_notice_and_the_next_does() {
    let (_dir, memory) = cold("# Store\n");
    let long = reply(&"word ".repeat(5000), None);
    assert!(notice(&memory, Some(&long)).is_none());
    assert!(notice(&memory, Some(&reply("short", None))).is_some());
}
