//! File stats: size and modification time, which tell whether a file may have changed.

/// Size and modification time of a file; equal ones mean an unchanged file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileStat {
    /// Bytes.
    pub(crate) size: i64,
    /// Nanoseconds since the Unix epoch.
    pub(crate) mtime: i64,
}
