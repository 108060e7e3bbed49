//! The server in a client's own terms: the command or address of its entry, and its permissions.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::settings_edit_types::{Grant, ServerEntry};
use super::supported_clients::{BaseDir, ClientFolders};
use crate::cli::args::{Client, ProjectOrUser};

/// The variable for the project's folder, in clients that have one.
pub(super) const PROJECT_VARIABLE: &str = "${workspaceFolder}";

/// The names of the tools that the server offers: allowed without asking, or asked for.
#[derive(Clone, Debug, Default)]
pub(super) struct ToolsByPermission {
    /// Tools that only read, or whose effect can be undone.
    pub(super) allowed: Vec<&'static str>,
    /// All other tools.
    pub(super) asked: Vec<&'static str>,
}

/// The way to the server.
#[derive(Clone, Debug)]
pub(super) enum ServerConnection {
    /// The client starts it.
    Command { program: String, args: Vec<String> },
    /// It listens at an address.
    Http { url: String, token: Option<TokenSource> },
}

/// The token of a server that listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TokenSource {
    Literal(String),
    /// The name of the variable that has it.
    Variable(String),
}

/// Grants, and the settings file that holds them if it is not that of the server.
pub(super) type GrantsWithFile = (Option<PathBuf>, Vec<Grant>);

/// Returns the server's name in the settings of a scope. A client may know both.
pub(super) fn server_name(scope: ProjectOrUser) -> &'static str {
    match scope {
        ProjectOrUser::Project => "remindb",
        ProjectOrUser::User => "remindb-user",
    }
}

impl Client {
    /// Returns the path variable for the project's folder, in clients that start servers elsewhere.
    pub(super) fn project_variable(self) -> Option<&'static str> {
        matches!(self, Client::Cursor | Client::VsCode).then_some(PROJECT_VARIABLE)
    }

    /// Returns the server's entry in the settings of this client; fails if it cannot be written.
    pub(super) fn entry(
        self,
        name: &'static str,
        way: ServerConnection,
    ) -> Result<ServerEntry, String> {
        let fields = match way {
            ServerConnection::Command { program, args } => {
                self.command_fields(name, program, &args)
            }
            ServerConnection::Http { url, token } => self.http_fields(name, url, token)?,
        };
        let keys = ["command", "cmd", "url", "httpUrl", "serverUrl", "uri"];
        let key = keys.into_iter().find(|key| fields.iter().any(|(it, _)| it == key));
        Ok(ServerEntry { name, key: key.unwrap_or("command"), fields })
    }

    fn command_fields(
        self,
        name: &str,
        program: String,
        args: &[String],
    ) -> Vec<(&'static str, Value)> {
        match self {
            Client::OpenCode => {
                let command: Vec<&String> = std::iter::once(&program).chain(args).collect();
                vec![("type", json!("local")), ("command", json!(command))]
            }
            Client::Goose => vec![
                ("enabled", json!(true)),
                ("type", json!("stdio")),
                ("name", json!(name)),
                ("cmd", json!(program)),
                ("args", json!(args)),
                ("timeout", json!(300)),
            ],
            Client::ClaudeCode
            | Client::CopilotCli
            | Client::Crush
            | Client::Cursor
            | Client::Droid
            | Client::VsCode => {
                let mut fields = vec![("type", json!("stdio"))];
                fields.extend([("command", json!(program)), ("args", json!(args))]);
                // It shows its model no tool of a server without this list.
                fields.extend((self == Client::CopilotCli).then(|| ("tools", json!(["*"]))));
                fields
            }
            Client::Amp
            | Client::ClaudeDesktop
            | Client::Cline
            | Client::Codex
            | Client::GeminiCli
            | Client::QwenCode
            | Client::Windsurf
            | Client::Zed => vec![("command", json!(program)), ("args", json!(args))],
        }
    }

    fn http_fields(
        self,
        name: &str,
        url: String,
        token: Option<TokenSource>,
    ) -> Result<Vec<(&'static str, Value)>, String> {
        let mut fields = match self {
            Client::ClaudeDesktop => {
                return Err(
                    "its settings start servers, and name no address; leave out --http".to_owned()
                );
            }
            Client::ClaudeCode
            | Client::CopilotCli
            | Client::Crush
            | Client::Droid
            | Client::VsCode => vec![("type", json!("http")), ("url", json!(url))],
            Client::Amp | Client::Codex | Client::Cursor | Client::Zed => vec![("url", json!(url))],
            Client::Cline => vec![("type", json!("streamableHttp")), ("url", json!(url))],
            Client::GeminiCli | Client::QwenCode => vec![("httpUrl", json!(url))],
            Client::OpenCode => vec![("type", json!("remote")), ("url", json!(url))],
            Client::Windsurf => vec![("serverUrl", json!(url))],
            Client::Goose => vec![
                ("enabled", json!(true)),
                ("type", json!("streamable_http")),
                ("name", json!(name)),
                ("uri", json!(url)),
                ("timeout", json!(300)),
            ],
        };
        match (self, token) {
            (_, None) => (),
            (Client::Codex, Some(TokenSource::Variable(name))) => {
                fields.push(("bearer_token_env_var", json!(name)));
            }
            (_, Some(token)) => {
                let token = match token {
                    TokenSource::Literal(token) => token,
                    TokenSource::Variable(name) => self.reference(&name)?,
                };
                let key = if self == Client::Codex { "http_headers" } else { "headers" };
                fields.push((key, json!({"Authorization": format!("Bearer {token}")})));
            }
        }
        fields.extend((self == Client::CopilotCli).then(|| ("tools", json!(["*"]))));
        Ok(fields)
    }

    /// Returns the client's reference to a variable of the environment.
    fn reference(self, name: &str) -> Result<String, String> {
        match self {
            Client::Amp
            | Client::ClaudeCode
            | Client::CopilotCli
            | Client::Droid
            | Client::Goose => Ok(format!("${{{name}}}")),
            Client::Cursor | Client::VsCode | Client::Windsurf => Ok(format!("${{env:{name}}}")),
            Client::Crush | Client::GeminiCli | Client::QwenCode => Ok(format!("${name}")),
            Client::OpenCode => Ok(format!("{{env:{name}}}")),
            Client::ClaudeDesktop | Client::Cline | Client::Codex | Client::Zed => {
                Err("it reads no variables in headers; use --token with --scope user".to_owned())
            }
        }
    }

    /// Returns permissions to use the allowed tools without asking.
    pub(super) fn grants(
        self,
        scope: ProjectOrUser,
        at: &ClientFolders,
        tools: &ToolsByPermission,
    ) -> GrantsWithFile {
        let ToolsByPermission { allowed, asked } = tools;
        let server = server_name(scope);
        let named = |prefix: &str, tools: &[&str]| -> Vec<String> {
            tools.iter().map(|it| format!("{prefix}{it}")).collect()
        };
        let trust = Grant::value(&["mcpServers", server, "trust"], json!(true));
        let grants = match self {
            Client::ClaudeCode => {
                let allowed = named(&format!("mcp__{server}__"), allowed);
                vec![Grant::items(&["permissions", "allow"], allowed)]
            }
            Client::Codex => {
                let mode = &["mcp_servers", server, "default_tools_approval_mode"];
                let each = asked.iter().map(|it| {
                    let at = &["mcp_servers", server, "tools", it, "approval_mode"];
                    Grant::value(at, json!("prompt"))
                });
                [Grant::value(mode, json!("approve"))].into_iter().chain(each).collect()
            }
            Client::GeminiCli => {
                let asked = named(&format!("mcp_{server}_"), asked);
                vec![trust, Grant::items(&["tools", "confirmationRequired"], asked)]
            }
            Client::QwenCode => {
                let asked = named(&format!("mcp__{server}__"), asked);
                vec![trust, Grant::items(&["permissions", "ask"], asked)]
            }
            // It asks for nothing by default.
            Client::OpenCode => named(&format!("{server}_"), asked)
                .iter()
                .map(|it| Grant::value(&["permission", it], json!("ask")))
                .collect(),
            Client::Cline => {
                let allowed = allowed.iter().map(|it| (*it).to_owned());
                vec![Grant::items(&["mcpServers", server, "autoApprove"], allowed)]
            }
            Client::Crush => {
                let allowed = named(&format!("mcp_{server}_"), allowed);
                vec![Grant::items(&["permissions", "allowed_tools"], allowed)]
            }
            // A project's settings cannot allow tools.
            Client::Zed if scope == ProjectOrUser::User => {
                named(&format!("mcp:{server}:"), allowed)
                    .iter()
                    .map(|it| {
                        let at = &["agent", "tool_permissions", "tools", it, "default"];
                        Grant::value(at, json!("allow"))
                    })
                    .collect()
            }
            // They keep no such settings in a file, or allow every tool by themselves.
            Client::Amp
            | Client::ClaudeDesktop
            | Client::CopilotCli
            | Client::Cursor
            | Client::Droid
            | Client::Goose
            | Client::VsCode
            | Client::Windsurf
            | Client::Zed => Vec::new(),
        };
        (self.grants_file(scope, at), grants.into_iter().filter(|it| !it.is_empty()).collect())
    }

    /// Returns the settings file that holds the grants, if it is not that of the server.
    fn grants_file(self, scope: ProjectOrUser, at: &ClientFolders) -> Option<PathBuf> {
        let file = match scope {
            ProjectOrUser::Project => (BaseDir::Project, ".claude/settings.json"),
            ProjectOrUser::User => (BaseDir::Claude, "settings.json"),
        };
        (self == Client::ClaudeCode).then(|| at.path(file))
    }
}
