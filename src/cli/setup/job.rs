//! One setup: the changes of a client's files, planned, recorded, and then made.

use std::fs;
use std::path::{Path, PathBuf};

use super::client_hooks::{self, HookCommand, HookPlacement, HookTrustFile};
use super::connection_plan::{ConnectionPlanRequest, ServerAndHookPlan, launch};
use super::file_edits::{self, CurrentFile, NewFileMode};
use super::manifest::{LoadedManifest, PriorCopy, SetupRecord, WrittenFile, remove_folders};
use super::plan::{self, EarlierSetupOfFile, EntryAndGrantsToAdd, FileStep};
use super::report::{FileStepWithBackup, SetupReport};
use super::server_connection::{
    GrantsWithFile, ServerConnection, TokenSource, ToolsByPermission, server_name,
};
use super::settings_edit_types::Grant;
use super::supported_clients::SettingsAndSkillPaths;
use super::{SKILLS, UserFolders, scope_of};
use crate::cli::args::{Client, ProjectOrUser, SetupArgs};
use crate::cli::{CommandError, CommandStreamsAndClock};
use crate::ingest::scan::OWN_FOLDER;
use crate::mcp::Tool;
use crate::query::OutputFormat;
use crate::server::remindb_folder::make_private_folder;
use crate::surface::ToolRunner;

/// A setup to run: its arguments, folders and manifest.
pub(super) struct SetupJob<'a> {
    pub(super) args: &'a SetupArgs,
    pub(super) client: Client,
    pub(super) scope: ProjectOrUser,
    pub(super) places: &'static SettingsAndSkillPaths,
    pub(super) home: &'a UserFolders,
    loaded: LoadedManifest,
    /// The record of this setup, without files yet.
    setup: SetupRecord,
    stamp: String,
}

impl<'a> SetupJob<'a> {
    /// Returns the setup of a client; fails if the client does not have the scope.
    pub(super) fn new(
        args: &'a SetupArgs,
        client: Client,
        home: &'a UserFolders,
        context: &CommandStreamsAndClock<'_>,
    ) -> Result<SetupJob<'a>, CommandError> {
        let scope = scope_of(args, client);
        let Some(places) = client.places(scope) else {
            let title = client.title();
            let what = format!("{title} has no settings of a project; add --scope user");
            return Err(CommandError::Because(what));
        };
        let loaded = LoadedManifest::open(&home.state)?;
        let setup = SetupRecord::new(client, scope, &home.folders.project);
        let stamp = context.clock.now().stamp();
        Ok(SetupJob { args, client, scope, places, home, loaded, setup, stamp })
    }

    pub(super) fn run(self) -> Result<SetupReport<'a>, CommandError> {
        if self.args.is_remove { self.remove() } else { self.set_up() }
    }

    fn set_up(mut self) -> Result<SetupReport<'a>, CommandError> {
        let tools = offered_tools(self.args);
        let (elsewhere, mut grants) = self.client.grants(self.scope, &self.home.folders, &tools);
        if self.args.is_asking {
            grants.clear();
        }
        let is_allowed = !grants.is_empty();
        let ServerAndHookPlan { connection, hook, memory, mut notes } =
            launch(ConnectionPlanRequest {
                args: self.args,
                client: self.client,
                scope: self.scope,
                home: self.home,
            })?;
        let access = match &connection {
            ServerConnection::Http { token: Some(TokenSource::Literal(_)), .. } => {
                NewFileMode::Owner
            }
            _ => NewFileMode::Usual,
        };
        let hooks = hook.filter(|_| !self.args.is_without_hooks);
        let mut hooks = hooks.and_then(|it| self.hooks(&it));
        if hooks.is_some() {
            notes.extend(self.said_twice());
        }
        if let (Some(hooks), true) = (&mut hooks, self.args.is_asking) {
            hooks.trust_nobody();
        }
        let steps = self.plan(connection, &(elsewhere, grants), hooks.as_ref())?;
        let is_real = !self.args.is_dry_run && steps.iter().any(FileStep::is_change);
        let done = match is_real {
            true => self.write(steps, memory.as_deref(), access)?,
            false => {
                steps.into_iter().map(|step| FileStepWithBackup { step, copy: None }).collect()
            }
        };
        let mut report = SetupReport::new(self.args, self.client, self.scope, done);
        report.tools = is_allowed.then_some(tools);
        report.memory = memory;
        report.notes = notes;
        report.has_hooks = hooks.is_some();
        report.has_trusted_hooks = hooks.is_some_and(|it| !it.trust().is_empty());
        report.advice = Some(self.places.advice);
        Ok(report)
    }

    fn hooks(&self, command: &HookCommand) -> Option<HookPlacement> {
        client_hooks::hooks_of(self.client, self.scope, &self.home.folders, command)
    }

    /// Explains how to keep a client from running the hooks of another beside its own.
    fn said_twice(&self) -> Option<String> {
        let other =
            client_hooks::twin(self.client).filter(|_| self.scope == ProjectOrUser::Project)?;
        let path = client_hooks::file_of(other, self.scope, &self.home.folders)?;
        let text = self.read(&path).ok()?.text?;
        (client_hooks::status(other, &text) == Some(client_hooks::INSTALLED)).then(|| {
            let copilot = Client::CopilotCli.name();
            format!(
                "Copilot CLI runs the hooks of Claude Code in a project, too, and is told twice; \
                 to leave out its own: remindb setup {copilot} --no-hooks"
            )
        })
    }

    /// Plans the settings, the hooks and the skills, in this order.
    fn plan(
        &self,
        connection: ServerConnection,
        grants: &GrantsWithFile,
        hooks: Option<&HookPlacement>,
    ) -> Result<Vec<FileStep>, CommandError> {
        let (client, folders) = (self.client, &self.home.folders);
        let known = self.loaded.manifest.like(&self.setup);
        let known_file = |path: &Path| {
            let known = known?;
            Some(EarlierSetupOfFile { record: known.record(path)?, name: &known.name })
        };
        let name = server_name(self.scope);
        let path = self.places.settings_file(folders);
        let entry = client.entry(name, connection);
        let entry = entry.map_err(|why| file_edits::refused("set up", &path, &why))?;
        let mut steps = Vec::new();
        for (nth, (path, grants)) in self.additions(path, grants, hooks).iter().enumerate() {
            let found = self.read(path)?;
            let entry = (nth == 0).then_some(&entry);
            let known_of_it = known_file(&found.path);
            // A file without an addition before or after is not needed.
            if entry.is_some() || !grants.is_empty() || known_of_it.is_some() {
                let notation = client_hooks::notation(client, &found.path);
                let wanted = EntryAndGrantsToAdd { entry, grants };
                steps.push(plan::add(found, notation, &wanted, known_of_it)?);
            }
        }
        steps.extend(self.plan_file_of_hooks(hooks)?);
        for (name, skill) in SKILLS {
            steps.extend(self.plan_skill(&Path::new(name).join("SKILL.md"), skill)?);
        }
        Ok(steps)
    }

    /// Returns permissions and hooks by their files; the first file is that of the server.
    fn additions(
        &self,
        of_server: PathBuf,
        (elsewhere, grants): &GrantsWithFile,
        hooks: Option<&HookPlacement>,
    ) -> Vec<(PathBuf, Vec<Grant>)> {
        let mut files = vec![(of_server.clone(), Vec::new())];
        let mut add =
            |path: PathBuf, grants: &[Grant]| match files.iter_mut().find(|it| it.0 == path) {
                Some((_, known)) => known.extend_from_slice(grants),
                None => files.push((path, grants.to_vec())),
            };
        add(elsewhere.clone().unwrap_or(of_server), grants);
        // Hooks of an earlier setup are taken away there.
        if let Some(HookPlacement::InSettings { path, trusted, .. }) =
            self.hooks(&HookCommand::default())
        {
            let grants = match hooks {
                Some(HookPlacement::InSettings { grants, .. }) => &grants[..],
                _ => &[],
            };
            add(path, grants);
            if let Some(HookTrustFile { path, .. }) = trusted {
                add(path, hooks.map_or(&[], HookPlacement::trust));
            }
        }
        files
    }

    /// Plans the file of hooks, or the removal of that of an earlier setup.
    fn plan_file_of_hooks(
        &self,
        hooks: Option<&HookPlacement>,
    ) -> Result<Option<FileStep>, CommandError> {
        let Some(HookPlacement::OwnFile { path, .. }) = self.hooks(&HookCommand::default()) else {
            return Ok(None);
        };
        let found = self.read(&path)?;
        let known = self.loaded.manifest.like(&self.setup);
        let record = known.and_then(|it| it.record(&found.path));
        match (hooks, record) {
            (Some(HookPlacement::OwnFile { text, .. }), record) => {
                plan::add_skill(found, text, record).map(Some)
            }
            (_, Some(record)) => plan::remove_skill(found, record).map(Some),
            (_, None) => Ok(None),
        }
    }

    /// Plans a skill. One that another setup wrote where this client reads it is not written twice.
    fn plan_skill(&self, below: &Path, skill: &str) -> Result<Option<FileStep>, CommandError> {
        let Some(own) = self.places.skills else { return Ok(None) };
        let folders = &self.home.folders;
        let manifest = &self.loaded.manifest;
        let found = self.read(&folders.path(own).join(below))?;
        let known = manifest.like(&self.setup).and_then(|it| it.record(&found.path));
        if known.is_none() {
            let of_user = self
                .client
                .places(ProjectOrUser::User)
                .filter(|_| self.scope == ProjectOrUser::Project);
            let of_user = of_user.into_iter().flat_map(|it| it.skills.iter().chain(it.also_reads));
            for at in [&own].into_iter().chain(self.places.also_reads).chain(of_user) {
                let path = folders.path(*at).join(below);
                let Some((_, record)) = manifest.shared(&self.setup, &path) else { continue };
                let there = file_edits::read(&path, None)?;
                if there.text.as_deref() == Some(skill) {
                    let record = Some(record.clone());
                    return Ok(Some(FileStep::leave(
                        there,
                        record,
                        Some("this client reads it, too"),
                    )));
                }
            }
        }
        plan::add_skill(found, skill, known).map(Some)
    }

    /// Makes copies, saves the manifest, writes the files: in this order.
    fn write(
        &mut self,
        steps: Vec<FileStep>,
        memory: Option<&Path>,
        access: NewFileMode,
    ) -> Result<Vec<FileStepWithBackup>, CommandError> {
        let mut made = CreatedPaths::default();
        let mut done: Vec<FileStepWithBackup> = Vec::new();
        let prepared = made.prepare(steps, memory, &self.stamp, &mut done).and_then(|()| {
            self.note(&made, &done);
            self.loaded.manifest.share(&self.setup.files);
            self.loaded.manifest.set(self.setup.clone());
            self.loaded.save()
        });
        if let Err(failure) = prepared {
            made.undo();
            return Err(failure);
        }
        // The server comes last: until then the client has nothing that could fail.
        for it in done.iter().rev().filter(|it| it.step.is_change()) {
            apply(&it.step, access)?;
        }
        Ok(done)
    }

    /// Records this setup in the manifest.
    fn note(&mut self, made: &CreatedPaths, done: &[FileStepWithBackup]) {
        let known = self.loaded.manifest.like(&self.setup).cloned();
        let (files, folders) = known.map_or_else(Default::default, |it| (it.files, it.folders));
        let is_elsewhere = |it: &WrittenFile| done.iter().all(|done| done.step.path != it.path);
        self.setup.files = done.iter().filter_map(|it| it.step.record.clone()).collect();
        self.setup.files.extend(files.into_iter().filter(is_elsewhere));
        self.setup.folders = [folders, made.folders.clone()].concat();
        self.loaded.manifest.keep(made.shared.iter().cloned());
    }

    fn remove(mut self) -> Result<SetupReport<'a>, CommandError> {
        let Some(known) = self.loaded.manifest.like(&self.setup).cloned() else {
            return Ok(SetupReport::new(self.args, self.client, self.scope, Vec::new()));
        };
        let mut done = Vec::new();
        for record in &known.files {
            let is_shared = self.loaded.manifest.shared(&self.setup, &record.path).is_some();
            let step = if record.is_whole() && is_shared {
                let found = file_edits::read(&record.path, None)?;
                FileStep::leave(found, None, Some("another client reads it, too"))
            } else if record.is_whole() {
                plan::remove_skill(file_edits::read(&record.path, None)?, record)?
            } else {
                let found = self.read(&record.path)?;
                let notation = client_hooks::notation(self.client, &found.path);
                plan::remove(found, notation, &known.name, record)?
            };
            done.push(FileStepWithBackup { step, copy: None });
        }
        if !self.args.is_dry_run {
            self.undo(known, &mut done)?;
        }
        Ok(SetupReport::new(self.args, self.client, self.scope, done))
    }

    /// Makes the changes that a removal planned.
    fn undo(
        &mut self,
        known: SetupRecord,
        done: &mut [FileStepWithBackup],
    ) -> Result<(), CommandError> {
        for it in done.iter_mut() {
            if let (true, Some(old)) = (it.step.needs_copy, &it.step.old) {
                it.copy = Some(file_edits::copy(&it.step.path, old, &self.stamp)?);
            }
        }
        for it in done.iter().filter(|it| it.step.is_change()) {
            apply(&it.step, NewFileMode::Usual)?;
        }
        for spent in done.iter().filter_map(|it| it.step.spent.as_ref()) {
            // The restored file has the text of this copy.
            let _ = fs::remove_file(spent);
        }
        remove_folders(&known.folders);
        // Another client may use one by now.
        self.loaded.manifest.keep(known.folders);
        // A record without files is dropped.
        self.loaded.manifest.set(self.setup.clone());
        self.loaded.save()
    }

    fn read(&self, path: &Path) -> Result<CurrentFile, CommandError> {
        // Files of a project must not redirect writes out of it.
        let project = self.home.folders.project.as_path();
        let is_inside = self.scope == ProjectOrUser::Project && path.starts_with(project);
        file_edits::read(path, is_inside.then_some(project))
    }
}

/// Returns the tools that the server will offer, by whether their effect can be undone.
pub(super) fn offered_tools(args: &SetupArgs) -> ToolsByPermission {
    let offered = args.tools.unwrap_or_default().tools(OutputFormat::Text);
    let (allowed, asked) = offered.iter().partition::<Vec<_>, _>(|it| it.effect.is_undoable());
    let names = |tools: Vec<&Tool<ToolRunner>>| tools.iter().map(|it| it.name).collect();
    ToolsByPermission { allowed: names(allowed), asked: names(asked) }
}

/// Folders and copies made before the first file was changed.
#[derive(Default)]
struct CreatedPaths {
    folders: Vec<PathBuf>,
    /// Folders of the memory, which all clients share.
    shared: Vec<PathBuf>,
    copies: Vec<PathBuf>,
}

impl CreatedPaths {
    fn prepare(
        &mut self,
        steps: Vec<FileStep>,
        memory: Option<&Path>,
        stamp: &str,
        done: &mut Vec<FileStepWithBackup>,
    ) -> Result<(), CommandError> {
        let folders = steps.iter().filter(|it| it.is_change()).filter_map(|it| it.path.parent());
        for folder in folders {
            self.folders.extend(file_edits::missing_folders(folder));
            file_edits::make_folders(folder)?;
        }
        // The server makes the own folder of a project itself.
        let memory = memory.and_then(Path::parent).filter(|it| !it.ends_with(OWN_FOLDER));
        if let Some(memory) = memory {
            self.shared = file_edits::missing_folders(memory);
            file_edits::make_folders(memory.parent().unwrap_or(memory))?;
            make_private_folder(memory)
                .map_err(|error| file_edits::refused("make", memory, &error.to_string()))?;
        }
        for mut step in steps {
            let mut copy = None;
            if let (true, Some(old)) = (step.needs_copy, &step.old) {
                let path = file_edits::copy(&step.path, old, stamp)?;
                self.copies.push(path.clone());
                if let Some(WrittenFile { before, is_edited: false, .. }) = &mut step.record {
                    *before = Some(PriorCopy { copy: path.clone(), hash: file_edits::hash(old) });
                }
                copy = Some(path);
            }
            done.push(FileStepWithBackup { step, copy });
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

fn apply(step: &FileStep, access: NewFileMode) -> Result<(), CommandError> {
    match (&step.new, &step.old) {
        (Some(new), old) => file_edits::replace(&step.path, old.as_deref(), new, access),
        (None, Some(old)) => file_edits::remove(&step.path, old),
        (None, None) => Ok(()),
    }
}
