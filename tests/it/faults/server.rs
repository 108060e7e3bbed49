//! A server with one failing call or a step of its clock, and the model of its replies.
//!
//! What a reply acknowledges is kept, whether the server is then closed or killed. What an error
//! calls unchanged is not there. What it leaves in doubt may be.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::command::Place;
use super::state::State;
use super::{Fault, KINDS, Lasting, Shim, Tally};
use crate::support::{Client, Folder, Ran};

const ARGS: [&str; 6] = ["--source", "notes", "--tools", "all,memory", "--db", "m.db"];

/// Only the first scan and those that a client asks for.
const SELDOM: [&str; 2] = ["--rescan-interval", "1h"];
const OFTEN: [&str; 2] = ["--rescan-interval", "20ms"];

/// What agents write lands in the files of the folder.
const LANDING: [&str; 3] = ["--rescan-interval", "1h", "--write-back"];

/// A call, and the text that a state has after it.
struct Call {
    tool: &'static str,
    arguments: fn() -> Value,
    effect: &'static str,
}

const CALLS: &[Call] = &[
    Call {
        tool: "MemoryWrite",
        arguments: || json!({"payload": "The first text."}),
        effect: "The first text.",
    },
    Call {
        tool: "MemorySummarize",
        arguments: || json!({"anchor": "b.md", "summary": "A summary of beta."}),
        effect: "A summary of beta.",
    },
    Call {
        tool: "MemoryWrite",
        arguments: || json!({"payload": format!("Large: {}.", "many words ".repeat(4_000))}),
        effect: "Large: many",
    },
    Call {
        tool: "store_memory",
        arguments: || json!({"type": "core", "content": "Likes tea", "tags": ["a"]}),
        effect: "Likes tea",
    },
    Call { tool: "MemoryCompile", arguments: || json!({"path": "."}), effect: "About epsilon." },
    Call { tool: "MemoryPin", arguments: || json!({"anchor": "c.md"}), effect: "pinned|Gamma" },
    Call {
        tool: "MemoryWrite",
        arguments: || json!({"payload": "The last text."}),
        effect: "The last text.",
    },
];

/// The folder of a server, made anew for each run.
struct Stage {
    folder: Folder,
    shim: Shim,
}

impl Stage {
    fn new() -> Option<Stage> {
        let folder = Folder::new();
        let shim = Shim::new(folder.path("counts"))?;
        fs::create_dir(folder.path("work")).unwrap();
        super::cases::memory(&Place::of(&folder));
        fs::rename(folder.path("work"), folder.path("base")).unwrap();
        Some(Stage { folder, shim })
    }

    fn place(&self) -> Place<'_> {
        Place::of(&self.folder)
    }

    fn command(&self, args: &[&str]) -> std::process::Command {
        let args: Vec<String> = args.iter().map(|it| (*it).to_owned()).collect();
        self.place().command(&args)
    }

    /// Starts a server in a fresh copy, with the shim. Calls about notes do not fail, unless what
    /// agents write lands there.
    fn serve(&self, args: &[&str], set: impl FnOnce(&mut std::process::Command)) -> Client {
        self.place().renew();
        let except = self.place().path(if args == LANDING { "none/" } else { "notes/" });
        let args = [&["serve"], args, &ARGS].concat();
        let mut command = self.command(&args);
        let work = self.place().path("");
        self.shim.attach(&mut command, &work, &except, None);
        set(&mut command);
        Client::of(&mut command)
    }

    /// Runs a command without the shim, and returns its transcript unless it succeeds.
    fn fails(&self, args: &[&str]) -> Option<String> {
        let ran = Ran::of(&self.folder, &mut self.command(args));
        (ran.code != Some(0)).then(|| ran.transcript())
    }

    /// Makes all calls, ends the server, and compares the state with the replies.
    fn play(&self, mut client: Client, is_killed: bool) -> (&'static str, Vec<String>) {
        let mut complaints = Vec::new();
        self.place().write("notes/e.md", "# Epsilon\n\nAbout epsilon.\n");
        let mut replies = Vec::new();
        // The scan at the start may have compiled the note before the call that is to do it.
        let mut was_scanned = false;
        let hello = json!({"protocolVersion": "2025-11-25"});
        if client.ask_unless_ended("initialize", hello).is_some() {
            for call in CALLS {
                if call.tool == "MemoryCompile" {
                    let query = json!({"query": "epsilon", "budget": 200});
                    let found = client.call_unless_ended("MemorySearch", query);
                    was_scanned = found.is_some_and(|it| it.text.contains("(id="));
                }
                replies.push(client.call_unless_ended(call.tool, (call.arguments)()));
                let query = json!({"query": "before", "budget": 200});
                let found = client.call_unless_ended("MemorySearch", query);
                let is_right =
                    |it: &str| it.contains("What was there before") || it.contains("cannot ");
                if found.is_some_and(|it| !it.is_error && !is_right(&it.text)) {
                    complaints.push("a search lost what was there".to_owned());
                }
            }
        }
        match is_killed {
            true => drop(client.kill()),
            false => {
                client.close();
                if client.wait().code().is_none() {
                    complaints.push("a signal ended it".to_owned());
                }
            }
        }
        complaints.extend(self.fails(&["doctor", "--db", "m.db"]));
        let rows = State::of(&self.place().path("m.db")).meaning;
        let has = |text: &str| rows.iter().any(|it| it.contains(text));
        if !has("What was there before") {
            complaints.push("the memory before is lost".to_owned());
        }
        let notes = texts_in(&self.place().path("notes"));
        for (call, reply) in CALLS.iter().zip(&replies) {
            let Some(reply) = reply else { continue };
            let is_there = has(call.effect);
            // The one file that is there anyway.
            let is_written = call.tool != "MemoryCompile" && notes.contains(call.effect);
            let is_unchanged = reply.is_error && reply.text.contains("nothing was changed");
            let tool = call.tool;
            if !reply.is_error && !is_there {
                complaints.push(format!("{tool} is acknowledged and lost: {}", reply.text));
            }
            if is_unchanged && is_there && !(was_scanned && tool == "MemoryCompile") {
                complaints.push(format!("{tool} says nothing was changed: {}", reply.text));
            }
            if is_unchanged && is_written {
                complaints.push(format!("{tool} says nothing was changed, and a file was"));
            }
            if reply.text.contains("internal error") {
                complaints.push(format!("{tool}: {}", reply.text));
            }
        }
        complaints.extend(self.fails(&["compile", "notes", "--db", "m.db"]));
        let rows = State::of(&self.place().path("m.db")).meaning;
        for (call, _) in
            CALLS.iter().zip(&replies).filter(|it| it.1.as_ref().is_some_and(|it| !it.is_error))
        {
            // A large text stands below a node with its label alone.
            let text = |it: &str| it.splitn(5, '|').nth(4).map(str::to_owned).unwrap_or_default();
            let is_it = |it: &&String| it.starts_with("node|") && text(it).contains(call.effect);
            match rows.iter().filter(is_it).count() {
                _ if call.effect.starts_with("pinned") => (),
                1 => (),
                n => complaints.push(format!("{n} nodes have `{}` after a compile", call.effect)),
            }
        }
        complaints.extend(self.fails(&["write", "At last.", "--db", "m.db"]));
        let n_refused = replies.iter().flatten().filter(|it| it.is_error).count();
        let outcome = match (replies.len(), n_refused) {
            (0, _) => "not started",
            (_, 0) => "undisturbed",
            _ => "some calls refused",
        };
        (outcome, complaints)
    }
}

/// Returns all texts below a folder.
fn texts_in(folder: &Path) -> String {
    let mut texts = String::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => texts += &texts_in(&path),
            false => texts += &fs::read_to_string(&path).unwrap(),
        }
    }
    texts
}

/// Fails calls of a server, which is closed or killed at the end.
pub(crate) fn sweep(n_each: u64) -> Tally {
    swept(&SELDOM, n_each)
}

/// Fails calls of a server that puts what agents write into files.
pub(crate) fn sweep_landing(n_each: u64) -> Tally {
    swept(&LANDING, n_each)
}

fn swept(args: &[&str], n_each: u64) -> Tally {
    let mut tally = Tally::default();
    let Some(stage) = Stage::new() else { return tally };
    let (_, complaints) = stage.play(stage.serve(args, |_| ()), false);
    assert!(complaints.is_empty(), "without a fault: {complaints:?}");
    let calls = stage.shim.calls();
    for (nth, fault) in Fault::sweep(&calls, n_each).into_iter().enumerate() {
        let is_killed = nth % 2 == 0;
        let (outcome, complaints) =
            stage.play(stage.serve(args, |command| fault.set(command)), is_killed);
        tally.note(stage.shim.was_met(fault), outcome, complaints, |it| {
            format!("serve {args:?}, killed={is_killed}: {fault:?}: {it}")
        });
    }
    tally
}

/// Steps of the clock in seconds: eight hours, and to other ages.
const STEPS_S: [i64; 4] = [8 * 3_600, -8 * 3_600, 80 * 365 * 86_400, -60 * 365 * 86_400];

/// Moves the time of day while a server watches its folder: each change of the folder is found,
/// each write is kept.
pub(crate) fn step(n_each: u64) -> Tally {
    let mut tally = Tally::default();
    let Some(stage) = Stage::new() else { return tally };
    let clock = KINDS.len() - 1;
    let _ = stage.play(stage.serve(&OFTEN, |_| ()), false);
    let n_calls = stage.shim.calls()[clock];
    for nth in 0..n_each {
        let at = 1 + nth * n_calls / n_each;
        for step_s in STEPS_S {
            let fault = Fault { kind: "clock", error: 0, lasting: Lasting::FromThenOn, at };
            let client = stage.serve(&OFTEN, |command| {
                fault.set(command);
                command.env("FAULT_STEP_S", step_s.to_string());
            });
            let (outcome, mut complaints) = stage.watch_and_play(client);
            for args in [&["gc", "--keep", "1"] as &[&str], &["compile", "notes"], &["doctor"]] {
                complaints.extend(stage.fails(&[args, &["--db", "m.db"]].concat()));
            }
            tally.note(stage.shim.was_met(fault), outcome, complaints, |it| {
                format!("a step of {step_s} s at call {at}: {it}")
            });
        }
    }
    tally
}

impl Stage {
    /// Waits until a change of the folder is found, then plays on.
    fn watch_and_play(&self, client: Client) -> (&'static str, Vec<String>) {
        /// Searches until the watched folder has to have been scanned.
        const SEARCHES_MAX: usize = 20_000;
        let mut client = client.shake_hands();
        client.text("MemoryStats", json!({}));
        self.place().write("notes/z.md", "# Zeta\n\nIt is found by a rescan.\n");
        let is_found = (0..SEARCHES_MAX).any(|_| {
            let found = client.text("MemorySearch", json!({"query": "rescan", "budget": 200}));
            found.contains("found by a rescan")
        });
        let (outcome, mut complaints) = self.play(client, false);
        if !is_found {
            complaints.push("a change of the folder was not found".to_owned());
        }
        (outcome, complaints)
    }
}
