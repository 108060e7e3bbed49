//! The names of clients and scopes that `setup` takes.

/// The scope of a setup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// The current folder, for everybody who works in it.
    Project,
    /// One person, in every project.
    User,
}

impl Scope {
    pub(crate) const NAMES: &[&str] = &["project", "user"];

    pub(crate) fn parse(name: &str) -> Option<Scope> {
        match name {
            "project" => Some(Scope::Project),
            "user" => Some(Scope::User),
            _ => None,
        }
    }
}

/// A program that runs agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Client {
    ClaudeCode,
    Codex,
    GeminiCli,
    OpenCode,
    QwenCode,
    Cursor,
    VsCode,
}

/// Every client by its name on the command line.
pub(crate) const CLIENTS: &[(&str, Client)] = &[
    ("claude-code", Client::ClaudeCode),
    ("codex", Client::Codex),
    ("gemini-cli", Client::GeminiCli),
    ("opencode", Client::OpenCode),
    ("qwen-code", Client::QwenCode),
    ("cursor", Client::Cursor),
    ("vscode", Client::VsCode),
];

impl Client {
    pub(crate) fn parse(name: &str) -> Option<Client> {
        CLIENTS.iter().find(|(it, _)| *it == name).map(|(_, client)| *client)
    }
}
