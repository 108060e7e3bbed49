//! Form validation: checks a filled-in form against its schema.

use serde_json::Value;

/// Returns whether `content` is a flat object that matches `schema`. Required members must be
/// there, and known ones must have their types and choices.
pub(super) fn matches_schema(schema: &Value, content: &Value) -> bool {
    let Some(content) = content.as_object() else { return false };
    let required = schema["required"].as_array().into_iter().flatten();
    let has_all = required.filter_map(Value::as_str).all(|name| content.contains_key(name));
    has_all && content.iter().all(|(name, value)| fits_member(&schema["properties"][name], value))
}

fn fits_member(schema: &Value, value: &Value) -> bool {
    let is_type = match schema["type"].as_str() {
        Some("string") => value.is_string(),
        Some("boolean") => value.is_boolean(),
        Some("number") => value.is_number(),
        Some("integer") => value.as_f64().is_some_and(|it| it.fract() == 0.0),
        Some("array") => value.as_array().is_some_and(|items| {
            items.iter().all(|item| item.is_string() && is_choice(&schema["items"], item))
        }),
        _ => true,
    };
    is_type && is_choice(schema, value)
}

fn is_choice(schema: &Value, value: &Value) -> bool {
    let is_listed = schema["enum"].as_array().is_none_or(|it| it.contains(value));
    let titled = schema["oneOf"].as_array().or_else(|| schema["anyOf"].as_array());
    is_listed && titled.is_none_or(|it| it.iter().any(|choice| choice["const"] == *value))
}
