//! Requests of the REST interface with any path, query and body: none is a failure of the server,
//! and each refusal has a reason.

use std::cell::OnceCell;

use serde_json::json;

use super::scratch_folder::ScratchFolder;
use crate::mcp::{RestApiReplyBody, RestApiRequest};
use crate::memory::Memory;
use crate::memory::knowledge::RememberRequest;
use crate::model::clock::{Clock, UnixMillis};
use crate::server::http::{RequestHead, plain_request};
use crate::store::IfMissing;
use crate::surface::answer_rest;

thread_local! {
    // The memory is closed before its folder goes.
    static SERVED: OnceCell<(Memory, ScratchFolder)> = const { OnceCell::new() };
}

fn served() -> (Memory, ScratchFolder) {
    let folder = ScratchFolder::new();
    let clock = Clock::manual(UnixMillis(1_795_428_000_000));
    let memory = Memory::open_at(&folder.path("m.db"), IfMissing::Create, clock);
    let memory = memory.expect("a new memory");
    let items = json!({"items": [
        {"content": "`Redis` was slow.", "topic": "Payments", "at": "2026-03-01"},
        {"content": "We keep `Redis`.", "kind": "decision", "at": "2026-04-01"},
    ]});
    let request = RememberRequest::parse(items.as_object().expect("an object"));
    memory.remember(request.expect("a sound request")).expect("it is kept");
    (memory, folder)
}

/// Panics when the reply to a request violates an invariant. `data` is the request: a line of
/// method and target, and below it the body.
pub fn rest(data: &[u8]) {
    let end = data.iter().position(|it| *it == b'\n').unwrap_or(data.len());
    let (line, body) = (&data[..end], data.get(end + 1..).unwrap_or_default());
    let Some(request) = request(line, body) else { return };
    SERVED.with(|served_here| {
        let (memory, _folder) = served_here.get_or_init(served);
        let reply = answer_rest(memory, &memory.read_only(), &request);
        let why = match &reply.body {
            RestApiReplyBody::Document(document) => document["error"].as_str().unwrap_or_default(),
            RestApiReplyBody::Events(_) => "events",
        };
        match reply.status {
            200..=299 => (),
            405 => assert!(reply.allowed.is_some(), "{reply:?}"),
            400..=499 => assert_ne!(why, "", "{request:?}: {reply:?}"),
            other => panic!("{other} for {request:?}: {reply:?}"),
        }
    });
}

fn request(line: &[u8], body: &[u8]) -> Option<RestApiRequest> {
    let (method, target) = line.split_at(line.iter().position(|it| *it == b' ')?);
    let head = [method, b" /api/v1/", &target[1..], b" HTTP/1.1\r\nHost: localhost\r\n\r\n"];
    let request = plain_request(&RequestHead::parse(&head.concat()).ok()?)?;
    Some(RestApiRequest { body: body.to_vec(), ..request })
}
