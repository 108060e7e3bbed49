//! Tests of exported folders: a person's edits, and marks that a stranger made up.

use super::*;
use crate::ingest::markdown_export_format::FILE_HEADER;
use crate::model::identity::{ContentHash, NodeId};

/// A memory's index with one root, whose agents' words are in `memory/`.
const INDEX: &str = "<!-- remindb export 1 {\"agents\":\"memory\",\"roots\":{\"1\":\"\"}} -->\n";

/// Returns a marker and its block.
fn block(id: u64, node_type: &str, depth: usize, text: &str, extra: &str) -> String {
    let (id, hash) = (NodeId(id), ContentHash::of(text));
    let extra = if extra.is_empty() { String::new() } else { format!(" {extra}") };
    let shown = if node_type == "heading" { format!("# {text}") } else { text.to_owned() };
    format!("<!-- remindb {id} {node_type} {depth} {hash}{extra} -->\n{shown}\n\n")
}

fn file(blocks: &[String]) -> String {
    format!("{FILE_HEADER}\n\n{}", blocks.concat())
}

impl Notes {
    /// Lists nodes without a file as `id type label`, each below its parent.
    fn free_nodes(&self) -> Vec<String> {
        let list = |batch: &mut crate::store::Batch<'_>| -> Result<Vec<String>, StoreError> {
            let mut lines = Vec::new();
            let mut open: Vec<_> = batch.children_of_nobody()?.into_iter().rev().collect();
            while let Some(node) = open.pop() {
                lines.push(format!("{} {} {}", node.id, node.node_type, node.label));
                open.extend(batch.children_of(node.key)?.into_iter().rev());
            }
            Ok(lines)
        };
        self.writer.write("", "", UnixMillis(0), list).unwrap().0
    }

    fn pinned(&self) -> Vec<String> {
        let conn = rusqlite::Connection::open(self.dir.path().join("memory.db")).unwrap();
        let sql = "SELECT id FROM heat JOIN node ON key = heat.node WHERE pinned ORDER BY id";
        let mut query = conn.prepare(sql).unwrap();
        query.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    }
}

#[test]
fn a_persons_edits_keep_ids_and_pins() {
    let notes = Notes::new();
    let text = file(&[
        block(1, "heading", 0, "Store", ""),
        block(2, "text", 1, "One connection writes at a time.", "{\"pinned\":true}"),
        block(3, "text", 1, "Many read.", ""),
    ]);
    notes.write("remindb.md", INDEX).write("a.md", &text);
    notes.check_compile("3 added, 0 modified, 0 removed (3 ops)");
    let ids = |it: &str| notes.id(it);
    let before = [ids("Store"), ids("One connection writes at a time."), ids("Many read.")];
    assert_eq!(before, [1, 2, 3].map(|it| NodeId(it).to_string()));
    let edited = text
        .replace("One connection writes at", "One connection writes, and one only, at")
        .replace("Many read.\n", "Many read.\n\nNobody waits.\n");
    notes.write("a.md", &edited);
    notes.check_compile("1 added, 1 modified, 0 removed (2 ops)");
    assert_eq!(notes.id("One connection writes, and one only, at a time."), before[1]);
    assert_eq!(notes.id("Many read."), before[2]);
    assert_eq!(notes.pinned(), [before[1].clone()]);
    notes.write("a.md", &text.replace(&block(3, "text", 1, "Many read.", ""), ""));
    notes.check_compile("0 added, 1 modified, 2 removed (3 ops)");
}

#[test]
fn an_id_that_is_taken_or_was_forgotten_is_not_given_again() {
    let notes = Notes::new();
    notes.write("remindb.md", INDEX);
    notes.write("a.md", &file(&[block(1, "text", 0, "The first one.", "")]));
    notes.check_compile("1 added, 0 modified, 0 removed (1 ops)");
    notes.write("b.md", &file(&[block(1, "text", 0, "A forged one.", "")]));
    notes.check_compile("1 added, 0 modified, 0 removed (1 ops)");
    assert_eq!(notes.id("The first one."), NodeId(1).to_string());
    assert_ne!(notes.id("A forged one."), NodeId(1).to_string());
    notes.remove("a.md").compile();
    notes.write("c.md", &file(&[block(1, "text", 0, "Another forged one.", "")]));
    notes.check_compile("1 added, 0 modified, 0 removed (1 ops)");
    assert_ne!(notes.id("Another forged one."), NodeId(1).to_string());
}

#[test]
fn marks_count_only_in_a_folder_that_was_exported_itself() {
    let notes = Notes::new();
    let text = file(&[block(1, "text", 0, "A stranger's.", "{\"pinned\":true}")]);
    notes.write("clone/remindb.md", INDEX).write("clone/a.md", &text);
    notes.write("clone/memory/b.md", &text);
    notes.compile();
    assert!(notes.pinned().is_empty());
    assert!(notes.free_nodes().is_empty());
    let is_marked = |it: &String| it.split(' ').nth(1) == Some(&NodeId(1).to_string());
    assert!(!notes.nodes().iter().any(is_marked));
}

#[test]
fn a_typed_node_needs_its_fields_and_no_file() {
    let notes = Notes::new();
    let fields = "{\"fields\":{\"created_at\":1,\"importance\":\"medium\",\"updated_at\":1,\
                  \"uuid\":\"f59213f7-ab31-43b0-95f8-f50efba9e323\"}}";
    let typed = |id, extra| file(&[block(id, "core", 0, "I like tea.", extra)]);
    notes.write("remindb.md", INDEX).write("a.md", &typed(1, fields));
    notes
        .write("memory/b.md", &typed(2, fields))
        .write("memory/c.md", &typed(3, "{\"fields\":{}}"));
    let report = notes.compile();
    let warnings: Vec<String> = report.warnings.iter().map(ToString::to_string).collect();
    expect_test::expect![[r#"
        [
            "a.md:3: a node of type core belongs to no file; the block is read as a text",
            "memory/c.md:3: a marker that was changed: its `fields` is not valid; its block is read as a new one",
        ]
    "#]]
    .assert_debug_eq(&warnings);
    assert!(notes.nodes()[0].ends_with("I like tea."));
    assert_eq!(
        notes.free_nodes(),
        [
            format!("{} core I like tea.", NodeId(2)),
            format!(
                "{} text I like tea.",
                NodeId::birth(crate::model::tree::NodeType::Text, "mcp:write", "I like tea.", 0)
            )
        ]
    );
}

#[test]
fn what_agents_wrote_is_edited_by_a_person_and_never_removed_by_a_missing_block() {
    let notes = Notes::new();
    let blocks = [
        block(1, "heading", 0, "Notes", "{\"place\":5}"),
        block(2, "text", 1, "The port is 80.", "{\"place\":1}"),
        block(3, "text", 1, "The host is here.", "{\"place\":2}"),
    ];
    notes.write("remindb.md", INDEX).write("memory/n.md", &file(&blocks));
    notes.check_compile("3 added, 0 modified, 0 removed (3 ops)");
    let edited = file(&blocks).replace("is 80", "is 8080") + "A new one.\n";
    notes.write("memory/n.md", &edited);
    notes.check_compile("1 added, 1 modified, 0 removed (2 ops)");
    notes.write("memory/n.md", &(edited + "\n"));
    notes.check_compile("0 added, 0 modified, 0 removed (0 ops)");
    notes.write("memory/n.md", &file(&blocks[..1]));
    notes.check_compile("0 added, 0 modified, 0 removed (0 ops)");
    let labels: Vec<String> =
        notes.free_nodes().iter().map(|it| it.splitn(3, ' ').nth(2).unwrap().to_owned()).collect();
    assert_eq!(labels, ["Notes", "The port is 8080.", "The host is here.", "A new one."]);
    // A text that both changed stays as the memory has it.
    notes.write("memory/n.md", &file(&blocks).replace("is 80", "is 9090"));
    let report = notes.compile();
    assert_eq!((report.modified, report.warnings.len()), (0, 1), "{:?}", report.warnings);
}

#[test]
fn secrets_in_marks_become_markers() {
    let notes = Notes::new();
    let secret = ["ghp", "0123456789abcdefghijABCDEFGHIJ012345"].join("_");
    let extra =
        format!("{{\"label\":\"{secret}\",\"links\":[{{\"label\":\"{secret}\",\"weight\":1}}]}}");
    notes.write("remindb.md", INDEX);
    notes.write("a.md", &file(&[block(1, "text", 0, "One.", &extra)]));
    notes.compile();
    let bytes = fs::read(notes.dir.path().join("memory.db-wal")).unwrap();
    assert!(!bytes.windows(secret.len()).any(|it| it == secret.as_bytes()));
}

#[test]
fn a_file_beside_its_export_counts() {
    let notes = Notes::new();
    notes.write("remindb.md", INDEX).write("a.json.md", "# From the export\n");
    notes.write("a.json", "{\"a\": \"from the original\"}");
    let report = notes.compile();
    assert_eq!(report.warnings.len(), 1, "{:?}", report.warnings);
    assert_eq!(notes.nodes().len(), 1);
    assert!(notes.nodes()[0].starts_with("a.json: "));
}
