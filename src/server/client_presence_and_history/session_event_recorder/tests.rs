//! The session logs of calls, failed and not.

use serde_json::{Value, json};

use super::*;
use crate::mcp::ToolCallFailure;
use crate::server::client_presence_and_history::{EndedSessionQueueing, TransportAndListenAddress};
use crate::settings::config::JsonlLogFileSettings;

#[test]
fn only_the_log_of_its_session_has_an_internal_error() {
    let dir = tempfile::tempdir().unwrap();
    let settings = JsonlLogFileSettings { enabled: true, ..JsonlLogFileSettings::default() };
    let sessions = SessionRecorder {
        registry: LiveSessionRegistry::new(
            TransportAndListenAddress::stdio(),
            "test",
            EndedSessionQueueing::Dropped,
        ),
        waker: NoticeWaker::default(),
        history: ClientConnectionLedgers::disabled(),
        logs: SessionLogs::new(Some(dir.path()), &settings),
    };
    let failure = ToolCallFailure { kind: "internal", detail: Some("page 7 is torn".to_owned()) };
    let of = |session, failure| ToolCallRecord {
        session,
        tool: "MemoryTree",
        payload_bytes: 3,
        elapsed_ms: 5,
        failure,
    };
    sessions.on_call_end(&of(Some("one"), Some(&failure)), UnixMillis(0));
    sessions.on_call_end(&of(Some("two"), None), UnixMillis(0));
    sessions.on_call_end(&of(None, Some(&failure)), UnixMillis(0));
    let messages = |session: &str| -> Vec<Value> {
        let path = dir.path().join(format!(".remindb/logs/{session}.log"));
        let text = std::fs::read_to_string(path).unwrap();
        text.lines().map(|it| serde_json::from_str::<Value>(it).unwrap()["msg"].take()).collect()
    };
    assert_eq!(messages("one"), [json!("tool failed: page 7 is torn"), json!("mcp call failed")]);
    assert_eq!(messages("two"), [json!("mcp call")]);
}
