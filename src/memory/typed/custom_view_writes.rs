//! Changes of custom views: made, replaced, removed.
//!
//! A view is a setting of the memory: no snapshot is made, and no rollback undoes it.

use serde_json::{Map, Value};

use super::custom_views::{CustomView, check_view_name};
use super::{Memory, MemoryError, canonical};
use crate::store::Batch;

/// Views of a memory, at most: whoever subscribes to one has all of them looked at.
const VIEWS_MAX: i64 = 100;

/// Tells what defining a view did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DefineViewOutcome {
    Made,
    Replaced,
}

impl Memory {
    /// Defines a view by its checked conditions; replaces one of that name.
    pub(crate) fn define_view(
        &self,
        name: &str,
        conditions: &Map<String, Value>,
    ) -> Result<(CustomView, DefineViewOutcome), MemoryError> {
        check_view_name(name)?;
        self.check_no_secret(conditions)?;
        let query = match conditions.is_empty() {
            true => "{}".to_owned(),
            false => canonical(conditions.clone())?.to_string(),
        };
        let (change, _) = self.writer.write("", "", self.clock.now(), |batch| {
            let change = match batch.has_custom_view(name)? {
                true => DefineViewOutcome::Replaced,
                false => DefineViewOutcome::Made,
            };
            if change == DefineViewOutcome::Made {
                check_room(batch)?;
            }
            batch.set_custom_view(name, &query)?;
            Ok::<_, MemoryError>(change)
        })?;
        Ok((CustomView { name: name.to_owned(), conditions: conditions.clone() }, change))
    }

    /// Removes a view; returns whether there was one.
    pub(crate) fn remove_view(&self, name: &str) -> Result<bool, MemoryError> {
        check_view_name(name)?;
        let removed = self.writer.write("", "", self.clock.now(), |batch| {
            Ok::<_, MemoryError>(batch.remove_custom_view(name)?)
        });
        Ok(removed?.0)
    }

    /// Refuses conditions that would store a secret; with a marker in its place, the view would
    /// find nothing.
    fn check_no_secret(&self, conditions: &Map<String, Value>) -> Result<(), MemoryError> {
        let redactor = &self.workspace().redactor;
        for (name, value) in conditions {
            let texts = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
            let texts = texts.iter().filter_map(Value::as_str);
            let hit = texts.flat_map(|it| redactor.scrub(it).hits).next();
            if let Some(hit) = hit {
                let what = format!("`{name}` has a secret in it ({}); leave it out", hit.kind);
                return Err(MemoryError::invalid(what));
            }
        }
        Ok(())
    }
}

fn check_room(batch: &Batch<'_>) -> Result<(), MemoryError> {
    if batch.n_custom_views()? < VIEWS_MAX {
        return Ok(());
    }
    let what = format!("there are {VIEWS_MAX} views, the most there may be; remove one first");
    Err(MemoryError::invalid(what))
}
