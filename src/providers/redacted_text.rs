//! Texts that may leave this machine: every secret that redaction knows is masked.

use serde_json::{Map, Value};

use crate::ingest::redact::Redactor;

/// A text without secrets, which only redaction makes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RedactedText(String);

impl RedactedText {
    /// Masks what redaction masks in a text.
    pub(crate) fn of(redactor: &Redactor, text: &str) -> RedactedText {
        RedactedText(redactor.scrub(text).text.into_owned())
    }

    /// Masks what redaction masks in each string of a document, as a reader of the string sees it,
    /// and in the whole, as it is sent.
    pub(crate) fn of_json(redactor: &Redactor, document: &Value) -> RedactedText {
        RedactedText::of(redactor, &strings_scrubbed(redactor, document).to_string())
    }

    /// Returns the text.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

fn strings_scrubbed(redactor: &Redactor, value: &Value) -> Value {
    match value {
        Value::String(text) => redactor.scrub(text).text.into(),
        Value::Array(items) => items.iter().map(|it| strings_scrubbed(redactor, it)).collect(),
        Value::Object(members) => {
            let scrubbed = |(name, it): (&String, &Value)| {
                let name = redactor.scrub(name).text.into_owned();
                (name, strings_scrubbed(redactor, it))
            };
            members.iter().map(scrubbed).collect::<Map<_, _>>().into()
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_secret_is_masked_in_a_string_and_across_names() {
        let pem = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n\
                   -----END PRIVATE KEY-----";
        let token = "ghp_016C7e8ZrXkB3mV5nQ2wLpT9yUdGsHfJaKcE";
        let document = json!({"a": [pem, {token: 1}], "password": "correct-horse-battery"});
        let text = RedactedText::of_json(&Redactor::builtin(), &document);
        let text = text.as_str();
        assert!(!text.contains("MIIEv") && !text.contains("ghp_0"), "{text}");
        assert!(!text.contains("correct-horse"), "{text}");
        assert!(serde_json::from_str::<Value>(text).is_ok(), "it stays JSON: {text}");
    }
}
