//! Entities and relations: one note an entity, with its observations as a list and its relations as
//! links.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::BufRead;

use serde_json::Value;

use super::json_records::each_record;
use super::{ForeignFileOrigin, ForeignNote, NoteCollector};

/// Holds what is known of entities, by name in the order of the input.
#[derive(Debug, Default)]
pub(super) struct EntityGraph {
    order: Vec<String>,
    entities: HashMap<String, GraphEntity>,
    /// Names by what an archive calls them.
    names: BTreeMap<String, String>,
}

#[derive(Debug, Default)]
struct GraphEntity {
    kind: Option<String>,
    observations: Vec<String>,
    /// The same, to find one.
    observed: HashSet<String>,
    /// Each a line of Markdown after the dash; ids of others stand as they are.
    relations: Vec<GraphRelation>,
}

impl GraphEntity {
    /// Adds what is not known yet.
    fn observe(&mut self, observations: Vec<String>) {
        for it in observations {
            if self.observed.insert(it.clone()) {
                self.observations.push(it);
            }
        }
    }
}

/// A relation to another entity.
#[derive(Debug)]
pub(super) struct GraphRelation {
    pub(super) name: String,
    pub(super) target: String,
    /// Text after the link.
    pub(super) note: Option<String>,
}

impl EntityGraph {
    /// Adds an entity, or more about it.
    pub(super) fn entity(&mut self, name: &str, kind: Option<&str>, observations: Vec<String>) {
        let entity = self.known(name);
        if let Some(kind) = kind.filter(|it| !it.is_empty()) {
            entity.kind = Some(kind.to_owned());
        }
        entity.observe(observations);
    }

    /// Says that other records call an entity by an id.
    pub(super) fn alias(&mut self, id: &str, name: &str) {
        self.names.insert(id.to_owned(), name.to_owned());
    }

    pub(super) fn relation(&mut self, from: &str, relation: GraphRelation) {
        self.known(from).relations.push(relation);
    }

    fn known(&mut self, name: &str) -> &mut GraphEntity {
        if !self.entities.contains_key(name) {
            self.order.push(name.to_owned());
        }
        self.entities.entry(name.to_owned()).or_default()
    }

    /// Returns one note an entity.
    pub(super) fn notes(mut self) -> Vec<ForeignNote> {
        // Facts may come before the entity that their id is of.
        for id in std::mem::take(&mut self.order) {
            let entity = self.entities.remove(&id).unwrap_or_default();
            let name = self.names.get(&id).cloned().unwrap_or(id);
            let known = self.known(&name);
            known.kind = known.kind.take().or(entity.kind);
            known.observe(entity.observations);
            known.relations.extend(entity.relations);
        }
        let EntityGraph { order, mut entities, names } = self;
        let note = |name: String| {
            let entity = entities.remove(&name)?;
            let observed = entity.observations.iter().map(|it| item(it));
            let related = entity.relations.iter().map(|it| {
                let target = one_line(names.get(&it.target).unwrap_or(&it.target));
                let note = it.note.as_deref().map(|it| format!(": {}", one_line(it)));
                let link = format!("{} [[{target}]]", one_line(&it.name));
                format!("- {link}{}", note.unwrap_or_default())
            });
            let list: Vec<String> = observed.chain(related).collect();
            let kind = entity.kind.map(|it| format!("type: {}", one_line(&it)));
            let texts = kind.into_iter().chain([list.join("\n")]).collect();
            Some(ForeignNote {
                key: name.clone(),
                title: Some(one_line(&name)),
                texts,
                ..ForeignNote::default()
            })
        };
        order.into_iter().filter_map(note).collect()
    }
}

/// Reads entities and relations of server-memory, one a line.
pub(super) fn read_lines(
    file: &ForeignFileOrigin<'_>,
    input: &mut dyn BufRead,
    notes: &mut NoteCollector,
) {
    each_record(file, input, notes, &mut |record, place, notes| {
        if let Err(why) = add(&record, &mut notes.graph) {
            notes.refuse(place, why);
        }
    });
}

fn add(record: &Value, graph: &mut EntityGraph) -> Result<(), String> {
    let text = |key: &str| match record.get(key).and_then(Value::as_str) {
        Some(it) if !it.trim().is_empty() => Ok(it),
        _ => Err(format!("no `{key}`")),
    };
    match text("type")? {
        "entity" => {
            let said = record.get("observations").and_then(Value::as_array);
            let said = said.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned);
            graph.entity(text("name")?, text("entityType").ok(), said.collect());
        }
        "relation" => {
            let (from, to) = (text("from")?, text("to")?);
            let name = text("relationType")?.to_owned();
            graph.relation(from, GraphRelation { name, target: to.to_owned(), note: None });
        }
        other => return Err(format!("`{other}` is neither an entity nor a relation")),
    }
    Ok(())
}

/// Returns a text as an item of a list.
fn item(text: &str) -> String {
    let lines: Vec<&str> = text.trim().lines().collect();
    format!("- {}", lines.join("\n  "))
}

fn one_line(text: &str) -> String {
    crate::text::fold_whitespace(text).trim().to_owned()
}
