use super::*;

#[test]
fn what_finds_no_idle_thread_waits_for_one() {
    let mut crew = Crew::default();
    let (done, results) = bounded(9);
    let (begun, begins) = bounded(9);
    let (go, gate) = bounded::<()>(0);
    let hands = Hands::start(&mut crew, 2, 9, move |it: u32| {
        begun.send(it).unwrap();
        gate.recv().unwrap();
        done.send(it).unwrap();
    });
    let hands = hands.unwrap();
    for it in 0..5 {
        if let Some(it) = hands.try_hand(it) {
            hands.queue.send(it).unwrap();
        }
    }
    // Both threads are at work, and the others wait.
    begins.recv().unwrap();
    begins.recv().unwrap();
    assert_eq!(hands.try_hand(9), Some(9));
    assert!(begins.is_empty() && results.is_empty());
    drop(hands);
    for _ in 0..5 {
        go.send(()).unwrap();
    }
    assert_eq!(crew.over.recv().map_err(drop), Err(()), "all have ended");
    let mut all: Vec<u32> = results.try_iter().collect();
    all.sort_unstable();
    assert_eq!(all, [0, 1, 2, 3, 4]);
}

#[test]
fn of_idle_threads_the_first_one_is_asked() {
    // A channel with room stands for a thread that is idle.
    let (first_sender, first) = bounded(1);
    let (second_sender, second) = bounded(1);
    let hands = Hands { idle: vec![first_sender, second_sender], queue: bounded(0).0 };
    assert_eq!([hands.try_hand(1), hands.try_hand(2), hands.try_hand(3)], [None, None, Some(3)]);
    assert_eq!([first.recv(), second.recv()], [Ok(1), Ok(2)]);
    drop(first);
    assert_eq!(hands.try_hand(4), None, "a thread that panicked is passed over");
    assert_eq!(second.recv(), Ok(4));
}
