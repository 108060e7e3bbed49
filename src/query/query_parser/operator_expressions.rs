//! Expressions: queries with operators between all operands, rebuilt with quoted operands.

use super::{EXPRESSION_TOKENS_MAX, QueryToken, all_of, head, quoted};
use crate::text::spaceless_script_bigrams;

/// Rebuilds the query as an expression, if it looks like one.
pub(super) fn expression(tokens: &[QueryToken<'_>]) -> Option<String> {
    if EXPRESSION_TOKENS_MAX < tokens.len() {
        return None;
    }
    let mut out = String::new();
    let mut has_operator = false;
    // Whether an operand, or a group of them, has just ended.
    let mut is_after_operand = false;
    let mut rest = tokens;
    while let [token, after @ ..] = rest {
        rest = after;
        match token {
            QueryToken::Word { text: text @ ("AND" | "OR" | "NOT"), is_prefix: false } => {
                if !is_after_operand || after.first().is_none_or(is_in_capitals) {
                    return None;
                }
                has_operator = true;
                is_after_operand = false;
                out.push_str(&format!(" {text} "));
                continue;
            }
            QueryToken::Close => {
                out.push(')');
                is_after_operand = true;
                continue;
            }
            _ if is_after_operand => return None,
            QueryToken::Open => out.push('('),
            QueryToken::Columns { sign, names } => {
                has_operator = true;
                out.push_str(&format!("{sign}{{{names}}} : "));
            }
            QueryToken::Near => {
                let (near, after) = near(after)?;
                out.push_str(&near);
                rest = after;
                has_operator = true;
                is_after_operand = true;
            }
            QueryToken::Phrase(text) => {
                out.push_str(&all_of(text, false)?);
                is_after_operand = true;
            }
            QueryToken::Word { text, is_prefix } => {
                out.push_str(&all_of(text, *is_prefix)?);
                is_after_operand = true;
            }
        }
    }
    (has_operator && is_after_operand).then_some(out)
}

/// Returns whether a token is a bare word in capitals, the sign of an operator in prose.
fn is_in_capitals(token: &QueryToken<'_>) -> bool {
    match token {
        QueryToken::Word { text, .. } => {
            text.chars().any(char::is_alphabetic)
                && !text.chars().any(char::is_lowercase)
                && text.chars().any(char::is_uppercase)
        }
        QueryToken::Close => true,
        QueryToken::Open
        | QueryToken::Near
        | QueryToken::Columns { .. }
        | QueryToken::Phrase(_) => false,
    }
}

/// Parses the inside of `NEAR(`: words, phrases and a distance.
fn near<'t, 'q>(tokens: &'t [QueryToken<'q>]) -> Option<(String, &'t [QueryToken<'q>])> {
    let close = tokens.iter().position(|it| matches!(it, QueryToken::Close))?;
    let mut out = String::from("NEAR(");
    let mut distance: Option<u16> = None;
    let mut is_next_distance = false;
    for token in &tokens[..close] {
        let (text, is_prefix) = match token {
            QueryToken::Word { text, is_prefix } => (*text, *is_prefix),
            QueryToken::Phrase(text) => (*text, false),
            _ => return None,
        };
        if is_next_distance {
            distance = Some(text.trim().parse().ok()?);
            continue;
        }
        let (text, comma) = match text.split_once(',') {
            Some((text, after)) => (text, Some(after)),
            None => (text, None),
        };
        let words: Vec<&str> =
            spaceless_script_bigrams::segments(text).map(|it| head(it.text)).collect();
        if !words.is_empty() {
            out.push_str(&quoted(&words.join(" "), is_prefix));
            out.push(' ');
        }
        match comma {
            Some("") => is_next_distance = true,
            Some(after) => distance = Some(after.trim().parse().ok()?),
            None => (),
        }
    }
    if let Some(distance) = distance {
        out.push_str(&format!(", {distance}"));
    }
    out.push(')');
    Some((out, &tokens[close + 1..]))
}
