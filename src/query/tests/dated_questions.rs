//! Tests for questions about days: titles, file names and front matter have them.

use super::*;
use crate::model::clock::DAY_MS;

/// A Saturday, the 14th of March 2026.
const NOW: UnixMillis = UnixMillis(1_773_484_200_000);

const JOURNAL: &str = "
= 2026-03-13.md
heading Standup
  text Ana: We take the new brewer.
= journal.md
heading Journal
  heading Friday, March 13, 2026
    text Ben orders the grinder.
  heading 13 March 2025
    text Cleo left the band.
  heading 10 March 2026
    text Dora signs the lease.
= rent.md
preamble Preamble: title, date\\ntitle: Rent\\ndate: 2026-03-13
heading Rent
  text The rent goes up.
= other.md
preamble Preamble: title, expires\\ntitle: Other\\nexpires: 2026-03-13
heading Other
  text Nothing was decided about the boat.
  text Emil said yesterday that we decided to paint it.
  text The number 13 is no month of March.
= log.md
heading Log
  text The harbour mill was painted.
  text The timeout is thirty seconds.
  text The ledger lies in the garden.
  text The letter has no answer.
  text The engine needs oil.
  text The river is high.
  text The invoice is paid.
  text The bell rings at noon.
";

/// Returns the labels of the hits at a time, best first.
fn labels(outline: &str, query: &str, now: UnixMillis) -> Vec<String> {
    let reader = TestDatabaseBuilder::of(outline);
    let options = QueryOptions { output: OutputFormat::Structured, ..QueryOptions::text(now) };
    let found = answer(&reader, &Query::Search(label(query)), &options).unwrap().structured;
    let hits = found["hits"].as_array().cloned().unwrap_or_default();
    hits.iter().map(|it| it["label"].as_str().unwrap_or_default().to_owned()).collect()
}

/// Checks that a question finds texts of its days before any other.
#[track_caller]
fn check(query: &str, texts: &[&str]) {
    let found = labels(JOURNAL, query, NOW);
    let notes = ["Ana:", "Ben", "Cleo", "Dora", "The rent", "Nothing", "Emil", "The number"];
    let mut first: Vec<&str> = found.iter().map(String::as_str).collect();
    first.retain(|it| notes.iter().any(|name| it.starts_with(name)));
    first.truncate(texts.len());
    first.sort_unstable();
    assert_eq!(first, texts, "{query}: {found:#?}");
}

const FRIDAY: [&str; 3] =
    ["Ana: We take the new brewer.", "Ben orders the grinder.", "The rent goes up."];
const TUESDAY: [&str; 1] = ["Dora signs the lease."];

#[test]
fn a_question_about_a_day_finds_its_notes_however_they_are_dated() {
    for query in [
        "what did we decide yesterday",
        "what happened on Friday?",
        "what did we do last Friday",
        "yesterday's news",
        "one day ago",
        "what was decided on 2026-03-13",
        "what about March 13, 2026",
        "13 March 2026",
        "notes of 20260313",
        "what was decided on 13.03.2026",
        "and on 13/3/2026?",
    ] {
        check(query, &FRIDAY);
    }
    check("what did we decide on Tuesday", &TUESDAY);
    check("what happened 4 days ago", &TUESDAY);
}

#[test]
fn a_request_for_the_notes_of_a_day_is_answered_whatever_its_words() {
    let others = "  text The cat sleeps.\n".repeat(40);
    let journal = format!("{JOURNAL}heading Cat\n{others}");
    for query in [
        "list my journal entries of yesterday",
        "Please retrieve notes from 2026-03-13",
        "Please list every diary entry dated 13 March 2026",
        "I was wondering whom anybody met during yesterday, answer briefly",
        "what did the kangaroo, the wombat and the platypus decide yesterday",
    ] {
        let found = labels(&journal, query, NOW);
        assert!(FRIDAY.iter().all(|it| found.contains(&(*it).to_owned())), "{query}: {found:#?}");
        assert!(!found.contains(&"The cat sleeps.".to_owned()), "{query}: {found:#?}");
    }
}

#[test]
fn a_day_or_month_without_a_year_is_found_where_it_is_written_compactly() {
    let outline = "
= 20240613.md
heading Log
  text Bought tiles.
= titles.md
heading 20250304
  text Sold the boat.
= 2019-06-02.md
heading Log
  text Fed the cat.
";
    let found = |query: &str| {
        let mut found = labels(outline, query, NOW);
        found.retain(|it| it.ends_with('.'));
        found.sort();
        found
    };
    assert_eq!(found("June 13"), ["Bought tiles."]);
    assert_eq!(found("what happened in June"), ["Bought tiles.", "Fed the cat."]);
    assert_eq!(found("March 4"), ["Sold the boat."]);
    assert_eq!(found("what was done from 3 to 5 March"), ["Sold the boat."]);
    assert!(found("July 13").is_empty());
}

/// Returns the texts that a question finds, in the order of their letters.
fn texts(outline: &str, query: &str) -> Vec<String> {
    let mut found = labels(outline, query, NOW);
    found.retain(|it| it.ends_with('.'));
    found.sort();
    found
}

#[test]
fn a_day_or_month_without_a_year_is_found_in_any_usual_form() {
    let outline = "
= 05.03.2026.md
heading 05.03.2026
  text Paid the plumber.
= 9-Mar-2026.md
heading Log
  text Sold the car.
= post.md
preamble Preamble: title, date\\ntitle: a\\ndate: 2026-03-11T09:30:00+01:00
heading Post
  text Sold the bike.
= 25.3.2025.md
heading Log
  text Cut the hedge.
= team.md
heading Team
  text We marched on.
";
    let all = ["Cut the hedge.", "Paid the plumber.", "Sold the bike.", "Sold the car."];
    assert_eq!(texts(outline, "What did we do on March 5?"), [all[1]]);
    assert_eq!(texts(outline, "What did we do on March 9?"), [all[3]]);
    assert_eq!(texts(outline, "What did we do on March 11?"), [all[2]]);
    assert_eq!(texts(outline, "What did we do on March 25?"), [all[0]]);
    assert_eq!(texts(outline, "What did we do in March?"), all);
    assert_eq!(texts(outline, "What did we do in March 2026?"), all[1..]);
    // The verb is no month, whether a note has the date or none.
    assert!(texts(outline, "What did we do on March 6?").is_empty());
    assert!(texts(outline, "What did we do in March 2019?").is_empty());
    assert_eq!(texts(outline, "when did we march"), ["We marched on."]);
}

#[test]
fn the_year_of_a_month_is_no_word_of_its_own() {
    let outline = "
= newt.md
preamble Preamble: title, date\\ntitle: a\\ndate: 2026-03-12
heading Newt
  text Fed the newt.
= 2026-07-05.md
heading 2026-07-05
  text Painted the door.
= 05.08.2026.md
heading 05.08.2026
  text Sailed.
= march.md
heading 13 March 2025
  text Left the band.
= plan.md
heading Plan
  text The budget of 2026 is done.
heading Ana
  text Ana leaves on 20.03.2026.
heading Ben
  text Ben wants to leave in March.
";
    let all = ["Ana leaves on 20.03.2026.", "Ben wants to leave in March.", "Fed the newt."];
    for query in ["What did we do in March 2026?", "March 2026", "happened in March 2026"] {
        assert_eq!(texts(outline, query), all, "{query}");
    }
    assert_eq!(texts(outline, "What did we do in 2026-03?"), [all[0], all[2]]);
    assert_eq!(texts(outline, "What happened in 2025?"), ["Left the band."]);
}

#[test]
fn of_the_days_of_a_week_those_of_each_reading_come_first_then_the_newest() {
    let days: Vec<String> = (1..=28)
        .map(|it| format!("= 2026-03-{it:02}.md\nheading Log\n  text Did part {it}.\n"))
        .collect();
    let reader = TestDatabaseBuilder::of(&days.concat());
    let filter = NodeFilter { node_type: Some(NodeType::Text), ..NodeFilter::default() };
    let order = |query: &str| -> Vec<u32> {
        let query = Query::Search(SearchQuery { filter, ..label(query) });
        let text = answer(&reader, &query, &QueryOptions::text(NOW)).unwrap().text;
        let part =
            |line: &str| line.strip_prefix("[text] Did part ")?.split_once('.')?.0.parse().ok();
        text.lines().filter_map(part).collect()
    };
    let last = order("what did we do last week");
    assert_eq!(last, [8, 7, 13, 12, 11, 10, 9, 6, 5, 4, 3, 2]);
    let this = order("what did we do this week");
    assert_eq!(this, [14, 13, 12, 11, 10, 9, 20, 19, 18, 17, 16, 15, 8]);
    assert_eq!(order("what did we do on Tuesday of last week"), [3]);
    assert_eq!(order("what did we do on Tuesday, March 3"), [3]);
}

#[test]
fn a_question_about_some_days_finds_the_notes_of_each() {
    for query in ["what did we decide last week", "this week", "what happened this month?"] {
        check(query, &[FRIDAY[0], FRIDAY[1], TUESDAY[0], FRIDAY[2]]);
    }
    check("what happened in March 2026", &[FRIDAY[0], FRIDAY[1], TUESDAY[0], FRIDAY[2]]);
    check("what happened last year", &["Cleo left the band."]);
}

#[test]
fn a_question_about_several_days_finds_the_notes_of_all_of_them() {
    check(
        "what happened between 9 March and 13 March 2026",
        &[FRIDAY[0], FRIDAY[1], TUESDAY[0], FRIDAY[2]],
    );
    check(
        "what did we decide on 2026-03-10 or on 2026-03-13",
        &[FRIDAY[0], FRIDAY[1], TUESDAY[0], FRIDAY[2]],
    );
    check("what happened from 8 to 11 March", &TUESDAY);
    check("what was done on Tuesday or in March 2025", &["Cleo left the band.", TUESDAY[0]]);
    // One that no note has is no reason to drop the other.
    check("what did we decide on 2026-03-10 or on 2019-01-01", &TUESDAY);
}

#[test]
fn a_question_about_a_day_alone_has_no_hits_of_others() {
    let found = labels(JOURNAL, "what did we do yesterday", NOW).join("\n");
    for other in ["Cleo", "Dora", "Emil", "Nothing", "The number"] {
        assert!(!found.contains(other), "{found}");
    }
}

#[test]
fn words_narrow_the_notes_of_a_day() {
    assert_eq!(labels(JOURNAL, "what grinder did we order yesterday", NOW)[0], FRIDAY[1]);
    assert_eq!(labels(JOURNAL, "which lease was signed on Tuesday", NOW)[0], TUESDAY[0]);
}

#[test]
fn a_day_that_no_note_has_is_words() {
    let long_ago = UnixMillis(NOW.0 - 4_000 * DAY_MS);
    let found = labels(JOURNAL, "what did Emil decide yesterday", long_ago);
    assert_eq!(found[0], "Emil said yesterday that we decided to paint it.");
}

#[test]
fn a_full_date_is_found_before_titles_that_share_its_numbers() {
    let forms = ["2024-03-05", "March 5, 2024", "5 March 2024", "5th March 2024", "20240305"];
    for title in forms {
        let mut outline = String::new();
        for (nth, other) in
            ["2024-03-06", "2024-05-03", "March 15, 2024", "5 April 2024", "March 5, 2023", title]
                .iter()
                .enumerate()
        {
            outline += &format!("= {nth}.md\nheading {other}\n  text Note {nth} of the day.\n");
        }
        for form in forms {
            for query in [form.to_owned(), format!("what was decided on {form}?")] {
                let found = labels(&outline, &query, NOW);
                assert!(
                    found[..2].contains(&title.to_owned())
                        && found[..2].contains(&"Note 5 of the day.".to_owned()),
                    "{query}, {title}: {found:#?}"
                );
            }
        }
    }
}

#[test]
fn a_date_keeps_to_the_conditions_of_a_search() {
    let reader = TestDatabaseBuilder::of(JOURNAL);
    let filter = NodeFilter { node_type: Some(NodeType::Heading), ..NodeFilter::default() };
    let query = Query::Search(SearchQuery { filter, ..label("yesterday") });
    let text = answer(&reader, &query, &QueryOptions::text(NOW)).unwrap().text;
    let mut found: Vec<&str> =
        text.lines().filter_map(|it| Some(it.split_once(" (id=")?.0)).collect();
    found.sort_unstable();
    assert_eq!(found, ["[heading] Friday, March 13, 2026", "[heading] Rent", "[heading] Standup"]);
    assert_eq!(text.matches("relevance=1.00").count(), 3, "{text}");
}

#[test]
fn a_day_is_found_as_europeans_and_americans_write_it() {
    let outline = "
= 05.03.2024.md
heading Fifth
  text We sold the boat.
= ana.md
text Ana signed it on 5.3.2024.
= ben.md
text Ben signed it on 3/5/2024.
= cleo.md
text Cleo signed it on 25/3/2024.
= dora.md
text Dora signed it on 3/25/2024.
";
    let found = |query: &str| {
        let mut found = labels(outline, query, NOW);
        found.retain(|it| it != "Fifth");
        found.sort();
        found
    };
    // Which of them `3/5/2024` is cannot be known.
    assert_eq!(found("March 5, 2024"), ["Ana signed it on 5.3.2024.", "We sold the boat."]);
    let both = ["Cleo signed it on 25/3/2024.", "Dora signed it on 3/25/2024."];
    assert_eq!(found("2024-03-25"), both);
    assert_eq!(found("25.3.2024"), both);
    let best = &labels(outline, "who signed on 3/5/2024", NOW)[..2];
    assert!(best.contains(&"Ben signed it on 3/5/2024.".to_owned()), "{best:?}");
}
