//! Tests for lists, resources, prompts and completions.

use expect_test::{Expect, expect};

use super::*;

/// Checks the outcome of a request in both eras, without the common members of modern results.
#[track_caller]
fn check(method: &str, params: Value, legacy: Expect, modern: Expect) {
    let (server, _ends) = server_testing::server();
    let mut old = connection();
    ask(&server, &mut old, request("initialize", json!({})));
    legacy.assert_eq(&outcome(ask(&server, &mut old, request(method, params.clone()))));
    let asked = modern_request(method, params);
    modern.assert_eq(&outcome(ask(&server, &mut connection(), asked)));
}

fn outcome(mut reply: Value) -> String {
    if let Some(result) = reply["result"].as_object_mut() {
        result.shift_remove("_meta");
        return format!("{}\n", reply["result"]).replace('\u{2028}', "\\u2028");
    }
    format!("{}\n", reply["error"])
}

#[test]
fn a_text_is_escaped_into_its_line() {
    check(
        "resources/read",
        json!({"uri": "test://text"}),
        expect![[r#"
            {"contents":[{"uri":"test://text","mimeType":"text/plain","text":"a \"b\"\n\u2028"}]}
        "#]],
        expect![[r#"
            {"resultType":"complete","ttlMs":0,"cacheScope":"private","contents":[{"uri":"test://text","mimeType":"text/plain","text":"a \"b\"\n\u2028"}]}
        "#]],
    );
}

#[test]
fn bytes_are_a_blob() {
    check(
        "resources/read",
        json!({"uri": "test://blob"}),
        expect![[r#"
        {"contents":[{"uri":"test://blob","mimeType":"image/png","blob":"AAAAAAAAAAAAAAAA"}]}
    "#]],
        expect![[r#"
        {"resultType":"complete","ttlMs":0,"cacheScope":"private","contents":[{"uri":"test://blob","mimeType":"image/png","blob":"AAAAAAAAAAAAAAAA"}]}
    "#]],
    );
}

#[test]
fn a_missing_resource_has_another_code_in_each_era() {
    check(
        "resources/read",
        json!({"uri": "test://none"}),
        expect![[r#"
        {"code":-32002,"message":"Resource URI not recognized: test://none","data":{"uri":"test://none","code":"RESOURCE_NOT_FOUND"}}
    "#]],
        expect![[r#"
        {"code":-32602,"message":"Resource URI not recognized: test://none","data":{"uri":"test://none","code":"RESOURCE_NOT_FOUND"}}
    "#]],
    );
}

#[test]
fn half_a_resource_is_never_sent() {
    check(
        "resources/read",
        json!({"uri": "test://lost"}),
        expect![[r#"
        {"code":-32002,"message":"resource not found: it was here before","data":{"uri":"test://lost"}}
    "#]],
        expect![[r#"
        {"code":-32602,"message":"resource not found: it was here before","data":{"uri":"test://lost"}}
    "#]],
    );
    check(
        "resources/read",
        json!({"uri": "test://broken"}),
        expect![[r#"
        {"code":-32603,"message":"internal error; the server's log says more"}
    "#]],
        expect![[r#"
        {"code":-32603,"message":"internal error; the server's log says more"}
    "#]],
    );
    check(
        "resources/read",
        json!({}),
        expect![[r#"
        {"code":-32602,"message":"`uri` must be a string, the resource's"}
    "#]],
        expect![[r#"
        {"code":-32602,"message":"`uri` must be a string, the resource's"}
    "#]],
    );
}

#[test]
fn prompts_want_their_arguments() {
    let greet = |args: Value| json!({"name": "greet", "arguments": args});
    check(
        "prompts/get",
        greet(json!({"name": "Ann"})),
        expect![[r#"
        {"description":"Greets somebody.","messages":[{"role":"user","content":{"type":"text","text":"Say hello to Ann."}}]}
    "#]],
        expect![[r#"
        {"description":"Greets somebody.","messages":[{"role":"user","content":{"type":"text","text":"Say hello to Ann."}}],"resultType":"complete"}
    "#]],
    );
    check(
        "prompts/get",
        greet(json!({})),
        expect![[r#"
        {"code":-32602,"message":"missing argument `name`, a string"}
    "#]],
        expect![[r#"
        {"code":-32602,"message":"missing argument `name`, a string"}
    "#]],
    );
    check(
        "prompts/get",
        greet(json!({"name": "Ann", "x": "y"})),
        expect![[r#"
        {"code":-32602,"message":"unknown argument `x`; allowed: name, tone"}
    "#]],
        expect![[r#"
        {"code":-32602,"message":"unknown argument `x`; allowed: name, tone"}
    "#]],
    );
    check(
        "prompts/get",
        json!({"name": "nope"}),
        expect![[r#"
        {"code":-32602,"message":"unknown prompt `nope`; there are: greet, asking"}
    "#]],
        expect![[r#"
        {"code":-32602,"message":"unknown prompt `nope`; there are: greet, asking"}
    "#]],
    );
}

#[test]
fn completions_are_a_hundred_at_most() {
    let (server, _ends) = server_testing::server();
    let mut connection = connection();
    let mut complete = |subject: Value| {
        let argument = json!({"name": "id", "value": "v"});
        let params = json!({"ref": subject, "argument": argument});
        let reply = ask(&server, &mut connection, modern_request("completion/complete", params));
        let found = &reply["result"]["completion"];
        match found["values"].as_array() {
            Some(values) => format!("{} {} {}", values.len(), found["total"], found["hasMore"]),
            None => reply["error"]["message"].to_string(),
        }
    };
    let template = json!({"type": "ref/resource", "uri": "test://items/{id}"});
    assert_eq!(complete(template), "100 null true");
    assert_eq!(complete(json!({"type": "ref/prompt", "name": "greet"})), "3 3 false");
    let unknown = json!({"type": "ref/prompt", "name": "nope"});
    assert_eq!(complete(unknown), "\"`ref` names nothing that is listed\"");
    let bad = "\"`ref` must have a `type`: ref/prompt or ref/resource\"";
    assert_eq!(complete(json!({"name": "greet"})), bad);
    assert_eq!(complete(json!("greet")), bad);
}

#[test]
fn lists_come_in_pages() {
    let (server, _ends) = server_testing::server();
    let server = Server { page_rows_max: 2, ..Arc::into_inner(server).unwrap() };
    let mut connection = connection();
    let methods = ["tools/list", "resources/list", "resources/templates/list", "prompts/list"];
    let mut shape = String::new();
    for method in methods {
        let mut cursor = Value::Null;
        loop {
            let params = json!({"cursor": cursor});
            let result = &ask(&server, &mut connection, modern_request(method, params))["result"];
            let rows = result.as_object().unwrap().values().find_map(Value::as_array).unwrap();
            shape += &format!("{method} {}\n", rows.len());
            match result.get("nextCursor") {
                Some(next) => cursor = next.clone(),
                None => break,
            }
        }
    }
    expect![[r#"
        tools/list 2
        tools/list 2
        tools/list 2
        tools/list 2
        resources/list 2
        resources/list 2
        resources/list 2
        resources/list 2
        resources/templates/list 2
        prompts/list 2
    "#]]
    .assert_eq(&shape);
    for cursor in ["", "x", "tools:0", "tools:999", "tools:-1", "resources:2", "tools:2 "] {
        let asked = modern_request("tools/list", json!({"cursor": cursor}));
        assert_eq!(ask(&server, &mut connection, asked)["error"]["code"], RpcError::INVALID_PARAMS);
    }
}

#[test]
fn a_registration_without_resources_and_prompts_has_none_of_their_methods() {
    let (server, _ends) = server_testing::server();
    let server = Server { resources: &[], prompts: &[], ..Arc::into_inner(server).unwrap() };
    let mut connection = connection();
    for method in ["resources/list", "resources/read", "prompts/list", "completion/complete"] {
        let reply = ask(&server, &mut connection, modern_request(method, json!({})));
        assert_eq!(reply["error"]["code"], RpcError::METHOD_NOT_FOUND, "{method}");
    }
    let about = ask(&server, &mut connection, modern_request("server/discover", json!({})));
    assert_eq!(about["result"]["capabilities"], json!({"logging": {}, "tools": {}}));
}

#[test]
fn a_custom_schema_is_listed_unchanged() {
    let (server, _ends) = server_testing::server();
    let list = ask(&server, &mut connection(), modern_request("tools/list", json!({})));
    let tools = list["result"]["tools"].as_array().unwrap();
    let blocks = tools.iter().find(|it| it["name"] == "blocks").unwrap();
    expect![[r#"
        {"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","$defs":{"a":{}}}
    "#]]
    .assert_eq(&format!("{}\n", blocks["inputSchema"]));
}

#[test]
fn an_unknown_block_becomes_text_in_an_older_version() {
    let (server, _ends) = server_testing::server();
    let mut shape = String::new();
    for version in ["2024-11-05", "2025-03-26", "2025-06-18"] {
        let mut connection = connection();
        let hello = request("initialize", json!({"protocolVersion": version}));
        ask(&server, &mut connection, hello);
        let call = request("tools/call", json!({"name": "blocks", "arguments": {"a": [1]}}));
        let reply = ask(&server, &mut connection, call);
        let blocks = reply["result"]["content"].as_array().unwrap();
        let kinds = blocks.iter().map(|it| it["type"].as_str().unwrap());
        shape += &format!("{version} {}\n", kinds.collect::<Vec<_>>().join(" "));
    }
    expect![[r#"
        2024-11-05 image text text resource
        2025-03-26 image audio text resource
        2025-06-18 image audio resource_link resource
    "#]]
    .assert_eq(&shape);
}
