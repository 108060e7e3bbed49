//! The suite's tools that first ask the client: for user input, sampling or roots.

use serde_json::{Value, json};

use super::SuiteToolFn;
use super::fixture_tools::{text, tool};
use crate::mcp::{
    ArgSpec, Args, CallContext, ClientCapability, HandlerError, ServerRequest, Tool, ToolReply,
};

/// All tools that ask.
pub(super) const TOOLS: &[Tool<SuiteToolFn>] = &[
    tool(
        "test_sampling",
        "Asks the model.",
        &[ArgSpec::text("prompt", "What to ask").required()],
        |_, args, call| {
            let answer = one(call, "model", model(args.text("prompt").unwrap_or_default(), 100))?;
            text(&format!("LLM response: {}", text_of_answer(&answer)))
        },
    ),
    tool(
        "test_elicitation",
        "Asks the user.",
        &[ArgSpec::text("message", "What to ask").required()],
        |_, args, call| {
            let properties = json!({
                "username": {"type": "string", "description": "User's response"},
                "email": {"type": "string", "description": "User's email address"},
            });
            let message = args.text("message").unwrap_or_default();
            let answer = one(call, "user", form(message, properties, &["username", "email"]))?;
            text(&format!("User response: {}", outcome(&answer)))
        },
    ),
    tool("test_elicitation_sep1034_defaults", "Asks with defaults.", &[], |_, _, call| {
        completed(call, defaults())
    }),
    tool("test_elicitation_sep1330_enums", "Asks for choices.", &[], |_, _, call| {
        completed(call, choices())
    }),
    tool("test_missing_capability", "Cannot do without a model.", &[], |_, _, call| {
        text(&text_of_answer(&one(call, "model", model("Say hello.", 10))?))
    }),
    tool("test_streaming_elicitation", "Asks the user while it runs.", &[], |_, _, call| {
        text(&outcome(&one(call, "confirm", confirm())?))
    }),
    tool("test_input_required_result_elicitation", "Asks for a name.", &[], |_, _, call| {
        let answer = one(call, "user_name", name("What is your name?"))?;
        text(&format!("Hello, {}!", filled(&answer, "name")))
    }),
    tool("test_input_required_result_sampling", "Asks for a capital.", &[], |_, _, call| {
        let question = model("What is the capital of France?", 100);
        text(&text_of_answer(&one(call, "capital_question", question)?))
    }),
    tool("test_input_required_result_list_roots", "Asks for folders.", &[], |_, _, call| {
        text(&folders(&one(call, "client_roots", ServerRequest::Folders)?))
    }),
    tool("test_input_required_result_request_state", "Keeps state.", &[], confirmed),
    tool("test_input_required_result_tampered_state", "Keeps state safe.", &[], confirmed),
    tool("test_input_required_result_multiple_inputs", "Asks for much.", &[], |_, _, call| {
        let answers = call.request_from_client(&[
            ("user_name", name("What is your name?")),
            ("greeting", model("Generate a greeting", 50)),
            ("client_roots", ServerRequest::Folders),
        ])?;
        let [user, greeting, roots] = answers.as_slice() else {
            return Err(HandlerError::Internal("an answer for each question".to_owned()));
        };
        let (user, greeting) = (filled(user, "name"), text_of_answer(greeting));
        text(&format!("{user}: {greeting}; {}", folders(roots)))
    }),
    tool("test_input_required_result_multi_round", "Asks twice.", &[], |_, _, call| {
        let user = one(call, "step1", name("Step 1: What is your name?"))?;
        let message = "Step 2: What is your favorite color?";
        let color = form(message, json!({"color": {"type": "string"}}), &["color"]);
        let color = one(call, "step2", color)?;
        text(&format!("{} likes {}.", filled(&user, "name"), filled(&color, "color")))
    }),
    tool("test_input_required_result_capabilities", "Asks who can.", &[], |_, _, call| {
        let questions = [
            ("user", confirm()),
            ("model", model("Say hello.", 10)),
            ("roots", ServerRequest::Folders),
        ];
        let can = |it: &(&'static str, ServerRequest)| call.client_can(it.1.needs());
        let questions: Vec<_> = questions.into_iter().filter(can).collect();
        if questions.is_empty() {
            return Err(HandlerError::Needs(ClientCapability::Sampling));
        }
        text(&format!("{} answers came.", call.request_from_client(&questions)?.len()))
    }),
];

/// Returns a form with a default of each type.
fn defaults() -> ServerRequest {
    let properties = json!({
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {
            "type": "string", "enum": ["active", "inactive", "pending"], "default": "active",
        },
        "verified": {"type": "boolean", "default": true},
    });
    form("Please review the defaults", properties, &[])
}

/// Returns a form with each kind of choice.
fn choices() -> ServerRequest {
    let options = json!(["option1", "option2", "option3"]);
    let titled = |ordinals: [&str; 3], noun: &str| -> Vec<Value> {
        let rows = ordinals.iter().zip(1..);
        rows.map(|(it, n)| json!({"const": format!("value{n}"), "title": format!("{it} {noun}")}))
            .collect()
    };
    let ordinals = ["First", "Second", "Third"];
    let properties = json!({
        "untitledSingle": {"type": "string", "enum": options},
        "titledSingle": {"type": "string", "oneOf": titled(ordinals, "Option")},
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": options}},
        "titledMulti": {"type": "array", "items": {"anyOf": titled(ordinals, "Choice")}},
    });
    form("Please choose", properties, &[])
}

fn confirmed(
    _: &super::ConformanceHandler,
    _: &Args,
    call: &CallContext,
) -> Result<ToolReply, HandlerError> {
    // The engine has checked the state before it passes an answer on.
    one(call, "confirm", confirm())?;
    text("The state came back: state-ok")
}

fn completed(call: &CallContext, question: ServerRequest) -> Result<ToolReply, HandlerError> {
    text(&format!("Elicitation completed: {}", outcome(&one(call, "form", question)?)))
}

fn one(
    call: &CallContext,
    key: &'static str,
    question: ServerRequest,
) -> Result<Value, HandlerError> {
    Ok(call.request_from_client(&[(key, question)])?.pop().unwrap_or_default())
}

fn form(message: &str, properties: Value, required: &[&str]) -> ServerRequest {
    let schema = json!({"type": "object", "properties": properties, "required": required});
    ServerRequest::Form { message: message.to_owned(), schema }
}

fn name(message: &str) -> ServerRequest {
    form(message, json!({"name": {"type": "string"}}), &["name"])
}

fn confirm() -> ServerRequest {
    form("Please confirm", json!({"ok": {"type": "boolean"}}), &["ok"])
}

fn model(prompt: &str, tokens_max: u32) -> ServerRequest {
    let content = json!({"type": "text", "text": prompt});
    let messages = json!([{"role": "user", "content": content}]);
    ServerRequest::Model(json!({"messages": messages, "maxTokens": tokens_max}))
}

fn outcome(answer: &Value) -> String {
    format!("action={}, content={}", words(&answer["action"]), answer["content"])
}

fn filled(answer: &Value, member: &str) -> String {
    words(&answer["content"][member]).to_owned()
}

fn text_of_answer(answer: &Value) -> String {
    words(&answer["content"]["text"]).to_owned()
}

fn folders(answer: &Value) -> String {
    let roots = answer["roots"].as_array().into_iter().flatten();
    let names: Vec<_> = roots.map(|it| words(&it["uri"])).collect();
    format!("Folders: {}", names.join(", "))
}

fn words(value: &Value) -> &str {
    value.as_str().unwrap_or("nothing")
}
