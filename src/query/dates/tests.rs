use super::*;

/// The 14th of March 2026.
const NOW: Millis = Millis(1_773_484_200_000);

#[track_caller]
fn check(question: &str, titles: &[&str], closeness: f64) {
    let asked = asked_days(question, NOW);
    let told = told_days(titles);
    let found = asked.zip(told).map_or(0.0, |(asked, told)| asked.closeness(told));
    assert!((found - closeness).abs() < 1e-9, "{question}: {asked:?} {told:?}, {found}");
}

#[test]
fn days_months_and_years_meet_headings() {
    let session = ["session_08", "Session 8: 1:51 pm on 15 July, 2023"];
    check("What was said on 15 July, 2023?", &session, 1.0);
    check("What was said on July 15?", &session, 1.0);
    check("What was said on the 15th of July 2023?", &session, 1.0);
    check("What happened in July 2023?", &session, 1.0);
    check("What happened in 2023?", &session, 1.0);
    check("What was said on July 15, 2022?", &session, 0.0);
    check("What happened in May?", &session, 0.0);
}

#[test]
fn what_is_near_counts_less() {
    let session = ["2023-08-03"];
    check("the week before August 9, 2023", &session, NEAR);
    check("on August 12, 2023", &session, 0.0);
    check("in July 2023", &session, NEAR);
    check("in June 2023", &session, 0.0);
    // Across the turn of the year.
    check("on December 30, 2023", &["2024-01-02"], NEAR);
    check("on December 30", &["2 January"], NEAR);
}

#[test]
fn titles_narrow_each_other() {
    let titles = ["2024-03-journal / March / 4 March"];
    check("what did I do on March 4", &titles, 1.0);
    check("what did I do on 2024-03-04", &titles, 1.0);
    check("what did I do on 2024-03-20", &titles, 0.0);
    check("in 2023", &titles, 0.0);
    check("in April 2025", &["2024", "April"], 0.0);
    check("in April 2024", &["2024", "April"], 1.0);
}

#[test]
fn relative_words_are_counted_from_today() {
    check("what did we decide yesterday", &["2026-03-13"], 1.0);
    check("what did we decide last week", &["2026-03-05"], 1.0);
    check("what did we decide last month", &["February 2026"], 1.0);
    check("what did we decide 3 days ago", &["2026-03-11"], 1.0);
    check("what did we decide two years ago", &["2024-07-01"], 1.0);
    check("what did we decide last year", &["2026-03-11"], 0.0);
}

#[test]
fn other_words_are_no_dates() {
    for question in ["may I march on", "who may come", "10:30", "version 2.4.1", "", "a / 99 - 1"] {
        assert_eq!(asked_days(question, NOW), None, "{question}");
    }
    for title in ["Session 8", "may contain nuts", "session_01", "March of time"] {
        assert_eq!(told_days(&[title]), None, "{title}");
    }
    assert!(told_days(&["March"]).is_some());
}
