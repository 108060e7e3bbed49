//! A server that says what a script has, for tests and fuzz targets.

use std::collections::VecDeque;
use std::io;

use super::{Param, PostgresConnection, PostgresError, Socket, SqlWithParams};
use crate::server::postgres::password_lookup::PasswordWithOrigin;
use crate::server::postgres::space_url::SpaceUrl;

/// The pieces that are still to be said.
#[derive(Debug)]
pub(super) struct ScriptedServer(VecDeque<Vec<u8>>);

impl ScriptedServer {
    /// Hands on the next piece, or as much of it as fits; nothing at the end.
    pub(super) fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let Some(mut piece) = self.0.pop_front() else { return Ok(0) };
        let n_bytes = piece.len().min(into.len());
        into[..n_bytes].copy_from_slice(&piece[..n_bytes]);
        let rest = piece.split_off(n_bytes);
        if !rest.is_empty() {
            self.0.push_front(rest);
        }
        Ok(n_bytes)
    }
}

/// Returns a connection to a server that says these pieces.
pub(super) fn scripted<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> PostgresConnection {
    let pieces = pieces.into_iter().filter(|it| !it.is_empty()).map(<[u8]>::to_vec).collect();
    PostgresConnection::of(Socket::Scripted(ScriptedServer(pieces)))
}

/// Signs in to a server that says these pieces, runs statements and waits for news; returns the
/// outcome of each step.
///
/// # Panics
///
/// There are not as many lists of rows as statements, or an error gives no reason.
pub(crate) fn talk_to_scripted<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<String> {
    let url = SpaceUrl::parse("postgres://ana@localhost/memory/team").expect("an address");
    let mut wire = scripted(pieces);
    let mut outcomes = Vec::new();
    let mut is_open = |outcome: Result<String, PostgresError>| {
        let is_open = matches!(outcome, Ok(_) | Err(PostgresError::Server { .. }));
        let shown = outcome.unwrap_or_else(|error| {
            assert!(!error.why().is_empty() || !matches!(error, PostgresError::Broken(_)));
            error.why()
        });
        outcomes.push(shown);
        is_open
    };
    let signed_in = wire.sign_in(&url, &PasswordWithOrigin::of("secret".to_owned()));
    let mut goes_on = is_open(signed_in.map(|()| "signed in".to_owned()));
    let all: [SqlWithParams<'_>; 2] =
        [("SELECT $1", vec![Param::Int(1)]), ("SELECT $1", vec![Param::Null])];
    for statements in [&all[..1], &all[..]] {
        if goes_on {
            let outcome = wire.run(statements, 1_000).map(|rows| {
                assert_eq!(rows.len(), statements.len());
                format!("{rows:?}")
            });
            goes_on = is_open(outcome);
        }
    }
    if goes_on {
        is_open(wire.is_news_within(1_000).map(|it| format!("news: {it}")));
    }
    outcomes
}
