//! Plays an agent for `make demo`: compiles the manual, then calls tools over MCP.
//!
//! The server is a real process, reached over its standard streams.
//!
//! Usage: `demo PATH-OF-REMINDB FOLDER`

use std::error::Error;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio};

use serde_json::{Value, json};

/// Columns of the output; longer lines are wrapped.
const COLUMNS: usize = 80;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("demo: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let mut args = std::env::args_os().skip(1).map(PathBuf::from);
    let (Some(program), Some(folder)) = (args.next(), args.next()) else {
        return Err("usage: demo PATH-OF-REMINDB FOLDER".into());
    };
    let place = tempfile::tempdir()?;
    let db = place.path().join("memory.db");
    let mut out = std::io::stdout().lock();
    demo(&program.canonicalize()?, &folder, &db, &mut out)
}

fn demo(program: &Path, folder: &Path, db: &Path, out: &mut impl Write) -> Result<()> {
    writeln!(out, "$ remindb compile {} --db memory.db", folder.display())?;
    let compiled = Command::new(program).arg("compile").arg(folder).arg("--db").arg(db).output()?;
    if !compiled.status.success() {
        return Err(String::from_utf8_lossy(&compiled.stderr).into());
    }
    writeln!(out, "{}", String::from_utf8_lossy(&compiled.stdout))?;

    writeln!(out, "$ remindb serve --db memory.db")?;
    let mut agent = Agent::start(program, db)?;
    let hello = agent.ask(
        "initialize",
        json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "demo", "version": "1"},
        }),
    )?;
    agent.notify("notifications/initialized")?;
    let server = &hello["serverInfo"];
    let (name, version) = (text_of(&server["name"]), text_of(&server["version"]));
    writeln!(out, "{name} {version} answers over MCP. An agent looks around:\n")?;

    agent.call(out, "MemoryTree", json!({"depth": 1, "budget": 400}))?;
    writeln!(out, "It searches, and reads what it found:\n")?;
    let query = "what survives when a file is renamed?";
    let found = agent.call(out, "MemorySearch", json!({"query": query, "budget": 110}))?;
    let anchor = first_id(&found)?;
    agent.call(out, "MemoryFetch", json!({"anchor": anchor, "budget": 380}))?;
    writeln!(out, "It follows a link:\n")?;
    let query = "cold nodes are announced once, to whoever can hear it";
    let anchor = agent.first_hit(query)?;
    let ask = json!({"anchor": anchor, "direction": "out", "budget": 60});
    agent.call(out, "MemoryRelated", ask)?;
    remember(&mut agent, out)?;
    agent.stop()?;

    writeln!(out, "Paste this into your agent's MCP settings, with your notes as --source:\n")?;
    write_settings(out, program, &folder.canonicalize()?)
}

/// Shows that an agent's text survives a compile, and can be rolled back.
fn remember(agent: &mut Agent, out: &mut impl Write) -> Result<()> {
    writeln!(
        out,
        "It notes what it learned. A compile keeps that, since the file is as it was:\n"
    )?;
    let anchor = agent.first_hit("do not copy the file by hand while a program has it open")?;
    let payload = "Never copy the file by hand. The copy of Monday was broken.";
    agent.call(out, "MemoryWrite", json!({"anchor": anchor, "payload": payload}))?;
    agent.call(out, "MemoryCompile", json!({"path": "."}))?;
    agent.call(out, "MemoryDiff", json!({"from_snapshot_id": 1, "to_snapshot_id": 2}))?;
    writeln!(out, "And takes it back, as a new snapshot:\n")?;
    agent.call(out, "MemoryRollback", json!({"snapshot_id": 1}))?;
    agent.call(out, "MemoryDelta", json!({"since_snapshot": 1}))?;
    Ok(())
}

/// Writes the settings of an MCP client, as JSON with one line for each path.
fn write_settings(out: &mut impl Write, program: &Path, source: &Path) -> Result<()> {
    let memory = std::env::current_dir()?.join("memory.db");
    let quoted = |path: &Path| json!(path.to_string_lossy());
    writeln!(out, "{{\"mcpServers\": {{\"remindb\": {{")?;
    writeln!(out, "  \"command\": {},", quoted(program))?;
    writeln!(out, "  \"args\": [\"serve\",")?;
    writeln!(out, "    \"--db\", {},", quoted(&memory))?;
    writeln!(out, "    \"--source\", {}]", quoted(source))?;
    writeln!(out, "}}}}}}")?;
    Ok(())
}

/// An MCP client of a server process.
struct Agent {
    process: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    next_id: u64,
}

impl Agent {
    fn start(program: &Path, db: &Path) -> Result<Agent> {
        let mut process = Command::new(program)
            .args(["serve", "--db"])
            .arg(db)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let to = process.stdin.take().ok_or("the server has no stdin")?;
        let from = BufReader::new(process.stdout.take().ok_or("the server has no stdout")?);
        Ok(Agent { process, to, from, next_id: 1 })
    }

    fn notify(&mut self, method: &str) -> Result<()> {
        writeln!(self.to, "{}", json!({"jsonrpc": "2.0", "method": method}))?;
        Ok(())
    }

    fn ask(&mut self, method: &str, params: Value) -> Result<Value> {
        let id = self.next_id;
        self.next_id += 1;
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        // A server that has ended gives its reason on stderr, which is better than a broken pipe.
        let _ = writeln!(self.to, "{request}");
        loop {
            let mut line = String::new();
            if self.from.read_line(&mut line)? == 0 {
                return Err(format!("the server ended early:\n{}", self.log()).into());
            }
            let reply: Value = serde_json::from_str(&line)?;
            if reply["id"] == json!(id) {
                return match reply.get("error") {
                    Some(error) => Err(error.to_string().into()),
                    None => Ok(reply["result"].clone()),
                };
            }
        }
    }

    /// Returns the id of a query's first hit, without showing the call.
    fn first_hit(&mut self, query: &str) -> Result<String> {
        let found = self.call(&mut std::io::sink(), "MemorySearch", json!({"query": query}))?;
        first_id(&found)
    }

    /// Calls a tool, shows its text without blank lines, and returns it.
    fn call(&mut self, out: &mut impl Write, tool: &str, arguments: Value) -> Result<String> {
        writeln!(out, "→ {tool} {arguments}")?;
        let result = self.ask("tools/call", json!({"name": tool, "arguments": arguments}))?;
        let text = text_of(&result["content"][0]["text"]);
        if result["isError"] == json!(true) {
            return Err(text.into());
        }
        for line in text.lines().filter(|it| !it.is_empty()) {
            write_wrapped(out, line)?;
        }
        writeln!(out)?;
        Ok(text)
    }

    /// Returns the server's log after its end.
    fn log(&mut self) -> String {
        let mut log = Vec::new();
        if let Some(mut stderr) = self.process.stderr.take() {
            // A part of the log is better than none.
            let _ = stderr.read_to_end(&mut log);
        }
        String::from_utf8_lossy(&log).into_owned()
    }

    fn stop(self) -> Result<()> {
        drop(self.to);
        let ended = self.process.wait_with_output()?;
        match ended.status.success() {
            true => Ok(()),
            false => Err(String::from_utf8_lossy(&ended.stderr).into()),
        }
    }
}

/// Returns the first id in a reply.
fn first_id(text: &str) -> Result<String> {
    let id = text.split_once("(id=").and_then(|(_, rest)| rest.split([' ', ')']).next());
    id.map(str::to_owned).ok_or_else(|| format!("no node in `{text}`").into())
}

fn text_of(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Writes a line of a reply, indented and wrapped.
fn write_wrapped(out: &mut impl Write, line: &str) -> Result<()> {
    let mut indent = "  ";
    let mut rest = line;
    loop {
        let width = COLUMNS - indent.len();
        let Some((end, _)) = rest.char_indices().nth(width) else { break };
        // A first word that is too long for a line is broken.
        let start = rest.len() - rest.trim_start().len();
        let Some(space) = rest[..end + 1].rfind(' ').filter(|it| start < *it) else { break };
        writeln!(out, "{indent}{}", &rest[..space])?;
        rest = rest[space..].trim_start();
        indent = "          ";
    }
    writeln!(out, "{}", format!("{indent}{rest}").trim_end())?;
    Ok(())
}
