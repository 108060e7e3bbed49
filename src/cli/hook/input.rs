//! The input of a hook: one JSON object on standard input, in any client's words.

use std::borrow::Cow;
use std::io::{BufReader, IsTerminal, Read, Stdin};
use std::path::Path;

use serde_json::{Map, Value};

use crate::ingest::conversation;

/// Bytes of the object; OpenCode's has a whole conversation in it.
const INPUT_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Bytes of an id of a session, and of a path.
const ID_BYTES_MAX: usize = 512;
const PATH_BYTES_MAX: usize = 4096;

/// The answer as Qwen Code names it where there is none.
const NO_ANSWER: &str = "[no response text]";

/// The fields of the object.
#[derive(Debug, Default)]
pub(super) struct HookInput(Map<String, Value>);

impl HookInput {
    /// Reads the object, and nothing after it: some clients never close the stream.
    pub(super) fn read(stdin: Stdin) -> Result<HookInput, String> {
        if stdin.is_terminal() {
            return Err("a client calls this with JSON on standard input".to_owned());
        }
        HookInput::parse(stdin)
    }

    pub(super) fn parse(input: impl Read) -> Result<HookInput, String> {
        let input = BufReader::new(input.take(INPUT_BYTES_MAX));
        let mut values = serde_json::Deserializer::from_reader(input).into_iter::<Value>();
        match values.next() {
            Some(Ok(Value::Object(fields))) => Ok(HookInput(fields)),
            Some(Ok(_)) => Err("standard input is no JSON object".to_owned()),
            // Its message may repeat a part of the input.
            Some(Err(error)) => {
                Err(format!("standard input is no JSON, at column {}", error.column()))
            }
            None => Err("standard input is empty".to_owned()),
        }
    }

    /// Returns the id of the session; that of the transcript where there is none.
    pub(super) fn session(&self) -> &str {
        let id = self.text(&["session_id", "sessionId", "sessionID", "conversation_id"]);
        match id {
            "" => self.transcript().unwrap_or_default(),
            id => &id[..id.floor_char_boundary(ID_BYTES_MAX)],
        }
    }

    /// Returns the person's own words of the prompt.
    pub(super) fn prompt(&self) -> Cow<'_, str> {
        // Qwen Code runs the hook for results of tools, too, without the first of these.
        conversation::typed_part(self.text(&["submitted_prompt", "prompt"]))
    }

    /// Returns the prompt as Copilot CLI sends it to the model.
    pub(super) fn transformed_prompt(&self) -> Option<&str> {
        self.0.get("transformedPrompt")?.as_str()
    }

    pub(super) fn event_name(&self) -> &str {
        self.text(&["hook_event_name", "hookEventName"])
    }

    /// Returns the folder that the session works in.
    pub(super) fn folder(&self) -> Option<&str> {
        self.path(&["cwd"])
    }

    /// Returns the agent's answer to the last request.
    pub(super) fn last_answer(&self) -> Option<&str> {
        let answer = self.text(&["last_assistant_message", "lastAssistantMessage"]);
        (!answer.is_empty() && answer != NO_ANSWER).then_some(answer)
    }

    /// Returns the path of the transcript.
    pub(super) fn transcript(&self) -> Option<&str> {
        self.path(&["transcript_path", "transcriptPath"])
    }

    /// Returns the conversation where it is a part of the input.
    pub(super) fn messages(&self) -> Option<&Value> {
        self.0.get("messages").filter(|it| it.is_array())
    }

    /// Returns an absolute path.
    fn path(&self, keys: &[&str]) -> Option<&str> {
        let path = self.text(keys);
        let is_path =
            Path::new(path).is_absolute() && path.len() <= PATH_BYTES_MAX && !path.contains('\0');
        is_path.then_some(path)
    }

    fn text(&self, keys: &[&str]) -> &str {
        let texts = keys.iter().filter_map(|it| self.0.get(*it)?.as_str());
        texts.into_iter().find(|it| !it.is_empty()).unwrap_or_default()
    }
}
