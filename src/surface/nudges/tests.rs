use expect_test::expect;

use super::*;
use crate::mcp::Arg;
use crate::mcp::input_schema;
use crate::model::clock::Millis;
use crate::store::IfMissing;

/// A memory in which every node went cold long ago.
fn cold(notes: &str) -> (tempfile::TempDir, Memory) {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("notes.md"), notes).unwrap();
    let clock = Clock::manual(Millis(1_700_000_000_000));
    let path = dir.path().join("memory.db");
    let memory = Memory::open_at(&path, IfMissing::Create, clock).unwrap();
    memory.compile(dir.path(), "").unwrap();
    memory.attend(40 * 3_600_000).unwrap();
    (dir, memory)
}

fn args(budget: Option<i64>) -> Args {
    const ARGS: &[Arg] = &[Arg::integer("budget", "")];
    let given = budget.map(|it| ("budget".to_owned(), json!(it)));
    input_schema::validate_args(ARGS, given.into_iter().collect()).unwrap()
}

fn reply(text: &str) -> Reply {
    Reply { text: text.to_owned(), ..Reply::default() }
}

#[test]
fn a_notice_names_what_went_cold() {
    let (_dir, memory) = cold("# Store\n\nOne connection\nwrites.\n");
    let notice = notice(&memory, None).unwrap();
    expect![[r#"
        These nodes went cold: nothing has read them for long. Keep what still matters of them with MemorySummarize.
        Store (id=FakASrPiFP4 file=notes.md temp=0.07)
        One connection (id=9X400D43gbQ file=notes.md temp=0.07)"#]]
    .assert_eq(&notice.text);
    expect![[r#"
        {
          "message": "These nodes went cold: nothing has read them for long. Keep what still matters of them with MemorySummarize.",
          "suggested_action": "MemorySummarize",
          "nodes": [
            {
              "id": "FakASrPiFP4",
              "label": "Store",
              "file": "notes.md",
              "temperature": 0.06767
            },
            {
              "id": "9X400D43gbQ",
              "label": "One connection",
              "file": "notes.md",
              "temperature": 0.06767
            }
          ]
        }"#]]
    .assert_eq(&serde_json::to_string_pretty(&notice.data).unwrap());
}

#[test]
fn a_notice_keeps_the_budget_of_its_reply() {
    let notes: Vec<String> = (0..60).map(|it| format!("Thought {it} of many.")).collect();
    let (_dir, memory) = cold(&notes.join("\n\n"));
    let reply = reply("Twelve words stand in this reply, and they are paid for first.");
    let mut most = 0;
    for budget in 1..400 {
        let Some(notice) = notice(&memory, Some((&args(Some(budget)), &reply))) else { continue };
        let sent = tokens::count(&format!("{}\n{}", reply.text, notice.text));
        assert!(i64::from(sent) <= budget, "{sent} tokens of {budget}");
        most = most.max(notice.text.lines().count());
    }
    assert!(10 < most, "{most} lines");
    assert!(notice(&memory, Some((&args(None), &reply))).is_some());
}

#[test]
fn a_long_reply_carries_no_notice_and_the_next_does() {
    let (_dir, memory) = cold("# Store\n");
    let long = reply(&"word ".repeat(5000));
    assert!(notice(&memory, Some((&args(None), &long))).is_none());
    assert!(notice(&memory, Some((&args(Some(0)), &reply("short")))).is_some());
}
