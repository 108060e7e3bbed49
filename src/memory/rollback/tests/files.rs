//! Tests for rollback beside files that changed, moved or are gone.

use super::*;

#[test]
fn a_file_that_did_not_change_does_not_undo_a_rollback() {
    let fixture = RollbackFixture::new(4);
    fixture.write("a.md", "# A\n\nOne.\n\nTwo.\n").write("b.md", "# B\n").compile();
    fixture.write("a.md", "# A\n\nOne!\n\nThree.\n");
    fs::rename(fixture.path("b.md"), fixture.path("c.md")).unwrap();
    fixture.compile();
    fixture.rollback(1, LaterSnapshotPolicy::Keep);
    expect!["A / One. / Two. / B"].assert_eq(&fixture.texts());
    assert_eq!(fixture.compile(), "compiled: 0 added, 0 modified, 0 removed (0 ops)");
    // Not even when the file is read again, until a block changes.
    fixture.write("a.md", "# A\n\nOne!\n\nThree.\n\nFour.\n").compile();
    expect!["A / One. / Four. / Two. / B"].assert_eq(&fixture.texts());
    fixture.write("a.md", "# A\n\nOne!\n\nThree, changed.\n\nFour.\n").compile();
    expect!["A / One. / Three, changed. / Four. / Two. / B"].assert_eq(&fixture.texts());
    // Forward again: file and memory agree.
    fixture.rollback(2, LaterSnapshotPolicy::Keep);
    fixture.check_health();
    expect!["A / One! / Three. / B"].assert_eq(&fixture.texts());
}

#[test]
fn a_file_that_gets_its_old_name_back_after_a_rollback_gets_its_nodes_back() {
    for way in ["at once", "one after the other"] {
        let fixture = RollbackFixture::new(11);
        let text = "# A\n\nOne.\n\nTwo.\n\n## B\n\nThree.\n";
        fixture.write("a.md", text).compile();
        let first = fixture.head().1;
        fs::rename(fixture.path("a.md"), fixture.path("b.md")).unwrap();
        fixture.compile();
        fixture.rollback(1, LaterSnapshotPolicy::Keep);
        fs::remove_file(fixture.path("b.md")).unwrap();
        if way == "one after the other" {
            fixture.compile();
        }
        let outcome = fixture.write("a.md", text).compile();
        assert_eq!(outcome, "compiled: 0 added, 0 modified, 0 removed (0 ops)", "{way}");
        assert_eq!(fixture.head().1, first);
        // They belong to the file again, which can change and remove them.
        fixture.write("a.md", "# A\n\nOne, changed.\n\n## B\n\nThree.\n").compile();
        expect!["A / One, changed. / B / Three."].assert_eq(&fixture.texts());
        fixture.check_health();
    }
}

#[test]
fn a_file_renamed_back_keeps_its_edits_and_tombstones() {
    for way in ["at once", "one after the other", "twice"] {
        let fixture = RollbackFixture::new(12);
        let text = "# A\n\nOne.\n\nTwo.\n\n## B\n\nThree.\n";
        fixture.write("a.md", text).compile();
        fs::rename(fixture.path("a.md"), fixture.path("b.md")).unwrap();
        fixture.compile();
        fixture.rollback(1, LaterSnapshotPolicy::Keep);
        fixture.agent(|batch| {
            let two = batch.find(fixture.id_of("Two."))?.unwrap();
            batch.forget(&two)
        });
        let three = fixture.id_of("Three.");
        fixture.overlay(three, "Three, as an agent has it.");
        fs::remove_file(fixture.path("b.md")).unwrap();
        if way == "one after the other" {
            fixture.compile();
        }
        fixture.write("a.md", text).compile();
        let outline = "A / One. / B / Three, as an agent has it.";
        assert_eq!(fixture.texts(), outline, "{way}");
        if way == "twice" {
            fixture.write("b.md", text).compile();
            let outline = format!("{outline} / A / One. / Two. / B / Three.");
            assert_eq!(fixture.texts(), outline, "a copy is a file of its own");
        }
        let changed = text.replace("Two.", "Two, changed.").replace("Three.", "Three, changed.");
        fixture.write("a.md", &changed).compile();
        assert!(fixture.texts().starts_with("A / One. / Two, changed. / B / Three, changed."));
        fixture.check_health();
    }
}

#[test]
fn a_restored_node_stays_where_its_file_takes_the_name_of_one_that_had_its_text() {
    const MOVED: &str = "A paragraph that is long enough to be known in another file.";
    let fixture = RollbackFixture::new(13);
    fixture.write("a.md", &format!("# A\n\nOne.\n\n{MOVED}\n")).compile();
    fixture.write("a.md", "# A\n\nOne.\n").write("b.md", &format!("{MOVED}\n")).compile();
    fixture.rollback(1, LaterSnapshotPolicy::Keep);
    let id = fixture.id_of(MOVED);
    fs::remove_file(fixture.path("b.md")).unwrap();
    fixture.compile();
    fs::rename(fixture.path("a.md"), fixture.path("b.md")).unwrap();
    fixture.compile();
    assert_eq!(fixture.texts(), format!("A / One. / {MOVED}"));
    // The file has it again, and takes it away for good.
    fixture.write("b.md", &format!("# A\n\nOne.\n\n{MOVED}\n")).compile();
    assert_eq!(fixture.id_of(MOVED), id);
    fixture.write("b.md", "# A\n\nOne.\n").compile();
    expect!["A / One."].assert_eq(&fixture.texts());
    fixture.check_health();
}

#[test]
fn a_name_that_only_dropped_snapshots_had_is_gone_with_them() {
    const PATHS: &str = "SELECT group_concat(path, ' ') FROM file";
    let fixture = RollbackFixture::new(14);
    // The paragraph moves with its heading, which alone has a change.
    fixture.write("a.md", "# A\n\nOne.\n").compile();
    fs::rename(fixture.path("a.md"), fixture.path("secret.md")).unwrap();
    fixture.compile();
    fixture.rollback(1, LaterSnapshotPolicy::Keep);
    fixture.rollback(1, LaterSnapshotPolicy::Drop);
    let paths = || fixture.conn().query_row(PATHS, [], |row| row.get::<_, String>(0)).unwrap();
    assert_eq!(paths(), "a.md");
    expect!["A / One."].assert_eq(&fixture.texts());
    // Nor does a file stay that was emptied meanwhile.
    fs::remove_file(fixture.path("secret.md")).unwrap();
    fixture.write("a.md", "# A\n\nOne.\n").write("hidden.md", "# B\n").compile();
    fixture.write("hidden.md", "").compile();
    fixture.rollback(1, LaterSnapshotPolicy::Drop);
    assert_eq!(paths(), "a.md");
    fixture.check_health();
}

#[test]
fn a_rollback_past_a_renamed_file_can_be_rolled_back() {
    let fixture = RollbackFixture::new(15);
    fixture.write("a.md", "# A\n\nOne.\n\nTwo.\n").compile();
    fs::rename(fixture.path("a.md"), fixture.path("b.md")).unwrap();
    fixture.compile();
    fixture.write("b.md", "# A\n\nThree.\n").compile();
    let (third, state) = (fixture.head(), fixture.state());
    fixture.rollback(1, LaterSnapshotPolicy::Keep);
    expect!["A / One. / Two."].assert_eq(&fixture.texts());
    fixture.rollback(3, LaterSnapshotPolicy::Keep);
    assert_eq!((fixture.head().1, fixture.state()), (third.1, state));
    fixture.check_health();
    // Nobody forgot what the renamed file did not have, so that it may have it again.
    fixture.write("b.md", "# A\n\nTwo.\n\nThree.\n").compile();
    expect!["A / Two. / Three."].assert_eq(&fixture.texts());
    fixture.check_health();
}

#[test]
fn a_block_that_comes_back_to_its_file_is_not_there_twice() {
    let fixture = RollbackFixture::new(9);
    fixture.write("a.md", "# A\n\nOne.\n\nTwo.\n").compile();
    fixture.write("a.md", "# A\n\nOne.\n").compile();
    fixture.rollback(1, LaterSnapshotPolicy::Keep);
    fixture.write("a.md", "# A\n\nOne.\n\nTwo.\n").compile();
    assert_eq!(fixture.texts(), "A / One. / Two.");
    // It belongs to the file again.
    fixture.write("a.md", "# A\n\nOne.\n").compile();
    assert_eq!(fixture.texts(), "A / One.");
    fixture.check_health();
}

#[test]
fn a_forgotten_block_that_moved_is_there_once_after_a_rollback() {
    const MOVED: &str = "A paragraph that is long enough to be known in another file.";
    for later in [LaterSnapshotPolicy::Keep, LaterSnapshotPolicy::Drop] {
        let fixture = RollbackFixture::new(16);
        let (with_a, with_b) = (format!("# A\n\n{MOVED}\n"), format!("# B\n\n{MOVED}\n"));
        fixture.write("a.md", &with_a).write("b.md", "# B\n").compile();
        let id = fixture.id_of(MOVED);
        fixture.agent(|batch| cascade(batch, id));
        fixture.write("a.md", "# A\n").write("b.md", &with_b).compile();
        expect!["A / B"].assert_eq(&fixture.texts());
        fixture.rollback(1, later);
        fixture.write("b.md", &format!("{with_b}\nOne.\n")).compile();
        assert_eq!(fixture.texts(), format!("A / {MOVED} / B / One."));
        fixture.check_health();
        // Where the memory has it, the file takes it back.
        fixture.write("a.md", &with_a).write("b.md", "# B\n\nOne.\n").compile();
        assert_eq!(fixture.texts(), format!("A / {MOVED} / B / One."));
        assert_eq!(fixture.id_of(MOVED), id);
        fixture.write("a.md", "# A\n").compile();
        expect!["A / B / One."].assert_eq(&fixture.texts());
        fixture.check_health();
    }
}

#[test]
fn a_block_of_two_files_is_forgotten_in_both() {
    let paragraph = "A paragraph of some size, long enough to be known again.";
    let (with_a, with_b) = (format!("# A\n\n{paragraph}\n"), format!("# B\n\n{paragraph}\n"));
    let fixture = RollbackFixture::new(12);
    fixture.write("a.md", &with_a).write("b.md", "# B\n").compile();
    fixture.write("a.md", "# A\n").write("b.md", &with_b).compile();
    fixture.rollback(1, LaterSnapshotPolicy::Keep);
    // Both have it now, and the memory has it once.
    fixture.write("a.md", &with_a).compile();
    fixture.agent(|batch| cascade(batch, fixture.id_of(paragraph)));
    fixture.write("a.md", &format!("{with_a}\nOne.\n")).compile();
    fixture.write("b.md", &format!("{with_b}\nTwo.\n")).compile();
    assert_eq!(fixture.texts(), "A / One. / B / Two.");
    fixture.check_health();
}
