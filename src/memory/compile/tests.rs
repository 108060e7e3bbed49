mod exported;
mod inserts;
mod kept_ids;
mod links;
#[cfg(target_os = "linux")]
mod locks;
mod overlays;
mod races;
mod slices;

use std::fs;
use std::path::PathBuf;

use super::*;
use crate::maintenance::doctor;
use crate::model::clock::Clock;
use crate::settings::root_settings::OperatorOptions;
use crate::store::reader::NodeFilter;
use crate::store::{IfMissing, StoreError};

/// A time far in the future, so that every file's time is old enough to be trusted.
const LATER: UnixMillis = UnixMillis(4_000_000_000_000);

/// Returns a request to compile `path`.
fn request<'a>(path: &'a Path, clock: &Clock) -> CompileRequest<'a> {
    CompileRequest {
        path,
        message: "test",
        n_threads: 2,
        workspace: &|root| RootSettings::load(root, OperatorOptions::default()).map(Arc::new),
        temperatures_for: InitialTemperaturesFor::NewNodes,
        listing: DetailLevel::Counts,
        stopwatch: clock.stopwatch(),
        slice_bytes: SLICE_BYTES,
        progress: &|_, _| true,
    }
}

/// A temporary folder of notes with its database.
struct Notes {
    dir: tempfile::TempDir,
    writer: Writer,
}

impl Notes {
    fn new() -> Notes {
        let dir = tempfile::tempdir().unwrap();
        let writer = Writer::open(&dir.path().join("memory.db"), IfMissing::Create).unwrap();
        fs::create_dir(dir.path().join("notes")).unwrap();
        Notes { dir, writer }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.dir.path().join("notes").join(path)
    }

    /// Writes a note with a time that the database trusts.
    fn write(&self, path: &str, text: &str) -> &Notes {
        let full = self.path(path);
        fs::create_dir_all(full.parent().unwrap()).unwrap();
        fs::write(&full, text).unwrap();
        self
    }

    fn remove(&self, path: &str) -> &Notes {
        fs::remove_file(self.path(path)).unwrap();
        self
    }

    fn try_compile(&self, path: &str) -> Result<Report, CompileError> {
        let (path, clock) = (self.path(path), Clock::manual(UnixMillis(0)));
        let report = compile(&self.writer, &request(&path, &clock), LATER)?;
        self.check_health();
        Ok(report)
    }

    #[track_caller]
    fn compile(&self) -> Report {
        self.try_compile("").unwrap()
    }

    #[track_caller]
    fn check_compile(&self, result: &str) -> &Notes {
        assert_eq!(self.compile().to_string(), format!("compiled: {result}"));
        self
    }

    #[track_caller]
    fn check_health(&self) {
        doctor::assert_healthy(&self.dir.path().join("memory.db"));
    }

    /// Lists nodes as `path: id label` in document order.
    fn nodes(&self) -> Vec<String> {
        let roots = self.writer.roots().unwrap();
        let files: Vec<_> = roots.iter().flat_map(|it| self.writer.files(it.id).unwrap()).collect();
        let list = |batch: &mut crate::store::Batch<'_>| -> Result<Vec<String>, StoreError> {
            let mut lines = Vec::new();
            for file in &files {
                for node in batch.file_nodes(file.id)? {
                    lines.push(format!("{}: {} {}", file.path, node.id, node.label));
                }
            }
            Ok(lines)
        };
        self.writer.write("", "", UnixMillis(0), list).unwrap().0
    }

    /// Returns the id of the one node with this label.
    #[track_caller]
    fn id(&self, label: &str) -> String {
        let ending = format!(" {label}");
        let nodes = self.nodes();
        let found: Vec<&String> = nodes.iter().filter(|it| it.ends_with(&ending)).collect();
        assert_eq!(found.len(), 1, "nodes labelled `{label}` in {nodes:#?}");
        found[0].split(' ').nth(1).unwrap().to_owned()
    }

    fn fingerprint(&self) -> String {
        let report = doctor::examine(&self.dir.path().join("memory.db")).unwrap();
        report.checks.iter().find(|it| it.name == "fingerprint").unwrap().detail.clone()
    }
}

fn sections(n: usize) -> String {
    let mut text = "# Book\n\n".to_owned();
    for nth in 0..n {
        text +=
            &format!("## Section {nth}\n\nParagraph of section {nth}, with words of its own.\n\n");
    }
    text
}

#[test]
fn compiling_twice_changes_nothing() {
    let notes = Notes::new();
    notes.write("a.md", "# A\n\nwords").write("sub/b.md", "# B\n\nmore words");
    notes.check_compile("4 added, 0 modified, 0 removed (4 ops)");
    let report = notes.compile();
    assert_eq!((report.added, report.modified, report.removed, report.snapshot), (0, 0, 0, None));
}

#[test]
fn a_file_that_is_emptied_ignored_or_deleted_loses_its_nodes() {
    let notes = Notes::new();
    notes.write("a.md", "# A").write("b.md", "# B").write("c.md", "# C").write("d.md", "# D");
    notes.compile();
    notes.write("a.md", "").write(".remindb/ignore", "b.md\n").remove("c.md");
    notes.check_compile("0 added, 0 modified, 3 removed (3 ops)");
    assert_eq!(notes.nodes().len(), 1);
}

#[test]
fn the_last_file_of_a_folder_may_go() {
    let notes = Notes::new();
    notes.write("a.md", "# A").compile();
    notes.remove("a.md").check_compile("0 added, 0 modified, 1 removed (1 ops)");
}

#[test]
fn a_folder_that_is_gone_is_forgotten() {
    let notes = Notes::new();
    notes.write("one/a.md", "# A").write("two/b.md", "# B");
    notes.try_compile("one").unwrap();
    notes.try_compile("two").unwrap();
    fs::remove_dir_all(notes.path("one")).unwrap();
    assert_eq!(notes.try_compile("one").unwrap().removed, 1);
    assert_eq!(notes.writer.roots().unwrap().len(), 1);
}

#[test]
fn one_file_compiled_by_any_spelling_of_its_path_is_one_file() {
    let notes = Notes::new();
    notes.write("sub/x.md", "# X").write("x.md", "# Other").compile();
    let nodes = notes.nodes();
    for spelling in ["sub/x.md", "./sub/x.md", "sub/../sub/x.md", "sub", "sub/."] {
        let report = notes.try_compile(spelling).unwrap();
        assert_eq!(report.snapshot, None, "{spelling}");
    }
    assert_eq!(notes.nodes(), nodes);
}

#[test]
fn a_folder_takes_over_what_was_compiled_below_it() {
    let notes = Notes::new();
    notes.write("sub/x.md", "# X\n\nwords").write("y.md", "# Y");
    notes.try_compile("sub/x.md").unwrap();
    let id = notes.id("X");
    notes.check_compile("1 added, 1 modified, 0 removed (2 ops)");
    assert_eq!(notes.id("X"), id);
    notes.check_compile("0 added, 0 modified, 0 removed (0 ops)");
}

#[test]
fn two_folders_with_equal_names_never_collide() {
    let notes = Notes::new();
    notes.write("one/README.md", "# One").write("two/README.md", "# Two");
    notes.try_compile("one").unwrap();
    notes.try_compile("two").unwrap();
    assert_eq!(notes.nodes().len(), 2);
    assert_eq!(notes.try_compile("one").unwrap().snapshot, None);
}

#[test]
fn a_part_of_a_folder_can_be_compiled_alone() {
    let notes = Notes::new();
    notes.write("a.md", "# A").write("sub/b.md", "# B").compile();
    notes.write("a.md", "# A\n\nnew").write("sub/b.md", "# B\n\nnew").write("sub/c.md", "# C");
    let report = notes.try_compile("sub").unwrap();
    assert_eq!((report.added, report.modified, report.removed), (2, 0, 0));
    notes.remove("sub/c.md");
    assert_eq!(notes.try_compile("sub/c.md").unwrap().removed, 1);
    notes.check_compile("1 added, 0 modified, 0 removed (1 ops)");
}

#[test]
fn skipped_folders_stay_out_unless_they_are_named() {
    let notes = Notes::new();
    notes.write("vendor/v.md", "# V").write(".git/g.md", "# G").write("Vendor/w.md", "# W");
    notes.check_compile("1 added, 0 modified, 0 removed (1 ops)");
    assert_eq!(notes.try_compile("vendor").unwrap().added, 1);
    notes.check_compile("0 added, 0 modified, 0 removed (0 ops)");
    assert_eq!(notes.nodes().len(), 2);
}

#[test]
fn ignore_rules_are_those_of_git() {
    let notes = Notes::new();
    notes.write(".remindb/ignore", "# comment\ncache/*\n!cache/keep.md\n*.tmp.md\n");
    notes.write("cache/a.md", "# A").write("cache/keep.md", "# Keep").write("x.tmp.md", "# X");
    notes.check_compile("1 added, 0 modified, 0 removed (1 ops)");
    assert!(notes.nodes()[0].starts_with("cache/keep.md"));
}

#[test]
fn a_file_that_is_asked_for_but_ignored_says_so() {
    let notes = Notes::new();
    notes.write("a.md", "# A").write("b.md", "# B").compile();
    notes.write(".remindb/ignore", "a.md\n");
    let report = notes.try_compile("a.md").unwrap();
    assert_eq!(report.removed, 1);
    assert_eq!(
        report.warnings[0].to_string(),
        "a.md: .remindb/ignore excludes it; nothing is compiled"
    );
}

#[test]
fn a_missing_path_is_an_error() {
    let notes = Notes::new();
    let error = notes.try_compile("nowhere.md").unwrap_err();
    assert!(matches!(error, CompileError::NoSource { .. }), "{error}");
    notes.write("x.py", "print()");
    let error = notes.try_compile("x.py").unwrap_err();
    assert!(matches!(error, CompileError::Unsupported { .. }), "{error}");
}

#[cfg(unix)]
#[test]
fn a_bad_file_costs_only_itself() {
    let notes = Notes::new();
    notes.write("good.md", "# Good");
    std::os::unix::fs::symlink("nowhere", notes.path("dangling.md")).unwrap();
    let huge = fs::File::create(notes.path("huge.md")).unwrap();
    huge.set_len(5 * 1024 * 1024 * 1024).unwrap();
    let report = notes.compile();
    assert_eq!(report.added, 1);
    let warnings: Vec<String> = report.warnings.iter().map(ToString::to_string).collect();
    expect_test::expect![[r#"
        [
            "dangling.md: cannot look at it: No such file or directory (os error 2)",
            "huge.md: 5120 MiB are too large; split it into files of up to 256 MiB",
        ]
    "#]]
    .assert_debug_eq(&warnings);
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let states: Vec<Vec<String>> = [1, 8]
        .into_iter()
        .map(|n_threads| {
            let notes = Notes::new();
            for nth in 0..40 {
                notes.write(&format!("{nth}.md"), &sections(nth % 7));
            }
            let (path, clock) = (notes.path(""), Clock::manual(UnixMillis(0)));
            let request = CompileRequest { n_threads, ..request(&path, &clock) };
            compile(&notes.writer, &request, LATER).unwrap();
            notes.nodes()
        })
        .collect();
    assert_eq!(states[0], states[1]);
}

#[test]
fn no_secret_reaches_the_file() {
    let notes = Notes::new();
    let key = "AKIAIOSFODNN7EXAMPLE".replace("EXAMPLE", "QZ4RT2W");
    let token = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    let pem = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7\n\nb2xkIGtleSBib2R5\n\
               -----END RSA PRIVATE KEY-----";
    notes.write("a.md", &format!("# Keys\n\nUse {key} and [[{token}]].\n\n{pem}\n"));
    notes.write("b.json", &format!("{{\"password\": \"hunter2-{token}\"}}"));
    notes.write(&format!("{token}.md"), "# In the name");
    let report = notes.compile();
    let warnings: Vec<String> = report.warnings.iter().map(ToString::to_string).collect();
    assert!(
        warnings.iter().any(|it| it.starts_with("a.md:3: 3 secrets were replaced")),
        "{warnings:?}"
    );
    for file in ["memory.db", "memory.db-wal"] {
        let bytes = fs::read(notes.dir.path().join(file)).unwrap_or_default();
        for secret in [key.as_str(), &token, "MIIEpAIBAAKCAQEA7", "b2xkIGtleSBib2R5"] {
            let is_there = bytes.windows(secret.len()).any(|it| it == secret.as_bytes());
            assert!(!is_there, "`{secret}` is in {file}");
        }
    }
    notes.check_compile("0 added, 0 modified, 0 removed (0 ops)");
}

#[test]
fn seeds_count_at_birth_and_not_again() {
    let notes = Notes::new();
    let temperature = |what: &str| {
        let reader =
            crate::store::reader::Reader::open(&notes.dir.path().join("memory.db")).unwrap();
        let words = format!("\"{what}\"");
        let found = reader.matches(&words, &NodeFilter::default(), 1).unwrap().unwrap();
        reader.heads(&[found[0].0]).unwrap()[0].heat.temperature
    };
    notes.write(".remindb/temperatures.json", r#"{"a.md": 0.9}"#);
    notes.write("a.md", "first alpha words").write("b.md", "first beta words").compile();
    assert_eq!((temperature("alpha"), temperature("beta")), (0.9, 0.5));

    // Old nodes keep their temperature; new ones do not get the former initial one.
    notes.write(".remindb/temperatures.json", r#"{"a.md": 0.2}"#);
    notes.write("a.md", "first alpha words, edited\n\n# Gamma\n").compile();
    assert_eq!((temperature("alpha"), temperature("gamma")), (0.9, 0.2));
}

#[test]
fn a_compile_that_takes_too_long_changes_nothing() {
    let notes = Notes::new();
    notes.write(".remindb/config.json", r#"{"compile": {"wall_clock_timeout": "2s"}}"#);
    notes.write("a.md", "a").write("b.md", "b").write("c.md", "c");
    let clock = Clock::manual(UnixMillis(0));
    let path = notes.path("");
    let compile_late = |late_ms: i64| {
        let progress = |_, _| {
            clock.advance(late_ms);
            // Setting the clock takes no time.
            clock.step(8 * 3_600_000);
            true
        };
        let request = CompileRequest { progress: &progress, ..request(&path, &clock) };
        compile(&notes.writer, &request, clock.now()).map(|it| it.to_string())
    };
    let error = compile_late(700).unwrap_err().to_string();
    assert_eq!(
        error,
        "wall-clock timeout exceeded: `compile.wall_clock_timeout` is 2s; nothing was changed"
    );
    assert_eq!(notes.writer.roots().unwrap(), []);
    assert_eq!(compile_late(600).unwrap(), "compiled: 3 added, 0 modified, 0 removed (3 ops)");
}

#[test]
fn a_file_that_is_larger_than_allowed_keeps_what_is_known_of_it() {
    let notes = Notes::new();
    notes.write("a.md", "short").compile();
    notes.write(".remindb/config.json", r#"{"compile": {"max_file_size": "16B"}}"#);
    notes.write("a.md", "a text of more than sixteen bytes").write("b.md", "short, too");
    let report = notes.compile();
    let warnings: Vec<String> = report.warnings.iter().map(FileWarning::to_string).collect();
    assert_eq!(warnings, ["a.md: skipped: it has 33 bytes, and `compile.max_file_size` allows 16"]);
    assert_eq!((report.added, report.removed), (1, 0));
}

#[test]
fn gitignore_is_followed_when_asked_for_nested_and_below_ours() {
    let notes = Notes::new();
    notes.write(".gitignore", "out/\n*.tmp.md\n").write("sub/.gitignore", "/x.md\n!keep.tmp.md\n");
    notes.write(".remindb/ignore", "!a.tmp.md\nsub/no.md\n");
    for path in
        ["a.md", "a.tmp.md", "b.tmp.md", "out/a.md", "sub/x.md", "sub/y/x.md", "sub/keep.tmp.md"]
    {
        notes.write(path, path);
    }
    notes.write("sub/no.md", "no");
    assert_eq!(notes.compile().added, 7);
    notes.write(".remindb/config.json", r#"{"compile": {"gitignore": true}}"#);
    // Deleted: b.tmp.md, out/a.md, sub/x.md.
    assert_eq!(notes.compile().removed, 3);
    notes.write("sub/.gitignore", "[\n").compile();
    let report = notes.compile();
    let warnings: Vec<String> = report.warnings.iter().map(FileWarning::to_string).collect();
    assert_eq!(
        warnings,
        [
            "sub/.gitignore:1: not a pattern: a `[` has no `]`; write `\\[` for the character itself; \
          the line is passed over"
        ]
    );
}
