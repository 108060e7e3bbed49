//! Fixtures of the official MCP conformance suite, on the project's own engine and transports. They
//! are tools `test_*`, resources `test://…`, prompts and questions.
//!
//! The names and texts are the suite's. Nothing here is in the program; `examples/conformance.rs`
//! is the binary that `make conformance` runs, and the tests play the same scenarios over stdio.

mod client_request_tools;
mod fixture_resources_and_prompts;
mod fixture_tools;

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use crate::mcp::uri::UriVars;
use crate::mcp::{
    Args, CallContext, CompletionRequest, Handler, HandlerError, PAGE_ROWS_MAX, PromptMessage,
    Server, ServerInfo, StateSigner, ToolReply,
};
use crate::model::clock::Clock;
use crate::server::{ShutdownSignals, stdio};

/// Time between the steps of a tool with progress, so that a client can see them one by one.
const STEP: Duration = Duration::from_millis(50);

type SuiteToolFn = fn(&ConformanceHandler, &Args, &CallContext) -> Result<ToolReply, HandlerError>;
type SuitePromptFn = fn(&Args, &CallContext) -> Result<Vec<PromptMessage>, HandlerError>;
type SuiteResourceFn = fn(&UriVars) -> String;

/// The state that the tools share.
#[derive(Debug)]
struct ConformanceHandler {
    step: Duration,
}

impl ConformanceHandler {
    /// Waits as long as a step takes, or until the call is cancelled.
    fn pause(&self, call: &CallContext) {
        // Nothing is ever sent: the wait times out or is cancelled, and the engine knows which.
        let _ = call.cancelled().recv_timeout(self.step);
    }
}

impl Handler for ConformanceHandler {
    type ToolImpl = SuiteToolFn;
    type ResourceImpl = SuiteResourceFn;
    type PromptImpl = SuitePromptFn;

    fn call(
        &self,
        run: &SuiteToolFn,
        args: &Args,
        call: &CallContext,
    ) -> Result<ToolReply, HandlerError> {
        run(self, args, call)
    }

    fn read(
        &self,
        read: &SuiteResourceFn,
        vars: &UriVars,
        _: &CallContext,
        out: &mut dyn fmt::Write,
    ) -> Result<(), HandlerError> {
        out.write_str(&read(vars)).map_err(|_| HandlerError::Internal("cannot write".to_owned()))
    }

    fn prompt(
        &self,
        get: &SuitePromptFn,
        args: &Args,
        call: &CallContext,
    ) -> Result<Vec<PromptMessage>, HandlerError> {
        get(args, call)
    }

    fn complete(&self, asked: &CompletionRequest<'_>) -> Vec<String> {
        let words = ["test value 1", "test value 2", "paris"];
        words.iter().filter(|it| it.starts_with(asked.value)).map(|it| (*it).to_owned()).collect()
    }
}

fn server(step: Duration) -> Arc<Server<ConformanceHandler>> {
    Arc::new(Server {
        about: ServerInfo {
            name: "remindb-conformance",
            title: "Conformance",
            version: env!("CARGO_PKG_VERSION"),
            instructions: "The fixtures of the conformance suite.",
        },
        tools: [fixture_tools::TOOLS, client_request_tools::TOOLS].concat(),
        resources: fixture_resources_and_prompts::RESOURCES,
        prompts: fixture_resources_and_prompts::PROMPTS,
        page_rows_max: PAGE_ROWS_MAX,
        state_signer: StateSigner::default(),
        handler: ConformanceHandler { step },
        clock: Clock::System,
        waker: Arc::default(),
        hub: Arc::default(),
    })
}

/// Serves the fixtures over HTTP, on a port of this machine, until a signal comes. Calls `announce`
/// with the URL.
///
/// # Errors
///
/// There is no port, no thread or no way to receive signals.
#[cfg(feature = "http")]
pub fn http(announce: impl FnOnce(&str)) -> io::Result<()> {
    use crate::server::http::{ADDRESS, AccessRules, HttpOptions, Limits, serve_http};

    let interrupts = ShutdownSignals::watch()?;
    let mut address = ADDRESS;
    // Any free port.
    address.set_port(0);
    let guard = AccessRules::new(address.ip(), &[], &[], None);
    let options = HttpOptions { address, guard, limits: Limits::default(), links: None };
    let announce = |address| announce(&format!("http://{address}/mcp"));
    let (server, interrupted) = (server(STEP), interrupts.received());
    serve_http(&server, &Clock::System, Vec::new(), options, announce, interrupted).map(drop)
}

/// Serves the fixtures on the standard streams, until the input ends or a signal comes.
///
/// # Errors
///
/// There is no thread or no way to receive signals.
pub fn stdio() -> io::Result<()> {
    let interrupts = ShutdownSignals::watch()?;
    let (input, output) = (io::stdin(), io::stdout());
    let (server, interrupted) = (server(STEP), interrupts.received());
    stdio::serve_stdio(&server, &Clock::System, Vec::new(), input, output, interrupted).map(drop)
}

#[cfg(test)]
mod tests;
