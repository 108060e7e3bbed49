//! Tests `remindb view`: its link, its token, and that looking leaves no trace.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::{Value, json};

use super::support::{Client, Folder, TIMEOUT, modern, signal};

const NOTES: &str = "# Store\n\nOne connection writes. See [[Limits]].\n\n## Limits\n\nFive.\n";

/// A server of the page.
struct Shown {
    process: Client,
    address: String,
    once: String,
    token: Option<String>,
}

fn compiled() -> Folder {
    let folder = Folder::new().file("notes/store.md", NOTES);
    folder.ok(["compile", "notes"]);
    folder
}

const DB: &str = "notes/.remindb/memory.db";

impl Shown {
    fn new(folder: &Folder) -> Shown {
        let process = Client::of(&mut folder.command(["view", "--no-open", "--db", DB]));
        let link = process.raw_line();
        let (address, once) = parts(&link);
        Shown { process, address, once, token: None }
    }

    /// Exchanges the link for the token.
    fn entered(mut self) -> Shown {
        let (status, body) = self.exchange(&self.once);
        assert_eq!(status, 200, "{body}");
        let token = serde_json::from_str::<Value>(&body).unwrap()["token"].clone();
        self.token = Some(token.as_str().unwrap().to_owned());
        self
    }

    fn exchange(&self, once: &str) -> (u16, String) {
        self.send("POST", "/session", "", &json!({"once": once}).to_string())
    }

    fn send(&self, method: &str, path: &str, fields: &str, body: &str) -> (u16, String) {
        let Shown { address, token, .. } = self;
        let token = token.as_ref().map(|it| format!("Authorization: Bearer {it}\r\n"));
        let token = token.unwrap_or_default();
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(TIMEOUT)).unwrap();
        let n = body.len();
        let text = format!(
            "{method} {path} HTTP/1.0\r\nHost: {address}\r\nContent-Type: application/json\r\n\
             Content-Length: {n}\r\n{token}{fields}\r\n{body}"
        );
        stream.write_all(text.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
    }

    fn ask(&self, method: &str, mut params: Value) -> (u16, Value) {
        params["_meta"] = modern();
        let name = params["uri"].as_str().map(|it| format!("Mcp-Name: {it}\r\n"));
        let fields = format!(
            "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: {method}\r\n{}",
            name.unwrap_or_default()
        );
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let (status, body) = self.send("POST", "/mcp", &fields, &body.to_string());
        (status, serde_json::from_str(&body).unwrap())
    }

    #[track_caller]
    fn read(&self, uri: &str) -> Value {
        let (status, reply) = self.ask("resources/read", json!({"uri": uri}));
        assert_eq!(status, 200, "{uri}: {reply}");
        let text = reply["result"]["contents"][0]["text"].as_str().unwrap();
        serde_json::from_str(text).unwrap()
    }

    fn end(mut self) -> String {
        signal(self.process.pid(), "TERM");
        assert_eq!(self.process.wait().code(), Some(0));
        std::iter::from_fn(|| self.process.log_line()).map(|it| it + "\n").collect()
    }
}

/// Returns the address and the secret of a link.
fn parts(link: &str) -> (String, String) {
    let (address, once) =
        link.strip_prefix("http://").and_then(|it| it.split_once("/#once=")).expect(link);
    assert!(22 <= once.len(), "{once}");
    assert!(once.bytes().all(|it| it.is_ascii_alphanumeric() || b"-_".contains(&it)), "{once}");
    (address.to_owned(), once.to_owned())
}

#[test]
fn a_link_opens_the_page_once_and_enter_makes_another() {
    let folder = compiled();
    let mut shown = Shown::new(&folder);
    assert!(shown.address.starts_with("127.0.0.1:"), "{}", shown.address);
    let (status, page) = shown.send("GET", "/", "", "");
    assert!(status == 200 && page.contains("<!doctype html>"), "{page}");
    assert_eq!(shown.ask("resources/read", json!({"uri": "remindb://overview"})).0, 401);
    shown = shown.entered();
    assert!(22 <= shown.token.as_ref().unwrap().len());
    assert_eq!(shown.exchange(&shown.once).0, 401, "used");
    assert_eq!(shown.read("remindb://overview")["snapshots"]["count"], 1);
    shown.process.send("");
    let (address, once) = parts(&shown.process.raw_line());
    assert_eq!(address, shown.address);
    assert_eq!(shown.exchange(&once).0, 200);
    let log = shown.end();
    assert!(!log.contains(&once), "{log}");
}

#[test]
fn an_observer_has_no_tools() {
    let folder = compiled();
    let shown = Shown::new(&folder).entered();
    let (status, hello) = shown.ask("server/discover", json!({}));
    assert_eq!(status, 200, "{hello}");
    let capabilities = &hello["result"]["capabilities"];
    assert!(capabilities.get("tools").is_none(), "{hello}");
    assert!(capabilities.get("resources").is_some(), "{hello}");
    assert_eq!(shown.ask("tools/list", json!({})).0, 404);
    let write = json!({"name": "MemoryWrite", "arguments": {"payload": "x"}});
    assert_ne!(shown.ask("tools/call", write).0, 200);
    shown.end();
    assert_eq!(folder.facts(DB)["snapshots"], json!(1));
}

#[test]
fn a_line_for_ssh_stands_before_the_link() {
    let folder = compiled();
    let mut command = folder.command(["view", "--db", DB]);
    command.env("SSH_CONNECTION", "10.0.0.2 50022 10.0.0.9 22");
    let mut process = Client::of(&mut command);
    let line = process.raw_line();
    let (address, _) = parts(&process.raw_line());
    let port = address.strip_prefix("127.0.0.1:").unwrap();
    assert_eq!(line, format!("ssh -L {port}:127.0.0.1:{port} 10.0.0.9"));
    signal(process.pid(), "TERM");
    assert_eq!(process.wait().code(), Some(0));
}

#[test]
fn only_this_machine_is_shown_the_page() {
    let folder = compiled();
    for address in ["0.0.0.0:0", "192.168.1.7:80", "example.org:80", ""] {
        let ran = folder.run(["view", "--no-open", "--db", DB, "--listen", address]);
        assert_eq!(ran.code, Some(2), "{address}: {}", ran.stderr);
        assert!(ran.stderr.contains("`view` is for this machine"), "{}", ran.stderr);
    }
    let ran = folder.run(["view", "--no-open", "--db", "none.db"]);
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(!folder.path("none.db").exists());
}

#[test]
fn the_servers_of_the_same_file_are_shown() {
    let folder = compiled();
    let alone = Shown::new(&folder).entered();
    let sessions = alone.read("remindb://sessions");
    assert_eq!(sessions["servers"], json!([]));
    let keys: Vec<&String> = sessions.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["db_path", "sessions", "servers"]);
    let mut server = Client::legacy(&folder, &["--source", "notes"]);
    server.text("MemorySearch", json!({"query": "store"}));
    let sessions = alone.read("remindb://sessions");
    let of_server = sessions["sessions"].as_array().unwrap();
    let of_server: Vec<&Value> = of_server.iter().filter(|it| it["listen"].is_null()).collect();
    assert_eq!(of_server.len(), 1, "{sessions}");
    assert_eq!(of_server[0]["transport"], "stdio", "{sessions}");
    assert_eq!(sessions["servers"], json!([{"pid": server.pid(), "work": "rescan"}]));
    server.end();
    let sessions = alone.read("remindb://sessions");
    assert_eq!(sessions["servers"], json!([]), "it gave the lease back");
    assert_eq!(sessions["sessions"].as_array().unwrap().len(), 1, "{sessions}");
    alone.end();
}

#[test]
fn numbers_of_changes_are_stored_with_a_snapshot_and_counted_where_none_are() {
    let folder = compiled();
    folder.ok(["write", "Of nobody.", "--db", DB]);
    let counted = |uri: &str| {
        let shown = Shown::new(&folder).entered();
        let snapshots = shown.read(uri)["snapshots"].clone();
        shown.end();
        snapshots
    };
    let kept = counted("remindb://timeline");
    assert_eq!(kept[0]["added"], 1, "{kept}");
    let sql = |text: &str| folder.database(DB).execute(text, []).unwrap();
    sql("UPDATE change_count SET modified = 77 WHERE snapshot = 1");
    assert_eq!(counted("remindb://timeline")[1]["modified"], 77, "what is stored is shown");
    // So a memory looks that an earlier version wrote.
    assert_eq!(sql("DELETE FROM change_count"), 2);
    assert_eq!(counted("remindb://timeline"), kept);
    folder.ok(["write", "And again.", "--db", DB]);
    folder.ok(["gc", "--keep", "2", "--db", DB]);
    assert_eq!(counted("remindb://timeline").as_array().unwrap().len(), 2);
    assert_eq!(sql("DELETE FROM change_count"), 1, "forgotten changes have no numbers");
    folder.assert_healthy(DB);
}

#[test]
fn knowledge_is_read_and_every_change_of_it_is_refused() {
    let folder = compiled();
    folder.ok(["remember", "`Redis` was slow.", "--db", DB]);
    let before = folder.ok(["stats", "--db", DB]);
    let mut shown = Shown::new(&folder).entered();
    let (status, episodes) = shown.send("GET", "/api/v1/episodes", "", "");
    assert_eq!(status, 200, "{episodes}");
    let episodes: Value = serde_json::from_str(&episodes).unwrap();
    let id = episodes["episodes"][0]["id"].as_str().unwrap();
    for (method, path) in [
        ("PUT", format!("episodes/{id}")),
        ("DELETE", format!("episodes/{id}")),
        ("DELETE", format!("episodes/{id}/purge")),
        ("POST", "topics".to_owned()),
        ("POST", "workflow/remember".to_owned()),
        ("POST", "workflow/recall".to_owned()),
        ("POST", "chat".to_owned()),
    ] {
        let body = json!({"content": "Changed.", "name": "Speed"}).to_string();
        let (status, answer) = shown.send(method, &format!("/api/v1/{path}"), "", &body);
        assert_eq!(status, 403, "{method} {path}: {answer}");
        assert!(answer.contains("only shows the memory"), "{answer}");
    }
    signal(shown.process.pid(), "TERM");
    assert_eq!(shown.process.wait().code(), Some(0));
    assert_eq!(folder.ok(["stats", "--db", DB]), before);
}
