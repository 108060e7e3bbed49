//! The resources of knowledge: topics, concepts, episodes, entities, conflicts, events, the
//! worksheet, and what a prompt may begin with.

use std::fmt::Write;

use serde_json::{Map, Value};

use super::{ResourceFn, number, put};
use crate::mcp::uri::UriVars;
use crate::mcp::{Resource, ResourceFormat};
use crate::memory::knowledge::{
    self, BOOTSTRAP_DEFAULT, BOOTSTRAP_RANGE, LIST_DEFAULT, LIST_MAX, WorksheetRequest,
};
use crate::memory::typed::{ErrorCode, MemoryError};
use crate::memory::{Error, ReadOnlyMemory};
use crate::store::StoreError;
use crate::store::reader::Reader;
use crate::text::terminal_safe_json::json_text;

const fn row(
    uri: &'static str,
    name: &'static str,
    title: &'static str,
    description: &'static str,
    read: ResourceFn,
) -> Resource<ResourceFn> {
    let form = ResourceFormat::Json;
    Resource { uri, name, title, description, form, is_subscribable: false, read }
}

/// Returns the row of a resource whose changes are announced.
const fn live(row: Resource<ResourceFn>) -> Resource<ResourceFn> {
    Resource { is_subscribable: true, ..row }
}

pub(super) const REVIEW: Resource<ResourceFn> = live(row(
    "remindb://review",
    "review",
    "Worksheet",
    "Episodes that wait to be consolidated, with what to answer them by.",
    |view, _, out| {
        let request = WorksheetRequest::parse(&Map::new());
        write(view, out, |reader| knowledge::review(reader, &request?, view.now()))
    },
));

pub(super) const TOPICS: Resource<ResourceFn> = live(row(
    "remindb://topics",
    "topics",
    "Topics",
    "All topics, with the numbers of their episodes and concepts.",
    |view, _, out| write(view, out, knowledge::topics_document),
));

pub(super) const CONCEPTS: Resource<ResourceFn> =
    live(row("remindb://concepts", "concepts", "Concepts", "The 50 newest concepts.", concepts));

pub(super) const CONCEPTS_NARROWED: Resource<ResourceFn> = row(
    "remindb://concepts{?topic,limit}",
    "concepts-narrowed",
    "Concepts",
    "The `limit` (1 to 1000) newest concepts of a `topic`.",
    concepts,
);

pub(super) const CONCEPT: Resource<ResourceFn> = row(
    "remindb://concepts/{id}",
    "concept",
    "Concept",
    "The concept `id` with its facts, sources, evidence and edges.",
    |view, vars, out| {
        let id = vars.get("id").unwrap_or_default();
        write(view, out, |reader| knowledge::concept_document(reader, id))
    },
);

pub(super) const EPISODES: Resource<ResourceFn> =
    live(row("remindb://episodes", "episodes", "Episodes", "The 50 newest episodes.", episodes));

pub(super) const EPISODES_NARROWED: Resource<ResourceFn> = row(
    "remindb://episodes{?kind,pending,limit}",
    "episodes-narrowed",
    "Episodes",
    "The `limit` (1 to 1000) newest episodes of a `kind` that are `pending` (true or false).",
    episodes,
);

pub(super) const ENTITIES: Resource<ResourceFn> = live(row(
    "remindb://entities",
    "entities",
    "Entities",
    "All entities with their further names, and how many episodes mention each.",
    |view, _, out| write(view, out, knowledge::entities_document),
));

pub(super) const ENTITY: Resource<ResourceFn> = row(
    "remindb://entities/{id}",
    "entity",
    "Entity",
    "The entity `id`, or `kind:name`, with its relations, episodes and concepts.",
    |view, vars, out| {
        let id = vars.get("id").unwrap_or_default();
        write(view, out, |reader| knowledge::entity_document(reader, id))
    },
);

pub(super) const CONFLICTS: Resource<ResourceFn> = live(row(
    "remindb://conflicts",
    "conflicts",
    "Conflicts",
    "The 50 newest open conflicts between facts or concepts.",
    conflicts,
));

pub(super) const CONFLICTS_NARROWED: Resource<ResourceFn> = row(
    "remindb://conflicts{?status,limit}",
    "conflicts-narrowed",
    "Conflicts",
    "The `limit` (1 to 1000) newest conflicts of a `status`: open, resolved, dismissed or all.",
    conflicts,
);

pub(super) const EVENTS: Resource<ResourceFn> = live(row(
    "remindb://events",
    "events",
    "Events",
    "The 50 first changes of episodes, concepts, facts, topics, entities and conflicts.",
    events,
));

pub(super) const EVENTS_NARROWED: Resource<ResourceFn> = row(
    "remindb://events{?since,limit}",
    "events-narrowed",
    "Events",
    "`limit` (1 to 1000) changes after the snapshot `since`, or after `next` of an earlier read.",
    events,
);

pub(super) const BOOTSTRAP: Resource<ResourceFn> = live(row(
    "remindb://bootstrap",
    "bootstrap",
    "Bootstrap",
    "The surest concepts and the open conflicts, in 1000 tokens; equal bytes for one snapshot.",
    bootstrap,
));

pub(super) const BOOTSTRAP_NARROWED: Resource<ResourceFn> = row(
    "remindb://bootstrap{?budget}",
    "bootstrap-narrowed",
    "Bootstrap",
    "The surest concepts and the open conflicts, in `budget` tokens.",
    bootstrap,
);

fn events(view: &ReadOnlyMemory, vars: &UriVars, out: &mut dyn Write) -> Result<(), Error> {
    let n_max = limit(vars)?;
    write(view, out, |reader| knowledge::events_document(reader, vars.get("since"), n_max))
}

fn bootstrap(view: &ReadOnlyMemory, vars: &UriVars, out: &mut dyn Write) -> Result<(), Error> {
    let (min, max) = BOOTSTRAP_RANGE;
    let budget = match number(vars, "budget")? {
        None => BOOTSTRAP_DEFAULT,
        Some(n) => u32::try_from(n)
            .ok()
            .filter(|it| (min..=max).contains(it))
            .ok_or_else(|| Error::BadArgument(format!("`budget` must be from {min} to {max}")))?,
    };
    write(view, out, |reader| knowledge::bootstrap_document(reader, budget))
}

fn concepts(view: &ReadOnlyMemory, vars: &UriVars, out: &mut dyn Write) -> Result<(), Error> {
    let n_max = limit(vars)?;
    write(view, out, |reader| knowledge::concepts_document(reader, vars.get("topic"), n_max))
}

fn episodes(view: &ReadOnlyMemory, vars: &UriVars, out: &mut dyn Write) -> Result<(), Error> {
    let n_max = limit(vars)?;
    let is_pending = match vars.get("pending") {
        None => None,
        Some("true") => Some(true),
        Some("false") => Some(false),
        Some(_) => return Err(Error::BadArgument("`pending` must be true or false".to_owned())),
    };
    let conditions = (vars.get("kind"), is_pending);
    write(view, out, |reader| knowledge::episodes_document(reader, conditions, n_max))
}

fn conflicts(view: &ReadOnlyMemory, vars: &UriVars, out: &mut dyn Write) -> Result<(), Error> {
    let n_max = limit(vars)?;
    let status = vars.get("status").unwrap_or("open");
    let wanted = (status, view.now());
    write(view, out, |reader| knowledge::conflicts_document(reader, wanted, n_max))
}

/// Returns the asked number of rows.
fn limit(vars: &UriVars) -> Result<usize, Error> {
    match number(vars, "limit")? {
        None => Ok(LIST_DEFAULT),
        Some(n) => usize::try_from(n)
            .ok()
            .filter(|it| (1..=LIST_MAX).contains(it))
            .ok_or_else(|| Error::BadArgument(format!("`limit` must be from 1 to {LIST_MAX}"))),
    }
}

/// Writes a document of one state of the memory.
fn write(
    view: &ReadOnlyMemory,
    out: &mut dyn Write,
    document: impl FnOnce(&Reader) -> Result<Value, MemoryError>,
) -> Result<(), Error> {
    let made = view.read::<_, StoreError>(|reader| Ok(document(reader)))?;
    let document = made.map_err(|error| match error.code {
        ErrorCode::NotFound => Error::NotFound(error.message),
        code if code.is_outside() => Error::Unavailable(error.message),
        _ => Error::BadArgument(error.message),
    })?;
    put(out, &json_text(&document))
}
