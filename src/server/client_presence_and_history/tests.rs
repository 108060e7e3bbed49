use expect_test::{Expect, expect};
use serde_json::json;

use super::live_session_registry::LiveSession;
use super::*;
use crate::model::clock::UnixMillis;

fn client(name: &str) -> ClientIdentity {
    let (title, version) = (None, "1.0".to_owned());
    ClientIdentity { name: name.to_owned(), title, version, protocol: "2025-06-18".to_owned() }
}

fn http() -> TransportAndListenAddress {
    TransportAndListenAddress { transport: "http", listen: Some("127.0.0.1:7474".to_owned()) }
}

/// Plays a script of one event a line: the client, its action, and the time in seconds.
fn play(registry: &LiveSessionRegistry, script: &str) {
    for line in script.lines() {
        let mut words = line.split_whitespace();
        let mut word = || words.next().unwrap();
        let now = UnixMillis(word().parse::<i64>().unwrap() * 1000);
        let (act, connection) = (word(), word());
        let mut saw = |is_modern, calls_tool| {
            let client = client(word());
            registry
                .note_request(&ObservedRequest { connection, client, is_modern, calls_tool }, now);
        };
        match act {
            "legacy" => saw(false, false),
            "legacy-call" => saw(false, true),
            "modern" => saw(true, false),
            "modern-call" => saw(true, true),
            "leaves" => drop(registry.note_disconnect(connection, now)),
            _ => panic!("{line}"),
        }
    }
}

#[track_caller]
fn check(registry: &LiveSessionRegistry, script: &str, now_s: i64, live: Expect) {
    play(registry, script);
    let sessions = registry.live_sessions(UnixMillis(now_s * 1000));
    let lines = sessions.iter().map(|it| {
        let LiveSession { client_meta, connected_at, last_activity, count_tool_calls, .. } = it;
        format!("{} {connected_at}..{last_activity} {count_tool_calls}\n", client_meta.name)
    });
    live.assert_eq(&lines.collect::<String>());
}

fn registry(transport_info: TransportAndListenAddress) -> LiveSessionRegistry {
    LiveSessionRegistry::new(transport_info, "salt", EndedSessionQueueing::Kept)
}

#[test]
fn a_session_lasts_as_long_as_its_connection() {
    let registry = registry(http());
    check(
        &registry,
        "10 legacy a code\n12 legacy-call b desk\n13 legacy-call a code",
        9999,
        expect![[r#"
        code 10..13 1
        desk 12..12 1
    "#]],
    );
    check(
        &registry,
        "9999 leaves a\n9999 leaves nobody",
        9999,
        expect![[r#"
        desk 12..12 1
    "#]],
    );
}

#[test]
fn a_modern_client_is_known_by_its_declaration_and_stays_for_minutes() {
    let script = "10 modern a code\n20 modern-call b desk\n30 modern-call c code\n31 leaves c";
    check(
        &registry(http()),
        script,
        320,
        expect![[r#"
        code 10..30 1
        desk 20..20 1
    "#]],
    );
    check(
        &registry(http()),
        script,
        325,
        expect![[r#"
        code 10..30 1
    "#]],
    );
    check(&registry(http()), script, 331, expect![""]);
    // A client that comes back later has a new session.
    let registry = registry(http());
    check(
        &registry,
        &format!("{script}\n900 modern-call a code"),
        901,
        expect![[r#"
        code 900..900 1
    "#]],
    );
}

#[test]
fn a_modern_client_on_the_only_connection_stays_as_long_as_it() {
    let registry = registry(TransportAndListenAddress::stdio());
    check(
        &registry,
        "10 modern stdio code",
        99_999,
        expect![[r#"
        code 10..10 0
    "#]],
    );
    check(&registry, "99999 leaves stdio", 99_999, expect![""]);
}

#[test]
fn a_clock_that_steps_back_takes_nothing_away() {
    check(
        &registry(http()),
        "50 legacy a code\n20 legacy-call a code",
        10,
        expect![[r#"
        code 50..50 1
    "#]],
    );
}

#[test]
fn the_longest_silent_session_makes_room() {
    let registry = registry(http());
    for n in 0..2000 {
        play(&registry, &format!("{n} legacy {n} code\n{n} legacy first desk"));
    }
    let live = registry.live_sessions(UnixMillis(0));
    assert_eq!((live.len(), live[0].client_meta.name.as_str()), (1024, "desk"));
    assert_eq!(
        registry.take_changed(ChangedSessionsToPersist::All, UnixMillis(0)).len(),
        2001,
        "nobody is lost"
    );
}

#[test]
fn ids_differ_between_processes() {
    let of = |salt: &str| {
        let registry = LiveSessionRegistry::new(
            TransportAndListenAddress::stdio(),
            salt,
            EndedSessionQueueing::Dropped,
        );
        play(&registry, "10 legacy stdio code");
        registry.live_sessions(UnixMillis(0))[0].id.clone()
    };
    assert_ne!(of("1-a"), of("1-b"), "begun in the same second");
    assert_eq!(of("1-a").len(), 11);
}

#[test]
fn the_envelope_has_its_keys_in_their_order() {
    let registry = registry(TransportAndListenAddress::stdio());
    play(&registry, "10 legacy stdio code");
    let live = serde_json::to_string(&registry.live_sessions(UnixMillis(0))).unwrap();
    expect![[r#"[{"id":"ID","client_meta":{"name":"code","version":"1.0","protocol":"2025-06-18"},"transport":"stdio","connected_at":10,"last_activity":10,"count_tool_calls":0}]"#]]
    .assert_eq(&live.replace(&registry.live_sessions(UnixMillis(0))[0].id, "ID"));
    let registry = LiveSessionRegistry::new(http(), "salt", EndedSessionQueueing::Kept);
    play(&registry, "10 legacy a code");
    let live = serde_json::to_string(&registry.live_sessions(UnixMillis(0))).unwrap();
    assert!(live.contains(r#""transport":"http","listen":"127.0.0.1:7474","connected_at""#));
}

/// Returns the changes in the registry.
fn changes(registry: &LiveSessionRegistry, which: ChangedSessionsToPersist, now_s: i64) -> String {
    let news = registry.take_changed(which, UnixMillis(now_s * 1000));
    let line = |it: &ClientSessionRecord| {
        let end = it.disconnected_at.map(|it| format!(" end {it}")).unwrap_or_default();
        let ClientSessionRecord { connected_at, last_seen, tool_calls, .. } = it;
        format!("{} {connected_at}..{last_seen} {tool_calls}{end}; ", it.client.name)
    };
    news.iter().map(line).collect()
}

#[test]
fn changed_sessions_are_taken_once_and_idleness_is_no_change() {
    let registry = registry(http());
    play(&registry, "10 legacy a code");
    assert_eq!(changes(&registry, ChangedSessionsToPersist::Urgent, 11), "code 10..10 0; ");
    assert_eq!(changes(&registry, ChangedSessionsToPersist::All, 99), "");
    play(&registry, "100 legacy-call a code");
    assert_eq!(changes(&registry, ChangedSessionsToPersist::Urgent, 101), "");
    assert_eq!(changes(&registry, ChangedSessionsToPersist::All, 101), "code 10..100 1; ");
    play(&registry, "200 leaves a");
    assert_eq!(
        changes(&registry, ChangedSessionsToPersist::Urgent, 201),
        "code 10..100 1 end 200; "
    );
    assert_eq!(changes(&registry, ChangedSessionsToPersist::All, 202), "");
    play(&registry, "300 modern-call a desk\n310 legacy b code");
    registry.close(UnixMillis(400_000));
    assert_eq!(
        changes(&registry, ChangedSessionsToPersist::All, 400),
        "desk 300..300 1 end 400; code 310..310 0 end 400; "
    );
    play(&registry, "500 modern-call a desk");
    assert_eq!(
        changes(&registry, ChangedSessionsToPersist::All, 9999),
        "desk 500..500 1 end 500; "
    );
}

#[test]
fn who_only_looks_is_present_and_in_no_ledger() {
    let registry = registry(http());
    play(&registry, "10 modern a page\n11 modern b page");
    assert_eq!(registry.live_sessions(UnixMillis(12_000)).len(), 1);
    assert_eq!(changes(&registry, ChangedSessionsToPersist::All, 12), "");
    // From its first call on it is on record.
    play(&registry, "20 modern-call a page");
    assert_eq!(changes(&registry, ChangedSessionsToPersist::Urgent, 21), "page 10..20 1; ");
    play(&registry, "30 modern a other");
    assert_eq!(changes(&registry, ChangedSessionsToPersist::All, 9999), "page 10..20 1 end 20; ");
}

#[test]
fn names_and_hashes_of_ledgers_never_change() {
    let stem = |name: &str| client(name).stem("stdio");
    assert_eq!(stem("code"), "code-9H0OpsCizGr");
    assert!(stem("Claude  Code/é2!").starts_with("claude-code-2-"));
    assert!(stem("../../etc").starts_with("etc-"));
    assert!(stem("日本").starts_with("client-"));
    assert_eq!(stem(&"x".repeat(99)).len(), 40 + 1 + 11);
    let titled = ClientIdentity { title: Some("Code".to_owned()), ..client("code") };
    let hashes = [client("code").hash("stdio"), client("code").hash("http"), titled.hash("stdio")];
    assert!(hashes[0] != hashes[1] && hashes[0] != hashes[2]);
}

fn ledger(lines: &[&str]) -> ClientSessionHistory {
    ClientSessionHistory::read(lines.join("\n").as_bytes()).unwrap()
}

fn line(id: &str, times: [i64; 2], end: Option<i64>, tool_calls: u64) -> String {
    let (client, transport) = (client("code"), "stdio".to_owned());
    let [connected_at, last_seen] = times;
    let session_id = id.to_owned();
    let disconnected_at = end;
    ClientSessionRecord {
        session_id,
        client,
        transport,
        connected_at,
        last_seen,
        disconnected_at,
        tool_calls,
    }
    .to_line()
}

#[test]
fn the_last_line_of_a_session_counts_and_bad_ones_do_not() {
    let lines = [
        line("a", [10, 10], None, 0),
        line("b", [20, 50], None, 7),
        "{\"session_id\":\"c\",\"client\":{\"name\":\"cut o".to_owned(),
        line("a", [10, 30], Some(40), 2),
        "null".to_owned(),
        "\u{fffd}".to_owned(),
    ];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let ledger = ledger(&lines);
    expect![[r#"{"hash":"h","client":{"name":"code","version":"1.0","protocol":"2025-06-18"},"transport":"stdio","sessions":2,"lifetime_seconds":60,"last_disconnect":40,"tool_calls":9}"#]]
    .assert_eq(&serde_json::to_string(&ledger.past("h")).unwrap());
    assert!(ledger.is_long());
    let short = ClientSessionHistory::read(ledger.to_text().as_bytes()).unwrap();
    assert!(!short.is_long());
    assert_eq!(short.past("h"), ledger.past("h"));
}

#[test]
fn extreme_numbers_do_no_harm() {
    let far = [i64::MIN, i64::MAX];
    let lines = [line("a", far, None, u64::MAX), line("b", far, Some(i64::MAX), u64::MAX)];
    let past = ledger(&[&lines[0], &lines[1]]).past("h").unwrap();
    assert_eq!((past.lifetime_seconds, past.tool_calls), (i64::MAX, u64::MAX));
    let back = line("a", [50, 10], Some(20), 0);
    assert_eq!(ledger(&[&back]).past("h").unwrap().lifetime_seconds, 0);
    assert_eq!(ledger(&[]).past("h"), None);
}

#[test]
fn a_line_that_is_too_long_is_skipped_and_never_held() {
    let long = json!({"session_id": "x".repeat(LEDGER_LINE_BYTES_MAX)}).to_string();
    let good = line("a", [1, 2], None, 3);
    let mut seen = Vec::new();
    let text = [long.as_str(), &good, &long].join("\n");
    each_line(text.as_bytes(), |line| seen.push(line.to_vec())).unwrap();
    assert_eq!(seen, [good.as_bytes()]);
}

#[test]
fn invariants_hold_for_random_ledgers() {
    let good = line("a", [1, 2], None, 3) + "\n" + &line("b", [1, 9], Some(9), 1);
    for data in [b"".as_slice(), b"\n\n", b"{", good.as_bytes(), b"\xff\n{}\n[1"] {
        crate::fuzzing::ledger::ledger(data);
    }
}

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config::with_cases(200))]

    #[test]
    fn invariants_hold_for_torn_and_mixed_ledgers(
        parts in proptest::collection::vec((0..6_usize, 0..200_usize, 0..4_u64), 0..12),
    ) {
        let mut data = Vec::new();
        for (kind, cut, n) in parts {
            let at = n.cast_signed();
            let line = line(&format!("s{}", cut % 3), [at, at + 5], (n == 3).then_some(9), n);
            match kind {
                0 => data.extend(b"\n"),
                1 => data.extend(&line.as_bytes()[..cut.min(line.len())]),
                2 => data.extend([0xff, b'{', b'\r', 0]),
                _ => data.extend((line + "\n").bytes()),
            }
        }
        crate::fuzzing::ledger::ledger(&data);
    }
}
