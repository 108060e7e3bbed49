use crossbeam_channel::unbounded;
use serde_json::{Value, json};

use super::*;
use crate::mcp::rpc::parse_frame;
use crate::mcp::server_testing::{self, TestHandler};
use crate::mcp::{Connection, Outbox, TransportAction};

const WINDOW: Duration = Duration::from_millis(500);

/// Returns a client that subscribed to `uri`.
fn subscriber(server: &Server<TestHandler>, uri: &str) -> Connection {
    let mut connection = Connection::new("a");
    let mut ask = |method: &str, params: Value| {
        let line = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let frame = parse_frame(line.to_string().as_bytes()).unwrap();
        let outbox = Outbox::new(unbounded().0);
        let TransportAction::Reply(line) = connection.accept_frame(server, frame, &outbox) else {
            panic!("no reply")
        };
        assert!(line.text.contains("result"), "{}", line.text);
    };
    ask("initialize", json!({}));
    ask("resources/subscribe", json!({"uri": uri}));
    connection
}

/// Plays ten minutes in steps of 10 ms, with a change in each step up to `changes_ms`. Returns the
/// times of the notifications.
fn notifications(changes_ms: i64) -> Vec<i64> {
    let (server, _ends) = server_testing::server();
    let client = subscriber(&server, "fixture://sea");
    let (mut pace, mut notified) = (ResourceDebouncers::default(), Vec::new());
    let mut due = None;
    for now in (0..660_000).step_by(10) {
        let is_change = now < changes_ms;
        if is_change {
            server.hub.mark_changed("fixture://sea");
            server.hub.mark_changed("fixture://sky");
        }
        // The thread wakes only for changes and for deadlines.
        if is_change || due.is_some_and(|it| it <= now) {
            let left_ms = pace.turn(&server.hub, UnixMillis(now), |_| WINDOW);
            due = left_ms.map(|it| now + it);
        }
        let lines = client.pending_updates(&server);
        assert!(lines.iter().all(|it| it.text.contains("fixture://sea")));
        notified.extend(lines.iter().map(|_| now));
    }
    notified
}

#[test]
fn ten_minutes_of_writes_notify_twice_a_second_and_once_after_the_last() {
    let notified = notifications(600_000);
    let expected: Vec<i64> = (0..=1_200).map(|idx| idx * 500).collect();
    assert_eq!(notified, expected);
}

#[test]
fn one_change_is_notified_once_and_at_once() {
    assert_eq!(notifications(10), [0]);
    assert!(notifications(0).is_empty());
}

#[test]
fn each_resource_has_its_own_debounce() {
    let (server, _ends) = server_testing::server();
    let clients = [subscriber(&server, "fixture://sea"), subscriber(&server, "fixture://sky")];
    let window = |uri: &str| if uri.ends_with("sea") { WINDOW } else { 4 * WINDOW };
    let mut pace = ResourceDebouncers::default();
    let mut notified = [0, 0];
    for now in (0..=10_000).step_by(100) {
        server.hub.mark_changed("fixture://sea");
        server.hub.mark_changed("fixture://sky");
        pace.turn(&server.hub, UnixMillis(now), window);
        for (client, n) in clients.iter().zip(&mut notified) {
            *n += client.pending_updates(&server).len();
        }
    }
    assert_eq!(notified, [21, 6]);
}

#[test]
fn settings_know_a_resource_by_its_short_name() {
    assert_eq!(short("remindb://graph"), "graph");
    let resources = crate::settings::config::ResourceNotificationSettings::default();
    let ms = |uri: &str| resources.debounce_of(short(uri)).as_millis();
    let all = ["graph", "snapshots", "tree", "files", "rescan", "temperature", "logs"];
    let of = |name| ms(&format!("remindb://{name}"));
    assert_eq!(all.map(of), [500, 500, 500, 500, 500, 2000, 1000]);
    // A person may name a view like a resource.
    assert_eq!(ms("memory://custom/logs"), 500);
}
