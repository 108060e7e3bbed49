use super::*;
use crate::query::dates::told_days;

/// A Saturday, the 14th of March 2026.
const NOW: Millis = Millis(1_773_484_200_000);
/// Monday, the 2nd of March 2026: two days before it was February.
const MONDAY: Millis = Millis(NOW.0 - 12 * DAY_MS);

/// Returns whether the days that a question asks about, at a time, are those.
#[track_caller]
fn check(now: Millis, question: &str, first: &str, last: &str) {
    let [first, last] = [first, last].map(|it| told_days(None, &[it]).unwrap());
    let days = asked_date(question, now).map(|it| it.days);
    assert_eq!(days, Some(DaySpan::of_days(first.first, last.last)), "{question}");
}

#[test]
fn days_are_counted_from_today() {
    check(NOW, "what did we decide yesterday", "2026-03-13", "2026-03-13");
    check(NOW, "yesterday's decisions", "2026-03-13", "2026-03-13");
    check(NOW, "What is on today?", "2026-03-14", "2026-03-14");
    check(NOW, "what was said last night", "2026-03-13", "2026-03-13");
    check(NOW, "the day before yesterday", "2026-03-12", "2026-03-12");
    check(NOW, "who is on call tomorrow", "2026-03-15", "2026-03-15");
    check(NOW, "what did we decide 3 days ago", "2026-03-11", "2026-03-11");
    check(NOW, "what did we decide in the last three days", "2026-03-11", "2026-03-14");
    check(MONDAY, "the day before yesterday", "2026-02-28", "2026-02-28");
    check(MONDAY, "2 days ago", "2026-02-28", "2026-02-28");
}

#[test]
fn weeks_months_and_years_are_counted_from_this_one() {
    check(NOW, "what did we decide last week", "2026-03-01", "2026-03-13");
    check(NOW, "last week, sales fell", "2026-03-01", "2026-03-13");
    check(NOW, "this week's plan", "2026-03-08", "2026-03-20");
    check(NOW, "next week", "2026-03-15", "2026-03-27");
    check(NOW, "two weeks ago", "2026-02-25", "2026-03-03");
    check(NOW, "this weekend", "2026-03-14", "2026-03-15");
    check(NOW, "last weekend", "2026-03-07", "2026-03-08");
    check(MONDAY, "last weekend", "2026-02-28", "2026-03-01");
    check(NOW, "what was decided this month", "2026-03", "2026-03");
    check(NOW, "three months ago", "2025-12", "2025-12");
    check(NOW, "what did we decide last month", "2026-02", "2026-02");
    check(NOW, "what did we decide two years ago", "2024", "2024");
    check(NOW, "the last two years", "2024", "2026-03-14");
}

#[test]
fn a_weekday_is_the_last_one_unless_another_is_named() {
    check(NOW, "what did we decide on Tuesday", "2026-03-10", "2026-03-10");
    check(NOW, "what came out of Tuesday's meeting", "2026-03-10", "2026-03-10");
    check(NOW, "on Saturday", "2026-03-14", "2026-03-14");
    check(NOW, "last Saturday", "2026-03-07", "2026-03-07");
    check(NOW, "last Friday", "2026-03-13", "2026-03-13");
    check(NOW, "next Saturday", "2026-03-21", "2026-03-21");
    check(NOW, "next Monday", "2026-03-16", "2026-03-16");
    check(MONDAY, "this Friday", "2026-03-06", "2026-03-06");
    check(MONDAY, "last Sunday", "2026-03-01", "2026-03-01");
}

#[test]
fn absolute_dates_are_read_in_their_usual_forms() {
    for question in [
        "what was decided on 2026-03-05",
        "March 5, 2026",
        "5 March 2026",
        "on the 5th of March, 2026",
        "notes of 20260305?",
    ] {
        check(NOW, question, "2026-03-05", "2026-03-05");
        assert_eq!(asked_date(question, NOW).unwrap().wording, DateWording::Day, "{question}");
    }
    check(NOW, "what happened in March 2026", "2026-03", "2026-03");
}

#[test]
fn other_words_are_no_dates() {
    for question in [
        "may I march on",
        "who may come",
        "10:30",
        "version 2.4.1",
        "",
        "a / 99 - 1",
        "Tuesday is market day",
        "who is on call on Tuesdays",
        "the last season",
        "many years ago",
        "next",
    ] {
        assert_eq!(asked_date(question, NOW), None, "{question}");
    }
}

#[test]
fn the_words_of_a_date_are_those_that_the_question_has_nowhere_else() {
    let words = |question: &str| {
        let mut words: Vec<String> = asked_date(question, NOW).unwrap().words.into_iter().collect();
        words.sort();
        words.join(" ")
    };
    assert_eq!(words("rent on March 5, 2024?"), "2024 5 march");
    assert_eq!(words("rent on 2024-03-05?"), "03 05 2024");
    assert_eq!(words("yesterday's rent"), "s yesterday");
    assert_eq!(words("5 boats on 5 March"), "march");
    assert_eq!(words("what did we do last week"), "last week");
}

#[test]
fn any_time_and_any_words_are_read() {
    for now in [i64::MIN, -1, 0, i64::MAX] {
        for question in ["yesterday", "99 years ago", "last week", "on Monday", "2026-03-05"] {
            let _ = asked_date(question, Millis(now));
        }
    }
}
