//! Converts MathML to LaTeX where that keeps the formula's meaning.
//!
//! An author's TeX in an annotation takes precedence. Otherwise every element is written as LaTeX
//! from the leaves up, in one pass over the flat formula. An element without a faithful counterpart
//! makes the conversion fail, and the caller keeps the markup.

mod rows_and_fences;
mod script;
mod symbol;
mod token_elements;

use rows_and_fences::{PieceRow, finished, row};

/// The name of text between elements.
pub(crate) const TEXT: &str = "#text";

/// A formula: its elements in document order, `math` first.
#[derive(Clone, Debug, Default)]
pub(crate) struct FlatMathmlTree {
    pub(crate) elements: Vec<MathmlElement>,
}

/// An element, or a piece of text between elements.
#[derive(Clone, Debug, Default)]
pub(crate) struct MathmlElement {
    /// Index of the parent, smaller than the element's own.
    pub(crate) parent: usize,
    /// The lower-case name; [`TEXT`] for text.
    pub(crate) name: String,
    pub(crate) attributes: Vec<(String, String)>,
    /// The text, for a piece of text.
    pub(crate) text: String,
}

impl MathmlElement {
    fn attribute(&self, name: &str) -> Option<&str> {
        let found = self.attributes.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.trim())
    }
}

/// The origin of the TeX.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TexAnnotationOrConversion {
    /// The formula's author, in an annotation.
    Annotation,
    /// This module.
    Conversion,
}

/// The kind of a piece of LaTeX, as far as its neighbours depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TexPieceKind {
    /// Nothing visible.
    Empty,
    /// One symbol or one command: takes a script without braces.
    Atom,
    /// An operator or fence, with its character.
    Operator(char),
    /// A large operator or function whose scripts are below and above it.
    Limits,
    /// A fraction without a line.
    Stack,
    /// A table; `true` when it is aligned like equations.
    Table,
    /// Anything else.
    Group,
    /// The start of the scripts before the base.
    Prescripts,
    /// An annotation, which is not shown.
    Annotation,
}

/// An element's LaTeX.
#[derive(Clone, Debug)]
struct TexPiece {
    tex: String,
    kind: TexPieceKind,
}

impl TexPiece {
    fn new(kind: TexPieceKind, tex: impl Into<String>) -> TexPiece {
        TexPiece { tex: tex.into(), kind }
    }

    fn empty() -> TexPiece {
        TexPiece::new(TexPieceKind::Empty, "")
    }

    fn group(tex: impl Into<String>) -> TexPiece {
        TexPiece::new(TexPieceKind::Group, tex)
    }

    /// Returns the piece as the base of a script.
    fn base(&self) -> String {
        match self.kind {
            TexPieceKind::Atom | TexPieceKind::Limits | TexPieceKind::Operator(_) => {
                self.tex.clone()
            }
            _ => format!("{{{}}}", self.tex),
        }
    }
}

/// Converts a formula to LaTeX; `None` if LaTeX cannot express it.
pub(crate) fn to_latex(formula: &FlatMathmlTree) -> Option<(String, TexAnnotationOrConversion)> {
    if let Some(tex) = annotation(formula, 0) {
        return Some((tex, TexAnnotationOrConversion::Annotation));
    }
    let elements = &formula.elements;
    let variants = token_elements::variants(elements);
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); elements.len()];
    for (index, element) in elements.iter().enumerate().skip(1) {
        children.get_mut(element.parent)?.push(index);
    }
    let mut pieces: Vec<Option<TexPiece>> = vec![None; elements.len()];
    // Children come after their parents, so backwards they are converted first.
    for index in (0..elements.len()).rev() {
        let piece = {
            let scope = FormulaAndPieces { formula, children: &children, pieces: &mut pieces };
            scope.piece(index, variants[index])
        };
        pieces[index] = piece;
    }
    let tex = finished(pieces.into_iter().next()??);
    // LaTeX cannot express a control character; the source keeps it.
    let is_sayable =
        !tex.trim().is_empty() && !tex.contains(|it: char| it.is_control() && it != '\n');
    is_sayable.then_some((tex, TexAnnotationOrConversion::Conversion))
}

/// Returns the TeX annotation of the formula, if the element at `top` is annotated as a whole.
fn annotation(formula: &FlatMathmlTree, top: usize) -> Option<String> {
    let elements = &formula.elements;
    let mut at = top;
    loop {
        let mut inside = (at + 1..elements.len()).filter(|&it| elements[it].parent == at);
        if elements.get(at)?.name == "semantics" {
            let tex = inside.find_map(|child| tex_of(elements, child))?;
            return Some(tex);
        }
        let mut shown =
            inside.filter(|&it| elements[it].name != TEXT || !elements[it].text.trim().is_empty());
        let only = shown.next()?;
        if shown.next().is_some()
            || !matches!(&*elements[at].name, "math" | "mrow" | "mstyle" | "mpadded")
        {
            return None;
        }
        at = only;
    }
}

fn tex_of(elements: &[MathmlElement], index: usize) -> Option<String> {
    let element = &elements[index];
    let encoding = element.attribute("encoding")?.to_ascii_lowercase();
    let is_tex = matches!(
        &*encoding,
        "application/x-tex"
            | "application/x-latex"
            | "text/x-tex"
            | "text/x-latex"
            | "text/latex"
            | "tex"
            | "latex"
    );
    if element.name != "annotation" || !is_tex {
        return None;
    }
    let inside = elements.iter().skip(index + 1);
    let own = inside.take_while(|it| index <= it.parent).filter(|it| it.name == TEXT);
    let tex: String = own.map(|it| it.text.as_str()).collect();
    let mut tex = tex.trim();
    for (open, close) in [("$$", "$$"), ("$", "$"), ("\\[", "\\]"), ("\\(", "\\)")] {
        if let Some(inner) = tex.strip_prefix(open).and_then(|it| it.strip_suffix(close)) {
            tex = inner.trim();
            break;
        }
    }
    (!tex.is_empty()).then(|| tex.to_owned())
}

/// The formula and pieces that an element is converted from.
struct FormulaAndPieces<'a> {
    formula: &'a FlatMathmlTree,
    children: &'a [Vec<usize>],
    pieces: &'a mut [Option<TexPiece>],
}

impl FormulaAndPieces<'_> {
    fn piece(
        mut self,
        index: usize,
        variant: Option<token_elements::MathVariant>,
    ) -> Option<TexPiece> {
        let element = &self.formula.elements[index];
        match &*element.name {
            TEXT => Some(token_elements::stray(&element.text)),
            "mi" => token_elements::identifier(&self.own_text(index)?, variant),
            "mn" => token_elements::number(&self.own_text(index)?, variant),
            "mo" => token_elements::operator(&self.own_text(index)?, variant),
            "mtext" => token_elements::text(&self.own_text(index)?, variant),
            "ms" => {
                let quote = |side| element.attribute(side).unwrap_or("\"").to_owned();
                let text = quote("lquote") + self.own_text(index)?.trim() + &quote("rquote");
                token_elements::text(&text, variant)
            }
            "mspace" => Some(token_elements::space(element.attribute("width"))),
            "math" | "mrow" | "mpadded" | "mstyle" | "mtd" => self.row(index).map(PieceRow::join),
            "msqrt" => Some(TexPiece::group(format!("\\sqrt{{{}}}", self.inside(index)?))),
            "mphantom" => Some(TexPiece::group(format!("\\phantom{{{}}}", self.inside(index)?))),
            "menclose" => {
                let notation = element.attribute("notation").unwrap_or("longdiv");
                rows_and_fences::enclosed(notation, &self.inside(index)?)
            }
            "mfenced" => {
                let items = self.shown(index)?;
                rows_and_fences::fenced(
                    element.attribute("open").unwrap_or("("),
                    element.attribute("close").unwrap_or(")"),
                    element.attribute("separators").unwrap_or(","),
                    &items,
                )
            }
            "mfrac" => self.fraction(index),
            "mroot" => {
                let [radicand, index] = self.exactly::<2>(index)?;
                Some(TexPiece::group(format!(
                    "\\sqrt[{{{}}}]{{{}}}",
                    finished(index),
                    finished(radicand)
                )))
            }
            "msub" | "msup" | "msubsup" | "munder" | "mover" | "munderover" | "mmultiscripts" => {
                self.scripts(index)
            }
            "none" | "maligngroup" | "malignmark" => Some(TexPiece::empty()),
            "mprescripts" => Some(TexPiece::new(TexPieceKind::Prescripts, "")),
            "annotation" | "annotation-xml" => Some(TexPiece::new(TexPieceKind::Annotation, "")),
            "maction" => self.action(index),
            "semantics" => self.semantics(index),
            "mtr" => self.cells(index),
            "mtable" => self.table(index),
            _ => None,
        }
    }

    /// Returns a base with its scripts beside, below and above.
    fn scripts(&mut self, index: usize) -> Option<TexPiece> {
        match &*self.formula.elements[index].name {
            "msub" => {
                let [base, sub] = self.exactly::<2>(index)?;
                Some(script::scripted(&base, Some(&sub), None))
            }
            "msup" => {
                let [base, sup] = self.exactly::<2>(index)?;
                Some(script::scripted(&base, None, Some(&sup)))
            }
            "msubsup" => {
                let [base, sub, sup] = self.exactly::<3>(index)?;
                Some(script::scripted(&base, Some(&sub), Some(&sup)))
            }
            "munder" => {
                let [base, under] = self.exactly::<2>(index)?;
                Some(script::under(&base, &under))
            }
            "mover" => {
                let [base, over] = self.exactly::<2>(index)?;
                Some(script::over(&base, &over))
            }
            "munderover" => {
                let [base, under, over] = self.exactly::<3>(index)?;
                Some(script::under_over(&base, &under, &over))
            }
            _ => script::multi(&self.shown(index)?),
        }
    }

    /// Returns the text of an element that holds nothing but text.
    fn own_text(&self, index: usize) -> Option<String> {
        let mut out = String::new();
        for &child in &self.children[index] {
            match &*self.formula.elements[child].name {
                TEXT => out.push_str(&self.formula.elements[child].text),
                "malignmark" => (),
                _ => return None,
            }
        }
        Some(out)
    }

    /// Returns the children, without the white space between them.
    fn shown(&mut self, index: usize) -> Option<Vec<TexPiece>> {
        let mut out = Vec::new();
        for &child in &self.children[index] {
            let element = &self.formula.elements[child];
            if element.name != TEXT || !element.text.trim().is_empty() {
                out.push(self.pieces[child].take()?);
            }
        }
        Some(out)
    }

    fn row(&mut self, index: usize) -> Option<PieceRow> {
        Some(row(self.shown(index)?))
    }

    /// Returns the inside of an element as one row.
    fn inside(&mut self, index: usize) -> Option<String> {
        Some(finished(self.row(index)?.join()))
    }

    fn exactly<const N: usize>(&mut self, index: usize) -> Option<[TexPiece; N]> {
        self.shown(index)?.try_into().ok()
    }

    fn fraction(&mut self, index: usize) -> Option<TexPiece> {
        let [above, below] = self.exactly::<2>(index)?;
        let element = &self.formula.elements[index];
        let (above, below) = (finished(above), finished(below));
        let is_lineless = element.attribute("linethickness").is_some_and(|it| {
            let number = it.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == '%');
            number.parse::<f64>() == Ok(0.0)
        });
        if is_lineless {
            return Some(TexPiece::new(TexPieceKind::Stack, format!("{{{above}}}{{{below}}}")));
        }
        if element.attribute("bevelled") == Some("true") {
            return Some(TexPiece::group(format!("{{{above}}} / {{{below}}}")));
        }
        Some(TexPiece::group(format!("\\frac{{{above}}}{{{below}}}")))
    }

    /// Returns the selected one of several alternatives.
    fn action(&mut self, index: usize) -> Option<TexPiece> {
        let selection = self.formula.elements[index].attribute("selection").unwrap_or("1");
        let selected = selection.parse::<usize>().ok()?.checked_sub(1)?;
        let elements = &self.formula.elements;
        let mut shown = self.children[index].iter().filter(|&&it| elements[it].name != TEXT);
        let child = *shown.nth(selected)?;
        self.pieces[child].take()
    }

    fn semantics(&mut self, index: usize) -> Option<TexPiece> {
        if let Some(tex) = annotation(self.formula, index) {
            return Some(TexPiece::group(tex));
        }
        let elements = &self.formula.elements;
        let child = *self.children[index]
            .iter()
            .find(|&&it| !matches!(&*elements[it].name, TEXT | "annotation" | "annotation-xml"))?;
        self.pieces[child].take()
    }

    fn cells(&mut self, index: usize) -> Option<TexPiece> {
        let elements = &self.formula.elements;
        let is_cell = |&it: &usize| matches!(&*elements[it].name, "mtd" | TEXT);
        if !self.children[index].iter().all(is_cell) {
            return None;
        }
        let cells: Vec<String> = self.shown(index)?.into_iter().map(finished).collect();
        Some(TexPiece::group(cells.join(" & ")))
    }

    fn table(&mut self, index: usize) -> Option<TexPiece> {
        let elements = &self.formula.elements;
        let is_row = |&it: &usize| matches!(&*elements[it].name, "mtr" | TEXT);
        if !self.children[index].iter().all(is_row) {
            return None;
        }
        let rows: Vec<String> = self.shown(index)?.into_iter().map(|it| it.tex).collect();
        let align = elements[index].attribute("columnalign").unwrap_or("");
        let body = rows.join(" \\\\ ");
        match align.starts_with("right left") {
            true => Some(TexPiece::group(format!("\\begin{{aligned}} {body} \\end{{aligned}}"))),
            false => Some(TexPiece::new(TexPieceKind::Table, body)),
        }
    }
}

#[cfg(test)]
mod tests;
