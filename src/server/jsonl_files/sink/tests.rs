use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn read(home: &Path, name: &str) -> String {
    fs::read_to_string(home.join(".remindb").join(name)).unwrap()
}

#[test]
fn lines_are_appended_and_only_the_user_can_read_them() {
    let home = folder();
    let sink = JsonlSink::new(home.path(), "logs/a.jsonl");
    sink.append("{\"n\":1}", 100).unwrap();
    sink.append("{\"n\":2}", 100).unwrap();
    assert_eq!(read(home.path(), "logs/a.jsonl"), "{\"n\":1}\n{\"n\":2}\n");
    let mode = fs::metadata(home.path().join(".remindb/logs/a.jsonl")).unwrap().permissions();
    assert_eq!(mode.mode() & 0o777, 0o600);
}

#[test]
fn a_full_file_is_rotated() {
    let home = folder();
    let sink = JsonlSink::new(home.path(), "a.jsonl");
    for line in ["1111", "2222", "3333", "4444", "5555 longer than all of it"] {
        sink.append(line, 10).unwrap();
    }
    assert_eq!(read(home.path(), "a.jsonl"), "5555 longer than all of it\n");
    assert_eq!(read(home.path(), "a.jsonl.1"), "3333\n4444\n");
}

#[test]
fn nothing_is_written_outside() {
    let outside = folder();
    fs::write(outside.path().join("theirs"), "").unwrap();
    for link in [".remindb", ".remindb/logs", ".remindb/logs/a.jsonl"] {
        for target in [outside.path().to_owned(), outside.path().join("theirs"), "../..".into()] {
            let home = folder();
            fs::create_dir_all(home.path().join(link).parent().unwrap()).unwrap();
            symlink(&target, home.path().join(link)).unwrap();
            assert!(JsonlSink::new(home.path(), "logs/a.jsonl").append("x", 10).is_err(), "{link}");
        }
    }
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
    assert_eq!(fs::read(outside.path().join("theirs")).unwrap(), b"");
}

#[test]
fn what_is_no_plain_file_with_one_name_is_refused_and_named() {
    let home = folder();
    let own = |name: &str| home.path().join(".remindb").join(name);
    let refused = |name: &str| {
        let error = JsonlSink::new(home.path(), name).append("x", 10).unwrap_err().to_string();
        let path = home.path().canonicalize().unwrap().join(".remindb");
        error.replace(path.to_str().unwrap(), "OWN")
    };
    fs::write(home.path().join("theirs"), "Theirs.").unwrap();
    fs::create_dir_all(own("a.jsonl")).unwrap();
    assert_eq!(refused("a.jsonl"), "`OWN/a.jsonl` is not used: it is a link or no regular file");
    // A full file would be rotated.
    for target in ["nowhere", "../theirs"] {
        symlink(target, own("b.jsonl")).unwrap();
        assert_eq!(
            refused("b.jsonl"),
            "`OWN/b.jsonl` is not used: it is a link or no regular file"
        );
        fs::remove_file(own("b.jsonl")).unwrap();
    }
    fs::hard_link(home.path().join("theirs"), own("c.jsonl")).unwrap();
    assert_eq!(refused("c.jsonl"), "`OWN/c.jsonl` is not used: it has other names (hard links)");
    symlink("..", own("logs")).unwrap();
    assert_eq!(refused("logs/theirs"), "`OWN/logs` is not used: it is a link or no folder");
    assert_eq!(fs::read(home.path().join("theirs")).unwrap(), b"Theirs.");
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 2);
}
