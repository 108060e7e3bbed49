use super::*;

#[test]
fn a_call_without_an_idle_thread_waits() {
    let mut threads = ThreadGroup::default();
    let (done, results) = bounded(9);
    let (begun, begins) = bounded(9);
    let (go, gate) = bounded::<()>(0);
    let workers = SingleClientWorkerPool::start(&mut threads, 2, 9, move |it: u32| {
        begun.send(it).unwrap();
        gate.recv().unwrap();
        done.send(it).unwrap();
    });
    let workers = workers.unwrap();
    for it in 0..5 {
        if let Some(it) = workers.try_submit(it) {
            workers.queue.send(it).unwrap();
        }
    }
    // Both threads are at work, and the others wait.
    begins.recv().unwrap();
    begins.recv().unwrap();
    assert_eq!(workers.try_submit(9), Some(9));
    assert!(begins.is_empty() && results.is_empty());
    drop(workers);
    for _ in 0..5 {
        go.send(()).unwrap();
    }
    assert_eq!(threads.over.recv().map_err(drop), Err(()), "all have ended");
    let mut all: Vec<u32> = results.try_iter().collect();
    all.sort_unstable();
    assert_eq!(all, [0, 1, 2, 3, 4]);
}

#[test]
fn the_first_idle_thread_gets_the_call() {
    // A channel with room acts as an idle thread.
    let (first_sender, first) = bounded(1);
    let (second_sender, second) = bounded(1);
    let workers =
        SingleClientWorkerPool { idle: vec![first_sender, second_sender], queue: bounded(0).0 };
    assert_eq!(
        [workers.try_submit(1), workers.try_submit(2), workers.try_submit(3)],
        [None, None, Some(3)]
    );
    assert_eq!([first.recv(), second.recv()], [Ok(1), Ok(2)]);
    drop(first);
    assert_eq!(workers.try_submit(4), None, "a thread that panicked is passed over");
    assert_eq!(second.recv(), Ok(4));
}
