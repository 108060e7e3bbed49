//! Shared helpers: a folder of notes, the program run in it, and a client of its server.
//!
//! Nothing here sleeps: every wait is for a line, an end of a stream or an end of a process, and
//! gives up with a message after [`TIMEOUT`].

use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, SystemTime};

use expect_test::Expect;
use rusqlite::{Connection, OpenFlags};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::published::Witness;

/// Longer than any wait should take, however busy the machine is.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(300);

/// A folder that is removed at the end of the test.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Folder {
        Folder(tempfile::Builder::new().prefix("remindb-it-").tempdir().unwrap())
    }

    /// Writes a file, and the folders above it.
    pub(crate) fn file(self, path: &str, content: impl AsRef<[u8]>) -> Folder {
        self.write(path, content);
        self
    }

    pub(crate) fn write(&self, path: impl AsRef<Path>, content: impl AsRef<[u8]>) {
        let full = self.path(path);
        fs::create_dir_all(full.parent().unwrap()).unwrap();
        fs::write(full, content).unwrap();
    }

    /// Returns a folder with the same files.
    pub(crate) fn copy(&self) -> Folder {
        let other = Folder::new();
        for name in self.names() {
            other.write(&name, fs::read(self.path(&name)).unwrap());
        }
        other
    }

    /// Dates a file so many seconds after a fixed day long ago.
    pub(crate) fn date(&self, path: impl AsRef<Path>, seconds: u64) {
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_600_000_000 + seconds);
        fs::File::options().write(true).open(self.path(path)).unwrap().set_modified(time).unwrap();
    }

    pub(crate) fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        self.0.path().canonicalize().unwrap().join(path)
    }

    /// Returns everything in the folder, relative, in order of names.
    pub(crate) fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.0.path())
            .unwrap()
            .map(|it| it.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    /// Returns a command of the program in this folder, without variables that change its
    /// behaviour.
    pub(crate) fn command<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Command {
        // Measurements name a release build.
        let named = std::env::var_os("REMINDB_PROGRAM");
        let program = named.unwrap_or_else(|| env!("CARGO_BIN_EXE_remindb").into());
        let mut command = Command::new(program);
        command.args(args).current_dir(self.0.path()).stdin(Stdio::null());
        let names = [
            "REMINDB_DB",
            "REMINDB_SOURCE",
            "REMINDB_RESCAN_INTERVAL",
            "REMINDB_TRUST_WORKSPACE",
            "REMINDB_TRANSPORT",
            "REMINDB_LISTEN",
            "REMINDB_TOKEN",
            "SSH_CONNECTION",
            "MEMORY_DIR",
            "MAX_CORE_MEMORIES",
            "MAX_LEARNINGS",
            "MAX_TASKS",
            "AUTO_ARCHIVE_LEARNINGS_DAYS",
            "AUTO_ARCHIVE_TASKS_DAYS",
            "ENABLE_AUTO_ARCHIVAL",
            "BACKUP_ENABLED",
            "MAX_BACKUPS",
            "LOG_LEVEL",
            "NO_COLOR",
            "RUST_BACKTRACE",
        ];
        for name in names {
            command.env_remove(name);
        }
        command.env("TZ", "UTC0");
        // Nobody's own memory is in reach of a test.
        command.env("XDG_DATA_HOME", self.0.path().join(".data"));
        // Without settings of the person who runs the tests.
        command.env("XDG_CONFIG_HOME", self.path("settings"));
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Returns a command that runs the program by another one, whose arguments come first.
    pub(crate) fn wrapped(&self, outer: &[&str], args: &[&str]) -> Command {
        let inner = self.command([] as [&str; 0]);
        let mut command = Command::new(outer[0]);
        command.args(&outer[1..]).arg(inner.get_program()).args(args).current_dir(self.path(""));
        for (name, value) in inner.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs the program to its end.
    pub(crate) fn run<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Ran {
        Ran::of(self, &mut self.command(args))
    }

    /// Runs the program, which has to succeed, and returns its output.
    #[track_caller]
    pub(crate) fn ok<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> String {
        let ran = self.run(args);
        assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
        ran.stdout
    }

    /// Runs the commands after `$ ` in a session and compares the outcomes below them.
    #[track_caller]
    pub(crate) fn check_session(&self, session: Expect) {
        let lines = session.data().lines();
        let commands = lines.filter_map(|it| it.trim_start().strip_prefix("$ "));
        let (mut text, mut last) = (String::new(), String::new());
        for command in commands {
            let outcome = self.run(command.split_whitespace()).transcript();
            if outcome != last {
                text += &std::mem::replace(&mut last, outcome);
            }
            text += &format!("$ {command}\n");
        }
        session.assert_eq(&(text + &last));
    }

    /// Opens the database for inspection and preparation; the program must not be running.
    pub(crate) fn database(&self, path: &str) -> Connection {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        Connection::open_with_flags(self.path(path), flags).unwrap()
    }

    /// Returns the facts that `inspect --json` prints.
    #[track_caller]
    pub(crate) fn facts(&self, db: &str) -> Value {
        serde_json::from_str(&self.ok(["inspect", "--json", "--db", db])).unwrap()
    }

    /// Asserts that the doctor finds nothing.
    #[track_caller]
    pub(crate) fn assert_healthy(&self, db: &str) {
        let verdict = self.ok(["doctor", "--db", db]);
        assert!(verdict.starts_with("✓ Database is healthy"), "{verdict}");
    }
}

/// The output and exit code of a run.
pub(crate) struct Ran {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// `None` when a signal ended it.
    pub(crate) code: Option<i32>,
}

impl Ran {
    /// Runs a command of a folder; paths below the folder begin with `DIR` in its output.
    pub(crate) fn of(folder: &Folder, command: &mut Command) -> Ran {
        let Output { status, stdout, stderr } = finish(command.spawn().unwrap());
        let here = folder.path("").to_string_lossy().trim_end_matches('/').to_owned();
        let plain = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap().replace(&here, "DIR");
        Ran { stdout: plain(stdout), stderr: plain(stderr), code: status.code() }
    }

    /// Returns stdout, then stderr after `! `, then the code after `= `.
    pub(crate) fn transcript(&self) -> String {
        let mut out = self.stdout.clone();
        if !out.is_empty() && !out.ends_with('\n') {
            out.push_str("(no line break)\n");
        }
        for line in self.stderr.lines() {
            out.push_str(format!("! {line}").trim_end());
            out.push('\n');
        }
        out + &format!("= {}\n", self.code.map_or("killed".to_owned(), |it| it.to_string()))
    }
}

/// Waits for the end of a process whose output is piped; kills it when it takes too long.
#[track_caller]
pub(crate) fn finish(child: Child) -> Output {
    let pid = child.id();
    let (sender, ended) = channel();
    spawn(move || sender.send(child.wait_with_output().unwrap()));
    in_time(&ended, pid)
}

#[track_caller]
fn in_time<T>(ended: &Receiver<T>, pid: u32) -> T {
    ended.recv_timeout(TIMEOUT).unwrap_or_else(|_| {
        signal(pid, "KILL");
        panic!("the program should have ended by now")
    })
}

/// Returns a text without the ages in it, such as `5m ago`, which differ between two answers.
pub(crate) fn without_ages(text: &str) -> String {
    let ages = text.split(" ago").map(|it| it.trim_end_matches(|it: char| it.is_alphanumeric()));
    ages.collect::<Vec<_>>().join(" ago")
}

/// Sends a signal to a process that the test started.
pub(crate) fn signal(pid: u32, name: &str) {
    let sent = Command::new("kill").args(["-s", name, &pid.to_string()]).status().unwrap();
    assert!(sent.success());
}

pub(crate) fn spawn<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) {
    drop(std::thread::Builder::new().spawn(work).unwrap());
}

fn lines_of(stream: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, lines) = channel();
    let mut stream = BufReader::new(stream);
    spawn(move || {
        let mut line = Vec::new();
        while stream.read_until(b'\n', &mut line).is_ok_and(|n_bytes| 0 < n_bytes) {
            let text = String::from_utf8(std::mem::take(&mut line)).unwrap();
            if sender.send(text.trim_end_matches('\n').to_owned()).is_err() {
                return;
            }
        }
    });
    lines
}

/// Returns `_meta` of a request in the modern era.
pub(crate) fn modern() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

/// A client of `remindb serve`, on its pipes.
pub(crate) struct Client {
    child: Option<Child>,
    input: Option<ChildStdin>,
    /// Lines of stdout.
    replies: Receiver<String>,
    /// Lines of stderr.
    log: Receiver<String>,
    /// Sent with every request.
    meta: Option<Value>,
    next_id: u64,
    witness: Witness,
}

/// A tool's reply.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) text: String,
    pub(crate) is_error: bool,
    /// The whole result.
    pub(crate) result: Value,
}

impl Client {
    /// Starts the server and sends nothing.
    pub(crate) fn start(folder: &Folder, args: &[&str]) -> Client {
        Client::of(&mut folder.command(["serve"].iter().chain(args)))
    }

    /// Starts the server by another command and sends nothing.
    pub(crate) fn of(command: &mut Command) -> Client {
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        let replies = lines_of(child.stdout.take().unwrap());
        let log = lines_of(child.stderr.take().unwrap());
        let input = child.stdin.take();
        Client {
            child: Some(child),
            input,
            replies,
            log,
            meta: None,
            next_id: 100,
            witness: Witness::default(),
        }
    }

    /// Starts the server and shakes hands.
    #[track_caller]
    pub(crate) fn legacy(folder: &Folder, args: &[&str]) -> Client {
        Client::start(folder, args).shake_hands()
    }

    #[track_caller]
    pub(crate) fn shake_hands(mut self) -> Client {
        let client = &mut self;
        let hello = client.ask("initialize", json!({"protocolVersion": "2025-11-25"}));
        assert_eq!(hello["result"]["protocolVersion"], "2025-11-25", "{hello}");
        client.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        self
    }

    /// Starts the server; each request names the modern version.
    pub(crate) fn modern(folder: &Folder, args: &[&str]) -> Client {
        Client::start(folder, args).without_hands()
    }

    /// Names the modern version in each request.
    pub(crate) fn without_hands(mut self) -> Client {
        self.meta = Some(modern());
        self
    }

    /// Sends a line.
    pub(crate) fn send(&mut self, line: impl AsRef<[u8]>) {
        self.witness.sent(line.as_ref());
        let input = self.input.as_mut().unwrap();
        input.write_all(line.as_ref()).and_then(|()| input.write_all(b"\n")).unwrap();
    }

    /// Returns the next line.
    #[track_caller]
    pub(crate) fn line(&self) -> Value {
        let line = self.replies.recv_timeout(TIMEOUT).expect("a line should have come");
        let message = serde_json::from_str(&line).unwrap();
        self.witness.came(&message);
        message
    }

    /// Returns the next line as it is.
    #[track_caller]
    pub(crate) fn raw_line(&self) -> String {
        self.replies.recv_timeout(TIMEOUT).expect("a line should have come")
    }

    /// Returns the next line, if it comes soon enough.
    pub(crate) fn line_within(&self, wait: Duration) -> Option<Value> {
        self.replies.recv_timeout(wait).ok().map(|it| serde_json::from_str(&it).unwrap())
    }

    /// Kills the server, and returns its remaining lines; the last one may be truncated.
    pub(crate) fn kill(mut self) -> Vec<Value> {
        let mut child = self.child.take().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        self.replies.iter().map_while(|it| serde_json::from_str(&it).ok()).collect()
    }

    /// Sends a request, and returns its id.
    pub(crate) fn request(&mut self, method: &str, mut params: Value) -> u64 {
        self.next_id += 1;
        if let Some(meta) = &self.meta {
            params["_meta"] = meta.clone();
        }
        let id = self.next_id;
        self.send(
            json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string(),
        );
        id
    }

    /// Returns the reply to a request; skips the lines before it.
    #[track_caller]
    pub(crate) fn reply(&self, id: u64) -> Value {
        loop {
            let line = self.line();
            if line["id"] == json!(id) {
                return line;
            }
        }
    }

    /// Sends a request, and returns the reply.
    #[track_caller]
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params);
        self.reply(id)
    }

    /// Calls a tool, which has to exist.
    #[track_caller]
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Reply {
        let reply = self.ask("tools/call", json!({"name": tool, "arguments": arguments}));
        let result = reply["result"].clone();
        let text = result["content"][0]["text"].as_str();
        let text = text.unwrap_or_else(|| panic!("no result: {reply}")).to_owned();
        Reply { text, is_error: result["isError"] == json!(true), result }
    }

    /// Calls a tool of a server that may end at any time; `None` when it has.
    pub(crate) fn call_unless_ended(&mut self, tool: &str, arguments: Value) -> Option<Reply> {
        let params = json!({"name": tool, "arguments": arguments});
        let reply = self.ask_unless_ended("tools/call", params)?;
        let result = reply["result"].clone();
        let text = result["content"][0]["text"].as_str().or(reply["error"]["message"].as_str());
        let is_error = result["isError"] == json!(true) || reply["error"].is_object();
        Some(Reply { text: text.unwrap_or_default().to_owned(), is_error, result })
    }

    /// Sends a request to a server that may end at any time, and returns the reply.
    pub(crate) fn ask_unless_ended(&mut self, method: &str, params: Value) -> Option<Value> {
        self.next_id += 1;
        let id = self.next_id;
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        let input = self.input.as_mut()?;
        writeln!(input, "{request}").ok()?;
        loop {
            let line = self.line_within(TIMEOUT)?;
            if line["id"] == json!(id) {
                return Some(line);
            }
        }
    }

    /// Calls a tool that does not exist, and returns the error.
    #[track_caller]
    pub(crate) fn call_refused(&mut self, tool: &str) -> String {
        let reply = self.ask("tools/call", json!({"name": tool, "arguments": {}}));
        reply["error"]["message"].as_str().unwrap_or_else(|| panic!("{reply}")).to_owned()
    }

    /// Calls a tool that has to succeed, and returns its text.
    #[track_caller]
    pub(crate) fn text(&mut self, tool: &str, arguments: Value) -> String {
        let reply = self.call(tool, arguments);
        assert!(!reply.is_error, "{}", reply.text);
        reply.text
    }

    /// Waits for a line of the log.
    #[track_caller]
    pub(crate) fn logged(&self, what: &str) -> String {
        loop {
            let line = self.log.recv_timeout(TIMEOUT);
            let line = line.unwrap_or_else(|_| panic!("`{what}` should have been logged"));
            if line.contains(what) {
                return line;
            }
        }
    }

    /// Returns the next line of the log; `None` after the server's end and its last line.
    pub(crate) fn log_line(&self) -> Option<String> {
        self.log.recv_timeout(TIMEOUT).ok()
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.as_ref().unwrap().id()
    }

    /// Closes the input.
    pub(crate) fn close(&mut self) {
        self.input = None;
    }

    /// Waits for the server's end, whatever caused it.
    #[track_caller]
    pub(crate) fn wait(&mut self) -> ExitStatus {
        let mut child = self.child.take().unwrap();
        let pid = child.id();
        let (sender, ended) = channel();
        spawn(move || sender.send(child.wait().unwrap()));
        in_time(&ended, pid)
    }

    /// Closes the input and asserts that the server succeeds without further output.
    #[track_caller]
    pub(crate) fn end(mut self) {
        self.close();
        assert_eq!(self.wait().code(), Some(0));
        let rest: Vec<String> = self.replies.iter().collect();
        assert_eq!(rest, [] as [String; 0]);
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            // The process may have ended already.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
