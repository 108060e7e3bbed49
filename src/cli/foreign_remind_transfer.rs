//! Imports and exports knowledge in the forms of Remind, another program.

use std::collections::BTreeMap;
use std::io::{BufWriter, Write};
use std::path::Path;

use super::private_temporary_folder::PrivateTemporaryFolder;
use super::progress::ProgressLine;
use super::{CommandError, CommandOutcome, CommandStreamsAndClock, typed_memory_output};
use crate::maintenance::transfer::{AtomicFile, IfExists, RemindRecordLists, TransferError};
use crate::memory::dry_run::WriteOrDryRun;
use crate::memory::knowledge::{ExportCounts, KnowledgeImportReport, export_remind};
use crate::store::reader::Reader;

/// The kinds that an import counts, in the order in which they are told.
const COUNTED: [(&str, &str); 8] = [
    ("episodes", "episode"),
    ("concepts", "concept"),
    ("merged concepts", "merged concept"),
    ("facts", "fact"),
    ("topics", "topic"),
    ("entities", "entity"),
    ("conflicts", "conflict"),
    ("edges", "edge"),
];

pub(super) fn import(
    source: &Path,
    db: &Path,
    mode: WriteOrDryRun,
    context: &mut CommandStreamsAndClock<'_>,
) -> Result<CommandOutcome, CommandError> {
    let records = match mode {
        WriteOrDryRun::Write => RemindRecordLists::read(source, db)?,
        WriteOrDryRun::DryRun => {
            let folder = PrivateTemporaryFolder::new("source", context.clock.now())?;
            RemindRecordLists::read(source, &folder.db())?
        }
    };
    let form = records.form.clone();
    let target = typed_memory_output::open_to_import(db, mode, context)?;
    let name = source.canonicalize().ok();
    let name = name.as_deref().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
    let progress = ProgressLine::new(context, "importing", "records");
    let imported = target.memory().import_remind(
        records,
        &format!("import:{name} of remind, {form}"),
        mode,
        &mut |n_done, n_all| progress.note(n_done, n_all),
    );
    progress.clear();
    let report = imported?;
    for line in report.refused.iter().chain(&report.kept) {
        // The import is done, even if this cannot be written.
        let _ = writeln!(context.err, "{line}");
    }
    let counts = counted(&report.added);
    let of = format!(" ({form})");
    typed_memory_output::tell_import(&of, &counts, (mode, report.snapshot), db, context)?;
    tell(&report, context)?;
    Ok(CommandOutcome::Done)
}

/// Tells what else an import did, a line each.
fn tell(
    report: &KnowledgeImportReport,
    context: &mut CommandStreamsAndClock<'_>,
) -> Result<(), CommandError> {
    if !report.known.is_empty() {
        context.say(format_args!("already there: {}\n", counted(&report.known)))?;
    }
    if !report.differing.is_empty() {
        let differing = counted(&report.differing);
        context.say(format_args!("different here, kept: {differing}\n"))?;
    }
    if !report.refused.is_empty() {
        context.say(format_args!("refused: {}\n", report.refused.len()))?;
    }
    if 0 < report.n_secrets {
        context.say(format_args!("secrets replaced by markers: {}\n", report.n_secrets))?;
    }
    for (what, n) in &report.left_out {
        context.say(format_args!("left out: {n} {what}\n"))?;
    }
    Ok(())
}

/// Returns numbers with their nouns; those of 0 are left out.
fn counted(counts: &BTreeMap<&'static str, usize>) -> String {
    let number = |(many, one): &(&str, &str)| {
        let n = counts.get(many).copied().filter(|it| 0 < *it)?;
        Some(format!("{n} {}", if n == 1 { one } else { many }))
    };
    let told: Vec<String> = COUNTED.iter().filter_map(number).collect();
    if told.is_empty() { "nothing".to_owned() } else { told.join(", ") }
}

pub(super) fn export(
    db: &Path,
    dest: Option<&Path>,
    is_force: bool,
    context: &mut CommandStreamsAndClock<'_>,
) -> Result<CommandOutcome, CommandError> {
    let reader = Reader::open(db)?;
    let written = |out: &mut dyn Write| -> Result<ExportCounts, CommandError> {
        let written = reader.at_one_state(|reader| export_remind(reader, out))?;
        Ok(written.map_err(TransferError::Output)?)
    };
    let Some(dest) = dest else {
        let counts = written(&mut context.out)?;
        let _ = context.err.write_all(left_out(&counts).as_bytes());
        return Ok(CommandOutcome::Done);
    };
    let if_there = if is_force { IfExists::Replace } else { IfExists::Refuse };
    let draft = AtomicFile::of(dest, if_there)?;
    let counts = written(&mut BufWriter::new(draft.file()?))?;
    draft.publish()?;
    let ExportCounts {
        n_episodes,
        n_concepts,
        n_merged_concepts,
        n_facts,
        n_topics,
        n_entities,
        n_conflicts,
        ..
    } = counts;
    let numbers = BTreeMap::from([
        ("episodes", n_episodes),
        ("concepts", n_concepts),
        ("merged concepts", n_merged_concepts),
        ("facts", n_facts),
        ("topics", n_topics),
        ("entities", n_entities),
        ("conflicts", n_conflicts),
    ]);
    let dest = dest.display();
    context.say(format_args!("exported: {}, to {dest}\n", counted(&numbers)))?;
    context.say(left_out(&counts))?;
    Ok(CommandOutcome::Done)
}

/// Returns a line about what an export has no place for.
fn left_out(counts: &ExportCounts) -> String {
    match counts.n_left_out {
        0 => String::new(),
        n => format!("left out: {n} edges to what is not exported\n"),
    }
}
