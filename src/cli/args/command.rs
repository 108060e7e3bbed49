//! Parsed commands: one type for each.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Map, Value};

use super::client_and_scope::{Client, ProjectOrUser};
use super::knowledge_args::KnowledgeArgs;
use crate::cli::safety_backup::BackupChoice;
use crate::ingest::foreign::ImportableProgram;
use crate::memory::dry_run::WriteOrDryRun;
use crate::model::clock::UnixMillis;
use crate::settings::config::Transport;
use crate::surface::ToolSelection;

/// A command with its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    Compile(CompileArgs),
    Serve(ServeArgs),
    View(BrowserViewArgs),
    Inspect(InspectArgs),
    Search(SearchArgs),
    Remember(RememberArgs),
    Memories(MemoriesArgs),
    Bench(BenchArgs),
    Doctor(DoctorArgs),
    Gc(GcArgs),
    Backup(BackupArgs),
    Restore(RestoreArgs),
    Export(ExportArgs),
    Import(ImportArgs),
    Salvage(SalvageArgs),
    Redact(RedactArgs),
    Archive(ArchiveMemoriesArgs),
    ViewQuery(CustomViewArgs),
    Space(SpaceArgs),
    Setup(SetupArgs),
    Tool(ToolArgs),
    Knowledge(KnowledgeArgs),
    Hook(HookArgs),
    Completion(Shell),
    Help(Option<String>),
    Version,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CompileArgs {
    pub(crate) path: PathBuf,
    pub(crate) db: Option<PathBuf>,
    pub(crate) message: Option<String>,
    pub(crate) is_reseeding: bool,
    pub(crate) is_gitignore: bool,
    pub(crate) is_trusted: bool,
    /// Whether what was passed over is listed.
    pub(crate) is_verbose: bool,
    pub(crate) is_json: bool,
    pub(crate) shared: Option<SharedSpaceFlags>,
}

/// The log through which a replica is written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SharedSpaceFlags {
    /// The space; `None`: the one that the replica belongs to.
    pub(crate) url: Option<String>,
    /// Names of roots, `NAME=PATH` each.
    pub(crate) roots: Vec<String>,
    /// Whether tools look at the log before they read.
    pub(crate) is_fresh: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SpaceArgs {
    pub(crate) task: SpaceTask,
    pub(crate) db: Option<PathBuf>,
    /// Whether a file that is there is kept beside the replica.
    pub(crate) is_rebase: bool,
    /// Names of roots, `NAME=PATH` each.
    pub(crate) roots: Vec<String>,
    pub(crate) is_json: bool,
}

/// The task of `space`, with the address of a space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SpaceTask {
    Create(String),
    Join(String),
    Status,
    Image,
    Cut,
    Leave,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ServeArgs {
    pub(crate) db: Option<PathBuf>,
    /// The scope of the memory, where none is named.
    pub(crate) scope: Option<ProjectOrUser>,
    /// A second memory that is only read; `user` for the user's own.
    pub(crate) also: Option<PathBuf>,
    pub(crate) source: Option<PathBuf>,
    pub(crate) is_gitignore: bool,
    pub(crate) is_trusted: bool,
    /// Whether what agents write lands in the folder.
    pub(crate) is_writing_back: bool,
    pub(crate) rescan_interval: Option<Duration>,
    pub(crate) tools: Option<ToolSelection>,
    pub(crate) transport: Option<Transport>,
    pub(crate) listen: Option<String>,
    pub(crate) token_file: Option<PathBuf>,
    /// Further host names that the server accepts.
    pub(crate) hosts: Vec<String>,
    /// Origins of web pages that may use it.
    pub(crate) origins: Vec<String>,
    /// Further paths that may be compiled.
    pub(crate) allowed: Vec<PathBuf>,
    /// Whether to open the page in a browser.
    pub(crate) is_open: bool,
    pub(crate) is_structured: bool,
    pub(crate) is_verbose: bool,
    pub(crate) shared: Option<SharedSpaceFlags>,
}

/// The arguments of `view`, which serves the page for the browser.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct BrowserViewArgs {
    pub(crate) db: Option<PathBuf>,
    pub(crate) listen: Option<String>,
    /// Whether to leave the browser alone.
    pub(crate) is_without_browser: bool,
    pub(crate) shared: Option<SharedSpaceFlags>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct InspectArgs {
    pub(crate) db: Option<PathBuf>,
    pub(crate) is_tree: bool,
    pub(crate) is_files: bool,
    /// Whether the files and folders that a compile passes over are shown.
    pub(crate) is_skipped: bool,
    pub(crate) is_gitignore: bool,
    pub(crate) is_archived: bool,
    pub(crate) is_json: bool,
    pub(crate) depth: Option<usize>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SearchArgs {
    pub(crate) query: String,
    pub(crate) db: Option<PathBuf>,
    pub(crate) budget: Option<u32>,
    pub(crate) limit: Option<usize>,
    pub(crate) detail: Option<String>,
    pub(crate) node_type: Option<String>,
    pub(crate) tags: Vec<String>,
    pub(crate) status: Option<String>,
    pub(crate) importance: Option<String>,
    pub(crate) since: Option<UnixMillis>,
    pub(crate) until: Option<UnixMillis>,
    pub(crate) is_archived: bool,
    pub(crate) has_dates: bool,
    /// Whether a replica first follows its log to the end.
    pub(crate) is_fresh: bool,
    pub(crate) is_json: bool,
    pub(crate) color: ColorWhen,
}

/// The use of colours in an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ColorWhen {
    /// On a terminal that wants them.
    #[default]
    Auto,
    Always,
    Never,
}

/// A call of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ToolArgs {
    pub(crate) tool: &'static str,
    /// Its arguments as typed; the tool's table checks them.
    pub(crate) arguments: Map<String, Value>,
    pub(crate) input: ArgumentFromStdin,
    pub(crate) db: Option<PathBuf>,
    pub(crate) is_json: bool,
}

/// The name of the tool argument that is read from standard input, if one is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ArgumentFromStdin {
    None,
    Stdin(&'static str),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RememberArgs {
    pub(crate) db: Option<PathBuf>,
    /// The text; `None` for standard input.
    pub(crate) text: Option<String>,
    pub(crate) memory_type: String,
    pub(crate) tags: Vec<String>,
    pub(crate) category: Option<String>,
    pub(crate) importance: Option<String>,
    pub(crate) status: Option<String>,
    /// Of an episode.
    pub(crate) topic: Option<String>,
    /// Of an episode.
    pub(crate) entities: Vec<String>,
    pub(crate) is_json: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct MemoriesArgs {
    pub(crate) db: Option<PathBuf>,
    pub(crate) memory_type: Option<String>,
    pub(crate) tags: Vec<String>,
    pub(crate) search: Option<String>,
    pub(crate) category: Option<String>,
    pub(crate) importance: Option<String>,
    pub(crate) status: Option<String>,
    pub(crate) is_archived: bool,
    pub(crate) limit: Option<u64>,
    pub(crate) offset: Option<u64>,
    pub(crate) sort_by: Option<String>,
    pub(crate) sort_order: Option<String>,
    pub(crate) is_json: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct BenchArgs {
    pub(crate) dir: PathBuf,
    pub(crate) queries: Vec<String>,
    pub(crate) budget: Option<u32>,
    pub(crate) is_json: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct DoctorArgs {
    pub(crate) db: Option<PathBuf>,
    pub(crate) is_fix: bool,
    /// Whether providers are asked whether they are there.
    pub(crate) is_reaching: bool,
    pub(crate) is_json: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RedactArgs {
    pub(crate) db: Option<PathBuf>,
    pub(crate) backup: BackupChoice,
    pub(crate) source: Option<PathBuf>,
    pub(crate) is_trusted: bool,
    pub(crate) is_dry_run: bool,
    pub(crate) is_json: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ArchiveMemoriesArgs {
    pub(crate) db: Option<PathBuf>,
    /// Days in the place of those of the settings.
    pub(crate) days: Option<u32>,
    pub(crate) is_dry_run: bool,
    pub(crate) is_json: bool,
}

/// The arguments of `view-query`, which keeps custom views of typed memories.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CustomViewArgs {
    pub(crate) db: Option<PathBuf>,
    pub(crate) task: CustomViewTask,
    pub(crate) is_json: bool,
}

/// The task of `view-query`: list, define or remove a custom view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CustomViewTask {
    List,
    /// Name and conditions, `name=value` each.
    Define(String, Vec<String>),
    Remove(String),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct GcArgs {
    pub(crate) db: Option<PathBuf>,
    pub(crate) backup: BackupChoice,
    pub(crate) keep: Option<u32>,
    /// Least age in ms of snapshots to delete.
    pub(crate) older_than_ms: Option<i64>,
    pub(crate) is_dry_run: bool,
    pub(crate) is_json: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct BackupArgs {
    pub(crate) db: Option<PathBuf>,
    pub(crate) dest: Option<PathBuf>,
    pub(crate) is_force: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RestoreArgs {
    pub(crate) source: PathBuf,
    pub(crate) db: Option<PathBuf>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ExportArgs {
    pub(crate) db: Option<PathBuf>,
    pub(crate) target: ExportDestination,
    pub(crate) is_force: bool,
}

/// The destination of an export, with the format that is written there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ExportDestination {
    /// Everything, in a file or on standard output.
    Lines(Option<PathBuf>),
    /// Typed memories, in the files of the agent memory format below a folder.
    AgentMemory(PathBuf),
    /// Everything but heat and history, as Markdown below a folder.
    Markdown(PathBuf),
    /// Knowledge, in a file of Remind's form or on standard output.
    Remind(Option<PathBuf>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ImportArgs {
    pub(crate) source: ImportSource,
    pub(crate) db: Option<PathBuf>,
}

/// The source of an import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ImportSource {
    /// A file by `export`.
    Lines(PathBuf),
    /// A database of remindb 0.3.
    Old(PathBuf),
    /// A folder with the files of the agent memory format.
    AgentMemory(PathBuf, WriteOrDryRun),
    /// A file or folder of another program; `None`: the one below the home.
    Foreign(&'static ImportableProgram, Option<PathBuf>, WriteOrDryRun),
    /// An export, a database or a folder of Remind.
    Remind(PathBuf, WriteOrDryRun),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SalvageArgs {
    pub(crate) damaged: PathBuf,
    pub(crate) out: PathBuf,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SetupArgs {
    /// The clients; without any, those that are installed are shown.
    pub(crate) clients: SetupClients,
    /// The scope; `None`: the project's, or the user's in clients that have no other.
    pub(crate) scope: Option<ProjectOrUser>,
    pub(crate) db: Option<PathBuf>,
    /// A second memory that the server searches, too.
    pub(crate) also: Option<PathBuf>,
    pub(crate) source: Option<PathBuf>,
    pub(crate) tools: Option<ToolSelection>,
    /// The address of a server that listens already.
    pub(crate) http: Option<String>,
    pub(crate) token: Option<String>,
    /// The name of the variable that has the token.
    pub(crate) token_env: Option<String>,
    pub(crate) is_asking: bool,
    pub(crate) is_without_hooks: bool,
    pub(crate) is_dry_run: bool,
    pub(crate) is_remove: bool,
    pub(crate) is_json: bool,
}

/// The clients of a setup.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum SetupClients {
    One(Client),
    /// All that are installed.
    All,
    /// The installed ones that the user chooses.
    #[default]
    Ask,
    /// All, only to show them.
    List,
}

/// The moment at which a client calls a hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HookEvent {
    SessionStart,
    Prompt,
    PreCompact,
    SessionEnd,
}

/// Arguments of a hook. A mistake in them is no error of the command line: clients take any exit
/// code but 0 for an objection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct HookArgs {
    pub(crate) event: Option<HookEvent>,
    pub(crate) client: Option<String>,
    pub(crate) db: Option<PathBuf>,
    /// The scope of the memory, where none is named.
    pub(crate) scope: Option<ProjectOrUser>,
    pub(crate) budget: Option<u32>,
    /// The mistake.
    pub(crate) problem: Option<String>,
}

impl HookEvent {
    pub(crate) const NAMES: &[(&str, HookEvent)] = &[
        ("session-start", HookEvent::SessionStart),
        ("prompt", HookEvent::Prompt),
        ("pre-compact", HookEvent::PreCompact),
        ("session-end", HookEvent::SessionEnd),
    ];

    pub(crate) fn named(name: &str) -> Option<HookEvent> {
        HookEvent::NAMES.iter().find(|(it, _)| *it == name).map(|(_, event)| *event)
    }

    pub(crate) fn name(self) -> &'static str {
        HookEvent::NAMES.iter().find(|(_, it)| *it == self).map_or("", |(name, _)| name)
    }
}

impl HookArgs {
    /// Returns event and client, for the log.
    pub(crate) fn name(&self) -> String {
        let event = self.event.map_or("hook", HookEvent::name);
        self.client.as_ref().map_or(event.to_owned(), |client| format!("{event} {client}"))
    }
}

/// A shell that can complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shell {
    Bash,
    Zsh,
    Fish,
}
