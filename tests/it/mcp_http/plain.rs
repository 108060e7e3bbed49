//! Knowledge over plain HTTP: the checks of every request, one database, an answer of JSON.

use super::*;

fn known() -> Folder {
    let folder = Folder::new();
    folder.ok(["remember", "`Redis` was slow at src/cache.rs.", "--db", "m.db"]);
    folder
}

#[test]
fn knowledge_is_read_without_a_protocol() {
    let folder = known();
    let up = Up::new(&folder, &[]);
    let get = |path: &str| up.send("GET", path, "", "");
    let episodes = get("/api/v1/episodes?db=m&limit=5&search=slow");
    assert_eq!(episodes.status, 200, "{episodes:?}");
    assert_eq!(episodes.field("content-type"), Some("application/json"));
    assert_eq!(episodes.field("cache-control"), Some("no-store"));
    let episodes = episodes.json();
    assert_eq!(episodes["total"], 1);
    let id = episodes["episodes"][0]["id"].as_str().unwrap();
    assert_eq!(get(&format!("/api/v1/episodes/{id}")).json()["consolidated"], false);
    let of_file = get("/api/v1/entities/file:src%2Fcache.rs/episodes").json();
    assert_eq!(of_file["total"], 1, "{of_file}");
    let body = json!({"query": "redis slow"}).to_string();
    let found = up.send("POST", "/api/v1/query", "", &body).json();
    assert!(found["formatted"].as_str().unwrap().contains("`Redis` was slow"), "{found}");
    for (path, status) in [
        ("/api/v1/nothing", 404),
        ("/api/v1/", 404),
        ("/api/v2/stats", 404),
        ("/api/v1/stats?db=/etc/passwd", 404),
        ("/api/v1/stats?db=..%2Fother", 404),
        ("/api/v1/episodes?limit=many", 400),
        ("/api/v1/episodes/%zz", 400),
        ("/api/v1/chat", 404),
    ] {
        let answer = get(path);
        assert_eq!(answer.status, status, "{path}");
        assert!(!answer.json()["error"].is_null(), "{path} {answer:?}");
    }
    let wrong = up.send("DELETE", "/api/v1/concepts", "", "");
    assert_eq!((wrong.status, wrong.field("allow")), (405, Some("GET")));
    assert!(!folder.path("other.db").exists());
    up.end();
    folder.assert_healthy("m.db");
}

#[test]
fn every_check_of_the_server_holds_for_it() {
    let folder = known().file("token", TOKEN);
    let up = Up::new(&folder, &["--token-file", "token"]);
    let get = |fields: &str| up.send("GET", "/api/v1/stats", fields, "").status;
    let token = format!("Authorization: Bearer {TOKEN}\r\n");
    assert_eq!(get(""), 401);
    assert_eq!(get("Authorization: Bearer another-token-of-mine\r\n"), 401);
    assert_eq!(get(&token), 200);
    assert_eq!(get(&format!("{token}Host: evil.example\r\n")), 403);
    assert_eq!(get(&format!("{token}Origin: https://evil.example\r\n")), 403);
    let form = "POST /api/v1/query HTTP/1.0\r\nHost: localhost\r\nContent-Type: text/plain\r\n\
                Content-Length: 2\r\n";
    assert_eq!(up.raw(format!("{form}{token}\r\n{{}}").as_bytes()).status, 415);
    up.end();
}
