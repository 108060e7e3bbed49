//! Any bytes at all, sent to an HTTP server: however they are cut on their way, the same requests
//! come out of them, and each is one that `httparse` reads, too.

use crate::server::http::{Body, HttpError, ReadBuffer, RequestHead};

/// A request, or why what came is none; after that nothing is read any more.
type Read = Result<(RequestHead, Vec<u8>), HttpError>;

/// Reads requests out of `data` in several ways.
///
/// # Panics
/// When two ways give different requests, or one gives what `httparse` does not.
pub fn http(data: &[u8]) {
    let whole = requests([data]);
    assert_eq!(whole, requests(data.chunks(1)), "byte by byte");
    let n = 2 + usize::from(data.first().copied().unwrap_or_default());
    assert_eq!(whole, requests(data.chunks(n)), "{n} bytes at a time");
    let middle = data.len() / 2;
    assert_eq!(whole, requests([&data[..middle], &data[middle..]]), "in two halves");
    against_httparse(data, whole.first());
}

/// The requests in bytes that come in pieces.
pub(crate) fn requests<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<Read> {
    let mut read_buffer = ReadBuffer::default();
    let mut open = None;
    let mut read = Vec::new();
    for piece in pieces {
        read_buffer.push(piece);
        while let Some(request) = next(&mut read_buffer, &mut open).transpose() {
            let is_end = request.is_err();
            read.push(request);
            if is_end {
                return read;
            }
        }
    }
    read
}

/// The next request, once all of it is there.
fn next(
    read_buffer: &mut ReadBuffer,
    open: &mut Option<(RequestHead, Body)>,
) -> Result<Option<(RequestHead, Vec<u8>)>, HttpError> {
    if open.is_none() {
        let Some(head) = read_buffer.head()? else { return Ok(None) };
        let body = Body::new(head.framing()?);
        *open = Some((head, body));
    }
    let Some((_, body)) = open else { return Ok(None) };
    if !read_buffer.fill(body)? {
        return Ok(None);
    }
    Ok(open.take().map(|(head, body)| (head, body.bytes)))
}

/// What the first request is, by the library alone.
fn against_httparse(data: &[u8], ours: Option<&Read>) {
    let n_empty = data.chunks(2).take_while(|it| *it == b"\r\n").count();
    let data = &data[n_empty * 2..];
    let mut fields = [httparse::EMPTY_HEADER; 64];
    let mut request = httparse::Request::new(&mut fields);
    let theirs = request.parse(data);
    match (ours, theirs) {
        (Some(Ok((head, _))), Ok(httparse::Status::Complete(_))) => {
            assert_eq!(request.method, Some(head.method.as_str()));
            assert_eq!(request.path, Some(head.target.as_str()));
            for field in request.headers.iter() {
                let value = String::from_utf8_lossy(field.value);
                let value = value.trim_matches([' ', '\t']);
                assert!(head.all(&field.name.to_ascii_lowercase()).any(|it| it == value));
            }
        }
        (Some(Ok((head, _))), other) => panic!("{head:?} is {other:?}"),
        // A head that is whole is read, or refused for a reason.
        (None, Ok(httparse::Status::Complete(n))) => {
            let head = RequestHead::parse(&data[..n]).map(|it| it.framing());
            let is_awaited = head.is_ok_and(|it| it.is_ok());
            assert!(is_awaited, "a head of {n} bytes was overlooked");
        }
        _ => (),
    }
}
