//! The files of the page, who may load them, and the exchange of a link for the token.

use expect_test::{Expect, expect};
use serde_json::json;

use super::super::one_time_links::LINK_MS;
use super::super::*;
use super::client::{Answer, Client, Up};
use crate::model::clock::UnixMillis;

const TOKEN: &str = "a-token-that-nobody-guesses";

#[track_caller]
fn check(path: &str, head: Expect) {
    let up = Up::new(|_| ());
    let answer = get(&mut up.client(), "GET", path, "");
    let is_of_file = |name: &str| matches!(name, "etag" | "content-length");
    let lines = answer.fields.iter().map(|(name, value)| match is_of_file(name) {
        true => format!("{name}\n"),
        false => format!("{name}: {value}\n"),
    });
    head.assert_eq(&format!("{}\n{}", answer.status, lines.collect::<String>()));
}

fn get(client: &mut Client, method: &str, path: &str, fields: &str) -> Answer {
    let host = client.address;
    client.write(format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\n{fields}\r\n"));
    match method {
        "HEAD" => client.head(),
        _ => client.answer(),
    }
}

#[test]
fn each_file_has_its_own_headers() {
    check(
        "/",
        expect![[r#"
            200
            cache-control: no-cache
            x-content-type-options: nosniff
            content-type: text/html; charset=utf-8
            etag
            content-security-policy: default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'
            cross-origin-opener-policy: same-origin
            referrer-policy: no-referrer
            content-length
        "#]],
    );
    check(
        "/app.js",
        expect![[r#"
            200
            cache-control: no-cache
            x-content-type-options: nosniff
            content-type: text/javascript; charset=utf-8
            etag
            content-security-policy: default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'
            cross-origin-opener-policy: same-origin
            content-length
        "#]],
    );
    check(
        "/app.css",
        expect![[r#"
            200
            cache-control: no-cache
            x-content-type-options: nosniff
            content-type: text/css; charset=utf-8
            etag
            content-security-policy: default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'
            cross-origin-opener-policy: same-origin
            content-length
        "#]],
    );
}

#[test]
fn a_known_file_is_not_sent_again() {
    let up = Up::new(|_| ());
    let mut client = up.client();
    for (path, text) in [
        ("/", include_str!("../page/index.html")),
        ("/app.js", page::SCRIPT),
        ("/app.css", include_str!("../page/app.css")),
    ] {
        let whole = get(&mut client, "GET", path, "");
        assert_eq!((whole.status, whole.text.as_str()), (200, text));
        let tag = whole.field("etag").unwrap();
        for known in [tag.clone(), format!("W/{tag}"), format!("\"a\", {tag}"), "*".to_owned()] {
            let fields = format!("If-None-Match: {known}\r\n");
            let same = get(&mut client, "GET", path, &fields);
            assert_eq!((same.status, same.text.as_str()), (304, ""), "{known}");
            assert_eq!(same.field("etag").as_ref(), Some(&tag));
            assert_eq!(same.field("content-length"), None);
        }
        let other = get(&mut client, "GET", path, "If-None-Match: \"a\"\r\n");
        assert_eq!(other.status, 200);
        let head = get(&mut client, "HEAD", path, "");
        assert_eq!(head.status, 200);
        assert_eq!(head.field("content-length"), Some(text.len().to_string()));
    }
}

#[test]
fn other_sites_may_link_to_the_page_and_nothing_else() {
    let token = BearerToken::new(TOKEN).unwrap();
    let up = Up::with_links(Limits::default(), Some(token), None);
    let mut client = up.client();
    let mut of = |method: &str, path: &str, fields: &str| {
        get(&mut client, method, path, &fields.replace('\n', "\r\n")).status
    };
    let link = "Sec-Fetch-Site: cross-site\nSec-Fetch-Mode: navigate\nSec-Fetch-Dest: document\n";
    assert_eq!(of("GET", "/", link), 200);
    assert_eq!(of("GET", "/", &link.replace("cross-site", "same-site")), 200);
    assert_eq!(of("GET", "/?a=b", link), 200);
    assert_eq!(of("GET", "/", "Sec-Fetch-Site: none\nSec-Fetch-Mode: navigate\n"), 200);
    assert_eq!(of("GET", "/app.js", "Sec-Fetch-Site: same-origin\nSec-Fetch-Mode: cors\n"), 200);
    for mode in ["cors", "no-cors", "same-origin", "websocket", ""] {
        assert_eq!(of("GET", "/", &link.replace("navigate", mode)), 403, "{mode}");
    }
    assert_eq!(of("GET", "/", "Sec-Fetch-Site: cross-site\n"), 403);
    assert_eq!(of("HEAD", "/", link), 403);
    assert_eq!(of("GET", "/", &format!("{link}Sec-Fetch-Mode: cors\n")), 403);
    assert_eq!(of("GET", "/", &format!("{link}Origin: https://evil.example\n")), 403);
    for path in ["/app.js", "/app.css", "/mcp", "/health", "/session", "/other"] {
        assert_eq!(of("GET", path, link), 403, "{path}");
    }
    for (host, status) in [("localhost", 200), ("evil.example", 403), ("a\r\nHost: b", 400)] {
        let fields = link.replace('\n', "\r\n");
        let mut client = up.client();
        client.write(format!("GET / HTTP/1.1\r\nHost: {host}\r\n{fields}\r\n"));
        assert_eq!(client.answer().status, status, "{host}");
    }
}

fn exchange(up: &Up, fields: &str, body: &str) -> (u16, String) {
    let mut client = up.client();
    let (host, n) = (client.address, body.len());
    client.write(format!(
        "POST /session HTTP/1.1\r\nHost: {host}\r\nContent-Length: {n}\r\n{fields}\r\n{body}"
    ));
    let answer = client.answer();
    (answer.status, answer.text)
}

const JSON: &str = "Content-Type: application/json\r\n";

/// Starts a server with links on a clock that stands still.
fn linked() -> (Up, Arc<OneTimeLinks>, Clock) {
    let clock = Clock::manual(UnixMillis(1_700_000_000_000));
    let links = Arc::new(OneTimeLinks::new(&clock).unwrap());
    let token = BearerToken::new(TOKEN).unwrap();
    let up = Up::with_links(Limits::default(), Some(token), Some(Arc::clone(&links)));
    (up, links, clock)
}

fn body(once: &str) -> String {
    json!({"once": once}).to_string()
}

#[test]
fn a_link_is_exchanged_once() {
    let (up, links, _) = linked();
    let (one, other) = (links.make().unwrap(), links.make().unwrap());
    assert_ne!(one, other);
    let is_url = |it: &str| it.bytes().all(|it| it.is_ascii_alphanumeric() || b"-_".contains(&it));
    assert!(one.len() == 22 && is_url(&one), "{one}");
    let token = format!("{{\"token\":\"{TOKEN}\"}}");
    assert_eq!(exchange(&up, JSON, &body(&one)), (200, token.clone()));
    assert_eq!(exchange(&up, JSON, &body(&one)).0, 401, "used");
    assert_eq!(exchange(&up, JSON, &body(&other)), (200, token));
    assert_eq!(up.client().ask("GET", "Accept: text/event-stream\r\n").status, 401);
}

#[test]
fn a_refused_exchange_does_not_use_the_link_up() {
    let (up, links, _) = linked();
    let once = links.make().unwrap();
    let good = body(&once);
    for (fields, body, status) in [
        (JSON, body("AAAAAAAAAAAAAAAAAAAAAA"), 401),
        (JSON, body(""), 401),
        (JSON, body(&once[1..]), 401),
        (JSON, body(&format!("{once}A")), 401),
        (JSON, String::new(), 400),
        (JSON, "[]".to_owned(), 400),
        (JSON, "{\"once\":1}".to_owned(), 400),
        (JSON, format!("{{\"once\":\"{once}\",\"more\":1}}"), 400),
        (JSON, format!("{{\"once\":\"{once}\",\"once\":\"{once}\"}}"), 400),
        ("Content-Type: text/plain\r\n", good.clone(), 415),
        ("", good.clone(), 415),
        ("Content-Type: application/json\r\nOrigin: https://evil.example\r\n", good.clone(), 403),
        ("Content-Type: application/json\r\nSec-Fetch-Site: cross-site\r\n", good.clone(), 403),
    ] {
        assert_eq!(exchange(&up, fields, &body).0, status, "{fields}{body}");
    }
    assert_eq!(exchange(&up, JSON, &good).0, 200);
}

#[test]
fn a_link_ends_after_a_minute() {
    let (up, links, clock) = linked();
    let (early, late) = (links.make().unwrap(), links.make().unwrap());
    clock.advance(LINK_MS - 1);
    assert_eq!(exchange(&up, JSON, &body(&early)).0, 200);
    clock.advance(1);
    assert_eq!(exchange(&up, JSON, &body(&late)).0, 401, "expired");
    assert_eq!(exchange(&up, JSON, &body(&links.make().unwrap())).0, 200);
}

#[test]
fn a_server_without_links_has_no_exchange() {
    let up = Up::new(|_| ());
    assert_eq!(exchange(&up, JSON, &body("AAAAAAAAAAAAAAAAAAAAAA")).0, 401);
}

#[test]
fn the_sources_are_small_and_reach_nothing_outside() {
    // Views of knowledge may add half of what the others have.
    const BYTES_MAX: usize = 65_536 * 3 / 2;
    let files = [
        ("index.html", include_str!("../page/index.html")),
        ("app.js", page::SCRIPT),
        ("app.css", include_str!("../page/app.css")),
    ];
    let n_bytes: usize = files.iter().map(|it| it.1.len()).sum();
    assert!(n_bytes <= BYTES_MAX, "{n_bytes} bytes");
    for (name, text) in files {
        // The name of a notation is no address.
        let text = text.replace("http://www.w3.org/2000/svg", "");
        for forbidden in [
            "http:",
            "https:",
            "innerHTML",
            "outerHTML",
            "insertAdjacent",
            "document.write",
            "eval(",
            "Function(",
            "style=",
            "onclick=",
            "localStorage",
            "cookie",
            "import(",
            "@import",
            "url(",
        ] {
            assert!(!text.contains(forbidden), "`{forbidden}` is in {name}");
        }
    }
}
