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
    let script = format!(
        "setsid sh -c '{stays}' '{}' & read -r line; echo '[1, 2]'; cat >/dev/null",
        flag.display()
    );
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
        let embedded = embedded(&vectors, &["a"]);
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
    let first = embedded(&lengths, &["four", "a\nb"]).unwrap();
    assert_eq!((first[0][1], first[1][1]), (4.0, 3.0), "a text is one line");
    let second = embedded(&lengths, &["x"]).unwrap();
    assert_eq!(first[0][0], second[0][0], "it is the same process");

    let silent = program(ProviderJob::Embeddings, "read -r line; echo sorry >&2");
    let why = "it ended before its line; sorry".to_owned();
    assert_eq!(embedded(&silent, &["a"]), Err(ProviderError::Cut(why)));

    let nonsense = program(ProviderJob::Embeddings, "read -r line; echo no; cat");
    let told = embedded(&nonsense, &["a"]);
    assert!(matches!(told, Err(ProviderError::Malformed(_))), "{told:?}");
}

#[test]
fn what_a_program_answered_before_it_failed_is_kept() {
    let two = "read -r line; echo '[1, 2]'; read -r line; echo '[3, 4]'";
    let (one, other) = (vec![1.0, 2.0], vec![3.0, 4.0]);
    let told = embedded(&program(ProviderJob::Embeddings, two), &["a", "b", "c"]);
    assert_eq!(told, Ok(vec![one.clone(), other, one]), "started again for the third");
}

#[test]
fn a_line_without_a_text_is_an_error_and_no_vector_of_another() {
    let further = |told: Result<Vec<Vec<f32>>, ProviderError>| match told {
        Err(ProviderError::Malformed(why)) => assert!(why.contains("there was no text"), "{why}"),
        other => panic!("{other:?}"),
    };
    let two = "while read -r line; do printf '[1, 2]\\n[1, 2]\\n'; done";
    let two = program(ProviderJob::Embeddings, two);
    further(embedded(&two, &["a", "b", "c"]));
    further(two.embed_question(&scrubbed("a")).map(|it| vec![it.unwrap()]));
    further(two.reach().map(|said| panic!("{said}")));
    let later = "read -r line; echo '[1, 2]'; read -r line; printf '[3, 4]\\n[5, 6]\\n'; cat";
    further(embedded(&program(ProviderJob::Embeddings, later), &["a", "b"]));
}

/// Answers as [`LENGTHS`] does, and a line with `wait` once there is a file: its first argument.
/// The second says that it waits.
const WAITING: &str = r#"while read -r line; do case "$line" in *wait*)
    : >"$1"; while [ ! -e "$0" ]; do sleep 0.02; done;;
    esac; echo "[$$, ${#line}]"; done"#;

/// Returns a program that waits for the first file, and says so with the second.
fn waiting(go: &std::path::Path, waits: &std::path::Path) -> ProviderClient {
    let words = ["sh", "-c", WAITING].map(str::to_owned).into_iter();
    let files = [go, waits].map(|it| it.display().to_string());
    let settings = ProviderSpec {
        command: words.chain(files).collect(),
        retries: 0,
        ..settings(ProviderKind::Command)
    };
    let (job, key, certificates) = (ProviderJob::Embeddings, Ok(None), Ok(None));
    ProviderClient::new(ProviderConfig { job, settings, key, certificates }).unwrap()
}

#[test]
fn a_question_does_not_wait_behind_a_text() {
    let dir = tempfile::tempdir().unwrap();
    let (go, waits) = (dir.path().join("go"), dir.path().join("waits"));
    let source = waiting(&go, &waits);
    std::thread::scope(|scope| {
        let texts = scope.spawn(|| embedded(&source, &["wait", "four"]));
        while !waits.exists() {
            wait_out(Duration::from_millis(5));
        }
        assert_eq!(source.embed_question(&scrubbed("why")), Ok(None), "it is busy");
        std::fs::write(&go, "").unwrap();
        let vectors = texts.join().unwrap().unwrap();
        assert_eq!((vectors[0][1], vectors[1][1]), (4.0, 4.0));
        let asked = source.embed_question(&scrubbed("why")).unwrap().unwrap();
        assert_eq!(asked, [vectors[0][0], 3.0], "of the same process");
    });
}

#[test]
fn a_question_that_comes_late_leaves_the_program_running_and_its_vector_to_nobody() {
    let dir = tempfile::tempdir().unwrap();
    let (go, waits) = (dir.path().join("go"), dir.path().join("waits"));
    let source = waiting(&go, &waits);
    let told = source.embed_question(&scrubbed("wait a long time"));
    assert_eq!(told, Err(ProviderError::Slow(Duration::from_secs(1))));
    assert_eq!(source.embed_question(&scrubbed("why")), Ok(None), "it is busy with the first");
    std::fs::write(&go, "").unwrap();
    let vectors = embedded(&source, &["four"]).unwrap();
    assert_eq!(vectors[0][1], 4.0);
    let asked = source.embed_question(&scrubbed("why")).unwrap().unwrap();
    assert_eq!(asked, [vectors[0][0], 3.0], "of the same process");
}

#[test]
fn a_program_scores_texts() {
    let scores = program(ProviderJob::Reranking, "echo '[0.5, 2]'");
    let texts = [scrubbed("a"), scrubbed("b")];
    assert_eq!(scores.rerank(&scrubbed("q"), &texts), Ok(vec![0.5, 2.0]));
    let few = program(ProviderJob::Reranking, "echo '[0.5]'");
    let told = few.rerank(&scrubbed("q"), &texts);
    assert_eq!(told, Err(ProviderError::Malformed("it is no list of 2 numbers".to_owned())));
}

#[test]
fn reaching_a_program_starts_it() {
    assert_eq!(program(ProviderJob::Completion, "cat").reach(), Ok("starts".to_owned()));
    let vectors = program(ProviderJob::Embeddings, LENGTHS).reach();
    assert_eq!(vectors, Ok("reachable, 2 numbers a vector".to_owned()));
}
