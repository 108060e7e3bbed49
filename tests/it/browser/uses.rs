//! What people come for: the answers of the first minute, the way back, and the way in.

use serde_json::json;

use super::super::support::{Client, Folder};
use super::chromium::Browser;
use super::{DB, Shown, VIEWS, axe, check_all, small};

/// What was read most, what changed, why a hit is first, and how the last write is undone.
#[test]
fn a_newcomer_finds_what_was_read_what_changed_why_and_the_way_back() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = small();
    let shown = Shown::serve(&folder, "127.0.0.1:0");
    let browser = &mut browser;
    let tab = browser.open(&shown.link);
    tab.until(browser, "document.body.dataset.shown === 'overview'");
    let of = |heading: &str| {
        format!(
            "[...document.querySelectorAll('.panel')]
               .find((it) => it.querySelector('h2').textContent === '{heading}').innerText"
        )
    };
    let most = tab.eval(browser, &of("What the agent read most"));
    assert!(most.as_str().unwrap().contains("Harbour"), "{most}");
    let often = "[...document.querySelectorAll('.panel .size')]
                     .some((it) => /read \\d+ times? · just now/.test(it.innerText))";
    tab.until(browser, often);
    let lately = tab.eval(browser, &of("What changed lately"));
    assert!(lately.as_str().unwrap().contains("remember: The crane stopped twice"), "{lately}");
    tab.show(browser, "search/harbour%20ships");
    let why = tab.eval(browser, "document.querySelector('.hits .why').innerText");
    assert!(why.as_str().unwrap().contains(" relevance × "), "{why}");
    folder.ok(["write", "# Regretted", "--db", DB]);
    tab.show(browser, "timeline");
    let about = "document.querySelector('#undo').parentElement.innerText";
    tab.until(browser, &format!("{about}.includes('write: Regretted')"));
    let n = tab.eval(browser, "document.querySelectorAll('.snapshot').length").as_i64().unwrap();
    tab.eval(browser, "document.querySelector('#undo').click()");
    tab.until(browser, "document.querySelector('dialog .main').disabled");
    tab.eval(browser, "document.querySelector('#typed').focus()");
    tab.write(browser, &(n - 1).to_string());
    tab.press(browser, "Enter");
    tab.until(browser, &format!("document.querySelectorAll('.snapshot').length === {}", n + 1));
    assert!(!folder.ok(["tree", "--db", DB]).contains("Regretted"));
    assert_eq!(browser.complaints(&shown.origin), [""; 0]);
    shown.end();
}

#[test]
fn snapshots_are_compared_node_by_node() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = Folder::new().file("notes/a.md", "# A\n\nOne.\n\nGone.\n");
    folder.ok(["compile", "notes", "--db", DB]);
    let mut client = Client::modern(&folder, &["--db", DB]);
    client.text("MemoryWrite", json!({"payload": "Passing by."}));
    client.end();
    folder.write("notes/a.md", "# A\n\nTwo.\n");
    folder.ok(["compile", "notes", "--db", DB]);
    folder.ok(["undo", "--db", DB]);
    let shown = Shown::view(&folder);
    let browser = &mut browser;
    let tab = browser.open(&shown.link);
    tab.until(browser, "document.body.dataset.shown === 'overview'");
    tab.show(browser, "timeline");
    tab.eval(browser, "document.querySelector('#from').value = 1; 0");
    tab.eval(browser, "document.querySelector('#from').form.requestSubmit()");
    tab.until(browser, "location.hash === '#timeline/1..4'");
    tab.until(browser, "document.querySelector('h1').textContent.includes('#1 to #4')");
    let ops = "[...document.querySelectorAll('.change .facts')].map((it) => it.innerText)";
    let ops = tab.eval(browser, ops).to_string();
    assert!(ops.contains("added") && ops.contains("Passing by."), "{ops}");
    assert_eq!(browser.complaints(&shown.origin), [""; 0]);
    tab.eval(browser, "location.hash = '#timeline/77'");
    tab.until(browser, "document.querySelector('[role=alert] button')");
    assert!(tab.text(browser).contains("no snapshot 77"));
    shown.end();
}

#[test]
fn every_view_has_a_key_and_takes_the_focus() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = small();
    let shown = Shown::view(&folder);
    let browser = &mut browser;
    let tab = browser.open(&shown.link);
    tab.until(browser, "document.body.dataset.shown === 'overview'");
    for (i, view) in VIEWS.iter().enumerate() {
        let view = view.split('/').next().unwrap();
        tab.press(browser, &(i + 1).to_string());
        tab.until(browser, &format!("document.body.dataset.shown === '{view}'"));
        tab.until(browser, "document.activeElement.id === 'title'");
        let current = tab.eval(browser, "document.querySelector('[aria-current]').hash");
        assert_eq!(current, format!("#{view}"));
        // Each says whose memory it is.
        tab.until(browser, "document.querySelector('#place').textContent.endsWith('memory.db')");
    }
    assert_eq!(browser.complaints(&shown.origin), [""; 0]);
    shown.end();
}

#[test]
fn places_within_views_are_clean_in_every_look() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = small();
    let shown = Shown::serve(&folder, "127.0.0.1:0");
    let browser = &mut browser;
    let tab = browser.open(&shown.link);
    tab.until(browser, "document.body.dataset.shown === 'overview'");
    tab.show(browser, "concepts");
    let concept = "document.querySelector('a[href^=\"#concepts/\"]').hash.slice(1)";
    let concept = tab.eval(browser, concept).as_str().unwrap().to_owned();
    let places = [
        "overview/crew",
        "tree/crew%2Fana.md",
        "timeline",
        "timeline/1",
        "timeline/2",
        "timeline/1..4",
        "node/harbour.md",
        &concept,
        "concepts",
        "search/nothingofthekind",
    ];
    check_all(&tab, browser, axe().as_deref(), &places);
    assert_eq!(browser.complaints(&shown.origin), [""; 0]);
    shown.end();
}

#[test]
fn what_is_unfolded_stays_so_when_something_changes() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = small();
    let shown = Shown::serve(&folder, "127.0.0.1:0");
    let browser = &mut browser;
    let tab = browser.open(&format!("{}#node/harbour.md", shown.origin));
    tab.until(
        browser,
        "document.querySelector('details') && document.body.dataset.live === 'live'",
    );
    tab.eval(browser, "document.querySelector('details').open = true");
    tab.eval(browser, "document.querySelector('#body').firstChild.id = 'drawn before'");
    folder.ok(["write", "# Elsewhere", "--db", DB]);
    tab.until(browser, "document.querySelector('#body').firstChild.id !== 'drawn before'");
    assert_eq!(tab.eval(browser, "document.querySelector('details').open"), true);
    shown.end();
}

#[test]
fn pins_are_undone_where_they_were_made() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = small();
    let shown = Shown::serve(&folder, "127.0.0.1:0");
    let browser = &mut browser;
    let tab = browser.open(&format!("{}#node/harbour.md", shown.origin));
    let button = |text: &str| {
        format!(
            "[...document.querySelectorAll('button')].find((it) => it.textContent === '{text}')"
        )
    };
    tab.until(browser, &button("Pin"));
    tab.eval(browser, &format!("{}.click()", button("Pin")));
    tab.until(browser, "document.querySelector('dialog[open]')");
    // Who cancels changes nothing.
    tab.press(browser, "Escape");
    tab.until(browser, "!document.querySelector('dialog')");
    tab.eval(browser, &format!("{}.click()", button("Pin")));
    tab.eval(browser, "document.querySelector('dialog .main').click()");
    tab.until(browser, &button("Unpin"));
    tab.until(browser, &button("Undo"));
    tab.eval(browser, &format!("{}.click()", button("Undo")));
    tab.until(browser, "document.querySelector('#toast span').textContent === 'Undone'");
    tab.until(browser, &button("Pin"));
    assert_eq!(browser.complaints(&shown.origin), [""; 0]);
    shown.end();
}

#[test]
fn a_wrong_token_is_refused_and_the_right_one_lets_in() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = small().file("token", "a-token-that-nobody-guesses");
    let args = ["serve", "--db", DB, "--transport", "http", "--listen", "127.0.0.1:0"];
    let args = [args.as_slice(), &["--token-file", "token"]].concat();
    let process = Client::of(&mut folder.command(args));
    let told = process.logged("listening on http");
    let origin = told.split("listening on ").nth(1).unwrap().trim_end_matches("mcp").to_owned();
    let browser = &mut browser;
    let tab = browser.open(&format!("{origin}#tree"));
    for (token, view) in [("wrong", "locked"), ("a-token-that-nobody-guesses", "tree")] {
        tab.until(browser, "document.body.dataset.shown === 'locked'");
        tab.eval(browser, "delete document.body.dataset.shown");
        tab.eval(browser, "document.querySelector('#token').focus()");
        tab.write(browser, token);
        tab.press(browser, "Enter");
        tab.until(browser, &format!("document.body.dataset.shown === '{view}'"));
    }
    tab.until(browser, "document.querySelector('[role=treeitem]')");
    tab.until(browser, "document.body.dataset.live === 'live'");
    assert_eq!(tab.eval(browser, "sessionStorage.length + document.cookie.length"), 1);
}
