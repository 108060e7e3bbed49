//! Colour, where somebody sees it: the only place that knows escape sequences.

/// Whether to paint at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Paint {
    Plain,
    Ansi,
}

/// What a piece of text is, which decides how it looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Header,
    Good,
    Odd,
    Bad,
    Dim,
    Type,
}

impl Paint {
    /// `text` as its role looks.
    pub(super) fn paint(self, role: Role, text: &str) -> String {
        let code = match role {
            Role::Header => "1;36",
            Role::Good => "32",
            Role::Odd | Role::Type => "33",
            Role::Bad => "31",
            Role::Dim => "2",
        };
        match self {
            Paint::Plain => text.to_owned(),
            Paint::Ansi => format!("\x1b[{code}m{text}\x1b[0m"),
        }
    }
}
