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
        ("/api/v1/chat", 405),
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

/// Sends every row of the table of changes through the server, as a client would.
#[test]
fn knowledge_is_changed_without_a_protocol() {
    let folder = known().file("token", TOKEN);
    let up = Up::new(&folder, &["--token-file", "token"]);
    let token = format!("Authorization: Bearer {TOKEN}\r\n");
    let send = |method: &str, path: &str, body: &Value| {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let answer = up.send(method, &format!("/api/v1/{path}"), &token, &body);
        assert_ne!(answer.status, 500, "{method} {path} {answer:?}");
        (answer.status, answer.json())
    };
    let operations = json!({"operations": [
        {"op": "concept", "title": "Stores lag", "summary": "At night."},
        {"op": "concept", "title": "Pools help", "summary": "A little."}]});
    let (status, applied) = send("POST", "workflow/apply", &operations);
    assert_eq!(status, 200, "{applied}");
    let concept = applied["results"][0]["id"].as_str().unwrap();
    let other = applied["results"][1]["id"].as_str().unwrap();
    let (_, episodes) = send("GET", "episodes", &Value::Null);
    let episode = episodes["episodes"][0]["id"].as_str().unwrap();
    let facts = json!({"items": [
        {"content": "The port is 1.", "kind": "fact", "subject": "redis", "attribute": "port"},
        {"content": "The port is 2.", "kind": "fact", "subject": "redis", "attribute": "port"},
        {"content": "The host is a.", "kind": "fact", "subject": "redis", "attribute": "host"},
        {"content": "The host is b.", "kind": "fact", "subject": "redis", "attribute": "host"}]});
    assert_eq!(send("POST", "workflow/remember", &facts).0, 200);
    let (_, conflicts) = send("GET", "conflicts", &Value::Null);
    let [first, second] = [0, 1].map(|nth| conflicts["conflicts"][nth].clone());
    let path_of = |conflict: &Value, verb: &str| {
        format!("conflicts/{}/{verb}", conflict["id"].as_str().unwrap())
    };
    let none = Value::Null;
    for (method, path, body, status) in [
        ("PUT", format!("concepts/{concept}"), json!({"title": "Stores are slow"}), 200),
        ("PATCH", format!("concepts/{concept}"), json!({"summary": "In winter."}), 200),
        ("PATCH", format!("concepts/{concept}"), json!({"colour": 1}), 400),
        ("DELETE", format!("concepts/{concept}"), none.clone(), 200),
        ("DELETE", format!("concepts/{concept}"), none.clone(), 404),
        ("POST", format!("concepts/{concept}/restore"), none.clone(), 200),
        ("POST", format!("concepts/{concept}/restore"), none.clone(), 404),
        ("DELETE", format!("concepts/{concept}/purge"), none.clone(), 200),
        ("PUT", format!("concepts/{concept}"), json!({"title": "T"}), 404),
        ("PUT", format!("episodes/{episode}"), json!({"content": "Kafka was slow."}), 200),
        ("PATCH", format!("episodes/{episode}"), json!({"episode_type": "decision"}), 200),
        ("PATCH", format!("episodes/{episode}"), json!({"episode_type": "song"}), 400),
        ("DELETE", format!("episodes/{episode}"), none.clone(), 200),
        ("POST", format!("episodes/{episode}/restore"), none.clone(), 200),
        ("DELETE", format!("episodes/{episode}/purge"), none.clone(), 200),
        ("DELETE", format!("concepts/{other}"), none.clone(), 200),
        ("DELETE", "deleted/purge-all".to_owned(), none.clone(), 200),
        ("POST", "topics".to_owned(), json!({"name": "Speed"}), 201),
        ("POST", "topics".to_owned(), json!({"name": "speed"}), 409),
        ("POST", "topics".to_owned(), json!({}), 400),
        ("PUT", "topics/speed".to_owned(), json!({"description": "Of stores."}), 200),
        ("PATCH", "topics/speed".to_owned(), json!({"name": "Pace"}), 200),
        ("DELETE", "topics/pace".to_owned(), none.clone(), 200),
        ("DELETE", "topics/pace".to_owned(), none.clone(), 404),
        ("POST", path_of(&first, "resolve"), json!({"winner": first["facts"][0]["id"]}), 200),
        ("POST", path_of(&first, "dismiss"), none.clone(), 400),
        ("POST", path_of(&second, "dismiss"), none.clone(), 200),
        ("POST", "workflow/recall".to_owned(), json!({"query": "port"}), 200),
        ("POST", "workflow/recall".to_owned(), json!({}), 422),
        ("POST", "workflow/review".to_owned(), none.clone(), 200),
        ("POST", "workflow/ingest".to_owned(), json!({"content": "Ana: hi"}), 200),
        ("POST", "workflow/consolidate".to_owned(), none, 200),
        ("POST", "chat".to_owned(), json!({"messages": [{"role": "user", "content": "?"}]}), 404),
    ] {
        let (found, answer) = send(method, &path, &body);
        assert_eq!(found, status, "{method} {path} {body}: {answer}");
        assert_eq!(answer["error"].is_null(), status < 300, "{method} {path}: {answer}");
    }
    // Without the token nothing is changed, and no form of another site changes anything.
    let open = up.send("DELETE", "/api/v1/deleted/purge-all", "", "");
    assert_eq!(open.status, 401);
    for fields in ["Content-Type: text/plain\r\n", "Origin: https://evil.example\r\n"] {
        let head = "POST /api/v1/topics HTTP/1.0\r\nHost: localhost\r\nContent-Length: 12\r\n";
        let answer = up.raw(format!("{head}{fields}{token}\r\n{{\"name\":\"a\"}}").as_bytes());
        assert!([403, 415].contains(&answer.status), "{answer:?}");
    }
    let large = format!("Content-Length: {}\r\n{token}", 9 * 1024 * 1024);
    let head = format!(
        "PUT /api/v1/topics/a HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         {large}\r\n"
    );
    assert_eq!(up.raw(head.as_bytes()).status, 413);
    up.end();
    folder.assert_healthy("m.db");
}

/// Asks a server whose user named a program that completes.
#[cfg(feature = "providers")]
#[test]
fn a_conversation_is_answered_by_a_provider() {
    let config = |script: &str| {
        let provider = json!({"kind": "command", "command": ["sh", "-c", script], "retries": 0});
        json!({"providers": {"completion": provider}}).to_string()
    };
    // The program says which of its words arrived, and fails where one is missing.
    let script = "grep -q 'Redis. was slow' && echo 'Redis, as you said.'";
    let folder = known().file("settings/remindb/config.json", config(script));
    let up = Up::new(&folder, &[]);
    let chat = |text: &str, context: Value| {
        let messages = json!([{"role": "user", "content": text}]);
        let body = json!({"messages": messages, "context": context}).to_string();
        up.send("POST", "/api/v1/chat", "", &body)
    };
    let answer = chat("Was redis slow?", Value::Null);
    assert_eq!((answer.status, answer.field("content-type")), (200, Some("text/event-stream")));
    let events = "data: {\"chunk\":\"Redis, as you said.\"}\n\ndata: {\"done\":true}\n\n";
    assert_eq!(answer.body, events);
    let given = chat("Hello", json!("`Redis` was slow then."));
    assert_eq!(given.body, events, "a context that is given is what the model is told");
    let failed = chat("Hello", json!("Nothing."));
    assert!(
        failed.body.starts_with("data: {\"error\":\"command `sh` did not answer"),
        "{failed:?}"
    );
    assert_eq!(chat(" ", Value::Null).status, 400);
    assert_eq!(chat("a", json!(1)).status, 400);
    up.end();
}
