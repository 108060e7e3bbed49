//! The commands of the tools that agents have: the same arguments, the same answers.

use std::io::{Read, stdin};
use std::path::Path;

use serde_json::Value;

use super::args::{ArgumentFromStdin, ToolArgs};
use super::color::{PaintedText, TextRole};
use super::memory_file_location::{database_to_make, known_database};
use super::tool_advice_rewording::flag_of;
use super::{CommandError, CommandOutcome, CommandStreamsAndClock, typed_memory_output};
use crate::mcp::input_schema::validate_args;
use crate::memory::{Error, Memory};
use crate::query::{self, OutputFormat, QueryOptions};
use crate::store::IfMissing;
use crate::store::reader::Reader;
use crate::surface::{ToolRunner, asked_budget, run_write, tool_named};

/// Bytes of standard input, at most; one more than a write takes is enough to refuse it.
const INPUT_BYTES_MAX: u64 = 1024 * 1024 + 1;

pub(super) fn run(
    args: ToolArgs,
    context: &mut CommandStreamsAndClock<'_>,
) -> Result<CommandOutcome, CommandError> {
    let ToolArgs { tool, mut arguments, input, db, is_json } = args;
    let row = tool_named(tool)
        .ok_or_else(|| CommandError::Because(format!("this build has no {tool}")))?;
    if let ArgumentFromStdin::Stdin(name) = input {
        arguments.insert(name.to_owned(), Value::from(read_input()?));
    }
    let checked = validate_args(row.args, arguments).map_err(CommandError::Because)?;
    let output = if is_json { OutputFormat::Structured } else { OutputFormat::Text };
    let (answer, undo) = match row.run {
        ToolRunner::Read(question) => {
            let reader = Reader::open(&known_database(db, context)?)?;
            let budget = asked_budget(&checked);
            let options =
                QueryOptions { budget, output, ..QueryOptions::text(context.clock.now()) };
            (query::answer(&reader, &question(&checked), &options)?, None)
        }
        ToolRunner::Write(change) | ToolRunner::Confirmed(_, change) => {
            // Only a text can begin a memory.
            let (place, if_missing) = match row.name {
                "MemoryWrite" => (database_to_make(db.clone(), None, context)?, IfMissing::Create),
                _ => (known_database(db.clone(), context)?, IfMissing::Refuse),
            };
            let memory = typed_memory_output::open_to_write(&place, if_missing, context)?;
            let memory = memory.with_structured();
            let answer = run_write(change, &memory, &checked)?;
            // The change is made, even if nothing can be said about it.
            let undo = undo(&memory, &answer.structured, db.as_deref()).unwrap_or_default();
            (answer, undo)
        }
        ToolRunner::Compile(_)
        | ToolRunner::Document(_)
        | ToolRunner::ChangingDocument(_)
        | ToolRunner::Asking(_) => {
            return Err(CommandError::Because(format!("{tool} has no command of this kind")));
        }
    };
    if is_json {
        context.say_json(&answer.structured)?;
        return Ok(CommandOutcome::Done);
    }
    context.say(format_args!("{}\n", answer.text.trim_end_matches('\n')))?;
    if let Some(undo) = undo {
        let mut line = PaintedText::default();
        line.paint(TextRole::Dim, &format!("to undo: {undo}"));
        line.push("\n");
        context.show(&line)?;
    }
    Ok(CommandOutcome::Done)
}

/// Returns the command that undoes the change with these facts, if it made a snapshot that follows
/// another.
fn undo(memory: &Memory, facts: &Value, db: Option<&Path>) -> Result<Option<String>, Error> {
    let Some(made) = facts["snapshot"].as_i64().filter(|_| facts["dropped"].is_null()) else {
        return Ok(None);
    };
    let before = memory.read(|reader| reader.versions().parent_of(made))?;
    Ok(before.map(|it| format!("remindb rollback {it}{}", flag_of(db))))
}

fn read_input() -> Result<String, CommandError> {
    let mut bytes = Vec::new();
    let read = stdin().lock().take(INPUT_BYTES_MAX).read_to_end(&mut bytes);
    let cannot = |why: &str| CommandError::Because(format!("cannot read standard input: {why}"));
    read.map_err(|error| cannot(&error.to_string()))?;
    String::from_utf8(bytes).map_err(|_| cannot("it is not UTF-8"))
}
