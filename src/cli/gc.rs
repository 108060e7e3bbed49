//! `remindb gc`: deletes old snapshots, and erases their texts from the file.

use serde_json::{Value, json};

use super::args::GcArgs;
use super::memory_file_location::known_database;
use super::safety_backup::{BackupChoice, SafetyBackup};
use super::{CommandError, CommandOutcome, CommandStreamsAndClock};
use crate::maintenance::gc::{GcMode, GcReport, SnapshotRetentionPolicy};
use crate::maintenance::transfer::DestructiveOperation;
use crate::model::clock::UnixMillis;
use crate::query::render::stats::format_size;
use crate::store::file_identity_check::CopiesBesideMemory;
use crate::store::{IfMissing, Writer};

pub(super) fn run(
    args: GcArgs,
    context: &mut CommandStreamsAndClock<'_>,
) -> Result<CommandOutcome, CommandError> {
    let db = known_database(args.db, context)?;
    let writer = Writer::open(&db, IfMissing::Refuse)?;
    let now = context.clock.now();
    let keep = match (args.keep, args.older_than_ms) {
        (Some(n), _) => SnapshotRetentionPolicy::Last(n),
        (None, Some(ms)) => SnapshotRetentionPolicy::Since(UnixMillis(now.0.saturating_sub(ms))),
        (None, None) => SnapshotRetentionPolicy::All,
    };
    let mode = if args.is_dry_run { GcMode::DryRun } else { GcMode::Real };
    let is_harmless = mode == GcMode::DryRun || keep == SnapshotRetentionPolicy::All;
    let wish = if is_harmless { BackupChoice::Never } else { args.backup };
    let copy = SafetyBackup::make(&db, DestructiveOperation::Gc, wish, context)?;
    let copied = copy.newest;
    let (done, copy) = copy.after(writer.collect(keep, mode, now, copied))?;
    match done.n_snapshots {
        0 => copy.drop_unneeded(),
        _ => copy.keep(&db, "what was forgotten", context),
    }
    // Some went with the removal.
    let copies = CopiesBesideMemory::of(&db);
    if args.is_json {
        context.say_json(&as_json(&done, mode, &copies))?;
    } else {
        context.say(as_text(&done, mode, &copies))?;
    }
    let Some(why) = done.unscrubbed else { return Ok(CommandOutcome::Done) };
    // The deletion is done, even if this cannot be written.
    let _ = writeln!(
        context.err,
        "remindb: warning: bytes of what was deleted are left in the file: {why}; run this again"
    );
    Ok(CommandOutcome::NotFound)
}

fn as_text(done: &GcReport, mode: GcMode, copies: &CopiesBesideMemory) -> String {
    let left = match (done.n_left, done.first) {
        (0, _) => "no snapshot".to_owned(),
        (1, first) => format!("1 snapshot left, {first}"),
        (n, first) => format!("{n} snapshots left, from {first} on"),
    };
    let what = format!(
        "{} snapshot(s) with {} change(s) and {} text(s) of {}",
        done.n_snapshots,
        done.n_changes,
        done.n_texts,
        format_size(bytes(done.text_bytes))
    );
    let mut text = match mode {
        GcMode::DryRun => format!("would forget {what}; {left}\n"),
        GcMode::Real => {
            let (before, after) =
                (format_size(bytes(done.bytes_before)), format_size(bytes(done.bytes_after)));
            format!("forgot {what}; {left}; file {before} → {after}\n")
        }
    };
    if done.n_kept_for_compile > 0 {
        text += &format!(
            "⚠ {} snapshot(s) more stay until `remindb compile` has read the files whose altered \
             texts were repaired\n",
            done.n_kept_for_compile
        );
    }
    copies.warnings().for_each(|it| text += &format!("⚠ {it}\n"));
    text
}

fn bytes(n: i64) -> u64 {
    u64::try_from(n).unwrap_or(0)
}

fn as_json(done: &GcReport, mode: GcMode, copies: &CopiesBesideMemory) -> Value {
    let mut object = json!({
        "dry_run": mode == GcMode::DryRun,
        "snapshots": done.n_snapshots,
        "changes": done.n_changes,
        "texts": done.n_texts,
        "text_bytes": done.text_bytes,
        "first": done.first,
        "left": done.n_left,
        "kept_for_compile": done.n_kept_for_compile,
        "bytes_before": done.bytes_before,
        "bytes_after": done.bytes_after,
        "scrubbed": mode == GcMode::Real && done.unscrubbed.is_none(),
    });
    for (name, paths) in copies.to_json() {
        object[name] = paths;
    }
    object
}
