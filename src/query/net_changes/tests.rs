//! Tests for delta, diff and history over a real folder, with their budgets.

use std::fs;
use std::path::PathBuf;

use expect_test::{Expect, expect};

use crate::memory::{Error, Memory};
use crate::model::clock::{Clock, UnixMillis};
use crate::query::{self, Answer};
use crate::store::IfMissing;
use crate::text::tokens;

/// A time later than the date of any file in the tests.
const START: UnixMillis = UnixMillis(4_000_000_000_000);
const HOUR_MS: i64 = 3_600_000;

struct Notes {
    dir: tempfile::TempDir,
    memory: Memory,
}

impl Notes {
    fn new() -> Notes {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("memory.db");
        let memory = Memory::open_at(&path, IfMissing::Create, Clock::manual(START))
            .unwrap()
            .with_structured();
        fs::create_dir(dir.path().join("notes")).unwrap();
        Notes { dir, memory }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.dir.path().join("notes").join(path)
    }

    /// Writes the files and compiles, an hour after the last compile.
    #[track_caller]
    fn compile(&self, files: &[(&str, &str)]) -> &Notes {
        for (path, text) in files {
            fs::write(self.path(path), text).unwrap();
        }
        self.memory.clock().advance(HOUR_MS);
        self.memory.compile(&self.path(""), "compile:notes").unwrap();
        self
    }

    #[track_caller]
    fn delta(&self, query: query::DeltaQuery<'_>, budget: Option<u32>) -> Answer {
        self.memory.query_and_warm(&query::Query::Delta(query), budget).unwrap()
    }

    #[track_caller]
    fn check_delta(&self, since: i64, expected: Expect) -> &Notes {
        let query = query::DeltaQuery { since, ..query::DeltaQuery::default() };
        expected.assert_eq(&self.delta(query, None).text);
        self
    }

    #[track_caller]
    fn check_diff(&self, from: i64, to: i64, expected: Expect) -> &Notes {
        let text = match self.memory.diff(from, to, None) {
            Ok(answer) => answer.text,
            Err(Error::BadArgument(why) | Error::NotFound(why)) => format!("error: {why}"),
            Err(other) => panic!("{other}"),
        };
        expected.assert_eq(&text);
        self
    }

    fn id_of(&self, words: &str) -> String {
        let hits = self.memory.search(words, None).unwrap();
        hits.structured["hits"][0]["id"].as_str().unwrap().to_owned()
    }
}

const TWO_SECTIONS: &str = "# Alpha\n\nOne paragraph.\n\n# Beta\n\nAnother paragraph.\n";

#[test]
fn what_came_and_went_is_not_counted_as_left_out() {
    let notes = Notes::new();
    let paragraphs = |of: &str, n: usize| -> String {
        (0..n).map(|nth| format!("Paragraph {nth} of {of}.\n\n")).collect()
    };
    notes.compile(&[("a.md", "# Alpha\n")]);
    notes.compile(&[("b.md", &paragraphs("those that go", 60))]);
    notes.compile(&[("b.md", ""), ("c.md", &paragraphs("those that stay", 20))]);
    let since_1 = query::DeltaQuery { since: 1, ..query::DeltaQuery::default() };
    let page = notes.delta(since_1, Some(200)).structured;
    let n_shown = page["changes"].as_array().unwrap().len();
    let n_left = page["left_out"]["changes"].as_u64().unwrap() as usize;
    assert_eq!(n_shown + n_left, 20, "{page}");
    assert_eq!(page["left_out"]["at_least"], false);
}

#[test]
fn a_delta_is_one_line_a_node_newest_first() {
    let notes = Notes::new();
    notes.compile(&[("a.md", TWO_SECTIONS)]);
    notes.compile(&[("a.md", &TWO_SECTIONS.replace("Another", "A longer and better"))]);
    notes.check_delta(
        0,
        expect![[r#"
            [add] KYaMJ3yI45P (snapshot 2) [text] A longer and better paragraph. (file=a.md tok=6)
            [add] KYaIJmdCtsZ (snapshot 1) [heading] Alpha (file=a.md tok=1)
            [add] KYaIDmMNKqe (snapshot 1) [text] One paragraph. (file=a.md tok=3)
            [add] KYaHdoP7TIX (snapshot 1) [heading] Beta (file=a.md tok=1)"#]],
    );
    notes.check_delta(1, expect!["[mod] KYaMJ3yI45P (snapshot 2) [text] A longer and better paragraph. (file=a.md tok=3 → 6)"]);
    notes.check_delta(2, expect!["no changes"]);
}

#[test]
fn moves_and_renames_are_named() {
    let notes = Notes::new();
    notes.compile(&[("a.md", TWO_SECTIONS)]);
    let moved = "# Alpha\n\n# Beta\n\nAnother paragraph.\n\nOne paragraph.\n";
    notes.compile(&[("a.md", moved)]).check_delta(1, expect!["[mod] KYaIDmMNKqe (snapshot 2) [text] One paragraph. (file=a.md tok=3); moved from Alpha (KYaIJmdCtsZ) to Beta (KYaHdoP7TIX)"]);
    fs::rename(notes.path("a.md"), notes.path("b.md")).unwrap();
    notes.compile(&[]).check_delta(2, expect![[r#"
        [mod] KYaIJmdCtsZ (snapshot 3) [heading] Alpha (file=b.md tok=1); file renamed from a.md to b.md
        [mod] KYaHdoP7TIX (snapshot 3) [heading] Beta (file=b.md tok=1); file renamed from a.md to b.md"#]]);
    let swapped = "# Beta\n\nAnother paragraph.\n\nOne paragraph.\n\n# Alpha\n";
    notes.compile(&[("b.md", swapped)]).check_delta(3, expect!["[mod] KYaHdoP7TIX (snapshot 4) [heading] Beta (file=b.md tok=1); moved among its siblings"]);
}

#[test]
fn a_node_added_and_removed_is_no_change() {
    let notes = Notes::new();
    notes.compile(&[("a.md", TWO_SECTIONS)]);
    notes.compile(&[("a.md", "# Alpha\n\nSomething else.\n"), ("b.md", "# Short-lived\n")]);
    fs::remove_file(notes.path("b.md")).unwrap();
    notes.compile(&[("a.md", TWO_SECTIONS)]);
    notes.check_delta(1, expect!["no changes"]).check_diff(1, 3, expect!["no changes"]);
    notes.check_delta(
        2,
        expect![[r#"
            [add] KYaIDmMNKqe (snapshot 3) [text] One paragraph. (file=a.md tok=3)
            [add] KYaHdoP7TIX (snapshot 3) [heading] Beta (file=a.md tok=1)
            [add] KYaMJ3yI45P (snapshot 3) [text] Another paragraph. (file=a.md tok=3)
            [rem] KYaLxmn99Da (snapshot 3) [text] Something else. (file=a.md tok=3)
            [rem] KXgF3O1h49m (snapshot 3) [heading] Short-lived (file=b.md tok=2)"#]],
    );
}

#[test]
fn a_diff_has_hunks() {
    let notes = Notes::new();
    let code = "# Code\n\n```sh\none\ntwo\nthree\nfour\nfive\n```\n";
    notes.compile(&[("a.md", code)]);
    notes.compile(&[("a.md", &code.replace("three\n", "3\n")), ("b.md", "New words.\n")]);
    notes.check_diff(
        1,
        2,
        expect![[r#"
            [mod] KYaJ9qbpIFN [code] Code (sh): one (file=a.md tok=9)
            @@ -1,5 +1,5 @@
             one
             two
            -three
            +3
             four
             five
            \ No newline at end of file

            [add] KXgH6X8QAUF [text] New words. (file=b.md tok=3)
            @@ -0,0 +1 @@
            +New words.
            \ No newline at end of file"#]],
    );
    notes.check_diff(
        2,
        1,
        expect!["error: `from_snapshot_id` 2 must be <= `to_snapshot_id` 1; swap them"],
    );
    notes.check_diff(1, 9, expect!["error: `to_snapshot_id`: no snapshot 9; there are 1 to 2"]);
    notes.check_diff(-1, 1, expect!["error: `from_snapshot_id`: no snapshot -1; there are 1 to 2"]);
    notes.check_diff(2, 2, expect!["no changes"]);
}

#[test]
fn a_history_is_newest_first_and_outlives_its_node() {
    let notes = Notes::new();
    notes.compile(&[("a.md", TWO_SECTIONS)]);
    let id = notes.id_of("another");
    notes.compile(&[("a.md", &TWO_SECTIONS.replace("Another", "An\u{2028}other"))]);
    notes.compile(&[("a.md", &TWO_SECTIONS.replace("Another paragraph.\n", ""))]);
    notes.memory.clock().advance(HOUR_MS);
    expect![[r#"
        snapshot 3: rem (1h ago, "compile:notes")
          old: An other paragraph.
        snapshot 2: mod (2h ago, "compile:notes")
          old: Another paragraph.
          new: An other paragraph.
        snapshot 1: add (3h ago, "compile:notes")
          new: Another paragraph."#]]
    .assert_eq(&notes.memory.history(&id, None).unwrap().text);
    expect!["no history for nothing"]
        .assert_eq(&notes.memory.history("nothing", None).unwrap().text);
}

#[test]
fn queries_of_the_past_warm_nothing_and_name_unknown_snapshots() {
    let notes = Notes::new();
    let error = notes.memory.delta(7, None).unwrap_err().to_string();
    assert_eq!(error, "`since_snapshot`: no snapshot 7; there is none yet");
    notes.check_delta(0, expect!["no changes"]).compile(&[("a.md", TWO_SECTIONS)]);
    let error = notes.memory.delta(7, None).unwrap_err().to_string();
    assert_eq!(error, "`since_snapshot`: no snapshot 7; there is only 1");
    assert_eq!(notes.delta(query::DeltaQuery::default(), None).shown, []);
}

/// Returns a folder with enough changes for several pages.
fn many() -> Notes {
    let notes = Notes::new();
    for nth in 0..4 {
        let text: String = (0..25)
            .map(|it| {
                format!("# Section {it}\n\nText {} of it.\n\n", if it % 4 == nth { nth } else { 9 })
            })
            .collect();
        notes.compile(&[("a.md", &text)]);
    }
    notes
}

#[test]
fn replies_stay_within_their_budget_whatever_it_is() {
    let notes = many();
    for budget in [1, 2, 7, 20, 60, 200, 1000] {
        for show in [query::DeltaDetail::Lines, query::DeltaDetail::Texts] {
            let query = query::DeltaQuery { show, ..query::DeltaQuery::default() };
            let answer = notes.delta(query, Some(budget));
            assert!(tokens::count(&answer.text) <= budget, "{budget}: {}", answer.text);
        }
        for answer in [
            notes.memory.diff(1, 4, Some(budget)).unwrap(),
            notes.memory.history(&notes.id_of("text"), Some(budget)).unwrap(),
        ] {
            assert!(tokens::count(&answer.text) <= budget, "{budget}: {}", answer.text);
        }
    }
}

#[test]
fn pages_miss_nothing_and_repeat_nothing() {
    let notes = many();
    let all = notes.delta(query::DeltaQuery::default(), Some(100_000));
    let mut lines: Vec<String> = Vec::new();
    let mut cursor: Option<String> = None;
    let mut n_pages = 0;
    loop {
        let query = query::DeltaQuery { cursor: cursor.as_deref(), ..query::DeltaQuery::default() };
        let page = notes.delta(query, Some(150));
        n_pages += 1;
        let shown = page.text.lines().filter(|it| !it.starts_with('…'));
        lines.extend(shown.map(str::to_owned));
        cursor = page.structured["left_out"]["cursor"].as_str().map(str::to_owned);
        if cursor.is_none() {
            break;
        }
    }
    assert!(5 < n_pages);
    assert_eq!(lines.join("\n"), all.text);
}

#[test]
fn a_node_moved_back_has_not_moved() {
    let notes = Notes::new();
    notes.compile(&[("a.md", "First.\n\nSecond.\n")]);
    notes.compile(&[("a.md", "")]);
    notes.compile(&[("a.md", "Zeroth.\n\nFirst.\n\nSecond.\n")]);
    let delta = notes.delta(query::DeltaQuery { since: 1, ..query::DeltaQuery::default() }, None);
    assert_eq!(delta.structured["changes"].as_array().unwrap().len(), 1, "{}", delta.text);
    notes.compile(&[("a.md", "Zeroth.\n\nSecond.\n\nFirst.\n")]);
    let delta = notes.delta(query::DeltaQuery { since: 1, ..query::DeltaQuery::default() }, None);
    assert!(delta.text.contains("; moved among its siblings"), "{}", delta.text);
}
