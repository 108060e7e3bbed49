//! The suite's tools that need no answer: one of each kind of content, steps, errors.

use serde_json::{Value, json};

use super::{ConformanceHandler, SuiteToolFn};
use crate::mcp::{
    ArgSpec, Args, CallContext, ContentBlock, HandlerError, Severity, Tool, ToolEffect, ToolReply,
};

/// A red dot.
pub(super) const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mP4z8AAAAMBAQD3A0FDAAAAAElFTkSuQmCC";
/// One silent sample.
const WAV: &str = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQIAAAAAAA==";

const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// All tools that ask nothing.
pub(super) const TOOLS: &[Tool<SuiteToolFn>] = &[
    tool("test_simple_text", "Returns a text.", &[], |_, _, _| {
        text("This is a simple text response for testing.")
    }),
    tool("test_image_content", "Returns a picture.", &[], |_, _, _| blocks(vec![picture()])),
    tool("test_audio_content", "Returns a sound.", &[], |_, _, _| {
        blocks(vec![ContentBlock::Audio { base64: WAV.to_owned(), mime: "audio/wav" }])
    }),
    tool("test_embedded_resource", "Returns a resource.", &[], |_, _, _| {
        blocks(vec![ContentBlock::Resource {
            uri: "test://embedded-resource".to_owned(),
            mime: "text/plain",
            text: "This is an embedded resource content.".to_owned(),
        }])
    }),
    tool("test_multiple_content_types", "Returns three kinds of content.", &[], |_, _, _| {
        let resource = ContentBlock::Resource {
            uri: "test://mixed-content-resource".to_owned(),
            mime: "application/json",
            text: json!({"test": "data", "value": 123}).to_string(),
        };
        let text = "Multiple content types test:".to_owned();
        Ok(ToolReply { text, more: vec![picture(), resource], ..ToolReply::default() })
    }),
    tool("test_error_handling", "Fails.", &[], |_, _, _| {
        Err(HandlerError::BadArgument(
            "This tool intentionally returns an error for testing".to_owned(),
        ))
    }),
    tool("test_tool_with_progress", "Tells how far it has come.", &[], steps),
    tool("test_tool_with_logging", "Tells what it does.", &[], log),
    tool("test_logging_tool", "Tells what it does, to who wants to know.", &[], |_, _, call| {
        call.log(Severity::Info, "conformance", &json!("a message"));
        text("A message was sent to who wants it.")
    }),
    tool("test_reconnection", "Takes two steps.", &[], |suite, _, call| {
        suite.pause(call);
        call.progress(1, Some(2), "half of it");
        suite.pause(call);
        text("This is the response after the steps.")
    }),
    tool("test_trigger_tool_change", "Changes no list, as none ever changes.", &[], |_, _, _| {
        text("The list of tools never changes.")
    }),
    tool("test_trigger_prompt_change", "Changes no list, as none ever changes.", &[], |_, _, _| {
        text("The list of prompts never changes.")
    }),
    tool(
        "test_x_mcp_header",
        "Takes an argument that stands in a field, too.",
        MARKED,
        |_, args, _| {
            let region = args.whole().and_then(|it| it.get("region")?.as_str()).unwrap_or_default();
            text(&format!("The region is {region}."))
        },
    ),
    tool(
        "json_schema_2020_12_tool",
        "Tool with JSON Schema 2020-12 features",
        WHOLE,
        |_, args, _| {
            let given = Value::from(args.whole().cloned().unwrap_or_default());
            text(&format!("JSON Schema 2020-12 tool called with: {given}"))
        },
    ),
];

const MARKED: &[ArgSpec] = &[ArgSpec::custom_schema(|| {
    let region = json!({"type": "string", "x-mcp-header": "Region"});
    json!({"type": "object", "properties": {"region": region}, "required": ["region"]})
})];

const WHOLE: &[ArgSpec] = &[ArgSpec::custom_schema(|| {
    let text = json!({"type": "string"});
    json!({
        "$schema": DIALECT,
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": text, "city": text},
            },
        },
        "properties": {
            "name": text,
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": text,
            "email": text,
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {
            "properties": {"contactMethod": {"const": "phone"}},
            "required": ["contactMethod"],
        },
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": false,
    })
})];

/// Returns a row of the table, whose name serves as its title.
pub(super) const fn tool(
    name: &'static str,
    description: &'static str,
    args: &'static [ArgSpec],
    run: SuiteToolFn,
) -> Tool<SuiteToolFn> {
    Tool { name, description, args, output: None, effect: ToolEffect::Reads, run }
}

pub(super) fn text(text: &str) -> Result<ToolReply, HandlerError> {
    Ok(ToolReply { text: text.to_owned(), ..ToolReply::default() })
}

fn blocks(more: Vec<ContentBlock>) -> Result<ToolReply, HandlerError> {
    Ok(ToolReply { more, ..ToolReply::default() })
}

pub(super) fn picture() -> ContentBlock {
    ContentBlock::Image { base64: PNG.to_owned(), mime: "image/png" }
}

fn steps(
    suite: &ConformanceHandler,
    _: &Args,
    call: &CallContext,
) -> Result<ToolReply, HandlerError> {
    for done in [0, 50, 100] {
        call.progress(done, Some(100), &format!("Completed step {done} of 100"));
        suite.pause(call);
    }
    text("All steps are done.")
}

fn log(
    suite: &ConformanceHandler,
    _: &Args,
    call: &CallContext,
) -> Result<ToolReply, HandlerError> {
    for what in ["execution started", "processing data", "execution completed"] {
        call.log(Severity::Info, "conformance", &json!(format!("Tool {what}")));
        suite.pause(call);
    }
    text("Everything was told.")
}
