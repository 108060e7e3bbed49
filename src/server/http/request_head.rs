//! Parses the head of a request, and the framing of the body behind it.
//!
//! Bytes are a head if and only if
//!
//! 1. they end with the first empty line, and have at most [`HEAD_BYTES_MAX`] up to there; empty
//!    lines before them do not count;
//! 2. every line feed follows a carriage return, and every carriage return is followed by one;
//! 3. they are a request line of HTTP/1.0 or 1.1 and at most [`FIELDS_MAX`] fields, none of them
//!    folded, all of them UTF-8.
//!
//! The body's framing is one `Content-Length` or one `Transfer-Encoding: chunked`. Both, or one of
//! them twice, is refused: a proxy may have read it the other way.

use super::response::{BODY_BYTES_MAX, HttpError};

/// Maximum bytes of a head.
pub(crate) const HEAD_BYTES_MAX: usize = 16 * 1024;
/// Maximum fields of a head.
pub(crate) const FIELDS_MAX: usize = 64;

/// A request line and the fields below it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RequestHead {
    pub(crate) method: String,
    pub(crate) target: String,
    /// Whether the version is 1.1, not 1.0.
    pub(crate) is_current: bool,
    /// Names in lower case, values without the space around them.
    fields: Vec<(String, String)>,
}

/// The framing of the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BodyFraming {
    /// No body.
    Empty,
    /// A body of so many bytes.
    Length(usize),
    /// A body in chunks.
    Chunked,
}

impl RequestHead {
    /// Parses a head, with the empty line at its end.
    pub(crate) fn parse(bytes: &[u8]) -> Result<RequestHead, HttpError> {
        let mut fields = [httparse::EMPTY_HEADER; FIELDS_MAX];
        let mut request = httparse::Request::new(&mut fields);
        match request.parse(bytes) {
            Ok(httparse::Status::Complete(n)) if n == bytes.len() => (),
            Ok(_) => return Err(HttpError::new(400, "the head ends where it should not")),
            Err(httparse::Error::TooManyHeaders) => {
                return Err(HttpError::new(431, "the head has too many fields"));
            }
            Err(httparse::Error::Version) => {
                return Err(HttpError::new(505, "the version is neither HTTP/1.1 nor HTTP/1.0"));
            }
            Err(_) => return Err(HttpError::new(400, "the head is no head of HTTP/1.1")),
        }
        let mut head = RequestHead {
            method: request.method.unwrap_or_default().to_owned(),
            target: request.path.unwrap_or_default().to_owned(),
            is_current: request.version == Some(1),
            fields: Vec::with_capacity(request.headers.len()),
        };
        for field in request.headers.iter() {
            let Ok(value) = std::str::from_utf8(field.value) else {
                return Err(HttpError::new(400, "a field is not UTF-8"));
            };
            let value = value.trim_matches([' ', '\t']).to_owned();
            head.fields.push((field.name.to_ascii_lowercase(), value));
        }
        Ok(head)
    }

    /// Returns the path of the target, without a query.
    pub(super) fn path(&self) -> &str {
        let path = absolute(&self.target).map_or(self.target.as_str(), |(_, path)| path);
        match path.split('?').next() {
            None | Some("") => "/",
            Some(path) => path,
        }
    }

    /// Returns all values of a field, by its name in lower case.
    pub(crate) fn all<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a str> {
        self.fields.iter().filter(move |it| it.0 == name).map(|it| it.1.as_str())
    }

    /// Returns the value of a field that may occur once.
    pub(crate) fn one(&self, name: &str) -> Result<Option<&str>, HttpError> {
        let mut values = self.all(name);
        match (values.next(), values.next()) {
            (value, None) => Ok(value),
            _ => Err(HttpError::new(400, format!("`{name}` stands there twice"))),
        }
    }

    /// Returns whether a field that lists words has this one.
    pub(crate) fn lists(&self, name: &str, word: &str) -> bool {
        self.all(name).flat_map(|it| it.split(',')).any(|it| it.trim().eq_ignore_ascii_case(word))
    }

    /// Returns whether the connection is kept for further requests.
    pub(crate) fn is_keep_alive(&self) -> bool {
        match self.is_current {
            true => !self.lists("connection", "close"),
            false => self.lists("connection", "keep-alive"),
        }
    }

    /// Returns the framing of the body.
    pub(crate) fn framing(&self) -> Result<BodyFraming, HttpError> {
        let length = self.one("content-length")?;
        let Some(coding) = self.one("transfer-encoding")? else {
            return length.map_or(Ok(BodyFraming::Empty), RequestHead::length);
        };
        if length.is_some() {
            return Err(HttpError::new(400, "the body's length is said in two ways"));
        }
        if !self.is_current {
            return Err(HttpError::new(400, "HTTP/1.0 knows no `Transfer-Encoding`"));
        }
        if !coding.eq_ignore_ascii_case("chunked") {
            return Err(HttpError::new(501, "the one known `Transfer-Encoding` is `chunked`"));
        }
        Ok(BodyFraming::Chunked)
    }

    fn length(text: &str) -> Result<BodyFraming, HttpError> {
        if text.is_empty() || !text.bytes().all(|it| it.is_ascii_digit()) {
            return Err(HttpError::new(400, "`Content-Length` must be a number"));
        }
        match text.parse::<usize>() {
            Ok(0) => Ok(BodyFraming::Empty),
            Ok(length) if length <= BODY_BYTES_MAX => Ok(BodyFraming::Length(length)),
            _ => Err(HttpError::too_large()),
        }
    }
}

/// Returns the authority and the path of an absolute target.
pub(super) fn absolute(target: &str) -> Option<(&str, &str)> {
    let scheme_end = target.find("://")?;
    if !target[..scheme_end].eq_ignore_ascii_case("http") {
        return None;
    }
    let rest = &target[scheme_end + 3..];
    let at = rest.find(['/', '?']).unwrap_or(rest.len());
    Some((&rest[..at], &rest[at..]))
}
