//! Tests of files of several roots with one path: each is a subject of its own.

use super::*;

impl Case {
    /// A memory of the roots `a` and `b`, both with `notes.md`.
    fn with_roots() -> Case {
        let case = Case::new();
        case.compiles_root("a", &[("notes.md", "# Of a")]);
        case.compiles_root("b", &[("notes.md", "# Of b")]);
        case
    }

    #[track_caller]
    fn check_replaced(&self, fact: &Value, by: &Value) {
        let id = fact["fact"].as_str().unwrap();
        assert_eq!(self.field(id, "superseded_by"), by["fact"]);
    }

    /// The names of what an episode mentions.
    fn mentioned_by(&self, text: &str) -> Value {
        self.remember(json!({"content": text}))["results"][0]["entities"].clone()
    }
}

#[test]
fn files_of_two_roots_with_one_path_are_two_subjects() {
    let case = Case::with_roots();
    let of_a = case.pages("file:notes.md", 3);
    let of_b = case.pages("file:b/notes.md", 9);
    assert_eq!(of_a["entities"], json!(["file:notes.md"]));
    assert_eq!(of_b["entities"], json!(["file:b/notes.md"]));
    case.check_replaced(&of_a, &Value::Null);
    assert_eq!(case.cluster_titles(), ["Facts about b/notes.md", "Facts about notes.md"]);
    let later = case.pages("b/notes.md", 10);
    case.check_replaced(&of_a, &Value::Null);
    case.check_replaced(&of_b, &later);
    crate::maintenance::doctor::assert_healthy(&case.folder.path().join("memory.db"));
}

#[test]
fn a_file_keeps_its_name_whatever_is_compiled_again() {
    let case = Case::with_roots();
    let paths = ["a", "b"].map(|it| case.folder.path().join(it).join("notes.md"));
    for (nth, root) in ["b", "a", "c", "a"].into_iter().enumerate() {
        case.compiles_root(root, &[("notes.md", &format!("# Again {nth}"))]);
        let text = format!("{nth}: {} and {}", paths[1].display(), paths[0].display());
        assert_eq!(case.mentioned_by(&text), json!(["file:b/notes.md", "file:notes.md"]));
    }
}

#[test]
fn roots_of_one_name_are_told_by_their_paths() {
    let case = Case::new();
    for root in ["x/docs", "y/docs", "z/docs"] {
        case.compiles_root(root, &[("notes.md", "# Same")]);
    }
    let folder = case.folder.path().canonicalize().unwrap();
    let whole = |root: &str| folder.join(root).join("docs/notes.md").display().to_string();
    let names = ["notes.md".to_owned(), whole("y"), whole("z")].map(|it| format!("file:{it}"));
    let facts: Vec<Value> = names.iter().zip(1..).map(|(name, n)| case.pages(name, n)).collect();
    for (fact, name) in facts.iter().zip(&names) {
        assert_eq!(fact["entities"], json!([name]));
        case.check_replaced(fact, &Value::Null);
    }
}

#[test]
fn a_fact_stays_with_its_file_when_an_elder_root_has_the_path_and_loses_it() {
    let case = Case::new();
    case.compiles_root("a", &[("other.md", "# Other")]);
    case.compiles_root("b", &[("notes.md", "# Of b")]);
    let alone = case.pages("notes.md", 1);
    case.compiles_root("a", &[("notes.md", "# Of a")]);
    let of_a = case.pages("notes.md", 2);
    case.check_replaced(&alone, &Value::Null);
    let of_b = case.pages("b/notes.md", 3);
    case.check_replaced(&alone, &of_b);
    case.check_replaced(&of_a, &Value::Null);
    std::fs::remove_file(case.folder.path().join("a/notes.md")).unwrap();
    case.compiles_root("a", &[]);
    let of_b_again = case.pages("notes.md", 4);
    case.check_replaced(&of_b, &of_b_again);
    case.check_replaced(&of_a, &Value::Null);
}

#[test]
fn equal_statements_about_files_of_two_roots_are_two() {
    let case = Case::with_roots();
    for name in ["notes.md", "b/notes.md"] {
        let said = case.remember(json!({"content": "It has 3 pages", "kind": "fact",
            "subject": name, "attribute": "pages"}));
        assert_eq!(said["results"][0]["created"], true, "{name}");
        assert_eq!(said["results"][0]["conflict"], Value::Null, "{name}");
    }
}

#[test]
fn what_mentions_a_file_of_a_root_is_recalled_by_its_name() {
    let case = Case::with_roots();
    case.remember(json!({"content": "The docs of b are stale.", "entities": ["b/notes.md"]}));
    for name in ["file:b/notes.md", "b/notes.md"] {
        let recalled = case.recall(json!({"entity": name}));
        assert_eq!(recalled["items"][0]["text"], "The docs of b are stale.");
        let entity = case.memory.read(|reader| entity_document(reader, name)).unwrap();
        assert_eq!(entity["name"], "b/notes.md");
    }
    assert_eq!(case.recall(json!({"entity": "notes.md"}))["items"], json!([]));
}

#[test]
fn what_was_said_by_the_name_that_a_file_has_now_is_found_by_it() {
    let case = Case::new();
    case.remember(json!({"content": "The docs of b are stale.", "entities": ["b/notes.md"]}));
    let before = case.pages("b/notes.md", 3);
    case.compiles_root("a", &[("notes.md", "# Of a")]);
    case.compiles_root("b", &[("notes.md", "# Of b")]);
    let recalled = case.recall(json!({"entity": "b/notes.md"})).to_string();
    assert!(recalled.contains("The docs of b are stale."), "{recalled}");
    let of_a = case.pages("notes.md", 8);
    let after = case.pages("b/notes.md", 9);
    case.check_replaced(&before, &after);
    case.check_replaced(&of_a, &Value::Null);
}

#[test]
fn an_import_leaves_files_of_two_roots_apart() {
    let case = Case::with_roots();
    let of_a = case.pages("notes.md", 3);
    let of_b = case.pages("b/notes.md", 9);
    let export = case.export();
    assert_eq!(case.import(&export).snapshot, None);
    let carried = case.carried();
    assert_eq!(carried.conflicts_told(), []);
    assert_eq!(carried.cluster_titles(), ["Facts about b/notes.md", "Facts about notes.md"]);
    let with_roots = Case::with_roots();
    with_roots.import(&export);
    with_roots.pages("b/notes.md", 10);
    assert_eq!(with_roots.conflicts_told(), []);
    let mut current = with_roots.facts_told(json!({"query": "how many pages has it", "k": 9}));
    current.sort();
    assert_eq!(current, ["current It has 10 pages", "current It has 3 pages"]);
    for fact in [of_a, of_b] {
        case.check_replaced(&fact, &Value::Null);
    }
}

impl Case {
    /// A memory where `notes.md` is of `b` when a fact of it is kept, and of `a` from then on;
    /// returns it with the id of the cluster of `b`, which is deleted.
    fn with_deleted_cluster() -> (Case, String) {
        let case = Case::new();
        case.compiles_root("a", &[("other.md", "# Other")]);
        case.compiles_root("b", &[("notes.md", "# Of b")]);
        case.pages("notes.md", 1);
        case.compiles_root("a", &[("notes.md", "# Of a")]);
        let of_b = case.cluster_of("It has 1 pages");
        case.apply(json!([{"op": "delete", "id": of_b}]));
        case.clock.advance(1_000);
        (case, of_b)
    }
}

#[test]
fn a_restored_cluster_stays_apart_from_that_of_a_file_with_its_name_in_another_root() {
    let (case, of_b) = Case::with_deleted_cluster();
    case.pages("notes.md", 2);
    let of_a = case.cluster_of("It has 2 pages");
    let restored = case.apply(json!([{"op": "restore", "id": of_b}]));
    assert_eq!(restored["results"][0]["id"], json!(of_b));
    assert_eq!(case.field(&of_b, "merged_into"), Value::Null);
    assert_eq!(case.cluster_of("It has 1 pages"), of_b);
    assert_eq!(case.cluster_of("It has 2 pages"), of_a);
    assert_eq!(case.conflicts_told(), []);
}

#[test]
fn a_restored_cluster_meets_the_one_that_its_file_has_since_under_another_name() {
    let (case, of_b) = Case::with_deleted_cluster();
    case.pages("notes.md", 2);
    case.pages("b/notes.md", 3);
    let since = case.cluster_of("It has 3 pages");
    let restored = case.apply(json!([{"op": "restore", "id": of_b}]));
    assert_eq!(restored["results"][0]["id"], json!(since));
    assert_eq!(case.cluster_of("It has 1 pages"), since);
}

#[test]
fn an_imported_cluster_has_its_subject_beside_that_of_a_file_with_its_name_in_another_root() {
    let case = Case::new();
    case.compiles_root("a", &[("other.md", "# Other")]);
    case.compiles_root("b", &[("notes.md", "# Of b")]);
    case.compiles_root("a", &[("notes.md", "# Of a")]);
    case.pages("notes.md", 2);
    let cluster = json!({"id": "c1", "title": "Facts about notes.md",
        "concept_type": "fact_cluster", "subject": "notes.md"});
    let fact = json!({"id": "f1", "cluster_id": "c1", "statement": "It has 1 pages",
        "subject": "notes.md", "attribute": "pages", "entity_ids": ["file:b/notes.md"]});
    let file = json!({"version": 4, "records": {"concepts": [cluster], "facts": [fact]}});
    case.import(&file.to_string());
    let of_b = case.cluster_of("It has 1 pages");
    assert!(case.field(&of_b, "subject").is_string(), "the name is that of a file of each root");
    assert_ne!(case.cluster_of("It has 2 pages"), of_b);
    assert_eq!(case.conflicts_told(), []);
}
