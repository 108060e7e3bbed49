//! Checks that the fields of a modern request repeat its body, and tells the eras apart.
//!
//! Proxies see the fields only, so a request whose fields contradict its body is refused. Pure.

use serde_json::Value;

use super::request_head::RequestHead;
use crate::mcp::error_codes::code::HEADER_MISMATCH;
use crate::mcp::rpc::{Params, Request, RpcError};
use crate::mcp::version::{RequestMeta, Version};

/// Name of the field with the version.
pub(super) const VERSION_FIELD: &str = "mcp-protocol-version";

/// An argument of a tool that is repeated in a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MirroredArgument {
    tool: String,
    /// Names of properties, from the arguments down.
    path: Vec<String>,
    /// The field, in lower case.
    field: String,
}

/// Returns the marked arguments in the list of tools.
pub(super) fn mirrored_arguments(tools: &[Value]) -> Vec<MirroredArgument> {
    let mut found = Vec::new();
    for tool in tools {
        let name = tool["name"].as_str().unwrap_or_default();
        // Every entry is a schema and the path to it; schemas are the server's own and finite.
        let mut open = vec![(&tool["inputSchema"], Vec::<String>::new())];
        while let Some((schema, path)) = open.pop() {
            if let Some(mark) = schema["x-mcp-header"].as_str() {
                let field = format!("mcp-param-{}", mark.to_ascii_lowercase());
                found.push(MirroredArgument { tool: name.to_owned(), path: path.clone(), field });
            }
            for (property, schema) in schema["properties"].as_object().into_iter().flatten() {
                open.push((schema, [path.as_slice(), std::slice::from_ref(property)].concat()));
            }
        }
    }
    found
}

/// Returns whether a request is modern by its own metadata or its fields.
pub(super) fn is_modern(head: &RequestHead, params: &Params) -> bool {
    RequestMeta::is_in(params) || names_modern_version(head)
}

/// Returns whether the fields name a modern version.
pub(super) fn names_modern_version(head: &RequestHead) -> bool {
    head.all(VERSION_FIELD).filter_map(Version::parse).any(Version::is_modern)
}

/// Checks that the fields of a modern request repeat its body.
pub(super) fn check_headers(
    head: &RequestHead,
    request: &Request,
    marked: &[MirroredArgument],
) -> Result<(), RpcError> {
    let Request { method, params, .. } = request;
    let version = field(head, VERSION_FIELD)?.ok_or_else(|| missing("MCP-Protocol-Version"))?;
    if RequestMeta::version_in(params).is_some_and(|it| it != version) {
        return Err(mismatch("MCP-Protocol-Version"));
    }
    let named = field(head, "mcp-method")?.ok_or_else(|| missing("Mcp-Method"))?;
    if named != method {
        return Err(mismatch("Mcp-Method"));
    }
    let name = match method.as_str() {
        "tools/call" | "prompts/get" => params.get("name"),
        "resources/read" => params.get("uri"),
        _ => return Ok(()),
    };
    let field_name = field(head, "mcp-name")?.map(|it| decoded(it, "Mcp-Name")).transpose()?;
    match (name.and_then(Value::as_str), field_name) {
        (Some(_), None) => return Err(missing("Mcp-Name")),
        (name, Some(given)) if name != Some(&given) => return Err(mismatch("Mcp-Name")),
        _ => (),
    }
    if method != "tools/call" {
        return Ok(());
    }
    for mark in marked.iter().filter(|it| name.is_some_and(|name| name == it.tool.as_str())) {
        let given = field(head, &mark.field)?;
        let given = given.map(|it| decoded(it, &mark.field)).transpose()?;
        let arguments = params.get("arguments").unwrap_or(&Value::Null);
        let value = mark.path.iter().fold(arguments, |value, name| &value[name.as_str()]);
        match (value, given) {
            (Value::Null, None) => (),
            (Value::Null, Some(_)) => return Err(mismatch(&mark.field)),
            (_, None) => return Err(missing(&mark.field)),
            (value, Some(given)) if is_said_by(value, &given) => (),
            _ => return Err(mismatch(&mark.field)),
        }
    }
    Ok(())
}

/// Returns the one value of a field, checked for its characters.
fn field<'a>(head: &'a RequestHead, name: &str) -> Result<Option<&'a str>, RpcError> {
    let mut values = head.all(name);
    let (value, second) = (values.next(), values.next());
    let is_plain = |it: &str| it.bytes().all(|byte| byte == b'\t' || (0x20..0x7f).contains(&byte));
    match value {
        Some(value) if second.is_some() || !is_plain(value) => {
            Err(RpcError::new(HEADER_MISMATCH, format!("the field `{name}` is malformed")))
        }
        value => Ok(value),
    }
}

fn is_said_by(value: &Value, given: &str) -> bool {
    match value {
        Value::String(text) => text == given,
        Value::Bool(flag) => given == if *flag { "true" } else { "false" },
        Value::Number(number) => {
            number.to_string() == given
                || given.parse::<f64>().is_ok_and(|it| number.as_f64() == Some(it))
        }
        _ => false,
    }
}

/// Decodes the value of a field that may be in Base64.
fn decoded(given: &str, name: &str) -> Result<String, RpcError> {
    let Some(code) = given.strip_prefix("=?base64?").and_then(|it| it.strip_suffix("?=")) else {
        return Ok(given.to_owned());
    };
    base64(code).and_then(|it| String::from_utf8(it).ok()).ok_or_else(|| {
        RpcError::new(
            HEADER_MISMATCH,
            format!("the field `{name}` is no Base64 of a text in UTF-8"),
        )
    })
}

/// Decodes Base64 that is written in its canonical form.
fn base64(code: &str) -> Option<Vec<u8>> {
    let code = code.as_bytes();
    if !code.len().is_multiple_of(4) {
        return None;
    }
    let n_pad = code.iter().rev().take(2).take_while(|it| **it == b'=').count();
    let (mut bytes, mut bits, mut n_bits) = (Vec::new(), 0_u32, 0);
    for byte in &code[..code.len() - n_pad] {
        let six = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(six);
        n_bits += 6;
        if 8 <= n_bits {
            n_bits -= 8;
            bytes.push((bits >> n_bits) as u8);
            bits &= (1 << n_bits) - 1;
        }
    }
    (bits == 0).then_some(bytes)
}

fn missing(name: &str) -> RpcError {
    RpcError::new(
        HEADER_MISMATCH,
        format!("the field `{name}` is missing; it repeats what the body says"),
    )
}

fn mismatch(name: &str) -> RpcError {
    RpcError::new(HEADER_MISMATCH, format!("the field `{name}` does not say what the body says"))
}
