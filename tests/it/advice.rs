use std::collections::BTreeSet;

use serde_json::json;

use super::support::{Client, Folder};

const NOTES: &str = "# People\n\nAna is on call in odd weeks and knows the billing service.\n";

fn compiled() -> Folder {
    let folder = Folder::new().file("notes/people.md", NOTES);
    folder.ok(["compile", "notes", "--db", "m.db"]);
    folder
}

#[test]
fn an_edge_to_an_unknown_node_is_an_error_that_names_near_ones() {
    let folder = compiled();
    let mut client = Client::modern(&folder, &["--db", "m.db"]);
    let tree = client.text("MemoryTree", json!({}));
    let id = &tree.split_once("(id=").unwrap().1[..11];
    let typo = format!("{}zz", &id[..9]);
    let reply = client.call("MemoryRelate", json!({"source_id": id, "target_id": typo}));
    assert!(reply.is_error, "{}", reply.text);
    assert_eq!(
        reply.text,
        format!(
            "`target_id`: no node `{typo}`; nearest: `{id}` People; for a node that is not there \
             yet, give its name as `target_label`"
        )
    );
    let both = json!({"source_id": id, "target_id": typo, "target_label": "People"});
    assert!(client.call("MemoryRelate", both).is_error);
    let n_edges: i64 = folder
        .database("m.db")
        .query_row("SELECT count(*) FROM reference WHERE origin = 'manual'", [], |row| row.get(0))
        .unwrap();
    assert_eq!(n_edges, 0);
    let later = client.text("MemoryRelate", json!({"source_id": id, "target_label": "Later"}));
    assert_eq!(later, format!("edge created (pending): {id} -> \"Later\""));
    client.end();
}

#[test]
fn a_search_without_hits_gives_the_reason_and_the_next_step() {
    let folder = compiled();
    let mut client = Client::modern(&folder, &["--db", "m.db", "--structured"]);
    for blank in ["", " \n"] {
        let reply = client.call("MemorySearch", json!({"query": blank}));
        assert!(reply.is_error && reply.text.contains("`query` is empty; give the words"));
    }
    let reply = client.call("MemorySearch", json!({"query": "zebra"}));
    assert_eq!(
        reply.text,
        "no results: nothing has these words; try fewer or other ones, or MemoryTree for the \
         outline"
    );
    let reason = reply.result["structuredContent"]["reason"].as_str().unwrap();
    assert!(reply.text.ends_with(reason));
    let narrow = client.text("MemorySearch", json!({"query": "Ana", "type": "table"}));
    assert_eq!(narrow, "no results: no node meets all conditions; leave one out");
    let short = folder.run(["search", "zebra", "--budget", "5", "--db", "m.db"]);
    assert_eq!((short.code, short.stdout.trim()), (Some(1), "no results"));
    client.end();
    let mut client = Client::modern(&folder, &["--db", "empty.db"]);
    let empty = client.text("MemorySearch", json!({"query": "zebra"}));
    assert!(empty.starts_with("no results: the memory is empty; MemoryCompile reads"), "{empty}");
    client.end();
}

#[test]
fn a_search_during_the_first_compile_says_so() {
    let folder = compiled();
    let mut client = Client::modern(&folder, &["--db", "new.db"]);
    client.text("MemoryStats", json!({}));
    // A server holds it from before its first compile.
    let take = "INSERT INTO lease (name, holder, expires_at)
                VALUES ('rescan:x', 'other', (unixepoch() + ?1) * 1000)";
    let db = rusqlite::Connection::open(folder.path("new.db")).unwrap();
    db.execute(take, [60]).unwrap();
    let begun = client.text("MemorySearch", json!({"query": "zebra"}));
    assert!(begun.contains("being compiled for the first time; ask again"), "{begun}");
    db.execute("UPDATE lease SET expires_at = 1", []).unwrap();
    let over = client.text("MemorySearch", json!({"query": "zebra"}));
    assert!(over.contains("the memory is empty"), "{over}");
    client.end();
}

#[test]
fn a_write_of_what_is_nearly_there_names_it() {
    let folder = compiled();
    let mut client = Client::modern(&folder, &["--db", "m.db"]);
    let id: String = folder
        .database("m.db")
        .query_row("SELECT id FROM node WHERE label LIKE 'Ana%'", [], |row| row.get(0))
        .unwrap();
    let again = "Ana knows the billing service, and is on call in the odd weeks.";
    let wrote = client.text("MemoryWrite", json!({"payload": again}));
    let (first, rest) = wrote.split_once('\n').unwrap();
    assert!(first.starts_with("wrote node "), "{wrote}");
    assert!(rest.starts_with(&format!("nearly the same was there: {id} \"Ana is on")), "{rest}");
    for other in ["Ben is on call in even weeks.", "Ana.", "# People"] {
        let wrote = client.text("MemoryWrite", json!({"payload": other}));
        assert_eq!(wrote.lines().count(), 1, "{wrote}");
    }
    client.end();
}

#[test]
fn a_write_names_its_like_among_many_texts_of_the_same_words() {
    let folder = compiled();
    let of_ships = (0..200).map(|n| {
        format!(
            "Harbour lamps burn nightly before Rotterdam.\n\nThe tug {n} lies in berth {n}.\n\n"
        )
    });
    folder.write("notes/harbour.md", of_ships.collect::<String>());
    folder.run(["compile", "notes", "--db", "m.db"]);
    let mut client = Client::modern(&folder, &["--db", "m.db"]);
    for (again, like) in [
        ("Harbour lamps burn nightly before Rotterdam!", "Harbour lamps burn nightly"),
        ("The tug 120 lies in berth 120, always.", "The tug 120 lies in berth 120."),
    ] {
        let wrote = client.text("MemoryWrite", json!({"payload": again}));
        let named = wrote.lines().nth(1).unwrap_or_default();
        assert!(named.starts_with("nearly the same was there: "), "{wrote}");
        assert!(named.contains(&format!("\"{like}")), "{wrote}");
    }
    client.end();
}

/// Returns the names of tools that texts have, those of every set.
fn tools_named(texts: &str, known: &BTreeSet<String>) -> BTreeSet<String> {
    let words = texts.split(|it: char| !it.is_alphanumeric() && it != '_');
    words.filter(|it| known.contains(*it)).map(str::to_owned).collect()
}

#[test]
fn what_a_connection_lists_names_only_tools_that_it_offers() {
    let folder = compiled();
    let offered = |set: &str| {
        let mut client = Client::modern(&folder, &["--db", "m.db", "--tools", set]);
        let listed = client.ask("tools/list", json!({}));
        let tools = listed["result"]["tools"].as_array().unwrap().clone();
        let names = tools.iter().map(|it| it["name"].as_str().unwrap().to_owned());
        let names: BTreeSet<String> = names.collect();
        let mut texts = listed["result"].to_string();
        let prompts = client.ask("prompts/list", json!({}))["result"].clone();
        for prompt in prompts["prompts"].as_array().into_iter().flatten() {
            texts += &client.ask("prompts/get", json!({"name": prompt["name"]})).to_string();
        }
        for method in ["resources/list", "resources/templates/list", "server/discover"] {
            let reply = client.ask(method, json!({}));
            assert!(reply["result"].is_object(), "{reply}");
            texts += &reply.to_string();
        }
        client.end();
        (names, texts + &prompts.to_string())
    };
    let sets = ["all", "core", "memory", "remind"];
    let known: BTreeSet<String> = sets.iter().flat_map(|it| offered(it).0).collect();
    // The names of one set are words of every text.
    let known: BTreeSet<String> =
        known.into_iter().filter(|it| it.starts_with("Memory") || it.contains('_')).collect();
    for set in sets.into_iter().chain(["core,memory", "core,remind", "memory,remind"]) {
        let (names, texts) = offered(set);
        let named = tools_named(&texts, &known);
        let missing: Vec<&String> = named.difference(&names).collect();
        assert!(missing.is_empty(), "{set}: {missing:?}");
    }
}
