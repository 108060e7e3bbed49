//! A server of the page over a folder of its own, and its plain client.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

/// Longer than any line or answer of the server should take.
const WAIT: Duration = Duration::from_secs(60);

/// A folder of notes with the memory that they make.
pub(crate) struct Notes(TempDir);

impl Notes {
    /// Makes a folder of these files, and compiles it; without files the memory is empty.
    pub(crate) fn new(files: &[(&str, &str)]) -> Notes {
        let notes = Notes(tempfile::Builder::new().prefix("remindb-page-").tempdir().unwrap());
        fs::create_dir(notes.path("notes")).unwrap();
        for (path, text) in files {
            let path = notes.path("notes").join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        notes.run(&["compile", "notes", "--db", "memory.db"]);
        notes
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_remindb"));
        command.args(args).current_dir(self.0.path());
        for name in ["REMINDB_DB", "REMINDB_SOURCE", "REMINDB_TOKEN", "REMINDB_LISTEN"] {
            command.env_remove(name);
        }
        for name in ["SSH_CONNECTION", "REMINDB_TRANSPORT", "REMINDB_RESCAN_INTERVAL"] {
            command.env_remove(name);
        }
        command.env("XDG_DATA_HOME", self.path(".data"));
        command.env("XDG_CONFIG_HOME", self.path(".settings"));
        command
    }

    /// Runs the program in another process, to its end.
    #[track_caller]
    pub(crate) fn run(&self, args: &[&str]) -> String {
        let ran = self.command(args).stdin(Stdio::null()).output().unwrap();
        let errors = String::from_utf8_lossy(&ran.stderr);
        assert!(ran.status.success(), "{args:?}: {errors}");
        String::from_utf8(ran.stdout).unwrap()
    }
}

/// `remindb serve` or `remindb view`; it ends when this is dropped.
pub(crate) struct Server {
    child: Child,
    lines: Receiver<String>,
    /// Where it listens, such as `http://127.0.0.1:40021`.
    pub(crate) origin: String,
    pub(crate) token: Option<String>,
}

impl Server {
    /// Serves with tools at any port that is free.
    pub(crate) fn new(notes: &Notes) -> Server {
        Server::at(notes, "127.0.0.1:0", &[])
    }

    pub(crate) fn at(notes: &Notes, listen: &str, more: &[&str]) -> Server {
        let args = ["serve", "--db", "memory.db", "--transport", "http", "--listen", listen];
        let mut command = notes.command(&[args.as_slice(), more].concat());
        let mut child = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let lines = lines_of(child.stderr.take().unwrap());
        let origin = loop {
            let line = lines.recv_timeout(WAIT).unwrap();
            if let Some(url) = line.strip_prefix("listening on ") {
                break url.trim_end_matches("/mcp").to_owned();
            }
        };
        Server { child, lines, origin, token: None }
    }

    /// Shows the memory alone, and returns the link that works once.
    pub(crate) fn view(notes: &Notes) -> (Server, String) {
        let mut command = notes.command(&["view", "--no-open", "--db", "memory.db"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let lines = lines_of(child.stdout.take().unwrap());
        let link = lines.recv_timeout(WAIT).unwrap();
        let origin = link.split("/#").next().unwrap().to_owned();
        (Server { child, lines, origin, token: None }, link)
    }

    /// Presses Enter in the terminal, and returns the next link.
    pub(crate) fn next_link(&mut self) -> String {
        self.child.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
        self.lines.recv_timeout(WAIT).unwrap()
    }

    pub(crate) fn page(&self, at: &str) -> String {
        format!("{}/#{at}", self.origin)
    }

    /// Asks as an agent would, and returns the result.
    #[track_caller]
    pub(crate) fn ask(&self, method: &str, name: &str, mut params: Value) -> Value {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "claude-code", "version": "2.1"},
        });
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let (body, host) = (body.to_string(), self.origin.trim_start_matches("http://"));
        let token = self.token.as_ref().map(|it| format!("Authorization: Bearer {it}\r\n"));
        let mut stream = TcpStream::connect(host).unwrap();
        stream.set_read_timeout(Some(WAIT)).unwrap();
        let request = format!(
            "POST /mcp HTTP/1.0\r\nHost: {host}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n\
             Mcp-Method: {method}\r\nMcp-Name: {name}\r\n{}Content-Length: {}\r\n\r\n{body}",
            token.unwrap_or_default(),
            body.len()
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let json = answer.split_once("\r\n\r\n").unwrap().1;
        let data = json.lines().rev().find_map(|it| it.strip_prefix("data:"));
        let answer: Value = serde_json::from_str(data.unwrap_or(json)).expect(&answer);
        assert!(answer.get("error").is_none(), "{answer}");
        answer["result"].clone()
    }

    /// Calls a tool, and returns its text.
    #[track_caller]
    pub(crate) fn call(&self, tool: &str, arguments: Value) -> String {
        let result = self.ask("tools/call", tool, json!({"name": tool, "arguments": arguments}));
        assert_ne!(result["isError"], true, "{result}");
        result["content"][0]["text"].as_str().unwrap().to_owned()
    }

    #[track_caller]
    pub(crate) fn read(&self, uri: &str) -> Value {
        let result = self.ask("resources/read", uri, json!({"uri": uri}));
        serde_json::from_str(result["contents"][0]["text"].as_str().unwrap()).unwrap()
    }

    /// Returns the id of the first node with a label.
    #[track_caller]
    pub(crate) fn id(&self, label: &str) -> String {
        fn find(nodes: &Value, label: &str) -> Option<String> {
            nodes.as_array()?.iter().find_map(|it| match it["label"] == label {
                true => it["id"].as_str().map(str::to_owned),
                false => find(&it["children"], label),
            })
        }
        let tree = self.read("remindb://tree");
        find(&tree["roots"], label).unwrap_or_else(|| panic!("no `{label}`: {tree}"))
    }

    /// Ends the server in order.
    pub(crate) fn stop(mut self) {
        let pid = self.child.id().to_string();
        Command::new("kill").args(["-TERM", &pid]).status().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn lines_of(stream: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, lines) = channel();
    super::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            // The stream is read to its end, though nobody may want the line any more.
            let _ = sender.send(line);
        }
    });
    lines
}
