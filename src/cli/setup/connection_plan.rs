//! The way to the server that setup writes down, and its memory.
//!
//! Settings of a project go to others, too: they name the program as it is found on the `PATH`,
//! and files relative to the project. Settings of a user hold absolute paths.

use std::env;
use std::path::{Path, PathBuf};

use super::client_hooks::HookCommand;
use super::server_connection::{ServerConnection, TokenSource};
use super::{UserFolders, file_edits, path_in};
use crate::cli::args::{Client, ProjectOrUser, SetupArgs};
use crate::cli::memory_file_location::{
    MemoryFileLocation, MemoryLookupFolders, OF_USER, PlaceOrigin,
};
use crate::cli::{CommandError, absolute};

/// The program's name on the `PATH`.
const PROGRAM: &str = "remindb";

/// A connection, and what to say about it.
pub(super) struct ServerAndHookPlan {
    pub(super) connection: ServerConnection,
    /// The command of hooks; `None` for a server that listens elsewhere.
    pub(super) hook: Option<HookCommand>,
    /// The memory; `None` for a server that listens elsewhere.
    pub(super) memory: Option<PathBuf>,
    /// Lines that the user should read.
    pub(super) notes: Vec<String>,
}

/// The setup that needs a connection.
#[derive(Clone, Copy)]
pub(super) struct ConnectionPlanRequest<'a> {
    pub(super) args: &'a SetupArgs,
    pub(super) client: Client,
    pub(super) scope: ProjectOrUser,
    pub(super) home: &'a UserFolders,
}

/// Returns the connection for a setup.
pub(super) fn launch(job: ConnectionPlanRequest<'_>) -> Result<ServerAndHookPlan, CommandError> {
    if let Some(url) = &job.args.http {
        return http(job, url);
    }
    let words = vec!["serve".to_owned()];
    let mut writer = ServerArgsBuilder { job, words, notes: Vec::new(), compiled: None };
    let memory = match job.scope {
        ProjectOrUser::Project => writer.memory_of_project()?,
        ProjectOrUser::User => writer.memory_of_user()?,
    };
    match &job.args.also {
        Some(path) if path.as_os_str() == OF_USER => {
            writer.words.extend(["--also", OF_USER].map(str::to_owned));
        }
        Some(path) => writer.path("--also", &absolute(path)?)?,
        None => (),
    }
    writer.source()?;
    if let Some(tools) = &job.args.tools {
        writer.words.extend(["--tools".to_owned(), tools.to_string()]);
    }
    let program = writer.program()?;
    let ServerArgsBuilder { words, notes, .. } = writer;
    // A client starts hooks where it starts the server, in a folder of the project.
    let db = words.iter().position(|it| it == "--db").and_then(|at| words.get(at + 1)).cloned();
    let hook = Some(HookCommand { program: program.clone(), db });
    let connection = ServerConnection::Command { program, args: words };
    Ok(ServerAndHookPlan { connection, hook, memory: Some(memory), notes })
}

fn http(job: ConnectionPlanRequest<'_>, url: &str) -> Result<ServerAndHookPlan, CommandError> {
    let is_address = ["http://", "https://"].iter().any(|it| url.starts_with(it));
    if !is_address {
        let what =
            format!("`--http` needs an address such as http://127.0.0.1:7474/mcp, not `{url}`");
        return Err(CommandError::Because(what));
    }
    let token = match (&job.args.token, &job.args.token_env) {
        (Some(_), _) if job.scope == ProjectOrUser::Project => {
            let what = "others see the settings of a project; name a variable with --token-env, \
                        or add --scope user";
            return Err(CommandError::Because(what.to_owned()));
        }
        (Some(token), _) => Some(TokenSource::Literal(token.clone())),
        (None, Some(name)) => Some(TokenSource::Variable(name.clone())),
        (None, None) => None,
    };
    let connection = ServerConnection::Http { url: url.to_owned(), token };
    Ok(ServerAndHookPlan { connection, hook: None, memory: None, notes: Vec::new() })
}

/// The arguments of the server, in the making.
struct ServerArgsBuilder<'a> {
    job: ConnectionPlanRequest<'a>,
    words: Vec<String>,
    notes: Vec<String>,
    /// The folder of the project whose compile made its memory.
    compiled: Option<PathBuf>,
}

impl ServerArgsBuilder<'_> {
    fn memory_of_user(&mut self) -> Result<PathBuf, CommandError> {
        let own = || self.job.home.data.join("remindb/memory.db");
        let named = MemoryFileLocation::named(self.job.args.db.clone()).map(|it| it.path);
        let memory = absolute(&named.unwrap_or_else(own))?;
        self.words.extend(["--db".to_owned(), utf8(&memory)?]);
        Ok(memory)
    }

    fn memory_of_project(&mut self) -> Result<PathBuf, CommandError> {
        let is_at_work = self.job.client.project_variable().is_none();
        if is_at_work {
            // The server may be started in any folder of the project.
            self.words.extend(["--scope", "project"].map(str::to_owned));
        }
        if let Some(named) = MemoryFileLocation::named(self.job.args.db.clone()) {
            let memory = absolute(&named.path)?;
            self.path("--db", &memory)?;
            return Ok(memory);
        }
        let around = MemoryLookupFolders::of_process()?;
        let found = around.find(Some(ProjectOrUser::Project))?;
        let place = found.unwrap_or_else(|| around.new_in_project());
        let memory = absolute(&place.path)?;
        if place.origin == PlaceOrigin::Below {
            self.compiled = memory.parent().and_then(Path::parent).map(Path::to_owned);
        }
        // A server that is started in the project finds these places itself, a new one included.
        let is_found = matches!(place.origin, PlaceOrigin::Project | PlaceOrigin::Former);
        if !is_at_work || !is_found {
            self.path("--db", &memory)?;
        }
        Ok(memory)
    }

    /// Adds the folder to keep compiled: the named one, else that of the project's memory.
    fn source(&mut self) -> Result<(), CommandError> {
        let named = self.job.args.source.clone().or_else(|| path_in("REMINDB_SOURCE"));
        if let (None, Some(folder)) = (&named, &self.compiled) {
            let folder = folder.strip_prefix(&self.job.home.folders.project).unwrap_or(folder);
            self.notes.push(format!(
                "the server keeps `{}` compiled, where the memory is; --source names another",
                folder.display()
            ));
        }
        let Some(source) = named.or_else(|| self.compiled.clone()) else {
            if self.job.scope == ProjectOrUser::Project {
                let what = "no folder of notes is kept compiled; --source FOLDER does that";
                self.notes.push(what.to_owned());
            }
            return Ok(());
        };
        let source = absolute(&source)?;
        if !source.is_dir() {
            return Err(CommandError::Because(format!("no folder `{}`", source.display())));
        }
        self.path("--source", &source)
    }

    /// Adds a flag with a path, relative to the project where its settings need it.
    fn path(&mut self, flag: &str, path: &Path) -> Result<(), CommandError> {
        let inside = match self.job.scope {
            ProjectOrUser::Project => path.strip_prefix(&self.job.home.folders.project).ok(),
            ProjectOrUser::User => None,
        };
        let text = match (inside, self.job.client.project_variable()) {
            (None, _) => utf8(path)?,
            (Some(inside), None) if inside.as_os_str().is_empty() => ".".to_owned(),
            (Some(inside), None) => utf8(inside)?,
            (Some(inside), Some(variable)) => utf8(&Path::new(variable).join(inside))?,
        };
        if self.job.scope == ProjectOrUser::Project && inside.is_none() {
            let path = path.display();
            self.notes.push(format!("`{path}` is a path of this machine; others need their own"));
        }
        self.words.extend([flag.to_owned(), text]);
        Ok(())
    }

    /// Returns the program to start.
    fn program(&mut self) -> Result<String, CommandError> {
        let this = env::current_exe()
            .map_err(|error| CommandError::Because(format!("cannot find this program: {error}")))?;
        if self.job.scope == ProjectOrUser::User {
            return utf8(&this);
        }
        if self.job.home.folders.program(PROGRAM).is_none() {
            let folder = this.parent().unwrap_or(&this).display();
            self.notes.push(format!(
                "`{PROGRAM}` is not on your PATH, and the client starts it by name; add `{folder}`"
            ));
        }
        Ok(PROGRAM.to_owned())
    }
}

fn utf8(path: &Path) -> Result<String, CommandError> {
    let text = path.to_str().map(str::to_owned);
    text.ok_or_else(|| file_edits::refused("write down", path, "it is not UTF-8"))
}
