//! The hooks of clients: the events that call `remindb hook`, and the files that name them.
//!
//! They are documented at
//!
//! - Claude Code: <https://code.claude.com/docs/en/hooks>;
//! - Codex: <https://developers.openai.com/codex/hooks>;
//! - Copilot CLI: <https://docs.github.com/en/copilot/reference/hooks-reference>;
//! - Gemini CLI: <https://geminicli.com/docs/hooks/reference/>;
//! - OpenCode: <https://opencode.ai/docs/plugins/>;
//! - Qwen Code: <https://qwenlm.github.io/qwen-code-docs/en/users/features/hooks/>.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::edit::SettingsFormat;
use super::json_settings::ServersPath;
use super::json_spans::JsonDialect;
use super::settings_edit_types::Grant;
use super::supported_clients::{BaseDir, BaseRelativePath, ClientFolders};
use crate::cli::args::{Client, HookEvent, ProjectOrUser};

/// The value of a hook in the list of what is connected.
pub(super) const INSTALLED: &str = "installed";

/// OpenCode's plugin, with a place for the command.
const PLUGIN: &str = include_str!("client_hooks/opencode.js");
const PLUGIN_COMMAND: &str = "[\"REMINDB\"]";

/// The name of hooks, in clients that list them by their names.
const HOOK_NAME: &str = "remindb";

/// Seconds after which a client gives a hook up. Codex grants no more at the end of a session.
const TIMEOUT_S: u32 = 3;

/// The format of files with hooks alone.
const FORMAT: SettingsFormat = SettingsFormat::Json(ServersPath {
    dialect: JsonDialect::Strict,
    container: "mcpServers",
    inner: None,
});

/// Events by their names in a client's settings.
type HookEventNames = &'static [(&'static str, HookEvent)];

const CLAUDE_EVENTS: HookEventNames = &[
    ("SessionStart", HookEvent::SessionStart),
    ("UserPromptSubmit", HookEvent::Prompt),
    ("PreCompact", HookEvent::PreCompact),
    ("SessionEnd", HookEvent::SessionEnd),
];

const GEMINI_EVENTS: HookEventNames = &[
    ("SessionStart", HookEvent::SessionStart),
    ("BeforeAgent", HookEvent::Prompt),
    ("PreCompress", HookEvent::PreCompact),
    ("SessionEnd", HookEvent::SessionEnd),
];

/// Without a person, Qwen Code ends no session, only a turn.
const QWEN_EVENTS: HookEventNames = &[
    ("SessionStart", HookEvent::SessionStart),
    ("UserPromptSubmit", HookEvent::Prompt),
    ("PreCompact", HookEvent::PreCompact),
    ("Stop", HookEvent::PreCompact),
    ("SessionEnd", HookEvent::SessionEnd),
];

/// Copilot CLI takes no answer to `userPromptSubmitted`.
const COPILOT_EVENTS: HookEventNames = &[
    ("sessionStart", HookEvent::SessionStart),
    ("userPromptTransformed", HookEvent::Prompt),
    ("preCompact", HookEvent::PreCompact),
    ("sessionEnd", HookEvent::SessionEnd),
];

/// The hooks of a client, as its files hold them.
#[derive(Clone, Debug)]
pub(super) enum HookPlacement {
    /// Elements of lists in a settings file.
    InSettings { path: PathBuf, grants: Vec<Grant>, trusted: Option<HookTrustFile> },
    /// A file of their own.
    OwnFile { path: PathBuf, text: String },
}

/// A file of the user in which a client records the hooks of projects that it need not warn of.
#[derive(Clone, Debug)]
pub(super) struct HookTrustFile {
    pub(super) path: PathBuf,
    pub(super) grants: Vec<Grant>,
}

/// The command line of a hook, without its event.
#[derive(Clone, Debug, Default)]
pub(super) struct HookCommand {
    pub(super) program: String,
    /// The database; `None` for that of the project, which the program finds by itself.
    pub(super) db: Option<String>,
}

/// The hooks that a client has: the file of each scope, and its form.
struct ClientHookFiles {
    client: Client,
    project: BaseRelativePath,
    user: BaseRelativePath,
    form: HookFileLayout,
}

/// The form of hooks in a file.
#[derive(Clone, Copy)]
enum HookFileLayout {
    Settings(HookEventNames),
    CopilotFile(HookEventNames),
    Plugin,
}

/// Every client that has hooks.
const ROWS: &[ClientHookFiles] = &[
    ClientHookFiles {
        client: Client::ClaudeCode,
        project: (BaseDir::Project, ".claude/settings.json"),
        user: (BaseDir::Claude, "settings.json"),
        form: HookFileLayout::Settings(CLAUDE_EVENTS),
    },
    ClientHookFiles {
        client: Client::Codex,
        project: (BaseDir::Project, ".codex/hooks.json"),
        user: (BaseDir::Codex, "hooks.json"),
        form: HookFileLayout::Settings(CLAUDE_EVENTS),
    },
    ClientHookFiles {
        client: Client::GeminiCli,
        project: (BaseDir::Project, ".gemini/settings.json"),
        user: (BaseDir::Home, ".gemini/settings.json"),
        form: HookFileLayout::Settings(GEMINI_EVENTS),
    },
    ClientHookFiles {
        client: Client::QwenCode,
        project: (BaseDir::Project, ".qwen/settings.json"),
        user: (BaseDir::Home, ".qwen/settings.json"),
        form: HookFileLayout::Settings(QWEN_EVENTS),
    },
    ClientHookFiles {
        client: Client::CopilotCli,
        project: (BaseDir::Project, ".github/hooks/remindb.json"),
        user: (BaseDir::Copilot, "hooks/remindb.json"),
        form: HookFileLayout::CopilotFile(COPILOT_EVENTS),
    },
    ClientHookFiles {
        client: Client::OpenCode,
        project: (BaseDir::Project, ".opencode/plugins/remindb.js"),
        user: (BaseDir::Config, "opencode/plugins/remindb.js"),
        form: HookFileLayout::Plugin,
    },
];

impl HookPlacement {
    /// Returns the elements of the record of trusted hooks.
    pub(super) fn trust(&self) -> &[Grant] {
        match self {
            HookPlacement::InSettings { trusted: Some(record), .. } => &record.grants,
            _ => &[],
        }
    }

    pub(super) fn trust_nobody(&mut self) {
        if let HookPlacement::InSettings { trusted: Some(record), .. } = self {
            record.grants.clear();
        }
    }
}

impl HookCommand {
    fn words(&self, client: Client, event: Option<HookEvent>) -> Vec<String> {
        let mut words = vec![self.program.clone(), "hook".to_owned()];
        words.extend(event.map(|it| it.name().to_owned()));
        words.extend(["--client".to_owned(), client.name().to_owned()]);
        // In a project without a memory, the user's own must not answer for it.
        let (flag, value) = self.db.as_ref().map_or(("--scope", "project"), |it| ("--db", it));
        words.extend([flag, value].map(str::to_owned));
        words
    }

    /// Returns the command for a shell. Where the program is gone, it fails nobody either.
    fn line(&self, client: Client, event: HookEvent) -> String {
        let words: Vec<String> =
            self.words(client, Some(event)).iter().map(|it| shell_quoted(it)).collect();
        format!("{} || true", words.join(" "))
    }
}

/// Returns the hooks of a client; `None` where it has none.
pub(super) fn hooks_of(
    client: Client,
    scope: ProjectOrUser,
    at: &ClientFolders,
    command: &HookCommand,
) -> Option<HookPlacement> {
    let path = file_of(client, scope, at)?;
    Some(match row(client)?.form {
        HookFileLayout::Settings(events) => {
            let grant = |(name, event): &(&'static str, HookEvent)| {
                let hook = hook_entry(client, &command.line(client, *event));
                Grant::elements(&["hooks", name], vec![json!({"hooks": [hook]})])
            };
            let lines = events.iter().map(|(_, event)| command.line(client, *event));
            let trusted = (client == Client::GeminiCli && scope == ProjectOrUser::Project)
                .then(|| trust_record(at, lines));
            HookPlacement::InSettings { path, grants: events.iter().map(grant).collect(), trusted }
        }
        HookFileLayout::CopilotFile(events) => {
            let hook = |(name, event): &(&'static str, HookEvent)| {
                let line = command.line(client, *event);
                let hook = json!({"type": "command", "bash": line, "timeoutSec": TIMEOUT_S});
                ((*name).to_owned(), json!([hook]))
            };
            let hooks: Map<String, Value> = events.iter().map(hook).collect();
            HookPlacement::OwnFile {
                path,
                text: format!("{:#}\n", json!({"version": 1, "hooks": hooks})),
            }
        }
        HookFileLayout::Plugin => {
            let words = json!(command.words(client, None)).to_string();
            HookPlacement::OwnFile { path, text: PLUGIN.replace(PLUGIN_COMMAND, &words) }
        }
    })
}

/// Returns the record of Gemini CLI for hooks of this project, by name and command.
fn trust_record(at: &ClientFolders, commands: impl Iterator<Item = String>) -> HookTrustFile {
    let project = at.project.to_string_lossy();
    let keys = commands.map(|it| format!("{HOOK_NAME}:{it}"));
    let path = at.path((BaseDir::Home, ".gemini/trusted_hooks.json"));
    HookTrustFile { path, grants: vec![Grant::items(&[&project], keys)] }
}

/// Returns the file that holds the hooks of a client.
pub(super) fn file_of(client: Client, scope: ProjectOrUser, at: &ClientFolders) -> Option<PathBuf> {
    let row = row(client)?;
    Some(at.path(match scope {
        ProjectOrUser::Project => row.project,
        ProjectOrUser::User => row.user,
    }))
}

/// Returns whether the text of that file has the client's hooks, whoever wrote them; `None` where
/// the client has no hooks.
pub(super) fn status(client: Client, text: &str) -> Option<&'static str> {
    let calls: Vec<String> = match row(client)?.form {
        HookFileLayout::Settings(events) | HookFileLayout::CopilotFile(events) => {
            let call = |(_, event): &(&str, HookEvent)| {
                format!("hook {} --client {}", event.name(), client.name())
            };
            events.iter().map(call).collect()
        }
        HookFileLayout::Plugin => vec![format!("\"hook\",\"--client\",\"{}\"", client.name())],
    };
    let n_found = calls.iter().filter(|it| text.contains(*it)).count();
    Some(match n_found {
        0 => "none",
        n if n == calls.len() => INSTALLED,
        _ => "partly installed",
    })
}

/// Returns the other client whose hooks in a project this one runs, too, or that runs those of
/// this one.
pub(super) fn twin(client: Client) -> Option<Client> {
    match client {
        Client::ClaudeCode => Some(Client::CopilotCli),
        Client::CopilotCli => Some(Client::ClaudeCode),
        _ => None,
    }
}

/// Returns the step that a person has to take before the client runs hooks.
pub(super) fn advice(client: Client) -> Option<&'static str> {
    let is_asking = client == Client::Codex;
    is_asking.then_some("trust the hooks in `/hooks`, which do not run before that")
}

/// Returns the format of one of a client's files: hooks are JSON where its settings are TOML.
pub(super) fn notation(client: Client, path: &Path) -> SettingsFormat {
    match client.notation() {
        SettingsFormat::Toml if path.extension().is_some_and(|it| it == "json") => FORMAT,
        format => format,
    }
}

/// Returns whether setup writes a file of that path as a whole, rather than edits it.
pub(super) fn is_own_file(path: &Path) -> bool {
    path.ends_with("plugins/remindb.js") || path.ends_with("hooks/remindb.json")
}

fn row(client: Client) -> Option<&'static ClientHookFiles> {
    ROWS.iter().find(|it| it.client == client)
}

fn hook_entry(client: Client, command: &str) -> Value {
    match client {
        // It lists hooks by their names, and counts in milliseconds.
        Client::GeminiCli => json!({
            "name": HOOK_NAME,
            "type": "command",
            "command": command,
            "timeout": TIMEOUT_S * 1000,
        }),
        _ => json!({"type": "command", "command": command, "timeout": TIMEOUT_S}),
    }
}

/// Returns a word as a POSIX shell reads it.
fn shell_quoted(word: &str) -> String {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "/._-+:@%=,".contains(it);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}
