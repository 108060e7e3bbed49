//! One document of each kind, full and empty.

use expect_test::{Expect, expect};
use serde_json::json;

use super::*;
use crate::memory::{RelateRequest, ServerFactKey};

const ARCHITECTURE: &str = "# Architecture\n\nOverview, see [[Limits; w=4.2]] and [[Roadmap]].\n";
const LIMITS: &str = "# Limits\n\nA hundred a minute.\n";

pub(super) fn full() -> ResourceFixture {
    let fixture = ResourceFixture::of(&[("architecture.md", ARCHITECTURE), ("limits.md", LIMITS)]);
    let tree = fixture.value("remindb://tree");
    let id = |root: usize, child: usize| {
        tree["roots"][root]["children"][child]["id"].as_str().unwrap().to_owned()
    };
    let (overview, hundred) = (id(0, 0), id(1, 0));
    fixture.clock.advance(2_000_000);
    fixture.memory.summarize(&hundred, "60 a minute.", None).unwrap();
    fixture.memory.pin(&hundred, Some(0.8)).unwrap();
    let target_id = Some(hundred.as_str());
    let ask = RelateRequest {
        source: &overview,
        target_id,
        target_label: None,
        target_source: None,
        weight: 1.0,
    };
    fixture.memory.relate(&ask).unwrap();
    fixture.memory.attend(3_600_000).unwrap();
    fixture.clock.advance(42_500);
    fixture
}

#[track_caller]
fn check(uri: &str, document: Expect) {
    document.assert_eq(&full().shown(uri));
}

#[test]
fn the_overview_is_what_the_statistics_say() {
    check(
        "remindb://overview",
        expect![[
            r#"{"db_path":"/w/memory.db","db_bytes":249856,"nodes":{"total":4,"by_type":{"heading":2,"text":2},"tokens":23},"snapshots":{"count":2,"head_id":2,"cursor_hash":"341fbae9dd47854c","latest_message":"summarize:KXvfHrOflSh","latest_age_s":42},"temperature":{"avg":0.5567110341877677,"median":0.475614712250357,"hot":1,"cold":0,"pinned":1},"relations":{"total":2,"by_origin":{"parsed":1,"manual":1},"pending":1},"fts_rows":4}"#
        ]],
    );
}

#[test]
fn files_stand_below_the_folder_they_were_compiled_from() {
    check(
        "remindb://files",
        expect![[
            r#"{"roots":[{"root":"/w/docs","files":[{"path":"architecture.md","nodes":2,"tokens":18},{"path":"limits.md","nodes":2,"tokens":5}]}]}"#
        ]],
    );
}

#[test]
fn a_tree_is_nested_and_has_all_keys_at_each_node() {
    check(
        "remindb://tree",
        expect![[
            r#"{"roots":[{"id":"KYFqEmJXeUz","type":"heading","label":"Architecture","depth":0,"tokens":1,"temperature":0.475614712250357,"source":"architecture.md","children":[{"id":"KYFsOidTuOb","type":"text","label":"Overview, see [[Limits]] and [[Roadmap]].","depth":1,"tokens":17,"temperature":0.475614712250357,"source":"architecture.md","children":[]}]},{"id":"KXvb3QDKZzK","type":"heading","label":"Limits","depth":0,"tokens":1,"temperature":0.475614712250357,"source":"limits.md","children":[{"id":"KXvfHrOflSh","type":"text","label":"Summary: 60 a minute.","depth":1,"tokens":4,"temperature":0.8,"source":"limits.md","children":[]}]}]}"#
        ]],
    );
}

#[test]
fn a_graph_shows_what_is_related_and_what_waits() {
    check(
        "remindb://graph",
        expect![[
            r#"{"nodes":[{"id":"KYFsOidTuOb","label":"Overview, see [[Limits]] and [[Roadmap]].","type":"text","temperature":0.475614712250357},{"id":"KXvb3QDKZzK","label":"Limits","type":"heading","temperature":0.475614712250357},{"id":"KXvfHrOflSh","label":"Summary: 60 a minute.","type":"text","temperature":0.8}],"edges":[{"source":"KYFsOidTuOb","target":"KXvb3QDKZzK","weight":4.2,"origin":"parsed"},{"source":"KYFsOidTuOb","target":"KXvfHrOflSh","weight":1.0,"origin":"manual"}],"pending":[{"source":"KYFsOidTuOb","target_label":"Roadmap","target_source":"","target_id_hint":"","weight":1.0,"origin":"parsed"}]}"#
        ]],
    );
}

#[test]
fn snapshots_come_newest_first_and_name_their_parents() {
    check(
        "remindb://snapshots",
        expect![[
            r#"{"snapshots":[{"id":2,"parent_id":1,"message":"summarize:KXvfHrOflSh","compile_root":"","created_at":1737074000,"is_head":true},{"id":1,"parent_id":null,"message":"compile","compile_root":"/w/docs","created_at":1737072000,"is_head":false}]}"#
        ]],
    );
    check(
        "remindb://snapshots?limit=1",
        expect![[
            r#"{"snapshots":[{"id":2,"parent_id":1,"message":"summarize:KXvfHrOflSh","compile_root":"","created_at":1737074000,"is_head":true}]}"#
        ]],
    );
}

#[test]
fn diffs_have_both_texts() {
    check(
        "remindb://snapshots/2/diffs",
        expect![[
            r#"{"snapshot_id":2,"diffs":[{"op":"mod","node_id":"KXvfHrOflSh","old_hash":"52d259da20822e44","new_hash":"1bbcf417ecb52d6c","old_content":"A hundred a minute.","new_content":"60 a minute."}]}"#
        ]],
    );
    check("remindb://snapshots/99/diffs", expect![[r#"{"snapshot_id":99,"diffs":[]}"#]]);
}

#[test]
fn an_added_node_has_no_old_side() {
    let fixture = ResourceFixture::of(&[("limits.md", LIMITS)]);
    expect![[r#"{"snapshot_id":1,"diffs":[{"op":"add","node_id":"KXvb3QDKZzK","old_hash":"","new_hash":"ad41d1b64d97cf7a","old_content":"","new_content":"Limits"},{"op":"add","node_id":"KXvfHrOflSh","old_hash":"","new_hash":"52d259da20822e44","old_content":"","new_content":"A hundred a minute."}]}"#]].assert_eq(&fixture.shown("remindb://snapshots/1/diffs"));
    let id = fixture.value("remindb://tree")["roots"][0]["id"].as_str().unwrap().to_owned();
    fixture.memory.forget(&id, crate::memory::ForgetChildrenMode::Cascade).unwrap();
    expect![[r#"{"snapshot_id":2,"diffs":[{"op":"rem","node_id":"KXvfHrOflSh","old_hash":"52d259da20822e44","new_hash":"","old_content":"A hundred a minute.","new_content":""},{"op":"rem","node_id":"KXvb3QDKZzK","old_hash":"ad41d1b64d97cf7a","new_hash":"","old_content":"Limits","new_content":""}]}"#]].assert_eq(&fixture.shown("remindb://snapshots/2/diffs"));
    expect![[r#"{"snapshot_id":1,"diffs":[{"op":"add","node_id":"KXvb3QDKZzK","old_hash":"","new_hash":"ad41d1b64d97cf7a","old_content":"","new_content":"Limits"},{"op":"add","node_id":"KXvfHrOflSh","old_hash":"","new_hash":"52d259da20822e44","old_content":"","new_content":"A hundred a minute."}]}"#]].assert_eq(&fixture.shown("remindb://snapshots/1/diffs"));
}

#[test]
fn a_heatmap_has_every_node_and_the_lines_it_is_classified_by() {
    check(
        "remindb://temperature",
        expect![[
            r#"{"summary":{"avg":0.5567110341877677,"median":0.475614712250357,"hot":1,"cold":0,"pinned":1,"cold_threshold":0.1,"hot_threshold":0.5},"nodes":[{"id":"KYFqEmJXeUz","label":"Architecture","temperature":0.475614712250357,"pinned":false},{"id":"KYFsOidTuOb","label":"Overview, see [[Limits]] and [[Roadmap]].","temperature":0.475614712250357,"pinned":false},{"id":"KXvb3QDKZzK","label":"Limits","temperature":0.475614712250357,"pinned":false},{"id":"KXvfHrOflSh","label":"Summary: 60 a minute.","temperature":0.8,"pinned":true}]}"#
        ]],
    );
}

#[test]
fn nothing_is_left_out_where_there_is_nothing() {
    let fixture = ResourceFixture::of(&[]);
    let mut table = String::new();
    for row in RESOURCES.iter().filter(|it| !it.uri.contains('{') && it.name != "doctor") {
        table += &format!("{} {}\n", row.name, fixture.shown(row.uri));
    }
    expect![[r#"
        overview {"db_path":"/w/memory.db","db_bytes":249856,"nodes":{"total":0,"by_type":{},"tokens":0},"snapshots":{"count":0,"head_id":0,"cursor_hash":"","latest_message":"","latest_age_s":0},"temperature":{"avg":0.0,"median":0.0,"hot":0,"cold":0,"pinned":0},"relations":{"total":0,"by_origin":{},"pending":0},"fts_rows":0}
        files {"roots":[]}
        tree {"roots":[]}
        graph {"nodes":[],"edges":[],"pending":[]}
        snapshots {"snapshots":[]}
        temperature {"summary":{"avg":0.0,"median":0.0,"hot":0,"cold":0,"pinned":0,"cold_threshold":0.1,"hot_threshold":0.5},"nodes":[]}
        logs {"records":[],"dropped":0}
        sessions {"db_path":"/w/memory.db","sessions":[]}
        sessions-history {"db_path":"/w/memory.db","clients":[]}
        sessions-logs {"db_path":"/w/memory.db","logs":[]}
        space null
        rescan {"interval_s":0,"last_meta":{"run_at":0,"error":"","added":0,"modified":0,"removed":0,"purged_files":[]}}
        heat {"bins":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0],"never_read":0,"read":0,"cold":0,"pinned":0,"warmest":[],"coldest":[],"cold_threshold":0.1,"hot_threshold":0.5,"born":0.5}
        timeline {"snapshots":[],"buckets":[],"next":null}
        recent-memories {"memories":[],"count":0,"generated_at":"2025-01-17T00:00:00Z"}
        core-memories {"memories":[],"count":0,"by_importance":{"high":0,"medium":0,"low":0},"by_category":{},"generated_at":"2025-01-17T00:00:00Z"}
        learnings {"memories":[],"count":0,"date_range":{"from":"2024-12-18T00:00:00Z","to":"2025-01-17T00:00:00Z"},"generated_at":"2025-01-17T00:00:00Z"}
        active-tasks {"memories":[],"count":0,"by_status":{"completed":0,"in-progress":0,"blocked":0},"generated_at":"2025-01-17T00:00:00Z"}
        completed-tasks {"memories":[],"count":0,"date_range":{"from":"2024-12-18T00:00:00Z","to":"2025-01-17T00:00:00Z"},"generated_at":"2025-01-17T00:00:00Z"}
        review {"task":"consolidate","base":0,"topic":null,"pending":{"total":0,"shown":0},"episodes":[],"concepts":[],"collisions":[],"conflicts":[],"operations":["remember(content kind? topic? entities?)","fact(text subject? attribute? entities? valid_from? valid_to? source? supersede? topic? asserted_by? confidence? at? as?)","concept(title summary from? kind? confidence? topic? tags? conditions? exceptions? as?)","update(id title? summary? content? confidence? kind? topic? tags? conditions? exceptions? entities? metadata? category? importance? archived? task_metadata? valid_from? valid_to? as?)","topic(name description? as?)","link(from to type strength? context?)","unlink(from to type)","evidence(concept episode type strength? note?)","supersede(old new note?)","conflict(a b severity? note? as?)","resolve(id winner note?)","dismiss(id note?)","entity(name type? as?)","alias(id name)","relate(from to type strength? context?)","label(id key value)","unlabel(id key value)","merge(from into note?)","split(id into assign note?)","reshape(id kind note?)","processed(ids)","ingested(chunk density?)","pin(id)","unpin(id)","delete(id)","restore(id)"],"example":[{"op":"concept","as":"backoff","title":"Retries need backoff","summary":"Retrying at once made outages longer; pauses that grow ended them.","from":["EPISODE","EPISODE"]},{"op":"link","from":"$backoff","to":"CONCEPT","type":"implies","strength":0.7},{"op":"processed","ids":["EPISODE"]}]}
        topics {"topics":[]}
        concepts {"concepts":[],"total":0}
        episodes {"episodes":[],"total":0}
        entities {"entities":[]}
        conflicts {"conflicts":[],"total":0}
        events {"events":[],"next":"0","more":false,"reset":false}
        bootstrap {"snapshot":0,"stats":{"episodes":0,"episode_types":{"observation":0,"decision":0,"question":0,"meta":0,"preference":0,"outcome":0,"fact":0},"pending":0,"concepts":0,"facts":0,"topics":0,"entities":0,"open_conflicts":0},"concepts":[],"conflicts":[],"left_out":0}
    "#]].assert_eq(&table);
}

#[test]
fn the_doctor_says_what_it_says_at_the_terminal() {
    let fixture = full();
    let path = fixture.folder.join("memory.db");
    let at_the_terminal = crate::maintenance::doctor::examine(&path).unwrap().to_json();
    assert_eq!(fixture.read("remindb://doctor"), at_the_terminal);
    assert_eq!(fixture.value("remindb://doctor")["status"], "pass");
}

#[test]
fn a_subtree_is_bounded_by_generations_and_keeps_its_depths() {
    let notes = "# One\n\n## Two\n\n### Three\n\nFour.\n\n## Five\n";
    let fixture = ResourceFixture::of(&[("a.md", notes)]);
    let whole = fixture.value("remindb://tree");
    let two = &whole["roots"][0]["children"][0];
    let id = two["id"].as_str().unwrap();
    let whole_of_two = json!({"roots": [two]});
    assert_eq!(fixture.value(&format!("remindb://tree/{id}")), whole_of_two);
    assert_eq!(fixture.value(&format!("remindb://tree/{id}?depth=0")), whole_of_two);
    assert_eq!(
        fixture.value(&format!("remindb://tree/{id}?depth=9223372036854775807")),
        whole_of_two
    );
    let mut bounded = two.clone();
    bounded["children"][0]["children"] = json!([]);
    assert_eq!(fixture.value(&format!("remindb://tree/{id}?depth=1")), json!({"roots": [bounded]}));
    assert_eq!((&two["depth"], &two["children"][0]["depth"]), (&json!(1), &json!(2)));
}

#[test]
fn a_missing_resource_is_an_error_and_no_empty_body() {
    let fixture = full();
    let mut table = String::new();
    for uri in [
        "remindb://tree/aB3",
        "remindb://tree/*",
        "remindb://tree/aB3?depth=-1",
        "remindb://tree/aB3?depth=two",
        "remindb://tree/aB3?depth=%2B1",
        "remindb://tree/aB3?depth=1.5",
        "remindb://snapshots?limit=0",
        "remindb://snapshots?limit=-3",
        "remindb://snapshots?limit=99999999999999999999",
        "remindb://snapshots/three/diffs",
        "remindb://snapshots/0x3/diffs",
        "remindb://snapshots/-1/diffs",
        "remindb://sessions/history/nobody",
        "remindb://sessions/history/*",
        "remindb://sessions/logs/nobody",
        "remindb://sessions/logs/..",
        "remindb://nothing",
    ] {
        table += &format!("{uri} {:?}\n", fixture.try_read(uri).unwrap_err());
    }
    expect![[r#"
        remindb://tree/aB3 NotFound("no node `aB3`; find one with a search")
        remindb://tree/* NotFound("no node `*`; find one with a search")
        remindb://tree/aB3?depth=-1 BadArgument("`depth` is `-1`; it must be a whole number, 0 or above")
        remindb://tree/aB3?depth=two BadArgument("`depth` is `two`; it must be a whole number, 0 or above")
        remindb://tree/aB3?depth=%2B1 BadArgument("`depth` is `+1`; it must be a whole number, 0 or above")
        remindb://tree/aB3?depth=1.5 BadArgument("`depth` is `1.5`; it must be a whole number, 0 or above")
        remindb://snapshots?limit=0 BadArgument("`limit` is 0; ask for at least 1")
        remindb://snapshots?limit=-3 BadArgument("`limit` is `-3`; it must be a whole number, 0 or above")
        remindb://snapshots?limit=99999999999999999999 BadArgument("`limit` is `99999999999999999999`; it must be a whole number, 0 or above")
        remindb://snapshots/three/diffs BadArgument("`id` is `three`; it must be a whole number, 0 or above")
        remindb://snapshots/0x3/diffs BadArgument("`id` is `0x3`; it must be a whole number, 0 or above")
        remindb://snapshots/-1/diffs BadArgument("`id` is `-1`; it must be a whole number, 0 or above")
        remindb://sessions/history/nobody NotFound("no client `nobody`")
        remindb://sessions/history/* NotFound("no client `*`")
        remindb://sessions/logs/nobody NotFound("no session log `nobody`")
        remindb://sessions/logs/.. BadArgument("`id` is `..`, which names no single thing")
        remindb://nothing UnknownUri("remindb://nothing")
    "#]].assert_eq(&table);
}

#[test]
fn hot_and_cold_are_what_the_settings_say() {
    let fixture = ResourceFixture::of(&[("limits.md", LIMITS)]);
    let rates = crate::model::heat::HeatParameters {
        cold: 0.6,
        hot: 0.3,
        ..crate::model::heat::HeatParameters::default()
    };
    fixture.memory.set_rates(rates);
    let summary = &fixture.value("remindb://temperature")["summary"];
    let overview = &fixture.value("remindb://overview")["temperature"];
    expect![[r#"{"avg":0.5,"median":0.5,"hot":2,"cold":2,"pinned":0,"cold_threshold":0.6,"hot_threshold":0.3}"#]]
        .assert_eq(&summary.to_string());
    expect![[r#"{"avg":0.5,"median":0.5,"hot":2,"cold":2,"pinned":0}"#]]
        .assert_eq(&overview.to_string());
    let stats = fixture.memory.stats().unwrap().text;
    assert!(stats.contains("hot (>=0.3):") && stats.contains("cold (<0.6):"), "{stats}");
}

/// A process with one fact of each kind.
struct Known;

impl ServerStatus for Known {
    fn fact(&self, fact: ServerFactKey<'_>) -> Result<Option<Value>, String> {
        Ok(match fact {
            ServerFactKey::Client("a") => Some(json!({"hash": "a"})),
            ServerFactKey::SessionLogContents("s") => {
                Some(json!({"session_id": "s", "entries": []}))
            }
            ServerFactKey::Client(_) | ServerFactKey::SessionLogContents(_) => None,
            ServerFactKey::SessionLogs => return Err("the folder is gone".to_owned()),
            fact => Some(json!([format!("{fact:?}")])),
        })
    }

    fn names(&self, of: NamesForUriCompletion) -> Vec<String> {
        (0..500).map(|it| format!("{of:?}{it}")).collect()
    }
}

#[test]
fn process_facts_are_shown_beside_the_database() {
    let fixture = ResourceFixture::beside(&[], Arc::new(Known));
    let mut table = String::new();
    for uri in [
        "remindb://rescan",
        "remindb://logs",
        "remindb://sessions",
        "remindb://sessions/history",
        "remindb://sessions/history/a",
        "remindb://sessions/history/b",
        "remindb://sessions/logs",
        "remindb://sessions/logs/s",
        "remindb://sessions/logs/t",
    ] {
        let outcome = match fixture.try_read(uri) {
            Ok(text) => text.replace(fixture.folder.to_str().unwrap(), "/w"),
            Err(error) => format!("{error:?}"),
        };
        table += &format!("{uri} {outcome}\n");
    }
    expect![[r#"
        remindb://rescan ["Rescan"]
        remindb://logs ["Logs"]
        remindb://sessions {"db_path":"/w/memory.db","sessions":["Sessions"]}
        remindb://sessions/history {"db_path":"/w/memory.db","clients":["Clients"]}
        remindb://sessions/history/a {"hash":"a"}
        remindb://sessions/history/b NotFound("no client `b`")
        remindb://sessions/logs Unavailable("the folder is gone")
        remindb://sessions/logs/s {"session_id":"s","entries":[]}
        remindb://sessions/logs/t NotFound("no session log `t`")
    "#]]
    .assert_eq(&table);
}

#[test]
fn variables_are_completed_from_what_there_is() {
    let fixture =
        ResourceFixture::beside(&[("a.md", ARCHITECTURE), ("b.md", LIMITS)], Arc::new(Known));
    let complete =
        |uri, variable, prefix: &str| values(&fixture.view, uri, variable, prefix).unwrap();
    let ids = complete(TREE_BY_ROOT, "rootId", "");
    assert_eq!(ids.len(), 4);
    assert_eq!(complete(TREE_BY_ROOT, "rootId", &ids[1][..5]), [ids[1].as_str()]);
    let limits = fixture.value("remindb://tree")["roots"][1]["id"].as_str().unwrap().to_owned();
    assert_eq!(complete(TREE_BY_ROOT, "rootId", "limi"), [limits]);
    for hostile in ["\"", "' OR 1", "%", "_", "*", "NEAR(", "\u{10ffff}", "c++ \" OR b"] {
        assert_eq!(complete(TREE_BY_ROOT, "rootId", hostile), [] as [&str; 0], "{hostile}");
    }
    assert_eq!(complete(SNAPSHOT_DIFFS, "id", ""), ["1"]);
    assert_eq!(complete(SNAPSHOT_DIFFS, "id", "1"), ["1"]);
    assert_eq!(complete(SNAPSHOT_DIFFS, "id", "%"), [] as [&str; 0]);
    assert_eq!(complete(HISTORY_BY_HASH, "hash", "Clients49").len(), 11);
    assert_eq!(complete(LOG_BY_ID, "id", "").len(), COMPLETIONS_MAX);
    assert_eq!(complete(LOG_BY_ID, "hash", ""), [] as [&str; 0]);
    assert_eq!(complete("remindb://snapshots{?limit}", "limit", ""), [] as [&str; 0]);
}
