//! Colour output: the only place that knows escape sequences.

/// Whether to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ColorSupport {
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

impl ColorSupport {
    /// Returns `text` in the colour of its role.
    pub(super) fn paint(self, role: TextRole, text: &str) -> String {
        let code = match role {
            TextRole::Header => "1;36",
            TextRole::Good => "32",
            TextRole::Odd | TextRole::Type => "33",
            TextRole::Bad => "31",
            TextRole::Dim => "2",
            TextRole::Match => "1;31",
        };
        match self {
            ColorSupport::Plain => text.to_owned(),
            ColorSupport::Ansi => format!("\x1b[{code}m{text}\x1b[0m"),
        }
    }
}
