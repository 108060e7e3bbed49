//! A socket to the server, over the network or of this machine, with one deadline at a time.
//!
//! A deadline is for the whole of a call, not for each read: a server that sends a byte a second
//! gets no longer than one that sends nothing. That holds below TLS, too, which reads as often as
//! it needs.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs};
#[cfg(unix)]
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

use super::space_url::SpaceUrl;
use crate::model::clock::{Clock, Stopwatch};
use crate::server::spawn;

/// A socket whose reads and writes end by its deadline.
#[derive(Debug)]
pub(super) struct TimedSocket {
    socket: SystemSocket,
    watch: Stopwatch,
    deadline_ms: i64,
}

#[derive(Debug)]
enum SystemSocket {
    Tcp(TcpStream),
    #[cfg(unix)]
    Unix(UnixStream),
}

impl TimedSocket {
    /// Opens a socket to the server of a space within `wait_ms`, which then is its deadline.
    pub(super) fn dial(url: &SpaceUrl, wait_ms: i64) -> io::Result<TimedSocket> {
        let watch = Clock::System.stopwatch();
        let left = || left_of(&watch, wait_ms);
        let socket = match url.socket_path() {
            Some(path) => within(left()?, move || dial_here(path))?,
            None => SystemSocket::Tcp(dial_tcp(url, left)?),
        };
        Ok(TimedSocket { socket, watch, deadline_ms: wait_ms })
    }

    /// Sets the deadline of what comes next.
    pub(super) fn wait_for(&mut self, wait_ms: i64) {
        self.deadline_ms = self.watch.elapsed_ms() + wait_ms;
    }

    /// Returns the milliseconds since the socket was opened.
    pub(super) fn now_ms(&self) -> i64 {
        self.watch.elapsed_ms()
    }

    fn left(&self) -> io::Result<Option<Duration>> {
        left_of(&self.watch, self.deadline_ms).map(Some)
    }
}

impl Read for TimedSocket {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let left = self.left()?;
        match &mut self.socket {
            SystemSocket::Tcp(it) => it.set_read_timeout(left).and_then(|()| it.read(into)),
            #[cfg(unix)]
            SystemSocket::Unix(it) => it.set_read_timeout(left).and_then(|()| it.read(into)),
        }
    }
}

impl Write for TimedSocket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let left = self.left()?;
        match &mut self.socket {
            SystemSocket::Tcp(it) => it.set_write_timeout(left).and_then(|()| it.write(bytes)),
            #[cfg(unix)]
            SystemSocket::Unix(it) => it.set_write_timeout(left).and_then(|()| it.write(bytes)),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn left_of(watch: &Stopwatch, deadline_ms: i64) -> io::Result<Duration> {
    match deadline_ms - watch.elapsed_ms() {
        left_ms if 0 < left_ms => Ok(Duration::from_millis(left_ms.unsigned_abs())),
        _ => Err(ErrorKind::TimedOut.into()),
    }
}

/// Opens a socket to the first address that answers.
fn dial_tcp(url: &SpaceUrl, left: impl Fn() -> io::Result<Duration>) -> io::Result<TcpStream> {
    let (host, port) = (url.host.clone(), url.port);
    let addresses: Vec<SocketAddr> = match host.parse::<IpAddr>() {
        Ok(address) => vec![(address, port).into()],
        Err(_) => within(left()?, move || (host, port).to_socket_addrs().map(Iterator::collect))?,
    };
    let mut last = io::Error::from(ErrorKind::NotFound);
    for address in addresses {
        let connected = left().and_then(|left| TcpStream::connect_timeout(&address, left));
        match connected {
            Ok(stream) => {
                stream.set_nodelay(true)?;
                return Ok(stream);
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

#[cfg(unix)]
fn dial_here(path: PathBuf) -> io::Result<SystemSocket> {
    UnixStream::connect(path).map(SystemSocket::Unix)
}

#[cfg(not(unix))]
fn dial_here(path: PathBuf) -> io::Result<SystemSocket> {
    let what = format!("`{}`: this system has no such sockets", path.display());
    Err(io::Error::new(ErrorKind::Unsupported, what))
}

/// Runs a call to which the system gives no deadline, such as the look-up of a name. One that takes
/// too long goes on without anybody who waits, and ends by itself.
fn within<T: Send + 'static>(
    wait: Duration,
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    let (sender, receiver) = crossbeam_channel::bounded(1);
    let work = move || {
        // Nobody may wait any more.
        let _ = sender.send(work());
    };
    drop(spawn("dial", work)?);
    receiver.recv_timeout(wait).unwrap_or_else(|_| Err(ErrorKind::TimedOut.into()))
}

#[cfg(test)]
mod tests;
