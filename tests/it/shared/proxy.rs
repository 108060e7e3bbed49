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
}

impl Proxy {
    pub(crate) fn before(port: u16) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let proxy = Proxy {
            port: listener.local_addr().unwrap().port(),
            open: Arc::default(),
            delay_ms: Arc::default(),
            is_down: Arc::default(),
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
                let delay = Arc::clone(&own.delay_ms);
                spawn(move || pass(from, to, &delay));
                let delay = Arc::clone(&own.delay_ms);
                spawn(move || pass(server, client, &delay));
            }
        });
        proxy
    }

    /// Delays each way by half of a round trip.
    pub(crate) fn delay(&self, round_trip: Duration) {
        self.delay_ms.store(round_trip.as_millis() as u64 / 2, Ordering::Relaxed);
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
fn pass(mut from: TcpStream, mut to: TcpStream, delay_ms: &AtomicU64) {
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
        let due = Instant::now() + Duration::from_millis(delay_ms.load(Ordering::Relaxed));
        if sender.send((due, bytes[..n_bytes].to_vec())).is_err() {
            break;
        }
    }
    let _ = from.shutdown(Shutdown::Both);
    let _ = end.shutdown(Shutdown::Both);
}
