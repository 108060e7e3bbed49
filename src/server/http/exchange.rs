//! One request and its answer: a response, or a stream of events.

use std::io::{self, ErrorKind};

use super::read_buffer::ReadBuffer;
use super::request_head::{HEAD_BYTES_MAX, RequestHead};
use super::response::{HttpResponse, start};
use super::timed_stream::TimedStream;

/// A request whose head was read, on its connection.
#[derive(Debug)]
pub(super) struct Exchange<'a> {
    pub(super) timed_stream: &'a TimedStream<'a>,
    pub(super) read_buffer: &'a mut ReadBuffer,
    pub(super) head: &'a RequestHead,
    /// The origin of the page that sent it, if that is allowed.
    pub(super) origin: Option<String>,
    /// Whether the connection is kept for further requests.
    pub(super) is_keep_alive: bool,
    /// Maximum milliseconds of writing a response or an event.
    pub(super) write_ms: i64,
    pub(super) status: u16,
    /// The log target of the request.
    pub(super) target: &'static str,
}

impl<'a> Exchange<'a> {
    /// Sends a response.
    pub(super) fn reply(&mut self, response: &HttpResponse) -> io::Result<()> {
        self.status = response.status;
        let mut bytes = response.bytes(&self.common());
        if self.head.method == "HEAD" {
            // The fields of any other method, without a body.
            bytes.truncate(bytes.len() - response.body_len());
        }
        self.write(&bytes)
    }

    /// Begins a stream of events.
    pub(super) fn stream<'e>(
        &'e mut self,
        session: Option<&str>,
    ) -> io::Result<EventStream<'e, 'a>> {
        self.status = 200;
        // Without chunks, the end of the connection ends the stream.
        self.is_keep_alive &= self.head.is_current;
        let is_chunked = self.head.is_current;
        let mut head = start(200, &self.common());
        head += "Content-Type: text/event-stream\r\nX-Accel-Buffering: no\r\n";
        if let Some(session) = session {
            head += &format!("Mcp-Session-Id: {session}\r\n");
        }
        head += if is_chunked { "Transfer-Encoding: chunked\r\n\r\n" } else { "\r\n" };
        self.write(head.as_bytes())?;
        let written_ms = self.timed_stream.now_ms();
        Ok(EventStream { exchange: self, is_chunked, written_ms })
    }

    /// Returns whether the client has gone while its answer is prepared.
    pub(super) fn is_gone(&mut self) -> bool {
        self.timed_stream.is_gone(self.read_buffer, HEAD_BYTES_MAX)
    }

    pub(super) fn write(&self, bytes: &[u8]) -> io::Result<()> {
        self.timed_stream.write(bytes, self.timed_stream.now_ms() + self.write_ms)
    }

    fn common(&self) -> String {
        let mut common = String::new();
        if let Some(origin) = &self.origin {
            common = format!(
                "Access-Control-Allow-Origin: {origin}\r\n\
                 Access-Control-Expose-Headers: Mcp-Session-Id, WWW-Authenticate\r\n\
                 Vary: Origin\r\n"
            );
        }
        match (self.is_keep_alive, self.head.is_current) {
            (false, _) => common += "Connection: close\r\n",
            (true, false) => common += "Connection: keep-alive\r\n",
            (true, true) => (),
        }
        common
    }
}

/// A stream of server-sent events.
#[derive(Debug)]
pub(super) struct EventStream<'e, 'a> {
    pub(super) exchange: &'e mut Exchange<'a>,
    is_chunked: bool,
    /// Time of the last write.
    written_ms: i64,
}

impl EventStream<'_, '_> {
    /// Sends one message, which has no line breaks.
    pub(super) fn send(&mut self, id: Option<&str>, message: &str) -> io::Result<()> {
        let id = id.map_or(String::new(), |it| format!("id: {it}\n"));
        self.write(&format!("{id}data: {message}\n\n"))
    }

    /// Sends the id to resume from and the delay, in case the connection breaks.
    pub(super) fn prime(&mut self, id: &str, retry_ms: u32) -> io::Result<()> {
        self.write(&format!("id: {id}\nretry: {retry_ms}\ndata:\n\n"))
    }

    /// Sends a sign of life after `every_ms` of silence. Fails if the client has gone.
    pub(super) fn keep_alive(&mut self, every_ms: i64) -> io::Result<()> {
        if every_ms <= self.exchange.timed_stream.now_ms().saturating_sub(self.written_ms) {
            self.write(":\n\n")?;
        }
        match self.exchange.is_gone() {
            true => Err(ErrorKind::ConnectionAborted.into()),
            false => Ok(()),
        }
    }

    /// Ends the stream.
    pub(super) fn end(self) -> io::Result<()> {
        match self.is_chunked {
            true => self.exchange.write(b"0\r\n\r\n"),
            false => Ok(()),
        }
    }

    fn write(&mut self, text: &str) -> io::Result<()> {
        self.written_ms = self.exchange.timed_stream.now_ms();
        match self.is_chunked {
            true => self.exchange.write(format!("{:x}\r\n{text}\r\n", text.len()).as_bytes()),
            false => self.exchange.write(text.as_bytes()),
        }
    }
}
