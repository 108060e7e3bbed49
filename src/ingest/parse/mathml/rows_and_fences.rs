//! Rows of pieces, and the fences that make binomials, matrices and cases of them.

use super::{TexPiece, TexPieceKind, symbol};

/// Pieces side by side.
#[derive(Debug)]
pub(super) struct PieceRow {
    pieces: Vec<TexPiece>,
}

/// Returns a row of pieces in which fences and their inside have become one piece.
pub(super) fn row(pieces: Vec<TexPiece>) -> PieceRow {
    let mut out: Vec<TexPiece> = Vec::with_capacity(pieces.len());
    let mut rest = pieces.into_iter().filter(|it| it.kind != TexPieceKind::Empty).peekable();
    while let Some(piece) = rest.next() {
        let open = match out.last() {
            Some(TexPiece { kind: TexPieceKind::Operator(open), .. }) => Some(*open),
            _ => None,
        };
        let close = match rest.peek() {
            Some(TexPiece { kind: TexPieceKind::Operator(close), .. }) => Some(*close),
            _ => None,
        };
        match (piece.kind, open, close) {
            (TexPieceKind::Stack, Some('('), Some(')')) => {
                out.pop();
                rest.next();
                out.push(TexPiece::group(format!("\\binom{}", piece.tex)));
            }
            (TexPieceKind::Table, Some(open), close) if environment(open, close).is_some() => {
                let name = environment(open, close).unwrap_or("matrix");
                out.pop();
                if name != "cases" {
                    rest.next();
                }
                out.push(TexPiece::group(in_environment(name, &piece.tex)));
            }
            _ => out.push(piece),
        }
    }
    PieceRow { pieces: out }
}

impl PieceRow {
    /// Joins the row into one piece, with a space between its parts.
    pub(super) fn join(self) -> TexPiece {
        let mut pieces = self.pieces;
        if pieces.len() == 1
            && let Some(only) = pieces.pop()
        {
            return only;
        }
        if pieces.is_empty() {
            return TexPiece::empty();
        }
        let parts: Vec<String> = pieces.into_iter().map(finished).collect();
        TexPiece::group(parts.join(" "))
    }
}

/// Returns the LaTeX of a piece that stays alone.
pub(super) fn finished(piece: TexPiece) -> String {
    match piece.kind {
        TexPieceKind::Stack => format!("\\genfrac{{}}{{}}{{0pt}}{{}}{}", piece.tex),
        TexPieceKind::Table => in_environment("matrix", &piece.tex),
        _ => piece.tex,
    }
}

fn in_environment(name: &str, body: &str) -> String {
    format!("\\begin{{{name}}} {body} \\end{{{name}}}")
}

/// Returns the environment that a table between these fences is.
fn environment(open: char, close: Option<char>) -> Option<&'static str> {
    match (open, close) {
        ('(', Some(')')) => Some("pmatrix"),
        ('[', Some(']')) => Some("bmatrix"),
        ('{', Some('}')) => Some("Bmatrix"),
        ('|', Some('|')) => Some("vmatrix"),
        ('‖', Some('‖')) => Some("Vmatrix"),
        ('{', None) => Some("cases"),
        _ => None,
    }
}

/// Returns items between fences that grow with them.
pub(super) fn fenced(
    open: &str,
    close: &str,
    separators: &str,
    items: &[TexPiece],
) -> Option<TexPiece> {
    let (open_char, close_char) = (one_char(open)?, one_char(close)?);
    if let [item] = items {
        let name = environment(open_char.unwrap_or('.'), close_char);
        match (item.kind, name) {
            (TexPieceKind::Stack, _) if (open, close) == ("(", ")") => {
                return Some(TexPiece::group(format!("\\binom{}", item.tex)));
            }
            (TexPieceKind::Table, Some(name)) => {
                return Some(TexPiece::group(in_environment(name, &item.tex)));
            }
            _ => (),
        }
    }
    let separators: Vec<char> = separators.chars().filter(|c| !c.is_whitespace()).collect();
    let mut inside = String::new();
    for (index, item) in items.iter().enumerate() {
        if 0 < index {
            if let Some(&separator) = separators.get(index - 1).or(separators.last()) {
                inside.push_str(&symbol::operator(separator)?);
            }
            inside.push(' ');
        }
        inside.push_str(&finished(item.clone()));
    }
    let (open, close) = (delimiter(open_char)?, delimiter(close_char)?);
    let space = if inside.is_empty() { "" } else { " " };
    Some(TexPiece::group(format!("\\left{open} {inside}{space}\\right{close}")))
}

fn one_char(text: &str) -> Option<Option<char>> {
    let mut chars = text.chars();
    let first = chars.next();
    chars.next().is_none().then_some(first)
}

fn delimiter(c: Option<char>) -> Option<&'static str> {
    match c {
        None => Some("."),
        Some('<') => Some("\\langle"),
        Some('>') => Some("\\rangle"),
        Some('(') => Some("("),
        Some(')') => Some(")"),
        Some('[') => Some("["),
        Some(']') => Some("]"),
        Some('/') => Some("/"),
        Some('|' | '∣') => Some("|"),
        Some('‖' | '∥') => Some("\\|"),
        Some('{') => Some("\\{"),
        Some('}') => Some("\\}"),
        Some(c @ ('⟨' | '⟩' | '〈' | '〉' | '⌈' | '⌉' | '⌊' | '⌋' | '↑' | '↓' | '\\')) => {
            symbol::command(c)
        }
        Some(_) => None,
    }
}

/// Returns the inside in a box, under a line, or crossed out.
pub(super) fn enclosed(notation: &str, inside: &str) -> Option<TexPiece> {
    let mut marks: Vec<&str> = notation.split_whitespace().collect();
    marks.sort_unstable();
    marks.dedup();
    let tex = match &marks[..] {
        ["box"] | ["bottom", "left", "right", "top"] => format!("\\boxed{{{inside}}}"),
        ["top"] => format!("\\overline{{{inside}}}"),
        ["bottom"] => format!("\\underline{{{inside}}}"),
        ["radical"] => format!("\\sqrt{{{inside}}}"),
        ["updiagonalstrike"] => format!("\\cancel{{{inside}}}"),
        ["downdiagonalstrike"] => format!("\\bcancel{{{inside}}}"),
        ["downdiagonalstrike", "updiagonalstrike"] => format!("\\xcancel{{{inside}}}"),
        ["left", "right"] => format!("\\left| {inside} \\right|"),
        ["phasorangle"] => format!("\\angle \\underline{{{inside}}}"),
        _ => return None,
    };
    Some(TexPiece::group(tex))
}
