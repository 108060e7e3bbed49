//! Tests paths of compiled folders that were altered by no program of ours.

use std::fs;

use super::{memory, tamper};

#[test]
fn no_compile_of_any_folder_removes_or_doubles_the_files_of_an_altered_root() {
    let folder = memory();
    let before = folder.facts("m.db");
    tamper(&folder, "UPDATE root SET path = replace(path, 'notes', 'nOtes')");
    folder.write("nOtes/other.md", "Something else.\n");
    for path in ["notes", "nOtes", ".", "notes/8.md"] {
        let ran = folder.run(["compile", path, "--db", "m.db"]);
        assert_eq!(ran.code, Some(2), "{path}: {}", ran.transcript());
        assert!(ran.stderr.contains("nOtes` was compiled as `"), "{path}: {}", ran.stderr);
        assert_eq!(folder.facts("m.db")["head"], before["head"], "{path}");
    }
    let found = folder.run(["doctor", "--db", "m.db"]);
    assert!(found.stdout.contains("1 compile roots were altered: `"), "{}", found.stdout);
    let fixed = folder.ok(["doctor", "--fix", "--db", "m.db"]);
    assert!(fixed.contains("notes` again"), "{fixed}");
    folder.assert_healthy("m.db");
    let compiled = folder.ok(["compile", "notes", "--db", "m.db"]);
    assert!(compiled.starts_with("compiled: 0 added, 0 modified, 0 removed"), "{compiled}");
    assert_eq!(folder.facts("m.db")["head"]["cursor_hash"], before["head"]["cursor_hash"]);
    let compiled = folder.ok(["compile", "nOtes", "--db", "m.db"]);
    assert!(compiled.starts_with("compiled: 1 added, 0 modified, 0 removed"), "{compiled}");
}

/// The path is in the table of roots, in its index, and in the snapshots.
#[test]
fn a_flipped_bit_in_any_copy_of_the_path_of_a_root_is_mended() {
    let folder = memory();
    let before = folder.facts("m.db");
    let sound = fs::read(folder.path("m.db")).unwrap();
    let root = folder.path("notes").display().to_string();
    let copies = (0..sound.len()).filter(|&at| sound[at..].starts_with(root.as_bytes()));
    let copies: Vec<usize> = copies.map(|at| at + root.len() - 3).collect();
    assert!(4 <= copies.len(), "{copies:?}");
    for at in copies {
        for bit in [0x01, 0x80] {
            let mut bytes = sound.clone();
            bytes[at] ^= bit;
            folder.write("m.db", bytes);
            let ran = folder.run(["compile", "notes", "--db", "m.db"]);
            let is_refused = ran.stderr.contains("remindb doctor");
            let is_idle = ran.stdout.starts_with("compiled: 0 added, 0 modified, 0 removed");
            assert!(is_refused || is_idle, "{at}: {}", ran.transcript());
            folder.run(["doctor", "--fix", "--db", "m.db"]);
            folder.assert_healthy("m.db");
            let compiled = folder.ok(["compile", "notes", "--db", "m.db"]);
            assert!(compiled.starts_with("compiled: 0 added, 0 modified, 0 removed"), "{at}");
            assert_eq!(folder.facts("m.db")["head"], before["head"], "{at}");
        }
    }
}
