//! Tests of files that come again: what is here stays, and what is told of it is so.

use super::*;

impl Case {
    /// The topic of each concept and episode, by title.
    fn topics_told(&self) -> Vec<String> {
        let rows = self.memory.read(|reader| {
            let mut rows = Vec::new();
            for of in ["episode", "concept", "topic"] {
                let keys = reader.nodes_with(&[FieldFilter::text("type", of)])?;
                rows.extend(reader.knowledge(&keys)?);
            }
            Ok::<_, crate::store::StoreError>(rows)
        });
        let rows = rows.unwrap();
        let mut told = Vec::new();
        for row in &rows {
            let topic = row.text("topic").and_then(|id| rows.iter().find(|it| it.id == id));
            let labels = row.fields.as_ref().and_then(|it| it.get("labels"));
            if row.text("topic").is_some() || labels.is_some() {
                let topic = topic.map_or("-", |it| it.title());
                told.push(format!("{}: {topic} {}", row.title(), labels.unwrap_or(&Value::Null)));
            }
        }
        told.sort();
        told
    }
}

#[test]
fn the_topic_of_the_tree_is_the_topic_of_the_export() {
    let records = json!({"version": 4, "records": {
        "episodes": [{"id": "e1", "content": "Tea is hot.",
            "labels": {"topic": ["Kitchen"], "area": ["home"]}}],
        "concepts": [{"id": "c1", "title": "Tea", "summary": "Green.",
            "labels": {"topic": ["Kitchen"]}}],
    }});
    let case = Case::new();
    case.import(&records.to_string());
    let rows = case.memory.read(|it| concepts_document(it, None, 9)).unwrap();
    let concept = rows["concepts"][0]["id"].clone();
    case.apply(json!([
        {"op": "topic", "as": "t", "name": "Moved"},
        {"op": "update", "id": concept, "topic": "$t"},
    ]));
    let told = ["Tea is hot.: Kitchen {\"area\":[\"home\"]}", "Tea: Moved null"];
    assert_eq!(case.topics_told(), told);
    assert_eq!(case.carried().topics_told(), told);
    assert_eq!(case.carried().carried().topics_told(), told);
    let export: Value = serde_json::from_str(&case.export()).unwrap();
    assert_eq!(export["records"]["concepts"][0]["data"]["labels"]["topic"], json!(["Moved"]));
}

#[test]
fn a_label_named_topic_is_no_topic() {
    let case = Case::new();
    case.apply(json!([
        {"op": "topic", "as": "t", "name": "Billing"},
        {"op": "concept", "as": "a", "title": "Alpha", "summary": "a", "topic": "$t"},
        {"op": "concept", "as": "b", "title": "Beta", "summary": "b"},
        {"op": "label", "id": "$a", "key": "topic", "value": "Other"},
        {"op": "label", "id": "$b", "key": "topic", "value": "Other"},
    ]));
    assert_eq!(case.carried().topics_told(), case.topics_told());
}

/// Two ports of one thing and the conflict between them, open or resolved.
fn ports(is_resolved: bool) -> String {
    let at = "2026-02-01T00:00:00Z";
    let fact = |id: &str, port: u32| {
        json!({"id": id, "cluster_id": "c1",
        "statement": format!("The port is {port}."), "attribute": "port",
        "valid_from": "2026-01-01T00:00:00Z", "created_at": "2026-01-01T00:00:00Z"})
    };
    let mut first = fact("f1", 1);
    let mut conflict = json!({"id": "k1", "kind": "fact", "fact_a_id": "f1", "fact_b_id": "f2",
        "severity": "high", "status": "open", "created_at": at});
    if is_resolved {
        first["valid_to"] = at.into();
        first["superseded_by"] = "f2".into();
        conflict["status"] = "resolved".into();
        conflict["winning_fact_id"] = "f2".into();
    }
    let cluster = json!({"id": "c1", "title": "Facts about relay", "concept_type": "fact_cluster",
        "entity_ids": ["tool:relay"]});
    json!({"version": 4, "records": {"concepts": [cluster], "facts": [first, fact("f2", 2)],
        "conflicts": [conflict]}})
    .to_string()
}

#[test]
fn what_is_told_to_be_kept_is_kept() {
    for end in [None, Some("dismiss")] {
        let case = Case::new();
        case.import(&ports(false));
        if let Some(end) = end {
            case.apply(json!([{"op": end, "id": case.conflict()}]));
        }
        let told = |case: &Case| {
            (case.conflicts_told(), case.facts_told(json!({"query": "port of relay"})))
        };
        let (before, n_before) = (told(&case), case.n_snapshots());
        for _ in 0..2 {
            let report = case.import(&ports(true));
            assert_eq!(report.snapshot, None);
            let of: Vec<&str> = report.kept.iter().filter_map(|it| it.split(':').next()).collect();
            assert_eq!(of, ["facts/f1", "conflicts/k1"], "{:?}", report.kept);
            assert_eq!((told(&case), case.n_snapshots()), (before.clone(), n_before));
        }
    }
}

#[test]
fn a_replacement_of_what_is_here_is_told_and_not_made() {
    let concept = |id: &str, title: &str, relations: Value| {
        json!({"id": id, "title": title,
        "summary": format!("{title} at noon."), "relations": relations})
    };
    let old = || concept("aaaa0001", "Tea", json!([]));
    let new =
        concept("aaaa0002", "Coffee", json!([{"type": "supersedes", "target_id": "aaaa0001"}]));
    let file =
        |concepts: Value| json!({"version": 3, "episodes": [], "concepts": concepts}).to_string();
    let case = Case::new();
    case.import(&file(json!([old()])));
    let report = case.import(&file(json!([old(), new])));
    let [kept] = &report.kept[..] else { panic!("{:?}", report.kept) };
    assert!(kept.starts_with("concepts/aaaa0001: "), "{kept}");
    assert!(kept.ends_with(" there; it is kept"), "{kept}");
    assert_eq!(case.titles(json!({"query": "tea at noon", "k": 9})).len(), 2);
    assert_eq!(case.import(&file(json!([old(), new]))).snapshot, None);
}

#[test]
fn an_episode_that_is_here_supports_what_comes_later() {
    let file = |concepts: Value| {
        json!({"version": 3, "concepts": concepts, "episodes": [{"id": "e1", "content": "Fine."}]})
            .to_string()
    };
    let concept = json!({"id": "aaaa0001", "title": "Tea", "summary": "Green.",
        "source_episodes": ["e1"]});
    let case = Case::new();
    case.import(&file(json!([])));
    assert_eq!(case.import(&file(json!([concept]))).added, [("concepts", 1), ("edges", 1)].into());
    assert_eq!(case.import(&file(json!([concept]))).snapshot, None);
    assert_eq!(case.edges_told().len(), 1, "{:?}", case.edges_told());
}

#[test]
fn an_episode_that_is_refused_makes_no_snapshot() {
    let episode = |id: &str, content: &str| {
        json!({"id": id, "content": content,
        "consolidated": true})
    };
    let file = json!({"version": 3, "concepts": [
        {"id": "aaaa0001", "title": "Tea", "summary": "Green.", "source_episodes": ["e1", "e2"]},
    ], "episodes": [episode("e1", &"x".repeat(100_001)), episode("e2", "Fine.")]})
    .to_string();
    let case = Case::new();
    case.import(&file);
    let again = case.import(&file);
    assert_eq!((again.snapshot, again.refused.len()), (None, 1), "{again:?}");
}

#[test]
fn a_fact_of_a_replaced_cluster_contests_nothing_elsewhere() {
    let said = |value: u32| {
        json!({"content": format!("The delay is {value} ms."), "kind": "fact",
        "subject": "relay", "attribute": "delay"})
    };
    for with in [json!({"op": "supersede", "new": "$n"}), json!({"op": "delete"})] {
        let case = Case::new();
        case.remember(said(7));
        let cluster = case.cluster_of("The delay is 7 ms.");
        let key = if with["op"] == "delete" { "id" } else { "old" };
        let mut end = with.clone();
        end[key] = cluster.into();
        case.apply(json!([
            {"op": "concept", "as": "n", "title": "New", "summary": "Another way."}, end,
        ]));
        let stated = case.remember(said(1));
        assert_eq!(stated["results"][0]["conflict"], Value::Null, "{stated}");
        for carried in [case.carried(), case.carried().carried()] {
            assert_eq!(carried.conflicts_told(), [], "{with}");
            assert_eq!(carried.import(&case.export()).snapshot, None);
            let asked = json!({"query": "delay of relay"});
            assert_eq!(carried.facts_told(asked.clone()), case.facts_told(asked));
            let third = carried.remember(said(3));
            assert!(third["results"][0]["conflict"].is_string(), "{third}");
            assert_eq!(
                carried.tree().matches("Facts about relay").count(),
                case.tree().matches("Facts about relay").count()
            );
        }
    }
}

#[test]
fn an_edge_that_was_unlinked_here_stays_so_until_it_is_linked_again() {
    let relation = json!({"type": "implies", "target_id": "c2", "strength": 0.7});
    let concept = |id: &str, relations: Value| {
        json!({"id": id, "title": id, "summary": format!("{id} at noon."),
            "relations": relations})
    };
    let evidence = json!({"id": "v1", "episode_id": "e1", "concept_id": "c1",
        "link_type": "supports", "strength": 0.5});
    let file = json!({"version": 4, "records": {
        "concepts": [concept("c1", json!([relation])), concept("c2", json!([]))],
        "episodes": [{"id": "e1", "content": "Tea is hot."}], "evidence": [evidence],
        "entities": [{"id": "tool:kettle"}, {"id": "person:nora"}],
        "entity_relations": [{"source_id": "tool:kettle", "target_id": "person:nora",
            "relation_type": "owns"}],
    }})
    .to_string();
    let case = Case::new();
    case.import(&file);
    let ids = |of: &str| {
        let keys = case.memory.read(|it| it.nodes_with(&[FieldFilter::text("type", of)]));
        let rows = case.memory.read(|it| it.knowledge(&keys.unwrap())).unwrap();
        rows.into_iter().map(|it| it.id).collect::<Vec<String>>()
    };
    let (concepts, entities, episodes) = (ids("concept"), ids("entity"), ids("episode"));
    let edges = [
        (&concepts[0], &concepts[1], "implies"),
        (&entities[0], &entities[1], "owns"),
        (&episodes[0], &concepts[0], "supports"),
    ];
    assert_eq!(case.edges_told().len(), edges.len());
    let unlink = |(from, to, of): (&String, &String, &str)| {
        json!({"op": "unlink", "from": from, "to": to,
            "type": of})
    };
    case.apply(edges.map(unlink).to_vec().into());
    for _ in 0..2 {
        let again = case.import(&file);
        assert_eq!((again.snapshot, case.edges_told().len()), (None, 0), "{again:?}");
        let told = "it was unlinked here, and stays so";
        assert_eq!(
            again.kept,
            [
                format!("edges/c1 implies c2: {told}"),
                format!("edges/tool:kettle owns person:nora: {told}"),
            ]
        );
    }
    let (from, to, _) = edges[0];
    case.apply(json!([{"op": "link", "from": from, "to": to, "type": "implies"}]));
    assert_eq!(case.import(&file).kept.len(), 1);
    assert_eq!(case.carried().edges_told(), case.edges_told());
    crate::maintenance::doctor::assert_healthy(&case.folder.path().join("memory.db"));
}

#[test]
fn an_edge_comes_back_with_the_rollback_of_its_unlinking() {
    let case = Case::new();
    let made = case.apply(json!([
        {"op": "concept", "as": "a", "title": "Alpha", "summary": "Kestrels hover."},
        {"op": "concept", "as": "b", "title": "Beta", "summary": "They hover over fields."},
        {"op": "link", "from": "$a", "to": "$b", "type": "implies"},
    ]));
    let export = case.export();
    case.apply(json!([
        {"op": "unlink", "from": id(&made, 0), "to": id(&made, 1), "type": "implies"},
    ]));
    case.import(&export);
    assert_eq!(case.edges_told().len(), 0);
    case.memory.rollback(1, false).unwrap();
    assert_eq!(case.edges_told().len(), 1);
    assert_eq!(case.import(&export).kept, [""; 0]);
}
