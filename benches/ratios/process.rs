//! Runs the program as a child process, and measures its time, memory and answers.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::Outcome;

/// Returns the path of the measured program: `PROGRAM`, or the one built with this.
pub(crate) fn program() -> OsString {
    std::env::var_os("PROGRAM").unwrap_or_else(|| env!("CARGO_BIN_EXE_remindb").into())
}

/// Clock ticks a second in `/proc`.
const TICKS: f64 = 100.0;

/// The cost of a run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Took {
    pub(crate) wall_ms: f64,
    pub(crate) cpu_ms: f64,
    pub(crate) peak_mb: f64,
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

#[expect(clippy::disallowed_methods, reason = "a benchmark waits for what happens by itself")]
pub(crate) fn sleep_us(us: u64) {
    std::thread::sleep(Duration::from_micros(us));
}

pub(crate) fn wall_ms(work: impl FnOnce() -> Outcome<()>) -> Outcome<f64> {
    let started = now();
    work()?;
    Ok(started.elapsed().as_secs_f64() * 1000.0)
}

/// Returns the CPU time that `work` takes on this thread.
pub(crate) fn own_cpu_ms(work: impl FnOnce() -> Outcome<()>) -> Outcome<f64> {
    let before = thread_cpu_ms("/proc/thread-self")?;
    work()?;
    Ok(thread_cpu_ms("/proc/thread-self")? - before)
}

fn thread_cpu_ms(task: &str) -> Outcome<f64> {
    let text = fs::read_to_string(format!("{task}/schedstat"))?;
    Ok(text.split(' ').next().unwrap_or("0").parse::<f64>()? / 1e6)
}

/// Compiles, and returns the cost.
pub(crate) fn compile(notes: &Path, db: &Path) -> Outcome<Took> {
    let before = children_cpu_ms()?;
    let started = now();
    let mut child = Command::new(program())
        .arg("compile")
        .arg(notes)
        .arg("--db")
        .arg(db)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let mut took = Took::default();
    // Its peak memory is in `/proc`, which ends with the process.
    while !has_ended(child.id())? {
        took.peak_mb = took.peak_mb.max(memory_mb(child.id(), "VmHWM:"));
        sleep_us(250);
    }
    took.wall_ms = started.elapsed().as_secs_f64() * 1000.0;
    let status = child.wait()?;
    took.cpu_ms = children_cpu_ms()? - before;
    if status.success() { Ok(took) } else { Err("the compile failed".into()) }
}

/// Returns the CPU time of all children waited for. It comes in ticks, but sums are exact, and so
/// is a mean of several differences.
fn children_cpu_ms() -> Outcome<f64> {
    let fields = stat("self")?;
    Ok((fields[13].parse::<f64>()? + fields[14].parse::<f64>()?) * 1000.0 / TICKS)
}

fn has_ended(pid: u32) -> Outcome<bool> {
    Ok(stat(&pid.to_string())?[0] == "Z")
}

fn stat(pid: &str) -> Outcome<Vec<String>> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    let (_, rest) = text.rsplit_once(") ").ok_or("no state")?;
    Ok(rest.split(' ').map(str::to_owned).collect())
}

fn memory_mb(pid: u32, field: &str) -> f64 {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = text.lines().find_map(|it| it.strip_prefix(field)).unwrap_or("0");
    let kib = line.split_whitespace().next().and_then(|it| it.parse::<f64>().ok());
    kib.unwrap_or(0.0) * 1024.0 / 1e6
}

/// A server, reached over its standard streams.
pub(crate) struct Server {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    /// Lines not yet asked for.
    before: VecDeque<String>,
}

impl Server {
    /// Starts a server, and returns the time to its first answer.
    pub(crate) fn start(db: &Path) -> Outcome<(Server, f64)> {
        let mut serve = Command::new(program());
        Server::of(serve.args(["serve", "--db"]).arg(db))
    }

    /// Starts a server by a command.
    pub(crate) fn of(serve: &mut Command) -> Outcome<(Server, f64)> {
        const HELLO: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}"#;
        let started = now();
        let mut child =
            serve.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let to = child.stdin.take().ok_or("no stdin")?;
        let from = BufReader::new(child.stdout.take().ok_or("no stdout")?);
        let mut server = Server { child, to, from, before: VecDeque::new() };
        server.ask(HELLO)?;
        let ms = started.elapsed().as_secs_f64() * 1000.0;
        server.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)?;
        Ok((server, ms))
    }

    fn send(&mut self, message: &str) -> Outcome<()> {
        Ok(self.to.write_all(format!("{message}\n").as_bytes())?)
    }

    fn ask(&mut self, request: &str) -> Outcome<String> {
        self.send(request)?;
        loop {
            let mut line = String::new();
            if self.from.read_line(&mut line)? == 0 {
                return Err("the server ended".into());
            }
            // Notifications are no answers.
            if line.starts_with(r#"{"jsonrpc":"2.0","id":"#) {
                return Ok(line);
            }
            self.before.push_back(line);
        }
    }

    /// Pings the server, and returns the time to the answer.
    pub(crate) fn ping(&mut self) -> Outcome<f64> {
        let started = now();
        self.ask(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#)?;
        Ok(started.elapsed().as_secs_f64() * 1000.0)
    }

    /// Calls a tool, and returns the text and the time to the answer.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Outcome<(String, f64)> {
        let request = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}"#
        );
        let started = now();
        let answer = self.ask(&request)?;
        let ms = started.elapsed().as_secs_f64() * 1000.0;
        if answer.contains(r#""isError":true"#) || answer.contains(r#""error":{"#) {
            return Err(format!("{tool} refused: {answer}").into());
        }
        Ok((answer, ms))
    }

    /// Reads a resource, and returns the time to the answer.
    pub(crate) fn read(&mut self, uri: &str) -> Outcome<f64> {
        let request = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{{"uri":"{uri}"}}}}"#
        );
        let started = now();
        let answer = self.ask(&request)?;
        let ms = started.elapsed().as_secs_f64() * 1000.0;
        let is_refused = answer.contains(r#""error":{"#);
        if is_refused { Err(format!("{uri} refused: {answer}").into()) } else { Ok(ms) }
    }

    pub(crate) fn memory_mb(&self) -> f64 {
        memory_mb(self.child.id(), "VmRSS:")
    }

    /// Returns the CPU time of all live threads.
    pub(crate) fn cpu_ms(&self) -> Outcome<f64> {
        let mut sum = 0.0;
        for task in fs::read_dir(format!("/proc/{}/task", self.child.id()))? {
            let task = task?.path();
            match thread_cpu_ms(&task.to_string_lossy()) {
                Ok(ms) => sum += ms,
                // The thread has just ended.
                Err(_) if !task.exists() => (),
                Err(error) => return Err(error),
            }
        }
        Ok(sum)
    }

    /// Returns the megabytes read from the disk rather than from the page cache.
    pub(crate) fn read_mb(&self) -> f64 {
        let text = fs::read_to_string(format!("/proc/{}/io", self.child.id())).unwrap_or_default();
        let line = text.lines().find_map(|it| it.strip_prefix("read_bytes: "));
        line.and_then(|it| it.parse::<f64>().ok()).unwrap_or(0.0) / 1e6
    }

    pub(crate) fn end(mut self) -> Outcome<()> {
        drop(self.to);
        self.child.wait()?;
        Ok(())
    }
}

/// Drops a file from the system's page cache.
pub(crate) fn forget(db: &Path) -> Outcome<()> {
    fs::File::open(db)?.sync_all()?;
    let mut dd = Command::new("dd");
    dd.arg(format!("if={}", db.display())).args(["iflag=nocache", "count=0", "status=none"]);
    if dd.status()?.success() { Ok(()) } else { Err("the cache could not be dropped".into()) }
}
