//! Tests of values in statements: which are the same, and which may contradict.

use super::*;

#[track_caller]
fn check(a: &str, b: &str, contradicts: bool) {
    let read = StatementFeatures::of;
    let mut index = StatementIndex::default();
    index.push(read(b));
    let both = format!("{a} {:?} / {b} {:?}", read(a).values, read(b).values);
    assert_eq!(index.contradicting(&read(a)).len(), usize::from(contradicts), "{both}");
    assert_eq!(read(a).may_contradict(&read(b)), contradicts, "{both}");
    assert_eq!(read(b).may_contradict(&read(a)), contradicts, "{both}");
}

/// Checks spellings of one value.
#[track_caller]
fn check_same(values: &[&str]) {
    for pair in values.windows(2) {
        let [a, b] = [pair[0], pair[1]].map(|it| format!("The cache limit is {it}"));
        check(&a, &b, false);
    }
}

/// Checks values each two of which may contradict.
#[track_caller]
fn check_other(values: &[&str]) {
    for (nth, a) in values.iter().enumerate() {
        for b in &values[nth + 1..] {
            let [a, b] = [a, b].map(|it| format!("The cache limit is {it}"));
            check(&a, &b, true);
        }
    }
}

#[test]
fn other_values_of_the_same_subject_may_contradict() {
    check("The cache timeout is 30 s", "Cache timeout: 45s", true);
    check("The cache timeout is 30 s", "cache timeout of 30 seconds", false);
    check("Retries are enabled for payments", "payments: retries disabled", true);
    check("The cache timeout is 30 s", "The queue holds 45 items", false);
    check("The cache timeout is short", "The cache timeout is 45 s", false);
    check("cache timeout 1.50 s", "cache timeout 1.5 s", false);
    check("The gateway listens on port 80", "The gateway listens on port 8080", true);
}

#[test]
fn a_sign_belongs_to_its_number() {
    check_other(&["5", "-5", "-6"]);
    check_same(&["-5", "−5", "-5.0"]);
    check_same(&["+5", "5"]);
    check_other(&["3-5", "3 and -5"]);
    check_same(&["0", "-0"]);
    check_other(&["-40%", "40%"]);
}

#[test]
fn signs_between_groups_of_digits_mean_nothing() {
    check_same(&["1,000", "1000", "1_000", "1'000", "1\u{202f}000"]);
    check_same(&["1,234,567.50 s", "1234567.5 s"]);
    check_other(&["1,000", "1,500", "1", "10,000"]);
    check_other(&["0,125", "125"]);
}

#[test]
fn numbers_with_units_are_compared_by_what_they_are_worth() {
    check_same(&["60 seconds", "1 minute", "60s", "1min", "60,000 ms", "60-second"]);
    check_same(&["24 h", "1 day", "1,440 minutes"]);
    check_same(&["2 weeks", "14 days"]);
    check_same(&["1 year", "12 months"]);
    check_other(&["60 seconds", "1 hour", "1 month", "60"]);
    check_same(&["2 GiB", "2048 MiB"]);
    check_same(&["0.5 s", ".5 s", "500ms", "5e-1 s"]);
    check_same(&["3 million rows", "3,000,000 rows", "3e6 rows"]);
    check_other(&["3 million rows", "3 thousand rows", "3 rows"]);
    check_same(&["1.5 km", "1500000 mm"]);
    check_other(&["5 km", "5 kg", "5 mm"]);
    check_other(&["5 am", "5 pm"]);
    check_other(&["10 MB", "10 MB/s", "10 MB/min"]);
    check_same(&["10 MB/s", "10MB/sec"]);
    check_other(&["100/s", "100/h", "100"]);
}

#[test]
fn units_that_nobody_can_tell_apart_may_contradict() {
    check_other(&["2 GB", "2048 MB", "2000 MB"]);
    check_other(&["10 Mb", "10 MB"]);
    check_other(&["10%", "10"]);
    check_same(&["10 %", "10 percent", "10.0%"]);
}

#[test]
fn money_is_one_whatever_stands_for_it() {
    check_same(&["$5", "5 USD", "USD 5", "US$5", "$5.00", "5 dollars"]);
    check_same(&["€1,200", "1200 euros", "EUR 1200"]);
    check_same(&["-$5", "$-5", "-5 USD"]);
    check_other(&["$5", "5 EUR", "5 CAD", "5", "-$5", "$5m", "$5 million"]);
}

#[test]
fn versions_are_other_where_a_part_of_them_is() {
    check_other(&["v1.2", "v1.3", "v1.10", "v1.1", "v2"]);
    check_same(&["v1.2", "1.2", "V1.2", "1.2.0"]);
    check_same(&["1.0", "1", "v1"]);
    check_other(&["3.1", "3.10", "3.11"]);
    check_other(&["1.2.3", "1.2.3-rc1", "1.2.3-rc2", "1.2.4", "1.2.3a", "1.2.3b4"]);
    check_other(&["python3.11", "python3.12"]);
    check_same(&["python3.11", "python 3.11"]);
    check_other(&["10.0.0.1", "10.0.0.10", "10.0.1.0"]);
    check_other(&["0x1F", "0x2F", "0"]);
}

#[test]
fn a_day_is_one_however_it_is_written() {
    check_same(&[
        "2026-01-02",
        "2 January 2026",
        "January 2, 2026",
        "Jan. 2nd 2026",
        "2nd of January 2026",
        "02.01.2026",
        "2026/1/2",
    ]);
    check_same(&["13/01/2026", "01/13/2026", "2026-01-13"]);
    check_other(&["01/02/2026", "2026-01-02", "2026-02-01"]);
    check_other(&["January 2026", "February 2026", "2026", "2 January 2026", "2 January"]);
    check_same(&["January 2026", "2026-01", "Jan 2026"]);
    check_other(&["9:30", "9:45", "9:30 pm", "30:09"]);
    check_same(&["9:30", "09:30"]);
    check_other(&["2026-01-02T10:00:00Z", "2026-01-02T11:00:00Z", "2026-01-02"]);
}

#[test]
fn on_is_a_switch_where_nothing_stands_on_anything() {
    check("The release date is on 2026-01-02", "release date: 2 January 2026", false);
    check("The gateway listens on port 80", "gateway listens at port 80", false);
    check("Cache compression is on.", "Cache compression is off", true);
    check("Cache compression is on for payments", "Cache compression is off", true);
    check("They turned on cache compression", "They turned off cache compression", true);
}

#[test]
fn every_text_is_read() {
    for text in ["", "-", "$", ".", "v", "0x", "1.", "-$", "1e", "9:", "2026-", "sept", "may", "µ"]
    {
        assert!(!StatementFeatures::of(text).may_contradict(&StatementFeatures::of(text)));
    }
    check_other(&["99999999999999999999999", "99999999999999999999998"]);
    check_other(&["9e99 s", "9e98 s"]);
    check("Sept 5: cache limit", "September 5 is the cache limit", false);
}
