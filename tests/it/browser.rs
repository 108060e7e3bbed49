//! The page in a real browser. Without Chromium these tests say that they were left out.
//!
//! `make browser` installs what they need, and runs them with axe-core.

mod chromium;
mod counts;
mod uses;

use std::fs;
use std::path::Path;

use serde_json::json;

use super::random_cases::Dice;
use super::support::{Client, Folder, signal};
use chromium::{Browser, Tab};

const DB: &str = "memory.db";

/// The views by the address of each.
const VIEWS: [&str; 9] = [
    "overview",
    "tree",
    "search/harbour",
    "timeline",
    "memories",
    "concepts",
    "sessions",
    "doctor",
    "activity",
];

/// A server of the page.
struct Shown {
    process: Client,
    /// `http://HOST:PORT/`.
    origin: String,
    /// The link that opens it once.
    link: String,
}

impl Shown {
    /// Shows a memory to look at.
    fn view(folder: &Folder) -> Shown {
        let process = Client::of(&mut folder.command(["view", "--no-open", "--db", DB]));
        let link = process.raw_line();
        let origin = link.split("#once=").next().unwrap().to_owned();
        Shown { process, origin, link }
    }

    /// Serves a memory with its tools, without a token.
    fn serve(folder: &Folder, listen: &str) -> Shown {
        let args = ["serve", "--db", DB, "--transport", "http", "--listen", listen, "--verbose"];
        let process = Client::of(&mut folder.command(args));
        let told = process.logged("listening");
        let address = told.split("http://").nth(1).expect(&told);
        let end = address.find(|it: char| !it.is_ascii_digit() && !".:".contains(it));
        let origin = format!("http://{}/", &address[..end.unwrap_or(address.len())]);
        Shown { process, link: origin.clone(), origin }
    }

    fn end(mut self) {
        signal(self.process.pid(), "TERM");
        self.process.wait();
    }
}

/// A small memory of notes with links, changes, tasks and concepts.
fn small() -> Folder {
    let many: String = (0..120).map(|it| format!("\n## Line {it}\n")).collect();
    let many = format!("# Many\n{many}");
    let folder = Folder::new()
        .file("notes/harbour.md", HARBOUR)
        .file("notes/many.md", many)
        .file("notes/crew/ana.md", "# Ana\n\nMaster of the [harbour](../harbour.md).\n")
        .file("notes/crew/עברית.md", "# שלום\n\nטקסט מימין לשמאל.\n");
    folder.ok(["compile", "notes", "--db", DB]);
    let mut client = Client::modern(&folder, &["--db", DB]);
    client.text("MemorySearch", json!({"query": "harbour"}));
    client.text("MemoryFetch", json!({"anchor": "harbour.md"}));
    client.text("MemoryWrite", json!({"payload": "The crane waits for a part."}));
    for (kind, text) in [("core", "Ships come first."), ("learning", "Cranes need oil.")] {
        client.text("MemoryRemember", json!({"content": text, "kind": kind}));
    }
    let task = json!({"content": "Mend the crane.", "kind": "task",
                      "task_metadata": {"status": "blocked", "blockers": ["the part"]}});
    client.text("MemoryRemember", task);
    let facts = ["The crane lifts 5 t.", "The crane lifts 7 t."]
        .map(|text| json!({"op": "fact", "subject": "crane", "attribute": "load", "text": text}));
    client.text("MemoryApply", json!({"operations": facts}));
    client.text("MemoryRemember", json!({"content": "The crane stopped twice.", "topic": "Crane"}));
    client.end();
    folder
}

const HARBOUR: &str = "# Harbour\n\nShips wait in the *harbour*. See [[Ana]] and [[Nobody]].\n\n\
                       ## Berths\n\n| berth | ship |\n|---|---|\n| 1 | Aurora |\n\n- [x] swept\n- [ ] \
                       painted\n\n```sh\nmake berth\n```\n";

/// Returns the check for accessibility, where `make browser` fetched it.
fn axe() -> Option<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(".tools/axe.min.js");
    let script = fs::read_to_string(path).ok();
    assert!(script.is_some() || std::env::var_os("BROWSER_REQUIRED").is_none(), "no axe-core");
    script
}

/// Checks what every view must be: readable by all, as wide as the window.
#[track_caller]
fn check(tab: &Tab, browser: &mut Browser, axe: Option<&str>, name: &str) {
    let wider = tab.eval(browser, "document.documentElement.scrollWidth - innerWidth");
    assert!(wider.as_i64().unwrap() <= 0, "{name} scrolls sideways by {wider}");
    assert_eq!(tab.eval(browser, "document.querySelectorAll('h1').length"), 1, "{name}");
    let Some(axe) = axe else { return };
    if tab.eval(browser, "typeof axe") != "object" {
        tab.eval(browser, &format!("{axe};0"));
    }
    let run =
        "axe.run(document, {resultTypes: ['violations']}).then((it) => it.violations.map((v) =>
               v.id + ': ' + v.nodes.map((n) => n.target + ' ' + n.failureSummary).slice(0, 3)))";
    let violations = tab.eval(browser, run);
    assert_eq!(violations, json!([]), "{name}");
}

/// Checks views in light and dark, wide and narrow.
#[track_caller]
fn check_all(tab: &Tab, browser: &mut Browser, axe: Option<&str>, views: &[&str]) {
    for (scheme, width) in [("light", 1280), ("dark", 1280), ("light", 360), ("dark", 360)] {
        tab.look(browser, scheme, width);
        for view in views {
            tab.show(browser, view);
            check(tab, browser, axe, &format!("{view}, {scheme}, {width}"));
        }
    }
}

/// Returns the files of a memory, whose bytes looking must not change.
fn bytes(folder: &Folder) -> Vec<Vec<u8>> {
    ["memory.db", "memory.db-wal"].map(|it| fs::read(folder.path(it)).unwrap_or_default()).into()
}

#[test]
fn every_view_is_clean_in_light_and_dark_wide_and_narrow_and_leaves_no_trace() {
    let Some(mut browser) = Browser::start() else { return };
    let axe = axe();
    let empty = Folder::new();
    empty.ok(["compile", "--db", DB, "."]);
    for (size, folder) in [("empty", empty), ("small", small())] {
        let before = bytes(&folder);
        let shown = Shown::view(&folder);
        let tab = browser.open(&shown.link);
        tab.until(&mut browser, "document.body.dataset.shown === 'overview'");
        let of_notes = ["node/harbour.md", "graph/harbour.md", "tree/many.md", "timeline/1"];
        let of_notes = if size == "small" { &of_notes[..] } else { &[] };
        check_all(&tab, &mut browser, axe.as_deref(), &[&VIEWS[..], of_notes].concat());
        assert_eq!(browser.complaints(&shown.origin), [""; 0]);
        browser.forget_events();
        shown.end();
        assert!(before == bytes(&folder), "looking changed the memory ({size})");
        assert!(!folder.path(".remindb/history").exists());
    }
}

#[test]
fn keys_alone_reach_a_search_a_node_and_the_way_back() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = small();
    let shown = Shown::view(&folder);
    let tab = browser.open(&shown.link);
    let browser = &mut browser;
    tab.until(browser, "document.body.dataset.shown === 'overview'");
    tab.press(browser, "/");
    tab.write(browser, "who waits in the harbour");
    tab.press(browser, "Enter");
    tab.until(browser, "document.querySelector('.hits a.to')");
    // The heading has the focus; the first hit follows after the choices.
    for _ in 0..20 {
        tab.press(browser, "Tab");
        if tab.eval(browser, "document.activeElement.matches('.hits a.to')") == true {
            break;
        }
    }
    tab.press(browser, "Enter");
    tab.until(browser, "location.hash.startsWith('#node/') && document.querySelector('.prose')");
    tab.press(browser, "Escape");
    tab.until(browser, "location.hash.startsWith('#search/') && document.querySelector('.hits')");
    tab.press(browser, "2");
    tab.until(browser, "document.querySelector('[role=treeitem]')");
    for _ in 0..30 {
        tab.press(browser, "Tab");
        if tab.eval(browser, "document.activeElement.matches('[role=treeitem]')") == true {
            break;
        }
    }
    let n_rows = "document.querySelectorAll('[role=treeitem]').length";
    let n = tab.eval(browser, n_rows).as_i64().unwrap();
    tab.press(browser, "ArrowRight");
    tab.until(browser, &format!("{n_rows} > {n}"));
    tab.press(browser, "ArrowLeft");
    tab.until(browser, &format!("{n_rows} === {n}"));
    let rows = "document.querySelectorAll('[data-id]').length";
    tab.show(browser, "tree/many.md");
    // The only heading of a file is open at once.
    tab.until(browser, &format!("{rows} === 101"));
    tab.eval(browser, "document.querySelector('[role=treeitem]').focus()");
    tab.press(browser, "ArrowLeft");
    tab.until(browser, &format!("{rows} === 1"));
    tab.press(browser, "ArrowRight");
    tab.until(browser, &format!("{rows} === 101"));
    tab.press(browser, "End");
    tab.press(browser, "Enter");
    tab.until(browser, &format!("{rows} === 121"));
    tab.press(browser, "?");
    tab.until(browser, "document.querySelector('dialog[open]')");
    tab.press(browser, "Escape");
    tab.until(browser, "!document.querySelector('dialog')");
    assert_eq!(browser.complaints(&shown.origin), [""; 0]);
    shown.end();
}

#[test]
fn a_write_of_another_process_appears_in_nine_tabs_and_a_restart_is_survived() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = small();
    let shown = Shown::serve(&folder, "127.0.0.1:0");
    let place = format!("{}#timeline", shown.origin);
    let tabs: Vec<Tab> = (0..9).map(|_| browser.open(&place)).collect();
    let browser = &mut browser;
    for tab in &tabs {
        tab.until(browser, "document.body.dataset.shown === 'timeline'");
    }
    tabs[8].until(browser, "document.body.dataset.live === 'live'");
    folder.ok(["remember", "--db", DB, "Seen everywhere."]);
    let took = tabs[8].until(browser, "document.body.innerText.includes('remember')");
    eprintln!("a write was on the page after {took:.0} ms");
    // Other tests beside it may take the machine.
    assert!(took < 1000.0 || std::env::var_os("BROWSER_REQUIRED").is_none(), "{took:.0} ms");
    // A tab that is not in front reads when somebody looks at it.
    for tab in &tabs {
        tab.call(browser, "Page.bringToFront", json!({}));
        tab.until(browser, "document.body.dataset.live === 'live'");
        tab.until(browser, "document.querySelectorAll('.snapshot').length > 5");
    }
    assert_eq!(browser.complaints(&shown.origin), [""; 0]);
    browser.forget_events();
    let listen = shown.origin["http://".len()..].trim_end_matches('/').to_owned();
    shown.end();
    let last = tabs.last().unwrap();
    last.until(browser, "document.body.dataset.live === 'offline'");
    assert!(last.text(browser).contains("remember"), "what was there stays");
    let shown = Shown::serve(&folder, &listen);
    last.until(browser, "document.body.dataset.live === 'live'");
    shown.end();
}

#[test]
fn hostile_notes_do_nothing() {
    let Some(mut browser) = Browser::start() else { return };
    let hostile = format!(
        "# <script>alert(1)</script> \u{202e}gnorw\n\n<img src=x onerror=alert(2)>\n\n\
         [a](javascript:alert(3)) [b](https://evil.example/) ![c](https://evil.example/c.png)\n\n\
         <iframe src=\"https://evil.example\"></iframe>\n\n<style>*{{display:none}}</style>\n\n{}\n",
        "x".repeat(1_000_000)
    );
    let long = format!("notes/{}/{}.md", "d".repeat(250), "e".repeat(250));
    let folder = Folder::new()
        .file("notes/<img src=x onerror=alert(4)>.md", hostile)
        .file(&long, format!("# {}\n\n{}\n", "f".repeat(300), "g".repeat(3_000)));
    folder.ok(["compile", "notes", "--db", DB]);
    folder.ok(["remember", "--db", DB, "<script>alert(5)</script>"]);
    let shown = Shown::view(&folder);
    let tab = browser.open(&shown.link);
    let browser = &mut browser;
    tab.until(browser, "document.body.dataset.shown === 'overview'");
    for view in
        ["overview", "tree", "search/alert", "timeline", "timeline/1", "memories", "concepts"]
    {
        for width in [1280, 360] {
            tab.look(browser, "light", width);
            tab.show(browser, view);
            check(&tab, browser, None, &format!("{view}, {width}"));
        }
    }
    let ids = "[...document.querySelectorAll('[role=treeitem]')].map((it) => it.dataset.id)";
    tab.show(browser, "tree");
    let root = tab.eval(browser, ids)[0].as_str().unwrap().to_owned();
    tab.show(browser, &format!("node/{root}"));
    let links = "[...document.querySelectorAll('.rows a')].map((it) => it.hash)";
    for hash in tab.eval(browser, links).as_array().unwrap().clone() {
        let place = hash.as_str().unwrap().trim_start_matches('#').to_owned();
        tab.show(browser, &place);
        let bad = "document.querySelectorAll('#body script, #body iframe, #body img, #body style, \
                   #body a:not([href^=\"#\"])').length";
        assert_eq!(tab.eval(browser, bad), 0, "{place}");
        check(&tab, browser, None, &place);
    }
    assert_eq!(browser.complaints(&shown.origin), [""; 0]);
    shown.end();
}

#[test]
fn without_its_link_the_page_asks_for_a_token() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = small();
    let shown = Shown::view(&folder);
    let browser = &mut browser;
    let locked = "document.body.dataset.shown === 'locked'";
    let stranger = browser.open(&shown.origin);
    stranger.until(browser, locked);
    stranger.eval(browser, "document.querySelector('#token').focus()");
    stranger.write(browser, "wrong");
    stranger.press(browser, "Enter");
    stranger.until(browser, &format!("{locked} && !document.querySelector('#token').value"));
    let tab = browser.open(&shown.link);
    tab.until(browser, "document.body.dataset.shown === 'overview'");
    assert_eq!(tab.eval(browser, "location.hash"), "#overview", "the secret stays in no address");
    // Another tab gets the token from this one; the link itself is used up.
    let second = browser.open(&shown.link);
    second.until(browser, "document.body.dataset.shown === 'overview'");
    let mut other = Browser::start().unwrap();
    let late = other.open(&shown.link);
    late.until(&mut other, locked);
    shown.end();
}

#[test]
fn what_the_page_does_is_one_snapshot_that_it_can_undo() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = small();
    let shown = Shown::serve(&folder, "127.0.0.1:0");
    let browser = &mut browser;
    let tab = browser.open(&format!("{}#node/harbour.md", shown.origin));
    let click = |text: &str| {
        format!(
            "[...document.querySelectorAll('button')].filter((it) => it.textContent === '{text}')\
             .at(-1).click()"
        )
    };
    tab.until(browser, "document.body.dataset.shown === 'node'");
    tab.eval(browser, &click("Pin"));
    tab.until(browser, "document.querySelector('dialog[open]')");
    tab.eval(browser, "document.querySelector('dialog .main').click()");
    tab.until(browser, "document.body.innerText.includes('Unpin')");
    // An edit, and its undo.
    tab.show(browser, "tree");
    let label = "[...document.querySelectorAll('[role=treeitem]')].find((it) => \
                 it.getAttribute('aria-label').includes('crane waits'))";
    tab.until(browser, label);
    let id = tab.eval(browser, &format!("{label}.dataset.id"));
    tab.show(browser, &format!("node/{}", id.as_str().unwrap()));
    tab.eval(browser, &click("Edit"));
    tab.until(browser, "document.querySelector('dialog textarea')");
    tab.eval(browser, "document.querySelector('dialog textarea').value = 'The crane works.'");
    tab.eval(browser, "document.querySelector('dialog .main').click()");
    tab.until(browser, "document.querySelector('.prose').innerText.includes('The crane works.')");
    tab.until(browser, "document.querySelector('#toast button')");
    tab.eval(browser, "document.querySelector('#toast button').click()");
    tab.until(browser, "document.querySelector('.prose').innerText.includes('waits for a part')");
    assert_eq!(browser.complaints(&shown.origin), [""; 0]);
    shown.end();
    folder.assert_healthy(DB);
}

#[test]
#[ignore = "makes a memory of a million nodes"]
fn a_million_nodes_are_shown_at_once() {
    let folder = Folder::new();
    for nth in 0..20_000 {
        let mut dice = Dice::new(nth);
        let mut text = format!("# Note {nth}\n");
        for section in 0..10 {
            text.push_str(&format!("\n## Part {section}\n"));
            for _ in 0..4 {
                let words: Vec<String> =
                    (0..12).map(|_| format!("word{}", dice.below(5_000))).collect();
                text.push_str(&format!("\n{}.\n", words.join(" ")));
            }
        }
        folder.write(format!("notes/area{}/part{}/{nth}.md", nth % 40, nth / 40 % 25), text);
    }
    folder.ok(["compile", "notes", "--db", DB]);
    let before = bytes(&folder);
    let shown = Shown::view(&folder);
    let mut browser = Browser::start().expect("Chromium");
    let tab = browser.open(&shown.link);
    let browser = &mut browser;
    tab.until(browser, "document.body.dataset.shown === 'overview'");
    tab.call(browser, "Page.reload", json!({}));
    tab.until(browser, "performance.getEntriesByName('shown:overview').length");
    let [paint, boxes] = [
        "performance.getEntriesByName('first-contentful-paint')[0].startTime",
        "performance.getEntriesByName('shown:overview')[0].startTime",
    ]
    .map(|it| tab.eval(browser, it).as_f64().unwrap());
    eprintln!("a million nodes, warm: first paint after {paint:.0} ms, boxes after {boxes:.0} ms");
    assert!(tab.text(browser).contains("1,0"), "{}", tab.text(browser));
    let views = VIEWS.map(|it| if it.starts_with("search") { "search/word1%20word2" } else { it });
    let views = [&views[..], &["timeline/1"]].concat();
    check_all(&tab, browser, axe().as_deref(), &views);
    let items = "document.querySelectorAll('[data-id]').length";
    tab.show(browser, "tree");
    assert_eq!(tab.eval(browser, items), 100);
    assert_eq!(browser.complaints(&shown.origin), [""; 0]);
    shown.end();
    assert!(before == bytes(&folder), "looking changed the memory");
}

/// Takes the pictures of the manual into the folder that `PICTURES` names.
#[test]
#[ignore = "makes pictures for the manual"]
fn pictures() {
    let folder = Folder::new();
    for page in fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/docs")).unwrap() {
        let page = page.unwrap();
        let name = Path::new("manual").join(page.file_name());
        fs::read(page.path()).ok().into_iter().for_each(|text| folder.write(&name, text));
    }
    folder.ok(["compile", "manual", "--db", DB]);
    let mut client = Client::modern(&folder, &["--db", DB]);
    for question in ["how do I undo a write", "redaction of secrets", "heat of nodes"] {
        client.text("MemorySearch", json!({"query": question, "detail": "full", "budget": 2000}));
    }
    client.text("MemoryFetch", json!({"anchor": "heat.md"}));
    client
        .text("MemoryWrite", json!({"payload": "# Decisions\n\nThe budget of a reply is 2,000."}));
    client.end();
    let shown = Shown::serve(&folder, "127.0.0.1:0");
    let mut browser = Browser::start().expect("Chromium");
    let into = std::env::var_os("PICTURES").expect("PICTURES names a folder");
    let into = Path::new(&into);
    fs::create_dir_all(into).unwrap();
    let tab = browser.open(&shown.link);
    tab.until(&mut browser, "document.body.dataset.shown === 'overview'");
    let wanted = std::env::var("VIEWS");
    let wanted = wanted.as_deref().unwrap_or("overview search/undo%20a%20write");
    for (scheme, width) in [("light", 1280), ("dark", 1280)] {
        tab.look(&mut browser, scheme, width);
        for place in wanted.split(' ') {
            tab.show(&mut browser, place);
            // Readers need not see where this test keeps its files.
            let place_of_memory =
                "document.querySelector('#place').textContent = '~/notes/.remindb/memory.db'";
            tab.eval(&mut browser, place_of_memory);
            let name = place.split('/').next().unwrap();
            tab.picture(&mut browser, &into.join(format!("{name}-{scheme}.png")));
        }
    }
    shown.end();
}
