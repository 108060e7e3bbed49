//! `remindb space`: publishes a memory, joins one, and looks after its log.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::args::{SharedSpaceFlags, SpaceArgs, SpaceTask};
use super::memory_file_location::known_database;
use super::shared_space_flags::{
    OpenSpace, RootNames, join_new_file, keeper_of, remove_database, replica_at,
};
use super::{CommandError, CommandOutcome, CommandStreamsAndClock};
use crate::server::postgres::{PostgresSpaceLog, ReplicaStatus, ReplicaSyncStatus, facts_of};
use crate::store::replication::{Replica, Sequencer, leave_space};
use crate::store::unsafe_wal_open_refusal::with_suffix;
use crate::store::{IfMissing, SharedError, Writer, connection};

/// Names of a file that was replaced, at most.
const NAMES_MAX: u32 = 10_000;

pub(super) fn run(
    args: SpaceArgs,
    context: &mut CommandStreamsAndClock<'_>,
) -> Result<CommandOutcome, CommandError> {
    match args.task {
        SpaceTask::Create(ref url) => create(url, &args, context),
        SpaceTask::Join(ref url) => join(url, &args, context),
        SpaceTask::Status => status(&args, context),
        SpaceTask::Image => image(&args, context),
        SpaceTask::Cut => cut(&args, context),
        SpaceTask::Leave => leave(&args, context),
    }
}

fn create(
    url: &str,
    args: &SpaceArgs,
    context: &mut CommandStreamsAndClock<'_>,
) -> Result<CommandOutcome, CommandError> {
    let db = known_database(args.db.clone(), context)?;
    if let Some(replica) = replica_at(&db)? {
        return Err(SharedError::OtherSpace { url: replica.url }.into());
    }
    let names = RootNames::parse(&args.roots).map_err(CommandError::Because)?;
    let keeper = Arc::new(keeper_of(url)?);
    let sequencer = Arc::clone(&keeper) as Arc<dyn Sequencer>;
    let writer = Writer::open(&db, IfMissing::Refuse)?;
    let turn = keeper.create()?;
    writer.publish_space(&sequencer, &move |path| names.name_of(path), turn)?;
    context.say(format_args!("published `{}` as {}\n", db.display(), keeper.url()))?;
    Ok(CommandOutcome::Done)
}

fn join(
    url: &str,
    args: &SpaceArgs,
    context: &mut CommandStreamsAndClock<'_>,
) -> Result<CommandOutcome, CommandError> {
    let db = super::memory_file_location::database_to_make(args.db.clone(), None, context)?;
    let keeper = keeper_of(url)?;
    // Nothing is moved away for a space that is not there.
    keeper.head()?;
    let mut kept = None;
    if fs::metadata(&db).is_ok_and(|it| 0 < it.len()) {
        if !args.is_rebase {
            let what = format!(
                "`{}` is there; name another file with --db, or --rebase: it then stays beside \
                 the new one, as {}.before-N",
                db.display(),
                db.display()
            );
            return Err(CommandError::Because(what));
        }
        kept = Some(set_aside(&db)?);
    }
    if let Err(error) = make_replica(url, &db, &keeper, context) {
        put_back(&db, kept.as_deref());
        return Err(error);
    }
    if let Some(kept) = kept {
        context.say(format_args!("the old file is `{}` now\n", kept.display()))?;
    }
    context.say(format_args!("`{}` is a replica of {} now\n", db.display(), keeper.url()))?;
    Ok(CommandOutcome::Done)
}

/// Makes a new file a replica, at the end of the log.
fn make_replica(
    url: &str,
    db: &Path,
    keeper: &PostgresSpaceLog,
    context: &mut CommandStreamsAndClock<'_>,
) -> Result<(), CommandError> {
    join_new_file(db, keeper)?;
    let flag = SharedSpaceFlags { url: Some(url.to_owned()), ..SharedSpaceFlags::default() };
    let mut writer = Writer::open(db, IfMissing::Refuse)?;
    if let Some(space) = OpenSpace::of(Some(&flag), db, context)? {
        space.attach_writer(&mut writer)?;
    }
    if let Some(sharing) = writer.sharing() {
        sharing.follow()?;
    }
    Ok(())
}

/// Removes a replica that was not completed, and puts the file that it would have replaced back.
fn put_back(db: &Path, kept: Option<&Path>) {
    remove_database(db);
    let Some(kept) = kept else { return };
    for suffix in ["", "-wal", "-shm"] {
        let _ = fs::rename(with_suffix(kept, suffix), with_suffix(db, suffix));
    }
}

/// Gives a file and its log another name, which no file has.
fn set_aside(db: &Path) -> Result<PathBuf, CommandError> {
    // The last connection to close copies the log into the file, so that one name is enough.
    let writer = Writer::open(db, IfMissing::Refuse)?;
    writer.log().copy()?;
    drop(writer);
    let named = |suffix: &str| with_suffix(db, suffix);
    let cannot = |error: std::io::Error| {
        CommandError::Because(format!("cannot set `{}` aside: {error}", db.display()))
    };
    for nth in 1..NAMES_MAX {
        let kept = named(&format!(".before-{nth}"));
        // A link fails where the name is taken; a rename would replace the file.
        match fs::hard_link(db, &kept) {
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => continue,
            linked => linked.map_err(cannot)?,
        }
        for suffix in ["-wal", "-shm"] {
            let own = named(suffix);
            if own.exists() {
                fs::rename(&own, named(&format!(".before-{nth}{suffix}"))).map_err(cannot)?;
            }
        }
        fs::remove_file(db).map_err(cannot)?;
        return Ok(kept);
    }
    Err(CommandError::Because(format!("too many files `{}.before-N`", db.display())))
}

/// Returns the replica that the arguments name, with its sequencer.
fn replica(
    args: &SpaceArgs,
    context: &mut CommandStreamsAndClock<'_>,
) -> Result<(Replica, PostgresSpaceLog), CommandError> {
    let db = known_database(args.db.clone(), context)?;
    let replica = replica_at(&db)?.ok_or(SharedError::NoReplica)?;
    let keeper = keeper_of(&replica.url)?;
    Ok((replica, keeper))
}

fn status(
    args: &SpaceArgs,
    context: &mut CommandStreamsAndClock<'_>,
) -> Result<CommandOutcome, CommandError> {
    let (replica, keeper) = replica(args, context)?;
    let facts = facts_of(&replica, &keeper);
    if args.is_json {
        context.say_json(&facts)?;
    } else {
        context.say(as_text(&facts))?;
    }
    match facts.standing {
        ReplicaSyncStatus::InStep => Ok(CommandOutcome::Done),
        ReplicaSyncStatus::Offline => {
            Err(CommandError::Because(facts.problem.unwrap_or_else(|| "it is offline".to_owned())))
        }
        _ => Ok(CommandOutcome::NotFound),
    }
}

fn as_text(facts: &ReplicaStatus) -> String {
    let ReplicaStatus { space, epoch, seq, head, lag, leases, problem, .. } = facts;
    let standing = match (facts.standing, lag) {
        (ReplicaSyncStatus::InStep, _) => "in step".to_owned(),
        (ReplicaSyncStatus::Behind, Some(1)) => "1 entry behind".to_owned(),
        (ReplicaSyncStatus::Behind, Some(n)) => format!("{n} entries behind"),
        (ReplicaSyncStatus::Behind, None) => "behind: the log began anew".to_owned(),
        (ReplicaSyncStatus::Diverged, _) => "diverged".to_owned(),
        (ReplicaSyncStatus::Offline, _) => "offline".to_owned(),
        (ReplicaSyncStatus::Unpublished, _) => "changed past the log".to_owned(),
    };
    let head = head.map_or("unknown".to_owned(), |it| format!("entry {it}"));
    let mut out = format!(
        "space     {space}\nreplica   epoch {epoch}, entry {seq}\nlog       {head}\n\
         standing  {standing}\n"
    );
    for it in leases {
        out += &format!("lease     {} · {} · {} s left\n", it.name, it.holder, it.left_s);
    }
    if let Some(problem) = problem {
        out += &format!("problem   {problem}\n");
    }
    out
}

fn image(
    args: &SpaceArgs,
    context: &mut CommandStreamsAndClock<'_>,
) -> Result<CommandOutcome, CommandError> {
    let db = known_database(args.db.clone(), context)?;
    let flag = SharedSpaceFlags { roots: args.roots.clone(), ..SharedSpaceFlags::default() };
    let space = OpenSpace::of(Some(&flag), &db, context)?.ok_or(SharedError::NoReplica)?;
    let mut writer = Writer::open(&db, IfMissing::Refuse)?;
    space.attach_writer(&mut writer)?;
    let place = writer.publish_image()?;
    context
        .say(format_args!("published an image of epoch {}, entry {}\n", place.epoch, place.seq))?;
    Ok(CommandOutcome::Done)
}

fn cut(
    args: &SpaceArgs,
    context: &mut CommandStreamsAndClock<'_>,
) -> Result<CommandOutcome, CommandError> {
    let (_, keeper) = replica(args, context)?;
    let cut = keeper.cut()?;
    context.say(format_args!(
        "the log begins after entry {} now: {} entries and {} older images deleted\n",
        cut.seq, cut.n_entries, cut.n_images
    ))?;
    Ok(CommandOutcome::Done)
}

fn leave(
    args: &SpaceArgs,
    context: &mut CommandStreamsAndClock<'_>,
) -> Result<CommandOutcome, CommandError> {
    let db = known_database(args.db.clone(), context)?;
    let replica = replica_at(&db)?.ok_or(SharedError::NoReplica)?;
    let conn = connection::open_existing(&db, "open the database")?;
    leave_space(&conn)?;
    context.say(format_args!(
        "`{}` is a memory of its own now; {} goes on without it\n",
        db.display(),
        replica.url
    ))?;
    Ok(CommandOutcome::Done)
}
