//! PNGs of the page for the manual: small, light and dark.

use std::fs;
use std::path::Path;

use super::chrome::Chrome;
use super::views::{filled, show};

pub(crate) fn take(chrome: &Chrome, folder: &Path) {
    let (_notes, server) = filled();
    let cache = server.id("Cache");
    fs::create_dir_all(folder).unwrap();
    let tab = chrome.tab();
    tab.open(&server.page("overview"));
    tab.until("document.body.dataset.live === 'live'");
    for (name, at) in [
        ("overview", "overview".to_owned()),
        ("search", "search/cache%20deploy".to_owned()),
        ("node", format!("node/{cache}")),
        ("timeline", "timeline".to_owned()),
    ] {
        for scheme in ["light", "dark"] {
            tab.look(scheme, 1100, 720);
            show(&tab, &at);
            let picture = tab.picture();
            println!("{name}-{scheme}.png: {} bytes", picture.len());
            fs::write(folder.join(format!("{name}-{scheme}.png")), picture).unwrap();
        }
    }
}
