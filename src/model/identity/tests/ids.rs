//! Tests of ids of new nodes: where they lie among each other.

use super::NodeId;
use crate::model::tree::NodeType;

fn born(path: &str, content: &str) -> NodeId {
    NodeId::birth(NodeType::Text, path, content, 0)
}

#[test]
fn ids_of_a_file_lie_together_and_so_do_files_of_a_folder() {
    let texts: Vec<String> = (0..100).map(|nth| format!("Text {nth}.")).collect();
    let parts = |path: &str, n_bits: u32| -> Vec<u64> {
        let mut parts: Vec<u64> =
            texts.iter().map(|it| born(path, it).0 >> (64 - n_bits)).collect();
        parts.dedup();
        parts
    };
    let [one, other] = [parts("docs/a.md", 20), parts("docs/b.md", 20)];
    assert_eq!((one.len(), other.len()), (1, 1));
    assert_ne!(one, other, "files lie apart");
    assert_eq!(parts("docs/a.md", 10), parts("docs/b.md", 10));
    assert_ne!(parts("docs/a.md", 10), parts("notes/a.md", 10), "folders lie apart");
    assert_eq!(parts("a.md", 10), parts("b.md", 10), "the root is a folder");
    assert!(90 < parts(NodeId::AGENT_PATH, 20).len(), "agents' nodes lie anywhere");
}

#[test]
fn an_id_is_made_of_the_type_the_path_the_text_and_the_ordinal() {
    let id = born("people.md", "On call in even weeks.");
    assert_eq!(id.to_string(), "KY4qpUFUclu");
    assert_eq!(NodeId::parse("KY4qpUFUclu"), Some(id));
    assert_ne!(born("people.md", "On call in odd weeks."), id);
    let again = NodeId::birth(NodeType::Text, "people.md", "On call in even weeks.", 1);
    let list = NodeId::birth(NodeType::List, "people.md", "On call in even weeks.", 0);
    assert!(again != id && list != id && again != list);
}
