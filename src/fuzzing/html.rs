//! Parsing HTML: no word lost, sound trees, bounded nodes, the same tree twice.
//!
//! The oracle is the standard's own tree construction, unfiltered, into the plainest of trees.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use html5ever::interface::{ElementFlags, NodeOrText, QuirksMode};
use html5ever::tendril::{StrTendril, TendrilSink};
use html5ever::tree_builder::{TreeBuilderOpts, TreeSink};
use html5ever::{Attribute, ParseOpts, QualName, ns, parse_document};

use super::parser_invariants::{parse_twice, words};
use crate::ingest::parse::{Parsed, Syntax, decode};

/// Maximum bytes of an input for the oracle, which is not linear.
const JUDGED_BYTES_MAX: usize = 1 << 23;

/// Elements whose text has no tags, unless they stand in a drawing.
const PLAIN_TEXTS: &[&str] =
    &["<textarea", "<xmp", "<iframe", "<noembed", "<noframes", "<noscript", "<plaintext"];

const HEADINGS: &[&str] = &["h1", "h2", "h3", "h4", "h5", "h6"];

/// Elements that the standard opens again in each block until they are closed.
#[rustfmt::skip]
const REOPENED: &[&str] = &[
    "a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u",
];

/// Panics when parsing `data` as HTML violates an invariant.
pub fn html(data: &[u8]) {
    let (text, _) = decode(data);
    let parsed = parse_twice(Syntax::Html, &text);
    // A link that ends inside a drawing ends the drawing, if the standard has opened the link again
    // there. Then the two may disagree on what else is on the page, and so on whether boilerplate
    // stays.
    let lower = text.to_ascii_lowercase();
    let has = |names: &[&str]| names.iter().any(|it| lower.contains(it));
    if has(&["<svg", "<math"]) && has(&["<nav", "<header", "<footer", "<aside", "role"]) {
        return;
    }
    // The same for an end tag of formatting that a table in the drawing's way may stop; then they
    // may disagree on whether an element of plain text stands inside the drawing, where its text
    // would be tags.
    if has(&["<svg", "<math"]) && has(&["<table"]) && has(PLAIN_TEXTS) {
        return;
    }
    if let Err(report) = check_words(&parsed, &text) {
        panic!("{report}");
    }
}

/// Checks that every word the page shows is in the tree as often as on the page.
///
/// Letters are counted over the whole page, since marks may separate the parts of a word that
/// crosses elements; words that are whole in one text are counted as words.
pub fn check_words(parsed: &Parsed, text: &str) -> Result<(), String> {
    if JUDGED_BYTES_MAX < text.len() {
        return Ok(());
    }
    let page = OracleDom::read(text);
    let mut letters: HashMap<char, i64> = HashMap::new();
    let mut words: HashMap<&str, i64> = HashMap::new();
    for node in &parsed.tree.nodes {
        for c in node.content.chars().filter(|c| c.is_alphanumeric()) {
            *letters.entry(c).or_default() += 1;
        }
        for word in self::words(&node.content) {
            *words.entry(word).or_default() += 1;
        }
    }
    let visible = page.visible();
    for c in visible.iter().flat_map(|it| it.chars()).filter(|c| c.is_alphanumeric()) {
        *letters.entry(c).or_default() -= 1;
    }
    for word in visible.iter().flat_map(|it| inner_words(it)) {
        *words.entry(word).or_default() -= 1;
    }
    let mut lost: Vec<String> =
        letters.iter().filter(|(_, n)| **n < 0).map(|(c, _)| c.to_string()).collect();
    lost.extend(words.iter().filter(|(_, n)| **n < 0).map(|(word, _)| (*word).to_owned()));
    lost.sort_unstable();
    match lost.is_empty() {
        true => Ok(()),
        false => Err(format!("lost: {lost:?}")),
    }
}

/// Returns the words that reach neither end of the text, where an element's end may cut them.
fn inner_words(text: &str) -> impl Iterator<Item = &str> {
    let start = text.find(|c: char| !c.is_alphanumeric()).unwrap_or(text.len());
    let end = text.rfind(|c: char| !c.is_alphanumeric()).unwrap_or(start);
    words(text.get(start..end).unwrap_or(""))
}

/// A node of the page.
#[derive(Debug, Default)]
struct OracleNode {
    parent: Option<usize>,
    /// The table before which a text was put that is not allowed in it.
    before: Option<usize>,
    name: String,
    namespace: String,
    attributes: Vec<(String, String)>,
    text: String,
    is_text: bool,
}

/// The page as the standard parses it; the order of siblings is not kept.
#[derive(Debug, Default)]
struct OracleDom {
    nodes: RefCell<Vec<OracleNode>>,
}

impl OracleDom {
    fn read(text: &str) -> OracleDom {
        let page = OracleDom::default();
        page.nodes.borrow_mut().push(OracleNode::default());
        let tree_builder = TreeBuilderOpts { scripting_enabled: false, ..Default::default() };
        parse_document(page, ParseOpts { tree_builder, ..Default::default() }).one(text)
    }

    /// Returns the visible texts of the page, boilerplate left out.
    fn visible(&self) -> Vec<String> {
        let nodes = self.nodes.borrow();
        let above = |at: usize| std::iter::successors(Some(at), |&it| nodes[it].parent);
        let Some(boilerplate) = self.boilerplate() else { return Vec::new() };
        let is_seen = |at: usize| {
            above(at).last() == Some(0)
                && above(at).all(|it| {
                    let is_hidden =
                        matches!(&*nodes[it].name, "script" | "style" | "title" | "math");
                    !(is_hidden && (nodes[it].namespace != "svg" || nodes[it].name != "title"))
                })
        };
        let texts = (0..nodes.len()).filter(|&it| nodes[it].is_text && is_seen(it));
        let all: Vec<usize> = texts.collect();
        let outside: Vec<usize> = all
            .iter()
            .copied()
            .filter(|&at| !above(at).any(|it| boilerplate.contains(&it)))
            .collect();
        let is_formula = |at: usize| above(at).any(|it| nodes[it].name == "math");
        let is_bare = !(0..nodes.len()).any(|at| {
            let is_text = nodes[at].is_text && (outside.contains(&at) || is_formula(at));
            is_text
                && words(&nodes[at].text).next().is_some()
                && above(at).last() == Some(0)
                && !above(at).any(|it| boilerplate.contains(&it))
        });
        let kept = if is_bare { all } else { outside };
        kept.into_iter().map(|at| nodes[at].text.clone()).collect()
    }

    /// Returns the navigation, banners and side bars of the page. It is `None` in two cases that
    /// the oracle does not decide: if they contain the only main heading, or if a heading stands in
    /// formatting in a heading. The parser does not open formatting again in the outer heading, so
    /// that the inner one ends it, and one of their end tags may end another element.
    fn boilerplate(&self) -> Option<HashSet<usize>> {
        let nodes = self.nodes.borrow();
        let above = |at: usize| std::iter::successors(nodes[at].parent, |&it| nodes[it].parent);
        let is_one = |at: usize| {
            let node = &nodes[at];
            let role = node.attributes.iter().find(|(key, _)| key == "role");
            let role = role.map_or("", |(_, value)| value.as_str());
            let around = |names: &[&str]| {
                above(at).any(|it| {
                    nodes[it].namespace == "html" && names.contains(&nodes[it].name.as_str())
                })
            };
            if node.namespace != "html" || matches!(&*node.name, "html" | "body" | "main") {
                return false;
            }
            match &*node.name {
                _ if matches!(role, "navigation" | "banner" | "contentinfo" | "complementary") => {
                    true
                }
                "nav" => true,
                "header" | "footer" => !around(&["article", "aside", "main", "nav", "section"]),
                "aside" => !around(&["article", "aside", "nav", "section"]),
                _ => false,
            }
        };
        let found: HashSet<usize> = (0..nodes.len()).filter(|&at| is_one(at)).collect();
        let is_heading = |it: &usize| HEADINGS.contains(&&*nodes[*it].name);
        let is_nested = |at: usize| {
            let outer = above(at).find(is_heading);
            let mut between = above(at).take_while(|it| Some(*it) != outer);
            outer.is_some() && between.any(|it| REOPENED.contains(&&*nodes[it].name))
        };
        if !found.is_empty() && (0..nodes.len()).any(|at| is_heading(&at) && is_nested(at)) {
            return None;
        }
        let is_main = |&at: &usize| nodes[at].name == "h1" && above(at).last() == Some(0);
        let mut mains = (0..nodes.len()).filter(is_main).peekable();
        let has_main = mains.peek().is_some();
        let is_covered = |at: usize| above(at).any(|it| found.contains(&it));
        (!has_main || !mains.all(is_covered)).then_some(found)
    }
}

#[derive(Debug)]
struct OracleElementName(QualName);

impl html5ever::interface::ElemName for OracleElementName {
    fn ns(&self) -> &html5ever::Namespace {
        &self.0.ns
    }

    fn local_name(&self) -> &html5ever::LocalName {
        &self.0.local
    }
}

/// A node's handle: its index, and its name.
type OracleNodeHandle = (usize, Option<QualName>);

impl OracleDom {
    fn push(&self, node: OracleNode) -> usize {
        self.nodes.borrow_mut().push(node);
        self.nodes.borrow().len() - 1
    }

    fn put(&self, parent: usize, before: Option<usize>, child: NodeOrText<OracleNodeHandle>) {
        match child {
            NodeOrText::AppendNode((index, _)) => {
                self.nodes.borrow_mut()[index].parent = Some(parent);
            }
            NodeOrText::AppendText(text) => {
                if let Some(node) = self.nodes.borrow_mut().last_mut()
                    && node.is_text
                    && (node.parent, node.before) == (Some(parent), before)
                {
                    node.text.push_str(&text);
                    return;
                }
                let text = text.to_string();
                self.push(OracleNode {
                    parent: Some(parent),
                    before,
                    text,
                    is_text: true,
                    ..OracleNode::default()
                });
            }
        }
    }
}

impl TreeSink for OracleDom {
    type Handle = OracleNodeHandle;
    type Output = OracleDom;
    type ElemName<'a> = OracleElementName;

    fn finish(self) -> OracleDom {
        self
    }

    fn parse_error(&self, _: Cow<'static, str>) {}

    fn get_document(&self) -> OracleNodeHandle {
        (0, None)
    }

    fn elem_name(&self, target: &OracleNodeHandle) -> OracleElementName {
        OracleElementName(target.1.clone().unwrap_or(QualName::new(None, ns!(), "".into())))
    }

    fn create_element(
        &self,
        name: QualName,
        attrs: Vec<Attribute>,
        _: ElementFlags,
    ) -> OracleNodeHandle {
        let namespace = match &name.ns {
            it if *it == ns!(html) => "html",
            it if *it == ns!(svg) => "svg",
            _ => "math",
        };
        let attributes = attrs.iter().map(|it| (it.name.local.to_string(), it.value.to_string()));
        let index = self.push(OracleNode {
            name: name.local.to_string(),
            namespace: namespace.to_owned(),
            attributes: attributes.collect(),
            ..OracleNode::default()
        });
        (index, Some(name))
    }

    fn create_comment(&self, _: StrTendril) -> OracleNodeHandle {
        (self.push(OracleNode::default()), None)
    }

    fn create_pi(&self, _: StrTendril, _: StrTendril) -> OracleNodeHandle {
        (self.push(OracleNode::default()), None)
    }

    fn append(&self, parent: &OracleNodeHandle, child: NodeOrText<OracleNodeHandle>) {
        self.put(parent.0, None, child);
    }

    fn append_before_sibling(
        &self,
        sibling: &OracleNodeHandle,
        child: NodeOrText<OracleNodeHandle>,
    ) {
        let parent = self.nodes.borrow()[sibling.0].parent;
        if let Some(parent) = parent {
            self.put(parent, Some(sibling.0), child);
        }
    }

    fn append_based_on_parent_node(
        &self,
        element: &OracleNodeHandle,
        prev: &OracleNodeHandle,
        child: NodeOrText<OracleNodeHandle>,
    ) {
        let parent = self.nodes.borrow()[element.0].parent;
        self.put(parent.unwrap_or(prev.0), parent.map(|_| element.0), child);
    }

    fn append_doctype_to_document(&self, _: StrTendril, _: StrTendril, _: StrTendril) {}

    fn get_template_contents(&self, _: &OracleNodeHandle) -> OracleNodeHandle {
        (self.push(OracleNode::default()), None)
    }

    fn same_node(&self, x: &OracleNodeHandle, y: &OracleNodeHandle) -> bool {
        x.0 == y.0
    }

    fn set_quirks_mode(&self, _: QuirksMode) {}

    fn add_attrs_if_missing(&self, _: &OracleNodeHandle, _: Vec<Attribute>) {}

    fn is_mathml_annotation_xml_integration_point(&self, target: &OracleNodeHandle) -> bool {
        self.nodes.borrow()[target.0].attributes.iter().any(|(key, value)| {
            key == "encoding"
                && ["text/html", "application/xhtml+xml"]
                    .iter()
                    .any(|it| value.eq_ignore_ascii_case(it))
        })
    }

    fn remove_from_parent(&self, target: &OracleNodeHandle) {
        self.nodes.borrow_mut()[target.0].parent = None;
    }

    fn reparent_children(&self, node: &OracleNodeHandle, new_parent: &OracleNodeHandle) {
        for it in self.nodes.borrow_mut().iter_mut() {
            if it.parent == Some(node.0) {
                it.parent = Some(new_parent.0);
            }
        }
    }
}
