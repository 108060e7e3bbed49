//! The protocol engine: turns messages into replies and jobs, in both eras of MCP.
//!
//! A [`Server`] is a registration: its name, tables of tools, resources and prompts, and a
//! [`Handler`] that runs them. The engine knows no tool, no database and no transport. A transport
//! owns one [`Connection`] for each client, passes it every frame in order, and does what the
//! [`TransportAction`] says; the work of the handler is a [`QueuedRequest`] that may run on any
//! thread.
//!
//! *Legacy* versions open with `initialize`, and the era belongs to the connection. The *modern*
//! version is in the `_meta` of every request, and the era belongs to the request. A handler gets
//! checked arguments and a [`CallContext`], which sends notifications and requests to the client
//! in both eras alike.

pub(crate) mod rpc;
pub(crate) mod uri;

#[allow(dead_code, reason = "a vocabulary: each registration uses its part of it")]
pub(crate) mod call_context;
mod client_info_and_events;
pub(crate) mod connection;
mod content;
mod definitions;
pub(crate) mod error_codes;
mod form_validation;
pub(crate) mod in_flight;
#[allow(dead_code, reason = "a vocabulary: each registration uses its part of it")]
pub(crate) mod input_schema;
mod method;
pub(crate) mod notices;
mod outbox;
mod pagination;
mod queued_request;
mod rest_api_messages;
mod server_requests;
#[cfg(any(test, fuzzing))]
#[cfg_attr(fuzzing, allow(dead_code, reason = "tests use the rest of it"))]
pub(crate) mod server_testing;
mod severity;
mod signed_state;
pub(crate) mod subscription;
pub(crate) mod version;

use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::mcp::rpc::{Params, RpcError};
use crate::mcp::uri::UriVars;
use crate::model::clock::Clock;
use method::Method;
use version::Version;

pub(crate) use call_context::CallContext;
pub(crate) use client_info_and_events::{
    ClientActivity, ClientInfo, ClientRequestEvent, ToolCallFailure, ToolCallOrOtherRequest,
    ToolCallRecord,
};
pub(crate) use connection::{Connection, TransportAction};
#[allow(unused_imports, reason = "a vocabulary: each registration uses its part of it")]
pub(crate) use content::{ContentBlock, PromptMessage, Role, ToolReply};
pub(crate) use definitions::{
    Prompt, Resource, ResourceFormat, TemplateInstanceResource, Tool, ToolEffect,
};
pub(crate) use input_schema::{ArgSpec, Args};
pub(crate) use method::QUIET_TARGET;
pub(crate) use notices::{
    ClientLogNotice, LineWrittenCallback, NoticeWaker, OutgoingRpcMessageLine,
};
pub(crate) use outbox::Outbox;
pub(crate) use pagination::PAGE_ROWS_MAX;
pub(crate) use queued_request::QueuedRequest;
pub(crate) use rest_api_messages::{RestApiReply, RestApiReplyBody, RestApiRequest};
pub(crate) use server_requests::{
    ClientCapabilities, ClientCapability, ElicitResult, ServerRequest, ServerRequestError,
};
pub(crate) use severity::Severity;
pub(crate) use signed_state::StateSigner;
pub(crate) use subscription::SubscriptionHub;

/// Returns the log target of a transport's records about a request.
#[cfg(feature = "http")]
pub(crate) fn log_target_of(request: &crate::mcp::rpc::Request) -> &'static str {
    Method::parse(&request.method).map_or(module_path!(), Method::target)
}

/// How long, in ms, and where a client may keep a result.
type CachePolicy = (u64, &'static str);

/// The cache rule of any other list: it never changes while the server runs, and is equal for
/// everybody.
const LIST_CACHE: CachePolicy = (5 * 60 * 1000, "public");
/// The cache rule of contents and of the list of resources, which change at any time and are
/// private.
const READ_CACHE: CachePolicy = (0, "private");

/// The server's description of itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ServerInfo {
    /// Its name for programs.
    pub(crate) name: &'static str,
    /// Its name for people.
    pub(crate) title: &'static str,
    /// The version of the build.
    pub(crate) version: &'static str,
    /// The instructions for agents; they cost tokens in every session.
    pub(crate) instructions: &'static str,
}

/// Runs the tools, resources and prompts of a registration, on any thread.
pub(crate) trait Handler: Send + Sync + 'static {
    /// The part of a tool's row that tells how to run it.
    type ToolImpl: Send + Sync + 'static;
    /// The part of a resource's row that tells how to read it.
    type ResourceImpl: Send + Sync + 'static;
    /// The part of a prompt's row that tells how to make it.
    type PromptImpl: Send + Sync + 'static;

    /// Runs one tool. A panic in here becomes one internal error, and the server goes on.
    fn call(
        &self,
        run: &Self::ToolImpl,
        args: &Args,
        call: &CallContext,
    ) -> Result<ToolReply, HandlerError>;

    /// Writes a resource to `out` in the format of its row; after an error all of it is discarded.
    fn read(
        &self,
        read: &Self::ResourceImpl,
        vars: &UriVars,
        call: &CallContext,
        out: &mut dyn fmt::Write,
    ) -> Result<(), HandlerError>;

    /// Returns the messages of a prompt.
    fn prompt(
        &self,
        get: &Self::PromptImpl,
        args: &Args,
        call: &CallContext,
    ) -> Result<Vec<PromptMessage>, HandlerError>;

    /// Returns the resources that there are now beside those of the table; a template of the table
    /// reads each.
    fn more_resources(&self) -> Vec<TemplateInstanceResource> {
        Vec::new()
    }

    /// Returns completions for an argument of a prompt or a variable of a template, likeliest
    /// first.
    fn complete(&self, _asked: &CompletionRequest<'_>) -> Vec<String> {
        Vec::new()
    }

    /// Returns a notice for the client. Beside a tool's reply, it keeps to the budget of that
    /// reply.
    fn notice(&self, _beside: Option<&ToolReply>) -> Option<ClientLogNotice> {
        None
    }

    /// Answers a request of the REST interface that a registration may have beside MCP; `None`
    /// where it has none.
    #[cfg_attr(not(feature = "http"), allow(dead_code, reason = "only the HTTP server asks it"))]
    fn plain(&self, _request: &RestApiRequest) -> Option<RestApiReply> {
        None
    }

    /// Records a request, and returns its session for [`ToolCallRecord`].
    fn on_request(&self, _seen: &ClientRequestEvent<'_>) -> Option<String> {
        None
    }

    /// Records any other event of a client.
    fn note(&self, _event: ClientActivity<'_>) {}
}

/// The reason why a tool, a resource or a prompt failed. The agent reads it, so it names a remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum HandlerError {
    /// The arguments fit the schema, or the variables the URI, but are invalid.
    BadArgument(String),
    /// The named thing does not exist.
    NotFound(String),
    /// No resource has the URI, although a template matches it.
    UnknownUri,
    /// The file or the system refused; the text names a remedy and is logged as well.
    Unavailable(String),
    /// An invariant is broken; the text is logged and the client learns only that.
    Internal(String),
    /// The call was cancelled, and nobody waits for a reply.
    Cancelled,
    /// The client lacks a capability that the call needs.
    Needs(ClientCapability),
    /// The client must answer requests first; then the call runs again.
    Open,
    /// An error of the handler's own form: its code and detail are for the log, and the client gets
    /// the body.
    Coded { code: &'static str, body: String, detail: Option<String> },
}

/// The subject of a completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CompletionRef {
    /// An argument of the prompt of this name.
    Prompt(&'static str),
    /// A variable of this template.
    Resource(&'static str),
}

/// A request for completions.
#[allow(dead_code, reason = "a vocabulary: each registration uses its part of it")]
#[derive(Debug)]
pub(crate) struct CompletionRequest<'a> {
    /// The owner of the argument.
    pub(crate) subject: CompletionRef,
    /// The argument's name.
    pub(crate) argument: &'a str,
    /// The typed part of the value.
    pub(crate) value: &'a str,
    /// The values of the other arguments so far.
    pub(crate) others: Params,
}

impl HandlerError {
    /// Returns the failure for the log.
    fn failure(&self) -> ToolCallFailure {
        let detail = match self {
            HandlerError::Unavailable(text) | HandlerError::Internal(text) => Some(text.clone()),
            HandlerError::Coded { detail, .. } => detail.clone(),
            _ => None,
        };
        ToolCallFailure { kind: self.kind(), detail }
    }

    /// Returns the kind for the log.
    fn kind(&self) -> &'static str {
        match self {
            HandlerError::BadArgument(_) => "bad_argument",
            HandlerError::NotFound(_) => "not_found",
            HandlerError::UnknownUri => "unknown_uri",
            HandlerError::Unavailable(_) => "unavailable",
            HandlerError::Internal(_) => "internal",
            HandlerError::Cancelled => "cancelled",
            HandlerError::Needs(_) => "needs_capability",
            HandlerError::Open => "input_required",
            HandlerError::Coded { code, .. } => code,
        }
    }
}

/// A registration, ready to serve any number of connections.
#[derive(Debug)]
pub(crate) struct Server<S: Handler> {
    /// Its description of itself.
    pub(crate) about: ServerInfo,
    /// Its tools, in the order in which they are listed.
    pub(crate) tools: Vec<Tool<S::ToolImpl>>,
    /// Its resources and their templates, in the order in which they are listed.
    pub(crate) resources: &'static [Resource<S::ResourceImpl>],
    /// Its prompts, in the order in which they are listed.
    pub(crate) prompts: &'static [Prompt<S::PromptImpl>],
    /// Rows of one page of a list.
    pub(crate) page_rows_max: usize,
    /// The signer of state that travels through clients.
    pub(crate) state_signer: StateSigner,
    /// The handler that runs them.
    pub(crate) handler: S,
    /// The clock that times calls.
    pub(crate) clock: Clock,
    /// Wakes transports when there may be a notice.
    pub(crate) waker: Arc<NoticeWaker>,
    /// Notifies subscribers of changed resources; the source of changes may outlive the server.
    pub(crate) hub: Arc<SubscriptionHub>,
}

impl<S: Handler> Server<S> {
    /// Adds the members that every result of a version carries.
    fn with_common_fields(
        &self,
        version: Version,
        mut body: Map<String, Value>,
        cache: Option<CachePolicy>,
    ) -> Map<String, Value> {
        if version.is_modern() {
            body.insert("resultType".to_owned(), "complete".into());
            if let Some((ttl_ms, scope)) = cache {
                body.insert("ttlMs".to_owned(), ttl_ms.into());
                body.insert("cacheScope".to_owned(), scope.into());
            }
            let server = json!({"io.modelcontextprotocol/serverInfo": self.info()});
            body.insert("_meta".to_owned(), server);
        }
        body
    }

    fn info(&self) -> Value {
        let ServerInfo { name, title, version, .. } = self.about;
        json!({"name": name, "title": title, "version": version})
    }

    /// Returns the tools as they are listed.
    #[cfg(feature = "http")]
    pub(crate) fn tools_json(&self, version: Version) -> Vec<Value> {
        self.tools.iter().map(|tool| tool.json(version)).collect()
    }

    fn has_tools(&self) -> bool {
        !self.tools.is_empty()
    }

    fn has_resources(&self) -> bool {
        !self.resources.is_empty()
    }

    fn has_prompts(&self) -> bool {
        !self.prompts.is_empty()
    }

    /// Returns whether any resource or prompt has arguments to complete.
    fn has_completions(&self) -> bool {
        let takes_any = |it: &Prompt<S::PromptImpl>| !it.args.is_empty();
        self.resources.iter().any(Resource::is_template) || self.prompts.iter().any(takes_any)
    }

    /// Returns the capabilities: those of the registration, and no more.
    fn capabilities(&self) -> Value {
        let mut known = Map::from_iter([("logging".to_owned(), json!({}))]);
        let can_subscribe = self.resources.iter().any(|it| it.is_subscribable);
        let resources = if can_subscribe { json!({"subscribe": true}) } else { json!({}) };
        let members = [
            ("tools", self.has_tools(), json!({})),
            ("resources", self.has_resources(), resources),
            ("prompts", self.has_prompts(), json!({})),
            ("completions", self.has_completions(), json!({})),
        ];
        let there = members.into_iter().filter(|it| it.1);
        known.extend(there.map(|(name, _, details)| (name.to_owned(), details)));
        Value::Object(known)
    }

    /// Returns the page of a list that `params` ask for.
    fn list(
        &self,
        method: Method,
        version: Version,
        params: &Params,
    ) -> Result<Map<String, Value>, RpcError> {
        let rows_max = self.page_rows_max;
        let resources =
            |is_template| self.resources.iter().filter(move |it| it.is_template() == is_template);
        match method {
            Method::ListResources => {
                let mut rows: Vec<Value> = resources(false).map(|it| it.json(version)).collect();
                rows.extend(self.handler.more_resources().iter().map(|it| it.json(version)));
                pagination::list("resources", rows.iter(), rows_max, params, Value::clone)
            }
            Method::ListTemplates => {
                let rows = resources(true);
                pagination::list("resourceTemplates", rows, rows_max, params, |it| it.json(version))
            }
            Method::ListPrompts => {
                pagination::list("prompts", self.prompts.iter(), rows_max, params, |it| {
                    it.json(version)
                })
            }
            _ => pagination::list("tools", self.tools.iter(), rows_max, params, |it| {
                it.json(version)
            }),
        }
    }
}

#[cfg(test)]
#[path = "../tests/it/published.rs"]
pub(crate) mod published;
#[cfg(test)]
mod tests;
