//! `remindb bench`: compares a memory with listing, reading and grepping files.
//!
//! Both sides are counted in cl100k tokens and at equal information: the answer has to be in the
//! text sent. Both start with their best guess: without a memory `grep` and then the whole files
//! with most of the question's words; with one a search and then its hits. The notes are copied
//! into a temporary folder, so that no file of the user is written to.

mod naive_baseline;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::args::BenchArgs;
use super::private_temporary_folder::PrivateTemporaryFolder;
use super::{CommandError, CommandOutcome, CommandStreamsAndClock, absolute, options};
use crate::ingest::scan::{self, DetailLevel, IgnoreRules};
use crate::memory::Memory;
use crate::model::clock::UnixMillis;
use crate::query::{
    self, Answer, DeltaDetail, DeltaQuery, FetchQuery, Query, QueryOptions, SearchQuery, TreeQuery,
};
use crate::store::reader::{ArchivedVisibility, NodeSummary, Reader};
use crate::text::{self, tokens};
use naive_baseline::NoteFile;

/// Default token budget of each reply.
const BUDGET_DEFAULT: u32 = 1_000;
/// Hits to fetch before a search counts as failed.
const FETCHES_MAX: usize = 10;
/// Nodes among which the one to fetch is chosen.
const NODES_MAX: usize = 10_000;
/// Characters of a question in the table.
const NAME_CHARS: usize = 40;
/// Text added to a note, to measure the cost of reading the change.
const ADDED: &str =
    "\n\n## Added by the benchmark\n\nOne more paragraph, so that something is new.\n";

/// The tokens of one scenario on both sides; `None` where the answer was not found.
struct TokenComparison {
    scenario: String,
    naive: Option<u32>,
    remindb: Option<u32>,
    /// Whether it counts in the total; an outline does not, since it holds less than the texts.
    is_in_total: bool,
}

pub(super) fn run(
    args: BenchArgs,
    context: &mut CommandStreamsAndClock<'_>,
) -> Result<CommandOutcome, CommandError> {
    let dir = absolute(&args.dir)?;
    let budget = args.budget.unwrap_or(BUDGET_DEFAULT);
    let place = BenchScratchFolder::new(context.clock.now())?;
    let notes = copied(&dir, &place.notes())?;
    if notes.is_empty() {
        let what = format!("no notes in `{}`; there is nothing to compare", dir.display());
        return Err(CommandError::Because(what));
    }
    let memory = Memory::create(&place.db())?;
    memory.compile(&place.notes(), "bench")?;
    let reader = Reader::open(&place.db())?;
    let mut rows = vec![tree(&reader, &notes)?];
    for query in &args.queries {
        rows.push(search(&reader, &notes, query, budget)?);
    }
    rows.extend(fetch(&reader, &notes, budget)?);
    rows.extend(delta(&memory, &reader, &notes, &place)?);
    context.say(if args.is_json { json_of(&rows) } else { table(&rows) })?;
    Ok(CommandOutcome::Done)
}

/// The folder with copies of the notes and their memory.
struct BenchScratchFolder(PrivateTemporaryFolder);

impl BenchScratchFolder {
    fn new(now: UnixMillis) -> Result<BenchScratchFolder, CommandError> {
        let place = BenchScratchFolder(PrivateTemporaryFolder::new("bench", now)?);
        fs::create_dir(place.notes())?;
        Ok(place)
    }

    fn notes(&self) -> PathBuf {
        self.0.path().join("notes")
    }

    fn db(&self) -> PathBuf {
        self.0.db()
    }
}

/// Copies the notes that a compile would read to another folder.
fn copied(dir: &Path, to: &Path) -> Result<Vec<NoteFile>, CommandError> {
    if !dir.is_dir() {
        return Err(CommandError::Because(format!("`{}` is no folder", dir.display())));
    }
    let gitignore = options(false, false)?.gitignore;
    let (rules, _) = IgnoreRules::load(dir, gitignore).map_err(CommandError::Because)?;
    let mut notes = Vec::new();
    for found in scan::walk_folder(&rules, dir, DetailLevel::Counts).found {
        let Ok(bytes) = fs::read(found.full(dir)) else { continue };
        let copy = to.join(&found.path);
        if let Some(folder) = copy.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(&copy, &bytes)?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        notes.push(NoteFile { path: found.path, text });
    }
    Ok(notes)
}

/// Compares an outline with listing and reading everything.
fn tree(reader: &Reader, notes: &[NoteFile]) -> Result<TokenComparison, CommandError> {
    let (levels, archived) = (query::TREE_LEVELS, ArchivedVisibility::Hidden);
    let ask = Query::Tree(TreeQuery { root: None, levels, archived });
    let outline = asked(reader, &ask, Some(u32::MAX))?;
    let naive = notes
        .iter()
        .map(NoteFile::tokens)
        .fold(naive_baseline::listing_tokens(notes), u32::saturating_add);
    let remindb = Some(tokens::count(&outline.text));
    Ok(TokenComparison {
        scenario: "tree".to_owned(),
        naive: Some(naive),
        remindb,
        is_in_total: false,
    })
}

/// The expected answer to a question.
struct ExpectedAnswer {
    /// A part of the text, with white space folded, that has to be sent.
    text: String,
    /// Its file, if known.
    path: Option<String>,
}

impl ExpectedAnswer {
    fn is_in(&self, sent: &str) -> bool {
        !self.text.is_empty() && text::fold_whitespace(sent).contains(&self.text)
    }
}

/// Compares the search for `QUESTION`, or for `QUESTION => PART OF THE ANSWER`.
fn search(
    reader: &Reader,
    notes: &[NoteFile],
    typed: &str,
    budget: u32,
) -> Result<TokenComparison, CommandError> {
    let (question, answer) = match typed.split_once(" => ") {
        Some((question, answer)) => (question, Some(answer)),
        None => (typed, None),
    };
    let ask = Query::Search(SearchQuery { query: question, ..SearchQuery::default() });
    let found = asked(reader, &ask, Some(budget))?;
    let ids = ids(reader, &found)?;
    let wanted = match answer {
        Some(answer) => Some(ExpectedAnswer { text: text::fold_whitespace(answer), path: None }),
        None => best(reader, &ids)?,
    };
    let scenario = format!("search: {}", text::truncate_chars(question, NAME_CHARS));
    let Some(wanted) = wanted else {
        return Ok(TokenComparison { scenario, naive: None, remindb: None, is_in_total: true });
    };
    let naive =
        naive_baseline::search_tokens(notes, &query::words_to_highlight(question), |note| {
            match &wanted.path {
                Some(path) => *path == note.path,
                None => wanted.is_in(&note.text),
            }
        });
    let mut sent = tokens::count(&found.text);
    let mut is_there = wanted.is_in(&found.text);
    for id in ids.iter().take(FETCHES_MAX) {
        if is_there {
            break;
        }
        let text = fetched(reader, id, budget)?.text;
        sent = sent.saturating_add(tokens::count(&text));
        is_there = wanted.is_in(&text);
    }
    Ok(TokenComparison { scenario, naive, remindb: is_there.then_some(sent), is_in_total: true })
}

/// Returns the ids of a search's hits, best first.
fn ids(reader: &Reader, answer: &Answer) -> Result<Vec<String>, CommandError> {
    let mut ids = Vec::new();
    for (key, _) in &answer.shown {
        ids.extend(reader.heads(&[*key])?.into_iter().map(|it| it.id));
    }
    Ok(ids)
}

/// Returns the best hit other than a heading as the answer, where none was given.
fn best(reader: &Reader, ids: &[String]) -> Result<Option<ExpectedAnswer>, CommandError> {
    let mut fallback = None;
    for id in ids {
        let Some(head) = reader.head(id)? else { continue };
        let is_heading = head.node_type == "heading";
        let wanted = wanted(reader, head)?;
        if !is_heading {
            return Ok(Some(wanted));
        }
        fallback.get_or_insert(wanted);
    }
    Ok(fallback)
}

fn wanted(reader: &Reader, head: NodeSummary) -> Result<ExpectedAnswer, CommandError> {
    let content = reader.contents(&[head.key])?.remove(&head.key).unwrap_or_default();
    Ok(ExpectedAnswer { text: text::fold_whitespace(&content), path: head.path })
}

fn fetched(reader: &Reader, id: &str, budget: u32) -> Result<Answer, CommandError> {
    let ask = FetchQuery { anchor: id, levels: query::FETCH_LEVELS, ..FetchQuery::default() };
    asked(reader, &Query::Fetch(ask), Some(budget))
}

fn asked(reader: &Reader, query: &Query<'_>, budget: Option<u32>) -> Result<Answer, CommandError> {
    let options = QueryOptions { budget, ..QueryOptions::text(UnixMillis(0)) };
    Ok(query::answer(reader, query, &options)?)
}

/// Compares fetching a medium-sized node of the largest file with reading that file.
fn fetch(
    reader: &Reader,
    notes: &[NoteFile],
    budget: u32,
) -> Result<Option<TokenComparison>, CommandError> {
    let Some(note) = notes.iter().max_by_key(|it| it.text.len()) else { return Ok(None) };
    let roots = reader.roots(ArchivedVisibility::Hidden, NODES_MAX)?;
    let mut nodes: Vec<NodeSummary> = Vec::new();
    for root in roots.iter().filter(|it| it.path.as_ref() == Some(&note.path)) {
        nodes.extend(reader.descendants(root.key, query::FETCH_LEVELS, NODES_MAX)?);
    }
    nodes.sort_by_key(|it| it.tokens);
    // Between the first and the second quarter by size.
    let Some(node) = nodes.get(nodes.len() * 3 / 8).cloned() else { return Ok(None) };
    let text = fetched(reader, &node.id, budget)?.text;
    let is_there = wanted(reader, node)?.is_in(&text);
    let remindb = is_there.then(|| tokens::count(&text));
    let naive = Some(note.tokens());
    Ok(Some(TokenComparison { scenario: "fetch".to_owned(), naive, remindb, is_in_total: true }))
}

/// Compares a delta with reading the changed file again.
fn delta(
    memory: &Memory,
    reader: &Reader,
    notes: &[NoteFile],
    place: &BenchScratchFolder,
) -> Result<Option<TokenComparison>, CommandError> {
    let Some(note) = notes.iter().find(|it| it.path.ends_with(".md")) else { return Ok(None) };
    let since = reader.versions().snapshots()?.last;
    let changed = format!("{}{ADDED}", note.text.trim_end());
    fs::write(place.notes().join(&note.path), &changed)?;
    let report = memory.compile(&place.notes(), "bench: one section more")?;
    let ask = DeltaQuery { since, show: DeltaDetail::Texts, ..DeltaQuery::default() };
    let delta = asked(reader, &Query::Delta(ask), None)?;
    let text = format!("{report}\n{}", delta.text);
    let is_there = ADDED.lines().all(|line| text.contains(line.trim_start_matches("## ")));
    let remindb = is_there.then(|| tokens::count(&text));
    let naive = Some(tokens::count(&changed));
    Ok(Some(TokenComparison { scenario: "delta".to_owned(), naive, remindb, is_in_total: true }))
}

/// Returns the saving in percent; `None` where one side has no figure.
fn saved(naive: Option<u32>, remindb: Option<u32>) -> Option<f64> {
    let (naive, remindb) = naive.filter(|it| 0 < *it).zip(remindb)?;
    Some(100.0 * (1.0 - f64::from(remindb) / f64::from(naive)))
}

/// Sums both sides over the scenarios that both completed.
fn total(rows: &[TokenComparison]) -> (u32, u32) {
    let both = rows.iter().filter(|it| it.is_in_total).filter_map(|it| it.naive.zip(it.remindb));
    both.fold((0, 0), |(a, b), (c, d)| (u32::saturating_add(a, c), u32::saturating_add(b, d)))
}

fn table(rows: &[TokenComparison]) -> String {
    let cell = |it: Option<u32>| it.map_or("not found".to_owned(), |it| it.to_string());
    let percent = |it: Option<f64>| it.map_or("n/a".to_owned(), |it| format!("{it:+.1}%"));
    let (naive, remindb) = total(rows);
    let mut lines = vec![["scenario", "naive (tok)", "remindb (tok)", "saved"].map(str::to_owned)];
    lines.push(lines[0].each_ref().map(|it| "-".repeat(it.len())));
    lines.extend(rows.iter().map(|row| {
        let TokenComparison { scenario, naive, remindb, .. } = row;
        [scenario.clone(), cell(*naive), cell(*remindb), percent(saved(*naive, *remindb))]
    }));
    let all = saved(Some(naive), Some(remindb));
    lines.push(["total".to_owned(), naive.to_string(), remindb.to_string(), percent(all)]);
    let width = lines.iter().map(|it| it[0].chars().count()).max().unwrap_or(0);
    let line = |it: &[String; 4]| {
        let [name, naive, remindb, saved] = it;
        format!("{name:<width$}  {naive:>11}  {remindb:>13}  {saved:>6}\n")
    };
    lines.iter().map(line).collect()
}

fn json_of(rows: &[TokenComparison]) -> String {
    let row = |it: &TokenComparison| {
        let saved = saved(it.naive, it.remindb);
        json!({"scenario": it.scenario, "naive": it.naive, "remindb": it.remindb, "saved": saved})
    };
    let (naive, remindb) = total(rows);
    let saved = saved(Some(naive), Some(remindb));
    let total = json!({"naive": naive, "remindb": remindb, "saved": saved});
    let rows: Vec<Value> = rows.iter().map(row).collect();
    format!("{:#}\n", json!({"rows": rows, "total": total}))
}
