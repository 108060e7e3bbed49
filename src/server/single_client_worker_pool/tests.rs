use super::*;

#[test]
fn a_call_without_an_idle_thread_waits() {
    let mut threads = ThreadGroup::default();
    let (done, results) = bounded(9);
    let (begun, begins) = bounded(9);
    let (go, gate) = bounded::<()>(0);
    let size = WorkerPoolSize { n_threads: 2, n_readers: 0, n_waiting: 9 };
    let workers = SingleClientWorkerPool::start(&mut threads, size, move |it: u32| {
        begun.send(it).unwrap();
        gate.recv().unwrap();
        done.send(it).unwrap();
    });
    let workers = workers.unwrap();
    for it in 0..5u32 {
        let is_read = it.is_multiple_of(2);
        if let Some(it) = workers.try_submit(it, is_read) {
            workers.queue(is_read).send(it).unwrap();
        }
    }
    // Both threads are at work, and the others wait.
    begins.recv().unwrap();
    begins.recv().unwrap();
    assert_eq!(workers.try_submit(9, true), Some(9));
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
    let (reader_sender, reader) = bounded(1);
    let workers = SingleClientWorkerPool {
        idle: vec![first_sender, second_sender],
        idle_to_read: vec![reader_sender],
        queue: bounded(0).0,
        queue_to_read: bounded(0).0,
    };
    let submitted = [(1, false), (2, true), (3, false), (4, true), (5, true)]
        .map(|(it, is_read)| workers.try_submit(it, is_read));
    assert_eq!(submitted, [None, None, Some(3), None, Some(5)]);
    assert_eq!([first.recv(), second.recv(), reader.recv()], [Ok(1), Ok(2), Ok(4)]);
    drop(first);
    assert_eq!(workers.try_submit(6, false), None, "a thread that panicked is passed over");
    assert_eq!(second.recv(), Ok(6));
}

/// Writes may wait for each other and for other processes.
#[test]
fn calls_that_read_do_not_wait_behind_others() {
    let mut threads = ThreadGroup::default();
    let (done, results) = bounded(9);
    let (go, gate) = bounded::<()>(0);
    let size = WorkerPoolSize { n_threads: 1, n_readers: 1, n_waiting: 9 };
    let workers = SingleClientWorkerPool::start(&mut threads, size, move |is_read: bool| {
        if !is_read {
            gate.recv().unwrap();
        }
        done.send(is_read).unwrap();
    });
    let workers = workers.unwrap();
    for is_read in [false, false, true, false, true, true] {
        if let Some(it) = workers.try_submit(is_read, is_read) {
            workers.queue(is_read).send(it).unwrap();
        }
    }
    assert_eq!([(); 3].map(|()| results.recv()), [Ok(true); 3]);
    (0..3).for_each(|_| go.send(()).unwrap());
    drop(workers);
    assert_eq!(threads.over.recv().map_err(drop), Err(()), "all have ended");
    assert_eq!(results.try_iter().collect::<Vec<_>>(), [false; 3]);
}
