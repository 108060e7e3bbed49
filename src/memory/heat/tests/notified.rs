//! Tests for notifications of cold nodes: their recipients and their times.

use super::*;

#[test]
fn a_read_node_is_notified_when_cold_and_not_before() {
    let (fixture, memory) = untouched(3_000);
    memory.set_rates(HeatParameters { notify_max: 700, ..HeatParameters::default() });
    // Two of three nodes, later ones more often.
    for nth in (0..3_000).filter(|it| it % 3 != 0) {
        let times = 1 + nth as usize / 1_000;
        memory.warm(&vec![(NodeRowId(nth + 1), AccessKind::Read); times]);
    }
    let mut notified_of = Vec::new();
    for _ in 0..60 {
        cool(&fixture, &memory, 1);
        let Some(offer) = memory.cold_nodes().unwrap() else { continue };
        let is_cold = |it: &ColdNode| it.temperature < memory.rates().line();
        assert!(offer.nodes().iter().all(is_cold), "{:?}", offer.nodes());
        notified_of.extend(offer.nodes().iter().map(|it| it.key.0));
        offer.confirm(memory.clock().now()).unwrap();
    }
    let (unread, read) = notified_of.split_at(1_000);
    assert!(unread.iter().all(|it| it % 3 == 1), "{unread:?}");
    assert!(read.is_sorted_by_key(|it| it / 1_000), "{read:?}");
    notified_of.sort_unstable();
    assert_eq!(notified_of, (1..=3_000).collect::<Vec<_>>(), "each once");
}

#[test]
fn every_cold_node_is_notified_once_across_restarts() {
    let (fixture, mut memory) = WarmingFixture::compiled(10_000);
    let n_nodes = fixture.number("SELECT count(*) FROM node");
    assert!(10_000 <= n_nodes);
    memory.set_rates(HeatParameters { notify_max: 999, ..HeatParameters::default() });
    cool(&fixture, &memory, 32);
    assert_eq!(notified(&memory).len(), 0);
    cool(&fixture, &memory, 1);
    let mut all = Vec::new();
    for turn in 0..12 {
        if turn % 3 == 2 {
            drop(memory);
            memory = fixture.open();
            memory.set_rates(HeatParameters { notify_max: 999, ..HeatParameters::default() });
        }
        cool(&fixture, &memory, 1);
        all.extend(notified(&memory));
        // One notification per tick.
        assert_eq!(notified(&memory).len(), 0);
    }
    assert_eq!(all.len() as i64, n_nodes);
    all.sort();
    all.dedup();
    assert_eq!(all.len() as i64, n_nodes, "some were told of twice");
    cool(&fixture, &memory, 1000);
    assert_eq!(notified(&memory).len(), 0);
}

#[test]
fn two_servers_do_not_notify_of_the_same_node() {
    let (fixture, memory) = WarmingFixture::compiled(3);
    let rival = fixture.open();
    cool(&fixture, &memory, 40);
    cool(&fixture, &rival, 1);
    let offer = memory.cold_nodes().unwrap().unwrap();
    assert!(rival.cold_nodes().unwrap().is_none());
    offer.confirm(fixture.clock.now()).unwrap();
    assert_eq!(notified(&rival).len(), 0);
}

#[test]
fn an_undelivered_cold_node_is_offered_again() {
    let (fixture, memory) = WarmingFixture::compiled(3);
    let rival = fixture.open();
    cool(&fixture, &memory, 40);
    cool(&fixture, &rival, 1);
    let mut offer = memory.cold_nodes().unwrap().unwrap();
    let n_nodes = offer.nodes().len();
    drop(offer);
    offer = rival.cold_nodes().unwrap().unwrap();
    assert_eq!(offer.nodes().len(), n_nodes);
    drop(offer);
    offer = memory.cold_nodes().unwrap().unwrap();
    offer.truncate(1);
    offer.confirm(fixture.clock.now()).unwrap();
    cool(&fixture, &memory, 1);
    assert_eq!(notified(&memory).len(), n_nodes - 1);
}

#[test]
fn a_notification_during_a_foreign_write_is_noted_later() {
    let (fixture, memory) = WarmingFixture::compiled(3);
    cool(&fixture, &memory, 40);
    let offer = memory.cold_nodes().unwrap().unwrap();
    let writer = Connection::open(fixture.db()).unwrap();
    writer.execute_batch("BEGIN IMMEDIATE").unwrap();
    offer.confirm(fixture.clock.now()).unwrap();
    cool(&fixture, &memory, 1);
    assert_eq!(notified(&memory).len(), 0);
    writer.execute_batch("ROLLBACK").unwrap();
    memory.attend(0).unwrap();
    let restarted = fixture.open();
    cool(&fixture, &restarted, 1);
    assert_eq!(notified(&restarted).len(), 0);
}

#[test]
fn only_warming_above_the_threshold_rearms_a_node() {
    let (fixture, memory) = WarmingFixture::compiled(1);
    let warm = |attention| {
        let key = fixture.number("SELECT max(key) FROM node");
        memory.warm(&[(NodeRowId(key), attention)]);
    };
    let n_notified = |hours| {
        cool(&fixture, &memory, hours);
        notified(&memory).len()
    };
    let n_nodes = fixture.number("SELECT count(*) FROM node") as usize;
    assert_eq!(n_notified(60), n_nodes);
    // From 0.02 to 0.05, which is still cold.
    warm(AccessKind::Listed);
    assert_eq!(n_notified(1), 0);
    warm(AccessKind::Read);
    assert_eq!(n_notified(1), 0);
    assert_eq!(n_notified(30), 1);
    assert_eq!(n_notified(1000), 0);
}

#[test]
fn a_cold_node_is_not_notified_again_before_its_ttl() {
    let (fixture, memory) = WarmingFixture::compiled(1);
    let rates =
        HeatParameters { decay_per_hour: 50.0, notify_ttl_ms: HOUR, ..HeatParameters::default() };
    memory.set_rates(rates);
    let quarter = || {
        fixture.clock.advance(15 * MINUTE);
        let cooling_ms = rates.cooling_ms(15 * MINUTE);
        memory.tick(PendingAttendedTime { real_ms: 15 * MINUTE, cooling_ms }).unwrap();
        notified(&memory).len()
    };
    let n_nodes = quarter();
    assert!(0 < n_nodes);
    fixture.run("UPDATE heat SET temperature = 0.5, at = (SELECT attended FROM memory)", []);
    assert_eq!([quarter(), quarter(), quarter(), quarter(), quarter()], [0, 0, 0, n_nodes, 0]);
}

#[test]
fn a_node_that_reuses_a_key_is_notified_too() {
    let (fixture, memory) = WarmingFixture::compiled(3);
    // With a threshold above the initial temperature, nodes are cold before the clock has moved.
    memory.set_rates(HeatParameters { cold: 0.9, notify: 0.9, ..HeatParameters::default() });
    let notified_of = || {
        cool(&fixture, &memory, 0);
        notified(&memory)
    };
    let say = |text: &str| {
        std::fs::write(fixture.dir.path().join("notes/a.md"), text).unwrap();
        memory.compile(&fixture.dir.path().join("notes"), "").unwrap();
    };
    assert_eq!(notified_of().len(), 3);
    say("Paragraph 0.\n\nParagraph 1.\n");
    let newest = fixture.number("SELECT max(key) FROM node");
    say("Paragraph 0.\n\nParagraph 1.\n\nAnother.\n");
    assert_eq!(fixture.number("SELECT max(key) FROM node"), newest + 1, "the key was free");
    assert_eq!(notified_of(), ["Another."]);
}
