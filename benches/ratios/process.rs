//! The program as a child: what it takes in time and memory, and what it answers.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use crate::Outcome;

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_remindb");

/// Clock ticks a second in `/proc`.
const TICKS: f64 = 100.0;

/// What a run took.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Took {
    pub(crate) wall_ms: f64,
    pub(crate) cpu_ms: f64,
    pub(crate) peak_mib: f64,
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// CPU time of this thread.
pub(crate) fn own_cpu_ms(work: impl FnOnce() -> Outcome<()>) -> Outcome<f64> {
    let read = || -> Outcome<f64> {
        let text = fs::read_to_string("/proc/thread-self/schedstat")?;
        Ok(text.split(' ').next().unwrap_or("0").parse::<f64>()? / 1e6)
    };
    let before = read()?;
    work()?;
    Ok(read()? - before)
}

/// Compiles, and says what it took.
pub(crate) fn compile(notes: &Path, db: &Path) -> Outcome<Took> {
    let started = now();
    let mut child = Command::new(PROGRAM)
        .arg("compile")
        .arg(notes)
        .arg("--db")
        .arg(db)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let mut took = Took::default();
    // A process that ended keeps its times until it is waited for, but not its memory.
    loop {
        let (state, cpu_ms) = stat(child.id())?;
        took.cpu_ms = cpu_ms;
        if state == "Z" {
            break;
        }
        took.peak_mib = took.peak_mib.max(memory_mib(child.id(), "VmHWM:"));
        #[expect(clippy::disallowed_methods, reason = "a benchmark looks now and then")]
        std::thread::sleep(Duration::from_millis(1));
    }
    took.wall_ms = started.elapsed().as_secs_f64() * 1000.0;
    if child.wait()?.success() { Ok(took) } else { Err("the compile failed".into()) }
}

fn stat(pid: u32) -> Outcome<(String, f64)> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    let (_, rest) = text.rsplit_once(") ").ok_or("no state")?;
    let fields: Vec<&str> = rest.split(' ').collect();
    let ticks = fields[11].parse::<f64>()? + fields[12].parse::<f64>()?;
    Ok((fields[0].to_owned(), ticks * 1000.0 / TICKS))
}

fn memory_mib(pid: u32, field: &str) -> f64 {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = text.lines().find_map(|it| it.strip_prefix(field)).unwrap_or("0");
    line.split_whitespace().next().and_then(|it| it.parse::<f64>().ok()).unwrap_or(0.0) / 1024.0
}

/// A server to talk to over its streams.
pub(crate) struct Server {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl Server {
    /// Starts one and says how long it took to answer.
    pub(crate) fn start(db: &Path) -> Outcome<(Server, f64)> {
        const HELLO: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}"#;
        let started = now();
        let mut child = Command::new(PROGRAM)
            .args(["serve", "--db"])
            .arg(db)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let to = child.stdin.take().ok_or("no stdin")?;
        let from = BufReader::new(child.stdout.take().ok_or("no stdout")?);
        let mut server = Server { child, to, from };
        server.ask(HELLO)?;
        Ok((server, started.elapsed().as_secs_f64() * 1000.0))
    }

    pub(crate) fn ask(&mut self, request: &str) -> Outcome<String> {
        writeln!(self.to, "{request}")?;
        let mut line = String::new();
        self.from.read_line(&mut line)?;
        Ok(line)
    }

    /// Calls a tool and says how long the answer took.
    pub(crate) fn call(&mut self, tool: &str, arguments: &str) -> Outcome<(String, f64)> {
        let started = now();
        let answer = self.ask(&format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}"#
        ))?;
        if answer.contains(r#""isError":true"#) || answer.contains(r#""error":{"#) {
            return Err(format!("{tool} refused: {answer}").into());
        }
        Ok((answer, started.elapsed().as_secs_f64() * 1000.0))
    }

    pub(crate) fn memory_mib(&self) -> f64 {
        memory_mib(self.child.id(), "VmRSS:")
    }

    pub(crate) fn end(mut self) -> Outcome<()> {
        drop(self.to);
        self.child.wait()?;
        Ok(())
    }
}
