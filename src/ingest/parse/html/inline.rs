//! Inline content, and the blocks that have only one line: headings and cells.

use super::dom::{Dom, DomId, Visit};
use super::inline_run::{InlineRun, LineBreaks, RenderedRun};
use super::math;
use super::superlinear_tag_filter::{BOUNDARY, CODE, LINK};
use crate::text::fold_whitespace;

/// Elements that start and end a line of their own.
#[rustfmt::skip]
const BLOCKS: [&str; 54] = [
    BOUNDARY, "address", "article", "aside", "blockquote", "body", "caption", "center", "dd",
    "details", "dialog", "dir", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer",
    "form", "frameset", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hgroup", "hr", "html",
    "legend", "li", "main", "marquee", "menu", "nav", "noembed", "noframes", "noscript", "ol", "p",
    "search", "section", "select", "summary", "table", "tbody", "td", "tfoot", "th", "thead", "tr",
    "ul",
];

/// Returns whether an element starts and ends a line of its own.
pub(super) fn is_block(name: &str) -> bool {
    BLOCKS.contains(&name)
}

/// Returns whether an element is always a node.
pub(super) fn is_apart(name: &str) -> bool {
    matches!(name, "pre" | "listing" | "xmp" | "plaintext" | "table")
}

/// Whether the parser visits the inside of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChildVisit {
    Into,
    Over,
}

/// Handles the start of an inline element.
pub(super) fn enter(dom: &Dom, id: DomId, run: &mut InlineRun) -> ChildVisit {
    if let Some(text) = dom.text(id) {
        add_text(dom, id, text, run);
        return ChildVisit::Over;
    }
    let attribute = |name| dom.attribute(id, name);
    match (dom.html_name(id), dom.foreign_root_name(id)) {
        (_, "math") => {
            add_formula(dom, id, run);
            ChildVisit::Over
        }
        (_, "svg") => {
            add_drawing(dom, id, run);
            ChildVisit::Over
        }
        ("br", _) => {
            run.line_break();
            ChildVisit::Over
        }
        (CODE, _) => {
            run.start_code();
            ChildVisit::Into
        }
        (LINK, _) => {
            if let Some(href) = attribute("href") {
                run.open_link(href);
            }
            ChildVisit::Into
        }
        ("img" | "image", _) => {
            add_image(dom, id, run);
            ChildVisit::Over
        }
        ("input", _) => {
            add_input(dom, id, run);
            ChildVisit::Over
        }
        ("button" | "textarea" | "meter" | "output" | "progress", _) => {
            run.space();
            ChildVisit::Into
        }
        (name @ ("option" | "optgroup"), _) => {
            run.new_line();
            if name == "optgroup" {
                run.text(attribute("label").unwrap_or(""));
                run.new_line();
            }
            ChildVisit::Into
        }
        ("q", _) => {
            run.text("\"");
            ChildVisit::Into
        }
        ("sup", _) if is_exponent(dom, id) && run.can_be_raised() => {
            run.text("^");
            ChildVisit::Into
        }
        ("knowledge", _) => {
            add_knowledge(dom, id, run);
            ChildVisit::Over
        }
        ("video" | "audio" | "iframe" | "embed" | "object", _) => {
            add_media(dom, id, run);
            ChildVisit::Into
        }
        _ => ChildVisit::Into,
    }
}

/// Handles the end of an inline element.
pub(super) fn leave(dom: &Dom, id: DomId, run: &mut InlineRun) {
    match dom.html_name(id) {
        CODE => run.end_code(),
        LINK => run.close_link(),
        "button" | "textarea" | "meter" | "output" | "progress" | "video" | "audio" | "iframe"
        | "object" => run.space(),
        "q" => run.text("\""),
        _ => (),
    }
}

fn add_text(dom: &Dom, id: DomId, text: &str, run: &mut InlineRun) {
    if !text.trim().is_empty() {
        run.widen(dom.span(id));
    }
    match dom.mark {
        Some(mark) if text.contains(mark) => run.text(&text.replace(mark, "")),
        _ => run.text(text),
    }
}

fn add_formula(dom: &Dom, id: DomId, run: &mut InlineRun) {
    if let Some(formula) = math::inline(dom, id) {
        run.widen(dom.span(id));
        run.math(&formula, id);
    }
}

fn add_image(dom: &Dom, id: DomId, run: &mut InlineRun) {
    let alt = dom.attribute(id, "alt").or(dom.attribute(id, "title")).unwrap_or("");
    run.widen(dom.span(id));
    run.image(alt, dom.attribute(id, "src").unwrap_or(""));
}

/// Adds the address of a medium that has a text to show instead.
fn add_media(dom: &Dom, id: DomId, run: &mut InlineRun) {
    if let Some((markdown, address)) = media(dom, id) {
        run.widen(dom.span(id));
        run.mark(&markdown, &address);
    }
    run.space();
}

/// Adds the text of a drawing.
fn add_drawing(dom: &Dom, id: DomId, run: &mut InlineRun) {
    for inside in dom.descendants(id) {
        if let Some(text) = dom.text(inside)
            && !text.trim().is_empty()
            && dom.parent(inside).is_none_or(|it| !is_styling(dom, it))
        {
            run.widen(dom.span(inside));
            run.space();
            run.text(text);
            run.space();
        }
    }
}

fn is_styling(dom: &Dom, id: DomId) -> bool {
    dom.name(id).is_some_and(|it| matches!(&*it.local, "style" | "script"))
}

/// Adds the initial state of a form's field.
fn add_input(dom: &Dom, id: DomId, run: &mut InlineRun) {
    let kind = dom.attribute(id, "type").unwrap_or("text").to_ascii_lowercase();
    run.widen(dom.span(id));
    match &*kind {
        "checkbox" => {
            let mark = if dom.attribute(id, "checked").is_some() { "[x]" } else { "[ ]" };
            run.mark(mark, "");
            run.space();
        }
        "hidden" | "password" | "radio" | "color" | "file" | "image" | "range" => (),
        _ => {
            run.space();
            run.text(dom.attribute(id, "value").unwrap_or(""));
            run.space();
        }
    }
}

/// Returns whether a superscript is a number or a letter: `10` and `6` are not `106`.
fn is_exponent(dom: &Dom, id: DomId) -> bool {
    let text = dom.inner_text(id);
    let text = text.trim();
    let digits = text.trim_start_matches(['-', '−', '+']);
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let is_letter = digits.len() == 1 && digits.bytes().all(|byte| byte.is_ascii_alphabetic());
    is_number || is_letter
}

/// Adds a reference by the element that its author used.
fn add_knowledge(dom: &Dom, id: DomId, run: &mut InlineRun) {
    // Brackets would end the reference that the element becomes.
    let label = fold_whitespace(&dom.inner_text(id)).replace('[', "(").replace(']', ")");
    if label.is_empty() {
        return;
    }
    let shown = format!("[[{label}]]");
    let mut link = format!("[[{label}");
    for (name, key) in [("weight", "w"), ("source", "source"), ("id", "id")] {
        let value = fold_whitespace(dom.attribute(id, name).unwrap_or(""));
        if !value.is_empty() && !value.contains(['[', ']', ';', '|']) {
            link.push_str(&format!("; {key}={value}"));
        }
    }
    link.push_str("]]");
    run.widen(dom.span(id));
    run.mark(&link, &shown);
}

/// Returns a media element as Markdown, and its address; `None` without one.
pub(super) fn media(dom: &Dom, id: DomId) -> Option<(String, String)> {
    let name = if dom.html_name(id) == "object" { "data" } else { "src" };
    let own = dom.attribute(id, name);
    let inner = || {
        let mut sources = dom.descendants(id).filter(|&it| dom.html_name(it) == "source");
        sources.find_map(|it| dom.attribute(it, "src"))
    };
    let address = super::inline_run::destination(own.or_else(inner)?)?;
    let title =
        fold_whitespace(dom.attribute(id, "alt").or(dom.attribute(id, "title")).unwrap_or(""));
    Some((format!("[{title}]({address})"), address))
}

/// Renders the inside of an element on one line, and lists the elements in it that are always
/// nodes.
pub(super) fn line(dom: &Dom, top: DomId, run: InlineRun) -> (RenderedRun, Vec<DomId>) {
    let mut run = run;
    let mut apart = Vec::new();
    let mut numbers: Vec<(DomId, super::walk::ListNumbering)> = Vec::new();
    let is_heading = matches!(dom.html_name(top).as_bytes(), [b'h', b'1'..=b'6']);
    let is_anchor = |id| is_heading && dom.html_name(id) == LINK && is_fragment(dom, id);
    let mut visits = dom.walk(top);
    while let Some(visit) = visits.next() {
        let id = match visit {
            Visit::Start(id) => id,
            Visit::End(id) => {
                match dom.html_name(id) {
                    name if is_block(name) => run.space(),
                    _ if is_anchor(id) => (),
                    _ => leave(dom, id, &mut run),
                }
                numbers.pop_if(|(list, _)| *list == id);
                continue;
            }
        };
        let name = dom.html_name(id);
        let step = if dom.is_skipped(id) {
            ChildVisit::Over
        } else if is_apart(name) {
            run.space();
            apart.push(id);
            ChildVisit::Over
        } else if is_anchor(id) {
            // A heading's link to itself adds nothing, and often has only a mark for its text.
            match dom.inner_text(id).contains(char::is_alphanumeric) {
                true => ChildVisit::Into,
                false => ChildVisit::Over,
            }
        } else if is_block(name) {
            run.space();
            if matches!(name, "ol" | "ul" | "menu" | "dir" | "dl") {
                numbers.push((id, super::walk::ListNumbering::new(dom, id)));
            } else if name == "li"
                && let Some((_, list)) = numbers.last_mut()
            {
                let marker = list.marker(dom, id);
                run.mark(&marker, &marker);
                run.space();
            }
            ChildVisit::Into
        } else {
            enter(dom, id, &mut run)
        };
        if step == ChildVisit::Over {
            if is_block(name) || is_apart(name) {
                run.space();
            }
            visits.skip_inside(id);
        }
    }
    (run.finish(), apart)
}

fn is_fragment(dom: &Dom, id: DomId) -> bool {
    dom.attribute(id, "href").is_some_and(|it| it.trim().starts_with('#'))
}

/// Returns a new run with the link and code that are open around it.
pub(super) fn run_within(flow: LineBreaks, link: Option<&str>, is_code: bool) -> InlineRun {
    let mut run = InlineRun::new(flow);
    if let Some(href) = link {
        run.open_link(href);
    }
    if is_code {
        run.start_code();
    }
    run
}
