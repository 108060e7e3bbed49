//! Every view, light and dark, wide and narrow: axe-core finds nothing, the console is empty, no
//! request leaves the origin, and nothing is wider than the window.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::chrome::{Chrome, Tab};
use super::server::{Notes, Server};

pub(crate) const MAIN: &[&str] = &[
    "overview", "tree", "search", "timeline", "memories", "concepts", "sessions", "doctor",
    "activity",
];

/// Returns the source of axe-core, which `make browser` fetches.
pub(crate) fn axe() -> Option<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(".tools/axe-core/axe.min.js");
    fs::read_to_string(path).ok()
}

pub(crate) fn empty(chrome: &Chrome) {
    let notes = Notes::new(&[]);
    let server = Server::new(&notes);
    check(chrome, &server, MAIN);
}

pub(crate) fn small(chrome: &Chrome) {
    let (_notes, server) = filled();
    let (cache, budget) = (server.id("Cache"), server.id("Budget"));
    let concepts = server.read("remindb://concepts");
    let concept = concepts["concepts"][0]["id"].as_str().unwrap().to_owned();
    let more = [
        format!("node/{cache}"),
        format!("graph/{cache}"),
        format!("node/{budget}"),
        format!("concepts/{concept}"),
        "search/cache%20deploy".to_owned(),
        "search/nothingatall".to_owned(),
        "timeline/1".to_owned(),
        "timeline/2..4".to_owned(),
        "overview/design".to_owned(),
        "tree/design%2Fcache.md".to_owned(),
        "node/nothing".to_owned(),
    ];
    let all: Vec<&str> = MAIN.iter().copied().chain(more.iter().map(String::as_str)).collect();
    check(chrome, &server, &all);
}

/// Shows every view in every look.
#[track_caller]
fn check(chrome: &Chrome, server: &Server, views: &[&str]) {
    let axe = axe().unwrap();
    let tab = chrome.tab();
    let mut wrong: Vec<String> = Vec::new();
    for (scheme, width) in [("light", 1280), ("dark", 1280), ("light", 360), ("dark", 360)] {
        tab.look(scheme, width, 800);
        tab.open(&server.page("overview"));
        tab.until("document.body.dataset.shown === 'overview'");
        tab.value(&axe);
        for view in views {
            show(&tab, view);
            let wider = tab.value("document.documentElement.scrollWidth - innerWidth");
            if 0 < wider.as_i64().unwrap() {
                wrong.push(format!("{view} {scheme} {width}: {wider} px too wide"));
            }
            let found = tab.value(
                "axe.run(document, {resultTypes: ['violations']}).then((it) => it.violations.map(
                   (it) => it.id + ' ' + it.nodes.map((it) => it.target + ' '
                     + (it.any[0]?.message ?? '')).slice(0, 3).join(' | ')))",
            );
            for it in found.as_array().unwrap() {
                wrong.push(format!("{view} {scheme} {width}: axe {it}"));
            }
        }
    }
    wrong.extend(tab.problems(&server.origin));
    // An address of nothing is answered by an error, which is all that the console has.
    wrong.retain(|it| !it.contains("400 (Bad Request)") && !it.contains("404 (Not Found)"));
    tab.close();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// Goes to a view, and waits until its data is drawn, or its error.
#[track_caller]
pub(crate) fn show(tab: &Tab, at: &str) {
    let to = json!(format!("#{at}"));
    tab.value(&format!(
        "performance.clearMarks(); delete document.body.dataset.shown;
         location.hash === {to} ? dispatchEvent(new Event('hashchange')) : location.hash = {to}; 0"
    ));
    let name = at.split('/').next().unwrap();
    tab.until(&format!(
        "performance.getEntriesByName('shown:{name}').length || document.querySelector('.failed')"
    ));
}

/// The notes of a small team.
pub(crate) const NOTES: &[(&str, &str)] = &[
    (
        "design/cache.md",
        "# Cache\n\nSessions live in redis, see [[Budget]] and [the deploy](../ops/deploy.md).\n\n\
         ## Limits\n\n| key | value |\n|---|---:|\n| size | 2 GB |\n| age | 7 days |\n\n\
         ## Warm up\n\nThe cache is warmed before each deploy:\n\n```sh\nmake warm\n```\n\n\
         - [x] measure the misses\n- [ ] alarm on a cold start\n",
    ),
    (
        "design/budget.md",
        "# Budget\n\nA reply never exceeds its budget of tokens.\n\n## Sections\n\nEach section \
         counts its own tokens, and the rest is named.\n",
    ),
    (
        "ops/deploy.md",
        "# Deploy\n\nDeploys happen on Mondays, after the cache is warm.\n\n## Roll back\n\n1. Stop \
         the queue.\n2. Run `make back`.\n3. Tell [[Ada]].\n\n> Never on a Friday.\n",
    ),
    ("people/ada.md", "# Ada\n\nOwns the **cache**. Prefers short answers.\n"),
    ("people/dana.md", "# דנה\n\nכותבת את [[Deploy]] ואת המסמכים.\n"),
];

/// Serves the notes of a small team, with all that agents did in them.
pub(crate) fn filled() -> (Notes, Server) {
    let notes = Notes::new(NOTES);
    let server = Server::new(&notes);
    for query in ["cache deploy", "cache warm", "budget tokens"] {
        server.call("MemorySearch", json!({"query": query, "detail": "full"}));
    }
    for _ in 0..3 {
        server.call("MemoryFetch", json!({"anchor": server.id("Cache")}));
    }
    let limits = server.id("Limits");
    server.call("MemoryWrite", json!({"payload": "Ask before raising them.", "anchor": limits}));
    let text = server.read(&format!("remindb://children?of={}", server.id("Budget")));
    let text = &text["nodes"][0]["id"];
    server.call(
        "MemoryWrite",
        json!({"anchor": text,
        "payload": "A reply never exceeds its budget of tokens, whatever it holds."}),
    );
    server.call("MemoryPin", json!({"node_id": server.id("Deploy")}));
    for kind in [
        json!({"kind": "core", "content": "Prefers short answers", "importance": "high",
               "tags": ["style"]}),
        json!({"kind": "core", "content": "Deploys happen on Mondays", "tags": ["ops"]}),
        json!({"kind": "learning", "content": "A cold cache doubles the latency for ten minutes",
               "category": "ops"}),
        json!({"kind": "task", "content": "Write the release notes",
               "task_metadata": {"status": "in-progress"}}),
        json!({"kind": "task", "content": "Rotate the keys", "importance": "high",
               "task_metadata": {"status": "blocked", "blockers": ["access to the vault"]}}),
        json!({"kind": "fact", "content": "Redis listens on port 6379", "topic": "Deploy",
               "subject": "tool:redis", "attribute": "port"}),
        json!({"kind": "fact", "content": "Redis listens on port 6380", "topic": "Deploy",
               "subject": "tool:redis", "attribute": "port"}),
        json!({"kind": "decision", "content": "Sessions moved to redis, the disk was too slow",
               "topic": "Deploy", "entities": ["tool:redis", "person:ada"]}),
        json!({"kind": "outcome", "content": "The second deploy without warming took the site down",
               "topic": "Deploy"}),
    ] {
        server.call("MemoryRemember", kind);
    }
    consolidate(&server);
    (notes, server)
}

/// Makes a concept of the eldest episode that waits.
fn consolidate(server: &Server) {
    let work = server.read("remindb://review");
    let episode: &Value = &work["episodes"][0]["id"];
    server.call(
        "MemoryApply",
        json!({"operations": [{"op": "concept", "title": "Fast stores hold what is asked each time",
            "summary": "What each request reads belongs into memory, not on a disk.",
            "from": [episode], "topic": "Deploy"}]}),
    );
}
