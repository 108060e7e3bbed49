//! `remindb search`: prints the answer that an agent would get, without warming it.

mod colored_hits;

use super::args::{self, ColorWhen};
use super::color::PlainOrAnsi;
use super::memory_file_location::known_database;
use super::tool_advice_rewording::commands;
use super::{CommandError, CommandOutcome, CommandStreamsAndClock, shared_space_flags};
use crate::model::tree::NodeType;
use crate::model::typed_node_field_schemas::{IMPORTANCES, STATUSES};
use crate::query::{self, HitDetail, OutputFormat, Query, QueryOptions, SearchQuery};
use crate::store::reader::{ArchivedVisibility, NodeFilter, Reader};

pub(super) fn run(
    args: args::SearchArgs,
    context: &mut CommandStreamsAndClock<'_>,
) -> Result<CommandOutcome, CommandError> {
    let detail = detail(args.detail.as_deref())?;
    let node_type = match args.node_type.as_deref() {
        None => None,
        Some(name) => Some(NodeType::parse(name).ok_or_else(|| {
            let names = NodeType::ALL.map(NodeType::as_str).join(", ");
            CommandError::Because(format!("no node type `{name}`; there are {names}"))
        })?),
    };
    let archived =
        if args.is_archived { ArchivedVisibility::Shown } else { ArchivedVisibility::Hidden };
    let filter = NodeFilter {
        node_type,
        tags: &args.tags,
        status: one_of("status", args.status.as_deref(), STATUSES)?,
        importance: one_of("importance", args.importance.as_deref(), IMPORTANCES)?,
        since: args.since,
        until: args.until,
        archived,
    };
    let ask = SearchQuery {
        query: &args.query,
        detail,
        filter,
        limit: args.limit,
        meaning: None,
        has_dates: args.has_dates,
    };
    let output = if args.is_json { OutputFormat::Structured } else { OutputFormat::Text };
    let options =
        QueryOptions { budget: args.budget, output, ..QueryOptions::text(context.clock.now()) };
    let db = known_database(args.db, context)?;
    if args.is_fresh {
        shared_space_flags::follow_to_read(&db, context)?;
    }
    let reader = Reader::open(&db)?;
    let answer = query::answer(&reader, &Query::Search(ask), &options)?;
    let answer = query::advised_answer(answer, &commands());
    if args.is_json {
        context.say_json(&answer.structured)?;
    } else {
        match args.color {
            ColorWhen::Auto => (),
            ColorWhen::Always => context.colors = PlainOrAnsi::Ansi,
            ColorWhen::Never => context.colors = PlainOrAnsi::Plain,
        }
        let text = answer.text.trim_end_matches('\n');
        context.show(&colored_hits::paint_hits(text, &args.query))?;
    }
    // An answer without a hit that fits the budget still found something.
    Ok(if query::is_no_answer(&answer.text) {
        CommandOutcome::NotFound
    } else {
        CommandOutcome::Done
    })
}

fn detail(typed: Option<&str>) -> Result<HitDetail, CommandError> {
    let Some(name) = typed else { return Ok(HitDetail::default()) };
    HitDetail::parse(name).ok_or_else(|| {
        CommandError::Because(format!("no detail `{name}`; there are label, snippet and full"))
    })
}

/// Returns the word if it is one of those that there are.
fn one_of<'a>(
    what: &str,
    typed: Option<&'a str>,
    words: &[&str],
) -> Result<Option<&'a str>, CommandError> {
    match typed {
        Some(typed) if !words.contains(&typed) => {
            let words = words.join(", ");
            Err(CommandError::Because(format!("no {what} `{typed}`; there are {words}")))
        }
        typed => Ok(typed),
    }
}
