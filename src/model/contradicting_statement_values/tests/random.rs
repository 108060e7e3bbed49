//! Tests of random values: renderings of one agree, and those of two different ones never do.

use proptest::prelude::*;

use crate::model::contradicting_statement_values::StatementFeatures;
use crate::model::month_names::MONTHS;

/// A value as a person means it.
#[derive(Clone, Debug, PartialEq, Eq)]
enum MeantValue {
    Number(u64),
    /// A number of a unit, as the row of [`UNITS`] spells it.
    Amount(u64, usize),
    Dollars(u64),
    Day {
        year: u32,
        month: u32,
        day: u32,
    },
    Code(char, u64),
    Version(u32, u32, u32),
}

/// Spellings of units no two of which have one base.
const UNITS: &[&[&str]] = &[
    &["s", " s", " seconds", "秒", " 秒", "초"],
    &["kg", " kg", "-kg", "公斤", "千克"],
    &["V", " V", "v", "-V"],
    &["%", " %", " percent", "％"],
    &["円", " JPY", " 円"],
    &[" months", "か月", "개월"],
];

impl MeantValue {
    fn renderings(&self) -> Vec<String> {
        match self {
            MeantValue::Number(number) => number_renderings(*number),
            MeantValue::Amount(number, unit) => {
                let numbers = number_renderings(*number);
                let is_apart = |number: &str, unit: &str| {
                    let is_word = |it: char| it.is_ascii_alphabetic();
                    !(number.ends_with(is_word) && unit.starts_with(|it| is_word(it) || it == '-'))
                };
                let spell = |unit: &&'static str| {
                    let numbers = numbers.iter().filter(|it| is_apart(it, unit));
                    numbers.map(|it| format!("{it}{unit}")).collect::<Vec<_>>()
                };
                UNITS[*unit].iter().flat_map(spell).collect()
            }
            MeantValue::Dollars(number) => number_renderings(*number)
                .iter()
                .flat_map(|it| {
                    [
                        format!("${it}"),
                        format!("{it} USD"),
                        format!("USD {it}"),
                        format!("{it}ドル"),
                    ]
                })
                .collect(),
            MeantValue::Day { year, month, day } => day_renderings(*year, *month, *day),
            MeantValue::Code(letter, number) => {
                vec![
                    format!("{letter}{number}"),
                    format!("{}{number}", letter.to_ascii_lowercase()),
                ]
            }
            MeantValue::Version(a, b, c) => vec![format!("{a}.{b}.{c}"), format!("v{a}.{b}.{c}")],
        }
    }
}

fn number_renderings(number: u64) -> Vec<String> {
    let digits = number.to_string();
    let mut all = vec![digits.clone()];
    for separator in [",", "_", "'", "\u{202f}"] {
        let mut grouped = String::new();
        for (nth, digit) in digits.chars().enumerate() {
            if 0 < nth && (digits.len() - nth).is_multiple_of(3) {
                grouped.push_str(separator);
            }
            grouped.push(digit);
        }
        all.push(grouped);
    }
    for (sign, power) in
        [("万", 10_000), ("億", 100_000_000), ("k", 1_000), (" million", 1_000_000)]
    {
        if 0 < number && number.is_multiple_of(power) {
            all.push(format!("{}{sign}", number / power));
        }
    }
    if 10_000 < number && number < 100_000_000 {
        all.push(format!("{}万{}", number / 10_000, number % 10_000));
    }
    all
}

fn day_renderings(year: u32, month: u32, day: u32) -> Vec<String> {
    let name = MONTHS[month as usize - 1];
    let mut name = name.to_owned();
    name[..1].make_ascii_uppercase();
    let short = &name[..3];
    vec![
        format!("{year}-{month:02}-{day:02}"),
        format!("{year}/{month}/{day}"),
        format!("{day:02}.{month:02}.{year}"),
        format!("{day} {name} {year}"),
        format!("{name} {day}, {year}"),
        format!("{name} {day},{year}"),
        format!("{short}-{day:02}-{year}"),
        format!("{day:02}-{short}-{year}"),
        format!("{year}-{short}-{day:02}"),
        format!("{short}/{day:02}/{year}"),
        format!("{short}.{day:02}.{year}"),
        format!("{day}th of {name} {year}"),
        format!("{year}年{month}月{day}日"),
        format!("{year}년 {month}월 {day}일"),
    ]
}

fn meant_value() -> impl Strategy<Value = MeantValue> {
    let number =
        || prop_oneof![0..50_u64, 0..2_000_000_u64, (0..999_u64).prop_map(|it| it * 10_000)];
    prop_oneof![
        number().prop_map(MeantValue::Number),
        (number(), 0..UNITS.len()).prop_map(|(number, unit)| MeantValue::Amount(number, unit)),
        number().prop_map(MeantValue::Dollars),
        (2000..2030_u32, 1..=12_u32, 1..=28_u32).prop_map(|(year, month, day)| MeantValue::Day {
            year,
            month,
            day
        }),
        (prop::sample::select(vec!['A', 'B', 'Q', 'S']), 1..20_u64)
            .prop_map(|(letter, number)| MeantValue::Code(letter, number)),
        (0..4_u32, 0..4_u32, 1..12_u32).prop_map(|(a, b, c)| MeantValue::Version(a, b, c)),
    ]
}

/// Returns statements that tell a value, each with its rendering.
fn statements(value: &MeantValue) -> Vec<(String, StatementFeatures)> {
    let read = |it: String| {
        let statement = StatementFeatures::of(&format!("The cache limit is {it}"));
        (it, statement)
    };
    value.renderings().into_iter().map(read).collect()
}

proptest! {
    #[test]
    fn renderings_of_one_value_agree(value in meant_value()) {
        let statements = statements(&value);
        for (a, read_a) in &statements {
            for (b, read_b) in &statements {
                prop_assert!(!read_a.may_contradict(read_b), "{a} / {b}");
                prop_assert!(read_a.has_equal_values(read_b), "{a} / {b}");
            }
        }
    }

    #[test]
    fn renderings_of_two_values_never_agree(a in meant_value(), b in meant_value()) {
        prop_assume!(a != b);
        let others = statements(&b);
        for (a, read_a) in statements(&a) {
            for (b, read_b) in &others {
                prop_assert!(!read_a.has_equal_values(read_b), "{a} / {b}");
            }
        }
    }
}
