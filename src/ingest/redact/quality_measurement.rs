//! Measures redaction: passwords that each notation hides, and descriptions that it lets through.
//!
//! Passwords are such as people choose; a description stands in the place of one.

use super::Redactor;

/// A notation: its name, and a function that puts a value into it.
type NotationTemplate = (&'static str, fn(&str) -> String);

const NOTATIONS: &[NotationTemplate] = &[
    ("yaml", |it| format!("db:\n  user: al\n  password: {it}\n  port: 1\n")),
    ("yaml, quoted", |it| format!("db:\n  password: '{it}'\n")),
    ("yaml, block", |it| format!("db:\n  password: |\n    {it}\n  port: 1\n")),
    ("yaml, folded", |it| format!("db:\n  password: >-\n    {it}\n")),
    ("toml", |it| format!("user = \"al\"\npassword = \"{it}\"\n")),
    ("json", |it| format!("{{\"user\": \"al\", \"password\": \"{it}\"}}")),
    ("variables", |it| format!("DB_USER=al\nDB_PASSWORD={it}\n")),
    ("ini", |it| format!("[db]\nuser=al\npassword={it}\n")),
    ("ini, spaced", |it| format!("[db]\nuser = al\npassword = {it}\n")),
    ("xml", |it| format!("<db><user>al</user><password>{it}</password></db>")),
    ("code", |it| format!("let user = \"al\";\nlet password = \"{it}\";\n")),
    ("csv", |it| format!("user,password,host\nal,{it},h1\nbo,{it},h2\n")),
    ("csv, quoted", |it| format!("\"email\",\"password\"\n\"al@x.org\",\"{it}\"\n")),
    ("tsv", |it| format!("login\tpassword\nal\t{it}\n")),
    ("toon", |it| format!("users[2]{{name,password}}:\n  al,{it}\n  bo,{it}\n")),
    ("toon, field", |it| format!("db:\n  user: al\n  password: {it}\n")),
    ("markdown", |it| format!("| user | password |\n|---|---|\n| al | {it} |\n")),
];

/// Passwords as people choose them.
#[rustfmt::skip]
const CHOSEN: &[&str] = &[
    "letmein", "swordfish", "dragon", "tiger", "qwerty", "monkey", "sunshine", "winter", "rosebud",
    "abracadabra", "postgres", "root", "hunter2", "x9kPq7", "Tr0ub4dor&3", "12345678",
];

/// Texts in the place of a password.
#[rustfmt::skip]
const NOT_CHOSEN: &[&str] = &[
    "string", "required", "optional", "hidden", "text", "varchar", "enabled", "disabled", "never",
    "none", "null", "true", "Passwort", "********", "${DB_PASSWORD}", "<password>",
    "changeme", "your-password-here", "see the wiki",
];

#[test]
fn passwords_are_found_in_every_notation() {
    let redactor = Redactor::builtin();
    let mut table = String::new();
    for (name, write) in NOTATIONS {
        let missed: Vec<&str> = CHOSEN
            .iter()
            .copied()
            .filter(|it| redactor.scrub(&write(it)).text.contains(it))
            .collect();
        let alarms: Vec<&str> =
            NOT_CHOSEN.iter().copied().filter(|it| redactor.has_secret(&write(it))).collect();
        if !missed.is_empty() || !alarms.is_empty() {
            table += &format!("{name}: missed {missed:?}\n{name}: false {alarms:?}\n");
        }
    }
    expect_test::expect![[r#"
        variables: missed []
        variables: false ["enabled", "disabled", "never", "Passwort", "see the wiki"]
    "#]]
    .assert_eq(&table);
}
