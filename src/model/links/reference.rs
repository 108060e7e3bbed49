//! References as authored: label, file, id, heading, alias, weight and form.

/// Weight of a reference without one.
pub(crate) const WEIGHT_DEFAULT: f64 = 1.0;

/// The largest weight.
pub(crate) const WEIGHT_MAX: f64 = 1000.0;

/// The syntax of a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReferenceSyntax {
    /// `[[…]]`.
    Wiki,
    /// `![[…]]`.
    Embed,
    /// `<knowledge>…</knowledge>`.
    Knowledge,
    /// `[text](path)`.
    Markdown,
    /// Made by hand.
    Manual,
}

/// A reference as written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Reference {
    /// Name of the target: of a heading, another node, or a file. Plain, on one line, never empty.
    pub(crate) label: String,
    /// File of the target.
    pub(crate) source: Option<String>,
    /// Id of the target, if such a node exists; a label of 11 characters may be one.
    pub(crate) id_hint: Option<String>,
    /// Heading within the file that the label or the source names.
    pub(crate) heading: Option<String>,
    /// Text shown instead of the label.
    pub(crate) alias: Option<String>,
    /// Strength, finite and within [0, 1000].
    pub(crate) weight: f64,
    /// Its syntax.
    pub(crate) form: ReferenceSyntax,
}

impl Reference {
    /// Returns all its texts.
    pub(crate) fn words(&self) -> impl Iterator<Item = &str> {
        let Reference { label, source, id_hint, heading, alias, .. } = self;
        let others = [source, id_hint, heading, alias].into_iter().flatten();
        others.map(String::as_str).chain([label.as_str()])
    }
}
