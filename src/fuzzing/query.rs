//! Arbitrary bytes as a query: answered within the budget, and never an error. As an id, they are
//! answered if a node has it.

use crate::model::clock::UnixMillis;
use crate::query::{FetchQuery, HitDetail, Query, QueryOptions, SearchQuery, answer};
use crate::store::reader::Reader;
use crate::store::reader::database_builder_testing::TestDatabaseBuilder;
use crate::text::tokens;

/// Notes with a little of everything that queries search for.
const NOTES: &str = r"
= a.md
heading Alpha and beta
  text The lease of a lock is one hour. What's up? `rate-limit` is 100 a minute.
  code let email: Option<String> = None; // NOT NULL
= 日本.md
heading 概要
  text Rustの日本語テキストを検索する。 ภาษาไทย 한국어 텍스트
";

/// The notes and their ids.
struct NotesMemory {
    reader: Reader,
    ids: Vec<String>,
}

thread_local! {
    static MEMORY: NotesMemory = {
        let mut sketch = TestDatabaseBuilder::new();
        let ids = sketch.add(NOTES);
        NotesMemory { reader: sketch.done(), ids }
    };
}

/// Panics when a query violates an invariant. `data` is two bytes of budget and detail, then the
/// text.
pub fn query(data: &[u8]) {
    let (budget, detail, text) = match data {
        [low, high, text @ ..] => (u32::from(u16::from_le_bytes([*low, *high])), low % 3, text),
        short => (0, 0, short),
    };
    let text = String::from_utf8_lossy(text);
    let budget = (0 < budget).then_some(budget);
    let detail = [HitDetail::Label, HitDetail::Snippet, HitDetail::Full][usize::from(detail)];
    let options = QueryOptions { budget, ..QueryOptions::text(UnixMillis(0)) };
    MEMORY.with(|NotesMemory { reader, ids }| {
        let query = Query::Search(SearchQuery { query: &text, detail, ..SearchQuery::default() });
        let found = answer(reader, &query, &options);
        assert_eq!(found.is_err(), text.trim().is_empty(), "every query with a word has an answer");
        found.iter().for_each(|it| assert!(!it.text.is_empty()));
        found.iter().for_each(|it| assert_fits(&it.text, budget));
        let of_notes = &*ids[text.len() % ids.len()];
        for anchor in [&*text, of_notes] {
            let fetched = answer(
                reader,
                &Query::Fetch(FetchQuery { anchor, levels: 3, ..FetchQuery::default() }),
                &options,
            );
            assert_eq!(fetched.is_ok(), ids.iter().any(|id| id == anchor), "{anchor:?}");
            fetched.iter().for_each(|it| assert_fits(&it.text, budget));
        }
    });
}

#[track_caller]
fn assert_fits(text: &str, budget: Option<u32>) {
    if let Some(budget) = budget {
        assert!(tokens::fits(text, budget), "over {budget}:\n{text}");
    }
}
