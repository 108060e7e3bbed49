//! The resources of typed memories: `memory://` and its parameters.

use std::fmt::Write;

use super::{ResourceFn, put};
use crate::mcp::uri::UriVars;
use crate::mcp::{Resource, ResourceFormat, TemplateInstanceResource};
use crate::memory::typed::{CollectionFilter, CollectionName, CustomView, MemoryError, SHOWN_MAX};
use crate::memory::{Error, ReadOnlyMemory};
use crate::model::clock::UnixMillis;
use crate::store::StoreError;
use crate::text::terminal_safe_json::json_text;

/// A collection as it is.
const fn whole(
    of: CollectionName,
    name: &'static str,
    title: &'static str,
    description: &'static str,
    read: ResourceFn,
) -> Resource<ResourceFn> {
    let form = ResourceFormat::Json;
    Resource { uri: of.uri(), name, title, description, form, is_subscribable: true, read }
}

/// The same, narrowed by parameters.
const fn narrowed(
    row: Resource<ResourceFn>,
    uri: &'static str,
    name: &'static str,
    description: &'static str,
) -> Resource<ResourceFn> {
    Resource { uri, name, description, is_subscribable: false, ..row }
}

pub(super) const RECENT: Resource<ResourceFn> = whole(
    CollectionName::Recent,
    "recent-memories",
    "Recent memories",
    "The 20 most recently accessed memories across all types.",
    |view, vars, out| write(CollectionName::Recent, view, vars, out),
);
pub(super) const RECENT_NARROWED: Resource<ResourceFn> = narrowed(
    RECENT,
    "memory://recent{?limit,tags}",
    "recent-memories-narrowed",
    "The `limit` (1 to 1000) most recently accessed memories that have all `tags` (with commas).",
);

pub(super) const CORE: Resource<ResourceFn> = whole(
    CollectionName::Core,
    "core-memories",
    "Core memories",
    "All core memories that are not archived, most important first.",
    |view, vars, out| write(CollectionName::Core, view, vars, out),
);
pub(super) const CORE_NARROWED: Resource<ResourceFn> = narrowed(
    CORE,
    "memory://core{?tags}",
    "core-memories-narrowed",
    "Core memories that have all `tags` (with commas).",
);

pub(super) const LEARNINGS: Resource<ResourceFn> = whole(
    CollectionName::Learnings,
    "learnings",
    "Recent learnings",
    "Learnings made or accessed within the last 30 days, newest first.",
    |view, vars, out| write(CollectionName::Learnings, view, vars, out),
);
pub(super) const LEARNINGS_NARROWED: Resource<ResourceFn> = narrowed(
    LEARNINGS,
    "memory://learnings{?since,tags}",
    "learnings-narrowed",
    "Learnings made or accessed `since` a day or time that have all `tags` (with commas).",
);

pub(super) const ACTIVE_TASKS: Resource<ResourceFn> = whole(
    CollectionName::ActiveTasks,
    "active-tasks",
    "Active tasks",
    "All tasks that are not archived, last updated first.",
    |view, vars, out| write(CollectionName::ActiveTasks, view, vars, out),
);
pub(super) const ACTIVE_TASKS_NARROWED: Resource<ResourceFn> = narrowed(
    ACTIVE_TASKS,
    "memory://tasks/active{?tags}",
    "active-tasks-narrowed",
    "Tasks that are not archived and have all `tags` (with commas).",
);

pub(super) const COMPLETED_TASKS: Resource<ResourceFn> = whole(
    CollectionName::CompletedTasks,
    "completed-tasks",
    "Completed tasks",
    "Tasks completed within the last 30 days, last completed first.",
    |view, vars, out| write(CollectionName::CompletedTasks, view, vars, out),
);
pub(super) const COMPLETED_TASKS_NARROWED: Resource<ResourceFn> = narrowed(
    COMPLETED_TASKS,
    "memory://tasks/completed{?tags}",
    "completed-tasks-narrowed",
    "Tasks completed within the last 30 days that have all `tags` (with commas).",
);

pub(super) const CUSTOM_BY_NAME: &str = "memory://custom/{name}";

pub(super) const CUSTOM: Resource<ResourceFn> = Resource {
    uri: CUSTOM_BY_NAME,
    name: "custom-view",
    title: "Custom view",
    description: "The memories of the custom view `name`, as `remindb view-query` defined it.",
    form: ResourceFormat::Json,
    is_subscribable: true,
    read: custom,
};

/// Returns the custom views that there are; none when the database fails, since the other
/// resources do not depend on them.
pub(crate) fn custom_views(view: &ReadOnlyMemory) -> Vec<TemplateInstanceResource> {
    let views = view.read(CustomView::all).unwrap_or_else(|error| {
        log::warn!("the custom views are not listed: {error}");
        Vec::new()
    });
    let listed = |it: CustomView| TemplateInstanceResource {
        uri: it.uri(),
        title: it.name.clone(),
        description: match it.conditions_as_text().as_str() {
            "" => "A custom view of all memories.".to_owned(),
            conditions => format!("A custom view of memories: {conditions}."),
        },
        name: it.name,
        form: ResourceFormat::Json,
    };
    views.into_iter().map(listed).collect()
}

/// Returns the names of custom views with the typed prefix.
pub(super) fn names(
    view: &ReadOnlyMemory,
    prefix: &str,
    n_max: usize,
) -> Result<Vec<String>, StoreError> {
    let views = view.read(CustomView::all)?.into_iter().map(|it| it.name);
    Ok(views.filter(|it| it.starts_with(prefix)).take(n_max).collect())
}

fn custom(view: &ReadOnlyMemory, vars: &UriVars, out: &mut dyn Write) -> Result<(), Error> {
    let name = vars.get("name").unwrap_or_default();
    let now = view.now();
    let document = view.read::<_, MemoryError>(|reader| match CustomView::find(reader, name)? {
        Some(custom) => custom.read(reader, now).map(Some),
        None => Ok(None),
    });
    match document {
        Ok(Some(document)) => put(out, &json_text(&document)),
        Ok(None) => Err(Error::UnknownUri(vars.fill(CUSTOM_BY_NAME))),
        Err(error) => Err(Error::Unavailable(error.message)),
    }
}

fn write(
    of: CollectionName,
    view: &ReadOnlyMemory,
    vars: &UriVars,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let filter = CollectionFilter { tags: tags(vars)?, limit: limit(vars)?, since: since(vars)? };
    let now = view.now();
    let document = view.read(|reader| of.read(reader, &filter, now))?;
    put(out, &document)
}

fn tags(vars: &UriVars) -> Result<Vec<String>, Error> {
    let tags = vars.items("tags").unwrap_or_default();
    match tags.iter().any(|it| it.trim().is_empty()) {
        true => Err(Error::BadArgument("`tags` has an empty tag in it".to_owned())),
        false => Ok(tags.to_vec()),
    }
}

fn limit(vars: &UriVars) -> Result<Option<usize>, Error> {
    let Some(limit) = super::number(vars, "limit")? else { return Ok(None) };
    match usize::try_from(limit) {
        Ok(limit) if (1..=SHOWN_MAX).contains(&limit) => Ok(Some(limit)),
        _ => {
            let why = format!("`limit` must be between 1 and {SHOWN_MAX}, not {limit}");
            Err(Error::BadArgument(why))
        }
    }
}

/// A day counts from its start in UTC.
fn since(vars: &UriVars) -> Result<Option<UnixMillis>, Error> {
    let Some(since) = vars.get("since") else { return Ok(None) };
    match UnixMillis::parse_rfc3339(since) {
        Some(at) => Ok(Some(at)),
        None => Err(Error::BadArgument(
            "`since` must be a day or a time, as 2026-01-01 or 2026-01-01T10:00:00Z".to_owned(),
        )),
    }
}
