//! A day of an agent, whose transcript is a page of the manual.

use std::collections::BTreeMap;
use std::fmt::Write;

use expect_test::expect_file;
use serde_json::{Value, json};

use crate::support::{Client, Folder};

/// A client that writes down what it asks and what it is answered.
struct Day {
    folder: Folder,
    client: Option<Client>,
    page: String,
    /// Names that stand for ids, in the order of their first appearance.
    names: BTreeMap<String, String>,
}

const HEAD: &str = "# A day of an agent

Forty episodes of three topics, two contradictions, a consolidation, a changeset
that is refused and one that is undone, and a restart. A test plays this day
against a server over standard input and output, and writes down what was said;
ids are replaced by names, and some answers are shortened with `…`.

";

impl Day {
    fn new() -> Day {
        let folder = Folder::new();
        let client = Client::modern(&folder, &["--db", "m.db"]);
        let client = Some(client);
        Day { folder, client, page: HEAD.to_owned(), names: BTreeMap::new() }
    }

    fn tell(&mut self, text: &str) {
        writeln!(self.page, "{text}\n").unwrap();
    }

    /// Calls a tool, and writes down `asked` and the members of the answer that are named.
    fn call(&mut self, tool: &str, args: Value, asked: &str, shown: &[&str]) -> Value {
        let reply = self.client.as_mut().unwrap().call(tool, args);
        let answer: Value = serde_json::from_str(&reply.text).unwrap();
        let members =
            shown.iter().map(|it| format!("{it}: {}", answer.pointer(it).unwrap_or(&Value::Null)));
        let members: Vec<String> = members.collect();
        let mark = if reply.is_error { "error" } else { "answer" };
        let text = format!("{tool} {asked}\n{mark} {}", members.join("\n       "));
        let text = self.named(&text);
        writeln!(self.page, "```text\n{text}\n```\n").unwrap();
        answer
    }

    fn name(&mut self, id: &Value, name: &str) -> String {
        let id = id.as_str().unwrap().to_owned();
        self.names.insert(id.clone(), name.to_owned());
        id
    }

    fn named(&self, text: &str) -> String {
        self.names.iter().fold(text.to_owned(), |text, (id, name)| text.replace(id, name))
    }

    fn restart(&mut self) {
        self.client.take().unwrap().end();
        self.client = Some(Client::modern(&self.folder, &["--db", "m.db"]));
    }
}

/// The episodes of the morning.
fn episodes() -> Vec<Value> {
    let topics = [
        ("Payments", "Payment", "was declined at night because the bank was asleep"),
        ("Search", "Query", "was slow until `Redis` had the words"),
        ("Releases", "Release", "waited for a review of the migration"),
    ];
    (0..40)
        .map(|nth| {
            let (topic, what, how) = topics[nth % 3];
            json!({"content": format!("{what} {nth} {how}."), "topic": topic,
                   "at": format!("2026-11-{:02}T09:{nth:02}:00Z", 16 + nth % 5)})
        })
        .collect()
}

#[test]
fn a_day_of_an_agent_is_as_the_manual_tells() {
    let mut day = Day::new();
    day.tell("## Remembering");
    let items = episodes();
    let asked = format!("{{items: [{}, … 40]}}", items[0]);
    let kept = day.call("MemoryRemember", json!({"items": items}), &asked, &["/pending", "/hint"]);
    assert_eq!(kept["results"].as_array().unwrap().len(), 40);
    day.tell("Facts have a subject and an attribute. The second one contradicts the first:");
    let fact = |text: &str, subject: &str, attribute: &str, at: &str| {
        json!({"content": text, "kind": "fact", "subject": subject, "attribute": attribute,
               "valid_from": at})
    };
    let first = fact("The timeout of the bank is 30 s.", "bank", "timeout", "2026-11-16");
    let kept =
        day.call("MemoryRemember", first.clone(), &first.to_string(), &["/results/0/created"]);
    day.name(&kept["results"][0]["fact"], "FACT1");
    let second = fact("The timeout of the bank is 45 s.", "bank", "timeout", "2026-11-19");
    let kept = day.client.as_mut().unwrap().text("MemoryRemember", second.clone());
    let kept: Value = serde_json::from_str(&kept).unwrap();
    day.name(&kept["results"][0]["fact"], "FACT2");
    let conflict = day.name(&kept["results"][0]["conflict"], "CONFLICT1");
    let shown = day.named(&format!("conflict: {}", kept["results"][0]["conflict"]));
    day.tell(&format!("```text\nMemoryRemember {second}\nanswer {shown}\n```"));
    let who = fact("Ana runs releases.", "releases", "owner", "2026-11-16");
    day.call("MemoryRemember", who.clone(), &who.to_string(), &["/results/0/created"]);
    let who = fact("Ben runs releases.", "releases", "owner", "2026-11-20");
    let kept = day.client.as_mut().unwrap().text("MemoryRemember", who.clone());
    let kept: Value = serde_json::from_str(&kept).unwrap();
    day.name(&kept["results"][0]["conflict"], "CONFLICT2");
    let shown = day.named(&format!("conflict: {}", kept["results"][0]["conflict"]));
    day.tell(&format!("```text\nMemoryRemember {who}\nanswer {shown}\n```"));

    day.tell("## Consolidating");
    let asked = json!({"topic": "payments"});
    let sheet = day.call(
        "MemoryReview",
        asked.clone(),
        &asked.to_string(),
        &["/task", "/pending", "/episodes/0/text", "/operations/0"],
    );
    let from: Vec<Value> =
        sheet["episodes"].as_array().unwrap().iter().map(|it| it["id"].clone()).collect();
    let concept = json!({"op": "concept", "as": "night", "title": "Banks sleep at night",
                         "summary": "Payments at night are declined; retry them in the morning.",
                         "from": from});
    day.tell("A changeset with one wrong operation changes nothing:");
    let wrong = json!([concept, {"op": "supersede", "old": "nothing", "new": "nothing"}]);
    let refused = day.call(
        "MemoryApply",
        json!({"operations": wrong, "base": sheet["base"]}),
        "{operations: [{op: 'concept', …}, {op: 'supersede', old: 'nothing', new: 'nothing'}]}",
        &["/error/message", "/errors/0/op"],
    );
    assert_eq!(refused["error"]["code"], "INVALID_INPUT");
    day.tell("Without it, all of it is one snapshot:");
    let operations = json!([concept, {"op": "resolve", "id": conflict, "winner":
                            day.names.iter().find(|it| it.1 == "FACT2").unwrap().0}]);
    let done = day.call(
        "MemoryApply",
        json!({"operations": operations, "base": sheet["base"]}),
        "{operations: [{op: 'concept', title: 'Banks sleep at night', from: […], …}, \
         {op: 'resolve', id: 'CONFLICT1', winner: 'FACT2'}]}",
        &["/results/0/op", "/results/1/op", "/pending"],
    );
    let snapshot = done["snapshot"].as_i64().unwrap();
    let n_pending = done["pending"].as_i64().unwrap();
    let night = day.name(&done["results"][0]["id"], "CONCEPT1");
    day.tell("A mistake is undone by a rollback:");
    let hasty = json!([{"op": "delete", "id": night}]);
    day.call(
        "MemoryApply",
        json!({"operations": hasty}),
        "{operations: [{op: 'delete', id: 'CONCEPT1'}]}",
        &["/pending"],
    );
    let back = json!({"snapshot_id": snapshot});
    day.client.as_mut().unwrap().text("MemoryRollback", back);
    day.tell("```text\nMemoryRollback {snapshot_id: …}\n```");

    day.tell("## Recalling, after a restart");
    day.restart();
    let items = ["/items/0/type", "/items/0/title", "/items/0/why", "/left_out"];
    let asked = json!({"query": "why are payments declined at night", "k": 1, "episodes": 1});
    let found = day.call("MemoryRecall", asked.clone(), &asked.to_string(), &items);
    assert_eq!(found["items"][0]["id"], json!(night), "{found}");
    assert_eq!(found["pending"].as_i64(), Some(n_pending));
    let asked = json!({"topic": "Search", "k": 1, "episodes": 2});
    let found = day.call(
        "MemoryRecall",
        asked.clone(),
        &asked.to_string(),
        &["/items/0/text", "/items/1/text"],
    );
    assert!(found["items"][0]["text"].as_str().unwrap().starts_with("Query"), "{found}");
    let asked = json!({"entity": "redis", "k": 1, "episodes": 1});
    day.call("MemoryRecall", asked.clone(), &asked.to_string(), &["/items/0/text", "/items/0/why"]);
    day.tell("The same question of another day has another answer:");
    for at in ["2026-11-18", "2026-11-21"] {
        let asked = json!({"query": "timeout of the bank", "as_of": at, "k": 1, "episodes": 0});
        let found =
            day.call("MemoryRecall", asked.clone(), &asked.to_string(), &["/items/0/facts/0/text"]);
        let expected = if at == "2026-11-18" { "30 s" } else { "45 s" };
        let fact = found["items"][0]["facts"][0]["text"].as_str().unwrap();
        assert!(fact.contains(expected), "{found}");
    }
    let Day { folder, mut client, page, .. } = day;
    client.take().unwrap().end();
    folder.assert_healthy("m.db");
    expect_file!["../../../docs/day.md"].assert_eq(&page);
}
