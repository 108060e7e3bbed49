//! The report of setup, as lines or as JSON.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::client_hooks;
use super::plan::FileStep;
use super::server_connection::ToolsByPermission;
use crate::cli::args::{self, Client, ProjectOrUser};
use crate::cli::color::{PaintedText, TextRole};
use crate::cli::{CommandError, CommandOutcome, CommandStreamsAndClock};
use crate::query::unified_diff::unified_hunks;
use crate::store::is_missing;
use crate::text;

/// Characters shown of a line; settings may be a single long line.
const LINE_CHARS_MAX: usize = 200;

/// A step that was taken, or would be.
pub(super) struct FileStepWithBackup {
    pub(super) step: FileStep,
    /// The copy of the former content.
    pub(super) copy: Option<PathBuf>,
}

/// All steps.
pub(super) struct SetupReport<'a> {
    args: &'a args::SetupArgs,
    client: Client,
    scope: ProjectOrUser,
    done: Vec<FileStepWithBackup>,
    /// The tools allowed without asking, and the others; `None` without permissions.
    pub(super) tools: Option<ToolsByPermission>,
    pub(super) memory: Option<PathBuf>,
    /// Whether the client calls hooks from now on.
    pub(super) has_hooks: bool,
    /// Whether the client was told that its user trusts them.
    pub(super) has_trusted_hooks: bool,
    /// Lines that the user should read.
    pub(super) notes: Vec<String>,
    /// The next step for the user.
    pub(super) advice: Option<&'static str>,
}

impl<'a> SetupReport<'a> {
    pub(super) fn new(
        args: &'a args::SetupArgs,
        client: Client,
        scope: ProjectOrUser,
        done: Vec<FileStepWithBackup>,
    ) -> SetupReport<'a> {
        let (tools, memory, notes, advice) = (None, None, Vec::new(), None);
        SetupReport {
            args,
            client,
            scope,
            done,
            tools,
            memory,
            has_hooks: false,
            has_trusted_hooks: false,
            notes,
            advice,
        }
    }

    pub(super) fn outcome(&self) -> CommandOutcome {
        match self.done.is_empty() {
            true => CommandOutcome::NotFound,
            false => CommandOutcome::Done,
        }
    }

    pub(super) fn print(
        &self,
        context: &mut CommandStreamsAndClock<'_>,
    ) -> Result<(), CommandError> {
        if self.args.is_json {
            return context.say_json(&self.as_json());
        }
        context.show(&self.as_text())
    }

    fn as_text(&self) -> PaintedText {
        let mut text = PaintedText::default();
        let (client, scope) = (self.client.name(), self.scope.name());
        if self.args.is_remove && self.done.is_empty() {
            let what = format!("nothing to remove: {client} was not set up here (scope {scope})\n");
            text.push(&what);
            return text;
        }
        for it in &self.done {
            self.push_step(it, &mut text);
        }
        text.push(&self.summary());
        text
    }

    fn push_step(
        &self,
        FileStepWithBackup { step, copy }: &FileStepWithBackup,
        text: &mut PaintedText,
    ) {
        let (verb, planned) = verbs(step);
        let path = step.path.display();
        if self.args.is_dry_run && step.is_change() {
            text.push(&format!("would {planned} {path}\n"));
            text.append(diff(step));
            return;
        }
        let why = match (copy, step.why) {
            (Some(copy), _) => format!(" (what was there: {})", copy.display()),
            (None, Some(why)) => format!(" ({why})"),
            (None, None) => String::new(),
        };
        text.push(&format!("{verb} {path}{why}\n"));
    }

    /// Formats the lines after those of the steps.
    fn summary(&self) -> String {
        let mut out = String::new();
        if let Some(memory) = &self.memory {
            let is_new = if is_missing(memory) { " (the server makes it)" } else { "" };
            out += &format!("memory: {}{is_new}\n", memory.display());
        }
        if let Some(tools) = &self.tools {
            out += &self.allowed(tools);
        }
        if self.has_hooks {
            out += &self.hooked();
        }
        for note in &self.notes {
            out += &format!("note: {note}\n");
        }
        if let (Some(advice), false) = (self.advice, self.args.is_dry_run) {
            let of_hooks = client_hooks::advice(self.client).filter(|_| self.has_hooks);
            let of_hooks = of_hooks.map_or_else(String::new, |it| format!("; {it}"));
            out += &format!("next: {advice}{of_hooks}\n");
        }
        out
    }

    /// Formats the line about permissions, and the command to take them back.
    fn allowed(&self, tools: &ToolsByPermission) -> String {
        let verb = if self.args.is_dry_run { "would allow" } else { "allowed" };
        let scope = self.scope_flag();
        let asked = match &tools.asked[..] {
            [] => String::new(),
            asked => format!("; it asks before {}", asked.join(", ")),
        };
        let n_tools = tools.allowed.len();
        format!(
            "{verb} {n_tools} tools to read and write the memory without asking{asked}\n\
             to be asked each time: remindb setup {}{scope} --ask\n",
            self.client.name()
        )
    }

    /// Formats the line about hooks, and the command to take them back.
    fn hooked(&self) -> String {
        let verb = if self.args.is_dry_run { "would add" } else { "added" };
        let (client, scope) = (self.client.name(), self.scope_flag());
        let trust = match self.has_trusted_hooks {
            true => format!("{} trusts them for you alone\n", self.client.title()),
            false => String::new(),
        };
        format!(
            "{verb} hooks: the agent is told what the memory holds, \
             and a note of each session is kept\n\
             {trust}to leave them out: remindb setup {client}{scope} --no-hooks\n"
        )
    }

    /// Returns the flag that names the scope, where it is not the usual one.
    fn scope_flag(&self) -> &'static str {
        let is_usual = self.client.places(ProjectOrUser::Project).is_none()
            || self.scope == ProjectOrUser::Project;
        if is_usual { "" } else { " --scope user" }
    }

    pub(super) fn as_json(&self) -> Value {
        let files: Vec<Value> = self.done.iter().map(|it| self.file_as_json(it)).collect();
        let mut json = json!({
            "client": self.client.name(),
            "scope": self.scope.name(),
            "remove": self.args.is_remove,
            "dry_run": self.args.is_dry_run,
            "files": files,
        });
        if let Some(memory) = &self.memory {
            json["memory"] = memory.to_string_lossy().into();
        }
        if !self.notes.is_empty() {
            json["notes"] = self.notes.clone().into();
        }
        if let Some(tools) = &self.tools {
            json["allowed"] = tools.allowed.clone().into();
            json["asked"] = tools.asked.clone().into();
        }
        if !self.args.is_remove {
            json["hooks"] = self.has_hooks.into();
        }
        json
    }

    fn file_as_json(&self, FileStepWithBackup { step, copy }: &FileStepWithBackup) -> Value {
        let mut file = json!({
            "path": step.path.to_string_lossy(),
            "action": verbs(step).0,
        });
        if let Some(copy) = copy {
            file["copy"] = copy.to_string_lossy().into();
        }
        if let Some(why) = step.why {
            file["why"] = why.into();
        }
        if self.args.is_dry_run && step.is_change() {
            file["diff"] = diff(step).plain().into();
        }
        file
    }
}

/// Returns the verbs for a step done and a step planned.
fn verbs(step: &FileStep) -> (&'static str, &'static str) {
    match (&step.old, &step.new) {
        (old, new) if old == new => ("left", "leave"),
        (None, _) => ("made", "make"),
        (Some(_), None) => ("removed", "remove"),
        (Some(_), Some(_)) if step.spent.is_some() => ("restored", "restore"),
        (Some(_), Some(_)) => ("changed", "change"),
    }
}

fn diff(step: &FileStep) -> PaintedText {
    let text = |it: &Option<String>| it.clone().unwrap_or_default();
    let mut out = PaintedText::default();
    for line in unified_hunks(&text(&step.old), &text(&step.new)).lines() {
        let line = text::truncate_chars(line, LINE_CHARS_MAX);
        match line.chars().next() {
            Some('+') => out.paint(TextRole::Good, &line),
            Some('-') => out.paint(TextRole::Bad, &line),
            Some('@') => out.paint(TextRole::Dim, &line),
            _ => out.push(&line),
        }
        out.push("\n");
    }
    out
}
