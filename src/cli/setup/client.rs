//! Supported clients: the places and formats of their servers, permissions and skills.
//!
//! They are documented at
//!
//! - Claude Code: <https://code.claude.com/docs/en/mcp>, <https://code.claude.com/docs/en/skills>;
//! - Codex: <https://developers.openai.com/codex/mcp>,
//!   <https://developers.openai.com/codex/skills>;
//! - Gemini CLI: <https://geminicli.com/docs/tools/mcp-server/>,
//!   <https://geminicli.com/docs/cli/skills/>;
//! - OpenCode: <https://opencode.ai/docs/mcp-servers/>, <https://opencode.ai/docs/skills/>;
//! - Qwen Code: <https://qwenlm.github.io/qwen-code-docs/en/users/features/mcp/>,
//!   <https://qwenlm.github.io/qwen-code-docs/en/users/features/skills/>;
//! - Cursor: <https://cursor.com/docs/mcp>, <https://cursor.com/docs/skills>;
//! - VS Code: <https://code.visualstudio.com/docs/copilot/reference/mcp-configuration>,
//!   <https://code.visualstudio.com/docs/agent-customization/agent-skills>.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::edit::SettingsFormat;
use super::entry::{Entry, Grant};
use super::json::ServersPath;
use super::scan::Dialect;
use crate::cli::args::{CLIENTS, Client, Scope};

/// The server's name in every client's settings.
pub(super) const SERVER: &str = "remindb";

/// The folders of the project and the user, by the environment.
#[derive(Clone, Debug)]
pub(super) struct Folders {
    pub(super) project: PathBuf,
    pub(super) home: PathBuf,
    /// The settings folder: `~/.config`, unless the environment names another.
    pub(super) config: PathBuf,
    /// `CLAUDE_CONFIG_DIR`.
    pub(super) claude: Option<PathBuf>,
    /// `CODEX_HOME`.
    pub(super) codex: Option<PathBuf>,
}

impl Folders {
    /// Returns the folder of Claude Code's own settings.
    fn claude_settings(&self) -> PathBuf {
        self.claude.clone().unwrap_or_else(|| self.home.join(".claude"))
    }
}

/// The names of the tools that the server offers.
#[derive(Clone, Debug, Default)]
pub(super) struct Tools {
    /// Tools that only read, or whose effect can be undone.
    pub(super) allowed: Vec<&'static str>,
    /// All other tools.
    pub(super) asked: Vec<&'static str>,
}

/// The command line that starts the server.
#[derive(Clone, Debug)]
pub(super) struct Launch {
    pub(super) program: String,
    pub(super) args: Vec<String>,
}

impl Scope {
    pub(super) fn name(self) -> &'static str {
        match self {
            Scope::Project => "project",
            Scope::User => "user",
        }
    }
}

impl Client {
    pub(super) fn name(self) -> &'static str {
        CLIENTS.iter().find(|(_, it)| *it == self).map_or("", |(name, _)| name)
    }

    /// Returns the files that may hold the servers: the first that exists is used, else the first.
    pub(super) fn settings(self, scope: Scope, at: &Folders) -> Vec<PathBuf> {
        let Folders { project, home, config, .. } = at;
        let vscode = if cfg!(target_os = "macos") {
            home.join("Library/Application Support/Code/User/mcp.json")
        } else {
            config.join("Code/User/mcp.json")
        };
        let claude = at.claude.as_ref().unwrap_or(home);
        let codex = at.codex.clone().unwrap_or_else(|| home.join(".codex"));
        let both =
            |folder: &Path| vec![folder.join("opencode.json"), folder.join("opencode.jsonc")];
        match (self, scope) {
            (Client::ClaudeCode, Scope::Project) => vec![project.join(".mcp.json")],
            (Client::ClaudeCode, Scope::User) => vec![claude.join(".claude.json")],
            (Client::Codex, Scope::Project) => vec![project.join(".codex/config.toml")],
            (Client::Codex, Scope::User) => vec![codex.join("config.toml")],
            (Client::GeminiCli, Scope::Project) => vec![project.join(".gemini/settings.json")],
            (Client::GeminiCli, Scope::User) => vec![home.join(".gemini/settings.json")],
            (Client::OpenCode, Scope::Project) => both(project),
            (Client::OpenCode, Scope::User) => both(&config.join("opencode")),
            (Client::QwenCode, Scope::Project) => vec![project.join(".qwen/settings.json")],
            (Client::QwenCode, Scope::User) => vec![home.join(".qwen/settings.json")],
            (Client::Cursor, Scope::Project) => vec![project.join(".cursor/mcp.json")],
            (Client::Cursor, Scope::User) => vec![home.join(".cursor/mcp.json")],
            (Client::VsCode, Scope::Project) => vec![project.join(".vscode/mcp.json")],
            (Client::VsCode, Scope::User) => vec![vscode],
        }
    }

    /// Returns the folder that has a folder for each skill.
    pub(super) fn skills(self, scope: Scope, at: &Folders) -> PathBuf {
        let Folders { project, home, config, .. } = at;
        let claude = at.claude_settings();
        match (self, scope) {
            (Client::ClaudeCode, Scope::Project) => project.join(".claude/skills"),
            (Client::ClaudeCode, Scope::User) => claude.join("skills"),
            (Client::Codex, Scope::Project) => project.join(".agents/skills"),
            (Client::Codex, Scope::User) => home.join(".agents/skills"),
            (Client::GeminiCli, Scope::Project) => project.join(".gemini/skills"),
            (Client::GeminiCli, Scope::User) => home.join(".gemini/skills"),
            (Client::OpenCode, Scope::Project) => project.join(".opencode/skills"),
            (Client::OpenCode, Scope::User) => config.join("opencode/skills"),
            (Client::QwenCode, Scope::Project) => project.join(".qwen/skills"),
            (Client::QwenCode, Scope::User) => home.join(".qwen/skills"),
            (Client::Cursor, Scope::Project) => project.join(".cursor/skills"),
            (Client::Cursor, Scope::User) => home.join(".cursor/skills"),
            (Client::VsCode, Scope::Project) => project.join(".github/skills"),
            (Client::VsCode, Scope::User) => home.join(".copilot/skills"),
        }
    }

    /// Returns the format of the settings.
    pub(super) fn notation(self) -> SettingsFormat {
        let (dialect, container) = match self {
            Client::Codex => return SettingsFormat::Toml,
            Client::ClaudeCode => (Dialect::Strict, "mcpServers"),
            Client::GeminiCli | Client::QwenCode => (Dialect::Comments, "mcpServers"),
            Client::Cursor => (Dialect::Relaxed, "mcpServers"),
            Client::OpenCode => (Dialect::Relaxed, "mcp"),
            Client::VsCode => (Dialect::Relaxed, "servers"),
        };
        // OpenCode reads both places; from version 2 on only `servers`, where that exists.
        let inner = (self == Client::OpenCode).then_some("servers");
        SettingsFormat::Json(ServersPath { dialect, container, inner })
    }

    /// Returns the server's entry in the settings of this client.
    pub(super) fn entry(self, launch: Launch) -> Entry {
        let Launch { program, args } = launch;
        let fields: Vec<(&'static str, Value)> = match self {
            Client::OpenCode => {
                let command: Vec<String> = std::iter::once(program).chain(args).collect();
                vec![("type", json!("local")), ("command", json!(command))]
            }
            Client::ClaudeCode | Client::Cursor | Client::VsCode => {
                vec![("type", json!("stdio")), ("command", json!(program)), ("args", json!(args))]
            }
            Client::Codex | Client::GeminiCli | Client::QwenCode => {
                vec![("command", json!(program)), ("args", json!(args))]
            }
        };
        Entry { name: SERVER, fields }
    }

    /// Returns permissions to use the allowed tools without asking. The path is that of their
    /// settings file, if it is not that of the server.
    pub(super) fn grants(
        self,
        scope: Scope,
        at: &Folders,
        tools: &Tools,
    ) -> (Option<PathBuf>, Vec<Grant>) {
        let Tools { allowed, asked } = tools;
        let named = |prefix: &str, tools: &[&str]| -> Vec<String> {
            tools.iter().map(|it| format!("{prefix}{it}")).collect()
        };
        let trust = Grant::value(&["mcpServers", SERVER, "trust"], json!(true));
        let mut elsewhere = None;
        let grants = match self {
            Client::ClaudeCode => {
                elsewhere = Some(match scope {
                    Scope::Project => at.project.join(".claude/settings.json"),
                    Scope::User => at.claude_settings().join("settings.json"),
                });
                vec![Grant::items(&["permissions", "allow"], named("mcp__remindb__", allowed))]
            }
            Client::Codex => {
                let mode = &["mcp_servers", SERVER, "default_tools_approval_mode"];
                let each = asked.iter().map(|it| {
                    let at = &["mcp_servers", SERVER, "tools", it, "approval_mode"];
                    Grant::value(at, json!("prompt"))
                });
                [Grant::value(mode, json!("approve"))].into_iter().chain(each).collect()
            }
            Client::GeminiCli => {
                let asked = named("mcp_remindb_", asked);
                vec![trust, Grant::items(&["tools", "confirmationRequired"], asked)]
            }
            Client::QwenCode => {
                vec![trust, Grant::items(&["permissions", "ask"], named("mcp__remindb__", asked))]
            }
            // OpenCode asks for nothing by default.
            Client::OpenCode => named("remindb_", asked)
                .iter()
                .map(|it| Grant::value(&["permission", it], json!("ask")))
                .collect(),
            // They keep no such settings in a file.
            Client::Cursor | Client::VsCode => Vec::new(),
        };
        (elsewhere, grants.into_iter().filter(|it| !it.is_empty()).collect())
    }

    /// Returns the next step for the user.
    pub(super) fn advice(self, scope: Scope) -> &'static str {
        match (self, scope) {
            (Client::ClaudeCode, Scope::Project) => {
                "start Claude Code here and approve the server; `/mcp` shows it"
            }
            (Client::ClaudeCode, Scope::User) => "start Claude Code anew; `/mcp` shows the server",
            (Client::Codex, Scope::Project) => {
                "start Codex here and trust the project; `/mcp` shows the server"
            }
            (Client::Codex, Scope::User) => "start Codex anew; `/mcp` shows the server",
            (Client::GeminiCli, _) => "start Gemini CLI anew; `/mcp` shows the server",
            (Client::OpenCode, _) => "start OpenCode anew; `opencode mcp list` shows the server",
            (Client::QwenCode, Scope::Project) => {
                "run `qwen mcp approve remindb` here, or approve the server when Qwen Code asks"
            }
            (Client::QwenCode, Scope::User) => "start Qwen Code anew; `/mcp` shows the server",
            (Client::Cursor, _) => "turn the server on in Cursor's settings, under MCP",
            (Client::VsCode, _) => "start the server in VS Code: `MCP: List Servers`",
        }
    }
}
