//! Evaluates search on the Cranfield collection, with its judgements of relevance.
//!
//! The collection has abstracts of aeronautics papers and questions about them. The files are the
//! classic ones. Three things about them are easily got wrong:
//!
//! - `cran.qry` numbers its 225 questions with gaps (`.I 001`, `002`, `004`, … `365`); the first
//!   column of `cranqrel` is the question's ordinal, 1 to 225, not that number.
//! - A relevance code of 1 is the closest (a complete answer), 4 the least (of some interest):
//!   plain full-text search ranks them in that order, at median ranks of 9, 22, 33 and 51. The gain
//!   is therefore 5 less the code.
//! - Each question has one paper with the code −1: the one that it was asked about. It counts as
//!   not relevant, as usual, though every search finds it first.
//!
//! A paper becomes a note: the title is its heading, an indented line begins a paragraph.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::Path;

use rusqlite::Connection;
use serde_json::json;
use tiktoken_rs::CoreBPE;

use crate::agent::{Agent, Hit};
use crate::measure::{Row, Table, figures, first_places};
use crate::{Half, Result, compile, ored, still_folder};

/// Papers whose texts are sent.
const PAPERS_SENT: u32 = 10;
/// Tokens above those of all candidates' lines, so that none is left out.
const LINES_BUDGET: u32 = 200_000;
/// Tokens above those of ten papers.
const PAPERS_BUDGET: u32 = 8_000;

/// Gains of the relevant papers.
type Gains = HashMap<u32, u32>;

/// Asks the program and the baseline every question, with its `n_words` longest words.
pub(crate) fn evaluate(program: &Path, folder: &Path, half: Half, n_words: usize) -> Result<Table> {
    let papers = papers(&read(folder, "cran.all.1400")?);
    let questions = questions(&read(folder, "cran.qry")?);
    let gains = gains(&read(folder, "cranqrel")?);
    let place = tempfile::tempdir()?;
    let (notes, db) = (place.path().join("notes"), place.path().join("memory.db"));
    still_folder(&notes)?;
    let plain = Connection::open_in_memory()?;
    plain.execute_batch("CREATE VIRTUAL TABLE note USING fts5 (text, tokenize = 'porter')")?;
    for (id, text) in &papers {
        fs::write(notes.join(format!("{id}.md")), text)?;
        plain.execute("INSERT INTO note (rowid, text) VALUES (?1, ?2)", (id, text))?;
    }
    compile(program, &notes, &db)?;
    let vocabulary = tiktoken_rs::cl100k_base()?;
    let mut agent = Agent::start(program, &notes, &db)?;
    let names = [
        "nDCG@10",
        "recall@10",
        "MAP",
        "recall@10, default reply",
        "tokens, 10 papers as snippets",
        "tokens, 10 papers as texts",
    ];
    let mut rows =
        names.map(|name| Row { name: name.to_owned(), baseline: Vec::new(), ours: Vec::new() });
    for (question, nth) in questions.iter().zip(1..) {
        let Some(gains) = gains.get(&nth).filter(|_| half.has(nth)) else { continue };
        let question = &longest(question, n_words);
        let (ranking, snippets) = plain_ranking(&plain, question)?;
        let texts: Vec<&str> =
            ranking.iter().take(PAPERS_SENT as usize).map(|id| papers[id].as_str()).collect();
        let [ndcg, recall, precision] = figures(&ranking, gains);
        let (ours, our_snippets, our_texts) = asked(&mut agent, gains, question)?;
        let sent = |text: &str| tokens(&vocabulary, text);
        let baseline = [ndcg, recall, precision, recall, sent(&snippets), sent(&texts.join("\n"))];
        let ours = [ours[0], ours[1], ours[2], ours[3], sent(&our_snippets), sent(&our_texts)];
        for ((row, base), ours) in rows.iter_mut().zip(baseline).zip(ours) {
            row.baseline.push(base);
            row.ours.push(ours);
        }
    }
    agent.stop()?;
    let title = format!("Cranfield: {} papers, {} questions", papers.len(), rows[0].ours.len());
    Ok(Table { title, baseline: "FTS5", rows: rows.into(), ..Table::default() })
}

/// Returns the ranking of plain full-text search, and its first ten papers as text.
fn plain_ranking(plain: &Connection, question: &str) -> Result<(Vec<u32>, String)> {
    const RANKED: &str = "
        SELECT rowid, snippet(note, 0, '', '', '…', 40), substr(text, 3, instr(text, char(10)) - 3)
          FROM note
         WHERE note MATCH ?1
         ORDER BY bm25(note)
         LIMIT ?2";
    let ids = |row: &rusqlite::Row<'_>| row.get::<_, u32>(0);
    let mut query = plain.prepare(&RANKED.replace("snippet(note, 0, '', '', '…', 40)", "''"))?;
    let ranking =
        query.query_map((ored(question), 1_400), ids)?.collect::<rusqlite::Result<_>>()?;
    let line = |row: &rusqlite::Row<'_>| {
        let (id, snippet, title): (u32, String, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
        Ok(format!("{id}.md: {title}\n  {snippet}\n"))
    };
    let mut query = plain.prepare(RANKED)?;
    let shown = query.query_map((ored(question), PAPERS_SENT), line)?;
    Ok((ranking, shown.collect::<rusqlite::Result<_>>()?))
}

/// Returns the figures of one question, and the replies that they are taken from.
///
/// They are nDCG, recall and precision of all hits, tokens until ten papers are there as snippets
/// and as texts, and the recall of the reply without further arguments.
fn asked(agent: &mut Agent, gains: &Gains, question: &str) -> Result<([f64; 4], String, String)> {
    let all = agent.search(json!({"query": question, "budget": LINES_BUDGET}))?;
    let ranking = papers_of(&all.hits);
    let [ndcg, recall, precision] = figures(&ranking, gains);
    let default = agent.search(json!({"query": question}))?;
    let [_, at_once, _] = figures(&papers_of(&default.hits), gains);
    let snippets =
        agent.search(json!({"query": question, "detail": "snippet", "budget": PAPERS_BUDGET}))?;
    let texts =
        agent.search(json!({"query": question, "detail": "full", "budget": PAPERS_BUDGET}))?;
    let snippets = first_papers(&snippets.text);
    let texts = first_papers(&texts.text);
    Ok(([ndcg, recall, precision, at_once], snippets, texts))
}

/// Returns the papers of hits, each once.
fn papers_of(hits: &[Hit]) -> Vec<u32> {
    let stem = |hit: &Hit| hit.file.strip_suffix(".md")?.parse().ok();
    first_places(hits.iter().filter_map(stem))
}

/// Returns the beginning of a reply up to as many papers as are sent.
fn first_papers(text: &str) -> String {
    let mut papers: Vec<&str> = Vec::new();
    let mut end = 0;
    for line in text.split_inclusive('\n') {
        let place = line.strip_prefix("# ").map(|it| it.split(' ').next().unwrap_or_default());
        if let Some(paper) = place.filter(|it| !papers.contains(it)) {
            if papers.len() == PAPERS_SENT as usize {
                break;
            }
            papers.push(paper);
        }
        end += line.len();
    }
    text[..end].to_owned()
}

fn tokens(vocabulary: &CoreBPE, text: &str) -> f64 {
    vocabulary.encode_ordinary(text).len() as f64
}

fn read(folder: &Path, name: &str) -> Result<String> {
    let path = folder.join(name);
    fs::read_to_string(&path)
        .map_err(|why| format!("cannot read `{}`: {why}", path.display()).into())
}

/// Parses the fields of each record: `.I` begins one, `.T`, `.A`, `.B` and `.W` a field.
fn records(text: &str) -> Vec<HashMap<char, Vec<&str>>> {
    let mut records: Vec<HashMap<char, Vec<&str>>> = Vec::new();
    let mut field = 'I';
    for line in text.lines() {
        let mut letters = line.chars();
        match (letters.next(), letters.next(), letters.next()) {
            (Some('.'), Some('I'), Some(' ')) => {
                records.push(HashMap::from([('I', vec![line[3..].trim()])]));
            }
            (Some('.'), Some(name @ ('T' | 'A' | 'B' | 'W')), None) => field = name,
            _ => {
                if let Some(record) = records.last_mut() {
                    record.entry(field).or_default().push(line);
                }
            }
        }
    }
    records
}

/// Returns each paper as a note.
fn papers(text: &str) -> BTreeMap<u32, String> {
    let note = |record: HashMap<char, Vec<&str>>| {
        let id = record.get(&'I')?.first()?.parse().ok()?;
        let title = record.get(&'T').into_iter().flatten();
        let title: Vec<&str> = title.map(|it| it.trim()).collect();
        let mut note = format!("# {}\n", title.join(" "));
        for line in record.get(&'W').into_iter().flatten() {
            if line.starts_with("  ") || note.lines().count() == 1 {
                note.push('\n');
            }
            note.push_str(line.trim());
            note.push('\n');
        }
        Some((id, note))
    };
    records(text).into_iter().filter_map(note).collect()
}

fn questions(text: &str) -> Vec<String> {
    let question = |record: HashMap<char, Vec<&str>>| record.get(&'W').map(|it| it.join(" "));
    records(text).into_iter().filter_map(question).collect()
}

/// Returns the `n` longest words of a question, in their order.
fn longest(question: &str, n: usize) -> String {
    let words: Vec<&str> = question.split_whitespace().collect();
    let mut places: Vec<usize> = (0..words.len()).collect();
    places.sort_by_key(|&it| Reverse(words[it].len()));
    places.truncate(n);
    places.sort_unstable();
    places.into_iter().map(|it| words[it]).collect::<Vec<_>>().join(" ")
}

/// Returns the gains of each question's relevant papers.
fn gains(text: &str) -> HashMap<u32, Gains> {
    let mut gains: HashMap<u32, Gains> = HashMap::new();
    for line in text.lines() {
        let numbers: Vec<i32> = line.split_whitespace().filter_map(|it| it.parse().ok()).collect();
        if let [question, paper, code @ 1..=4] = numbers[..] {
            gains.entry(question as u32).or_default().insert(paper as u32, (5 - code) as u32);
        }
    }
    gains
}
