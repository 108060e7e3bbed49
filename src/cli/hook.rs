//! `remindb hook`: answers the hooks of a client, and never fails it.
//!
//! A client calls a hook at the beginning of a session, before each prompt, before it compacts its
//! context, and at the end. It waits for the answer, and takes an exit code other than 0 for an
//! objection. So the exit code is always 0, standard output holds one valid answer or nothing, an
//! error is a line in the log, and nobody is waited for longer than [`WAIT`].

mod input;
mod log_file;
mod reply;
mod session_capture;
mod session_state;
#[cfg(test)]
mod tests;

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::Duration;

use input::HookInput;
use log_file::HookLog;
use session_state::StateFolder;

use super::args::{HookArgs, HookEvent};
use super::memory_file_location::{MemoryFileLocation, MemoryLookupFolders};
use super::{CommandError, CommandOutcome, CommandStreamsAndClock, options, user_folder};
use crate::memory::briefing::{self, BriefingRequest};
use crate::model::clock::UnixMillis;
use crate::query::{self, PromptHitsRequest};
use crate::settings::root_settings::OperatorOptions;
use crate::store::is_missing;
use crate::store::reader::Reader;

/// Longest wait for other connections.
const WAIT: Duration = Duration::from_millis(50);

/// Default tokens of a briefing, and of the hits for a prompt.
const BRIEFING_TOKENS: u32 = 800;
const PROMPT_TOKENS: u32 = 400;

/// Least and most tokens that `--budget` gives.
const BUDGET_MIN: u32 = 100;
const BUDGET_MAX: u32 = 4_000;

pub(super) fn run(
    args: HookArgs,
    context: &mut CommandStreamsAndClock<'_>,
) -> Result<CommandOutcome, CommandError> {
    let state = state_home();
    let log = HookLog::new(state.as_deref(), context.clock.now());
    // Its text would go to standard error, which some clients show.
    std::panic::set_hook(Box::new(|_| ()));
    let answered = catch_unwind(AssertUnwindSafe(|| answer(&args, state.as_deref(), context)));
    let problem = match answered {
        Ok(Ok(text)) => {
            // A client that does not read the answer needs none.
            let _ = context.say(text);
            return Ok(CommandOutcome::Done);
        }
        Ok(Err(problem)) => problem,
        Err(_) => "the program failed; please report this".to_owned(),
    };
    log.add(&format!("{}: {problem}", args.name()));
    if context.err.is_terminal() {
        // Only a person at a terminal reads it.
        let _ = writeln!(context.err, "remindb: hook: {problem}");
    }
    Ok(CommandOutcome::Done)
}

/// Returns the answer: a line, or nothing.
fn answer(
    args: &HookArgs,
    state: Option<&Path>,
    context: &mut CommandStreamsAndClock<'_>,
) -> Result<String, String> {
    if let Some(problem) = &args.problem {
        return Err(problem.clone());
    }
    let Some(event) = args.event else { return Err("no event".to_owned()) };
    let input = HookInput::read(io::stdin())?;
    let Some(db) = memory_place(args, &input)? else { return Ok(String::new()) };
    let client = reply::client_name(args.client.as_deref(), &input);
    let job = HookCall {
        event,
        input,
        states: StateFolder::open(state, &db, &client),
        client,
        db,
        budget: args.budget,
        options: options(false, false).unwrap_or_default(),
    };
    match event {
        HookEvent::SessionStart => job.session_start(),
        HookEvent::Prompt => job.prompt(context.clock.now()),
        HookEvent::PreCompact | HookEvent::SessionEnd => {
            job.capture(context.clock.now())?;
            Ok(String::new())
        }
    }
}

/// One call of a hook.
struct HookCall {
    event: HookEvent,
    input: HookInput,
    client: String,
    db: PathBuf,
    budget: Option<u32>,
    states: StateFolder,
    options: OperatorOptions,
}

impl HookCall {
    fn session_start(&self) -> Result<String, String> {
        let reader = Reader::open_hastily(&self.db, WAIT).map_err(|it| it.to_string())?;
        self.states.prune();
        let mut session = self.states.session(self.input.session());
        let since = session.since.or_else(|| self.states.last_snapshot());
        let budget = self.budget(BRIEFING_TOKENS);
        let request = BriefingRequest { since, budget: budget - reply::FRAME_TOKENS };
        let briefing = briefing::brief(&reader, request).map_err(|it| it.to_string())?;
        // The context begins anew, so that texts may be given again.
        session.given.clear();
        session.since = since;
        self.states.save_session(self.input.session(), &session);
        self.states.save_last_snapshot(briefing.head);
        Ok(reply::reply(&self.client, self.event, &self.input, &briefing.text))
    }

    fn prompt(&self, now: UnixMillis) -> Result<String, String> {
        let prompt = self.input.prompt();
        if prompt.trim().is_empty() {
            return Ok(String::new());
        }
        let reader = Reader::open_hastily(&self.db, WAIT).map_err(|it| it.to_string())?;
        let mut session = self.states.session(self.input.session());
        let mut given = session.given.clone();
        given.extend(session.note.clone());
        let budget = self.budget(PROMPT_TOKENS) - reply::FRAME_TOKENS;
        let asked = PromptHitsRequest { prompt: &prompt, given: &given, budget, now };
        let hits = reader.at_one_state(|it| query::prompt_hits(it, &asked));
        let Some(hits) = hits.map_err(|it| it.to_string())? else { return Ok(String::new()) };
        session.give(hits.ids);
        self.states.save_session(self.input.session(), &session);
        Ok(reply::reply(&self.client, self.event, &self.input, &hits.text))
    }

    fn budget(&self, default: u32) -> u32 {
        self.budget.unwrap_or(default).clamp(BUDGET_MIN, BUDGET_MAX)
    }
}

/// Returns the memory: as named, else the one that belongs to the session's folder. `None` where
/// there is none.
fn memory_place(args: &HookArgs, input: &HookInput) -> Result<Option<PathBuf>, String> {
    let folder = input.folder().map(PathBuf::from).or_else(|| std::env::current_dir().ok());
    let around = folder.map(MemoryLookupFolders::around);
    if let Some(named) = MemoryFileLocation::named(args.db.clone()) {
        // A path of a project's settings is not relative to where a client starts its hooks.
        let of_project = || around.map(|it| it.folder_of(&named.path));
        let found = Some(named.path.clone()).filter(|it| !is_missing(it)).or_else(of_project);
        return Ok(found.filter(|it| !is_missing(it)));
    }
    let Some(around) = around else { return Ok(None) };
    let found = around.find(args.scope).map_err(|it| match it {
        CommandError::Because(what) => what,
        CommandError::BrokenPipe => String::new(),
    })?;
    Ok(found.map(|it| around.full(&it.path)))
}

/// Returns this program's folder for state: `~/.local/state/remindb`, unless the environment names
/// another.
fn state_home() -> Option<PathBuf> {
    user_folder("XDG_STATE_HOME", ".local/state").map(|it| it.join("remindb"))
}
