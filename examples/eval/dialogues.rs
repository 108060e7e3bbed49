//! Evaluates search on long dialogues, with the turns that answer each question.
//!
//! A folder holds a conversation: a file a session, a heading with the date, a paragraph a turn.
//! `questions.jsonl` names the folder, the kind of each question, and its evidence: the turns that
//! answer it, word for word. A question is asked as typed, with one call; found is the evidence
//! whose text is in what the call sent. All text of the result counts, framing included.
//!
//! `unanswerable.txt` has questions that the conversations do not answer, each with its folder and
//! its kind. The relevance of the best hit should tell them from the others; the baseline is the
//! best `bm25()`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use rusqlite::Connection;
use serde_json::{Value, json};
use tiktoken_rs::CoreBPE;

use crate::agent::Agent;
use crate::measure::{Row, Table, area_under_curve};
use crate::{Half, Result, compile, ored, still_folder};

/// Tokens that one call may send, and that the baseline fills.
const BUDGET: usize = 1_200;
/// Turns of which the baseline fills its tokens.
const TURNS_MAX: u32 = 400;
/// Questions without an answer: the folder, a space, the kind, ` => `, the question.
const UNANSWERABLE: &str = include_str!("unanswerable.txt");

struct Question {
    ordinal: u32,
    notes: String,
    kind: String,
    text: String,
    evidence: Vec<String>,
}

/// The evidence in one answer.
struct Found {
    n_found: f64,
    n_evidence: f64,
    n_sent: f64,
}

impl Found {
    /// Returns 1 if there is any evidence, else 0.
    fn any(&self) -> f64 {
        self.n_found.min(1.0)
    }
}

/// Asks the program and the baseline every question.
pub(crate) fn evaluate(program: &Path, folder: &Path, half: Half) -> Result<Table> {
    let vocabulary = tiktoken_rs::cl100k_base()?;
    let mut by_notes: BTreeMap<String, Vec<Question>> = BTreeMap::new();
    for question in questions(&fs::read_to_string(folder.join("questions.jsonl"))?)? {
        if half.has(question.ordinal) {
            by_notes.entry(question.notes.clone()).or_default().push(question);
        }
    }
    let mut answered: Vec<(String, [Found; 2])> = Vec::new();
    let mut answerable = BestScores::default();
    let mut unanswerable: BTreeMap<&str, BestScores> = BTreeMap::new();
    for (notes, questions) in by_notes {
        let place = tempfile::tempdir()?;
        let none: Vec<(&str, &str)> = UNANSWERABLE
            .lines()
            .filter_map(|it| it.strip_prefix(&notes)?.trim_start().split_once(" => "))
            .collect();
        let (copy, db) = (place.path().join("notes"), place.path().join("memory.db"));
        still_folder(&copy)?;
        let plain = Connection::open_in_memory()?;
        plain.execute_batch("CREATE VIRTUAL TABLE turn USING fts5 (text, tokenize = 'porter')")?;
        let mut files: Vec<_> =
            fs::read_dir(folder.join(notes))?.collect::<std::io::Result<Vec<_>>>()?;
        files.sort_by_key(|it| it.file_name());
        for file in files {
            let text = fs::read_to_string(file.path())?;
            let name = file.file_name().to_string_lossy().into_owned();
            fs::write(copy.join(&name), &text)?;
            for turn in text.split("\n\n").filter(|it| !it.starts_with('#')) {
                let line = format!("{name}: {}", folded(turn));
                plain.execute("INSERT INTO turn (text) VALUES (?1)", [line])?;
            }
        }
        compile(program, &copy, &db)?;
        let mut agent = Agent::start(program, &copy, &db)?;
        for question in questions {
            let arguments = json!({"query": question.text, "detail": "full", "budget": BUDGET});
            let ours = agent.search(arguments)?.text;
            let base = plain_answer(&plain, &vocabulary, &question.text)?;
            let found = [base, ours].map(|it| found(&vocabulary, &it, &question.evidence));
            answerable.add(&mut agent, &plain, &question.text)?;
            answered.push((question.kind, found));
        }
        for (kind, question) in none {
            unanswerable.entry(kind).or_default().add(&mut agent, &plain, question)?;
        }
        agent.stop()?;
    }
    let title = format!("Dialogues: {} questions", answered.len());
    let notes = notes(&answerable, &unanswerable);
    Ok(Table { title, baseline: "FTS5", rows: rows(&answered), notes })
}

/// The best scores of questions.
#[derive(Default)]
struct BestScores {
    plain: Vec<f64>,
    ours: Vec<f64>,
    /// Questions that the program says are not answered.
    n_refused: usize,
}

impl BestScores {
    fn add(&mut self, agent: &mut Agent, plain: &Connection, question: &str) -> Result<()> {
        const BEST: &str = "SELECT ifnull(max(-rank), 0) FROM turn WHERE turn MATCH ?1";
        self.plain.push(plain.prepare_cached(BEST)?.query_row([ored(question)], |it| it.get(0))?);
        let reply = agent.search(json!({"query": question}))?;
        self.ours.push(reply.hits.iter().map(|it| it.relevance).fold(0.0, f64::max));
        self.n_refused += usize::from(reply.hits.is_empty());
        Ok(())
    }
}

/// Returns how well relevance tells the questions without an answer, of each kind and of all.
fn notes(answerable: &BestScores, unanswerable: &BTreeMap<&str, BestScores>) -> Vec<String> {
    let note = |(kind, none): (&str, &BestScores)| {
        let plain = area_under_curve(&answerable.plain, &none.plain);
        let ours = area_under_curve(&answerable.ours, &none.ours);
        let (n, n_refused) = (none.ours.len(), none.n_refused);
        format!(
            "{n} without an answer, {kind}: AUC {plain:.3} by bm25(), {ours:.3} by relevance; \
             {n_refused} are not answered"
        )
    };
    let all = BestScores {
        plain: unanswerable.values().flat_map(|it| it.plain.clone()).collect(),
        ours: unanswerable.values().flat_map(|it| it.ours.clone()).collect(),
        n_refused: unanswerable.values().map(|it| it.n_refused).sum(),
    };
    let kinds = unanswerable.iter().map(|(kind, none)| (*kind, none));
    let (n_wrong, n_all) = (answerable.n_refused, answerable.ours.len());
    let wrong = format!("of the {n_all} others, {n_wrong} are not answered");
    kinds.chain([("all", &all)]).map(note).chain([wrong]).collect()
}

/// Returns the figures of all questions, then those of each kind.
fn rows(answered: &[(String, [Found; 2])]) -> Vec<Row> {
    let row = |name: String, kind: Option<&str>, figure: &dyn Fn(&Found) -> f64| {
        let of_kind = answered.iter().filter(|it| kind.is_none_or(|kind| kind == it.0));
        let (baseline, ours) = of_kind.map(|it| (figure(&it.1[0]), figure(&it.1[1]))).unzip();
        Row { name, baseline, ours }
    };
    // Every turn counts alike: questions are weighted by the number of theirs.
    let recall = |name: String, kind: Option<&str>| {
        let of_kind = answered.iter().filter(|it| kind.is_none_or(|kind| kind == it.0));
        let counts: Vec<f64> = of_kind.map(|it| it.1[0].n_evidence).collect();
        let mean = counts.iter().sum::<f64>() / counts.len() as f64;
        row(name, kind, &|it| it.n_found / mean)
    };
    let mut rows = vec![
        recall("recall".to_owned(), None),
        row("any".to_owned(), None, &Found::any),
        row("tokens sent".to_owned(), None, &|it| it.n_sent),
    ];
    let mut kinds: Vec<&str> = answered.iter().map(|it| it.0.as_str()).collect();
    kinds.sort_unstable();
    kinds.dedup();
    for kind in kinds {
        rows.push(recall(format!("recall, {kind}"), Some(kind)));
        rows.push(row(format!("any, {kind}"), Some(kind), &Found::any));
    }
    rows
}

/// Returns the best turns of plain full-text search, a line each, as many as fit the budget.
fn plain_answer(plain: &Connection, vocabulary: &CoreBPE, question: &str) -> Result<String> {
    const RANKED: &str = "
        SELECT text
          FROM turn
         WHERE turn MATCH ?1
         ORDER BY bm25(turn)
         LIMIT ?2";
    let mut query = plain.prepare(RANKED)?;
    let turns = query.query_map((ored(question), TURNS_MAX), |row| row.get::<_, String>(0))?;
    let (mut answer, mut left) = (String::new(), BUDGET);
    for turn in turns {
        let line = turn? + "\n";
        let Some(rest) = left.checked_sub(vocabulary.encode_ordinary(&line).len()) else { break };
        left = rest;
        answer.push_str(&line);
    }
    Ok(answer)
}

fn found(vocabulary: &CoreBPE, sent: &str, evidence: &[String]) -> Found {
    let text = folded(sent);
    let n_found = evidence.iter().filter(|it| text.contains(it.as_str())).count() as f64;
    let n_sent = vocabulary.encode_ordinary(sent).len() as f64;
    Found { n_found, n_evidence: evidence.len() as f64, n_sent }
}

fn questions(lines: &str) -> Result<Vec<Question>> {
    let read = |(line, ordinal): (&str, u32)| {
        let facts: Value = serde_json::from_str(line)?;
        let text = |name: &str| facts[name].as_str().unwrap_or_default().to_owned();
        let evidence = facts["evidence"].as_array().into_iter().flatten();
        Ok(Question {
            ordinal,
            notes: text("notes"),
            kind: text("kind"),
            text: text("question"),
            evidence: evidence.filter_map(Value::as_str).map(folded).collect(),
        })
    };
    let all: Result<Vec<Question>> = lines.lines().zip(1..).map(read).collect();
    Ok(all?.into_iter().filter(|it| !it.evidence.is_empty()).collect())
}

/// Makes each run of white space one space: an answer may indent the lines of a text.
fn folded(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
