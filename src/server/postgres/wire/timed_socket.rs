//! A socket with one deadline for all of its reads and writes together: a server that sends a byte
//! now and then keeps nobody waiting for longer.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use crate::model::clock::{Clock, Stopwatch};

/// The socket.
#[derive(Debug)]
pub(in crate::server::postgres) struct TimedSocket {
    stream: TcpStream,
    watch: Stopwatch,
    deadline_ms: i64,
}

impl TimedSocket {
    /// Returns a socket of which each call fails `wait_ms` from now.
    pub(super) fn new(stream: TcpStream, wait_ms: i64) -> TimedSocket {
        TimedSocket { stream, watch: Clock::System.stopwatch(), deadline_ms: wait_ms }
    }

    /// Sets another deadline, `wait_ms` from now.
    pub(super) fn wait_at_most(&mut self, wait_ms: i64) {
        self.deadline_ms = self.watch.elapsed_ms().saturating_add(wait_ms);
    }

    fn left(&self) -> io::Result<Duration> {
        match self.deadline_ms - self.watch.elapsed_ms() {
            left_ms if 0 < left_ms => Ok(Duration::from_millis(left_ms.unsigned_abs())),
            _ => Err(ErrorKind::TimedOut.into()),
        }
    }
}

impl Read for TimedSocket {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(Some(self.left()?))?;
        self.stream.read(into)
    }
}

impl Write for TimedSocket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(Some(self.left()?))?;
        self.stream.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn bytes_that_keep_coming_put_no_deadline_off() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut peer, _) = listener.accept().unwrap();
        peer.write_all(b"ab").unwrap();
        let mut socket = TimedSocket::new(stream, 10_000);
        let mut byte = [0];
        socket.read_exact(&mut byte).unwrap();
        assert_eq!(byte, *b"a");
        socket.wait_at_most(0);
        assert_eq!(socket.read(&mut byte).unwrap_err().kind(), ErrorKind::TimedOut);
        assert_eq!(socket.write(b"c").unwrap_err().kind(), ErrorKind::TimedOut);
        socket.wait_at_most(10_000);
        socket.read_exact(&mut byte).unwrap();
        assert_eq!(byte, *b"b");
    }
}
