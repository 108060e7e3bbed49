//! Tests addresses of spaces.

use super::*;

#[track_caller]
fn check(text: &str, expected: &str) {
    let parsed = SpaceUrl::parse(text);
    let shown = match &parsed {
        Ok(url) => format!("{url} {:?}", url.encryption),
        Err(why) => why.clone(),
    };
    assert_eq!(shown, expected);
    if let Ok(url) = parsed {
        assert_eq!(SpaceUrl::parse(&url.to_string()).unwrap(), url);
    }
}

#[test]
fn an_address_comes_back_as_it_was() {
    check("postgres://me@127.0.0.1:5433/db/team", "postgres://me@127.0.0.1:5433/db/team None");
    check("postgresql://me@localhost/db/team", "postgres://me@localhost:5432/db/team None");
    check("postgres://me@[::1]:1/db/team", "postgres://me@[::1]:1/db/team None");
    check("postgres://me@pg.example/d%20b/t", "postgres://me@pg.example:5432/d%20b/t Verified");
    check(
        "postgres://me@pg.example/db/t?sslmode=disable",
        "postgres://me@pg.example:5432/db/t?sslmode=disable None",
    );
    check(
        "postgres://me@localhost/db/t?sslmode=verify-full&sslrootcert=/etc/ca.pem",
        "postgres://me@localhost:5432/db/t?sslmode=verify-full&sslrootcert=%2Fetc%2Fca.pem Verified",
    );
}

#[test]
fn a_password_in_an_address_is_refused_and_not_repeated() {
    let why = SpaceUrl::parse("postgres://me:s3cret@127.0.0.1/db/team").unwrap_err();
    assert!(why.contains("PGPASSWORD") && !why.contains("s3cret"), "{why}");
}

#[test]
fn a_wrong_address_is_explained() {
    let form = "a space is named `postgres://user@host:port/database/space`";
    for text in [
        "",
        "x",
        "http://a@b/c/d",
        "postgres://a@b/c",
        "postgres://b/c/d",
        "postgres://a@b:port/c/d",
        "postgres://a@b/c/",
        "postgres://a@b/c/d/e",
        "postgres://a@/c/d",
        "postgres://a@b%2Fx/c/d",
    ] {
        check(text, form);
    }
    check(
        "postgres://a@b/c/d?sslmode=prefer",
        "`sslmode` is `verify-full`, the default for other machines, or `disable`",
    );
    check(
        "postgres://a@b/c/d?password=x",
        "`password` is no option of a space; there are `sslmode`, `sslrootcert` and `host`",
    );
    check(
        "postgres://a@b/c/d?host=/run",
        "`host` names the folder of a socket of this machine, in an address without another host",
    );
    check(
        "postgres://a@/c/d?host=/run&sslmode=verify-full",
        "a socket of this machine has no TLS; leave `sslmode` out",
    );
}

#[test]
fn a_socket_of_this_machine_has_two_forms() {
    for text in [
        "postgres://me@/db/t?host=/var/run/postgresql",
        "postgres://me@%2Fvar%2Frun%2Fpostgresql/db/t",
        "postgres://me@/db/t?sslmode=disable&host=/var/run/postgresql",
    ] {
        check(text, "postgres://me@%2Fvar%2Frun%2Fpostgresql:5432/db/t None");
        let url = SpaceUrl::parse(text).unwrap();
        let path = url.socket_path().unwrap();
        assert_eq!(path, Path::new("/var/run/postgresql/.s.PGSQL.5432"));
    }
    check("postgres://me@:5433/db/t?host=/tmp", "postgres://me@%2Ftmp:5433/db/t None");
    assert_eq!(SpaceUrl::parse("postgres://me@b/c/d").unwrap().socket_path(), None);
}
