//! Decodes bytes to text: byte order marks, UTF-16, and invalid bytes.

use std::borrow::Cow;

use super::Warning;
use crate::text;

const UTF8_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Returns the text of a file, without its byte order mark. Bytes that are not UTF-8 become `�`,
/// with a warning that names the first such line; UTF-16 is recognized by its mark.
pub fn decode(bytes: &[u8]) -> (Cow<'_, str>, Vec<Warning>) {
    if let Some(rest) = bytes.strip_prefix(b"\xFF\xFE") {
        return decode_utf16(rest, u16::from_le_bytes);
    }
    if let Some(rest) = bytes.strip_prefix(b"\xFE\xFF") {
        return decode_utf16(rest, u16::from_be_bytes);
    }
    let bytes = bytes.strip_prefix(UTF8_MARK).unwrap_or(bytes);
    let error = match std::str::from_utf8(bytes) {
        Ok(text) => return (Cow::Borrowed(text), Vec::new()),
        Err(error) => error,
    };
    let valid = std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or("");
    let n_places = bytes.utf8_chunks().filter(|chunk| !chunk.invalid().is_empty()).count();
    let places = if n_places == 1 { "place" } else { "places" };
    let what = format!("not valid UTF-8 in {n_places} {places}, this is the first; read as `�`");
    let line = text::line_number_at(valid, valid.len());
    (String::from_utf8_lossy(bytes), vec![Warning { line, what }])
}

fn decode_utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> (Cow<'_, str>, Vec<Warning>) {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let mut out = String::with_capacity(bytes.len());
    let mut bad_line = None;
    for decoded in char::decode_utf16(pairs.iter().map(|&pair| unit(pair))) {
        if decoded.is_err() && bad_line.is_none() {
            bad_line = Some(text::line_number_at(&out, out.len()));
        }
        out.push(decoded.unwrap_or(char::REPLACEMENT_CHARACTER));
    }
    if !rest.is_empty() {
        bad_line.get_or_insert(text::line_number_at(&out, out.len()));
        out.push(char::REPLACEMENT_CHARACTER);
    }
    let mut warnings =
        vec![Warning { line: 1, what: "UTF-16, read as such; save it as UTF-8".to_owned() }];
    if let Some(line) = bad_line {
        warnings.push(Warning { line, what: "not valid UTF-16, read as `�`".to_owned() });
    }
    (Cow::Owned(out), warnings)
}
