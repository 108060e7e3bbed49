//! Groups of files that are aligned together.

use super::SourceFile;

/// Source bytes aligned together; this bounds the memory in use.
const GROUP_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Source bytes aligned together where all remaining files are new and need no comparison.
const NEW_BYTES_MAX: usize = 1024 * 1024;

/// Least bytes that a file counts for: its tree takes memory, too.
const FILE_BYTES_MIN: usize = 4 * 1024;

/// Returns the bytes that a file counts for.
pub(super) fn weight(size: usize) -> usize {
    size.max(FILE_BYTES_MIN)
}

/// The files in groups that are aligned together, known ones first.
pub(super) struct FileGroups<'a> {
    pub(super) files: &'a mut dyn Iterator<Item = SourceFile>,
    /// Remaining files that have a row.
    pub(super) n_known: usize,
}

impl FileGroups<'_> {
    /// Returns as many files as fit into one group; none at the end.
    pub(super) fn next(&mut self) -> Vec<SourceFile> {
        let mut group = Vec::new();
        let mut bytes = 0;
        loop {
            // Text of a known file may turn up in any file, so known files form large groups. New
            // files come last and have nothing to lose to each other.
            let bytes_max = if 0 < self.n_known { GROUP_BYTES_MAX } else { NEW_BYTES_MAX };
            if bytes_max <= bytes {
                break;
            }
            let Some(file) = self.files.next() else { break };
            self.n_known = self.n_known.saturating_sub(1);
            bytes += weight(file.size);
            group.push(file);
        }
        group
    }

    /// Returns all remaining files.
    pub(super) fn all(&mut self) -> Vec<SourceFile> {
        self.files.collect()
    }
}
