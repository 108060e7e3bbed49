//! Tests for the pages that people look at: whole walks, limits, errors.

use serde_json::json;

use super::*;
use crate::memory::AppendOrReplaceMode;

/// Three folders with linked notes.
fn fixture() -> ResourceFixture {
    let fixture = ResourceFixture::of(&[]);
    for (path, text) in [
        (
            "people/ana.md",
            "# Ana\n\nRuns *billing* and [the queue](../queue.md).\n\n## Phone\n\n42\n",
        ),
        ("people/ben.md", "# Ben\n\nKnows [[Ana]] and [[Nobody]].\n"),
        ("queue.md", "# Queue\n\n- [x] built\n- [ ] measured\n\n```sh\nmake <queue>\n```\n"),
    ] {
        let path = fixture.folder.join("docs").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    fixture.memory.compile(&fixture.folder.join("docs"), "compile").unwrap();
    fixture
}

/// Reads all pages of `uri`, and returns the rows under `key`.
fn walk(fixture: &ResourceFixture, uri: &str, key: &str, cursor: &str) -> Vec<Value> {
    let mut rows = Vec::new();
    let mut page = fixture.value(uri);
    loop {
        rows.extend(page[key].as_array().unwrap().iter().cloned());
        assert!(rows.len() < 1_000, "a walk without an end");
        let Some(next) = page["next"].as_str() else { return rows };
        let sign = if uri.contains('?') { '&' } else { '?' };
        page = fixture.value(&format!("{uri}{sign}{cursor}={next}"));
    }
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

/// Returns the id of the node of a label.
fn id(fixture: &ResourceFixture, label: &str) -> String {
    fn find(nodes: &Value, label: &str) -> Option<String> {
        nodes.as_array()?.iter().find_map(|it| match it["label"] == label {
            true => it["id"].as_str().map(str::to_owned),
            false => find(&it["children"], label),
        })
    }
    find(&fixture.value("remindb://tree")["roots"], label).unwrap()
}

#[test]
fn pages_of_children_walk_the_whole_tree_whatever_their_size() {
    let fixture = fixture();
    fixture.memory.write("# Loose\n\nOf nobody.", None, AppendOrReplaceMode::Append).unwrap();
    let roots = walk(&fixture, "remindb://children?limit=1", "nodes", "after");
    let labels: Vec<&str> = roots.iter().map(|it| it["label"].as_str().unwrap()).collect();
    assert_eq!(labels, ["Ana", "Ben", "Queue", "Loose"]);
    assert_eq!(
        keys(&roots[0]),
        ["id", "type", "label", "source", "tokens", "temperature", "pinned", "n_children"]
    );
    assert_eq!(
        (&roots[0]["source"], &roots[0]["n_children"], &roots[3]["source"]),
        (&json!("people/ana.md"), &json!(2), &Value::Null)
    );
    for limit in [1, 2, 200, 9_000_000] {
        let uri = format!("remindb://children?of={}&limit={limit}", id(&fixture, "Queue"));
        let children = walk(&fixture, &uri, "nodes", "after");
        let types: Vec<&str> = children.iter().map(|it| it["type"].as_str().unwrap()).collect();
        assert_eq!(types, ["list", "code"], "{limit}");
    }
}

#[test]
fn a_path_of_a_query_leads_into_folders_and_files() {
    let fixture = ResourceFixture::of(&[]);
    let path = fixture.folder.join("docs/a/b");
    fs::create_dir_all(&path).unwrap();
    fs::write(path.join("one.md"), "# One\n\nFirst.\n\n# Two\n").unwrap();
    fs::write(path.join("two.md"), "# Other\n").unwrap();
    fixture.memory.compile(&fixture.folder.join("docs"), "compile").unwrap();
    let map = fixture.value("remindb://map?path=a%2Fb");
    assert_eq!((&map["path"], &map["items"][0]["name"]), (&json!("a/b"), &json!("one.md")));
    let found = fixture.value("remindb://search?q=first%2Fsecond");
    assert_eq!(found["hits"][0]["source"], "a/b/one.md");
    for limit in [1, 2, 200] {
        let uri = format!("remindb://children?of=a/b/one.md&limit={limit}");
        let roots = walk(&fixture, &uri, "nodes", "after");
        let labels: Vec<&str> = roots.iter().map(|it| it["label"].as_str().unwrap()).collect();
        assert_eq!(labels, ["One", "Two"], "{limit}");
    }
}

#[test]
fn a_node_has_its_place_and_its_text_as_blocks() {
    let fixture = fixture();
    let text = fixture.value(&format!("remindb://children?of={}", id(&fixture, "Ana")));
    let text = text["nodes"][0]["id"].as_str().unwrap();
    let node = fixture.value(&format!("remindb://node/{text}"));
    assert_eq!(
        keys(&node),
        [
            "id",
            "type",
            "label",
            "source",
            "tokens",
            "temperature",
            "pinned",
            "access_count",
            "accessed_at",
            "created_at",
            "ancestors",
            "n_children",
            "content",
            "blocks",
            "next"
        ]
    );
    assert_eq!(node["ancestors"][0]["label"], "Ana");
    assert_eq!((&node["access_count"], &node["accessed_at"]), (&json!(0), &Value::Null));
    assert_eq!(node["created_at"], "2025-01-17T00:00:00Z");
    assert_eq!(
        node["blocks"],
        json!([{"tag": "p", "of": [
            "Runs ", {"tag": "em", "of": ["billing"]}, " and ",
            {"tag": "a", "href": "../queue.md", "node": id(&fixture, "Queue"), "of": ["the queue"]},
            "."
        ]}])
    );
    let code = fixture.value(&format!("remindb://children?of={}", id(&fixture, "Queue")));
    let [list, code] = [0, 1].map(|nth| code["nodes"][nth]["id"].as_str().unwrap());
    let code = fixture.value(&format!("remindb://node/{code}"));
    assert_eq!(
        code["blocks"],
        json!([{"tag": "pre", "of": ["make <queue>"], "lang": "sh"}]),
        "{code}"
    );
    let list = fixture.value(&format!("remindb://node/{list}"));
    assert_eq!(list["blocks"][0]["of"][0]["checked"], true, "{list}");
    fixture.memory.fetch(text, None).unwrap();
    let read = fixture.value(&format!("remindb://node/{text}"));
    assert_eq!(
        (&read["access_count"], &read["accessed_at"]),
        (&json!(1), &json!("2025-01-17T00:00:00Z"))
    );
}

#[test]
fn no_text_becomes_an_element_that_acts() {
    let hostile = "<script>alert(1)</script>\n\n<img src=x onerror=alert(1)> [x](javascript:alert(1))\n\n\
                   ![y](data:text/html,1)";
    let fixture = ResourceFixture::of(&[("a.md", hostile)]);
    for root in walk(&fixture, "remindb://children", "nodes", "after") {
        let mut all = vec![root["id"].as_str().unwrap().to_owned()];
        let below = format!("remindb://children?of={}", all[0]);
        let below = walk(&fixture, &below, "nodes", "after");
        all.extend(below.iter().map(|it| it["id"].as_str().unwrap().to_owned()));
        for id in all {
            let blocks = fixture.value(&format!("remindb://node/{id}"))["blocks"].to_string();
            for tag in ["script", "iframe", "style"] {
                assert!(!blocks.contains(&format!(r#""tag":"{tag}""#)), "{blocks}");
            }
        }
    }
}

#[test]
fn a_long_text_is_read_piece_by_piece() {
    let line = "A line with ünïcödé and *marks*. ";
    let fixture = ResourceFixture::of(&[("a.md", "# Long\n")]);
    let text = format!("```\n{}```\n", format!("{line}\n").repeat(20));
    fixture.memory.write(&text, None, AppendOrReplaceMode::Append).unwrap();
    let long = line.repeat(2_000);
    let written = fixture.memory.write(&long, None, AppendOrReplaceMode::Append).unwrap();
    let id = written.structured["node_id"].as_str().unwrap().to_owned();
    let (mut whole, mut from) = (String::new(), String::new());
    loop {
        let page = fixture.read(&format!("remindb://node/{id}{from}"));
        assert!(page.len() < 256 * 1024, "{} bytes", page.len());
        let page: Value = serde_json::from_str(&page).unwrap();
        whole.push_str(page["content"].as_str().unwrap());
        let Some(next) = page["next"].as_str() else { break };
        from = format!("?from={next}");
    }
    assert_eq!(
        whole.split_whitespace().collect::<Vec<_>>(),
        long.split_whitespace().collect::<Vec<_>>()
    );
}

#[test]
fn folders_and_files_are_areas_whose_sums_add_up() {
    let fixture = fixture();
    fixture.memory.write("Of nobody.", None, AppendOrReplaceMode::Append).unwrap();
    let map = fixture.value("remindb://map");
    let item = |name: &str| {
        map["items"].as_array().unwrap().iter().find(|it| it["name"] == name).unwrap().clone()
    };
    assert_eq!(
        keys(&map["items"][0]),
        ["name", "is_folder", "files", "nodes", "tokens", "temperature", "read"]
    );
    let (people, loose) = (item("people"), item(""));
    assert_eq!((&people["is_folder"], &people["files"]), (&json!(true), &json!(2)));
    assert_eq!((&loose["files"], &loose["nodes"]), (&json!(0), &json!(1)));
    assert_eq!(
        (item("queue.md")["is_folder"].clone(), item("queue.md")["files"].clone()),
        (json!(false), json!(1))
    );
    let sum: u64 =
        map["items"].as_array().unwrap().iter().map(|it| it["nodes"].as_u64().unwrap()).sum();
    assert_eq!(sum, fixture.value("remindb://overview")["nodes"]["total"].as_u64().unwrap());
    let inside = fixture.value("remindb://map?path=people");
    assert_eq!(
        (inside["items"].as_array().unwrap().len(), &inside["rest"]["items"]),
        (2, &json!(0))
    );
    let one = fixture.value("remindb://map?limit=1");
    assert_eq!((one["items"].as_array().unwrap().len(), &one["rest"]["items"]), (1, &json!(2)));
    assert_eq!(
        one["items"][0]["nodes"].as_u64().unwrap() + one["rest"]["nodes"].as_u64().unwrap(),
        sum
    );
    // What a tool returns counts as read, at once.
    fixture.memory.fetch(&id(&fixture, "Queue"), None).unwrap();
    assert_ne!(fixture.value("remindb://map")["items"], map["items"]);
}

#[test]
fn temperatures_are_counted_and_the_extremes_named() {
    let fixture = fixture();
    let n_nodes = fixture.value("remindb://overview")["nodes"]["total"].as_u64().unwrap();
    let phone = id(&fixture, "Phone");
    let sum = |heat: &Value| -> u64 {
        heat["bins"].as_array().unwrap().iter().map(|it| it.as_u64().unwrap()).sum()
    };
    let before = fixture.value("remindb://heat");
    assert_eq!(
        keys(&before),
        [
            "bins",
            "never_read",
            "read",
            "cold",
            "pinned",
            "warmest",
            "coldest",
            "cold_threshold",
            "hot_threshold",
            "born"
        ]
    );
    assert_eq!((sum(&before), &before["never_read"]), (n_nodes, &json!(n_nodes)));
    fixture.memory.fetch(&phone, None).unwrap();
    let after = fixture.value("remindb://heat");
    assert_eq!(sum(&after), n_nodes);
    let n_read = after["read"].as_u64().unwrap();
    assert!(0 < n_read && n_read + after["never_read"].as_u64().unwrap() == n_nodes, "{after}");
    let warmest = after["warmest"].as_array().unwrap();
    assert!(warmest.iter().take(n_read as usize).any(|it| it["id"] == phone), "{after}");
    let ends = ["warmest", "coldest"].map(|it| after[it][0]["temperature"].as_f64().unwrap());
    assert!(ends[1] < ends[0], "{after}");
}

#[test]
fn hits_are_those_of_the_tool_with_their_reasons() {
    let fixture = fixture();
    let found = fixture.value("remindb://search?q=who%20runs%20billing&budget=500");
    let hit = &found["hits"][0];
    assert!(hit["label"].as_str().unwrap().contains("billing"), "{found}");
    let why = &hit["why"];
    assert_eq!(keys(why), ["relevance", "warmth", "words", "section", "neighbour"]);
    assert_eq!(why["words"], json!(["runs", "billing"]));
    let product = why["relevance"].as_f64().unwrap() * why["warmth"].as_f64().unwrap();
    assert!((product - hit["score"].as_f64().unwrap()).abs() < 1e-9);
    let reply = fixture.memory.search("who runs billing", Some(500)).unwrap();
    assert_eq!(found["text"], reply.text);
    let few = fixture.value("remindb://search?q=ana&budget=30");
    assert!(few["budget"]["used"].as_u64().unwrap() <= 30, "{few}");
    assert_ne!(few["budget"]["left_out"], json!([]), "{few}");
    let nothing = fixture.value("remindb://search");
    assert_eq!((&nothing["hits"], &nothing["text"]), (&json!([]), &json!("")));
}

#[test]
fn edges_are_listed_in_both_directions_page_by_page() {
    let fixture = fixture();
    let links = |of: &str, more: &str| {
        let uri = format!("remindb://links/{of}?limit=1{more}");
        walk(&fixture, &uri, "links", "after")
    };
    let queue = links(&id(&fixture, "Queue"), "");
    assert_eq!(keys(&queue[0]), ["id", "label", "direction", "type", "origin", "weight"]);
    assert_eq!((&queue[0]["direction"], &queue[0]["origin"]), (&json!("in"), &json!("parsed")));
    assert!(links(&id(&fixture, "Queue"), "&direction=out").is_empty());
    let ben = fixture.value(&format!("remindb://children?of={}", id(&fixture, "Ben")));
    let ben = ben["nodes"][0]["id"].as_str().unwrap();
    let all = fixture.value(&format!("remindb://links/{ben}"));
    assert_eq!(
        (all["links"].as_array().unwrap().len(), &all["pending"][0]["label"]),
        (1, &json!("Nobody"))
    );
}

#[test]
fn the_timeline_counts_what_each_snapshot_changed() {
    let fixture = fixture();
    let phone = id(&fixture, "Phone");
    let text = fixture.value(&format!("remindb://children?of={phone}"));
    let text = text["nodes"][0]["id"].as_str().unwrap().to_owned();
    fixture.memory.write("43", Some(&text), AppendOrReplaceMode::Replace).unwrap();
    let all = walk(&fixture, "remindb://timeline?limit=1", "snapshots", "before");
    assert_eq!(
        keys(&all[0]),
        ["id", "parent_id", "message", "created_at", "is_head", "added", "modified", "removed"]
    );
    let counts = |it: &Value| ["added", "modified", "removed"].map(|of| it[of].as_u64().unwrap());
    assert_eq!((counts(&all[0]), &all[0]["is_head"]), ([0, 1, 0], &json!(true)));
    assert!(0 < counts(all.last().unwrap())[0]);
    let buckets = &fixture.value("remindb://timeline")["buckets"];
    assert_eq!(
        (buckets[0]["day"].as_str().unwrap(), buckets[0]["snapshots"].as_u64().unwrap()),
        ("2025-01-17", all.len() as u64)
    );
    let changes = walk(
        &fixture,
        &format!("remindb://snapshots/{}/changes?limit=1", all[0]["id"]),
        "changes",
        "after",
    );
    assert_eq!(
        changes,
        [json!({"op": "mod", "id": text, "label": "43", "source": "people/ana.md",
                "hunks": [{"before": "42", "after": "43"}], "cut": false})]
    );
    let history = walk(&fixture, &format!("remindb://history/{text}?limit=1"), "history", "before");
    let ops: Vec<&str> = history.iter().map(|it| it["op"].as_str().unwrap()).collect();
    assert_eq!(ops, ["mod", "add"]);
    assert_eq!(history[0]["hunks"], changes[0]["hunks"]);
}

#[test]
fn what_cannot_be_shown_is_an_error_that_says_why() {
    let fixture = fixture();
    let ana = id(&fixture, "Ana");
    for (uri, said) in [
        ("remindb://node/nobody".to_owned(), "no node `nobody`"),
        (format!("remindb://node/{ana}?from=x"), "`from` must be the `next`"),
        (format!("remindb://node/{ana}?from=99999"), "`from` must be the `next`"),
        ("remindb://children?of=nobody".to_owned(), "no node `nobody`"),
        ("remindb://children?after=x".to_owned(), "`after` must be the `next`"),
        ("remindb://children?after=f1".to_owned(), "`after` must be the `next`"),
        (format!("remindb://children?of={ana}&after=f1.2.3"), "`after` must be the `next`"),
        ("remindb://children?limit=0".to_owned(), "`limit` is 0"),
        ("remindb://children?limit=-1".to_owned(), "`limit` is `-1`"),
        ("remindb://map?path=nowhere".to_owned(), "no folder `nowhere`"),
        ("remindb://search?q=a&type=nonsense".to_owned(), "`type` is `nonsense`"),
        ("remindb://search?q=a&budget=x".to_owned(), "`budget` is `x`"),
        ("remindb://links/nobody".to_owned(), "no node `nobody`"),
        (format!("remindb://links/{ana}?direction=up"), "`direction` must be"),
        (format!("remindb://links/{ana}?after=9"), "`after` must be the `next`"),
        (format!("remindb://links/{ana}?after=4.1"), "`after` must be the `next`"),
        (format!("remindb://links/{ana}?after=-1.1"), "`after` must be the `next`"),
        ("remindb://timeline?before=x".to_owned(), "`before` must be the `next`"),
        ("remindb://timeline?before=0".to_owned(), "`before` must be the `next`"),
        ("remindb://timeline?before=-1".to_owned(), "`before` must be the `next`"),
        ("remindb://snapshots/1/changes?after=0".to_owned(), "`after` must be the `next`"),
        ("remindb://snapshots/1/changes?after=-1".to_owned(), "`after` must be the `next`"),
        ("remindb://snapshots/99/changes".to_owned(), "no snapshot 99"),
        ("remindb://history/nobody".to_owned(), "no node `nobody`"),
    ] {
        let error = fixture.try_read(&uri).unwrap_err().to_string();
        assert!(error.contains(said), "{uri}: {error}");
    }
}

#[test]
fn a_limit_above_the_most_counts_as_the_most() {
    let many: String = (0..300).map(|it| format!("## Part {it}\n\n")).collect();
    let fixture = ResourceFixture::of(&[("a.md", &format!("# Many\n\n{many}"))]);
    let many = id(&fixture, "Many");
    for limit in ["200", "201", "18446744073709551616", "99999999999999999999999"] {
        let page = fixture.value(&format!("remindb://children?of={many}&limit={limit}"));
        assert_eq!(page["nodes"].as_array().unwrap().len(), 200, "{limit}");
    }
}

/// Bytes of a document inside of a reply, where its quotes and backslashes are escaped again.
fn reply_bytes(document: &str) -> usize {
    serde_json::to_string(document).unwrap().len()
}

#[test]
fn documents_stay_small_whatever_they_show() {
    let table = format!(
        "# Table\n\n{}|\n{}|\n{}",
        "|a".repeat(100),
        "|-:".repeat(100),
        format!("{}\n", "|".repeat(101)).repeat(150)
    );
    let changed = |with: char| {
        let lines: String = (0..400)
            .map(|it| if it % 8 == 0 { with } else { '\u{1}' }.to_string().repeat(45) + "\n")
            .collect();
        format!("```\n{lines}```\n\n").repeat(8)
    };
    let long = format!("{}\n", "*a* ".repeat(20_000));
    let fixture = ResourceFixture::of(&[
        ("a.md", &table),
        ("b.md", &changed('\u{2}')),
        ("c.md", &long),
        ("d.md", &format!("```\n{}\n```\n", "\u{3}".repeat(40_000))),
    ]);
    fs::write(fixture.folder.join("docs/b.md"), changed('\u{4}')).unwrap();
    fixture.memory.compile(&fixture.folder.join("docs"), "compile").unwrap();
    let mut ids: Vec<String> = vec!["".to_owned()];
    let mut most = 0;
    let mut see = |uri: &str| {
        let document = fixture.read(uri);
        let n_bytes = reply_bytes(&document);
        assert!(n_bytes <= 256 * 1024, "{uri}: {n_bytes} bytes");
        most = most.max(n_bytes);
        serde_json::from_str::<Value>(&document).unwrap()
    };
    while let Some(of) = ids.pop() {
        let of = if of.is_empty() { of } else { format!("&of={of}") };
        let page = see(&format!("remindb://children?limit=200{of}"));
        for node in page["nodes"].as_array().unwrap() {
            let id = node["id"].as_str().unwrap();
            see(&format!("remindb://node/{id}"));
            see(&format!("remindb://history/{id}"));
            ids.extend((0 < node["n_children"].as_u64().unwrap()).then(|| id.to_owned()));
        }
    }
    for snapshot in [1, 2] {
        let mut after = String::new();
        loop {
            let uri = format!("remindb://snapshots/{snapshot}/changes?limit=200{after}");
            let Some(next) = see(&uri)["next"].as_str().map(str::to_owned) else { break };
            after = format!("&after={next}");
        }
    }
    assert!(100 * 1024 < most, "nothing here is large: {most} bytes");
}
