//! The test server on a port of its own, and a scripted client.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, bounded, unbounded};
use serde_json::{Value, json};

use super::super::*;
use crate::mcp::server_testing::{self, TestControls};

/// Timeout, longer than any test should take.
pub(super) const TIMEOUT: Duration = Duration::from_secs(120);

/// A running server.
pub(super) struct Up {
    pub(super) address: SocketAddr,
    pub(super) fixture: TestControls,
    pub(super) interrupt: Sender<()>,
    pub(super) ended: Receiver<StopReason>,
}

impl Up {
    pub(super) fn new(change: impl FnOnce(&mut Limits)) -> Up {
        let mut limits = Limits::default();
        change(&mut limits);
        Up::with_links(limits, None, None)
    }

    /// Starts a server with a token, and with links that are exchanged for it.
    pub(super) fn with_links(
        limits: Limits,
        token: Option<BearerToken>,
        links: Option<Arc<OneTimeLinks>>,
    ) -> Up {
        let address: SocketAddr = "127.0.0.1:0".parse().unwrap();
        let guard = AccessRules::new(address.ip(), &[], &["https://app.example".to_owned()], token);
        let options = HttpOptions { address, guard, limits, links };
        let (server, fixture) = server_testing::server();
        let (interrupt, interrupts) = unbounded();
        let (ended_sender, ended) = bounded(1);
        let (address_sender, addresses) = bounded(1);
        spawn("server", move || {
            let announce = |address| address_sender.send(address).unwrap();
            let clock = Clock::System;
            let ended =
                serve_http(&server, &clock, Vec::new(), options, announce, &interrupts).unwrap();
            let _ = ended_sender.send(ended);
        })
        .unwrap();
        let address = addresses.recv_timeout(TIMEOUT).unwrap();
        Up { address, fixture, interrupt, ended }
    }

    pub(super) fn client(&self) -> Client {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(TIMEOUT)).unwrap();
        Client { address: self.address, input: BufReader::new(stream) }
    }

    /// Shakes hands and returns the session's id.
    pub(super) fn session(&self) -> String {
        let answer = self.client().post("", &call("initialize", json!({})));
        assert_eq!(answer.status, 200, "{}", answer.text);
        answer.field("mcp-session-id").unwrap()
    }
}

/// Returns the body of a request.
pub(super) fn call(method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
}

/// Returns a call of a tool with progress.
pub(super) fn watched(tool: &str) -> Value {
    call("tools/call", json!({"name": tool, "_meta": {"progressToken": "t"}}))
}

/// Returns such a call in the modern era, with its fields.
pub(super) fn modern(tool: &str) -> (String, Value) {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "progressToken": "t",
    });
    let fields = format!(
        "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: {tool}\r\n"
    );
    (fields, call("tools/call", json!({"name": tool, "_meta": meta})))
}

/// A connection.
pub(super) struct Client {
    pub(super) address: SocketAddr,
    pub(super) input: BufReader<TcpStream>,
}

/// A response; of a stream, its head.
#[derive(Debug, Default)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) fields: Vec<(String, String)>,
    pub(super) text: String,
}

impl Answer {
    pub(super) fn field(&self, name: &str) -> Option<String> {
        self.fields.iter().find(|it| it.0 == name).map(|it| it.1.clone())
    }

    pub(super) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap()
    }
}

impl Client {
    pub(super) fn write(&mut self, text: impl AsRef<[u8]>) {
        self.input.get_mut().write_all(text.as_ref()).unwrap();
    }

    /// Sends a message; `fields` are whole lines.
    pub(super) fn send(&mut self, fields: &str, body: &Value) {
        let (address, body) = (self.address, body.to_string());
        self.write(format!(
            "POST /mcp HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n{fields}\r\n{body}",
            body.len()
        ));
    }

    pub(super) fn post(&mut self, fields: &str, body: &Value) -> Answer {
        self.send(fields, body);
        self.answer()
    }

    /// Sends a request without a body.
    pub(super) fn ask(&mut self, method: &str, fields: &str) -> Answer {
        let address = self.address;
        self.write(format!("{method} /mcp HTTP/1.1\r\nHost: {address}\r\n{fields}\r\n"));
        self.answer()
    }

    /// Reads a response; bytes after the head of a stream stay in the buffer.
    pub(super) fn answer(&mut self) -> Answer {
        let mut answer = self.head();
        if let Some(length) = answer.field("content-length") {
            let mut body = vec![0; length.parse().unwrap()];
            self.input.read_exact(&mut body).unwrap();
            answer.text = String::from_utf8(body).unwrap();
        }
        answer
    }

    /// Reads the head of a response.
    pub(super) fn head(&mut self) -> Answer {
        let line = self.line();
        let status = line.split(' ').nth(1).unwrap_or_else(|| panic!("{line:?}")).parse().unwrap();
        let mut answer = Answer { status, ..Answer::default() };
        loop {
            let line = self.line();
            let Some((name, value)) = line.split_once(": ") else { break };
            answer.fields.push((name.to_ascii_lowercase(), value.to_owned()));
        }
        answer
    }

    /// Returns the next event of a stream without its last line feeds; `None` at its end.
    pub(super) fn event(&mut self) -> Option<String> {
        let n_bytes = usize::from_str_radix(&self.line(), 16).unwrap();
        let mut chunk = vec![0; n_bytes];
        self.input.read_exact(&mut chunk).unwrap();
        assert_eq!(self.line(), "");
        (0 < n_bytes).then(|| String::from_utf8(chunk).unwrap().trim_end().to_owned())
    }

    /// Returns whether the server has closed the connection and sent nothing more.
    pub(super) fn is_closed(&mut self) -> bool {
        matches!(self.input.read(&mut [0]), Ok(0) | Err(_))
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.input.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }
}
