//! MCP's stdio transport: one client over a pair of byte streams.
//!
//! ```text
//! input ─ reader ─▶ frames ─ router ─▶ calls ─ worker × 6 ─▶ lines ─ writer ─▶ output
//!                              └───────── quick answers ───────▲
//! ```
//! The router is the calling thread and owns the connection. Every queue is bounded: a client that
//! does not read its answers is not read from either.
//!
//! Order of shutdown: no more frames; the calls run out; background work is stopped; the lines run
//! out. The end of input waits for the calls as long as they take, since the client may still
//! listen. A signal or a closed output, also while waiting, leaves each stage [`GRACE`] at most.

use std::io::{self, Read, Write};
use std::sync::Arc;
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, bounded, select};

use super::single_client_worker_pool::{SingleClientWorkerPool, WorkerPoolSize};
use super::{BackgroundTaskSpec, StopReason, StopSignal, ThreadGroup, join, spawn, work};
use crate::mcp::rpc::{FrameReader, FrameResult};
use crate::mcp::{
    Connection, Handler, Outbox, OutgoingRpcMessageLine, QueuedRequest, Server, TransportAction,
};
use crate::model::clock::Clock;

/// Name of the one connection.
const CONNECTION: &str = "stdio";
/// Threads that run calls of all kinds.
const WORKERS: usize = 4;
/// Further threads that run calls which only read.
const READERS: usize = 2;
/// Maximum frames that wait for the router; each may have 8 MiB.
const FRAMES_MAX: usize = 4;
/// Maximum calls of each kind that wait for a thread; beyond that the client is not read from.
const JOBS_MAX: usize = 256;
/// Maximum lines that wait for the output.
const LINES_MAX: usize = 64;
/// Maximum time of each stage of shutdown after a signal or a closed output.
const GRACE: Duration = Duration::from_millis(1000);

/// Serves one client until its input ends, its output breaks or a message comes on `interrupts`.
/// Background work starts when the client has been answered for the first time.
pub(crate) fn serve_stdio<S: Handler>(
    server: &Arc<Server<S>>,
    clock: &Clock,
    background: Vec<BackgroundTaskSpec>,
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
    interrupts: &Receiver<()>,
) -> io::Result<StopReason> {
    let (lines, line_receiver) = bounded(LINES_MAX);
    let (frame_sender, frames) = bounded(FRAMES_MAX);
    let outbox = Outbox::new(lines.clone());
    let mut writer = ThreadGroup::default();
    writer.add("writer", move || write_lines(&line_receiver, output))?;
    writer.close();
    let mut workers = ThreadGroup::default();
    let pool = {
        let (server, clock, outbox) = (Arc::clone(server), clock.clone(), outbox.clone());
        let size = WorkerPoolSize { n_threads: WORKERS, n_readers: READERS, n_waiting: JOBS_MAX };
        SingleClientWorkerPool::start(&mut workers, size, move |job: Box<QueuedRequest>| {
            if let Some(line) = work(&server, &clock, job) {
                outbox.send(line);
            }
            // The reply goes first, and then the notifications of the changes that the call made.
            server.hub.wake();
        })?
    };
    let reader = spawn("reader", move || read_frames(input, &frame_sender))?;
    log::info!("serving name={} version={}", server.about.name, server.about.version);
    let connection = Connection::new(CONNECTION);
    let wakes = connection.wakeups(server);
    let router = StdioConnection {
        server,
        connection,
        outbox,
        pool,
        lines,
        wakes,
        interrupts,
        writer,
        workers,
        background: ThreadGroup::default(),
        waiting: background,
        stop: StopSignal::default(),
    };
    let (ended, had_all) = router.run(&frames)?;
    if had_all {
        join(reader);
    }
    log::info!("stopped reason={ended:?}");
    Ok(ended)
}

/// The state of the connection's thread, with the channels in both directions.
struct StdioConnection<'a, S: Handler> {
    server: &'a Server<S>,
    connection: Connection,
    outbox: Outbox,
    pool: SingleClientWorkerPool<Box<QueuedRequest>>,
    lines: Sender<OutgoingRpcMessageLine>,
    wakes: Receiver<()>,
    interrupts: &'a Receiver<()>,
    writer: ThreadGroup,
    workers: ThreadGroup,
    background: ThreadGroup,
    waiting: Vec<BackgroundTaskSpec>,
    stop: StopSignal,
}

impl<S: Handler> StdioConnection<'_, S> {
    /// Routes frames; returns the end, and whether the reader had reached the end of its input.
    fn run(mut self, frames: &Receiver<FrameResult>) -> io::Result<(StopReason, bool)> {
        let ended = self.route(frames)?;
        Ok((self.finish(ended), ended == StopReason::Input))
    }

    fn route(&mut self, frames: &Receiver<FrameResult>) -> io::Result<StopReason> {
        loop {
            let step = select! {
                recv(frames) -> frame => match frame {
                    Ok(frame) => self.connection.accept_frame(self.server, frame, &self.outbox),
                    Err(_) => return Ok(StopReason::Input),
                },
                recv(self.wakes) -> _ => {
                    let ended = self.say_all(self.connection.pending_updates(self.server));
                    match ended {
                        Some(ended) => return Ok(ended),
                        None => continue,
                    }
                }
                recv(self.interrupts) -> _ => return Ok(StopReason::Signal),
                recv(self.writer.over) -> _ => return Ok(StopReason::Output),
            };
            if let Some(ended) = self.hand(step) {
                return Ok(ended);
            }
            if self.connection.take_log_level_change()
                && let Some(line) = self.connection.notice(self.server)
                && let Some(ended) = self.hand(TransportAction::Reply(line))
            {
                return Ok(ended);
            }
            if self.connection.is_open() {
                self.start_background()?;
            }
        }
    }

    /// Handles a step; returns why serving ends, if it does meanwhile.
    fn hand(&self, step: TransportAction) -> Option<StopReason> {
        match step {
            TransportAction::NoReply => None,
            TransportAction::Reply(line) | TransportAction::Listen(line) => select! {
                send(self.lines, line) -> _ => None,
                recv(self.interrupts) -> _ => Some(StopReason::Signal),
                recv(self.writer.over) -> _ => Some(StopReason::Output),
            },
            TransportAction::Run(job) => {
                let is_read = job.is_read(self.server);
                let job = self.pool.try_submit(job, is_read)?;
                select! {
                    send(self.pool.queue(is_read), job) -> _ => None,
                    recv(self.interrupts) -> _ => Some(StopReason::Signal),
                    recv(self.writer.over) -> _ => Some(StopReason::Output),
                }
            }
        }
    }

    fn say_all(&self, lines: Vec<OutgoingRpcMessageLine>) -> Option<StopReason> {
        lines.into_iter().find_map(|line| self.hand(TransportAction::Reply(line)))
    }

    fn start_background(&mut self) -> io::Result<()> {
        for BackgroundTaskSpec { name, work } in self.waiting.drain(..) {
            let stop = self.stop.clone();
            self.background.add(name, move || work(&stop))?;
        }
        Ok(())
    }

    fn finish(self, mut ended: StopReason) -> StopReason {
        let (interrupts, writer_over) = (self.interrupts, self.writer.over.clone());
        drop(self.pool);
        self.connection.stop_asking();
        if ended == StopReason::Input {
            select! {
                recv(self.workers.over) -> _ => (),
                recv(interrupts) -> _ => ended = StopReason::Signal,
                recv(writer_over) -> _ => ended = StopReason::Output,
            }
        }
        self.stop.set();
        // Quick calls are still answered, if the output is open; long ones get the stop signal.
        if ended == StopReason::Output || !self.workers.is_over_within(GRACE) {
            self.connection.cancel_all();
        }
        self.connection.close(self.server);
        self.workers.settle_within(GRACE);
        self.background.settle_within(GRACE);
        if ended != StopReason::Output {
            for line in self.connection.end_subscriptions() {
                // A client that does not read by now is not waited for.
                if self.lines.send_timeout(line, GRACE).is_err() {
                    break;
                }
            }
        }
        // The writer ends when its last sender has gone.
        drop((self.connection, self.outbox, self.lines));
        if ended == StopReason::Input {
            select! {
                recv(writer_over) -> _ => (),
                recv(interrupts) -> _ => ended = StopReason::Signal,
            }
        }
        self.writer.settle_within(GRACE);
        ended
    }
}

fn read_frames(input: impl Read, frames: &Sender<FrameResult>) {
    for frame in FrameReader::new(input) {
        match frame {
            // The router is gone when the queue is: shutdown has begun.
            Ok(frame) => match frames.send(frame) {
                Ok(()) => (),
                Err(_) => return,
            },
            Err(error) => return log::warn!("cannot read the input: {error}"),
        }
    }
}

/// Writes each line as it comes. A failed write ends the thread, which ends the server: the client
/// is gone.
fn write_lines(lines: &Receiver<OutgoingRpcMessageLine>, mut output: impl Write) {
    for mut line in lines {
        line.text.push('\n');
        if let Err(error) = output.write_all(line.text.as_bytes()).and_then(|()| output.flush()) {
            return log::info!("cannot write the output: {error}");
        }
        line.was_written();
    }
}

#[cfg(test)]
mod tests;
