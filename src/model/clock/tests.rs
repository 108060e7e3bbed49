use super::*;

#[test]
fn a_stamp_handles_leap_days_and_times_before_the_epoch() {
    let stamp = |seconds: i64| UnixMillis(seconds * 1000 + 999).stamp();
    assert_eq!(stamp(0), "19700101T000000Z");
    assert_eq!(stamp(-1), "19691231T235959Z");
    assert_eq!(stamp(951_782_400), "20000229T000000Z");
    assert_eq!(stamp(951_868_799), "20000229T235959Z");
    assert_eq!(stamp(951_868_800), "20000301T000000Z");
    assert_eq!(stamp(1_795_310_269), "20261122T011749Z");
    assert_eq!(stamp(4_107_542_400), "21000301T000000Z");
}
#[test]
fn a_time_has_only_the_decimals_it_needs() {
    let text = |at: i64| UnixMillis(at).rfc3339();
    assert_eq!(text(0), "1970-01-01T00:00:00Z");
    assert_eq!(text(1_795_310_269_250), "2026-11-22T01:17:49.25Z");
    assert_eq!(text(951_782_400_007), "2000-02-29T00:00:00.007Z");
    assert_eq!(text(-1), "1969-12-31T23:59:59.999Z");
}
