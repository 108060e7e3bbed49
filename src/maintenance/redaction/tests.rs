//! Tests redaction of memories with secrets.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use rusqlite::Connection;

use super::*;
use crate::fuzzing::random_cases::Dice;
use crate::ingest::redact::{CustomKind, KINDS};
use crate::ingest::scan::DetailLevel;
use crate::maintenance::doctor;
use crate::memory::compile::{
    CompileRequest, InitialTemperaturesFor, Report, SLICE_BYTES, compile,
};
use crate::memory::rollback::{LaterSnapshotPolicy, rollback};
use crate::model::clock::{Clock, UnixMillis};
use crate::model::identity::ContentHash;
use crate::model::links::name::fold_name;
use crate::model::links::reference::{Reference, ReferenceSyntax};
use crate::settings::root_settings::RootSettings;
use crate::store::Writer;

mod namesakes;

/// Made-up secrets, as a memory from before their detectors has them.
const KEY: &str = "AKIAQ7RM2XNVT5WZ3KLD";
const TOKEN: &str = "ghp_a8Zk3LmQ0pXr7VtYb2NcW5dEf9GhJ4sKu1Ti";
const PASSWORD: &str = "tr0ub4dor&3";

/// A folder and its memory; [`Old::compile`] stores the files' text, secrets included.
struct Old {
    dir: tempfile::TempDir,
}

impl Old {
    fn new() -> Old {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("notes")).unwrap();
        Old { dir }
    }

    fn db(&self) -> PathBuf {
        self.dir.path().join("memory.db")
    }

    fn write(&self, path: &str, text: impl AsRef<[u8]>) -> &Old {
        let full = self.dir.path().join("notes").join(path);
        fs::create_dir_all(full.parent().unwrap()).unwrap();
        fs::write(full, text).unwrap();
        self
    }

    /// Gives a file the time of change that others of this folder have.
    fn touch(&self, path: &str) {
        let file = fs::File::options().write(true).open(self.dir.path().join("notes").join(path));
        let at = std::time::UNIX_EPOCH + Duration::from_secs(1_000_000);
        file.unwrap().set_modified(at).unwrap();
    }

    fn compile_with(&self, redactor: Redactor, message: &str) -> Report {
        self.compile_at(&self.dir.path().join("notes"), redactor, message)
    }

    fn compile_at(&self, path: &Path, redactor: Redactor, message: &str) -> Report {
        let writer = Writer::open(&self.db(), IfMissing::Create).unwrap();
        let workspace = Arc::new(RootSettings { redactor, ..RootSettings::default() });
        let request = CompileRequest {
            path,
            message,
            n_threads: 1,
            workspace: &|_| Ok(Arc::clone(&workspace)),
            temperatures_for: InitialTemperaturesFor::NewNodes,
            listing: DetailLevel::Counts,
            stopwatch: Clock::manual(UnixMillis(0)).stopwatch(),
            slice_bytes: SLICE_BYTES,
            progress: &|_, _| true,
        };
        compile(&writer, &request, UnixMillis(4_000_000_000_000)).unwrap()
    }

    fn compile(&self, message: &str) -> &Old {
        let all: Vec<String> = KINDS.iter().map(|it| (*it).to_owned()).collect();
        self.compile_with(Redactor::new(&all, &[]).unwrap(), message);
        self
    }

    #[track_caller]
    fn redact(&self) -> RedactionReport {
        let done = redact(&self.db(), &Redactor::builtin(), RedactionMode::Rewrite).unwrap();
        self.check_health();
        done
    }

    #[track_caller]
    fn check_health(&self) {
        doctor::assert_healthy(&self.db());
        let conn = Connection::open(self.db()).unwrap();
        let walked: Vec<(i64, String)> = past_states::fingerprints(&conn)
            .unwrap()
            .into_iter()
            .map(|(id, sum)| (id, ContentHash(sum).to_string()))
            .collect();
        let mut query =
            conn.prepare("SELECT id, cursor_hash FROM snapshot ORDER BY id DESC").unwrap();
        let kept = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        assert_eq!(walked, kept.collect::<Result<Vec<(i64, String)>, _>>().unwrap());
    }

    /// Returns the rows of a query, a row a line.
    fn rows(&self, sql: &str) -> String {
        let conn = Connection::open(self.db()).unwrap();
        let mut query = conn.prepare(sql).unwrap();
        let n_columns = query.column_count();
        let rows = query.query_map([], |row| {
            (0..n_columns)
                .map(|nth| Ok(format!("{:?}", row.get::<_, rusqlite::types::Value>(nth)?)))
                .collect::<Result<Vec<String>, _>>()
        });
        rows.unwrap().map(|it| it.unwrap().join(" | ") + "\n").collect()
    }

    #[track_caller]
    fn assert_clean(&self, secrets: &[&str]) {
        for name in ["memory.db", "memory.db-wal", "memory.db-shm"] {
            let Ok(bytes) = fs::read(self.dir.path().join(name)) else { continue };
            for secret in secrets {
                let is_there = bytes.windows(secret.len()).any(|it| it == secret.as_bytes());
                assert!(!is_there, "{secret} is in {name}");
            }
        }
    }
}

const ALL_TEXT: &str = "
    SELECT node.id, file.path, node.position, node_type, lang, key_path, token_count,
           node.content_hash, source_hash, label, trail, grams, content
      FROM node LEFT JOIN file ON file.id = node.file ORDER BY key";

/// Returns notes with a secret in every place that can hold one.
fn careless() -> Old {
    let old = Old::new();
    old.write("deploy.md", format!("# Deploy {KEY}\n\nUse it.\n\n- {TOKEN}\n- plain\n"))
        .write(&format!("keys/{KEY}.md"), format!("token 所有権 {TOKEN}\n\nmore\n"))
        .write("env.yaml", format!("db:\n  password: {PASSWORD}\n  host: localhost\n"))
        .write("code.md", format!("```sh\nexport AWS={KEY}\n```\n"));
    old
}

#[test]
fn an_old_memory_becomes_what_a_compile_would_make_of_the_files() {
    let old = careless();
    old.compile("first");
    let done = old.redact();
    assert_eq!(done.left, [] as [String; 0]);
    let fresh = careless();
    fresh.compile_with(Redactor::builtin(), "first");
    let but_ids = ALL_TEXT.replace("node.id, ", "");
    assert_eq!(old.rows(&but_ids), fresh.rows(&but_ids));
    old.assert_clean(&[KEY, TOKEN, PASSWORD]);
}

#[test]
fn secrets_are_counted_and_never_shown() {
    let old = careless();
    old.compile(&format!("with {KEY}"));
    old.write("deploy.md", "# Deploy\n\nUse it.\n").compile("second");
    let done = old.redact();
    expect_test::expect![[r#"
        RedactionReport {
            kinds: {
                "aws_access_key": 1,
                "env_secret_assignment": 1,
                "github_pat": 1,
            },
            n_nodes: 4,
            n_versions: 2,
            n_others: 2,
            n_elsewhere: 0,
            left: [],
        }
    "#]]
    .assert_debug_eq(&done);
    old.assert_clean(&[KEY, TOKEN, PASSWORD]);
}

/// `ANALYZE` of another program samples texts.
#[test]
fn statistics_of_sqlite_keep_no_secret() {
    let old = careless();
    old.compile("first");
    let conn = Connection::open(old.db()).unwrap();
    conn.execute_batch("ANALYZE").unwrap();
    conn.execute("INSERT INTO sqlite_stat1 VALUES ('node', ?1, '1 1')", [TOKEN]).unwrap();
    drop(conn);
    assert_eq!(old.redact().left, [] as [String; 0]);
    old.assert_clean(&[KEY, TOKEN, PASSWORD]);
}

#[test]
fn ids_stay_and_the_files_say_nothing_new() {
    let old = careless();
    old.compile("first");
    old.write("deploy.md", format!("# Deploy {TOKEN}\n\nUse it.\n\n- {KEY}\n")).compile("second");
    let ids = old.rows("SELECT id FROM node ORDER BY key");
    old.redact();
    assert_eq!(old.rows("SELECT id FROM node ORDER BY key"), ids);
    let report = old.compile_with(Redactor::builtin(), "third");
    assert_eq!(report.to_string(), "compiled: 0 added, 0 modified, 0 removed (0 ops)");
    // A changed file is read again; only the new text changes nodes.
    let text = format!("# Deploy {TOKEN}\n\nUse it.\n\n- {KEY}\n- one more\n");
    let report = old.write("deploy.md", text).compile_with(Redactor::builtin(), "fourth");
    assert_eq!(report.snapshot, Some(3));
    assert!(report.to_string().starts_with("compiled: 0 added, 1 modified, 0 removed"), "{report}");
    old.check_health();
}

#[test]
fn a_dry_run_changes_nothing() {
    let old = careless();
    old.compile("first");
    let before = fs::read(old.db()).unwrap();
    let done = redact(&old.db(), &Redactor::builtin(), RedactionMode::DryRun).unwrap();
    assert_eq!(done.n_secrets(), 3);
    assert!(fs::read(old.db()).unwrap() == before);
}

#[test]
fn redacting_twice_finds_nothing_the_second_time() {
    let old = careless();
    old.compile("first");
    old.redact();
    let before = old.rows(ALL_TEXT);
    assert_eq!(old.redact(), RedactionReport::default());
    assert_eq!(old.rows(ALL_TEXT), before);
}

#[test]
fn a_secret_that_a_label_shows_in_part_goes_with_its_text() {
    let filler = "word ".repeat(14);
    let old = Old::new();
    old.write("a.md", format!("{filler}{TOKEN}\n\n{filler}{PASSWORD} `DB_PASSWORD={PASSWORD}`\n"));
    old.compile("first");
    assert!(old.rows("SELECT label FROM node").contains("ghp_a8Z"));
    old.redact();
    let labels = old.rows("SELECT label FROM node");
    assert!(!labels.contains("ghp_") && !labels.contains("tr0ub"), "{labels}");
}

#[test]
fn custom_kinds_are_taken_out_of_an_index_that_knows_them() {
    let old = Old::new();
    old.write("a.md", "# Ticket TKT-48213377\n\nunder it\n").compile("first");
    let custom = CustomKind { kind: "ticket".to_owned(), pattern: r"TKT-\d+".to_owned() };
    let redactor = Redactor::new(&[], &[custom]).unwrap();
    let done = redact(&old.db(), &redactor, RedactionMode::Rewrite).unwrap();
    assert_eq!(done.left, [] as [String; 0]);
    old.assert_clean(&["TKT-48213377", "48213377"]);
    assert_eq!(
        old.rows("SELECT count(*) FROM node_fts WHERE node_fts MATCH '48213377'"),
        "Integer(0)\n"
    );
    assert!(old.rows("SELECT trail FROM node").contains("a / Ticket «redacted:ticket»"));
}

const REFERENCES: &str = "
    SELECT source.label, origin, form, reference.label, path, heading, alias, target.label
      FROM reference
      JOIN node AS source ON source.key = reference.source
      LEFT JOIN node AS target ON target.key = reference.target
     ORDER BY 1, 2, 4";

#[test]
fn references_are_read_again_from_the_scrubbed_texts() {
    let notes = || {
        let old = Old::new();
        old.write(&format!("{KEY}.md"), format!("---\ntitle: Notes on {TOKEN}\n---\n\n# {KEY}\n"))
            .write("a.md", format!("See [[{KEY}]].\n\n[[Notes on {TOKEN}|it]]\n"))
            .write("b.md", format!("Go [on](x/{KEY}.md#{KEY}).\n\n[[a#{TOKEN}; w=2]]\n"));
        old
    };
    let (old, fresh) = (notes(), notes());
    old.compile("first").redact();
    fresh.compile_with(Redactor::builtin(), "first");
    assert_eq!(old.rows(REFERENCES), fresh.rows(REFERENCES));
    for sql in [
        "SELECT name, reference.label FROM wanted JOIN reference ON id = reference ORDER BY 1, 2",
        "SELECT name FROM file_name ORDER BY 1",
        "SELECT name FROM node ORDER BY 1",
    ] {
        assert_eq!(old.rows(sql), fresh.rows(sql), "{sql}");
    }
    old.assert_clean(&[KEY, TOKEN, &fold_name(KEY), &fold_name(TOKEN)]);
}

#[test]
fn a_reference_shows_no_secret_that_its_text_hides() {
    let old = Old::new();
    let (head, tail) = KEY.split_at(6);
    old.write("a.md", format!("Go [on](%41{}.md) and [that](b.md).\n", &KEY[1..]))
        .write("b.md", format!("A <knowledge>{head}<b>{tail}</b></knowledge>.\n"))
        .write("c.md", format!("See [[{head}**{tail}**]] and [[b]].\n"));
    old.compile_with(Redactor::builtin(), "first");
    old.check_health();
    old.assert_clean(&[KEY, &fold_name(KEY)]);
    assert_eq!(old.rows("SELECT label FROM reference"), "Text(\"that\")\nText(\"b\")\n");
}

#[test]
fn manual_edges_stay() {
    let old = Old::new();
    let other = KEY.replace('Q', "P");
    old.write("a.md", format!("# One {KEY}\n\n# One {other}\n\n# From\n")).compile("first");
    let writer = Writer::open(&old.db(), IfMissing::Refuse).unwrap();
    let from = old.rows("SELECT id FROM node WHERE label = 'From'");
    let from = from.trim().trim_start_matches("Text(\"").trim_end_matches("\")").to_owned();
    let by_hand = |label: &str| Reference {
        label: label.to_owned(),
        source: None,
        id_hint: None,
        heading: None,
        alias: Some(format!("as {TOKEN}")),
        weight: 1.0,
        form: ReferenceSyntax::Manual,
    };
    let relate = |batch: &mut crate::store::Batch<'_>| {
        let from = batch.find_any(&from)?.unwrap().key;
        batch.relate(from, &by_hand(&format!("One {KEY}")))?;
        batch.relate(from, &by_hand(&format!("one {other}")))?;
        batch.relate(from, &by_hand(&format!("none {TOKEN}")))
    };
    writer.write("", "", UnixMillis(4_000_000_000_001), relate).unwrap();
    drop(writer);
    let targets = "SELECT target FROM reference ORDER BY id";
    let before = old.rows(targets);
    let done = old.redact();
    assert_eq!((done.n_others, done.left.len()), (3, 0));
    assert_eq!(old.rows(targets), before);
    expect_test::expect![[r#"
        Text("One «redacted:aws_access_key»") | Text("as «redacted:github_pat»") | Integer(1)
        Text("One «redacted:aws_access_key»") | Text("as «redacted:github_pat»") | Integer(2)
        Text("none «redacted:github_pat»") | Text("as «redacted:github_pat»") | Null
    "#]]
    .assert_eq(&old.rows("SELECT label, alias, target FROM reference ORDER BY id"));
    old.assert_clean(&[KEY, &other, TOKEN]);
}

#[test]
fn every_snapshot_can_be_gone_back_to_and_has_its_markers() {
    let steps = [
        format!("# Deploy {KEY}\n\nUse it.\n\n- {TOKEN}\n- plain\n"),
        format!("# Deploy\n\nUse `DB_PASSWORD={PASSWORD}`.\n\n- {TOKEN} and more\n"),
        "# Deploy\n\nUse nothing.\n".to_owned(),
        format!("# Deploy {TOKEN}\n\nSee [[Deploy {TOKEN}]].\n\nUse nothing.\n"),
    ];
    const STATE: &str = "SELECT label, content, content_hash FROM node ORDER BY position, content";
    let (old, fresh) = (careless(), careless());
    let mut states = Vec::new();
    for step in &steps {
        old.write("deploy.md", step).compile(&format!("with {KEY}"));
        fresh.write("deploy.md", step).compile_with(Redactor::builtin(), "a step");
        states.push(fresh.rows(STATE));
    }
    old.redact();
    assert!(states[0].contains("Deploy «redacted:aws_access_key»"));
    let redacted = fs::read(old.db()).unwrap();
    for after in [LaterSnapshotPolicy::Keep, LaterSnapshotPolicy::Drop] {
        for (target, state) in (1..).zip(&states) {
            fs::write(old.db(), &redacted).unwrap();
            let writer = Writer::open(&old.db(), IfMissing::Refuse).unwrap();
            rollback(&writer, target, after, UnixMillis(4_000_000_000_002)).unwrap();
            drop(writer);
            assert_eq!(old.rows(STATE), *state, "back to {target}");
            old.check_health();
            let sums = "
                SELECT count(DISTINCT cursor_hash) FROM snapshot
                 WHERE id IN (?1, (SELECT max(id) FROM snapshot))"
                .replace("?1", &target.to_string());
            assert_eq!(old.rows(&sums), "Integer(1)\n");
            old.assert_clean(&[KEY, TOKEN, PASSWORD]);
        }
    }
}

#[test]
fn a_reader_that_keeps_the_log_is_named() {
    let old = careless();
    old.compile("first");
    let reader = Connection::open(old.db()).unwrap();
    reader.execute_batch("BEGIN; SELECT count(*) FROM node").unwrap();
    let conn = connection::open_writer(&old.db(), IfMissing::Refuse).unwrap();
    let files = OpenedFiles::of(&old.db()).unwrap();
    let (mut done, _) =
        rewrite(&conn, &files, &Redactor::builtin(), RedactionMode::Rewrite).unwrap();
    compact(&conn, Duration::from_millis(1), &mut done).unwrap();
    assert!(done.left[0].starts_with("the write-ahead log could not be emptied"), "{done:?}");
    drop((conn, reader));
    assert_eq!(old.redact().left, [] as [String; 0]);
    old.assert_clean(&[KEY, TOKEN, PASSWORD]);
}

#[test]
fn a_secret_left_in_the_bytes_is_found() {
    let old = careless();
    old.compile("first");
    let secrets = KindsBySecret([(KEY.to_owned(), "aws_access_key".to_owned())].into());
    let mut done = RedactionReport::default();
    proof::examine_bytes(&old.db(), &proof::SecretNeedles::new(&secrets), &mut done);
    let shown = done.left.join("\n");
    assert!(shown.starts_with("bytes of aws_access_key in `"), "{shown}");
    assert!(!shown.contains(KEY));
}

#[test]
fn the_past_is_walked_back_through_every_kind_of_edit() {
    let old = Old::new();
    let mut dice = Dice::new(7);
    for step in 0..24 {
        let name = format!("f{}.md", dice.below(3));
        if dice.one_in(6) {
            let _ = fs::remove_file(old.dir.path().join("notes").join(&name));
        } else {
            let blocks = (0..dice.below(9)).map(|_| {
                format!("{} {}\n\n", dice.pick(&["#", "##", "text", "-"]), dice.below(12))
            });
            old.write(&name, blocks.collect::<String>());
        }
        old.compile(&format!("step {step}"));
    }
    old.check_health();
}
