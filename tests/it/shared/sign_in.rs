//! Tests sign-in: passwords by environment and files, and sockets of this machine.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::server::{PASSWORD, Postgres};
use super::{machine, ok, published, say, serve};
use crate::support::{Folder, Ran};

/// Joins with these variables of the environment, and returns what was said.
fn join(folder: &Folder, url: &str, env: &[(&str, &str)]) -> Ran {
    let _ = fs::remove_file(folder.path("r.db"));
    let mut command = folder.command(["space", "join", url, "--db", "r.db"]);
    command.env_remove("PGPASSFILE").env("HOME", folder.path("home")).envs(env.iter().copied());
    let ran = Ran::of(folder, &mut command);
    assert!(!ran.stderr.contains(PASSWORD), "{}", ran.stderr);
    ran
}

#[track_caller]
fn refused(ran: &Ran, expected: &str) {
    assert_eq!(ran.code, Some(2), "{}", ran.stdout);
    assert!(ran.stderr.contains(expected), "{}", ran.stderr);
}

#[test]
#[ignore = "needs PostgreSQL: make shared"]
fn a_password_is_found_where_postgresql_looks_for_it() {
    let postgres = Postgres::start();
    let (folder, url) = published(&postgres, "team");
    let file = folder.path("pgpass").to_string_lossy().into_owned();
    assert_eq!(join(&folder, &url, &[("PGPASSWORD", PASSWORD)]).code, Some(0));
    assert_eq!(join(&folder, &url, &[("PGPASSFILE", &file)]).code, Some(0));
    fs::create_dir(folder.path("home")).unwrap();
    Postgres::password_file(&folder.path("home/.pgpass"), "127.0.0.1");
    assert_eq!(join(&folder, &url, &[]).code, Some(0));
    // The environment comes first.
    let wrong = join(&folder, &url, &[("PGPASSWORD", "not that")]);
    refused(&wrong, "PostgreSQL at 127.0.0.1 refused: password authentication failed");
    refused(&wrong, "(the password is from PGPASSWORD); nothing was written");
    assert!(!wrong.stderr.contains("not that"), "{}", wrong.stderr);
    fs::write(folder.path("home/.pgpass"), "127.0.0.1:*:postgres:me:not that\n").unwrap();
    refused(&join(&folder, &url, &[]), "(the password is from `DIR/home/.pgpass`)");
    fs::set_permissions(folder.path("home/.pgpass"), fs::Permissions::from_mode(0o644)).unwrap();
    refused(&join(&folder, &url, &[]), "other users can read it; chmod 600 it");
    fs::remove_file(folder.path("home/.pgpass")).unwrap();
    refused(&join(&folder, &url, &[]), "it asks for a password: PGPASSWORD is not set, and there");
    let nobody = url.replace("me@", "nobody@");
    refused(&join(&folder, &nobody, &[("PGPASSWORD", "x")]), "password authentication failed");
    let database = url.replace("/postgres/", "/nothing/");
    refused(
        &join(&folder, &database, &[("PGPASSWORD", PASSWORD)]),
        "database \"nothing\" does not exist",
    );
}

#[test]
#[ignore = "needs PostgreSQL: make shared"]
fn a_socket_of_this_machine_is_an_address_like_others() {
    let postgres = Postgres::start();
    let (folder, tcp) = published(&postgres, "team");
    let at = postgres.socket_folder().to_string_lossy().into_owned();
    let url = format!("postgres://me@:{}/postgres/team?host={at}", postgres.port);
    refused(&join(&folder, &url, &[]), "it asks for a password");
    fs::create_dir(folder.path("home")).unwrap();
    Postgres::password_file(&folder.path("home/.pgpass"), &at);
    let joined = join(&folder, &url, &[]);
    assert_eq!(joined.code, Some(0), "{}", joined.stderr);
    let encoded = at.replace('/', "%2F");
    let other = format!("postgres://me@{encoded}:{}/postgres/team", postgres.port);
    assert_eq!(join(&folder, &other, &[]).code, Some(0));
    fs::copy(folder.path("home/.pgpass"), folder.path("pgpass")).unwrap();
    let mut a = serve(&folder, "r.db", &url, &[]);
    say(&mut a, "Through a socket").unwrap();
    postgres.stop();
    let refused = say(&mut a, "Not any more").unwrap_err();
    let expected =
        format!("cannot write: PostgreSQL at {at} is not reachable; nothing was written");
    assert!(refused.starts_with(&expected), "{refused}");
    a.end();
    postgres.launch();
    // The same space by another address.
    Postgres::password_file(&folder.path("pgpass"), "127.0.0.1");
    let mut a = serve(&folder, "r.db", &tcp, &[]);
    say(&mut a, "Over the network").unwrap();
    a.end();
    ok(&machine(), &["space", "join", &tcp, "--db", "r.db"]);
}
