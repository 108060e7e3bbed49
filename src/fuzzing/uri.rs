//! URIs of any text and of typical pieces, matched against the templates of a server.

use crate::mcp::uri::template_expander_testing::expand;
use crate::mcp::uri::{URI_BYTES_MAX, UriError, match_template};

/// Templates as a registration has them, and some that none should have.
const TEMPLATES: [&str; 9] = [
    "remindb://overview",
    "remindb://tree",
    "remindb://tree/{rootId}{?depth}",
    "remindb://snapshots{?limit}",
    "remindb://snapshots",
    "remindb://snapshots/{id}/diffs",
    "remindb://sessions/history",
    "remindb://sessions/history/{hash}",
    "remindb://any/{of}/{these}{?words,limit}",
];

#[rustfmt::skip]
const PIECES: [&str; 32] = [
    "remindb://", "REMINDB://", "http://", "tree", "snapshots", "sessions", "history", "diffs",
    "any", "overview", "/", "//", "?", "&", "=", "#", "%", "%2F", "%2e", "%00", "%41", "%C3%A9",
    "%FF", "..", "depth", "limit", "words", "{", "}", "é", " ", "a",
];

/// Matches a URI: after a first byte of 0 the rest as it is, otherwise pieces.
pub fn uri(data: &[u8]) {
    let Some((first, rest)) = data.split_first() else { return };
    let text = match first {
        0 => String::from_utf8_lossy(rest).into_owned(),
        _ => rest.iter().map(|it| PIECES[usize::from(*it) % PIECES.len()]).collect(),
    };
    check(&text);
}

/// Checks that every URI has one match, and that the canonical URI of the match has the same.
pub(crate) fn check(uri: &str) {
    match match_template(TEMPLATES, uri) {
        Ok((idx, vars)) => {
            for name in ["rootId", "depth", "limit", "id", "hash", "of", "these", "words"] {
                let Some(value) = vars.get(name) else { continue };
                let is_name = !["", ".", ".."].contains(&value) && !value.contains('/');
                // A query may have any text, as in `?tags=a/b`.
                let is_of_query = ["depth", "limit", "words"].contains(&name);
                let is_clean = !value.contains(char::is_control);
                assert!((is_of_query || is_name) && is_clean, "{uri}");
            }
            let canonical = expand(TEMPLATES[idx], &vars);
            // Percent-encoding may make the canonical URI longer.
            if URI_BYTES_MAX < canonical.len() {
                return;
            }
            assert_eq!(
                match_template(TEMPLATES, &canonical),
                Ok((idx, vars)),
                "{uri} is {canonical}"
            );
            let shouted = canonical.replacen("remindb://", "ReMindB://", 1);
            assert_eq!(match_template(TEMPLATES, &shouted), match_template(TEMPLATES, &canonical));
        }
        Err(UriError::Bad(why)) => assert!(!why.is_empty() && why.len() < 400),
        Err(UriError::Unknown) => (),
    }
}
