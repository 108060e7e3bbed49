//! MathML to LaTeX: balanced braces, every `\left` with its `\right`, no control characters.

use crate::ingest::parse::{Syntax, decode, parse};
use crate::model::tree::ContentFormat;

/// Panics when a formula made of `data` violates an invariant.
pub fn mathml(data: &[u8]) {
    let (text, _) = decode(data);
    let is_authors = text.to_ascii_lowercase().contains("annotation");
    let parsed = parse(Syntax::Html, &format!("<math display=block>{text}</math>"));
    for node in &parsed.tree.nodes {
        if node.format == ContentFormat::Latex && !is_authors {
            check(&node.content);
        }
    }
}

fn check(tex: &str) {
    let mut depth = 0i64;
    let mut environments: Vec<&str> = Vec::new();
    let (mut n_left, mut n_right) = (0, 0);
    let mut chars = tex.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            '\\' => {
                let rest = &tex[at + 1..];
                let name = rest.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or("");
                let argument = || rest.split(['{', '}']).nth(1).unwrap_or("");
                match name {
                    "begin" => environments.push(argument()),
                    "end" => assert_eq!(environments.pop(), Some(argument()), "{tex}"),
                    "left" => n_left += 1,
                    "right" => n_right += 1,
                    _ => (),
                }
                // The character behind a backslash is no brace.
                if name.is_empty() {
                    chars.next();
                }
            }
            c => assert!(!c.is_control() || c == '\n', "control character in {tex:?}"),
        }
        assert!(0 <= depth, "a brace too many in {tex}");
    }
    assert_eq!(depth, 0, "braces out of balance in {tex}");
    assert_eq!(n_left, n_right, "fences out of balance in {tex}");
    assert!(environments.is_empty(), "an environment is open in {tex}");
}
