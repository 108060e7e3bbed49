//! Labels: one line of plain text, at most 80 characters, that tells what a node holds.

use pulldown_cmark::{Event, Options, Parser};

use crate::text::{LABEL_CHARS_MAX, fold_whitespace, truncate_chars};

/// Bytes of a text that a label is looked for in; a label never needs more.
const LOOK_BYTES_MAX: usize = 4096;

/// The first line of code, after its language: `Code (sh): make`.
pub(crate) fn code(info: &str, code: &str) -> String {
    let line = first_line(code);
    let info = fold_whitespace(head(info, LOOK_BYTES_MAX));
    titled(&if info.is_empty() { "Code".to_owned() } else { format!("Code ({info})") }, &line)
}

/// `title: line`, or the title alone where there is no line.
pub(crate) fn titled(title: &str, line: &str) -> String {
    match line.is_empty() {
        true => truncate_chars(title, LABEL_CHARS_MAX),
        false => {
            truncate_chars(&format!("{title}: {}", head(line, LOOK_BYTES_MAX)), LABEL_CHARS_MAX)
        }
    }
}

/// The columns and the size of a table: `Table: a, b (2 rows)`; the size is never cut away.
pub(crate) fn table(columns: &[String], n_rows: usize) -> String {
    let size = format!(" ({n_rows} {})", if n_rows == 1 { "row" } else { "rows" });
    let mut names = String::new();
    for column in columns.iter().filter(|column| !column.is_empty()) {
        names.push_str(if names.is_empty() { ": " } else { ", " });
        names.push_str(column);
        if LOOK_BYTES_MAX < names.len() {
            break;
        }
    }
    truncate_chars(&format!("Table{names}"), LABEL_CHARS_MAX - size.chars().count()) + &size
}

/// The label of rendered Markdown; `plain` is its first line without marks, where that is known.
pub(crate) fn shown(plain: &str, markdown: &str) -> String {
    match plain.is_empty() {
        true => visible(markdown),
        false => truncate_chars(plain, LABEL_CHARS_MAX),
    }
}

/// The first line of rendered Markdown, without its marks.
pub(crate) fn visible(markdown: &str) -> String {
    let look = head(markdown, LOOK_BYTES_MAX);
    for line in look.lines() {
        let mut words = String::new();
        for event in Parser::new_ext(line.trim(), Options::ENABLE_STRIKETHROUGH) {
            match event {
                Event::Text(text) | Event::Code(text) => words.push_str(&text),
                Event::SoftBreak | Event::HardBreak | Event::End(_) => words.push(' '),
                _ => (),
            }
            if LABEL_CHARS_MAX * 4 < words.len() {
                break;
            }
        }
        if !words.trim().is_empty() {
            return truncate_chars(&fold_whitespace(&words), LABEL_CHARS_MAX);
        }
    }
    truncate_chars(&first_line(look), LABEL_CHARS_MAX)
}

/// The first line of markup that has something outside of the tags, else its first line.
pub(crate) fn markup(html: &str) -> String {
    let look = head(html, LOOK_BYTES_MAX);
    let mut words = String::new();
    let mut rest = look;
    while let Some(open) = rest.find('<') {
        words.push_str(&rest[..open]);
        let tag = &rest[open..];
        let end = if tag.starts_with("<!--") { "-->" } else { ">" };
        rest = tag.find(end).map_or("", |at| &tag[at + end.len()..]);
    }
    words.push_str(rest);
    let line = first_line(&words);
    truncate_chars(&if line.is_empty() { first_line(look) } else { line }, LABEL_CHARS_MAX)
}

/// The first line that has something on it, white space folded, however long.
pub(crate) fn first_line(text: &str) -> String {
    let line = text.split(['\n', '\r']).find(|line| !line.trim().is_empty()).unwrap_or("");
    fold_whitespace(head(line.trim_start(), LOOK_BYTES_MAX))
}

/// At most `max` bytes of `text`, whole characters.
fn head(text: &str, max: usize) -> &str {
    &text[..text.floor_char_boundary(max)]
}
