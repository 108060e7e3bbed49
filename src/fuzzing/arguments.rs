//! Arbitrary arguments of every tool: each call has a reply that explains itself, and the memory
//! stays sound.

use std::cell::RefCell;
use std::io::Cursor;
use std::sync::Arc;

use crossbeam_channel::unbounded;
use serde_json::{Map, Value, json};

use super::scratch_folder::ScratchFolder;
use crate::ingest::redact::Redactor;
use crate::maintenance::doctor::{self, CheckStatus};
use crate::mcp::rpc::FrameReader;
use crate::mcp::{
    ClientRequestEvent, Connection, Outbox, Server, StateSigner, ToolCallRecord, TransportAction,
};
use crate::memory::{AppendOrReplaceMode, Memory};
use crate::model::clock::{Clock, UnixMillis};
use crate::store::IfMissing;
use crate::surface::changed_resources::ChangeWatch;
use crate::surface::resources::RESOURCES;
use crate::surface::{MemoryHandler, RecordSessions, ToolSelection, about};

/// Calls on one memory before a new one is made.
const CALLS_MAX: usize = 200;

/// Calls between two examinations.
const CALLS_UNEXAMINED: usize = 20;

/// Texts that arguments mean something by, beside ids.
const TEXTS: [&str; 8] = ["alpha", "0", "-1", "append", "cascade", "heading", "1h", "remindb"];

/// A server of a memory, with the ids of its nodes.
struct ServedMemory {
    server: Server<MemoryHandler>,
    ids: Vec<String>,
    n_calls: usize,
    // The memory is closed before its folder goes.
    folder: ScratchFolder,
}

thread_local! {
    static SERVED: RefCell<Option<ServedMemory>> = const { RefCell::new(None) };
}

/// Records nothing.
struct NullSessionRecorder;

impl RecordSessions for NullSessionRecorder {
    fn on_request(
        &self,
        _: &ClientRequestEvent<'_>,
        _: &Redactor,
        _: UnixMillis,
    ) -> Option<String> {
        None
    }

    fn on_disconnect(&self, _: &str, _: UnixMillis) {}

    fn on_call_end(&self, _: &ToolCallRecord<'_>, _: UnixMillis) {}
}

impl ServedMemory {
    fn new() -> ServedMemory {
        let folder = ScratchFolder::new();
        let clock = Clock::manual(UnixMillis(1_000));
        let memory = Memory::open_at(&folder.path("m.db"), IfMissing::Create, clock.clone())
            .expect("a new memory");
        let mut ids = Vec::new();
        for text in ["# Alpha\n\nThe text of alpha.", "# Beta\n\nSee [[Alpha]].", "Gamma"] {
            let wrote =
                memory.write(text, None, AppendOrReplaceMode::Append).expect("a write").text;
            ids.push(wrote.split_whitespace().nth(2).expect("an id").to_owned());
        }
        let offer = ToolSelection::parse("all,memory").expect("known sets");
        let tools = offer.tools(memory.output());
        let handler = MemoryHandler {
            view: memory.read_only(),
            memory,
            source: None,
            allowed: Vec::new(),
            n_threads: 1,
            watch: ChangeWatch::default(),
            sessions: Arc::new(NullSessionRecorder),
        };
        let server = Server {
            about: about(offer),
            tools,
            resources: RESOURCES,
            prompts: offer.prompts(),
            page_rows_max: 100,
            state_signer: StateSigner::default(),
            handler,
            clock,
            waker: Arc::default(),
            hub: Arc::default(),
        };
        ServedMemory { server, ids, n_calls: 0, folder }
    }

    /// Returns arguments: `data` as JSON, or else a value for each argument of the tool.
    fn arguments(&self, nth: usize, data: &[u8]) -> Value {
        if let Ok(given @ Value::Object(_)) = serde_json::from_slice(data) {
            return given;
        }
        let mut bytes = data.iter().copied();
        let mut given = Map::new();
        for arg in self.server.tools[nth].args {
            let kind = bytes.next().unwrap_or_default();
            let byte = bytes.next().unwrap_or_default();
            let idx = usize::from(byte);
            let id = || Value::from(self.ids[idx % self.ids.len()].as_str());
            let value = match kind % 12 {
                0..=2 => continue,
                3 | 4 => id(),
                5 => TEXTS[idx % TEXTS.len()].into(),
                6 => {
                    let text: Vec<u8> = bytes.by_ref().take(idx).collect();
                    String::from_utf8_lossy(&text).into()
                }
                7 => i64::from(byte.cast_signed()).into(),
                8 => json!(f64::from(byte) / 16.0),
                9 => (byte % 2 == 0).into(),
                10 => json!([id(), TEXTS[idx % TEXTS.len()]]),
                _ => json!({"a": byte}),
            };
            given.insert(arg.name().to_owned(), value);
        }
        given.into()
    }

    /// Calls a tool, and returns the reply.
    fn call(&self, nth: usize, arguments: &Value) -> Value {
        let name = self.server.tools[nth].name;
        let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize",
                           "params": {"protocolVersion": "2025-11-25"}});
        let asked = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                           "params": {"name": name, "arguments": arguments}});
        let (lines, _written) = unbounded();
        let (mut connection, outbox) = (Connection::new("a"), Outbox::new(lines));
        // Nobody would answer.
        connection.stop_asking();
        let mut last = None;
        for frame in FrameReader::new(Cursor::new(format!("{hello}\n{asked}\n"))) {
            let frame = frame.expect("reading from memory cannot fail");
            last = match connection.accept_frame(&self.server, frame, &outbox) {
                TransportAction::NoReply => None,
                TransportAction::Reply(line) | TransportAction::Listen(line) => Some(line),
                TransportAction::Run(job) => self.server.run(*job),
            };
        }
        let line = last.expect("a call has a reply").text;
        serde_json::from_str(&line).expect("a reply is JSON")
    }
}

/// Panics when a reply violates an invariant. `data` is a byte for the tool, then its arguments:
/// JSON, or bytes that choose a value for each.
pub fn arguments(data: &[u8]) {
    let (first, rest) = data.split_first().unwrap_or((&0, &[]));
    SERVED.with_borrow_mut(|served| {
        if served.as_ref().is_none_or(|it| CALLS_MAX <= it.n_calls) {
            *served = None;
            *served = Some(ServedMemory::new());
        }
        let Some(served) = served else { return };
        let nth = usize::from(*first) % served.server.tools.len();
        let arguments = served.arguments(nth, rest);
        check(&served.call(nth, &arguments), &arguments);
        served.n_calls += 1;
        if served.n_calls.is_multiple_of(CALLS_UNEXAMINED) {
            let report = doctor::examine(&served.folder.path("m.db")).expect("it can be examined");
            assert_ne!(report.status(), CheckStatus::Fail, "{}", report.to_json());
        }
    });
}

#[track_caller]
fn check(reply: &Value, arguments: &Value) {
    let (error, result) = (&reply["error"], &reply["result"]);
    if error.is_object() {
        assert_ne!(error["code"], json!(-32603), "{arguments}: {reply}");
        assert_ne!(error["message"], json!(""), "{arguments}: {reply}");
        return;
    }
    let text = result["content"][0]["text"].as_str();
    let is_explained =
        text.is_some_and(|it| !it.trim().is_empty() && !it.contains("internal error"));
    assert!(is_explained, "{arguments}: {reply}");
}
