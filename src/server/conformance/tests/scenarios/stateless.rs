//! Metadata of modern requests, refusals when it is missing, and requests that stay open.

use super::*;

const SERVER: &str = "io.modelcontextprotocol/serverInfo";
const LEVEL: &str = "io.modelcontextprotocol/logLevel";

/// Methods that only the legacy era knows, or no era.
const UNKNOWN: [&str; 6] = [
    "initialize",
    "ping",
    "logging/setLevel",
    "resources/subscribe",
    "resources/unsubscribe",
    "unknown/method",
];

pub(super) fn play(peer: &mut Peer) {
    let found = peer.result("server/discover", json!({}));
    let versions = found["supportedVersions"].as_array().unwrap().clone();
    assert!(versions.contains(&json!("2026-07-28")));
    for capability in ["tools", "prompts", "resources", "completions"] {
        assert!(found["capabilities"][capability].is_object(), "lacks {capability}");
    }
    assert_eq!(found["_meta"][SERVER]["name"], "remindb-conformance");
    check_metadata(peer, &versions);
    for method in UNKNOWN {
        assert_eq!(peer.error(method, json!({}))["code"], -32601, "{method}");
    }
    let all = std::mem::replace(&mut peer.can, json!({}));
    let error = peer.error("tools/call", json!({"name": "test_missing_capability"}));
    assert_eq!(error["code"], -32021);
    assert_eq!(error["data"]["requiredCapabilities"], json!({"sampling": {}}));
    peer.can = json!({"elicitation": {}});
    let asked = peer.call("test_streaming_elicitation");
    assert_eq!(asked["resultType"], "input_required");
    assert!(peer.told.is_empty() && peer.asked.is_empty(), "the result is all that comes");
    peer.can = all;
    peer.call("test_logging_tool");
    assert!(peer.told.is_empty(), "nobody wants to know: {:?}", peer.told);
    peer.result("tools/call", json!({"name": "test_logging_tool", "_meta": {LEVEL: "info"}}));
    assert_eq!(peer.told.len(), 1);
    check_subscription(peer);
}

/// Sends requests with incomplete metadata, or with unknown methods.
fn check_metadata(peer: &mut Peer, versions: &[Value]) {
    let mut discover = |change: &dyn Fn(&mut Map<String, Value>)| {
        let mut meta = peer.meta();
        change(&mut meta);
        let id = peer.request_as_is("server/discover", json!({"_meta": meta}));
        peer.reply(&id)
    };
    for key in [VERSION, CAPABILITIES] {
        let reply = discover(&|meta| drop(meta.remove(key)));
        assert_eq!(reply["error"]["code"], -32602, "{key}");
    }
    let reply = discover(&|meta| drop(meta.remove(CLIENT)));
    assert_eq!(reply["result"]["resultType"], "complete");
    let reply = discover(&|meta| drop(meta.insert(VERSION.to_owned(), "v999.0.0".into())));
    assert_eq!(reply["error"]["code"], -32022);
    let data = &reply["error"]["data"];
    assert_eq!(data["requested"], "v999.0.0");
    let supported = data["supported"].as_array().unwrap();
    assert!(!supported.is_empty() && supported.iter().all(|it| versions.contains(it)));
    // At the start, the era of a request without metadata is unknown.
    let mut fresh = Peer::new();
    let id = fresh.request_as_is("server/discover", json!({}));
    assert_eq!(fresh.reply(&id)["error"]["code"], -32602);
}

/// Checks that the acknowledgement comes first, and nothing unrequested after it.
fn check_subscription(peer: &mut Peer) {
    for wanted in ["toolsListChanged", "promptsListChanged"] {
        let id = peer.request("subscriptions/listen", json!({"notifications": {wanted: true}}));
        let agreed = peer.next();
        assert_eq!(agreed["method"], "notifications/subscriptions/acknowledged");
        assert_eq!(agreed["params"]["_meta"][SUBSCRIPTION], id);
        for tool in ["test_trigger_tool_change", "test_trigger_prompt_change"] {
            peer.call(tool);
            assert!(peer.told.is_empty(), "no list changes: {:?}", peer.told);
        }
        let params = json!({"requestId": id});
        let method = "notifications/cancelled";
        peer.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }
}
