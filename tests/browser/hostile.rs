//! Notes that attack the page: no dialog opens, nothing navigates, nothing runs.

use super::chrome::Chrome;
use super::server::{Notes, Server};
use super::views::show;

const ATTACK: &str = "# <img src=x onerror=alert(1)> title\n\n\
    <script>alert(2)</script>\n\n<iframe src=\"javascript:alert(3)\"></iframe>\n\n\
    [run](javascript:alert(4)) [data](data:text/html,<script>alert(5)</script>) \
    [out](https://example.invalid/out) <https://example.invalid/auto>\n\n\
    ![pixel](https://example.invalid/pixel.png)\n\n\
    | <svg onload=alert(6)> | b |\n|---|---|\n| `<b>` | <a href=\"javascript:alert(7)\">x</a> |\n\n\
    \u{202e}reversed \u{2066}isolated text\n\n\
    <style>body{display:none}</style><form action=https://example.invalid/><button>Go</button></form>\n";

pub(crate) fn notes(chrome: &Chrome) {
    let long = format!("# Long\n\n{}\n", "wide".repeat(256 * 1024));
    let name = "# \u{202e}<script>alert(8)</script>\n\ntext\n";
    let notes = Notes::new(&[
        ("attack.md", ATTACK),
        ("long.md", &long),
        ("<img onerror=alert(9)>.md", name),
    ]);
    let server = Server::new(&notes);
    let tab = chrome.tab();
    tab.look("light", 360, 800);
    tab.open(&server.page("overview"));
    tab.until("document.body.dataset.shown === 'overview'");
    let tree = server.read("remindb://tree");
    let mut ids = Vec::new();
    collect(&tree["roots"], &mut ids);
    let mut places: Vec<String> = ids.iter().map(|it| format!("node/{it}")).collect();
    places.extend(ids.iter().take(3).map(|it| format!("graph/{it}")));
    for at in ["tree", "timeline", "timeline/1", "search/alert", "search/wide", "activity"] {
        places.push(at.to_owned());
    }
    places.push("search/%3Cimg%20src=x%20onerror=alert(10)%3E".to_owned());
    for at in &places {
        show(&tab, at);
        let wider = tab.value("document.documentElement.scrollWidth - innerWidth");
        assert!(wider.as_i64().unwrap() <= 0, "{at}: {wider} px too wide");
        // Each link and button of the notes themselves is pressed.
        tab.value("document.querySelectorAll('.prose *').forEach((it) => it.click?.()); 0");
        assert!(tab.value("location.origin").as_str().unwrap() == server.origin, "{at}");
        let made =
            tab.value("document.querySelectorAll('body script, iframe, img, body style').length");
        assert_eq!(made, 0, "{at}");
    }
    let problems = tab.problems(&server.origin);
    let problems: Vec<_> = problems.iter().filter(|it| !it.starts_with("log: \"Failed")).collect();
    assert!(problems.is_empty(), "{problems:?}");
    tab.close();
}

fn collect(nodes: &serde_json::Value, ids: &mut Vec<String>) {
    for node in nodes.as_array().unwrap() {
        ids.push(node["id"].as_str().unwrap().to_owned());
        collect(&node["children"], ids);
    }
}
