//! JSON: reads one record a line, or one value a file, and refuses what is none.

use std::io::{BufRead, Read};

use serde_json::Value;

use super::{ForeignFileOrigin, NoteCollector, RECORD_LINE_BYTES_MAX};

/// Bytes of a file that is one value; a value takes some times as much memory.
const VALUE_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// Passes on each record, with its place as messages name it.
pub(super) fn each_record(
    file: &ForeignFileOrigin<'_>,
    input: &mut dyn BufRead,
    notes: &mut NoteCollector,
    each: &mut dyn FnMut(Value, &str, &mut NoteCollector),
) {
    let mut line = Vec::new();
    for number in 1_usize.. {
        line.clear();
        let place = format!("{}:{number}", file.shown);
        let mut limited = (&mut *input).take(RECORD_LINE_BYTES_MAX as u64);
        match limited.read_until(b'\n', &mut line) {
            Ok(0) => return,
            Ok(_) => (),
            Err(error) => return notes.refuse(&place, error),
        }
        if line.len() == RECORD_LINE_BYTES_MAX && !line.ends_with(b"\n") {
            let why = format_args!("a line has more than {RECORD_LINE_BYTES_MAX} bytes");
            notes.refuse(&place, why);
            if !skip_line(input) {
                return;
            }
            continue;
        }
        let text = line.trim_ascii();
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        if text.is_empty() {
            continue;
        }
        match serde_json::from_slice::<Value>(text) {
            Ok(record @ Value::Object(_)) => each(record, &place, notes),
            Ok(_) => notes.refuse(&place, "no object in braces"),
            Err(error) => notes.refuse(&place, super::why(&error)),
        }
    }
}

/// Reads a file that is one value; `None` and a reason where it is none, or is too large.
pub(super) fn whole_value(
    file: &ForeignFileOrigin<'_>,
    input: &mut dyn BufRead,
    notes: &mut NoteCollector,
) -> Option<Value> {
    let read = value_within(input, VALUE_BYTES_MAX);
    read.map_err(|why| notes.refuse(file.shown, why)).ok()
}

/// Reads one value of at most `bytes_max`.
pub(super) fn value_within(input: &mut dyn BufRead, bytes_max: u64) -> Result<Value, String> {
    let mut limited = input.take(bytes_max);
    serde_json::from_reader(&mut limited).map_err(|error| match limited.limit() {
        0 => format!("it has more than {bytes_max} bytes"),
        _ => super::why(&error),
    })
}

/// Reads to the end of the line; returns false at the end of the file.
fn skip_line(input: &mut dyn BufRead) -> bool {
    loop {
        let Ok(chunk) = input.fill_buf() else { return false };
        if chunk.is_empty() {
            return false;
        }
        let end = chunk.iter().position(|it| *it == b'\n');
        let n = end.map_or(chunk.len(), |it| it + 1);
        input.consume(n);
        if end.is_some() {
            return true;
        }
    }
}
