//! A connection to PostgreSQL: one socket, the extended protocol in pipelines, SCRAM, deadlines.

#[cfg(any(test, fuzzing))]
pub(super) mod scripted;
mod sign_in;

use std::io::{self, ErrorKind, Read, Write};

use bytes::BytesMut;
use fallible_iterator::FallibleIterator;
use postgres_protocol::IsNull;
use postgres_protocol::message::backend::{DataRowBody, ErrorFields, Header, Message};
use postgres_protocol::message::frontend;

use super::connection_error::PostgresError;
use super::password_lookup::PasswordWithOrigin;
use super::space_url::{Encryption, SpaceUrl};
use super::timed_socket::TimedSocket;
use super::tls::{self, TlsStream};

/// Milliseconds until a connection is made.
pub(super) const CONNECT_MS: i64 = 4_000;

/// Bytes of one read.
const READ_BYTES: usize = 64 * 1024;

/// Bytes of a message at most: one text as large as the store takes, and the rest of its part.
const MESSAGE_BYTES_MAX: usize = 640 * 1024 * 1024;

/// Bytes of all rows of a call at most: the server is asked for few of them.
const ANSWER_BYTES_MAX: usize = 2 * MESSAGE_BYTES_MAX;

/// An answer's row: each value as its bytes.
pub(super) type RawRow = Vec<Option<Vec<u8>>>;

/// A parameter of a statement.
#[derive(Clone, Copy, Debug)]
pub(super) enum Param<'a> {
    Text(&'a str),
    Int(i64),
    Bytes(&'a [u8]),
    Null,
}

/// A statement with its parameters.
pub(super) type SqlWithParams<'a> = (&'a str, Vec<Param<'a>>);

/// The socket, in the clear or not.
#[derive(Debug)]
enum Socket {
    Plain(TimedSocket),
    Tls(Box<TlsStream>),
    #[cfg(any(test, fuzzing))]
    Scripted(scripted::ScriptedServer),
}

impl Socket {
    /// Returns the socket with its deadline; a script needs none.
    fn timed(&mut self) -> Option<&mut TimedSocket> {
        match self {
            Socket::Plain(it) => Some(it),
            Socket::Tls(it) => Some(&mut it.sock),
            #[cfg(any(test, fuzzing))]
            Socket::Scripted(_) => None,
        }
    }

    fn wait_for(&mut self, wait_ms: i64) {
        if let Some(timed) = self.timed() {
            timed.wait_for(wait_ms);
        }
    }

    fn now_ms(&mut self) -> i64 {
        self.timed().map_or(0, |it| it.now_ms())
    }

    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Socket::Plain(it) => it.read(into),
            Socket::Tls(it) => it.read(into),
            #[cfg(any(test, fuzzing))]
            Socket::Scripted(it) => it.read(into),
        }
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Socket::Plain(it) => it.write_all(bytes),
            Socket::Tls(it) => it.write_all(bytes).and_then(|()| it.flush()),
            #[cfg(any(test, fuzzing))]
            Socket::Scripted(_) => Ok(()),
        }
    }
}

/// A connection.
#[derive(Debug)]
pub(super) struct PostgresConnection {
    socket: Socket,
    incoming: BytesMut,
    outgoing: BytesMut,
    /// The time of the last call, on the clock of the socket.
    used_ms: i64,
    has_news: bool,
    /// Whether the server has notifications.
    pub(super) is_notifying: bool,
}

impl PostgresConnection {
    /// Connects and signs in, within `wait_ms`.
    pub(super) fn connect(
        url: &SpaceUrl,
        password: &PasswordWithOrigin,
        wait_ms: i64,
    ) -> Result<PostgresConnection, PostgresError> {
        let mut socket = TimedSocket::dial(url, wait_ms)?;
        let socket = match url.encryption {
            Encryption::None => Socket::Plain(socket),
            Encryption::Verified => {
                ask_for_tls(&mut socket)?;
                let roots = url.root_certificates.as_deref();
                Socket::Tls(Box::new(tls::encrypt(socket, &url.host, roots)?))
            }
        };
        let mut wire = PostgresConnection::of(socket);
        wire.sign_in(url, password)?;
        wire.note_use();
        Ok(wire)
    }

    fn of(socket: Socket) -> PostgresConnection {
        PostgresConnection {
            socket,
            incoming: BytesMut::new(),
            outgoing: BytesMut::new(),
            used_ms: 0,
            has_news: false,
            is_notifying: true,
        }
    }

    /// Returns the milliseconds since the last call.
    pub(super) fn idle_ms(&mut self) -> i64 {
        self.socket.now_ms() - self.used_ms
    }

    fn note_use(&mut self) {
        self.used_ms = self.socket.now_ms();
    }

    /// Runs statements in one round trip, and returns the rows of each. The first error ends the
    /// pipeline.
    pub(super) fn run(
        &mut self,
        statements: &[SqlWithParams<'_>],
        wait_ms: i64,
    ) -> Result<Vec<Vec<RawRow>>, PostgresError> {
        self.note_use();
        self.socket.wait_for(wait_ms);
        for (sql, params) in statements {
            frontend::parse("", sql, [], &mut self.outgoing)?;
            let formats = params.iter().map(|it| i16::from(!matches!(it, Param::Text(_))));
            frontend::bind("", "", formats, params, put_param, [1], &mut self.outgoing)
                .map_err(|_| out_of_place())?;
            frontend::execute("", 0, &mut self.outgoing)?;
        }
        frontend::sync(&mut self.outgoing);
        if let Err(error) = self.send() {
            return Err(self.last_words().unwrap_or_else(|| error.into()));
        }
        let (mut all, mut rows, mut error) = (Vec::new(), Vec::new(), None);
        let mut n_bytes = 0;
        loop {
            match self.receive()? {
                Message::DataRow(body) => {
                    n_bytes += body.buffer().len();
                    if ANSWER_BYTES_MAX < n_bytes {
                        return Err(too_large().into());
                    }
                    rows.push(row(&body)?);
                }
                Message::CommandComplete(_) | Message::EmptyQueryResponse => {
                    all.push(std::mem::take(&mut rows));
                }
                Message::ErrorResponse(body) => {
                    error.get_or_insert(server_error(body.fields()));
                }
                Message::ReadyForQuery(_) => {
                    return match error {
                        Some(error) => Err(error),
                        None if all.len() == statements.len() => Ok(all),
                        None => Err(out_of_place().into()),
                    };
                }
                _ => (),
            }
        }
    }

    /// Returns the server's reason for a connection that it closed.
    fn last_words(&mut self) -> Option<PostgresError> {
        loop {
            if let Message::ErrorResponse(body) = self.receive().ok()? {
                return Some(server_error(body.fields()));
            }
        }
    }

    /// Waits for a notification, and returns whether there was one.
    pub(super) fn is_news_within(&mut self, wait_ms: i64) -> Result<bool, PostgresError> {
        self.socket.wait_for(wait_ms);
        loop {
            while let Some(message) = self.parsed()? {
                match message {
                    Message::NotificationResponse(_) => self.has_news = true,
                    Message::ErrorResponse(body) => return Err(server_error(body.fields())),
                    _ => (),
                }
            }
            if std::mem::take(&mut self.has_news) {
                return Ok(true);
            }
            match self.fill() {
                Ok(()) => (),
                Err(error) if is_patient(&error) => return Ok(false),
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn send(&mut self) -> io::Result<()> {
        self.socket.write_all(&self.outgoing)?;
        self.outgoing.clear();
        Ok(())
    }

    fn receive(&mut self) -> io::Result<Message> {
        loop {
            match self.parsed()? {
                Some(Message::NotificationResponse(_)) => self.has_news = true,
                Some(message) => return Ok(message),
                None => self.fill()?,
            }
        }
    }

    /// Returns the next message once all of it is there. Room is made for bytes that came, not for
    /// those that a message announces, and none that is too large is waited for.
    fn parsed(&mut self) -> io::Result<Option<Message>> {
        let Some(header) = Header::parse(&self.incoming)? else { return Ok(None) };
        // The byte of its kind is not counted.
        let n_bytes = usize::try_from(header.len()).unwrap_or(usize::MAX);
        if MESSAGE_BYTES_MAX < n_bytes {
            return Err(too_large());
        }
        if self.incoming.len() <= n_bytes { Ok(None) } else { Message::parse(&mut self.incoming) }
    }

    /// Reads some bytes.
    fn fill(&mut self) -> io::Result<()> {
        let mut bytes = [0; READ_BYTES];
        match self.socket.read(&mut bytes)? {
            0 => Err(ErrorKind::UnexpectedEof.into()),
            n_bytes => {
                self.incoming.extend_from_slice(&bytes[..n_bytes]);
                Ok(())
            }
        }
    }
}

/// Asks the server to go on in TLS, and returns when it has agreed.
fn ask_for_tls(socket: &mut TimedSocket) -> Result<(), PostgresError> {
    let mut question = BytesMut::new();
    frontend::ssl_request(&mut question);
    socket.write_all(&question)?;
    // One byte: what came after it would not be from within TLS.
    let mut answer = [0];
    socket.read_exact(&mut answer)?;
    match answer {
        [b'S'] => Ok(()),
        [b'N'] => {
            let why = "it offers no TLS; `?sslmode=disable` does without, in a network you trust";
            Err(PostgresError::Untrusted(why.to_owned()))
        }
        _ => Err(PostgresError::Untrusted("what answers there is no PostgreSQL".to_owned())),
    }
}

fn put_param(
    param: &Param<'_>,
    out: &mut BytesMut,
) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
    match param {
        Param::Text(it) => out.extend_from_slice(it.as_bytes()),
        Param::Int(it) => out.extend_from_slice(&it.to_be_bytes()),
        Param::Bytes(it) => out.extend_from_slice(it),
        Param::Null => return Ok(IsNull::Yes),
    }
    Ok(IsNull::No)
}

fn row(body: &DataRowBody) -> io::Result<RawRow> {
    let bytes = body.buffer();
    body.ranges().map(|range| Ok(range.map(|it| bytes[it].to_vec()))).collect()
}

fn server_error(mut fields: ErrorFields<'_>) -> PostgresError {
    let (mut code, mut message) = (String::new(), String::new());
    while let Ok(Some(field)) = fields.next() {
        let text = String::from_utf8_lossy(field.value_bytes()).into_owned();
        match field.type_() {
            b'C' => code = text,
            b'M' => message = text,
            _ => (),
        }
    }
    PostgresError::Server { code, message }
}

fn out_of_place() -> io::Error {
    io::Error::new(ErrorKind::InvalidData, "a message out of place")
}

fn too_large() -> io::Error {
    io::Error::new(ErrorKind::InvalidData, "an answer larger than anything that was asked for")
}

fn is_patient(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}

#[cfg(test)]
mod tests;
