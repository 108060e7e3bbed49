//! The document as browsers build it, in a flat arena that is walked and dropped without recursion.

mod sink;

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use html5ever::tendril::StrTendril;
use html5ever::{Attribute, QualName, ns};

pub(super) use sink::DomSink;

/// Index of a node; [`NONE`] for no node.
pub(super) type DomId = u32;

const NONE: DomId = u32::MAX;

/// Index of the document node.
pub(super) const ROOT: DomId = 0;

/// The data of a node.
#[derive(Debug)]
pub(super) enum DomData {
    /// The document, a comment, a doctype.
    Other,
    /// Text, mostly shared with the source.
    Text(StrTendril),
    Element {
        name: NameIdx,
        attributes: Box<[Attribute]>,
    },
}

/// Index of an element's name in the document: there are many elements and few names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NameIdx(u32);

#[derive(Debug)]
struct DomNode {
    parent: DomId,
    first: DomId,
    last: DomId,
    older: DomId,
    newer: DomId,
    start: u32,
    end: u32,
    data: DomData,
}

/// The start or the end of a node, in document order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Visit {
    Start(DomId),
    End(DomId),
}

/// Iterates over the starts and ends of all nodes inside another.
#[derive(Debug)]
pub(super) struct DomStartEndIterator<'d> {
    dom: &'d Dom,
    top: DomId,
    due: Option<Visit>,
}

impl DomStartEndIterator<'_> {
    /// Skips the inside and the end of a node that has just started.
    pub(super) fn skip_inside(&mut self, id: DomId) {
        self.due = self.after(id);
    }

    fn after(&self, id: DomId) -> Option<Visit> {
        let next = self.dom.next_sibling(id).map(Visit::Start);
        next.or_else(|| self.dom.parent(id).filter(|it| *it != self.top).map(Visit::End))
    }
}

impl Iterator for DomStartEndIterator<'_> {
    type Item = Visit;

    fn next(&mut self) -> Option<Visit> {
        let visit = self.due?;
        self.due = match visit {
            Visit::Start(id) => Some(self.dom.first_child(id).map_or(Visit::End(id), Visit::Start)),
            Visit::End(id) => self.after(id),
        };
        Some(visit)
    }
}

/// A complete document.
#[derive(Debug)]
pub(super) struct Dom {
    nodes: Vec<DomNode>,
    /// Names by [`NameIdx`].
    names: Vec<QualName>,
    /// Elements that are left out, with everything inside.
    pub(super) left_out: HashSet<DomId>,
    /// The placeholder for a carriage return in code.
    pub(super) mark: Option<char>,
}

impl Dom {
    pub(super) fn parent(&self, id: DomId) -> Option<DomId> {
        some(self.nodes[id as usize].parent)
    }

    pub(super) fn first_child(&self, id: DomId) -> Option<DomId> {
        some(self.nodes[id as usize].first)
    }

    pub(super) fn next_sibling(&self, id: DomId) -> Option<DomId> {
        some(self.nodes[id as usize].newer)
    }

    pub(super) fn data(&self, id: DomId) -> &DomData {
        &self.nodes[id as usize].data
    }

    /// Returns the name of an element.
    pub(super) fn name(&self, id: DomId) -> Option<&QualName> {
        match &self.nodes[id as usize].data {
            DomData::Element { name, .. } => self.names.get(name.0 as usize),
            DomData::Other | DomData::Text(_) => None,
        }
    }

    /// Returns the local name of an HTML element; empty for any other node.
    pub(super) fn html_name(&self, id: DomId) -> &str {
        match self.name(id) {
            Some(name) if name.ns == ns!(html) => &name.local,
            _ => "",
        }
    }

    /// Returns the local name of the root of a drawing or formula; empty for any other node.
    pub(super) fn foreign_root_name(&self, id: DomId) -> &str {
        match self.name(id) {
            Some(name)
                if (name.ns == ns!(svg) && &*name.local == "svg")
                    || (name.ns == ns!(mathml) && &*name.local == "math") =>
            {
                &name.local
            }
            _ => "",
        }
    }

    /// Returns whether an element is invisible or left out.
    pub(super) fn is_skipped(&self, id: DomId) -> bool {
        matches!(self.html_name(id), "script" | "style" | "title") || self.left_out.contains(&id)
    }

    /// Returns the value of an attribute.
    pub(super) fn attribute(&self, id: DomId, wanted: &str) -> Option<&str> {
        match &self.nodes[id as usize].data {
            DomData::Element { attributes, .. } => {
                let found = attributes.iter().find(|it| &*it.name.local == wanted);
                found.map(|it| &*it.value)
            }
            _ => None,
        }
    }

    /// Returns the text of a text node.
    pub(super) fn text(&self, id: DomId) -> Option<&str> {
        match &self.nodes[id as usize].data {
            DomData::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the span of the node and its inside in the source.
    pub(super) fn span(&self, id: DomId) -> Range<usize> {
        let node = &self.nodes[id as usize];
        node.start as usize..node.end.max(node.start) as usize
    }

    /// Returns the node after `id` in document order that is not inside it, up to the end of `top`.
    pub(super) fn after(&self, id: DomId, top: DomId) -> Option<DomId> {
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

    /// Returns the node after `id` in document order, up to the end of `top`.
    pub(super) fn next(&self, id: DomId, top: DomId) -> Option<DomId> {
        self.first_child(id).or_else(|| self.after(id, top))
    }

    /// Returns the nodes inside `top`, in document order.
    pub(super) fn descendants(&self, top: DomId) -> impl Iterator<Item = DomId> {
        std::iter::successors(self.first_child(top), move |&id| self.next(id, top))
    }

    /// Returns all text inside `top`, unchanged.
    pub(super) fn inner_text(&self, top: DomId) -> String {
        self.descendants(top).filter_map(|id| self.text(id)).collect()
    }

    /// Iterates over the nodes inside `top`.
    pub(super) fn walk(&self, top: DomId) -> DomStartEndIterator<'_> {
        DomStartEndIterator { dom: self, top, due: self.first_child(top).map(Visit::Start) }
    }

    /// Returns the markup of `top`: attributes quoted, special characters escaped.
    pub(super) fn markup(&self, top: DomId) -> String {
        let mut out = String::new();
        self.open_tag(top, &mut out);
        self.push_inner_markup(top, &mut out);
        self.close_tag(top, &mut out);
        out
    }

    /// Returns the markup inside `top`.
    pub(super) fn inner_markup(&self, top: DomId) -> String {
        let mut out = String::new();
        self.push_inner_markup(top, &mut out);
        out
    }

    fn push_inner_markup(&self, top: DomId, out: &mut String) {
        for visit in self.walk(top) {
            match visit {
                Visit::Start(id) => self.open_tag(id, out),
                Visit::End(id) => self.close_tag(id, out),
            }
        }
    }

    /// Returns the attributes of an element as in a tag, without a leading space.
    pub(super) fn attributes(&self, id: DomId) -> String {
        let mut out = String::new();
        if let DomData::Element { attributes, .. } = &self.nodes[id as usize].data {
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

    fn open_tag(&self, id: DomId, out: &mut String) {
        match &self.nodes[id as usize].data {
            DomData::Text(text) => escape(text, out),
            DomData::Element { .. } => {
                out.push('<');
                out.push_str(&self.authors_name(id));
                let attributes = self.attributes(id);
                if !attributes.is_empty() {
                    out.push(' ');
                    out.push_str(&attributes);
                }
                out.push_str(if self.first_child(id).is_none() { "/>" } else { ">" });
            }
            DomData::Other => (),
        }
    }

    fn close_tag(&self, id: DomId, out: &mut String) {
        if self.name(id).is_some() && self.first_child(id).is_some() {
            out.push_str("</");
            out.push_str(&self.authors_name(id));
            out.push('>');
        }
    }

    fn authors_name(&self, id: DomId) -> Cow<'_, str> {
        self.name(id).map_or(Cow::Borrowed(""), |it| it.local.to_lowercase_unless_mixed())
    }
}

/// Restores the author's names of elements. The names that [`super::superlinear_tag_filter`] gives
/// to links and code are upper case.
trait ElementNameRestoration {
    fn to_lowercase_unless_mixed(&self) -> Cow<'_, str>;
}

impl ElementNameRestoration for str {
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

fn some(id: DomId) -> Option<DomId> {
    (id != NONE).then_some(id)
}
