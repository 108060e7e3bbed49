//! Tests where passwords are found.

use super::*;

fn url() -> SpaceUrl {
    SpaceUrl::parse("postgres://me@db.example:5433/data/team").unwrap()
}

fn file(text: &str, mode: u32) -> (tempfile::TempDir, PasswordSources) {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("pgpass");
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    (dir, PasswordSources { given: None, file: Some(path) })
}

#[test]
fn the_first_line_about_the_server_counts() {
    let lines = "# comment\nother:*:*:*:no\ndb.example:5432:*:me:port\n\
                 db.example:5433:data:me:a\\:b\\\\c:d\n*:*:*:*:late\n";
    let (_dir, sources) = file(lines, 0o600);
    assert_eq!(sources.password_of(&url()).text, "a:b\\c:d");
    let (_dir, sources) = file("*:*:*:you:x\nshort:line\n", 0o600);
    assert_eq!(sources.password_of(&url()).text, "");
}

#[test]
fn the_environment_comes_first_and_a_file_of_all_is_not_used() {
    let (_dir, open) = file("*:*:*:*:x\n", 0o644);
    assert_eq!(open.password_of(&url()).text, "");
    let (_dir, mut both) = file("*:*:*:*:x\n", 0o600);
    assert_eq!(both.password_of(&url()).text, "x");
    both.given = Some(PasswordWithOrigin::of("y".to_owned()));
    assert_eq!(both.password_of(&url()).text, "y");
    assert!(
        !format!("{both:?}").contains('y'.to_string().as_str())
            || !format!("{:?}", both.given).contains("\"y\"")
    );
}

#[test]
fn what_has_no_password_says_where_it_was_looked_for() {
    let origin = |sources: &PasswordSources| {
        let path = sources.file.as_ref().unwrap().to_string_lossy().into_owned();
        sources.password_of(&url()).origin.replace(&path, "FILE")
    };
    let (dir, sources) = file("*:*:*:you:x\n", 0o600);
    assert_eq!(
        origin(&sources),
        "PGPASSWORD is not set, and no line of `FILE` is about db.example:5433:data:me"
    );
    fs::remove_file(dir.path().join("pgpass")).unwrap();
    assert_eq!(origin(&sources), "PGPASSWORD is not set, and there is no `FILE`");
    let (_dir, open) = file("*:*:*:*:x\n", 0o640);
    assert_eq!(
        origin(&open),
        "PGPASSWORD is not set, and `FILE` is not used: other users can read it; chmod 600 it"
    );
    let (_dir, found) = file("*:*:*:*:x\n", 0o600);
    assert_eq!(origin(&found), "the password is from `FILE`");
    let folder = PasswordSources { given: None, file: Some(dir.path().to_owned()) };
    assert!(origin(&folder).contains("it is no file"));
}

#[test]
fn a_socket_is_named_by_its_folder_or_as_this_machine() {
    let at =
        |host: &str| SpaceUrl::parse(&format!("postgres://me@/data/team?host={host}")).unwrap();
    let (_dir, sources) = file("/srv/pg:*:*:*:own\nlocalhost:*:*:*:usual\n", 0o600);
    assert_eq!(sources.password_of(&at("/srv/pg")).text, "own");
    assert_eq!(sources.password_of(&at("/var/run/postgresql")).text, "usual");
    assert_eq!(sources.password_of(&at("/elsewhere")).text, "");
}
