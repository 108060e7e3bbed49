use expect_test::expect;
use proptest::prelude::*;

use super::template_expander_testing::{expand, vars};
use super::*;

const TEMPLATES: &[&str] = &[
    "remindb://tree/{rootId}{?depth}",
    "remindb://snapshots{?limit}",
    "remindb://overview",
    "remindb://tree",
    "remindb://snapshots",
    "remindb://snapshots/{id}/diffs",
    "remindb://sessions/history",
    "remindb://sessions/history/{hash}",
    "remindb://search/{in}{?words,limit}",
];

fn found(uri: &str) -> Result<(usize, UriVars), UriError> {
    match_template(TEMPLATES.iter().copied(), uri)
}

fn outline(uri: &str) -> String {
    let answer = match found(uri) {
        Ok((idx, UriVars(vars))) => {
            vars.iter().fold(TEMPLATES[idx].to_owned(), |line, (name, value)| {
                format!("{line} {name}={:?}", value.text)
            })
        }
        Err(UriError::Unknown) => "unknown".to_owned(),
        Err(UriError::Bad(why)) => format!("bad: {why}"),
    };
    format!("{} -> {answer}\n", uri.replace('\0', "\\0"))
}

#[track_caller]
fn check(uris: &[&str], answers: expect_test::Expect) {
    let table: String = uris.iter().map(|it| outline(it)).collect();
    answers.assert_eq(&table);
}

#[test]
fn a_uri_means_one_row_and_its_values() {
    check(
        &[
            "remindb://overview",
            "remindb://tree",
            "remindb://tree/aB3",
            "remindb://tree/aB3?depth=2",
            "remindb://snapshots",
            "remindb://snapshots?limit=5",
            "remindb://snapshots/3/diffs",
            "remindb://sessions/history",
            "remindb://sessions/history/Xy3K9mQ2pLs",
            "remindb://search/notes?limit=3&words=one%20two",
        ],
        expect![[r#"
            remindb://overview -> remindb://overview
            remindb://tree -> remindb://tree
            remindb://tree/aB3 -> remindb://tree/{rootId}{?depth} rootId="aB3"
            remindb://tree/aB3?depth=2 -> remindb://tree/{rootId}{?depth} rootId="aB3" depth="2"
            remindb://snapshots -> remindb://snapshots
            remindb://snapshots?limit=5 -> remindb://snapshots{?limit} limit="5"
            remindb://snapshots/3/diffs -> remindb://snapshots/{id}/diffs id="3"
            remindb://sessions/history -> remindb://sessions/history
            remindb://sessions/history/Xy3K9mQ2pLs -> remindb://sessions/history/{hash} hash="Xy3K9mQ2pLs"
            remindb://search/notes?limit=3&words=one%20two -> remindb://search/{in}{?words,limit} in="notes" words="one two" limit="3"
        "#]],
    );
}

#[test]
fn only_commas_that_are_not_encoded_separate_items() {
    let uri = "remindb://search/a,b?words=one,two%2Cthree,f%2Fo";
    let (_, vars) = found(uri).unwrap();
    assert_eq!(vars.items("in").unwrap(), ["a,b"], "a segment of the path is one name");
    assert_eq!(vars.items("words").unwrap(), ["one", "two,three", "f/o"]);
    assert_eq!(vars.get("words"), Some("one,two,three,f/o"));
    assert_eq!(vars.items("limit"), None);
}

#[test]
fn equivalent_uris_mean_the_same() {
    check(
        &[
            "REMINDB://OVERVIEW",
            "Remindb://Tree/aB3?depth=2",
            "remindb://overview/",
            "remindb://tree/aB3/",
            "remindb://snapshots/3/diffs/",
            "remindb://overview?",
            "remindb://snapshots?&limit=5&",
            "remindb://%6Fverview",
            "remindb://sessions/%68istory",
            "remindb://tree/a%42%33?%64epth=%32",
            "remindb://tree/é",
            "remindb://tree/%C3%A9",
        ],
        expect![[r#"
            REMINDB://OVERVIEW -> remindb://overview
            Remindb://Tree/aB3?depth=2 -> remindb://tree/{rootId}{?depth} rootId="aB3" depth="2"
            remindb://overview/ -> remindb://overview
            remindb://tree/aB3/ -> remindb://tree/{rootId}{?depth} rootId="aB3"
            remindb://snapshots/3/diffs/ -> remindb://snapshots/{id}/diffs id="3"
            remindb://overview? -> remindb://overview
            remindb://snapshots?&limit=5& -> remindb://snapshots{?limit} limit="5"
            remindb://%6Fverview -> remindb://overview
            remindb://sessions/%68istory -> remindb://sessions/history
            remindb://tree/a%42%33?%64epth=%32 -> remindb://tree/{rootId}{?depth} rootId="aB3" depth="2"
            remindb://tree/é -> remindb://tree/{rootId}{?depth} rootId="é"
            remindb://tree/%C3%A9 -> remindb://tree/{rootId}{?depth} rootId="é"
        "#]],
    );
}

#[test]
fn uris_of_no_template_are_unknown() {
    check(
        &[
            "",
            "tree",
            "remindb:tree",
            "remindb:///tree",
            "remindb://",
            "remindb:///",
            "http://tree",
            "file:///etc/passwd",
            "remindb://trees",
            "remindb://tree:80",
            "remindb://me@tree",
            "remindb://Tree/aB3/more",
            "remindb://overview//",
            "remindb://sessions/History",
            "remindb://snapshots/3/Diffs",
            "remindb://snapshots/3",
            "remindb://tree/../overview",
            "remindb://sessions%2Fhistory",
            "remindb://sessions/history%2Fx/y",
        ],
        expect![[r#"
             -> unknown
            tree -> unknown
            remindb:tree -> unknown
            remindb:///tree -> unknown
            remindb:// -> unknown
            remindb:/// -> unknown
            http://tree -> unknown
            file:///etc/passwd -> unknown
            remindb://trees -> unknown
            remindb://tree:80 -> unknown
            remindb://me@tree -> unknown
            remindb://Tree/aB3/more -> unknown
            remindb://overview// -> unknown
            remindb://sessions/History -> unknown
            remindb://snapshots/3/Diffs -> unknown
            remindb://snapshots/3 -> unknown
            remindb://tree/../overview -> unknown
            remindb://sessions%2Fhistory -> unknown
            remindb://sessions/history%2Fx/y -> unknown
        "#]],
    );
}

#[test]
fn malformed_uris_are_refused_with_the_reason() {
    check(
        &[
            "remindb://tree/",
            "remindb://sessions/history/",
            "remindb://snapshots//diffs",
            "remindb://snapshots/",
            "remindb://snapshots/?limit=5",
            "remindb://tree/..",
            "remindb://tree/%2E%2e",
            "remindb://tree/a%2Fb",
            "remindb://tree/..%2F..%2Fetc",
            "remindb://tree/a%00b",
            "remindb://tree/%0A",
            "remindb://tree/%",
            "remindb://tree/%4",
            "remindb://tree/%zz",
            "remindb://tree/%+1",
            "remindb://tree/%FF",
            "remindb://tree/%C3",
            "remindb://tree/{rootId}",
            "remindb://tree/a b",
            "remindb://tree/a\\b",
            "remindb://tree/\0",
            "remindb://tree#top",
            "remindb://tree?depth=2",
            "remindb://tree/aB3?Depth=2",
            "remindb://tree/aB3?depth=1&limit=2",
            "remindb://tree/aB3?depth=1&depth=1",
            "remindb://tree/aB3?depth",
            "remindb://tree/aB3?depth=",
            "remindb://tree/aB3?depth=%",
            "remindb://tree/aB3?=1",
            "remindb://overview?depth=1",
            "remindb://snapshots?limit=1&%6Cimit=2",
        ],
        expect![[r#"
            remindb://tree/ -> bad: `rootId` is empty; give it a value
            remindb://sessions/history/ -> bad: `hash` is empty; give it a value
            remindb://snapshots//diffs -> bad: `id` is empty; give it a value
            remindb://snapshots/ -> bad: `id` is empty; give it a value
            remindb://snapshots/?limit=5 -> bad: `id` is empty; give it a value
            remindb://tree/.. -> bad: `rootId` is `..`, which names no single thing
            remindb://tree/%2E%2e -> bad: `rootId` is `..`, which names no single thing
            remindb://tree/a%2Fb -> bad: `rootId` has a `/` in it; no name has
            remindb://tree/..%2F..%2Fetc -> bad: `rootId` has a `/` in it; no name has
            remindb://tree/a%00b -> bad: an encoded control character, which no name has
            remindb://tree/%0A -> bad: an encoded control character, which no name has
            remindb://tree/% -> bad: a `%` without two hexadecimal digits behind it
            remindb://tree/%4 -> bad: a `%` without two hexadecimal digits behind it
            remindb://tree/%zz -> bad: a `%` without two hexadecimal digits behind it
            remindb://tree/%+1 -> bad: a `%` without two hexadecimal digits behind it
            remindb://tree/%FF -> bad: encoded bytes that are no UTF-8
            remindb://tree/%C3 -> bad: encoded bytes that are no UTF-8
            remindb://tree/{rootId} -> bad: `{` in a URI; put a value in the place of the variable
            remindb://tree/a b -> bad: ' ' in a URI; encode it as `%20`
            remindb://tree/a\b -> bad: '\\' in a URI; encode it as `%5C`
            remindb://tree/\0 -> bad: '\0' in a URI; encode it as `%00`
            remindb://tree#top -> bad: a URI with a fragment; leave the `#` out
            remindb://tree?depth=2 -> bad: `depth` is unknown here; this URI takes no query
            remindb://tree/aB3?Depth=2 -> bad: `Depth` is unknown here; there is `depth`
            remindb://tree/aB3?depth=1&limit=2 -> bad: `limit` is unknown here; there is `depth`
            remindb://tree/aB3?depth=1&depth=1 -> bad: `depth` is given twice; give it once
            remindb://tree/aB3?depth -> bad: `depth` is empty; give it a value
            remindb://tree/aB3?depth= -> bad: `depth` is empty; give it a value
            remindb://tree/aB3?depth=% -> bad: a `%` without two hexadecimal digits behind it
            remindb://tree/aB3?=1 -> bad: `` is unknown here; there is `depth`
            remindb://overview?depth=1 -> bad: `depth` is unknown here; this URI takes no query
            remindb://snapshots?limit=1&%6Cimit=2 -> bad: `limit` is given twice; give it once
        "#]],
    );
}

#[test]
fn a_wildcard_is_an_ordinary_letter() {
    check(
        &["remindb://sessions/history/*", "remindb://sessions/history/%2A%3F%5B"],
        expect![[r#"
        remindb://sessions/history/* -> remindb://sessions/history/{hash} hash="*"
        remindb://sessions/history/%2A%3F%5B -> remindb://sessions/history/{hash} hash="*?["
    "#]],
    );
}

#[test]
fn a_value_is_decoded_once() {
    check(
        &["remindb://tree/%252e%252e", "remindb://tree/%2541"],
        expect![[r#"
        remindb://tree/%252e%252e -> remindb://tree/{rootId}{?depth} rootId="%2e%2e"
        remindb://tree/%2541 -> remindb://tree/{rootId}{?depth} rootId="%41"
    "#]],
    );
}

#[test]
fn a_long_uri_is_refused() {
    let uri = format!("remindb://tree/{}", "a".repeat(1 << 20));
    assert_eq!(found(&uri), Err(UriError::Bad("a URI of more than 4096 bytes".to_owned())));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn values_come_back_as_they_were(row in 0..TEMPLATES.len(), one in ".{1,9}", two in ".{1,9}") {
        let template = TEMPLATES[row];
        if let Some(vars) = vars(template, &[&one, &two, "3"]) {
            prop_assert_eq!(found(&expand(template, &vars)), Ok((row, vars)));
        }
    }

    #[test]
    fn every_text_has_an_answer(text in "(remindb://)?[a-z/?&=%{}.#]{0,40}|.{0,40}") {
        crate::fuzzing::uri::check(&text);
    }
}

#[test]
fn letters_take_less_room_than_what_they_are_encoded_as() {
    // Percent-encoded it would be too long for a URI.
    crate::fuzzing::uri::check(&format!("remindb://tree/{}", "é".repeat(1_000)));
}
