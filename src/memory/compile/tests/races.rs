//! Tests for two simultaneous compiles of one folder.

use std::cell::Cell;

use super::*;

/// Returns the labels after a compile of `a.md` that changed between reading and writing.
/// `meanwhile` is run at that moment.
fn labels_after(notes: &Notes, meanwhile: impl Fn()) -> Vec<String> {
    notes.write("a.md", "Old.\n").check_compile("1 added, 0 modified, 0 removed (1 ops)");
    notes.write("a.md", "Not so old.\n");
    let is_done = Cell::new(false);
    let progress = |_, _| {
        if !is_done.replace(true) {
            notes.write("a.md", "New, and longer.\n");
            meanwhile();
        }
        true
    };
    let (path, clock) = (notes.path(""), Clock::manual(UnixMillis(0)));
    let request = CompileRequest { progress: &progress, ..request(&path, &clock) };
    compile(&notes.writer, &request, LATER).unwrap();
    notes.check_health();
    notes.nodes().iter().map(|it| it.splitn(3, ' ').nth(2).unwrap().to_owned()).collect()
}

#[test]
fn a_concurrent_compile_is_not_undone() {
    let notes = Notes::new();
    assert_eq!(labels_after(&notes, || drop(notes.compile())), ["New, and longer."]);
    notes.check_compile("0 added, 0 modified, 0 removed (0 ops)");
}

#[test]
fn a_file_changed_during_a_scan_is_compiled_as_it_is() {
    let notes = Notes::new();
    assert_eq!(labels_after(&notes, || ()), ["New, and longer."]);
    notes.check_compile("0 added, 0 modified, 0 removed (0 ops)");
}

#[test]
fn a_file_removed_during_a_scan_goes_with_the_next_compile() {
    let notes = Notes::new();
    let gone = || fs::remove_file(notes.path("a.md")).unwrap();
    assert_eq!(labels_after(&notes, gone), ["Not so old."]);
    notes.check_compile("0 added, 0 modified, 1 removed (1 ops)");
}

#[test]
fn a_plan_that_another_process_was_quicker_with_does_no_harm() {
    let notes = Notes::new();
    let text = "# Title\n\nSeveral words that stay as they are.\n";
    notes.write("old.md", text).write("gone.md", "Gone soon.\n");
    notes.check_compile("3 added, 0 modified, 0 removed (3 ops)");
    notes.remove("old.md").remove("gone.md").write("new.md", text);
    let (path, clock) = (notes.path(""), Clock::manual(UnixMillis(0)));
    let request = request(&path, &clock);
    let late = compile_planner::make_plan(&notes.writer, &request, None).unwrap();
    notes.check_compile("0 added, 1 modified, 1 removed (2 ops)");
    let nodes = notes.nodes();
    let report = carry_out(&notes.writer, &request, late, LATER).unwrap();
    assert_eq!(report.snapshot, None, "{report}");
    notes.check_health();
    assert_eq!(notes.nodes(), nodes);
}

#[test]
#[cfg(unix)]
fn a_folder_swapped_for_a_link_during_a_scan_is_not_followed() {
    let notes = Notes::new();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("b.md"), "The text of somebody else.\n").unwrap();
    notes.write("a/b.md", "Our text.\n").check_compile("1 added, 0 modified, 0 removed (1 ops)");
    notes.write("a/b.md", "Our text, changed.\n");
    let (path, clock) = (notes.path(""), Clock::manual(UnixMillis(0)));
    let request = request(&path, &clock);
    let plan = compile_planner::make_plan(&notes.writer, &request, None).unwrap();
    fs::rename(notes.path("a"), notes.path("old")).unwrap();
    std::os::unix::fs::symlink(outside.path(), notes.path("a")).unwrap();
    let report = carry_out(&notes.writer, &request, plan, LATER).unwrap();
    let warnings: Vec<String> = report.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(warnings, ["a/b.md: it is behind a link or a file now; not read"]);
    assert_eq!(notes.nodes().len(), 1);
    assert!(notes.nodes()[0].ends_with("Our text."), "{:?}", notes.nodes());
    notes.check_health();
}

/// Compiles a folder; another compile of `meanwhile` ends before it writes.
fn compile_while_others_do(notes: &Notes, path: &str, meanwhile: &str) {
    let is_done = Cell::new(false);
    let progress = |_, _| {
        if !is_done.replace(true) {
            notes.try_compile(meanwhile).unwrap();
        }
        true
    };
    let (path, clock) = (notes.path(path), Clock::manual(UnixMillis(0)));
    let request = CompileRequest { progress: &progress, ..request(&path, &clock) };
    compile(&notes.writer, &request, LATER).unwrap();
    notes.check_health();
}

#[test]
fn a_folder_and_a_part_of_it_that_are_compiled_at_the_same_time_are_one_root() {
    for (path, meanwhile) in [("", "in/a.md"), ("in/a.md", ""), ("", "in"), ("in", "")] {
        let notes = Notes::new();
        notes.write("b.md", "Beside it.\n").write("in/a.md", "Within.\n");
        compile_while_others_do(&notes, path, meanwhile);
        notes.check_compile("0 added, 0 modified, 0 removed (0 ops)");
        let roots = notes.writer.roots().unwrap();
        assert_eq!(roots.len(), 1, "{path}, {meanwhile}: {roots:?}");
        assert_eq!(notes.nodes().len(), 2, "{path}, {meanwhile}");
    }
}
