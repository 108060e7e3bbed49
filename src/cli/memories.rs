//! `remindb memories`: lists typed memories as `query_memories` does, and counts no access.

use serde_json::{Map, Value};

use super::args::MemoriesArgs;
use super::color::{PaintedText, TextRole};
use super::memory_file_location::known_database;
use super::{CommandError, CommandOutcome, CommandStreamsAndClock, typed_memory_output};
use crate::memory::typed::{MemoryPage, QueryRequest, list_memories};
use crate::model::typed_node_field_schemas::STATUSES;
use crate::store::reader::Reader;

/// Memories that are shown where nobody says how many.
const LIMIT: u64 = 20;

pub(super) fn run(
    args: MemoriesArgs,
    context: &mut CommandStreamsAndClock<'_>,
) -> Result<CommandOutcome, CommandError> {
    let request = request(&args)?;
    let reader = Reader::open(&known_database(args.db, context)?)?;
    let page = list_memories(&reader, &request)?;
    if args.is_json {
        context.say_json(&page.to_json())?;
    } else {
        show(&page, context)?;
    }
    Ok(match page.memories.is_empty() {
        true => CommandOutcome::NotFound,
        false => CommandOutcome::Done,
    })
}

fn request(args: &MemoriesArgs) -> Result<QueryRequest, CommandError> {
    let mut arguments = Map::new();
    let texts = [
        ("type", &args.memory_type),
        ("search", &args.search),
        ("category", &args.category),
        ("importance", &args.importance),
        ("sort_by", &args.sort_by),
        ("sort_order", &args.sort_order),
    ];
    for (name, value) in texts {
        arguments.insert(name.to_owned(), value.clone().into());
    }
    arguments.insert("tags".to_owned(), args.tags.clone().into());
    arguments.insert("archived".to_owned(), args.is_archived.into());
    let offset: Option<Value> = args.offset.map(Value::from);
    arguments.insert("offset".to_owned(), offset.into());
    let request = QueryRequest::parse(&arguments)?;
    if let Some(status) = args.status.as_deref().filter(|it| !STATUSES.contains(it)) {
        let known = STATUSES.join(", ");
        let what = format!("no status `{status}`; a task is one of {known}");
        return Err(CommandError::Because(what));
    }
    if let (Some(_), Some(other)) =
        (&args.status, args.memory_type.as_deref().filter(|it| *it != "task"))
    {
        let what = format!("`--status` is for tasks, and `--type` is {other}");
        return Err(CommandError::Because(what));
    }
    let limit = args.limit.unwrap_or(LIMIT);
    Ok(QueryRequest { status: args.status.clone(), limit, ..request })
}

fn show(page: &MemoryPage, context: &mut CommandStreamsAndClock<'_>) -> Result<(), CommandError> {
    for memory in &page.memories {
        context.show(&typed_memory_output::render_memory(memory))?;
    }
    let MemoryPage { total, offset, has_more, .. } = page;
    let n_shown = page.memories.len() as u64;
    let summary = match total {
        0 => "no memories".to_owned(),
        1 => "1 memory".to_owned(),
        _ if n_shown == *total => format!("{total} memories"),
        _ if n_shown == 0 => format!("{total} memories, none behind --offset {offset}"),
        _ if n_shown == 1 => format!("number {} of {total} memories", offset + 1),
        _ => format!("{} to {} of {total} memories", offset + 1, offset + n_shown),
    };
    let more =
        if *has_more { format!("; more: --offset {}", offset + n_shown) } else { String::new() };
    let mut line = PaintedText::default();
    line.paint(TextRole::Dim, &(summary + &more));
    line.push("\n");
    context.show(&line)
}
