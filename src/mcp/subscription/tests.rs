use std::sync::Arc;

use crossbeam_channel::unbounded;
use expect_test::{Expect, expect};

use super::*;
use crate::mcp::rpc::parse_frame;
use crate::mcp::server_testing::{self, TestHandler};
use crate::mcp::{Connection, Outbox, TransportAction};

/// A client, with all lines it received.
struct Client {
    server: Arc<Server<TestHandler>>,
    connection: Connection,
    transcript: String,
}

impl Client {
    fn of(server: &Arc<Server<TestHandler>>) -> Client {
        let connection = Connection::new("a");
        Client { server: Arc::clone(server), connection, transcript: String::new() }
    }

    fn legacy() -> Client {
        let mut client = Client::of(&server_testing::server().0);
        client.ask("0", "initialize", json!({}));
        client.transcript.clear();
        client
    }

    fn modern() -> Client {
        Client::of(&server_testing::server().0)
    }

    /// Sends a request; the reply goes to the transcript.
    fn ask(&mut self, id: &str, method: &str, params: Value) {
        let line =
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#);
        self.send(&line);
    }

    fn listen(&mut self, id: &str, notifications: Value) {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let params = json!({"_meta": meta, "notifications": notifications});
        self.ask(id, "subscriptions/listen", params);
    }

    fn cancel(&mut self, id: &str) {
        let params = format!(r#"{{"requestId":{id}}}"#);
        self.send(&format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{params}}}"#
        ));
    }

    fn send(&mut self, line: &str) {
        let frame = parse_frame(line.as_bytes()).unwrap();
        let outbox = Outbox::new(unbounded().0);
        match self.connection.accept_frame(&self.server, frame, &outbox) {
            TransportAction::NoReply => (),
            TransportAction::Reply(line) => self.note("say", line),
            TransportAction::Listen(line) => self.note("listen", line),
            TransportAction::Run(_) => panic!("not a call"),
        }
    }

    /// Publishes a change of a resource.
    fn change(&mut self, uri: &'static str) {
        self.server.hub.publish(uri);
        for line in self.connection.pending_updates(&self.server) {
            self.note("news", line);
        }
    }

    fn farewell(&mut self) {
        for line in self.connection.end_subscriptions() {
            self.note("farewell", line);
        }
    }

    fn note(&mut self, kind: &str, line: OutgoingRpcMessageLine) {
        let text =
            line.text.replace(r#""jsonrpc":"2.0","#, "").replace("io.modelcontextprotocol/", "");
        let text = text.replace("notifications/resources/updated", "…/updated");
        let text = text.replace("notifications/subscriptions/acknowledged", "…/acknowledged");
        self.transcript.push_str(&format!("{kind} {text}\n"));
    }

    #[track_caller]
    fn check_transcript(&self, transcript: Expect) {
        transcript.assert_eq(&self.transcript);
    }
}

#[test]
fn subscribers_are_notified_until_they_unsubscribe() {
    let mut client = Client::legacy();
    client.change("fixture://sea");
    for id in ["1", "2"] {
        client.ask(id, "resources/subscribe", json!({"uri": "fixture://sea"}));
    }
    client.change("fixture://sea");
    client.change("fixture://sky");
    client.ask("3", "resources/subscribe", json!({"uri": "fixture://sky"}));
    client.ask("4", "resources/unsubscribe", json!({"uri": "fixture://sea"}));
    client.ask("5", "resources/unsubscribe", json!({"uri": "fixture://sea"}));
    client.change("fixture://sea");
    client.change("fixture://sky");
    client.farewell();
    client.check_transcript(expect![[r#"
        say {"id":1,"result":{}}
        say {"id":2,"result":{}}
        news {"method":"…/updated","params":{"uri":"fixture://sea"}}
        say {"id":3,"result":{}}
        say {"id":4,"result":{}}
        say {"id":5,"result":{}}
        news {"method":"…/updated","params":{"uri":"fixture://sky"}}
    "#]]);
}

#[test]
fn an_unsubscribable_uri_is_refused_with_a_reason() {
    let mut client = Client::legacy();
    for uri in ["fixture://stone", "fixture://sea/{depth}", "fixture://fish", "", "../etc/passwd"] {
        client.ask("1", "resources/subscribe", json!({"uri": uri}));
    }
    client.ask("2", "resources/unsubscribe", json!({"uri": "fixture://stone"}));
    client.ask("3", "resources/subscribe", json!({"uri": 1}));
    client.ask("4", "subscriptions/listen", json!({"notifications": {}}));
    client.check_transcript(expect![[r#"
        say {"id":1,"error":{"code":-32602,"message":"`fixture://stone` cannot be subscribed to; these can: fixture://sea, fixture://sky"}}
        say {"id":1,"error":{"code":-32602,"message":"`fixture://sea/{depth}` is no URI of a resource: `{` in a URI; put a value in the place of the variable"}}
        say {"id":1,"error":{"code":-32602,"message":"there is no resource `fixture://fish`; these can be subscribed to: fixture://sea, fixture://sky"}}
        say {"id":1,"error":{"code":-32602,"message":"there is no resource ``; these can be subscribed to: fixture://sea, fixture://sky"}}
        say {"id":1,"error":{"code":-32602,"message":"there is no resource `../etc/passwd`; these can be subscribed to: fixture://sea, fixture://sky"}}
        say {"id":2,"error":{"code":-32602,"message":"`fixture://stone` cannot be subscribed to; these can: fixture://sea, fixture://sky"}}
        say {"id":3,"error":{"code":-32602,"message":"`uri` must be a string, the resource's"}}
        say {"id":4,"error":{"code":-32601,"message":"unknown method `subscriptions/listen`"}}
    "#]]);
}

#[test]
fn open_requests_are_notified_under_their_own_ids() {
    let mut client = Client::modern();
    client.listen("1", json!({"resourceSubscriptions": ["fixture://sea"]}));
    let both = json!({
        "toolsListChanged": true,
        "resourcesListChanged": true,
        "resourceSubscriptions": ["fixture://sky", "fixture://stone", "fixture://sea"],
    });
    client.listen(r#""two""#, both);
    client.listen("12345678901234567890123", json!({}));
    client.change("fixture://sea");
    client.change("fixture://sky");
    client.listen("1", json!({}));
    client.cancel("1");
    client.change("fixture://sea");
    client.listen("1", json!({}));
    client.farewell();
    client.check_transcript(expect![[r#"
        listen {"method":"…/acknowledged","params":{"_meta":{"subscriptionId":1},"notifications":{"resourceSubscriptions":["fixture://sea"]}}}
        listen {"method":"…/acknowledged","params":{"_meta":{"subscriptionId":"two","remindb/refused":{"fixture://stone":"`fixture://stone` cannot be subscribed to; these can: fixture://sea, fixture://sky"}},"notifications":{"resourceSubscriptions":["fixture://sea","fixture://sky"]}}}
        listen {"method":"…/acknowledged","params":{"_meta":{"subscriptionId":12345678901234567890123},"notifications":{}}}
        news {"method":"…/updated","params":{"_meta":{"subscriptionId":1},"uri":"fixture://sea"}}
        news {"method":"…/updated","params":{"_meta":{"subscriptionId":"two"},"uri":"fixture://sea"}}
        news {"method":"…/updated","params":{"_meta":{"subscriptionId":"two"},"uri":"fixture://sky"}}
        say {"id":1,"error":{"code":-32600,"message":"the id is that of a request that has not been answered"}}
        news {"method":"…/updated","params":{"_meta":{"subscriptionId":"two"},"uri":"fixture://sea"}}
        listen {"method":"…/acknowledged","params":{"_meta":{"subscriptionId":1},"notifications":{}}}
        farewell {"id":"two","result":{"resultType":"complete","_meta":{"subscriptionId":"two","serverInfo":{"name":"fixture","title":"Fixture","version":"1.2.3"}}}}
        farewell {"id":12345678901234567890123,"result":{"resultType":"complete","_meta":{"subscriptionId":12345678901234567890123,"serverInfo":{"name":"fixture","title":"Fixture","version":"1.2.3"}}}}
        farewell {"id":1,"result":{"resultType":"complete","_meta":{"subscriptionId":1,"serverInfo":{"name":"fixture","title":"Fixture","version":"1.2.3"}}}}
    "#]]);
}

#[test]
fn a_request_to_listen_that_makes_no_sense_stays_not_open() {
    let mut client = Client::modern();
    client.listen("1", Value::Null);
    client.listen("1", json!({"resourceSubscriptions": "fixture://sea"}));
    client.listen("1", json!({"resourceSubscriptions": [1]}));
    client.farewell();
    client.check_transcript(expect![[r#"
        say {"id":1,"error":{"code":-32602,"message":"`notifications` must be an object: what to be told of"}}
        say {"id":1,"error":{"code":-32602,"message":"`resourceSubscriptions` must be a list of URIs"}}
        say {"id":1,"error":{"code":-32602,"message":"`resourceSubscriptions` must be a list of URIs"}}
    "#]]);
}

#[test]
fn open_requests_of_a_connection_are_bounded() {
    let mut client = Client::modern();
    for id in 0..LISTENS_MAX {
        client.listen(&id.to_string(), json!({}));
    }
    client.transcript.clear();
    client.listen("99", json!({}));
    client.cancel("0");
    client.listen("99", json!({}));
    client.check_transcript(expect![[r#"
        say {"id":99,"error":{"code":-32600,"message":"32 requests are open on this connection; cancel one"}}
        listen {"method":"…/acknowledged","params":{"_meta":{"subscriptionId":99},"notifications":{}}}
    "#]]);
}

#[test]
fn changes_are_a_set_and_not_a_queue() {
    let mut client = Client::legacy();
    client.ask("1", "resources/subscribe", json!({"uri": "fixture://sea"}));
    let wakes = client.connection.wakeups(&client.server);
    for _ in 0..1000 {
        client.server.hub.publish("fixture://sea");
    }
    assert_eq!(wakes.try_iter().count(), 1);
    assert_eq!(client.connection.pending_updates(&client.server).len(), 1);
    assert_eq!(client.connection.pending_updates(&client.server).len(), 0);
}

#[test]
fn a_connection_that_has_gone_listens_to_nothing() {
    let (server, _ends) = server_testing::server();
    let mut clients = [Client::of(&server), Client::of(&server)];
    assert!(!server.hub.has_subscribers_or(|| ()));
    for client in &mut clients {
        client.listen("1", json!({"resourceSubscriptions": ["fixture://sea"]}));
    }
    server.hub.mark_changed("fixture://sea");
    server.hub.mark_changed("fixture://sky");
    assert_eq!(server.hub.take_changed(), BTreeSet::from(["fixture://sea".into()]));
    let [mut first, second] = clients;
    drop(second);
    assert!(server.hub.has_subscribers_or(|| panic!("the first one listens")));
    first.cancel("1");
    let mut n_ended = 0;
    assert!(!server.hub.has_subscribers_or(|| n_ended += 1));
    assert_eq!(n_ended, 1);
    server.hub.mark_changed("fixture://sea");
    assert!(server.hub.take_changed().is_empty());
}
