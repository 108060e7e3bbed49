//! The specification as the simplest thing that does what it says: a list of memories.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::model::clock::UnixMillis;

/// What is kept of a memory, apart from its reads.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Entry {
    pub(super) id: String,
    /// The node that it is, which reads are counted of.
    pub(super) node: String,
    pub(super) memory_type: String,
    pub(super) content: String,
    pub(super) category: Option<String>,
    pub(super) tags: Vec<String>,
    pub(super) importance: String,
    pub(super) archived: bool,
    pub(super) metadata: BTreeMap<String, Value>,
    pub(super) created_at: i64,
    pub(super) updated_at: i64,
}

/// All memories, what was read of them, and every state of before.
#[derive(Clone, Debug, Default)]
pub(super) struct Model {
    pub(super) entries: Vec<Entry>,
    /// By node: when, and how often.
    pub(super) reads: BTreeMap<String, (i64, u64)>,
    pub(super) past: Vec<(i64, Vec<Entry>)>,
}

impl Entry {
    /// Merges the arguments of a call; says which fields differ then.
    pub(super) fn change(&mut self, args: &Value, now: i64) -> Vec<&'static str> {
        let old = self.clone();
        let text = |key: &str| args[key].as_str().map(str::to_owned);
        self.content = text("content").unwrap_or(self.content.clone());
        self.category = text("category").or(self.category.clone());
        self.importance = text("importance").unwrap_or(self.importance.clone());
        self.archived = args["archived"].as_bool().unwrap_or(self.archived);
        if let Some(tags) = args["tags"].as_array() {
            self.tags = tags.iter().map(|it| it.as_str().unwrap().to_owned()).collect();
        }
        if self.memory_type == "task" {
            let given = args["task_metadata"].as_object();
            for (key, value) in given.into_iter().flatten() {
                self.metadata.insert(key.clone(), value.clone());
            }
            self.metadata.entry("status".to_owned()).or_insert(json!("in-progress"));
            if self.metadata["status"] == "completed" {
                let at = json!(UnixMillis(now).to_second());
                self.metadata.entry("completed_at".to_owned()).or_insert(at);
            } else {
                self.metadata.remove("completed_at");
            }
        }
        let mut differing = Vec::new();
        for (name, differs) in [
            ("content", self.content != old.content),
            ("category", self.category != old.category),
            ("tags", self.tags != old.tags),
            ("importance", self.importance != old.importance),
            ("archived", self.archived != old.archived),
            ("task_metadata", self.metadata != old.metadata),
        ] {
            if differs {
                differing.push(name);
            }
        }
        if !differing.is_empty() {
            self.updated_at = now;
        }
        differing
    }

    pub(super) fn category(&self) -> &str {
        let status = self.metadata.get("status").and_then(Value::as_str);
        self.category.as_deref().or(status).unwrap_or("other")
    }
}

impl Model {
    pub(super) fn json(&self, entry: &Entry) -> Value {
        let (accessed_at, access_count) = self.access(entry);
        let mut json = json!({
            "id": entry.id,
            "type": entry.memory_type,
            "content": entry.content,
            "category": entry.category(),
            "created_at": UnixMillis(entry.created_at).to_second(),
            "updated_at": UnixMillis(entry.updated_at).to_second(),
            "accessed_at": UnixMillis(accessed_at).to_second(),
            "access_count": access_count,
            "tags": entry.tags,
            "importance": entry.importance,
            "archived": entry.archived,
        });
        if entry.memory_type == "task" {
            json["task_metadata"] = json!(entry.metadata);
        }
        json
    }

    fn access(&self, entry: &Entry) -> (i64, u64) {
        self.reads.get(&entry.node).copied().unwrap_or((entry.created_at, 0))
    }

    /// Counts an access of a node that is still there.
    pub(super) fn read(&mut self, node: &str, now: i64) {
        let read = self.reads.entry(node.to_owned()).or_insert((now, 0));
        *read = (now, read.1 + 1);
    }

    pub(super) fn forget_reads(&mut self) {
        let Model { entries, reads, .. } = self;
        reads.retain(|node, _| entries.iter().any(|it| it.node == *node));
    }

    /// Every memory that meets the conditions, in order.
    pub(super) fn query(&self, args: &Value) -> Vec<Entry> {
        let text = |key: &str| args[key].as_str();
        let is_meant = |it: &&Entry| {
            text("type").is_none_or(|of| it.memory_type == of)
                && text("importance").is_none_or(|of| it.importance == of)
                && text("category").is_none_or(|of| it.category() == of)
                && it.archived == args["archived"].as_bool().unwrap_or(false)
                && args["tags"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .all(|tag| it.tags.iter().any(|it| tag.as_str() == Some(it)))
                && text("search")
                    .unwrap_or("")
                    .split_whitespace()
                    .all(|word| it.content.to_lowercase().contains(&word.to_lowercase()))
        };
        let mut found: Vec<Entry> = self.entries.iter().filter(is_meant).cloned().collect();
        found.sort_by_key(|it| {
            let (accessed_at, access_count) = self.access(it);
            let value = match text("sort_by").unwrap_or("accessed_at") {
                "created_at" => it.created_at,
                "updated_at" => it.updated_at,
                "accessed_at" => accessed_at,
                "access_count" => access_count as i64,
                _ => ["low", "medium", "high"].iter().position(|at| *at == it.importance).unwrap()
                    as i64,
            };
            (value, it.created_at, it.id.clone())
        });
        if text("sort_order") != Some("asc") {
            found.reverse();
        }
        found
    }

    pub(super) fn stats(&self) -> Value {
        let count = |is: &dyn Fn(&Entry) -> bool| self.entries.iter().filter(|it| is(it)).count();
        let of_type = |name: &str| count(&|it: &Entry| it.memory_type == name);
        let of_importance = |name: &str| count(&|it: &Entry| it.importance == name);
        let mut tags: BTreeMap<&str, usize> = BTreeMap::new();
        for tag in self.entries.iter().flat_map(|it| &it.tags) {
            *tags.entry(tag).or_default() += 1;
        }
        let mut tags: Vec<(&str, usize)> = tags.into_iter().collect();
        tags.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
        let tags = tags.iter().take(10).map(|(tag, n)| json!({"tag": tag, "count": n}));
        let created = || self.entries.iter().map(|it| it.created_at);
        let shown = |at: Option<i64>| at.map(|it| UnixMillis(it).to_second());
        json!({
            "total_memories": self.entries.len(),
            "by_type": {"core": of_type("core"), "learning": of_type("learning"), "task": of_type("task")},
            "by_importance": {
                "high": of_importance("high"), "medium": of_importance("medium"), "low": of_importance("low"),
            },
            "archived_count": count(&|it: &Entry| it.archived),
            "oldest_memory": shown(created().min()),
            "newest_memory": shown(created().max()),
            "top_tags": tags.collect::<Vec<Value>>(),
        })
    }

    /// The most that a memory was read.
    pub(super) fn most_reads(&self) -> u64 {
        self.entries.iter().map(|it| self.access(it).1).max().unwrap_or(0)
    }
}
