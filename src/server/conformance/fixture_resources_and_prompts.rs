//! The suite's resources and prompts.

use serde_json::json;

use super::fixture_tools::{PNG, picture};
use super::{SuitePromptFn, SuiteResourceFn};
use crate::mcp::{
    ArgSpec, ContentBlock, Prompt, PromptMessage, Resource, ResourceFormat, Role, ServerRequest,
};

/// All resources.
pub(super) const RESOURCES: &[Resource<SuiteResourceFn>] = &[
    resource("test://static-text", "static-text", ResourceFormat::Text("text/plain"), |_| {
        "This is the content of the static text resource.".to_owned()
    }),
    resource("test://static-binary", "static-binary", ResourceFormat::Base64("image/png"), |_| {
        PNG.to_owned()
    }),
    resource("test://template/{id}/data", "template", ResourceFormat::Json, |vars| {
        let id = vars.get("id").unwrap_or_default();
        json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")}).to_string()
    }),
    Resource {
        is_subscribable: true,
        ..resource(
            "test://watched-resource",
            "watched-resource",
            ResourceFormat::Text("text/plain"),
            |_| "This is the content of the watched resource.".to_owned(),
        )
    },
];

const fn resource(
    uri: &'static str,
    name: &'static str,
    form: ResourceFormat,
    read: SuiteResourceFn,
) -> Resource<SuiteResourceFn> {
    let description = "Something to read.";
    Resource { uri, name, title: name, description, form, is_subscribable: false, read }
}

/// All prompts.
pub(super) const PROMPTS: &[Prompt<SuitePromptFn>] = &[
    prompt("test_simple_prompt", "Says a text.", &[], |_, _| {
        Ok(vec![PromptMessage::user("This is a simple prompt for testing.")])
    }),
    prompt(
        "test_prompt_with_arguments",
        "Says its arguments.",
        &[
            ArgSpec::text("arg1", "First test argument").required(),
            ArgSpec::text("arg2", "Second test argument").required(),
        ],
        |args, _| {
            let [first, second] = ["arg1", "arg2"].map(|it| args.text(it).unwrap_or_default());
            let text = format!("Prompt with arguments: arg1='{first}', arg2='{second}'");
            Ok(vec![PromptMessage::user(text)])
        },
    ),
    prompt(
        "test_prompt_with_embedded_resource",
        "Says a resource.",
        &[ArgSpec::text("resourceUri", "URI of the resource to embed").required()],
        |args, _| {
            let resource = ContentBlock::Resource {
                uri: args.text("resourceUri").unwrap_or_default().to_owned(),
                mime: "text/plain",
                text: "Embedded resource content for testing.".to_owned(),
            };
            let words = PromptMessage::user("Please process the embedded resource above.");
            Ok(vec![user_message(resource), words])
        },
    ),
    prompt("test_prompt_with_image", "Shows a picture.", &[], |_, _| {
        Ok(vec![user_message(picture()), PromptMessage::user("Please analyze the image above.")])
    }),
    prompt("test_input_required_result_prompt", "Asks first.", &[], |_, call| {
        let message = "What context should the prompt use?".to_owned();
        let context = json!({"context": {"type": "string"}});
        let schema = json!({"type": "object", "properties": context, "required": ["context"]});
        let answers =
            call.request_from_client(&[("user_context", ServerRequest::Form { message, schema })])?;
        let context = answers[0]["content"]["context"].as_str().unwrap_or("no context");
        Ok(vec![PromptMessage::user(format!("Use this context: {context}"))])
    }),
];

const fn prompt(
    name: &'static str,
    description: &'static str,
    args: &'static [ArgSpec],
    get: SuitePromptFn,
) -> Prompt<SuitePromptFn> {
    Prompt { name, title: name, description, args, get }
}

fn user_message(block: ContentBlock) -> PromptMessage {
    PromptMessage { role: Role::User, block }
}
