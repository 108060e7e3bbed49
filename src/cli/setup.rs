//! `remindb setup`: adds the memory to a client's settings, and removes it without a trace.
//!
//! A client gets one server in its settings, the permissions to use it, and two skills. Everything
//! is planned before anything is written: settings that cannot be edited faithfully are an error
//! that changes nothing. Each change is recorded in a ledger before it is made, and `--remove`
//! undoes exactly these changes.

mod client;
mod edit;
mod entry;
mod file;
mod hooks;
mod json;
mod ledger;
mod plan;
mod scan;
mod show;
#[cfg(test)]
mod tests;
mod toml;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use client::{Folders, Launch, SERVER, Tools};
use edit::SettingsFormat;
use entry::Grant;
use file::FileAccess;
use hooks::{HookCommand, Hooks};
use ledger::{LedgerFile, PriorCopy, SetupRecord, WrittenFile, remove_folders};
use plan::{FileStep, Wanted};
use show::{StepReport, StepResult};

use super::args::{self, Client, Scope};
use super::{CommandError, CommandOutcome, Context, absolute, database, variable};
use crate::mcp::Tool;
use crate::query::Output;
use crate::surface::ToolRunner;

/// The skills, with the folder of each.
const SKILLS: &[(&str, &str)] = &[
    ("remindb-read", include_str!("../../skills/read.md")),
    ("remindb-write", include_str!("../../skills/write.md")),
];

/// The folders of a user, by the environment.
struct UserFolders {
    folders: Folders,
    /// The data folder: `~/.local/share`, unless the environment names another.
    data: PathBuf,
    /// The state folder: `~/.local/state`, unless the environment names another.
    state: PathBuf,
}

/// A setup to run: its arguments, folders and ledger.
struct SetupJob<'a> {
    args: &'a args::SetupArgs,
    home: UserFolders,
    ledger_file: LedgerFile,
    /// The record of this setup, without files yet.
    setup: SetupRecord,
    stamp: String,
}

pub(super) fn run(
    args: args::SetupArgs,
    context: &mut Context<'_>,
) -> Result<CommandOutcome, CommandError> {
    let home = home()?;
    let ledger_file = LedgerFile::open(&home.state)?;
    let setup = SetupRecord::new(args.client, args.scope, &home.folders.project);
    let stamp = context.clock.now().stamp();
    let job = SetupJob { args: &args, home, ledger_file, setup, stamp };
    if args.is_remove { job.remove(context) } else { job.set_up(context) }
}

impl SetupJob<'_> {
    fn set_up(mut self, context: &mut Context<'_>) -> Result<CommandOutcome, CommandError> {
        let args = self.args;
        let tools = self.tools();
        let (elsewhere, mut grants) = args.client.grants(args.scope, &self.home.folders, &tools);
        if args.is_asking {
            grants.clear();
        }
        let is_allowed = !grants.is_empty();
        let (launch, memory) = self.launch()?;
        let command = HookCommand { program: launch.program.clone(), db: Some(utf8(&memory)?) };
        let hooks = hooks::hooks_of(args.client, args.scope, &self.home.folders, &command);
        let hooks = hooks.filter(|_| args.has_hooks);
        let steps = self.plan(launch, &(elsewhere, grants), hooks.as_ref())?;
        let is_real = !args.is_dry_run && steps.iter().any(FileStep::is_change);
        let done = if is_real {
            self.write(steps, memory.parent())?
        } else {
            steps.into_iter().map(|step| StepResult { step, copy: None }).collect()
        };
        let advice = Some(args.client.advice(args.scope));
        let tools = is_allowed.then_some(&tools);
        StepReport { args, done: &done, tools, has_hooks: hooks.is_some(), advice }
            .print(context)?;
        Ok(CommandOutcome::Done)
    }

    /// Plans the settings, the hooks and the skills, in this order.
    fn plan(
        &self,
        launch: Launch,
        (elsewhere, grants): &(Option<PathBuf>, Vec<Grant>),
        hooks: Option<&Hooks>,
    ) -> Result<Vec<FileStep>, CommandError> {
        let (client, scope, folders) = (self.args.client, self.args.scope, &self.home.folders);
        let known = self.ledger_file.ledger.like(&self.setup);
        let record = |path: &Path| known.and_then(|it| it.record(path));
        let entry = client.entry(launch);
        let path = settings(client, scope, folders);
        // Permissions and hooks by their files; the first file is that of the server.
        let mut files: Vec<(PathBuf, Vec<Grant>)> = vec![(path, Vec::new())];
        let mut add =
            |path: &PathBuf, grants: &[Grant]| match files.iter_mut().find(|it| it.0 == *path) {
                Some((_, known)) => known.extend_from_slice(grants),
                None => files.push((path.clone(), grants.to_vec())),
            };
        let of_server = settings(client, scope, folders);
        add(elsewhere.as_ref().unwrap_or(&of_server), grants);
        let hook_files = hooks::hooks_of(client, scope, folders, &HookCommand::default());
        if let Some(Hooks::InSettings { path, .. }) = &hook_files {
            let grants = match hooks {
                Some(Hooks::InSettings { grants, .. }) => &grants[..],
                _ => &[],
            };
            add(path, grants);
        }
        let mut steps = Vec::new();
        for (nth, (path, grants)) in files.iter().enumerate() {
            let found = self.read(path)?;
            let entry = (nth == 0).then_some(&entry);
            let record_of_it = record(&found.path);
            // A file without an addition before or after is not needed.
            if entry.is_some() || !grants.is_empty() || record_of_it.is_some() {
                let wanted = Wanted { entry, grants };
                let notation = notation(client, &found.path);
                steps.push(plan::add(found, notation, &wanted, record_of_it)?);
            }
        }
        if let Some(Hooks::OwnFile { path, .. }) = &hook_files {
            let found = self.read(path)?;
            let record_of_it = record(&found.path);
            match (hooks, record_of_it) {
                (Some(Hooks::OwnFile { text, .. }), record) => {
                    steps.push(plan::add_skill(found, text, record)?);
                }
                (_, Some(record)) => steps.push(plan::remove_skill(found, record)?),
                (_, None) => (),
            }
        }
        for (name, skill) in SKILLS {
            let found = self.read(&client.skills(scope, folders).join(name).join("SKILL.md"))?;
            let record = record(&found.path);
            steps.push(plan::add_skill(found, skill, record)?);
        }
        Ok(steps)
    }

    /// Makes copies, saves the ledger, writes the files: in this order.
    fn write(
        &mut self,
        steps: Vec<FileStep>,
        memory: Option<&Path>,
    ) -> Result<Vec<StepResult>, CommandError> {
        let mut made = CreatedFiles::default();
        let mut done: Vec<StepResult> = Vec::new();
        let prepared = made.prepare(steps, memory, &self.stamp, &mut done).and_then(|()| {
            self.note(&made, &done);
            self.ledger_file.ledger.set(self.setup.clone());
            self.ledger_file.save()
        });
        if let Err(failure) = prepared {
            made.undo();
            return Err(failure);
        }
        // The server comes last: until then the client has nothing that could fail.
        for it in done.iter().rev().filter(|it| it.step.is_change()) {
            apply(&it.step)?;
        }
        Ok(done)
    }

    /// Records this setup in the ledger.
    fn note(&mut self, made: &CreatedFiles, done: &[StepResult]) {
        let known = self.ledger_file.ledger.like(&self.setup).cloned();
        let (files, folders) = known.map_or_else(Default::default, |it| (it.files, it.folders));
        let is_elsewhere = |it: &WrittenFile| done.iter().all(|done| done.step.path != it.path);
        self.setup.files = done.iter().filter_map(|it| it.step.record.clone()).collect();
        self.setup.files.extend(files.into_iter().filter(is_elsewhere));
        self.setup.folders = [folders, made.folders.clone()].concat();
        self.ledger_file.ledger.keep(made.shared.iter().cloned());
    }

    fn remove(mut self, context: &mut Context<'_>) -> Result<CommandOutcome, CommandError> {
        let client = self.args.client;
        let Some(known) = self.ledger_file.ledger.like(&self.setup).cloned() else {
            let show = StepReport::removal(self.args, &[]);
            show.print(context)?;
            return Ok(CommandOutcome::NotFound);
        };
        let mut done = Vec::new();
        for record in &known.files {
            let found = self.read(&record.path)?;
            let is_whole = record.path.ends_with("SKILL.md") || hooks::is_own_file(&record.path);
            let step = if is_whole {
                plan::remove_skill(found, record)?
            } else {
                let notation = notation(client, &found.path);
                plan::remove(found, notation, SERVER, record)?
            };
            done.push(StepResult { step, copy: None });
        }
        if !self.args.is_dry_run {
            for it in &mut done {
                if let (true, Some(old)) = (it.step.needs_copy, &it.step.old) {
                    it.copy = Some(file::copy(&it.step.path, old, &self.stamp)?);
                }
            }
            for it in done.iter().filter(|it| it.step.is_change()) {
                apply(&it.step)?;
            }
            for spent in done.iter().filter_map(|it| it.step.spent.as_ref()) {
                // The restored file has the text of this copy.
                let _ = fs::remove_file(spent);
            }
            remove_folders(&known.folders);
            // Another client may use one by now.
            self.ledger_file.ledger.keep(known.folders);
            // A record without files is dropped.
            self.ledger_file.ledger.set(self.setup);
            self.ledger_file.save()?;
        }
        let show = StepReport::removal(self.args, &done);
        show.print(context)?;
        Ok(CommandOutcome::Done)
    }

    /// Returns the tools that the server will offer, by whether their effect can be undone.
    fn tools(&self) -> Tools {
        let offered = self.args.tools.unwrap_or_default().tools(Output::Text);
        let (allowed, asked) = offered.iter().partition::<Vec<_>, _>(|it| it.effect.is_undoable());
        let names = |tools: Vec<&Tool<ToolRunner>>| tools.iter().map(|it| it.name).collect();
        Tools { allowed: names(allowed), asked: names(asked) }
    }

    /// Returns the server's command line, and the database that it names.
    fn launch(&self) -> Result<(Launch, PathBuf), CommandError> {
        let SetupJob { args, home, .. } = self;
        let fallback = || match args.scope {
            Scope::Project => home.folders.project.join("memory.db"),
            Scope::User => home.data.join("remindb/memory.db"),
        };
        let memory = absolute(&database(args.db.clone(), fallback))?;
        let mut words = vec!["serve".to_owned(), "--db".to_owned(), utf8(&memory)?];
        let from_environment = || path_in("REMINDB_SOURCE");
        if let Some(source) = args.source.clone().or_else(from_environment) {
            let source = absolute(&source)?;
            if !source.is_dir() {
                return Err(CommandError::Because(format!("no folder `{}`", source.display())));
            }
            words.extend(["--source".to_owned(), utf8(&source)?]);
        }
        if let Some(tools) = &args.tools {
            words.extend(["--tools".to_owned(), tools.to_string()]);
        }
        let program = env::current_exe()
            .map_err(|error| CommandError::Because(format!("cannot find this program: {error}")))?;
        Ok((Launch { program: utf8(&program)?, args: words }, memory))
    }

    fn read(&self, path: &Path) -> Result<file::FileState, CommandError> {
        // Files of a project must not redirect writes out of it.
        let inside = match self.args.scope {
            Scope::Project => Some(self.home.folders.project.as_path()),
            Scope::User => None,
        };
        file::read(path, inside)
    }
}

/// Folders and copies made before the first file was changed.
#[derive(Default)]
struct CreatedFiles {
    folders: Vec<PathBuf>,
    /// Folders of the memory, which all clients share.
    shared: Vec<PathBuf>,
    copies: Vec<PathBuf>,
}

impl CreatedFiles {
    fn prepare(
        &mut self,
        steps: Vec<FileStep>,
        memory: Option<&Path>,
        stamp: &str,
        done: &mut Vec<StepResult>,
    ) -> Result<(), CommandError> {
        let folders = steps.iter().filter(|it| it.is_change()).filter_map(|it| it.path.parent());
        for folder in folders {
            self.folders.extend(file::missing_folders(folder));
            file::make_folders(folder)?;
        }
        if let Some(memory) = memory {
            self.shared = file::missing_folders(memory);
            file::make_folders(memory)?;
        }
        for mut step in steps {
            let mut copy = None;
            if let (true, Some(old)) = (step.needs_copy, &step.old) {
                let path = file::copy(&step.path, old, stamp)?;
                self.copies.push(path.clone());
                if let Some(WrittenFile { before, is_edited: false, .. }) = &mut step.record {
                    *before = Some(PriorCopy { copy: path.clone(), hash: file::hash(old) });
                }
                copy = Some(path);
            }
            done.push(StepResult { step, copy });
        }
        Ok(())
    }

    fn undo(&self) {
        for copy in &self.copies {
            // The original file still has this text.
            let _ = fs::remove_file(copy);
        }
        remove_folders(&[&self.folders[..], &self.shared[..]].concat());
    }
}

fn apply(step: &FileStep) -> Result<(), CommandError> {
    match (&step.new, &step.old) {
        (Some(new), old) => file::replace(&step.path, old.as_deref(), new, FileAccess::Usual),
        (None, Some(old)) => file::remove(&step.path, old),
        (None, None) => Ok(()),
    }
}

/// Returns the format of one of a client's files: hooks are JSON where its settings are TOML.
fn notation(client: Client, path: &Path) -> SettingsFormat {
    match client.notation() {
        SettingsFormat::Toml if path.extension().is_some_and(|it| it == "json") => hooks::FORMAT,
        format => format,
    }
}

/// Returns the settings file that holds the servers.
fn settings(client: Client, scope: Scope, folders: &Folders) -> PathBuf {
    let mut all = client.settings(scope, folders);
    let there = all.iter().position(|it| fs::symlink_metadata(it).is_ok());
    all.swap_remove(there.unwrap_or(0))
}

fn home() -> Result<UserFolders, CommandError> {
    let cannot = |what: &str| CommandError::Because(format!("cannot find {what}"));
    let project = env::current_dir().map_err(|_| cannot("the current folder"))?;
    let home = path_in("HOME").ok_or_else(|| cannot("your home folder: `HOME` is not set"))?;
    if !home.is_absolute() {
        return Err(cannot("your home folder: `HOME` is not an absolute path"));
    }
    // The XDG specification ignores paths that are not absolute.
    let xdg = |name: &str, below: &str| {
        path_in(name).filter(|it| it.is_absolute()).unwrap_or_else(|| home.join(below))
    };
    Ok(UserFolders {
        data: xdg("XDG_DATA_HOME", ".local/share"),
        state: xdg("XDG_STATE_HOME", ".local/state"),
        folders: Folders {
            project,
            config: xdg("XDG_CONFIG_HOME", ".config"),
            claude: path_in("CLAUDE_CONFIG_DIR"),
            codex: path_in("CODEX_HOME"),
            home,
        },
    })
}

/// Returns the path in a variable of the environment.
fn path_in(name: &str) -> Option<PathBuf> {
    variable(name).map(PathBuf::from)
}

fn utf8(path: &Path) -> Result<String, CommandError> {
    let text = path.to_str().map(str::to_owned);
    text.ok_or_else(|| file::refused("write down", path, "it is not UTF-8"))
}
