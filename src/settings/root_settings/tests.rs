use std::fs;

use super::*;

/// A root, gone at the end of the test.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    fn file(self, path: &str, text: impl AsRef<[u8]>) -> Folder {
        self.write(path, text);
        self
    }

    fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let full = self.root().join(path);
        fs::create_dir_all(full.parent().unwrap()).unwrap();
        fs::write(full, text).unwrap();
    }

    fn root(&self) -> PathBuf {
        self.0.path().join("root")
    }

    fn load(&self, trust: Trust) -> RootSettings {
        RootSettings::load(&self.root(), OperatorOptions { trust, ..OperatorOptions::default() })
            .unwrap()
    }

    #[track_caller]
    fn check_bad(&self, expected: &str) {
        let error = RootSettings::load(&self.root(), OperatorOptions::default()).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
}

const PERMISSIVE: &str = r#"{"redaction": {"disable_builtin_kinds": ["npm_token"]}}"#;

const NPM: &str = "npm_a1B2c3D4e5F6g7H8a1B2c3D4e5F6g7H8abcd";

#[test]
fn an_empty_root_has_the_defaults() {
    for folder in [
        Folder::new(),
        Folder::new().file("notes.md", ""),
        Folder::new().file(".remindb", "a file"),
        Folder::new()
            .file(config::CONFIG_FILE, "")
            .file(initial_temperatures::TEMPERATURES_FILE, " \n"),
        Folder::new()
            .file(config::CONFIG_FILE, "{}")
            .file(initial_temperatures::TEMPERATURES_FILE, "{}"),
    ] {
        let workspace = folder.load(Trust::Withheld);
        assert_eq!(workspace.config, Config::default());
        assert!(workspace.initial_temperatures.is_empty());
        assert_eq!(workspace.untrusted, []);
    }
}

#[test]
fn only_a_trusted_folder_turns_protections_off() {
    let folder = Folder::new().file(config::CONFIG_FILE, PERMISSIVE);
    let stranger = folder.load(Trust::Withheld);
    assert!(stranger.redactor.has_secret(NPM));
    assert_eq!(stranger.skipped().count(), 1);
    let friend = folder.load(Trust::Given);
    assert!(!friend.redactor.has_secret(NPM));
    assert_eq!(friend.skipped().count(), 0);
}

#[test]
fn an_unreadable_file_is_named() {
    Folder::new()
        .file(config::CONFIG_FILE, b"{\n\"a\xff\": 1}")
        .check_bad(".remindb/config.json is not UTF-8, first at line 2; save it as UTF-8");
    Folder::new()
        .file(initial_temperatures::TEMPERATURES_FILE, b"\xff")
        .check_bad(".remindb/temperatures.json is not UTF-8, first at line 1; save it as UTF-8");
    Folder::new()
        .file(".remindb/config.json/a", "")
        .check_bad(".remindb/config.json is no regular file; put one there or remove it");
    let folder = Folder::new().file(config::CONFIG_FILE, "");
    let file =
        fs::File::options().write(true).open(folder.root().join(config::CONFIG_FILE)).unwrap();
    file.set_len(1 << 30).unwrap();
    folder.check_bad(".remindb/config.json is larger than 1048576 bytes; shorten it");
}

#[cfg(unix)]
#[test]
fn links_are_followed_inside_and_not_out() {
    use std::os::unix::fs::symlink;
    let outside = Folder::new().file("config.json", PERMISSIVE);
    let leaves = ".remindb/config.json is a link that leaves the folder, and is not followed; put a file \
         there";

    let folder = Folder::new().file(".remindb/other", "");
    symlink(outside.root().join("config.json"), folder.root().join(config::CONFIG_FILE)).unwrap();
    folder.check_bad(leaves);

    let folder = Folder::new().file("notes.md", "");
    symlink(outside.root(), folder.root().join(".remindb")).unwrap();
    folder.check_bad(leaves);

    let folder = Folder::new().file(".remindb/other", "");
    symlink("nowhere", folder.root().join(config::CONFIG_FILE)).unwrap();
    folder.check_bad("cannot read .remindb/config.json: No such file or directory (os error 2)");

    let folder = Folder::new().file(".remindb/real.json", r#"{"budgets": {"search": 7}}"#);
    symlink("real.json", folder.root().join(config::CONFIG_FILE)).unwrap();
    assert_eq!(folder.load(Trust::Withheld).config.budgets.search, Some(7));
}

#[test]
fn good_edits_apply_and_broken_ones_do_not() {
    let folder = Folder::new().file(config::CONFIG_FILE, r#"{"budgets": {"search": 7}}"#);
    let mut live = LiveRootSettings::start(&folder.root(), OperatorOptions::default()).unwrap();
    let search = |live: &LiveRootSettings| live.current().config.budgets.search;
    assert_eq!(live.reload(), ReloadOutcome::Same);

    folder.write(config::CONFIG_FILE, r#"{"budgets": {"search": 8}}"#);
    assert_eq!(live.reload(), ReloadOutcome::Changed);
    assert_eq!(live.reload(), ReloadOutcome::Same);
    assert_eq!(search(&live), Some(8));

    folder.write(config::CONFIG_FILE, r#"{"budgets": {"search": 0}}"#);
    let why = "`budgets.search` in .remindb/config.json must be positive, not `0`";
    assert_eq!(live.reload(), ReloadOutcome::Bad(RootSettingsError(why.to_owned())));
    // It is reported once.
    assert_eq!(live.reload(), ReloadOutcome::Same);
    assert_eq!(search(&live), Some(8));

    folder.write(initial_temperatures::TEMPERATURES_FILE, r#"{"a.md": 0.9}"#);
    assert!(matches!(live.reload(), ReloadOutcome::Bad(_)));
    fs::remove_file(folder.root().join(config::CONFIG_FILE)).unwrap();
    assert_eq!(live.reload(), ReloadOutcome::Changed);
    assert_eq!(search(&live), None);
    assert_eq!(live.current().initial_temperatures.of("a.md"), Some(0.9));
}

#[test]
fn the_operator_and_the_folder_may_both_ask_for_gitignore() {
    let followed =
        OperatorOptions { gitignore: GitignoreMode::Followed, ..OperatorOptions::default() };
    let folder = Folder::new().file(config::CONFIG_FILE, r#"{"compile": {"gitignore": false}}"#);
    assert_eq!(folder.load(Trust::Withheld).gitignore(), GitignoreMode::Unread);
    let workspace = RootSettings::load(&folder.root(), followed).unwrap();
    assert_eq!(workspace.gitignore(), GitignoreMode::Followed);
    let folder = Folder::new().file(config::CONFIG_FILE, r#"{"compile": {"gitignore": true}}"#);
    assert_eq!(folder.load(Trust::Withheld).gitignore(), GitignoreMode::Followed);
}
