use expect_test::{Expect, expect};

use super::*;
use crate::model::clock::Millis;
use crate::query::asked_date::asked_date;

#[track_caller]
fn check(question: &str, expected: Expect) {
    // The 14th of March 2026.
    let asked = asked_date(question, Millis(1_773_484_200_000)).unwrap();
    let forms = date_forms(asked.days, 2026);
    let lines = [("exact", forms.exact), ("vague", forms.vague)];
    let lines = lines.map(|(name, forms)| format!("{name}: {}\n", forms.join(" OR ")));
    expected.assert_eq(&lines.concat());
}

#[test]
fn a_day_is_written_in_numbers_and_with_the_name_of_its_month() {
    check(
        "on 2024-03-05",
        expect![[r#"
        exact: "2024 03 05" OR "2024 03 05t"* OR "20240305"* OR "2024 3 5" OR "march 5 2024" OR "march 5th 2024" OR "5 march 2024" OR "5th march 2024" OR "5th of march 2024" OR "march 05 2024" OR "05 march 2024" OR "mar 5 2024" OR "mar 5th 2024" OR "5 mar 2024" OR "5th mar 2024" OR "5th of mar 2024" OR "mar 05 2024" OR "05 mar 2024"
        vague: "march 5" OR "march 5th" OR "5 march" OR "5th march" OR "5th of march" OR "march 05" OR "05 march" OR "mar 5" OR "mar 5th" OR "5 mar" OR "5th mar" OR "5th of mar" OR "mar 05" OR "05 mar"
    "#]],
    );
    check(
        "on 22 May",
        expect![[r#"
        exact: 
        vague: "may 22" OR "may 22nd" OR "22 may" OR "22nd may" OR "22nd of may" OR "05 22"
    "#]],
    );
}

#[test]
fn some_days_are_written_in_numbers_and_their_months_by_name() {
    check(
        "in the last 2 days",
        expect![[r#"
        exact: "2026 03 12" OR "2026 03 12t"* OR "20260312"* OR "2026 3 12" OR "2026 03 13" OR "2026 03 13t"* OR "20260313"* OR "2026 3 13" OR "2026 03 14" OR "2026 03 14t"* OR "20260314"* OR "2026 3 14"
        vague: "march" OR "mar"
    "#]],
    );
}

#[test]
fn a_month_is_written_with_its_year_or_alone() {
    check(
        "in September 2024",
        expect![[r#"
        exact: "2024 09" OR "202409"* OR NEAR("september" "2024", 2) OR NEAR("sep" "2024", 2) OR NEAR("sept" "2024", 2)
        vague: "september" OR "sep" OR "sept"
    "#]],
    );
    check(
        "in March",
        expect![[r#"
        exact: 
        vague: "march" OR "mar" OR "2026 03" OR "202603"* OR "2025 03" OR "202503"*
    "#]],
    );
}

#[test]
fn more_than_a_year_has_the_forms_of_its_years() {
    check(
        "last year",
        expect![[r#"
        exact: "2025"
        vague: 
    "#]],
    );
    check(
        "the last 2 years",
        expect![[r#"
        exact: "2024" OR "2025" OR "2026"
        vague: 
    "#]],
    );
}
