//! Compares the README and the manual with the program.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

/// Returns the tools that a real server lists.
fn listed() -> Vec<Value> {
    let folder = tempfile::tempdir().unwrap();
    let mut server = Command::new(env!("CARGO_BIN_EXE_remindb"))
        .args(["serve", "--db"])
        .arg(folder.path().join("memory.db"))
        .arg("--source")
        .arg(folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }}});
    writeln!(server.stdin.take().unwrap(), "{request}").unwrap();
    let output = server.wait_with_output().unwrap();
    let reply: Value = serde_json::from_slice(&output.stdout).unwrap();
    reply["result"]["tools"].as_array().unwrap().clone()
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
fn the_readme_has_a_row_for_each_tool() {
    let readme = text("README.md");
    let told: Vec<String> = readme
        .lines()
        .filter(|line| line.starts_with("| `Memory"))
        .map(|line| line.split('|').map(str::trim).collect::<Vec<_>>()[1..3].join(" | "))
        .map(|row| row.trim_end().to_owned())
        .collect();
    let listed: Vec<String> = listed().iter().map(row).collect();
    assert_eq!(told, listed);
}

#[test]
fn the_manual_has_each_tool_with_each_parameter() {
    let manual = text("docs/tools.md");
    for tool in listed() {
        let name = tool["name"].as_str().unwrap();
        let (_, rest) = manual.split_once(&format!("\n## {name}\n")).expect(name);
        let section = rest.split("\n## ").next().unwrap();
        let told: Vec<&str> = section
            .lines()
            .filter_map(|line| line.strip_prefix("| `")?.split_once('`'))
            .map(|(parameter, _)| parameter)
            .collect();
        let properties = tool["inputSchema"]["properties"].as_object().unwrap();
        assert_eq!(told, properties.keys().collect::<Vec<_>>(), "{name}");
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
