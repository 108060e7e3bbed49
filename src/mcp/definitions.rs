//! The rows of a registration's tables, and their JSON in lists.

use serde_json::{Value, json};

use super::{ArgSpec, Version, input_schema};

/// The effect of a tool, for clients that ask their user first.
#[allow(dead_code, reason = "a vocabulary: each registration uses its part of it")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ToolEffect {
    /// Changes nothing that anybody could miss.
    Reads,
    /// Adds; existing content stays.
    Adds,
    /// Changes content that can be restored; it is idempotent.
    Edits,
    /// Removes for good.
    Destroys,
}

/// A tool: a row of the registration's table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tool<R: 'static> {
    /// Its name in calls.
    pub(crate) name: &'static str,
    /// Its result, its use, and an example.
    pub(crate) description: &'static str,
    /// Its arguments.
    pub(crate) args: &'static [ArgSpec],
    /// The JSON Schema of `structured` in its replies, an object at the root; `None` for text only.
    pub(crate) output: Option<fn() -> Value>,
    /// Its effect.
    pub(crate) effect: ToolEffect,
    /// The handler's way to run it.
    pub(crate) run: R,
}

/// A resource or a template: a row of the registration's table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Resource<R: 'static> {
    /// Its URI; with a variable in braces (RFC 6570) it is the template of many.
    pub(crate) uri: &'static str,
    /// Its name for programs.
    pub(crate) name: &'static str,
    /// Its name for people.
    pub(crate) title: &'static str,
    /// Its content.
    pub(crate) description: &'static str,
    /// The format that the handler writes.
    pub(crate) form: ResourceFormat,
    /// Whether clients may subscribe to its changes.
    pub(crate) is_subscribable: bool,
    /// The handler's way to read it.
    pub(crate) read: R,
}

/// A resource that comes and goes while the server runs, and is read by a template of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TemplateInstanceResource {
    /// Its URI, which the template matches.
    pub(crate) uri: String,
    /// Its name for programs.
    pub(crate) name: String,
    /// Its name for people.
    pub(crate) title: String,
    /// Its content.
    pub(crate) description: String,
    /// The format that the handler writes.
    pub(crate) form: ResourceFormat,
}

/// The format of a resource.
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
    /// Returns the MIME type.
    pub(super) fn mime(self) -> &'static str {
        match self {
            ResourceFormat::Json => "application/json",
            ResourceFormat::Text(mime) | ResourceFormat::Base64(mime) => mime,
        }
    }

    /// Returns the member that holds the contents.
    pub(super) fn member(self) -> &'static str {
        match self {
            ResourceFormat::Json | ResourceFormat::Text(_) => "text",
            ResourceFormat::Base64(_) => "blob",
        }
    }
}

/// A prompt: a row of the registration's table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Prompt<P: 'static> {
    /// Its name, as people type it.
    pub(crate) name: &'static str,
    /// Its name for people.
    pub(crate) title: &'static str,
    /// Its use.
    pub(crate) description: &'static str,
    /// Its arguments; only texts.
    pub(crate) args: &'static [ArgSpec],
    /// The handler's way to make its messages.
    pub(crate) get: P,
}

impl<R> Tool<R> {
    pub(super) fn json(&self, version: Version) -> Value {
        let mut json = json!({"name": self.name, "description": self.description});
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

impl ToolEffect {
    /// Returns whether its changes can be undone, so that nobody has to be asked first.
    #[cfg(feature = "desktop")]
    pub(crate) fn is_undoable(self) -> bool {
        self != ToolEffect::Destroys
    }

    /// Returns the annotations. Every meaningful hint is set: defaults are the worst case, and
    /// some clients refuse calls because of them.
    fn json(self) -> Value {
        let (destructive, idempotent) = match self {
            ToolEffect::Reads => return json!({"readOnlyHint": true, "openWorldHint": false}),
            ToolEffect::Adds => (false, false),
            ToolEffect::Edits => (false, true),
            ToolEffect::Destroys => (true, false),
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
    /// Returns whether the row is a template.
    pub(super) fn is_template(&self) -> bool {
        self.uri.contains('{')
    }

    pub(super) fn json(&self, version: Version) -> Value {
        let key = if self.is_template() { "uriTemplate" } else { "uri" };
        let Resource { uri, name, title, description, .. } = self;
        resource_json(version, (key, uri), [name, title, description], self.form)
    }
}

impl TemplateInstanceResource {
    pub(super) fn json(&self, version: Version) -> Value {
        let TemplateInstanceResource { uri, name, title, description, form } = self;
        resource_json(version, ("uri", uri), [name, title, description], *form)
    }
}

fn resource_json(
    version: Version,
    (key, uri): (&str, &str),
    [name, title, description]: [&str; 3],
    form: ResourceFormat,
) -> Value {
    let mut json = json!({key: uri, "name": name});
    if Version::V2025_06_18 <= version {
        json["title"] = title.into();
    }
    json["description"] = description.into();
    json["mimeType"] = form.mime().into();
    json
}

impl<P> Prompt<P> {
    pub(super) fn json(&self, version: Version) -> Value {
        let mut json = json!({"name": self.name});
        if Version::V2025_06_18 <= version {
            json["title"] = self.title.into();
        }
        json["description"] = self.description.into();
        if !self.args.is_empty() {
            json["arguments"] = self.args.iter().map(ArgSpec::of_prompt).collect();
        }
        json
    }
}
