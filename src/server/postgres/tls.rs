//! TLS over a socket: the server's certificate and name are verified, always.

use std::io;
use std::net::TcpStream;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

/// An encrypted socket.
pub(super) type TlsStream = StreamOwned<ClientConnection, TcpStream>;

/// Encrypts a socket to a host; `roots` is a file of certificates in place of the usual ones.
pub(super) fn encrypt(
    stream: TcpStream,
    host: &str,
    roots: Option<&str>,
) -> Result<TlsStream, String> {
    let mut store = RootCertStore::empty();
    match roots {
        None => store.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned()),
        Some(path) => {
            let why = |error: &dyn std::fmt::Display| format!("cannot read `{path}`: {error}");
            for certificate in CertificateDer::pem_file_iter(path).map_err(|it| why(&it))? {
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
