use super::*;

#[test]
fn a_look_up_that_hangs_is_left_behind() {
    let (sender, receiver) = crossbeam_channel::bounded::<()>(0);
    let hangs = move || {
        let _ = receiver.recv();
        Ok(())
    };
    let error = within(Duration::from_millis(20), hangs).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TimedOut);
    drop(sender);
}

#[test]
fn a_name_that_nobody_has_is_an_error() {
    let url = SpaceUrl::parse("postgres://me@nobody.invalid/db/space").unwrap();
    let error = TimedSocket::dial(&url, 10_000).unwrap_err();
    assert!(!error.to_string().is_empty());
}
