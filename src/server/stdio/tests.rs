//! Scripts played against the whole transport, and the ways in which serving ends.
//!
//! A script in `tests/data/session` is a list of lines: `# …` is a comment, `> …` is sent,
//! `>+EFBBBF …` is sent with those bytes in front, `= end` closes the input, and `< …` is the next
//! line that comes back. With `UPDATE_EXPECT=1` the last are rewritten with the actual replies;
//! their number stays.

use std::fs;
use std::io::{self, BufRead, BufReader, PipeReader, PipeWriter};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use crossbeam_channel::{RecvTimeoutError, never, unbounded};
use expect_test::expect_file;

use super::*;
use crate::mcp::published::Witness;
use crate::mcp::rpc::LINE_BYTES_MAX;
use crate::mcp::server_testing::{self, TestControls, TestHandler};
use crate::model::clock::UnixMillis;

/// Timeout, longer than any test should take.
const TIMEOUT: Duration = Duration::from_secs(120);

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}"#;
const PING: &str = r#"{"jsonrpc":"2.0","id":9,"method":"ping"}"#;
const PONG: &str = r#"{"jsonrpc":"2.0","id":9,"result":{}}"#;
const GATE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"gate"}}"#;
const THROUGH: &str =
    r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"through"}]}}"#;

/// A server on pipes, seen from its client.
struct Client {
    input: Option<PipeWriter>,
    replies: Receiver<String>,
    interrupt: Sender<()>,
    ended: Receiver<StopReason>,
    fixture: TestControls,
    server: Arc<Server<TestHandler>>,
}

impl Client {
    fn new() -> Client {
        Client::with(Vec::new())
    }

    fn with(background: Vec<BackgroundTaskSpec>) -> Client {
        let (stdin, input) = io::pipe().unwrap();
        let (output, stdout) = io::pipe().unwrap();
        let (server, fixture) = server_testing::server();
        let served = Arc::clone(&server);
        let (interrupt, interrupts) = unbounded();
        let (ended_sender, ended) = unbounded();
        spawn("server", move || {
            let clock = Clock::manual(UnixMillis(0));
            let ended =
                serve_stdio(&served, &clock, background, stdin, stdout, &interrupts).unwrap();
            let _ = ended_sender.send(ended);
        })
        .unwrap();
        Client { input: Some(input), replies: lines_of(output), interrupt, ended, fixture, server }
    }

    fn send(&mut self, line: impl AsRef<[u8]>) {
        let input = self.input.as_mut().unwrap();
        input.write_all(&[line.as_ref(), b"\n"].concat()).unwrap();
    }

    #[track_caller]
    fn reply(&self) -> String {
        self.replies.recv_timeout(TIMEOUT).expect("a reply should have come")
    }

    #[track_caller]
    fn end(&mut self) -> StopReason {
        self.input = None;
        self.ended()
    }

    #[track_caller]
    fn ended(&self) -> StopReason {
        self.ended.recv_timeout(TIMEOUT).expect("the server should have ended")
    }

    /// Returns the lines after those that were read; the server has ended.
    fn rest(&self) -> Vec<String> {
        self.replies.iter().collect()
    }
}

fn lines_of(output: PipeReader) -> Receiver<String> {
    let (sender, lines) = unbounded();
    spawn("client", move || {
        BufReader::new(output).lines().map_while(Result::ok).try_for_each(|it| sender.send(it))
    })
    .unwrap();
    lines
}

/// Plays a script, and returns it with the actual replies.
fn play(script: &str) -> String {
    let mut client = Client::new();
    let mut witness = Witness::default();
    let mut played = String::new();
    for line in script.lines() {
        if line.starts_with('<') {
            let reply = client.reply();
            witness.came(&serde_json::from_str(&reply).unwrap());
            played.push_str("< ");
            played.push_str(&reply);
        } else {
            played.push_str(line);
        }
        played.push('\n');
        if let Some(sent) = line.strip_prefix(">+") {
            let (hex, text) = sent.split_once(' ').unwrap_or((sent, ""));
            let mut bytes: Vec<u8> = (0..hex.len() / 2)
                .map(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).unwrap())
                .collect();
            bytes.extend_from_slice(text.as_bytes());
            client.send(bytes);
        } else if let Some(sent) = line.strip_prefix('>') {
            witness.sent(sent.as_bytes());
            client.send(sent.strip_prefix(' ').unwrap_or(sent));
        } else if line == "= end" {
            client.input = None;
        }
    }
    assert_eq!(client.end(), StopReason::Input);
    assert_eq!(client.rest(), Vec::<String>::new(), "more was said than the script expects");
    played
}

#[test]
fn scripts_play_as_written() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/session");
    let mut n_scripts = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let played = play(&fs::read_to_string(&path).unwrap());
        expect_file![path].assert_eq(&played);
        n_scripts += 1;
    }
    assert!(0 < n_scripts);
}

/// Endless bytes, with a count of how many were read.
struct Endless(Arc<AtomicUsize>);

impl Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        buffer.fill(b'[');
        self.0.fetch_add(buffer.len(), Ordering::Relaxed);
        Ok(buffer.len())
    }
}

#[test]
fn a_line_of_100_mb_costs_only_itself() {
    let n_read = Arc::new(AtomicUsize::new(0));
    let long = Endless(Arc::clone(&n_read)).take(100_000_000);
    let rest = format!("\n{PING}\n");
    let (output, stdout) = io::pipe().unwrap();
    let (server, _fixture) = server_testing::server();
    let clock = Clock::manual(UnixMillis(0));
    let input = long.chain(io::Cursor::new(rest));
    let replies = lines_of(output);
    assert_eq!(
        serve_stdio(&server, &clock, Vec::new(), input, stdout, &never()).unwrap(),
        StopReason::Input
    );
    let replies: Vec<String> = replies.iter().collect();
    assert!(100_000_000 <= n_read.load(Ordering::Relaxed));
    assert_eq!(replies.len(), 2, "{replies:?}");
    assert!(replies[0].contains(r#""id":null,"error":{"code":-32600"#), "{}", replies[0]);
    assert_eq!(replies[1], PONG);
}

#[test]
fn the_longest_line_is_a_message() {
    let mut client = Client::new();
    let padding = " ".repeat(LINE_BYTES_MAX - PING.len());
    client.send(format!("{padding}{PING}"));
    assert_eq!(client.reply(), PONG);
    client.send(format!("{padding} {PING}"));
    assert!(client.reply().contains("-32600"));
    assert_eq!(client.end(), StopReason::Input);
}

#[test]
fn slow_calls_do_not_block_quick_ones() {
    let mut client = Client::new();
    client.send(INITIALIZE);
    client.reply();
    let n_calls = WORKERS * 3;
    for id in 100..100 + n_calls {
        client.send(GATE.replace(r#""id":1"#, &format!(r#""id":{id}"#)));
    }
    for _ in 0..WORKERS {
        client.fixture.started.recv_timeout(TIMEOUT).unwrap();
    }
    client.send(PING);
    assert_eq!(client.reply(), PONG);
    for id in 100..100 + n_calls {
        let params = format!(r#"{{"requestId":{id}}}"#);
        client.send(format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{params}}}"#
        ));
    }
    assert_eq!(client.end(), StopReason::Input);
    assert_eq!(client.rest(), Vec::<String>::new(), "cancelled calls are not answered");
}

#[test]
fn the_end_of_input_waits_for_open_calls() {
    let mut client = Client::new();
    client.send(INITIALIZE);
    client.reply();
    client.send(GATE);
    client.fixture.started.recv_timeout(TIMEOUT).unwrap();
    client.input = None;
    client.fixture.gate.send(()).unwrap();
    assert_eq!(client.ended(), StopReason::Input);
    assert_eq!(client.rest(), [THROUGH]);
}

#[test]
fn empty_input_is_a_good_end() {
    assert_eq!(Client::new().end(), StopReason::Input);
}

#[test]
fn the_last_line_needs_no_line_feed() {
    let mut client = Client::new();
    client.input.as_mut().unwrap().write_all(PING.as_bytes()).unwrap();
    assert_eq!(client.end(), StopReason::Input);
    assert_eq!(client.rest(), [PONG]);
}

#[test]
fn a_signal_ends_a_server_that_waits_for_input() {
    let mut client = Client::new();
    client.send(PING);
    assert_eq!(client.reply(), PONG);
    client.interrupt.send(()).unwrap();
    assert_eq!(client.ended(), StopReason::Signal);
    assert_eq!(client.rest(), Vec::<String>::new());
}

#[test]
fn a_signal_cancels_calls_that_do_not_end() {
    let mut client = Client::new();
    client.send(INITIALIZE);
    client.reply();
    client.send(GATE);
    client.fixture.started.recv_timeout(TIMEOUT).unwrap();
    client.interrupt.send(()).unwrap();
    assert_eq!(client.ended(), StopReason::Signal);
}

#[test]
fn a_signal_ends_the_wait_at_the_end_of_input() {
    let mut client = Client::new();
    client.send(INITIALIZE);
    client.reply();
    client.send(GATE);
    client.fixture.started.recv_timeout(TIMEOUT).unwrap();
    client.input = None;
    client.interrupt.send(()).unwrap();
    assert_eq!(client.ended(), StopReason::Signal);
}

/// Returns a server with two calls that wait, and without a reader of its output.
fn server_without_reader() -> (PipeWriter, TestControls, Receiver<StopReason>) {
    let (stdin, mut input) = io::pipe().unwrap();
    let (output, stdout) = io::pipe().unwrap();
    let (server, fixture) = server_testing::server();
    let (ended_sender, ended) = unbounded();
    spawn("server", move || {
        let clock = Clock::manual(UnixMillis(0));
        let ended = serve_stdio(&server, &clock, Vec::new(), stdin, stdout, &never()).unwrap();
        let _ = ended_sender.send(ended);
    })
    .unwrap();
    let other = GATE.replace(r#""id":1"#, r#""id":2"#);
    input.write_all(format!("{INITIALIZE}\n{GATE}\n{other}\n").as_bytes()).unwrap();
    fixture.started.recv_timeout(TIMEOUT).unwrap();
    fixture.started.recv_timeout(TIMEOUT).unwrap();
    drop(output);
    (input, fixture, ended)
}

#[test]
fn a_closed_output_ends_serving_and_cancels_calls() {
    let (mut input, _fixture, ended) = server_without_reader();
    input.write_all(format!("{PING}\n").as_bytes()).unwrap();
    assert_eq!(ended.recv_timeout(TIMEOUT).unwrap(), StopReason::Output);
}

#[test]
fn a_closed_output_ends_the_wait_at_the_end_of_input() {
    let (input, fixture, ended) = server_without_reader();
    drop(input);
    // The server may have ended already: its first answer may have failed, too.
    let _ = fixture.gate.send(());
    assert_eq!(ended.recv_timeout(TIMEOUT).unwrap(), StopReason::Output);
}

#[test]
fn background_work_starts_after_the_first_answer_and_is_stopped() {
    let (began_sender, began) = unbounded();
    let (let_go, held) = bounded::<()>(0);
    let (heard_sender, heard) = unbounded();
    let work = Box::new(move |stop: &StopSignal| {
        began_sender.send(()).unwrap();
        let _ = held.recv();
        heard_sender.send(stop.is_set()).unwrap();
    });
    let mut client = Client::with(vec![BackgroundTaskSpec { name: "first-compile", work }]);
    client.send(PING);
    assert_eq!(client.reply(), PONG);
    assert!(began.is_empty(), "nobody has introduced himself yet");
    client.send(INITIALIZE);
    assert!(client.reply().contains("protocolVersion"));
    began.recv_timeout(TIMEOUT).unwrap();
    client.send(PING);
    assert_eq!(client.reply(), PONG, "the work holds up nothing");
    client.interrupt.send(()).unwrap();
    // The stop is set before the work is joined.
    assert_eq!(client.replies.recv_timeout(TIMEOUT), Err(RecvTimeoutError::Disconnected));
    drop(let_go);
    assert!(heard.recv_timeout(TIMEOUT).unwrap());
}

#[test]
fn a_notice_goes_to_a_client_that_asked_for_its_level() {
    let mut client = Client::new();
    client.send(INITIALIZE);
    client.reply();
    let (notice, written) = server_testing::notice();
    client.fixture.notices.send(notice).unwrap();
    // The client has not asked for warnings yet.
    client.fixture.waker.wake();
    client.send(PING);
    assert_eq!(client.reply(), PONG);
    let level = r#"{"jsonrpc":"2.0","id":9,"method":"logging/setLevel","params":{"level":"info"}}"#;
    client.send(level);
    assert_eq!(client.reply(), PONG);
    let message = r#"{"jsonrpc":"2.0","method":"notifications/message","params":"#.to_owned()
        + r#"{"level":"warning","logger":"fixture","data":{"cold":["a"]}}}"#;
    // The message that it missed, and a later one.
    assert_eq!(client.reply(), message);
    written.recv_timeout(TIMEOUT).expect("it was written");
    let (notice, written) = server_testing::notice();
    client.fixture.notices.send(notice).unwrap();
    client.fixture.waker.wake();
    assert_eq!(client.reply(), message);
    written.recv_timeout(TIMEOUT).expect("it was written");
    client.send(level.replace("info", "error"));
    client.reply();
    let (notice, written) = server_testing::notice();
    client.fixture.notices.send(notice).unwrap();
    client.fixture.waker.wake();
    client.send(PING);
    assert_eq!(client.reply(), PONG);
    assert_eq!(client.end(), StopReason::Input);
    assert!(written.recv_timeout(TIMEOUT).is_err(), "it was not written");
}

const SUBSCRIBE: &str =
    r#"{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"fixture://sea"}}"#;
const UPDATED: &str = r#"{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"fixture://sea"}}"#;

#[test]
fn a_change_reaches_a_silent_client() {
    let mut client = Client::new();
    for line in [INITIALIZE, SUBSCRIBE] {
        client.send(line);
        client.reply();
    }
    for _ in 0..3 {
        client.server.hub.publish("fixture://sea");
        assert_eq!(client.reply(), UPDATED);
    }
    client.server.hub.publish("fixture://sky");
    client.send(PING);
    assert_eq!(client.reply(), PONG);
    assert_eq!(client.end(), StopReason::Input);
    assert_eq!(client.rest(), Vec::<String>::new());
}
