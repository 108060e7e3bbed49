//! Tests long runs: after 100,000 calls of all kinds, over stdio and HTTP at once, two servers of one
//! memory use no more memory, descriptors, threads and disk than before.
//!
//! The run is cut into parts. After each, `gc` forgets all but the newest snapshots, as a person
//! would have it do from time to time, and the processes are measured. The first parts fill caches;
//! the last ones are compared with those in the middle. `make soak` makes 100,000 calls, and
//! `SOAK_CALLS` sets another number.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::mcp_http::Up;
use super::random_cases::{Dice, env_number};
use super::support::{Client, Folder};

const PARTS: usize = 10;

/// Parts that fill caches.
const WARM: usize = 4;

/// Nodes of agents that are there at any time, and typed memories.
const WRITTEN_MAX: usize = 200;
const STORED_MAX: usize = 50;

/// Edges that agents made.
const RELATED_MAX: usize = 100;

/// Notes of the folder.
const NOTES: usize = 40;

const WORDS: [&str; 12] = [
    "harbour", "quasar", "valve", "kettle", "ledger", "window", "cedar", "signal", "north",
    "copper", "garden", "engine",
];

const RESOURCES: [&str; 10] = [
    "remindb://overview",
    "remindb://files",
    "remindb://tree",
    "remindb://graph",
    "remindb://snapshots",
    "remindb://temperature",
    "remindb://sessions",
    "remindb://rescan",
    "memory://recent",
    "memory://core",
];

/// One use of a process and of its files.
#[derive(Clone, Copy, Debug)]
struct Use {
    resident_kib: u64,
    n_threads: u64,
    n_descriptors: u64,
}

impl Use {
    fn of(pid: u32) -> Use {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        let number = |name: &str| -> u64 {
            let line = status.lines().find(|it| it.starts_with(name)).unwrap();
            line.split_whitespace().nth(1).unwrap().parse().unwrap()
        };
        let n_descriptors = fs::read_dir(format!("/proc/{pid}/fd")).unwrap().count() as u64;
        Use { resident_kib: number("VmRSS:"), n_threads: number("Threads:"), n_descriptors }
    }
}

/// The measures after a part, by the names of columns.
type Row = Vec<(&'static str, u64)>;

/// A memory with two servers.
struct Soak {
    folder: Folder,
    dice: Dice,
    stdio: Client,
    http: Up,
    /// Ids of nodes that agents wrote, oldest first.
    written: Vec<String>,
    /// UUIDs of typed memories, oldest first.
    stored: Vec<String>,
    /// Ends of edges, oldest first.
    related: Vec<[String; 2]>,
    /// Ids seen in answers.
    seen: Vec<String>,
    n_calls: usize,
    n_errors: usize,
}

impl Soak {
    fn new() -> Soak {
        let folder = Folder::new();
        let mut dice = Dice::new(1);
        for nth in 0..NOTES {
            let text = note(nth, &mut dice);
            folder.write(format!("notes/{nth}.md"), text);
        }
        folder.ok(["compile", "notes", "--db", "m.db"]);
        let args = ["--source", "notes", "--tools", "all,memory", "--rescan-interval", "1s"];
        let stdio = Client::legacy(&folder, &[&args[..], &["--db", "m.db"]].concat());
        let http = Up::new(&folder, &args).shake_hands();
        Soak {
            folder,
            dice,
            stdio,
            http,
            written: Vec::new(),
            stored: Vec::new(),
            related: Vec::new(),
            seen: Vec::new(),
            n_calls: 0,
            n_errors: 0,
        }
    }

    fn words(&mut self) -> String {
        [*self.dice.pick(&WORDS), *self.dice.pick(&WORDS)].join(" ")
    }

    fn id(&mut self) -> String {
        match self.seen.is_empty() {
            true => "00000000000".to_owned(),
            false => self.dice.pick(&self.seen).clone(),
        }
    }

    /// Returns the next request.
    fn request(&mut self) -> (&'static str, Value) {
        let call = |name: &str, arguments: Value| {
            ("tools/call", json!({"name": name, "arguments": arguments}))
        };
        match self.dice.below(100) {
            0..=25 => {
                let budget = 50 + self.dice.below(2_000);
                call("MemorySearch", json!({"query": self.words(), "budget": budget}))
            }
            26..=37 => call("MemoryFetch", json!({"anchor": self.id(), "budget": 500})),
            38..=40 => call("MemoryTree", json!({"budget": 800})),
            41..=43 => call("MemoryRelated", json!({"anchor": self.id()})),
            44..=46 => call("MemoryHistory", json!({"anchor": self.id()})),
            47..=48 => call("MemoryDelta", json!({})),
            49..=52 => call("MemoryStats", json!({})),
            53..=64 if WRITTEN_MAX <= self.written.len() => {
                let oldest = self.written.remove(0);
                call("MemoryForget", json!({"anchor": oldest, "mode": "cascade"}))
            }
            53..=64 => {
                let nth = self.n_calls;
                let payload = format!("Call {nth} was about {}.", self.words());
                call("MemoryWrite", json!({"payload": payload}))
            }
            65..=66 => call("MemoryPin", json!({"anchor": self.id()})),
            67..=69 => call("MemoryUnpin", json!({"anchor": self.id()})),
            70..=73 if RELATED_MAX <= self.related.len() => {
                let [source, target] = self.related.remove(0);
                call("MemoryUnrelate", json!({"source": source, "target": target}))
            }
            70..=73 => {
                let pair = [self.id(), self.id()];
                let [source, target] = &pair;
                let request = call("MemoryRelate", json!({"source": source, "target": target}));
                self.related.push(pair);
                request
            }
            74 => {
                let nth = self.dice.below(NOTES);
                let text = note(nth, &mut self.dice);
                self.folder.write(format!("notes/{nth}.md"), text);
                call("MemoryCompile", json!({"path": "."}))
            }
            75..=78 if STORED_MAX <= self.stored.len() => {
                let oldest = self.stored.remove(0);
                call("delete_memory", json!({"id": oldest, "permanent": true}))
            }
            75..=78 => {
                let words = self.words();
                let content = format!("Learnt in call {}: {words}", self.n_calls);
                let tags = [*self.dice.pick(&WORDS)];
                call("store_memory", json!({"type": "learning", "content": content, "tags": tags}))
            }
            79..=80 => call("query_memories", json!({"search": self.words(), "limit": 20})),
            81..=92 => ("resources/read", json!({"uri": self.dice.pick(&RESOURCES)})),
            93 => ("tools/list", json!({})),
            94 => ("resources/list", json!({})),
            95 => call("MemorySummarize", json!({"anchor": self.id(), "summary": self.words()})),
            96 => call("MemoryFetchBatch", json!({"anchors": [self.id(), self.id()]})),
            97 => call("NoSuchTool", json!({})),
            98 => ("resources/read", json!({"uri": "remindb://no-such-resource"})),
            _ => call("MemorySearch", json!({"query": 7, "budget": "many"})),
        }
    }

    /// Makes a call over one of the transports, and notes the ids that it returns.
    fn step(&mut self) {
        let (method, params) = self.request();
        let reply = match self.n_calls % 2 {
            0 => self.stdio.ask(method, params.clone()),
            _ => self.http.ask(method, params.clone()).json(),
        };
        self.n_calls += 1;
        let result = &reply["result"];
        let is_error = reply["error"].is_object() || result["isError"] == json!(true);
        self.n_errors += usize::from(is_error);
        let text = result["content"][0]["text"].as_str().unwrap_or_default();
        assert!(!text.contains("internal error"), "{params}: {text}");
        assert_ne!(reply["error"]["code"], json!(-32603), "{params}: {reply}");
        if is_error {
            return;
        }
        let ids = text.split("id=").skip(1).filter_map(|it| it.get(..11)).map(str::to_owned);
        match params["name"].as_str() {
            Some("MemoryWrite") => {
                let id = text.strip_prefix("wrote node ").and_then(|it| it.get(..11));
                self.written.push(id.unwrap_or_else(|| panic!("{text}")).to_owned());
            }
            Some("store_memory") => {
                let stored: Value = serde_json::from_str(text).unwrap();
                self.stored.extend(stored["id"].as_str().map(str::to_owned));
            }
            _ => {
                self.seen.extend(ids.take(5));
                let n_old = self.seen.len().saturating_sub(500);
                self.seen.drain(..n_old);
            }
        }
    }

    fn measure(&self) -> Row {
        self.folder.ok(["gc", "--keep", "50", "--no-backup", "--db", "m.db"]);
        let (one, two) = (Use::of(self.stdio.pid()), Use::of(self.http.pid()));
        let size =
            |name: &str| fs::metadata(self.folder.path(name)).map_or(0, |it| it.len() / 1024);
        vec![
            ("stdio KiB", one.resident_kib),
            ("threads", one.n_threads),
            ("files", one.n_descriptors),
            ("http KiB", two.resident_kib),
            ("threads", two.n_threads),
            ("files", two.n_descriptors),
            ("m.db KiB", size("m.db")),
            ("-wal KiB", size("m.db-wal")),
            (
                "others KiB",
                folder_bytes(&self.folder.path("")) / 1024 - size("m.db") - size("m.db-wal"),
            ),
        ]
    }

    fn end(self) {
        self.stdio.end();
        self.http.end();
        self.folder.assert_healthy("m.db");
    }
}

fn note(nth: usize, dice: &mut Dice) -> String {
    let mut paragraphs = format!("# Note {nth}\n\n");
    for part in 0..10 {
        let [one, two, three] = [(); 3].map(|()| *dice.pick(&WORDS));
        paragraphs += &format!("## Part {part}\n\nThe {one} of the {two} has a {three}.\n\n");
    }
    paragraphs
}

fn folder_bytes(folder: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    let size = |entry: fs::DirEntry| match entry.path().is_dir() {
        true => folder_bytes(&entry.path()),
        false => entry.metadata().map_or(0, |it| it.len()),
    };
    entries.map(|it| size(it.unwrap())).sum()
}

/// Returns the columns that grew from the parts in the middle to the last ones.
fn grown(rows: &[Row]) -> Vec<String> {
    let middle = &rows[WARM..(WARM + PARTS) / 2];
    let last = &rows[(WARM + PARTS) / 2..];
    let most = |rows: &[Row], column: usize| rows.iter().map(|it| it[column].1).max().unwrap();
    let mut grown = Vec::new();
    for (column, (name, _)) in rows[0].iter().enumerate() {
        let (before, after) = (most(middle, column), most(last, column));
        // Threads and descriptors come and go with calls; pages of a heap are not given back.
        let allowed = match *name {
            "threads" | "files" => before + 2,
            _ => before + before / 20 + 512,
        };
        if allowed < after {
            grown.push(format!("{name}: {before}, then {after}"));
        }
    }
    grown
}

/// Makes so many calls, shows a table line by line, and returns what grew.
fn soak(n_calls: usize, show: impl Fn(String)) -> Vec<String> {
    let mut soak = Soak::new();
    let mut rows: Vec<Row> = Vec::new();
    for part in 1..=PARTS {
        (0..n_calls / PARTS).for_each(|_| soak.step());
        let row = soak.measure();
        if part == 1 {
            let names: Vec<String> = row.iter().map(|(name, _)| format!("{name:>12}")).collect();
            show(format!("   calls  errors{}", names.concat()));
        }
        let cells: Vec<String> = row.iter().map(|(_, n)| format!("{n:>12}")).collect();
        show(format!("{:>8} {:>7}{}", soak.n_calls, soak.n_errors, cells.concat()));
        rows.push(row);
    }
    soak.end();
    grown(&rows)
}

#[test]
fn a_few_hundred_mixed_calls_are_answered() {
    // Too few to tell whether anything grows.
    soak(300, |_| ());
}

#[test]
fn what_grows_is_named() {
    let row = |kib: u64, n_threads: u64| vec![("stdio KiB", kib), ("threads", n_threads)];
    let flat: Vec<Row> = (0..PARTS as u64).map(|nth| row(20_000 + nth, 9 + nth % 2)).collect();
    assert_eq!(grown(&flat), [""; 0]);
    let growing: Vec<Row> = (0..PARTS as u64).map(|nth| row(20_000 + 900 * nth, nth)).collect();
    assert_eq!(grown(&growing), ["stdio KiB: 25400, then 28100", "threads: 6, then 9"]);
}

/// The test of `make soak`.
#[test]
#[ignore = "takes minutes"]
fn a_hundred_thousand_mixed_calls_leave_no_trace() {
    let n_calls = env_number("SOAK_CALLS").unwrap_or(100_000);
    let grown = soak(n_calls, |line| println!("{line}"));
    assert!(grown.is_empty(), "{}", grown.join("; "));
    println!("{n_calls} calls: flat");
}
