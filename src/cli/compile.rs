//! `remindb compile`: a folder or a file becomes memory.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::args::Compile;
use super::progress::Progress;
use super::{DEFAULT_DB, Failure, Outcome, World, absolute, database, n_threads, options};
use crate::memory::compile::{Request, Seeding, compile, root_at_first};
use crate::settings::workspace::Workspace;
use crate::store::{IfMissing, Writer};

pub(super) fn run(args: Compile, world: &mut World<'_>) -> Result<Outcome, Failure> {
    let path = absolute(&args.path)?;
    let db = database(args.db, || default_db(&path));
    let options = options(args.is_trusted, args.is_gitignore)?;
    if !db.exists() {
        // A known memory may hold what is gone by now; a new one would only hold the mistake.
        Workspace::load(&root_at_first(&path)?, options)?;
    }
    let message = args.message.unwrap_or_else(|| format!("compile:{}", args.path.display()));
    let writer = Writer::open(&db, IfMissing::Create)?;
    let progress = Progress::new(world, "compiling", "files");
    let request = Request {
        path: &path,
        message: &message,
        n_threads: n_threads(),
        workspace: &|root| Workspace::load(root, options).map(Arc::new),
        seeding: if args.is_reseeding { Seeding::Again } else { Seeding::AtBirth },
        clock: &world.clock,
        progress: &|n_done, n_files| {
            progress.note(n_done as u64, n_files as u64);
            true
        },
    };
    let outcome = compile(&writer, &request, world.clock.now());
    progress.clear();
    let report = outcome?;
    for warning in &report.warnings {
        // A warning that nobody can read must not undo the compile.
        let _ = writeln!(world.err, "remindb: warning: {warning}");
    }
    if args.is_json {
        world.say(format_args!("{}\n", report.to_json()))?;
    } else {
        world.say(format_args!("{report}\n"))?;
        if let Some(n_nodes) = report.reseeded {
            let noun = if n_nodes == 1 { "temperature" } else { "temperatures" };
            world.say(format_args!("reseeded: {n_nodes} {noun}\n"))?;
        }
    }
    Ok(Outcome::Done)
}

/// A folder's memory is called like the folder, in the working directory.
fn default_db(path: &Path) -> PathBuf {
    let full = path.canonicalize();
    match full.as_deref().ok().filter(|it| it.is_dir()).and_then(Path::file_name) {
        Some(name) => {
            let mut name = name.to_owned();
            name.push(".db");
            PathBuf::from(name)
        }
        None => PathBuf::from(DEFAULT_DB),
    }
}
