use super::*;

impl Case {
    #[track_caller]
    fn ingest(&self, args: Value) -> Value {
        let Value::Object(args) = args else { panic!("an object") };
        self.memory.ingest(&MemoryIngestArgs::parse(&args).unwrap()).unwrap()
    }

    #[track_caller]
    fn triage(&self) -> Value {
        let args = json!({"task": "triage"});
        self.memory.review(&WorksheetRequest::parse(args.as_object().unwrap()).unwrap()).unwrap()
    }
}

#[test]
fn a_text_waits_until_there_is_enough_of_it() {
    let case = Case::new();
    let line = "The `gateway` timed out twice today. ";
    let answer = case.ingest(json!({"content": line, "source": "chat"}));
    assert_eq!(answer, json!({"buffered": line.chars().count(), "chunks": 0}));
    assert_eq!(case.triage()["chunk"], Value::Null);
    assert_eq!(case.ingest(json!({"content": "Elsewhere."}))["buffered"], line.len() + 10);
    let answer = case.ingest(json!({"content": line.repeat(120), "source": "chat"}));
    assert_eq!((&answer["buffered"], &answer["chunks"]), (&json!(10), &json!(2)));
    assert!(answer["hint"].as_str().unwrap().contains("triage"));
    assert_eq!(case.ingest(json!({"flush": true}))["chunks"], 3);
    let found = case.memory.search("gateway", None).unwrap().text;
    assert!(!found.contains("timed out"), "what waits is not found: {found}");
}

#[test]
fn chunks_overlap_and_have_their_instructions() {
    let case = Case::new();
    let text: String = (0..900).map(|nth| format!("Sentence number {nth}. ")).collect();
    case.ingest(json!({"content": text, "topic": "Numbers", "instructions": "Keep odd ones."}));
    let sheet = case.triage();
    assert_eq!(sheet["pending"], json!({"total": 5, "shown": 1}));
    assert_eq!(sheet["chunk"]["topic"]["name"], "Numbers");
    assert!(sheet["instructions"].as_str().unwrap().starts_with("Keep odd ones.\n"));
    let first = sheet["chunk"]["text"].as_str().unwrap().to_owned();
    assert!(first.chars().count() <= 4_000);
    case.apply(json!([
        {"op": "remember", "content": "There are many numbers.", "topic": "Numbers"},
        {"op": "ingested", "chunk": sheet["chunk"]["id"], "density": 0.1},
    ]));
    let second = case.triage();
    assert_eq!(second["pending"], json!({"total": 4, "shown": 1}));
    let text = second["chunk"]["text"].as_str().unwrap();
    assert!(text.chars().count() <= 4_200);
    let end: String = first.chars().skip(first.chars().count() - 200).collect();
    assert!(text.starts_with(&end), "{text}");
}

#[test]
fn a_chunk_that_was_ingested_comes_back_with_a_rollback() {
    let case = Case::new();
    case.ingest(json!({"content": "One thing.", "flush": true}));
    let chunk = case.triage()["chunk"].clone();
    assert_eq!(chunk["text"], "One thing.");
    let ingested = json!([{"op": "ingested", "chunk": chunk["id"], "density": 1}]);
    case.apply(ingested.clone());
    assert_eq!(case.triage()["chunk"], Value::Null);
    case.memory.rollback(1, false).unwrap();
    assert_eq!(case.triage()["chunk"], chunk);
    case.apply(ingested);
}

#[test]
fn consolidation_hands_out_a_worksheet_without_a_model() {
    let case = Case::new();
    let consolidate = |args: Value| {
        let args = ConsolidateRequest::parse(args.as_object().unwrap()).unwrap();
        case.memory.worksheet(&args).unwrap()
    };
    case.remember(json!({"items": [{"content": "One."}, {"content": "Two."}]}));
    let few = consolidate(json!({}));
    assert_eq!(few["note"], "fewer than 3 episodes wait; `force` hands them out");
    assert_eq!(consolidate(json!({"force": true}))["episodes"].as_array().unwrap().len(), 2);
    case.remember(json!({"content": "Three."}));
    assert_eq!(consolidate(json!({}))["episodes"].as_array().unwrap().len(), 3);
}

#[test]
fn what_a_worksheet_cut_off_goes_on_waiting() {
    let case = Case::new();
    let text: String =
        (0..300).map(|nth| format!("第{nth}條：付款系統晚上逾時，需重新嘗試。")).collect();
    let text: String = text.chars().take(3_990).collect();
    case.ingest(json!({"content": text, "flush": true}));
    let mut seen = String::new();
    let mut n_sheets = 0;
    while let Some(shown) = case.triage()["chunk"]["text"].as_str() {
        let chunk = case.triage()["chunk"].clone();
        let is_cut = chunk["cut"].is_string();
        let part = if is_cut { shown.strip_suffix('…').unwrap() } else { shown };
        // Each part begins with the end of the one before.
        let n_again = if seen.is_empty() { 0 } else { 200 };
        assert_eq!(seen.chars().count().min(n_again), n_again);
        let again: String = part.chars().take(n_again).collect();
        assert!(seen.ends_with(&again), "{again}");
        seen.extend(part.chars().skip(n_again));
        let ingested = json!([{"op": "ingested", "chunk": chunk["id"], "density": 0.5}]);
        if let Some((id, _)) = chunk["id"].as_str().unwrap().split_once('/') {
            let none = json!({"operations": [{"op": "ingested", "chunk": format!("{id}/0")}]});
            let none = ApplyRequest::parse(none.as_object().unwrap()).unwrap();
            let why = MemoryError::from(case.memory.apply(&none).unwrap_err()).message;
            assert!(why.contains("as the worksheet names it"), "{why}");
        }
        case.apply(ingested.clone());
        if is_cut {
            let Value::Object(again) = json!({"operations": ingested}) else { unreachable!() };
            assert!(case.memory.apply(&ApplyRequest::parse(&again).unwrap()).is_err(), "once");
        }
        n_sheets += 1;
    }
    assert_eq!(seen, text);
    assert!(1 < n_sheets, "it is too long for one worksheet");
}

#[test]
fn the_rest_of_a_chunk_comes_before_the_chunks_after_it() {
    let case = Case::new();
    let text: String = (0..900).map(|nth| format!("Line {nth} of the talk.\n")).collect();
    case.ingest(json!({"content": text, "flush": true}));
    let triage = || {
        let args = json!({"task": "triage", "budget": 1_000});
        let args = WorksheetRequest::parse(args.as_object().unwrap()).unwrap();
        case.memory.review(&args).unwrap()["chunk"].clone()
    };
    let first_line = |chunk: &Value| -> usize {
        let words = chunk["text"].as_str().unwrap().split("Line ").nth(1).unwrap();
        words.split(' ').next().unwrap().parse().unwrap()
    };
    let (mut lines, mut n_sheets) = (Vec::new(), 0);
    loop {
        let chunk = triage();
        if chunk.is_null() {
            break;
        }
        lines.push(first_line(&chunk));
        case.apply(json!([{"op": "ingested", "chunk": chunk["id"], "density": 0.5}]));
        n_sheets += 1;
        if n_sheets == 3 {
            let before = case.n_snapshots();
            let shown = triage()["text"].clone();
            let chunk = triage()["id"].clone();
            case.apply(json!([{"op": "ingested", "chunk": chunk, "density": 0.5}]));
            case.memory.rollback(before, false).unwrap();
            assert_eq!(triage()["text"], shown);
        }
    }
    assert!(5 < n_sheets, "each chunk is cut");
    assert!(lines.is_sorted(), "{lines:?}");
}
