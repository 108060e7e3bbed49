//! Signs in: by SCRAM, bound to the TLS connection where the server can, or with less where nobody
//! reads along.

use fallible_iterator::FallibleIterator;
use postgres_protocol::authentication::sasl::{self, ChannelBinding, ScramSha256};
use postgres_protocol::message::backend::{AuthenticationSaslBody, Message};
use postgres_protocol::message::frontend;

use super::{PostgresConnection, Socket, out_of_place, server_error};
use crate::server::postgres::connection_error::PostgresError;
use crate::server::postgres::password_lookup::PasswordWithOrigin;
use crate::server::postgres::space_url::SpaceUrl;
use crate::server::postgres::tls;

/// How far the exchange of proofs has come.
enum AuthState {
    NotAsked,
    Begun(Box<ScramSha256>),
    /// The server has proved that it knows the password, too.
    Given,
}

impl PostgresConnection {
    pub(super) fn sign_in(
        &mut self,
        url: &SpaceUrl,
        password: &PasswordWithOrigin,
    ) -> Result<(), PostgresError> {
        let settings = [
            ("user", url.user.as_str()),
            ("database", url.database.as_str()),
            ("client_encoding", "UTF8"),
            ("application_name", "remindb"),
        ];
        frontend::startup_message(settings, &mut self.outgoing)?;
        self.send()?;
        let mut proof = AuthState::NotAsked;
        loop {
            match self.receive()? {
                Message::BackendKeyData(_) | Message::NoticeResponse(_) => (),
                Message::AuthenticationOk => {
                    if let AuthState::Begun(_) = proof {
                        let why = "it did not prove that it knows the password";
                        return Err(PostgresError::Untrusted(why.to_owned()));
                    }
                }
                Message::ParameterStatus(it) => {
                    // CockroachDB has no notifications, and fails at their names.
                    self.is_notifying &= it.name().unwrap_or_default() != "crdb_version";
                }
                Message::AuthenticationCleartextPassword if self.is_encrypted() => {
                    let text = password.text.as_bytes();
                    frontend::password_message(text, &mut self.outgoing)?;
                    self.send()?;
                }
                Message::AuthenticationSasl(body) => {
                    if password.text.is_empty() {
                        return Err(PostgresError::NoPassword);
                    }
                    let (name, it) = self.begin_proof(&body, password)?;
                    frontend::sasl_initial_response(name, it.message(), &mut self.outgoing)?;
                    proof = AuthState::Begun(Box::new(it));
                    self.send()?;
                }
                Message::AuthenticationSaslContinue(body) => {
                    let AuthState::Begun(it) = &mut proof else {
                        return Err(out_of_place().into());
                    };
                    it.update(body.data())?;
                    frontend::sasl_response(it.message(), &mut self.outgoing)?;
                    self.send()?;
                }
                Message::AuthenticationSaslFinal(body) => {
                    let AuthState::Begun(it) = &mut proof else {
                        return Err(out_of_place().into());
                    };
                    it.finish(body.data())?;
                    proof = AuthState::Given;
                }
                Message::AuthenticationMd5Password(_)
                | Message::AuthenticationCleartextPassword => {
                    let why = "it asks for the password in a form that others can read; use \
                               scram-sha-256 there";
                    return Err(PostgresError::Untrusted(why.to_owned()));
                }
                Message::ErrorResponse(body) => return Err(server_error(body.fields())),
                Message::ReadyForQuery(_) => return Ok(()),
                _ => return Err(out_of_place().into()),
            }
        }
    }

    fn is_encrypted(&self) -> bool {
        matches!(self.socket, Socket::Tls(_))
    }

    /// Chooses how to prove the password. A proof that is bound to the certificate is of no use to
    /// whoever stands between.
    fn begin_proof(
        &self,
        offered: &AuthenticationSaslBody,
        password: &PasswordWithOrigin,
    ) -> Result<(&'static str, ScramSha256), PostgresError> {
        let (mut has_plain, mut has_bound) = (false, false);
        let mut names = offered.mechanisms();
        while let Some(name) = names.next()? {
            has_plain |= name == sasl::SCRAM_SHA_256;
            has_bound |= name == sasl::SCRAM_SHA_256_PLUS;
        }
        let end_point = match &self.socket {
            Socket::Tls(it) => tls::end_point(it),
            _ => None,
        };
        let (name, binding) = match end_point {
            Some(hash) if has_bound => {
                (sasl::SCRAM_SHA_256_PLUS, ChannelBinding::tls_server_end_point(hash))
            }
            // A server that can bind, and whose offer was taken away, notices by this.
            Some(_) if has_plain => (sasl::SCRAM_SHA_256, ChannelBinding::unrequested()),
            None if has_plain => (sasl::SCRAM_SHA_256, ChannelBinding::unsupported()),
            _ => {
                let why = "it asks for a way to sign in that this program does not know; use \
                           scram-sha-256 there";
                return Err(PostgresError::Untrusted(why.to_owned()));
            }
        };
        Ok((name, ScramSha256::new(password.text.as_bytes(), binding)))
    }
}
