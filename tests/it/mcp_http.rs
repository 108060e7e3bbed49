//! Tests the server over HTTP: a real process and its port, an agent's day, and refused clients.

use std::ffi::OsStr;
use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use expect_test::expect;
use serde_json::{Value, json};

use super::support::{Client, Folder, Ran, TIMEOUT, modern, signal, spawn};
use super::{collections, memories};

mod debounce;
mod plain;
mod streams;

const NOTES: &str = "# Store\n\nOne connection writes.\n\n## Limits\n\nFive kilobytes.\n";
const TOKEN: &str = "a-token-that-nobody-guesses";

/// A server on a port of its own.
pub(crate) struct Up {
    process: Client,
    address: SocketAddr,
    /// Header lines sent with every request.
    fields: String,
}

/// A response.
#[derive(Debug)]
pub(crate) struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("{self:?}"))
    }

    fn field(&self, name: &str) -> Option<&str> {
        let of = |line: &'_ str| line.to_ascii_lowercase().starts_with(&format!("{name}: "));
        self.head.lines().find(|it| of(it)).and_then(|it| it.split_once(": ")).map(|it| it.1)
    }
}

fn notes() -> Folder {
    Folder::new().file("notes/store.md", NOTES)
}

impl Up {
    pub(crate) fn new(folder: &Folder, args: &[&str]) -> Up {
        let mut all = vec!["--db", "m.db", "--transport", "http", "--listen", "127.0.0.1:0"];
        all.extend(args);
        Up::of(Client::start(folder, &all))
    }

    fn of(process: Client) -> Up {
        let line = process.logged("listening on http://");
        let address = line.strip_prefix("listening on http://").unwrap();
        let address = address.strip_suffix("/mcp").unwrap().parse().unwrap();
        Up { process, address, fields: String::new() }
    }

    /// Sends bytes as they are, and reads to the end.
    fn raw(&self, bytes: &[u8]) -> Answer {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(TIMEOUT)).unwrap();
        stream.write_all(bytes).unwrap();
        let mut answer = Vec::new();
        // A connection that is reset has sent all that it had to send.
        let _ = stream.read_to_end(&mut answer);
        let text = String::from_utf8(answer).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).and_then(|it| it.parse().ok()).unwrap_or_default();
        Answer { status, head: head.to_owned(), body: body.to_owned() }
    }

    fn send(&self, method: &str, path: &str, fields: &str, body: &str) -> Answer {
        let host = match fields.contains("Host: ") {
            true => String::new(),
            false => format!("Host: {}\r\n", self.address),
        };
        // HTTP/1.0 has no chunks in its streams.
        let text = format!(
            "{method} {path} HTTP/1.0\r\n{host}Content-Type: application/json\r\n\
             Content-Length: {}\r\n{}{fields}\r\n{body}",
            body.len(),
            self.fields
        );
        self.raw(text.as_bytes())
    }

    fn post(&self, fields: &str, method: &str, params: &Value) -> Answer {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        self.send("POST", "/mcp", fields, &body.to_string())
    }

    /// Shakes hands; every later request belongs to the session.
    pub(crate) fn shake_hands(mut self) -> Up {
        let hello = self.post("", "initialize", &json!({"protocolVersion": "2025-11-25"}));
        assert_eq!(hello.status, 200, "{hello:?}");
        let id = hello.field("mcp-session-id").unwrap().to_owned();
        self.fields += &format!("Mcp-Session-Id: {id}\r\nMCP-Protocol-Version: 2025-11-25\r\n");
        let noted = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        assert_eq!(self.send("POST", "/mcp", "", noted).status, 202);
        self
    }

    /// Sends a request, in the session if there is one.
    pub(crate) fn ask(&self, method: &str, mut params: Value) -> Answer {
        let mut fields = String::new();
        if !self.fields.contains("Mcp-Session-Id") {
            params["_meta"] = modern();
            let name = params.get("name").or(params.get("uri")).and_then(Value::as_str);
            let name = name.map(|it| format!("Mcp-Name: {it}\r\n")).unwrap_or_default();
            fields = format!("MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: {method}\r\n{name}");
        }
        self.post(&fields, method, &params)
    }

    /// Calls a tool, in the session if there is one.
    #[track_caller]
    fn call(&self, name: &str, arguments: Value) -> Value {
        let answer = self.ask("tools/call", json!({"name": name, "arguments": arguments}));
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.json()["result"].clone()
    }

    /// Calls a tool, and returns its text.
    #[track_caller]
    fn tool(&self, name: &str, arguments: Value) -> String {
        self.call(name, arguments)["content"][0]["text"].as_str().unwrap().to_owned()
    }

    pub(crate) fn pid(&self) -> u32 {
        self.process.pid()
    }

    /// Ends the server as a person would, and returns its log.
    pub(crate) fn end(mut self) -> String {
        signal(self.process.pid(), "TERM");
        assert_eq!(self.process.wait().code(), Some(0));
        std::iter::from_fn(|| self.process.log_line()).map(|it| it + "\n").collect()
    }
}

/// Plays an agent's day: orient, search, read, write, read the delta, roll back.
fn day(up: &Up) {
    let tree = up.tool("MemoryTree", json!({}));
    let (_, id) = tree.split_once("(id=").unwrap();
    let found = up.tool("MemorySearch", json!({"query": "five kilobytes"}));
    assert!(found.contains("Five kilobytes."), "{found}");
    let before = up.tool("MemoryDelta", json!({}));
    let snapshot = before.split("(snapshot ").nth(1).unwrap();
    let snapshot: i64 = snapshot[..snapshot.find(')').unwrap()].parse().unwrap();
    let wrote = up.tool("MemoryWrite", json!({"payload": "Ten now.", "anchor": &id[..11]}));
    assert!(wrote.starts_with("wrote"), "{wrote}");
    let changed = up.tool("MemoryDelta", json!({"since_snapshot": snapshot}));
    assert!(changed.contains("Ten now."), "{changed}");
    let back = up.tool("MemoryRollback", json!({"snapshot_id": snapshot}));
    assert!(back.starts_with("rolled back"), "{back}");
    let same = up.tool("MemoryCompile", json!({"path": "."}));
    assert_eq!(same, "compiled: 0 added, 0 modified, 0 removed (0 ops)");
}

#[test]
fn both_eras_have_their_day_on_one_process() {
    let folder = notes();
    folder.ok(["compile", "notes", "--db", "m.db"]);
    let up = Up::new(&folder, &["--source", "notes"]).shake_hands();
    day(&up);
    let stateless = Up { fields: String::new(), ..up };
    day(&stateless);
    let health = stateless.send("GET", "/health", "", "");
    assert_eq!((health.status, health.body.as_str()), (200, r#"{"status":"ok"}"#));
    stateless.end();
    folder.assert_healthy("m.db");
}

#[test]
fn typed_memories_in_both_eras() {
    for scenario in memories::SCENARIOS {
        let folder = Folder::new();
        let up = Up::new(&folder, &memories::OFFER[2..]).shake_hands();
        scenario(&mut memories::Door(&mut |tool, args| up.call(tool, args)));
        up.end();
        let folder = Folder::new();
        let up = Up::new(&folder, &memories::OFFER[2..]);
        scenario(&mut memories::Door(&mut |tool, args| up.call(tool, args)));
        up.end();
    }
}

#[test]
fn faults_of_typed_memories_in_both_eras() {
    for fault in memories::faults::FAULTS {
        let base = fault.folder();
        for meet in [Up::shake_hands as fn(Up) -> Up, |up| up] {
            let folder = base.copy();
            let args = [&["--transport", "http", "--listen", "127.0.0.1:0"], &memories::OFFER[..]]
                .concat();
            let up = meet(Up::of(Client::of(&mut (fault.command)(&folder, &args))));
            (fault.check)(&mut memories::Door(&mut |tool, args| up.call(tool, args)), &folder);
            up.end();
        }
    }
}

#[test]
fn collections_in_both_eras() {
    for (is_legacy, not_found) in [(true, -32002), (false, -32602)] {
        let folder = Folder::new();
        let mut up = Up::new(&folder, &memories::OFFER[2..]);
        if is_legacy {
            up = up.shake_hands();
        }
        let wire = &mut |method: &str, params| up.ask(method, params).json();
        collections::play(&folder, &mut collections::Wire(wire), not_found);
        up.end();
        folder.assert_healthy("m.db");
    }
}

#[test]
fn no_transport_shows_more_than_a_thousand_memories() {
    let folder = collections::crowd();
    for start in [Client::legacy as fn(&Folder, &[&str]) -> Client, Client::modern] {
        let mut client = start(&folder, &["--db", "m.db"]);
        let wire = &mut |method: &str, params| client.ask(method, params);
        collections::check_crowd(&mut collections::Wire(wire));
        client.end();
    }
    let up = Up::new(&folder, &[]).shake_hands();
    let legacy = &mut |method: &str, params| up.ask(method, params).json();
    collections::check_crowd(&mut collections::Wire(legacy));
    let up = Up { fields: String::new(), ..up };
    let modern = &mut |method: &str, params| up.ask(method, params).json();
    collections::check_crowd(&mut collections::Wire(modern));
    up.end();
}

#[test]
fn structured_content_comes_in_both_eras_when_it_is_asked_for() {
    let folder = notes();
    folder.ok(["compile", "notes", "--db", "m.db"]);
    for (args, is_there) in [(&[][..], false), (&["--structured"][..], true)] {
        let up = Up::new(&folder, args).shake_hands();
        let has = |up: &Up| up.call("MemoryTree", json!({})).get("structuredContent").is_some();
        assert_eq!(has(&up), is_there);
        let up = Up { fields: String::new(), ..up };
        assert_eq!(has(&up), is_there);
        up.end();
    }
}

#[test]
fn a_session_ends_when_its_client_says_so() {
    let folder = notes();
    let up = Up::new(&folder, &[]).shake_hands();
    assert_eq!(up.post("", "ping", &json!({})).status, 200);
    assert_eq!(up.send("DELETE", "/mcp", "", "").status, 204);
    assert_eq!(up.post("", "ping", &json!({})).status, 404);
    up.end();
}

#[test]
fn a_refused_request_changes_nothing() {
    let folder = notes();
    folder.ok(["compile", "notes", "--db", "m.db"]);
    let up = Up::new(&folder, &["--source", "notes", "--allow-origin", "https://app.example"]);
    let up = up.shake_hands();
    let stats = || {
        let stats = up.tool("MemoryStats", json!({}));
        // The age of the latest snapshot differs from run to run.
        stats.lines().filter(|it| !it.contains("latest:")).collect::<String>()
    };
    let before = stats();
    let write = json!({"name": "MemoryWrite", "arguments": {"payload": "a planted marker"}});
    let as_page = |fields: &str| up.post(fields, "tools/call", &write).status;
    for fields in [
        "Origin: https://evil.example\r\n",
        "Origin: null\r\n",
        "Origin: http://localhost:1\r\n",
        "Host: evil.example\r\n",
        "Host: evil.example\r\nOrigin: http://evil.example\r\n",
        "Host: 127.0.0.1.evil.example\r\n",
        "Sec-Fetch-Site: cross-site\r\n",
    ] {
        assert_eq!(as_page(fields), 403, "{fields}");
    }
    for path in
        ["//", "/mcp/../health", "/../../etc/passwd", "/%2e%2e/etc/passwd", "/notes/store.md"]
    {
        assert_eq!(up.send("GET", path, "", "").status, 404, "{path}");
    }
    assert_eq!(stats(), before);
    let allowed = up.post("Origin: https://app.example\r\n", "ping", &json!({}));
    assert_eq!(allowed.field("access-control-allow-origin"), Some("https://app.example"));
    let log = up.end();
    assert_eq!(log.matches("refused a request status=403").count(), 7, "{log}");
    assert!(!log.contains("marker") && !log.contains("evil"), "{log}");
}

#[test]
fn a_token_opens_and_is_never_shown() {
    let folder = notes().file("token", format!("{TOKEN}\n"));
    let mut up = Up::new(&folder, &["--token-file", "token", "-v"]);
    let wrong = format!("Authorization: Bearer {}x\r\n", &TOKEN[1..]);
    for fields in ["", "Authorization: Basic YQ==\r\n", &wrong] {
        let refused = up.post(fields, "initialize", &json!({}));
        assert_eq!(refused.status, 401);
        assert_eq!(refused.field("www-authenticate"), Some("Bearer realm=\"remindb\""));
        assert_eq!(up.send("DELETE", "/mcp", fields, "").status, 401);
        // A request's target is in the logs of every proxy.
        let target = format!("/mcp?token={TOKEN}&access_token={TOKEN}");
        assert_eq!(up.send("DELETE", &target, fields, "").status, 401);
    }
    assert_eq!(up.send("GET", "/health", "", "").status, 200);
    let looked = up.send("HEAD", "/health", "", "");
    assert_eq!((looked.status, looked.body.as_str()), (200, ""));
    up.fields = format!("Authorization: Bearer {TOKEN}\r\n");
    let up = up.shake_hands();
    up.tool("MemoryStats", json!({}));
    let log = up.end();
    assert!(!log.contains(TOKEN) && !log.contains(&TOKEN[1..]), "{log}");
}

#[test]
fn a_port_for_others_needs_a_token() {
    let folder = notes().file("short", "secret").file("token", TOKEN);
    folder.check_session(expect![[r#"
        $ serve --db m.db --transport http --listen 0.0.0.0:0
        ! remindb: `0.0.0.0:0` can be reached from other machines; give a token with --token-file FILE or REMINDB_TOKEN, or listen on 127.0.0.1
        = 2
        $ serve --db m.db --transport http --token-file short
        ! remindb: the token in `short` must have 16 characters or more
        = 2
        $ serve --db m.db --transport http --listen :7474
        ! remindb: cannot listen on `:7474`; it must be ADDRESS:PORT, as in 127.0.0.1:7474 or [::1]:0
        = 2
        $ serve --db m.db --listen 127.0.0.1:0
        ! remindb: `--listen` is for HTTP; add --transport http
        = 2
        $ serve --db m.db --transport http --allow-origin *
        ! remindb: `--allow-origin` needs SCHEME://HOST[:PORT], not `*`
        = 2
    "#]]);
    // A token that is not UTF-8 is a bad token, not a missing one.
    let mut command = folder.command(["serve", "--db", "m.db", "--transport", "http"]);
    command.args(["--listen", "0.0.0.0:0"]);
    command.env("REMINDB_TOKEN", OsStr::from_bytes(b"a-token-that-nobody-can-send\xff"));
    expect![[r#"
        ! remindb: the token in `REMINDB_TOKEN` must be of visible ASCII characters, without spaces
        = 2
    "#]]
    .assert_eq(&Ran::of(&folder, &mut command).transcript());
    let mut command = folder.command(["serve", "--db", "m.db"]);
    command.envs([
        ("REMINDB_TRANSPORT", "http"),
        ("REMINDB_LISTEN", "0.0.0.0:0"),
        ("REMINDB_TOKEN", TOKEN),
    ]);
    let mut up = Up::of(Client::of(&mut command));
    up.address.set_ip([127, 0, 0, 1].into());
    up.fields = format!("Authorization: Bearer {TOKEN}\r\n");
    up.shake_hands().end();
}

#[test]
fn only_what_is_allowed_is_compiled() {
    let folder = notes()
        .file("outside/secret.md", "# Outside\n\nA planted marker.\n")
        .file("more/also.md", "# More\n");
    symlink(folder.path("outside"), folder.path("notes/link")).unwrap();
    symlink("../outside/secret.md", folder.path("notes/file.md")).unwrap();
    let up = Up::new(&folder, &["--source", "notes", "--allow", "more"]).shake_hands();
    let outside = folder.path("outside").display().to_string();
    for path in [
        "../outside",
        "link",
        "link/secret.md",
        "file.md",
        "./x/../../outside",
        &outside,
        "/etc",
        "/",
        "../more/../outside/secret.md",
    ] {
        let answer = up.tool("MemoryCompile", json!({"path": path}));
        assert!(answer.contains("lies outside of what this server may read"), "{path}: {answer}");
    }
    let more = folder.path("more").display().to_string();
    assert!(up.tool("MemoryCompile", json!({"path": more})).starts_with("compiled: 1 added"));
    // The link is inside of the folder, and its target is not.
    let whole = up.tool("MemoryCompile", json!({"path": "."}));
    assert!(whole.ends_with("file.md: a link that leaves the folder; not followed"), "{whole}");
    let found = up.tool("MemorySearch", json!({"query": "planted marker"}));
    assert!(found.starts_with("no results"), "{found}");
    let log = up.end();
    assert!(log.contains("refused to compile"), "{log}");
    assert!(!log.contains("/etc") && !log.contains("secret.md"), "{log}");
    assert!(
        fs::read_dir(folder.path("outside")).unwrap().count() == 1,
        "nothing was written there"
    );
}

/// A normal client's experience beside hostile ones.
struct Storm {
    took: Vec<Duration>,
    peak_kib: u64,
}

/// Runs a working client beside idle connections, slow writers, bombs, garbage and handshakes.
fn storm(up: &Up, n_idle: usize, n_slow: usize, n_hello: usize, n_calls: usize) -> Storm {
    let address = up.address;
    let idle: Vec<TcpStream> = (0..n_idle).map(|_| TcpStream::connect(address).unwrap()).collect();
    let (stop, stopped) = channel::<()>();
    spawn(move || drip(address, n_slow, &stopped));
    let (done_sender, done) = channel();
    let hello =
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}).to_string();
    let hello = format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n{hello}",
        hello.len()
    );
    spawn(move || {
        for n in 0..n_hello {
            let mut stream = TcpStream::connect(address).unwrap();
            stream.write_all(hello.as_bytes()).unwrap();
            if n % 20 == 0 {
                let bomb = "A: b\r\n".repeat(20_000);
                let head = "POST /mcp HTTP/1.1\r\nHost: localhost\r\n";
                let huge = format!("{head}Content-Length: 1073741824\r\n\r\n");
                for evil in
                    [bomb, format!("{head}{}", "A".repeat(100_000)), huge, "GET\n".repeat(999)]
                {
                    // A refused client may not be able to write all of it.
                    let mut stream = TcpStream::connect(address).unwrap();
                    let _ = stream.write_all(evil.as_bytes());
                }
            }
            let mut reply = [0; 64];
            let _ = stream.read(&mut reply);
        }
        let _ = done_sender.send(());
    });
    let mut storm = Storm { took: Vec::new(), peak_kib: 0 };
    while storm.took.len() < n_calls || done.try_recv().is_err() {
        let began = now();
        up.tool("MemoryStats", json!({}));
        storm.took.push(began.elapsed());
        if n_calls * 100 < storm.took.len() {
            done.recv_timeout(TIMEOUT).unwrap();
            break;
        }
    }
    storm.peak_kib = peak_kib(up);
    drop((stop, idle));
    storm.took.sort();
    storm
}

/// Returns the server's peak memory.
fn peak_kib(up: &Up) -> u64 {
    let status =
        fs::read_to_string(format!("/proc/{}/status", up.process.pid())).unwrap_or_default();
    let peak = status.lines().find_map(|it| it.strip_prefix("VmHWM:")).unwrap_or("0 kB");
    peak.trim().trim_end_matches(" kB").parse().unwrap()
}

/// Writes a byte a second on each of some connections.
fn drip(address: SocketAddr, n_slow: usize, stopped: &Receiver<()>) {
    let mut slow: Vec<TcpStream> =
        (0..n_slow).map(|_| TcpStream::connect(address).unwrap()).collect();
    let text = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9000\r\n\r\n".repeat(9);
    for byte in text.bytes() {
        for stream in &mut slow {
            if stream.write_all(&[byte]).is_err()
                && let Ok(another) = TcpStream::connect(address)
            {
                *stream = another;
            }
        }
        if stopped.recv_timeout(Duration::from_secs(1))
            != Err(std::sync::mpsc::RecvTimeoutError::Timeout)
        {
            return;
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "what a client waits for is measured")]
fn now() -> Instant {
    Instant::now()
}

#[test]
fn a_storm_keeps_nobody_out() {
    let folder = notes();
    let up = Up::new(&folder, &["--source", "notes"]).shake_hands();
    let storm = storm(&up, 60, 5, 300, 30);
    assert!(storm.peak_kib < 64 * 1024, "{} KiB", storm.peak_kib);
    up.end();
}

/// The test of `make storm`.
#[test]
#[ignore = "takes a minute, and its figures are for people"]
fn a_long_storm() {
    let folder = notes();
    let up = Up::new(&folder, &["--source", "notes"]).shake_hands();
    let storm = storm(&up, 500, 50, 10_000, 1_000);
    let at = |share: f64| storm.took[((storm.took.len() - 1) as f64 * share) as usize];
    println!(
        "calls={} p50={:?} p99={:?} max={:?} peak={} KiB",
        storm.took.len(),
        at(0.5),
        at(0.99),
        at(1.0),
        storm.peak_kib
    );
    up.end();
}
