//! Tests of compiled files as entities: each is one by its path, whatever its heading.

use super::*;

const HEADING: &str = "# Introduction";

impl Case {
    fn compiles(&self, files: &[(&str, &str)]) {
        let notes = self.folder.path().join("notes");
        for (path, text) in files {
            let path = notes.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        self.memory.compile(&notes, "").unwrap();
    }

    /// A memory of two files with one heading.
    fn with_files() -> Case {
        let case = Case::new();
        case.compiles(&[("a/README.md", HEADING), ("b/README.md", HEADING)]);
        case
    }

    fn pages(&self, of: &str, n_pages: u32) -> Value {
        let content = format!("It has {n_pages} pages");
        let args = json!({
            "content": content, "kind": "fact", "subject": of, "attribute": "pages",
            "supersede": true,
        });
        self.remember(args)["results"][0].clone()
    }

    fn cluster_titles(&self) -> Vec<String> {
        let listed = self.memory.read(|reader| concepts_document(reader, None, 50)).unwrap();
        let concepts = listed["concepts"].as_array().unwrap().iter();
        let mut titles: Vec<String> =
            concepts.map(|it| it["title"].as_str().unwrap().to_owned()).collect();
        titles.sort();
        titles
    }
}

#[test]
fn files_with_one_heading_are_two_subjects() {
    let case = Case::with_files();
    let first = case.pages("file:a/README.md", 3);
    let second = case.pages("b/README.md", 9);
    assert_eq!(first["entities"], json!(["file:a/README.md"]));
    assert_eq!(second["entities"], json!(["file:b/README.md"]));
    assert_eq!(case.field(first["fact"].as_str().unwrap(), "superseded_by"), Value::Null);
    assert_eq!(case.cluster_titles(), ["Facts about a/README.md", "Facts about b/README.md"]);
}

#[test]
fn a_file_stays_one_subject_when_its_heading_is_renamed() {
    let case = Case::with_files();
    let before = case.pages("file:b/README.md", 9);
    case.compiles(&[("b/README.md", "# Preface\n\nAbout b.\n")]);
    let after = case.pages("file:b/README.md", 10);
    assert_eq!(case.field(before["fact"].as_str().unwrap(), "superseded_by"), after["fact"]);
    assert_eq!(case.cluster_titles(), ["Facts about b/README.md"]);
}

#[test]
fn a_file_that_is_compiled_later_is_the_subject_that_it_was() {
    let case = Case::new();
    let before = case.pages("file:b/README.md", 9);
    case.compiles(&[("b/README.md", HEADING)]);
    let after = case.pages("file:b/README.md", 10);
    assert_eq!(case.field(before["fact"].as_str().unwrap(), "superseded_by"), after["fact"]);
}

#[test]
fn a_file_is_recalled_and_read_by_its_path() {
    let case = Case::with_files();
    case.remember(json!({"content": "The docs of b are stale.", "entities": ["file:b/README.md"]}));
    for name in ["file:b/README.md", "b/README.md"] {
        let recalled = case.recall(json!({"entity": name}));
        assert_eq!(recalled["items"][0]["text"], "The docs of b are stale.");
        let entity = case.memory.read(|reader| entity_document(reader, name)).unwrap();
        assert_eq!((&entity["name"], &entity["type"]), (&json!("b/README.md"), &json!("file")));
        assert_eq!(entity["aliases"], json!([]));
    }
    assert_eq!(case.recall(json!({"entity": "a/README.md"}))["items"], json!([]));
}

#[test]
fn a_file_that_is_compiled_later_has_what_mentioned_it_before() {
    let case = Case::new();
    let episode = case.remember(json!({"content": "The docs are stale: b/README.md"}));
    case.compiles(&[("b/README.md", HEADING)]);
    let recalled = case.recall(json!({"entity": "b/README.md"}));
    assert_eq!(recalled["items"][0]["id"], json!(id(&episode, 0)));
    let entity = case.memory.read(|reader| entity_document(reader, "b/README.md")).unwrap();
    assert_eq!(entity["episodes"][0]["id"], json!(id(&episode, 0)));
}

#[test]
fn a_part_of_a_file_has_the_path_before_its_line() {
    let case = Case::new();
    let text = "# One\n\n## Usage\n\nRun it.\n";
    case.compiles(&[("a.md", text), ("b.md", text)]);
    let tree = case.tree();
    let ids: Vec<&str> = tree.split("Usage (id=").skip(1).map(|it| &it[..11]).collect();
    let known = ids.iter().map(|id| case.pages(id, 1)["entities"][0].clone());
    let known: Vec<Value> = known.collect();
    assert_eq!(known, [json!("file:a.md#Usage"), json!("file:b.md#Usage")]);
    assert_eq!(case.cluster_titles(), ["Facts about a.md#Usage", "Facts about b.md#Usage"]);
}

#[test]
fn an_export_names_files_by_their_paths() {
    let case = Case::with_files();
    case.pages("file:a/README.md", 3);
    case.pages("file:b/README.md", 9);
    let mut out = Vec::new();
    let counts = case.memory.read(|reader| export_remind(reader, &mut out)).unwrap().unwrap();
    assert_eq!(counts.n_entities, 2);
    let text = String::from_utf8(out).unwrap();
    assert!(text.contains(r#""id":"file:b/README.md""#), "{text}");
}
