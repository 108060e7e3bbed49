use serde_json::{Map, Value, json};

use super::*;
use crate::mcp::input_schema;
use crate::query::OutputFormat;
use crate::surface::ToolSelection;

fn prompt_text(name: &str, args: Value) -> Result<String, HandlerError> {
    let row = PROMPTS.iter().find(|it| it.name == name).unwrap();
    let given: Map<String, Value> = serde_json::from_value(args).unwrap();
    (row.get)(&input_schema::validate_args(row.args, given).unwrap())
}

#[test]
fn a_prompt_names_only_tools_that_are_offered_with_it() {
    for names in ["all", "core", "memory", "core,memory", "memory,all"] {
        let offer = ToolSelection::parse(names).unwrap();
        let tools = offer.tools(OutputFormat::Text);
        for prompt in offer.prompts() {
            let text = prompt_text(prompt.name, json!({})).unwrap();
            let words = text.split(|it: char| !it.is_alphanumeric());
            for word in words.filter(|it| it.starts_with("Memory")) {
                assert!(tools.iter().any(|it| it.name == word), "{}: {word}", prompt.name);
            }
        }
    }
}

#[test]
fn a_topic_stays_one_quoted_line() {
    let text = prompt_text("orient", json!({"topic": "  the\n`store`\t\tof notes "})).unwrap();
    assert!(text.contains("knows about `the 'store' of notes`:"), "{text}");
    let text = prompt_text("tidy", json!({"topic": " \n"})).unwrap();
    assert!(text.contains("1. MemoryTree with"), "{text}");
}

#[test]
fn a_snapshot_is_a_number() {
    assert!(
        prompt_text("resync", json!({"since_snapshot": " 12 "})).unwrap().contains("snapshot` 12;")
    );
    let why = HandlerError::BadArgument(
        "`since_snapshot` must be the number of a snapshot, not `-1`".to_owned(),
    );
    assert_eq!(prompt_text("resync", json!({"since_snapshot": "-1"})), Err(why));
}
