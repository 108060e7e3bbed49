//! Tests of values in statements: which are the same, and which may contradict.

use super::*;

#[track_caller]
fn check(a: &str, b: &str, contradicts: bool) {
    let read = StatementFeatures::of;
    let mut index = StatementWordIndex::default();
    index.push(read(b));
    let both = format!("{a} {:?} / {b} {:?}", read(a).values, read(b).values);
    assert_eq!(index.contradicting(&read(a)).count(), usize::from(contradicts), "{both}");
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
    check_same(&["2\u{a0}January 2026", "2026-01-02", "2\u{202f}January\u{a0}2026"]);
    check_same(&["EUR\u{202f}5", "5\u{a0}EUR", "5 EUR"]);
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
fn groups_of_thousands_differ_by_their_number() {
    check_other(&["1,000", "1,000,000", "2,000"]);
    check_other(&["$10,000", "$10,000,000"]);
    check_same(&["USD$5", "$5", "US$5"]);
    check_other(&["$5", "HKD$5"]);
}

#[test]
fn a_long_run_of_spaces_is_read_in_one_pass() {
    let text = format!("The cache limit is 5.{}x", " ".repeat(400_000));
    assert_eq!(StatementFeatures::of(&text).values.len(), 1);
}

#[test]
fn a_long_run_of_words_and_numbers_is_read_in_one_pass() {
    let run = "b2.2s.".repeat(100_000);
    let read = StatementFeatures::of(&format!("The cache limit is {run}"));
    assert_eq!(read.values.len(), 1, "{:?}", read.values.first());
}

#[test]
fn letters_that_touch_a_number_and_are_no_unit_are_a_word() {
    for [a, b] in [
        ["16px", "16 px"],
        ["10Mbps", "10 Mbps"],
        ["8vCPU", "8 vCPU"],
        ["3x", "3 x"],
        ["5k", "5 k"],
    ] {
        check_same(&[a, b]);
    }
    check_other(&["16px", "32px", "1.2b3", "1.2b4"]);
}

#[test]
fn a_month_without_a_year_has_a_capital_and_ends_with_its_sentence() {
    check_same(&[
        "5",
        "5 and may be raised later",
        "5. May be raised later",
        "5, may grow",
        "5. Sept hires raise it",
    ]);
    check_same(&["5 May", "May 5", "5th of May", "May 5th"]);
    check_other(&["5 May", "5 may join", "5 May 2026"]);
    check_same(&["5 may 2026", "2026-05-05", "May 5, 2026"]);
}

#[test]
fn a_comma_between_digits_may_stand_between_two_numbers() {
    check("The gateway ports are 80,443", "gateway ports: 80, 443", false);
    check("The gateway ports are 80,443", "gateway ports: 80 and 8443", true);
    check_same(&["1,234", "1234"]);
    check_other(&["1,234", "1,235", "1"]);
}

#[test]
fn a_time_of_the_day_is_one_however_it_is_written() {
    check_same(&["9 am", "9:00 am", "9am", "9 a.m.", "09:00 AM"]);
    check_other(&["9:30 a.m.", "9:30 p.m.", "9:30"]);
}

#[test]
fn units_that_are_known_tell_values_apart() {
    check_other(&["$5", "CA$5", "HK$5", "A$5", "5"]);
    check_same(&["CA$5", "C$5", "5 CAD"]);
    check_other(&["10 Mbps", "10 Gbps", "10 MBps"]);
    check_same(&["1000 Mbps", "1 Gbps"]);
    check_other(&["10°C", "10°F", "10"]);
    check_same(&["10°C", "10 °C"]);
    check_other(&["5 PB", "5 EB", "5 TB"]);
    check_other(&["100 requests per second", "100 requests per minute", "100 requests"]);
    check_same(&["100 requests per second", "100 requests/s", "100/s", "100 per second"]);
    check_other(&["$5 per month", "$5 per year", "$5"]);
    check_same(&["$5 per month", "$5/month"]);
}

#[test]
fn an_amount_in_several_units_is_their_sum() {
    check_same(&["5 minutes 30 seconds", "330 seconds", "5m30s", "5 min and 30 s", "5.5 min"]);
    check_same(&["1 day 2 hours 30 minutes", "26.5 h", "1d2h30m"]);
    check_same(&["1 year 6 months", "18 months"]);
    check_same(&["1 MiB 512 KiB", "1.5 MiB"]);
    check_other(&["5 minutes 30 seconds", "5 minutes", "30 seconds", "5 minutes 30"]);
    check_other(&["30 seconds 5 minutes", "5 minutes 30 seconds"]);
    check_other(&["5m30", "5m30x", "5m30s2", "5m"]);
    check_same(&["1 day, 2 hours", "26 hours", "1 day, and 2 hours"]);
    check_same(&["2 hours, 30 minutes", "2 hours 30 minutes"]);
    check_same(&["1 day, 2 hours, and 30 minutes", "26.5 h"]);
    check_other(&["2 hours, 1 day", "26 hours", "2 hours, 30"]);
}

#[test]
fn degrees_are_one_with_and_without_a_space() {
    check_same(&["10°C", "10° C", "10 ° C", "10 °C."]);
    check_other(&["10° C", "10° F", "10°"]);
    check_same(&["10°", "10° Cold"]);
}

#[test]
fn a_day_with_a_point_is_one_before_a_month_with_its_year() {
    check_same(&["2. May 2026", "2026-05-02", "2.May 2026"]);
    check_same(&["2. May be raised later", "2"]);
}

#[test]
fn a_month_in_small_letters_is_one_unless_it_is_a_word() {
    check_same(&["5 january", "January 5", "5 Jan", "5th of january", "january 5"]);
    check_other(&["5 january", "5 february", "5 march ahead"]);
    check_same(&["5 march ahead", "5"]);
}

#[test]
fn a_k_behind_a_number_is_a_thousand() {
    check_same(&["5k", "5000", "5,000", "5K", "5 k", "5 thousand", "5k."]);
    check_same(&["$5k", "$5,000", "5k USD"]);
    check_same(&["2.5k rows", "2500 rows"]);
    check_other(&["5k", "5", "5kb", "5k/s"]);
}

#[test]
fn one_letter_that_touches_a_number_tells_it_apart() {
    check("The meeting room is room 4A", "The meeting room is room 4C", true);
    check("The meeting room is room 4A", "The meeting room is room 4a", false);
    check_other(&["4A", "4C", "4"]);
    check_same(&["5V", "5 V", "5.0 V"]);
    check_same(&["5", "5 a day"]);
}

#[test]
fn a_unit_of_money_may_touch_its_multiple() {
    check_same(&["5k€", "5 k€", "5k €", "€5k", "5,000 €", "5kEUR", "5k EUR", "5 kEUR", "5K€"]);
    check_same(&["3 million€", "€3,000,000"]);
    check_other(&["5k€", "5k$", "5k£", "5kCHF", "5k", "5€", "5kg"]);
}

#[test]
fn what_touches_a_number_makes_no_equal_values_differ() {
    check_same(&["5°", "5.0°", "5 °"]);
    check_same(&["5秒", "5 秒", "5.0秒"]);
    check_same(&["5L", "5 L", "5l", "5 L.", "5.0 L"]);
    check_same(&["25C", "25 C", "25 c"]);
    check_same(&["5t", "5 t"]);
    check_same(&["1.50v", "1.5v", "1.5 V"]);
    check_same(&["5L/min", "5 L/min", "5 l per minute"]);
    check_other(&["5 L", "5 C", "5½", "6 L"]);
    check_other(&["4A.5", "4A.6"]);
}

#[test]
fn a_letter_behind_a_space_may_be_no_unit() {
    check("The zone has 3 A records", "zone: 3 address records", false);
    check("The zone has 3 A records", "The zone has 3 B records", true);
    check("The zone has 3 A records", "zone: 4 address records", true);
    check("The zone has 1,200 A records", "zone: 1200 address records", false);
    check("In 2026 I moved the cache server", "A cache server was moved in 2026", false);
    check("In 2026 I moved the cache server", "In 2026 a cache server was moved", false);
    check_same(&["5 o'clock", "5", "5 e.g. for a test"]);
    check_same(&["3.10", "3.10 C extensions", "3.10"]);
    check_same(&["1.2.3 C extensions", "1.2.3"]);
}

#[test]
fn a_month_may_be_joined_to_its_day_and_its_year() {
    check_same(&[
        "02-Jan-2026",
        "2026-01-02",
        "2026-Jan-02",
        "2-January-2026",
        "02/Jan/2026",
        "02.Jan.2026",
        "02.January.2026",
        "2026 January 2",
        "2026 Jan 02",
    ]);
    check_other(&["02-Jan-2026", "02-Feb-2026", "2026-Jan-03", "2026-Feb-03", "2025-Feb-02"]);
    check_same(&["5-May", "5 May", "May 5"]);
    check_same(&["May-2026", "2026 May", "May 2026"]);
    check_same(&["2026 may be too late", "2026"]);
    check_same(&["2026 - 5 items", "2026 -- 5 items"]);
}

#[test]
fn a_rate_without_a_number_is_no_value() {
    assert!(!StatementFeatures::of("The gateway is billed per month").has_values());
    check("The gateway is billed per month", "The gateway is billed per year", false);
    check("The gateway is billed per month", "The gateway is billed $5 per month", false);
    check("The limit per month of the gateway is 5", "gateway limit: 5 per month", false);
}

#[test]
fn a_statement_is_compared_with_the_newest_that_have_its_words() {
    let mut index = StatementWordIndex::default();
    let ports: Vec<String> = (0..5).map(|it| format!("gateway port {it}")).collect();
    let others = ["gateway host 9", "gateway port 7", "port of the gateway"];
    let all = ports.iter().map(String::as_str).chain(others);
    all.for_each(|it| index.push(StatementFeatures::of(it)));
    let found = |text: &str| {
        let statement = StatementFeatures::of(text);
        index.contradicting(&statement).collect::<Vec<_>>()
    };
    assert_eq!(found("The gateway has port 7."), [4, 3, 2, 1, 0]);
    assert_eq!(found("The gateway has port 3."), [6, 4, 2, 1, 0]);
    let mut index = StatementWordIndex::default();
    for nth in 0..COMPARED_MAX + 2 {
        index.push(StatementFeatures::of(if nth < 2 { "cache limit 5" } else { "cache size" }));
    }
    let statement = StatementFeatures::of("cache limit 6");
    assert_eq!(index.contradicting(&statement).count(), 0, "they are older than many others");
}

#[test]
fn a_month_may_be_joined_to_its_day_before_the_year() {
    check_same(&[
        "Jan-02-2026",
        "2026-01-02",
        "Jan/02/2026",
        "Jan.02.2026",
        "January-2-2026",
        "January 2,2026",
        "Jan 02-2026",
    ]);
    check_other(&["Jan-02-2026", "Feb-02-2026", "Jan-03-2026", "Jan-02-2025"]);
    check_other(&["January 2,2026", "February 2,2026", "January 3,2026"]);
    check_same(&["Jan 2.5 million", "Jan 2.5 million rows"]);
    check_other(&["Jan 2.5 million", "Jan 2.6 million"]);
}

#[test]
fn some_days_of_a_month_are_of_that_month() {
    check_other(&["January 2-5", "February 2-5", "January 3-5", "January 2-6"]);
    check_same(&["January 2-5", "Jan 2-5", "Jan. 2–5"]);
}

#[test]
fn a_date_in_digits_that_has_two_readings_stays_as_it_is_written() {
    check_other(&["02-05-2026", "05-02-2026", "2026-02-05"]);
    check_same(&["13-01-2026", "13/01/2026", "2026-01-13"]);
    check_other(&["01/02/26", "02/01/26", "01/02/27"]);
    check_same(&["1/2/26", "01-02-26"]);
}

#[test]
fn a_date_in_signs_is_one_in_digits() {
    check_same(&[
        "2026年1月2日",
        "2026-01-02",
        "2026년 1월 2일",
        "2026 年 1 月 2 日",
        "2026年01月02号",
    ]);
    check_other(&["2026年1月2日", "2026年2月1日", "2026年1月", "1月2日", "2026年"]);
    check_same(&["2026年", "2026"]);
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
