use std::io::Write;
use std::process::Stdio;

use expect_test::expect;
use serde_json::{Value, json};

use super::support::{Client, Folder, finish};

mod carried;
mod configured;
mod day;
mod taught;

/// Runs a command on the memory.
#[track_caller]
fn ok(folder: &Folder, args: &[&str]) -> String {
    folder.ok(args.iter().copied().chain(["--db", "m.db"]))
}

#[track_caller]
fn json_of(folder: &Folder, args: &[&str]) -> Value {
    let args: Vec<&str> = args.iter().copied().chain(["--json"]).collect();
    serde_json::from_str(&ok(folder, &args)).unwrap()
}

/// Remembers a text on the command line, and returns its id.
fn remember(folder: &Folder, args: &[&str]) -> String {
    let answer = json_of(folder, &[&["remember"], args].concat());
    answer["results"][0]["id"].as_str().unwrap().to_owned()
}

fn call(client: &mut Client, tool: &str, args: Value) -> Value {
    serde_json::from_str(&client.text(tool, args)).unwrap()
}

#[test]
fn what_is_remembered_on_the_command_line_is_recalled() {
    let folder = Folder::new();
    let first = ok(&folder, &["remember", "--topic", "Payments", "`Redis` timed out twice"]);
    assert!(first.starts_with("remembered: "), "{first}");
    assert!(first.contains("  mentions subject:Redis\n"), "{first}");
    let again = ok(&folder, &["remember", "--topic", "payments", "`Redis` timed out twice"]);
    assert!(again.starts_with("already there: "), "{again}");
    let recalled = ok(&folder, &["recall", "redis", "time", "out"]);
    assert!(recalled.starts_with("[observation] `Redis` timed out twice (id="), "{recalled}");
    assert!(ok(&folder, &["topics"]).starts_with("Payments (id="));
    assert!(ok(&folder, &["entities"]).contains("subject:Redis (id="));
    let nothing = folder.run(["recall", "volcanoes", "--db", "m.db"]);
    assert_eq!(nothing.code, Some(1));
    assert!(nothing.stdout.starts_with("nothing relevant"), "{}", nothing.stdout);
    folder.assert_healthy("m.db");
}

#[test]
fn a_changeset_of_lines_is_applied_or_explained_by_line() {
    let folder = Folder::new();
    let a = remember(&folder, &["Retry one failed"]);
    let b = remember(&folder, &["Retry two failed"]);
    let lines = format!(
        "# both say the same\nconcept as=pause title=\"Retries need pauses\" from={a},{b} \"At once \
         fails.\"\n\nconcept as=jitter title=Jitter \"Random pauses.\"\nlink from=$pause to=$jitter \
         type=implies strength=0.7\n"
    );
    let folder = folder
        .file("good.txt", &lines)
        .file("bad.txt", format!("processed ids={a}\n\nlink from={a} to=nobody type=implies\n"));
    let dry = ok(&folder, &["apply", "-f", "good.txt", "--dry-run"]);
    assert_eq!(dry.lines().next(), Some("3 operations can be applied; nothing was written"));
    let done = ok(&folder, &["apply", "-f", "good.txt"]);
    assert_eq!(done.lines().next(), Some("applied 3 operations in snapshot 3"));
    assert!(done.contains("\n  line 2: concept "), "{done}");
    let recalled = json_of(&folder, &["recall", "retries", "pauses"]);
    assert_eq!(recalled["items"][0]["title"], "Retries need pauses");
    assert_eq!(recalled["pending"], 0);
    let bad = folder.run(["apply", "-f", "bad.txt", "--db", "m.db"]);
    assert_eq!((bad.code, bad.stdout.as_str()), (Some(2), ""));
    assert_eq!(
        bad.stderr,
        "remindb: line 3: `to` names `nobody`, which is no node; nothing was applied\n"
    );
    ok(&folder, &["undo"]);
    assert_eq!(json_of(&folder, &["review"])["pending"]["total"], 2);
    ok(&folder, &["undo"]);
    assert_eq!(json_of(&folder, &["review"])["pending"]["total"], 0);
    folder.assert_healthy("m.db");
}

#[test]
fn standard_input_is_a_changeset_or_a_text() {
    let folder = Folder::new();
    remember(&folder, &["Something"]);
    let with_input = |args: &[&str], input: &str| {
        let mut command = folder.command(args.iter().copied().chain(["--db", "m.db"]));
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        String::from_utf8(finish(child).stdout).unwrap()
    };
    let applied = with_input(&["apply", "-"], r#"[{"op": "topic", "name": "Speed"}]"#);
    assert!(applied.starts_with("applied 1 operation in snapshot 2\n"), "{applied}");
    let kept = with_input(&["ingest", "-", "--flush"], "It was slow.");
    assert_eq!(kept, "0 characters wait for more, 1 chunks wait\n");
    let sheet = json_of(&folder, &["review", "--task", "triage"]);
    assert_eq!(sheet["chunk"]["text"], "It was slow.");
}

#[test]
fn conflicts_are_listed_with_what_contradicts() {
    let folder = Folder::new();
    let fact = |text: &str| json!({"op": "fact", "subject": "cache", "attribute": "timeout", "text": text});
    remember(&folder, &["Something"]);
    let folder =
        folder.file("facts.json", json!([fact("It is 30 s."), fact("It is 45 s.")]).to_string());
    ok(&folder, &["apply", "-f", "facts.json"]);
    let listed = ok(&folder, &["conflicts"]);
    let shown: Vec<&str> = listed.lines().map(|it| it.split(" (id=").next().unwrap()).collect();
    expect![[r#"
        [open medium] cache / timeout
          It is 30 s.
          It is 45 s."#]]
    .assert_eq(&shown.join("\n"));
    let none = folder.run(["conflicts", "--status", "resolved", "--db", "m.db"]);
    assert_eq!((none.code, none.stdout.as_str()), (Some(1), "none\n"));
}

#[test]
fn an_agent_remembers_consolidates_and_reads_over_mcp() {
    let folder = Folder::new();
    let mut client = Client::modern(&folder, &["--db", "m.db"]);
    let items: Vec<Value> = (0..6)
        .map(|nth| json!({"content": format!("Payment {nth} failed at night."), "topic": "Payments"}))
        .collect();
    let kept = call(&mut client, "MemoryRemember", json!({"items": items}));
    assert!(kept["hint"].as_str().unwrap().contains("MemoryReview"));
    let sheet = call(&mut client, "MemoryReview", json!({}));
    let ids: Vec<Value> =
        sheet["episodes"].as_array().unwrap().iter().map(|it| it["id"].clone()).collect();
    let concept = json!({"op": "concept", "title": "Night failures", "summary": "Payments fail \
                         at night.", "from": ids});
    let wrong = json!({"operations": [concept, {"op": "supersede", "old": "a", "new": "b"}],
                       "base": sheet["base"]});
    let refused = client.call("MemoryApply", wrong);
    assert!(refused.is_error);
    let body: Value = serde_json::from_str(&refused.text).unwrap();
    assert_eq!(
        (&body["errors"][0]["op"], &body["error"]["code"]),
        (&json!(1), &json!("INVALID_INPUT"))
    );
    let done = call(
        &mut client,
        "MemoryApply",
        json!({"operations": [concept], "base": sheet["base"], "key": "night"}),
    );
    assert_eq!(done["pending"], 0);
    client.end();

    // Another process, and resources that change nothing.
    let mut client = Client::modern(&folder, &["--db", "m.db", "--tools", "all"]);
    let read = |client: &mut Client, uri: &str| -> Value {
        let reply = client.ask("resources/read", json!({"uri": uri}));
        let text = reply["result"]["contents"][0]["text"].as_str().unwrap_or("null").to_owned();
        serde_json::from_str(&text).unwrap()
    };
    let concepts = read(&mut client, "remindb://concepts");
    assert_eq!(concepts["total"], 1);
    let id = concepts["concepts"][0]["id"].as_str().unwrap();
    let concept = read(&mut client, &format!("remindb://concepts/{id}"));
    assert_eq!(concept["sources"].as_array().unwrap().len(), 6);
    assert_eq!(read(&mut client, "remindb://topics")["topics"][0]["episodes"], 6);
    let recalled = call(&mut client, "MemoryRecall", json!({"topic": "payments", "k": 1}));
    assert_eq!(recalled["items"][0]["title"], "Night failures");
    client.end();
    folder.assert_healthy("m.db");
}

#[test]
fn eight_writers_lose_nothing() {
    let folder = Folder::new();
    remember(&folder, &["First of `all`"]);
    std::thread::scope(|scope| {
        for writer in 0..8 {
            let folder = &folder;
            scope.spawn(move || {
                let mut client = Client::modern(folder, &["--db", "m.db"]);
                for nth in 0..5 {
                    let content = format!("Writer {writer} says {nth} of `all`.");
                    call(&mut client, "MemoryRemember", json!({"content": content}));
                }
                client.end();
            });
        }
    });
    let review = json_of(&folder, &["review"]);
    assert_eq!(review["pending"]["total"], 41);
    let entities = json_of(&folder, &["entities"]);
    assert_eq!(entities["entities"].as_array().unwrap().len(), 1);
    assert_eq!(entities["entities"][0]["mentions"], 41);
    folder.assert_healthy("m.db");
}

#[test]
fn what_was_ingested_survives_a_kill() {
    let folder = Folder::new();
    let mut client = Client::modern(&folder, &["--db", "m.db"]);
    let line = "The gateway was slow again. ";
    let answer = call(&mut client, "MemoryIngest", json!({"content": line.repeat(200)}));
    assert_eq!(answer["chunks"], 2);
    call(&mut client, "MemoryIngest", json!({"content": "And once more."}));
    client.kill();
    let sheet = json_of(&folder, &["review", "--task", "triage"]);
    assert_eq!(sheet["pending"]["total"], 2);
    assert!(sheet["chunk"]["text"].as_str().unwrap().starts_with(line));
    ok(&folder, &["ingest", "--flush"]);
    assert_eq!(json_of(&folder, &["review", "--task", "triage"])["pending"]["total"], 3);
    folder.assert_healthy("m.db");
}

#[test]
fn knowledge_is_carried_word_for_word() {
    let folder = Folder::new();
    remember(
        &folder,
        &["--topic", "Payments", "`Redis` was slow: 30 % of calls, \"twice\"\tin a day"],
    );
    let facts = json!([
        {"op": "fact", "subject": "cache", "attribute": "timeout", "text": "It is 30 s."},
        {"op": "fact", "subject": "cache", "attribute": "timeout", "text": "It is 45 s.",
         "supersede": true},
        {"op": "concept", "as": "a", "title": "Slow stores", "summary": "They wait."},
        {"op": "concept", "as": "b", "title": "Pools", "summary": "They help."},
        {"op": "link", "from": "$a", "to": "$b", "type": "implies", "strength": 0.7},
    ]);
    let folder = folder.file("facts.json", facts.to_string());
    ok(&folder, &["apply", "-f", "facts.json"]);
    ok(&folder, &["export", "all.jsonl"]);
    folder.ok(["import", "all.jsonl", "--db", "other.db"]);
    let questions: [&[&str]; 5] = [
        &["recall", "slow", "stores"],
        &["recall", "--as-of", "2099-01-01", "--include", "superseded", "cache", "timeout"],
        &["recall", "-e", "redis"],
        &["topics"],
        &["entities"],
    ];
    for question in questions {
        let of = |db: &str| folder.ok(question.iter().copied().chain(["--json", "--db", db]));
        assert_eq!(of("m.db"), of("other.db"), "{question:?}");
    }
    folder.assert_healthy("other.db");
}

#[test]
fn a_secret_in_what_was_remembered_is_taken_out_everywhere() {
    const SECRET: &str = "QX-123456";
    let folder = Folder::new();
    remember(&folder, &["--topic", "Keys", "The code `QX-123456` opens the door"]);
    let facts = json!([{
        "op": "fact", "subject": SECRET, "attribute": SECRET, "text": "QX-123456 is the code.",
    }]);
    let folder = folder
        .file("facts.json", facts.to_string())
        .file(
            "notes/.remindb/config.json",
            r#"{"redaction": {"custom": [{"kind": "door", "pattern": "QX-[0-9]{6}"}]}}"#,
        )
        .file("notes/a.md", "# A\n");
    ok(&folder, &["apply", "-f", "facts.json"]);
    assert!(ok(&folder, &["recall", "door"]).contains(SECRET));
    let redacted = folder.run(["redact", "--db", "m.db", "--source", "notes"]);
    assert_eq!(redacted.code, Some(0), "{} {}", redacted.stdout, redacted.stderr);
    let bytes = std::fs::read(folder.path("m.db")).unwrap().to_ascii_uppercase();
    assert!(!bytes.windows(SECRET.len()).any(|it| it == SECRET.as_bytes()));
    assert!(!ok(&folder, &["recall", "door"]).contains(SECRET));
    folder.assert_healthy("m.db");
}
