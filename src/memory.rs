//! The memory as one value: a database with its connections, for embedders, command line and
//! server. It starts no thread and keeps no global state.

pub(crate) mod briefing;
pub(crate) mod compile;
pub(crate) mod dry_run;
mod edits;
pub(crate) mod embedding;
pub(crate) mod foreign_notes_import;
mod heat;
pub(crate) mod knowledge;
mod linearizable_reads;
mod questions;
mod read_only;
mod relate;
pub(crate) mod rollback;
pub(crate) mod second_memory;
pub(crate) mod session_note;
mod tools_for_advice;
pub(crate) mod typed;

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

pub use crate::query::{Answer, Error};
pub use read_only::ReadOnlyMemory;
pub(crate) use read_only::{NamesForUriCompletion, NoServerStatus, ServerFactKey, ServerStatus};
pub(crate) use relate::RelateRequest;

use crate::ingest::scan::DetailLevel;
use crate::memory::compile::{
    CompileRequest, InitialTemperaturesFor, Report, SLICE_BYTES, UnsettledFileDeferral,
};
use crate::memory::embedding::EmbeddingProviderState;
use crate::memory::rollback::LaterSnapshotPolicy;
use crate::memory::second_memory::SecondMemory;
use crate::model::clock::Clock;
use crate::model::heat::LiveRates;
use crate::model::next_step_advice::CallableTools;
use crate::providers::Providers;
use crate::query::{
    self, DeltaQuery, DiffQuery, FetchQuery, HistoryQuery, OutputFormat, Query, SearchQuery,
    TreeQuery,
};
use crate::settings::config::{KnowledgeSettings, TypedMemorySettings};
use crate::settings::root_settings::{
    LiveRootSettings, ReloadOutcome, RootSettings, RootSettingsError,
};
use crate::store::reader::ArchivedVisibility;
#[cfg(all(test, feature = "shared"))]
use crate::store::replication::LogPosition;
#[cfg(feature = "shared")]
use crate::store::replication::{PortableRootNameFn, Sequencer, WriterReplication};
use crate::store::{HeatWriter, IfMissing, LeaseManager, ReaderPool, Root, WriteAheadLog, Writer};

pub use edits::{AppendOrReplaceMode, ForgetChildrenMode};

/// An open memory.
///
/// All methods take `&self` and may be called from any thread: one writes at a time, any number
/// read.
pub struct Memory {
    clock: Clock,
    /// The folder that the memory belongs to.
    live: Mutex<LiveRootSettings>,
    /// The last settings of that folder. Their own lock spares readers from waiting for a reload.
    workspace: Mutex<Arc<RootSettings>>,
    /// The current rates of warming and cooling.
    rates: LiveRates,
    /// The forms of its answers.
    output: OutputFormat,
    /// The tools that its advice names.
    tools: CallableTools,
    /// The memory that is searched beside it.
    second: Option<SecondMemory>,
    /// Settings of typed memories that count before those of the workspace.
    memory_settings: TypedMemorySettings,
    /// Settings of knowledge that count before those of the workspace, and after them.
    knowledge_settings: (KnowledgeSettings, KnowledgeSettings),
    /// The programs and services that its user named.
    providers: Providers,
    #[cfg(feature = "shared")]
    reads: linearizable_reads::ReadConsistency,
    /// Vectors of the questions that came last.
    question_vectors: Mutex<EmbeddingProviderState>,
    /// Words that many nodes have, for the comparison of what is written.
    common_words: query::CommonWordCache,
    // Drop order: the last connection to close writes the log back into the file and removes it,
    // which a read-only one cannot do.
    readers: Arc<ReaderPool>,
    heat_writer: Arc<HeatWriter>,
    writer: Writer,
}

impl Memory {
    /// Opens the memory at `path`, creating it if it does not exist.
    ///
    /// # Errors
    ///
    /// The folder does not exist, the file is no memory, or its schema is newer than this build.
    pub fn create(path: &Path) -> Result<Memory, Error> {
        Memory::open_at(path, IfMissing::Create, Clock::System)
    }

    /// Opens the memory at `path`, which must exist.
    ///
    /// # Errors
    ///
    /// As [`Memory::create`], and when the file does not exist: none is created then.
    pub fn open(path: &Path) -> Result<Memory, Error> {
        Memory::open_at(path, IfMissing::Refuse, Clock::System)
    }

    /// Returns this memory with another clock, such as one that a test sets.
    #[must_use]
    pub fn with_clock(self, clock: Clock) -> Memory {
        Memory { clock, ..self }
    }

    /// Returns this memory with answers that also hold their facts as JSON.
    #[must_use]
    pub fn with_structured(self) -> Memory {
        Memory { output: OutputFormat::Structured, ..self }
    }

    /// Returns this memory with a second one beside it, which is only read.
    #[must_use]
    pub(crate) fn with_second(self, second: SecondMemory) -> Memory {
        Memory { second: Some(second), ..self }
    }

    /// Returns this memory with settings of typed memories that count before those of its folder.
    #[must_use]
    pub(crate) fn with_memory_settings(self, memory_settings: TypedMemorySettings) -> Memory {
        Memory { memory_settings, ..self }
    }

    /// Returns this memory with settings of knowledge that count before those of its folder, and
    /// others that count after them.
    #[must_use]
    pub(crate) fn with_knowledge_settings(
        self,
        knowledge_settings: (KnowledgeSettings, KnowledgeSettings),
    ) -> Memory {
        Memory { knowledge_settings, ..self }
    }

    /// Returns this memory with the programs and services that its user named.
    #[must_use]
    pub(crate) fn with_providers(self, providers: Providers) -> Memory {
        Memory { providers, ..self }
    }

    /// Returns the programs and services that its user named.
    pub(crate) fn providers(&self) -> &Providers {
        &self.providers
    }

    /// Returns this memory with the settings of a folder.
    #[must_use]
    pub(crate) fn with_workspace(self, live: LiveRootSettings) -> Memory {
        self.set_rates(live.current().config.temperature.rates());
        let workspace = Mutex::new(Arc::clone(live.current()));
        Memory { live: Mutex::new(live), workspace, ..self }
    }

    pub(crate) fn open_at(
        path: &Path,
        if_missing: IfMissing,
        clock: Clock,
    ) -> Result<Memory, Error> {
        let writer = Writer::open(path, if_missing)?;
        let heat_writer = Arc::new(HeatWriter::new(path, &writer)?);
        let readers = Arc::new(ReaderPool::new(path, writer.file_identity())?);
        Ok(Memory {
            clock,
            live: Mutex::default(),
            workspace: Mutex::default(),
            rates: LiveRates::default(),
            output: OutputFormat::default(),
            tools: CallableTools::default(),
            second: None,
            memory_settings: TypedMemorySettings::default(),
            knowledge_settings: Default::default(),
            providers: Providers::default(),
            #[cfg(feature = "shared")]
            reads: linearizable_reads::ReadConsistency::default(),
            question_vectors: Mutex::default(),
            common_words: query::CommonWordCache::default(),
            readers,
            heat_writer,
            writer,
        })
    }

    /// Makes the memory one of many that write through the log of `sequencer`; `namer` names roots.
    #[cfg(feature = "shared")]
    pub(crate) fn share(
        &mut self,
        sequencer: Arc<dyn Sequencer>,
        namer: Box<PortableRootNameFn>,
    ) -> Result<(), Error> {
        Ok(self.writer.share(sequencer, namer)?)
    }

    /// Returns the message of a compile that was given none, without a path of this machine where
    /// others read it.
    pub(crate) fn compile_message(&self, asked: &str) -> String {
        #[cfg(feature = "shared")]
        if let Some(sharing) = self.sharing().filter(|_| Path::new(asked).is_absolute()) {
            return format!("compile:{}", sharing.root_name(asked));
        }
        format!("compile:{asked}")
    }

    /// Publishes an image of the replica as it is.
    #[cfg(all(test, feature = "shared"))]
    pub(crate) fn publish_image(&self) -> Result<LogPosition, Error> {
        Ok(self.writer.publish_image()?)
    }

    /// Returns the part that shares the memory; `None` where the memory is one file.
    #[cfg(feature = "shared")]
    pub(crate) fn sharing(&self) -> Option<&WriterReplication> {
        self.writer.sharing()
    }

    /// Returns the write-ahead log, which grows until a checkpoint copies it into the file.
    pub(crate) fn log(&self) -> &WriteAheadLog {
        self.writer.log()
    }

    /// Has the system read the file in advance, until the end or until `is_over`. For a process
    /// that keeps this memory open until it ends.
    pub(crate) fn read_ahead(&self, is_over: impl Fn() -> bool) {
        match self.readers.read_ahead(is_over) {
            Ok(n_bytes) => log::debug!("read ahead bytes={n_bytes}"),
            // Each page is then read when it is needed.
            Err(error) => log::debug!("the database was not read ahead: {error}"),
        }
    }

    /// Updates the memory to the present state of the folder or file at `path` (absolute), in one
    /// snapshot, or in several for a large one.
    ///
    /// # Errors
    ///
    /// There is nothing at `path` and nothing is known of it, its settings are wrong, or the
    /// database failed. A single file that cannot be compiled is a warning of the report.
    pub fn compile(&self, path: &Path, message: &str) -> Result<Report, Error> {
        let request = CompileRequest {
            path,
            message,
            n_threads: 1,
            workspace: &|root| self.workspace_of(root),
            temperatures_for: InitialTemperaturesFor::NewNodes,
            listing: DetailLevel::Counts,
            stopwatch: self.clock.stopwatch(),
            slice_bytes: SLICE_BYTES,
            progress: &|_, _| true,
        };
        self.compile_as(&request)
    }

    /// Returns the nodes that match `words`, best first, in at most `budget` cl100k tokens.
    ///
    /// # Errors
    ///
    /// The words are blank, or the database failed; no other input is an error.
    pub fn search(&self, words: &str, budget: Option<u32>) -> Result<Answer, Error> {
        let query = SearchQuery { query: words, ..SearchQuery::default() };
        self.query_and_warm(&Query::Search(query), budget)
    }

    /// Returns a node's text after its surroundings, in at most `budget` tokens.
    ///
    /// # Errors
    ///
    /// There is no such node.
    pub fn fetch(&self, anchor: &str, budget: Option<u32>) -> Result<Answer, Error> {
        let query = FetchQuery {
            anchor,
            levels: query::clamp_levels(None, query::FETCH_LEVELS),
            ..FetchQuery::default()
        };
        self.query_and_warm(&Query::Fetch(query), budget)
    }

    /// Returns the outline below a node, or of everything, in at most `budget` tokens.
    ///
    /// # Errors
    ///
    /// There is no such node.
    pub fn tree(&self, root: Option<&str>, budget: Option<u32>) -> Result<Answer, Error> {
        let levels = query::clamp_levels(None, query::TREE_LEVELS);
        let query = TreeQuery { root, levels, archived: ArchivedVisibility::Hidden };
        self.query_and_warm(&Query::Tree(query), budget)
    }

    /// Returns the net changes since a snapshot, newest first; 0 is before the first one.
    ///
    /// # Errors
    ///
    /// There is no such snapshot.
    pub fn delta(&self, since: i64, budget: Option<u32>) -> Result<Answer, Error> {
        self.query_and_warm(&Query::Delta(DeltaQuery { since, ..DeltaQuery::default() }), budget)
    }

    /// Returns the net text changes between two snapshots as unified diffs.
    ///
    /// # Errors
    ///
    /// One of them does not exist, or `from` is the later one.
    pub fn diff(&self, from: i64, to: i64, budget: Option<u32>) -> Result<Answer, Error> {
        self.query_and_warm(&Query::Diff(DiffQuery { from, to, cursor: None }), budget)
    }

    /// Returns the latest changes of a node, which may be removed.
    ///
    /// # Errors
    ///
    /// The database failed.
    pub fn history(&self, anchor: &str, budget: Option<u32>) -> Result<Answer, Error> {
        let query = HistoryQuery { anchor, depth: query::HISTORY_DEPTH, cursor: None };
        self.query_and_warm(&Query::History(query), budget)
    }

    /// Restores the state of an earlier snapshot in one new snapshot, and returns a report. With
    /// `drop_after`, the snapshots in between are deleted with every text that only they had.
    ///
    /// # Errors
    ///
    /// There is no such snapshot, or its state cannot be reproduced. Nothing changes then.
    pub fn rollback(&self, snapshot: i64, drop_after: bool) -> Result<String, Error> {
        let after = if drop_after { LaterSnapshotPolicy::Drop } else { LaterSnapshotPolicy::Keep };
        Ok(self.rollback_to(snapshot, after)?.text)
    }

    /// Returns the statistics of the whole memory.
    ///
    /// # Errors
    ///
    /// The database failed.
    pub fn stats(&self) -> Result<Answer, Error> {
        self.query_and_warm(&Query::Stats, None)
    }

    /// Returns a read-only handle. Drop it before the memory, whose last connection checkpoints
    /// the log.
    pub fn read_only(&self) -> ReadOnlyMemory {
        self.read_only_beside(Arc::new(NoServerStatus))
    }

    /// Returns a read-only handle with the facts of a process.
    pub(crate) fn read_only_beside(&self, process: Arc<dyn ServerStatus>) -> ReadOnlyMemory {
        ReadOnlyMemory::new(
            Arc::clone(&self.readers),
            self.clock.clone(),
            self.rates.watched(),
            process,
        )
    }

    pub(crate) fn compile_as(&self, request: &CompileRequest<'_>) -> Result<Report, Error> {
        Ok(compile::compile(&self.writer, request, self.clock.now())?)
    }

    /// Compiles a watched folder, with the state of earlier scans in `watch`.
    pub(crate) fn rescan(
        &self,
        request: &CompileRequest<'_>,
        watch: &mut UnsettledFileDeferral,
    ) -> Result<Report, Error> {
        Ok(compile::rescan(&self.writer, request, watch, self.clock.now())?)
    }

    /// Opens a connection that takes leases for a process named `holder`.
    pub(crate) fn leases(&self, holder: &str) -> Result<LeaseManager, Error> {
        Ok(LeaseManager::open(self.readers.path(), self.writer.file_identity(), holder)?)
    }

    /// Returns the settings of the memory's folder: budgets, temperatures, redaction. A caller
    /// that needs several of them keeps one value, so that they agree.
    pub(crate) fn workspace(&self) -> Arc<RootSettings> {
        Arc::clone(&self.workspace.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the settings of typed memories that count now.
    pub(crate) fn memory_settings(&self) -> TypedMemorySettings {
        self.memory_settings.or(self.workspace().config.memory)
    }

    /// Returns the settings of knowledge that count now.
    pub(crate) fn knowledge_settings(&self) -> KnowledgeSettings {
        let (first, last) = &self.knowledge_settings;
        first.clone().or(&self.workspace().config.knowledge).or(last)
    }

    /// Loads the settings of a root for a compile; those of the memory's own folder are reloaded.
    pub(crate) fn workspace_of(&self, root: &Path) -> Result<Arc<RootSettings>, RootSettingsError> {
        let others = {
            let live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
            (live.root() != Some(root)).then(|| live.options_of_others())
        };
        match others {
            Some(options) => RootSettings::load(root, options).map(Arc::new),
            None => {
                self.reload();
                Ok(self.workspace())
            }
        }
    }

    /// Reloads the settings of the memory's own folder if they changed. A mistake is logged once,
    /// and the last good settings stay.
    pub(crate) fn reload(&self) -> ReloadOutcome {
        let mut live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        let reload = live.reload();
        match &reload {
            ReloadOutcome::Same => (),
            ReloadOutcome::Changed => {
                let workspace = Arc::clone(live.current());
                workspace.untrusted.iter().for_each(|it| log::warn!("{it}"));
                self.set_rates(workspace.config.temperature.rates());
                *self.workspace.lock().unwrap_or_else(PoisonError::into_inner) = workspace;
                log::info!("settings were read again");
            }
            ReloadOutcome::Bad(error) => log::warn!("{error}; the last good settings stay"),
        }
        reload
    }

    pub(crate) fn output(&self) -> OutputFormat {
        self.output
    }

    pub(crate) fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Returns every compiled root.
    pub(crate) fn roots(&self) -> Result<Vec<Root>, Error> {
        Ok(self.writer.roots()?)
    }
}

#[cfg(test)]
mod tests;
