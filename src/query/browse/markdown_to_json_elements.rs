//! Markdown as JSON blocks, so that a page can build elements without any HTML.
//!
//! A block is a text, or `{tag, of}` with the blocks inside of it. A link has the authored `href`
//! and, where it leads to a node, that node's id; a page decides what becomes clickable. HTML in a
//! text is shown as code.

use std::collections::HashMap;

use pulldown_cmark::{Alignment, CodeBlockKind, Event, Options, Parser, Tag, TagEnd};
use serde_json::{Map, Value, json};

/// Elements within each other, at most; deeper ones are texts of their parent.
const DEPTH_MAX: usize = 40;

/// An element that is being filled.
struct OpenPageElement {
    element: Map<String, Value>,
    of: Vec<Value>,
}

/// Returns the block of a piece of code.
pub(super) fn of_code(text: &str, lang: Option<&str>) -> Value {
    let mut pre = json!({"tag": "pre", "of": [text]});
    if let Some(lang) = lang {
        pre["lang"] = lang.into();
    }
    json!([pre])
}

/// Returns the blocks of a Markdown text; `targets` are the ids of the nodes that it names.
pub(super) fn of_markdown(text: &str, targets: &HashMap<String, String>) -> Value {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_WIKILINKS;
    let mut builder = PageElementBuilder {
        open: vec![OpenPageElement::of(None)],
        skipped: 0,
        columns: Vec::new(),
        targets,
    };
    for event in Parser::new_ext(text, options) {
        builder.take(event);
    }
    while 1 < builder.open.len() {
        builder.close();
    }
    builder.open.pop().map_or(Value::Null, |it| it.of.into())
}

impl OpenPageElement {
    fn of(tag: Option<&str>) -> OpenPageElement {
        let mut element = Map::new();
        if let Some(tag) = tag {
            element.insert("tag".to_owned(), tag.into());
        }
        OpenPageElement { element, of: Vec::new() }
    }
}

struct PageElementBuilder<'a> {
    /// The elements around the place, the outermost first.
    open: Vec<OpenPageElement>,
    /// Elements too deep to be made.
    skipped: usize,
    /// The alignments of the columns of the table, and the next column.
    columns: Vec<Alignment>,
    targets: &'a HashMap<String, String>,
}

impl PageElementBuilder<'_> {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => self.text(&text),
            Event::Code(text) | Event::InlineHtml(text) | Event::Html(text) => {
                self.push(json!({"tag": "code", "of": [&*text]}));
            }
            Event::InlineMath(text) | Event::DisplayMath(text) => self.text(&text),
            Event::FootnoteReference(name) => self.push(json!({"tag": "sup", "of": [&*name]})),
            Event::SoftBreak => self.text("\n"),
            Event::HardBreak => self.push(json!({"tag": "br", "of": []})),
            Event::Rule => self.push(json!({"tag": "hr", "of": []})),
            Event::TaskListMarker(is_checked) => self.note("checked", is_checked.into()),
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        if DEPTH_MAX <= self.open.len() {
            self.skipped += 1;
            return;
        }
        let name = match &tag {
            Tag::Heading { level, .. } => format!("h{}", *level as u8),
            Tag::BlockQuote(_) => "blockquote".to_owned(),
            Tag::CodeBlock(_) | Tag::HtmlBlock | Tag::MetadataBlock(_) => "pre".to_owned(),
            Tag::List(Some(_)) => "ol".to_owned(),
            Tag::List(None) => "ul".to_owned(),
            Tag::Item => "li".to_owned(),
            Tag::Table(_) => "table".to_owned(),
            Tag::TableHead => "thead".to_owned(),
            Tag::TableRow => "tr".to_owned(),
            Tag::TableCell if self.is_in("thead") => "th".to_owned(),
            Tag::TableCell => "td".to_owned(),
            Tag::Emphasis => "em".to_owned(),
            Tag::Strong => "strong".to_owned(),
            Tag::Strikethrough => "del".to_owned(),
            Tag::Subscript => "sub".to_owned(),
            Tag::Superscript => "sup".to_owned(),
            Tag::Link { .. } => "a".to_owned(),
            Tag::Image { .. } => "img".to_owned(),
            _ => "p".to_owned(),
        };
        self.open.push(OpenPageElement::of(Some(&name)));
        match tag {
            Tag::CodeBlock(CodeBlockKind::Fenced(lang)) if !lang.is_empty() => {
                self.note("lang", (*lang).into());
            }
            Tag::List(Some(start)) if start != 1 => self.note("start", start.into()),
            Tag::Table(columns) => self.columns = columns,
            Tag::TableCell => {
                let nth = self.open.iter().rev().nth(1).map_or(0, |it| it.of.len());
                let align = match self.columns.get(nth) {
                    Some(Alignment::Left) => "left",
                    Some(Alignment::Center) => "center",
                    Some(Alignment::Right) => "right",
                    _ => return,
                };
                self.note("align", align.into());
            }
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                self.note("href", (*dest_url).into());
                if let Some(id) = self.target(&dest_url) {
                    self.note("node", id.into());
                }
            }
            _ => (),
        }
    }

    fn end(&mut self, _: TagEnd) {
        match self.skipped {
            0 => self.close(),
            _ => self.skipped -= 1,
        }
    }

    /// Closes the innermost element.
    fn close(&mut self) {
        if 1 < self.open.len()
            && let Some(OpenPageElement { mut element, of }) = self.open.pop()
        {
            element.insert("of".to_owned(), of.into());
            self.push(element.into());
        }
    }

    fn push(&mut self, block: Value) {
        if let Some(inner) = self.open.last_mut() {
            inner.of.push(block);
        }
    }

    fn text(&mut self, text: &str) {
        match self.open.last_mut().and_then(|it| it.of.last_mut()) {
            Some(Value::String(before)) => before.push_str(text),
            _ => self.push(text.into()),
        }
    }

    fn note(&mut self, name: &str, value: Value) {
        // A task's mark stands in the paragraph of its item, where that has one.
        let item = self.open.iter_mut().rev().find(|it| {
            name != "checked" || it.element.get("tag").and_then(Value::as_str) == Some("li")
        });
        if let Some(element) = item {
            element.element.insert(name.to_owned(), value);
        }
    }

    fn is_in(&self, tag: &str) -> bool {
        let is = |it: &OpenPageElement| it.element.get("tag").and_then(Value::as_str) == Some(tag);
        self.open.iter().any(is)
    }

    /// Returns the node that a link leads to.
    fn target(&self, href: &str) -> Option<&str> {
        let path = href.split('#').next().unwrap_or(href);
        let path = path.strip_prefix("./").unwrap_or(path);
        let stem = path.rsplit('/').next().unwrap_or(path);
        let stem = stem.strip_suffix(".md").unwrap_or(stem);
        let names = [href, path, stem];
        names.iter().find_map(|it| self.targets.get(*it)).map(String::as_str)
    }
}
