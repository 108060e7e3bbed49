//! The page that shows a memory in a browser: three files inside the binary, without any data.
//!
//! The page is a client of `/mcp` like others. Its files hold no secrets and need no token. A
//! browser may keep them and asks each time whether they are still the same; their policy lets
//! nothing run, load or connect but the page itself.

use super::request_head::RequestHead;
use super::response::HttpResponse;
use crate::model::identity::ContentHash;

/// The methods of a file.
pub(super) const PAGE_METHODS: &str = "GET, HEAD";

/// Scripts, styles and requests of this origin alone; no HTML out of texts, and no frames.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
                      connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'; require-trusted-types-for 'script'; \
                      trusted-types 'none'";

/// A file of the page.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct PageFile {
    path: &'static str,
    kind: &'static str,
    text: &'static str,
}

const FILES: [PageFile; 3] = [
    PageFile {
        path: START,
        kind: "text/html; charset=utf-8",
        text: include_str!("page/index.html"),
    },
    PageFile { path: "/app.js", kind: "text/javascript; charset=utf-8", text: SCRIPT },
    PageFile {
        path: "/app.css",
        kind: "text/css; charset=utf-8",
        text: include_str!("page/app.css"),
    },
];

/// The script: its parts in the order of their use, as one module.
pub(super) const SCRIPT: &str = concat!(
    include_str!("page/words.js"),
    include_str!("page/client.js"),
    include_str!("page/dom.js"),
    include_str!("page/live.js"),
    include_str!("page/views/overview.js"),
    include_str!("page/views/tree.js"),
    include_str!("page/views/search.js"),
    include_str!("page/views/node.js"),
    include_str!("page/views/graph.js"),
    include_str!("page/views/timeline.js"),
    include_str!("page/views/server.js"),
    include_str!("page/views/knowledge.js"),
    include_str!("page/app.js"),
);

/// The path of the document, the only one that other sites may link to.
pub(super) const START: &str = "/";

/// Returns the file at a path.
pub(super) fn file_at(path: &str) -> Option<&'static PageFile> {
    FILES.iter().find(|it| it.path == path)
}

/// Returns whether a browser follows a link to the page, which any site may have.
pub(super) fn is_navigation(head: &RequestHead) -> bool {
    head.method == "GET" && head.path() == START && head.all("sec-fetch-mode").eq(["navigate"])
}

impl PageFile {
    /// Returns the response to a request for the file: its text, or that it is still the same.
    pub(super) fn response(&self, head: &RequestHead) -> HttpResponse {
        let tag = format!("\"{}\"", ContentHash::of(self.text));
        let is_known = |it: &str| {
            let it = it.trim();
            it == "*" || it.strip_prefix("W/").unwrap_or(it) == tag
        };
        let is_same = head.all("if-none-match").flat_map(|it| it.split(',')).any(is_known);
        let response = match is_same {
            true => HttpResponse::page(304, ""),
            false => HttpResponse::page(200, self.text).with("Content-Type", self.kind),
        };
        let response = response
            .with("ETag", tag)
            .with("Content-Security-Policy", POLICY)
            .with("Cross-Origin-Opener-Policy", "same-origin");
        match self.path {
            START => response.with("Referrer-Policy", "no-referrer"),
            _ => response,
        }
    }
}
