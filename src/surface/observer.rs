//! A handler that only shows: resources of a memory, without tools, prompts or any way to change
//! it.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::changed_resources::ChangeWatch;
use super::plain::{self, PlainDoor};
use super::{RecordSessions, Watched, read_row, resources};
use crate::mcp::uri::UriVars;
use crate::mcp::{
    Args, Call, ClientRequestEvent, CompletionRequest, Event, Handler, HandlerError, NamedResource,
    PlainReply, PlainRequest, PromptMessage, Reply, ServerInfo,
};
use crate::memory::ReadOnlyMemory;
use crate::settings::workspace::Workspace;

/// The description of a server that only shows.
pub(crate) const ABOUT: ServerInfo = ServerInfo {
    name: "remindb",
    title: "remindb",
    version: env!("CARGO_PKG_VERSION"),
    instructions: "Resources show this memory; there are no tools.",
};

/// The handler of a memory's resources.
pub(crate) struct ObserverHandler {
    /// The memory.
    pub(crate) view: ReadOnlyMemory,
    /// The watch for changes, while there are subscribers.
    pub(crate) watch: ChangeWatch,
    /// The recorder of sessions.
    pub(crate) sessions: Arc<dyn RecordSessions>,
    /// The settings that redact what clients say about themselves, and pace notifications.
    pub(crate) workspace: Arc<Workspace>,
}

/// A tool or a prompt of an observer; there are none.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Nothing {}

impl Handler for ObserverHandler {
    type Run = Nothing;
    type Read = resources::ResourceFn;
    type Prompt = Nothing;

    fn call(&self, run: &Nothing, _: &Args, _: &Call) -> Result<Reply, HandlerError> {
        match *run {}
    }

    fn read(
        &self,
        read: &resources::ResourceFn,
        vars: &UriVars,
        call: &Call,
        out: &mut dyn fmt::Write,
    ) -> Result<(), HandlerError> {
        read_row(&self.view, *read, vars, call, out)
    }

    fn prompt(
        &self,
        get: &Nothing,
        _: &Args,
        _: &Call,
    ) -> Result<Vec<PromptMessage>, HandlerError> {
        match *get {}
    }

    fn more_resources(&self) -> Vec<NamedResource> {
        resources::custom_views(&self.view)
    }

    fn complete(&self, asked: &CompletionRequest<'_>) -> Vec<String> {
        resources::complete_variable(&self.view, asked)
    }

    fn plain(&self, request: &PlainRequest) -> Option<PlainReply> {
        let settings = self.workspace.config.knowledge.clone();
        let door = PlainDoor { view: &self.view, memory: None, settings };
        Some(plain::answer(&door, request))
    }

    fn on_request(&self, seen: &ClientRequestEvent<'_>) -> Option<String> {
        self.sessions.on_request(seen, &self.workspace.redactor, self.view.now())
    }

    fn note(&self, event: Event<'_>) {
        match event {
            Event::Called(called) => self.sessions.on_call_end(&called, self.view.now()),
            Event::Left(connection) => self.sessions.on_disconnect(connection, self.view.now()),
            Event::Listened => self.watch.begin_or_warn(&self.view),
        }
    }
}

impl Watched for ObserverHandler {
    fn view(&self) -> &ReadOnlyMemory {
        &self.view
    }

    fn watch(&self) -> &ChangeWatch {
        &self.watch
    }

    fn debounce_of(&self, resource: &str) -> Duration {
        self.workspace.config.server.resources.debounce_of(resource)
    }
}
