//! Arbitrary bytes sent to an HTTP server: cut in any way, they give the same requests. `httparse`
//! parses each of these requests, too.

use crate::server::http::{BodyDecoder, HttpError, ReadBuffer, RequestHead};

/// A request, or the reason why the bytes are none; nothing is read after that.
type ParsedRequestResult = Result<(RequestHead, Vec<u8>), HttpError>;

/// Parses requests from `data` in several ways.
///
/// # Panics
/// When two ways give different requests, or one gives a request that `httparse` does not.
pub fn http(data: &[u8]) {
    let whole = requests([data]);
    assert_eq!(whole, requests(data.chunks(1)), "byte by byte");
    let n = 2 + usize::from(data.first().copied().unwrap_or_default());
    assert_eq!(whole, requests(data.chunks(n)), "{n} bytes at a time");
    let middle = data.len() / 2;
    assert_eq!(whole, requests([&data[..middle], &data[middle..]]), "in two halves");
    against_httparse(data, whole.first());
}

/// Returns the requests in bytes that come in pieces.
pub(crate) fn requests<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<ParsedRequestResult> {
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

/// Returns the next request, once it is complete.
fn next(
    read_buffer: &mut ReadBuffer,
    open: &mut Option<(RequestHead, BodyDecoder)>,
) -> Result<Option<(RequestHead, Vec<u8>)>, HttpError> {
    if open.is_none() {
        let Some(head) = read_buffer.head()? else { return Ok(None) };
        let body = BodyDecoder::new(head.framing()?);
        *open = Some((head, body));
    }
    let Some((_, body)) = open else { return Ok(None) };
    if !read_buffer.fill(body)? {
        return Ok(None);
    }
    Ok(open.take().map(|(head, body)| (head, body.bytes)))
}

/// Compares the first request with that of `httparse`.
fn against_httparse(data: &[u8], ours: Option<&ParsedRequestResult>) {
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
        // A complete head is parsed, or refused for a reason.
        (None, Ok(httparse::Status::Complete(n))) => {
            let head = RequestHead::parse(&data[..n]).map(|it| it.framing());
            let is_awaited = head.is_ok_and(|it| it.is_ok());
            assert!(is_awaited, "a head of {n} bytes was overlooked");
        }
        _ => (),
    }
}
