//! `remindb remember`: stores an episode as `MemoryRemember` does, or a memory as `store_memory`.

use std::io::{Read, stdin};

use serde_json::{Map, Value, json};

use super::args::RememberArgs;
use super::color::TextRole;
use super::memory_file_location::database_to_make;
use super::tool_advice_rewording::{error_with_commands, flag_of};
use super::{
    CommandError, CommandOutcome, CommandStreamsAndClock, knowledge_commands, typed_memory_output,
};
use crate::memory::typed::{MemoryError, StoreOutcome, StoreRequest};
use crate::model::typed_node_field_schemas::MEMORY_TYPES;
use crate::store::IfMissing;

/// Bytes of standard input, at most; no memory has as many.
const INPUT_BYTES_MAX: u64 = 1024 * 1024;

pub(super) fn run(
    args: RememberArgs,
    context: &mut CommandStreamsAndClock<'_>,
) -> Result<CommandOutcome, CommandError> {
    let text = match &args.text {
        Some(text) => text.clone(),
        None => read_input()?,
    };
    if args.status.is_some() && args.memory_type != "task" {
        let what = format!("`--status` is for `--type task`, not for `{}`", args.memory_type);
        return Err(CommandError::Because(what));
    }
    if !MEMORY_TYPES.iter().any(|it| it.as_str() == args.memory_type) {
        let arguments = episode(&args, text)?;
        return knowledge_commands::remember(&arguments, (args.db, args.is_json), context);
    }
    if args.topic.is_some() || !args.entities.is_empty() {
        let what = "`--topic` and `--entity` are for episodes, not for `--type core`, learning or \
                    task";
        return Err(CommandError::Because(what.to_owned()));
    }
    // Checked before a new memory is created.
    let arguments = arguments(&args, text);
    let request = StoreRequest::parse(&arguments).map_err(explained)?;
    let named = flag_of(args.db.as_deref());
    let db = database_to_make(args.db, None, context)?;
    let is_new = !db.exists();
    let memory = typed_memory_output::open_to_write(&db, IfMissing::Create, context)?;
    let stored = memory.store_memory(request).map_err(explained)?;
    typed_memory_output::tell_replaced(&memory, &arguments, context);
    if args.is_json {
        context.say_json(&stored.to_json())?;
        return Ok(CommandOutcome::Done);
    }
    let StoreOutcome { created, memory, .. } = stored;
    let mut text = typed_memory_output::render_memory(&memory);
    if !created {
        context.say("already there, nothing was changed:\n")?;
        context.show(&text)?;
        return Ok(CommandOutcome::Done);
    }
    let made = if is_new { "the new database " } else { "" };
    context.say(format_args!("stored in {made}{}:\n", db.display()))?;
    text.paint(TextRole::Dim, &format!("to undo: remindb forget {}{named}", memory.id));
    text.push("\n");
    context.show(&text)?;
    Ok(CommandOutcome::Done)
}

/// Returns the arguments of `MemoryRemember`.
fn episode(args: &RememberArgs, text: String) -> Result<Map<String, Value>, CommandError> {
    let others = [
        ("--tag", !args.tags.is_empty()),
        ("--category", args.category.is_some()),
        ("--importance", args.importance.is_some()),
    ];
    if let Some((flag, _)) = others.iter().find(|it| it.1) {
        let what = format!("`{flag}` is for `--type core`, learning or task");
        return Err(CommandError::Because(what));
    }
    let mut arguments = Map::new();
    arguments.insert("kind".to_owned(), args.memory_type.as_str().into());
    arguments.insert("content".to_owned(), text.into());
    arguments.insert("topic".to_owned(), args.topic.clone().into());
    if !args.entities.is_empty() {
        arguments.insert("entities".to_owned(), args.entities.clone().into());
    }
    Ok(arguments)
}

/// Returns the arguments of `store_memory`.
fn arguments(args: &RememberArgs, text: String) -> Map<String, Value> {
    let mut arguments = Map::new();
    arguments.insert("type".to_owned(), args.memory_type.as_str().into());
    arguments.insert("content".to_owned(), text.into());
    arguments.insert("tags".to_owned(), args.tags.clone().into());
    for (name, value) in [("category", &args.category), ("importance", &args.importance)] {
        arguments.insert(name.to_owned(), value.clone().into());
    }
    let metadata = args.status.as_ref().map(|it| json!({"status": it}));
    arguments.insert("task_metadata".to_owned(), metadata.into());
    arguments
}

fn read_input() -> Result<String, CommandError> {
    let mut bytes = Vec::new();
    let read = stdin().lock().take(INPUT_BYTES_MAX + 1).read_to_end(&mut bytes);
    let cannot = |why: String| CommandError::Because(format!("cannot read standard input: {why}"));
    let n_bytes = read.map_err(|error| cannot(error.to_string()))?;
    if INPUT_BYTES_MAX < n_bytes as u64 {
        return Err(cannot(format!("it has more than {INPUT_BYTES_MAX} bytes")));
    }
    let text = String::from_utf8(bytes).map_err(|_| cannot("it is not UTF-8".to_owned()))?;
    Ok(text.trim_end_matches(['\n', '\r']).to_owned())
}

/// Returns the line of an error, with the memories that may be archived instead.
fn explained(error: MemoryError) -> CommandError {
    let mut what = error_with_commands(&error.message);
    if !error.suggestions.is_empty() {
        what += "; the least important ones are ";
        what += &error.suggestions.join(", ");
    }
    CommandError::Because(what)
}
