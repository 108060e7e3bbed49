//! Compares facts of the README and the manual with the program: tools, tables, checks, flags.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

/// A folder with one note and the memory that was compiled from it.
struct Compiled {
    folder: tempfile::TempDir,
}

impl Compiled {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("notes")).unwrap();
        fs::write(folder.path().join("notes/a.md"), "# A\n\nText.\n").unwrap();
        let compiled = Self { folder };
        compiled.run(&["compile", "notes"]);
        compiled
    }

    fn database(&self) -> PathBuf {
        self.folder.path().join("memory.db")
    }

    fn run(&self, args: &[&str]) -> String {
        let output = Command::new(env!("CARGO_BIN_EXE_remindb"))
            .args(args)
            .args(["--db", "memory.db"])
            .current_dir(self.folder.path())
            .output()
            .unwrap();
        assert!(output.status.success(), "{args:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }
}

/// Returns the help of a command, or of the program for an empty name.
fn help(command: &str) -> String {
    let words = ["help", command];
    let words = words.iter().filter(|it| !it.is_empty());
    let output = Command::new(env!("CARGO_BIN_EXE_remindb")).args(words).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// Returns the rows that a real server lists for `method`, below `key` of its result.
fn listed_by(flags: &[&str], method: &str, key: &str) -> Vec<Value> {
    let folder = tempfile::tempdir().unwrap();
    let mut server = Command::new(env!("CARGO_BIN_EXE_remindb"))
        .args(["serve", "--db"])
        .arg(folder.path().join("memory.db"))
        .arg("--source")
        .arg(folder.path())
        .args(flags)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": {"_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }}});
    writeln!(server.stdin.take().unwrap(), "{request}").unwrap();
    let output = server.wait_with_output().unwrap();
    let reply: Value = serde_json::from_slice(&output.stdout).unwrap();
    reply["result"][key].as_array().unwrap().clone()
}

/// Returns the tools that a real server lists.
fn listed() -> Vec<Value> {
    listed_by(&[], "tools/list", "tools")
}

/// Returns a page as one line, so that a wrapped sentence can be found.
fn unwrapped(path: &str) -> String {
    text(path).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the text of a manual's section, up to the next heading.
fn section<'a>(page: &'a str, heading: &str) -> &'a str {
    let (_, rest) = page.split_once(&format!("\n## {heading}\n")).expect(heading);
    rest.split("\n## ").next().unwrap()
}

/// Returns the first code span of each table row that begins with one.
fn rows(section: &str) -> Vec<&str> {
    let spans = section.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`'));
    spans.map(|(span, _)| span).collect()
}

/// Returns the long flags that a text names.
fn flags(lines: impl Iterator<Item = impl AsRef<str>>) -> BTreeSet<String> {
    let mut flags = BTreeSet::new();
    for line in lines {
        let words = line.as_ref().split(|it: char| !it.is_ascii_alphanumeric() && it != '-');
        flags.extend(words.filter(|it| it.starts_with("--")).map(str::to_owned));
    }
    flags
}

/// Returns a tool's row of the table: `` `MemoryFetch` | `anchor`, `budget?`, `depth?` ``.
fn row(tool: &Value) -> String {
    let schema = &tool["inputSchema"];
    let is_required =
        |name: &str| schema["required"].as_array().is_some_and(|it| it.contains(&json!(name)));
    let parameters: Vec<String> = schema["properties"]
        .as_object()
        .unwrap()
        .keys()
        .map(|name| format!("`{name}{}`", if is_required(name) { "" } else { "?" }))
        .collect();
    let name = tool["name"].as_str().unwrap();
    format!("`{name}` | {}", parameters.join(", ")).trim_end().to_owned()
}

fn text(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

#[test]
fn the_first_commands_of_the_readme_answer_as_it_shows() {
    let readme = text("README.md");
    let block = |after: &str, kind: &str| {
        let (_, rest) = readme.split_once(after).expect(after);
        let (_, rest) = rest.split_once(&format!("```{kind}\n")).expect(kind);
        rest.split("\n```").next().unwrap().to_owned()
    };
    let program = Path::new(env!("CARGO_BIN_EXE_remindb")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap_or_default());
    let run = |folder: &Path, home: &str, script: &str| {
        let mut bash = Command::new("bash");
        bash.args(["-c", script]).current_dir(folder).env("PATH", &path);
        bash.env_remove("XDG_DATA_HOME").env_remove("REMINDB_DB").env_remove("MEMORY_DIR");
        let output = bash.env("HOME", folder.join(home)).output().unwrap();
        assert!(output.status.success(), "{script}: {output:?}");
        let said = [output.stderr, output.stdout].concat();
        String::from_utf8(said).unwrap()
    };
    let notes = block("Two notes to begin with:", "sh");
    let shown = block("Two notes to begin with:", "text");
    // Typed in any folder, and in the home itself.
    for home in ["home", ""] {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path().canonicalize().unwrap();
        run(&folder, home, &notes);
        for part in shown.split("$ ").skip(1).filter(|it| !it.contains("setup")) {
            let (command, expected) = part.split_once('\n').unwrap();
            let said = run(&folder, home, command);
            assert_eq!(said.trim_end(), expected.trim_end(), "{command}, home: `{home}`");
        }
    }
}

#[test]
fn the_readme_has_a_row_for_each_tool() {
    let readme = text("README.md");
    let written: Vec<String> = readme
        .lines()
        .filter(|line| line.starts_with("| `Memory"))
        .map(|line| line.split('|').map(str::trim).collect::<Vec<_>>()[1..3].join(" | "))
        .map(|row| row.trim_end().to_owned())
        .collect();
    let listed: Vec<String> = listed().iter().map(row).collect();
    assert_eq!(written, listed);
}

#[test]
fn the_manual_has_each_tool_with_each_parameter() {
    let manual = text("docs/tools.md");
    for tool in listed() {
        let name = tool["name"].as_str().unwrap();
        let written = rows(section(&manual, name));
        let properties = tool["inputSchema"]["properties"].as_object().unwrap();
        assert_eq!(written, properties.keys().collect::<Vec<_>>(), "{name}");
    }
}

#[test]
fn the_manual_has_each_tool_of_remind_with_each_parameter() {
    let manual = text("docs/knowledge.md");
    let rows = section(&manual, "The same by other names").lines().filter(|it| it.starts_with('|'));
    let rows: Vec<&str> = rows.collect();
    for tool in listed_by(&["--tools", "remind"], "tools/list", "tools") {
        let name = tool["name"].as_str().unwrap();
        let is_of_tool = |it: &&str| it.split('|').nth(1).unwrap().contains(&format!("`{name}`"));
        let row = rows.iter().copied().find(is_of_tool).expect(name);
        for parameter in tool["inputSchema"]["properties"].as_object().unwrap().keys() {
            assert!(row.contains(&format!("`{parameter}`")), "{name}: {parameter}");
        }
    }
}

#[test]
fn the_manual_compiles_without_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let compiled = Command::new(env!("CARGO_BIN_EXE_remindb"))
        .arg("compile")
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs"))
        .arg("--db")
        .arg(folder.path().join("memory.db"))
        .output()
        .unwrap();
    assert!(compiled.status.success());
    assert_eq!(String::from_utf8(compiled.stderr).unwrap(), "");
}

#[test]
fn the_manual_has_the_present_schema() {
    let memory = Compiled::new();
    let conn = rusqlite::Connection::open(memory.database()).unwrap();
    let version: i64 = conn.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    let manual = text("docs/database.md");
    let sentences = unwrapped("docs/database.md");
    for fact in [
        format!("the schema's version, now {version}."),
        format!("has schema {}, newer than {version}, the newest", version + 1),
        format!("{version}/{version} migrations applied"),
    ] {
        assert!(sentences.contains(&fact), "{fact}");
    }
    let export = format!(r#"{{"remindb":"export","format":1,"schema":{version},"#);
    assert!(text("docs/moving.md").contains(&export), "{export}");
    assert!(memory.run(&["export"]).starts_with(&export), "{export}");

    let mut tables = conn
        .prepare(
            "SELECT name FROM sqlite_schema
              WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'node_fts_%'
              ORDER BY name",
        )
        .unwrap();
    let tables: Vec<String> =
        tables.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    let mut written = rows(section(&manual, "Tables"));
    written.sort_unstable();
    assert_eq!(written, tables);
}

#[test]
fn the_manual_has_each_check_of_the_doctor() {
    let report: Value = serde_json::from_str(&Compiled::new().run(&["doctor", "--json"])).unwrap();
    let checks: Vec<&str> = report["checks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["name"].as_str().unwrap())
        .collect();
    assert_eq!(rows(section(&text("docs/database.md"), "Doctor")), checks);
    let manual = text("docs/moving.md");
    let repairs: BTreeSet<&str> = rows(section(&manual, "Doctor")).into_iter().collect();
    assert_eq!(repairs, checks.into_iter().collect());
}

#[test]
fn the_manual_has_each_resource() {
    let mut listed: Vec<String> = Vec::new();
    for (method, list, key) in [
        ("resources/list", "resources", "uri"),
        ("resources/templates/list", "resourceTemplates", "uriTemplate"),
    ] {
        let rows = listed_by(&[], method, list);
        listed.extend(rows.iter().map(|it| it[key].as_str().unwrap().to_owned()));
    }
    listed.sort_unstable();
    let manual = text("docs/resources.md");
    let mut written: Vec<&str> = rows(manual.split("\n## ").next().unwrap());
    written.sort_unstable();
    assert_eq!(written, listed);
    assert_eq!(listed.len(), 54, "CHANGELOG.md counts them");
}

#[test]
fn the_manual_has_each_core_tool_and_prompt() {
    let manual = text("docs/mcp.md");
    let core = listed_by(&["--tools", "core"], "tools/list", "tools");
    let core: Vec<String> =
        core.iter().map(|it| format!("`{}`", it["name"].as_str().unwrap())).collect();
    let fewer = section(&manual, "Fewer tools");
    let written: Vec<String> = fewer
        .split('`')
        .filter(|it| it.starts_with("Memory"))
        .map(|it| format!("`{it}`"))
        .collect();
    assert_eq!(written, core);
    let prompts = listed_by(&[], "prompts/list", "prompts");
    let prompts: Vec<&str> = prompts.iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert_eq!(rows(section(&manual, "Prompts")), prompts);
    let n_tools = format!("with {} tools", listed().len());
    assert!(unwrapped("CHANGELOG.md").contains(&n_tools), "{n_tools}");
}

#[test]
fn the_manual_has_each_command_with_each_flag() {
    let manual = text("docs/cli.md");
    let program = help("");
    let (_, commands) = program.split_once("\nCommands:\n").unwrap();
    let commands = commands.lines().take_while(|line| !line.is_empty());
    let commands: Vec<&str> = commands.map(|it| it.split_whitespace().next().unwrap()).collect();
    let written = rows(manual.split("\n## ").next().unwrap());
    let written: Vec<&str> =
        written.iter().map(|it| it.split_whitespace().next().unwrap()).collect();
    assert_eq!(written, commands);

    let mut variables = BTreeSet::from(["NO_COLOR".to_owned()]);
    for part in manual.split("\n## ").skip(1) {
        let (heading, text) = part.split_once('\n').unwrap();
        let names: Vec<&str> = heading.split(", ").filter(|it| commands.contains(it)).collect();
        let helps: Vec<String> = names.iter().map(|it| help(it)).collect();
        let lines = helps.iter().flat_map(|it| it.lines());
        for line in lines.clone() {
            let named = line.split("[env: ").nth(1).map(|it| it.split(['=', ',', ']']).next());
            variables.extend(named.flatten().map(str::to_owned));
        }
        let mut known = flags(lines.filter(|it| it.starts_with("  -")).map(|it| {
            let end = it.trim_start().find("  ").map_or(it.len(), |at| at + 2);
            &it[..end]
        }));
        known.remove("--help");
        let rows = text.lines().filter(|it| it.starts_with("| `-"));
        let written = flags(rows.map(|it| it.split('|').nth(1).unwrap()));
        assert_eq!(written, known, "{heading}");
    }
    let written = rows(section(&manual, "Environment variables"));
    assert_eq!(written.into_iter().map(str::to_owned).collect::<BTreeSet<_>>(), variables);
}

#[test]
fn the_glossary_has_at_most_25_words_and_is_that_of_the_crate() {
    let manual = text("docs/start.md");
    let glossary = section(&manual, "Glossary").lines().filter(|it| it.starts_with("| "));
    let of_manual: Vec<&str> = glossary.collect();
    assert!((2..=26).contains(&of_manual.len()));
    let code = text("src/lib.rs");
    let (_, after) = code.split_once("//! # Glossary\n").unwrap();
    let rows = after.lines().map_while(|it| it.strip_prefix("//!")).map(str::trim);
    let of_crate: Vec<&str> = rows.filter(|it| it.starts_with("| ")).collect();
    assert_eq!(of_crate, of_manual);
}

#[test]
fn pages_of_the_manual_name_pages_that_exist() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    let mut n_links = 0;
    for entry in fs::read_dir(&docs).unwrap() {
        let page = entry.unwrap().path();
        if page.is_dir() {
            continue;
        }
        for link in fs::read_to_string(&page).unwrap().split("](").skip(1) {
            let target = link.split([')', '#']).next().unwrap();
            if target.ends_with(".md") && !target.contains('/') {
                assert!(docs.join(target).is_file(), "{}: {target}", page.display());
                n_links += 1;
            }
        }
    }
    assert!(0 < n_links);
}
