//! Tests of a column that no build has: one more row of the table, and its migration.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use expect_test::expect;
use rusqlite::Connection;

use super::*;
use crate::ingest::redact::Redactor;
use crate::ingest::scan::DetailLevel;
use crate::maintenance::doctor::{self, CheckStatus};
use crate::maintenance::redaction::{self, redact};
use crate::maintenance::transfer::{ImportInput, export, import, salvage};
use crate::memory::compile::{CompileRequest, InitialTemperaturesFor, compile};
use crate::memory::rollback::{LaterSnapshotPolicy, rollback};
use crate::model::clock::{Clock, UnixMillis};
use crate::model::identity::{ContentHash, NodeId};
use crate::model::tree::{ContentFormat, NodeType};
use crate::query::{DiffQuery, HistoryQuery, Query, QueryOptions, answer};
use crate::settings::root_settings::RootSettings;
use crate::store::database_version_testing::{ExtendedTestSchema, set_scratch};
use crate::store::reader::Reader;
use crate::store::schema::MIGRATIONS;
use crate::store::{
    Batch, IfMissing, NodeRecord, OptionalColumnValues, StoreError, UnplacedNodeData, Writer,
    past_states,
};
use crate::text::tokens;

const NOW: UnixMillis = UnixMillis(4_000_000_000_000);

/// A made-up secret.
const SECRET: &str = "AKIAQ7RM2XNVT5WZ3KLD";

const MOOD: NodeColumn =
    column("mood", Optional(None), WhereGiven, Bound, &[own("old_mood", Words)]);

/// Returns the table with one more column.
fn columns_with(last: NodeColumn) -> &'static [NodeColumn] {
    let mut columns = COLUMNS.to_vec();
    columns.push(last);
    columns.leak()
}

/// A memory with a schema of its own, for as long as this value lives.
struct Memory {
    dir: tempfile::TempDir,
}

impl Drop for Memory {
    fn drop(&mut self) {
        set_scratch(None);
    }
}

impl Memory {
    fn new(columns: &'static [NodeColumn]) -> Memory {
        let memory = Memory { dir: tempfile::tempdir().unwrap() };
        memory.upgrade(columns)
    }

    fn of_this_build() -> Memory {
        Memory { dir: tempfile::tempdir().unwrap() }
    }

    fn upgrade(self, columns: &'static [NodeColumn]) -> Memory {
        const ADD: &str = "
            ALTER TABLE node ADD COLUMN mood TEXT;
            ALTER TABLE diff ADD COLUMN old_mood TEXT;";
        let migrations = [MIGRATIONS, &[ADD]].concat().leak();
        let attributes: Vec<NodeColumn> =
            columns.iter().copied().filter(NodeColumn::is_optional).collect();
        set_scratch(Some(ExtendedTestSchema {
            columns,
            attributes: attributes.leak(),
            migrations,
        }));
        self
    }

    fn db(&self) -> PathBuf {
        self.dir.path().join("memory.db")
    }

    fn writer(&self) -> Writer {
        Writer::open(&self.db(), IfMissing::Create).unwrap()
    }

    fn write(&self, body: impl FnOnce(&mut Batch<'_>) -> Result<(), StoreError>) {
        self.writer().write("agent", "", NOW, body).unwrap();
    }

    /// Adds a node with this content and mood.
    fn add(&self, content: &str, mood: Option<&str>) {
        self.write(|batch| {
            let attributes = mood_of(mood);
            let data = UnplacedNodeData { attributes, ..data(content) };
            batch.insert_agent_node(&data, batch.last_place(None, None)?).map(drop)
        });
    }

    fn set(&self, content: &str, mood: Option<&str>) {
        let old = self.find(content).unwrap();
        let attributes = old.attributes.with("mood", text(mood));
        self.write(|batch| {
            batch.set_agent_text(&old, &UnplacedNodeData { attributes, ..old.data() })
        });
    }

    fn find(&self, content: &str) -> Option<NodeRecord> {
        const FIND: &str = "SELECT id FROM node WHERE content = ?1";
        let conn = Connection::open(self.db()).unwrap();
        let id: String = conn.query_row(FIND, [content], |row| row.get(0)).ok()?;
        let find = |batch: &mut Batch<'_>| batch.find(NodeId::parse(&id).unwrap());
        self.writer().write("", "", NOW, find).unwrap().0
    }

    fn mood(&self, content: &str) -> Option<OptionalColumnValue> {
        self.find(content).unwrap().attributes.get("mood").cloned()
    }

    fn roll_back(&self, target: i64) -> &Memory {
        rollback(&self.writer(), target, LaterSnapshotPolicy::Keep, NOW).unwrap();
        self
    }

    /// Returns the fingerprint of each snapshot, oldest first, after all checks pass.
    #[track_caller]
    fn sound(&self) -> Vec<String> {
        let report = doctor::examine(&self.db()).unwrap();
        assert_eq!(report.status(), CheckStatus::Pass, "{report:#?}");
        let conn = Connection::open(self.db()).unwrap();
        let mut query = conn.prepare("SELECT cursor_hash FROM snapshot ORDER BY id").unwrap();
        let kept = query.query_map([], |row| row.get(0)).unwrap();
        let kept: Vec<String> = kept.map(Result::unwrap).collect();
        let walked = past_states::fingerprints(&conn).unwrap().into_iter().rev();
        let walked: Vec<String> = walked.map(|(_, it)| ContentHash(it).to_string()).collect();
        assert_eq!(walked, kept);
        kept
    }

    fn import(&self, lines: &str) {
        let mut input = lines.as_bytes();
        let from = ImportInput { name: "x", input: &mut input, n_bytes: 0 };
        import(from, &self.db(), &Redactor::builtin(), &mut |_, _| ()).unwrap();
    }

    fn export(&self) -> String {
        let mut lines = Vec::new();
        export(&self.db(), &mut lines, &mut |_, _| ()).unwrap();
        String::from_utf8(lines).unwrap()
    }
}

fn data(content: &str) -> UnplacedNodeData<'_> {
    let (node_type, format) = (NodeType::Text, ContentFormat::Plain);
    let attributes = OptionalColumnValues::default();
    UnplacedNodeData { node_type, format, label: content, content, token_count: 1, attributes }
}

fn text(value: Option<&str>) -> Option<OptionalColumnValue> {
    value.map(|it| OptionalColumnValue::Text(it.to_owned()))
}

fn mood_of(mood: Option<&str>) -> OptionalColumnValues {
    let none = OptionalColumnValues::default();
    if mood.is_none() { none } else { none.with("mood", text(mood)) }
}

/// Compares the table with what SQLite has.
#[track_caller]
fn check_schema(memory: &Memory) {
    const COLUMNS_OF: &str = "SELECT name, type FROM pragma_table_info (?1) ORDER BY name";
    drop(memory.writer());
    let conn = Connection::open(memory.db()).unwrap();
    let schema = |table: &str| -> Vec<(String, String)> {
        let mut query = conn.prepare(COLUMNS_OF).unwrap();
        let rows = query.query_map([table], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        rows.map(Result::unwrap).collect()
    };
    let typed = |(name, holds): (&str, ColumnRedaction)| {
        let sql_type = if holds == Numbers { "INTEGER" } else { "TEXT" };
        (name.to_owned(), sql_type.to_owned())
    };
    let mut nodes: Vec<_> = columns().iter().map(|it| typed((it.name, it.holds))).collect();
    nodes.sort();
    assert_eq!(nodes, schema("node"));
    let old = columns().iter().flat_map(|it| it.old).map(|it| typed((it.name, it.holds)));
    let mut old: Vec<_> = old.collect();
    old.sort();
    let mut kept = schema("diff");
    kept.retain(|(name, _)| name.starts_with("old_"));
    assert_eq!(old, kept);
}

#[test]
fn the_list_of_columns_is_that_of_the_schema() {
    check_schema(&Memory::of_this_build());
    check_schema(&Memory::new(columns_with(MOOD)));
}

#[test]
fn a_row_is_read_as_it_was_written() {
    let memory = Memory::new(columns_with(MOOD));
    memory.write(|batch| {
        let attributes = OptionalColumnValues::default()
            .with(LEVEL, Some(OptionalColumnValue::Integer(3)))
            .with(LANG, text(Some("rust")))
            .with(KEY_PATH, text(Some("a.b")))
            .with("mood", text(Some("calm")));
        let data = UnplacedNodeData {
            node_type: NodeType::Code,
            format: ContentFormat::Latex,
            label: "A label",
            content: "Its text.",
            token_count: tokens::count("Its text."),
            attributes,
        };
        let (key, id) = batch.insert_agent_node(&data, batch.last_place(None, None)?)?;
        let found = batch.at(key)?.unwrap();
        assert_eq!((found.id, found.data()), (id, data));
        assert_eq!(found.content_hash, ContentHash::of("Its text."));
        Ok(())
    });
    memory.sound();
}

#[test]
fn every_version_has_it_and_can_be_gone_back_to() {
    let memory = Memory::new(columns_with(MOOD));
    memory.add("One", Some("calm"));
    memory.set("One", Some("wild"));
    memory.set("One", None);
    memory.write(|batch| {
        let found = batch.family_of(batch.last_place(None, None)?)?;
        batch.forget(&found[0])
    });
    let hashes = memory.sound();
    let different: std::collections::BTreeSet<&String> = hashes.iter().collect();
    assert_eq!(different.len(), 4, "{hashes:?}");
    for target in [1, 2, 3, 2, 1] {
        assert_eq!(
            memory.roll_back(target).mood("One"),
            text([Some("calm"), Some("wild"), None][target as usize - 1])
        );
    }
    let now = memory.sound();
    assert_eq!(now[4..], [0, 1, 2, 1, 0].map(|it: usize| hashes[it].clone()));
}

#[test]
fn states_without_it_have_the_fingerprints_that_they_had() {
    let fill = |memory: &Memory| {
        memory.add("One", None);
        memory.add("Two", None);
        memory.write(|batch| {
            let found = batch.family_of(batch.last_place(None, None)?)?;
            batch.forget(&found[0])
        });
    };
    let before = Memory::of_this_build();
    fill(&before);
    let hashes = before.sound();
    let memory = before.upgrade(columns_with(MOOD));
    drop(memory.writer());
    assert_eq!(memory.sound(), hashes);
    memory.set("Two", Some("calm"));
    assert_eq!(memory.sound()[..3], hashes);
    memory.roll_back(2);
    assert_eq!(memory.sound()[4], hashes[1]);
    let fresh = Memory::new(columns_with(MOOD));
    fill(&fresh);
    assert_eq!(fresh.sound(), hashes);
}

#[test]
fn what_an_agent_gave_a_files_node_stays_through_compiles() {
    let memory = Memory::new(columns_with(MOOD));
    let notes = memory.dir.path().join("notes");
    fs::create_dir(&notes).unwrap();
    let compile_it = |words: &str| {
        fs::write(notes.join("a.md"), words).unwrap();
        let workspace = Arc::new(RootSettings::default());
        let request = CompileRequest {
            path: &notes,
            message: "m",
            n_threads: 1,
            workspace: &|_| Ok(Arc::clone(&workspace)),
            temperatures_for: InitialTemperaturesFor::NewNodes,
            slice_bytes: usize::MAX,
            listing: DetailLevel::Counts,
            stopwatch: Clock::manual(UnixMillis(0)).stopwatch(),
            progress: &|_, _| true,
        };
        compile(&memory.writer(), &request, NOW).unwrap();
    };
    compile_it("# A\n\nOne.\n\nTwo.\n");
    memory.set("One.", Some("calm"));
    compile_it("# A\n\nThree.\n\nOne.\n\nTwo, and more of it.\n");
    assert_eq!(memory.mood("One."), text(Some("calm")));
    compile_it("# A\n\nThree.\n\nTwo, and more of it.\n");
    assert!(memory.find("One.").is_none());
    assert_eq!(memory.roll_back(3).mood("One."), text(Some("calm")));
    memory.sound();
}

#[test]
fn a_diff_and_a_history_name_it() {
    let memory = Memory::new(columns_with(MOOD));
    memory.add("One", None);
    memory.set("One", Some("calm"));
    let reader = Reader::open(&memory.db()).unwrap();
    let id = memory.find("One").unwrap().id.to_string();
    let shown = |query| answer(&reader, &query, &QueryOptions::text(NOW)).unwrap().text;
    let text =
        shown(Query::Diff(DiffQuery { from: 1, to: 2, ..DiffQuery::default() })).replace(&id, "ID");
    expect!["[mod] ID [text] One (tok=1); mood changed"].assert_eq(text.trim_end());
    let text = shown(Query::History(HistoryQuery { anchor: &id, depth: 9, cursor: None }));
    assert!(text.contains("mood changed"), "{text}");
}

#[test]
fn redaction_takes_secrets_out_of_it_and_proves_that() {
    let careless = |columns| {
        let memory = Memory::new(columns);
        memory.add("One", Some(&format!("key {SECRET} here")));
        memory.set("One", Some(SECRET));
        memory.set("One", Some("calm"));
        memory.add("Two", Some(SECRET));
        memory
    };
    let redacted = |memory: &Memory| {
        redact(&memory.db(), &Redactor::builtin(), redaction::RedactionMode::Rewrite).unwrap()
    };
    let memory = careless(columns_with(MOOD));
    assert_eq!(redacted(&memory).left, [] as [String; 0]);
    memory.sound();
    assert_eq!(memory.mood("Two"), text(Some("«redacted:aws_access_key»")));
    let marked = text(Some("key «redacted:aws_access_key» here"));
    assert_eq!(memory.roll_back(1).mood("One"), marked);
    let bytes = fs::read(memory.db()).unwrap();
    assert!(!bytes.windows(SECRET.len()).any(|it| it == SECRET.as_bytes()));
    // An import removes secrets from lines exported before.
    let careless_lines = careless(columns_with(MOOD)).export();
    let imported = Memory::new(columns_with(MOOD));
    imported.import(&careless_lines);
    assert_eq!(imported.mood("Two"), text(Some("«redacted:aws_access_key»")));
    let lines = imported.export();
    assert!(!lines.contains(SECRET), "{lines}");
    // A table that declares old values as the program's own names keeps them, and the check fails.
    const TRUSTING: NodeColumn = NodeColumn { old: &[own("old_mood", Names)], ..MOOD };
    let left = redacted(&careless(columns_with(TRUSTING))).left;
    assert!(left.contains(&"2 secrets in `diff.old_mood`".to_owned()), "{left:?}");
}

#[test]
fn exports_imports_and_salvages_carry_it() {
    let memory = Memory::new(columns_with(MOOD));
    memory.add("One", Some("calm"));
    memory.set("One", Some("wild"));
    let hashes = memory.sound();
    let lines = memory.export();
    assert!(lines.contains(r#""mood":"wild""#), "{lines}");
    assert!(lines.contains(r#""old_mood":"calm""#), "{lines}");
    let imported = Memory::new(columns_with(MOOD));
    imported.import(&lines);
    assert_eq!(imported.export(), lines);
    assert_eq!(imported.sound(), hashes);
    assert_eq!(imported.roll_back(1).mood("One"), text(Some("calm")));
    let salvaged = Memory::new(columns_with(MOOD));
    salvage(&memory.db(), &salvaged.db(), NOW, &mut |_, _| ()).unwrap();
    assert_eq!(salvaged.sound(), hashes);
    assert_eq!(salvaged.mood("One"), text(Some("wild")));
}
