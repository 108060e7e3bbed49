//! `remindb inspect`: what the memory holds, for people. It warms nothing.

use serde_json::{Value, json};

use super::args::Inspect;
use super::color::Role;
use super::{Failure, Outcome, World, known_database};
use crate::model::heat::Lines;
use crate::query::render;
use crate::query::{self, Output, QueryError};
use crate::store::reader::{FileSummary, Reader};

/// Levels of the tree, when none are asked for.
const DEPTH_DEFAULT: usize = 10;

pub(super) fn run(args: Inspect, world: &mut World<'_>) -> Result<Outcome, Failure> {
    let reader = Reader::open(&known_database(args.db.clone()))?;
    let depth = u32::try_from(args.depth.unwrap_or(DEPTH_DEFAULT)).unwrap_or(u32::MAX);
    let now = world.clock.now();
    if args.is_json {
        let json = reader.at_one_state(|reader| as_json(reader, &args, depth, now))?;
        world.say(format_args!("{json:#}\n"))?;
        return Ok(Outcome::Done);
    }
    let stats = reader.at_one_state(|reader| reader.stats(Lines::default()))?;
    let text = render::stats::block(&stats, render::stats::Reader::Person, now);
    world.say(painted(world.paint, &text))?;
    if args.is_files {
        let files = render::files::block(&reader.files()?);
        world.say(painted(world.paint, &files))?;
    }
    if args.is_tree {
        let tree = tree(&reader, depth, Output::Text)?;
        let text = if tree.text == "empty tree" { "No nodes in database." } else { &tree.text };
        let text = format!("=== Node Tree ===\n{}\n", text.trim_end_matches('\n'));
        world.say(painted(world.paint, &text))?;
    }
    Ok(Outcome::Done)
}

/// The whole tree: a person can page, and has no budget of tokens.
fn tree(reader: &Reader, depth: u32, output: Output) -> Result<query::Answer, QueryError> {
    let ask = query::Tree { root: None, levels: depth, budget: Some(u32::MAX) };
    query::tree(reader, &ask, output)
}

fn as_json(
    reader: &Reader,
    args: &Inspect,
    depth: u32,
    now: crate::model::clock::Millis,
) -> Result<Value, QueryError> {
    let mut json = query::stats(reader, Lines::default(), now, Output::Structured)?.structured;
    if args.is_files {
        json["files"] = reader.files()?.iter().map(file_json).collect();
    }
    if args.is_tree {
        json["tree"] = tree(reader, depth, Output::Structured)?.structured["nodes"].take();
    }
    Ok(json)
}

fn file_json(file: &FileSummary) -> Value {
    let FileSummary { root, path, n_nodes, tokens, error } = file;
    json!({"root": root, "path": path, "nodes": n_nodes, "tokens": tokens, "error": error})
}

/// Headers in colour, facts in brackets dimmed, the types of nodes told apart.
fn painted(paint: super::color::Paint, text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let body = line.trim_end_matches('\n');
        if body.starts_with("===") {
            out.push_str(&paint.paint(Role::Header, body));
        } else {
            out.push_str(&painted_line(paint, body));
        }
        out.push_str(&line[body.len()..]);
    }
    out
}

fn painted_line(paint: super::color::Paint, line: &str) -> String {
    let (indent, rest) = line.split_at(line.len() - line.trim_start().len());
    let (node_type, rest) = match rest.find("] ").filter(|_| rest.starts_with('[')) {
        Some(end) => rest.split_at(end + 1),
        None => ("", rest),
    };
    let (label, facts) = match rest.rfind(" (").filter(|_| rest.ends_with(')')) {
        Some(start) => rest.split_at(start),
        None => (rest, ""),
    };
    let node_type = match node_type {
        "" => String::new(),
        it => paint.paint(Role::Type, it),
    };
    let facts = match facts {
        "" => String::new(),
        it => paint.paint(Role::Dim, it),
    };
    format!("{indent}{node_type}{label}{facts}")
}
