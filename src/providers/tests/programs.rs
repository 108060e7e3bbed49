//! Programs of the user's as providers.

use super::*;

fn program(job: ProviderJob, script: &str) -> ProviderClient {
    let command = ["sh", "-c", script].map(str::to_owned).to_vec();
    let settings = ProviderSpec { command, retries: 0, ..settings(ProviderKind::Command) };
    let (key, certificates) = (Ok(None), Ok(None));
    ProviderClient::new(ProviderConfig { job, settings, key, certificates }).unwrap()
}

fn completed(script: &str) -> Result<String, ProviderError> {
    program(ProviderJob::Completion, script).complete(&prompt("What?"), &at_once)
}

#[test]
fn a_program_reads_the_question_and_writes_the_answer() {
    assert_eq!(completed("cat"), Ok("What?\n".to_owned()));
    // One that does not read has its say, too.
    assert_eq!(completed("echo '[]'"), Ok("[]\n".to_owned()));
    let long = "x".repeat(300_000);
    let echo = program(ProviderJob::Completion, "cat");
    let told = echo.complete(&prompt(&long), &at_once).unwrap();
    assert_eq!(told.len(), long.len() + 1, "neither pipe stands still");
}

#[test]
fn a_program_that_fails_says_why() {
    let told = completed("echo 'quota used up' >&2; exit 3");
    let why = "exit status: 3: quota used up".to_owned();
    assert_eq!(told, Err(ProviderError::Failed(why)));
    let missing = ProviderClient::new(ProviderConfig {
        job: ProviderJob::Completion,
        settings: ProviderSpec {
            command: vec!["/nonexistent/program".to_owned()],
            ..settings(ProviderKind::Command)
        },
        key: Ok(None),
        certificates: Ok(None),
    });
    let error = missing.unwrap().complete(&prompt("What?"), &at_once).unwrap_err();
    assert!(error.to_string().starts_with("`/nonexistent/program` does not start: "), "{error}");
    let told = completed("printf '\\377'");
    assert_eq!(told, Err(ProviderError::Malformed("it is not UTF-8".to_owned())));
    let told = completed("yes | head -c 9000000");
    assert_eq!(told, Err(ProviderError::TooLarge(8 * 1024 * 1024)));
}

#[test]
fn a_program_that_hangs_is_ended_with_everything_it_started() {
    let hanging = ProviderClient::new(parts_of_hanging()).unwrap();
    let told = hanging.complete(&prompt("What?"), &at_once);
    // It returns at all: both ends of the pipes are closed.
    assert_eq!(told, Err(ProviderError::Late(Duration::from_millis(100))));
    let stopped = program(ProviderJob::Completion, "sleep 600");
    assert_eq!(stopped.complete(&prompt("What?"), &|_| true), Err(ProviderError::Stopped));
}

#[test]
#[cfg(target_os = "linux")]
fn a_program_that_leaves_others_at_its_pipes_is_not_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    let flag = dir.path().join("flag");
    std::fs::write(&flag, "").unwrap();
    // It leaves the group, keeps all three pipes, and goes on for as long as the file is there.
    let stays = "while [ -e \"$0\" ]; do sleep 0.02; done";
    let script = format!("setsid sh -c '{stays}' '{}' & echo '[1, 2]'; cat", flag.display());
    let command = vec!["sh".to_owned(), "-c".to_owned(), script];
    let (short, long) = (Duration::from_millis(100), Duration::from_secs(30));
    let settings = ProviderSpec { command, retries: 0, ..settings(ProviderKind::Command) };
    let (sender, told) = crossbeam_channel::unbounded();
    let ask = move || {
        let provider = |job, timeout| {
            let settings = ProviderSpec { timeout, ..settings.clone() };
            let (key, certificates) = (Ok(None), Ok(None));
            ProviderClient::new(ProviderConfig { job, settings, key, certificates }).unwrap()
        };
        let completion = provider(ProviderJob::Completion, short);
        let completed = completion.complete(&prompt("What?"), &at_once);
        let vectors = provider(ProviderJob::Embeddings, long);
        let embedded = vectors.embed(&[scrubbed("a")], &at_once);
        drop(vectors);
        sender.send((completed, embedded)).unwrap();
    };
    let asking = std::thread::Builder::new().spawn(ask).unwrap();
    let outcome = told.recv_timeout(Duration::from_secs(60));
    std::fs::remove_file(&flag).unwrap();
    let late = ProviderError::Late(short);
    assert_eq!(outcome, Ok((Err(late), Ok(vec![vec![1.0, 2.0]]))));
    asking.join().unwrap();
}

fn parts_of_hanging() -> ProviderConfig {
    let command = ["sh", "-c", "sleep 600 | sleep 600"].map(str::to_owned).to_vec();
    let timeout = Duration::from_millis(100);
    let settings = ProviderSpec { command, timeout, retries: 0, ..settings(ProviderKind::Command) };
    ProviderConfig { job: ProviderJob::Completion, settings, key: Ok(None), certificates: Ok(None) }
}

/// Answers each line with its length, after its own process id.
const LENGTHS: &str = r#"while read -r line; do echo "[$$, ${#line}]"; done"#;

#[test]
fn a_program_of_lines_is_kept_until_it_fails() {
    let lengths = program(ProviderJob::Embeddings, LENGTHS);
    let first = lengths.embed(&[scrubbed("four"), scrubbed("a\nb")], &at_once).unwrap();
    assert_eq!((first[0][1], first[1][1]), (4.0, 3.0), "a text is one line");
    let second = lengths.embed(&[scrubbed("x")], &at_once).unwrap();
    assert_eq!(first[0][0], second[0][0], "it is the same process");

    let once = program(ProviderJob::Embeddings, "read -r line; echo '[1, 2]'; echo sorry >&2");
    let told = once.embed(&[scrubbed("a"), scrubbed("b")], &at_once);
    let why = "it ended after 1 of 2 lines; sorry".to_owned();
    assert_eq!(told, Err(ProviderError::Cut(why)));
    assert_eq!(once.embed(&[scrubbed("a")], &at_once), Ok(vec![vec![1.0, 2.0]]), "started again");

    let nonsense = program(ProviderJob::Embeddings, "read -r line; echo no; cat");
    let told = nonsense.embed(&[scrubbed("a")], &at_once);
    assert!(matches!(told, Err(ProviderError::Malformed(_))), "{told:?}");
}

#[test]
fn a_program_scores_texts() {
    let scores = program(ProviderJob::Reranking, "echo '[0.5, 2]'");
    let texts = [scrubbed("a"), scrubbed("b")];
    assert_eq!(scores.rerank(&scrubbed("q"), &texts, &at_once), Ok(vec![0.5, 2.0]));
    let few = program(ProviderJob::Reranking, "echo '[0.5]'");
    let told = few.rerank(&scrubbed("q"), &texts, &at_once);
    assert_eq!(told, Err(ProviderError::Malformed("it is no list of 2 numbers".to_owned())));
}

#[test]
fn reaching_a_program_starts_it() {
    assert_eq!(program(ProviderJob::Completion, "cat").reach(), Ok("starts".to_owned()));
    let vectors = program(ProviderJob::Embeddings, LENGTHS).reach();
    assert_eq!(vectors, Ok("reachable, 2 numbers a vector".to_owned()));
}
