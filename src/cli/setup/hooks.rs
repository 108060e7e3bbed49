//! The hooks of clients: the events that call `remindb hook`, and the files that name them.
//!
//! They are documented at
//!
//! - Claude Code: <https://code.claude.com/docs/en/hooks>;
//! - Codex: <https://developers.openai.com/codex/hooks>;
//! - Gemini CLI: <https://geminicli.com/docs/hooks/reference/>;
//! - OpenCode: <https://opencode.ai/docs/plugins/>;
//! - Qwen Code: <https://qwenlm.github.io/qwen-code-docs/en/users/features/hooks/>.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::client::Folders;
use super::edit::SettingsFormat;
use super::entry::Grant;
use super::json::ServersPath;
use super::scan::Dialect;
use crate::cli::args::{Client, HookEvent, Scope};

/// OpenCode's plugin, with a place for the command.
const PLUGIN: &str = include_str!("hooks/opencode.js");
const PLUGIN_COMMAND: &str = "[\"REMINDB\"]";

/// Seconds after which a client gives a hook up. Codex grants no more at the end of a session.
const TIMEOUT_S: u32 = 3;

/// The format of files with hooks alone.
pub(super) const FORMAT: SettingsFormat = SettingsFormat::Json(ServersPath {
    dialect: Dialect::Strict,
    container: "mcpServers",
    inner: None,
});

/// Events by their names in a client's settings.
type Events = &'static [(&'static str, HookEvent)];

const CLAUDE_EVENTS: Events = &[
    ("SessionStart", HookEvent::SessionStart),
    ("UserPromptSubmit", HookEvent::Prompt),
    ("PreCompact", HookEvent::PreCompact),
    ("SessionEnd", HookEvent::SessionEnd),
];

const GEMINI_EVENTS: Events = &[
    ("SessionStart", HookEvent::SessionStart),
    ("BeforeAgent", HookEvent::Prompt),
    ("PreCompress", HookEvent::PreCompact),
    ("SessionEnd", HookEvent::SessionEnd),
];

/// Without a person, Qwen Code ends no session, only a turn.
const QWEN_EVENTS: Events = &[
    ("SessionStart", HookEvent::SessionStart),
    ("UserPromptSubmit", HookEvent::Prompt),
    ("PreCompact", HookEvent::PreCompact),
    ("Stop", HookEvent::PreCompact),
    ("SessionEnd", HookEvent::SessionEnd),
];

/// The hooks of a client, as its files hold them.
#[derive(Clone, Debug)]
pub(super) enum Hooks {
    /// Elements of lists in a settings file.
    InSettings { path: PathBuf, grants: Vec<Grant> },
    /// A file of their own.
    OwnFile { path: PathBuf, text: String },
}

/// The command line of a hook, without its event.
#[derive(Clone, Debug, Default)]
pub(super) struct HookCommand {
    pub(super) program: String,
    /// The database, unless the program finds it by itself.
    pub(super) db: Option<String>,
}

impl HookCommand {
    fn words(&self, client: Client, event: Option<HookEvent>) -> Vec<String> {
        let mut words = vec![self.program.clone(), "hook".to_owned()];
        words.extend(event.map(|it| it.name().to_owned()));
        words.extend(["--client".to_owned(), client.name().to_owned()]);
        words.extend(self.db.iter().flat_map(|it| ["--db".to_owned(), it.clone()]));
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
    scope: Scope,
    at: &Folders,
    command: &HookCommand,
) -> Option<Hooks> {
    let base = match scope {
        Scope::Project => &at.project,
        Scope::User => &at.home,
    };
    let of_home = |own: &Option<PathBuf>, usual: &str| match (scope, own) {
        (Scope::User, Some(own)) => own.clone(),
        _ => base.join(usual),
    };
    let (path, events) = match client {
        Client::ClaudeCode => (of_home(&at.claude, ".claude").join("settings.json"), CLAUDE_EVENTS),
        Client::Codex => (of_home(&at.codex, ".codex").join("hooks.json"), CLAUDE_EVENTS),
        Client::GeminiCli => (base.join(".gemini/settings.json"), GEMINI_EVENTS),
        Client::QwenCode => (base.join(".qwen/settings.json"), QWEN_EVENTS),
        Client::OpenCode => {
            let folder = match scope {
                Scope::Project => at.project.join(".opencode"),
                Scope::User => at.config.join("opencode"),
            };
            let path = folder.join("plugins/remindb.js");
            return Some(Hooks::OwnFile { path, text: plugin(client, command) });
        }
        Client::Cursor | Client::VsCode => return None,
    };
    let grant = |(name, event): &(&'static str, HookEvent)| {
        let hook = hook_entry(client, &command.line(client, *event));
        Grant::elements(&["hooks", name], vec![json!({"hooks": [hook]})])
    };
    Some(Hooks::InSettings { path, grants: events.iter().map(grant).collect() })
}

/// Returns whether setup writes a file of that path as a whole, rather than edits it.
pub(super) fn is_own_file(path: &std::path::Path) -> bool {
    path.ends_with("plugins/remindb.js")
}

fn hook_entry(client: Client, command: &str) -> Value {
    match client {
        // It lists hooks by their names, and counts in milliseconds.
        Client::GeminiCli => json!({
            "name": "remindb",
            "type": "command",
            "command": command,
            "timeout": TIMEOUT_S * 1000,
        }),
        _ => json!({"type": "command", "command": command, "timeout": TIMEOUT_S}),
    }
}

fn plugin(client: Client, command: &HookCommand) -> String {
    PLUGIN.replace(PLUGIN_COMMAND, &json!(command.words(client, None)).to_string())
}

/// Returns a word as a POSIX shell reads it.
fn shell_quoted(word: &str) -> String {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "/._-+:@%=,".contains(it);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}
