//! `make demo`: compiles the manual into a database, then talks to it as an agent does, over MCP on
//! the standard streams of a real process.
//!
//! Usage: `demo PATH-OF-REMINDB FOLDER`

use std::error::Error;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args_os().skip(1).map(PathBuf::from);
    let (Some(program), Some(folder)) = (args.next(), args.next()) else {
        return Err("usage: demo PATH-OF-REMINDB FOLDER".into());
    };
    let program = program.canonicalize()?;
    let db = std::env::temp_dir().join(format!("remindb-demo-{}.db", std::process::id()));
    let result = demo(&program, &folder, &db);
    for ending in ["", "-wal", "-shm"] {
        let mut file = db.clone().into_os_string();
        file.push(ending);
        let _ = std::fs::remove_file(file);
    }
    result
}

fn demo(program: &Path, folder: &Path, db: &Path) -> Result<(), Box<dyn Error>> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "$ remindb compile {} --db memory.db", folder.display())?;
    let compiled = Command::new(program).arg("compile").arg(folder).arg("--db").arg(db).output()?;
    if !compiled.status.success() {
        return Err(String::from_utf8_lossy(&compiled.stderr).into_owned().into());
    }
    writeln!(out, "{}", String::from_utf8_lossy(&compiled.stdout))?;

    let mut agent = Agent::start(program, db)?;
    writeln!(out, "$ remindb serve --db memory.db        # and an agent says:\n")?;
    let hello = agent.ask(
        "initialize",
        json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "demo", "version": "1"},
        }),
    )?;
    let server = &hello["serverInfo"];
    writeln!(out, "initialize → {} {}\n", text_of(&server["name"]), text_of(&server["version"]))?;
    agent.tell("notifications/initialized")?;

    let tree = agent.call("MemoryTree", json!({"depth": 2, "budget": 400}))?;
    writeln!(out, "MemoryTree {{depth: 2, budget: 400}}\n{}\n", indent(&tree.text))?;

    let query = "what survives when a file is renamed?";
    let hits = agent.call("MemorySearch", json!({"query": query, "budget": 300}))?;
    writeln!(out, "MemorySearch {{query: \"{query}\", budget: 300}}\n{}\n", indent(&hits.text))?;

    let best = hits.structured["hits"].as_array().and_then(|it| it.first()).cloned();
    let anchor = best.map(|it| text_of(&it["id"])).ok_or("the search found nothing")?;
    let fetched = agent.call("MemoryFetch", json!({"anchor": anchor, "budget": 400}))?;
    writeln!(
        out,
        "MemoryFetch {{anchor: \"{anchor}\", budget: 400}}\n{}\n",
        indent(&fetched.text)
    )?;
    agent.stop()?;

    let settings = json!({"mcpServers": {"remindb": {
        "command": program,
        "args": ["serve", "--db", std::env::current_dir()?.join("memory.db"),
                 "--source", folder.canonicalize()?],
    }}});
    writeln!(out, "Paste this into your agent's MCP settings:\n{settings:#}")?;
    Ok(())
}

/// A client on the other end of the pipes.
struct Agent {
    process: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    next_id: u64,
}

struct Answer {
    text: String,
    structured: Value,
}

impl Agent {
    fn start(program: &Path, db: &Path) -> Result<Agent, Box<dyn Error>> {
        let mut process = Command::new(program)
            .args(["serve", "--db"])
            .arg(db)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let to = process.stdin.take().ok_or("the server has no stdin")?;
        let from = BufReader::new(process.stdout.take().ok_or("the server has no stdout")?);
        Ok(Agent { process, to, from, next_id: 1 })
    }

    fn tell(&mut self, method: &str) -> Result<(), Box<dyn Error>> {
        writeln!(self.to, "{}", json!({"jsonrpc": "2.0", "method": method}))?;
        Ok(())
    }

    fn ask(&mut self, method: &str, params: Value) -> Result<Value, Box<dyn Error>> {
        let id = self.next_id;
        self.next_id += 1;
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        writeln!(self.to, "{request}")?;
        loop {
            let mut line = String::new();
            if self.from.read_line(&mut line)? == 0 {
                return Err("the server ended early".into());
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

    fn call(&mut self, tool: &str, arguments: Value) -> Result<Answer, Box<dyn Error>> {
        let result = self.ask("tools/call", json!({"name": tool, "arguments": arguments}))?;
        let text = text_of(&result["content"][0]["text"]);
        if result["isError"] == json!(true) {
            return Err(text.into());
        }
        Ok(Answer { text, structured: result["structuredContent"].clone() })
    }

    fn stop(mut self) -> Result<(), Box<dyn Error>> {
        drop(self.to);
        let status = self.process.wait()?;
        if status.success() {
            Ok(())
        } else {
            Err(format!("the server ended with {status}").into())
        }
    }
}

fn text_of(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn indent(text: &str) -> String {
    text.trim_end().lines().map(|line| format!("    {line}")).collect::<Vec<_>>().join("\n")
}
