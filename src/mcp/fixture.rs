//! A registration that is not remindb's, for tests: tools that echo, wait, fail and panic.

use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;

use crossbeam_channel::{Receiver, Sender, select, unbounded};
use serde_json::{Value, json};

use super::{
    About, Arg, Args, Bell, Call, Effect, Level, Notice, ReadError, Reply, Server, Surface, Tool,
    ToolError,
};
use crate::uri::Vars;

/// What the fixture's tools share.
#[derive(Debug)]
pub(crate) struct Fixture {
    started: Sender<()>,
    gate: Receiver<()>,
    notices: Receiver<Notice>,
    bell: Arc<Bell>,
}

/// The test's ends of what [`Fixture`] holds.
pub(crate) struct Ends {
    /// One message for each `gate` that has begun.
    pub(crate) started: Receiver<()>,
    /// One message lets one `gate` end.
    pub(crate) gate: Sender<()>,
    /// What the client should know next.
    pub(crate) notices: Sender<Notice>,
    /// Tells the connection to look for it.
    pub(crate) bell: Arc<Bell>,
}

type Run = fn(&Fixture, &Args, &Call) -> Result<Reply, ToolError>;

impl Surface for Fixture {
    type Run = Run;
    type Read = Infallible;

    fn call(&self, run: &Run, args: &Args, call: &Call) -> Result<Reply, ToolError> {
        run(self, args, call)
    }

    fn read(&self, read: &Infallible, _: &Vars, _: &mut dyn fmt::Write) -> Result<(), ReadError> {
        match *read {}
    }

    fn notice(&self, _: Option<(&Run, &Args, &Reply)>) -> Option<Notice> {
        self.notices.try_recv().ok()
    }

    fn bell(&self) -> Receiver<()> {
        self.bell.hear()
    }
}

const TOOLS: &[Tool<Run>] = &[
    Tool {
        name: "echo",
        title: "Echo",
        description: "Returns what it got.",
        args: &[
            Arg::text("text", "what to say").required(),
            Arg::integer("times", "how often").range(1, 3).or_integer(1),
            Arg::choice("tone", "how", &["plain", "loud"]).or_text("plain"),
            Arg::texts("tags", "marks", 1, 2),
            Arg::number("pitch", "how high", 0.0, 1.0),
            Arg::flag("dry", "say nothing"),
        ],
        output: Some(echo_schema),
        effect: Effect::Reads,
        run: echo,
    },
    Tool {
        name: "gate",
        title: "Gate",
        description: "Waits until it is let through or cancelled.",
        args: &[],
        output: None,
        effect: Effect::Replaces,
        run: gate,
    },
    Tool {
        name: "steps",
        title: "Steps",
        description: "Tells about its steps.",
        args: &[],
        output: None,
        effect: Effect::Adds,
        run: steps,
    },
    Tool {
        name: "fail",
        title: "Fail",
        description: "Fails as it is told.",
        args: &[Arg::choice("how", "the failure", &["bad", "lost", "broken"]).required()],
        output: None,
        effect: Effect::Destroys,
        run: fail,
    },
    Tool {
        name: "panic",
        title: "Panic",
        description: "Panics.",
        args: &[],
        output: None,
        effect: Effect::Reads,
        run: |_, _, _| panic!("a handler's mistake"),
    },
];

/// A server of the fixture's tools.
pub(crate) fn server() -> (Arc<Server<Fixture>>, Ends) {
    let (started_sender, started) = unbounded();
    let (gate, gate_receiver) = unbounded();
    let about = About {
        name: "fixture",
        title: "Fixture",
        version: "1.2.3",
        instructions: "Say `echo` and listen.",
    };
    let (notices, notice_receiver) = unbounded();
    let bell = Arc::new(Bell::default());
    let surface = Fixture {
        started: started_sender,
        gate: gate_receiver,
        notices: notice_receiver,
        bell: Arc::clone(&bell),
    };
    let ends = Ends { started, gate, notices, bell };
    (Arc::new(Server { about, tools: TOOLS, resources: &[], surface }), ends)
}

/// A warning, and a message when it was written.
#[cfg(test)]
pub(crate) fn notice() -> (Notice, Receiver<()>) {
    let (written_sender, written) = unbounded();
    let receipt = super::Receipt::new(move || written_sender.send(()).unwrap_or_default());
    let data = json!({"cold": ["a"]});
    let text = "a went cold".to_owned();
    (Notice { level: Level::Warning, logger: "fixture", data, text, receipt }, written)
}

fn echo_schema() -> Value {
    json!({"type": "object", "properties": {"said": {"type": "string"}}, "required": ["said"]})
}

fn echo(_: &Fixture, args: &Args, _: &Call) -> Result<Reply, ToolError> {
    let text = args.text("text").unwrap_or_default();
    let times = usize::try_from(args.integer("times").unwrap_or_default()).unwrap_or_default();
    let mut said = if args.flag("dry") { String::new() } else { text.repeat(times) };
    if args.text("tone") == Some("loud") {
        said = said.to_uppercase();
    }
    for tag in args.texts("tags") {
        said.push_str(" #");
        said.push_str(tag);
    }
    if let Some(pitch) = args.number("pitch") {
        said.push_str(&format!(" at {pitch}"));
    }
    Ok(Reply { structured: Some(json!({"said": said})), text: said })
}

fn gate(fixture: &Fixture, _: &Args, call: &Call) -> Result<Reply, ToolError> {
    call.progress(1, None, "at the gate");
    // A test that has gone does not care that the call has begun.
    let _ = fixture.started.send(());
    select! {
        recv(fixture.gate) -> _ => Ok(Reply { text: "through".to_owned(), structured: None }),
        recv(call.cancelled()) -> _ => Err(ToolError::Cancelled),
    }
}

fn steps(_: &Fixture, _: &Args, call: &Call) -> Result<Reply, ToolError> {
    call.progress(1, Some(2), "half");
    call.progress(1, Some(2), "half again");
    call.log(Level::Debug, "fixture", &json!("a detail"));
    call.log(Level::Warning, "fixture", &json!("a warning"));
    call.progress(2, None, "all");
    Ok(Reply { text: "done".to_owned(), structured: None })
}

fn fail(_: &Fixture, args: &Args, _: &Call) -> Result<Reply, ToolError> {
    match args.text("how") {
        Some("bad") => Err(ToolError::BadArgument("`how` is bad; say something else".to_owned())),
        Some("lost") => Err(ToolError::NotFound("there is no such thing".to_owned())),
        _ => Err(ToolError::Internal("a secret detail".to_owned())),
    }
}
