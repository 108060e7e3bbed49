use tempfile::TempDir;

use super::*;
use crate::maintenance::transfer::{self, IfExists};
use crate::memory::{AppendOrReplaceMode, ForgetChildrenMode};
use crate::model::clock::{Clock, UnixMillis};
use crate::providers::{ProviderJob, Providers, shell_provider_testing};
use crate::store::IfMissing;

/// Makes a vector of what a line is about: vehicles, money, or neither.
const TOPICS: &str = r#"while read -r line; do case "$line" in
    *car*|*vehicle*|*automobile*) echo '[1, 0.05, 0]';;
    *invoice*|*money*) echo '[0, 1, 0.05]';;
    *) echo "[0, 0.05, 1]";;
esac; done"#;

struct Case {
    folder: TempDir,
    memory: Memory,
    leases: Arc<LeaseManager>,
    seen: Option<ChangeDetectionCounters>,
}

impl Case {
    fn new(script: &str) -> Case {
        let folder = TempDir::new().unwrap();
        let clock = Clock::manual(UnixMillis(1_795_428_000_000));
        let path = folder.path().join("memory.db");
        let memory = Memory::open_at(&path, IfMissing::Create, clock).unwrap();
        let embeddings = Some(shell_provider_testing::program_for(ProviderJob::Embeddings, script));
        let memory = memory.with_providers(Providers { embeddings, ..Providers::default() });
        let leases = Arc::new(memory.leases("this one").unwrap());
        Case { folder, memory, leases, seen: None }
    }

    /// A memory of notes about vehicles, money and other things.
    fn of_notes() -> Case {
        let mut case = Case::new(TOPICS);
        case.write("The automobile was repaired on Monday.");
        case.write("An invoice is due.");
        for nth in 0..10 {
            case.write(&format!("Plain note of row {nth}."));
        }
        case.fill().unwrap();
        case
    }

    fn write(&self, text: &str) {
        self.memory.write(text, None, AppendOrReplaceMode::Append).unwrap();
    }

    fn fill(&mut self) -> Result<(), String> {
        let source = self.memory.providers().embeddings.clone().unwrap();
        fill(&self.memory, &source, &self.leases, &mut self.seen, &StopSignal::default())
    }

    fn n_vectors(&self) -> usize {
        let source = self.memory.providers().embeddings.clone().unwrap();
        let mut n = 0;
        let count = |reader: &crate::store::reader::Reader| {
            reader.scan_vectors(model_number(source.model()), |_, _| n += 1)
        };
        self.memory.read(count).unwrap();
        n
    }

    fn search(&self, words: &str) -> String {
        let _ = &self.folder;
        self.memory.search(words, Some(500)).unwrap().text
    }

    fn id_of(&self, words: &str) -> String {
        let text = self.search(words);
        text.split("(id=").nth(1).unwrap()[..11].to_owned()
    }
}

#[test]
fn a_question_finds_what_has_none_of_its_words() {
    let case = Case::of_notes();
    assert_eq!(case.n_vectors(), 12);
    let found = case.search("which vehicle broke");
    assert!(found.contains("automobile was repaired"), "{found}");
    assert!(!found.contains("invoice"), "{found}");
    let recalled = case.search("invoice");
    assert!(recalled.contains("An invoice is due."), "{recalled}");
}

#[test]
fn without_a_source_nothing_is_loaded_and_nothing_changes() {
    let Case { memory, folder, .. } = Case::of_notes();
    let still = crate::model::heat::HeatParameters { access_boost: 0.0, ..memory.rates() };
    memory.set_rates(still);
    let path = folder.path().join("memory.db");
    let with: Vec<String> = QUESTIONS.map(|it| memory.search(it, Some(500)).unwrap().text).into();
    drop(memory);
    let memory = Memory::open(&path).unwrap();
    memory.set_rates(still);
    let without = |memory: &Memory| QUESTIONS.map(|it| memory.search(it, Some(500)).unwrap().text);
    let beside_vectors = without(&memory);
    memory.vector_writer().unwrap().drop_others(0).unwrap();
    assert_eq!(beside_vectors, without(&memory));
    assert_ne!(with.as_slice(), beside_vectors.as_slice());
}

const QUESTIONS: [&str; 3] = ["which vehicle broke", "invoice", "note of a row"];

#[test]
fn a_vector_goes_with_its_text() {
    let mut case = Case::of_notes();
    let (car, invoice) = (case.id_of("automobile"), case.id_of("invoice"));
    case.memory.write("The boat was repaired.", Some(&car), AppendOrReplaceMode::Replace).unwrap();
    assert_eq!(case.n_vectors(), 11, "its text changed");
    case.memory.forget(&invoice, ForgetChildrenMode::Strict).unwrap();
    assert_eq!(case.n_vectors(), 10, "its text is gone");
    case.fill().unwrap();
    assert_eq!(case.n_vectors(), 11, "the new text has one");
    assert!(!case.search("which automobile broke").contains("boat"));
    let first = case.memory.rollback(1, true);
    assert!(first.is_ok(), "{first:?}");
    assert_eq!(case.n_vectors(), 0, "what was dropped has none");
    case.fill().unwrap();
    assert_eq!(case.n_vectors(), 1);
}

#[test]
fn another_model_replaces_the_vectors() {
    let mut case = Case::of_notes();
    let embeddings = Some(shell_provider_testing::program_for(
        ProviderJob::Embeddings,
        "while read -r l; do echo '[1,1]'; done",
    ));
    let providers = Providers { embeddings, ..Providers::default() };
    case.memory = case.memory.with_providers(providers);
    case.seen = None;
    assert_eq!(case.n_vectors(), 0, "of the new model");
    case.fill().unwrap();
    assert_eq!(case.n_vectors(), 12);
}

#[test]
fn texts_are_looked_for_after_changes_only_and_by_one_server() {
    let mut case = Case::of_notes();
    case.memory.vector_writer().unwrap().drop_others(0).unwrap();
    case.fill().unwrap();
    assert_eq!(case.n_vectors(), 0, "nothing changed");
    case.write("One more.");
    let other = case.memory.leases("another").unwrap();
    case.leases.release(LEASE).unwrap();
    assert!(other.take(LEASE, ClaimableLeaseAge::Expired, case.memory.clock().now()).unwrap());
    case.fill().unwrap();
    assert_eq!(case.n_vectors(), 0, "another does it");
    other.release(LEASE).unwrap();
    case.fill().unwrap();
    assert_eq!(case.n_vectors(), 13);
}

#[test]
fn a_restore_is_a_change_though_its_last_snapshot_is_as_before() {
    let mut case = Case::of_notes();
    let [db, backup] = ["memory.db", "backup.db"].map(|it| case.folder.path().join(it));
    case.memory.vector_writer().unwrap().drop_others(0).unwrap();
    transfer::backup(&db, &backup, IfExists::Refuse, &mut |_, _| ()).unwrap();
    transfer::restore(&backup, &db, "now", &mut |_, _| ()).unwrap();
    assert_eq!(case.n_vectors(), 0, "the backup had none");
    case.fill().unwrap();
    assert_eq!(case.n_vectors(), 12);
}

#[test]
fn a_source_that_fails_leaves_words_and_is_not_asked_for_a_while() {
    let runs = TempDir::new().unwrap();
    let log = runs.path().join("runs");
    let mut case = Case::new(&format!("echo run >>'{}'; exit 1", log.display()));
    case.write("The automobile was repaired on Monday.");
    assert!(case.fill().unwrap_err().contains("it ended before its line"));
    let n_runs = || std::fs::read_to_string(&log).unwrap().lines().count();
    assert_eq!(n_runs(), 1);
    assert!(case.search("automobile").contains("was repaired"));
    assert!(case.search("repaired automobile").contains("was repaired"));
    assert_eq!(n_runs(), 2, "one question asked it");
    case.memory.clock().advance(60_000);
    case.search("automobile on Monday");
    assert_eq!(n_runs(), 3);
}

#[test]
fn a_source_that_ends_after_some_answers_gives_vectors_to_all_texts() {
    let three = "for nth in 1 2 3; do read -r line || exit; echo '[1, 2]'; done";
    let mut case = Case::new(three);
    for nth in 0..8 {
        case.write(&format!("Plain note of row {nth}."));
    }
    assert_eq!(case.fill(), Ok(()));
    assert_eq!(case.n_vectors(), 8);
}

#[test]
fn what_redaction_masks_is_not_sent() {
    use crate::settings::config::UserConfig;
    use crate::settings::root_settings::{LiveRootSettings, OperatorOptions};
    let sent = TempDir::new().unwrap();
    let log = sent.path().join("sent");
    let script =
        format!("while read -r line; do echo \"$line\" >>'{}'; echo '[1, 2]'; done", log.display());
    let mut case = Case::new(&script);
    case.write("The ticket TICKET-4711 is open.");
    let own = r#"{"redaction": {"custom": [{"kind": "ticket", "pattern": "TICKET-\\d+"}]}}"#;
    let user = UserConfig::parse("config.json", own).unwrap();
    let options = OperatorOptions { user, ..OperatorOptions::default() };
    case.memory = case.memory.with_workspace(LiveRootSettings::without_folder(options).unwrap());
    case.fill().unwrap();
    case.search("where is TICKET-4711");
    let sent = std::fs::read_to_string(&log).unwrap();
    assert!(sent.contains("is open.") && sent.contains("where is"), "{sent}");
    assert!(!sent.contains("4711"), "{sent}");
}

#[test]
fn recall_finds_by_meaning() {
    use crate::memory::knowledge::{RecallRequest, RememberRequest};
    use serde_json::{Map, Value, json};
    let args = |it: Value| -> Map<String, Value> { it.as_object().unwrap().clone() };
    let mut case = Case::new(TOPICS);
    for text in ["The automobile was sold.", "It rained.", "Tea is good."] {
        let request = RememberRequest::parse(&args(json!({"content": text}))).unwrap();
        case.memory.remember(request).unwrap();
    }
    let ask = || {
        let request = RecallRequest::parse(&args(json!({"query": "vehicle"}))).unwrap();
        case.memory.recall(&request).unwrap()
    };
    assert_eq!(ask()["items"].as_array().map(Vec::len), Some(0), "no vectors yet");
    let source = case.memory.providers().embeddings.clone().unwrap();
    fill(&case.memory, &source, &case.leases, &mut case.seen, &StopSignal::default()).unwrap();
    let answer = ask();
    let items = answer["items"].as_array().unwrap();
    assert_eq!(items.len(), 1, "{answer}");
    assert_eq!(
        (&items[0]["text"], &items[0]["why"]),
        (&json!("The automobile was sold."), &json!("meaning"))
    );
}

#[test]
fn what_meets_a_condition_is_found_however_many_others_are_nearer() {
    use crate::memory::knowledge::{RecallRequest, RememberRequest};
    use crate::model::tree::NodeType;
    use crate::query::{Query, SearchQuery};
    use crate::store::reader::NodeFilter;
    use serde_json::{Map, Value, json};
    let args = |it: Value| -> Map<String, Value> { it.as_object().unwrap().clone() };
    let mut case = Case::new(TOPICS);
    let notes = |what: &str, n: usize| -> String {
        (0..n).map(|nth| format!("Note {nth} is about {what}.\n\n")).collect()
    };
    case.write(&notes("a car", 80));
    case.write(&notes("the weather", 120));
    case.write("- Sell the automobile.\n- Call Ana.");
    let request = RememberRequest::parse(&args(json!({"content": "The automobile is red."})));
    case.memory.remember(request.unwrap()).unwrap();
    case.fill().unwrap();
    let filter = NodeFilter { node_type: Some(NodeType::List), ..NodeFilter::default() };
    let query = SearchQuery { query: "vehicle", filter, ..SearchQuery::default() };
    let found = case.memory.query_and_warm(&Query::Search(query), None).unwrap().text;
    assert!(found.contains("Sell the automobile"), "{found}");
    let request = RecallRequest::parse(&args(json!({"query": "vehicle"}))).unwrap();
    let recalled = case.memory.recall(&request).unwrap();
    assert_eq!(recalled["items"][0]["text"], "The automobile is red.", "{recalled}");
}

#[test]
fn what_is_recalled_is_put_in_the_order_of_a_provider() {
    use crate::memory::knowledge::{RecallRequest, RememberRequest};
    use serde_json::{Map, Value, json};
    let args = |it: Value| -> Map<String, Value> { it.as_object().unwrap().clone() };
    let mut case = Case::new(TOPICS);
    for text in ["Redis timed out on Monday.", "Redis timed out on Friday."] {
        let request = RememberRequest::parse(&args(json!({"content": text}))).unwrap();
        case.memory.remember(request).unwrap();
    }
    let order = |memory: &Memory| -> Vec<Value> {
        let asked = args(json!({"query": "redis timed out"}));
        let answer = memory.recall(&RecallRequest::parse(&asked).unwrap()).unwrap();
        answer["items"].as_array().unwrap().iter().map(|it| it["text"].clone()).collect()
    };
    let by_words = order(&case.memory);
    assert_eq!(by_words.len(), 2);
    let turned: Vec<Value> = by_words.iter().rev().cloned().collect();
    // Shells count to that in about half a second.
    let slow = "n=0; while [ $n -lt 300000 ]; do n=$((n + 1)); done; echo '[-9, 9]'";
    for (script, expected) in [("echo '[-9, 9]'", &turned), (slow, &turned), ("exit 1", &by_words)]
    {
        let reranking = Some(shell_provider_testing::program_for(ProviderJob::Reranking, script));
        let providers = Providers { reranking, ..Providers::default() };
        case.memory = case.memory.with_providers(providers);
        assert_eq!(&order(&case.memory), expected, "{script}");
    }
}

#[test]
fn redaction_removes_the_vector_of_what_it_masks() {
    use crate::ingest::redact::{CustomKind, Redactor};
    use crate::maintenance::redaction::{RedactionMode, redact};
    let mut case = Case::new(TOPICS);
    case.write("The ticket TICKET-4711 is open.");
    case.write("Nothing else.");
    case.fill().unwrap();
    assert_eq!(case.n_vectors(), 2);
    let Case { memory, leases, folder, .. } = case;
    let source = memory.providers().embeddings.clone().unwrap();
    drop((memory, leases));
    let path = folder.path().join("memory.db");
    let (kind, pattern) = ("ticket".to_owned(), "TICKET-\\d+".to_owned());
    let redactor = Redactor::new(&[], &[CustomKind { kind, pattern }]).unwrap();
    redact(&path, &redactor, RedactionMode::Rewrite).unwrap();
    let reader = crate::store::reader::Reader::open(&path).unwrap();
    let mut n = 0;
    reader.scan_vectors(model_number(source.model()), |_, _| n += 1).unwrap();
    assert_eq!(n, 1);
}
