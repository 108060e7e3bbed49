//! Two who compile the same folder at the same time.

use std::cell::Cell;

use super::*;

/// The labels after a compile of `a.md` during which, when it was read and before it is written,
/// it became something else that `meanwhile` does something about.
fn labels_after(notes: &Notes, meanwhile: impl Fn()) -> Vec<String> {
    notes.write("a.md", "Old.\n").gives("1 added, 0 modified, 0 removed (1 ops)");
    notes.write("a.md", "Not so old.\n");
    let is_done = Cell::new(false);
    let progress = |_, _| {
        if !is_done.replace(true) {
            notes.write("a.md", "New, and longer.\n");
            meanwhile();
        }
        true
    };
    let request = Request {
        path: &notes.path(""),
        message: "test",
        n_threads: 2,
        workspace: &|root| Workspace::load(root, Options::default()).map(Arc::new),
        seeding: Seeding::AtBirth,
        clock: &Clock::manual(Millis(0)),
        progress: &progress,
    };
    compile(&notes.writer, &request, Millis(4_000_000_000_000)).unwrap();
    notes.check_health();
    notes.nodes().iter().map(|it| it.splitn(3, ' ').nth(2).unwrap().to_owned()).collect()
}

#[test]
fn what_another_compiled_meanwhile_is_not_undone() {
    let notes = Notes::new();
    assert_eq!(labels_after(&notes, || drop(notes.compile())), ["New, and longer."]);
    notes.gives("0 added, 0 modified, 0 removed (0 ops)");
}

#[test]
fn what_changed_meanwhile_is_compiled_as_it_is() {
    let notes = Notes::new();
    assert_eq!(labels_after(&notes, || ()), ["New, and longer."]);
    notes.gives("0 added, 0 modified, 0 removed (0 ops)");
}

#[test]
fn what_went_meanwhile_is_gone_with_the_next_compile() {
    let notes = Notes::new();
    let gone = || fs::remove_file(notes.path("a.md")).unwrap();
    assert_eq!(labels_after(&notes, gone), ["Not so old."]);
    notes.gives("0 added, 0 modified, 1 removed (1 ops)");
}
