use expect_test::{Expect, expect};

use crate::ingest::redact::Redactor;

/// Markers are shown as `‹›`.
#[track_caller]
fn check(text: &str, expected: Expect) {
    let redactor = Redactor::builtin();
    let scrubbed = redactor.scrub(text).text;
    expected.assert_eq(&scrubbed.replace("«redacted:env_secret_assignment»", "‹›"));
    assert!(!redactor.has_secret(&scrubbed), "{scrubbed}");
}

#[track_caller]
fn check_kept(text: &str) {
    assert_eq!(Redactor::builtin().scrub(text).text, text);
}

#[test]
fn secrets_leave_columns_of_separated_values() {
    check(
        "user,password,host\nal,hunter2horse,h1\nbo,\"Tr0ub4dor&3\",h2\nbot,swordfish,h3\n",
        expect![[r#"
            user,password,host
            al,‹›,h1
            bo,"‹›",h2
            bot,‹›,h3
        "#]],
    );
    check("user;api_key\r\nal;a1b2c3d4e5\r\n", expect!["user;api_key\r\nal;‹›\r\n"]);
    check(
        "sep=;\n\"user\";\"API Key\"\nal;zz91kkqp\n",
        expect![[r#"
        sep=;
        "user";"API Key"
        al;‹›
    "#]],
    );
    check("user\tpasswd\nal\tmonkey99!\n", expect!["user\tpasswd\nal\t‹›\n"]);
    check(
        "a,password\n1,\"x,1\"\n2,\"two\nlines77\"\n",
        expect![[r#"
        a,password
        1,"x,1"
        2,"‹›"
    "#]],
    );
}

#[test]
fn secrets_leave_columns_of_markdown_and_toon() {
    check(
        "So:\n\n| user | password |\n|---|---|\n| al | `hunter2x` |\n\nend\n",
        expect![[r#"
        So:

        | user | password |
        |---|---|
        | al | `‹›` |

        end
    "#]],
    );
    check(
        "users[2]{name,password}:\n  al,letmein7x\n  bo,\"qwerty88\"\nx: 1\n",
        expect![[r#"
        users[2]{name,password}:
          al,"‹›"
          bo,"‹›"
        x: 1
    "#]],
    );
    check(
        "- t[1|]{a|token}:\n    x|a1b2c3d4e5f6\n",
        expect![[r#"
        - t[1|]{a|token}:
            x|"‹›"
    "#]],
    );
}

#[test]
fn plain_words_in_a_column_of_passwords_need_an_owner() {
    check(
        "email,password\nal@x.org,letmein\nbo@x.org,tiger\n",
        expect![[r#"
        email,password
        al@x.org,‹›
        bo@x.org,‹›
    "#]],
    );
    check(
        "users[1]{id,password}:\n  1,dragon\n",
        expect![[r#"
        users[1]{id,password}:
          1,"‹›"
    "#]],
    );
    check_kept("length,password\n6,letter\n8,digit\n");
    check_kept("| name | password |\n|---|---|\n| type | letters |\n");
    check_kept("user,password\nal,required\nbo,hidden\n");
}

#[test]
fn a_marker_in_the_table_hides_no_row() {
    check(
        "user,password\nal,«redacted:jwt»\nbo,hunter2x\n",
        expect![[r#"
        user,password
        al,«redacted:jwt»
        bo,‹›
    "#]],
    );
}

#[test]
fn tables_about_secrets_are_kept() {
    check_kept(
        "| field | password | token |\n|---|---|---|\n| type | string | string |\n| shown | no | yes |\n",
    );
    check_kept("feature,password,secret\nmasked,enabled,disabled\nrotated,supported,never\n");
    check_kept("token,count\nhello,5\nworld,12\nco2,1\n");
    check_kept("Your user name, password\nand a word, hunter2\nare needed, as ever, to log in\n");
    check_kept("setting,sort_key\na,created_at_2024\n");
    check_kept("user,password\nal,${AL_PASSWORD}\nbo,********\ncy,<password>\nxy,\n");
    check_kept("name,password policy\nal,rotate90days\n");
    check_kept("a.\n\nuser,password\nal,hunter2horse\n");
}

#[test]
fn a_column_may_be_named_by_a_backslash() {
    for head in ["user,password,F\\", "user,password,\\", "| user | password | F\\"] {
        check_kept(head);
    }
    check(
        "user,password,F\\\nal,hunter2horse,no\n",
        expect![[r#"
        user,password,F\
        al,‹›,no
    "#]],
    );
}

#[test]
fn secrets_leave_blocks_and_pairs_of_name_and_value() {
    check(
        "db:\n  password: |\n    hunter2x\n  api_key: >-\n    folded88key\n  host: x\n",
        expect![[r#"
        db:
          password: |
            ‹›
          api_key: >-
            ‹›
          host: x
    "#]],
    );
    check(
        "secret: |\r\n  first77line\r\n\r\n  second88line\r\nx: 1\r\n",
        expect!["secret: |\r\n  ‹›\r\nx: 1\r\n"],
    );
    check(
        "env:\n  - name: DB_PASSWORD\n    value: hunter2x\n",
        expect![[r#"
        env:
          - name: DB_PASSWORD
            value: ‹›
    "#]],
    );
    check(
        r#"[{"name":"password","value":"hunter2x"}]"#,
        expect![[r#"[{"name":"password","value":"‹›"}]"#]],
    );
    check(
        r#"<input type="password" value="hunter2x">"#,
        expect![[r#"<input type="password" value="‹›">"#]],
    );
    check("password=swordfish\n", expect!["password=‹›\n"]);
    check_kept("password: |\n  Enter your password,\n  then press the key.\n");
    check_kept("description: |\n  password\nx: a1b2c3d4\n");
    check_kept(r#"{"key": "reset_password", "value": "Passwort vergessen"}"#);
    check_kept("- name: DB_PASSWORD\n  value: $(FROM_SECRET)\n");
    check_kept("- name: DB_PASSWORD\n  valueFrom:\n    secretKeyRef: x1y2z3\n");
    check_kept("private_key: |\n  see below\n");
}
