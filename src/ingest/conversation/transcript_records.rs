//! Records of the clients' transcripts, recognised by their keys.
//!
//! | client | record |
//! |---|---|
//! | Claude Code | `{type: user or assistant, message: {content}}` |
//! | Codex | `{type: event_msg, payload: {type, item or message}}` |
//! | Gemini CLI | `{type: user or gemini, content, toolCalls}`, alone or below `messages` |
//! | Qwen Code | `{type: user, assistant or tool_result, message: {parts}}` |
//! | OpenCode | `{info: {role}, parts}` |
//! | Copilot CLI | `{type: user.message or assistant.message, data}` |

use std::borrow::Cow;

use serde_json::Value;

/// Levels of lists of records in a record.
const DEPTH_MAX: usize = 3;

/// Tools that run commands, in lower case.
const COMMAND_TOOLS: &[&str] =
    &["bash", "exec_command", "local_shell", "powershell", "run_shell_command", "shell"];

/// Tools that write files, in lower case.
const EDIT_TOOLS: &[&str] = &[
    "apply_patch",
    "create",
    "edit",
    "multi_edit",
    "multiedit",
    "notebook_edit",
    "notebookedit",
    "patch",
    "replace",
    "str_replace_editor",
    "write",
    "write_file",
];

/// Keys of a path in the arguments of such a tool.
const PATH_KEYS: &[&str] =
    &["file_path", "filePath", "path", "notebook_path", "absolute_path", "target_file"];

/// Texts that a client adds to a request, by their first and last tags.
const ADDED: &[(&str, &str)] = &[
    ("<hook_context>", "</hook_context>"),
    ("[remindb memory: ", "[end of remindb memory]"),
    ("<qwen:user-prompt-submit-context>", "</qwen:user-prompt-submit-context>"),
    ("<system-reminder>", "</system-reminder>"),
];

/// Beginnings of user messages that no person typed.
const NOT_TYPED: &[&str] = &[
    "<session_context>",
    "<environment_context>",
    "<user_instructions>",
    "<command-name>",
    "<command-message>",
    "<local-command",
    "Caveat: The messages below were generated",
];

/// An event of a transcript.
pub(super) enum TranscriptEvent<'a> {
    /// A message of the person.
    Request(Cow<'a, str>),
    /// A message of the agent.
    Answer(Cow<'a, str>),
    Call {
        id: &'a str,
        name: &'a str,
        args: &'a Value,
    },
    Result {
        id: &'a str,
        exit_code: Option<i64>,
        is_failure: Option<bool>,
    },
    /// A command with its result.
    Command {
        line: Cow<'a, str>,
        exit_code: Option<i64>,
        is_failure: Option<bool>,
    },
    /// Files that were changed.
    Changed(Vec<String>),
}

/// Receives the events of a record.
type EventCallback<'e, 'a> = &'e mut dyn FnMut(TranscriptEvent<'a>);

/// Passes on the events of a record, or of a list of records.
pub(super) fn each_event<'a>(record: &'a Value, each: EventCallback<'_, 'a>) {
    walk(record, DEPTH_MAX, each);
}

fn walk<'a>(record: &'a Value, depth: usize, each: EventCallback<'_, 'a>) {
    let lists = [Some(record), record.get("messages"), at(record, "$set", "messages")];
    let list = lists.into_iter().flatten().find_map(Value::as_array);
    if let (Some(list), Some(depth)) = (list, depth.checked_sub(1)) {
        list.iter().for_each(|it| walk(it, depth, each));
        return;
    }
    // Sub-agents, and messages that the client made up.
    let is_true = |key: &str| record.get(key) == Some(&Value::Bool(true));
    if ["isSidechain", "isMeta", "isCompactSummary"].into_iter().any(is_true) {
        return;
    }
    match text(record, "type") {
        "event_msg" => codex(&record["payload"], each),
        "user.message" => request(each, text(&record["data"], "content")),
        "assistant.message" => copilot(&record["data"], each),
        "tool.execution_complete" => {
            let data = &record["data"];
            let is_failure = data.get("success").and_then(Value::as_bool).map(|it| !it);
            let id = text(data, "toolCallId");
            each(TranscriptEvent::Result { id, exit_code: None, is_failure });
        }
        _ if record.get("info").is_some() => opencode(record, each),
        _ if at(record, "message", "parts").is_some() => qwen(record, each),
        _ if at(record, "message", "content").is_some() => claude(record, each),
        _ if record.get("content").is_some() => gemini(record, each),
        _ => (),
    }
}

fn claude<'a>(record: &'a Value, each: EventCallback<'_, 'a>) {
    let is_person = text(record, "type") == "user";
    let content = &record["message"]["content"];
    match (content, is_person) {
        (Value::String(text), true) => request(each, text),
        (Value::String(text), false) => each(TranscriptEvent::Answer(text.into())),
        (Value::Array(blocks), _) => {
            let said = joined(blocks.iter().filter(|it| text(it, "type") == "text"));
            match is_person {
                true => request_of(each, said),
                false => each(TranscriptEvent::Answer(said.into())),
            }
            for block in blocks {
                match text(block, "type") {
                    "tool_use" => each(TranscriptEvent::Call {
                        id: text(block, "id"),
                        name: text(block, "name"),
                        args: &block["input"],
                    }),
                    "tool_result" => each(TranscriptEvent::Result {
                        id: text(block, "tool_use_id"),
                        exit_code: exit_code_in(&block["content"]),
                        is_failure: Some(block.get("is_error") == Some(&Value::Bool(true))),
                    }),
                    _ => (),
                }
            }
        }
        _ => (),
    }
}

fn codex<'a>(payload: &'a Value, each: EventCallback<'_, 'a>) {
    let item = &payload["item"];
    let said = |item: &Value| item["content"].as_array().map(|it| joined(it.iter()));
    let status_failed = |it: &Value| match text(it, "status") {
        "" => None,
        status => Some(matches!(status, "failed" | "declined")),
    };
    match (text(payload, "type"), text(item, "type")) {
        ("item_completed", "UserMessage") => request_of(each, said(item).unwrap_or_default()),
        ("item_completed", "AgentMessage") => {
            each(TranscriptEvent::Answer(said(item).unwrap_or_default().into()));
        }
        ("item_completed", "CommandExecution") => each(TranscriptEvent::Command {
            line: line_of(&item["command"]).into(),
            exit_code: item["exit_code"].as_i64(),
            is_failure: status_failed(item),
        }),
        ("item_completed", "FileChange") if status_failed(item) != Some(true) => {
            each(TranscriptEvent::Changed(changed(&item["changes"])));
        }
        ("user_message", _) => request(each, text(payload, "message")),
        ("agent_message", _) => {
            each(TranscriptEvent::Answer(text(payload, "message").into()));
        }
        ("exec_command_end", _) => each(TranscriptEvent::Command {
            line: line_of(&payload["command"]).into(),
            exit_code: payload["exit_code"].as_i64(),
            is_failure: status_failed(payload),
        }),
        ("patch_apply_end", _) if payload["success"] != Value::Bool(false) => {
            each(TranscriptEvent::Changed(changed(&payload["changes"])));
        }
        _ => (),
    }
}

fn gemini<'a>(record: &'a Value, each: EventCallback<'_, 'a>) {
    let said = |content: &Value| match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => joined(parts.iter()),
        _ => String::new(),
    };
    match text(record, "type") {
        "user" => {
            let shown = record.get("displayContent").unwrap_or(&record["content"]);
            request_of(each, said(shown));
        }
        "gemini" => {
            each(TranscriptEvent::Answer(said(&record["content"]).into()));
            for call in record["toolCalls"].as_array().into_iter().flatten() {
                let id = text(call, "id");
                let (name, args) = (text(call, "name"), &call["args"]);
                each(TranscriptEvent::Call { id, name, args });
                let response = call["result"].pointer("/0/functionResponse/response");
                let is_failure = match text(call, "status") {
                    "" => continue,
                    status => Some(status != "success"),
                };
                let exit_code = response.and_then(|it| exit_code_in(&it["output"]));
                each(TranscriptEvent::Result { id, exit_code, is_failure });
            }
        }
        _ => (),
    }
}

fn qwen<'a>(record: &'a Value, each: EventCallback<'_, 'a>) {
    let parts = record["message"]["parts"].as_array().into_iter().flatten();
    let said = || joined(parts.clone().filter(|it| it.get("thought").is_none()));
    match text(record, "type") {
        "user" => match text(&record["systemPayload"], "displayText") {
            "" => request_of(each, said()),
            shown => request(each, shown),
        },
        "assistant" => each(TranscriptEvent::Answer(said().into())),
        _ => (),
    }
    for part in parts.clone() {
        let (call, response) = (&part["functionCall"], &part["functionResponse"]);
        if call.is_object() {
            let (id, name, args) = (text(call, "id"), text(call, "name"), &call["args"]);
            each(TranscriptEvent::Call { id, name, args });
        }
        if response.is_object() {
            let result = &record["toolCallResult"];
            let is_failure = match text(result, "status") {
                "" => response["response"].get("error").map(|_| true),
                status => Some(status != "success"),
            };
            let exit_code = result.pointer("/resultDisplay/exitCode").and_then(Value::as_i64);
            each(TranscriptEvent::Result { id: text(response, "id"), exit_code, is_failure });
        }
    }
}

fn opencode<'a>(record: &'a Value, each: EventCallback<'_, 'a>) {
    let parts = record["parts"].as_array().into_iter().flatten();
    let is_said =
        |it: &&Value| text(it, "type") == "text" && it.get("synthetic") != Some(&Value::Bool(true));
    let said = joined(parts.clone().filter(is_said));
    match text(&record["info"], "role") {
        // Its command line puts a prompt between quotes.
        "user" => {
            let typed = without_additions(&said);
            request_of(each, typed.trim().trim_matches('"').to_owned());
        }
        "assistant" => each(TranscriptEvent::Answer(said.into())),
        _ => (),
    }
    for part in parts.filter(|it| text(it, "type") == "tool") {
        let (id, name, state) = (text(part, "callID"), text(part, "tool"), &part["state"]);
        each(TranscriptEvent::Call { id, name, args: &state["input"] });
        let is_failure = match text(state, "status") {
            "completed" => Some(false),
            "error" => Some(true),
            _ => continue,
        };
        let exit_code = state.pointer("/metadata/exit").and_then(Value::as_i64);
        each(TranscriptEvent::Result { id, exit_code, is_failure });
    }
}

fn copilot<'a>(data: &'a Value, each: EventCallback<'_, 'a>) {
    each(TranscriptEvent::Answer(text(data, "content").into()));
    for call in data["toolRequests"].as_array().into_iter().flatten() {
        let (id, name) = (text(call, "toolCallId"), text(call, "name"));
        each(TranscriptEvent::Call { id, name, args: &call["arguments"] });
    }
}

fn request<'a>(each: EventCallback<'_, 'a>, text: &'a str) {
    if !NOT_TYPED.iter().any(|it| text.trim_start().starts_with(it)) {
        each(TranscriptEvent::Request(without_additions(text)));
    }
}

fn request_of<'a>(each: EventCallback<'_, 'a>, text: String) {
    if !NOT_TYPED.iter().any(|it| text.trim_start().starts_with(it)) {
        each(TranscriptEvent::Request(without_additions(&text).into_owned().into()));
    }
}

/// Removes the texts that clients add to a request, such as the answers of hooks.
pub(super) fn without_additions(text: &str) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(text);
    for (open, close) in ADDED {
        while let Some((before, rest)) = text.split_once(open) {
            let after = rest.split_once(close).map_or("", |(_, after)| after);
            text = Cow::Owned([before, after].concat());
        }
    }
    text
}

/// Returns the command line that a tool was called with; `None` for other tools.
pub(super) fn command_of(name: &str, args: &Value) -> Option<String> {
    if !COMMAND_TOOLS.contains(&name.to_ascii_lowercase().as_str()) {
        return None;
    }
    let line = args.get("command").or_else(|| args.get("cmd"))?;
    Some(line_of(line)).filter(|it| !it.is_empty())
}

/// Returns the paths of files that a call of a tool writes; none for other tools.
pub(super) fn edited_by(name: &str, args: &Value) -> Vec<String> {
    if !EDIT_TOOLS.contains(&name.to_ascii_lowercase().as_str()) || text(args, "command") == "view"
    {
        return Vec::new();
    }
    if let Some(path) = PATH_KEYS.iter().find_map(|key| args.get(key)?.as_str()) {
        return vec![path.to_owned()];
    }
    let texts = [Some(args), args.get("input"), args.get("patch"), args.get("patchText")];
    let patch = texts.into_iter().flatten().find_map(Value::as_str).unwrap_or("");
    let files = ["*** Add File: ", "*** Update File: ", "*** Delete File: "];
    let path = |line: &str| files.iter().find_map(|it| line.strip_prefix(it)).map(str::to_owned);
    patch.lines().filter_map(path).collect()
}

/// Returns a command line from a text or a list of words; `bash -lc 'LINE'` is LINE.
fn line_of(command: &Value) -> String {
    let Value::Array(words) = command else {
        return command.as_str().unwrap_or_default().to_owned();
    };
    let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
    match words[..] {
        [_, "-c" | "-lc", line] => line.to_owned(),
        _ => words.join(" "),
    }
}

/// Returns the paths in a list of changes, or in an object that has them as keys.
fn changed(changes: &Value) -> Vec<String> {
    match changes {
        Value::Object(by_path) => by_path.keys().cloned().collect(),
        Value::Array(items) => items.iter().map(|it| text(it, "path").to_owned()).collect(),
        _ => Vec::new(),
    }
}

/// Returns the exit code that the output of a command begins or ends with.
fn exit_code_in(output: &Value) -> Option<i64> {
    let output = match output {
        Value::String(text) => text,
        Value::Array(blocks) => blocks.first()?.get("text")?.as_str()?,
        _ => return None,
    };
    let code = |line: &str| {
        let rest = line.strip_prefix("Exit code ").or_else(|| line.strip_prefix("Exit Code: "))?;
        rest.trim().parse().ok()
    };
    output.lines().next().and_then(code).or_else(|| output.lines().rev().take(6).find_map(code))
}

fn joined<'a>(parts: impl Iterator<Item = &'a Value>) -> String {
    let texts: Vec<&str> = parts.filter_map(|it| it.get("text")?.as_str()).collect();
    texts.join("\n")
}

/// Returns the value of a key in the object below another key. A pointer would copy both keys.
fn at<'a>(value: &'a Value, key: &str, inner: &str) -> Option<&'a Value> {
    value.get(key)?.get(inner)
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}
