use super::*;

#[test]
fn a_signal_is_a_message() {
    let interrupts = Interrupts::watch().unwrap();
    signal_hook::low_level::raise(SIGTERM).unwrap();
    interrupts.received().recv().unwrap();
    signal_hook::low_level::raise(SIGINT).unwrap();
    interrupts.received().recv().unwrap();
}
