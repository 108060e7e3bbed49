//! Tests of compiled files as entities: each is one by its path, whatever its heading.

use super::*;

const HEADING: &str = "# Introduction";

impl Case {
    fn compiles(&self, files: &[(&str, &str)]) {
        self.compiles_root("notes", files);
    }

    pub(super) fn compiles_root(&self, root: &str, files: &[(&str, &str)]) {
        let notes = self.folder.path().join(root);
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

    pub(super) fn pages(&self, of: &str, n_pages: u32) -> Value {
        let content = format!("It has {n_pages} pages");
        let args = json!({
            "content": content, "kind": "fact", "subject": of, "attribute": "pages",
            "supersede": true,
        });
        self.remember(args)["results"][0].clone()
    }

    pub(super) fn cluster_titles(&self) -> Vec<String> {
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

/// A fact whose subject is the heading of the file that it mentions, as earlier builds kept it.
fn earlier_fact(id: &str, n_pages: u32, mentions: &[&str]) -> Value {
    json!({"id": id, "cluster_id": "c1", "statement": format!("It has {n_pages} pages"),
        "subject": "Introduction", "attribute": "pages", "entity_ids": mentions,
        "valid_from": "2026-01-01T00:00:00Z", "created_at": "2026-01-01T00:00:00Z"})
}

impl Case {
    /// Keeps facts of earlier builds below the cluster of the heading.
    fn has_earlier_facts(&self, facts: &[Value]) {
        let cluster = json!({"id": "c1", "title": "Facts about Introduction",
            "concept_type": "fact_cluster", "subject": "Introduction"});
        let file = json!({"version": 4, "records": {"concepts": [cluster], "facts": facts}});
        assert_eq!(self.import(&file.to_string()).refused, [""; 0]);
    }

    /// What replaced the fact of that number of pages.
    fn replaced_by(&self, n_pages: u32) -> Value {
        let text = format!("It has {n_pages} pages");
        let found = self.memory.read(|reader| {
            let facts = reader.nodes_with(&[FieldFilter::text("type", "fact")])?;
            reader.knowledge(&facts)
        });
        let fact = found.unwrap().into_iter().find(|it| it.content == text).unwrap();
        fact.text("superseded_by").into()
    }
}

#[test]
fn a_fact_that_an_earlier_build_kept_by_the_heading_of_a_file_gives_way() {
    let case = Case::with_files();
    let facts = [
        earlier_fact("f3", 3, &["file:a/README.md"]),
        earlier_fact("f9", 9, &["file:b/README.md"]),
    ];
    case.has_earlier_facts(&facts);
    let after = case.pages("file:b/README.md", 10);
    assert_eq!(case.replaced_by(9), after["fact"]);
    assert_eq!(case.replaced_by(3), Value::Null, "it is about another file");
}

#[test]
fn a_fact_about_a_thing_that_has_the_heading_of_a_file_is_none_about_the_file() {
    let case = Case::with_files();
    let facts = [earlier_fact("f3", 3, &["subject:Introduction", "file:b/README.md"])];
    case.has_earlier_facts(&facts);
    case.pages("file:b/README.md", 10);
    assert_eq!(case.replaced_by(3), Value::Null);
}

#[test]
fn values_of_a_file_and_of_its_heading_are_one_conflict() {
    let case = Case::with_files();
    case.has_earlier_facts(&[earlier_fact("f9", 9, &["file:b/README.md"])]);
    for n_pages in [10, 11] {
        case.remember(json!({"content": format!("It has {n_pages} pages"), "kind": "fact",
            "subject": "file:b/README.md", "attribute": "pages"}));
    }
    let texts = ["It has 10 pages", "It has 11 pages", "It has 9 pages"].map(str::to_owned);
    assert_eq!(case.conflicts_told(), [("open".to_owned(), texts.to_vec())]);
}

/// A fact of one name, with an attribute or without, that mentions some entities.
fn fact_of(subject: &str, attribute: Option<&str>, n_pages: u32, mentions: &[&str]) -> Value {
    let id = format!("{subject}-{n_pages}");
    let text = format!("It has {n_pages} printed pages");
    json!({"id": id, "cluster_id": "c1", "statement": text, "subject": subject,
        "attribute": attribute, "entity_ids": mentions,
        "valid_from": "2026-01-01T00:00:00Z", "created_at": "2026-01-01T00:00:00Z"})
}

#[test]
fn facts_of_a_name_that_a_file_has_contradict_each_other_whichever_comes_last() {
    for attribute in [Some("pages"), None] {
        let of_file = fact_of("Introduction", attribute, 3, &["file:a/README.md"]);
        let of_name = fact_of("Introduction", attribute, 9, &[]);
        for facts in [[&of_file, &of_name], [&of_name, &of_file]] {
            let case = Case::with_files();
            facts.into_iter().for_each(|it| case.has_earlier_facts(std::slice::from_ref(it)));
            let texts =
                ["It has 3 printed pages", "It has 9 printed pages"].map(str::to_owned).to_vec();
            assert_eq!(case.conflicts_told(), [("open".to_owned(), texts)], "{facts:?}");
        }
    }
}

#[test]
fn values_of_another_file_hide_none_of_a_files_own() {
    let case = Case::with_files();
    let mut facts = vec![fact_of("Introduction", None, 9, &["file:b/README.md"])];
    // More than what a statement is compared with, and than what one conflict holds.
    facts.extend((0..501).map(|nth| {
        let mut fact = fact_of("Introduction", None, 100, &["file:a/README.md"]);
        fact["id"] = json!(format!("other{nth}"));
        fact["statement"] =
            json!(format!("It has 100 printed pages, says {}", "x".repeat(nth + 1)));
        fact
    }));
    case.has_earlier_facts(&facts);
    assert_eq!(case.conflicts_told(), []);

    case.has_earlier_facts(&[fact_of("Introduction", None, 10, &["file:b/README.md"])]);
    let open = |texts: &[&str]| {
        ("open".to_owned(), texts.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>())
    };
    assert_eq!(
        case.conflicts_told(),
        [open(&["It has 10 printed pages", "It has 9 printed pages"])]
    );

    let stated = json!({"content": "It has 11 printed pages", "kind": "fact",
        "subject": "file:b/README.md"});
    let collisions = case.remember(stated)["results"][0]["collisions"].clone();
    assert_eq!(collisions.as_array().unwrap().len(), 2);
    let again =
        json!({"content": "It has 9 printed pages", "kind": "fact", "subject": "file:b/README.md"});
    assert_eq!(case.remember(again)["results"][0]["collisions"], json!([]), "it is there");
}

#[test]
fn what_was_said_of_a_file_by_its_folder_is_found_by_it_after_the_compile() {
    let case = Case::new();
    let folder = case.folder.path().canonicalize().unwrap();
    let whole = folder.join("notes/a.md").display().to_string();
    let names = ["notes/a.md", &whole];
    for name in names {
        case.remember(json!({"content": format!("{name} is stale."), "entities": [name]}));
        case.remember(json!({"content": "It has 3 pages", "kind": "fact", "subject": name,
            "attribute": "pages"}));
    }
    case.compiles(&[("a.md", HEADING)]);
    for name in names {
        let recalled = case.recall(json!({"entity": name, "kinds": ["episode"]}));
        let texts = recalled["items"].as_array().unwrap().iter().map(|it| it["text"].clone());
        let stale = json!(format!("{name} is stale."));
        assert!(texts.into_iter().any(|it| it == stale), "{recalled}");
        let entity = case.memory.read(|reader| entity_document(reader, name)).unwrap();
        assert_eq!(entity["name"], name);
        let later = case.remember(json!({"content": "It has 9 pages", "kind": "fact",
            "subject": name, "attribute": "pages"}));
        assert_eq!(later["results"][0]["collisions"].as_array().unwrap().len(), 1, "{name}");
    }
    assert_eq!(case.recall(json!({"entity": "a.md"}))["items"], json!([]));
}

#[test]
fn a_folder_before_the_path_leads_to_a_file_that_no_entity_is_named_like() {
    let case = Case::new();
    case.compiles(&[("a.md", HEADING)]);
    let mut fact = earlier_fact("f3", 3, &[]);
    fact["subject"] = json!("notes/a.md");
    case.has_earlier_facts(&[fact]);
    let after = case.pages("notes/a.md", 9);
    assert_eq!(after["entities"], json!(["file:a.md"]));
    assert_eq!(case.replaced_by(3), after["fact"]);
}

#[test]
fn a_statement_of_an_earlier_build_is_said_again() {
    let case = Case::with_files();
    case.has_earlier_facts(&[earlier_fact("f9", 9, &["file:b/README.md"])]);
    let again = case.pages("file:b/README.md", 9);
    assert_eq!(again["collisions"], json!([]));
    assert_eq!(case.tree().matches("It has 9 pages").count(), 2, "one fact, one episode");
}
