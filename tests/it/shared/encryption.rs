//! Tests TLS with a real server: its certificate and name, and a sign-in that is bound to them.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, SanType, date_time_ymd};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, ServerConfig, ServerConnection};
use rustls::{StreamOwned, crypto};

use super::server::Postgres;
use super::{machine, ok, run, say, serve};
use crate::support::{Folder, Ran, spawn};

const WITH_TLS: &str = "-c ssl=on -c ssl_cert_file=own.crt -c ssl_key_file=own.key";

/// An authority of our own.
struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pem: String,
}

impl Authority {
    fn new() -> Authority {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(rcgen::DnType::CommonName, "An authority of tests");
        let key = KeyPair::generate().unwrap();
        let pem = params.self_signed(&key).unwrap().pem();
        Authority { issuer: Issuer::new(params, key), pem }
    }

    /// Returns a certificate of a server until a year, and its key.
    fn signed(&self, host: &str, until: i32) -> (rcgen::Certificate, KeyPair) {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.subject_alt_names = vec![SanType::DnsName(host.try_into().unwrap())];
        params.not_before = date_time_ymd(2000, 1, 1);
        params.not_after = date_time_ymd(until, 1, 1);
        (params.signed_by(&key, &self.issuer).unwrap(), key)
    }
}

/// Gives a server a certificate, and starts it again with that.
fn use_certificate(postgres: &Postgres, (certificate, key): &(rcgen::Certificate, KeyPair)) {
    postgres.stop();
    postgres.write("own.crt", &certificate.pem());
    postgres.write("own.key", &key.serialize_pem());
    postgres.launch();
}

fn url(port: u16, options: &str) -> String {
    format!("postgres://me@localhost:{port}/postgres/team?{options}")
}

/// Writes the password file of a client that names the server.
fn client() -> Folder {
    let folder = machine();
    Postgres::password_file(&folder.path("pgpass"), "localhost");
    folder
}

#[track_caller]
fn refused(ran: &Ran, expected: &str) {
    assert_eq!(ran.code, Some(2), "{}", ran.stdout);
    assert!(ran.stderr.contains(expected), "{}", ran.stderr);
    assert!(ran.stderr.contains("nothing was written"), "{}", ran.stderr);
}

#[test]
#[ignore = "needs PostgreSQL: make shared"]
fn a_server_is_verified_by_its_certificate_and_name() {
    let postgres = Postgres::new(WITH_TLS);
    let (own, other) = (Authority::new(), Authority::new());
    use_certificate(&postgres, &own.signed("localhost", 4000));
    let folder = client();
    folder.write("ca.pem", &own.pem);
    folder.write("other.pem", &other.pem);
    folder.write("none.pem", "");
    let with_own = url(postgres.port, "sslmode=verify-full&sslrootcert=ca.pem");
    ok(&folder, &["compile", "notes", "--db", "m.db"]);
    ok(&folder, &["space", "create", &with_own, "--db", "m.db"]);
    let mut a = serve(&folder, "m.db", &with_own, &[]);
    say(&mut a, "Nobody reads along").unwrap();
    const IN_THE_CLEAR: &str = "SELECT count(*) FROM pg_stat_activity JOIN pg_stat_ssl USING (pid)
         WHERE application_name = 'remindb' AND NOT ssl";
    assert_eq!(postgres.sql(IN_THE_CLEAR), "0");
    assert_ne!(postgres.sql(&IN_THE_CLEAR.replace("NOT ssl", "ssl")), "0");
    a.end();
    // The file knows its authority wherever it is opened from.
    let from_elsewhere = ["space", "status", "--db", "../m.db"];
    std::fs::create_dir(folder.path("below")).unwrap();
    let mut command = super::command(&folder, &from_elsewhere);
    assert_eq!(Ran::of(&folder, command.current_dir(folder.path("below"))).code, Some(0));

    let join = |options: &str| {
        let ran = run(&folder, &["space", "join", &url(postgres.port, options), "--db", "r.db"]);
        assert!(ran.code != Some(0) || std::fs::remove_file(folder.path("r.db")).is_ok());
        ran
    };
    assert_eq!(join("sslmode=verify-full&sslrootcert=ca.pem").code, Some(0));
    let unknown = join("sslmode=verify-full");
    refused(&unknown, "PostgreSQL at localhost is not trusted: no authority that is known here");
    refused(&unknown, "`?sslrootcert=FILE` names one of your own; it got no password");
    refused(&join("sslmode=verify-full&sslrootcert=other.pem"), "no authority that is known here");
    refused(&join("sslmode=verify-full&sslrootcert=gone.pem"), "gone.pem`, cannot be read");
    refused(&join("sslmode=verify-full&sslrootcert=none.pem"), "there is no certificate in it");

    use_certificate(&postgres, &own.signed("db.example", 4000));
    let verified = "sslmode=verify-full&sslrootcert=ca.pem";
    refused(&join(verified), "its certificate is for another name than `localhost`");
    use_certificate(&postgres, &own.signed("localhost", 2001));
    refused(&join(verified), "its certificate has expired");
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    use_certificate(&postgres, &(params.self_signed(&key).unwrap(), key));
    refused(&join(verified), "no authority that is known here");
    // One that signs for itself may be named as its own authority.
    postgres.stop();
    let key = KeyPair::generate().unwrap();
    let itself = params.self_signed(&key).unwrap();
    folder.write("itself.pem", itself.pem());
    use_certificate(&postgres, &(itself, key));
    assert_eq!(join("sslmode=verify-full&sslrootcert=itself.pem").code, Some(0));
}

#[test]
#[ignore = "needs PostgreSQL: make shared"]
fn what_the_server_offers_is_not_taken_for_what_was_asked() {
    let postgres = Postgres::start();
    let folder = client();
    let join = |options: &str| {
        run(&folder, &["space", "join", &url(postgres.port, options), "--db", "r.db"])
    };
    refused(&join("sslmode=verify-full"), "it offers no TLS; `?sslmode=disable` does without");
    for mode in ["require", "prefer", "allow", "verify-ca", ""] {
        let ran = join(&format!("sslmode={mode}"));
        assert!(ran.stderr.contains("`sslmode` is `verify-full`"), "{}", ran.stderr);
    }
    // A server that wants TLS says so to who comes without.
    postgres.write("pg_hba.conf", "hostssl all all all scram-sha-256\nlocal all all trust\n");
    postgres.stop();
    postgres.launch();
    refused(&join("sslmode=disable"), "no pg_hba.conf entry");
}

/// Whoever stands between has a certificate that is as good: only the binding tells.
#[test]
#[ignore = "needs PostgreSQL: make shared"]
fn a_sign_in_is_bound_to_the_certificate() {
    let postgres = Postgres::new(WITH_TLS);
    let own = Authority::new();
    use_certificate(&postgres, &own.signed("localhost", 4000));
    let folder = client();
    folder.write("ca.pem", &own.pem);
    let options = "sslmode=verify-full&sslrootcert=ca.pem";
    ok(&folder, &["compile", "notes", "--db", "m.db"]);
    ok(&folder, &["space", "create", &url(postgres.port, options), "--db", "m.db"]);
    let port = between(&own, postgres.port);
    let ran = run(&folder, &["space", "join", &url(port, options), "--db", "r.db"]);
    refused(&ran, "channel binding check failed");
}

/// Opens a port that decrypts, reads along, and encrypts again.
fn between(own: &Authority, port: u16) -> u16 {
    let (certificate, key) = own.signed("localhost", 4000);
    let provider = Arc::new(crypto::ring::default_provider());
    let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let to_client = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key)
        .unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(own.pem.as_bytes()).unwrap()).unwrap();
    let to_server = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let own_port = listener.local_addr().unwrap().port();
    let (to_client, to_server) = (Arc::new(to_client), Arc::new(to_server));
    spawn(move || {
        for client in listener.incoming().flatten() {
            let server = TcpStream::connect(("127.0.0.1", port)).unwrap();
            let _ = relay(client, server, (&to_client, &to_server));
        }
    });
    own_port
}

/// Passes questions and answers on, which take turns until the sign-in is over.
fn relay(
    mut client: TcpStream,
    mut server: TcpStream,
    (to_client, to_server): (&Arc<ServerConfig>, &Arc<ClientConfig>),
) -> std::io::Result<()> {
    let mut asked = [0; 8];
    client.read_exact(&mut asked)?;
    server.write_all(&asked)?;
    server.read_exact(&mut asked[..1])?;
    client.write_all(&asked[..1])?;
    let tls = ServerConnection::new(Arc::clone(to_client)).unwrap();
    let mut client = StreamOwned::new(tls, client);
    let name = ServerName::try_from("localhost").unwrap();
    let tls = ClientConnection::new(Arc::clone(to_server), name).unwrap();
    let mut server = StreamOwned::new(tls, server);
    let mut bytes = [0; 16 * 1024];
    loop {
        let n_bytes = client.read(&mut bytes)?;
        server.write_all(&bytes[..n_bytes])?;
        server.flush()?;
        let n_bytes = server.read(&mut bytes)?;
        client.write_all(&bytes[..n_bytes])?;
        client.flush()?;
    }
}
