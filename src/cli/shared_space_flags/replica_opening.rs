//! Opens replicas: whose log they follow, with which password, and under which names of roots.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::FollowerTask;
use super::root_names::RootNames;
use crate::cli::args::SharedSpaceFlags;
use crate::cli::unique_process_name::process_name;
use crate::cli::{CommandError, CommandStreamsAndClock, absolute, variable};
use crate::memory::Memory;
use crate::server::postgres::follower::run_follower;
use crate::server::postgres::{
    LatestReplicaStatus, PasswordSources, PasswordWithOrigin, PostgresSpaceLog, SpaceUrl,
};
use crate::server::server_facts::ReplicaStatusFn;
use crate::store::replication::{Replica, Sequencer, join_space, replica_of, set_space_url};
use crate::store::unsafe_wal_open_refusal::with_suffix;
use crate::store::{IfMissing, SharedError, StoreError, Writer, connection};

/// A space whose replica a command opens.
pub(in crate::cli) struct OpenSpace {
    keeper: Arc<PostgresSpaceLog>,
    names: Arc<RootNames>,
    status: LatestReplicaStatus,
}

impl OpenSpace {
    /// Finds the space of the flag, and checks that the file is its replica. A file that is missing
    /// joins.
    pub(in crate::cli) fn of(
        flag: Option<&SharedSpaceFlags>,
        db: &Path,
        context: &mut CommandStreamsAndClock<'_>,
    ) -> Result<Option<OpenSpace>, CommandError> {
        let Some(flag) = flag else { return Ok(None) };
        let replica = replica_at(db)?;
        let keeper = match (&flag.url, &replica) {
            (Some(url), _) => keeper_of(url)?,
            (None, Some(replica)) => keeper_of(&replica.url)?,
            (None, None) => return Err(SharedError::NoReplica.into()),
        };
        let names = RootNames::parse(&flag.roots).map_err(CommandError::Because)?;
        let known = keeper.head();
        if let Err(error @ SharedError::NoSpace { .. }) = known {
            return Err(error.into());
        }
        match replica {
            Some(replica) => follow_from(db, &replica, &keeper)?,
            None if is_new(db)? => {
                known?;
                join_new_file(db, &keeper)?;
                let _ = writeln!(context.err, "joined {} as `{}`", keeper.url(), db.display());
            }
            None => {
                let what = format!(
                    "`{}` is a memory of its own, not a replica of {}; `remindb space create` \
                     publishes it, `remindb space join --rebase` keeps it beside a replica",
                    db.display(),
                    keeper.url()
                );
                return Err(CommandError::Because(what));
            }
        }
        let (keeper, names) = (Arc::new(keeper), Arc::new(names));
        Ok(Some(OpenSpace { keeper, names, status: LatestReplicaStatus::default() }))
    }

    /// Makes a memory write through the log.
    pub(in crate::cli) fn attach(&self, memory: &mut Memory) -> Result<(), CommandError> {
        let names = Arc::clone(&self.names);
        let keeper = Arc::clone(&self.keeper) as Arc<dyn Sequencer>;
        Ok(memory.share(keeper, Box::new(move |path| names.name_of(path)))?)
    }

    /// Makes a writer write through the log.
    pub(in crate::cli) fn attach_writer(&self, writer: &mut Writer) -> Result<(), CommandError> {
        let names = Arc::clone(&self.names);
        let keeper = Arc::clone(&self.keeper) as Arc<dyn Sequencer>;
        Ok(writer.share(keeper, Box::new(move |path| names.name_of(path)))?)
    }

    /// Returns the message of a compile, in which no path of this machine is.
    pub(in crate::cli) fn message(&self, path: &Path) -> String {
        let full = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        format!("compile:{}", self.names.name_of(&full))
    }

    /// Returns what the resource of the space shows.
    pub(in crate::cli) fn fact(&self) -> ReplicaStatusFn {
        let status = self.status.clone();
        Some(Arc::new(move || serde_json::to_value(status.get()).unwrap_or_default()))
    }

    /// Returns the work of the thread that follows the log.
    pub(in crate::cli) fn follower(&self) -> FollowerTask {
        let (keeper, status) = (Arc::clone(&self.keeper), self.status.clone());
        Box::new(move |memory, stop| run_follower(memory, &keeper, &status, stop))
    }
}

/// Returns the sequencer of a space, with the password that the environment or a file has.
pub(in crate::cli) fn keeper_of(url: &str) -> Result<PostgresSpaceLog, CommandError> {
    let mut url = SpaceUrl::parse(url).map_err(CommandError::Because)?;
    if let Some(file) = &mut url.root_certificates {
        // The replica keeps the address, and is opened in other folders, too.
        *file = absolute(Path::new(file))?.to_string_lossy().into_owned();
    }
    let text = |name| variable(name).map(|it| it.to_string_lossy().into_owned());
    let home = || Some(PathBuf::from(variable("HOME")?).join(".pgpass"));
    let sources = PasswordSources {
        given: text("PGPASSWORD").map(PasswordWithOrigin::of),
        file: variable("PGPASSFILE").map(PathBuf::from).or_else(home),
    };
    let password = sources.password_of(&url);
    let machine = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let machine = machine.trim().to_owned();
    let name = match machine.is_empty() {
        true => process_name(),
        false => format!("{machine}/{}", process_name()),
    };
    Ok(PostgresSpaceLog::new(url, password, &name))
}

/// Makes a new file a replica. Where that fails it is removed, since the next join would take it
/// for a memory of its own.
pub(in crate::cli) fn join_new_file(
    db: &Path,
    keeper: &PostgresSpaceLog,
) -> Result<(), CommandError> {
    drop(Writer::open(db, IfMissing::Create)?);
    join_space(db, keeper).map_err(|error| {
        remove_database(db);
        error.into()
    })
}

/// Removes a database and its log. What cannot be removed of a new one is empty, and joins when
/// it is opened.
pub(in crate::cli) fn remove_database(db: &Path) {
    for suffix in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(with_suffix(db, suffix));
    }
}

/// Returns what the file is a replica of; `None` where it is none, or not there.
pub(in crate::cli) fn replica_at(db: &Path) -> Result<Option<Replica>, CommandError> {
    if is_new(db)? {
        return Ok(None);
    }
    let conn = connection::open_to_examine(db)?;
    // A file of an earlier schema was never shared.
    Ok(replica_of(&conn).unwrap_or_default())
}

fn is_new(db: &Path) -> Result<bool, CommandError> {
    match db.metadata() {
        Ok(it) => Ok(it.len() == 0),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(true),
        Err(error) => {
            Err(CommandError::Because(format!("cannot read `{}`: {error}", db.display())))
        }
    }
}

/// Checks that a replica is one of the space; an address may change, the space may not.
fn follow_from(
    db: &Path,
    replica: &Replica,
    keeper: &PostgresSpaceLog,
) -> Result<(), CommandError> {
    if replica.url == keeper.url() {
        return Ok(());
    }
    check_same_space(replica, keeper)?;
    let conn = connection::open_existing(db, "open the database")?;
    Ok(set_space_url(&conn, keeper.url())?)
}

/// Checks that a replica is one of the space, whatever its address.
pub(super) fn check_same_space(
    replica: &Replica,
    keeper: &PostgresSpaceLog,
) -> Result<(), CommandError> {
    let old = SpaceUrl::parse(&replica.url).map_err(CommandError::Because)?;
    let new = SpaceUrl::parse(keeper.url()).map_err(CommandError::Because)?;
    if (&old.database, &old.space) != (&new.database, &new.space) {
        return Err(StoreError::from(SharedError::OtherSpace { url: replica.url.clone() }).into());
    }
    Ok(())
}

/// Brings a replica to the end of its log, for a command that then reads it.
pub(in crate::cli) fn follow_to_read(
    db: &Path,
    context: &mut CommandStreamsAndClock<'_>,
) -> Result<(), CommandError> {
    let flag = SharedSpaceFlags::default();
    let space = OpenSpace::of(Some(&flag), db, context)?.ok_or(SharedError::NoReplica)?;
    let mut writer = Writer::open(db, IfMissing::Refuse)?;
    space.attach_writer(&mut writer)?;
    let sharing = writer.sharing().ok_or(SharedError::NoReplica)?;
    Ok(sharing.follow_to_read()?)
}
