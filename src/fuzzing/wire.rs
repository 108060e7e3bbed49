//! Answers of a PostgreSQL server with any bytes: cut in any way, they come to the same.

use crate::server::postgres::talk_to_scripted;

/// Panics when `data` as all that a server says violates an invariant: how it comes in pieces
/// matters, or an answer has fewer or more lists of rows than there are statements.
pub fn wire(data: &[u8]) {
    let whole = talk_to_scripted([data]);
    assert!(!whole.is_empty());
    let n = 2 + usize::from(data.first().copied().unwrap_or_default());
    for size in [1, n] {
        let cut = talk_to_scripted(data.chunks(size));
        assert!(is_same(&whole, &cut), "{size} bytes at a time: {cut:#?}, not {whole:#?}");
    }
}

/// Returns whether two talks came to the same. Who waits for news hears the first ones, and what
/// follows in the same piece.
fn is_same(one: &[String], other: &[String]) -> bool {
    let is_news = |it: &[String]| it.last().is_some_and(|it| it == "news: true");
    match (one, other) {
        ([before @ .., _], [before_too @ .., _]) if is_news(one) || is_news(other) => {
            before == before_too
        }
        _ => one == other,
    }
}
