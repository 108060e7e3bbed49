//! TLS over a socket: the server's certificate and name are verified, always.

use std::io;
use std::path::Path;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{CertificateError, ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use sha2::{Digest, Sha256, Sha384, Sha512};

use super::connection_error::PostgresError;
use super::timed_socket::TimedSocket;
use crate::ingest::scan;

/// Bytes of a file of certificates, at most.
const CERTIFICATES_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// An encrypted socket.
pub(super) type TlsStream = StreamOwned<ClientConnection, TimedSocket>;

/// Encrypts a socket to a host; `roots` is a file of certificates in place of the usual ones.
pub(super) fn encrypt(
    socket: TimedSocket,
    host: &str,
    roots: Option<&str>,
) -> Result<TlsStream, PostgresError> {
    let cannot = |error: rustls::Error| PostgresError::Untrusted(error.to_string());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(cannot)?
        .with_root_certificates(authorities(roots)?)
        .with_no_client_auth();
    let name = ServerName::try_from(host.to_owned())
        .map_err(|_| PostgresError::Untrusted(format!("`{host}` is no name of a server")))?;
    let connection = ClientConnection::new(Arc::new(config), name).map_err(cannot)?;
    let mut stream = StreamOwned::new(connection, socket);
    // The handshake now, so that its failure is named as one.
    while stream.conn.is_handshaking() {
        stream.conn.complete_io(&mut stream.sock).map_err(|it| failure(it, host))?;
    }
    Ok(stream)
}

/// Returns the authorities that may vouch for a server.
fn authorities(roots: Option<&str>) -> Result<RootCertStore, PostgresError> {
    let mut store = RootCertStore::empty();
    let Some(path) = roots else {
        store.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
        return Ok(store);
    };
    let cannot = |error: &dyn std::fmt::Display| {
        PostgresError::Untrusted(format!("its authority, `{path}`, cannot be read: {error}"))
    };
    let pem = scan::read_regular(Path::new(path), CERTIFICATES_BYTES_MAX);
    let pem = pem.map_err(|it| cannot(&it))?;
    for certificate in CertificateDer::pem_slice_iter(&pem) {
        let certificate = certificate.map_err(|it| cannot(&it))?;
        store.add(certificate).map_err(|it| cannot(&it))?;
    }
    if store.is_empty() {
        return Err(cannot(&"there is no certificate in it"));
    }
    Ok(store)
}

/// Returns the reason of a failed handshake.
fn failure(error: io::Error, host: &str) -> PostgresError {
    use CertificateError as Bad;
    let Some(tls) = error.get_ref().and_then(|it| it.downcast_ref::<rustls::Error>()) else {
        return error.into();
    };
    PostgresError::Untrusted(match tls {
        // Another authority of the same name is another one.
        rustls::Error::InvalidCertificate(Bad::UnknownIssuer | Bad::BadSignature) => {
            "no authority that is known here signed its certificate; `?sslrootcert=FILE` names one \
             of your own"
                .to_owned()
        }
        rustls::Error::InvalidCertificate(Bad::Expired | Bad::ExpiredContext { .. }) => {
            "its certificate has expired".to_owned()
        }
        rustls::Error::InvalidCertificate(Bad::NotValidYet | Bad::NotValidYetContext { .. }) => {
            "its certificate is not valid yet".to_owned()
        }
        rustls::Error::InvalidCertificate(
            Bad::NotValidForName | Bad::NotValidForNameContext { .. },
        ) => format!("its certificate is for another name than `{host}`"),
        other => format!("TLS failed: {other}"),
    })
}

/// Returns the hash of the server's certificate to which a sign-in can be bound, as RFC 5929 has
/// it; `None` for signatures without one.
pub(super) fn end_point(stream: &TlsStream) -> Option<Vec<u8>> {
    end_point_of(stream.conn.peer_certificates()?.first()?)
}

fn end_point_of(certificate: &[u8]) -> Option<Vec<u8>> {
    const RSA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01];
    const ECDSA: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03];
    // The certificate is a sequence of what is signed, the kind of signature, and the signature.
    let (inside, _) = der_value(certificate)?;
    let (_, after_signed) = der_value(inside)?;
    let (kind, _) = der_value(after_signed)?;
    let (name, _) = der_value(kind)?;
    Some(match name.split_last()? {
        (11, RSA) | (2, ECDSA) => Sha256::digest(certificate).to_vec(),
        (12, RSA) | (3, ECDSA) => Sha384::digest(certificate).to_vec(),
        (13, RSA) | (4, ECDSA) => Sha512::digest(certificate).to_vec(),
        _ => return None,
    })
}

/// Splits DER after its first value; returns what is in that, and the rest.
fn der_value(der: &[u8]) -> Option<(&[u8], &[u8])> {
    let (&[_, length], rest) = der.split_first_chunk()?;
    let (length, rest) = match usize::from(length) {
        short @ 0..0x80 => (short, rest),
        long => {
            let (bytes, rest) = rest.split_at_checked(long - 0x80).filter(|it| it.0.len() <= 4)?;
            (bytes.iter().fold(0, |sum, byte| sum << 8 | usize::from(*byte)), rest)
        }
    };
    rest.split_at_checked(length)
}

#[cfg(test)]
mod tests;
