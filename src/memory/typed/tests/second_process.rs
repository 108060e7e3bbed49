//! A second process on a test's memory, which runs calls at the times that the test says.
//!
//! It is this test program, started again for [`serve`] alone: a request a line on standard input, an
//! answer a line on standard output.

use std::io::{BufRead, BufReader, Write, stdin, stdout};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use super::*;

/// The variable that names the memory to serve.
const DATABASE: &str = "REMINDB_SERVED_DATABASE";

/// The beginning of a line with an answer: the test harness writes lines of its own.
const MARK: &str = "answer ";

/// A running process; dropping it kills it.
pub(super) struct SecondProcess {
    child: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl SecondProcess {
    pub(super) fn start(database: &Path) -> SecondProcess {
        let test = module_path!().split_once("::").unwrap().1.to_owned() + "::serve";
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([&test, "--exact", "--ignored", "--nocapture"])
            .env(DATABASE, database)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let requests = child.stdin.take().unwrap();
        let answers = BufReader::new(child.stdout.take().unwrap());
        SecondProcess { child, requests, answers }
    }

    pub(super) fn call(
        &mut self,
        now: UnixMillis,
        tool: &str,
        args: &Value,
    ) -> Result<Value, Value> {
        self.ask(&json!({"now": now.0, "tool": tool, "args": args}))
    }

    pub(super) fn roll_back(&mut self, now: UnixMillis, target: i64, is_dropping: bool) {
        self.ask(&json!({"now": now.0, "target": target, "is_dropping": is_dropping})).unwrap();
    }

    fn ask(&mut self, request: &Value) -> Result<Value, Value> {
        writeln!(self.requests, "{request}").unwrap();
        let mut line = String::new();
        while !line.starts_with(MARK) {
            line.clear();
            assert_ne!(self.answers.read_line(&mut line).unwrap(), 0, "no answer to {request}");
        }
        let mut answer: Value = serde_json::from_str(&line[MARK.len()..]).unwrap();
        match answer.get_mut("error") {
            Some(error) => Err(error.take()),
            None => Ok(answer["answer"].take()),
        }
    }
}

impl Drop for SecondProcess {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

#[test]
#[ignore = "the program of a second process, which other tests start"]
fn serve() {
    let database = std::env::var(DATABASE).expect("the path of a memory");
    let clock = Clock::manual(START);
    let memory = Memory::open_at(Path::new(&database), IfMissing::Refuse, clock.clone()).unwrap();
    let memory = memory.with_memory_settings(random::limits());
    // The harness leaves the name of this test on a line without an end.
    stdout().write_all(b"\n").unwrap();
    for request in stdin().lines() {
        let request: Value = serde_json::from_str(&request.unwrap()).unwrap();
        clock.advance(request["now"].as_i64().unwrap() - clock.now().0);
        let answer = match request["tool"].as_str() {
            Some(tool) => call(&memory, tool, request["args"].clone()),
            None => {
                let target = request["target"].as_i64().unwrap();
                memory.rollback(target, request["is_dropping"] == true).unwrap();
                Ok(Value::Null)
            }
        };
        let line = match answer {
            Ok(answer) => json!({"answer": answer}),
            Err(error) => json!({"error": error}),
        };
        stdout().write_all(format!("{MARK}{line}\n").as_bytes()).unwrap();
    }
}
