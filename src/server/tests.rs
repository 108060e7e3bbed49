use super::*;

#[test]
fn a_signal_sends_a_message() {
    let interrupts = ShutdownSignals::watch().unwrap();
    signal_hook::low_level::raise(SIGTERM).unwrap();
    interrupts.received().recv().unwrap();
    signal_hook::low_level::raise(SIGINT).unwrap();
    interrupts.received().recv().unwrap();
}

#[test]
fn a_stop_wakes_waiting_threads() {
    let stop = StopSignal::default();
    assert!(!stop.is_set() && !stop.is_set_within(Duration::ZERO));
    let waiting = stop.clone();
    let thread = spawn("waits", move || waiting.is_set_within(Duration::MAX)).unwrap();
    stop.set();
    assert!(thread.join().unwrap());
    assert!(stop.is_set());
}
