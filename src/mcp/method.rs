//! Methods of the protocol, and the versions and registrations that have them.

use super::{Handler, Server, Version};

/// The log target of records about reads of resources and about housekeeping.
///
/// Such records cause no notification: a client that reads the log after each change would change
/// it by each read.
pub(crate) const QUIET_TARGET: &str = concat!(env!("CARGO_CRATE_NAME"), "::quiet");

/// A known method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    Initialize,
    Ping,
    SetLevel,
    Discover,
    ListTools,
    CallTool,
    ListResources,
    ListTemplates,
    ReadResource,
    ListPrompts,
    GetPrompt,
    Complete,
    Subscribe,
    Unsubscribe,
    Listen,
}

impl Method {
    const ALL: [(Method, &str); 15] = [
        (Method::Initialize, "initialize"),
        (Method::Ping, "ping"),
        (Method::SetLevel, "logging/setLevel"),
        (Method::Discover, "server/discover"),
        (Method::ListTools, "tools/list"),
        (Method::CallTool, "tools/call"),
        (Method::ListResources, "resources/list"),
        (Method::ListTemplates, "resources/templates/list"),
        (Method::ReadResource, "resources/read"),
        (Method::ListPrompts, "prompts/list"),
        (Method::GetPrompt, "prompts/get"),
        (Method::Complete, "completion/complete"),
        (Method::Subscribe, "resources/subscribe"),
        (Method::Unsubscribe, "resources/unsubscribe"),
        (Method::Listen, "subscriptions/listen"),
    ];

    pub(super) fn parse(name: &str) -> Option<Method> {
        Method::ALL.into_iter().find(|(_, it)| *it == name).map(|(method, _)| method)
    }

    /// Returns its name.
    pub(super) fn as_str(self) -> &'static str {
        let row = Method::ALL.into_iter().find(|(it, _)| *it == self);
        row.map_or("unknown", |(_, name)| name)
    }

    /// Returns the log target of records about it. Reads of resources are quiet.
    pub(super) fn target(self) -> &'static str {
        if self == Method::ReadResource { QUIET_TARGET } else { module_path!() }
    }

    /// Returns whether the version and the registration support it.
    pub(super) fn is_known<S: Handler>(self, version: Version, server: &Server<S>) -> bool {
        match self {
            Method::Initialize | Method::Ping | Method::SetLevel => !version.is_modern(),
            Method::Discover => version.is_modern(),
            Method::ListTools | Method::CallTool => server.has_tools(),
            Method::ListResources | Method::ListTemplates | Method::ReadResource => {
                server.has_resources()
            }
            Method::ListPrompts | Method::GetPrompt => server.has_prompts(),
            Method::Complete => server.has_completions(),
            Method::Subscribe | Method::Unsubscribe => {
                !version.is_modern() && server.has_resources()
            }
            Method::Listen => version.is_modern() && server.has_resources(),
        }
    }
}
