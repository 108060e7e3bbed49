use std::sync::atomic::{AtomicUsize, Ordering};

use expect_test::{Expect, expect};

use super::*;

#[track_caller]
fn check(line: &str, expected: Expect) {
    let (msg, attrs) = split_log_line(line);
    expected.assert_eq(&format!("{msg} | {}", Value::Object(attrs)));
}

#[test]
fn pairs_at_the_end_become_attributes() {
    check("stopped reason=Input", expect![[r#"stopped | {"reason":"Input"}"#]]);
    check(
        "mcp call tool=MemoryTree elapsed_ms=4 payload_bytes=0",
        expect![[r#"mcp call | {"tool":"MemoryTree","elapsed_ms":4,"payload_bytes":0}"#]],
    );
    check("a=1 b=2", expect![[r#" | {"a":1,"b":2}"#]]);
    check(
        "many numbers a=007 b=-1 c=1.5 d=",
        expect![[r#"many numbers | {"a":"007","b":-1,"c":"1.5","d":""}"#]],
    );
}

#[test]
fn a_detail_after_the_pairs_belongs_to_the_message() {
    check(
        "tool failed tool=MemoryTree: the disk is full: a=b",
        expect![[r#"tool failed: the disk is full: a=b | {"tool":"MemoryTree"}"#]],
    );
}

#[test]
fn words_that_look_like_pairs_stay_words() {
    check("", expect![" | {}"]);
    check("`a=1` is odd", expect!["`a=1` is odd | {}"]);
    check("a=1 is odd", expect!["a=1 is odd | {}"]);
    check("x  y", expect!["x  y | {}"]);
    check("a=1 is odd and b=2 c=3 d", expect!["a=1 is odd and b=2 c=3 d | {}"]);
    check("a=1 is odd and b=2 c=3", expect![[r#"a=1 is odd and | {"b":2,"c":3}"#]]);
}

fn record(n: i64) -> LogRecord {
    LogRecord::new(&format!("n={n}"), "INFO", UnixMillis(n))
}

#[test]
fn the_oldest_records_make_room() {
    let recent_log = RecentLogRecords::new(3);
    assert_eq!(serde_json::to_string(&recent_log.read()).unwrap(), r#"{"records":[],"dropped":0}"#);
    (0..5).for_each(|n| recent_log.push(record(n)));
    let RecentLogReadout { records, dropped } = recent_log.read();
    assert_eq!(records.iter().map(|it| it.time).collect::<Vec<_>>(), [2, 3, 4]);
    assert_eq!(dropped, 2);
}

#[test]
fn an_observer_may_read_the_buffer() {
    let recent_log = RecentLogRecords::new(3);
    let n_seen = Arc::new(AtomicUsize::new(0));
    let (looked, counted) = (recent_log.clone(), Arc::clone(&n_seen));
    recent_log.add_observer(move || {
        counted.fetch_add(looked.read().records.len(), Ordering::Relaxed);
    });
    recent_log.push(record(1));
    recent_log.push(record(2));
    assert_eq!(n_seen.load(Ordering::Relaxed), 1 + 2);
}
