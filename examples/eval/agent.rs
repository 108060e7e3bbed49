//! An MCP client of a real server, reached over its standard streams.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::OnceLock;

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::Result;

/// The folder of settings of the servers, where they are not the user's.
static SETTINGS: OnceLock<PathBuf> = OnceLock::new();

/// Gives the servers a source of vectors.
pub(crate) fn use_embeddings(folder: &Path, command: &str) -> Result<()> {
    let command: Vec<&str> = command.split_whitespace().collect();
    let source = json!({"kind": "command", "command": command, "timeout": "60s"});
    fs::create_dir_all(folder.join("remindb"))?;
    let settings = json!({"providers": {"embeddings": source}}).to_string();
    fs::write(folder.join("remindb/config.json"), settings)?;
    SETTINGS.set(folder.to_owned()).map_err(|_| "--embeddings is given twice")?;
    Ok(())
}

/// A server and the pipes to it.
pub(crate) struct Agent {
    process: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    next_id: u64,
}

/// A reply: all of its text, and the hits in it, best first.
pub(crate) struct Reply {
    pub(crate) text: String,
    pub(crate) hits: Vec<Hit>,
}

/// A hit, parsed from its line.
pub(crate) struct Hit {
    pub(crate) id: String,
    pub(crate) file: String,
    /// The share of the question that it has.
    pub(crate) relevance: f64,
}

impl Agent {
    /// Starts `serve` on a folder and its memory, and shakes hands.
    pub(crate) fn start(program: &Path, notes: &Path, db: &Path) -> Result<Agent> {
        let mut command = Command::new(program);
        if let Some(settings) = SETTINGS.get() {
            command.env("XDG_CONFIG_HOME", settings);
        }
        let mut process = command
            .args(["serve", "--db"])
            .arg(db)
            .arg("--source")
            .arg(notes)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let to = process.stdin.take().ok_or("the server has no stdin")?;
        let from = BufReader::new(process.stdout.take().ok_or("the server has no stdout")?);
        let mut agent = Agent { process, to, from, next_id: 1 };
        agent.ask(
            "initialize",
            json!({
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {"name": "eval", "version": "1"},
            }),
        )?;
        if SETTINGS.get().is_some() {
            agent.wait_for_vectors(db)?;
        }
        Ok(agent)
    }

    /// Asks for statistics until each text has a vector.
    fn wait_for_vectors(&mut self, db: &Path) -> Result<()> {
        const MISSING: &str = "
            SELECT (SELECT count(*) FROM node WHERE content <> '') - (SELECT count(*) FROM vector)";
        let conn = Connection::open(db)?;
        while 0 < conn.query_row(MISSING, [], |row| row.get::<_, i64>(0))? {
            self.ask("tools/call", json!({"name": "MemoryStats", "arguments": {}}))?;
        }
        Ok(())
    }

    /// Calls the search tool.
    pub(crate) fn search(&mut self, arguments: Value) -> Result<Reply> {
        let params = json!({"name": "MemorySearch", "arguments": arguments});
        let result = self.ask("tools/call", params)?;
        let content = result["content"].as_array().into_iter().flatten();
        let texts: Vec<&str> = content.filter_map(|it| it["text"].as_str()).collect();
        let text = texts.join("\n");
        if result["isError"] == json!(true) {
            return Err(text.into());
        }
        let hits = text.lines().filter_map(hit_in).collect();
        Ok(Reply { text, hits })
    }

    fn ask(&mut self, method: &str, params: Value) -> Result<Value> {
        let id = self.next_id;
        self.next_id += 1;
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        writeln!(self.to, "{request}")?;
        loop {
            let mut line = String::new();
            if self.from.read_line(&mut line)? == 0 {
                return Err("the server ended early".into());
            }
            let mut reply: Value = serde_json::from_str(&line)?;
            if reply["id"] == json!(id) {
                return match reply.get("error") {
                    Some(error) => Err(error.to_string().into()),
                    None => Ok(reply["result"].take()),
                };
            }
        }
    }

    /// Ends the server in order.
    pub(crate) fn stop(self) -> Result<()> {
        let Agent { mut process, to, .. } = self;
        drop(to);
        process.wait()?;
        Ok(())
    }
}

/// Parses the hit of a line `[type] label (id=… file=… relevance=… …)`; file names have no spaces here.
fn hit_in(line: &str) -> Option<Hit> {
    let (_, facts) = line.rsplit_once("(id=").filter(|_| line.starts_with('['))?;
    let mut facts = facts.split(' ');
    let id = facts.next()?.to_owned();
    let mut fact = |name: &str| facts.find_map(|it| it.strip_prefix(name)).unwrap_or_default();
    let file = fact("file=").to_owned();
    let relevance = fact("relevance=").parse().unwrap_or(0.0);
    Some(Hit { id, file, relevance })
}
