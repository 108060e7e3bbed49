//! Measures remindb beside floors: the least work of any program for each task.
//!
//! `make bench` prints the tables; nothing asserts. A row is printed beside its floor, which was
//! measured in turn with it, so that a busy machine slows both, or beside what it is compared with:
//! `a / b`. It may have a bound of the ratio (`2×`), of the difference (`+20`) and of the figure.
//! Figures are medians unless the row states otherwise, and MB are millions of bytes.
//!
//! | variable | |
//! |---|---|
//! | `N=` | number of notes; 2,000 are 16 MB |
//! | `MILLION=1` | adds a memory of a million nodes |
//! | `ONLY='compile serve memories hooks ticks growth callgrind binary'` | leaves out others |
//! | `JSON=path` | writes the figures to a file |
//! | `PROGRAM=path` | measures another build |
//! | `CORPUS=path` | writes the notes there and ends |
//!
//! It needs Linux and `dd`, and reports missing `nm` or `valgrind`.

mod callgrind;
mod compiling;
mod corpus;
mod floor;
mod footprint;
mod hooks;
mod memories;
mod process;
mod questions;
mod serving;
mod table;
mod ticks;

use std::error::Error;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use questions::{Question, questions};
use rusqlite::Connection;
use table::{Figure, Size, Table};

const FILES: usize = 2_000;
/// Notes that have about a million nodes together.
const FILES_OF_A_MILLION: usize = 26_000;
const QUESTIONS: usize = 200;
/// First compiles measured beside their floor, where that does not take minutes.
const FIRST_RUNS: usize = 3;

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let n_files = env_number("N").unwrap_or(FILES).max(160);
    if let Some(path) = std::env::var_os("CORPUS") {
        return corpus::write(Path::new(&path), n_files).map(drop);
    }
    let dir = tempfile::tempdir()?;
    let mut table = Table::default();
    if ["compile", "serve", "memories", "hooks", "ticks", "growth"].into_iter().any(is_on) {
        let whole = Corpus::write(dir.path(), "whole", n_files)?;
        let figures = whole.measure()?;
        table.rows(&whole.named()?, whole.size(), &figures)?;
        if is_on("serve") {
            empty(&mut table, dir.path())?;
        }
        if is_on("memories") {
            let figures = memories::figures(&whole.db, &whole.questions)?;
            table.rows(
                &format!("typed memories beside {}", whole.named()?),
                whole.size(),
                &figures,
            )?;
        }
        if is_on("growth") {
            growth(&mut table, dir.path(), n_files, figures)?;
        }
    }
    if std::env::var_os("MILLION").is_some() {
        let many = Corpus::write(dir.path(), "many", FILES_OF_A_MILLION)?;
        let figures = many.measure()?;
        table.rows(&many.named()?, many.size(), &figures)?;
    }
    if is_on("callgrind") {
        let some = Corpus::write(dir.path(), "some", n_files / 10)?;
        doing("count instructions");
        let label = format!("instructions, of {} notes", some.n_files);
        let figures = callgrind::figures(&some.notes, dir.path(), &some.questions);
        optional(&mut table, &label, figures)?;
    }
    if is_on("binary") {
        doing("take the program apart");
        optional(&mut table, "what the program is made of", footprint::figures(dir.path()))?;
    }
    table.keep()
}

/// Notes and their memory.
struct Corpus {
    notes: PathBuf,
    db: PathBuf,
    n_files: usize,
    mb: f64,
    questions: Vec<Question>,
}

impl Corpus {
    fn write(dir: &Path, name: &str, n_files: usize) -> Outcome<Corpus> {
        doing(&format!("write {n_files} notes"));
        let (notes, db) = (dir.join(name), dir.join(format!("{name}.db")));
        let mb = corpus::write(&notes, n_files)? as f64 / 1e6;
        // Where answers take long, fewer of them are representative.
        let n_questions = if n_files < FILES_OF_A_MILLION { QUESTIONS } else { QUESTIONS / 4 };
        Ok(Corpus { notes, db, n_files, mb, questions: questions(n_questions, n_files) })
    }

    /// Returns the name of the corpus for its figures.
    fn named(&self) -> Outcome<String> {
        let conn = Connection::open(&self.db)?;
        let n: i64 = conn.query_row("SELECT count(*) FROM node", [], |row| row.get(0))?;
        Ok(format!("{n} nodes of {} notes, {:.1} MB", self.n_files, self.mb))
    }

    /// Returns the size, which decides whether the bounds for the whole corpus apply.
    fn size(&self) -> Size {
        if self.n_files == FILES { Size::Whole } else { Size::Other }
    }

    fn measure(&self) -> Outcome<Vec<Figure>> {
        let is_measured = self.n_files <= FILES && (is_on("compile") || is_on("growth"));
        let n_first = if is_measured { FIRST_RUNS } else { 0 };
        let mut figures = compiling::figures(&self.notes, &self.db, n_first)?;
        let stored = fs::metadata(&self.db)?.len() as f64 / 1e6;
        figures.push(Figure::new("database / source", "MB", stored).beside(self.mb));
        if is_on("ticks") {
            doing("watch servers that do nothing");
            figures.extend(ticks::figures(&self.notes, &self.db)?);
        }
        if is_on("serve") {
            doing("start servers");
            figures.extend(serving::start(&self.db)?);
            figures.extend(serving::answers(&self.db, &self.questions)?);
        }
        if is_on("hooks") {
            figures.extend(hooks::figures(&self.db, &self.questions)?);
        }
        Ok(figures)
    }
}

/// Measures the start with an empty memory.
fn empty(table: &mut Table, dir: &Path) -> Outcome<()> {
    let (nothing, db) = (dir.join("nothing"), dir.join("empty.db"));
    fs::create_dir(&nothing)?;
    process::compile(&nothing, &db)?;
    table.rows("an empty memory", Size::Other, &serving::start(&db)?)
}

/// Measures at a sixteenth and a quarter of the notes, and prints all sizes side by side.
fn growth(table: &mut Table, dir: &Path, n_files: usize, whole: Vec<Figure>) -> Outcome<()> {
    let mut sizes = [Vec::new(), Vec::new(), whole];
    for (figures, part) in sizes.iter_mut().zip([16, 4]) {
        *figures = Corpus::write(dir, &format!("part{part}"), n_files / part)?.measure()?;
    }
    table.growth([n_files / 16, n_files / 4, n_files], &sizes)
}

/// Prints figures that need a tool, or the reason why there are none.
fn optional(table: &mut Table, of: &str, figures: Outcome<Vec<Figure>>) -> Outcome<()> {
    match figures {
        Ok(figures) => table.rows(of, Size::Other, &figures),
        Err(error) => table.say(&format!("\n{of}: not measured, {error}")),
    }
}

/// Returns whether `ONLY` names this part.
fn is_on(part: &str) -> bool {
    let only = std::env::var("ONLY").unwrap_or_default();
    only.is_empty() || only.split(' ').any(|it| it == part)
}

/// Reports progress on stderr: all of it takes minutes.
fn doing(what: &str) {
    let _ = writeln!(std::io::stderr().lock(), "bench: {what}");
}

/// Returns a new folder in RAM, or anywhere where the system has none.
fn folder_in_ram() -> Outcome<tempfile::TempDir> {
    const IN_RAM: &str = "/dev/shm";
    Ok(tempfile::tempdir_in(IN_RAM).or_else(|_| tempfile::tempdir())?)
}

fn env_number(name: &str) -> Option<usize> {
    std::env::var(name).ok()?.parse().ok()
}

fn median(values: Vec<f64>) -> f64 {
    percentile(&values, 50)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

fn percentile(values: &[f64], percent: usize) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() * percent / 100).or(sorted.last()).copied().unwrap_or(0.0)
}
