//! Resource URIs: matches a URI with a table of templates and extracts its variables.
//!
//! A template is a URI in which a whole segment of the path may be a variable, `{id}`, and at
//! whose end the keys of a query may be listed, `{?depth,limit}` (RFC 6570). Matching is its
//! inverse, a total function of two strings:
//!
//! - Scheme and host ignore case; the path does not. One `/` at the end is ignored, unless a
//!   template has a variable there.
//! - A URI without variables is preferred to a template that also matches.
//! - A value is decoded once. It is never empty, never `.` or `..`, and contains neither a `/` nor
//!   a control character in any notation.
//! - Characters that a URI may not contain (RFC 3986), a repeated key, an unknown key, a fragment:
//!   each has its own error.

use std::borrow::Cow;

/// Bytes of a URI; a longer one is refused.
pub(crate) const URI_BYTES_MAX: usize = 4096;
/// Characters of a text that an error repeats.
const ECHO_CHARS_MAX: usize = 40;

/// The variables of a URI, by their names in the template.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct UriVars(Vec<(&'static str, UriValue)>);

impl UriVars {
    /// Returns the decoded value of a variable; `None` where the URI leaves it out.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.value(name).map(|it| it.text.as_str())
    }

    /// Returns the decoded items of a variable that is a list; `None` where the URI leaves it out.
    pub(crate) fn items(&self, name: &str) -> Option<&[String]> {
        self.value(name).map(|it| it.items.as_slice())
    }

    fn value(&self, name: &str) -> Option<&UriValue> {
        self.0.iter().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    /// Returns a template with the values in the place of the variables of its path.
    pub(crate) fn fill(&self, template: &str) -> String {
        let mut uri = template.to_owned();
        for (name, value) in &self.0 {
            uri = uri.replace(&format!("{{{name}}}"), &value.text);
        }
        uri
    }
}

/// The value of a variable, decoded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct UriValue {
    text: String,
    /// The parts between the commas that are not encoded.
    items: Vec<String>,
}

impl UriValue {
    fn of(encoded: &str) -> Result<UriValue, UriError> {
        let items = encoded.split(',').map(|it| decode(it).map(Cow::into_owned));
        let items = items.collect::<Result<Vec<_>, _>>()?;
        Ok(UriValue { text: items.join(","), items })
    }
}

/// The reason why a URI matches nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum UriError {
    /// No template matches.
    Unknown,
    /// The URI is malformed; the text says how.
    Bad(String),
}

/// The parts of a URI or a template. The last segment of the path is empty after a final `/`.
struct UriParts<'a> {
    scheme: &'a str,
    host: &'a str,
    path: Vec<&'a str>,
    /// The query; in a template, the list of its keys.
    query: Option<&'a str>,
}

/// Returns the index of the template that matches `uri`, with its variables. Of several, the one
/// with the fewest variables wins, then the first.
///
/// # Errors
///
/// None matches, or the URI is malformed.
pub(crate) fn match_template(
    templates: impl IntoIterator<Item = &'static str>,
    uri: &str,
) -> Result<(usize, UriVars), UriError> {
    check_characters(uri)?;
    let mut parts = UriParts::of(uri, '?').ok_or(UriError::Unknown)?;
    let rows: Vec<(usize, UriParts<'static>)> = templates
        .into_iter()
        .enumerate()
        .filter_map(|(idx, it)| Some((idx, UriParts::of_template(it)?)))
        .filter(|(_, it)| is_same(parts.scheme, it.scheme) && is_same(parts.host, it.host))
        .collect();
    if rows.is_empty() {
        return Err(UriError::Unknown);
    }
    let mut like = matching_templates(&rows, &parts)?;
    if like.is_empty() && parts.path.last() == Some(&"") {
        if let Some(name) = rows.iter().find_map(|(_, it)| it.variable_at_end_of(&parts.path)) {
            return Err(is_empty(name));
        }
        parts.path.pop();
        like = matching_templates(&rows, &parts)?;
    }
    like.sort_unstable_by_key(|(idx, it, vars)| (vars.len(), it.query.is_some(), *idx));
    if like.is_empty() {
        return Err(UriError::Unknown);
    }
    let pairs = pairs(parts.query.unwrap_or_default())?;
    let knows_all =
        |it: &UriParts<'static>| pairs.iter().all(|(key, _)| it.keys().any(|known| known == key));
    let Some(at) = like.iter().position(|(_, it, _)| knows_all(it)) else {
        return Err(unknown_key(&like, &pairs));
    };
    let (idx, it, mut vars) = like.swap_remove(at);
    for name in it.keys() {
        let value = pairs.iter().find(|(key, _)| key == name);
        vars.extend(value.map(|(_, value)| (name, value.clone())));
    }
    Ok((idx, UriVars(vars)))
}

/// A template that matches a URI, with the values in its path.
type TemplateMatch<'a> = (usize, &'a UriParts<'static>, Vec<(&'static str, UriValue)>);

/// Returns the rows whose path matches that of a URI.
fn matching_templates<'a>(
    rows: &'a [(usize, UriParts<'static>)],
    uri: &UriParts<'_>,
) -> Result<Vec<TemplateMatch<'a>>, UriError> {
    let path: Vec<Cow<'_, str>> = uri.path.iter().map(|it| decode(it)).collect::<Result<_, _>>()?;
    let mut like = Vec::new();
    let mut bad = None;
    for (idx, row) in rows {
        match values(&row.path, &path) {
            Some(Ok(vars)) => like.push((*idx, row, vars)),
            Some(Err(error)) => bad = bad.or(Some(error)),
            None => (),
        }
    }
    match bad {
        Some(error) if like.is_empty() => Err(error),
        _ => Ok(like),
    }
}

/// Returns the values of the variables in `path`; `None` where it does not match the template.
fn values(
    template: &[&'static str],
    path: &[Cow<'_, str>],
) -> Option<Result<Vec<(&'static str, UriValue)>, UriError>> {
    if template.len() != path.len() {
        return None;
    }
    let pairs = || template.iter().zip(path);
    if !pairs().all(|(known, it)| variable(known).is_some() || known == it) {
        return None;
    }
    let variables = pairs().filter_map(|(known, it)| Some((variable(known)?, it)));
    Some(variables.map(|(name, it)| Ok((name, value(name, it)?))).collect())
}

fn variable(segment: &'static str) -> Option<&'static str> {
    segment.strip_prefix('{')?.strip_suffix('}')
}

/// Checks the value of a variable of the path, which is one name. Those of a query may be paths.
fn value(name: &str, value: &str) -> Result<UriValue, UriError> {
    match value {
        "" => Err(is_empty(name)),
        "." | ".." => bad(format!("`{name}` is `{value}`, which names no single thing")),
        _ if value.contains('/') => bad(format!("`{name}` has a `/` in it; no name has")),
        _ => Ok(UriValue { text: value.to_owned(), items: vec![value.to_owned()] }),
    }
}

fn is_empty(name: &str) -> UriError {
    UriError::Bad(format!("`{name}` is empty; give it a value"))
}

/// Returns the keys and values of a query, decoded; each key once.
fn pairs(query: &str) -> Result<Vec<(String, UriValue)>, UriError> {
    let mut pairs: Vec<(String, UriValue)> = Vec::new();
    // An empty part between two `&` is ignored.
    for pair in query.split('&').filter(|it| !it.is_empty()) {
        let (key, text) = pair.split_once('=').unwrap_or((pair, ""));
        let key = decode(key)?;
        let value = match UriValue::of(text)? {
            value if value.text.is_empty() => return Err(is_empty(&echo(&key))),
            value => value,
        };
        if pairs.iter().any(|(known, _)| *known == key) {
            return bad(format!("`{}` is given twice; give it once", echo(&key)));
        }
        pairs.push((key.into_owned(), value));
    }
    Ok(pairs)
}

fn unknown_key(like: &[TemplateMatch<'_>], pairs: &[(String, UriValue)]) -> UriError {
    let known: Vec<&str> = like.iter().flat_map(|(_, it, _)| it.keys()).collect();
    let key = pairs.iter().find(|(key, _)| !known.contains(&key.as_str())).or(pairs.first());
    let key = key.map_or(String::new(), |(key, _)| echo(key));
    UriError::Bad(match known.as_slice() {
        [] => format!("`{key}` is unknown here; this URI takes no query"),
        known => format!("`{key}` is unknown here; there is `{}`", known.join("`, `")),
    })
}

impl<'a> UriParts<'a> {
    /// Splits a text of the form `scheme://host/path` and its query.
    fn of(text: &'a str, query: char) -> Option<UriParts<'a>> {
        let (before, query) = match text.split_once(query) {
            Some((before, query)) => (before, Some(query)),
            None => (text, None),
        };
        let (scheme, rest) = before.split_once("://")?;
        let mut path: Vec<&str> = rest.split('/').collect();
        let host = path.remove(0);
        Some(UriParts { scheme, host, path, query })
    }
}

impl UriParts<'static> {
    /// Returns the variable that a template has in the place of the last segment of `path`, if the
    /// segments before are the same. The template may go on.
    fn variable_at_end_of(&self, path: &[&str]) -> Option<&'static str> {
        let (_, before) = path.split_last()?;
        let is_alike = before.iter().zip(&self.path).all(|(it, known)| it == known);
        let last = self.path.get(before.len())?;
        if is_alike { variable(last) } else { None }
    }

    fn of_template(template: &'static str) -> Option<UriParts<'static>> {
        match template.split_once("{?") {
            None => UriParts::of(template, '?'),
            Some((before, keys)) => {
                let query = Some(keys.strip_suffix('}')?);
                Some(UriParts { query, ..UriParts::of(before, '?')? })
            }
        }
    }

    fn keys(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.query.into_iter().flat_map(|it| it.split(','))
    }
}

/// Returns whether a scheme or host equals the known one.
fn is_same(text: &str, known: &str) -> bool {
    decode(text).is_ok_and(|it| it.eq_ignore_ascii_case(known))
}

/// Refuses characters that no URI has; letters of any language pass, as in an IRI.
fn check_characters(uri: &str) -> Result<(), UriError> {
    if URI_BYTES_MAX < uri.len() {
        return bad(format!("a URI of more than {URI_BYTES_MAX} bytes"));
    }
    let never = |it: &char| it.is_control() || it.is_whitespace() || "\"<>\\^`{|}".contains(*it);
    match uri.chars().find(never) {
        Some(it @ ('{' | '}')) => {
            bad(format!("`{it}` in a URI; put a value in the place of the variable"))
        }
        Some(it) => bad(format!("{it:?} in a URI; encode it as `%{:02X}`", u32::from(it))),
        None if uri.contains('#') => bad("a URI with a fragment; leave the `#` out".to_owned()),
        None => Ok(()),
    }
}

/// Decodes `%41` and the like, once.
fn decode(text: &str) -> Result<Cow<'_, str>, UriError> {
    if !text.contains('%') {
        return Ok(Cow::Borrowed(text));
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let digit = |it: Option<&u8>| char::from(*it?).to_digit(16);
        let (Some(high), Some(low)) = (digit(after.first()), digit(after.get(1))) else {
            return bad("a `%` without two hexadecimal digits behind it".to_owned());
        };
        bytes.push((high * 16 + low) as u8);
        rest = &after[2..];
    }
    match String::from_utf8(bytes) {
        Ok(text) if text.contains(char::is_control) => {
            bad("an encoded control character, which no name has".to_owned())
        }
        Ok(text) => Ok(Cow::Owned(text)),
        Err(_) => bad("encoded bytes that are no UTF-8".to_owned()),
    }
}

fn echo(text: &str) -> String {
    crate::text::truncate_chars(text, ECHO_CHARS_MAX)
}

fn bad<T>(why: String) -> Result<T, UriError> {
    Err(UriError::Bad(why))
}

#[cfg(any(test, fuzzing))]
#[cfg_attr(fuzzing, allow(dead_code, reason = "tests use the rest of it"))]
pub(crate) mod template_expander_testing;
#[cfg(test)]
mod tests;
