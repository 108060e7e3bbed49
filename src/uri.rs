//! What a resource's URI says: which row of a table it means, and the values of its variables.

/// The variables of a URI, by the names that its template gives them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Vars(Vec<(&'static str, String)>);

impl Vars {
    /// The value of a variable, decoded; `None` where the URI leaves it out.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
    }
}

/// Why a URI means nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum UriError {
    /// No template is like it.
    Unknown,
    /// One is, and the URI is malformed; the text says how.
    Bad(String),
}

/// The first of `templates` that `uri` is an instance of, by its place, with its variables.
///
/// # Errors
///
/// None is, or the URI is malformed.
pub(crate) fn find(
    templates: impl IntoIterator<Item = &'static str>,
    uri: &str,
) -> Result<(usize, Vars), UriError> {
    let found = templates.into_iter().position(|it| it == uri);
    found.map(|idx| (idx, Vars::default())).ok_or(UriError::Unknown)
}
