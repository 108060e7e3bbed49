//! Supported clients: a row for each, with the places and formats of its settings and skills.
//!
//! They are documented at
//!
//! - Amp: <https://ampcode.com/manual>;
//! - Claude Code: <https://code.claude.com/docs/en/mcp>, <https://code.claude.com/docs/en/skills>;
//! - Claude Desktop: <https://modelcontextprotocol.io/docs/develop/connect-local-servers>;
//! - Cline: <https://docs.cline.bot/mcp/adding-and-configuring-servers>;
//! - Codex: <https://developers.openai.com/codex/mcp>,
//!   <https://developers.openai.com/codex/skills>;
//! - Copilot CLI:
//!   <https://docs.github.com/en/copilot/how-tos/copilot-cli/customize-copilot/add-mcp-servers>;
//! - Crush: <https://github.com/charmbracelet/crush>;
//! - Cursor: <https://cursor.com/docs/mcp>, <https://cursor.com/docs/skills>;
//! - Droid: <https://docs.factory.ai/cli/configuration/mcp>;
//! - Gemini CLI: <https://geminicli.com/docs/tools/mcp-server/>,
//!   <https://geminicli.com/docs/cli/skills/>;
//! - Goose: <https://goose-docs.ai/docs/guides/config-files>;
//! - OpenCode: <https://opencode.ai/docs/mcp-servers/>, <https://opencode.ai/docs/skills/>;
//! - Qwen Code: <https://qwenlm.github.io/qwen-code-docs/en/users/features/mcp/>,
//!   <https://qwenlm.github.io/qwen-code-docs/en/users/features/skills/>;
//! - VS Code: <https://code.visualstudio.com/docs/copilot/reference/mcp-configuration>,
//!   <https://code.visualstudio.com/docs/agent-customization/agent-skills>;
//! - Windsurf: <https://docs.windsurf.com/windsurf/cascade/mcp>;
//! - Zed: <https://zed.dev/docs/ai/mcp>, <https://zed.dev/docs/ai/tool-permissions>.

use std::path::{Path, PathBuf};

use super::edit::SettingsFormat;
use super::json::ServersPath;
use super::scan::Dialect;
use crate::cli::args::{Client, Scope};

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
    /// `COPILOT_HOME`.
    pub(super) copilot: Option<PathBuf>,
    /// The folders of `PATH`.
    pub(super) programs: Vec<PathBuf>,
}

/// A folder that a path begins at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Base {
    Project,
    Home,
    /// `XDG_CONFIG_HOME`.
    Config,
    /// The folder of a desktop program's settings.
    Desktop,
    /// Claude Code's own settings: `~/.claude`.
    Claude,
    /// The folder of Claude Code's servers, which is the home.
    ClaudeServers,
    Codex,
    Copilot,
}

/// A path by its base.
pub(super) type At = (Base, &'static str);

/// The places of a client in one scope.
#[derive(Debug)]
pub(super) struct Places {
    /// Files that may hold the servers: the first that exists is used, else the first.
    pub(super) settings: &'static [At],
    /// The folder that gets a folder for each skill.
    pub(super) skills: Option<At>,
    /// Further folders of skills that the client reads.
    pub(super) also_reads: &'static [At],
    /// The next step for the user.
    pub(super) advice: &'static str,
}

/// A client.
#[derive(Debug)]
pub(super) struct ClientRow {
    client: Client,
    pub(super) title: &'static str,
    format: SettingsFormat,
    project: Option<Places>,
    user: Option<Places>,
    /// Its program, and a place that it makes: either shows that it is installed.
    program: &'static str,
    trace: At,
}

impl Folders {
    pub(super) fn path(&self, (base, below): At) -> PathBuf {
        let of_home = |own: &Option<PathBuf>, usual| match own {
            Some(own) => own.clone(),
            None => self.home.join(usual),
        };
        let base = match base {
            Base::Project => self.project.clone(),
            Base::Home => self.home.clone(),
            Base::Config => self.config.clone(),
            Base::Desktop if cfg!(target_os = "macos") => {
                self.home.join("Library/Application Support")
            }
            Base::Desktop => self.config.clone(),
            Base::Claude => of_home(&self.claude, ".claude"),
            Base::ClaudeServers => of_home(&self.claude, ""),
            Base::Codex => of_home(&self.codex, ".codex"),
            Base::Copilot => of_home(&self.copilot, ".copilot"),
        };
        if below.is_empty() { base } else { base.join(below) }
    }

    /// Returns the program of that name on the `PATH`.
    pub(super) fn program(&self, name: &str) -> Option<PathBuf> {
        self.programs.iter().map(|it| it.join(name)).find(|it| it.is_file())
    }
}

impl Client {
    /// Returns the places of a scope; `None` where the client has none.
    pub(super) fn places(self, scope: Scope) -> Option<&'static Places> {
        match scope {
            Scope::Project => self.row().project.as_ref(),
            Scope::User => self.row().user.as_ref(),
        }
    }

    pub(super) fn title(self) -> &'static str {
        self.row().title
    }

    /// Returns the format of the settings.
    pub(super) fn notation(self) -> SettingsFormat {
        self.row().format
    }

    /// Returns whether the program or its settings are there.
    pub(super) fn is_installed(self, folders: &Folders) -> bool {
        let row = self.row();
        folders.program(row.program).is_some() || folders.path(row.trace).exists()
    }

    fn row(self) -> &'static ClientRow {
        let row = ROWS.iter().find(|it| it.client == self);
        row.unwrap_or(&ROWS[0])
    }
}

impl Places {
    /// Returns the settings file that holds the servers.
    pub(super) fn settings_file(&self, folders: &Folders) -> PathBuf {
        let all = self.settings.iter().map(|it| folders.path(*it));
        let mut all: Vec<PathBuf> = all.collect();
        let there = all.iter().position(|it| Path::symlink_metadata(it).is_ok());
        all.swap_remove(there.unwrap_or(0))
    }
}

const fn json(dialect: Dialect, container: &'static str) -> SettingsFormat {
    SettingsFormat::Json(ServersPath { dialect, container, inner: None })
}

/// Every client.
const ROWS: &[ClientRow] = &[
    ClientRow {
        client: Client::ClaudeCode,
        title: "Claude Code",
        format: json(Dialect::Strict, "mcpServers"),
        project: Some(Places {
            settings: &[(Base::Project, ".mcp.json")],
            skills: Some((Base::Project, ".claude/skills")),
            also_reads: &[],
            advice: "start Claude Code here and approve the server; `/mcp` shows it",
        }),
        user: Some(Places {
            settings: &[(Base::ClaudeServers, ".claude.json")],
            skills: Some((Base::Claude, "skills")),
            also_reads: &[],
            advice: "start Claude Code anew; `/mcp` shows the server",
        }),
        program: "claude",
        trace: (Base::Claude, ""),
    },
    ClientRow {
        client: Client::ClaudeDesktop,
        title: "Claude Desktop",
        format: json(Dialect::Strict, "mcpServers"),
        project: None,
        user: Some(Places {
            settings: &[(Base::Desktop, "Claude/claude_desktop_config.json")],
            skills: None,
            also_reads: &[],
            advice: "quit Claude Desktop and start it anew; its settings show the server",
        }),
        program: "claude-desktop",
        trace: (Base::Desktop, "Claude"),
    },
    ClientRow {
        client: Client::Codex,
        title: "Codex",
        format: SettingsFormat::Toml,
        project: Some(Places {
            settings: &[(Base::Project, ".codex/config.toml")],
            skills: Some((Base::Project, ".agents/skills")),
            also_reads: &[],
            advice: "start Codex here and trust the project; `/mcp` shows the server",
        }),
        user: Some(Places {
            settings: &[(Base::Codex, "config.toml")],
            skills: Some((Base::Home, ".agents/skills")),
            also_reads: &[],
            advice: "start Codex anew; `/mcp` shows the server",
        }),
        program: "codex",
        trace: (Base::Codex, ""),
    },
    ClientRow {
        client: Client::GeminiCli,
        title: "Gemini CLI",
        format: json(Dialect::Comments, "mcpServers"),
        project: Some(Places {
            settings: &[(Base::Project, ".gemini/settings.json")],
            skills: Some((Base::Project, ".gemini/skills")),
            also_reads: &[(Base::Project, ".agents/skills")],
            advice: "start Gemini CLI anew; `/mcp` shows the server",
        }),
        user: Some(Places {
            settings: &[(Base::Home, ".gemini/settings.json")],
            skills: Some((Base::Home, ".gemini/skills")),
            also_reads: &[(Base::Home, ".agents/skills")],
            advice: "start Gemini CLI anew; `/mcp` shows the server",
        }),
        program: "gemini",
        trace: (Base::Home, ".gemini"),
    },
    ClientRow {
        client: Client::OpenCode,
        title: "OpenCode",
        // It reads both places; from version 2 on only `servers`, where that exists.
        format: SettingsFormat::Json(ServersPath {
            dialect: Dialect::Relaxed,
            container: "mcp",
            inner: Some("servers"),
        }),
        project: Some(Places {
            settings: &[(Base::Project, "opencode.json"), (Base::Project, "opencode.jsonc")],
            skills: Some((Base::Project, ".opencode/skills")),
            also_reads: &[(Base::Project, ".claude/skills"), (Base::Project, ".agents/skills")],
            advice: "start OpenCode anew; `opencode mcp list` shows the server",
        }),
        user: Some(Places {
            settings: &[
                (Base::Config, "opencode/opencode.json"),
                (Base::Config, "opencode/opencode.jsonc"),
            ],
            skills: Some((Base::Config, "opencode/skills")),
            also_reads: &[(Base::Home, ".claude/skills"), (Base::Home, ".agents/skills")],
            advice: "start OpenCode anew; `opencode mcp list` shows the server",
        }),
        program: "opencode",
        trace: (Base::Config, "opencode"),
    },
    ClientRow {
        client: Client::QwenCode,
        title: "Qwen Code",
        format: json(Dialect::Comments, "mcpServers"),
        project: Some(Places {
            settings: &[(Base::Project, ".qwen/settings.json")],
            skills: Some((Base::Project, ".qwen/skills")),
            also_reads: &[],
            advice: "run `qwen mcp approve remindb` here, or approve the server when asked",
        }),
        user: Some(Places {
            settings: &[(Base::Home, ".qwen/settings.json")],
            skills: Some((Base::Home, ".qwen/skills")),
            also_reads: &[],
            advice: "start Qwen Code anew; `/mcp` shows the server",
        }),
        program: "qwen",
        trace: (Base::Home, ".qwen"),
    },
    ClientRow {
        client: Client::CopilotCli,
        title: "Copilot CLI",
        format: json(Dialect::Strict, "mcpServers"),
        project: Some(Places {
            settings: &[(Base::Project, ".github/mcp.json")],
            skills: Some((Base::Project, ".github/skills")),
            also_reads: &[(Base::Project, ".claude/skills"), (Base::Project, ".agents/skills")],
            advice: "trust the folder; `copilot --allow-tool remindb` asks for none of its tools",
        }),
        user: Some(Places {
            settings: &[(Base::Copilot, "mcp-config.json")],
            skills: Some((Base::Copilot, "skills")),
            also_reads: &[(Base::Home, ".agents/skills")],
            advice: "start it anew; `copilot --allow-tool remindb-user` asks for none of its tools",
        }),
        program: "copilot",
        trace: (Base::Copilot, ""),
    },
    ClientRow {
        client: Client::Cursor,
        title: "Cursor",
        format: json(Dialect::Relaxed, "mcpServers"),
        project: Some(Places {
            settings: &[(Base::Project, ".cursor/mcp.json")],
            skills: Some((Base::Project, ".cursor/skills")),
            also_reads: &[(Base::Project, ".claude/skills"), (Base::Project, ".agents/skills")],
            advice: "turn the server on in Cursor's settings, under MCP",
        }),
        user: Some(Places {
            settings: &[(Base::Home, ".cursor/mcp.json")],
            skills: Some((Base::Home, ".cursor/skills")),
            also_reads: &[(Base::Home, ".claude/skills"), (Base::Home, ".agents/skills")],
            advice: "turn the server on in Cursor's settings, under MCP",
        }),
        program: "cursor",
        trace: (Base::Home, ".cursor"),
    },
    ClientRow {
        client: Client::VsCode,
        title: "VS Code",
        format: json(Dialect::Relaxed, "servers"),
        project: Some(Places {
            settings: &[(Base::Project, ".vscode/mcp.json")],
            skills: Some((Base::Project, ".github/skills")),
            also_reads: &[(Base::Project, ".claude/skills"), (Base::Project, ".agents/skills")],
            advice: "start the server in VS Code: `MCP: List Servers`",
        }),
        user: Some(Places {
            settings: &[(Base::Desktop, "Code/User/mcp.json")],
            skills: Some((Base::Copilot, "skills")),
            also_reads: &[(Base::Home, ".claude/skills"), (Base::Home, ".agents/skills")],
            advice: "start the server in VS Code: `MCP: List Servers`",
        }),
        program: "code",
        trace: (Base::Desktop, "Code"),
    },
    ClientRow {
        client: Client::Windsurf,
        title: "Windsurf",
        format: json(Dialect::Strict, "mcpServers"),
        project: None,
        user: Some(Places {
            settings: &[(Base::Home, ".codeium/windsurf/mcp_config.json")],
            skills: Some((Base::Home, ".codeium/windsurf/skills")),
            also_reads: &[(Base::Home, ".agents/skills")],
            advice: "refresh the servers in Windsurf's MCP settings",
        }),
        program: "windsurf",
        trace: (Base::Home, ".codeium/windsurf"),
    },
    ClientRow {
        client: Client::Cline,
        title: "Cline",
        format: json(Dialect::Strict, "mcpServers"),
        project: None,
        user: Some(Places {
            settings: &[
                (Base::Home, ".cline/data/settings/cline_mcp_settings.json"),
                (
                    Base::Desktop,
                    "Code/User/globalStorage/saoudrizwan.claude-dev/settings/\
                     cline_mcp_settings.json",
                ),
            ],
            skills: Some((Base::Home, ".cline/skills")),
            also_reads: &[(Base::Home, ".agents/skills")],
            advice: "start Cline anew; its MCP servers show it",
        }),
        program: "cline",
        trace: (Base::Home, ".cline"),
    },
    ClientRow {
        client: Client::Zed,
        title: "Zed",
        format: json(Dialect::Relaxed, "context_servers"),
        project: Some(Places {
            settings: &[(Base::Project, ".zed/settings.json")],
            skills: Some((Base::Project, ".agents/skills")),
            also_reads: &[],
            advice: "trust the project in Zed; the agent's settings show the server",
        }),
        user: Some(Places {
            settings: &[(Base::Config, "zed/settings.json")],
            skills: Some((Base::Home, ".agents/skills")),
            also_reads: &[],
            advice: "the agent's settings in Zed show the server",
        }),
        program: "zed",
        trace: (Base::Config, "zed"),
    },
    ClientRow {
        client: Client::Amp,
        title: "Amp",
        format: json(Dialect::Relaxed, "amp.mcpServers"),
        project: Some(Places {
            settings: &[
                (Base::Project, ".amp/settings.json"),
                (Base::Project, ".amp/settings.jsonc"),
            ],
            skills: Some((Base::Project, ".agents/skills")),
            also_reads: &[(Base::Project, ".claude/skills")],
            advice: "run `amp mcp approve remindb` here, then start Amp anew",
        }),
        user: Some(Places {
            settings: &[(Base::Config, "amp/settings.json"), (Base::Config, "amp/settings.jsonc")],
            skills: Some((Base::Config, "agents/skills")),
            also_reads: &[(Base::Home, ".claude/skills"), (Base::Config, "amp/skills")],
            advice: "start Amp anew; `amp mcp doctor` shows the server",
        }),
        program: "amp",
        trace: (Base::Config, "amp"),
    },
    ClientRow {
        client: Client::Crush,
        title: "Crush",
        format: json(Dialect::Strict, "mcp"),
        project: Some(Places {
            settings: &[(Base::Project, "crush.json"), (Base::Project, ".crush.json")],
            skills: Some((Base::Project, ".crush/skills")),
            also_reads: &[
                (Base::Project, ".agents/skills"),
                (Base::Project, ".claude/skills"),
                (Base::Project, ".cursor/skills"),
            ],
            advice: "start Crush anew; its sidebar shows the server",
        }),
        user: Some(Places {
            settings: &[(Base::Config, "crush/crush.json")],
            skills: Some((Base::Config, "crush/skills")),
            also_reads: &[
                (Base::Config, "agents/skills"),
                (Base::Home, ".agents/skills"),
                (Base::Home, ".claude/skills"),
            ],
            advice: "start Crush anew; its sidebar shows the server",
        }),
        program: "crush",
        trace: (Base::Config, "crush"),
    },
    ClientRow {
        client: Client::Droid,
        title: "Droid",
        format: json(Dialect::Strict, "mcpServers"),
        project: Some(Places {
            settings: &[(Base::Project, ".factory/mcp.json")],
            skills: Some((Base::Project, ".factory/skills")),
            also_reads: &[(Base::Project, ".agents/skills")],
            advice: "start Droid anew; `/mcp` shows the server",
        }),
        user: Some(Places {
            settings: &[(Base::Home, ".factory/mcp.json")],
            skills: Some((Base::Home, ".factory/skills")),
            also_reads: &[],
            advice: "start Droid anew; `/mcp` shows the server",
        }),
        program: "droid",
        trace: (Base::Home, ".factory"),
    },
    ClientRow {
        client: Client::Goose,
        title: "Goose",
        format: SettingsFormat::Yaml,
        project: None,
        user: Some(Places {
            settings: &[(Base::Config, "goose/config.yaml")],
            skills: Some((Base::Config, "goose/skills")),
            also_reads: &[
                (Base::Config, "agents/skills"),
                (Base::Home, ".agents/skills"),
                (Base::Home, ".claude/skills"),
            ],
            advice: "start a new session of Goose; `goose info -v` shows the extension",
        }),
        program: "goose",
        trace: (Base::Config, "goose"),
    },
];
