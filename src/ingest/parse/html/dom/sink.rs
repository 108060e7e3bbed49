//! The sink of the tree builder: nodes that are made and linked on its request.
//!
//! Comments, doctypes and the contents of templates are created, since it asks for them, but never
//! linked: invisible nodes are not in the document.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};

use html5ever::interface::{ElementFlags, NodeOrText, QuirksMode};
use html5ever::tendril::StrTendril;
use html5ever::tree_builder::TreeSink;
use html5ever::{Attribute, Namespace, QualName, ns};

use super::{Dom, DomData, DomId, DomNode, NONE, NameIdx, ROOT, some};

/// Attributes of HTML elements that are kept; drawings and formulas keep all of theirs.
#[rustfmt::skip]
const ATTRIBUTES: [&str; 20] = [
    "alt", "checked", "class", "colspan", "data", "data-lang", "href", "id", "label", "reversed",
    "role", "rowspan", "shadowrootmode", "source", "src", "start", "title", "type", "value",
    "weight",
];

/// The nodes and names that the tree builder writes.
#[derive(Debug)]
pub(in crate::ingest::parse::html) struct DomSink {
    nodes: RefCell<Vec<DomNode>>,
    names: RefCell<ElementNameInterner>,
    /// Start and end of the piece of the source that is being read.
    pub(in crate::ingest::parse::html) place: Cell<(u32, u32)>,
}

/// The names of elements, each once.
#[derive(Debug, Default)]
struct ElementNameInterner {
    known: HashMap<QualName, NameIdx>,
    all: Vec<QualName>,
}

impl ElementNameInterner {
    fn idx(&mut self, name: QualName) -> NameIdx {
        let next = NameIdx(u32::try_from(self.all.len()).expect("fewer names than elements"));
        *self.known.entry(name).or_insert_with_key(|name| {
            self.all.push(name.clone());
            next
        })
    }
}

impl DomSink {
    pub(in crate::ingest::parse::html) fn new() -> DomSink {
        let sink = DomSink {
            nodes: RefCell::new(Vec::new()),
            names: RefCell::default(),
            place: Cell::new((0, 0)),
        };
        sink.add(DomData::Other);
        sink
    }

    fn add(&self, data: DomData) -> DomId {
        let mut nodes = self.nodes.borrow_mut();
        let (start, end) = self.place.get();
        // An element ends at the end of its tag until something is put into it.
        let end = if matches!(data, DomData::Text(_)) { end } else { start };
        nodes.push(DomNode {
            parent: NONE,
            first: NONE,
            last: NONE,
            older: NONE,
            newer: NONE,
            start,
            end,
            data,
        });
        DomId::try_from(nodes.len() - 1).expect("the source is shorter than 4 GiB")
    }

    /// Links `id`, which has no parent, under `parent` before `newer`, or at the end.
    fn link(&self, id: DomId, parent: DomId, newer: DomId) {
        let mut nodes = self.nodes.borrow_mut();
        let older = match some(newer) {
            Some(newer) => std::mem::replace(&mut nodes[newer as usize].older, id),
            None => std::mem::replace(&mut nodes[parent as usize].last, id),
        };
        match some(older) {
            Some(older) => nodes[older as usize].newer = id,
            None => nodes[parent as usize].first = id,
        }
        let node = &mut nodes[id as usize];
        node.parent = parent;
        node.older = older;
        node.newer = newer;
    }

    fn unlink(&self, id: DomId) {
        let mut nodes = self.nodes.borrow_mut();
        let DomNode { parent, older, newer, .. } = nodes[id as usize];
        let Some(parent) = some(parent) else { return };
        match some(older) {
            Some(older) => nodes[older as usize].newer = newer,
            None => nodes[parent as usize].first = newer,
        }
        match some(newer) {
            Some(newer) => nodes[newer as usize].older = older,
            None => nodes[parent as usize].last = older,
        }
        let node = &mut nodes[id as usize];
        (node.parent, node.older, node.newer) = (NONE, NONE, NONE);
    }

    fn put(&self, child: NodeOrText<DomId>, parent: DomId, newer: DomId) {
        match child {
            NodeOrText::AppendText(text) => {
                let older = {
                    let nodes = self.nodes.borrow();
                    match some(newer) {
                        Some(newer) => nodes[newer as usize].older,
                        None => nodes[parent as usize].last,
                    }
                };
                if let Some(older) = some(older)
                    && let node = &mut self.nodes.borrow_mut()[older as usize]
                    && let DomData::Text(all) = &mut node.data
                {
                    all.push_tendril(&text);
                    node.end = self.place.get().1;
                    return;
                }
                let id = self.add(DomData::Text(text));
                self.link(id, parent, newer);
            }
            NodeOrText::AppendNode(id) => {
                if !matches!(self.nodes.borrow()[id as usize].data, DomData::Other) {
                    self.unlink(id);
                    self.link(id, parent, newer);
                }
            }
        }
    }
}

/// An element's name, apart from the arena, which may grow while the tree builder uses it.
#[derive(Debug)]
pub(in crate::ingest::parse::html) struct ElementName(QualName);

impl html5ever::interface::ElemName for ElementName {
    fn ns(&self) -> &Namespace {
        &self.0.ns
    }

    fn local_name(&self) -> &html5ever::LocalName {
        &self.0.local
    }
}

impl TreeSink for DomSink {
    type Handle = DomId;
    type Output = Dom;
    type ElemName<'a> = ElementName;

    fn finish(self) -> Dom {
        let (nodes, names) = (self.nodes.into_inner(), self.names.into_inner().all);
        let mut dom = Dom { nodes, names, left_out: HashSet::new(), mark: None };
        dom.widen_spans();
        dom
    }

    fn parse_error(&self, _: Cow<'static, str>) {}

    fn get_document(&self) -> DomId {
        ROOT
    }

    fn elem_name(&self, target: &DomId) -> ElementName {
        match &self.nodes.borrow()[*target as usize].data {
            DomData::Element { name, .. } => {
                ElementName(self.names.borrow().all[name.0 as usize].clone())
            }
            _ => ElementName(QualName::new(None, ns!(), "".into())),
        }
    }

    fn create_element(&self, name: QualName, attrs: Vec<Attribute>, flags: ElementFlags) -> DomId {
        let mut attributes = attrs;
        if name.ns == ns!(html) && &*name.local != "canvas" {
            attributes.retain(|it| ATTRIBUTES.binary_search(&&*it.name.local).is_ok());
        }
        let attributes = attributes.into_boxed_slice();
        let name = self.names.borrow_mut().idx(name);
        let id = self.add(DomData::Element { name, attributes });
        if flags.template {
            // The contents of a template get a node of their own, right behind it.
            self.add(DomData::Other);
        }
        id
    }

    fn create_comment(&self, _: StrTendril) -> DomId {
        self.add(DomData::Other)
    }

    fn create_pi(&self, _: StrTendril, _: StrTendril) -> DomId {
        self.add(DomData::Other)
    }

    fn append(&self, parent: &DomId, child: NodeOrText<DomId>) {
        self.put(child, *parent, NONE);
    }

    fn append_before_sibling(&self, sibling: &DomId, child: NodeOrText<DomId>) {
        let parent = self.nodes.borrow()[*sibling as usize].parent;
        if parent != NONE {
            self.put(child, parent, *sibling);
        }
    }

    fn append_based_on_parent_node(&self, element: &DomId, prev: &DomId, child: NodeOrText<DomId>) {
        match some(self.nodes.borrow()[*element as usize].parent) {
            Some(_) => (),
            None => return self.put(child, *prev, NONE),
        }
        self.append_before_sibling(element, child);
    }

    fn append_doctype_to_document(&self, _: StrTendril, _: StrTendril, _: StrTendril) {}

    fn get_template_contents(&self, target: &DomId) -> DomId {
        // A shadow root that is declared in the source is shown in place.
        let nodes = self.nodes.borrow();
        match &nodes[*target as usize].data {
            DomData::Element { attributes, .. }
                if attributes.iter().any(|it| &*it.name.local == "shadowrootmode") =>
            {
                *target
            }
            _ => *target + 1,
        }
    }

    fn same_node(&self, x: &DomId, y: &DomId) -> bool {
        x == y
    }

    fn set_quirks_mode(&self, _: QuirksMode) {}

    fn add_attrs_if_missing(&self, _: &DomId, _: Vec<Attribute>) {}

    fn remove_from_parent(&self, target: &DomId) {
        self.unlink(*target);
    }

    fn reparent_children(&self, node: &DomId, new_parent: &DomId) {
        loop {
            let child = self.nodes.borrow()[*node as usize].first;
            if child == NONE || node == new_parent {
                return;
            }
            self.unlink(child);
            self.link(child, *new_parent, NONE);
        }
    }

    fn is_mathml_annotation_xml_integration_point(&self, handle: &DomId) -> bool {
        match &self.nodes.borrow()[*handle as usize].data {
            DomData::Element { name, attributes }
                if &*self.names.borrow().all[name.0 as usize].local == "annotation-xml" =>
            {
                attributes.iter().any(|it| {
                    &*it.name.local == "encoding"
                        && (it.value.eq_ignore_ascii_case("text/html")
                            || it.value.eq_ignore_ascii_case("application/xhtml+xml"))
                })
            }
            _ => false,
        }
    }
}

impl Dom {
    /// Extends every element's span over its inside: a child is always younger than its parent.
    fn widen_spans(&mut self) {
        for id in (0..self.nodes.len()).rev() {
            let DomNode { parent, start, end, .. } = self.nodes[id];
            if let Some(parent) = some(parent) {
                let parent = &mut self.nodes[parent as usize];
                parent.start = parent.start.min(start);
                parent.end = parent.end.max(end);
            }
        }
    }
}
