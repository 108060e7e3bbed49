//! The document as browsers would build it, in a flat arena: neither walking nor dropping it recurses.
//!
//! Comments, doctypes and the contents of templates are created, since the tree builder asks for
//! them, but never linked: what nobody sees is not in the document.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::ops::Range;

use html5ever::interface::{ElementFlags, NodeOrText, QuirksMode};
use html5ever::tendril::StrTendril;
use html5ever::tree_builder::TreeSink;
use html5ever::{Attribute, Namespace, QualName, ns};

/// Index of a node; [`NONE`] where there is none.
pub(super) type Id = u32;

const NONE: Id = u32::MAX;

/// The document's own node.
pub(super) const ROOT: Id = 0;

/// Attributes of HTML elements that mean something here; drawings and formulas keep all of theirs.
const ATTRIBUTES: [&str; 20] = [
    "alt",
    "checked",
    "class",
    "colspan",
    "data",
    "data-lang",
    "href",
    "id",
    "label",
    "reversed",
    "role",
    "rowspan",
    "shadowrootmode",
    "source",
    "src",
    "start",
    "title",
    "type",
    "value",
    "weight",
];

/// What a node is.
#[derive(Debug)]
pub(super) enum Data {
    /// The document, a comment, a doctype.
    Other,
    Text(String),
    Element {
        name: QualName,
        attributes: Vec<Attribute>,
    },
}

#[derive(Debug)]
struct DomNode {
    parent: Id,
    first: Id,
    last: Id,
    older: Id,
    newer: Id,
    start: u32,
    end: u32,
    data: Data,
}

/// A document that is complete.
#[derive(Debug)]
pub(super) struct Dom {
    nodes: Vec<DomNode>,
    /// Elements that are not read, with all that is in them.
    pub(super) left_out: HashSet<Id>,
    /// The character that stands for a carriage return in code.
    pub(super) mark: Option<char>,
}

impl Dom {
    pub(super) fn parent(&self, id: Id) -> Option<Id> {
        some(self.nodes[id as usize].parent)
    }

    pub(super) fn first_child(&self, id: Id) -> Option<Id> {
        some(self.nodes[id as usize].first)
    }

    pub(super) fn next_sibling(&self, id: Id) -> Option<Id> {
        some(self.nodes[id as usize].newer)
    }

    pub(super) fn data(&self, id: Id) -> &Data {
        &self.nodes[id as usize].data
    }

    /// The local name of an HTML element; empty for all else.
    pub(super) fn html_name(&self, id: Id) -> &str {
        match &self.nodes[id as usize].data {
            Data::Element { name, .. } if name.ns == ns!(html) => &name.local,
            _ => "",
        }
    }

    /// The local name of a drawing's or formula's root; empty for all else.
    pub(super) fn foreign_root(&self, id: Id) -> &str {
        match &self.nodes[id as usize].data {
            Data::Element { name, .. }
                if (name.ns == ns!(svg) && &*name.local == "svg")
                    || (name.ns == ns!(mathml) && &*name.local == "math") =>
            {
                &name.local
            }
            _ => "",
        }
    }

    /// Whether nobody sees what is in an element, or nobody is meant to read it.
    pub(super) fn is_skipped(&self, id: Id) -> bool {
        matches!(self.html_name(id), "script" | "style" | "title") || self.left_out.contains(&id)
    }

    /// The value of an attribute.
    pub(super) fn attribute(&self, id: Id, wanted: &str) -> Option<&str> {
        match &self.nodes[id as usize].data {
            Data::Element { attributes, .. } => {
                let found = attributes.iter().find(|it| &*it.name.local == wanted);
                found.map(|it| &*it.value)
            }
            _ => None,
        }
    }

    /// The text of a text node.
    pub(super) fn text(&self, id: Id) -> Option<&str> {
        match &self.nodes[id as usize].data {
            Data::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Where the node and what is in it stand in the source.
    pub(super) fn span(&self, id: Id) -> Range<usize> {
        let node = &self.nodes[id as usize];
        node.start as usize..node.end.max(node.start) as usize
    }

    /// The node after `id` in document order that is not inside it, up to the end of `top`.
    pub(super) fn after(&self, id: Id, top: Id) -> Option<Id> {
        let mut at = id;
        loop {
            if at == top {
                return None;
            }
            if let Some(next) = self.next_sibling(at) {
                return Some(next);
            }
            at = self.parent(at)?;
        }
    }

    /// The node after `id` in document order, up to the end of `top`.
    pub(super) fn next(&self, id: Id, top: Id) -> Option<Id> {
        self.first_child(id).or_else(|| self.after(id, top))
    }

    /// The nodes inside `top`, in document order.
    pub(super) fn inside(&self, top: Id) -> impl Iterator<Item = Id> {
        std::iter::successors(self.first_child(top), move |&id| self.next(id, top))
    }

    /// All text inside `top`, as it is.
    pub(super) fn inner_text(&self, top: Id) -> String {
        self.inside(top).filter_map(|id| self.text(id)).collect()
    }

    /// The markup of `top`: attributes quoted, special characters escaped.
    pub(super) fn markup(&self, top: Id) -> String {
        let mut out = String::new();
        let mut at = Some(top);
        while let Some(id) = at {
            self.open_tag(id, &mut out);
            at = self.first_child(id);
            let mut closing = id;
            while at.is_none() {
                self.close_tag(closing, &mut out);
                if closing == top {
                    return out;
                }
                at = self.next_sibling(closing);
                closing = self.parent(closing).unwrap_or(top);
            }
        }
        out
    }

    /// The markup inside `top`.
    pub(super) fn inner_markup(&self, top: Id) -> String {
        let mut out = String::new();
        let mut child = self.first_child(top);
        while let Some(id) = child {
            out.push_str(&self.markup(id));
            child = self.next_sibling(id);
        }
        out
    }

    /// The attributes of an element as they stand in a tag, without a space before them.
    pub(super) fn attributes(&self, id: Id) -> String {
        let mut out = String::new();
        if let Data::Element { attributes, .. } = &self.nodes[id as usize].data {
            for attribute in attributes {
                if !out.is_empty() {
                    out.push(' ');
                }
                if let Some(prefix) = &attribute.name.prefix {
                    out.push_str(prefix);
                    out.push(':');
                }
                out.push_str(&attribute.name.local);
                out.push_str("=\"");
                escape(&attribute.value, &mut out);
                out.push('"');
            }
        }
        out
    }

    fn open_tag(&self, id: Id, out: &mut String) {
        match &self.nodes[id as usize].data {
            Data::Text(text) => escape(text, out),
            Data::Element { name, .. } => {
                out.push('<');
                out.push_str(&name.local.to_lowercase_unless_mixed());
                let attributes = self.attributes(id);
                if !attributes.is_empty() {
                    out.push(' ');
                    out.push_str(&attributes);
                }
                out.push_str(if self.first_child(id).is_none() { "/>" } else { ">" });
            }
            Data::Other => (),
        }
    }

    fn close_tag(&self, id: Id, out: &mut String) {
        if let Data::Element { name, .. } = &self.nodes[id as usize].data
            && self.first_child(id).is_some()
        {
            out.push_str("</");
            out.push_str(&name.local.to_lowercase_unless_mixed());
            out.push('>');
        }
    }

    /// Gives every element the span of what is in it: a child is always younger than its parent.
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

/// The names that [`super::feed`] gives to links and code are upper case; markup shows the author's.
trait AuthorsName {
    fn to_lowercase_unless_mixed(&self) -> Cow<'_, str>;
}

impl AuthorsName for str {
    fn to_lowercase_unless_mixed(&self) -> Cow<'_, str> {
        match self.bytes().all(|byte| byte.is_ascii_uppercase()) {
            true => Cow::Owned(self.to_ascii_lowercase()),
            false => Cow::Borrowed(self),
        }
    }
}

fn escape(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c => out.push(c),
        }
    }
}

fn some(id: Id) -> Option<Id> {
    (id != NONE).then_some(id)
}

/// What the tree builder writes into.
#[derive(Debug)]
pub(super) struct Sink {
    nodes: RefCell<Vec<DomNode>>,
    /// Where the piece of the source that is being read starts and ends.
    pub(super) place: Cell<(u32, u32)>,
}

impl Sink {
    pub(super) fn new() -> Sink {
        let sink = Sink { nodes: RefCell::new(Vec::new()), place: Cell::new((0, 0)) };
        sink.add(Data::Other);
        sink
    }

    fn add(&self, data: Data) -> Id {
        let mut nodes = self.nodes.borrow_mut();
        let (start, end) = self.place.get();
        // An element ends where its tag does, unless something is put into it.
        let end = if matches!(data, Data::Text(_)) { end } else { start };
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
        Id::try_from(nodes.len() - 1).expect("the source is shorter than 4 GiB")
    }

    /// Links `id`, which has no parent, under `parent` before `newer`, or at the end.
    fn link(&self, id: Id, parent: Id, newer: Id) {
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

    fn unlink(&self, id: Id) {
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

    fn put(&self, child: NodeOrText<Id>, parent: Id, newer: Id) {
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
                    && let Data::Text(all) = &mut node.data
                {
                    all.push_str(&text);
                    node.end = self.place.get().1;
                    return;
                }
                let id = self.add(Data::Text(text.to_string()));
                self.link(id, parent, newer);
            }
            NodeOrText::AppendNode(id) => {
                if !matches!(self.nodes.borrow()[id as usize].data, Data::Other) {
                    self.unlink(id);
                    self.link(id, parent, newer);
                }
            }
        }
    }
}

/// An element's name, apart from the arena, which may grow while the tree builder looks at it.
#[derive(Debug)]
pub(super) struct Name(QualName);

impl html5ever::interface::ElemName for Name {
    fn ns(&self) -> &Namespace {
        &self.0.ns
    }

    fn local_name(&self) -> &html5ever::LocalName {
        &self.0.local
    }
}

impl TreeSink for Sink {
    type Handle = Id;
    type Output = Dom;
    type ElemName<'a> = Name;

    fn finish(self) -> Dom {
        let mut dom = Dom { nodes: self.nodes.into_inner(), left_out: HashSet::new(), mark: None };
        dom.widen_spans();
        dom
    }

    fn parse_error(&self, _: Cow<'static, str>) {}

    fn get_document(&self) -> Id {
        ROOT
    }

    fn elem_name(&self, target: &Id) -> Name {
        match &self.nodes.borrow()[*target as usize].data {
            Data::Element { name, .. } => Name(name.clone()),
            _ => Name(QualName::new(None, ns!(), "".into())),
        }
    }

    fn create_element(&self, name: QualName, attrs: Vec<Attribute>, flags: ElementFlags) -> Id {
        let mut attributes = attrs;
        if name.ns == ns!(html) && &*name.local != "canvas" {
            attributes.retain(|it| ATTRIBUTES.binary_search(&&*it.name.local).is_ok());
        }
        attributes.shrink_to_fit();
        let id = self.add(Data::Element { name, attributes });
        if flags.template {
            // What a template holds hangs on a node of its own, right behind it.
            self.add(Data::Other);
        }
        id
    }

    fn create_comment(&self, _: StrTendril) -> Id {
        self.add(Data::Other)
    }

    fn create_pi(&self, _: StrTendril, _: StrTendril) -> Id {
        self.add(Data::Other)
    }

    fn append(&self, parent: &Id, child: NodeOrText<Id>) {
        self.put(child, *parent, NONE);
    }

    fn append_before_sibling(&self, sibling: &Id, child: NodeOrText<Id>) {
        let parent = self.nodes.borrow()[*sibling as usize].parent;
        if parent != NONE {
            self.put(child, parent, *sibling);
        }
    }

    fn append_based_on_parent_node(&self, element: &Id, prev: &Id, child: NodeOrText<Id>) {
        match some(self.nodes.borrow()[*element as usize].parent) {
            Some(_) => (),
            None => return self.put(child, *prev, NONE),
        }
        self.append_before_sibling(element, child);
    }

    fn append_doctype_to_document(&self, _: StrTendril, _: StrTendril, _: StrTendril) {}

    fn get_template_contents(&self, target: &Id) -> Id {
        // A shadow root that is declared in the source is seen where it stands.
        let nodes = self.nodes.borrow();
        match &nodes[*target as usize].data {
            Data::Element { attributes, .. }
                if attributes.iter().any(|it| &*it.name.local == "shadowrootmode") =>
            {
                *target
            }
            _ => *target + 1,
        }
    }

    fn same_node(&self, x: &Id, y: &Id) -> bool {
        x == y
    }

    fn set_quirks_mode(&self, _: QuirksMode) {}

    fn add_attrs_if_missing(&self, _: &Id, _: Vec<Attribute>) {}

    fn remove_from_parent(&self, target: &Id) {
        self.unlink(*target);
    }

    fn reparent_children(&self, node: &Id, new_parent: &Id) {
        loop {
            let child = self.nodes.borrow()[*node as usize].first;
            if child == NONE || node == new_parent {
                return;
            }
            self.unlink(child);
            self.link(child, *new_parent, NONE);
        }
    }

    fn is_mathml_annotation_xml_integration_point(&self, handle: &Id) -> bool {
        match &self.nodes.borrow()[*handle as usize].data {
            Data::Element { name, attributes } if &*name.local == "annotation-xml" => {
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
