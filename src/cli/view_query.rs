//! `remindb view-query`: defines, removes and lists custom views of typed memories.

use serde_json::{Value, json};

use super::args::{CustomViewArgs, CustomViewTask};
use super::memory_file_location::known_database;
use super::{CommandError, CommandOutcome, CommandStreamsAndClock, open_memory};
use crate::memory::typed::{CustomView, DefineViewOutcome, check_view_name, parse_conditions};
use crate::store::reader::Reader;
use crate::text;

pub(super) fn run(
    args: CustomViewArgs,
    context: &mut CommandStreamsAndClock<'_>,
) -> Result<CommandOutcome, CommandError> {
    let CustomViewArgs { db, task, is_json } = args;
    let (json, text) = match task {
        CustomViewTask::List => {
            let views = CustomView::all(&Reader::open(&known_database(db, context)?)?)?;
            let json = views.iter().map(to_json).collect();
            let lines: String = views.iter().map(line).collect();
            let is_told = lines.is_empty() && context.out.is_terminal();
            (json, if is_told { "no custom views\n".to_owned() } else { lines })
        }
        CustomViewTask::Define(name, words) => {
            check_view_name(&name)?;
            let conditions = parse_conditions(&words)?;
            let memory = open_memory(db, context)?;
            // Counted before, so that no error comes after the change.
            let view = CustomView { name: name.clone(), conditions: conditions.clone() };
            let count = memory.read(|reader| view.count(reader))?;
            let (view, change) = memory.define_view(&name, &conditions)?;
            let mut json = to_json(&view);
            json["created"] = (change == DefineViewOutcome::Made).into();
            json["count"] = count.into();
            let what = if change == DefineViewOutcome::Made { "made" } else { "replaced" };
            (json, format!("{what}: {}, which shows {count}\n", view.uri()))
        }
        CustomViewTask::Remove(name) => {
            check_view_name(&name)?;
            let memory = open_memory(db, context)?;
            if !memory.remove_view(&name)? {
                return Err(unknown(&name, &memory.read(CustomView::all)?));
            }
            (json!({"removed": name}), format!("removed: {name}\n"))
        }
    };
    match is_json {
        true => context.say_json(&json)?,
        false => context.say(text)?,
    }
    Ok(CommandOutcome::Done)
}

fn to_json(view: &CustomView) -> Value {
    json!({"name": view.name, "uri": view.uri(), "query": view.conditions})
}

fn line(view: &CustomView) -> String {
    let text = format!("{}  {}", view.uri(), text::fold_whitespace(&view.conditions_as_text()));
    format!("{}\n", text.trim_end())
}

fn unknown(name: &str, views: &[CustomView]) -> CommandError {
    let names: Vec<&str> = views.iter().map(|it| it.name.as_str()).collect();
    CommandError::Because(match names.as_slice() {
        [] => format!("no view `{name}`; there is none"),
        names => format!("no view `{name}`; there are {}", names.join(", ")),
    })
}
