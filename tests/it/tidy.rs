//! Tests the house rules: rooms and their order, cycles, reserved names, lengths, headers.
//!
//! Each rule is a function from sources to complaints; `planted` shows that it can fail.

/// Imports between files.
mod imports;
/// Each rule against a source that breaks it.
mod planted;
/// Files, as the rules read them.
mod source;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use imports::Imports;
use source::Source;

/// The rooms below `src/`, in order: a room imports only earlier ones.
const ROOMS: &[&str] = &[
    "text",
    "model",
    "ingest",
    "settings",
    "providers",
    "store",
    "maintenance",
    "query",
    "memory",
    "mcp",
    "surface",
    "server",
    "cli",
    "fuzzing",
];

/// Rooms that import less than their place permits.
const APART: &[(&str, &[&str])] = &[("mcp", &["text", "model"]), ("query", NO_MAINTENANCE)];
const NO_MAINTENANCE: &[&str] = &["text", "model", "ingest", "settings", "store"];

/// Names that only some rooms may use.
const RESERVED: &[(&str, &[&str])] = &[
    ("rusqlite", &["store", "maintenance"]),
    ("std::fs", &["ingest", "store", "maintenance", "server", "cli", "fuzzing"]),
    ("std::net", &["providers", "server"]),
    ("std::thread", &["ingest", "memory", "providers", "store", "server", "cli"]),
    ("std::env", &["cli", "main", "lib", "fuzzing"]),
    ("SystemTime", &["model"]),
];

/// Files that serve resources, from the rows of the table down to the connections.
const PASSIVE: &[&str] = &[
    "surface/resources_only_handler.rs",
    "surface/resources.rs",
    "surface/resources/knowledge.rs",
    "surface/resources/memories.rs",
    "surface/resources/server_state.rs",
    "memory/knowledge/resource_json.rs",
    "memory/knowledge/resource_json/concept_and_entity_details.rs",
    "memory/knowledge/recall/lexical_relevance.rs",
    "memory/typed/collection_resources.rs",
    "memory/typed/custom_views.rs",
    "memory/typed/query.rs",
    "memory/typed/typed_memory.rs",
    "memory/read_only.rs",
    "query/dashboard_documents.rs",
    "query/dashboard_documents/graph.rs",
    "query/dashboard_documents/node_tree.rs",
    "query/dashboard_documents/snapshots.rs",
    "store/reader.rs",
    "store/reader/unarchived_typed_nodes.rs",
    "store/reader/custom_views.rs",
    "store/reader/edges.rs",
    "store/reader/fts_hits.rs",
    "store/reader/knowledge.rs",
    "store/reader/history.rs",
    "store/reader/change_detection_counters.rs",
    "store/reader/stats.rs",
    "store/reader/stats_cache.rs",
    "store/reader/streamed_listings.rs",
    "store/reader/typed_nodes.rs",
    "store/reader_pool.rs",
];

/// Names of functions that change the memory, warm a node, take a lease or block other threads.
const ACTIVE: &[&str] = &[
    "Writer",
    "Batch",
    "HeatWriter",
    "Leases",
    "Memory",
    "LiveRates",
    "open_writer",
    "open_existing",
    "open_beside",
    "repair",
    "repair_failed",
    "execute",
    "advance",
    "SAVEPOINT",
    "INSERT",
    "UPDATE",
    "DELETE",
];

const FILE_LINES_MAX: usize = 500;
const FUNCTION_LINES_MAX: usize = 70;
const LINE_CHARS_MAX: usize = 100;

#[track_caller]
fn check(rule: fn(&[Source]) -> Vec<String>) {
    let complaints = rule(&Source::all());
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}

#[test]
fn rooms_import_only_rooms_above_them() {
    check(upward_imports);
}

fn upward_imports(sources: &[Source]) -> Vec<String> {
    let mut complaints = Vec::new();
    for source in sources.iter().filter(|it| !["lib", "main"].contains(&it.room())) {
        if !ROOMS.contains(&source.room()) {
            complaints.push(format!("{}: `{}` is none of ROOMS", source.path, source.room()));
        }
    }
    let place = |it: &Source| ROOMS.iter().position(|room| *room == it.room());
    for (from, to) in Imports::of(sources).pairs() {
        let (from, to) = (&sources[from], &sources[to]);
        let is_upward = matches!((place(from), place(to)), (Some(a), Some(b)) if a < b);
        let apart = APART.iter().find(|(room, _)| *room == from.room());
        let is_apart = apart.is_some_and(|(room, known)| {
            to.room() != *room && ROOMS.contains(&to.room()) && !known.contains(&to.room())
        });
        if !from.is_test() && (is_upward || is_apart) {
            complaints.push(format!("{} must not import {}", from.path, to.path));
        }
    }
    complaints
}

#[test]
fn no_file_imports_one_that_imports_it() {
    check(circles);
}

fn circles(sources: &[Source]) -> Vec<String> {
    let name = |circle: Vec<usize>| {
        let paths: Vec<&str> = circle.into_iter().map(|it| sources[it].path.as_str()).collect();
        format!("a circle of files: {}", paths.join(", "))
    };
    Imports::of(sources).circles(sources).into_iter().map(name).collect()
}

#[test]
fn reserved_names_stay_in_their_rooms() {
    check(reserved_names);
}

fn reserved_names(sources: &[Source]) -> Vec<String> {
    let mut complaints = Vec::new();
    for source in sources.iter().filter(|it| !it.is_test()) {
        for (name, rooms) in RESERVED.iter().filter(|(_, rooms)| !rooms.contains(&source.room())) {
            let lines = source.code().filter(|(_, line)| line.contains(name));
            complaints.extend(
                lines.map(|(number, _)| {
                    format!("{}:{number}: `{name}` is for {rooms:?}", source.path)
                }),
            );
        }
    }
    complaints
}

#[test]
fn resources_name_nothing_that_changes_anything() {
    check(active_names);
}

fn active_names(sources: &[Source]) -> Vec<String> {
    let mut complaints = Vec::new();
    for path in PASSIVE {
        let Some(source) = sources.iter().find(|it| it.path == *path) else {
            complaints.push(format!("{path}: is gone; name what took its place"));
            continue;
        };
        for (number, line) in source.code() {
            let words = line.split(|it: char| !it.is_alphanumeric() && it != '_');
            for word in words.filter(|it| ACTIVE.contains(it)) {
                complaints.push(format!("{path}:{number}: `{word}` is not for resources"));
            }
        }
    }
    complaints
}

#[test]
fn files_open_with_a_header() {
    check(silent_files);
}

fn silent_files(sources: &[Source]) -> Vec<String> {
    let silent = sources.iter().filter(|it| !it.is_test() && !it.text.starts_with("//! "));
    silent.map(|it| format!("{}: no `//!` header", it.path)).collect()
}

#[test]
fn files_functions_and_lines_stay_short() {
    check(long_ones);
}

fn long_ones(sources: &[Source]) -> Vec<String> {
    let mut complaints = Vec::new();
    for source in sources.iter().filter(|it| !it.is_test()) {
        let path = &source.path;
        let n_lines = source.lines().count();
        if FILE_LINES_MAX < n_lines {
            complaints.push(format!("{path}: {n_lines} lines; does it hold two things?"));
        }
        for (number, line) in source.lines() {
            if LINE_CHARS_MAX < line.chars().count() {
                complaints.push(format!("{path}:{number}: longer than {LINE_CHARS_MAX} columns"));
            }
        }
        for (number, name, n_lines) in source.functions() {
            if FUNCTION_LINES_MAX < n_lines {
                complaints.push(format!("{path}:{number}: `{name}` has {n_lines} lines; split it"));
            }
        }
    }
    complaints
}

#[test]
fn first_sentences_name_the_thing() {
    check(headless_comments);
}

/// Words that begin a clause without a head.
const HEADLESS: &[&str] =
    &["What", "Whatever", "Whoever", "Who", "Whom", "Whose", "Whichever", "Those", "Which", "Why"];

fn headless_comments(sources: &[Source]) -> Vec<String> {
    let mut complaints = Vec::new();
    for source in sources.iter().filter(|it| !it.is_test()) {
        let mut is_first = true;
        for (number, line) in source.lines() {
            let line = line.trim_start();
            let comment = ["//! ", "/// "].iter().find_map(|mark| line.strip_prefix(mark));
            let opener = comment.and_then(|it| it.split([' ', ',']).next()).unwrap_or("");
            let is_headless =
                HEADLESS.contains(&opener) || comment.is_some_and(|it| it.starts_with("The same "));
            if is_first && is_headless {
                let path = &source.path;
                complaints.push(format!("{path}:{number}: `{opener} …` names nothing"));
            }
            is_first = !line.starts_with("//!") && !line.starts_with("///");
        }
    }
    complaints
}

#[test]
fn public_names_are_used_once() {
    check(public_names_used_twice);
}

fn public_names_used_twice(sources: &[Source]) -> Vec<String> {
    let mut places = BTreeMap::<&str, Vec<String>>::new();
    // A fuzz target has the name of what it feeds.
    for source in sources.iter().filter(|it| !it.is_test() && it.room() != "fuzzing") {
        for (number, line) in source.code() {
            let Some(rest) = line.strip_prefix("pub(crate) ").or(line.strip_prefix("pub ")) else {
                continue;
            };
            let mut words = rest.split(|it: char| !it.is_alphanumeric() && it != '_');
            let is_item = |it: &&str| {
                ["fn", "struct", "enum", "trait", "type", "const", "static"].contains(it)
            };
            if words.next().as_ref().is_some_and(is_item)
                && let Some(name) = words.find(|it| !is_item(it))
            {
                places.entry(name).or_default().push(format!("{}:{number}", source.path));
            }
        }
    }
    let twice = places.into_iter().filter(|(_, places)| 1 < places.len());
    twice
        .map(|(name, places)| format!("`{name}` names two things: {}", places.join(", ")))
        .collect()
}

/// Maximum files on a way through the library.
const WAY_FILES_MAX: usize = 15;

#[test]
fn ways_through_are_short_and_visit_each_file_once() {
    check(broken_ways);
}

fn broken_ways(sources: &[Source]) -> Vec<String> {
    let lib = sources.iter().find(|it| it.room() == "lib").map_or("", |it| it.text.as_str());
    let section = lib.split("# Three ways through").nth(1).unwrap_or_default();
    let section = section.split("//! # ").next().unwrap_or_default().replace("//!", "");
    let ways: Vec<(&str, &str)> =
        section.split("\n\n").filter_map(|it| it.split_once(": `")).collect();
    let mut complaints = Vec::new();
    if ways.len() != 3 {
        complaints.push(format!("lib.rs: {} ways instead of three", ways.len()));
    }
    for (name, way) in ways {
        let name = name.trim();
        let files: Vec<&str> = way.split('`').step_by(2).collect();
        for (at, file) in files.iter().enumerate() {
            if !sources.iter().any(|it| it.path == format!("{file}.rs")) {
                complaints.push(format!("{name}: `{file}` is no file"));
            }
            if files[..at].contains(file) {
                complaints.push(format!("{name}: `{file}` is visited twice"));
            }
        }
        if WAY_FILES_MAX < files.len() {
            complaints.push(format!("{name}: {} files are a long way", files.len()));
        }
    }
    complaints
}

#[test]
fn help_names_every_flag_in_80_columns() {
    let help = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/cli/help");
    let parsers = fs::read_to_string(help.join("../args/subcommand_parsers.rs")).unwrap();
    let mut complaints = Vec::new();
    for entry in fs::read_dir(&help).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let text = fs::read_to_string(&path).unwrap();
        for line in text.lines().filter(|it| 80 < it.chars().count()) {
            complaints.push(format!("{name}: too wide: {line}"));
        }
        let parser = parsers.split("\n}\n").find(|it| it.contains(&format!("fn {name}(")));
        let flags = parser.unwrap_or_default().split("Long(\"").skip(1);
        for flag in flags.filter_map(|it| it.split('"').next()) {
            let lines = text.lines().filter(|it| it.starts_with("  -"));
            let mut words = lines.flat_map(str::split_whitespace);
            if !words.any(|it| it.strip_prefix("--") == Some(flag)) {
                complaints.push(format!("{name}: `--{flag}` is not explained"));
            }
        }
    }
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}
