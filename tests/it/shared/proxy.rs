//! A proxy before a server: it delays what it passes on, or cuts connections, as a network does.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::support::spawn;

#[derive(Clone)]
pub(crate) struct Proxy {
    pub(crate) port: u16,
    open: Arc<Mutex<Vec<TcpStream>>>,
    delay_ms: Arc<AtomicU64>,
    is_down: Arc<AtomicBool>,
    /// Round trips of connections that ever took a turn to write.
    trips: Arc<AtomicU64>,
}

/// The statement that takes a turn to write.
const TURN: &[u8] = b"FOR UPDATE";

/// One connection, as far as its round trips are counted.
#[derive(Default)]
struct Trips {
    /// Whether the server spoke last.
    is_answered: AtomicBool,
    is_writer: AtomicBool,
}

impl Proxy {
    pub(crate) fn before(port: u16) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let proxy = Proxy {
            port: listener.local_addr().unwrap().port(),
            open: Arc::default(),
            delay_ms: Arc::default(),
            is_down: Arc::default(),
            trips: Arc::default(),
        };
        let own = proxy.clone();
        spawn(move || {
            for client in listener.incoming().flatten() {
                if own.is_down.load(Ordering::Relaxed) {
                    continue;
                }
                let Ok(server) = TcpStream::connect(("127.0.0.1", port)) else { continue };
                for stream in [&client, &server] {
                    stream.set_nodelay(true).unwrap();
                    own.open.lock().unwrap().push(stream.try_clone().unwrap());
                }
                let (from, to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
                let trips = Arc::new(Trips::default());
                let (delay, all, there) =
                    (Arc::clone(&own.delay_ms), Arc::clone(&own.trips), Arc::clone(&trips));
                let asks = move |bytes: &[u8]| {
                    if bytes.windows(TURN.len()).any(|it| it == TURN) {
                        there.is_writer.store(true, Ordering::SeqCst);
                    }
                    let is_new = there.is_answered.swap(false, Ordering::SeqCst);
                    if is_new && there.is_writer.load(Ordering::SeqCst) {
                        all.fetch_add(1, Ordering::SeqCst);
                    }
                };
                spawn(move || pass(from, to, &delay, asks));
                let delay = Arc::clone(&own.delay_ms);
                let answers = move |_: &[u8]| trips.is_answered.store(true, Ordering::SeqCst);
                spawn(move || pass(server, client, &delay, answers));
            }
        });
        proxy
    }

    /// Delays each way by half of a round trip.
    pub(crate) fn delay(&self, round_trip: Duration) {
        self.delay_ms.store(round_trip.as_millis() as u64 / 2, Ordering::Relaxed);
    }

    /// Returns the round trips of writers so far: each question that follows an answer.
    pub(crate) fn trips(&self) -> u64 {
        self.trips.load(Ordering::SeqCst)
    }

    /// Cuts every connection.
    pub(crate) fn cut(&self) {
        for stream in self.open.lock().unwrap().drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    /// Cuts every connection and lets none be made.
    pub(crate) fn take_down(&self) {
        self.is_down.store(true, Ordering::Relaxed);
        self.cut();
    }

    pub(crate) fn bring_up(&self) {
        self.is_down.store(false, Ordering::Relaxed);
    }
}

/// Passes bytes on, each as late as the delay says, however they were cut into pieces.
fn pass(mut from: TcpStream, mut to: TcpStream, delay_ms: &AtomicU64, mut note: impl FnMut(&[u8])) {
    let (sender, pieces) = channel::<(Instant, Vec<u8>)>();
    let end = to.try_clone().unwrap();
    spawn(move || {
        for (due, piece) in pieces {
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
            if to.write_all(&piece).is_err() {
                break;
            }
        }
        let _ = to.shutdown(Shutdown::Both);
    });
    let mut bytes = [0; 64 * 1024];
    while let Ok(n_bytes @ 1..) = from.read(&mut bytes) {
        note(&bytes[..n_bytes]);
        let due = Instant::now() + Duration::from_millis(delay_ms.load(Ordering::Relaxed));
        if sender.send((due, bytes[..n_bytes].to_vec())).is_err() {
            break;
        }
    }
    let _ = from.shutdown(Shutdown::Both);
    let _ = end.shutdown(Shutdown::Both);
}
