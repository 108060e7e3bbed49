//! Tests of how values are spelled: dates, powers of ten, and letters beside a number.

use super::{check, check_other, check_same};

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
    check_same(&["2年", "2 years", "2年間", "24か月", "24개월"]);
}

#[test]
fn signs_of_powers_of_ten_belong_to_the_number() {
    check_other(&["5億", "5万", "5", "5兆", "5千", "5百"]);
    check_same(&["5万", "50,000", "5萬", "50000"]);
    check_same(&["5億", "5亿", "5억", "500 million", "500,000,000", "５億"]);
    check_same(&["1億2000万", "120,000,000", "1.2億"]);
    check_same(&["3万5千", "35,000", "3万5000", "3.5万"]);
    check_same(&["5万円", "50000円", "50,000 JPY", "JPY 5万"]);
    check_other(&["5万円", "5億円", "5円", "5万ドル"]);
    check_same(&["5千克", "5 kg"]);
}

#[test]
fn words_of_powers_of_ten_belong_to_the_number() {
    check_other(&["5", "5 hundred", "5 thousand", "5 lakh", "5 crore", "5 trillion", "5 dozen"]);
    check_same(&["5 hundred thousand", "500,000", "5 lakh"]);
}

#[test]
fn a_unit_in_a_script_without_spaces_is_the_unit_of_its_name() {
    check_same(&["5秒", "5 s", "5초", "5 秒", "5秒です", "5秒钟"]);
    check_other(&["5秒", "5分", "5時間", "5日", "5週間", "5か月", "5年"]);
    check_same(&["5分30秒", "330 s"]);
    check_same(&["5kgです", "5 kg"]);
    check_other(&["5件", "5枚"]);
    check_same(&["5件", "5 件", "5件です", "５件"]);
    check_same(&["5です", "5", "5になりました", "5和"]);
    check("캐시 제한은 5억", "캐시 제한은 5만", true);
    check("캐시 제한은 5억", "캐시의 캐시 제한은 500 million", false);
}

#[test]
fn letters_that_touch_a_number_tell_it_apart_from_other_letters() {
    check_other(&["16px", "16em", "32px"]);
    check_same(&["16px", "16 px", "16", "16PX"]);
    check_same(&["64bit", "64bits", "64-bit", "64 bits"]);
    check_same(&["5th", "5"]);
    check("Limits are 16px and 32px here", "limits here: 16 px and 32px", false);
}

#[test]
fn a_letter_that_no_noun_follows_is_a_unit() {
    check_other(&["5", "5 V", "5 A", "6 V", "5 kV"]);
    check_same(&["5 V", "5 V.", "5 V, and may grow", "5 V at most", "5V", "5 V (peak)"]);
    check_other(&["5", "5 V now"]);
    check_other(&["5", "5 V per rail"]);
    check("The zone has 3 A records", "zone: 3 address records", false);
}

#[test]
fn a_letter_before_a_number_tells_it_apart() {
    check("The meeting room is room A4", "The meeting room is room A3", true);
    check("The meeting room is room A4", "The meeting room is room B4", true);
    check("The meeting room is room A4", "The meeting room is room a4.", false);
    check("The printer takes version A4 paper", "The printer takes paper: A4", false);
    check("The model is GPT-4 by default", "The default model is gpt-4", false);
    check("The model is GPT-4 by default", "The default model is gpt-3", true);
}

#[test]
fn a_letter_and_a_number_may_name_what_a_statement_is_about() {
    check("The S3 bucket limit is 100", "The bucket limit is 100", false);
    check("The bucket limit of H2 and S3", "The bucket limit of H2", false);
    check("The bucket limit in s3-logs", "The bucket limit in s4-logs", false);
    check("The S3 bucket limit is 100", "The bucket limit is 200", true);
}

#[test]
fn a_comma_stands_between_two_numbers_of_a_list_only() {
    check_other(&["5,005", "5"]);
    check_other(&["555,555", "555"]);
}
