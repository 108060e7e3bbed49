use std::fs;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

use super::TARGETS;

/// Returns the path of a folder or file below `fuzz/`.
fn path_of(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz").join(path)
}

/// Returns the names in a folder, in order; none without a folder.
fn names_in(path: &str) -> Vec<String> {
    let Ok(entries) = fs::read_dir(path_of(path)) else { return Vec::new() };
    let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name();
    let mut names: Vec<String> =
        entries.map(|it| name(it).into_string().expect("a name in UTF-8")).collect();
    names.sort();
    names
}

/// Runs every target on the files of its folder below `folder`, and returns how many there are.
#[track_caller]
fn replay(folder: &str) -> usize {
    let mut n_inputs = 0;
    let mut broken = Vec::new();
    for target in TARGETS {
        for name in names_in(&format!("{folder}/{}", target.name)) {
            let input = format!("{folder}/{}/{name}", target.name);
            let bytes = fs::read(path_of(&input)).unwrap();
            n_inputs += 1;
            if catch_unwind(|| (target.check)(&bytes)).is_err() {
                broken.push(input);
            }
        }
    }
    assert!(broken.is_empty(), "inputs that break a promise: {broken:#?}");
    n_inputs
}

#[test]
#[cfg(all(feature = "html", feature = "http"))]
fn the_table_lists_every_target() {
    let names: Vec<&str> = TARGETS.iter().map(|it| it.name).collect();
    let manifest = fs::read_to_string(path_of("Cargo.toml")).unwrap();
    let built: Vec<&str> = manifest
        .lines()
        .skip_while(|line| *line != "[[bin]]")
        .filter_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'))
        .collect();
    assert_eq!(names, built, "fuzz/Cargo.toml");
    let files: Vec<String> = names.iter().map(|it| format!("{it}.rs")).collect();
    assert_eq!(files, names_in("fuzz_targets"), "fuzz/fuzz_targets");
    for name in &names {
        let source = fs::read_to_string(path_of(&format!("fuzz_targets/{name}.rs"))).unwrap();
        assert!(source.contains(&format!("remindb::fuzzing::{name}::{name}(data)")), "{source}");
        assert!(!names_in(&format!("seeds/{name}")).is_empty(), "fuzz/seeds/{name} has no file");
    }
    for folder in ["seeds", "regressions"] {
        let strangers = names_in(folder).into_iter().filter(|it| !names.contains(&&**it));
        assert_eq!(strangers.collect::<Vec<_>>(), [""; 0], "fuzz/{folder} of no target");
    }
}

#[test]
fn promises_hold_for_every_seed() {
    assert!(TARGETS.len() <= replay("seeds"));
}

#[test]
fn promises_hold_for_every_input_that_ever_broke_one() {
    assert_ne!(replay("regressions"), 0);
}
