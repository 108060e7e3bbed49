//! Tests replies as text alone and with structured content, each within its budget.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::random_cases::{Dice, n_cases};
use super::support::{Client, Folder, Reply};

/// Writes notes of every shape that makes counting tokens hard.
fn corpus(folder: &Folder) {
    let manual = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut n_real = 0;
    for place in ["", "docs", "tests/data/markdown"] {
        let Ok(entries) = std::fs::read_dir(manual.join(place)) else { continue };
        for path in entries.map(|it| it.unwrap().path()) {
            if path.extension().is_some_and(|it| it == "md") {
                let name = path.file_name().unwrap().to_string_lossy().into_owned();
                folder.write(format!("notes/real/{n_real}-{name}"), std::fs::read(path).unwrap());
                n_real += 1;
            }
        }
    }
    let mut dice = Dice::new(1);
    let pieces = [
        "word",
        "memory",
        "日本語",
        "テキスト。",
        "한국어",
        "ไทย",
        "🦀",
        "👩‍👩‍👧‍👦",
        "é",
        "e\u{301}",
        "\u{200b}",
        "𝔘",
        "  ",
        "\u{a0}",
        "`code`",
        "**bold**",
        "12345",
        "x_y",
        "https://example.org/a/b?c=d",
        "…",
        "\u{2028}",
        "\u{85}",
        "aaaaaaaaaaaaaaaaaaaaaaaa",
        "ﷺ",
        "-",
        "(",
        "…\t",
        "'s",
        "\\",
        "\u{3000}",
    ];
    for nth in 0..12 {
        let mut text = String::new();
        for section in 0..12 {
            let depth = "#".repeat(1 + dice.below(6));
            let n_label = if section == 5 { 200 } else { dice.below(12) };
            let words = |dice: &mut Dice, n: usize| -> String {
                let gap = |dice: &mut Dice| *dice.pick(&[" ", " ", ""]);
                (0..n).map(|_| format!("{}{}", dice.pick(&pieces), gap(dice))).collect()
            };
            text += &format!("{depth} {section} {}\n\n", words(&mut dice, n_label));
            for _ in 0..dice.below(5) {
                let n = 1 + dice.below(120);
                let body = words(&mut dice, n);
                text += &match dice.below(6) {
                    0 => format!(
                        "```{}\n{body}\n   \n\n  {body}\n```\n\n",
                        dice.pick(&["rs", "", "a b"])
                    ),
                    1 => format!("- {body}\n  - {body}\n- x\n\n"),
                    2 => format!("| a | b |\n|---|---|\n| {} | {n} |\n\n", body.replace('|', "/")),
                    3 => format!("> {body}\n\n"),
                    _ => format!("{body}\n\n"),
                };
            }
        }
        let place = "deep/folder/with a name 日本語/".repeat(nth % 4);
        folder.write(format!("notes/{place}{nth}.md"), text);
    }
    folder.write(
        "notes/huge.md",
        format!("# Huge\n\n{}\n", "one very long paragraph, ".repeat(4000)),
    );
    folder.write("notes/spaces.md", format!("```\n{}\n```\n", " ".repeat(6_000)));
    folder.write("notes/lines.md", format!("```\n{}\n```\n", "\n".repeat(6_000)));
    folder.write("notes/one.md", "# x\n");
}

/// Returns the ids of all nodes of a compiled corpus, and one of none.
fn compiled(folder: &Folder) -> Vec<String> {
    corpus(folder);
    folder.ok(["compile", "notes", "--db", "m.db"]);
    assert!(400 < folder.facts("m.db")["nodes"].as_u64().unwrap());
    let shown = folder.ok("inspect --tree --depth 64 --json --db m.db".split(' '));
    let shown: Value = serde_json::from_str(&shown).unwrap();
    let nodes = shown["tree"].as_array().unwrap().iter();
    let ids = nodes.map(|it| it["id"].as_str().unwrap().to_owned());
    ids.chain(["nonsense".to_owned()]).collect()
}

const QUERIES: [&str; 14] = [
    "memory",
    "word",
    "日本語",
    "テキ",
    "code OR bold",
    "12345",
    "x_y https example",
    "🦀",
    "aaaa*",
    "one very long paragraph",
    "zebra",
    "ไทย 한국어",
    "\"very long\" AND one",
    "a \u{0}",
];

/// Returns any tool that reads, and arguments for it.
fn any_question(dice: &mut Dice, ids: &[String], budget: usize) -> (&'static str, Value) {
    let id = dice.pick(ids).clone();
    match dice.below(8) {
        0 => {
            let root = if dice.one_in(3) { String::new() } else { id };
            ("MemoryTree", json!({"root": root, "depth": dice.below(9), "budget": budget}))
        }
        1 => ("MemoryFetch", json!({"anchor": id, "depth": dice.below(5), "budget": budget})),
        2 => {
            let n = 1 + dice.below(30);
            let ids: Vec<&String> = (0..n).map(|_| dice.pick(ids)).collect();
            ("MemoryFetchBatch", json!({"node_ids": ids, "budget": budget}))
        }
        3 => ("MemoryRelated", json!({"anchor": id, "depth": dice.below(3), "budget": budget})),
        4 => {
            let detail = dice.one_in(2);
            let since = dice.below(3);
            ("MemoryDelta", json!({"since_snapshot": since, "detail": detail, "budget": budget}))
        }
        5 => {
            let (from, to) = (dice.below(2), 2 + dice.below(2));
            let range = json!({"from_snapshot_id": from, "to_snapshot_id": to, "budget": budget});
            ("MemoryDiff", range)
        }
        6 => ("MemoryHistory", json!({"anchor": id, "budget": budget})),
        _ => {
            let detail = dice.pick(&["label", "snippet", "full"]);
            let query = dice.pick(&QUERIES);
            ("MemorySearch", json!({"query": query, "detail": detail, "budget": budget}))
        }
    }
}

/// Makes edges and a history of four snapshots.
fn live(client: &mut Client, dice: &mut Dice, ids: &[String]) {
    for nth in 0..60 {
        let (from, to) = (dice.pick(ids), dice.pick(ids));
        client.call("MemoryRelate", json!({"source_id": from, "target_id": to, "weight": nth % 3}));
    }
    for payload in ["# Said\n\nOne \"thing\".\n\n- a\n- b\n", "```\ta\n```\n", "x\u{1b}y"] {
        client.text("MemoryWrite", json!({"payload": payload}));
    }
}

/// Counts the tokens of whole replies, since the budget is a promise about what is sent.
fn keep_their_budget(client: &mut Client, ids: &[String], n_wanted: usize) {
    let vocabulary = tiktoken_rs::cl100k_base().unwrap();
    let mut dice = Dice::new(7);
    live(client, &mut dice, ids);
    let (mut n_full, mut n_calls) = (0, 0);
    while n_calls < n_wanted {
        // The frame counts most in small budgets, so half of them are small.
        let budget = if dice.one_in(2) { 1 + dice.below(120) } else { 1 + dice.below(3_000) };
        let (tool, arguments) = any_question(&mut dice, ids, budget);
        let Reply { text, is_error, result } = client.call(tool, arguments.clone());
        if is_error {
            assert!(text.starts_with("no node `nonsense`"), "{arguments}: {text}");
            continue;
        }
        let mut n_tokens = vocabulary.encode_ordinary(&text).len();
        assert!(n_tokens <= budget, "{tool} {arguments}: {n_tokens} tokens\n{text}");
        assert!(!text.is_empty(), "{tool} {arguments}");
        if let Some(structured) = result.get("structuredContent") {
            let json = structured.to_string();
            assert!(budget < 200 || json != "{}", "{tool} {arguments}: {text}");
            let n_json = vocabulary.encode_ordinary(&json).len();
            assert!(n_json <= budget, "{tool} {arguments}: {n_json} tokens\n{json}");
            n_tokens = n_tokens.max(n_json);
            assert_says_all(tool, &text, structured);
        }
        n_full += usize::from(budget / 2 < n_tokens);
        n_calls += 1;
    }
    assert!(n_wanted / 4 < n_full, "only {n_full} replies made use of their budget");
}

#[test]
fn no_reply_is_larger_than_its_budget() {
    let folder = Folder::new();
    let ids = compiled(&folder);
    let mut client = Client::legacy(&folder, &["--db", "m.db"]);
    keep_their_budget(&mut client, &ids, n_cases(400) as usize);
    client.end();
}

#[test]
fn structured_content_says_all_that_the_text_says_in_no_more_tokens() {
    let folder = Folder::new();
    let ids = compiled(&folder);
    let mut client = Client::modern(&folder, &["--db", "m.db", "--structured"]);
    keep_their_budget(&mut client, &ids, n_cases(300) as usize);
    client.end();
}

const NOTES: &str = "# Store\n\nOne connection writes.\n\n## Limits\n\nFive kilobytes.\n";

fn notes() -> Folder {
    let folder = Folder::new().file("notes/store.md", NOTES);
    folder.ok(["compile", "notes", "--db", "m.db"]);
    folder
}

/// Calls each tool, in an order in which each has a result.
fn every_tool(client: &mut Client) -> Vec<(&'static str, Value)> {
    let tree = client.text("MemoryTree", json!({}));
    let ids: Vec<&str> = tree.split("(id=").skip(1).map(|it| &it[..11]).collect();
    let (store, limits) = (ids[0], ids[2]);
    vec![
        ("MemoryTree", json!({})),
        ("MemorySearch", json!({"query": "kilobytes", "detail": "full"})),
        ("MemoryFetch", json!({"anchor": limits})),
        ("MemoryFetchBatch", json!({"node_ids": [store, "nobody"]})),
        ("MemoryRelate", json!({"source_id": store, "target_id": limits})),
        ("MemoryRelate", json!({"source_id": store, "target_label": "Later"})),
        ("MemoryRelated", json!({"anchor": store})),
        ("MemoryUnrelate", json!({"source_id": store, "target_label": "Later"})),
        ("MemoryUnrelate", json!({"source_id": store, "target_id": limits})),
        ("MemoryWrite", json!({"payload": "# Plan\n\n- this\n\nThen that."})),
        ("MemorySummarize", json!({"node_id": limits, "summary": "Small."})),
        ("MemoryPin", json!({"node_id": store, "temperature": 0.9})),
        ("MemoryUnpin", json!({"node_id": store})),
        ("MemoryForget", json!({"node_id": limits, "mode": "reparent"})),
        ("MemoryCompile", json!({"path": "."})),
        ("MemoryStats", json!({})),
        ("MemoryHistory", json!({"anchor": limits})),
        ("MemoryDiff", json!({"from_snapshot_id": 1, "to_snapshot_id": 3})),
        ("MemoryDelta", json!({"since_snapshot": 1, "detail": true})),
        ("MemoryRemember", json!({"content": "`Store` was slow.", "topic": "Store"})),
        ("MemoryRecall", json!({"query": "slow"})),
        ("MemoryIngest", json!({"content": "It was slow twice.", "flush": true})),
        ("MemoryReview", json!({"task": "triage"})),
        ("MemoryConsolidate", json!({"force": true})),
        ("MemoryApply", json!({"operations": [{"op": "topic", "name": "Speed"}]})),
        ("MemoryRollback", json!({"snapshot_id": 1})),
        ("MemoryRollback", json!({"snapshot_id": 5})),
        ("MemoryRollback", json!({"snapshot_id": 1, "drop_after": true})),
    ]
}

/// Returns the listed tools by their names.
fn listed(client: &mut Client) -> BTreeMap<String, Value> {
    let list = client.ask("tools/list", json!({}))["result"]["tools"].clone();
    let tools = list.as_array().unwrap().iter();
    tools.map(|it| (it["name"].as_str().unwrap().to_owned(), it.clone())).collect()
}

const PLAIN: &[&str] = &["--db", "m.db", "--source", "notes"];

#[test]
fn text_is_the_answer_and_there_is_nothing_else() {
    for start in [Client::legacy, Client::modern] {
        let folder = notes();
        let mut client = start(&folder, PLAIN);
        let tools = listed(&mut client);
        client.logged("compiled: ");
        assert!(tools.values().all(|it| it.get("outputSchema").is_none()));
        let calls = every_tool(&mut client);
        assert_eq!(calls.iter().map(|it| it.0).collect::<BTreeSet<_>>().len(), tools.len());
        for (tool, arguments) in calls {
            let reply = client.call(tool, arguments.clone());
            assert!(!reply.is_error, "{tool} {arguments}: {}", reply.text);
            assert_eq!(reply.result.get("structuredContent"), None, "{tool}");
            assert_eq!(reply.result["content"].as_array().unwrap().len(), 1, "{tool}");
        }
        client.end();
    }
}

#[test]
fn structured_content_comes_with_a_flag_or_a_setting() {
    let setting = r#"{"server": {"structured": true}}"#;
    let flag = [PLAIN, &["--structured"]].concat();
    let core = [PLAIN, &["--structured", "--tools", "core"]].concat();
    for (args, config) in [(&flag[..], "{}"), (PLAIN, setting), (&core, "{}")] {
        for start in [Client::legacy, Client::modern] {
            let folder = notes().file("notes/.remindb/config.json", config);
            let mut client = start(&folder, args);
            let tools = listed(&mut client);
            client.logged("compiled: ");
            for (tool, arguments) in every_tool(&mut client) {
                let Some(listed) = tools.get(tool) else { continue };
                let reply = client.call(tool, arguments);
                let structured = &reply.result["structuredContent"];
                assert_says_all(tool, &reply.text, structured);
                for name in listed["outputSchema"]["properties"].as_object().into_iter().flatten() {
                    assert!(structured.get(name.0).is_some(), "{tool}: {} in {structured}", name.0);
                }
                assert_eq!(listed["outputSchema"]["type"], "object", "{tool}");
            }
            client.end();
        }
    }
}

#[test]
fn versions_without_structured_content_get_none() {
    let folder = notes();
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut client = Client::start(&folder, &["--db", "m.db", "--structured"]);
        client.ask("initialize", json!({"protocolVersion": version}));
        let is_known = "2025-06-18" <= version;
        let tree = &listed(&mut client)["MemoryTree"];
        assert_eq!(tree.get("outputSchema").is_some(), is_known, "{version}");
        let tree = client.call("MemoryTree", json!({})).result;
        assert_eq!(tree.get("structuredContent").is_some(), is_known, "{version}");
        client.end();
    }
}

#[test]
fn only_what_cannot_be_undone_is_called_destructive() {
    let folder = notes();
    let mut client = Client::modern(&folder, PLAIN);
    let tools = listed(&mut client);
    let which = |hint: &str, value: bool| -> Vec<&str> {
        let has = |it: &&String| tools[*it]["annotations"][hint] == json!(value);
        tools.keys().filter(has).map(String::as_str).collect()
    };
    assert_eq!(which("openWorldHint", false).len(), tools.len());
    assert_eq!(which("destructiveHint", true), ["MemoryRollback"]);
    let reading = [
        "MemoryDelta",
        "MemoryDiff",
        "MemoryFetch",
        "MemoryFetchBatch",
        "MemoryHistory",
        "MemoryRecall",
        "MemoryRelated",
        "MemoryReview",
        "MemorySearch",
        "MemoryStats",
        "MemoryTree",
    ];
    assert_eq!(which("readOnlyHint", true), reading);
    assert_eq!(which("destructiveHint", false).len() + reading.len() + 1, tools.len());
    client.end();
}

#[test]
fn the_best_hit_comes_first_in_every_form() {
    let folder = notes();
    let scores = |text: &str| -> Vec<f64> {
        let scores = text.split(" score=").skip(1).map(|it| it[..4].parse().unwrap());
        scores.collect()
    };
    let falls = |scores: &[f64]| 1 < scores.len() && scores.is_sorted_by(|a, b| b <= a);
    assert!(falls(&scores(&folder.ok(["search", "store", "limits", "--db", "m.db"]))));
    let mut client = Client::modern(&folder, &["--db", "m.db", "--structured"]);
    for detail in ["label", "snippet", "full"] {
        let ask = json!({"query": "store limits", "detail": detail});
        let reply = client.call("MemorySearch", ask);
        let hits = reply.result["structuredContent"]["hits"].as_array().unwrap().clone();
        let structured: Vec<f64> = hits.iter().map(|it| it["score"].as_f64().unwrap()).collect();
        if detail == "label" {
            assert!(falls(&scores(&reply.text)), "{}", reply.text);
            assert_eq!(structured, scores(&reply.text));
        }
        // The texts of one section stand together, the section of the best hit first.
        let best = structured.iter().copied().fold(0.0, f64::max);
        let first = hits.iter().filter(|it| it["under"] == hits[0]["under"]);
        assert!(first.into_iter().any(|it| it["score"] == json!(best)), "{}", reply.text);
    }
    client.end();
}

/// Asserts that each line of a text is in its structured content, and the nodes in the same order.
#[track_caller]
fn assert_says_all(tool: &str, text: &str, structured: &Value) {
    // Answers about knowledge are JSON in both forms.
    if serde_json::from_str::<Value>(text).is_ok_and(|it| it == *structured) {
        return;
    }
    let mut known = Known::default();
    known.add(structured);
    for line in text.lines() {
        assert!(known.has_line(line), "{tool}: `{line}` is not in {structured}");
    }
    let is_list = |name: &str| structured[name].is_array();
    let Some(list) = ["hits", "nodes", "changes"].into_iter().find(|it| is_list(it)) else {
        return;
    };
    let mut rest = text;
    let items = structured[list].as_array().unwrap().iter();
    for item in items.filter(|it| it.get("needs").is_none()) {
        let id = item["id"].as_str().unwrap();
        let at = rest.find(id).unwrap_or_else(|| panic!("{tool}: `{id}` comes elsewhere: {text}"));
        rest = &rest[at + id.len()..];
    }
}

/// All names, strings and numbers of structured content.
#[derive(Default)]
struct Known {
    strings: Vec<String>,
    numbers: Vec<f64>,
}

impl Known {
    fn add(&mut self, value: &Value) {
        match value {
            Value::String(text) => self.strings.push(text.clone()),
            Value::Number(number) => self.numbers.extend(number.as_f64()),
            Value::Array(items) => items.iter().for_each(|it| self.add(it)),
            Value::Object(members) => members.iter().for_each(|(name, it)| {
                self.strings.push(name.clone());
                self.add(it);
            }),
            Value::Null | Value::Bool(_) => (),
        }
    }

    /// Returns whether a line or each of its words occurs.
    fn has_line(&self, line: &str) -> bool {
        let is_break = |it: char| it.is_whitespace() || "()[];,:\"`+#".contains(it);
        self.has(line.trim()) || line.split(is_break).all(|it| self.has_word(it))
    }

    fn has(&self, part: &str) -> bool {
        self.strings.iter().any(|it| it.contains(part))
    }

    fn has_word(&self, word: &str) -> bool {
        if word.is_empty() || LAYOUT.split(' ').any(|it| it == word) || self.has(word) {
            return true;
        }
        if let Some((name, value)) = word.split_once('=').filter(|(name, _)| FACTS.contains(name)) {
            return !name.is_empty() && self.has_word(value);
        }
        // 0.55 is rounded, 2.1k truncated, and 3m the time since one that occurs.
        let word = word.trim_start_matches(['<', '>', '=']);
        let (digits, unit) = word.split_at(word.trim_end_matches(char::is_alphabetic).len());
        let Ok(number) = digits.parse::<f64>() else { return false };
        let (from, to) = match unit {
            "" => (number - 0.0051, number + 0.0051),
            "k" => (number * 1e3, (number + 0.1) * 1e3),
            "M" => (number * 1e6, (number + 0.1) * 1e6),
            "s" | "m" | "h" | "d" => return true,
            _ => return false,
        };
        // Sizes are in bytes.
        let is_it = |it: f64| from <= it && it <= to;
        self.numbers.iter().any(|&it| is_it(it) || is_it(it / 1024.0))
    }
}

/// Words of the layout, without information of their own.
const LAYOUT: &str = "--- … → -> ... no results changes empty tree related nodes node more hits hit \
                      tokens tok cut all of it needs about change not found over budget snapshot \
                      ago old new history for unchanged since where begins edge created removed \
                      resolved pending applied computed state matches HEAD rollback wrote summarized pinned unpinned at temperature forgot \
                      affected compiled added modified ops rolled back to pruned intermediate s \
                      already nothing do Database Nodes Snapshots latest cursor Temperature avg \
                      median hot cold Relations parsed manual FTS rows ├─ └─ >= < KB";

/// Names of facts on the line of a node.
const FACTS: &[&str] =
    &["id", "file", "lang", "score", "relevance", "temp", "tok", "hop", "weight", "cursor", "mode"];
