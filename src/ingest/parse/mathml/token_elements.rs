//! The leaves of formulas: identifiers, numbers, operators, text and space.

use super::{MathmlElement, TexPiece, TexPieceKind, symbol};

/// The style of a token's letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MathVariant {
    Normal,
    Italic,
    Command(&'static str),
    /// A style without a LaTeX counterpart.
    Unknown,
}

/// Returns the variant of each element, which an `mstyle` or `math` around it may have set.
pub(super) fn variants(elements: &[MathmlElement]) -> Vec<Option<MathVariant>> {
    let mut out: Vec<Option<MathVariant>> = Vec::with_capacity(elements.len());
    for (index, element) in elements.iter().enumerate() {
        let own = element.attribute("mathvariant").map(|name| match name {
            "normal" => MathVariant::Normal,
            "italic" => MathVariant::Italic,
            "bold" => MathVariant::Command("\\mathbf"),
            "bold-italic" => MathVariant::Command("\\boldsymbol"),
            "double-struck" => MathVariant::Command("\\mathbb"),
            "script" => MathVariant::Command("\\mathcal"),
            "fraktur" => MathVariant::Command("\\mathfrak"),
            "sans-serif" => MathVariant::Command("\\mathsf"),
            "monospace" => MathVariant::Command("\\mathtt"),
            _ => MathVariant::Unknown,
        });
        let inherited = match index {
            0 => None,
            _ => out.get(element.parent).copied().flatten(),
        };
        out.push(own.or(inherited));
    }
    out
}

/// Converts text between elements, where no text belongs.
pub(super) fn stray(text: &str) -> TexPiece {
    let text = text.trim();
    match text.is_empty() {
        true => TexPiece::empty(),
        false => TexPiece::group(format!("\\text{{{}}}", symbol::in_text(text))),
    }
}

/// Converts a variable or a function's name.
pub(super) fn identifier(text: &str, variant: Option<MathVariant>) -> Option<TexPiece> {
    let text = text.trim_matches(is_blank);
    let mut chars = text.chars();
    let (Some(first), None) = (chars.next(), chars.next()) else {
        return name(text, variant);
    };
    let tex = symbol::identifier(first)?;
    let is_plain = tex.chars().count() == 1;
    match variant {
        None | Some(MathVariant::Italic) => Some(TexPiece::new(atom_or_operator(first, &tex), tex)),
        Some(MathVariant::Normal) if is_plain && first.is_alphabetic() => {
            Some(TexPiece::group(format!("\\mathrm{{{tex}}}")))
        }
        Some(MathVariant::Normal) => Some(TexPiece::new(atom_or_operator(first, &tex), tex)),
        Some(MathVariant::Command(command)) => Some(TexPiece::group(styled(command, &tex))),
        Some(MathVariant::Unknown) => None,
    }
}

/// Applies a style; bold Greek and symbols need another command than bold letters.
fn styled(command: &str, tex: &str) -> String {
    match command == "\\mathbf" && tex.starts_with('\\') {
        true => format!("\\boldsymbol{{{tex}}}"),
        false => format!("{command}{{{tex}}}"),
    }
}

fn atom_or_operator(c: char, tex: &str) -> TexPieceKind {
    if symbol::has_limits(tex) {
        TexPieceKind::Limits
    } else if c.is_alphanumeric() || tex.len() == 1 || is_command(tex) {
        TexPieceKind::Atom
    } else {
        TexPieceKind::Group
    }
}

fn is_command(tex: &str) -> bool {
    let name = tex.strip_prefix('\\').unwrap_or("");
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphabetic())
}

/// Converts a name of several letters.
fn name(text: &str, variant: Option<MathVariant>) -> Option<TexPiece> {
    if text.is_empty() {
        return Some(TexPiece::empty());
    }
    let words = crate::text::fold_whitespace(text);
    if matches!(variant, None | Some(MathVariant::Normal)) {
        if let Some(command) = symbol::function(&words) {
            let kind =
                if symbol::has_limits(command) { TexPieceKind::Limits } else { TexPieceKind::Atom };
            return Some(TexPiece::new(kind, command));
        }
        let mapped: Option<String> = match words.is_ascii() {
            true => None,
            false => letters(&words),
        };
        return Some(match mapped {
            Some(tex) => TexPiece::group(tex),
            None => TexPiece::group(format!("\\mathrm{{{}}}", symbol::in_text(&words))),
        });
    }
    let inside = letters(&words)?;
    match variant {
        Some(MathVariant::Italic) => Some(TexPiece::group(format!("\\mathit{{{inside}}}"))),
        Some(MathVariant::Command(command)) => Some(TexPiece::group(styled(command, &inside))),
        _ => None,
    }
}

fn letters(text: &str) -> Option<String> {
    let mut out = String::new();
    for c in text.chars() {
        let tex = if c == ' ' { "\\ ".to_owned() } else { symbol::identifier(c)? };
        push(&mut out, &tex);
    }
    Some(out)
}

/// Appends LaTeX so that a command and a letter after it stay apart.
fn push(out: &mut String, tex: &str) {
    let ends_in_letter = out.ends_with(|c: char| c.is_ascii_alphabetic());
    let is_after_command = ends_in_letter
        && out
            .rfind('\\')
            .is_some_and(|at| out[at + 1..].bytes().all(|byte| byte.is_ascii_alphabetic()));
    if is_after_command && tex.starts_with(|c: char| c.is_ascii_alphabetic()) {
        out.push(' ');
    }
    out.push_str(tex);
}

/// Converts a number.
pub(super) fn number(text: &str, variant: Option<MathVariant>) -> Option<TexPiece> {
    let text = crate::text::fold_whitespace(text);
    if text.is_empty() {
        return Some(TexPiece::empty());
    }
    let mut tex = String::new();
    for c in text.chars() {
        let piece = match c {
            ' ' => "\\ ".to_owned(),
            '−' => "-".to_owned(),
            c => symbol::identifier(c)?,
        };
        push(&mut tex, &piece);
    }
    let kind = if text.chars().count() == 1 { TexPieceKind::Atom } else { TexPieceKind::Group };
    match variant {
        None | Some(MathVariant::Normal) => Some(TexPiece::new(kind, tex)),
        Some(MathVariant::Italic) => Some(TexPiece::group(format!("\\mathit{{{tex}}}"))),
        Some(MathVariant::Command(command)) => Some(TexPiece::group(styled(command, &tex))),
        Some(MathVariant::Unknown) => None,
    }
}

/// Converts an operator, a fence or a separator.
pub(super) fn operator(text: &str, variant: Option<MathVariant>) -> Option<TexPiece> {
    let text = crate::text::fold_whitespace(text);
    let is_word = text.chars().all(char::is_alphabetic) && text.chars().nth(1).is_some();
    if is_word && text.is_ascii() {
        return Some(match symbol::function(&text) {
            Some(command) if symbol::has_limits(command) => {
                TexPiece::new(TexPieceKind::Limits, command)
            }
            Some(command) => TexPiece::new(TexPieceKind::Atom, command),
            None => TexPiece::group(format!("\\operatorname{{{text}}}")),
        });
    }
    let mut tex = String::new();
    for c in text.chars().filter(|&c| c != ' ') {
        push(&mut tex, &symbol::operator(c)?);
    }
    let mut chars = text.chars();
    let kind = match (chars.next(), chars.next()) {
        _ if tex.is_empty() => TexPieceKind::Empty,
        (Some(_), None) if symbol::has_limits(&tex) => TexPieceKind::Limits,
        (Some(c), None) => TexPieceKind::Operator(c),
        _ => TexPieceKind::Group,
    };
    match variant {
        Some(MathVariant::Command("\\mathbf" | "\\boldsymbol")) if kind != TexPieceKind::Empty => {
            Some(TexPiece::group(format!("\\boldsymbol{{{tex}}}")))
        }
        _ => Some(TexPiece::new(kind, tex)),
    }
}

/// Converts words.
pub(super) fn text(text: &str, variant: Option<MathVariant>) -> Option<TexPiece> {
    if text.is_empty() {
        return Some(TexPiece::empty());
    }
    let words = crate::text::fold_whitespace(text);
    if words.is_empty() {
        return Some(TexPiece::group("\\:"));
    }
    if words.chars().any(char::is_control) {
        return None;
    }
    let lead = if text.starts_with(char::is_whitespace) { " " } else { "" };
    let trail = if text.ends_with(char::is_whitespace) { " " } else { "" };
    let inside = format!("{lead}{}{trail}", symbol::in_text(&words));
    let command = match variant {
        None | Some(MathVariant::Normal) => "\\text",
        Some(MathVariant::Italic) => "\\textit",
        Some(MathVariant::Command("\\mathbf")) => "\\textbf",
        Some(MathVariant::Command("\\mathsf")) => "\\textsf",
        Some(MathVariant::Command("\\mathtt")) => "\\texttt",
        Some(_) => return None,
    };
    Some(TexPiece::group(format!("{command}{{{inside}}}")))
}

/// Converts space of a width.
pub(super) fn space(width: Option<&str>) -> TexPiece {
    let Some(width) = width else { return TexPiece::group("\\,") };
    let named = match width {
        "veryverythinmathspace" | "verythinmathspace" | "thinmathspace" => Some("\\,"),
        "mediummathspace" => Some("\\:"),
        "thickmathspace" | "verythickmathspace" | "veryverythickmathspace" => Some("\\;"),
        _ => None,
    };
    if let Some(tex) = named {
        return TexPiece::group(tex);
    }
    let digits = width.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == '%');
    let unit = &width[digits.len()..];
    let Ok(number) = digits.parse::<f64>() else { return TexPiece::group("\\,") };
    let em = match unit {
        "ex" => number / 2.0,
        "px" => number / 16.0,
        "pt" => number / 12.0,
        _ => number,
    };
    match em {
        em if em < 0.0 => TexPiece::group("\\!"),
        em if em < 0.01 => TexPiece::empty(),
        em if em < 0.2 => TexPiece::group("\\,"),
        em if em < 0.25 => TexPiece::group("\\:"),
        em if em < 0.75 => TexPiece::group("\\;"),
        em if em < 1.5 => TexPiece::group("\\quad"),
        _ => TexPiece::group("\\qquad"),
    }
}

fn is_blank(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{2061}'..='\u{2064}' | '\u{200B}')
}
