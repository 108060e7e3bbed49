use super::*;
use crate::model::clock::UnixMillis;
use crate::query::asked_dates::asked_dates;

/// The 14th of March 2026.
const NOW: UnixMillis = UnixMillis(1_773_484_200_000);

fn asked_days(question: &str, now: UnixMillis) -> Option<DaySpan> {
    asked_dates(question, now).first().map(|it| it.days)
}

#[track_caller]
fn check(question: &str, titles: &[&str], closeness: f64) {
    let asked = asked_days(question, NOW);
    let told = told_days(None, titles);
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
    check("on 14 March 2024", &["2024-03-14", "Goals of 2024"], 1.0);
    check("on 2 March 2024", &["2024-03-14", "Goals of 2024"], 0.0);
}

#[test]
fn names_of_files_are_read_in_their_usual_forms() {
    for name in ["2024-03-14", "2024_03_14", "20240314", "20240314101500-lease", "2024-03-14T10:00"]
    {
        check("what was on March 14, 2024", &[name], 1.0);
        check("what was on March 25, 2024", &[name], 0.0);
    }
    for name in ["20241314", "20240332", "12345678", "202403141", "99990101"] {
        assert_eq!(told_days(None, &[name]), None, "{name}");
    }
}

#[test]
fn front_matter_dates_what_has_no_date_of_its_own() {
    let told = |front_matter: &str, titles: &[&str]| {
        let asked = asked_days("on 14 March 2024", NOW).unwrap();
        told_days(Some(front_matter), titles).map_or(0.0, |it| asked.closeness(it))
    };
    for dated in [
        "title: 2020\ndate: 2024-03-14",
        "Created: 2024-03-14T10:00:00Z\ntags:\n- 2020-01-01",
        "updated: 2025-01-01\ndate: 14 March 2024",
        "published: March 14, 2024",
    ] {
        assert_eq!(told(dated, &["lease", "Lease"]), 1.0, "{dated}");
    }
    for other in ["title: 2024-03-14", "date: soon", "date: 2024-04-20", "birthdate: 2024-03-14"] {
        assert_eq!(told(other, &["lease"]), 0.0, "{other}");
    }
    // A heading is next to the text.
    assert_eq!(told("date: 2024-03-14", &["lease", "20 April 2024"]), 0.0);
    assert_eq!(told("date: 2024-04-20", &["lease", "14 March"]), 1.0);
    assert_eq!(told("date: 2024", &["lease", "14 March"]), 1.0);
}

#[test]
fn other_titles_are_no_dates() {
    for title in ["Session 8", "may contain nuts", "session_01", "March of time"] {
        assert_eq!(told_days(None, &[title]), None, "{title}");
    }
    assert!(told_days(None, &["March"]).is_some());
}
