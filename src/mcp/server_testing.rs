//! A test registration: tools that echo, wait, fail and panic.

use std::fmt;
use std::sync::Arc;

use crossbeam_channel::{Receiver, Sender, select, unbounded};
use serde_json::{Value, json};

use super::{
    ArgSpec, Args, CallContext, ClientCapability, ClientLogNotice, CompletionRef,
    CompletionRequest, ContentBlock, ElicitResult, Handler, HandlerError, NoticeWaker, Prompt,
    PromptMessage, Resource, ResourceFormat, Server, ServerInfo, ServerRequest, Severity,
    StateSigner, Tool, ToolEffect, ToolReply,
};
use crate::mcp::uri::UriVars;
use crate::model::clock::Clock;

/// The state shared by the test server's tools.
#[derive(Debug)]
pub(crate) struct TestHandler {
    started: Sender<()>,
    gate: Receiver<()>,
    notices: Receiver<ClientLogNotice>,
}

/// The test's ends of the channels in [`TestHandler`].
pub(crate) struct TestControls {
    /// One message for each `gate` that has begun.
    pub(crate) started: Receiver<()>,
    /// One message lets one `gate` end.
    pub(crate) gate: Sender<()>,
    /// The next notices for the client.
    pub(crate) notices: Sender<ClientLogNotice>,
    /// Wakes the connection to look for notices.
    pub(crate) waker: Arc<NoticeWaker>,
}

type TestToolFn = fn(&TestHandler, &Args, &CallContext) -> Result<ToolReply, HandlerError>;

impl Handler for TestHandler {
    type ToolImpl = TestToolFn;
    type ResourceImpl = TestResourceFn;
    type PromptImpl = TestPromptFn;

    fn call(
        &self,
        run: &TestToolFn,
        args: &Args,
        call: &CallContext,
    ) -> Result<ToolReply, HandlerError> {
        run(self, args, call)
    }

    fn read(
        &self,
        read: &TestResourceFn,
        vars: &UriVars,
        _: &CallContext,
        out: &mut dyn fmt::Write,
    ) -> Result<(), HandlerError> {
        read(vars, out)
    }

    fn prompt(
        &self,
        get: &TestPromptFn,
        args: &Args,
        call: &CallContext,
    ) -> Result<Vec<PromptMessage>, HandlerError> {
        get(args, call)
    }

    fn complete(&self, asked: &CompletionRequest<'_>) -> Vec<String> {
        let n_values = match asked.subject {
            CompletionRef::Prompt(_) => 3,
            CompletionRef::Resource(_) => 101,
        };
        (0..n_values).map(|it| format!("{}{it}", asked.value)).collect()
    }

    fn notice(&self, _: Option<&ToolReply>) -> Option<ClientLogNotice> {
        self.notices.try_recv().ok()
    }
}

type TestResourceFn = fn(&UriVars, &mut dyn fmt::Write) -> Result<(), HandlerError>;
type TestPromptFn = fn(&Args, &CallContext) -> Result<Vec<PromptMessage>, HandlerError>;

const TOOLS: &[Tool<TestToolFn>] = &[
    Tool {
        name: "echo",
        description: "Returns what it got.",
        args: &[
            ArgSpec::text("text", "what to say").required(),
            ArgSpec::integer("times", "how often").range(1, 3).or_integer(1),
            ArgSpec::choice("tone", "how", &["plain", "loud"]).or_text("plain"),
            ArgSpec::texts("tags", "marks", 1, 2),
            ArgSpec::number("pitch", "how high", 0.0, 1.0),
            ArgSpec::flag("dry", "say nothing"),
        ],
        output: Some(echo_schema),
        effect: ToolEffect::Reads,
        run: echo,
    },
    Tool {
        name: "gate",
        description: "Waits until it is let through or cancelled.",
        args: &[],
        output: None,
        effect: ToolEffect::Edits,
        run: gate,
    },
    Tool {
        name: "steps",
        description: "Tells about its steps.",
        args: &[],
        output: None,
        effect: ToolEffect::Adds,
        run: steps,
    },
    Tool {
        name: "fail",
        description: "Fails as it is told.",
        args: &[ArgSpec::choice("how", "the failure", &["bad", "lost", "broken"]).required()],
        output: None,
        effect: ToolEffect::Destroys,
        run: fail,
    },
    Tool {
        name: "panic",
        description: "Panics.",
        args: &[],
        output: None,
        effect: ToolEffect::Reads,
        run: |_, _, _| panic!("a handler's mistake"),
    },
    Tool {
        name: "blocks",
        description: "Returns a block of each kind.",
        args: &[ArgSpec::custom_schema(
            || json!({"$schema": DIALECT, "type": "object", "$defs": {"a": {}}}),
        )],
        output: None,
        effect: ToolEffect::Reads,
        run: blocks,
    },
    Tool {
        name: "ask",
        description: "Asks the user twice, and the model if it can.",
        args: &[],
        output: None,
        effect: ToolEffect::Reads,
        run: |_, _, call| greeting(call),
    },
    Tool {
        name: "sample",
        description: "Cannot do without a model.",
        args: &[],
        output: None,
        effect: ToolEffect::Reads,
        run: |_, _, call| {
            let answers = call.request_from_client(&[("model", hello())])?;
            Ok(ToolReply {
                text: answers[0]["content"]["text"].to_string(),
                ..ToolReply::default()
            })
        },
    },
];

const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// Twelve zero bytes, in base64.
const BYTES: &str = "AAAAAAAAAAAAAAAA";

const RESOURCES: &[Resource<TestResourceFn>] =
    &[
        resource("test://text", ResourceFormat::Text("text/plain"), |_, out| {
            Ok(out.write_str("a \"b\"\n\u{2028}")?)
        }),
        resource("test://blob", ResourceFormat::Base64("image/png"), |_, out| {
            Ok(out.write_str(BYTES)?)
        }),
        resource("test://json", ResourceFormat::Json, |_, out| Ok(out.write_str("{\"a\":1}")?)),
        resource("test://lost", ResourceFormat::Json, |_, out| {
            out.write_str("half of it")?;
            Err(HandlerError::NotFound("it was here before".to_owned()))
        }),
        resource("test://broken", ResourceFormat::Json, |_, _| {
            Err(HandlerError::Internal("a secret".to_owned()))
        }),
        resource("test://items/{id}", ResourceFormat::Json, |vars, out| {
            Ok(write!(out, "{}", json!({"id": vars.get("id")}))?)
        }),
        subscribable("fixture://sea"),
        subscribable("fixture://sky"),
        resource("fixture://stone", ResourceFormat::Json, |_, out| Ok(out.write_str("{}")?)),
        resource("fixture://sea/{depth}", ResourceFormat::Json, |_, out| Ok(out.write_str("{}")?)),
    ];

const fn subscribable(uri: &'static str) -> Resource<TestResourceFn> {
    let row = resource(uri, ResourceFormat::Json, |_, out| Ok(out.write_str("{}")?));
    Resource { is_subscribable: true, ..row }
}

const fn resource(
    uri: &'static str,
    form: ResourceFormat,
    read: TestResourceFn,
) -> Resource<TestResourceFn> {
    let (title, description) = ("A resource", "Something to read.");
    Resource { uri, name: uri, title, description, form, is_subscribable: false, read }
}

impl From<fmt::Error> for HandlerError {
    fn from(_: fmt::Error) -> HandlerError {
        HandlerError::Internal("cannot write".to_owned())
    }
}

const PROMPTS: &[Prompt<TestPromptFn>] = &[
    Prompt {
        name: "greet",
        title: "Greet",
        description: "Greets somebody.",
        args: &[ArgSpec::text("name", "whom").required(), ArgSpec::text("tone", "how")],
        get: |args, _| {
            let name = args.text("name").unwrap_or_default();
            Ok(vec![PromptMessage::user(format!("Say hello to {name}."))])
        },
    },
    Prompt {
        name: "asking",
        title: "Asking",
        description: "Has to know something first.",
        args: &[],
        get: |_, call| Ok(vec![PromptMessage::user(greeting(call)?.text)]),
    },
];

/// Returns a server with the test tools.
pub(crate) fn server() -> (Arc<Server<TestHandler>>, TestControls) {
    let (started_sender, started) = unbounded();
    let (gate, gate_receiver) = unbounded();
    let about = ServerInfo {
        name: "fixture",
        title: "Fixture",
        version: "1.2.3",
        instructions: "Say `echo` and listen.",
    };
    let (notices, notice_receiver) = unbounded();
    let waker = Arc::new(NoticeWaker::default());
    let handler =
        TestHandler { started: started_sender, gate: gate_receiver, notices: notice_receiver };
    let ends = TestControls { started, gate, notices, waker: Arc::clone(&waker) };
    let (state_signer, page_rows_max, hub) = (StateSigner::default(), 100, Arc::default());
    let (tools, resources, prompts) = (TOOLS.to_vec(), RESOURCES, PROMPTS);
    let server = Server {
        about,
        tools,
        resources,
        prompts,
        page_rows_max,
        state_signer,
        handler,
        clock: Clock::System,
        waker,
        hub,
    };
    (Arc::new(server), ends)
}

/// Returns a warning, and a channel with a message once it was written.
#[cfg(test)]
pub(crate) fn notice() -> (ClientLogNotice, Receiver<()>) {
    let (written_sender, written) = unbounded();
    let callback =
        super::LineWrittenCallback::new(move || written_sender.send(()).unwrap_or_default());
    let data = json!({"cold": ["a"]});
    let text = "a went cold".to_owned();
    (ClientLogNotice { level: Severity::Warning, logger: "fixture", data, text, callback }, written)
}

fn echo_schema() -> Value {
    json!({"type": "object", "properties": {"said": {"type": "string"}}, "required": ["said"]})
}

fn echo(_: &TestHandler, args: &Args, _: &CallContext) -> Result<ToolReply, HandlerError> {
    let text = args.text("text").unwrap_or_default();
    let times = usize::try_from(args.integer("times").unwrap_or_default()).unwrap_or_default();
    let mut echoed = if args.flag("dry") { String::new() } else { text.repeat(times) };
    if args.text("tone") == Some("loud") {
        echoed = echoed.to_uppercase();
    }
    for tag in args.texts("tags") {
        echoed.push_str(" #");
        echoed.push_str(tag);
    }
    if let Some(pitch) = args.number("pitch") {
        echoed.push_str(&format!(" at {pitch}"));
    }
    Ok(ToolReply {
        structured: Some(json!({"said": echoed})),
        text: echoed,
        ..ToolReply::default()
    })
}

fn gate(handler: &TestHandler, _: &Args, call: &CallContext) -> Result<ToolReply, HandlerError> {
    call.progress(1, None, "at the gate");
    // A test that has ended ignores that the call has begun.
    let _ = handler.started.send(());
    select! {
        recv(handler.gate) -> _ => Ok(ToolReply { text: "through".to_owned(), ..ToolReply::default() }),
        recv(call.cancelled()) -> _ => Err(HandlerError::Cancelled),
    }
}

fn steps(_: &TestHandler, _: &Args, call: &CallContext) -> Result<ToolReply, HandlerError> {
    call.progress(1, Some(2), "half");
    call.progress(1, Some(2), "half again");
    call.log(Severity::Debug, "fixture", &json!("a detail"));
    call.log(Severity::Warning, "fixture", &json!("a warning"));
    call.progress(2, None, "all");
    Ok(ToolReply { text: "done".to_owned(), ..ToolReply::default() })
}

fn fail(_: &TestHandler, args: &Args, _: &CallContext) -> Result<ToolReply, HandlerError> {
    match args.text("how") {
        Some("bad") => {
            Err(HandlerError::BadArgument("`how` is bad; say something else".to_owned()))
        }
        Some("lost") => Err(HandlerError::NotFound("there is no such thing".to_owned())),
        _ => Err(HandlerError::Internal("a secret detail".to_owned())),
    }
}

fn blocks(_: &TestHandler, args: &Args, _: &CallContext) -> Result<ToolReply, HandlerError> {
    let base64 = || BYTES.to_owned();
    let more = vec![
        ContentBlock::Image { base64: base64(), mime: "image/png" },
        ContentBlock::Audio { base64: base64(), mime: "audio/wav" },
        ContentBlock::Link {
            uri: "test://text".to_owned(),
            name: "text".to_owned(),
            mime: "text/plain",
        },
        ContentBlock::Resource {
            uri: "test://json".to_owned(),
            mime: "application/json",
            text: Value::from(args.whole().cloned().unwrap_or_default()).to_string(),
        },
    ];
    Ok(ToolReply { more, ..ToolReply::default() })
}

fn greeting(call: &CallContext) -> Result<ToolReply, HandlerError> {
    let form = |name: &str| {
        let properties = json!({name: {"type": "string"}});
        json!({"type": "object", "properties": properties, "required": [name]})
    };
    let mut text = String::new();
    for (key, name) in [("first", "name"), ("second", "color")] {
        text += &match call.elicit(key, &format!("What is your {name}?"), form(name))? {
            ElicitResult::Accepted(content) => format!("{name} {}; ", content[name]),
            other => format!("{name} {other:?}; "),
        };
    }
    if call.client_can(ClientCapability::Sampling) && call.client_can(ClientCapability::Roots) {
        let answers =
            call.request_from_client(&[("third", hello()), ("fourth", ServerRequest::Folders)])?;
        text += &format!("{} {}", answers[0]["content"]["text"], answers[1]["roots"][0]["uri"]);
    }
    Ok(ToolReply { text, ..ToolReply::default() })
}

fn hello() -> ServerRequest {
    let content = json!({"type": "text", "text": "Say hello."});
    let messages = json!([{"role": "user", "content": content}]);
    ServerRequest::Model(json!({"messages": messages, "maxTokens": 10}))
}
