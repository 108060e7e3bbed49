//! The names of clients and scopes that `setup` takes.

/// The scope of a setup, and of a memory: a project, or a person in every project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProjectOrUser {
    /// The current folder, for everybody who works in it.
    Project,
    /// One person, in every project.
    User,
}

impl ProjectOrUser {
    pub(crate) const NAMES: &[&str] = &["project", "user"];

    pub(crate) fn parse(name: &str) -> Option<ProjectOrUser> {
        match name {
            "project" => Some(ProjectOrUser::Project),
            "user" => Some(ProjectOrUser::User),
            _ => None,
        }
    }

    #[cfg(feature = "desktop")]
    pub(crate) fn name(self) -> &'static str {
        match self {
            ProjectOrUser::Project => "project",
            ProjectOrUser::User => "user",
        }
    }
}

/// A program that runs agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Client {
    ClaudeCode,
    ClaudeDesktop,
    Codex,
    GeminiCli,
    OpenCode,
    QwenCode,
    CopilotCli,
    Cursor,
    VsCode,
    Windsurf,
    Cline,
    Zed,
    Amp,
    Crush,
    Droid,
    Goose,
}

/// Every client by its name on the command line.
pub(crate) const CLIENTS: &[(&str, Client)] = &[
    ("claude-code", Client::ClaudeCode),
    ("claude-desktop", Client::ClaudeDesktop),
    ("codex", Client::Codex),
    ("gemini-cli", Client::GeminiCli),
    ("opencode", Client::OpenCode),
    ("qwen-code", Client::QwenCode),
    ("copilot-cli", Client::CopilotCli),
    ("cursor", Client::Cursor),
    ("vscode", Client::VsCode),
    ("windsurf", Client::Windsurf),
    ("cline", Client::Cline),
    ("zed", Client::Zed),
    ("amp", Client::Amp),
    ("crush", Client::Crush),
    ("droid", Client::Droid),
    ("goose", Client::Goose),
];

/// Shorter names.
const ALIASES: &[(&str, Client)] = &[
    ("claude", Client::ClaudeCode),
    ("gemini", Client::GeminiCli),
    ("qwen", Client::QwenCode),
    ("copilot", Client::CopilotCli),
];

impl Client {
    pub(crate) fn parse(name: &str) -> Option<Client> {
        let mut names = CLIENTS.iter().chain(ALIASES);
        names.find(|(it, _)| *it == name).map(|(_, client)| *client)
    }

    #[cfg(feature = "desktop")]
    pub(crate) fn name(self) -> &'static str {
        CLIENTS.iter().find(|(_, it)| *it == self).map_or("", |(name, _)| name)
    }
}
