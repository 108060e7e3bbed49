//! The rows of a registration's tables, and how a client sees them in a list.

use serde_json::{Value, json};

use super::{Arg, Version, input_schema};

/// What a tool does to the world, for clients that ask their user first.
#[allow(dead_code, reason = "a vocabulary: each registration uses its part of it")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Changes nothing that anybody could miss.
    Reads,
    /// Adds; what was there stays.
    Adds,
    /// Changes what can be brought back; twice is as good as once.
    Edits,
    /// Removes for good.
    Destroys,
}

/// One tool: a row of the registration's table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tool<R: 'static> {
    /// Its name in calls.
    pub(crate) name: &'static str,
    /// Its name for people.
    pub(crate) title: &'static str,
    /// When to use it and what comes back.
    pub(crate) description: &'static str,
    /// What it takes.
    pub(crate) args: &'static [Arg],
    /// The JSON Schema of `structured` in its replies, an object at the root; `None` for text only.
    pub(crate) output: Option<fn() -> Value>,
    /// What it does to the world.
    pub(crate) effect: Effect,
    /// How the surface runs it.
    pub(crate) run: R,
}

/// One resource, or one kind of them: a row of the registration's table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Resource<R: 'static> {
    /// Its URI; with a variable in braces (RFC 6570) it is the template of many.
    pub(crate) uri: &'static str,
    /// Its name for programs.
    pub(crate) name: &'static str,
    /// Its name for people.
    pub(crate) title: &'static str,
    /// What it shows.
    pub(crate) description: &'static str,
    /// What the surface writes when it reads one.
    pub(crate) form: ResourceFormat,
    /// Whether clients may ask to be told of its changes.
    pub(crate) is_subscribable: bool,
    /// How the surface reads it.
    pub(crate) read: R,
}

/// What a resource is written as.
#[allow(dead_code, reason = "a vocabulary: each registration uses its part of it")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResourceFormat {
    /// JSON.
    Json,
    /// Text of this MIME type.
    Text(&'static str),
    /// Bytes of this MIME type, in base64.
    Base64(&'static str),
}

impl ResourceFormat {
    /// The MIME type.
    pub(super) fn mime(self) -> &'static str {
        match self {
            ResourceFormat::Json => "application/json",
            ResourceFormat::Text(mime) | ResourceFormat::Base64(mime) => mime,
        }
    }

    /// The member that holds the contents.
    pub(super) fn member(self) -> &'static str {
        match self {
            ResourceFormat::Json | ResourceFormat::Text(_) => "text",
            ResourceFormat::Base64(_) => "blob",
        }
    }
}

/// One prompt: a row of the registration's table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Prompt<P: 'static> {
    /// Its name, as people type it.
    pub(crate) name: &'static str,
    /// Its name for people.
    pub(crate) title: &'static str,
    /// What it is good for.
    pub(crate) description: &'static str,
    /// What it takes; only texts.
    pub(crate) args: &'static [Arg],
    /// How the surface makes its messages.
    pub(crate) get: P,
}

impl<R> Tool<R> {
    pub(super) fn json(&self, version: Version) -> Value {
        let mut json = json!({"name": self.name});
        if Version::V2025_06_18 <= version {
            json["title"] = self.title.into();
        }
        json["description"] = self.description.into();
        json["inputSchema"] = input_schema::args_schema(self.args);
        if Version::V2025_06_18 <= version
            && let Some(output) = self.output
        {
            json["outputSchema"] = output();
        }
        if Version::V2025_03_26 <= version {
            json["annotations"] = self.effect.json();
        }
        json
    }
}

impl Effect {
    /// Whether what it does can be undone, so that nobody has to be asked first.
    #[cfg(feature = "desktop")]
    pub(crate) fn is_undoable(self) -> bool {
        self != Effect::Destroys
    }

    /// The hints, all of them where they mean something: their defaults are the worst case, and
    /// some clients refuse a call for one of them.
    fn json(self) -> Value {
        let (destructive, idempotent) = match self {
            Effect::Reads => return json!({"readOnlyHint": true, "openWorldHint": false}),
            Effect::Adds => (false, false),
            Effect::Edits => (false, true),
            Effect::Destroys => (true, false),
        };
        json!({
            "readOnlyHint": false,
            "destructiveHint": destructive,
            "idempotentHint": idempotent,
            "openWorldHint": false,
        })
    }
}

impl<R> Resource<R> {
    /// Whether the row stands for many resources.
    pub(super) fn is_template(&self) -> bool {
        self.uri.contains('{')
    }

    pub(super) fn json(&self, version: Version) -> Value {
        let key = if self.is_template() { "uriTemplate" } else { "uri" };
        let mut json = json!({key: self.uri, "name": self.name});
        if Version::V2025_06_18 <= version {
            json["title"] = self.title.into();
        }
        json["description"] = self.description.into();
        json["mimeType"] = self.form.mime().into();
        json
    }
}

impl<P> Prompt<P> {
    pub(super) fn json(&self, version: Version) -> Value {
        let mut json = json!({"name": self.name});
        if Version::V2025_06_18 <= version {
            json["title"] = self.title.into();
        }
        json["description"] = self.description.into();
        if !self.args.is_empty() {
            json["arguments"] = self.args.iter().map(Arg::of_prompt).collect();
        }
        json
    }
}
