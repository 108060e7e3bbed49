//! Tests a person's saves while a file is replaced.

use std::fs;
use std::path::PathBuf;

use super::*;

/// Saves before an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Save {
    Nothing,
    /// Another file is renamed to the name.
    Renamed,
    /// The bytes of the file are overwritten.
    InPlace,
    /// The file is deleted.
    Deleted,
}

/// Saves before each of the exchanges after one another.
const N_SAVES: usize = 4;

fn save(file: &Path, how: Save, text: &str) {
    match how {
        Save::Nothing => (),
        Save::Renamed => {
            let other = file.with_file_name("other");
            fs::write(&other, text).unwrap();
            fs::rename(other, file).unwrap();
        }
        Save::InPlace => fs::write(file, text).unwrap(),
        Save::Deleted => fs::remove_file(file).unwrap(),
    }
}

/// Returns the names and the texts of the files in a folder.
fn files_in(folder: &Path) -> Vec<(String, String)> {
    let read = |path: PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        (name, fs::read_to_string(path).unwrap())
    };
    let mut files: Vec<_> =
        fs::read_dir(folder).unwrap().map(|it| read(it.unwrap().path())).collect();
    files.sort();
    files
}

/// Replaces a file while somebody saves it; returns the outcome, and the files then.
fn replace_during(saves: &[Save]) -> (io::Result<bool>, Vec<(String, String)>) {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("a.md");
    fs::write(&file, "old").unwrap();
    let mut nth = 0;
    let mut meanwhile = |moment| {
        if moment == SwapMoment::Exchanged {
            return;
        }
        save(&file, saves.get(nth).copied().unwrap_or(Save::Nothing), &format!("version {nth}"));
        nth += 1;
    };
    let replaced = replace_while(dir.path(), "a.md", (b"old", b"new"), &mut meanwhile);
    (replaced.map(|it| it.is_some()), files_in(dir.path()))
}

#[test]
fn the_newest_save_ends_in_the_file() {
    let hows = [Save::Nothing, Save::Renamed, Save::InPlace];
    for case in 0..hows.len().pow(N_SAVES as u32) {
        let saves: Vec<Save> =
            (0..N_SAVES as u32).map(|nth| hows[case / hows.len().pow(nth) % hows.len()]).collect();
        // Without a save there is no exchange after the first one; later ones find no exchange.
        let n_before = saves.iter().take_while(|it| **it != Save::Nothing).count();
        let (newest, is_replaced) = match n_before {
            0 => ("new".to_owned(), true),
            n => (format!("version {}", n - 1), false),
        };
        let (outcome, files) = replace_during(&saves);
        assert_eq!(outcome.unwrap(), is_replaced, "{saves:?}");
        assert_eq!(files, [("a.md".to_owned(), newest)], "{saves:?}");
    }
}

#[test]
fn a_version_that_cannot_be_put_back_is_kept_under_a_name_of_its_own() {
    let endless = [Save::Renamed; EXCHANGES_MAX + 1];
    let (error, files) = replace_during(&endless);
    let error = error.unwrap_err().to_string();
    assert!(error.contains("a version that was saved meanwhile is in `.a.md.saved-1`"), "{error}");
    let newest = (".a.md.saved-1".to_owned(), format!("version {EXCHANGES_MAX}"));
    assert_eq!(files.first(), Some(&newest));
    // Who deletes the file after a save may be about to save it again.
    let (error, files) = replace_during(&[Save::Renamed, Save::Deleted]);
    assert!(error.unwrap_err().to_string().contains("`.a.md.saved-1`"));
    assert_eq!(files, [(".a.md.saved-1".to_owned(), "version 0".to_owned())]);
    let (outcome, files) = replace_during(&[Save::Deleted]);
    assert_eq!((outcome.unwrap(), files), (false, Vec::new()));
}

#[test]
fn what_a_kill_left_is_kept_unless_it_is_known() {
    let file = |name: &str, text: &str| (name.to_owned(), text.to_owned());
    for (left, kept) in [("", None), ("old", None), ("new", None), ("theirs", Some("theirs"))] {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("a.md"), "old").unwrap();
        fs::write(dir.path().join(".a.md.draft"), left).unwrap();
        assert!(replace(dir.path(), "a.md", (b"old", b"new")).unwrap().is_some(), "{left}");
        let kept = kept.map(|it| file(".a.md.saved-1", it));
        let all: Vec<_> = kept.into_iter().chain([file("a.md", "new")]).collect();
        assert_eq!(files_in(dir.path()), all, "{left}");
    }
}

#[test]
fn of_two_who_replace_a_file_at_once_one_does() {
    let dir = tempfile::tempdir().unwrap();
    let texts = ["one ", "two "].map(|it| it.repeat(10_000));
    for _ in 0..200 {
        fs::write(dir.path().join("a.md"), "old").unwrap();
        let replaced = std::thread::scope(|scope| {
            let each = texts.each_ref().map(|new| {
                let root = dir.path();
                scope.spawn(move || replace(root, "a.md", (b"old", new.as_bytes())))
            });
            each.map(|it| it.join().unwrap().unwrap().is_some())
        });
        assert_eq!(replaced.iter().filter(|it| **it).count(), 1);
        let winner = usize::from(replaced[1]);
        assert!(files_in(dir.path()) == [("a.md".to_owned(), texts[winner].clone())]);
    }
}

#[test]
fn what_is_appended_to_the_open_file_is_put_back() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.md");
    fs::write(&path, "old").unwrap();
    let mut opened = fs::File::options().append(true).open(&path).unwrap();
    let mut append = |moment| {
        if moment == SwapMoment::Exchanged {
            opened.write_all(b", and theirs").unwrap();
        }
    };
    let replaced = replace_while(dir.path(), "a.md", (b"old", b"new"), &mut append);
    assert!(replaced.unwrap().is_none());
    assert_eq!(files_in(dir.path()), [("a.md".to_owned(), "old, and theirs".to_owned())]);
}
