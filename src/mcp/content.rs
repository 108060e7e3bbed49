//! What replies and prompts are made of: blocks of text, pictures, sounds and resources.

use serde_json::{Map, Value, json};

use super::Version;

/// A piece of a reply or of a prompt.
#[allow(dead_code, reason = "a vocabulary: each registration uses its part of it")]
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ContentBlock {
    /// Text.
    Text(String),
    /// A picture, in base64.
    Image { base64: String, mime: &'static str },
    /// A sound, in base64.
    Audio { base64: String, mime: &'static str },
    /// A resource that can be read.
    Link { uri: String, name: String, mime: &'static str },
    /// A resource of text, and what it says.
    Resource { uri: String, mime: &'static str, text: String },
}

impl ContentBlock {
    /// The block as a version has it. What the version does not know becomes text about it.
    pub(super) fn json(&self, version: Version) -> Value {
        match self {
            ContentBlock::Text(text) => text_json(text),
            ContentBlock::Image { base64, mime } => media_json("image", base64, mime),
            ContentBlock::Audio { mime, .. } if version < Version::V2025_03_26 => {
                text_json(&format!("[{mime}]"))
            }
            ContentBlock::Audio { base64, mime } => media_json("audio", base64, mime),
            ContentBlock::Link { uri, name, .. } if version < Version::V2025_06_18 => {
                text_json(&format!("{name}: {uri}"))
            }
            ContentBlock::Link { uri, name, mime } => {
                json!({"type": "resource_link", "uri": uri, "name": name, "mimeType": mime})
            }
            ContentBlock::Resource { uri, mime, text } => {
                let resource = json!({"uri": uri, "mimeType": mime, "text": text});
                json!({"type": "resource", "resource": resource})
            }
        }
    }
}

fn text_json(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn media_json(kind: &str, base64: &str, mime: &str) -> Value {
    json!({"type": kind, "data": base64, "mimeType": mime})
}

/// Who says a message of a prompt.
#[allow(dead_code, reason = "a vocabulary: each registration uses its part of it")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// The person.
    User,
    /// The agent.
    Assistant,
}

/// A message of a prompt.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PromptMessage {
    /// Who says it.
    pub(crate) role: Role,
    /// What.
    pub(crate) block: ContentBlock,
}

impl PromptMessage {
    /// Words that the person says.
    pub(crate) fn user(text: impl Into<String>) -> PromptMessage {
        PromptMessage { role: Role::User, block: ContentBlock::Text(text.into()) }
    }

    pub(super) fn json(&self, version: Version) -> Value {
        let role = match self.role {
            Role::User => "user",
            Role::Assistant => "assistant",
        };
        json!({"role": role, "content": self.block.json(version)})
    }
}

/// What a tool answers.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Reply {
    /// For the agent: the first block, unless it is empty and others follow.
    pub(crate) text: String,
    /// What follows the text.
    pub(crate) more: Vec<ContentBlock>,
    /// The same facts for a program, as the tool's output schema says.
    pub(crate) structured: Option<Value>,
    /// The most tokens of it that the client wants, for what is added.
    pub(crate) budget: Option<u32>,
}

impl Reply {
    pub(super) fn json(self, version: Version) -> Map<String, Value> {
        let Reply { text, more, structured, budget: _ } = self;
        let mut blocks = Vec::with_capacity(1 + more.len());
        if !text.is_empty() || more.is_empty() {
            blocks.push(json!({"type": "text", "text": text}));
        }
        blocks.extend(more.iter().map(|block| block.json(version)));
        let mut body = Map::from_iter([("content".to_owned(), Value::Array(blocks))]);
        if Version::V2025_06_18 <= version
            && let Some(structured) = structured
        {
            body.insert("structuredContent".to_owned(), structured);
        }
        body
    }
}

/// A reply that says what went wrong, for the agent to read.
pub(super) fn error_json(text: &str) -> Map<String, Value> {
    let content = json!([{"type": "text", "text": text}]);
    Map::from_iter([("content".to_owned(), content), ("isError".to_owned(), true.into())])
}
