//! Replaces a missing header or schema by those of a new memory.
//!
//! In a memory created by this build, every table has the same root page as in a new one, so that
//! the new one's schema fits. In a file begun by an older build it may not: then the rows read make
//! no sense, and are left out.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use crate::store::unsafe_wal_open_refusal::with_suffix;

/// Bytes of a page; remindb makes no others.
const PAGE_BYTES: usize = 4096;

/// Bytes of the file header, before the first page's own.
const HEAD_BYTES: usize = 100;

/// The first bytes of an SQLite file.
const MAGIC: &[u8] = b"SQLite format 3\0";

/// The type of a page whose cells only point at other pages of the same table.
const INTERIOR: u8 = 0x05;

/// The part of a new memory that replaces that of a damaged file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TransplantedPart {
    /// The header, if it is missing.
    Head,
    /// All pages of the schema table.
    Schema,
}

/// Replaces a part of `copy` by that of `sound`, an empty memory.
pub(super) fn graft(copy: &Path, sound: &Path, part: TransplantedPart) -> io::Result<()> {
    let mut file = File::options().read(true).write(true).open(copy)?;
    let n_pages = file.metadata()?.len() / PAGE_BYTES as u64;
    let mut first = [0; PAGE_BYTES];
    if n_pages == 0 && fs::metadata(with_suffix(copy, "-wal")).is_ok_and(|it| 0 < it.len()) {
        // SQLite reads the log of a database that is not empty.
        return write(&mut file, 1, &page(&mut File::open(sound)?, 1)?);
    }
    if n_pages == 0 || file.read_exact(&mut first).is_err() {
        return Ok(());
    }
    if part == TransplantedPart::Head && first.starts_with(MAGIC) {
        return Ok(());
    }
    let mut sound = File::open(sound)?;
    let pages = if part == TransplantedPart::Schema { below(&mut sound)? } else { BTreeSet::new() };
    // A file that was cut off is as long again as the schema needs, with empty pages in between.
    let n_pages = u32::try_from(n_pages).unwrap_or(u32::MAX);
    let n_pages = n_pages.max(pages.last().copied().unwrap_or(0));
    let mut new = page(&mut sound, 1)?;
    new[28..32].copy_from_slice(&n_pages.to_be_bytes());
    // An empty list of free pages.
    new[32..40].fill(0);
    let n_bytes = if part == TransplantedPart::Head { HEAD_BYTES } else { PAGE_BYTES };
    write(&mut file, 1, &new[..n_bytes])?;
    for number in pages {
        write(&mut file, number, &page(&mut sound, number)?)?;
    }
    Ok(())
}

fn at(number: u32) -> SeekFrom {
    SeekFrom::Start(u64::from(number.saturating_sub(1)) * PAGE_BYTES as u64)
}

fn page(file: &mut File, number: u32) -> io::Result<[u8; PAGE_BYTES]> {
    let mut bytes = [0; PAGE_BYTES];
    file.seek(at(number))?;
    file.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn write(file: &mut File, number: u32, bytes: &[u8]) -> io::Result<()> {
    file.seek(at(number))?;
    file.write_all(bytes)
}

/// Returns the pages below the first one.
fn below(sound: &mut File) -> io::Result<BTreeSet<u32>> {
    let mut found = BTreeSet::new();
    let mut open = vec![1];
    while let Some(number) = open.pop() {
        let bytes = page(sound, number)?;
        let start = if number == 1 { HEAD_BYTES } else { 0 };
        if bytes[start] != INTERIOR {
            continue;
        }
        let short = |at: usize| usize::from(u16::from_be_bytes([bytes[at], bytes[at + 1]]));
        let long = |at: usize| {
            bytes.get(at..at + 4).map_or(0, |it| u32::from_be_bytes([it[0], it[1], it[2], it[3]]))
        };
        let n_cells = short(start + 3);
        let cells = (0..n_cells).map(|nth| start + 12 + 2 * nth).filter(|at| at + 2 < PAGE_BYTES);
        let children = cells.map(|at| long(short(at))).chain([long(start + 8)]);
        for child in children.filter(|it| 1 < *it) {
            if found.insert(child) {
                open.push(child);
            }
        }
    }
    Ok(found)
}
