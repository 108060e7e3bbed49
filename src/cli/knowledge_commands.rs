//! The commands about knowledge: recall, review, apply, undo, ingest, and lists.

mod consolidate;
mod render;

use std::io::{Read, stdin};
use std::path::Path;

use serde_json::{Map, Value, json};

use super::args::{KnowledgeArgs, KnowledgeCommand, KnowledgeTextSource};
use super::memory_file_location::{database_to_make, known_database, place_to_make};
use super::tool_advice_rewording::error_with_commands;
use super::{
    CommandError, CommandOutcome, CommandStreamsAndClock, typed_memory_output, user_settings,
};
use crate::memory::Memory;
use crate::memory::knowledge::{
    self, ApplyRequest, LIST_MAX, MemoryIngestArgs, NumberedOperation, RecallRequest,
    WorksheetRequest, parse_changeset,
};
use crate::memory::typed::MemoryError;
use crate::query::render::to_label;
use crate::settings::config::KnowledgeSettings;
use crate::store::IfMissing;
use crate::store::reader::Reader;

/// Bytes of a changeset or a text, at most.
const INPUT_BYTES_MAX: u64 = 8 * 1024 * 1024;

pub(super) fn run(
    args: KnowledgeArgs,
    context: &mut CommandStreamsAndClock<'_>,
) -> Result<CommandOutcome, CommandError> {
    match args.task {
        KnowledgeCommand::Apply => apply(args, context),
        KnowledgeCommand::Consolidate => consolidate::run(args, context),
        KnowledgeCommand::Undo => undo(args, context),
        KnowledgeCommand::Ingest => ingest(args, context),
        _ => read(args, context),
    }
}

/// Answers a question, which warms nothing.
fn read(
    args: KnowledgeArgs,
    context: &mut CommandStreamsAndClock<'_>,
) -> Result<CommandOutcome, CommandError> {
    let KnowledgeArgs { task, arguments, db, is_json, .. } = args;
    let recall = match task {
        KnowledgeCommand::Recall => {
            let request = RecallRequest::parse(&arguments)?;
            Some(request.weighed_by(&settings()?))
        }
        _ => None,
    };
    let reader = Reader::open(&known_database(db, context)?)?;
    let now = context.clock.now();
    let answer = reader.at_one_state(|reader| match (task, &recall) {
        (_, Some(request)) => knowledge::recall(reader, request, now).map(|it| it.0),
        (KnowledgeCommand::Review, _) => {
            knowledge::review(reader, &WorksheetRequest::parse(&arguments)?, now)
        }
        (KnowledgeCommand::Topics, _) => knowledge::topics_document(reader),
        (KnowledgeCommand::Entities, _) => knowledge::entities_document(reader),
        _ => {
            let status = arguments.get("status").and_then(Value::as_str).unwrap_or("open");
            knowledge::conflicts_document(reader, (status, now), LIST_MAX)
        }
    });
    let answer = answer?;
    // A worksheet is for whoever answers it with a changeset.
    let is_json = is_json || task == KnowledgeCommand::Review;
    let list = match task {
        KnowledgeCommand::Recall => answer["items"].as_array(),
        KnowledgeCommand::Topics => answer["topics"].as_array(),
        KnowledgeCommand::Entities => answer["entities"].as_array(),
        KnowledgeCommand::Conflicts => answer["conflicts"].as_array(),
        _ => None,
    };
    if is_json {
        context.say_json(&answer)?;
    } else {
        context.show(&render::lines_of(task, &answer))?;
    }
    Ok(match list {
        Some(items) if items.is_empty() && answer["left_out"].as_u64().unwrap_or(0) == 0 => {
            CommandOutcome::NotFound
        }
        _ => CommandOutcome::Done,
    })
}

fn apply(
    args: KnowledgeArgs,
    context: &mut CommandStreamsAndClock<'_>,
) -> Result<CommandOutcome, CommandError> {
    let KnowledgeArgs { mut arguments, input, db, is_json, .. } = args;
    let (unit, operations) = read_changeset(&input)?;
    if operations.is_empty() {
        let what = "the changeset has no operation; `remindb review` shows which there are, and \
                    `remindb help apply` how they are written";
        return Err(CommandError::Because(what.to_owned()));
    }
    let numbers: Vec<usize> = operations.iter().map(|it| it.0).collect();
    let place = |op: usize| format!("{unit} {}", numbers.get(op).copied().unwrap_or(op));
    let operations: Vec<Map<String, Value>> = operations.into_iter().map(|it| it.1).collect();
    arguments.insert("operations".to_owned(), operations.into());
    let request = ApplyRequest::parse(&arguments)?;
    let memory = typed_memory_output::open_to_write(
        &known_database(db, context)?,
        IfMissing::Refuse,
        context,
    )?;
    let answer = match memory.apply(&request) {
        Ok(answer) => answer,
        Err(error) => {
            if is_json {
                let body = MemoryError::from(error.clone()).to_json();
                context.say_json(&body)?;
            }
            let told = match error.operations() {
                [] => error_with_commands(&MemoryError::from(error.clone()).message),
                errors => {
                    let told = errors.iter().map(|it| {
                        format!("{}: {}", place(it.op), error_with_commands(&it.message))
                    });
                    format!("{}; nothing was applied", told.collect::<Vec<_>>().join("\n"))
                }
            };
            return Err(CommandError::Because(told));
        }
    };
    if answer["dry_run"] != true {
        typed_memory_output::tell_replaced(&memory, &arguments, context);
    }
    if is_json {
        context.say_json(&answer)?;
        return Ok(CommandOutcome::Done);
    }
    let n = answer["results"].as_array().map_or(0, Vec::len);
    let noun = if n == 1 { "operation" } else { "operations" };
    let what = match (&answer["snapshot"], answer["dry_run"] == true) {
        (_, true) => format!("{n} {noun} can be applied; nothing was written\n"),
        (Value::Null, _) => format!("{n} {noun} changed nothing\n"),
        (snapshot, _) => format!("applied {n} {noun} in snapshot {snapshot}\n"),
    };
    context.say(what)?;
    for (nth, result) in answer["results"].as_array().into_iter().flatten().enumerate() {
        if let Some(id) = result["id"].as_str() {
            let op = result["op"].as_str().unwrap_or_default();
            context.say(format_args!("  {}: {op} {id}\n", place(nth)))?;
        }
    }
    Ok(CommandOutcome::Done)
}

/// Reads a changeset of lines or JSON, with the unit of its numbers. Operations in JSON are counted
/// from 0, as in the answers of `MemoryApply`.
fn read_changeset(
    input: &KnowledgeTextSource,
) -> Result<(&'static str, Vec<NumberedOperation>), CommandError> {
    let text = read_input(input)?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    if text.trim_start().starts_with('[') {
        let operations: Vec<Map<String, Value>> = serde_json::from_str(text)
            .map_err(|error| CommandError::Because(format!("the changeset is no JSON: {error}")))?;
        return Ok(("operation", (0..).zip(operations).collect()));
    }
    let operations = parse_changeset(text).map_err(|errors| {
        let told: Vec<String> =
            errors.iter().map(|it| format!("line {} {}", it.line, it.message)).collect();
        CommandError::Because(told.join("\n"))
    })?;
    Ok(("line", operations))
}

fn undo(
    args: KnowledgeArgs,
    context: &mut CommandStreamsAndClock<'_>,
) -> Result<CommandOutcome, CommandError> {
    let KnowledgeArgs { db, is_json, .. } = args;
    let db = known_database(db, context)?;
    let memory = typed_memory_output::open_to_write(&db, IfMissing::Refuse, context)?;
    let memory = if is_json { memory.with_structured() } else { memory };
    let answer = memory.undo()?;
    match is_json {
        true => context.say_json(&answer.structured)?,
        false => context.say(format_args!("{}\n", answer.text))?,
    }
    Ok(CommandOutcome::Done)
}

fn ingest(
    args: KnowledgeArgs,
    context: &mut CommandStreamsAndClock<'_>,
) -> Result<CommandOutcome, CommandError> {
    let KnowledgeArgs { mut arguments, input, db, is_json, .. } = args;
    if input != KnowledgeTextSource::None {
        arguments.insert("content".to_owned(), read_input(&input)?.into());
    }
    let request = MemoryIngestArgs::parse(&arguments)?;
    let db = database_to_make(db, None, context)?;
    let memory = open(&db, context)?;
    let answer = memory.ingest(&request)?;
    typed_memory_output::tell_replaced(&memory, &arguments, context);
    if is_json {
        context.say_json(&answer)?;
    } else {
        let (buffered, chunks) = (&answer["buffered"], &answer["chunks"]);
        context.say(format_args!("{buffered} characters wait for more, {chunks} chunks wait\n"))?;
    }
    Ok(CommandOutcome::Done)
}

/// Returns the settings of knowledge outside of a compiled folder.
fn settings() -> Result<KnowledgeSettings, CommandError> {
    let (first, last) = user_settings::knowledge_settings(None)?;
    let user = user_settings::user_config()?;
    Ok(first.or(&user.config().knowledge).or(&last))
}

fn open(db: &Path, context: &mut CommandStreamsAndClock<'_>) -> Result<Memory, CommandError> {
    typed_memory_output::open_to_write(db, IfMissing::Create, context)
}

/// Remembers one episode or fact, as `MemoryRemember` does.
pub(super) fn remember(
    arguments: &Map<String, Value>,
    (db, is_json): (Option<std::path::PathBuf>, bool),
    context: &mut CommandStreamsAndClock<'_>,
) -> Result<CommandOutcome, CommandError> {
    let request = knowledge::RememberRequest::parse(arguments)?;
    let place = place_to_make(db, None)?;
    if !place.path.exists() {
        // Before a memory is made for nothing; one that is there knows the kinds of its folder.
        request.check_kinds(&settings()?.kinds())?;
    }
    place.tell(context);
    place.make_folder()?;
    let memory = open(&place.path, context)?;
    let answer = memory.remember(request)?;
    typed_memory_output::tell_replaced(&memory, arguments, context);
    if is_json {
        context.say_json(&answer)?;
        return Ok(CommandOutcome::Done);
    }
    let result = &answer["results"][0];
    let none = json!([]);
    let what = if result["created"] == true { "remembered" } else { "already there" };
    context.say(format_args!("{what}: {}\n", result["id"].as_str().unwrap_or_default()))?;
    let entities = result["entities"].as_array().or(none.as_array()).into_iter().flatten();
    let entities: Vec<String> = entities.filter_map(Value::as_str).map(to_label).collect();
    if !entities.is_empty() {
        context.say(format_args!("  mentions {}\n", entities.join(", ")))?;
    }
    if let Some(conflict) = result["conflict"].as_str() {
        context.say(format_args!("  contradicts another fact: conflict {conflict}\n"))?;
    }
    Ok(CommandOutcome::Done)
}

fn read_input(input: &KnowledgeTextSource) -> Result<String, CommandError> {
    let cannot =
        |what: &str, why: String| CommandError::Because(format!("cannot read {what}: {why}"));
    let (what, bytes) = match input {
        KnowledgeTextSource::None => return Ok(String::new()),
        KnowledgeTextSource::Stdin => {
            let mut bytes = Vec::new();
            let read = stdin().lock().take(INPUT_BYTES_MAX + 1).read_to_end(&mut bytes);
            ("standard input".to_owned(), read.map(|_| bytes))
        }
        KnowledgeTextSource::File(path) => {
            let mut bytes = Vec::new();
            let read = std::fs::File::open(path)
                .and_then(|it| it.take(INPUT_BYTES_MAX + 1).read_to_end(&mut bytes));
            (format!("`{}`", path.display()), read.map(|_| bytes))
        }
    };
    let bytes = bytes.map_err(|error| cannot(&what, error.to_string()))?;
    if INPUT_BYTES_MAX < bytes.len() as u64 {
        return Err(cannot(&what, format!("it has more than {INPUT_BYTES_MAX} bytes")));
    }
    String::from_utf8(bytes).map_err(|_| cannot(&what, "it is not UTF-8".to_owned()))
}
