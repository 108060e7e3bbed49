//! Getting in: no token, a wrong one, the right one, and links that work once.

use super::chrome::Chrome;
use super::server::{Notes, Server};
use super::views::NOTES;

const TOKEN: &str = "a-token-that-nobody-guesses";

pub(crate) fn tokens(chrome: &Chrome) {
    let notes = Notes::new(NOTES);
    std::fs::write(notes.path("token"), TOKEN).unwrap();
    let server = Server::at(&notes, "127.0.0.1:0", &["--token-file", "token"]);
    let tab = chrome.private_tab();
    tab.open(&server.page("tree"));
    let enter = |token: &str| {
        tab.until("document.body.dataset.shown === 'locked' && document.querySelector('#token')");
        tab.value(
            "delete document.body.dataset.shown; document.querySelector('#token').focus(); 0",
        );
        tab.typed(token);
        tab.key("Enter", "\r");
    };
    enter("wrong");
    enter(TOKEN);
    tab.until("document.body.dataset.shown === 'tree' && document.querySelector('.tree a')");
    tab.until("document.body.dataset.live === 'live'");
    tab.close();
    links(chrome, &notes);
}

fn links(chrome: &Chrome, notes: &Notes) {
    let (mut server, link) = Server::view(notes);
    let tab = chrome.private_tab();
    tab.open(&link);
    tab.until("document.body.dataset.shown === 'overview'");
    assert_eq!(tab.value("location.hash"), "#overview", "the secret stays out of the address");
    tab.until("document.body.dataset.live === 'live'");
    assert_eq!(tab.problems(&server.origin), [""; 0]);
    let other = chrome.private_tab();
    other.open(&link);
    other.until("document.body.dataset.shown === 'locked'");
    other.open(&server.next_link());
    other.until("document.body.dataset.shown === 'overview'");
    tab.close();
    other.close();
}
