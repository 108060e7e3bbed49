//! Tests the pace of updates of typed memories over HTTP: at once, then once a window, then last.

use super::streams::{Events, fields};
use super::*;

const CORE: &str = "memory://core";
const SEA: &str = "memory://custom/sea";
const MARK: &str = "memory://custom/mark";

/// A server with views, whose updates have this window, and two subscribers of different eras.
fn subscribed(folder: &Folder, window: &str) -> (Up, [Events; 2]) {
    let config = json!({"server": {"resources": {"debounce": window}}});
    folder.write("settings/remindb/config.json", config.to_string());
    let up = Up::new(folder, &memories::OFFER[2..]).shake_hands();
    for (name, conditions) in [("sea", "tags=sea"), ("mark", "tags=mark")] {
        folder.ok(["view-query", name, conditions, "--db", "m.db"]);
    }
    let uris = [CORE, SEA, MARK, "memory://learnings"];
    for uri in uris {
        assert_eq!(up.post("", "resources/subscribe", &json!({"uri": uri})).status, 200);
    }
    let news = Events::open(&up, "GET", "Accept: text/event-stream\r\n", "");
    let method = "subscriptions/listen";
    let params = json!({"_meta": modern(), "notifications": {"resourceSubscriptions": uris}});
    let body = json!({"jsonrpc": "2.0", "id": 5, "method": method, "params": params});
    let mut listening = Events::at(up.address, "POST", &fields(method, ""), &body.to_string());
    let agreed = listening.next().unwrap()["params"]["notifications"].clone();
    assert_eq!(agreed["resourceSubscriptions"].as_array().unwrap().len(), uris.len());
    (up, [news, listening])
}

fn store(up: &Up, nth: usize, tag: &str) {
    let args = json!({"type": "core", "content": format!("{tag} {nth}"), "tags": [tag]});
    assert!(up.tool("store_memory", args).contains("\"created\":true"));
}

#[track_caller]
fn uri_of(update: Option<Value>) -> String {
    let update = update.unwrap();
    assert_eq!(update["method"], "notifications/resources/updated", "{update}");
    update["params"]["uri"].as_str().unwrap().to_owned()
}

#[test]
fn of_many_changes_in_a_window_the_first_is_announced() {
    let folder = Folder::new();
    let (up, subscribers) = subscribed(&folder, "1h");
    (0..20).for_each(|nth| store(&up, nth, "sea"));
    // What was not announced yet comes at once, behind what was announced before it.
    store(&up, 20, "mark");
    for mut events in subscribers {
        let mut seen = Vec::new();
        while seen.last().is_none_or(|it| it != MARK) {
            seen.push(uri_of(events.next()));
        }
        seen.sort();
        assert_eq!(seen, [CORE, MARK, SEA]);
    }
    up.end();
}

#[test]
fn the_last_change_is_announced() {
    const STORES: usize = 10;
    let folder = Folder::new();
    let (up, mut subscribers) = subscribed(&folder, "200ms");
    let both = |events: &mut Events| {
        let mut uris = [uri_of(events.next()), uri_of(events.next())];
        uris.sort();
        assert_eq!(uris, [CORE, SEA]);
    };
    store(&up, 0, "sea");
    subscribers.iter_mut().for_each(both);
    (1..STORES).for_each(|nth| store(&up, nth, "sea"));
    let count = |uri: &str| {
        let read = up.post("", "resources/read", &json!({"uri": uri})).json();
        let text = read["result"]["contents"][0]["text"].as_str().unwrap().to_owned();
        serde_json::from_str::<Value>(&text).unwrap()["count"].clone()
    };
    // All of them came after the first one was announced.
    subscribers.iter_mut().for_each(both);
    assert_eq!((count(CORE), count(SEA)), (json!(STORES), json!(STORES)));
    up.end();
}
