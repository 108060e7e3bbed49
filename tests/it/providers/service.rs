//! A service on this machine that speaks HTTP, over TLS if asked, with answers and faults by plan.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// A request as it came.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    /// Method and path.
    pub(crate) line: String,
    /// Names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Seen {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|it| it.0 == name).map(|it| it.1.as_str())
    }
}

/// The reply of the service to a request.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    /// Answers with this status and body.
    Body(u16, String),
    /// Answers with this status, this header and this body.
    With(u16, (&'static str, &'static str), String),
    /// Sends half of the body and hangs up.
    Cut(String),
    /// Says nothing until the client is gone.
    Silence,
}

type Answer = dyn Fn(&Seen, usize) -> Reply + Send + Sync;

/// A running service.
pub(crate) struct Service {
    pub(crate) address: SocketAddr,
    /// Its certificate in PEM; empty without TLS.
    pub(crate) certificate: String,
    seen: Arc<Mutex<Vec<Seen>>>,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Service {
    /// Starts a service over TLS; `answer` gets each request and its number from 0.
    pub(crate) fn with_tls(
        answer: impl Fn(&Seen, usize) -> Reply + Send + Sync + 'static,
    ) -> Service {
        let own = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(own.signing_key.serialize_der()));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![own.cert.der().clone()], key)
            .unwrap();
        Service::start(Some(Arc::new(config)), own.cert.pem(), Arc::new(answer))
    }

    /// Starts a service without encryption.
    pub(crate) fn plain(answer: impl Fn(&Seen, usize) -> Reply + Send + Sync + 'static) -> Service {
        Service::start(None, String::new(), Arc::new(answer))
    }

    fn start(tls: Option<Arc<ServerConfig>>, certificate: String, answer: Arc<Answer>) -> Service {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let seen: Arc<Mutex<Vec<Seen>>> = Arc::default();
        let is_over: Arc<AtomicBool> = Arc::default();
        let (noted, over) = (Arc::clone(&seen), Arc::clone(&is_over));
        let accept = move || {
            let mut threads = Vec::new();
            for stream in listener.incoming().flatten() {
                if over.load(Ordering::Relaxed) {
                    break;
                }
                let (tls, answer, noted) = (tls.clone(), Arc::clone(&answer), Arc::clone(&noted));
                threads.push(spawn(move || match tls {
                    None => serve(stream, &*answer, &noted),
                    Some(config) => {
                        let connection = ServerConnection::new(config).unwrap();
                        serve(StreamOwned::new(connection, stream), &*answer, &noted);
                    }
                }));
            }
            threads.into_iter().for_each(|it| drop(it.join()));
        };
        Service { address, certificate, seen, is_over, thread: Some(spawn(accept)) }
    }

    /// Returns its address below a scheme.
    pub(crate) fn url(&self) -> String {
        let scheme = if self.certificate.is_empty() { "http" } else { "https" };
        format!("{scheme}://localhost:{}", self.address.port())
    }

    /// Returns every request so far.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        drop(TcpStream::connect(self.address));
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

fn spawn(work: impl FnOnce() + Send + 'static) -> JoinHandle<()> {
    std::thread::Builder::new().name("service".to_owned()).spawn(work).unwrap()
}

/// Answers one request of a connection.
fn serve(mut stream: impl Read + Write, answer: &Answer, seen: &Mutex<Vec<Seen>>) {
    // A client that does not trust the certificate is gone already.
    let Some(request) = read(&mut stream) else { return };
    let nth = {
        let mut seen = seen.lock().unwrap();
        seen.push(request.clone());
        seen.len() - 1
    };
    let head = |status: u16, header: Option<(&str, &str)>, n_bytes: usize| {
        let more = header.map_or(String::new(), |(name, text)| format!("{name}: {text}\r\n"));
        format!(
            "HTTP/1.1 {status} said\r\ncontent-type: application/json\r\nconnection: close\r\n\
             {more}content-length: {n_bytes}\r\n\r\n"
        )
    };
    let bytes = match answer(&request, nth) {
        Reply::Body(status, body) => head(status, None, body.len()) + &body,
        Reply::With(status, header, body) => head(status, Some(header), body.len()) + &body,
        Reply::Cut(body) => head(200, None, body.len()) + &body[..body.len() / 2],
        Reply::Silence => {
            let _ = stream.read(&mut [0; 1]);
            return;
        }
    };
    let _ = stream.write_all(bytes.as_bytes()).and_then(|()| stream.flush());
}

fn read(stream: &mut impl Read) -> Option<Seen> {
    let mut reader = BufReader::new(stream);
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim_end() {
            "" => break,
            line => lines.push(line.to_owned()),
        }
    }
    let first = lines.first()?.trim_end_matches(" HTTP/1.1").to_owned();
    let headers: Vec<(String, String)> = lines[1..]
        .iter()
        .filter_map(|it| it.split_once(':'))
        .map(|(name, text)| (name.to_ascii_lowercase(), text.trim().to_owned()))
        .collect();
    let mut seen = Seen { line: first, headers, body: String::new() };
    let n_bytes: usize = seen.header("content-length").map_or(0, |it| it.parse().unwrap());
    let mut body = vec![0; n_bytes];
    reader.read_exact(&mut body).ok()?;
    seen.body = String::from_utf8(body).unwrap();
    Some(seen)
}
