//! Tests for conversations: every client's transcript, and whatever else comes.

use expect_test::{Expect, expect};
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::ingest::redact::Redactor;

/// The digest of a transcript.
fn digest(transcript: &str) -> String {
    let redactor = Redactor::builtin();
    let mut scrubber = TranscriptRedactor::new(vec![&redactor]);
    let digest = DigestFormatter { head: "head", folder: "/home/ana/mill" };
    let conversation = Conversation::read(transcript);
    digest.of(&conversation, &mut scrubber).map_or("nothing".to_owned(), |(text, _)| text)
}

#[track_caller]
fn check(records: &[Value], expected: Expect) {
    let lines: Vec<String> = records.iter().map(Value::to_string).collect();
    expected.assert_eq(&digest(&lines.join("\n")));
}

#[test]
fn claude_code() {
    let sub_agent = json!({"type": "user", "isSidechain": true, "message": {"content": "No."}});
    check(
        &[
            json!({"type": "user", "message": {"content": "<command-name>/clear</command-name>"}}),
            json!({"type": "user", "message": {"content": "Mend the\n valve."}}),
            sub_agent,
            json!({"type": "assistant", "message": {"content": [
                {"type": "text", "text": "First I look."},
                {"type": "tool_use", "id": "1", "name": "Bash", "input": {"command": "make"}},
            ]}}),
            json!({"type": "user", "message": {"content": [
                {"type": "tool_result", "tool_use_id": "1", "is_error": true,
                 "content": "Exit code 2\nno rule"},
            ]}}),
            json!({"type": "assistant", "message": {"content": [
                {"type": "tool_use", "id": "2", "name": "Edit",
                 "input": {"file_path": "/home/ana/mill/valve.rs"}},
                {"type": "tool_use", "id": "3", "name": "Write", "input": {"file_path": "/etc/x"}},
            ]}}),
            json!({"type": "user", "message": {"content": [
                {"type": "tool_result", "tool_use_id": "2", "content": "done"},
                {"type": "tool_result", "tool_use_id": "3", "is_error": true, "content": "no"},
            ]}}),
            json!({"type": "assistant", "message": {"content": [
                {"type": "text", "text": "It is mended."},
            ]}}),
        ],
        expect![[r#"
            head
            asked: Mend the valve.
            answered: It is mended.
            changed: valve.rs
            ran: `make` failed (2)"#]],
    );
}

#[test]
fn codex() {
    let item = |item: Value| {
        let payload = json!({"type": "item_completed", "item": item});
        json!({"type": "event_msg", "payload": payload})
    };
    check(
        &[
            json!({"type": "response_item", "payload": {"type": "message", "role": "user",
                "content": [{"type": "input_text", "text": "<environment_context>"}]}}),
            item(json!({"type": "UserMessage", "content": [{"type": "text", "text": "Mend it."}]})),
            item(json!({"type": "CommandExecution", "command": ["/bin/bash", "-lc", "make test"],
                "exit_code": 0, "status": "completed"})),
            item(json!({"type": "FileChange", "status": "completed",
                "changes": [{"path": "/home/ana/mill/a.rs"}, {"path": "/home/ana/mill/b.rs"}]})),
            item(json!({"type": "AgentMessage", "content": [{"type": "Text", "text": "Done."}]})),
        ],
        expect![[r#"
            head
            asked: Mend it.
            answered: Done.
            changed: a.rs, b.rs
            ran: `make test` ok"#]],
    );
    let event = |payload: Value| json!({"type": "event_msg", "payload": payload});
    check(
        &[
            event(json!({"type": "user_message", "message": "Mend it."})),
            event(json!({"type": "exec_command_end", "command": ["ls", "-l"], "exit_code": 1})),
            event(json!({"type": "patch_apply_end", "success": true,
                "changes": {"/home/ana/mill/a.rs": {"add": {}}}})),
            event(json!({"type": "agent_message", "message": "Done."})),
        ],
        expect![[r#"
            head
            asked: Mend it.
            answered: Done.
            changed: a.rs
            ran: `ls -l` failed (1)"#]],
    );
}

#[test]
fn gemini_cli() {
    let calls = json!([
        {"id": "1", "name": "run_shell_command", "args": {"command": "make"}, "status": "success",
         "result": [{"functionResponse": {"response": {"output": "Output: no\nExit Code: 2\nPid: 1"}}}]},
        {"id": "2", "name": "write_file", "args": {"file_path": "/home/ana/mill/a"},
         "status": "success"},
    ]);
    let records = [
        json!({"$set": {"messages": [
            {"type": "user", "content": [{"text": "<session_context>\nToday"}]},
        ]}}),
        json!({"type": "user", "content": [
            {"text": "<hook_context>A note.</hook_context>\n\nMend it."},
        ]}),
        json!({"type": "gemini", "content": ""}),
        json!({"type": "gemini", "content": "", "toolCalls": calls}),
        json!({"type": "gemini", "content": "Done."}),
    ];
    // Older versions keep one object.
    let lines: Vec<String> = records.iter().map(Value::to_string).collect();
    assert_eq!(digest(&json!({"messages": records[1..]}).to_string()), digest(&lines.join("\n")));
    check(
        &records,
        expect![[r#"
            head
            asked: Mend it.
            answered: Done.
            changed: a
            ran: `make` failed (2)"#]],
    );
}

#[test]
fn qwen_code() {
    check(
        &[
            json!({"type": "user", "systemPayload": {"displayText": "Mend it."},
                "message": {"parts": [{"text": "Mend it."}, {"text": "and more"}]}}),
            json!({"type": "assistant", "message": {"parts": [
                {"text": "Hm.", "thought": true},
                {"functionCall": {"id": "1", "name": "run_shell_command", "args": {"command": "make"}}},
            ]}}),
            json!({"type": "tool_result",
                "toolCallResult": {"status": "error", "resultDisplay": {"exitCode": 2}},
                "message": {"parts": [{"functionResponse": {"id": "1", "response": {"error": "no"}}}]}}),
            json!({"type": "assistant", "message": {"parts": [{"text": "Done."}]}}),
        ],
        expect![[r#"
            head
            asked: Mend it.
            answered: Done.
            ran: `make` failed (2)"#]],
    );
}

#[test]
fn opencode() {
    let messages = json!([
        {"info": {"role": "user"}, "parts": [
            {"type": "text", "text": "\"Mend it.\""},
            {"type": "text", "text": "A note.", "synthetic": true},
        ]},
        {"info": {"role": "assistant"}, "parts": [
            {"type": "tool", "callID": "1", "tool": "bash",
             "state": {"status": "completed", "input": {"command": "make"}, "metadata": {"exit": 0}}},
            {"type": "tool", "callID": "2", "tool": "write",
             "state": {"status": "completed", "input": {"filePath": "/home/ana/mill/a"}}},
            {"type": "text", "text": "Done."},
        ]},
    ]);
    check(
        &[json!({ "messages": messages })],
        expect![[r#"
            head
            asked: Mend it.
            answered: Done.
            changed: a
            ran: `make` ok"#]],
    );
}

#[test]
fn copilot_cli() {
    let patch = "*** Begin Patch\n*** Update File: /home/ana/mill/a\n+x\n*** End Patch";
    check(
        &[
            json!({"type": "user.message", "data": {"content": "Mend it."}}),
            json!({"type": "assistant.message", "data": {"content": "", "toolRequests": [
                {"toolCallId": "1", "name": "bash", "arguments": {"command": "make"}},
                {"toolCallId": "2", "name": "apply_patch", "arguments": {"input": patch}},
            ]}}),
            json!({"type": "tool.execution_complete", "data": {"toolCallId": "1", "success": false}}),
            json!({"type": "tool.execution_complete", "data": {"toolCallId": "2", "success": true}}),
            json!({"type": "assistant.message", "data": {"content": "Done."}}),
        ],
        expect![[r#"
            head
            asked: Mend it.
            answered: Done.
            changed: a
            ran: `make` failed"#]],
    );
}

fn asked(text: &str) -> Value {
    json!({"type": "user", "message": {"content": text}})
}

fn answered(text: &str) -> Value {
    json!({"type": "assistant", "message": {"content": [{"type": "text", "text": text}]}})
}

/// A token that redaction knows, put together here.
fn secret() -> String {
    ["ghp", "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"].join("_")
}

#[test]
fn a_secret_is_replaced_in_every_text() {
    let password = "correct-horse-7";
    let records = [
        asked(&format!("Use the token {} and password={password} please.", secret())),
        // Only the first text says what it is.
        answered(&format!("I set {password} in the file.")),
        json!({"type": "assistant", "message": {"content": [
            {"type": "tool_use", "id": "1", "name": "Bash",
             "input": {"command": format!("login {password}")}},
        ]}}),
    ];
    check(
        &records,
        expect![[r#"
            head
            asked: Use the token «redacted:github_pat» and password=«redacted:env_secret_assignment» please.
            answered: I set «redacted:env_secret_assignment» in the file.
            ran: `login «redacted:env_secret_assignment»`"#]],
    );
}

#[test]
fn a_secret_is_not_cut_before_it_is_known() {
    for n in [200, 220, 230, 238, TEXT_BYTES_MAX - 30, TEXT_BYTES_MAX - 4] {
        let text = format!("{} {} after", "word ".repeat(n / 5), secret());
        let digest = digest(&asked(&text).to_string());
        assert!(!digest.contains("ghp_"), "{n}: {digest}");
        // Where everything before was replaced, nothing of a cut secret is left.
        let many = format!("{}{}", format!("{} ", secret()).repeat(n / 41 + 1), "end");
        let digest = super::tests::digest(&asked(&many).to_string());
        assert!(!digest.contains("ghp_"), "{n}: {digest}");
    }
}

#[test]
fn texts_make_no_links_and_no_lines() {
    let text = "See [[Valve; w=1000]], [x](y.md), <Knowledge weight=9>x and\u{1b}[31m\u{202e} red.\n## Head";
    let digest = digest(&asked(text).to_string());
    expect![[r#"
        head
        asked: See [Valve; w=1000]], [x] (y.md), < Knowledge weight=9>x and [31m red. ## Head"#]]
    .assert_eq(&digest);
}

#[test]
fn a_long_conversation_has_a_short_digest() {
    let mut records = Vec::new();
    for nth in 0..500 {
        records.push(asked(&format!("Request {nth}: {}", "mill ".repeat(100))));
        records.push(json!({"type": "assistant", "message": {"content": [
            {"type": "tool_use", "id": nth.to_string(), "name": "Bash",
             "input": {"command": format!("make {nth} {}", "x".repeat(500))}},
        ]}}));
        records.push(answered(&"stone ".repeat(200)));
    }
    let lines: Vec<String> = records.iter().map(Value::to_string).collect();
    let digest = digest(&lines.join("\n"));
    assert!(crate::text::tokens::fits(&digest, 400), "{digest}");
    assert!(digest.starts_with("head\nasked: Request 0: mill"), "{digest}");
    assert!(digest.contains("asked: Request 499: mill"), "{digest}");
    assert!(digest.contains(" more requests\n"), "{digest}");
}

#[test]
fn other_texts_are_no_conversation() {
    for text in ["", "{", "[]", "null", "{}\n{}", "# Notes\n\nText.", "{\"type\":\"user\"}", "\0"] {
        assert_eq!(digest(text), "nothing", "{text:?}");
    }
    let deep = format!("{}{}", "{\"messages\":[".repeat(60), "]}".repeat(60));
    assert_eq!(digest(&deep), "nothing");
}

/// Values like those of transcripts, with wrong types in any place.
fn records() -> impl Strategy<Value = Value> {
    let word = prop::sample::select(vec![
        "user",
        "assistant",
        "gemini",
        "event_msg",
        "item_completed",
        "UserMessage",
        "text",
        "tool",
        "Bash",
        "Write",
        "/a",
        "Exit code 3",
        "user.message",
        "info",
        "",
        "tool_use",
        "1",
    ]);
    let key = prop::sample::select(vec![
        "type",
        "message",
        "content",
        "parts",
        "payload",
        "item",
        "text",
        "data",
        "role",
        "info",
        "messages",
        "$set",
        "toolCalls",
        "name",
        "input",
        "command",
        "file_path",
        "id",
        "state",
        "functionCall",
        "functionResponse",
        "changes",
        "exit_code",
        "result",
        "status",
        "args",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        word.prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 64, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((key.clone(), inner), 0..7)
                .prop_map(|members| members.into_iter().collect::<Value>()),
        ]
    })
}

#[test]
fn additions_leave_a_prompt_in_one_pass() {
    let added = "<system-reminder>a</system-reminder>";
    // Each is looked for behind the one before, so that many take no longer than their length.
    let prompt = format!("Mend {}it{}.", added.repeat(40_000), added);
    assert_eq!(typed_part(&prompt), "Mend it.");
    assert_eq!(typed_part("Mend it.<system-reminder>and all that"), "Mend it.");
    assert_eq!(typed_part("<hook_context>a</hook_context>Mend [remindb memory: x"), "Mend ");
}

proptest! {
    #[test]
    fn any_record_is_read_to_its_end(records in prop::collection::vec(records(), 0..6)) {
        let lines: Vec<String> = records.iter().map(Value::to_string).collect();
        let text = digest(&lines.join("\n"));
        prop_assert!(crate::text::tokens::fits(&text, 400));
        prop_assert!(!text.contains(|it: char| it.is_control() && it != '\n'));
    }
}
