//! Tests of exported files: what is printed is read back, and what a person does to it.

use expect_test::{Expect, expect};
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::model::links::reference::{Reference, ReferenceSyntax};
use crate::model::node_fields::CanonicalFields;
use crate::model::tree::{ContentFormat, DocumentTree, Node, NodeType};
use crate::text::tokens;

/// Prints a tree as an exported file.
fn print(tree: &DocumentTree, marks: &[ExportedNodeAttributes]) -> String {
    let mut text = format!("{FILE_HEADER}\n\n");
    for ((node, depth), marks) in tree.nodes.iter().zip(tree.depths()).zip(marks) {
        push_node(&mut text, node, depth, marks);
    }
    text
}

/// Shows what a file says: the tree with the ids of its nodes, and warnings.
fn shown(text: &str) -> String {
    let ParsedExport { parsed, marks } = parse_export(text);
    assert_eq!(parsed.tree.nodes.len(), marks.len());
    let mut out = String::new();
    for ((node, depth), marks) in parsed.tree.nodes.iter().zip(parsed.tree.depths()).zip(&marks) {
        let id = marks.id.map_or("new".to_owned(), |it| it.to_string());
        let indent = "  ".repeat(depth);
        let content = node.content.replace('\n', "⏎");
        out.push_str(&format!("{indent}{id} {} {content}\n", node.node_type));
    }
    for it in &parsed.warnings {
        out.push_str(&format!("line {}: {}\n", it.line, it.what));
    }
    out
}

#[track_caller]
fn check(text: &str, expected: Expect) {
    expected.assert_eq(&shown(text));
}

/// A file with a heading, a paragraph and a table of another format.
fn file() -> String {
    let mut tree = DocumentTree::default();
    let heading = Node {
        node_type: NodeType::Heading,
        level: Some(2),
        label: "Store".to_owned(),
        content: "Store".to_owned(),
        ..Node::default()
    };
    let text = Node {
        parent: Some(0),
        label: "One writes.".to_owned(),
        content: "One writes.".to_owned(),
        ..Node::default()
    };
    let kv = Node {
        parent: Some(0),
        node_type: NodeType::Kv,
        key_path: Some("a.b".to_owned()),
        label: "port".to_owned(),
        content: "port: 1".to_owned(),
        ..Node::default()
    };
    for node in [heading, text, kv] {
        tree.push(node);
    }
    let marks: Vec<ExportedNodeAttributes> = (1..4)
        .map(|it| ExportedNodeAttributes {
            id: Some(NodeId(it)),
            ..ExportedNodeAttributes::default()
        })
        .collect();
    print(&tree, &marks)
}

#[test]
fn a_file_reads_as_markdown_with_comments() {
    expect![[r#"
        <!-- remindb export 1 -->

        <!-- remindb 00000000001 heading 0 2c14483b59d26f08 -->
        ## Store

        <!-- remindb 00000000002 text 1 b5a5dd90c42162c7 -->
        One writes.

        <!-- remindb 00000000003 kv 1 c04e696aec1bf01a {"label":"port","path":"a.b"} -->
        ```yaml
        port: 1
        ```

    "#]]
    .assert_eq(&file());
    check(
        &file(),
        expect![[r#"
        00000000001 heading Store
          00000000002 text One writes.
          00000000003 kv port: 1
    "#]],
    );
}

#[test]
fn an_edited_block_keeps_its_id_and_what_is_beside_it_is_new() {
    let edited = file().replace("One writes.", "One connection writes.\n\nMany read.");
    check(
        &edited,
        expect![[r#"
        00000000001 heading Store
          00000000002 text One connection writes.
          new text Many read.
          00000000003 kv port: 1
    "#]],
    );
    let edited = file().replace("## Store", "# The store\n\nAn introduction.");
    check(
        &edited,
        expect![[r#"
        00000000001 heading The store
          new text An introduction.
          00000000002 text One writes.
          00000000003 kv port: 1
    "#]],
    );
    let edited = file().replace("port: 1", "port: 2");
    check(
        &edited,
        expect![[r#"
        00000000001 heading Store
          00000000002 text One writes.
          00000000003 kv port: 2
    "#]],
    );
    let edited = file().replace("One writes.\n", "- now\n- a list\n");
    check(
        &edited,
        expect![[r#"
        00000000001 heading Store
          new list - now⏎- a list
          00000000003 kv port: 1
    "#]],
    );
}

#[test]
fn a_block_that_was_taken_out_is_gone() {
    check(
        &file().replace("One writes.\n", "\n"),
        expect![[r#"
        00000000001 heading Store
          00000000003 kv port: 1
    "#]],
    );
    check(
        &file().replace("## Store\n", ""),
        expect![[r#"
        00000000002 text One writes.
        00000000003 kv port: 1
    "#]],
    );
    let cut = file();
    check(
        &cut[..cut.find("<!-- remindb 00000000003").unwrap()],
        expect![[r#"
        00000000001 heading Store
          00000000002 text One writes.
    "#]],
    );
}

#[test]
fn a_broken_marker_costs_itself() {
    let odd = [
        ("00000000002 text", "0000000000 text"),
        ("00000000002 text", "00000000002 novel"),
        ("{\"label\"", "{label"),
        ("\"a.b\"", "7"),
        (" kv 1", " kv 99999"),
    ];
    let all = odd.map(|(from, to)| shown(&file().replace(from, to)));
    expect![[r#"
        00000000001 heading Store
          new text One writes.
          00000000003 kv port: 1
        line 6: a marker that was changed: it has no id; its block is read as a new one

        00000000001 heading Store
          new text One writes.
          00000000003 kv port: 1
        line 6: a marker that was changed: it has no known type; its block is read as a new one

        00000000001 heading Store
          00000000002 text One writes.
          new code port: 1
        line 9: a marker that was changed: what follows is no JSON object; its block is read as a new one

        00000000001 heading Store
          00000000002 text One writes.
          new code port: 1
        line 9: a marker that was changed: its `path` is not valid; its block is read as a new one

        00000000001 heading Store
          00000000002 text One writes.
          new code port: 1
        line 9: a marker that was changed: it has no depth; its block is read as a new one
    "#]].assert_eq(&all.join("\n"));
}

#[test]
fn an_open_fence_takes_nothing_else_away() {
    check(
        &file().replace("port: 1\n```", "port: 1\n"),
        expect![[r#"
        00000000001 heading Store
          00000000002 text One writes.
          new code port: 1
    "#]],
    );
}

#[test]
fn a_file_from_an_editor_with_other_line_ends_says_the_same() {
    let text = file();
    let ParsedExport { parsed, marks } = parse_export(&text.replace('\n', "\r\n"));
    let expected = parse_export(&text);
    assert_eq!(marks, expected.marks);
    assert_eq!(parsed.tree.to_string(), expected.parsed.tree.to_string());
}

#[test]
fn an_index_names_folders_of_its_own_only() {
    let index = |json: &str| FoldersByRoot::parse(&format!("<!-- remindb export 1 {json} -->\n"));
    let roots = [(1, "docs".to_owned()), (3, "a--b".to_owned())].into();
    let two = FoldersByRoot { roots, agents: "memory".to_owned() };
    assert_eq!(FoldersByRoot::parse(&two.text()), Some(two));
    assert!(index(r#"{"agents":"m","roots":{"1":""}}"#).is_some());
    for bad in [
        r#"{"agents":"../m","roots":{}}"#,
        r#"{"agents":"..","roots":{}}"#,
        r#"{"agents":"","roots":{}}"#,
        r#"{"agents":"m","roots":{"0":"a"}}"#,
        r#"{"agents":"m","roots":{"1":"","2":"a"}}"#,
        r#"{"agents":"m","roots":{"1":"/etc"}}"#,
        r#"{"agents":"m","roots":{"99999999999":"a"}}"#,
        "{",
    ] {
        assert_eq!(index(bad), None, "{bad}");
    }
}

#[test]
fn every_path_has_a_name_of_its_own() {
    let root =
        RootWithinExport { agents: Some("memory".to_owned()), ..RootWithinExport::default() };
    for (path, name) in [
        ("a.md", "a.md"),
        ("x/a.json", "x/a.json.md"),
        ("a.json.md", "a.json.md.md"),
        ("a.md.md", "a.md.md.md"),
        ("A.MD", "A.MD.md"),
        ("v1.2.md", "v1.2.md"),
        ("a.txt", "a.txt.md"),
    ] {
        assert_eq!(export_root_folders::name_of(path), name);
        assert_eq!(root.path_of(name).as_deref(), Some(path));
    }
    assert_eq!(root.path_of("remindb.md"), None);
    assert_eq!(root.path_of("memory/a.json.md").as_deref(), Some("memory/a.json.md"));
}

/// Texts with what matters to the format.
fn texts() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("\n"),
        Just("\r\n"),
        Just("\r"),
        Just("`"),
        Just("```"),
        Just("#"),
        Just(" "),
        Just("-->"),
        Just("--"),
        Just("<!-- remindb "),
        Just("<!-- remindb 00000000001 text 0 ef46db3751d8e999 -->"),
        Just("wörter"),
        Just("\t"),
        Just("a"),
    ];
    prop::collection::vec(piece, 0..8).prop_map(|it| it.concat())
}

fn nodes() -> impl Strategy<Value = (Node, ExportedNodeAttributes)> {
    let types = prop::sample::select(&NodeType::ALL[..]);
    let formats = prop::sample::select(vec![
        ContentFormat::Plain,
        ContentFormat::Toon,
        ContentFormat::Latex,
        ContentFormat::Svg,
        ContentFormat::Image,
    ]);
    let lang = prop::option::of(prop_oneof![Just("rust".to_owned()), texts()]);
    let key_path = prop::option::of(texts());
    let what = (types, formats, prop::option::of(1..=6_u8), lang, key_path, texts(), texts());
    let marks = (any::<u64>(), any::<bool>(), prop::option::of(-5..5_i64), texts());
    (what, marks).prop_map(|(what, (id, is_pinned, position, word))| {
        let (node_type, format, level, lang, key_path, label, content) = what;
        let label = crate::text::fold_and_truncate(&label, crate::text::LABEL_CHARS_MAX);
        let token_count = tokens::count(&content);
        let node = Node {
            node_type,
            format,
            level,
            lang,
            key_path,
            label,
            content,
            token_count,
            ..Node::default()
        };
        let serde_json::Value::Object(object) = json!({"a": word, "b": ["--", ">"]}) else {
            unreachable!()
        };
        let link = Reference {
            label: word,
            source: None,
            id_hint: Some("x".to_owned()),
            heading: None,
            alias: None,
            weight: 0.5,
            form: ReferenceSyntax::Manual,
        };
        let marks = ExportedNodeAttributes {
            id: Some(NodeId(id)),
            exported_hash: Some(ContentHash::of(&node.content)),
            parent: is_pinned.then_some(NodeId(id)),
            position,
            fields: is_pinned.then(|| CanonicalFields::new(object).unwrap()),
            is_pinned,
            links: if is_pinned { vec![link] } else { Vec::new() },
        };
        (node, marks)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn what_is_printed_is_read_back(nodes in prop::collection::vec((nodes(), any::<prop::sample::Index>()), 0..6)) {
        let (mut tree, mut marks) = (DocumentTree::default(), Vec::new());
        for ((node, marked), parent) in nodes {
            // A parent is above: the last node, or one of those above that.
            let mut above = vec![None];
            let mut at = tree.nodes.len().checked_sub(1);
            while let Some(idx) = at {
                above.push(Some(idx));
                at = tree.nodes[idx].parent;
            }
            let parent = above[parent.index(above.len())];
            tree.push(Node { parent, ..node });
            marks.push(marked);
        }
        let read = parse_export(&print(&tree, &marks));
        let without_spans = read.parsed.tree.nodes.iter().cloned().map(|it| Node { span: 0..0, ..it });
        prop_assert_eq!(without_spans.collect::<Vec<_>>(), tree.nodes);
        prop_assert_eq!(read.marks, marks);
        prop_assert_eq!(read.parsed.warnings, vec![]);
    }

    #[test]
    fn any_text_is_read(pieces in prop::collection::vec(texts(), 0..6)) {
        let text = format!("{FILE_HEADER}\n{}", pieces.join("\n"));
        let read = parse_export(&text);
        prop_assert_eq!(read.marks.len(), read.parsed.tree.nodes.len());
        for node in &read.parsed.tree.nodes {
            prop_assert!(text.get(node.span.clone()).is_some());
        }
    }
}
