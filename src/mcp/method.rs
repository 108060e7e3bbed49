//! The methods that the engine knows, and who knows them besides.

use super::{Server, Surface, Version};

/// A method that the engine knows.
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
}

impl Method {
    const ALL: [(Method, &str); 12] = [
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
    ];

    pub(super) fn parse(name: &str) -> Option<Method> {
        Method::ALL.into_iter().find(|(_, it)| *it == name).map(|(method, _)| method)
    }

    /// Whether a version has it, and the registration something to say to it.
    pub(super) fn is_known<S: Surface>(self, version: Version, server: &Server<S>) -> bool {
        match self {
            Method::Initialize | Method::Ping | Method::SetLevel => !version.is_modern(),
            Method::Discover => version.is_modern(),
            Method::ListTools | Method::CallTool => server.has_tools(),
            Method::ListResources | Method::ListTemplates | Method::ReadResource => {
                server.has_resources()
            }
            Method::ListPrompts | Method::GetPrompt => server.has_prompts(),
            Method::Complete => server.has_completions(),
        }
    }
}
