//! The elements of HTML by the treatment of their tags in the filter.

/// Elements that are reopened in every block until they are closed, beside links and code.
#[rustfmt::skip]
pub(super) const FORMATTING: [&str; 12] = [
    "b", "big", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u",
];

/// Elements without an end.
#[rustfmt::skip]
pub(super) const VOID: [&str; 19] = [
    "area", "base", "basefont", "bgsound", "br", "col", "embed", "frame", "hr", "image", "img",
    "input", "keygen", "link", "meta", "param", "source", "track", "wbr",
];

pub(super) fn is_block(name: &str) -> bool {
    matches!(name, "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "p" | "pre")
}

/// Elements that hold text without tags. They must be known, or scripts would be read as text.
#[rustfmt::skip]
pub(super) const RAW_TEXT: [&str; 9] = [
    "iframe", "noembed", "noframes", "plaintext", "script", "style", "textarea", "title", "xmp",
];

/// Elements that do not end a word, beside links, code and formatting.
#[rustfmt::skip]
const INLINE: [&str; 23] = [
    "abbr", "acronym", "bdi", "bdo", "cite", "data", "del", "dfn", "ins", "kbd", "label", "mark",
    "q", "rb", "rp", "rt", "ruby", "samp", "span", "sub", "sup", "time", "var",
];

/// Returns whether an element does not end a word.
pub(super) fn is_inline(name: &str) -> bool {
    let is_renamed = name.bytes().all(|it| it.is_ascii_uppercase());
    is_renamed || INLINE.contains(&name) || name.contains('-')
}
