//! Colour output: the only place that knows escape sequences.

/// The output with colours, or without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PlainOrAnsi {
    Plain,
    Ansi,
}

/// The role of a piece of text, which decides its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextRole {
    Header,
    Good,
    Odd,
    Bad,
    Dim,
    Type,
    /// A word that was searched for.
    Match,
}

impl PlainOrAnsi {
    /// Returns the sequences before and after a text of that role; `None` without colours.
    pub(super) fn codes(self, role: TextRole) -> Option<(&'static str, &'static str)> {
        let code = match role {
            TextRole::Header => "\x1b[1;36m",
            TextRole::Good => "\x1b[32m",
            TextRole::Odd | TextRole::Type => "\x1b[33m",
            TextRole::Bad => "\x1b[31m",
            TextRole::Dim => "\x1b[2m",
            TextRole::Match => "\x1b[1;31m",
        };
        (self == PlainOrAnsi::Ansi).then_some((code, "\x1b[0m"))
    }
}

/// A text in pieces, some of which have a role. Sequences are no part of it, so that those in a
/// note stay apart from those of its colours.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PaintedText(Vec<(Option<TextRole>, String)>);

impl PaintedText {
    /// Appends text without a role.
    pub(super) fn push(&mut self, text: &str) {
        self.0.push((None, text.to_owned()));
    }

    /// Appends text of a role.
    pub(super) fn paint(&mut self, role: TextRole, text: &str) {
        self.0.push((Some(role), text.to_owned()));
    }

    pub(super) fn append(&mut self, other: PaintedText) {
        self.0.extend(other.0);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.pieces().all(|(_, text)| text.is_empty())
    }

    pub(super) fn pieces(&self) -> impl Iterator<Item = (Option<TextRole>, &str)> {
        self.0.iter().map(|(role, text)| (*role, text.as_str()))
    }

    /// Returns the text alone.
    #[cfg_attr(not(feature = "desktop"), allow(dead_code, reason = "only reports of setup ask it"))]
    pub(super) fn plain(&self) -> String {
        self.pieces().map(|(_, text)| text).collect()
    }
}
