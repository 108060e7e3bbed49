//! Changes as they happen, in one tab and in nine, and over the end of a server.

use serde_json::json;

use super::chrome::{Chrome, Tab};
use super::now;
use super::server::{Notes, Server};
use super::views::NOTES;

fn live_tab(chrome: &Chrome, server: &Server, at: &str) -> Tab {
    let tab = chrome.tab();
    tab.look("light", 1280, 800);
    tab.open(&server.page(at));
    tab.until("document.body.dataset.live === 'live' && document.body.dataset.shown");
    tab
}

pub(crate) fn write(chrome: &Chrome) {
    let notes = Notes::new(NOTES);
    let server = Server::new(&notes);
    let tab = live_tab(chrome, &server, "timeline");
    for n in 2..5 {
        tab.until("document.body.dataset.live === 'live'");
        notes.run(&["write", &format!("# Written {n}\n"), "--db", "memory.db"]);
        let written = now();
        tab.until(&format!("document.querySelector('#body').textContent.includes('#{n} write')"));
        let took = written.elapsed();
        println!("browser: seen {} ms after the other process ended", took.as_millis());
        assert!(took.as_millis() < 1000, "{took:?}");
    }
    assert_eq!(tab.problems(&server.origin), [""; 0]);
    tab.close();
}

pub(crate) fn nine_tabs(chrome: &Chrome) {
    let notes = Notes::new(NOTES);
    let server = Server::new(&notes);
    let tabs: Vec<Tab> = (0..9).map(|_| live_tab(chrome, &server, "timeline")).collect();
    server.call("MemoryWrite", json!({"payload": "# To all\n"}));
    for tab in &tabs {
        tab.until("document.querySelector('#body').textContent.includes('#2 write')");
    }
    // The one that listens for all goes away; another one takes over.
    let mut tabs = tabs.into_iter();
    tabs.next().unwrap().close();
    server.call("MemoryWrite", json!({"payload": "# To the rest\n"}));
    for tab in tabs {
        tab.until("document.querySelector('#body').textContent.includes('#3 write')");
        assert_eq!(tab.problems(&server.origin), [""; 0]);
        tab.close();
    }
}

pub(crate) fn restart(chrome: &Chrome) {
    let notes = Notes::new(NOTES);
    let server = Server::new(&notes);
    let address = server.origin.trim_start_matches("http://").to_owned();
    let tab = live_tab(chrome, &server, "timeline");
    server.stop();
    tab.until("document.body.dataset.live === 'offline'");
    tab.until("document.querySelector('#body').textContent.includes('#1 compile')");
    notes.run(&["write", "# Meanwhile\n", "--db", "memory.db"]);
    let _server = Server::at(&notes, &address, &[]);
    tab.until("document.body.dataset.live === 'live'");
    tab.until("document.querySelector('#body').textContent.includes('#2 write')");
    tab.close();
}
