use super::*;
use crate::model::clock::DAY_MS;
use crate::query::document_dates::told_days;

/// A Saturday, the 14th of March 2026.
const NOW: UnixMillis = UnixMillis(1_773_484_200_000);
/// Monday, the 2nd of March 2026: two days before it was February.
const MONDAY: UnixMillis = UnixMillis(NOW.0 - 12 * DAY_MS);

/// Checks the days of the only date, or of the only span of dates, that a question asks about.
#[track_caller]
fn check(now: UnixMillis, question: &str, first: &str, last: &str) {
    check_all(now, question, &[(first, last)]);
}

/// Checks the days that a question asks about at a time, each from a first to a last.
#[track_caller]
fn check_all(now: UnixMillis, question: &str, expected: &[(&str, &str)]) {
    let day = |title: &str| told_days(None, &[title]).unwrap();
    let span = |&(first, last): &(&str, &str)| DaySpan { last: day(last).last, ..day(first) };
    let days: Vec<DaySpan> = asked_dates(question, now).iter().map(|it| it.days).collect();
    let expected: Vec<DaySpan> = expected.iter().map(span).collect();
    assert_eq!(days, expected, "{question}");
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
    // The week before this one from Monday on, and the seven days before today.
    check(NOW, "what did we decide last week", "2026-03-02", "2026-03-13");
    check(NOW, "last week, sales fell", "2026-03-02", "2026-03-13");
    check(MONDAY, "last week", "2026-02-23", "2026-03-01");
    check(NOW, "this week's plan", "2026-03-08", "2026-03-20");
    check(NOW, "next week", "2026-03-15", "2026-03-22");
    check(MONDAY, "next week", "2026-03-03", "2026-03-15");
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
fn a_weekday_of_a_week_is_one_day() {
    for question in [
        "on Tuesday of last week",
        "what did we decide Tuesday last week",
        "Tuesday in the last week",
        "last week's Tuesday",
        "what was said last week on Tuesday",
        "one week ago on Tuesday",
    ] {
        check(NOW, question, "2026-03-03", "2026-03-03");
    }
    check(NOW, "on Tuesday two weeks ago", "2026-02-24", "2026-02-24");
    check(NOW, "Friday of this week", "2026-03-13", "2026-03-13");
    check(NOW, "on Monday next week", "2026-03-16", "2026-03-16");
    check_all(NOW, "Tuesday of the week", &[]);
}

#[test]
fn a_weekday_right_beside_a_day_is_part_of_its_date() {
    check(NOW, "on Tuesday, November 3", "3 November", "3 November");
    for question in [
        "on Tuesday, March 3, 2026",
        "on Tuesday 3 March 2026",
        "on Tuesday the 3rd of March 2026",
        "Tue, 2026-03-03",
        "on March 3, 2026 (Tuesday)",
        "last Tuesday, 3.3.2026",
    ] {
        check(NOW, question, "2026-03-03", "2026-03-03");
    }
    let span = "from Tuesday, March 3 to Friday, March 6, 2026";
    check(NOW, span, "2026-03-03", "2026-03-06");
    let two = [("2026-03-10", "2026-03-10"), ("2026-03-05", "2026-03-05")];
    check_all(NOW, "on Tuesday and on March 5, 2026", &two);
}

#[test]
fn absolute_dates_are_read_in_their_usual_forms() {
    for question in [
        "what was decided on 2026-03-05",
        "March 5, 2026",
        "5 March 2026",
        "on the 5th of March, 2026",
        "notes of 20260305?",
        "on 5-Mar-2026",
        "2026-Mar-05",
    ] {
        check(NOW, question, "2026-03-05", "2026-03-05");
        assert_eq!(asked_dates(question, NOW)[0].wording, DateWording::Day, "{question}");
    }
    check(NOW, "what happened in March 2026", "2026-03", "2026-03");
}

#[test]
fn the_day_is_first_between_full_stops_and_where_the_month_cannot_be() {
    for question in
        ["on 13.03.2026", "notes of 13.3.2026.", "13/03/2026?", "03/13/2026", "13-3-2026"]
    {
        check(NOW, question, "2026-03-13", "2026-03-13");
    }
    check(NOW, "what was on 3.5.2026", "2026-05-03", "2026-05-03");
    check(NOW, "what was on 3.5. 2026", "2026-05-03", "2026-05-03");
    check(NOW, "who came on 05/05/2026", "2026-05-05", "2026-05-05");
    for unread in ["on 03/05/2026", "on 3-5-2026", "on 3.5.", "3.5 in all", "31.13.2026", "1.2.3"] {
        check_all(NOW, unread, &[]);
    }
}

#[test]
fn each_date_of_a_question_counts() {
    check_all(NOW, "in March or in June", &[("March", "March"), ("June", "June")]);
    check_all(NOW, "what happened in March and June", &[("March", "March"), ("June", "June")]);
    let days = [("2026-05-03", "2026-05-03"), ("2026-06-07", "2026-06-07")];
    check_all(NOW, "notes of 2026-05-03 and 2026-06-07", &days);
    check_all(NOW, "on 3 May or 7 June 2026", &days);
    check_all(NOW, "on 3 May 2026 or on 7 June", &days);
    check_all(NOW, "on 3 and 7 May", &[("3 May", "3 May"), ("7 May", "7 May")]);
    check_all(NOW, "on May 3 and 7", &[("3 May", "3 May"), ("7 May", "7 May")]);
    check_all(NOW, "plans of 2024 and 2025", &[("2024", "2024"), ("2025", "2025")]);
    let relative = [("2026-03-13", "2026-03-13"), ("2026-03-10", "2026-03-10")];
    check_all(NOW, "was it yesterday or on Tuesday", &relative);
    let both = [("2026-03-02", "2026-03-13"), ("2026-05-03", "2026-05-03")];
    check_all(NOW, "what did we decide last week about 2026-05-03", &both);
}

#[test]
fn two_dates_are_a_span_where_the_question_says_so() {
    check(NOW, "what was done between 3 May and 7 May", "3 May", "7 May");
    for question in [
        "between 3 May and 7 May 2026",
        "from 3 May 2026 to 7 May",
        "from 3 to 7 May 2026",
        "3-7 May 2026",
        "May 3–7, 2026",
        "May 3 to 7, 2026",
        "3 May – 7 May 2026",
        "the 3rd of May to the 7th of May 2026",
        "2026-05-03 to 2026-05-07",
        "between 3.5.2026 and 7.5.2026",
    ] {
        check(NOW, question, "2026-05-03", "2026-05-07");
        assert_eq!(asked_dates(question, NOW)[0].wording, DateWording::Day, "{question}");
    }
    check(NOW, "between March and June 2025", "2025-03", "2025-06");
    check(NOW, "from November to February 2026", "2025-11", "2026-02");
    check(NOW, "between 2022 and 2024", "2022", "2024");
    check(NOW, "from Monday to Friday", "2026-03-09", "2026-03-13");
    // The days of one without a year may be of two years.
    let turn = asked_dates("from November to February", NOW)[0].days;
    assert!(!turn.has_year && turn.closeness(told_days(None, &["January"]).unwrap()) == 1.0);
    assert_eq!(turn.closeness(told_days(None, &["2026-01-10"]).unwrap()), 1.0);
    assert_eq!(turn.closeness(told_days(None, &["May"]).unwrap()), 0.0);
    // In the other order they are two.
    let two = [("2026-05-07", "2026-05-07"), ("2025-05-03", "2025-05-03")];
    check_all(NOW, "from 7 May 2026 to 3 May 2025", &two);
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
        "top 3 and 7 more",
        "between two chairs and may",
        "next",
    ] {
        assert_eq!(asked_dates(question, NOW), [], "{question}");
    }
}

#[test]
fn the_words_of_a_date_are_those_that_the_question_has_nowhere_else() {
    let words = |question: &str| {
        let dates = asked_dates(question, NOW);
        let mut words: Vec<String> = dates.into_iter().flat_map(|it| it.words).collect();
        words.sort();
        words.join(" ")
    };
    assert_eq!(words("rent on March 5, 2024?"), "2024 5 march");
    assert_eq!(words("rent on Tuesday, March 5, 2024?"), "2024 5 march tuesday");
    assert_eq!(words("rent on 2024-03-05?"), "03 05 2024");
    assert_eq!(words("yesterday's rent"), "s yesterday");
    assert_eq!(words("5 boats on 5 March"), "march");
    assert_eq!(words("what did we do last week"), "last week");
    assert_eq!(words("between 3 and 7 May"), "3 7 and between may");
}

#[test]
fn any_time_and_any_words_are_read() {
    for now in [i64::MIN, -1, 0, i64::MAX] {
        for question in ["yesterday", "99 years ago", "last week", "on Monday", "2026-03-05"] {
            let _ = asked_dates(question, UnixMillis(now));
        }
    }
}
