//! Typed nodes in the simulation: stored, changed, looked up; and the memory as a whole carried
//! elsewhere and redacted.

use serde_json::{Value, json};

use super::{Node, Seat, Simulation, seen, word};
use crate::ingest::redact::Redactor;
use crate::maintenance::redaction::{self, RedactionMode};
use crate::maintenance::transfer::{ImportInput, export, import};
use crate::model::identity::NodeId;
use crate::model::node_fields::CanonicalFields;
use crate::model::tree::{ContentFormat, NodeType};
use crate::model::typed_node_field_schemas::{NODE_KINDS, TypedNodeSchema};
use crate::store::reader::FieldFilter;
use crate::store::{
    Batch, FIELDS, IfMissing, OptionalColumnValue, OptionalColumnValues, StoreError,
    UnplacedNodeData,
};
use crate::text;
use crate::text::tokens;

/// No real one.
const SECRET: &str = "AKIAQ7RM2XNVT5WZ3KLD";
const MARKER: &str = "«redacted:aws_access_key»";

fn attributes(fields: &str) -> OptionalColumnValues {
    OptionalColumnValues::default().with(FIELDS, Some(OptionalColumnValue::Text(fields.to_owned())))
}

impl Simulation {
    /// Stores or changes a typed node.
    pub(super) fn typed(&mut self) -> String {
        let nodes = self.model.state.nodes.iter().filter(|(_, it)| it.fields.is_some());
        let ids: Vec<String> = nodes.map(|(id, _)| id.clone()).collect();
        let is_change = self.dice.one_in(2);
        match self.dice.pick_if_any(&ids).filter(|_| is_change) {
            Some(id) => self.change_typed(&id),
            None => self.store_typed(),
        }
    }

    fn fields(&mut self, kind: &TypedNodeSchema, uuid: Option<&str>) -> String {
        let mut fields = json!({"uuid": uuid, "created_at": self.clock.now().0});
        if self.dice.one_in(2) {
            fields["importance"] = ["high", "medium", "low"][self.dice.below(3)].into();
        }
        let n_tags = self.dice.below(3);
        let mut tags: Vec<String> = (0..n_tags).map(|_| word(self.dice.below(5))).collect();
        if self.dice.one_in(8) {
            tags.push(format!("a {SECRET} b"));
        }
        tags.dedup();
        if !tags.is_empty() {
            fields["tags"] = tags.into();
        }
        if self.dice.one_in(4) {
            let reason = ["archived", "deleted", "superseded_by", "merged_into"];
            let reason = reason[self.dice.below(4)];
            fields[reason] = if reason.ends_with('d') { true.into() } else { "00000000000".into() };
        }
        let ids: Vec<String> = self.model.state.nodes.keys().cloned().collect();
        let n_links = self.dice.below(3);
        let links: Vec<Value> = (0..n_links)
            .filter_map(|nth| {
                let to = self.dice.pick_if_any(&ids)?;
                let strength = self.dice.below(3) as f64 / 2.0;
                let of = ["mentions", "implies"][nth];
                Some(json!({"type": of, "to": to, "strength": strength}))
            })
            .collect();
        if !links.is_empty() {
            fields["links"] = links.into();
        }
        let Value::Object(mut object) = fields else { panic!("an object") };
        object.retain(|key, _| kind.keys.iter().any(|it| it.name == key));
        let fields = CanonicalFields::new(object).unwrap();
        kind.check(&fields).unwrap();
        fields.to_string()
    }

    fn store_typed(&mut self) -> String {
        let kind = &NODE_KINDS[self.dice.below(NODE_KINDS.len())];
        let equal = self.model.state.nodes.values().filter(|it| it.fields.is_some());
        let equal: Vec<String> = equal.map(|it| it.content.clone()).collect();
        let is_equal = self.dice.one_in(3);
        let content = match self.dice.pick_if_any(&equal).filter(|_| is_equal) {
            Some(content) => content,
            None => self.payload(),
        };
        let nth = self.log.len();
        let fields = self.fields(kind, Some(&format!("00000000-0000-4000-8000-{nth:012x}")));
        let month = format!("2026-0{}", 1 + self.dice.below(2));
        let bucket: Vec<&str> = kind.bucket.iter().copied().chain([month.as_str()]).collect();
        let entry = format!("store {} {fields} {content:?} in {bucket:?}", kind.node_type);
        self.log_last(entry.clone());
        let label = text::label_of_text(&content);
        let data = UnplacedNodeData {
            node_type: kind.node_type,
            format: ContentFormat::Plain,
            label: &label,
            content: &content,
            token_count: tokens::count(&content),
            attributes: attributes(&fields),
        };
        let insert = |batch: &mut Batch<'_>| batch.insert_typed_node(&data, &bucket);
        let memory = self.memory();
        let stored = memory.writer.write::<_, StoreError>("store", "", self.clock.now(), insert);
        let ((_, id), commit) = stored.unwrap();
        let id = id.to_string();
        let mut seat = Seat::Nobody;
        for (label, level) in bucket.into_iter().zip(1..) {
            let next = self.bucket(&seat, label);
            seat = Seat::Node(next.unwrap_or_else(|| self.new_bucket(&seat, label, level)));
        }
        assert!(!self.model.state.nodes.contains_key(&id), "{id} is not new");
        let node = Node {
            node_type: kind.node_type.as_str().to_owned(),
            fields: Some(fields),
            ..plain(seat, &label, &content)
        };
        self.model.state.push(&id, node);
        self.finish(commit.snapshot, "store");
        format!("{entry} as {id}")
    }

    fn bucket(&self, seat: &Seat, label: &str) -> Option<String> {
        let state = &self.model.state;
        let is_it = |id: &&String| {
            let node = &state.nodes[*id];
            node.node_type == "heading" && node.label == label && state.file_of(id).is_none()
        };
        state.children(seat).iter().find(is_it).cloned()
    }

    /// Adds the heading to the model that the memory made.
    fn new_bucket(&mut self, seat: &Seat, label: &str, level: u8) -> String {
        let seen = seen::read_state(&self.db()).state;
        let ids = seen.children(seat).iter();
        let mut made = ids.filter(|it| !self.model.state.nodes.contains_key(*it));
        let id = made.next_back().expect("a bucket").clone();
        let level = Some(level);
        let node_type = "heading".to_owned();
        let node = Node { node_type, level, ..plain(seat.clone(), label, label) };
        self.model.state.push(&id, node);
        id
    }

    fn change_typed(&mut self, id: &str) -> String {
        let old = self.model.state.nodes[id].clone();
        let fields = match self.dice.one_in(4) {
            true => old.fields.clone().unwrap(),
            false => {
                let kind = NodeType::parse(&old.node_type).and_then(TypedNodeSchema::of).unwrap();
                self.fields(kind, uuid_of(&old).as_deref())
            }
        };
        let content = if self.dice.one_in(2) { self.payload() } else { old.content.clone() };
        let label = text::label_of_text(&content);
        let entry = format!("change {id} to {fields} {content:?}");
        self.log_last(entry.clone());
        let change = |batch: &mut Batch<'_>| {
            let node = batch.find(NodeId::parse(id).unwrap())?.unwrap();
            let data = UnplacedNodeData {
                label: &label,
                content: &content,
                token_count: tokens::count(&content),
                attributes: node.attributes.with(FIELDS, attributes(&fields).get(FIELDS).cloned()),
                ..node.data()
            };
            batch.set_agent_text(&node, &data)
        };
        let memory = self.memory();
        let changed = memory.writer.write::<_, StoreError>("change", "", self.clock.now(), change);
        let snapshot = changed.unwrap().1.snapshot;
        let node = self.model.state.nodes.get_mut(id).unwrap();
        *node = Node { label, content, fields: Some(fields), ..old };
        self.finish(snapshot, "change");
        entry
    }

    /// What is looked up is what there is.
    #[track_caller]
    pub(super) fn check_typed(&self, seen: &seen::Seen) {
        let typed = || self.model.state.nodes.iter().filter(|(_, it)| it.fields.is_some());
        for (id, node) in typed() {
            let Some(uuid) = uuid_of(node) else { continue };
            let found = self.memory().read::<_, StoreError>(|it| it.typed_by_uuid(&uuid)).unwrap();
            let found = found.unwrap_or_else(|| panic!("{id} is not found by its UUID"));
            assert_eq!((&found.id, &found.content), (id, &node.content));
            assert_eq!(Some(found.fields.to_string()), node.fields);
        }
        for tag in (0..5).map(word) {
            let wanted = [FieldFilter::text("tag", &tag), FieldFilter::integer("archived", 0)];
            let found = self.memory().read::<_, StoreError>(|it| it.nodes_with(&wanted)).unwrap();
            let mut found: Vec<&String> = found.iter().map(|it| &seen.keys[&it.0]).collect();
            found.sort();
            let has_it = |node: &Node| {
                let fields: Value = serde_json::from_str(node.fields.as_ref().unwrap()).unwrap();
                let tags = fields["tags"].as_array().is_some_and(|it| it.contains(&json!(tag)));
                tags && !is_archived(node) && fields.is_object()
            };
            let wanted: Vec<&String> =
                typed().filter(|(_, it)| has_it(it)).map(|(id, _)| id).collect();
            assert_eq!(found, wanted, "who has the tag {tag}");
        }
    }

    /// Typed edges are what the fields say.
    #[track_caller]
    pub(super) fn check_typed_edges(&self) {
        const EDGES: &str = "
            SELECT node.id || ' ' || type || ' ' || target || ' ' || strength
              FROM typed_edge
              JOIN node ON node.key = typed_edge.source
             ORDER BY 1";
        let conn = rusqlite::Connection::open(self.db()).unwrap();
        let mut query = conn.prepare(EDGES).unwrap();
        let found: Vec<String> =
            query.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        let mut wanted = Vec::new();
        for (id, node) in self.model.state.nodes.iter() {
            let fields: Value =
                serde_json::from_str(node.fields.as_deref().unwrap_or("{}")).unwrap();
            for link in fields["links"].as_array().into_iter().flatten() {
                let (of, to) = (link["type"].as_str().unwrap(), link["to"].as_str().unwrap());
                wanted.push(format!("{id} {of} {to} {}", link["strength"]));
            }
        }
        wanted.sort();
        assert_eq!(found, wanted);
    }

    /// Exports everything and goes on with what an import makes of it.
    pub(super) fn carry(&mut self) -> String {
        self.memory = None;
        let mut lines = Vec::new();
        export(&self.db(), &mut lines, &mut |_, _| ()).unwrap();
        let carried = self.dir.path().join("carried.db");
        let n_bytes = lines.len() as u64;
        let from = ImportInput { name: "x", input: &mut lines.as_slice(), n_bytes };
        let careless = Redactor::new(&["aws_access_key".to_owned()], &[]).unwrap();
        import(from, &carried, &careless, &mut |_, _| ()).unwrap();
        #[cfg(feature = "shared")]
        self.carry_over(&carried);
        std::fs::rename(&carried, self.db()).unwrap();
        self.open(IfMissing::Refuse);
        #[cfg(feature = "shared")]
        self.publish();
        "carry it elsewhere".to_owned()
    }

    /// Takes the secrets out of the fields, of now and of then.
    pub(super) fn redact(&mut self) -> String {
        self.memory = None;
        let report = redaction::redact(&self.db(), &Redactor::builtin(), RedactionMode::Rewrite);
        assert_eq!(report.unwrap().left, [] as [String; 0]);
        let model = &mut self.model;
        let states = model.snapshots.iter_mut().map(|it| &mut it.state);
        for state in states.chain([&mut model.state]) {
            for fields in state.nodes.values_mut().filter_map(|it| it.fields.as_mut()) {
                *fields = fields.replace(SECRET, MARKER);
            }
        }
        self.open(IfMissing::Refuse);
        #[cfg(feature = "shared")]
        self.publish();
        "redact".to_owned()
    }
}

fn plain(seat: Seat, label: &str, content: &str) -> Node {
    Node {
        seat,
        node_type: String::new(),
        level: None,
        lang: None,
        key_path: None,
        format: "plain".to_owned(),
        label: label.to_owned(),
        content: content.to_owned(),
        fields: None,
    }
}

/// Returns whether a node is a memory that is archived.
pub(super) fn is_archived(node: &Node) -> bool {
    let reasons = [r#""archived":"#, r#""deleted":"#, r#""superseded_by":"#, r#""merged_into":"#];
    node.fields.as_ref().is_some_and(|it| reasons.iter().any(|reason| it.contains(reason)))
}

/// Returns a node's UUID, which only memories have.
fn uuid_of(node: &Node) -> Option<String> {
    let fields: Value = serde_json::from_str(node.fields.as_ref().unwrap()).unwrap();
    fields["uuid"].as_str().map(str::to_owned)
}
