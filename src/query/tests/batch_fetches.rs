//! Tests for batch fetches whose texts do not all fit the budget.

use super::*;

/// A sentence of ten tokens.
const SENTENCE: &str = "The lease of the lock ends in June then. ";

/// Returns a memory with one text for each of these numbers of sentences, and the ids.
fn memory_of_sentences(n_sentences: &[usize]) -> (Reader, Vec<String>) {
    memory_of(n_sentences.iter().enumerate().map(|(nth, n)| {
        let text = format!("Text {nth}. {}", SENTENCE.repeat(*n));
        ("text", text.trim_end().to_owned())
    }))
}

fn memory_of(texts: impl IntoIterator<Item = (&'static str, String)>) -> (Reader, Vec<String>) {
    let mut sketch = TestDatabaseBuilder::new();
    sketch.file("a.md");
    sketch.node(0, "heading", "Leases");
    let add = |(node_type, text): (&str, String)| sketch.node(1, node_type, &text);
    let ids = texts.into_iter().map(add).collect();
    (sketch.done(), ids)
}

fn query_of(ids: &[String]) -> Query<'_> {
    Query::Batch(BatchFetchQuery {
        ids: ids.iter().map(String::as_str).collect(),
        has_dates: false,
    })
}

/// Returns what the reply says of each text, as `whole`, `cut` or `over`, after checking that it
/// names each id once, unless it counts those over budget, and that the budget is kept.
#[track_caller]
fn shown(memory: &(Reader, Vec<String>), budget: u32) -> String {
    let (reader, ids) = memory;
    check_structured(memory, budget);
    let text = asked(reader, query_of(ids), Some(budget)).unwrap().text;
    assert!(tokens::fits(&text, budget), "{text}");
    let over = text.lines().find_map(|it| it.strip_prefix("over budget: ")).unwrap_or_default();
    let lines: Vec<&str> = text.lines().filter(|it| !it.starts_with(' ')).collect();
    let is_counted = over.ends_with(" nodes");
    let words = ids.iter().map(|id| {
        if is_counted && !text.contains(id.as_str()) {
            return "over";
        }
        assert_eq!(text.matches(id.as_str()).count(), 1, "{id} in {text}");
        let Some(entry) = lines.iter().position(|it| it.starts_with(id.as_str())) else {
            assert!(over.contains(id.as_str()), "{text}");
            return "over";
        };
        let is_cut = lines.get(entry + 1).is_some_and(|it| it.starts_with("… cut: "));
        if is_cut { "cut" } else { "whole" }
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Checks that structured content has the nodes that its text shows, each asked for once.
#[track_caller]
fn check_structured(memory: &(Reader, Vec<String>), budget: u32) {
    let (reader, ids) = memory;
    let Answer { text, structured: json, .. } =
        structured(reader, query_of(ids), Some(budget)).unwrap();
    let ids_of = |list: &Value| -> Vec<String> {
        let list = list.as_array().into_iter().flatten();
        list.map(|it| it["id"].as_str().unwrap().to_owned()).collect()
    };
    let (nodes, over) = (ids_of(&json["nodes"]), ids_of(&json["over_budget"]));
    let entries = ids.iter().filter(|it| text.lines().any(|line| line.starts_with(it.as_str())));
    assert_eq!(nodes.iter().collect::<Vec<_>>(), entries.collect::<Vec<_>>(), "{text}");
    let n_counted = json["left_out"]["nodes"].as_u64().unwrap_or(0) as usize;
    assert!(text == "…" || nodes.len() + over.len() + n_counted == ids.len(), "{json}");
    let n_cut = json["nodes"].as_array().into_iter().flatten().filter(|it| it["needs"].is_u64());
    assert_eq!(n_cut.count(), text.matches("\n… cut: ").count(), "{text}");
}

#[test]
fn what_fits_is_shown_and_the_first_that_does_not_is_cut() {
    let cases: [(&[usize], u32, &str); 9] = [
        (&[40], 100, "cut"),
        (&[40, 0], 100, "cut whole"),
        (&[0, 40, 0], 100, "whole cut whole"),
        (&[0, 0, 40], 100, "whole whole cut"),
        (&[40, 40, 40], 100, "cut over over"),
        (&[40, 5, 0], 100, "over whole whole"),
        // The second is within the budget, and its entry is not.
        (&[40, 8], 98, "cut over"),
        (&[8], 95, "cut"),
        (&[40, 40], 30, "over over"),
    ];
    let found =
        cases.map(|(n_sentences, budget, _)| shown(&memory_of_sentences(n_sentences), budget));
    assert_eq!(found.each_ref().map(String::as_str), cases.map(|it| it.2));
}

#[test]
fn a_text_that_ends_no_sentence_is_cut_at_a_word() {
    let words = memory_of([("text", "lease ".repeat(3_000)), ("text", "It ends.".to_owned())]);
    assert_eq!(shown(&words, 100), "cut whole");
    let one_word = memory_of([("text", "x".repeat(9_000)), ("code", "y".repeat(9_000))]);
    assert_eq!(shown(&one_word, 100), "cut over");
}

#[test]
fn a_text_of_any_type_is_cut() {
    for node_type in NodeType::ALL {
        let memory = memory_of([(node_type.as_str(), SENTENCE.repeat(30))]);
        assert_eq!(shown(&memory, 120), "cut", "{}", node_type.as_str());
    }
}

#[test]
fn where_the_ids_do_not_fit_their_number_does() {
    let (reader, ids) = memory_of_sentences(&[40; 99]);
    let text = asked(&reader, query_of(&ids), Some(100)).unwrap().text;
    assert!(text.contains(&format!("{} Text 0. The lease", ids[0])), "{text}");
    assert!(text.ends_with("over budget: 98 nodes\n"), "{text}");
    let (reader, ids) = memory_of_sentences(&[&[40], &[0; 98][..]].concat());
    let text = asked(&reader, query_of(&ids), Some(100)).unwrap().text;
    assert!(text.contains("Text 1.") && text.ends_with(" nodes\n"), "{text}");
}

#[test]
fn where_the_missing_ids_leave_no_room_for_a_node_their_number_does() {
    let (reader, mut ids) = memory_of_sentences(&[0, 0, 40]);
    ids.splice(0..0, (0..30).map(|nth| format!("XXXXXXXXX{nth:02}")));
    let answer = |ids: &[String], budget| {
        let text = asked(&reader, query_of(ids), Some(budget)).unwrap().text;
        assert!(tokens::fits(&text, budget), "{text}");
        text
    };
    let text = answer(&ids[..32], 100);
    assert!(text.contains("Text 0.") && text.contains("Text 1."), "{text}");
    assert!(text.ends_with("\nnot found: 30 nodes\n"), "{text}");
    let text = answer(&ids[..], 100);
    assert!(text.contains("Text 0.") && text.contains("Text 1."), "{text}");
    // Where they leave room, they are named.
    let text = answer(&ids[29..], 100);
    assert!(text.contains("Text 0.") && text.contains("not found: XXXXXXXXX29\n"), "{text}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn a_shown_text_and_the_texts_over_budget_are_those_asked_for(
        n_sentences in proptest::collection::vec(0..12_usize, 1..6),
        budget in 60..400_u32,
    ) {
        let said = shown(&memory_of_sentences(&n_sentences), budget);
        prop_assert!(said.matches("cut").count() <= 1, "{said}");
        prop_assert!(said.contains("cut") || said.contains("whole"), "{said}");
    }
}
