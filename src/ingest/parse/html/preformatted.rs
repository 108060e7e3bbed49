//! Preformatted text: its bytes, and the language that its author gave.

use super::dom::{Dom, DomId, Visit};
use super::inline::is_block;
use super::superlinear_tag_filter::{CODE, LINK};

/// Classes that are a bare language name.
#[rustfmt::skip]
const LANGUAGES: [&str; 40] = [
    "bash", "c", "clojure", "console", "cpp", "csharp", "css", "diff", "dockerfile", "elixir", "go",
    "haskell", "html", "ini", "java", "javascript", "js", "json", "kotlin", "lua", "makefile",
    "markdown", "perl", "php", "python", "r", "ruby", "rust", "scala", "sh", "shell", "sql", "svg",
    "swift", "toml", "ts", "typescript", "xml", "yaml", "zig",
];

/// Returns the code of a `pre`; `None` if it is empty.
pub(super) fn code(dom: &Dom, pre: DomId) -> Option<String> {
    let mut out = String::new();
    // A block inside the code starts and ends a line.
    let is_line = |name: &str| is_block(name) && !matches!(name, "td" | "th");
    let mut is_line_due = false;
    for visit in dom.walk(pre) {
        let id = match visit {
            Visit::Start(id) => id,
            Visit::End(id) => {
                is_line_due |= is_line(dom.html_name(id));
                continue;
            }
        };
        let name = dom.html_name(id);
        if matches!(dom.html_name(dom.parent(id)?), "script" | "style") {
            continue;
        }
        if let Some(text) = dom.text(id) {
            if text.is_empty() || (is_line_due && text.starts_with('\n')) {
                is_line_due = false;
            }
            start_line(&mut out, &mut is_line_due);
            out.push_str(text);
            let link = dom.parent(id)?;
            if is_line_number(dom, link, text) {
                out.push(' ');
            }
        } else if name == "br" {
            out.push('\n');
        } else if matches!(name, "td" | "th") {
            if !is_line_due && !out.is_empty() && !out.ends_with('\n') {
                out.push('\t');
            }
        } else if is_line(name) {
            is_line_due |= !out.is_empty();
        }
    }
    if let Some(mark) = dom.mark {
        out = out.replace(mark, "\r");
    }
    let code = out.strip_suffix('\n').unwrap_or(&out);
    let code = code.strip_suffix('\r').unwrap_or(code);
    (!code.trim().is_empty()).then(|| code.to_owned())
}

fn start_line(out: &mut String, is_line_due: &mut bool) {
    if *is_line_due && !out.ends_with('\n') {
        out.push('\n');
    }
    *is_line_due = false;
}

/// Returns whether a link in code is a line number, which is no part of the code.
fn is_line_number(dom: &Dom, link: DomId, text: &str) -> bool {
    dom.html_name(link) == LINK
        && !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_digit())
        && dom.attribute(link, "href").is_some_and(|it| it.starts_with('#'))
}

/// Returns the language of a `pre`, from its own classes, its code's, or those around it.
pub(super) fn language(dom: &Dom, pre: DomId) -> Option<String> {
    let inner = dom.descendants(pre).take(2).filter(|&id| dom.html_name(id) == CODE);
    let outer = [Some(pre), dom.parent(pre), dom.parent(pre).and_then(|it| dom.parent(it))];
    for id in inner.chain(outer[..1].iter().flatten().copied()) {
        if let Some(language) = dom.attribute(id, "data-lang").or_else(|| of_class(dom, id)) {
            return Some(language.to_owned());
        }
    }
    let around = outer[1..].iter().flatten();
    around.copied().find_map(|id| {
        let mut classes = dom.attribute(id, "class")?.split_whitespace();
        let language = classes.find_map(|class| prefixed(class))?;
        Some(language.to_owned())
    })
}

fn of_class(dom: &Dom, id: DomId) -> Option<&str> {
    let classes = dom.attribute(id, "class")?;
    classes
        .split_whitespace()
        .find_map(prefixed)
        .or_else(|| classes.split_whitespace().find(|class| LANGUAGES.binary_search(class).is_ok()))
}

fn prefixed(class: &str) -> Option<&str> {
    let prefixes = ["language-", "lang-", "highlight-source-", "highlight-", "sourceCode-"];
    let found = prefixes.iter().find_map(|prefix| class.strip_prefix(prefix));
    found.filter(|it| !it.is_empty() && !it.starts_with('-'))
}
