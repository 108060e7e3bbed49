//! Formulas: from elements to LaTeX, or to their markup where LaTeX has no counterpart.

use super::dom::{Dom, DomData, DomId};
use crate::ingest::parse::mathml::{
    self, FlatMathmlTree, MathmlElement, TEXT, TexAnnotationOrConversion,
};
use crate::model::tree::ContentFormat;
use crate::text::tokens;

/// A rendered formula.
pub(super) struct RenderedFormula {
    pub(super) content: String,
    pub(super) format: ContentFormat,
}

/// Returns the formula on a line of its own. It is LaTeX where that saves at least 15 % of the
/// tokens, or where it is the author's own.
pub(super) fn display(dom: &Dom, id: DomId) -> Option<RenderedFormula> {
    let markup = dom.markup(id);
    match mathml::to_latex(&formula(dom, id)) {
        Some((content, author))
            if author == TexAnnotationOrConversion::Annotation || saves(&markup, &content) =>
        {
            Some(RenderedFormula { content, format: ContentFormat::Latex })
        }
        _ => {
            let has_content = dom.first_child(id).is_some();
            has_content
                .then_some(RenderedFormula { content: markup, format: ContentFormat::Mathml })
        }
    }
}

/// Returns whether `latex` has at most 85 % of the tokens of `markup`.
fn saves(markup: &str, latex: &str) -> bool {
    u64::from(tokens::count(latex)) * 100 <= u64::from(tokens::count(markup)) * 85
}

/// Returns the formula within a line.
pub(super) fn inline(dom: &Dom, id: DomId) -> Option<String> {
    match mathml::to_latex(&formula(dom, id)) {
        Some((tex, _)) => Some(format!("${}$", on_one_line(&tex))),
        None => dom.first_child(id).map(|_| on_one_line(&dom.markup(id))),
    }
}

/// Folds line breaks away, unless a comment ends at one.
fn on_one_line(tex: &str) -> String {
    let has_comment = tex.replace("\\%", "").contains('%') && tex.contains('\n');
    if has_comment { tex.to_owned() } else { crate::text::fold_whitespace(tex) }
}

fn formula(dom: &Dom, top: DomId) -> FlatMathmlTree {
    let mut elements: Vec<MathmlElement> = Vec::new();
    let mut path: Vec<(DomId, usize)> = Vec::new();
    for id in std::iter::once(top).chain(dom.descendants(top)) {
        let parent = if id == top { None } else { dom.parent(id) };
        while path.last().is_some_and(|&(open, _)| Some(open) != parent) {
            path.pop();
        }
        let parent = path.last().map_or(0, |&(_, index)| index);
        let element = match dom.data(id) {
            DomData::Text(text) => MathmlElement {
                parent,
                name: TEXT.to_owned(),
                text: text.to_string(),
                ..MathmlElement::default()
            },
            DomData::Element { attributes, .. } => {
                path.push((id, elements.len()));
                let attributes = attributes
                    .iter()
                    .map(|it| (it.name.local.to_string(), it.value.to_string()))
                    .collect();
                MathmlElement {
                    parent,
                    name: dom.name(id).map_or("", |it| &*it.local).to_ascii_lowercase(),
                    attributes,
                    text: String::new(),
                }
            }
            DomData::Other => continue,
        };
        elements.push(element);
    }
    FlatMathmlTree { elements }
}
