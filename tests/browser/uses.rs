//! What people do with the page: by keys alone, with tools, and without a trace.

use std::fs;

use serde_json::json;

use super::chrome::{Chrome, Tab};
use super::server::{Notes, Server};
use super::views::{MAIN, NOTES, filled, show};

#[track_caller]
fn opened(chrome: &Chrome, server: &Server, at: &str) -> Tab {
    let tab = chrome.tab();
    tab.look("light", 1280, 800);
    tab.open(&server.page(at));
    let name = at.split('/').next().unwrap();
    tab.until(&format!("document.body.dataset.shown === '{name}'"));
    tab.until("document.body.dataset.live === 'live'");
    tab
}

pub(crate) fn keys(chrome: &Chrome) {
    let (_notes, server) = filled();
    let tab = opened(chrome, &server, "overview");
    for (i, view) in MAIN.iter().enumerate() {
        let digit = (i + 1).to_string();
        tab.key(&digit, &digit);
        tab.until(&format!("document.body.dataset.shown === '{view}'"));
        tab.until("document.activeElement.id === 'title'");
        tab.until("document.querySelectorAll('h1').length === 1");
        tab.until(&format!("document.querySelector('[aria-current]').hash === '#{view}'"));
    }
    tab.key("/", "/");
    tab.until("document.activeElement.id === 'q'");
    tab.typed("cache deploy");
    tab.key("Enter", "\r");
    tab.until("document.querySelector('.hits a')");
    tab.until("document.activeElement.id === 'title'");
    for _ in 0..40 {
        if tab.value("!!document.activeElement.closest('.hits')") == true {
            break;
        }
        tab.key("Tab", "");
    }
    tab.key("Enter", "\r");
    tab.until("document.body.dataset.shown === 'node'");
    tab.until("document.activeElement.id === 'title'");
    tab.key("Escape", "");
    tab.until("document.body.dataset.shown === 'search' && document.querySelector('.hits a')");
    tab.key("?", "?");
    tab.until("document.querySelector('dialog[open]')");
    tab.key("Escape", "");
    tab.until("!document.querySelector('dialog')");
    assert_eq!(tab.problems(&server.origin), [""; 0]);
    tab.close();
}

pub(crate) fn tree_keys(chrome: &Chrome) {
    let (_notes, server) = filled();
    let tab = opened(chrome, &server, "tree");
    tab.value("document.querySelector('[role=treeitem][tabindex=\"0\"]').focus()");
    let at = |label: &str| {
        tab.until(&format!(
            "document.activeElement.getAttribute('aria-label') === {}",
            json!(label)
        ));
    };
    at("Budget");
    tab.key("ArrowDown", "");
    at("Cache");
    tab.key("ArrowRight", "");
    tab.until("document.activeElement.getAttribute('aria-expanded') === 'true'");
    tab.key("l", "l");
    at("Limits");
    tab.key("ArrowLeft", "");
    at("Cache");
    tab.key("ArrowLeft", "");
    tab.until("document.activeElement.getAttribute('aria-expanded') === 'false'");
    tab.key("Enter", "\r");
    tab.until("document.body.dataset.shown === 'node'");
    tab.until("document.querySelector('h1').textContent === 'Cache'");
    assert_eq!(tab.problems(&server.origin), [""; 0]);
    tab.close();
}

/// What the agent read most, what changed, why a hit ranked first, how to undo the last write.
pub(crate) fn newcomer(chrome: &Chrome) {
    let (_notes, server) = filled();
    let tab = opened(chrome, &server, "overview");
    let most = tab.value("document.querySelector('[data-part=most] .to').textContent");
    assert_eq!(most, "Cache");
    let lately = tab.value("document.querySelector('[data-part=lately] li').textContent");
    assert!(lately.as_str().unwrap().starts_with('#'), "{lately}");
    show(&tab, "search/cache%20deploy");
    let why = tab.value("document.querySelector('.hits .why').innerText");
    assert!(why.as_str().unwrap().contains('×'), "{why}");
    show(&tab, "timeline");
    tab.until("document.querySelector('#undo')");
    let days = tab.value("[...document.querySelectorAll('h2')].map((it) => it.textContent)");
    assert!(days.as_array().unwrap().contains(&json!("Today")), "{days}");
    tab.close();
}

pub(crate) fn acting(chrome: &Chrome) {
    let (_notes, server) = filled();
    let cache = server.id("Cache");
    let tab = opened(chrome, &server, &format!("node/{cache}"));
    let press = |text: &str| {
        let text = json!(text);
        tab.until(&format!(
            "[...document.querySelectorAll('dialog button, #toast button, #body button')]
               .some((it) => it.textContent === {text} && (it.click(), true))"
        ));
    };
    press("Pin");
    tab.until("document.querySelector('dialog[open]')");
    press("Cancel");
    tab.until("!document.querySelector('dialog')");
    assert_eq!(server.read(&format!("remindb://node/{cache}"))["pinned"], false);
    press("Pin");
    tab.value("document.querySelector('dialog .main').click()");
    tab.until("document.querySelector('#toast button')");
    assert_eq!(server.read(&format!("remindb://node/{cache}"))["pinned"], true);
    press("Undo");
    tab.until("document.querySelector('#toast').textContent === 'Undone'");
    assert_eq!(server.read(&format!("remindb://node/{cache}"))["pinned"], false);
    let before = server.read("remindb://overview")["nodes"].clone();
    press("Forget");
    tab.until("document.querySelector('dialog[open]')");
    tab.value("document.querySelector('dialog .main').click()");
    tab.until("document.querySelector('#toast button')");
    assert_ne!(server.read("remindb://overview")["nodes"], before);
    press("Undo");
    tab.until("document.querySelector('#toast').textContent === 'Undone'");
    assert_eq!(server.read("remindb://overview")["nodes"], before);
    undo_last(&tab, &server);
    tab.close();
}

/// Takes the last write back, after its number was typed.
fn undo_last(tab: &Tab, server: &Server) {
    server.call("MemoryWrite", json!({"payload": "# Regretted\n"}));
    let before = server.read("remindb://timeline?limit=2")["snapshots"].clone();
    show(tab, "timeline");
    tab.until(&format!(
        "document.querySelector('#undo')?.title.startsWith('#{}')",
        before[0]["id"]
    ));
    tab.value("document.querySelector('#undo').click()");
    tab.until("document.querySelector('dialog .main').disabled");
    tab.value("document.querySelector('#typed').focus()");
    tab.typed(&before[1]["id"].to_string());
    tab.until("!document.querySelector('dialog .main').disabled");
    tab.key("Enter", "\r");
    tab.until("!document.querySelector('dialog')");
    let id = before[0]["id"].as_i64().unwrap() + 1;
    tab.until(&format!("document.querySelector('#body').textContent.includes('#{id} rollback')"));
    assert!(!server.read("remindb://tree").to_string().contains("Regretted"));
}

/// Views change no byte of the database, nor anything beside it.
pub(crate) fn looking(chrome: &Chrome) {
    let (notes, server) = filled();
    server.stop();
    let bytes = fs::read(notes.path("memory.db")).unwrap();
    let (server, link) = Server::view(&notes);
    let tab = chrome.private_tab();
    tab.look("light", 1280, 800);
    tab.open(&link);
    tab.until("document.body.dataset.shown === 'overview'");
    for view in MAIN.iter().chain(&["search/cache", "search/budget%20tokens", "timeline/1"]) {
        show(&tab, view);
    }
    let id = tab.value("read('children?limit=1').then((it) => it.nodes[0].id)");
    assert!(id.is_null() || id.is_string(), "modules are closed: {id}");
    tab.value("location.hash = '#tree'; 0");
    tab.until("document.querySelector('.tree a')");
    tab.value("document.querySelector('.tree a').click()");
    tab.until("document.body.dataset.shown === 'node'");
    assert_eq!(tab.value("document.querySelectorAll('#body .line button').length"), 0, "no tools");
    assert_eq!(tab.problems(&server.origin), [""; 0]);
    server.stop();
    assert!(fs::read(notes.path("memory.db")).unwrap() == bytes, "the database changed");
    tab.close();
    let _ = Notes::new(&NOTES[..1]);
}
