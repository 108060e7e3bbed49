//! A connection to PostgreSQL: one socket, the extended protocol in pipelines, SCRAM, deadlines.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

use bytes::BytesMut;
use fallible_iterator::FallibleIterator;
use postgres_protocol::IsNull;
use postgres_protocol::authentication::sasl;
use postgres_protocol::message::backend::{DataRowBody, ErrorFields, Message};
use postgres_protocol::message::frontend;

use super::passwords::SecretPassword;
use super::space_url::{Encryption, SpaceUrl};
use super::tls::{self, TlsStream};
use crate::model::clock::{Clock, Stopwatch};

/// Milliseconds until a connection is made.
const CONNECT_MS: i64 = 4_000;

/// Bytes of one read.
const READ_BYTES: usize = 64 * 1024;

/// An answer's row: each value as its bytes.
pub(super) type WireRow = Vec<Option<Vec<u8>>>;

/// A failed call.
#[derive(Debug)]
pub(super) enum WireError {
    /// The socket: nobody knows what the server did.
    Broken(String),
    /// The server's own words.
    Server { code: String, message: String },
}

impl WireError {
    pub(super) fn is_code(&self, wanted: &str) -> bool {
        matches!(self, WireError::Server { code, .. } if code == wanted)
    }

    /// Returns the reason for a message.
    pub(super) fn why(&self) -> String {
        match self {
            WireError::Broken(why) if why.is_empty() => "the connection was lost".to_owned(),
            WireError::Broken(why) => why.clone(),
            WireError::Server { message, .. } => message.clone(),
        }
    }
}

impl From<io::Error> for WireError {
    fn from(error: io::Error) -> WireError {
        use ErrorKind::{
            BrokenPipe, ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted,
            TimedOut, UnexpectedEof, WouldBlock,
        };
        // That it is not reachable says it all.
        let is_plain = matches!(
            error.kind(),
            BrokenPipe
                | ConnectionAborted
                | ConnectionRefused
                | ConnectionReset
                | Interrupted
                | TimedOut
                | UnexpectedEof
                | WouldBlock
        );
        WireError::Broken(if is_plain { String::new() } else { error.to_string() })
    }
}

/// A parameter of a statement.
#[derive(Clone, Copy, Debug)]
pub(super) enum Param<'a> {
    Text(&'a str),
    Int(i64),
    Bytes(&'a [u8]),
    Null,
}

/// A statement with its parameters.
pub(super) type Statement<'a> = (&'a str, Vec<Param<'a>>);

/// The socket, in the clear or not.
#[derive(Debug)]
enum Socket {
    Plain(TcpStream),
    Tls(Box<TlsStream>),
}

impl Socket {
    fn tcp(&self) -> &TcpStream {
        match self {
            Socket::Plain(it) => it,
            Socket::Tls(it) => &it.sock,
        }
    }

    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Socket::Plain(it) => it.read(into),
            Socket::Tls(it) => it.read(into),
        }
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Socket::Plain(it) => it.write_all(bytes),
            Socket::Tls(it) => it.write_all(bytes).and_then(|()| it.flush()),
        }
    }
}

/// A connection.
#[derive(Debug)]
pub(super) struct PostgresConnection {
    socket: Socket,
    incoming: BytesMut,
    outgoing: BytesMut,
    watch: Stopwatch,
    deadline_ms: i64,
    has_news: bool,
    /// Whether the server has notifications.
    pub(super) is_notifying: bool,
}

impl PostgresConnection {
    /// Connects and signs in.
    pub(super) fn connect(
        url: &SpaceUrl,
        password: &SecretPassword,
    ) -> Result<PostgresConnection, WireError> {
        let watch = Clock::System.stopwatch();
        let mut wire = PostgresConnection {
            socket: Socket::Plain(dial(url, &watch)?),
            incoming: BytesMut::new(),
            outgoing: BytesMut::new(),
            watch,
            deadline_ms: CONNECT_MS,
            has_news: false,
            is_notifying: true,
        };
        if url.encryption == Encryption::Verified {
            wire = wire.encrypted(url)?;
        }
        let settings = [
            ("user", url.user.as_str()),
            ("database", url.database.as_str()),
            ("client_encoding", "UTF8"),
            ("application_name", "remindb"),
        ];
        frontend::startup_message(settings, &mut wire.outgoing)?;
        wire.send()?;
        wire.sign_in(url, password)?;
        Ok(wire)
    }

    fn encrypted(mut self, url: &SpaceUrl) -> Result<PostgresConnection, WireError> {
        frontend::ssl_request(&mut self.outgoing);
        self.send()?;
        let mut answer = [0];
        self.socket.tcp().set_read_timeout(Some(self.left()?))?;
        if self.socket.read(&mut answer)? != 1 || answer != *b"S" {
            let why = "it offers no TLS; `?sslmode=disable` does without, in a network you trust";
            return Err(WireError::Broken(why.to_owned()));
        }
        let Socket::Plain(plain) = self.socket else {
            return Err(WireError::Broken("encrypted twice".to_owned()));
        };
        plain.set_write_timeout(Some(Duration::from_millis(CONNECT_MS.unsigned_abs())))?;
        plain.set_read_timeout(Some(Duration::from_millis(CONNECT_MS.unsigned_abs())))?;
        let stream = tls::encrypt(plain, &url.host, url.root_certificates.as_deref())
            .map_err(WireError::Broken)?;
        Ok(PostgresConnection { socket: Socket::Tls(Box::new(stream)), ..self })
    }

    fn sign_in(&mut self, url: &SpaceUrl, password: &SecretPassword) -> Result<(), WireError> {
        let mut scram = None;
        loop {
            match self.receive()? {
                Message::AuthenticationOk
                | Message::BackendKeyData(_)
                | Message::NoticeResponse(_) => (),
                Message::ParameterStatus(it) => {
                    // CockroachDB has no notifications, and fails at their names.
                    self.is_notifying &= it.name().unwrap_or_default() != "crdb_version";
                }
                Message::AuthenticationCleartextPassword
                    if url.encryption == Encryption::Verified =>
                {
                    frontend::password_message(password.0.as_bytes(), &mut self.outgoing)?;
                    self.send()?;
                }
                Message::AuthenticationSasl(_) => {
                    let binding = sasl::ChannelBinding::unsupported();
                    let it = sasl::ScramSha256::new(password.0.as_bytes(), binding);
                    let name = sasl::SCRAM_SHA_256;
                    frontend::sasl_initial_response(name, it.message(), &mut self.outgoing)?;
                    scram = Some(it);
                    self.send()?;
                }
                Message::AuthenticationSaslContinue(body) => {
                    let it = scram.as_mut().ok_or_else(out_of_place)?;
                    it.update(body.data())?;
                    frontend::sasl_response(it.message(), &mut self.outgoing)?;
                    self.send()?;
                }
                Message::AuthenticationSaslFinal(body) => {
                    scram.as_mut().ok_or_else(out_of_place)?.finish(body.data())?;
                }
                Message::AuthenticationMd5Password(_)
                | Message::AuthenticationCleartextPassword => {
                    let why = "it asks for the password in a form that others can read; use \
                               scram-sha-256 there";
                    return Err(WireError::Broken(why.to_owned()));
                }
                Message::ErrorResponse(body) => return Err(server_error(body.fields())),
                Message::ReadyForQuery(_) => return Ok(()),
                _ => return Err(out_of_place().into()),
            }
        }
    }

    /// Runs statements in one round trip, and returns the rows of each. The first error ends the
    /// pipeline.
    pub(super) fn run(
        &mut self,
        statements: &[Statement<'_>],
        wait_ms: i64,
    ) -> Result<Vec<Vec<WireRow>>, WireError> {
        self.deadline_ms = self.watch.elapsed_ms() + wait_ms;
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
        loop {
            match self.receive()? {
                Message::DataRow(body) => rows.push(row(&body)?),
                Message::CommandComplete(_) | Message::EmptyQueryResponse => {
                    all.push(std::mem::take(&mut rows));
                }
                Message::ErrorResponse(body) => {
                    error.get_or_insert(server_error(body.fields()));
                }
                Message::ReadyForQuery(_) => return error.map_or(Ok(all), Err),
                _ => (),
            }
        }
    }

    /// Returns the server's reason for a connection that it closed.
    fn last_words(&mut self) -> Option<WireError> {
        loop {
            if let Message::ErrorResponse(body) = self.receive().ok()? {
                return Some(server_error(body.fields()));
            }
        }
    }

    /// Waits for a notification, and returns whether there was one.
    pub(super) fn is_news_within(&mut self, wait_ms: i64) -> Result<bool, WireError> {
        let until = self.watch.elapsed_ms() + wait_ms;
        loop {
            while let Some(message) = Message::parse(&mut self.incoming)? {
                match message {
                    Message::NotificationResponse(_) => self.has_news = true,
                    Message::ErrorResponse(body) => return Err(server_error(body.fields())),
                    _ => (),
                }
            }
            if std::mem::take(&mut self.has_news) {
                return Ok(true);
            }
            self.deadline_ms = until;
            match self.fill() {
                Ok(()) => (),
                Err(error) if is_patient(&error) => return Ok(false),
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn left(&self) -> io::Result<Duration> {
        match self.deadline_ms - self.watch.elapsed_ms() {
            left_ms if 0 < left_ms => Ok(Duration::from_millis(left_ms.unsigned_abs())),
            _ => Err(ErrorKind::TimedOut.into()),
        }
    }

    fn send(&mut self) -> io::Result<()> {
        self.socket.tcp().set_write_timeout(Some(self.left()?))?;
        self.socket.write_all(&self.outgoing)?;
        self.outgoing.clear();
        Ok(())
    }

    fn receive(&mut self) -> io::Result<Message> {
        loop {
            match Message::parse(&mut self.incoming)? {
                Some(Message::NotificationResponse(_)) => self.has_news = true,
                Some(message) => return Ok(message),
                None => self.fill()?,
            }
        }
    }

    fn fill(&mut self) -> io::Result<()> {
        let mut bytes = [0; READ_BYTES];
        self.socket.tcp().set_read_timeout(Some(self.left()?))?;
        match self.socket.read(&mut bytes)? {
            0 => Err(ErrorKind::UnexpectedEof.into()),
            n_bytes => {
                self.incoming.extend_from_slice(&bytes[..n_bytes]);
                Ok(())
            }
        }
    }
}

/// Opens a socket to the first address that answers.
fn dial(url: &SpaceUrl, watch: &Stopwatch) -> Result<TcpStream, WireError> {
    let mut last = io::Error::from(ErrorKind::NotFound);
    for address in (url.host.as_str(), url.port).to_socket_addrs()? {
        let left_ms = CONNECT_MS - watch.elapsed_ms();
        if left_ms <= 0 {
            break;
        }
        match TcpStream::connect_timeout(&address, Duration::from_millis(left_ms.unsigned_abs())) {
            Ok(stream) => {
                stream.set_nodelay(true)?;
                return Ok(stream);
            }
            Err(error) => last = error,
        }
    }
    Err(last.into())
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

fn row(body: &DataRowBody) -> io::Result<WireRow> {
    let bytes = body.buffer();
    body.ranges().map(|range| Ok(range.map(|it| bytes[it].to_vec()))).collect()
}

fn server_error(mut fields: ErrorFields<'_>) -> WireError {
    let (mut code, mut message) = (String::new(), String::new());
    while let Ok(Some(field)) = fields.next() {
        let text = String::from_utf8_lossy(field.value_bytes()).into_owned();
        match field.type_() {
            b'C' => code = text,
            b'M' => message = text,
            _ => (),
        }
    }
    WireError::Server { code, message }
}

fn out_of_place() -> io::Error {
    io::Error::new(ErrorKind::InvalidData, "a message out of place")
}

fn is_patient(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}
