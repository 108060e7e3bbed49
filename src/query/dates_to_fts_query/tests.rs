use expect_test::{Expect, expect};

use super::*;
use crate::model::clock::UnixMillis;
use crate::query::asked_dates::asked_dates;

#[track_caller]
fn check(question: &str, expected: Expect) {
    // The 14th of March 2026.
    let asked = &asked_dates(question, UnixMillis(1_773_484_200_000))[0];
    let forms = date_forms(asked.days, 2026);
    let mut text = String::new();
    for (name, forms) in [("exact", forms.exact), ("dotted", forms.dotted), ("vague", forms.vague)]
    {
        text += &format!("{name}:\n");
        for forms in forms.chunks(4) {
            text += &format!("  {}\n", forms.join(", "));
        }
    }
    expected.assert_eq(&text);
}

#[test]
fn a_day_is_written_in_numbers_and_with_the_name_of_its_month() {
    check(
        "on 2024-03-05",
        expect![[r#"
            exact:
              "2024 03 05", "2024 03 05t"*, "20240305"*, "2024 3 5"
              "march 5 2024", "march 5th 2024", "5 march 2024", "5th march 2024"
              "5th of march 2024", "march 05 2024", "05 march 2024", "mar 5 2024"
              "mar 5th 2024", "5 mar 2024", "5th mar 2024", "5th of mar 2024"
              "mar 05 2024", "05 mar 2024"
            dotted:
              05.03.2024, 5.3.2024
            vague:
              "march 5", "march 5th", "5 march", "5th march"
              "5th of march", "march 05", "05 march", "mar 5"
              "mar 5th", "5 mar", "5th mar", "5th of mar"
              "mar 05", "05 mar", "05 03 2024", "5 3 2024"
        "#]],
    );
    check(
        "on 22 May",
        expect![[r#"
            exact:
            dotted:
            vague:
              "may 22", "may 22nd", "22 may", "22nd may"
              "22nd of may", "05 22", "05 22t"*, "5 22"
              "22 05", "22 5", "20270522"*, "20260522"*
              "20250522"*, "20240522"*, "20230522"*, "20220522"*
              "20210522"*, "20200522"*, "20190522"*, "20180522"*
              "20170522"*, "20160522"*, "20150522"*, "20140522"*
              "20130522"*, "20120522"*, "20110522"*, "20100522"*
              "20090522"*, "20080522"*, "20070522"*, "20060522"*
        "#]],
    );
}

#[test]
fn some_days_are_written_in_numbers_and_their_months_by_name() {
    check(
        "in the last 2 days",
        expect![[r#"
            exact:
              "2026 03 12", "2026 03 12t"*, "20260312"*, "2026 3 12"
              "2026 03 13", "2026 03 13t"*, "20260313"*, "2026 3 13"
              "13 03 2026", "13 3 2026", "03 13 2026", "3 13 2026"
              "2026 03 14", "2026 03 14t"*, "20260314"*, "2026 3 14"
              "14 03 2026", "14 3 2026", "03 14 2026", "3 14 2026"
            dotted:
              12.03.2026, 12.3.2026
            vague:
              "12 03 2026", "12 3 2026", "march", "mar"
        "#]],
    );
}

#[test]
fn a_month_is_written_with_its_year_or_alone() {
    check(
        "in September 2024",
        expect![[r#"
            exact:
              "2024 09", "202409"*, NEAR("september" "2024", 2), NEAR("sep" "2024", 2)
              NEAR("sept" "2024", 2)
            dotted:
              .09.2024, .9.2024
            vague:
              "september", "sep", "sept", "09 2024"
              "9 2024"
        "#]],
    );
    check(
        "in March",
        expect![[r#"
            exact:
            dotted:
            vague:
              "march", "mar", "2027 03", "03 2027"
              "3 2027", "2026 03", "03 2026", "3 2026"
              "2025 03", "03 2025", "3 2025", "2024 03"
              "03 2024", "3 2024", "2023 03", "03 2023"
              "3 2023", "2022 03", "03 2022", "3 2022"
              "2021 03", "03 2021", "3 2021", "2020 03"
              "03 2020", "3 2020", "2019 03", "03 2019"
              "3 2019", "2018 03", "03 2018", "3 2018"
              "2017 03", "03 2017", "3 2017", "2016 03"
              "03 2016", "3 2016", "2015 03", "03 2015"
              "3 2015", "2014 03", "03 2014", "3 2014"
              "2013 03", "03 2013", "3 2013", "2012 03"
              "03 2012", "3 2012", "2011 03", "03 2011"
              "3 2011", "2010 03", "03 2010", "3 2010"
              "2009 03", "03 2009", "3 2009", "2008 03"
              "03 2008", "3 2008", "2007 03", "03 2007"
              "3 2007", "2006 03", "03 2006", "3 2006"
              "202703"*, "202603"*, "202503"*, "202403"*
              "202303"*, "202203"*, "202103"*, "202003"*
              "201903"*, "201803"*, "201703"*, "201603"*
              "201503"*, "201403"*, "201303"*, "201203"*
              "201103"*, "201003"*, "200903"*, "200803"*
              "200703"*, "200603"*
        "#]],
    );
}

#[test]
fn more_than_a_year_has_the_forms_of_its_years() {
    check(
        "last year",
        expect![[r#"
            exact:
              "2025"
            dotted:
            vague:
        "#]],
    );
    check(
        "the last 2 years",
        expect![[r#"
            exact:
              "2024", "2025", "2026"
            dotted:
            vague:
        "#]],
    );
}
