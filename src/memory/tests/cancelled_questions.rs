//! Tests that a question ends when nobody waits for its answer, and that the next one is answered.

use std::sync::Arc;

use crate::memory::{AppendOrReplaceMode, Memory};
use crate::query::{Query, SearchQuery};
use crate::store::reader::IsCancelledFn;

#[test]
fn a_question_that_nobody_waits_for_ends() {
    let folder = tempfile::tempdir().unwrap();
    let memory = Memory::create(&folder.path().join("memory.db")).unwrap();
    let text: String = (0..4_000).map(|nth| format!("Lease {nth} of a lock.\n\n")).collect();
    memory.write(&text, None, AppendOrReplaceMode::Append).unwrap();
    let is_cancelled: IsCancelledFn = Arc::new(|| true);
    let search = Query::Search(SearchQuery { query: "lease lock", ..SearchQuery::default() });
    let ended = memory.query_and_warm_until(&search, None, &is_cancelled);
    assert!(ended.unwrap_err().to_string().contains("interrupted"));
    assert!(memory.query_and_warm(&search, None).unwrap().text.contains("of a lock"));
    let view = memory.read_only();
    let cancelled = view.until(|| true);
    let tree = "remindb://tree";
    assert!(cancelled.resource(tree).unwrap_err().to_string().contains("interrupted"));
    assert!(view.resource(tree).unwrap().contains("of a lock"));
}
