//! The rules of the house, as tests: who may import whom, how long a file may be, how it opens.

use std::fs;
use std::path::{Path, PathBuf};

/// Modules by row; a module imports from its own row and those above.
const LAYERS: &[(&str, &[&str])] = &[
    ("values", &["clock", "text", "grams", "tokens", "tree"]),
    (
        "pure",
        &[
            "nearest",
            "uri",
            "parse",
            "redact",
            "identity",
            "fingerprint",
            "ranks",
            "trail",
            "heat",
            "due",
            "config",
            "patterns",
            "seeds",
            "links",
            "ring",
            "sessions",
        ],
    ),
    ("store", &["store", "journal"]),
    ("use cases", &["scan", "workspace", "compile", "query", "render", "rollback", "memory"]),
    ("protocol", &["rpc", "mcp"]),
    ("shell", &["serve", "cli", "lib", "main", "fuzzing", "conformance"]),
];

/// What only some modules may name.
const RESERVED: &[(&str, &[&str])] = &[
    ("rusqlite", &["store"]),
    ("std::fs", &["scan", "store", "journal", "serve", "cli"]),
    ("std::net", &["serve"]),
    ("std::thread", &["scan", "store", "serve", "cli"]),
    ("std::env", &["cli", "main", "lib"]),
    ("SystemTime", &["clock"]),
];

/// What whoever watches is made of, from the rows of the table down to the connections.
const PASSIVE: &[&str] = &[
    "mcp/resources.rs",
    "mcp/resources/process.rs",
    "memory/observer.rs",
    "query/observe.rs",
    "query/observe/graph.rs",
    "query/observe/nodes.rs",
    "query/observe/snapshots.rs",
    "store/reader.rs",
    "store/reader/edges.rs",
    "store/reader/found.rs",
    "store/reader/history.rs",
    "store/reader/pulse.rs",
    "store/reader/summary.rs",
    "store/reader/watching.rs",
    "store/readers.rs",
];

/// What can change something, warm a node, take a lease or keep others waiting.
const ACTIVE: &[&str] = &[
    "Writer",
    "Batch",
    "Warmer",
    "Leases",
    "Memory",
    "LiveRates",
    "open_writer",
    "open_existing",
    "open_beside",
    "heal",
    "mend",
    "execute",
    "advance",
    "SAVEPOINT",
    "INSERT",
    "UPDATE",
    "DELETE",
];

const FILE_LINES_MAX: usize = 500;
const LINE_CHARS_MAX: usize = 100;

struct Source {
    path: PathBuf,
    /// First segment below `src`, without the ending.
    module: String,
    text: String,
}

fn sources() -> Vec<Source> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut folders = vec![src.clone()];
    let mut sources = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|it| it == "rs") {
                let below = path.strip_prefix(&src).unwrap().to_str().unwrap().to_owned();
                let first = below.split(['/', '\\']).next().unwrap();
                let module = first.trim_end_matches(".rs").to_owned();
                let text = fs::read_to_string(&path).unwrap();
                sources.push(Source { path: below.into(), module, text });
            }
        }
    }
    sources.sort_by(|a, b| a.path.cmp(&b.path));
    sources
}

impl Source {
    fn is_test(&self) -> bool {
        self.path.iter().any(|it| it == "tests" || it == "tests.rs")
    }

    /// The text up to the tests inside it.
    fn code(&self) -> &str {
        let end = self.text.find("#[cfg(test)]\nmod tests {").unwrap_or(self.text.len());
        &self.text[..end]
    }

    /// Modules of this crate that the code names, with the line.
    fn imports(&self) -> Vec<(usize, String)> {
        let mut found = Vec::new();
        for (line, number) in self.code().lines().zip(1..) {
            for (at, _) in line.match_indices("crate::") {
                if line[..at].ends_with("pub(in ") || line.trim_start().starts_with("//") {
                    continue;
                }
                let rest = &line[at + "crate::".len()..];
                let name: String =
                    rest.chars().take_while(|it| it.is_alphanumeric() || *it == '_').collect();
                found.push((number, name));
            }
        }
        found
    }
}

fn row_of(module: &str) -> Option<usize> {
    LAYERS.iter().position(|(_, modules)| modules.contains(&module))
}

#[track_caller]
fn none(complaints: Vec<String>) {
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}

#[test]
fn modules_import_only_from_rows_above() {
    let mut complaints = Vec::new();
    for source in sources().iter().filter(|it| !it.is_test()) {
        let path = source.path.display();
        let Some(row) = row_of(&source.module) else {
            complaints.push(format!("{path}: `{}` has no row in LAYERS", source.module));
            continue;
        };
        for (line, name) in source.imports() {
            let is_below = row_of(&name).is_some_and(|it| row < it);
            if is_below && source.module != "lib" {
                let (row, below) = (LAYERS[row].0, name);
                complaints.push(format!("{path}:{line}: {row} must not import `{below}`"));
            }
        }
    }
    none(complaints);
}

#[test]
fn what_is_reserved_is_named_only_where_it_may_be() {
    let mut complaints = Vec::new();
    for source in sources().iter().filter(|it| !it.is_test()) {
        for (name, modules) in RESERVED {
            let is_allowed = modules.contains(&source.module.as_str());
            for (line, number) in source.code().lines().zip(1..) {
                let is_comment = line.trim_start().starts_with("//");
                if !is_allowed && !is_comment && line.contains(name) {
                    let path = source.path.display();
                    complaints.push(format!("{path}:{number}: `{name}` is for {modules:?}"));
                }
            }
        }
    }
    none(complaints);
}

#[test]
fn whoever_watches_can_name_nothing_that_changes_anything() {
    let sources = sources();
    let mut complaints = Vec::new();
    for path in PASSIVE {
        let Some(source) = sources.iter().find(|it| it.path == Path::new(path)) else {
            complaints.push(format!("{path}: is gone; name what took its place"));
            continue;
        };
        for (line, number) in source.code().lines().zip(1..) {
            let words = line.split(|it: char| !it.is_alphanumeric() && it != '_');
            let is_comment = line.trim_start().starts_with("//");
            for word in words.filter(|it| !is_comment && ACTIVE.contains(it)) {
                complaints.push(format!("{path}:{number}: `{word}` is not for those who watch"));
            }
        }
    }
    none(complaints);
}

#[test]
fn files_open_with_what_they_promise() {
    let sources = sources();
    let silent = sources.iter().filter(|it| !it.is_test() && !it.text.starts_with("//! "));
    none(silent.map(|it| format!("{}: no `//!` header", it.path.display())).collect());
}

#[test]
fn files_and_lines_stay_short() {
    let mut complaints = Vec::new();
    for source in sources().iter().filter(|it| !it.is_test()) {
        let path = source.path.display();
        let n_lines = source.code().lines().count();
        if FILE_LINES_MAX < n_lines {
            complaints.push(format!("{path}: {n_lines} lines; does it hold two things?"));
        }
        for (line, number) in source.code().lines().zip(1..) {
            if LINE_CHARS_MAX < line.chars().count() {
                complaints.push(format!("{path}:{number}: longer than {LINE_CHARS_MAX} columns"));
            }
        }
    }
    none(complaints);
}

#[test]
fn help_names_every_flag_in_80_columns() {
    let help = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/cli/help");
    let table = fs::read_to_string(help.join("../args.rs")).unwrap();
    let mut complaints = Vec::new();
    for entry in fs::read_dir(&help).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let text = fs::read_to_string(&path).unwrap();
        for line in text.lines().filter(|it| 80 < it.chars().count()) {
            complaints.push(format!("{name}: too wide: {line}"));
        }
        let row = table.split("Row {").find(|it| it.contains(&format!("name: \"{name}\"")));
        let flags = row.and_then(|it| it.split_once("&[")).map_or("", |(_, rest)| rest);
        let flags = flags.split_once(']').map_or("", |(flags, _)| flags);
        for flag in flags.split('"').skip(1).step_by(2).filter(|it| *it != "help") {
            if !text.contains(&format!("--{flag}")) {
                complaints.push(format!("{name}: `--{flag}` is not explained"));
            }
        }
    }
    none(complaints);
}
