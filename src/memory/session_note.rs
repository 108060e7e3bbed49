//! Session notes: one note a session of an agent, made of its conversation without a model.
//!
//! The note is a text below the heading of its day, under the root [`LOG_ROOT`], which belongs to
//! no file. A second capture of a session updates its note: each is at most one snapshot. A note
//! that somebody forgot meanwhile stays forgotten. What a note says is handed in as raw text, too,
//! of which an agent draws episodes.

#[cfg(test)]
mod tests;

use std::path::Path;
use std::time::Duration;

use super::Error;
use super::knowledge::hand_in;
use crate::ingest::conversation::{Conversation, DigestFormatter, TranscriptRedactor};
use crate::ingest::redact::Redactor;
use crate::model::clock::UnixMillis;
use crate::model::identity::{ContentHash, NodeId};
use crate::model::tree::{ContentFormat, NodeType};
use crate::model::typed_node_field_schemas::knowledge::LOG_ROOT;
use crate::settings::root_settings::{LiveRootSettings, OperatorOptions, RootSettings};
use crate::store::{Batch, NodeRecord, OptionalColumnValues, StoreError, UnplacedNodeData, Writer};
use crate::text::tokens;
use crate::text::{self, LABEL_CHARS_MAX};

/// The beginning of a note's label.
const LABEL_START: &str = "Session: ";

/// Roots whose settings are followed, for the secrets that they name.
const ROOTS_MAX: usize = 16;

/// A session to keep a note of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SessionNoteRequest<'a> {
    pub(crate) client: &'a str,
    /// The client's id of the session.
    pub(crate) session: &'a str,
    /// The folder that the session works in.
    pub(crate) folder: &'a str,
    pub(crate) conversation: &'a Conversation,
    /// The id of the session's note, if it has one.
    pub(crate) note_id: Option<&'a str>,
    /// The operator's options for the roots.
    pub(crate) options: &'a OperatorOptions,
    /// Longest wait for other connections.
    pub(crate) wait: Duration,
    pub(crate) now: UnixMillis,
}

/// The note of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SavedSessionNote {
    pub(crate) id: String,
    /// The snapshot; `None` when the note was up to date.
    pub(crate) snapshot: Option<i64>,
}

/// Returns whether a label is that of a session's note.
pub(crate) fn is_session_note(label: &str) -> bool {
    label.starts_with(LABEL_START)
}

impl SessionNoteRequest<'_> {
    /// Writes or updates the note; `None` where nothing was asked, or the note was forgotten.
    ///
    /// # Errors
    ///
    /// The memory is missing, of another schema version, or busy.
    pub(crate) fn keep(&self, db: &Path) -> Result<Option<SavedSessionNote>, Error> {
        // A memory of an older schema is left to commands that may take their time.
        let writer = Writer::open_hastily(db, self.wait)?;
        let workspaces: Vec<RootSettings> = writer
            .roots()?
            .iter()
            .take(ROOTS_MAX)
            .filter_map(|it| RootSettings::load(Path::new(&it.path), self.options.clone()).ok())
            .collect();
        let builtin = Redactor::builtin();
        let of_user = LiveRootSettings::without_folder(self.options.clone()).unwrap_or_default();
        let of_roots = workspaces.iter().map(|it| &it.redactor);
        let always = [&builtin, &of_user.current().redactor];
        let mut scrubber = TranscriptRedactor::new(always.into_iter().chain(of_roots).collect());
        let day = &self.now.rfc3339()[..10];
        let head = format!("{} {} of {day}", self.client, self.mark());
        let digest = DigestFormatter { head: &head, folder: self.folder };
        let Some((content, first)) = digest.of(self.conversation, &mut scrubber) else {
            return Ok(None);
        };
        let label = text::truncate_chars(&format!("{LABEL_START}{first}"), LABEL_CHARS_MAX);
        let (note_id, commit) = writer.write::<_, Error>("", "", self.now, |batch| {
            batch.set_message(format!("hook:{}", self.mark()));
            let known = match self.note_id.and_then(NodeId::parse) {
                Some(id) => match batch.find(id)? {
                    None => return Ok(None),
                    known => known,
                },
                None => self.find(batch, day)?,
            };
            let before = known.as_ref().map(|it| rest_of(&it.content).to_owned());
            let note_id = match known {
                Some(old) => update(batch, &old, &label, &content)?,
                None => batch.insert_typed_node(&data(&label, &content), &[LOG_ROOT, day])?.1,
            };
            let said = rest_of(&content);
            if before.as_deref() != Some(said) && !said.trim().is_empty() {
                // Its episodes are for an agent to draw; until then the text waits.
                let source = format!("{} {}", self.client, self.mark());
                hand_in(batch, &source, said, self.now)
                    .map_err(|error| Error::Unavailable(error.message))?;
            }
            Ok(Some(note_id))
        })?;
        Ok(note_id.map(|it| SavedSessionNote { id: it.to_string(), snapshot: commit.snapshot }))
    }

    /// Returns the mark of the session: eight digits of a hash of its id.
    fn mark(&self) -> String {
        let hash = ContentHash::of(&format!("{}\0{}", self.client, self.session)).to_string();
        format!("session {}", &hash[..8])
    }

    /// Returns the session's note of that day.
    fn find(&self, batch: &Batch<'_>, day: &str) -> Result<Option<NodeRecord>, StoreError> {
        let start = format!("{} {} of ", self.client, self.mark());
        let notes = batch.nodes_in_bucket(&[LOG_ROOT, day])?;
        Ok(notes.into_iter().rev().find(|it| it.content.starts_with(&start)))
    }
}

/// Updates a note, which keeps its first line.
fn update(
    batch: &mut Batch<'_>,
    old: &NodeRecord,
    label: &str,
    content: &str,
) -> Result<NodeId, StoreError> {
    let head = old.content.lines().next().unwrap_or_default();
    let content = format!("{head}\n{}", rest_of(content));
    let said = data(label, &content);
    batch.set_agent_text(old, &UnplacedNodeData { attributes: old.attributes.clone(), ..said })?;
    Ok(old.id)
}

/// Returns a note without its first line, which names the session.
fn rest_of(content: &str) -> &str {
    content.split_once('\n').map_or("", |(_, rest)| rest)
}

fn data<'a>(label: &'a str, content: &'a str) -> UnplacedNodeData<'a> {
    UnplacedNodeData {
        node_type: NodeType::Text,
        format: ContentFormat::Plain,
        label,
        content,
        token_count: tokens::count(content),
        attributes: OptionalColumnValues::default(),
    }
}
