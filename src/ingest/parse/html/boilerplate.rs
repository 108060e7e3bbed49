//! Boilerplate: the parts of a page around its content, such as navigation, banners and scripts.
//!
//! It is what browsers present as a landmark: a `nav` anywhere; a `header` or `footer` of the page,
//! not of an article or section; an `aside` of the page or its main part. The first of them that
//! has the only main heading stays, and all of them stay if the page has nothing else.

use std::collections::{BTreeMap, HashSet};

use super::dom::{Dom, DomId, ROOT, Visit};
use crate::ingest::parse::Warning;
use crate::text;

/// The elements that are left out.
#[derive(Debug, Default)]
pub(super) struct BoilerplateElements {
    pub(super) left_out: HashSet<DomId>,
    pub(super) warning: Option<Warning>,
}

/// Finds the boilerplate of a document.
pub(super) fn find_boilerplate(dom: &Dom, source: &str) -> BoilerplateElements {
    let mut survey = survey(dom, None);
    if !survey.has_main_heading
        && let Some(found) = survey.found.iter().find(|it| it.has_main_heading)
    {
        let kept = found.id;
        survey = self::survey(dom, Some(kept));
    }
    if survey.n_words == 0 {
        survey.found.clear();
    }
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for found in &survey.found {
        *counts.entry(found.kind).or_default() += 1;
    }
    let n_blocks: usize = survey.found.len() + survey.n_scripts;
    if n_blocks == 0 {
        return BoilerplateElements::default();
    }
    let mut kinds: Vec<String> = Vec::new();
    for kind in ["nav", "header", "footer", "aside"] {
        kinds.extend(counts.get(kind).map(|n| format!("{n} {kind}")));
    }
    if 0 < survey.n_scripts {
        kinds.push(format!("{} script", survey.n_scripts));
    }
    let n_words: usize = survey.found.iter().map(|it| it.n_words).sum();
    let blocks = if n_blocks == 1 { "block" } else { "blocks" };
    let words = if n_words == 1 { "word" } else { "words" };
    let what = format!("{} {blocks} left out ({n_words} {words})", kinds.join(", "));
    let first = survey.found.first().map(|it| dom.span(it.id).start).or(survey.first_script);
    let line = text::line_number_at(source, first.unwrap_or(0));
    BoilerplateElements {
        left_out: survey.found.iter().map(|it| it.id).collect(),
        warning: Some(Warning { line, what }),
    }
}

/// An element that is boilerplate.
#[derive(Debug)]
struct BoilerplateElement {
    id: DomId,
    kind: &'static str,
    n_words: usize,
    has_main_heading: bool,
}

#[derive(Debug, Default)]
struct BoilerplateScan {
    found: Vec<BoilerplateElement>,
    n_scripts: usize,
    first_script: Option<usize>,
    /// Number of words outside of the boilerplate.
    n_words: usize,
    has_main_heading: bool,
}

fn survey(dom: &Dom, kept: Option<DomId>) -> BoilerplateScan {
    let mut out = BoilerplateScan::default();
    // Open sections and open boilerplate, innermost last.
    let mut sections: Vec<DomId> = Vec::new();
    let mut inside: Option<DomId> = None;
    let mut visits = dom.walk(ROOT);
    while let Some(visit) = visits.next() {
        let id = match visit {
            Visit::Start(id) => id,
            Visit::End(id) => {
                sections.pop_if(|it| *it == id);
                inside.take_if(|it| *it == id);
                continue;
            }
        };
        let name = dom.html_name(id);
        if matches!(name, "script" | "style") {
            out.n_scripts += 1;
            out.first_script.get_or_insert(dom.span(id).start);
            visits.skip_inside(id);
            continue;
        }
        if inside.is_none()
            && kept != Some(id)
            && let Some(kind) = kind(dom, id, &sections)
        {
            inside = Some(id);
            out.found.push(BoilerplateElement { id, kind, n_words: 0, has_main_heading: false });
        }
        if matches!(name, "article" | "aside" | "main" | "nav" | "section") {
            sections.push(id);
        }
        let n_words = match dom.text(id) {
            Some(text) if dom.parent(id).is_none_or(|it| dom.html_name(it) != "title") => {
                text.split(|c: char| !c.is_alphanumeric()).filter(|it| !it.is_empty()).count()
            }
            _ => 0,
        };
        match out.found.last_mut().filter(|it| inside == Some(it.id)) {
            Some(found) => {
                found.n_words += n_words;
                found.has_main_heading |= name == "h1" && found.kind != "nav";
            }
            None => {
                out.n_words += n_words;
                out.has_main_heading |= name == "h1";
            }
        }
    }
    out
}

/// Returns the kind of boilerplate that an element is.
fn kind(dom: &Dom, id: DomId, sections: &[DomId]) -> Option<&'static str> {
    let name = dom.html_name(id);
    let is_page = sections.is_empty();
    match (name, dom.attribute(id, "role")) {
        ("" | "html" | "body" | "main", _) => None,
        (_, Some("navigation")) => Some("nav"),
        (_, Some("banner")) => Some("header"),
        (_, Some("contentinfo")) => Some("footer"),
        (_, Some("complementary")) => Some("aside"),
        ("nav", _) => Some("nav"),
        ("header", _) if is_page => Some("header"),
        ("footer", _) if is_page => Some("footer"),
        ("aside", _) if sections.iter().all(|&it| dom.html_name(it) == "main") => Some("aside"),
        _ => None,
    }
}
