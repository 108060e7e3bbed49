//! Content of replies and prompts: blocks of text, pictures, sounds and resources.

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
    /// A link to a resource.
    Link { uri: String, name: String, mime: &'static str },
    /// A text resource with its content.
    Resource { uri: String, mime: &'static str, text: String },
}

impl ContentBlock {
    /// Returns the block in a version. Types unknown to the version become text about them.
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

/// The speaker of a message of a prompt.
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
    /// The speaker.
    pub(crate) role: Role,
    /// The content.
    pub(crate) block: ContentBlock,
}

impl PromptMessage {
    /// Returns a text message of the person.
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

/// The reply of a tool.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ToolReply {
    /// The text for the agent: the first block, unless it is empty and others follow.
    pub(crate) text: String,
    /// The blocks after the text.
    pub(crate) more: Vec<ContentBlock>,
    /// The facts as JSON, valid by the tool's output schema.
    pub(crate) structured: Option<Value>,
    /// The client's token budget, which additions keep to.
    pub(crate) budget: Option<u32>,
}

impl ToolReply {
    pub(super) fn json(self, version: Version) -> Map<String, Value> {
        let ToolReply { text, more, structured, budget: _ } = self;
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

/// Returns the reply for an error, for the agent to read.
pub(super) fn error_json(text: &str) -> Map<String, Value> {
    let content = json!([{"type": "text", "text": text}]);
    Map::from_iter([("content".to_owned(), content), ("isError".to_owned(), true.into())])
}
