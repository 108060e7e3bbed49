//! Tests a shared memory where another process acts between two steps of this one.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rusqlite::Connection;

use super::shared::{Space, notes, refused, say};
use crate::memory::{Error, Memory};
use crate::store::replica_write_guard::mark_unpublished;
use crate::store::replication::in_process_sequencer::{InProcessSequencer, InterceptedCall};
use crate::store::{SharedError, StoreError};

/// Lets something happen in the next call of a kind.
fn meanwhile(
    keeper: &InProcessSequencer,
    call: InterceptedCall,
    happens: impl FnOnce() + Send + 'static,
) {
    *keeper.interlude.lock().unwrap() = Some((call, Box::new(happens)));
}

/// Returns what marks a replica as another process that redacts it does.
fn redaction(space: &Space, name: &str) -> impl FnOnce() + Send + 'static {
    let db = space.db(name);
    move || {
        let conn = Connection::open(db).unwrap();
        assert!(mark_unpublished(&conn, "redact").unwrap());
    }
}

fn is_unpublished(memory: &Memory) -> bool {
    memory.sharing().unwrap().replica().unwrap().unpublished.is_some()
}

/// Makes a replica publish itself as a new epoch.
fn begin_anew(memory: &Memory) {
    mark_unpublished(&memory.writer.lock(), "doctor --fix").unwrap();
    memory.publish_image().unwrap();
}

#[test]
fn a_redaction_between_turn_and_write_stays_to_be_published() {
    let space = Space::new();
    let a = space.open("a");
    say(&a, "One").unwrap();
    meanwhile(&space.keeper, InterceptedCall::BeginTurn, redaction(&space, "a"));
    let error = refused(say(&a, "Two"));
    assert_eq!(error, SharedError::Unpublished { what: "redact".to_owned() });
    assert!(is_unpublished(&a));
    a.publish_image().unwrap();
    say(&a, "Three").unwrap();
    space.assert_same(&[("b", &space.open("b"))]);
}

#[test]
fn a_redaction_while_the_log_is_read_stays_to_be_published() {
    let space = Space::new();
    let (a, b) = (space.open("a"), space.open("b"));
    say(&a, "One").unwrap();
    meanwhile(&space.keeper, InterceptedCall::Parts, redaction(&space, "b"));
    let error = b.sharing().unwrap().follow().unwrap_err().to_string();
    assert!(error.contains("`remindb redact` changed this replica"), "{error}");
    assert!(is_unpublished(&b));
}

#[test]
fn a_redaction_before_an_image_is_loaded_stays_to_be_published() {
    let space = Space::new();
    let (a, b) = (space.open("a"), space.open("b"));
    say(&a, "One").unwrap();
    begin_anew(&a);
    meanwhile(&space.keeper, InterceptedCall::NewestImage, redaction(&space, "b"));
    let error = b.sharing().unwrap().follow().unwrap_err().to_string();
    assert!(error.contains("`remindb redact` changed this replica"), "{error}");
    assert!(is_unpublished(&b));
}

/// Otherwise what the other process has written since is gone for a moment.
#[test]
fn an_image_that_another_process_loaded_is_not_loaded_again() {
    let space = Space::new();
    let (a, b) = (space.open("a"), space.open("b"));
    let other_process = space.open("b");
    say(&a, "One").unwrap();
    b.sharing().unwrap().follow().unwrap();
    begin_anew(&a);
    let went_back = Arc::new(AtomicBool::new(false));
    let (keeper, noticed) = (Arc::clone(&space.keeper), Arc::clone(&went_back));
    meanwhile(&space.keeper, InterceptedCall::NewestImage, move || {
        other_process.sharing().unwrap().follow().unwrap();
        say(&other_process, "Written after the image").unwrap();
        meanwhile(&keeper, InterceptedCall::Parts, move || noticed.store(true, Ordering::Relaxed));
    });
    b.sharing().unwrap().follow().unwrap();
    assert!(!went_back.load(Ordering::Relaxed), "the replica went back to the image");
    assert!(b.search("written image", None).unwrap().text.contains("Written after the image"));
    space.assert_same(&[("a", &a), ("b", &b)]);
}

#[test]
fn a_log_that_begins_anew_while_it_is_read_is_followed() {
    for call in [InterceptedCall::Parts, InterceptedCall::NewestImage] {
        let space = Space::new();
        let (a, b) = (Arc::new(space.open("a")), space.open("b"));
        say(&a, "One").unwrap();
        if call == InterceptedCall::NewestImage {
            begin_anew(&a);
        }
        let other = Arc::clone(&a);
        meanwhile(&space.keeper, call, move || begin_anew(&other));
        assert!(b.sharing().unwrap().follow().unwrap());
        space.assert_same(&[("a", &a), ("b", &b)]);
    }
}

#[test]
fn a_slow_server_keeps_nobody_on_this_machine_from_writing() {
    let space = Space::new();
    let (a, b) = (space.open("a"), space.open("b"));
    say(&a, "One").unwrap();
    let db = space.db("b");
    meanwhile(&space.keeper, InterceptedCall::Parts, move || {
        let conn = Connection::open(db).unwrap();
        conn.busy_timeout(std::time::Duration::ZERO).unwrap();
        conn.execute_batch("BEGIN IMMEDIATE; ROLLBACK").unwrap();
    });
    assert!(b.sharing().unwrap().follow().unwrap());
}

/// A process may be stopped for minutes in the middle of a compile.
#[test]
fn a_compile_that_lost_its_lease_writes_nothing() {
    let space = Space::new();
    let a = space.open("a");
    let folder = notes(&space, &[("x.md", "# X\n\nOne.\n")]);
    a.compile(&folder, "first").unwrap();
    let head = space.keeper.log().head;
    notes(&space, &[("x.md", "# X\n\nTwo.\n")]);
    space.keeper.is_lease_lost.store(true, Ordering::Relaxed);
    let error = a.compile(&folder, "second").unwrap_err();
    assert!(
        matches!(
            error,
            Error::Store(StoreError::Shared(SharedError::LeaseLost { ref root })) if root == "notes"
        ),
        "{error}"
    );
    assert_eq!(space.keeper.log().head, head);
    // The lease is for compiling alone.
    say(&a, "An agent may speak").unwrap();
    space.keeper.is_lease_lost.store(false, Ordering::Relaxed);
    a.compile(&folder, "second").unwrap();
    assert!(a.search("two", None).unwrap().text.contains("Two."));
}

/// A failover may lose the beginning of an epoch, and another machine begin it anew.
#[test]
fn two_beginnings_of_an_epoch_are_not_the_same_place() {
    let space = Space::new();
    let (a, b) = (space.open("a"), space.open("b"));
    say(&a, "One").unwrap();
    let before = space.keeper.log().clone();
    begin_anew(&a);
    *space.keeper.log() = before;
    say(&b, "Two").unwrap();
    begin_anew(&b);
    assert!(matches!(refused(say(&a, "Three")), SharedError::Diverged { .. }));
    let error = a.sharing().unwrap().follow().unwrap_err().to_string();
    assert!(error.contains("differ since entry 0"), "{error}");
}

#[test]
fn a_fresh_read_sees_what_was_written_before_or_fails() {
    let space = Space::new();
    let (a, b) = (space.open("a"), space.open("b").with_fresh_reads());
    say(&a, "Just written").unwrap();
    b.freshen().unwrap();
    assert!(b.search("just", None).unwrap().text.contains("Just written"));
    space.keeper.is_away.store(true, Ordering::Relaxed);
    assert_eq!(
        b.freshen().unwrap_err().to_string(),
        "PostgreSQL at test is not reachable, so nobody knows whether this replica is fresh; reads \
         without `--fresh` go on"
    );
    // Other reads call nobody.
    a.freshen().unwrap();
    assert!(b.search("just", None).unwrap().text.contains("Just written"));
}
