//! Evaluates search for `make eval`, with questions whose answers are known.
//!
//! Three collections: Cranfield (1,400 abstracts, 225 questions; the folder `CRANFIELD` has it),
//! the journals and conversations under `tests/data/eval`, where an answer is often next to the
//! paragraph that names the thing, and long dialogues (the folder `DIALOGUES`). The program
//! compiles them and answers over MCP on the standard streams of a real process; the baseline
//! rankings are computed in the same run. Intervals are those of a paired bootstrap with a fixed
//! seed, so that two runs of one program print the same.
//!
//! Usage: `eval PATH-OF-REMINDB [--json] [--odd | --even] [--words N] [--embeddings COMMAND]`.
//! Parameters are tuned on one half of the questions and confirmed on the other. With `--words`,
//! the questions of Cranfield are shortened to their N longest words, as people type them. With
//! `--embeddings`, the program has that source of vectors, and is asked once each text has one.

mod agent;
mod cranfield;
mod dialogues;
mod journals;
mod measure;

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use serde_json::json;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("eval: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let usage = "usage: eval PATH-OF-REMINDB [--json] [--odd | --even] [--words N] \
                 [--embeddings COMMAND]";
    let settings = tempfile::tempdir()?;
    let (mut program, mut is_json, mut half, mut n_words) = (None, false, Half::Both, usize::MAX);
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--json" => is_json = true,
            "--odd" => half = Half::Odd,
            "--even" => half = Half::Even,
            "--words" => {
                let n = args.next().and_then(|it| it.parse().ok());
                n_words = n.ok_or("--words needs the number of words that are kept")?;
            }
            "--embeddings" => {
                let command = args.next().ok_or("--embeddings needs a command of vectors")?;
                agent::use_embeddings(settings.path(), &command)?;
            }
            _ => program = Some(arg),
        }
    }
    let program = program.ok_or(usage)?;
    let program = Path::new(&program).canonicalize()?;
    let papers = collection("CRANFIELD", &["cran.all.1400", "cran.qry", "cranqrel"])?;
    let talks = collection("DIALOGUES", &["questions.jsonl"])?;
    let cranfield = cranfield::evaluate(&program, &papers, half, n_words)?;
    let journals = journals::evaluate(&program)?;
    let dialogues = dialogues::evaluate(&program, &talks, half)?;
    if !is_json {
        return print_text(&format!("{cranfield}\n{journals}\n{dialogues}"));
    }
    let all = json!({
        "cranfield": cranfield.to_json(),
        "journals": journals.to_json(),
        "dialogues": dialogues.to_json(),
    });
    print_text(&format!("{all:#}\n"))
}

/// Returns the folder that a variable names, or an error if it lacks one of the files.
fn collection(variable: &str, files: &[&str]) -> Result<PathBuf> {
    let folder = std::env::var_os(variable).map(PathBuf::from).unwrap_or_default();
    if let Some(file) = files.iter().find(|it| !folder.join(it).is_file()) {
        let files = files.join(", ");
        let what = format!("there is no `{file}` in `{}`", folder.display());
        return Err(format!("{what}; set {variable} to the folder with {files}").into());
    }
    Ok(folder)
}

/// The half of the questions that is asked, by their ordinal.
#[derive(Clone, Copy)]
enum Half {
    Both,
    Odd,
    Even,
}

impl Half {
    fn has(self, ordinal: u32) -> bool {
        match self {
            Half::Both => true,
            Half::Odd => ordinal % 2 == 1,
            Half::Even => ordinal.is_multiple_of(2),
        }
    }
}

fn print_text(text: &str) -> Result<()> {
    use std::io::Write;
    Ok(std::io::stdout().lock().write_all(text.as_bytes())?)
}

/// Makes a folder whose notes do not warm by reading: no question shall change the next answer.
fn still_folder(notes: &Path) -> Result<()> {
    fs::create_dir_all(notes.join(".remindb"))?;
    let settings = json!({"temperature": {"access_boost": 0}});
    Ok(fs::write(notes.join(".remindb/config.json"), settings.to_string())?)
}

/// Compiles a folder of notes with the program, as a user does.
fn compile(program: &Path, notes: &Path, db: &Path) -> Result<()> {
    let ran = Command::new(program).arg("compile").arg(notes).arg("--db").arg(db).output()?;
    match ran.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&ran.stderr).into()),
    }
}

/// Returns the words of a question, quoted and ORed, for plain full-text search.
fn ored(question: &str) -> String {
    let words = question.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty());
    words.map(|it| format!("\"{it}\"")).collect::<Vec<_>>().join(" OR ")
}
