//! TLS over a socket: the server's certificate and name are verified, always.

use std::io;
use std::path::Path;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use super::wire::TimedSocket;
use crate::ingest::scan;

/// Bytes of a file of certificates, at most.
const CERTIFICATES_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// An encrypted socket.
pub(super) type TlsStream = StreamOwned<ClientConnection, TimedSocket>;

/// Encrypts a socket to a host; `roots` is a file of certificates in place of the usual ones.
pub(super) fn encrypt(
    stream: TimedSocket,
    host: &str,
    roots: Option<&str>,
) -> Result<TlsStream, String> {
    let mut store = RootCertStore::empty();
    match roots {
        None => store.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned()),
        Some(path) => {
            let why = |error: &dyn std::fmt::Display| format!("cannot read `{path}`: {error}");
            let pem = scan::read_regular(Path::new(path), CERTIFICATES_BYTES_MAX);
            let pem = pem.map_err(|it| why(&it))?;
            for certificate in CertificateDer::pem_slice_iter(&pem) {
                let certificate = certificate.map_err(|it| why(&it))?;
                store.add(certificate).map_err(|it| why(&it))?;
            }
        }
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_root_certificates(store)
        .with_no_client_auth();
    let name = ServerName::try_from(host.to_owned()).map_err(|error| error.to_string())?;
    let connection =
        ClientConnection::new(Arc::new(config), name).map_err(|error| error.to_string())?;
    let mut stream = StreamOwned::new(connection, stream);
    // The handshake now, so that its failure is named as one.
    while stream.conn.is_handshaking() {
        stream.conn.complete_io(&mut stream.sock).map_err(|it| failure(&it))?;
    }
    Ok(stream)
}

fn failure(error: &io::Error) -> String {
    format!("TLS: {error}")
}
