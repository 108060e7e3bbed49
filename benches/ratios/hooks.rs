//! Measures hooks as a client sees them: a process for each call, from its start to its end.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::floor;
use crate::process::{program, wall_ms};
use crate::questions::Question;
use crate::table::{Bound, Figure, NONE};
use crate::{Outcome, doing, percentile};

/// Calls of a hook that is called once a session.
const SESSIONS: usize = 100;

/// Turns of a transcript, and characters of the output of a tool in each: 2 MB together.
const TURNS: usize = 200;
const OUTPUT_CHARS: usize = 10_000;

/// A client waits for a hook: 50 ms are the most that nobody notices.
const PROMPT: Bound = Bound { most_ever: Some(50.0), ..NONE };

/// Measures each hook, on a copy of the memory.
pub(crate) fn figures(db: &Path, questions: &[Question]) -> Outcome<Vec<Figure>> {
    doing("call hooks");
    let folder = tempfile::tempdir()?;
    let copy = folder.path().join("memory.db");
    fs::copy(db, &copy)?;
    let transcript = folder.path().join("transcript.jsonl");
    fs::write(&transcript, transcript_text(questions))?;
    let session = |nth: usize| format!("session-{nth}");
    let starts = (0..SESSIONS).map(|nth| ("session-start", json!({"session_id": session(nth)})));
    let prompts =
        questions.iter().map(|it| ("prompt", json!({"session_id": session(0), "prompt": it.text})));
    let notes = |event, first: usize| -> Vec<(&str, Value)> {
        let input = |nth| json!({"session_id": session(nth), "transcript_path": transcript});
        (first..first + SESSIONS).map(|nth| (event, input(nth))).collect()
    };
    let calls: [(&str, Vec<(&str, Value)>); 4] = [
        ("hook at the start of a session", starts.collect()),
        ("hook for a prompt", prompts.collect()),
        ("hook before a compaction", notes("pre-compact", 0)),
        ("hook at the end of a session", notes("session-end", SESSIONS)),
    ];
    let mut figures = Vec::new();
    for (what, calls) in calls {
        let (mut walls, mut floors) = (Vec::new(), Vec::new());
        for (event, input) in calls {
            walls.push(wall_ms(|| call(folder.path(), &copy, event, &input))?);
            floors.push(wall_ms(|| floor::process(&copy))?);
        }
        let floor = percentile(&floors, 50);
        figures.push(Figure::new(what, "ms", percentile(&walls, 50)).above(floor));
        let p99 = Figure::new(&format!("{what}, p99"), "ms", percentile(&walls, 99));
        figures.push(p99.above(percentile(&floors, 99)).within(PROMPT));
    }
    Ok(figures)
}

/// Calls a hook, which has to succeed.
fn call(home: &Path, db: &Path, event: &str, input: &Value) -> Outcome<()> {
    let mut child = Command::new(program())
        .args(["hook", event, "--client", "claude-code", "--db"])
        .arg(db)
        .env("HOME", home)
        .env_remove("XDG_STATE_HOME")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()?;
    child.stdin.take().ok_or("no input")?.write_all(input.to_string().as_bytes())?;
    if child.wait()?.success() { Ok(()) } else { Err("a hook failed".into()) }
}

/// Returns a transcript of questions, with long outputs of tools between them.
fn transcript_text(questions: &[Question]) -> String {
    let output = "a line of output\n".repeat(OUTPUT_CHARS / 17);
    let mut text = String::new();
    for (nth, question) in questions.iter().cycle().take(TURNS).enumerate() {
        let id = format!("call-{nth}");
        for record in [
            json!({"type": "user", "message": {"content": question.text}}),
            json!({"type": "assistant", "message": {"content": [
                {"type": "tool_use", "id": id, "name": "Bash", "input": {"command": format!("make {nth}")}},
            ]}}),
            json!({"type": "user", "message": {"content": [
                {"type": "tool_result", "tool_use_id": id, "content": output},
            ]}}),
            json!({"type": "assistant", "message": {"content": [
                {"type": "text", "text": format!("Answer {nth}: it works.")},
            ]}}),
        ] {
            text += &record.to_string();
            text.push('\n');
        }
    }
    text
}
