//! `remindb inspect`: shows the content of a memory to people, without warming it.

mod skipped_paths;

use serde_json::{Value, json};

use super::args::InspectArgs;
use super::color::{PaintedText, TextRole};
use super::memory_file_location::known_database;
use super::{CommandError, CommandOutcome, CommandStreamsAndClock, options};
use crate::ingest::scan::SkippedPath;
use crate::model::clock::UnixMillis;
use crate::model::heat::HeatThresholds;
use crate::query::render;
use crate::query::{self, Answer, Error, OutputFormat, Query, QueryOptions, TreeQuery};
use crate::store::reader::{ArchivedVisibility, FileSummary, Reader};

/// Default levels of the tree.
const DEPTH_DEFAULT: usize = 10;

pub(super) fn run(
    args: InspectArgs,
    context: &mut CommandStreamsAndClock<'_>,
) -> Result<CommandOutcome, CommandError> {
    let reader = Reader::open(&known_database(args.db.clone(), context)?)?;
    let levels = u32::try_from(args.depth.unwrap_or(DEPTH_DEFAULT)).unwrap_or(u32::MAX);
    let archived =
        if args.is_archived { ArchivedVisibility::Shown } else { ArchivedVisibility::Hidden };
    let query = TreeQuery { root: None, levels, archived };
    let now = context.clock.now();
    let skipped = if args.is_skipped { Some(find_skipped(&reader, &args)?) } else { None };
    if args.is_json {
        let mut json = reader.at_one_state(|reader| as_json(reader, &args, &query, now))?;
        if let Some(skipped) = skipped {
            json["skipped"] = skipped_paths::to_json(&skipped);
        }
        context.say_json(&json)?;
        return Ok(CommandOutcome::Done);
    }
    let stats = reader.stats(HeatThresholds::default(), context.clock.now())?;
    let text = render::stats::render_stats(&stats, render::stats::Audience::Person, now);
    context.show(&painted(&text))?;
    if args.is_files {
        let files = render::source_files_by_folder::render_files(&reader.files()?);
        context.show(&painted(&files))?;
    }
    if let Some(skipped) = skipped {
        context.show(&painted(&skipped_paths::render(&skipped)))?;
    }
    if args.is_tree {
        let tree = tree(&reader, &query, OutputFormat::Text, now)?;
        let text = if tree.text == "empty tree" { "No nodes in database." } else { &tree.text };
        let text = format!("=== Node Tree ===\n{}\n", text.trim_end_matches('\n'));
        context.show(&painted(&text))?;
    }
    Ok(CommandOutcome::Done)
}

/// Returns what a compile passes over, by root.
fn find_skipped(
    reader: &Reader,
    args: &InspectArgs,
) -> Result<Vec<(String, Vec<SkippedPath>)>, CommandError> {
    let options = options(false, args.is_gitignore)?;
    Ok(skipped_paths::find(&reader.files()?, &options))
}

/// Returns the whole tree: a person can page, and has no budget of tokens.
fn tree(
    reader: &Reader,
    query: &TreeQuery<'_>,
    output: OutputFormat,
    now: UnixMillis,
) -> Result<Answer, Error> {
    let options = QueryOptions { budget: Some(u32::MAX), output, ..QueryOptions::text(now) };
    query::answer(reader, &Query::Tree(*query), &options)
}

fn as_json(
    reader: &Reader,
    args: &InspectArgs,
    query: &TreeQuery<'_>,
    now: UnixMillis,
) -> Result<Value, Error> {
    let options = QueryOptions { output: OutputFormat::Structured, ..QueryOptions::text(now) };
    let mut json = query::answer(reader, &Query::Stats, &options)?.structured;
    if args.is_files {
        json["files"] = reader.files()?.iter().map(file_json).collect();
    }
    if args.is_tree {
        json["tree"] =
            tree(reader, query, OutputFormat::Structured, now)?.structured["nodes"].take();
    }
    Ok(json)
}

fn file_json(file: &FileSummary) -> Value {
    let FileSummary { root, path, n_nodes, tokens, error } = file;
    json!({"root": root, "path": path, "nodes": n_nodes, "tokens": tokens, "error": error})
}

/// Colours headers, dims facts in brackets, and sets off the types of nodes.
fn painted(text: &str) -> PaintedText {
    let mut out = PaintedText::default();
    for line in text.split_inclusive('\n') {
        let body = line.trim_end_matches('\n');
        if body.starts_with("===") {
            out.paint(TextRole::Header, body);
        } else {
            paint_line(body, &mut out);
        }
        out.push(&line[body.len()..]);
    }
    out
}

fn paint_line(line: &str, out: &mut PaintedText) {
    let (indent, rest) = line.split_at(line.len() - line.trim_start().len());
    let (node_type, rest) = match rest.find("] ").filter(|_| rest.starts_with('[')) {
        Some(end) => rest.split_at(end + 1),
        None => ("", rest),
    };
    let (label, facts) = match rest.rfind(" (").filter(|_| rest.ends_with(')')) {
        Some(start) => rest.split_at(start),
        None => (rest, ""),
    };
    out.push(indent);
    out.paint(TextRole::Type, node_type);
    out.push(label);
    out.paint(TextRole::Dim, facts);
}
