//! The ledgers of sessions: one file per client, one line per change.
//!
//! Several processes may write the same file. A writer holds a lock that the system releases when
//! the process dies, so a ledger is never rewritten while another process appends to it. Readers
//! need no lock: all lines but the last are whole, and a file is replaced atomically.

use std::fs::File;
use std::io::{self, BufReader, Write};
use std::path::Path;

use super::sink;
use super::symlink_free_subfolder::{ConfinedFolder, ConfinedFolderPath};
use crate::model::identity::is_base62;
use crate::server::client_presence_and_history::{
    ClientSessionHistory, ClientSessionRecord, ClientTotalsAcrossSessions,
};

const FOLDER: &str = "sessions";
const ENDING: &str = ".jsonl";

/// The file that writers lock.
const LOCK: &str = "lock";

/// Maximum clients that have a ledger.
const CLIENTS_MAX: usize = 10_000;

/// The ledgers of all clients.
#[derive(Clone, Debug)]
pub(crate) struct ClientConnectionLedgers(Option<ConfinedFolderPath>);

impl ClientConnectionLedgers {
    /// Returns the history of the clients of the folder `source`.
    pub(crate) fn new(source: &Path) -> ClientConnectionLedgers {
        ClientConnectionLedgers(Some(ConfinedFolderPath::own(source, FOLDER)))
    }

    /// Returns a history that stays empty.
    pub(crate) fn disabled() -> ClientConnectionLedgers {
        ClientConnectionLedgers(None)
    }

    /// Returns whether sessions are recorded at all.
    pub(crate) fn is_kept(&self) -> bool {
        self.0.is_some()
    }

    /// Returns the history of each client, in the order of their files.
    pub(crate) fn clients(&self) -> io::Result<Vec<ClientTotalsAcrossSessions>> {
        let Some(folder) = self.enter()? else { return Ok(Vec::new()) };
        let stems = folder.stems(ENDING)?;
        Ok(stems.iter().filter_map(|stem| past(&folder, stem)).collect())
    }

    /// Returns the history of the client with this hash.
    pub(crate) fn client(&self, hash: &str) -> io::Result<Option<ClientTotalsAcrossSessions>> {
        let Some(folder) = self.enter()? else { return Ok(None) };
        let stems = folder.stems(ENDING)?;
        let is_its = |stem: &&String| hash_of(stem).is_some_and(|it| it == hash);
        Ok(stems.iter().filter(is_its).find_map(|stem| past(&folder, stem)))
    }

    /// Returns the sessions that nobody saw end, and that were seen at `since` or later.
    pub(crate) fn unended(&self, since: i64) -> io::Result<Vec<ClientSessionRecord>> {
        let Some(folder) = self.enter()? else { return Ok(Vec::new()) };
        let stems = folder.stems(ENDING)?;
        let mut entries: Vec<ClientSessionRecord> = stems
            .iter()
            .filter_map(|stem| ledger(&folder, stem))
            .flat_map(|it| it.unended(since))
            .collect();
        entries.sort_by_key(|it| it.connected_at);
        Ok(entries)
    }

    /// Appends entries to the files of their clients and removes them from `entries`. Entries left
    /// after an error may be tried again.
    pub(crate) fn append(&self, entries: &mut Vec<ClientSessionRecord>) -> io::Result<()> {
        self.append_under(lock, entries)
    }

    /// Appends as [`ClientConnectionLedgers::append`] does, but fails if another process is
    /// writing.
    pub(crate) fn try_append(&self, entries: &mut Vec<ClientSessionRecord>) -> io::Result<()> {
        self.append_under(lock_at_once, entries)
    }

    fn append_under(
        &self,
        lock: impl FnOnce(&ConfinedFolder) -> io::Result<File>,
        entries: &mut Vec<ClientSessionRecord>,
    ) -> io::Result<()> {
        let Some(folder) = &self.0 else {
            entries.clear();
            return Ok(());
        };
        if entries.is_empty() {
            return Ok(());
        }
        let folder = folder.make()?;
        let _lock = lock(&folder)?;
        let mut result = Ok(());
        for (stem, mut of_client) in by_file(std::mem::take(entries)) {
            if let Err(error) = add(&folder, &stem, &of_client) {
                entries.append(&mut of_client);
                result = Err(error);
            }
        }
        result
    }

    /// Compacts ledgers to one line per session.
    pub(crate) fn compact(&self) -> io::Result<()> {
        let Some(folder) = self.enter()? else { return Ok(()) };
        let _lock = lock(&folder)?;
        let mut result = Ok(());
        for stem in folder.stems(ENDING)? {
            if hash_of(&stem).is_some() {
                result = rewrite(&folder, &stem).and(result);
            }
        }
        result
    }

    fn enter(&self) -> io::Result<Option<ConfinedFolder>> {
        self.0.as_ref().map_or(Ok(None), ConfinedFolderPath::enter)
    }
}

/// Locks out other writers until dropped, or until this process dies.
fn lock(folder: &ConfinedFolder) -> io::Result<File> {
    let file = folder.append(LOCK)?;
    match file.lock() {
        // Where the file system has no locks, other writers are unlikely.
        Err(error) if error.kind() != io::ErrorKind::Unsupported => Err(error),
        _ => Ok(file),
    }
}

/// Locks out other writers, unless another one holds the lock.
fn lock_at_once(folder: &ConfinedFolder) -> io::Result<File> {
    let file = folder.append(LOCK)?;
    match file.try_lock().map_err(io::Error::from) {
        Err(error) if error.kind() != io::ErrorKind::Unsupported => Err(error),
        _ => Ok(file),
    }
}

/// Returns the hash in the name of a ledger.
fn hash_of(stem: &str) -> Option<&str> {
    let (_, hash) = stem.rsplit_once('-')?;
    is_base62(hash).then_some(hash)
}

/// Groups entries by the stem of their file, in the order of the first of each.
fn by_file(entries: Vec<ClientSessionRecord>) -> Vec<(String, Vec<ClientSessionRecord>)> {
    let mut files: Vec<(String, Vec<ClientSessionRecord>)> = Vec::new();
    for entry in entries {
        let stem = entry.client.stem(&entry.transport);
        match files.iter_mut().find(|(known, _)| *known == stem) {
            Some((_, its)) => its.push(entry),
            None => files.push((stem, vec![entry])),
        }
    }
    files
}

fn add(folder: &ConfinedFolder, stem: &str, entries: &[ClientSessionRecord]) -> io::Result<()> {
    let name = format!("{stem}{ENDING}");
    if folder.find(&name)?.is_none() && CLIENTS_MAX <= folder.stems(ENDING)?.len() {
        let why = format!("there are {CLIENTS_MAX} clients already; remove some of their files");
        return Err(io::Error::other(why));
    }
    let lines: String = entries.iter().map(|it| it.to_line() + "\n").collect();
    sink::add(&mut folder.append(&name)?, &lines)
}

/// Returns the summary of a ledger; `None` if it cannot be read.
fn past(folder: &ConfinedFolder, stem: &str) -> Option<ClientTotalsAcrossSessions> {
    ledger(folder, stem)?.past(hash_of(stem)?)
}

/// Returns a ledger; `None` if it cannot be read.
fn ledger(folder: &ConfinedFolder, stem: &str) -> Option<ClientSessionHistory> {
    hash_of(stem)?;
    read(folder, stem).unwrap_or_else(|error| {
        log::warn!("a history of sessions was not read: {error}");
        None
    })
}

fn read(folder: &ConfinedFolder, stem: &str) -> io::Result<Option<ClientSessionHistory>> {
    let Some(file) = folder.read(&format!("{stem}{ENDING}"))? else { return Ok(None) };
    ClientSessionHistory::read(BufReader::new(file)).map(Some)
}

fn rewrite(folder: &ConfinedFolder, stem: &str) -> io::Result<()> {
    let Some(ledger) = read(folder, stem)?.filter(ClientSessionHistory::is_long) else {
        return Ok(());
    };
    let (name, draft) = (format!("{stem}{ENDING}"), format!("{stem}.tmp"));
    let mut file = folder.create(&draft)?;
    file.write_all(ledger.to_text().as_bytes())?;
    file.sync_data()?;
    folder.rename(&draft, &name)
}

#[cfg(test)]
mod tests;
