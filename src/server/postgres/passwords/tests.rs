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
    assert_eq!(sources.password_of(&url()).0, "a:b\\c:d");
    let (_dir, sources) = file("*:*:*:you:x\nshort:line\n", 0o600);
    assert_eq!(sources.password_of(&url()).0, "");
}

#[test]
fn the_environment_comes_first_and_a_file_of_all_is_not_used() {
    let (_dir, open) = file("*:*:*:*:x\n", 0o644);
    assert_eq!(open.password_of(&url()).0, "");
    let (_dir, mut both) = file("*:*:*:*:x\n", 0o600);
    assert_eq!(both.password_of(&url()).0, "x");
    both.given = Some(SecretPassword::of("y".to_owned()));
    assert_eq!(both.password_of(&url()).0, "y");
    assert!(
        !format!("{both:?}").contains('y'.to_string().as_str())
            || !format!("{:?}", both.given).contains("\"y\"")
    );
}
