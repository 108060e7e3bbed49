//! Tests the sequencer with servers that answer anything.

use super::lost_commit::SoughtCommit;
use super::*;
use crate::server::postgres::misbehaving_servers::{COMPLETE, READY, serve_always};

/// A row without columns, and one with a value of one byte.
const EMPTY_ROW: &[u8] = b"D\0\0\0\x06\0\0";
const SHORT_ROW: &[u8] = b"D\0\0\0\x0b\0\x01\0\0\0\x01x";

/// Long enough for a second try after an answer in no known form.
const DOUBT_TRIED_MS: i64 = 500;

#[test]
fn no_answer_of_a_server_makes_the_keeper_panic() {
    let answers = [
        READY.to_vec(),
        [COMPLETE, READY].concat(),
        [EMPTY_ROW, COMPLETE, READY].concat(),
        [COMPLETE.repeat(9), READY.to_vec()].concat(),
        [[EMPTY_ROW, COMPLETE].concat().repeat(6), READY.to_vec()].concat(),
        [[SHORT_ROW, COMPLETE].concat().repeat(6), READY.to_vec()].concat(),
    ];
    for answer in answers {
        let password = PasswordWithOrigin::of("a secret".to_owned());
        let keeper = PostgresSpaceLog::new(serve_always(answer), password, "test");
        let place = LogPosition { epoch: 1, seq: 1, hash: LogHash([1; 32]) };
        keeper.head().unwrap_err();
        assert!(keeper.begin_turn(&place).is_err());
        let _ = keeper.parts(1, (0, 0));
        let _ = keeper.newest_image(1);
        let _ = keeper.image_parts(&place, 0);
        let _ = keeper.take_lease("compile:notes");
        let _ = keeper.leases();
        let _ = keeper.cut();
        let _ = keeper.create().map(drop);
        let sought = SoughtCommit { place, image: None };
        let doubt = keeper.was_committed(&sought, DOUBT_TRIED_MS);
        assert!(matches!(doubt, Err(SharedError::InDoubt { .. })), "{doubt:?}");
    }
}

#[test]
fn a_wrong_password_is_named_by_its_place() {
    let url = SpaceUrl::parse("postgres://me@db.example/data/team").unwrap();
    let keeper = PostgresSpaceLog::new(url, PasswordWithOrigin::of("a secret".to_owned()), "test");
    let message = "password authentication failed for user \"me\"".to_owned();
    let error =
        keeper.error(&PostgresError::Server { code: "28P01".to_owned(), message }).to_string();
    assert_eq!(
        error,
        "PostgreSQL at db.example refused: password authentication failed for user \"me\" (the \
         password is from PGPASSWORD); nothing was written"
    );
}
