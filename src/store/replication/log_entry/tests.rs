//! Tests the form of entries.

use proptest::prelude::*;
use rusqlite::types::{ToSqlOutput, Value};

use super::*;

fn steps(part: &[u8]) -> Option<Vec<LogEntryOperation<'_>>> {
    let mut reader = LogEntryOperationReader::new(part)?;
    let mut steps = Vec::new();
    while !reader.is_at_end() {
        steps.push(reader.next_step()?);
    }
    Some(steps)
}

fn values(row: &[Value]) -> impl Iterator<Item = ValueRef<'_>> {
    row.iter().map(ValueRef::from)
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<i64>().prop_map(Value::Integer),
        (-1e9..1e9).prop_map(Value::Real),
        ".{0,20}".prop_map(Value::Text),
        proptest::collection::vec(any::<u8>(), 0..20).prop_map(Value::Blob),
    ]
}

proptest! {
    #[test]
    fn what_was_written_is_read(rows in proptest::collection::vec((value(), value()), 0..20)) {
        let rows: Vec<[Value; 2]> = rows.into_iter().map(|(a, b)| [a, b]).collect();
        let mut parts: Vec<Vec<u8>> = Vec::new();
        let mut sink = |part| { parts.push(part); Ok(()) };
        let mut entry = LogEntryOperationWriter::new(&mut sink);
        entry.after(LogHash([3; 32]));
        entry.table("t", &["a", "b"]);
        for row in &rows {
            entry.row(values(row)).unwrap();
            entry.delete(values(row)).unwrap();
        }
        let part = entry.finish();
        prop_assert!(parts.is_empty());
        let mut steps = steps(&part).unwrap().into_iter();
        prop_assert_eq!(steps.next().unwrap(), LogEntryOperation::After(LogHash([3; 32])));
        if !rows.is_empty() {
            let columns = vec!["a", "b"];
            prop_assert_eq!(steps.next().unwrap(), LogEntryOperation::Table { name: "t", columns });
        }
        for row in &rows {
            let expected: Vec<ToSqlOutput<'_>> = values(row).map(ToSqlOutput::Borrowed).collect();
            prop_assert_eq!(steps.next().unwrap(), LogEntryOperation::Row(expected.clone()));
            prop_assert_eq!(steps.next().unwrap(), LogEntryOperation::Delete(expected));
        }
        prop_assert!(steps.next().is_none());
    }

    #[test]
    fn bytes_of_any_kind_are_no_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let mut part = vec![FORM];
        part.extend_from_slice(&bytes);
        let _ = steps(&part);
        let _ = steps(&bytes);
    }
}

#[test]
fn a_large_entry_comes_in_parts_that_are_read_one_by_one() {
    let text = Value::Text("x".repeat(PART_BYTES / 3));
    let mut parts: Vec<Vec<u8>> = Vec::new();
    let mut sink = |part| {
        parts.push(part);
        Ok(())
    };
    let mut entry = LogEntryOperationWriter::new(&mut sink);
    entry.table("t", &["a"]);
    for _ in 0..10 {
        entry.row(values(std::slice::from_ref(&text))).unwrap();
    }
    let last = entry.finish();
    parts.push(last);
    assert_eq!(parts.len(), 4);
    for part in &parts {
        assert!(part.len() < 2 * PART_BYTES);
        assert!(matches!(steps(part).unwrap()[0], LogEntryOperation::Table { .. }));
    }
    let n_rows: usize = parts.iter().map(|it| steps(it).unwrap().len() - 1).sum();
    assert_eq!(n_rows, 10);
}

#[test]
fn a_part_cut_anywhere_is_no_part() {
    let row = [Value::Text("text".to_owned()), Value::Integer(7)];
    let mut sink = |_| Ok(());
    let mut entry = LogEntryOperationWriter::new(&mut sink);
    entry.table("t", &["a", "b"]);
    entry.row(values(&row)).unwrap();
    let part = entry.finish();
    assert!(steps(&part).is_some());
    // Cut right after a step, the rest is a part of its own.
    let whole = part.len() - (1 + 1 + 8 + 4 + 1 + 8);
    for n_bytes in (2..part.len()).filter(|it| *it != whole) {
        assert!(steps(&part[..n_bytes]).is_none(), "{n_bytes} bytes");
    }
    assert!(steps(&[]).is_none());
    assert!(steps(&[FORM + 1]).is_none());
}

#[test]
fn every_input_of_the_hash_counts() {
    let hash = |before, writer: &str, schema, bodies: &[&str]| {
        let mut hasher = EntryHasher::new(before, writer, schema);
        bodies.iter().for_each(|it| hasher.add(it.as_bytes()));
        hasher.finish()
    };
    let before = LogHash::default();
    let all = [
        hash(before, "a", 1, &["x", "y"]),
        hash(LogHash([1; 32]), "a", 1, &["x", "y"]),
        hash(before, "b", 1, &["x", "y"]),
        hash(before, "a", 2, &["x", "y"]),
        hash(before, "a", 1, &["xy"]),
        hash(before, "a", 1, &["xy", ""]),
        hash(before, "a", 1, &["y", "x"]),
    ];
    for (nth, one) in all.iter().enumerate() {
        assert!(!all[nth + 1..].contains(one), "{nth}");
    }
}
