//! The state of a changeset that is being applied: its base, and the names that it declares.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::arguments::{ArgumentObject, KnowledgeResult};
use super::changeable_nodes::why_not_changed;
use super::node_writes::{StoredKnowledgeNode, find_node};
use crate::memory::Memory;
use crate::memory::typed::MemoryError;
use crate::model::clock::UnixMillis;
use crate::model::identity::NodeId;
use crate::store::Batch;

/// The state of a changeset that is being applied.
pub(super) struct ChangesetContext<'a> {
    pub(super) memory: &'a Memory,
    pub(super) now: UnixMillis,
    pub(super) base: Option<i64>,
    /// Nodes that operations declared names for.
    pub(super) named: HashMap<String, NodeId>,
}

impl ChangesetContext<'_> {
    /// Returns the node of an id, of `$name`, or of a UUID.
    pub(super) fn node(
        &self,
        batch: &Batch<'_>,
        given: &ArgumentObject<'_>,
        key: &str,
        text: &str,
    ) -> KnowledgeResult<StoredKnowledgeNode> {
        let id = match text.strip_prefix('$') {
            Some(name) => match self.named.get(name) {
                Some(id) => id.to_string(),
                None => {
                    return Err(given.refuse(key, undeclared(name)));
                }
            },
            None => text.to_owned(),
        };
        match find_node(batch, &id)? {
            Some(node) => Ok(node),
            None => {
                let why = format!("names `{id}`, which is no node");
                Err(given.refuse(key, why).about(&id))
            }
        }
    }

    /// Returns the node of an id that is changed: it is neither deleted nor merged into another
    /// one, and as it was at the base.
    pub(super) fn node_to_change(
        &self,
        batch: &Batch<'_>,
        given: &ArgumentObject<'_>,
        key: &str,
        text: &str,
    ) -> KnowledgeResult<StoredKnowledgeNode> {
        let node = self.node_as_at_base(batch, given, key, text)?;
        match why_not_changed(batch, &node)? {
            Some(why) => Err(given.refuse(key, why).about(&node.id().to_string())),
            None => Ok(node),
        }
    }

    /// Returns the node of an id, deleted or not, which must be as it was at the base.
    pub(super) fn node_as_at_base(
        &self,
        batch: &Batch<'_>,
        given: &ArgumentObject<'_>,
        key: &str,
        text: &str,
    ) -> KnowledgeResult<StoredKnowledgeNode> {
        let node = self.node(batch, given, key, text)?;
        if let Some(base) = self.base
            && base < batch.last_change_before_this(node.id())?
        {
            let why = format!("names `{}`, which changed after snapshot {base}", node.id());
            let error = given.refuse(key, why).about(&node.id().to_string());
            return Err(error.with_current(&node.record.content));
        }
        Ok(node)
    }

    /// Puts ids in place of declared names of a topic, a subject and entities.
    pub(super) fn resolve_names(&self, operation: &mut Map<String, Value>) -> KnowledgeResult<()> {
        for key in ["topic", "subject", "entities"] {
            let texts: &mut [Value] = match operation.get_mut(key) {
                Some(Value::Array(items)) => items,
                Some(one) => std::slice::from_mut(one),
                None => continue,
            };
            for text in texts {
                let Some(name) = text.as_str().and_then(|it| it.strip_prefix('$')) else {
                    continue;
                };
                let Some(id) = self.named.get(name) else {
                    let what = format!("`{key}` {}", undeclared(name));
                    return Err(MemoryError::invalid(what));
                };
                *text = id.to_string().into();
            }
        }
        Ok(())
    }
}

fn undeclared(name: &str) -> String {
    format!("names `${name}`, which no earlier operation declares")
}
