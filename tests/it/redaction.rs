//! Tests that no secret is stored or shown, in any format and by any way in.

use std::fs;

use aho_corasick::AhoCorasick;
use expect_test::expect;
use serde_json::{Value, json};

use super::random_cases::Dice;
use super::support::{Client, Folder, Ran};

type Make = fn(&mut Dice) -> Secret;

/// Every kind, and a secret of it: its text, and the words that must not be stored.
const KINDS: &[(&str, Make)] = &[
    ("aws_access_key", |dice| token("AKIA", &chars(dice, UPPER, 16))),
    ("gcp_oauth_client_secret", |dice| token("GOCSPX-", &chars(dice, ALNUM, 28))),
    ("google_api_key", |dice| token("AIza", &chars(dice, ALNUM, 35))),
    ("github_pat", |dice| token("ghp_", &chars(dice, ALNUM, 36))),
    ("github_fine_grained_pat", |dice| token("github_pat_", &chars(dice, ALNUM, 82))),
    ("gitlab_pat", |dice| token("glpat-", &chars(dice, ALNUM, 20))),
    ("anthropic_api_key", |dice| token("sk-ant-api03-", &chars(dice, ALNUM, 90))),
    ("huggingface_token", |dice| token("hf_", &chars(dice, ALNUM, 34))),
    ("openai_api_key", |dice| {
        let (head, tail) = (chars(dice, ALNUM, 40), chars(dice, ALNUM, 40));
        token("sk-proj-", &format!("{head}T3BlbkFJ{tail}"))
    }),
    ("stripe_secret_key", |dice| token("sk_live_", &chars(dice, ALNUM, 24))),
    ("stripe_webhook_secret", |dice| token("whsec_", &chars(dice, ALNUM, 32))),
    ("discord_bot_token", |dice| {
        let parts = [chars(dice, ALNUM, 24), chars(dice, ALNUM, 6), chars(dice, ALNUM, 30)];
        token("M", &parts.join("."))
    }),
    ("discord_webhook", |dice| {
        let (id, key) = (chars(dice, DIGITS, 18), chars(dice, ALNUM, 68));
        token("https://discord.com/api/webhooks/", &format!("{id}/{key}"))
    }),
    ("slack_token", |dice| token("xoxb-", &chars(dice, ALNUM, 40))),
    ("slack_webhook", |dice| {
        let key = chars(dice, ALNUM, 24);
        token("https://hooks.slack.com/services/T00000000/B00000000/", &key)
    }),
    ("mailgun_api_key", |dice| token("key-", &chars(dice, HEX, 32))),
    ("sendgrid_api_key", |dice| {
        let (id, key) = (chars(dice, ALNUM, 22), chars(dice, ALNUM, 43));
        token("SG.", &format!("{id}.{key}"))
    }),
    ("npm_token", |dice| token("npm_", &chars(dice, ALNUM, 36))),
    ("pypi_token", |dice| token("pypi-AgEIcHlwaS5vcmc", &chars(dice, ALNUM, 60))),
    ("linear_api_key", |dice| token("lin_api_", &chars(dice, ALNUM, 40))),
    ("jwt", |dice| {
        let (claims, sum) = (chars(dice, ALNUM, 30), chars(dice, ALNUM, 43));
        token("eyJhbGciOiJIUzI1NiJ9.eyJ", &format!("{claims}.{sum}"))
    }),
    ("db_connection_string", |dice| around("postgres://app:", dice, "@db.example.com/app")),
    ("bearer_auth_header", |dice| around("Authorization: Bearer ", dice, "")),
    ("basic_auth_url", |dice| around("https://app:", dice, "@example.com/")),
    ("private_key_block", |dice| {
        let lines: Vec<String> = (0..3).map(|_| chars(dice, ALNUM, 64)).collect();
        let text = format!(
            "-----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----",
            lines.join("\n")
        );
        Secret { text, words: lines }
    }),
    ("env_secret_assignment", |dice| around("DB_PASSWORD=", dice, "")),
    (CUSTOM, |dice| token("TKT-", &chars(dice, DIGITS, 14))),
];

/// The kind that the folders' own settings add.
const CUSTOM: &str = "ticket";

const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const ALNUM: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const HEX: &str = "0123456789abcdef";
const DIGITS: &str = "123456789";

struct Secret {
    text: String,
    words: Vec<String>,
}

fn token(head: &str, tail: &str) -> Secret {
    Secret { text: format!("{head}{tail}"), words: vec![tail.to_owned()] }
}

fn around(before: &str, dice: &mut Dice, after: &str) -> Secret {
    let words = chars(dice, ALNUM, 24);
    Secret { text: format!("{before}{words}{after}"), words: vec![words] }
}

fn chars(dice: &mut Dice, of: &str, n: usize) -> String {
    (0..n).map(|_| char::from(*dice.pick(of.as_bytes()))).collect()
}

/// A format: its file extension, and a function that puts a text into such a file.
type Write = fn(&str) -> String;

const FORMATS: &[(&str, Write)] = &[
    ("md", |text| format!("# Notes\n\nUse it:\n\n{text}\n\nand so on\n")),
    ("code.md", |text| format!("# Notes\n\n```\n{text}\n```\n")),
    ("list.md", |text| format!("- first\n- {}\n- last\n", text.replace('\n', "\n  "))),
    ("html", |text| format!("<html><body><p>Use it:</p><pre>{text}</pre></body></html>")),
    ("json", |text| json!({"use": [1, {"it": text}]}).to_string()),
    ("jsonl", |text| {
        let line = |text: &str| json!({"role": "user", "content": text}).to_string();
        format!("{}\n{}\n", line("first"), line(text))
    }),
    ("yaml", |text| format!("use:\n  it: |\n    {}\n", text.replace('\n', "\n    "))),
    ("quoted.yaml", |text| format!("use:\n  it: {}\n", json!(text))),
    ("toml", |text| format!("[use]\nit = {}\n", json!(text))),
    ("toon", |text| format!("use:\n  it: {}\n", json!(text))),
    ("csv", |text| format!("a,b\n1,\"{text}\"\n2,c\n")),
    ("txt", |text| format!("Use it:\n\n{text}\n")),
    ("org", |text| format!("* Notes\n\n{text}\n")),
    ("rst", |text| format!("Notes\n=====\n\n::\n\n  {}\n", text.replace('\n', "\n  "))),
    ("mdx", |text| format!("# Notes\n\n{text}\n\n<Card />\n")),
];

/// The output of a run, of all streams.
type Shown = String;

type Enter = fn(&Folder) -> Shown;

/// Every way in: each compiles or imports a folder `notes` into the database `memory.db`.
const DOORS: &[(&str, Enter)] = &[
    ("compile", |folder| {
        settle(folder, "notes", &[]);
        shown(folder.run(["compile", "notes", "--db", "memory.db"]))
    }),
    ("the first compile of serve", |folder| {
        settle(folder, "notes", &[]);
        let mut client = serve(folder, "notes");
        client.logged("compiled: ");
        all_shown(&mut client)
    }),
    ("MemoryCompile", |folder| {
        let mut client = serve_all(folder);
        fs::rename(folder.path("notes"), folder.path("all/notes")).unwrap();
        let path = folder.path("all/notes").to_string_lossy().into_owned();
        let reply = client.call("MemoryCompile", json!({"path": path}));
        assert!(!reply.is_error, "{}", reply.text);
        reply.result.to_string() + &all_shown(&mut client)
    }),
    ("a scan while serving", |folder| {
        let mut client = serve_all(folder);
        fs::rename(folder.path("notes"), folder.path("all/notes")).unwrap();
        client.logged("compiled: ");
        all_shown(&mut client)
    }),
    ("a scan after being down", |folder| {
        let before = all_shown(&mut serve_all(folder));
        fs::rename(folder.path("notes"), folder.path("all/notes")).unwrap();
        let mut client = serve(folder, "all");
        client.logged("compiled: ");
        before + &all_shown(&mut client)
    }),
    ("import", |folder| {
        careless(folder);
        folder.ok(["export", "old.jsonl", "--db", "old.db"]);
        shown(folder.run(["import", "old.jsonl", "--db", "memory.db"]))
    }),
    ("restore and redact", |folder| {
        careless(folder);
        let mut all = shown(folder.run(["restore", "old.db", "--db", "memory.db"]));
        all +=
            &shown(folder.run(["redact", "--dry-run", "--source", "notes", "--db", "memory.db"]));
        all + &shown(folder.run(["redact", "--source", "notes", "--db", "memory.db"]))
    }),
];

/// Dates the notes long ago, and writes settings with the custom kind.
///
/// The dates make the files look finished; `disabled` kinds are turned off.
fn settle(folder: &Folder, root: &str, disabled: &[&str]) {
    for file in fs::read_dir(folder.path("notes")).into_iter().flatten() {
        let file = file.unwrap();
        if file.file_type().unwrap().is_file() {
            folder.date(file.path(), 7);
        }
    }
    let custom = json!([{"kind": CUSTOM, "pattern": r"TKT-\d{14}"}]);
    let settings = json!({
        "redaction": {
            "custom": if disabled.is_empty() { custom } else { json!([]) },
            "disable_builtin_kinds": disabled,
        },
        "server": {"logging": {"output_path": ".remindb/server.log"}},
    });
    folder.write(format!("{root}/.remindb/config.json"), settings.to_string());
}

fn serve(folder: &Folder, root: &str) -> Client {
    let args = [
        "--db",
        "memory.db",
        "--source",
        root,
        "--rescan-interval",
        "20ms",
        "--verbose",
        "--structured",
    ];
    let mut client = Client::start(folder, &args);
    client.ask("initialize", json!({"protocolVersion": "2025-11-25"}));
    client
}

/// Starts a server of another folder, and waits for its first scan.
fn serve_all(folder: &Folder) -> Client {
    settle(folder, "all", &[]);
    folder.write("all/none.md", "none\n");
    folder.date("all/none.md", 7);
    let client = serve(folder, "all");
    client.logged("compiled: ");
    client
}

/// Returns the rest of the log, to the server's end.
fn all_shown(client: &mut Client) -> Shown {
    client.close();
    assert_eq!(client.wait().code(), Some(0));
    let mut shown = String::new();
    while let Some(line) = client.log_line() {
        shown += &line;
    }
    shown
}

fn shown(ran: Ran) -> Shown {
    assert_ne!(ran.code, Some(2), "{}", ran.transcript());
    ran.transcript()
}

/// Makes a memory `old.db` with all secrets, since its folder was trusted to store them.
fn careless(folder: &Folder) {
    let builtin: Vec<&str> =
        KINDS.iter().map(|(kind, _)| *kind).filter(|it| *it != CUSTOM).collect();
    settle(folder, "notes", &builtin);
    folder.ok(["compile", "notes", "--db", "old.db", "--trust-workspace"]);
    settle(folder, "notes", &[]);
}

/// Asserts that no secret is in the database, in `said`, or in the database's answers.
#[track_caller]
fn assert_gone(folder: &Folder, shown: &str, words: &[(String, String)], door: &str) {
    let patterns: Vec<&str> = words.iter().map(|(word, _)| word.as_str()).collect();
    let automaton = AhoCorasick::builder().ascii_case_insensitive(true).build(patterns).unwrap();
    let look = |bytes: &[u8]| -> Vec<String> {
        automaton.find_iter(bytes).map(|at| words[at.pattern().as_usize()].1.clone()).collect()
    };
    let of_server = ["all", "notes"].map(|root| format!("{root}/.remindb/"));
    let mut names = folder.names();
    names.retain(|it| it.starts_with("memory.db"));
    for own in of_server {
        let logs = ["server.log", "rescan.jsonl"].map(|it| format!("{own}{it}"));
        names.extend(logs.into_iter().filter(|it| folder.path(it).exists()));
    }
    for name in &names {
        let left = look(&fs::read(folder.path(name)).unwrap());
        assert!(left.is_empty(), "through {door} into {name}: {left:#?}");
    }
    let left = look(shown.as_bytes());
    assert!(left.is_empty(), "said by {door}: {left:#?}");
    let shown = folder.ok(["inspect", "--tree", "--json", "--db", "memory.db"]);
    let left = look(shown.as_bytes());
    assert!(left.is_empty(), "shown after {door}: {left:#?}");
}

/// Returns the text of the nodes of the file at `path`, or of agents' nodes without one.
fn shown_by(folder: &Folder, path: Option<&str>) -> String {
    let conn = folder.database("memory.db");
    let mut query = conn
        .prepare(
            "SELECT group_concat(content, ' ') FROM node LEFT JOIN file ON file.id = node.file
              WHERE ifnull(file.path, '') IN (ifnull(?1, ''), 'notes/' || ?1)",
        )
        .unwrap();
    query.query_row([path], |row| row.get::<_, Option<String>>(0)).unwrap().unwrap_or_default()
}

/// Writes every kind in every format into `notes`; returns the words that must not be stored.
fn every_cell(folder: &Folder, dice: &mut Dice) -> Vec<(String, String)> {
    let mut words = Vec::new();
    for (kind, make) in KINDS {
        for (ending, write) in FORMATS {
            let secret = make(dice);
            folder.write(format!("notes/{kind}.{ending}"), write(&secret.text));
            let cell = format!("{kind} in {ending}");
            words.extend(secret.words.into_iter().map(|it| (it, cell.clone())));
        }
    }
    words
}

#[test]
fn every_kind_in_every_format_through_every_door() {
    for (seed, (door, enter)) in (1..).zip(DOORS) {
        let folder = Folder::new();
        let mut words = every_cell(&folder, &mut Dice::new(seed));
        let shown = enter(&folder);
        // An export has no settings.
        let is_known = |cell: &str| *door != "import" || !cell.starts_with(CUSTOM);
        words.retain(|(_, cell)| is_known(cell));
        assert_gone(&folder, &shown, &words, door);
        for (kind, _) in KINDS.iter().filter(|(kind, _)| is_known(kind)) {
            for (ending, _) in FORMATS {
                let found = shown_by(&folder, Some(&format!("{kind}.{ending}")));
                let marker = format!("«redacted:{kind}»");
                assert!(found.contains(&marker), "{kind}.{ending} through {door}: {found}");
            }
        }
    }
}

type Arguments = fn(&str, &str) -> Value;

/// Tools that store text, whatever its format, by their arguments.
const WRITES: &[(&str, Arguments)] = &[
    ("MemoryWrite", |_, text| json!({"payload": text})),
    ("MemoryWrite", |anchor, text| json!({"payload": text, "anchor": anchor})),
    ("MemorySummarize", |anchor, text| json!({"node_id": anchor, "summary": text})),
];

/// Tools by which an agent names something.
const NAMES: &[(&str, Arguments)] = &[
    ("MemoryRelate", |anchor, text| json!({"source_id": anchor, "target_label": text})),
    (
        "MemoryRelate",
        |anchor, text| json!({"source_id": anchor, "target_label": "a label", "target_source": text}),
    ),
    ("MemoryCompile", |_, text| json!({"path": "none.md", "message": text})),
];

/// Tools and arguments by which an agent asks for something that does not exist.
const ASKED: &[(&str, &str)] = &[
    ("MemoryFetch", "anchor"),
    ("MemorySearch", "query"),
    ("MemoryForget", "node_id"),
    ("MemoryCompile", "path"),
    ("MemoryNone", "anchor"),
];

#[test]
fn every_kind_in_every_format_through_what_agents_write() {
    let folder = Folder::new();
    let mut dice = Dice::new(9);
    let mut words = every_cell(&folder, &mut dice);
    let mut client = serve_all(&folder);
    let first = client.call("MemoryWrite", json!({"payload": "the first words"}));
    let anchor = first.result["structuredContent"]["node_id"].as_str().unwrap().to_owned();
    let mut shown = String::new();
    for (kind, make) in KINDS {
        for (ending, _) in FORMATS {
            let text = fs::read_to_string(folder.path(format!("notes/{kind}.{ending}"))).unwrap();
            for (tool, arguments) in WRITES {
                let reply = client.call(tool, arguments(&anchor, &text));
                assert!(!reply.is_error, "{kind}.{ending}: {}", reply.text);
                shown += &reply.result.to_string();
            }
        }
        let marker = format!("«redacted:{kind}»");
        assert!(shown_by(&folder, None).contains(&marker), "{kind}");
        for (tool, arguments) in NAMES {
            let secret = make(&mut dice);
            words.extend(secret.words.into_iter().map(|it| (it, format!("{kind} to {tool}"))));
            let reply = client.call(tool, arguments(&anchor, &secret.text));
            assert!(!reply.is_error, "{tool}, {kind}: {}", reply.text);
            shown += &reply.result.to_string();
        }
        // The reply may repeat the argument; the log and the database may not.
        for (tool, name) in ASKED {
            let secret = make(&mut dice);
            words.extend(secret.words.into_iter().map(|it| (it, format!("{kind} asked {tool}"))));
            let ask = json!({"name": tool, "arguments": {*name: secret.text}});
            let id = client.request("tools/call", ask);
            client.reply(id);
        }
    }
    shown += &all_shown(&mut client);
    assert_gone(&folder, &shown, &words, "what agents write");
}

/// Hiding places beside the plain text of a format: a file, and the secret's place in it.
const PLACES: &[(&str, &str)] = &[
    ("href.html", "<p>a <a href=\"https://example.com/?k=§\">link</a></p>"),
    ("src.html", "<p>a <img src=\"pic.png?k=§\" alt=\"§\" title=\"§\"></p>"),
    ("title.html", "<html><head><title>Mail §</title></head><body><p>x</p></body></html>"),
    ("entities.html", "<p>&#xE0;&amp;<code>§</code></p><td data-k=\"§\">y</td>"),
    ("attribute.mdx", "# A\n\n<Card key=\"§\">\ntext\n</Card>\n"),
    ("raw.md", "a <span title=\"§\">b</span>\n\n<div data-key=\"§\">\nx\n</div>\n"),
    ("link.md", "See [§](a.md) and [b](https://x.org/?k=§ \"§\") and ![§](§.png).\n\n[r]: /§\n"),
    (
        "wiki.md",
        "See [[§; w=2]] and [[a#§|§]] and ![[§]] and <knowledge weight=\"2\">§</knowledge>.\n",
    ),
    ("code.md", "Inline `§`.\n\n    indented §\n\n```§\nx\n```\n\n~~~sh §\ny\n~~~\n"),
    ("heading.md", "# § one\n\nSetext §\n======\n\n| a | § |\n|---|---|\n| § | b |\n\n[^1]: §\n"),
    ("front.md", "---\ntitle: §\n§: x\ntags: [a, §]\nalias: \"§\"\n---\n\ntext\n"),
    ("front-toml.md", "+++\ntitle = \"§\"\n[extra]\nk = \"§\"\n+++\n\ntext\n"),
    ("names.json", "{\"§\": 1, \"a\": {\"§\": [\"§\", {\"§\": null}]}}"),
    ("names.yaml", "§: 1\na:\n  - §: b\n# a comment §\n"),
    ("names.toml", "\"§\" = 1\n[a.\"§\"]\nb = 2 # §\n"),
    ("names.toon", "rows[2]{a,§}:\n  1,§\n  2,x\n"),
    ("names.csv", "a,§\n1,§\n"),
    (
        "names.jsonl",
        "{\"§\": 1}\n{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"§\"}]}\n",
    ),
    (
        "drawer.org",
        "* TODO § :tag:\n:PROPERTIES:\n:KEY: §\n:END:\n#+TITLE: §\n[[https://x/§][§]]\n",
    ),
    ("field.rst", ":key: §\n\n.. note:: §\n\n.. _§: https://x/§\n"),
    ("crlf.md", "# A\r\n\r\ntext § here\r\n\r\n- §\r\n"),
    ("bom.txt", "\u{feff}§\n"),
    ("math.html", "<p><math><mtext>§</mtext></math></p>"),
    ("comment.html", "<!-- § --><p>x</p><script>var a = '§'</script><style>§</style>"),
    ("long.txt", "word word word word word word word word word word word word word word §\n"),
    ("deep/§/inner.md", "# x\n"),
    ("name-§.md", "# x\n\ntext\n"),
];

#[test]
fn a_secret_is_found_wherever_it_hides() {
    let mut dice = Dice::new(77);
    let folder = Folder::new();
    let mut words = Vec::new();
    let mut fill = |text: &str, place: &str| {
        let mut out = String::new();
        for part in text.split('§') {
            if !out.is_empty() || !std::ptr::eq(part.as_ptr(), text.as_ptr()) {
                let key = chars(&mut dice, UPPER, 16);
                out += &format!("AKIA{key}");
                words.push((key, place.to_owned()));
            }
            out += part;
        }
        out
    };
    for (place, text) in PLACES {
        let path = fill(place, place);
        folder.write(format!("notes/{path}"), fill(text, place));
    }
    let wide = fill("text § here\n", "utf16");
    let wide = |end: fn(u16) -> [u8; 2]| -> Vec<u8> {
        std::iter::once(0xfeff).chain(wide.encode_utf16()).flat_map(end).collect()
    };
    folder.write("notes/le.txt", wide(u16::to_le_bytes));
    folder.write("notes/be.txt", wide(u16::to_be_bytes));
    // A secret on either side of the place where a long text is split into nodes.
    let mut long = String::new();
    for nth in 0..400 {
        long += &fill(&format!("{} § ", "word ".repeat(nth % 7)), "split");
    }
    folder.write("notes/split.txt", &long);
    folder.write("notes/split.md", &long);
    let shown = DOORS[0].1(&folder);
    assert_gone(&folder, &shown, &words, "compile");
}

#[test]
fn messages_and_roots_are_scrubbed_too() {
    let mut dice = Dice::new(78);
    let secrets: Vec<String> =
        (0..2).map(|_| format!("AKIA{}", chars(&mut dice, UPPER, 16))).collect();
    let folder = Folder::new();
    let root = format!("notes-{}", secrets[0]);
    folder.write(format!("{root}/a.md"), "# x\n\ntext\n");
    let message = format!("with {}", secrets[1]);
    let args = ["compile", &root, "--db", "memory.db", "-m", &message];
    let first = folder.run(args);
    folder.write(format!("{root}/a.md"), "# x\n\nother text\n");
    folder.date(format!("{root}/a.md"), 5);
    let second = folder.run(args);
    assert_eq!(
        second.stdout, "compiled: 0 added, 1 modified, 0 removed (1 ops)\n",
        "{}",
        second.stderr
    );
    let file = format!("{root}/a.md");
    let third = folder.ok(["compile", &file, "--db", "memory.db"]);
    assert_eq!(third, "compiled: 0 added, 0 modified, 0 removed (0 ops)\n");
    let shown = first.transcript() + &second.transcript() + &third;
    let words: Vec<_> =
        secrets.iter().map(|it| (it.clone(), "root or message".to_owned())).collect();
    assert_gone(&folder, &shown, &words, "compile");
    let facts: Value = folder.facts("memory.db");
    assert_eq!(facts["nodes"], json!(2), "{facts}");
}

const OLD: &str = "AKIAQ7RM2XNVT5WZ3KLD";

/// Returns a memory with a secret in it, as one made before its detector has.
fn old_memory() -> Folder {
    let folder = Folder::new().file("notes/a.md", "# Deploy\n\nUse SECRET.\n\nAnd so on.\n");
    folder.ok(["compile", "notes", "--db", "memory.db", "-m", "first"]);
    folder.write("notes/a.md", "# Deploy\n\nUse nothing, SECRET neither.\n\nAnd so on.\n");
    folder.date("notes/a.md", 9);
    folder.ok(["compile", "notes", "--db", "memory.db", "-m", "second"]);
    let sql = "
        UPDATE node SET content = replace(content, 'SECRET', ?1);
        UPDATE blob SET content = replace(content, 'SECRET', ?1);
        UPDATE snapshot SET message = message || ' ' || ?1 WHERE id = 1;";
    let database = folder.database("memory.db");
    for sql in sql.split(';').filter(|it| !it.trim().is_empty()) {
        database.execute(sql, [OLD]).unwrap();
    }
    drop(database);
    folder
}

fn old_words() -> Vec<(String, String)> {
    vec![(OLD.to_owned(), "an old secret".to_owned())]
}

#[test]
fn redact_takes_secrets_out_of_an_old_memory() {
    let folder = old_memory();
    folder.check_session(expect![[r#"
        $ redact --dry-run
        would have redacted 1 secret in 1 node, 1 earlier version and 1 path or message: 1 aws_access_key; nothing was changed
        ! remindb: using `memory.db` in this folder; a new memory would be in `.remindb`
        = 1
        $ redact
        redacted 1 secret in 1 node, 1 earlier version and 1 path or message: 1 aws_access_key; nothing is left in the file
        ! remindb: using `memory.db` in this folder; a new memory would be in `.remindb`
        = 0
        $ redact
        no secret was found; nothing is left in the file
        ! remindb: using `memory.db` in this folder; a new memory would be in `.remindb`
        = 0
    "#]]);
    folder.assert_healthy("memory.db");
    assert_gone(&folder, "", &old_words(), "redact");
    let again = folder.ok(["compile", "notes", "--db", "memory.db"]);
    assert_eq!(again, "compiled: 0 added, 0 modified, 0 removed (0 ops)\n");
    folder.check_session(expect![[r#"
        $ redact --db nowhere.db
        ! remindb: no database at `nowhere.db`; make one with `remindb compile FOLDER --db nowhere.db`
        = 2
    "#]]);
}

const TICKET: &str = "TKT-48213377";

#[test]
fn redact_knows_the_kinds_of_the_folder_that_is_named() {
    let folder = Folder::new()
        .file("notes/a.md", format!("# Ticket {TICKET}\n\nSee [[Ticket {TICKET}]].\n"))
        .file("other/b.md", "# Other\n");
    folder.ok(["compile", "notes", "--db", "memory.db"]);
    folder.ok(["compile", "other", "--db", "memory.db"]);
    let custom = json!([{"kind": "ticket", "pattern": r"TKT-\d{8}"}]);
    let settings = json!({"redaction": {"custom": custom, "disable_builtin_kinds": ["jwt"]}});
    folder.write("notes/.remindb/config.json", settings.to_string());
    folder.check_session(expect![[r#"
        $ redact --dry-run --source other
        no secret was found; nothing was changed
        ! remindb: using `memory.db` in this folder; a new memory would be in `.remindb`
        = 0
        $ redact --dry-run --source notes
        would have redacted 1 secret in 2 nodes and 0 earlier versions: 1 ticket; nothing was changed
        ! remindb: using `memory.db` in this folder; a new memory would be in `.remindb`
        ! remindb: warning: `redaction.disable_builtin_kinds` is not followed: it would let secrets into the memory; start with --trust-workspace to allow it
        = 1
        $ redact --dry-run
        no secret was found; nothing was changed
        ! remindb: using `memory.db` in this folder; a new memory would be in `.remindb`
        = 0
        $ redact --dry-run --source notes --trust-workspace
        would have redacted 1 secret in 2 nodes and 0 earlier versions: 1 ticket; nothing was changed
        ! remindb: using `memory.db` in this folder; a new memory would be in `.remindb`
        = 1
        $ redact --source nowhere
        ! remindb: using `memory.db` in this folder; a new memory would be in `.remindb`
        ! remindb: `nowhere` is no folder; name one whose settings are to be used
        = 2
    "#]]);
    folder.ok(["redact", "--source", "notes"]);
    folder.assert_healthy("memory.db");
    assert_gone(&folder, "", &[(TICKET.to_owned(), "a ticket".to_owned())], "redact");
    let again = folder.ok(["compile", "notes", "--db", "memory.db"]);
    assert!(again.starts_with("compiled: 0 added, 0 modified, 0 removed (0 ops)"), "{again}");
}

#[test]
fn a_folders_broken_settings_stop_redact() {
    let folder = Folder::new().file("notes/a.md", "# A\n");
    folder.ok(["compile", "notes", "--db", "memory.db"]);
    folder.write("notes/.remindb/config.json", "{");
    let shown = folder.run(["redact", "--source", "notes"]);
    assert_eq!(shown.code, Some(2), "{}", shown.transcript());
    assert!(shown.stderr.contains("/notes`"), "{}", shown.stderr);
}

#[test]
fn redact_works_while_a_server_is_up() {
    let folder = old_memory();
    let mut client = Client::legacy(&folder, &["--db", "memory.db"]);
    let found = client.text("MemorySearch", json!({"query": "deploy"}));
    assert!(found.contains("Deploy"), "{found}");
    let shown: Value = serde_json::from_str(&folder.ok(["redact", "--json"])).unwrap();
    assert_eq!((&shown["secrets"], &shown["left"]), (&json!(1), &json!([])), "{shown}");
    let shown = client.text("MemorySearch", json!({"query": "neither", "detail": "full"}));
    assert!(shown.contains("«redacted:aws_access_key»"), "{shown}");
    client.end();
    assert_gone(&folder, &shown, &old_words(), "redact");
    folder.assert_healthy("memory.db");
}

#[test]
fn a_kill_leaves_the_old_memory_or_the_new_one() {
    let folder = old_memory();
    for _ in 0..4 {
        let mut child = folder.command(["redact"]).spawn().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        let state = folder.run(["doctor"]).stdout;
        assert!(state.contains("✓ fingerprint") && state.contains("✓ integrity_check"), "{state}");
    }
    let shown = folder.ok(["redact"]);
    assert!(shown.ends_with("nothing is left in the file\n"), "{shown}");
    folder.assert_healthy("memory.db");
    assert_gone(&folder, "", &old_words(), "redact");
}

#[test]
fn whatever_erases_and_the_doctor_name_the_copies_that_a_kill_left() {
    let folder = Folder::new();
    folder.ok(["write", "Nothing.", "--db", "m.db"]);
    let left = [".m.db.0.draft", ".m.db.before-restore.0.draft", ".m.db.damaged.0.draft-wal"];
    let others = [".m.db.draft", ".m.db.new.x.draft", ".m.db.new.1.draft"];
    for name in left.iter().chain(&others) {
        folder.write(name, "what was there");
    }
    // A process is at work on this one.
    let draft = fs::File::open(folder.path(".m.db.new.1.draft")).unwrap();
    draft.lock().unwrap();
    let check = |shown: &str| {
        for name in left {
            assert!(shown.contains(&format!("{name}`")), "{name}: {shown}");
        }
        for name in others {
            assert!(!shown.contains(name), "{name}: {shown}");
        }
        let says = "that may have what was redacted or deleted: ";
        assert!(shown.contains(says) && shown.contains("; delete them, unless"), "{shown}");
    };
    check(&folder.ok(["redact", "--db", "m.db"]));
    check(&folder.ok(["gc", "--db", "m.db"]));
    check(&folder.ok(["doctor", "--db", "m.db"]));
    folder.ok(["write", "Something.", "--db", "m.db"]);
    check(&folder.ok(["rollback", "1", "--drop-after", "--db", "m.db"]));
    for command in ["redact", "gc"] {
        let as_json = folder.ok([command, "--db", "m.db", "--json"]);
        let as_json: Value = serde_json::from_str(&as_json).unwrap();
        assert_eq!(as_json["unfinished_copies"].as_array().unwrap().len(), 3, "{as_json}");
    }
}

/// A backup and an export have names that the user gave them.
#[test]
fn copies_that_a_kill_left_are_named_whatever_they_were_to_become() {
    let folder = Folder::new();
    folder.ok(["write", "Nothing.", "--db", "m.db"]);
    let left = [".copy1.0.draft", ".n.db.new.12.draft-wal", ".out.jsonl.0.draft", ".notes.0.draft"];
    let others =
        [".0.draft", "copy1.0.draft", ".copy1.draft", ".copy1.0.draft.txt", ".copy1.1.draft"];
    for name in left[..3].iter().chain(&others) {
        folder.write(name, "what was there");
    }
    folder.write(".notes.0.draft/a.md", "what was there");
    folder.write(".notes.1.draft/a.md", "what will be there");
    // Processes are at work on these.
    let held = [".copy1.1.draft", ".notes.1.draft"].map(|it| {
        let draft = fs::File::open(folder.path(it)).unwrap();
        draft.lock().unwrap();
        draft
    });
    let others = others.iter().chain(&[".notes.1.draft"]);
    for command in ["redact", "gc", "doctor"] {
        let shown = folder.ok([command, "--db", "m.db"]);
        for name in left {
            assert!(shown.contains(&format!("/{name}`")), "{command}: {name}: {shown}");
        }
        for name in others.clone() {
            assert!(!shown.contains(&format!("/{name}`")), "{command}: {name}: {shown}");
        }
    }
    drop(held);
}

#[test]
fn a_memory_that_is_named_like_a_copy_is_none() {
    let folder = Folder::new();
    let db = ".m.0.draft";
    folder.ok(["write", "Nothing.", "--db", db]);
    let server = Client::legacy(&folder, &["--db", db]);
    for command in ["redact", "gc", "doctor"] {
        let shown = folder.ok([command, "--db", db]);
        assert!(!shown.contains("unfinished"), "{command}: {shown}");
    }
    server.end();
}

#[test]
fn whatever_erases_and_the_doctor_name_the_logs_that_were_kept() {
    let folder = Folder::new();
    folder.ok(["write", "Nothing.", "--db", "m.db"]);
    let redact = ["redact", "--db", "m.db"];
    assert!(!folder.ok(redact).contains("m.db-wal"));
    for name in ["m.db-wal.kept", "m.db-wal.kept-2", "m.db-wal.kept.7-1.draft", "m.db-walk.kept"] {
        folder.write(name, "what a log held");
    }
    let names = ["m.db-wal.kept", "m.db-wal.kept-2", "m.db-wal.kept.7-1.draft"];
    let redacted = folder.ok(redact);
    for name in names {
        assert!(redacted.contains(&format!("{name}`")), "{name}: {redacted}");
    }
    assert!(!redacted.contains("m.db-walk"), "{redacted}");
    assert!(redacted.contains("may have what was redacted"), "{redacted}");
    assert!(redacted.ends_with("then delete them\n"), "{redacted}");
    let as_json: Value =
        serde_json::from_str(&folder.ok(["redact", "--db", "m.db", "--json"])).unwrap();
    assert_eq!(as_json["kept_logs"].as_array().unwrap().len(), 3, "{as_json}");
    folder.ok(["write", "Something.", "--db", "m.db"]);
    let rolled = folder.ok(["rollback", "1", "--drop-after", "--db", "m.db"]);
    for erased in [folder.ok(["gc", "--db", "m.db"]), rolled] {
        assert!(erased.contains("m.db-wal.kept-2`"), "{erased}");
        assert!(erased.contains("that may have what was redacted or deleted: "), "{erased}");
    }
    let as_json: Value =
        serde_json::from_str(&folder.ok(["gc", "--db", "m.db", "--json"])).unwrap();
    assert_eq!(as_json["kept_logs"].as_array().unwrap().len(), 3, "{as_json}");
    let examined = folder.ok(["doctor", "--db", "m.db"]);
    assert!(examined.contains("m.db-wal.kept-2`"), "{examined}");
    folder.assert_healthy("m.db");
}
