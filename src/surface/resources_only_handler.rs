//! A handler that only shows: resources of a memory, without tools, prompts or any way to change
//! it.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::changed_resources::ChangeWatch;
use super::rest_api::{self, RestContext};
use super::{HandlerWithChangeWatch, RecordSessions, read_row, resources};
use crate::mcp::uri::UriVars;
use crate::mcp::{
    Args, CallContext, ClientActivity, ClientRequestEvent, CompletionRequest, Handler,
    HandlerError, PromptMessage, RestApiReply, RestApiRequest, ServerInfo,
    TemplateInstanceResource, ToolReply,
};
use crate::memory::ReadOnlyMemory;
use crate::settings::root_settings::RootSettings;

/// The description of a server that only shows.
pub(crate) const ABOUT: ServerInfo = ServerInfo {
    name: "remindb",
    title: "remindb",
    version: env!("CARGO_PKG_VERSION"),
    instructions: "Resources show this memory; there are no tools.",
};

/// The handler of a memory's resources.
pub(crate) struct ResourcesOnlyHandler {
    /// The memory.
    pub(crate) view: ReadOnlyMemory,
    /// The watch for changes, while there are subscribers.
    pub(crate) watch: ChangeWatch,
    /// The recorder of sessions.
    pub(crate) sessions: Arc<dyn RecordSessions>,
    /// The settings that redact what clients say about themselves, and pace notifications.
    pub(crate) workspace: Arc<RootSettings>,
}

/// A tool or a prompt of an observer; there are none.
#[derive(Clone, Copy, Debug)]
pub(crate) enum UninhabitedToolOrPrompt {}

impl Handler for ResourcesOnlyHandler {
    type ToolImpl = UninhabitedToolOrPrompt;
    type ResourceImpl = resources::ResourceFn;
    type PromptImpl = UninhabitedToolOrPrompt;

    fn call(
        &self,
        run: &UninhabitedToolOrPrompt,
        _: &Args,
        _: &CallContext,
    ) -> Result<ToolReply, HandlerError> {
        match *run {}
    }

    fn read(
        &self,
        read: &resources::ResourceFn,
        vars: &UriVars,
        call: &CallContext,
        out: &mut dyn fmt::Write,
    ) -> Result<(), HandlerError> {
        read_row(&self.view, *read, vars, call, out)
    }

    fn prompt(
        &self,
        get: &UninhabitedToolOrPrompt,
        _: &Args,
        _: &CallContext,
    ) -> Result<Vec<PromptMessage>, HandlerError> {
        match *get {}
    }

    fn more_resources(&self) -> Vec<TemplateInstanceResource> {
        resources::custom_views(&self.view)
    }

    fn complete(&self, asked: &CompletionRequest<'_>) -> Vec<String> {
        resources::complete_variable(&self.view, asked)
    }

    fn plain(&self, request: &RestApiRequest) -> Option<RestApiReply> {
        let settings = self.workspace.config.knowledge.clone();
        let context = RestContext { view: &self.view, memory: None, settings };
        Some(rest_api::answer(&context, request))
    }

    fn on_request(&self, seen: &ClientRequestEvent<'_>) -> Option<String> {
        self.sessions.on_request(seen, &self.workspace.redactor, self.view.now())
    }

    fn note(&self, event: ClientActivity<'_>) {
        match event {
            ClientActivity::Called(called) => self.sessions.on_call_end(&called, self.view.now()),
            ClientActivity::Left(connection) => {
                self.sessions.on_disconnect(connection, self.view.now())
            }
            ClientActivity::Listened => self.watch.begin_or_warn(&self.view),
        }
    }
}

impl HandlerWithChangeWatch for ResourcesOnlyHandler {
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
