//! Values of setting edits: the server, permissions, and refusals.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The server's entry in a client's settings.
#[derive(Clone, Debug)]
pub(super) struct ServerEntry {
    pub(super) name: &'static str,
    /// The field that tells a server of this kind from others.
    pub(super) key: &'static str,
    pub(super) fields: Vec<(&'static str, Value)>,
}

/// Settings with the server added.
#[derive(Debug)]
pub(super) struct EditedSettings {
    pub(super) text: String,
    /// The former entry of that name, as written.
    pub(super) entry: Option<String>,
    /// Whether the object of servers was created for it.
    pub(super) is_container_new: bool,
}

/// A permission in a client's settings: a path of keys, and its value there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Grant {
    pub(super) at: Vec<String>,
    pub(super) gives: GrantedItemsOrValue,
    /// Number of objects and lists on the path that were created for it.
    #[serde(default)]
    pub(super) n_made: usize,
}

/// The insertion that a [`Grant`] makes at its path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum GrantedItemsOrValue {
    /// Elements added to a list.
    Items(Vec<Value>),
    /// The value of a key that was not set.
    Value(Value),
}

/// The reason why settings are not edited.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum EditRefusal {
    /// The settings are invalid for the client.
    Broken { at: usize, what: String },
    /// An entry of that name is of another kind; the text says why it is not edited.
    ForeignEntry(String),
    /// The edit would change more than it should.
    Unsure,
}

impl EditRefusal {
    pub(super) fn broken(at: usize, what: impl Into<String>) -> EditRefusal {
        EditRefusal::Broken { at, what: what.into() }
    }

    /// Returns the refusal for an entry of that name and another kind.
    pub(super) fn stranger(entry: &ServerEntry) -> EditRefusal {
        let ServerEntry { name, key, .. } = entry;
        EditRefusal::ForeignEntry(format!(
            "its `{name}` has no `{key}`, so that somebody else made it; rename or remove it"
        ))
    }
}

impl Grant {
    pub(super) fn items(at: &[&str], items: impl IntoIterator<Item = String>) -> Grant {
        Grant::elements(at, items.into_iter().map(Value::from).collect())
    }

    /// Returns elements of any kind for a list.
    pub(super) fn elements(at: &[&str], items: Vec<Value>) -> Grant {
        Grant { at: owned(at), gives: GrantedItemsOrValue::Items(items), n_made: 0 }
    }

    pub(super) fn value(at: &[&str], value: Value) -> Grant {
        Grant { at: owned(at), gives: GrantedItemsOrValue::Value(value), n_made: 0 }
    }

    /// Returns the part of it that `wanted` has, too.
    fn within(&self, wanted: &[Grant]) -> Option<Grant> {
        let wanted = wanted.iter().find(|it| it.at == self.at)?;
        let gives = match (&self.gives, &wanted.gives) {
            (GrantedItemsOrValue::Items(items), GrantedItemsOrValue::Items(wanted)) => {
                GrantedItemsOrValue::Items(
                    items.iter().filter(|it| wanted.contains(it)).cloned().collect(),
                )
            }
            (mine, wanted) if mine == wanted => mine.clone(),
            _ => return None,
        };
        Some(Grant { gives, ..self.clone() })
    }

    /// Returns the part of it that `kept` does not have.
    fn without(&self, kept: &[Grant]) -> Option<Grant> {
        let Some(kept) = self.within(kept) else { return Some(self.clone()) };
        match (&self.gives, &kept.gives) {
            (GrantedItemsOrValue::Items(items), GrantedItemsOrValue::Items(kept)) => {
                let rest = items.iter().filter(|it| !kept.contains(it)).cloned();
                let rest: Vec<Value> = rest.collect();
                // The list stays, since other items remain in it.
                let n_made = if kept.is_empty() { self.n_made } else { 0 };
                let gives = GrantedItemsOrValue::Items(rest.clone());
                (!rest.is_empty()).then(|| Grant { gives, n_made, ..self.clone() })
            }
            _ => None,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        matches!(&self.gives, GrantedItemsOrValue::Items(items) if items.is_empty())
    }

    /// Merges another grant for the same path.
    fn join(&mut self, other: &Grant) {
        self.n_made = self.n_made.max(other.n_made);
        if let (GrantedItemsOrValue::Items(items), GrantedItemsOrValue::Items(others)) =
            (&mut self.gives, &other.gives)
        {
            let new = others.iter().filter(|it| !items.contains(it)).cloned();
            let new: Vec<Value> = new.collect();
            items.extend(new);
        }
    }
}

/// Splits `given` into grants that are still `wanted`, and obsolete ones.
pub(super) fn parted(given: &[Grant], wanted: &[Grant]) -> (Vec<Grant>, Vec<Grant>) {
    let kept = given.iter().filter_map(|it| it.within(wanted)).filter(|it| !it.is_empty());
    let kept: Vec<Grant> = kept.collect();
    let gone = given.iter().filter_map(|it| it.without(&kept)).collect();
    (kept, gone)
}

/// Merges two lists of grants, one grant per path.
pub(super) fn joined(mut grants: Vec<Grant>, new: Vec<Grant>) -> Vec<Grant> {
    for it in new {
        match grants.iter_mut().find(|known| known.at == it.at) {
            Some(known) => known.join(&it),
            None => grants.push(it),
        }
    }
    grants
}

fn owned(at: &[&str]) -> Vec<String> {
    at.iter().map(|it| (*it).to_owned()).collect()
}
