//! Tests the counts and messages of the page, and that it undoes its own work alone.

use serde_json::json;

use super::super::support::Folder;
use super::chromium::{Browser, Tab};
use super::{DB, Shown, small};

/// Returns a script that clicks the first button of that text.
fn click(text: &str) -> String {
    format!(
        "[...document.querySelectorAll('button')].find((it) => it.textContent === '{text}').click()"
    )
}

/// Presses a button and confirms what it asks.
fn confirm(tab: &Tab, browser: &mut Browser, text: &str) {
    tab.until(browser, &format!("{} || true", click(text)));
    tab.until(browser, "document.querySelector('dialog[open]')");
    tab.eval(browser, "document.querySelector('dialog .main').click()");
    tab.until(browser, "!document.querySelector('dialog')");
}

/// Opens a served memory at a place.
fn opened(folder: &Folder, browser: &mut Browser, place: &str) -> (Shown, Tab) {
    let shown = Shown::serve(folder, "127.0.0.1:0");
    let tab = browser.open(&format!("{}#{place}", shown.origin));
    let name = place.split('/').next().unwrap();
    tab.until(browser, &format!("document.body.dataset.shown === '{name}'"));
    (shown, tab)
}

#[test]
fn counts_say_what_is_left_out() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = small();
    let browser = &mut browser;
    let (shown, tab) = opened(&folder, browser, "tree");
    let total = folder.facts(DB)["nodes"].clone();
    let rows = tab.eval(browser, "document.querySelectorAll('[data-id]').length");
    let said = format!("{rows} of {total} nodes are shown");
    assert!(tab.text(browser).contains(&said), "{said}: {}", tab.text(browser));
    tab.show(browser, "search/line");
    assert!(tab.text(browser).contains("more hits at least, which a reply without a budget"));
    // At once, as a reader does: a refresh in between would draw the list of choices anew.
    let choose = "
        const choice = document.querySelector('#choose-budget');
        choice.value = '100';
        choice.dispatchEvent(new Event('change'));";
    tab.eval(browser, &format!("(() => {{ {choose} }})()"));
    tab.until(browser, "document.body.innerText.includes('hits or more did not fit the budget')");
    tab.show(browser, "overview");
    let listed = "[...document.querySelectorAll('details .rows a')].map((it) => it.textContent)";
    assert_eq!(
        tab.eval(browser, listed),
        json!(["many.md", "Without a file", "harbour.md", "crew/"])
    );
    assert_eq!(browser.complaints(&shown.origin), [""; 0]);
    shown.end();
}

#[test]
fn each_snapshot_has_its_message_and_the_label_of_its_time() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = Folder::new();
    let told = folder.ok(["write", "First words.", "--db", DB]);
    let id = told.split_whitespace().nth(2).unwrap();
    folder.ok(["write", "Second words.", "--anchor", id, "--mode", "replace", "--db", DB]);
    folder.ok(["forget", id, "--db", DB]);
    let browser = &mut browser;
    let (shown, tab) = opened(&folder, browser, "timeline");
    for said in ["write: First words.", "write: Second words.", "forget: Second words."] {
        tab.until(browser, &format!("document.body.innerText.includes('{said}')"));
    }
    let text = tab.text(browser);
    assert_eq!(text.matches(&format!("write:{id}")).count(), 2, "{text}");
    // Days without changes have their places, too.
    assert_eq!(tab.eval(browser, "document.querySelectorAll('.days li').length"), 14);
    let today = "document.querySelector('.days li:last-child').title";
    assert_eq!(tab.eval(browser, today), "Today: 3 snapshots, 1 added, 1 changed, 1 removed");
    assert_eq!(browser.complaints(&shown.origin), [""; 0]);
    shown.end();
}

#[test]
fn an_undo_takes_back_nothing_that_others_wrote() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = small();
    let browser = &mut browser;
    let (shown, tab) = opened(&folder, browser, "node/harbour.md");
    confirm(&tab, browser, "Forget");
    tab.until(browser, "document.body.dataset.shown === 'tree'");
    folder.ok(["write", "Of somebody else.", "--db", DB]);
    tab.until(browser, "document.querySelector('#toast button')");
    tab.eval(browser, &click("Undo"));
    tab.until(browser, "document.querySelector('#toast').textContent.includes('written since')");
    assert!(folder.ok(["tree", "--db", DB]).contains("Of somebody else."));
    tab.eval(browser, &click("×"));
    assert_eq!(tab.eval(browser, "document.querySelector('#toast').textContent"), "");
    assert_eq!(browser.complaints(&shown.origin), [""; 0]);
    shown.end();
}

#[test]
fn who_forgets_a_node_sees_what_was_above_it_and_can_undo_that() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = small();
    let browser = &mut browser;
    let (shown, tab) = opened(&folder, browser, "node/harbour.md");
    let berths =
        "[...document.querySelectorAll('.rows a')].find((it) => it.innerText === 'Berths')";
    tab.until(browser, berths);
    tab.eval(browser, &format!("{berths}.click()"));
    tab.until(browser, "document.querySelector('h1').textContent === 'Berths'");
    confirm(&tab, browser, "Forget");
    tab.until(browser, "document.querySelector('h1').textContent === 'Harbour'");
    tab.until(browser, &format!("!({berths})"));
    tab.until(browser, "document.querySelector('#toast button')");
    tab.eval(browser, &click("Undo"));
    tab.until(browser, berths);
    assert_eq!(browser.complaints(&shown.origin), [""; 0]);
    shown.end();
}

#[test]
fn what_the_doctor_found_is_kept_with_its_time() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = small();
    let browser = &mut browser;
    let (shown, tab) = opened(&folder, browser, "doctor");
    tab.eval(browser, &click("Examine"));
    tab.until(browser, "document.querySelector('.well')");
    tab.call(browser, "Page.reload", json!({}));
    tab.until(browser, "document.querySelector('.well') && document.querySelector('time')");
    assert_eq!(browser.complaints(&shown.origin), [""; 0]);
    shown.end();
}

#[test]
fn a_row_of_the_tree_keeps_the_focus_when_something_changes() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = small();
    let browser = &mut browser;
    let (shown, tab) = opened(&folder, browser, "tree");
    tab.until(browser, "document.body.dataset.live === 'live'");
    let focused = "document.activeElement.dataset.id";
    tab.eval(browser, "document.querySelectorAll('[role=treeitem]')[2].focus()");
    let id = tab.eval(browser, focused);
    folder.ok(["write", "# Elsewhere", "--db", DB]);
    tab.until(browser, "document.body.innerText.includes('Elsewhere')");
    assert!(id.is_string() && tab.eval(browser, focused) == id, "{id}");
    assert_eq!(browser.complaints(&shown.origin), [""; 0]);
    shown.end();
}

#[test]
fn what_somebody_typed_stays_when_something_changes() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = small();
    let browser = &mut browser;
    let (shown, tab) = opened(&folder, browser, "timeline");
    tab.until(browser, "document.body.dataset.live === 'live'");
    tab.eval(browser, "document.querySelector('#from').value = 2; 0");
    folder.ok(["write", "# Elsewhere", "--db", DB]);
    tab.until(browser, "document.body.innerText.includes('write: Elsewhere')");
    assert_eq!(tab.eval(browser, "document.querySelector('#from').value"), "2");
    assert_eq!(browser.complaints(&shown.origin), [""; 0]);
    shown.end();
}

#[test]
fn a_page_without_tools_names_the_command_that_undoes() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = small();
    let shown = Shown::view(&folder);
    let browser = &mut browser;
    let tab = browser.open(&shown.link);
    tab.until(browser, "document.querySelector('#undo')");
    tab.eval(browser, "document.querySelector('#undo').click()");
    let command = tab.eval(browser, "document.querySelector('#undo ~ .command').textContent");
    let command = command.as_str().unwrap();
    let args = command.strip_prefix("remindb ").expect(command).split(' ');
    let before = folder.facts(DB)["snapshots"].clone();
    folder.ok(args.collect::<Vec<_>>());
    assert_ne!(folder.facts(DB)["snapshots"], before);
    tab.until(browser, "document.body.innerText.includes('rollback to')");
    assert_eq!(browser.complaints(&shown.origin), [""; 0]);
    shown.end();
}
