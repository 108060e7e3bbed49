//! `remindb remember`: stores a memory as the tool `store_memory` does.

use std::io::{Read, stdin};

use serde_json::{Map, Value, json};

use super::args::RememberArgs;
use super::memory_place::database_to_make;
use super::{CommandError, CommandOutcome, Context, typed};
use crate::memory::typed::{MemoryError, StoreRequest, StoredMemory};
use crate::store::IfMissing;

/// Bytes of standard input, at most; no memory has as many.
const INPUT_BYTES_MAX: u64 = 1024 * 1024;

pub(super) fn run(
    args: RememberArgs,
    context: &mut Context<'_>,
) -> Result<CommandOutcome, CommandError> {
    let text = match &args.text {
        Some(text) => text.clone(),
        None => read_input()?,
    };
    if args.status.is_some() && args.memory_type != "task" {
        let what = format!("`--status` is for `--type task`, not for `{}`", args.memory_type);
        return Err(CommandError::Because(what));
    }
    // Checked before a new memory is created.
    let request = StoreRequest::parse(&arguments(&args, text)).map_err(explained)?;
    let db = database_to_make(args.db, None, context)?;
    let is_new = !db.exists();
    let memory = typed::open_to_write(&db, IfMissing::Create, context)?;
    let stored = memory.store_memory(request).map_err(explained)?;
    if args.is_json {
        context.say(format_args!("{:#}\n", stored.to_json()))?;
        return Ok(CommandOutcome::Done);
    }
    let StoredMemory { created, memory, snapshot } = stored;
    let shown = typed::render_memory(&memory, context.paint);
    if !created {
        context.say(format_args!("already there, nothing was changed:\n{shown}"))?;
        return Ok(CommandOutcome::Done);
    }
    let made = if is_new { "the new database " } else { "" };
    context.say(format_args!("stored in {made}{}:\n{shown}", db.display()))?;
    // Nothing can be rolled back to before the first snapshot.
    let back = snapshot.filter(|it| 1 < *it).map(|it| it - 1);
    let back = back.map(|it| format!(", or MemoryRollback to snapshot {it}")).unwrap_or_default();
    context.say(format_args!("to undo: delete_memory with that id{back}\n"))?;
    Ok(CommandOutcome::Done)
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
    let mut what = error.message;
    if !error.suggestions.is_empty() {
        what += "; the least important ones are ";
        what += &error.suggestions.join(", ");
    }
    CommandError::Because(what)
}
