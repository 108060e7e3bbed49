//! Template expansion, the inverse of matching, for tests.

use super::{UriParts, UriVars, variable};

/// Expands a template with values (RFC 6570); a variable without one is left out.
pub(crate) fn expand(template: &'static str, vars: &UriVars) -> String {
    let parts = UriParts::of_template(template).expect("a template has a scheme");
    let mut uri = format!("{}://{}", parts.scheme, parts.host);
    for segment in &parts.path {
        uri.push('/');
        match variable(segment) {
            Some(name) => uri.push_str(&encode(vars.get(name).unwrap_or_default())),
            None => uri.push_str(segment),
        }
    }
    let mut sign = '?';
    for key in parts.keys() {
        if let Some(items) = vars.items(key) {
            let items: Vec<String> = items.iter().map(|it| encode(it)).collect();
            uri.push_str(&format!("{sign}{key}={}", items.join(",")));
            sign = '&';
        }
    }
    uri
}

/// Encodes everything that is not unreserved, as `%41`.
pub(crate) fn encode(text: &str) -> String {
    let byte = |it: &u8| match it {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
            char::from(*it).to_string()
        }
        it => format!("%{it:02X}"),
    };
    text.as_bytes().iter().map(byte).collect()
}

/// Returns valid values for the variables of a template.
pub(crate) fn vars(template: &'static str, values: &[&str]) -> Option<UriVars> {
    let parts = UriParts::of_template(template)?;
    let names: Vec<&'static str> =
        parts.path.iter().filter_map(|it| variable(it)).chain(parts.keys()).collect();
    let pairs = names.into_iter().zip(values);
    let fits = |it: &str| !it.contains('/') && !it.contains(char::is_control);
    pairs
        .map(|(name, it)| Some((name, super::value(name, it).ok().filter(|it| fits(&it.text))?)))
        .collect::<Option<Vec<_>>>()
        .map(UriVars)
}
