//! `remindb consolidate`: worksheets, answered by the user's provider or by whoever reads them.

use serde_json::Value;

use crate::cli::args::KnowledgeArgs;
use crate::cli::memory_file_location::known_database;
use crate::cli::tool_advice_rewording::with_commands;
use crate::cli::{CommandError, CommandOutcome, CommandStreamsAndClock, typed_memory_output};
use crate::memory::knowledge::ConsolidateRequest;
use crate::providers::wait_out;
use crate::store::IfMissing;

pub(super) fn run(
    args: KnowledgeArgs,
    context: &mut CommandStreamsAndClock<'_>,
) -> Result<CommandOutcome, CommandError> {
    let KnowledgeArgs { mut arguments, db, is_json, .. } = args;
    let is_by_hand = arguments.shift_remove("worksheet").is_some();
    let request = ConsolidateRequest::parse(&arguments)?;
    let db = known_database(db, context)?;
    let memory = typed_memory_output::open_to_write(&db, IfMissing::Refuse, context)?;
    let provider = memory.providers().completion.clone().filter(|_| !is_by_hand);
    let Some(provider) = provider else {
        let sheet = memory.worksheet(&request)?;
        return show_sheet(&sheet, is_json, context);
    };
    let mut n_done = 0;
    loop {
        match memory.consolidate_by(&provider, &request, &wait_out) {
            Ok(Some(report)) => {
                n_done += 1;
                tell(&report, is_json, context)?;
            }
            Ok(None) if 0 < n_done => return Ok(CommandOutcome::Done),
            Ok(None) => {
                let sheet = memory.worksheet(&request)?;
                return show_sheet(&sheet, is_json, context);
            }
            Err(error) => {
                let name = provider.name();
                return Err(CommandError::Because(format!(
                    "{name} did not consolidate: {error}; the episodes go on waiting, and \
                     `remindb consolidate --worksheet` hands them out"
                )));
            }
        }
    }
}

fn show_sheet(
    sheet: &Value,
    is_json: bool,
    context: &mut CommandStreamsAndClock<'_>,
) -> Result<CommandOutcome, CommandError> {
    let note = sheet["note"].as_str().filter(|_| !is_json);
    match note {
        Some(note) => context.say(format_args!("{}\n", with_commands(note)))?,
        None => context.say_json(&sheet)?,
    }
    Ok(CommandOutcome::Done)
}

fn tell(
    report: &Value,
    is_json: bool,
    context: &mut CommandStreamsAndClock<'_>,
) -> Result<(), CommandError> {
    if is_json {
        return context.say(format_args!("{report}\n"));
    }
    let n_made = report["results"]
        .as_array()
        .map_or(0, |it| it.iter().filter(|it| it["op"] == "concept").count());
    let (n, left) = (&report["episodes_processed"], &report["pending"]["total"]);
    let concepts = if n_made == 1 { "concept" } else { "concepts" };
    context.say(format_args!("{n} episodes became {n_made} {concepts}; {left} wait\n"))
}
