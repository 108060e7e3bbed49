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
    let told = fixture
        .writer()
        .collect(SnapshotRetentionPolicy::Last(10), GcMode::DryRun, NOW, i64::MAX)
        .unwrap();
    assert_eq!(words_in(&bytes(&fixture)), before);
    let done = fixture
        .writer()
        .collect(SnapshotRetentionPolicy::Last(10), GcMode::Real, NOW, i64::MAX)
        .unwrap();
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
        .collect(SnapshotRetentionPolicy::Since(later), GcMode::Real, later, i64::MAX)
        .unwrap();
    assert_eq!(done.n_left, 1);
    fixture.check_health();
}

#[test]
fn collecting_keeps_what_others_replaced_since_the_copy() {
    let (fixture, _) = history(7, 30);
    let (head, state) = (fixture.head(), fixture.state());
    let collect = |copied| {
        let keep = SnapshotRetentionPolicy::Last(1);
        let done = fixture.writer().collect(keep, GcMode::Real, NOW, copied).unwrap();
        (done.first, done.n_left)
    };
    assert_eq!(collect(head.0 - 3), (head.0 - 3, 4));
    // A copy of a memory that has no snapshot yet, or of one that was collected since.
    assert_eq!(collect(0), (head.0 - 3, 4));
    assert_eq!(collect(head.0), (head.0, 1));
    assert_eq!((fixture.head(), fixture.state()), (head, state));
    fixture.check_health();
}

#[test]
fn the_name_of_a_file_that_lost_all_by_forgetting_goes_once_the_file_is_gone() {
    const NAMES: &str = "SELECT group_concat(path, ' ') FROM (SELECT path FROM file ORDER BY path)";
    for is_gone in [true, false] {
        let fixture = RollbackFixture::new(21);
        fixture.write("a.md", "One.\n").write("b.md", "Two.\n").compile();
        let one = fixture.id_of("One.");
        fixture.agent(|batch| cascade(batch, one));
        fs::rename(fixture.path("a.md"), fixture.path("secret.md")).unwrap();
        fixture.compile();
        let two = fixture.id_of("Two.");
        fixture.overlay(two, "An agent's words.");
        if is_gone {
            fs::remove_file(fixture.path("secret.md")).unwrap();
            fixture.compile();
        }
        fixture.rollback(2, LaterSnapshotPolicy::Drop);
        let names: String = fixture.conn().query_row(NAMES, [], |row| row.get(0)).unwrap();
        assert_eq!(names, if is_gone { "b.md" } else { "b.md secret.md" });
        // What was forgotten stays so, as long as its file is there.
        fixture.compile();
        expect!["Two."].assert_eq(&fixture.texts());
        fixture.check_health();
    }
}

#[test]
fn the_base_below_an_overlay_outlives_what_is_dropped() {
    const OTHERS: &str = "# A\n\nThe first block stays.\n\n";
    const BASE: &str = "The billing service is deployed by hand on Fridays after lunch.";
    let fixture = RollbackFixture::new(22);
    fixture.write("a.md", &format!("{OTHERS}{BASE}\n")).compile();
    let id = fixture.id_of(BASE);
    fixture.overlay(id, "By robot.");
    let (keep, after) = (SnapshotRetentionPolicy::Last(1), LaterSnapshotPolicy::Drop);
    fixture.writer().collect(keep, GcMode::Real, NOW, i64::MAX).unwrap();
    fixture.overlay(id, BASE);
    fixture.overlay(id, "Otherwise.");
    fixture.rollback(2, after);
    // The next edit of the file is known as one of that text.
    let edited = BASE.replace("by hand", "by hand only");
    fixture.write("a.md", &format!("{OTHERS}{edited}\n")).compile();
    assert_eq!(fixture.id_of(&edited), id);
    fixture.check_health();
    // A base that only a dropped compile brought goes with it.
    fixture.overlay(id, "By robot.");
    let (head, secret) = (fixture.head().0, edited.replace("billing", "zzsecretname"));
    fixture.write("a.md", &format!("{OTHERS}{secret}\n")).compile();
    fixture.rollback(head, after);
    expect!["A / The first block stays. / By robot."].assert_eq(&fixture.texts());
    assert!(!String::from_utf8_lossy(&bytes(&fixture)).contains("zzsecretname"));
    fixture.check_health();
}

#[test]
fn the_base_below_an_overlay_goes_once_the_overlay_is_forgotten() {
    let fixture = RollbackFixture::new(23);
    fixture.write("a.md", "Keep.\n\nThe zzsecretname of the first version.\n").compile();
    fixture.overlay(fixture.id_of("The zzsecretname of the first version."), "By robot.");
    let has_base = || String::from_utf8_lossy(&bytes(&fixture)).contains("zzsecretname");
    let collect = |keep| {
        fixture.writer().collect(keep, GcMode::Real, NOW, i64::MAX).unwrap();
    };
    collect(SnapshotRetentionPolicy::Last(1));
    assert!(has_base());
    fixture.write("a.md", "Keep.\n\nSomething entirely different now.\n").compile();
    collect(SnapshotRetentionPolicy::Last(1));
    assert!(!has_base());
    fixture.check_health();
}
