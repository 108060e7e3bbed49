mod notified;

use std::path::PathBuf;

use rusqlite::Connection;

use super::*;
use crate::model::clock::{Clock, UnixMillis};
use crate::model::heat::{BIRTH_TEMPERATURE, MemoryClockSchedule};
use crate::store::{Batch, ColdNode, IfMissing, StoreError};

const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// A folder of notes, its database, and a manual clock.
struct WarmingFixture {
    dir: tempfile::TempDir,
    clock: Clock,
}

impl WarmingFixture {
    /// Writes one file with this many paragraphs, without compiling it.
    fn new(n_paragraphs: usize) -> WarmingFixture {
        let dir = tempfile::tempdir().unwrap();
        let text: Vec<String> = (0..n_paragraphs).map(|it| format!("Paragraph {it}.")).collect();
        std::fs::create_dir(dir.path().join("notes")).unwrap();
        std::fs::write(dir.path().join("notes/a.md"), text.join("\n\n")).unwrap();
        WarmingFixture { dir, clock: Clock::manual(UnixMillis(1_700_000_000_000)) }
    }

    fn compiled(n_paragraphs: usize) -> (WarmingFixture, Memory) {
        let fixture = WarmingFixture::new(n_paragraphs);
        let memory = fixture.open();
        memory.compile(&fixture.dir.path().join("notes"), "").unwrap();
        (fixture, memory)
    }

    fn db(&self) -> PathBuf {
        self.dir.path().join("memory.db")
    }

    fn open(&self) -> Memory {
        Memory::open_at(&self.db(), IfMissing::Create, self.clock.clone())
            .unwrap()
            .with_structured()
    }

    fn server(&self) -> Server {
        Server { memory: self.open(), pace: MemoryClockSchedule::new(self.clock.now().0) }
    }

    /// Gives every node a row, as older builds did.
    fn note_all(&self) {
        const NOTE: &str = "
            INSERT INTO heat (node, temperature, at, full_at) SELECT key, 0.5, 0, ?1 FROM node";
        self.run(NOTE, [crate::model::heat::StoredHeat::birth(0).full_at()]);
    }

    fn run<P: rusqlite::Params>(&self, sql: &str, params: P) {
        Connection::open(self.db()).unwrap().execute(sql, params).unwrap();
    }

    fn number(&self, sql: &str) -> i64 {
        let conn = Connection::open(self.db()).unwrap();
        conn.query_row(sql, [], |row| row.get(0)).unwrap()
    }
}

/// The heat thread of a server.
struct Server {
    memory: Memory,
    pace: MemoryClockSchedule,
}

impl Server {
    fn offer_cold_nodes(&mut self) {
        let rates = self.memory.rates();
        self.pace.note(self.memory.clock().now().0, &rates);
        if let Some(due) = self.pace.due(&rates)
            && self.memory.tick(due).unwrap()
        {
            self.pace.settle();
        }
    }

    fn stop(mut self) {
        self.pace.note(self.memory.clock().now().0, &self.memory.rates());
        self.memory.settle(self.pace.rest().unwrap_or_default()).unwrap();
    }
}

/// Advances the clock of a memory by hours, and ticks.
fn cool(fixture: &WarmingFixture, memory: &Memory, hours: i64) {
    fixture.clock.advance(hours * HOUR);
    memory
        .tick(PendingAttendedTime { real_ms: hours * HOUR, cooling_ms: (hours * HOUR) as f64 })
        .unwrap();
}

fn average(memory: &Memory) -> f64 {
    memory
        .read(|reader| reader.temperatures(crate::model::heat::HeatThresholds::default()))
        .unwrap()
        .average
}

#[track_caller]
fn is_near(is: f64, should: f64) {
    assert!((is - should).abs() < 1e-6, "{is} should be {should}");
}

fn after_hours(temperature: f64, hours: f64) -> f64 {
    temperature * (-0.05 * hours).exp()
}

/// Accepts all cold nodes on offer; returns their labels.
fn notified(memory: &Memory) -> Vec<String> {
    let Some(offer) = memory.cold_nodes().unwrap() else { return Vec::new() };
    let labels = offer.nodes().iter().map(|it| it.label.clone()).collect();
    offer.confirm(memory.clock().now()).unwrap();
    labels
}

#[test]
fn two_servers_cool_once_in_an_hour() {
    let (fixture, memory) = WarmingFixture::compiled(3);
    let mut ann = fixture.server();
    // The second comes later, and ticks between the ticks of the first.
    fixture.clock.advance(2 * MINUTE);
    ann.offer_cold_nodes();
    let mut ben = fixture.server();
    for _ in 0..58 {
        fixture.clock.advance(MINUTE);
        ann.offer_cold_nodes();
        ben.offer_cold_nodes();
    }
    ann.stop();
    ben.stop();
    is_near(average(&memory), after_hours(BIRTH_TEMPERATURE, 1.0));
}

#[test]
fn one_server_goes_on_where_another_died() {
    let (fixture, memory) = WarmingFixture::compiled(3);
    let (mut ann, mut ben) = (fixture.server(), fixture.server());
    for minute in 0..60 {
        fixture.clock.advance(MINUTE);
        if minute < 17 {
            ann.offer_cold_nodes();
        }
        ben.offer_cold_nodes();
    }
    drop(ann);
    ben.stop();
    is_near(average(&memory), after_hours(BIRTH_TEMPERATURE, 1.0));
}

#[test]
fn a_weekend_off_cools_nothing() {
    let (fixture, memory) = WarmingFixture::compiled(3);
    for _ in 0..2 {
        let mut server = fixture.server();
        for _ in 0..30 {
            fixture.clock.advance(MINUTE);
            server.offer_cold_nodes();
        }
        server.stop();
        fixture.clock.advance(3 * DAY);
    }
    fixture.server().stop();
    is_near(average(&memory), after_hours(BIRTH_TEMPERATURE, 1.0));
}

#[test]
fn a_suspended_machine_cools_little_more_than_one_tick() {
    let (fixture, memory) = WarmingFixture::compiled(3);
    let mut server = fixture.server();
    fixture.clock.advance(3 * DAY);
    server.offer_cold_nodes();
    assert!(after_hours(BIRTH_TEMPERATURE, 0.1) < average(&memory));
}

#[test]
fn a_crash_loses_one_tick_at_most() {
    let (fixture, memory) = WarmingFixture::compiled(3);
    let mut server = fixture.server();
    for _ in 0..64 {
        fixture.clock.advance(MINUTE);
        server.offer_cold_nodes();
    }
    drop(server);
    is_near(average(&memory), after_hours(BIRTH_TEMPERATURE, 1.0));
}

#[test]
fn nothing_is_lost_while_another_process_writes() {
    let (fixture, memory) = WarmingFixture::compiled(3);
    let mut server = fixture.server();
    let writer = Connection::open(fixture.db()).unwrap();
    writer.execute_batch("BEGIN IMMEDIATE").unwrap();
    for _ in 0..12 {
        fixture.clock.advance(5 * MINUTE);
        server.offer_cold_nodes();
    }
    is_near(average(&memory), BIRTH_TEMPERATURE);
    writer.execute_batch("ROLLBACK").unwrap();
    server.offer_cold_nodes();
    is_near(average(&memory), after_hours(BIRTH_TEMPERATURE, 1.0));
}

#[test]
fn a_new_rate_acts_from_now_on() {
    let (fixture, memory) = WarmingFixture::compiled(3);
    let mut server = fixture.server();
    let hour = |server: &mut Server, rates| {
        server.memory.set_rates(rates);
        for _ in 0..12 {
            fixture.clock.advance(5 * MINUTE);
            server.offer_cold_nodes();
        }
    };
    let usual = HeatParameters::default();
    hour(&mut server, usual);
    server.memory.set_rates(HeatParameters { decay_per_hour: 1.0, ..usual });
    is_near(average(&memory), after_hours(BIRTH_TEMPERATURE, 1.0));
    hour(&mut server, HeatParameters { decay_per_hour: 0.1, ..usual });
    is_near(average(&memory), after_hours(BIRTH_TEMPERATURE, 3.0));
    hour(&mut server, HeatParameters { is_enabled: false, ..usual });
    hour(&mut server, HeatParameters { decay_per_hour: 0.0, ..usual });
    is_near(average(&memory), after_hours(BIRTH_TEMPERATURE, 3.0));
    hour(&mut server, usual);
    is_near(average(&memory), after_hours(BIRTH_TEMPERATURE, 4.0));
    hour(&mut server, HeatParameters { decay_per_hour: f64::MAX, ..usual });
    assert_eq!(average(&memory), 0.0);
}

#[test]
fn a_node_read_three_days_ago_is_no_colder_than_one_never_read() {
    let (fixture, memory) = WarmingFixture::compiled(2);
    let ids: Vec<String> = {
        let conn = Connection::open(fixture.db()).unwrap();
        let mut query = conn.prepare("SELECT id FROM node WHERE node_type = 'text'").unwrap();
        query.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
    };
    let [read, unread] = &ids[..] else { panic!("{ids:?}") };
    let ranks = |memory: &Memory| {
        let found = memory.search("paragraph", None).unwrap().structured;
        let hits = found["hits"].as_array().unwrap().clone();
        hits.iter().map(|it| it["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    memory.fetch(read, Some(60)).unwrap();
    for _ in 0..3 {
        cool(&fixture, &memory, 24);
        let ranks = ranks(&memory);
        let rank = |id| ranks.iter().position(|it| it == id).unwrap();
        assert!(rank(read) < rank(unread), "{ranks:?}");
    }
}

/// Returns a memory of `n_nodes` nodes that were never read.
fn untouched(n_nodes: i64) -> (WarmingFixture, Memory) {
    const NODES: &str = "
        WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ?1)
        INSERT INTO node (key, id, position, node_type, format, token_count, content_hash, label,
                          trail, content)
        SELECT n, 'id' || n, n, 'text', 'plain', 1, '', 'label ' || n, '', '' FROM n";
    const TRIGGER: &str = "SELECT sql FROM sqlite_schema WHERE name = 'node_fts_insert'";
    let fixture = WarmingFixture::new(0);
    let memory = fixture.open();
    // The nodes have no words.
    let conn = Connection::open(fixture.db()).unwrap();
    let trigger: String = conn.query_row(TRIGGER, [], |row| row.get(0)).unwrap();
    fixture.run("DROP TRIGGER node_fts_insert", []);
    fixture.run(NODES, [n_nodes]);
    fixture.run(&trigger, []);
    (fixture, memory)
}

/// Checkpoints the log, so that it starts anew.
fn empty_log(fixture: &WarmingFixture) {
    let conn = Connection::open(fixture.db()).unwrap();
    let is_busy: bool =
        conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0)).unwrap();
    assert!(!is_busy, "the log is in use");
}

fn log_pages(fixture: &WarmingFixture) -> u64 {
    std::fs::metadata(fixture.db().with_extension("db-wal")).unwrap().len() / 4096
}

#[test]
fn a_tick_over_100_000_nodes_writes_a_few_pages() {
    let (fixture, memory) = untouched(100_000);
    // All of them stay warm, then all of them go cold.
    for hours in [1, 48] {
        empty_log(&fixture);
        cool(&fixture, &memory, hours);
        let n_pages = log_pages(&fixture);
        assert!((1..=4).contains(&n_pages), "{n_pages} pages in {hours} hours");
    }
    // Notifying of 50 writes a few more pages, though none of the nodes had a row.
    assert_eq!(notified(&memory).len(), 50);
    assert!(log_pages(&fixture) < 40, "{} pages", log_pages(&fixture));
}

#[test]
fn being_read_writes_a_page_for_each_node_and_no_index() {
    let (fixture, memory) = untouched(100_000);
    fixture.note_all();
    let warm = |nth: i64| {
        empty_log(&fixture);
        let some = |it: i64| (NodeRowId(it * 4_000 + nth), AccessKind::Listed);
        memory.warm(&(1..=20).map(some).collect::<Vec<_>>());
        log_pages(&fixture)
    };
    assert!((20..=24).contains(&warm(0)), "{} pages", log_pages(&fixture));
    assert!((20..=24).contains(&warm(1)), "{} pages", log_pages(&fixture));
}

#[test]
fn an_unread_node_has_no_heat_row_and_its_birth_temperature() {
    let (fixture, memory) = WarmingFixture::compiled(1_000);
    let n_rows = || fixture.number("SELECT count(*) FROM heat");
    let n_nodes = fixture.number("SELECT count(*) FROM node");
    assert_eq!(n_rows(), 0);
    cool(&fixture, &memory, 30);
    is_near(average(&memory), after_hours(BIRTH_TEMPERATURE, 30.0));
    let read = [7, 7, 9];
    memory.warm(&read.map(|it| (NodeRowId(it), AccessKind::Read)));
    memory.warm(&[(NodeRowId(n_nodes + 1), AccessKind::Read)]);
    assert_eq!(n_rows(), 2, "of what was read, and of nothing that is not there");
    let added = 3.0 * memory.rates().access_boost;
    is_near(average(&memory), after_hours(BIRTH_TEMPERATURE, 30.0) + added / n_nodes as f64);
    // Added later, a node is warmer than the others, which takes a row.
    std::fs::write(fixture.dir.path().join("notes/b.md"), "Born later.\n").unwrap();
    memory.compile(&fixture.dir.path().join("notes"), "").unwrap();
    assert_eq!(n_rows(), 2 + fixture.number("SELECT count(*) FROM node") - n_nodes);
}

#[test]
fn pinned_nodes_never_go_cold() {
    let (fixture, memory) = WarmingFixture::compiled(1);
    fixture.note_all();
    fixture.run("UPDATE heat SET pinned = 1", []);
    cool(&fixture, &memory, 1000);
    assert_eq!(notified(&memory).len(), 0);
    is_near(average(&memory), BIRTH_TEMPERATURE);
    // Unpinned by a process that does not maintain the index.
    fixture.run("UPDATE heat SET pinned = 0, at = (SELECT attended FROM memory)", []);
    cool(&fixture, &memory, 1);
    assert_eq!(notified(&memory).len(), 0);
    is_near(average(&memory), after_hours(BIRTH_TEMPERATURE, 1.0));
    cool(&fixture, &memory, 40);
    assert!(!notified(&memory).is_empty());
}

#[test]
fn a_pin_keeps_the_temperature_of_its_moment() {
    let (fixture, memory) = WarmingFixture::compiled(1);
    let n_nodes = fixture.number("SELECT count(*) FROM node");
    let pin = |pinned| {
        let set = |batch: &mut Batch<'_>| -> Result<(), StoreError> {
            for key in 1..=n_nodes {
                match pinned {
                    true => batch.pin(NodeRowId(key), None)?,
                    false => batch.unpin(NodeRowId(key))?,
                };
            }
            Ok(())
        };
        let ((), commit) = memory.writer.write("", "", fixture.clock.now(), set).unwrap();
        assert_eq!(commit.snapshot, None);
    };
    cool(&fixture, &memory, 30);
    pin(true);
    cool(&fixture, &memory, 1000);
    is_near(average(&memory), after_hours(BIRTH_TEMPERATURE, 30.0));
    assert_eq!(notified(&memory).len(), 0);
    pin(false);
    is_near(average(&memory), after_hours(BIRTH_TEMPERATURE, 30.0));
    cool(&fixture, &memory, 2);
    assert_eq!(notified(&memory).len(), 0);
    cool(&fixture, &memory, 1);
    assert_eq!(notified(&memory).len() as i64, n_nodes);
}

#[test]
fn one_index_serves_every_threshold() {
    let (fixture, memory) = WarmingFixture::compiled(1);
    let n_notified = |line: f64| {
        memory.set_rates(HeatParameters { cold: line, notify: 0.9, ..HeatParameters::default() });
        cool(&fixture, &memory, 0);
        notified(&memory).len()
    };
    cool(&fixture, &memory, 10);
    let now = after_hours(BIRTH_TEMPERATURE, 10.0);
    assert_eq!([n_notified(0.0), n_notified(now - 1e-9)], [0, 0]);
    assert!(0 < n_notified(now + 1e-9));
    assert_eq!(n_notified(1.0), 0, "told once");
}

#[test]
fn a_memory_of_the_first_schema_gets_cold_nodes() {
    let (fixture, memory) = WarmingFixture::compiled(3);
    fixture.note_all();
    fixture.run("UPDATE heat SET full_at = NULL", []);
    cool(&fixture, &memory, 33);
    let n_nodes = fixture.number("SELECT count(*) FROM heat WHERE full_at IS NOT NULL");
    assert_eq!(notified(&memory).len() as i64, n_nodes);
    assert!(0 < n_nodes);
}

#[test]
fn migrations_keep_only_heat_rows_that_differ_from_birth() {
    let (fixture, memory) = WarmingFixture::compiled(10);
    fixture.note_all();
    memory.warm(&[(NodeRowId(3), AccessKind::Read)]);
    fixture.run("UPDATE heat SET pinned = 1 WHERE node = 4", []);
    fixture.run("UPDATE heat SET announced_at = 9 WHERE node = 5", []);
    let before = average(&memory);
    drop(memory);
    crate::store::database_version_testing::forget_fields(&fixture.db());
    let conn = Connection::open(fixture.db()).unwrap();
    conn.execute_batch(
        "DROP TRIGGER pulse_heat_noted; ALTER TABLE memory DROP COLUMN heated;
         PRAGMA user_version = 8",
    )
    .unwrap();
    drop(conn);
    let memory = fixture.open();
    assert_eq!(fixture.number("SELECT sum(node) FROM heat"), 3 + 4 + 5);
    is_near(average(&memory), before);
}

#[test]
fn reads_warm_as_the_settings_say() {
    let (fixture, memory) = WarmingFixture::compiled(1);
    let key = NodeRowId(fixture.number("SELECT max(key) FROM node"));
    memory.warm(&[(key, AccessKind::Read)]);
    memory.set_rates(HeatParameters {
        access_boost: 0.05,
        is_enabled: false,
        ..HeatParameters::default()
    });
    memory.warm(&[(key, AccessKind::Listed)]);
    let conn = Connection::open(fixture.db()).unwrap();
    let warmest: f64 =
        conn.query_row("SELECT max(temperature) FROM heat", [], |row| row.get(0)).unwrap();
    is_near(warmest, BIRTH_TEMPERATURE + 0.15 + 0.005);
}

#[test]
fn the_best_hit_warms_most_and_the_nth_an_nth_of_it() {
    let (fixture, memory) = WarmingFixture::compiled(3);
    let conn = Connection::open(fixture.db()).unwrap();
    let mut keys = conn.prepare("SELECT key FROM node ORDER BY key LIMIT 3").unwrap();
    let keys: Vec<i64> =
        keys.query_map([], |row| row.get(0)).unwrap().map(|it| it.unwrap()).collect();
    let hits: Vec<_> = keys.iter().map(|&it| (NodeRowId(it), AccessKind::Listed)).collect();
    memory.warm(&hits);
    for (rank, key) in (1..).zip(keys) {
        let temperature: f64 = conn
            .query_row("SELECT temperature FROM heat WHERE node = ?1", [key], |row| row.get(0))
            .unwrap();
        is_near(temperature, BIRTH_TEMPERATURE + 0.015 / f64::from(rank));
    }
}
