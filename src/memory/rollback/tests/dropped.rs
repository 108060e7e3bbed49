//! Tests that no byte of dropped snapshots stays, and that all others do.

use super::*;

/// Returns the bytes of the file and its log, in lower case.
fn bytes(fixture: &RollbackFixture) -> Vec<u8> {
    let mut bytes = Vec::new();
    for name in ["memory.db", "memory.db-wal"] {
        bytes.extend(fs::read(fixture.dir.path().join(name)).unwrap_or_default());
    }
    bytes.make_ascii_lowercase();
    bytes
}

/// Returns the words of the random histories that occur in these bytes.
fn words_in(bytes: &[u8]) -> BTreeSet<String> {
    let is_word = |it: &[u8]| {
        it[0] == b'q' && it[2] == b'q' && [1, 3, 4, 5, 6].iter().all(|&at| it[at].is_ascii_digit())
    };
    let found = bytes.windows(7).filter(|it| is_word(it));
    found.map(|it| String::from_utf8_lossy(it).into_owned()).collect()
}

/// Returns the words in live nodes and in the history.
fn words_alive(fixture: &RollbackFixture) -> BTreeSet<String> {
    const TEXTS: &str = "
        SELECT label || content FROM node UNION ALL SELECT content FROM blob
         UNION ALL SELECT old_label FROM diff WHERE old_label IS NOT NULL
         UNION ALL SELECT trail FROM node";
    let conn = fixture.conn();
    let mut query = conn.prepare(TEXTS).unwrap();
    let texts = query.query_map([], |row| row.get::<_, String>(0)).unwrap();
    texts.flat_map(|it| words_in(it.unwrap().as_bytes())).collect()
}

#[test]
fn no_byte_of_dropped_text_is_in_the_file_or_its_log() {
    let (mut fixture, states) = history(6, 60);
    let (id, hash, state) = &states[20];
    let before = words_in(&bytes(&fixture));
    let rolled = fixture.rollback(*id, LaterSnapshotPolicy::Drop);
    assert_eq!((rolled.n_dropped, rolled.is_unscrubbed), (Some(60 - 21), false));
    assert_eq!((&fixture.head().1, &fixture.state()), (hash, state));
    fixture.check_health();
    let alive = words_alive(&fixture);
    fixture.writer = None;
    let found = words_in(&bytes(&fixture));
    assert!(alive.len() < before.len());
    assert_eq!(found.difference(&alive).collect::<Vec<_>>(), [] as [&String; 0]);
    // Later rollbacks restore nothing dropped, and the remaining ones still work.
    let path = fixture.dir.path().join("memory.db");
    fixture.writer = Some(Writer::open(&path, IfMissing::Refuse).unwrap());
    for (id, hash, state) in states[..=20].iter().step_by(5) {
        fixture.rollback(*id, LaterSnapshotPolicy::Keep);
        assert_eq!((&fixture.head().1, &fixture.state()), (hash, state));
    }
    assert!(words_in(&bytes(&fixture)).is_subset(&alive));
}

#[test]
fn collecting_keeps_the_state_and_the_last_snapshots() {
    let (mut fixture, states) = history(7, 60);
    let (head, state) = (fixture.head(), fixture.state());
    let before = words_in(&bytes(&fixture));
    let told =
        fixture.writer().collect(SnapshotRetentionPolicy::Last(10), GcMode::DryRun, NOW).unwrap();
    assert_eq!(words_in(&bytes(&fixture)), before);
    let done =
        fixture.writer().collect(SnapshotRetentionPolicy::Last(10), GcMode::Real, NOW).unwrap();
    assert_eq!(GcReport { bytes_after: done.bytes_after, ..told }, done);
    assert_eq!((done.n_snapshots, done.first, done.n_left), (50, 51, 10));
    assert!(done.bytes_after < done.bytes_before);
    assert_eq!((fixture.head(), fixture.state()), (head, state));
    let alive = words_alive(&fixture);
    fixture.writer = None;
    let found = words_in(&bytes(&fixture));
    assert_eq!(found.difference(&alive).collect::<Vec<_>>(), [] as [&String; 0]);
    assert!(found.len() < before.len());
    let path = fixture.dir.path().join("memory.db");
    fixture.writer = Some(Writer::open(&path, IfMissing::Refuse).unwrap());
    for (id, hash, state) in states[50..].iter().rev() {
        fixture.rollback(*id, LaterSnapshotPolicy::Keep);
        assert_eq!((&fixture.head().1, &fixture.state()), (hash, state));
    }
    fixture.check_health();
    fixture.check_rollback(
        50,
        LaterSnapshotPolicy::Keep,
        expect!["error: `snapshot_id`: no snapshot 50; there are 51 to 69"],
    );
    let later = UnixMillis(NOW.0 + 1);
    let done = fixture
        .writer()
        .collect(SnapshotRetentionPolicy::Since(later), GcMode::Real, later)
        .unwrap();
    assert_eq!(done.n_left, 1);
    fixture.check_health();
}
