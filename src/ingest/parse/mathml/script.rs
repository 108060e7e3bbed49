//! Scripts, limits and accents: pieces below, above and beside a base.

use super::rows_and_fences::finished;
use super::{TexPiece, TexPieceKind};

/// Returns a base with a subscript and a superscript.
pub(super) fn scripted(
    base: &TexPiece,
    sub: Option<&TexPiece>,
    sup: Option<&TexPiece>,
) -> TexPiece {
    let mut tex = base_of(base);
    for (mark, script) in [('_', sub), ('^', sup)] {
        if let Some(script) = script.filter(|it| it.kind != TexPieceKind::Empty) {
            tex.push(mark);
            tex.push_str(&braced(script));
        }
    }
    TexPiece::group(tex)
}

fn base_of(base: &TexPiece) -> String {
    match base.kind {
        TexPieceKind::Stack | TexPieceKind::Table => format!("{{{}}}", finished(base.clone())),
        _ => base.base(),
    }
}

fn braced(piece: &TexPiece) -> String {
    format!("{{{}}}", finished(piece.clone()))
}

/// Returns a base with something below it.
pub(super) fn under(base: &TexPiece, under: &TexPiece) -> TexPiece {
    if let Some(command) = under_accent(under) {
        return accented(command, base);
    }
    match (base.kind, extensible(base)) {
        (TexPieceKind::Limits, _) => scripted(base, Some(under), None),
        (_, Some(arrow)) => TexPiece::group(format!("{arrow}[{}]{{}}", braced(under))),
        _ => TexPiece::group(format!("\\underset{}{}", braced(under), braced(base))),
    }
}

/// Returns a base with something above it.
pub(super) fn over(base: &TexPiece, over: &TexPiece) -> TexPiece {
    if let Some(command) = over_accent(over, base) {
        return accented(command, base);
    }
    match (base.kind, extensible(base)) {
        (TexPieceKind::Limits, _) => scripted(base, None, Some(over)),
        (_, Some(arrow)) => TexPiece::group(format!("{arrow}{}", braced(over))),
        _ => TexPiece::group(format!("\\overset{}{}", braced(over), braced(base))),
    }
}

/// Returns a base with something below and above it.
pub(super) fn under_over(base: &TexPiece, below: &TexPiece, above: &TexPiece) -> TexPiece {
    match (base.kind, extensible(base)) {
        (TexPieceKind::Limits, _) => scripted(base, Some(below), Some(above)),
        (_, Some(arrow)) => TexPiece::group(format!("{arrow}[{}]{}", braced(below), braced(above))),
        _ => under(&over(base, above), below),
    }
}

/// Returns an accent over or under a base. A brace takes a further script as its label.
fn accented(command: &str, base: &TexPiece) -> TexPiece {
    let kind = if command.ends_with("brace") { TexPieceKind::Limits } else { TexPieceKind::Group };
    TexPiece::new(kind, format!("{command}{}", braced(base)))
}

fn over_accent(mark: &TexPiece, base: &TexPiece) -> Option<&'static str> {
    let TexPieceKind::Operator(mark) = mark.kind else { return None };
    // An arrow or a dot over an operator is a label, not an accent.
    if matches!(base.kind, TexPieceKind::Operator(_) | TexPieceKind::Limits) {
        return None;
    }
    let is_narrow = base.kind == TexPieceKind::Atom;
    let either = |narrow, wide| Some(if is_narrow { narrow } else { wide });
    match mark {
        '^' | 'ˆ' | '\u{302}' => either("\\hat", "\\widehat"),
        '¯' | '‾' | '\u{305}' | '\u{304}' | '―' | '─' | '_' | 'ˉ' => {
            either("\\bar", "\\overline")
        }
        '~' | '˜' | '∼' | '\u{303}' => either("\\tilde", "\\widetilde"),
        '→' | '⃗' => either("\\vec", "\\overrightarrow"),
        '←' | '⃖' => Some("\\overleftarrow"),
        '↔' => Some("\\overleftrightarrow"),
        '.' | '˙' | '\u{307}' => Some("\\dot"),
        '¨' | '\u{308}' => Some("\\ddot"),
        '\u{20DB}' => Some("\\dddot"),
        'ˇ' | '\u{30C}' => Some("\\check"),
        '˘' | '\u{306}' => Some("\\breve"),
        '´' | '\u{301}' => Some("\\acute"),
        '`' | '\u{300}' => Some("\\grave"),
        '˚' | '\u{30A}' => Some("\\mathring"),
        '⏞' | '︷' => Some("\\overbrace"),
        _ => None,
    }
}

fn under_accent(mark: &TexPiece) -> Option<&'static str> {
    let TexPieceKind::Operator(mark) = mark.kind else { return None };
    match mark {
        '_' | '¯' | '‾' | '\u{332}' | '―' | '─' => Some("\\underline"),
        '⏟' | '︸' => Some("\\underbrace"),
        '→' => Some("\\underrightarrow"),
        '←' => Some("\\underleftarrow"),
        _ => None,
    }
}

/// Returns the arrow that grows with its label.
fn extensible(base: &TexPiece) -> Option<&'static str> {
    match base.kind {
        TexPieceKind::Operator('→' | '⟶') => Some("\\xrightarrow"),
        TexPieceKind::Operator('←' | '⟵') => Some("\\xleftarrow"),
        _ => None,
    }
}

/// Returns a base with any number of scripts behind and before it.
pub(super) fn multi(pieces: &[TexPiece]) -> Option<TexPiece> {
    let (base, scripts) = pieces.split_first()?;
    let mut halves = scripts.split(|it| it.kind == TexPieceKind::Prescripts);
    let behind = halves.next().unwrap_or(&[]);
    let before = halves.next().unwrap_or(&[]);
    if halves.next().is_some() {
        return None;
    }
    let mut tex = String::new();
    for pair in before.chunks(2) {
        tex.push_str(&scripted(&TexPiece::empty(), pair.first(), pair.get(1)).tex);
        tex.push(' ');
    }
    for (index, pair) in behind.chunks(2).enumerate() {
        let empty = TexPiece::empty();
        let base = if index == 0 { base } else { &empty };
        tex.push_str(&scripted(base, pair.first(), pair.get(1)).tex);
    }
    if behind.is_empty() {
        tex.push_str(&base_of(base));
    }
    Some(TexPiece::group(tex))
}
