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
use super::json_settings::ServersPath;
use super::json_spans::JsonDialect;
use crate::cli::args::{Client, ProjectOrUser};

/// The folders of the project and the user, by the environment.
#[derive(Clone, Debug)]
pub(super) struct ClientFolders {
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
pub(super) enum BaseDir {
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
pub(super) type BaseRelativePath = (BaseDir, &'static str);

/// The places of a client in one scope.
#[derive(Debug)]
pub(super) struct SettingsAndSkillPaths {
    /// Files that may hold the servers: the first that exists is used, else the first.
    pub(super) settings: &'static [BaseRelativePath],
    /// The folder that gets a folder for each skill.
    pub(super) skills: Option<BaseRelativePath>,
    /// Further folders of skills that the client reads.
    pub(super) also_reads: &'static [BaseRelativePath],
    /// The next step for the user.
    pub(super) advice: &'static str,
}

/// A client.
#[derive(Debug)]
pub(super) struct ClientRow {
    client: Client,
    pub(super) title: &'static str,
    format: SettingsFormat,
    project: Option<SettingsAndSkillPaths>,
    user: Option<SettingsAndSkillPaths>,
    /// Its program, and a place that it makes: either shows that it is installed.
    program: &'static str,
    trace: BaseRelativePath,
}

impl ClientFolders {
    pub(super) fn path(&self, (base, below): BaseRelativePath) -> PathBuf {
        let of_home = |own: &Option<PathBuf>, usual| match own {
            Some(own) => own.clone(),
            None => self.home.join(usual),
        };
        let base = match base {
            BaseDir::Project => self.project.clone(),
            BaseDir::Home => self.home.clone(),
            BaseDir::Config => self.config.clone(),
            BaseDir::Desktop if cfg!(target_os = "macos") => {
                self.home.join("Library/Application Support")
            }
            BaseDir::Desktop => self.config.clone(),
            BaseDir::Claude => of_home(&self.claude, ".claude"),
            BaseDir::ClaudeServers => of_home(&self.claude, ""),
            BaseDir::Codex => of_home(&self.codex, ".codex"),
            BaseDir::Copilot => of_home(&self.copilot, ".copilot"),
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
    pub(super) fn places(self, scope: ProjectOrUser) -> Option<&'static SettingsAndSkillPaths> {
        match scope {
            ProjectOrUser::Project => self.row().project.as_ref(),
            ProjectOrUser::User => self.row().user.as_ref(),
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
    pub(super) fn is_installed(self, folders: &ClientFolders) -> bool {
        let row = self.row();
        folders.program(row.program).is_some() || folders.path(row.trace).exists()
    }

    fn row(self) -> &'static ClientRow {
        let row = ROWS.iter().find(|it| it.client == self);
        row.unwrap_or(&ROWS[0])
    }
}

impl SettingsAndSkillPaths {
    /// Returns the settings file that holds the servers.
    pub(super) fn settings_file(&self, folders: &ClientFolders) -> PathBuf {
        let all = self.settings.iter().map(|it| folders.path(*it));
        let mut all: Vec<PathBuf> = all.collect();
        let there = all.iter().position(|it| Path::symlink_metadata(it).is_ok());
        all.swap_remove(there.unwrap_or(0))
    }
}

const fn json(dialect: JsonDialect, container: &'static str) -> SettingsFormat {
    SettingsFormat::Json(ServersPath { dialect, container, inner: None })
}

/// Every client.
const ROWS: &[ClientRow] = &[
    ClientRow {
        client: Client::ClaudeCode,
        title: "Claude Code",
        format: json(JsonDialect::Strict, "mcpServers"),
        project: Some(SettingsAndSkillPaths {
            settings: &[(BaseDir::Project, ".mcp.json")],
            skills: Some((BaseDir::Project, ".claude/skills")),
            also_reads: &[],
            advice: "start Claude Code here and approve the server; `/mcp` shows it",
        }),
        user: Some(SettingsAndSkillPaths {
            settings: &[(BaseDir::ClaudeServers, ".claude.json")],
            skills: Some((BaseDir::Claude, "skills")),
            also_reads: &[],
            advice: "start Claude Code anew; `/mcp` shows the server",
        }),
        program: "claude",
        trace: (BaseDir::Claude, ""),
    },
    ClientRow {
        client: Client::ClaudeDesktop,
        title: "Claude Desktop",
        format: json(JsonDialect::Strict, "mcpServers"),
        project: None,
        user: Some(SettingsAndSkillPaths {
            settings: &[(BaseDir::Desktop, "Claude/claude_desktop_config.json")],
            skills: None,
            also_reads: &[],
            advice: "quit Claude Desktop and start it anew; its settings show the server",
        }),
        program: "claude-desktop",
        trace: (BaseDir::Desktop, "Claude"),
    },
    ClientRow {
        client: Client::Codex,
        title: "Codex",
        format: SettingsFormat::Toml,
        project: Some(SettingsAndSkillPaths {
            settings: &[(BaseDir::Project, ".codex/config.toml")],
            skills: Some((BaseDir::Project, ".agents/skills")),
            also_reads: &[],
            advice: "start Codex here and trust the project; `/mcp` shows the server",
        }),
        user: Some(SettingsAndSkillPaths {
            settings: &[(BaseDir::Codex, "config.toml")],
            skills: Some((BaseDir::Home, ".agents/skills")),
            also_reads: &[],
            advice: "start Codex anew; `/mcp` shows the server",
        }),
        program: "codex",
        trace: (BaseDir::Codex, ""),
    },
    ClientRow {
        client: Client::GeminiCli,
        title: "Gemini CLI",
        format: json(JsonDialect::Comments, "mcpServers"),
        project: Some(SettingsAndSkillPaths {
            settings: &[(BaseDir::Project, ".gemini/settings.json")],
            skills: Some((BaseDir::Project, ".gemini/skills")),
            also_reads: &[(BaseDir::Project, ".agents/skills")],
            advice: "start Gemini CLI anew; `/mcp` shows the server",
        }),
        user: Some(SettingsAndSkillPaths {
            settings: &[(BaseDir::Home, ".gemini/settings.json")],
            skills: Some((BaseDir::Home, ".gemini/skills")),
            also_reads: &[(BaseDir::Home, ".agents/skills")],
            advice: "start Gemini CLI anew; `/mcp` shows the server",
        }),
        program: "gemini",
        trace: (BaseDir::Home, ".gemini"),
    },
    ClientRow {
        client: Client::OpenCode,
        title: "OpenCode",
        // It reads both places; from version 2 on only `servers`, where that exists.
        format: SettingsFormat::Json(ServersPath {
            dialect: JsonDialect::Relaxed,
            container: "mcp",
            inner: Some("servers"),
        }),
        project: Some(SettingsAndSkillPaths {
            settings: &[(BaseDir::Project, "opencode.json"), (BaseDir::Project, "opencode.jsonc")],
            skills: Some((BaseDir::Project, ".opencode/skills")),
            also_reads: &[
                (BaseDir::Project, ".claude/skills"),
                (BaseDir::Project, ".agents/skills"),
            ],
            advice: "start OpenCode anew; `opencode mcp list` shows the server",
        }),
        user: Some(SettingsAndSkillPaths {
            settings: &[
                (BaseDir::Config, "opencode/opencode.json"),
                (BaseDir::Config, "opencode/opencode.jsonc"),
            ],
            skills: Some((BaseDir::Config, "opencode/skills")),
            also_reads: &[(BaseDir::Home, ".claude/skills"), (BaseDir::Home, ".agents/skills")],
            advice: "start OpenCode anew; `opencode mcp list` shows the server",
        }),
        program: "opencode",
        trace: (BaseDir::Config, "opencode"),
    },
    ClientRow {
        client: Client::QwenCode,
        title: "Qwen Code",
        format: json(JsonDialect::Comments, "mcpServers"),
        project: Some(SettingsAndSkillPaths {
            settings: &[(BaseDir::Project, ".qwen/settings.json")],
            skills: Some((BaseDir::Project, ".qwen/skills")),
            also_reads: &[],
            advice: "run `qwen mcp approve remindb` here, or approve the server when asked",
        }),
        user: Some(SettingsAndSkillPaths {
            settings: &[(BaseDir::Home, ".qwen/settings.json")],
            skills: Some((BaseDir::Home, ".qwen/skills")),
            also_reads: &[],
            advice: "start Qwen Code anew; `/mcp` shows the server",
        }),
        program: "qwen",
        trace: (BaseDir::Home, ".qwen"),
    },
    ClientRow {
        client: Client::CopilotCli,
        title: "Copilot CLI",
        format: json(JsonDialect::Strict, "mcpServers"),
        project: Some(SettingsAndSkillPaths {
            settings: &[(BaseDir::Project, ".github/mcp.json")],
            skills: Some((BaseDir::Project, ".github/skills")),
            also_reads: &[
                (BaseDir::Project, ".claude/skills"),
                (BaseDir::Project, ".agents/skills"),
            ],
            advice: "trust the folder; `copilot --allow-tool remindb` asks for none of its tools",
        }),
        user: Some(SettingsAndSkillPaths {
            settings: &[(BaseDir::Copilot, "mcp-config.json")],
            skills: Some((BaseDir::Copilot, "skills")),
            also_reads: &[(BaseDir::Home, ".agents/skills")],
            advice: "start it anew; `copilot --allow-tool remindb-user` asks for none of its tools",
        }),
        program: "copilot",
        trace: (BaseDir::Copilot, ""),
    },
    ClientRow {
        client: Client::Cursor,
        title: "Cursor",
        format: json(JsonDialect::Relaxed, "mcpServers"),
        project: Some(SettingsAndSkillPaths {
            settings: &[(BaseDir::Project, ".cursor/mcp.json")],
            skills: Some((BaseDir::Project, ".cursor/skills")),
            also_reads: &[
                (BaseDir::Project, ".claude/skills"),
                (BaseDir::Project, ".agents/skills"),
            ],
            advice: "turn the server on in Cursor's settings, under MCP",
        }),
        user: Some(SettingsAndSkillPaths {
            settings: &[(BaseDir::Home, ".cursor/mcp.json")],
            skills: Some((BaseDir::Home, ".cursor/skills")),
            also_reads: &[(BaseDir::Home, ".claude/skills"), (BaseDir::Home, ".agents/skills")],
            advice: "turn the server on in Cursor's settings, under MCP",
        }),
        program: "cursor",
        trace: (BaseDir::Home, ".cursor"),
    },
    ClientRow {
        client: Client::VsCode,
        title: "VS Code",
        format: json(JsonDialect::Relaxed, "servers"),
        project: Some(SettingsAndSkillPaths {
            settings: &[(BaseDir::Project, ".vscode/mcp.json")],
            skills: Some((BaseDir::Project, ".github/skills")),
            also_reads: &[
                (BaseDir::Project, ".claude/skills"),
                (BaseDir::Project, ".agents/skills"),
            ],
            advice: "start the server in VS Code: `MCP: List Servers`",
        }),
        user: Some(SettingsAndSkillPaths {
            settings: &[(BaseDir::Desktop, "Code/User/mcp.json")],
            skills: Some((BaseDir::Copilot, "skills")),
            also_reads: &[(BaseDir::Home, ".claude/skills"), (BaseDir::Home, ".agents/skills")],
            advice: "start the server in VS Code: `MCP: List Servers`",
        }),
        program: "code",
        trace: (BaseDir::Desktop, "Code"),
    },
    ClientRow {
        client: Client::Windsurf,
        title: "Windsurf",
        format: json(JsonDialect::Strict, "mcpServers"),
        project: None,
        user: Some(SettingsAndSkillPaths {
            settings: &[(BaseDir::Home, ".codeium/windsurf/mcp_config.json")],
            skills: Some((BaseDir::Home, ".codeium/windsurf/skills")),
            also_reads: &[(BaseDir::Home, ".agents/skills")],
            advice: "refresh the servers in Windsurf's MCP settings",
        }),
        program: "windsurf",
        trace: (BaseDir::Home, ".codeium/windsurf"),
    },
    ClientRow {
        client: Client::Cline,
        title: "Cline",
        format: json(JsonDialect::Strict, "mcpServers"),
        project: None,
        user: Some(SettingsAndSkillPaths {
            settings: &[
                (BaseDir::Home, ".cline/data/settings/cline_mcp_settings.json"),
                (
                    BaseDir::Desktop,
                    "Code/User/globalStorage/saoudrizwan.claude-dev/settings/\
                     cline_mcp_settings.json",
                ),
            ],
            skills: Some((BaseDir::Home, ".cline/skills")),
            also_reads: &[(BaseDir::Home, ".agents/skills")],
            advice: "start Cline anew; its MCP servers show it",
        }),
        program: "cline",
        trace: (BaseDir::Home, ".cline"),
    },
    ClientRow {
        client: Client::Zed,
        title: "Zed",
        format: json(JsonDialect::Relaxed, "context_servers"),
        project: Some(SettingsAndSkillPaths {
            settings: &[(BaseDir::Project, ".zed/settings.json")],
            skills: Some((BaseDir::Project, ".agents/skills")),
            also_reads: &[],
            advice: "trust the project in Zed; the agent's settings show the server",
        }),
        user: Some(SettingsAndSkillPaths {
            settings: &[(BaseDir::Config, "zed/settings.json")],
            skills: Some((BaseDir::Home, ".agents/skills")),
            also_reads: &[],
            advice: "the agent's settings in Zed show the server",
        }),
        program: "zed",
        trace: (BaseDir::Config, "zed"),
    },
    ClientRow {
        client: Client::Amp,
        title: "Amp",
        format: json(JsonDialect::Relaxed, "amp.mcpServers"),
        project: Some(SettingsAndSkillPaths {
            settings: &[
                (BaseDir::Project, ".amp/settings.json"),
                (BaseDir::Project, ".amp/settings.jsonc"),
            ],
            skills: Some((BaseDir::Project, ".agents/skills")),
            also_reads: &[(BaseDir::Project, ".claude/skills")],
            advice: "run `amp mcp approve remindb` here, then start Amp anew",
        }),
        user: Some(SettingsAndSkillPaths {
            settings: &[
                (BaseDir::Config, "amp/settings.json"),
                (BaseDir::Config, "amp/settings.jsonc"),
            ],
            skills: Some((BaseDir::Config, "agents/skills")),
            also_reads: &[(BaseDir::Home, ".claude/skills"), (BaseDir::Config, "amp/skills")],
            advice: "start Amp anew; `amp mcp doctor` shows the server",
        }),
        program: "amp",
        trace: (BaseDir::Config, "amp"),
    },
    ClientRow {
        client: Client::Crush,
        title: "Crush",
        format: json(JsonDialect::Strict, "mcp"),
        project: Some(SettingsAndSkillPaths {
            settings: &[(BaseDir::Project, "crush.json"), (BaseDir::Project, ".crush.json")],
            skills: Some((BaseDir::Project, ".crush/skills")),
            also_reads: &[
                (BaseDir::Project, ".agents/skills"),
                (BaseDir::Project, ".claude/skills"),
                (BaseDir::Project, ".cursor/skills"),
            ],
            advice: "start Crush anew; its sidebar shows the server",
        }),
        user: Some(SettingsAndSkillPaths {
            settings: &[(BaseDir::Config, "crush/crush.json")],
            skills: Some((BaseDir::Config, "crush/skills")),
            also_reads: &[
                (BaseDir::Config, "agents/skills"),
                (BaseDir::Home, ".agents/skills"),
                (BaseDir::Home, ".claude/skills"),
            ],
            advice: "start Crush anew; its sidebar shows the server",
        }),
        program: "crush",
        trace: (BaseDir::Config, "crush"),
    },
    ClientRow {
        client: Client::Droid,
        title: "Droid",
        format: json(JsonDialect::Strict, "mcpServers"),
        project: Some(SettingsAndSkillPaths {
            settings: &[(BaseDir::Project, ".factory/mcp.json")],
            skills: Some((BaseDir::Project, ".factory/skills")),
            also_reads: &[(BaseDir::Project, ".agents/skills")],
            advice: "start Droid anew; `/mcp` shows the server",
        }),
        user: Some(SettingsAndSkillPaths {
            settings: &[(BaseDir::Home, ".factory/mcp.json")],
            skills: Some((BaseDir::Home, ".factory/skills")),
            also_reads: &[],
            advice: "start Droid anew; `/mcp` shows the server",
        }),
        program: "droid",
        trace: (BaseDir::Home, ".factory"),
    },
    ClientRow {
        client: Client::Goose,
        title: "Goose",
        format: SettingsFormat::Yaml,
        project: None,
        user: Some(SettingsAndSkillPaths {
            settings: &[(BaseDir::Config, "goose/config.yaml")],
            skills: Some((BaseDir::Config, "goose/skills")),
            also_reads: &[
                (BaseDir::Config, "agents/skills"),
                (BaseDir::Home, ".agents/skills"),
                (BaseDir::Home, ".claude/skills"),
            ],
            advice: "start a new session of Goose; `goose info -v` shows the extension",
        }),
        program: "goose",
        trace: (BaseDir::Config, "goose"),
    },
];
