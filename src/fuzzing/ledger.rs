//! Ledgers of any content: read, counted and compacted without losing a good line.

use crate::server::client_presence_and_history::{
    ClientSessionHistory, LEDGER_LINE_BYTES_MAX, each_line,
};

/// Panics when `data` as a ledger violates an invariant.
pub fn ledger(data: &[u8]) {
    let ledger = read(&[data]);
    let past = ledger.past("h");
    if let Some(past) = &past {
        assert!(0 < past.sessions && 0 <= past.lifetime_seconds);
    }
    let short = ledger.to_text();
    let again = read(&[short.as_bytes()]);
    assert_eq!(again.past("h"), past, "a shorter ledger says something else");
    assert!(!again.is_long() && again.to_text() == short);
    // A torn line costs only itself, wherever it is.
    let middle = data.iter().position(|it| *it == b'\n').map_or(data.len(), |it| it + 1);
    let (before, after) = data.split_at(middle);
    for garbage in [b"\n{\"session_id\":\"a\n".as_slice(), b"\n\xff\n", b"\n\n"] {
        assert_eq!(read(&[before, garbage, after]).past("h"), past);
    }
    let mut n_lines = 0;
    let each = |line: &[u8]| {
        assert!(line.len() <= LEDGER_LINE_BYTES_MAX && !line.contains(&b'\n'));
        n_lines += 1;
    };
    each_line(data, each).expect("memory can be read");
    assert!(n_lines <= 1 + data.iter().filter(|it| **it == b'\n').count());
    // Two ledgers one after the other are one.
    let twice = read(&[data, b"\n", short.as_bytes()]);
    assert_eq!(twice.past("h").map(|it| it.sessions), past.map(|it| it.sessions));
}

fn read(parts: &[&[u8]]) -> ClientSessionHistory {
    ClientSessionHistory::read(parts.concat().as_slice()).expect("memory can be read")
}
