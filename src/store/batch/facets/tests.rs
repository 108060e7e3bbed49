//! Tests for facets: those that a write makes are those of the views.

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::json;

use super::*;
use crate::model::clock::UnixMillis;
use crate::model::node_fields::CanonicalFields;
use crate::model::tree::ContentFormat;
use crate::store::node_columns::FIELDS;
use crate::store::{
    IfMissing, NodePlace, OptionalColumnValue, OptionalColumnValues, UnplacedNodeData, Writer,
};

const TYPES: [NodeType; 8] = [
    NodeType::Core,
    NodeType::Learning,
    NodeType::Task,
    NodeType::Episode,
    NodeType::Concept,
    NodeType::Fact,
    NodeType::Conflict,
    NodeType::Entity,
];

fn data<'a>(
    node_type: NodeType,
    content: &'a str,
    fields: &CanonicalFields,
) -> UnplacedNodeData<'a> {
    let fields = OptionalColumnValue::Text(fields.to_string());
    let attributes = OptionalColumnValues::default().with(FIELDS, Some(fields));
    let format = ContentFormat::Plain;
    UnplacedNodeData { node_type, format, label: "A node", content, token_count: 1, attributes }
}

/// Returns the rows that a table has too many and too few, by the view that tells what it must
/// have.
fn differences(writer: &Writer, table: &str, columns: &str) -> Vec<String> {
    let [has, must] =
        [table.to_owned(), format!("{table}_made")].map(|it| format!("SELECT {columns} FROM {it}"));
    let sql = format!(
        "SELECT 'surplus ' || quote(key) FROM (SELECT json_array({columns}) AS key
             FROM ({has} EXCEPT {must}))
         UNION ALL
         SELECT 'missing ' || quote(key) FROM (SELECT json_array({columns}) AS key
             FROM ({must} EXCEPT {has}))"
    );
    let conn = writer.lock();
    let mut query = conn.prepare(&sql).unwrap();
    let rows = query.query_map([], |row| row.get(0)).unwrap();
    rows.collect::<rusqlite::Result<_>>().unwrap()
}

fn check(writer: &Writer) -> Vec<String> {
    let mut all = differences(writer, "facet", "key, value, node");
    all.extend(differences(writer, "typed_edge", "source, type, target, strength"));
    let left: i64 =
        super::super::one(&writer.lock(), "SELECT count(*) FROM facet_program").unwrap();
    all.extend((left != 0).then(|| "a node is left to the program".to_owned()));
    all
}

fn scalar() -> impl Strategy<Value = Value> {
    let others = vec![json!("a"), json!("ä'\""), json!(7), json!(false), json!(2.5)];
    prop_oneof![1 => Just(json!(true)), 2 => select(others)]
}

fn any_link() -> impl Strategy<Value = Value> {
    (select(vec!["supports", "implies"]), select(vec!["x", "y"]), scalar())
        .prop_map(|(of, to, strength)| json!({"type": of, "to": to, "strength": strength}))
}

fn any_value() -> impl Strategy<Value = Value> {
    prop_oneof![
        4 => scalar(),
        2 => proptest::collection::vec(scalar(), 0..4).prop_map(Value::from),
        1 => Just(json!({"status": "blocked", "completed_at": 5})),
        1 => Just(json!([["nested"], {"type": "supports"}, "word"])),
    ]
}

fn any_fields() -> impl Strategy<Value = CanonicalFields> {
    let keys = vec![
        "uuid",
        "updated_at",
        "importance",
        "kind",
        "topic",
        "at",
        "created_at",
        "subject",
        "conflict",
        "tags",
        "names",
        "task_metadata",
        "category",
        "archived",
        "deleted",
        "superseded_by",
        "merged_into",
        "processed_in",
        "valid_to",
        "key",
        "links",
        "confidence",
    ];
    let members = proptest::collection::btree_map(select(keys), any_value(), 1..9);
    let links = proptest::option::of(proptest::collection::vec(any_link(), 0..5));
    let statement = proptest::option::of(Just(json!("a statement")));
    (members, links, statement).prop_filter_map("some fields", |(members, links, statement)| {
        let own = [("links", links.map(Value::from)), ("key", statement)];
        let own = own.into_iter().filter_map(|(key, value)| Some((key, value?)));
        let all = members.into_iter().chain(own).map(|(key, value)| (key.to_owned(), value));
        CanonicalFields::new(all.collect()).ok()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn facets_are_those_of_the_views_after_every_edit(
        node_type in select(TYPES.to_vec()),
        states in proptest::collection::vec((any_fields(), "[ab]{1,2}"), 20),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let writer = Writer::open(&dir.path().join("memory.db"), IfMissing::Create).unwrap();
        let mut key = None;
        for (fields, content) in &states {
            let new = data(node_type, content, fields);
            let write = |batch: &mut Batch<'_>| match key {
                None => {
                    let place = NodePlace { file: None, parent: None, position: 1 };
                    batch.insert_agent_node(&new, place).map(|it| it.0)
                }
                Some(key) => {
                    let old = batch.at(key)?.unwrap();
                    batch.set_agent_text(&old, &new).map(|()| key)
                }
            };
            key = Some(writer.write("m", "", UnixMillis(0), write).unwrap().0);
            prop_assert_eq!(check(&writer), Vec::<String>::new());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_write_that_has_read_all_names_knows_those_that_it_made(
        states in proptest::collection::vec((any_fields(), 0..3_usize), 12),
    ) {
        const NAMES: &str = "SELECT DISTINCT value FROM facet WHERE key = 'name' AND '' <= value";
        let dir = tempfile::tempdir().unwrap();
        let writer = Writer::open(&dir.path().join("memory.db"), IfMissing::Create).unwrap();
        let work = |batch: &mut Batch<'_>| {
            let mut keys: Vec<NodeRowId> = Vec::new();
            for (fields, at) in &states {
                let new = data(NodeType::Entity, "text", fields);
                match keys.get(*at) {
                    None => {
                        let position = keys.len() as i64;
                        let place = NodePlace { file: None, parent: None, position };
                        keys.push(batch.insert_agent_node(&new, place)?.0);
                    }
                    Some(&key) => {
                        let old = batch.at(key)?.unwrap();
                        batch.set_agent_text(&old, &new)?;
                    }
                }
                // Of these, none is known.
                let strange = (0..1000).map(|it| format!("no name {it}")).collect();
                assert_eq!(batch.possibly_known(strange)?, Vec::<String>::new());
                let names: Vec<String> = batch.tx.rows(NAMES, [], |row| row.get(0), "names")?;
                assert_eq!(batch.possibly_known(names.clone())?, names);
            }
            Ok::<_, StoreError>(())
        };
        writer.write("m", "", UnixMillis(0), work).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_write_knows_the_names_that_earlier_ones_made_in_any_process(
        writes in proptest::collection::vec((any_fields(), 0..3_usize, 0..2_usize, any::<bool>()), 16),
    ) {
        const NAMES: &str = "SELECT DISTINCT value FROM facet WHERE key = 'name' AND '' <= value";
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("memory.db");
        let writers = [(); 2].map(|()| Writer::open(&path, IfMissing::Create).unwrap());
        let mut keys: Vec<NodeRowId> = Vec::new();
        for (fields, at, which, fails) in &writes {
            let new = data(NodeType::Entity, "text", fields);
            let work = |batch: &mut Batch<'_>| {
                let names: Vec<String> = batch.tx.rows(NAMES, [], |row| row.get(0), "names")?;
                assert_eq!(batch.possibly_known(names.clone())?, names);
                let strange = (0..1000).map(|it| format!("no name {it}")).collect();
                assert_eq!(batch.possibly_known(strange)?, Vec::<String>::new());
                let key = match keys.get(*at) {
                    None => {
                        let position = keys.len() as i64;
                        let place = NodePlace { file: None, parent: None, position };
                        Some(batch.insert_agent_node(&new, place)?.0)
                    }
                    Some(&key) => {
                        let old = batch.at(key)?.unwrap();
                        batch.set_agent_text(&old, &new)?;
                        None
                    }
                };
                let planned = StoreError::Corrupt { what: "as planned".to_owned() };
                if *fails { Err(planned) } else { Ok(key) }
            };
            if let Ok((key, _)) = writers[*which].write("m", "", UnixMillis(0), work) {
                keys.extend(key);
            }
        }
    }
}

/// Adds an entity of a name.
fn add_entity(writer: &Writer, name: &str) {
    let names = [("names".to_owned(), json!([name]))];
    let fields = CanonicalFields::new(names.into_iter().collect()).unwrap();
    let add = |batch: &mut Batch<'_>| {
        let place = NodePlace { file: None, parent: None, position: 1 };
        batch.insert_agent_node(&data(NodeType::Entity, name, &fields), place).map(drop)
    };
    writer.write("m", "", UnixMillis(0), add).unwrap();
}

/// Returns those of some names that the next write knows, which has read all names.
fn known_of(writer: &Writer, names: &[&str]) -> Vec<String> {
    let ask = |batch: &mut Batch<'_>| {
        batch.possibly_known((0..1000).map(|it| format!("no name {it}")).collect())?;
        batch.possibly_known(names.iter().map(|it| (*it).to_owned()).collect())
    };
    writer.write("m", "", UnixMillis(0), ask).unwrap().0
}

/// A repair in another process makes facets without a snapshot.
#[test]
fn a_write_knows_the_names_that_a_repair_brought_back() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("memory.db");
    let writer = Writer::open(&path, IfMissing::Create).unwrap();
    add_entity(&writer, "the board");
    let other = rusqlite::Connection::open(&path).unwrap();
    let lose = "CREATE TEMP TABLE aside AS SELECT * FROM facet; DELETE FROM facet";
    other.execute_batch(lose).unwrap();
    let lost = known_of(&writer, &["the board"]);
    let repair = "INSERT INTO facet SELECT * FROM aside; DROP TABLE aside;
                  UPDATE pulse SET views = views + 1";
    other.execute_batch(repair).unwrap();
    assert_eq!((lost, known_of(&writer, &["the board"])), (vec![], vec!["the board".to_owned()]));
}

/// After a restore, snapshots have numbers that others had before.
#[test]
fn a_write_knows_the_names_of_a_backup_that_was_restored() {
    let dir = tempfile::tempdir().unwrap();
    let [path, backup] = ["memory.db", "backup.db"].map(|it| dir.path().join(it));
    let writer = Writer::open(&path, IfMissing::Create).unwrap();
    add_entity(&writer, "the board");
    assert_eq!(known_of(&writer, &["the board", "the crew"]), ["the board"]);
    add_entity(&Writer::open(&backup, IfMissing::Create).unwrap(), "the crew");
    let [from, mut to] = [&backup, &path].map(|it| rusqlite::Connection::open(it).unwrap());
    let pages = rusqlite::backup::Backup::new(&from, &mut to).unwrap();
    assert_eq!(pages.step(-1).unwrap(), rusqlite::backup::StepResult::Done);
    assert_eq!(known_of(&writer, &["the board", "the crew"]), ["the crew"]);
}

#[test]
fn ordinary_fields_need_no_view() {
    let fields = json!({
        "uuid": "7b0f", "created_at": 1, "updated_at": 2, "tags": ["a", "b"], "topic": "t",
        "links": [{"type": "supports", "to": "x", "strength": 0.5}, {"type": "mentions", "to": "y"}],
    });
    for node_type in TYPES {
        let rows = NodeFacetAndEdgeRows::of(node_type, "hash", Some(&fields.to_string())).unwrap();
        assert_eq!(rows.edges.len(), 2, "{node_type}");
        assert!(rows.facets.contains(&("tag", FacetValue::Text("b".to_owned()))), "{node_type}");
    }
}
