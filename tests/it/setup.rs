//! Tests setting up clients: the files written, and their complete removal.
//!
//! `DIR` is the test's own folder, with the user's home in `home` and a project in `project`.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use expect_test::{Expect, expect};
use serde_json::Value;

use super::support::{Folder, Ran};

const CLIENTS: &[&str] =
    &["claude-code", "codex", "gemini-cli", "opencode", "qwen-code", "cursor", "vscode"];

fn world() -> Folder {
    Folder::new().file("home/.keep", "").file("project/.keep", "")
}

fn command(folder: &Folder, args: &str) -> Command {
    let mut command = folder.command(["setup"].into_iter().chain(args.split_whitespace()));
    for name in ["CLAUDE_CONFIG_DIR", "CODEX_HOME"] {
        command.env_remove(name);
    }
    for name in ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"] {
        command.env_remove(name);
    }
    command.current_dir(folder.path("project")).env("HOME", folder.path("home"));
    command
}

#[track_caller]
fn setup(folder: &Folder, args: &str) -> Ran {
    Ran::of(folder, &mut command(folder, args))
}

/// Runs the command, which has to succeed.
#[track_caller]
fn ok(folder: &Folder, args: &str) -> String {
    let ran = setup(folder, args);
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    ran.stdout
}

/// Runs the command, which has to be refused and to change nothing.
#[track_caller]
fn check_refused(folder: &Folder, args: &str, expected: Expect) {
    let before = everything(folder);
    let ran = setup(folder, args);
    expected.assert_eq(&ran.transcript());
    assert_eq!(ran.code, Some(2));
    assert_eq!(everything(folder), before);
}

/// Returns every file with its text and mode, every folder and every link, by path.
fn everything(folder: &Folder) -> BTreeMap<String, String> {
    fn walk(base: &Path, at: &Path, all: &mut BTreeMap<String, String>) {
        for entry in fs::read_dir(at).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(base).unwrap().to_str().unwrap().to_owned();
            let meta = fs::symlink_metadata(&path).unwrap();
            if meta.is_dir() {
                all.insert(name, "folder".to_owned());
                walk(base, &path, all);
            } else if meta.is_symlink() {
                all.insert(name, fs::read_link(&path).unwrap().display().to_string());
            } else {
                let bytes = fs::read(&path).unwrap();
                let text = String::from_utf8_lossy(&bytes);
                all.insert(name, format!("{:o} {text}", meta.permissions().mode()));
            }
        }
    }
    let mut all = BTreeMap::new();
    walk(&folder.path(""), &folder.path(""), &mut all);
    all
}

fn text(folder: &Folder, path: &str) -> String {
    let program = env!("CARGO_BIN_EXE_remindb");
    let text = fs::read_to_string(folder.path(path)).unwrap();
    text.replace(folder.path("").to_str().unwrap().trim_end_matches('/'), "DIR")
        .replace(program, "PROGRAM")
}

/// Returns the copies of a file, oldest first.
fn copies(folder: &Folder, path: &str) -> Vec<String> {
    let all = everything(folder);
    let is_copy = |it: &&String| it.starts_with(path) && it.ends_with(".backup");
    all.keys().filter(is_copy).cloned().collect()
}

#[test]
fn a_project_gets_a_server_and_two_skills() {
    let folder = world();
    let shown = ok(&folder, "claude-code --source .");
    let shown = shown.replace(folder.path("").to_str().unwrap(), "DIR/");
    expect![[r#"
        made DIR/project/.mcp.json
        made DIR/project/.claude/settings.json
        made DIR/project/.claude/skills/remindb-read/SKILL.md
        made DIR/project/.claude/skills/remindb-write/SKILL.md
        allowed 17 tools to read and write the memory without asking; it asks before MemoryRollback
        to be asked each time: remindb setup claude-code --ask
        added hooks: the agent is told what the memory holds, and a note of each session is kept
        to leave them out: remindb setup claude-code --no-hooks
        next: start Claude Code here and approve the server; `/mcp` shows it
    "#]]
    .assert_eq(&shown);
    expect![[r#"
        {
          "mcpServers": {
            "remindb": {
              "type": "stdio",
              "command": "PROGRAM",
              "args": ["serve", "--db", "DIR/project/memory.db", "--source", "DIR/project"]
            }
          }
        }
    "#]]
    .assert_eq(&text(&folder, "project/.mcp.json"));
    let skill = text(&folder, "project/.claude/skills/remindb-read/SKILL.md");
    assert!(skill.starts_with("---\nname: remindb-read\ndescription: "), "{skill}");
}

/// Compares a client's settings, and the output about the permissions in them.
#[track_caller]
fn check_allowed(args: &str, path: &str, expected: Expect) {
    let folder = world();
    let shown = ok(&folder, &format!("{args} --no-hooks"));
    let shown =
        shown.lines().filter(|it| it.starts_with("allowed") || it.starts_with("to be asked"));
    let shown: String = shown.map(|it| format!("{it}\n")).collect();
    expected.assert_eq(&(text(&folder, path) + &shown));
}

#[test]
fn claude_code_may_use_each_tool_that_can_be_undone() {
    check_allowed(
        "claude-code",
        "project/.claude/settings.json",
        expect![[r#"
            {
              "permissions": {
                "allow": [
                  "mcp__remindb__MemoryCompile",
                  "mcp__remindb__MemoryDelta",
                  "mcp__remindb__MemoryDiff",
                  "mcp__remindb__MemoryFetch",
                  "mcp__remindb__MemoryFetchBatch",
                  "mcp__remindb__MemoryForget",
                  "mcp__remindb__MemoryHistory",
                  "mcp__remindb__MemoryPin",
                  "mcp__remindb__MemoryRelate",
                  "mcp__remindb__MemoryRelated",
                  "mcp__remindb__MemorySearch",
                  "mcp__remindb__MemoryStats",
                  "mcp__remindb__MemorySummarize",
                  "mcp__remindb__MemoryTree",
                  "mcp__remindb__MemoryUnpin",
                  "mcp__remindb__MemoryUnrelate",
                  "mcp__remindb__MemoryWrite"
                ]
              }
            }
            allowed 17 tools to read and write the memory without asking; it asks before MemoryRollback
            to be asked each time: remindb setup claude-code --ask
        "#]],
    );
    check_allowed(
        "claude-code --scope user --tools core",
        "home/.claude/settings.json",
        expect![[r#"
            {
              "permissions": {
                "allow": [
                  "mcp__remindb__MemoryDelta",
                  "mcp__remindb__MemoryFetch",
                  "mcp__remindb__MemoryFetchBatch",
                  "mcp__remindb__MemorySearch",
                  "mcp__remindb__MemoryStats",
                  "mcp__remindb__MemoryTree",
                  "mcp__remindb__MemoryWrite"
                ]
              }
            }
            allowed 7 tools to read and write the memory without asking
            to be asked each time: remindb setup claude-code --scope user --ask
        "#]],
    );
}

#[test]
fn codex_asks_for_what_cannot_be_undone() {
    check_allowed(
        "codex",
        "project/.codex/config.toml",
        expect![[r#"
            [mcp_servers.remindb]
            command = "PROGRAM"
            args = ["serve", "--db", "DIR/project/memory.db"]
            default_tools_approval_mode = "approve"

            [mcp_servers.remindb.tools.MemoryRollback]
            approval_mode = "prompt"
            allowed 17 tools to read and write the memory without asking; it asks before MemoryRollback
            to be asked each time: remindb setup codex --ask
        "#]],
    );
    check_allowed(
        "codex --tools core",
        "project/.codex/config.toml",
        expect![[r#"
        [mcp_servers.remindb]
        command = "PROGRAM"
        args = ["serve", "--db", "DIR/project/memory.db", "--tools", "core"]
        default_tools_approval_mode = "approve"
        allowed 7 tools to read and write the memory without asking
        to be asked each time: remindb setup codex --ask
    "#]],
    );
}

#[test]
fn gemini_trusts_the_server_and_asks_for_what_cannot_be_undone() {
    check_allowed(
        "gemini-cli",
        "project/.gemini/settings.json",
        expect![[r#"
            {
              "mcpServers": {
                "remindb": {
                  "command": "PROGRAM",
                  "args": ["serve", "--db", "DIR/project/memory.db"],
                  "trust": true
                }
              },
              "tools": {
                "confirmationRequired": ["mcp_remindb_MemoryRollback"]
              }
            }
            allowed 17 tools to read and write the memory without asking; it asks before MemoryRollback
            to be asked each time: remindb setup gemini-cli --ask
        "#]],
    );
}

#[test]
fn qwen_trusts_the_server_and_asks_for_what_cannot_be_undone() {
    check_allowed(
        "qwen-code --scope user",
        "home/.qwen/settings.json",
        expect![[r#"
            {
              "mcpServers": {
                "remindb": {
                  "command": "PROGRAM",
                  "args": ["serve", "--db", "DIR/home/.local/share/remindb/memory.db"],
                  "trust": true
                }
              },
              "permissions": {
                "ask": ["mcp__remindb__MemoryRollback"]
              }
            }
            allowed 17 tools to read and write the memory without asking; it asks before MemoryRollback
            to be asked each time: remindb setup qwen-code --scope user --ask
        "#]],
    );
}

#[test]
fn opencode_asks_for_what_cannot_be_undone() {
    check_allowed(
        "opencode",
        "project/opencode.json",
        expect![[r#"
            {
              "mcp": {
                "remindb": {
                  "type": "local",
                  "command": ["PROGRAM", "serve", "--db", "DIR/project/memory.db"]
                }
              },
              "permission": {
                "remindb_MemoryRollback": "ask"
              }
            }
            allowed 17 tools to read and write the memory without asking; it asks before MemoryRollback
            to be asked each time: remindb setup opencode --ask
        "#]],
    );
}

/// Compares the file with a client's hooks, below the lines about them. Without hooks it is not
/// made; leaving them out later takes exactly them away.
#[track_caller]
fn check_hooks(args: &str, path: &str, expected: Expect) {
    let (folder, without) = (world(), world());
    let said = ok(&folder, &format!("{args} --ask"));
    let said = said.lines().skip_while(|it| !it.starts_with("added hooks")).take(2);
    let said: String = said.map(|it| format!("{it}\n")).collect();
    expected.assert_eq(&(said + &text(&folder, path)));
    let before = everything(&folder);
    ok(&folder, &format!("{args} --ask"));
    assert_eq!(everything(&folder), before, "a second run");

    let said = ok(&without, &format!("{args} --ask --no-hooks"));
    assert!(!said.contains("hooks"), "{said}");
    ok(&folder, &format!("{args} --ask --no-hooks"));
    let left = everything(&folder).remove(path).unwrap_or_default();
    assert!(!left.contains(" hook "), "{left}");
    ok(&folder, &format!("{args} --ask"));
    ok(&folder, &format!("{args} --remove"));
    assert_eq!(everything(&folder), everything(&world()));
}

#[test]
fn claude_code_calls_hooks_of_its_settings() {
    check_hooks(
        "claude-code",
        "project/.claude/settings.json",
        expect![[r#"
        added hooks: the agent is told what the memory holds, and a note of each session is kept
        to leave them out: remindb setup claude-code --no-hooks
        {
          "hooks": {
            "SessionStart": [
              {"hooks": [{"type": "command", "command": "PROGRAM hook session-start --client claude-code --db DIR/project/memory.db || true", "timeout": 3}]}
            ],
            "UserPromptSubmit": [
              {"hooks": [{"type": "command", "command": "PROGRAM hook prompt --client claude-code --db DIR/project/memory.db || true", "timeout": 3}]}
            ],
            "PreCompact": [
              {"hooks": [{"type": "command", "command": "PROGRAM hook pre-compact --client claude-code --db DIR/project/memory.db || true", "timeout": 3}]}
            ],
            "SessionEnd": [
              {"hooks": [{"type": "command", "command": "PROGRAM hook session-end --client claude-code --db DIR/project/memory.db || true", "timeout": 3}]}
            ]
          }
        }
    "#]],
    );
    check_hooks(
        "claude-code --scope user",
        "home/.claude/settings.json",
        expect![[r#"
        added hooks: the agent is told what the memory holds, and a note of each session is kept
        to leave them out: remindb setup claude-code --scope user --no-hooks
        {
          "hooks": {
            "SessionStart": [
              {"hooks": [{"type": "command", "command": "PROGRAM hook session-start --client claude-code --db DIR/home/.local/share/remindb/memory.db || true", "timeout": 3}]}
            ],
            "UserPromptSubmit": [
              {"hooks": [{"type": "command", "command": "PROGRAM hook prompt --client claude-code --db DIR/home/.local/share/remindb/memory.db || true", "timeout": 3}]}
            ],
            "PreCompact": [
              {"hooks": [{"type": "command", "command": "PROGRAM hook pre-compact --client claude-code --db DIR/home/.local/share/remindb/memory.db || true", "timeout": 3}]}
            ],
            "SessionEnd": [
              {"hooks": [{"type": "command", "command": "PROGRAM hook session-end --client claude-code --db DIR/home/.local/share/remindb/memory.db || true", "timeout": 3}]}
            ]
          }
        }
    "#]],
    );
}

#[test]
fn codex_calls_hooks_of_a_file_beside_its_settings() {
    check_hooks(
        "codex",
        "project/.codex/hooks.json",
        expect![[r#"
        added hooks: the agent is told what the memory holds, and a note of each session is kept
        to leave them out: remindb setup codex --no-hooks
        {
          "hooks": {
            "SessionStart": [
              {"hooks": [{"type": "command", "command": "PROGRAM hook session-start --client codex --db DIR/project/memory.db || true", "timeout": 3}]}
            ],
            "UserPromptSubmit": [
              {"hooks": [{"type": "command", "command": "PROGRAM hook prompt --client codex --db DIR/project/memory.db || true", "timeout": 3}]}
            ],
            "PreCompact": [
              {"hooks": [{"type": "command", "command": "PROGRAM hook pre-compact --client codex --db DIR/project/memory.db || true", "timeout": 3}]}
            ],
            "SessionEnd": [
              {"hooks": [{"type": "command", "command": "PROGRAM hook session-end --client codex --db DIR/project/memory.db || true", "timeout": 3}]}
            ]
          }
        }
    "#]],
    );
    check_hooks(
        "codex --scope user",
        "home/.codex/hooks.json",
        expect![[r#"
        added hooks: the agent is told what the memory holds, and a note of each session is kept
        to leave them out: remindb setup codex --scope user --no-hooks
        {
          "hooks": {
            "SessionStart": [
              {"hooks": [{"type": "command", "command": "PROGRAM hook session-start --client codex --db DIR/home/.local/share/remindb/memory.db || true", "timeout": 3}]}
            ],
            "UserPromptSubmit": [
              {"hooks": [{"type": "command", "command": "PROGRAM hook prompt --client codex --db DIR/home/.local/share/remindb/memory.db || true", "timeout": 3}]}
            ],
            "PreCompact": [
              {"hooks": [{"type": "command", "command": "PROGRAM hook pre-compact --client codex --db DIR/home/.local/share/remindb/memory.db || true", "timeout": 3}]}
            ],
            "SessionEnd": [
              {"hooks": [{"type": "command", "command": "PROGRAM hook session-end --client codex --db DIR/home/.local/share/remindb/memory.db || true", "timeout": 3}]}
            ]
          }
        }
    "#]],
    );
}

#[test]
fn gemini_calls_hooks_with_a_name() {
    check_hooks(
        "gemini-cli",
        "project/.gemini/settings.json",
        expect![[r#"
        added hooks: the agent is told what the memory holds, and a note of each session is kept
        to leave them out: remindb setup gemini-cli --no-hooks
        {
          "mcpServers": {
            "remindb": {
              "command": "PROGRAM",
              "args": ["serve", "--db", "DIR/project/memory.db"]
            }
          },
          "hooks": {
            "SessionStart": [
              {"hooks": [{"name": "remindb", "type": "command", "command": "PROGRAM hook session-start --client gemini-cli --db DIR/project/memory.db || true", "timeout": 3000}]}
            ],
            "BeforeAgent": [
              {"hooks": [{"name": "remindb", "type": "command", "command": "PROGRAM hook prompt --client gemini-cli --db DIR/project/memory.db || true", "timeout": 3000}]}
            ],
            "PreCompress": [
              {"hooks": [{"name": "remindb", "type": "command", "command": "PROGRAM hook pre-compact --client gemini-cli --db DIR/project/memory.db || true", "timeout": 3000}]}
            ],
            "SessionEnd": [
              {"hooks": [{"name": "remindb", "type": "command", "command": "PROGRAM hook session-end --client gemini-cli --db DIR/project/memory.db || true", "timeout": 3000}]}
            ]
          }
        }
    "#]],
    );
}

#[test]
fn qwen_calls_hooks_after_each_turn_too() {
    check_hooks(
        "qwen-code",
        "project/.qwen/settings.json",
        expect![[r#"
        added hooks: the agent is told what the memory holds, and a note of each session is kept
        to leave them out: remindb setup qwen-code --no-hooks
        {
          "mcpServers": {
            "remindb": {
              "command": "PROGRAM",
              "args": ["serve", "--db", "DIR/project/memory.db"]
            }
          },
          "hooks": {
            "SessionStart": [
              {"hooks": [{"type": "command", "command": "PROGRAM hook session-start --client qwen-code --db DIR/project/memory.db || true", "timeout": 3}]}
            ],
            "UserPromptSubmit": [
              {"hooks": [{"type": "command", "command": "PROGRAM hook prompt --client qwen-code --db DIR/project/memory.db || true", "timeout": 3}]}
            ],
            "PreCompact": [
              {"hooks": [{"type": "command", "command": "PROGRAM hook pre-compact --client qwen-code --db DIR/project/memory.db || true", "timeout": 3}]}
            ],
            "Stop": [
              {"hooks": [{"type": "command", "command": "PROGRAM hook pre-compact --client qwen-code --db DIR/project/memory.db || true", "timeout": 3}]}
            ],
            "SessionEnd": [
              {"hooks": [{"type": "command", "command": "PROGRAM hook session-end --client qwen-code --db DIR/project/memory.db || true", "timeout": 3}]}
            ]
          }
        }
    "#]],
    );
}

#[test]
fn opencode_gets_a_plugin() {
    let source = include_str!("../../src/cli/setup/hooks/opencode.js");
    for (scope, path, db) in [
        ("", "project/.opencode/plugins/remindb.js", "DIR/project/memory.db"),
        (
            " --scope user",
            "home/.config/opencode/plugins/remindb.js",
            "DIR/home/.local/share/remindb/memory.db",
        ),
    ] {
        let folder = world();
        let said = ok(&folder, &format!("opencode{scope}"));
        assert!(said.contains("\nadded hooks: "), "{said}");
        let words = format!(r#"["PROGRAM","hook","--client","opencode","--db","{db}"]"#);
        assert_eq!(text(&folder, path), source.replace(r#"["REMINDB"]"#, &words));
        let before = everything(&folder);
        ok(&folder, &format!("opencode{scope}"));
        assert_eq!(everything(&folder), before, "a second run");
        ok(&folder, &format!("opencode{scope} --no-hooks"));
        assert!(!everything(&folder).contains_key(path));
        ok(&folder, &format!("opencode{scope} --remove"));
        assert_eq!(everything(&folder), everything(&world()));
    }
}

#[test]
fn hooks_join_those_of_the_user_and_leave_them() {
    let mine = "{\n  // mine\n  \"hooks\": {\n    \"SessionStart\": [\n      {\"hooks\": []}\n    ]\n  }\n}\n";
    let folder = world().file("project/.gemini/settings.json", mine);
    let before = everything(&folder);
    ok(&folder, "gemini-cli");
    let now = text(&folder, "project/.gemini/settings.json");
    assert!(now.contains("// mine") && now.contains(r#"{"hooks": []},"#), "{now}");
    ok(&folder, "gemini-cli --remove");
    assert_eq!(everything(&folder), before);
}

#[test]
fn words_of_a_hook_are_quoted_for_the_shell() {
    let folder = world();
    ok(&folder, "claude-code --ask --db it's.db");
    let settings = text(&folder, "project/.claude/settings.json");
    assert!(settings.contains(r"--db 'DIR/project/it'\\''s.db' || true"), "{settings}");
}

#[test]
fn asking_leaves_the_permissions_out_and_takes_them_back() {
    for client in CLIENTS {
        let (asking, changed) = (world(), world());
        let shown = ok(&asking, &format!("{client} --ask"));
        assert!(!shown.contains("without asking"), "{shown}");
        let asked = everything(&asking);
        ok(&changed, client);
        ok(&changed, &format!("{client} --ask"));
        let now = everything(&changed);
        for (path, text) in asked.iter().filter(|(path, _)| path.starts_with("project/")) {
            let text = text.replace(asking.path("").to_str().unwrap(), "");
            let now = now[path].replace(changed.path("").to_str().unwrap(), "");
            assert_eq!(now, text, "{client}: {path}");
        }
        ok(&changed, &format!("{client} --remove"));
        assert_eq!(everything(&changed), everything(&world()), "{client}");
    }
}

#[test]
fn permissions_go_from_settings_that_were_changed_since() {
    for (client, path, settings) in [
        (
            "claude-code",
            ".claude/settings.json",
            "{\n  \"permissions\": {\n    \"allow\": [\"x\"]\n  }\n}\n",
        ),
        ("gemini-cli", ".gemini/settings.json", "{\n  // mine\n  \"ui\": {}\n}\n"),
        ("qwen-code", ".qwen/settings.json", "{\n  \"permissions\": {\n    \"ask\": []\n  }\n}\n"),
        ("opencode", "opencode.json", "{\n  \"permission\": {\n    \"edit\": \"ask\"\n  }\n}\n"),
        ("codex", ".codex/config.toml", "model = 'm'\n\n[tui]\na = 1\n"),
    ] {
        let path = format!("project/{path}");
        let folder = world().file(&path, settings);
        ok(&folder, client);
        let edited = |text: &str| match text.strip_prefix("{\n") {
            Some(rest) => format!("{{\n  \"later\": 1,\n{rest}"),
            None => format!("later = 1\n{text}"),
        };
        let now = fs::read_to_string(folder.path(&path)).unwrap();
        folder.write(&path, edited(&now));
        // Another setup must not make the edit look like one of ours.
        ok(&folder, &format!("{client} --db other.db"));
        ok(&folder, &format!("{client} --remove"));
        let left = fs::read_to_string(folder.path(&path)).unwrap();
        assert_eq!(left, edited(settings), "{client}");
    }
}

#[test]
fn the_server_that_was_written_down_starts() {
    let folder = world();
    for scope in ["project", "user"] {
        ok(&folder, &format!("vscode --scope {scope}"));
    }
    for path in ["project/.vscode/mcp.json", "home/.config/Code/User/mcp.json"] {
        let settings = fs::read_to_string(folder.path(path)).unwrap();
        let settings: Value = serde_json::from_str(&settings).unwrap();
        let server = &settings["servers"]["remindb"];
        let args = server["args"].as_array().unwrap().iter().map(|it| it.as_str().unwrap());
        let mut command = Command::new(server["command"].as_str().unwrap());
        let served = command.args(args).stdin(std::process::Stdio::null()).output().unwrap();
        assert!(served.status.success(), "{}", String::from_utf8_lossy(&served.stderr));
    }
    assert!(folder.path("project/memory.db").exists());
    assert!(folder.path("home/.local/share/remindb/memory.db").exists());
}

#[test]
fn nothing_is_left_when_all_clients_are_removed_again() {
    let folder = world()
        .file("home/.claude.json", "{\"numStartups\": 3, \"projects\": {}}")
        .file("home/.codex/config.toml", "model = 'm' # mine")
        .file("project/.codex/config.toml", "[mcp_servers.remindb]\ncommand = 'old'\n")
        .file("project/opencode.jsonc", "{\n\t// mine\n\t\"mcp\": {},\n}\n")
        .file("project/.gemini/settings.json", "")
        .file("project/.vscode/mcp.json", "{\"servers\": {\"a\": {\"command\": \"x\"}}}\r\n")
        .file("project/.claude/settings.json", "{\"permissions\": {\"deny\": [\"WebFetch\"]}}")
        .file("home/.qwen/settings.json", "{\n  \"permissions\": {\"ask\": [\"x\"]} // mine\n}")
        .file("project/.cursor/skills/remindb-read/SKILL.md", "my own\n");
    let mode = fs::Permissions::from_mode(0o600);
    fs::set_permissions(folder.path("home/.claude.json"), mode).unwrap();
    let before = everything(&folder);
    for n_times in [1, 2] {
        for client in CLIENTS {
            for scope in ["project", "user"] {
                let shown = ok(&folder, &format!("{client} --scope {scope} --json"));
                let shown: Value = serde_json::from_str(&shown).unwrap();
                for file in shown["files"].as_array().unwrap() {
                    let is_change = file["action"] != "left";
                    assert_eq!(is_change, n_times == 1, "{shown}");
                }
            }
        }
    }
    let set_up = everything(&folder);
    let changed = |path: &&String| before.get(*path).is_some_and(|it| *it != set_up[*path]);
    for path in before.keys().filter(changed) {
        let copies = copies(&folder, path);
        assert_eq!(copies.len(), 1, "{path}");
        assert_eq!(set_up[&copies[0]], before[path], "{path}");
    }
    for client in CLIENTS {
        for scope in ["user", "project"] {
            ok(&folder, &format!("{client} --remove --scope {scope}"));
        }
    }
    assert_eq!(everything(&folder), before);
    let ran = setup(&folder, "codex --remove");
    expect![[r#"
        nothing to remove: codex was not set up here (scope project)
        = 1
    "#]]
    .assert_eq(&ran.transcript());
}

#[test]
fn a_dry_run_shows_the_change_and_makes_none() {
    let folder = world().file("project/opencode.json", "{\n  \"model\": \"m\"\n}\n");
    let before = everything(&folder);
    let shown = ok(&folder, "opencode --dry-run");
    let shown = shown.split("would make").next().unwrap();
    let program = env!("CARGO_BIN_EXE_remindb");
    let shown =
        shown.replace(folder.path("").to_str().unwrap(), "DIR/").replace(program, "PROGRAM");
    expect![[r#"
        would change DIR/project/opencode.json
        @@ -1,3 +1,12 @@
         {
        -  "model": "m"
        +  "model": "m",
        +  "mcp": {
        +    "remindb": {
        +      "type": "local",
        +      "command": ["PROGRAM", "serve", "--db", "DIR/project/memory.db"]
        +    }
        +  },
        +  "permission": {
        +    "remindb_MemoryRollback": "ask"
        +  }
         }
    "#]]
    .assert_eq(&shown);
    assert_eq!(everything(&folder), before);
    ok(&folder, "opencode");
    let set_up = everything(&folder);
    let shown = ok(&folder, "opencode --remove --dry-run");
    assert!(shown.contains("would restore "), "{shown}");
    assert_eq!(everything(&folder), set_up);
}

#[test]
fn later_edits_survive_the_removal() {
    let folder = world().file("project/.cursor/mcp.json", "{}\n");
    ok(&folder, "cursor");
    ok(&folder, "claude-code");
    let edit = |path: &str| {
        let settings = fs::read_to_string(folder.path(path)).unwrap();
        folder.write(path, settings.replacen("{\n", "{\n  \"later\": 1,\n", 1));
    };
    edit("project/.cursor/mcp.json");
    edit("project/.mcp.json");
    folder.write("project/.cursor/skills/remindb-read/SKILL.md", "my own now\n");
    // Another setup must not make the edit look like one of ours.
    ok(&folder, "claude-code --db other.db");
    let shown = ok(&folder, "cursor --remove");
    assert!(shown.contains("somebody changed it since"), "{shown}");
    ok(&folder, "claude-code --remove");
    assert_eq!(text(&folder, "project/.cursor/mcp.json"), "{\n  \"later\": 1\n}\n");
    assert_eq!(text(&folder, "project/.mcp.json"), "{\n  \"later\": 1\n}\n");
    assert_eq!(text(&folder, "project/.cursor/skills/remindb-read/SKILL.md"), "my own now\n");
    assert!(!folder.path("project/.cursor/skills/remindb-write").exists());
    assert!(!folder.path("home/.local").exists());
}

#[test]
fn settings_that_are_broken_are_named_and_left() {
    let folder = world()
        .file("project/.mcp.json", "{\n  \"mcpServers\": {\n")
        .file("project/.codex/config.toml", "a = 1\na = 2\n")
        .file("project/.vscode/mcp.json", b"\xff")
        .file("project/.gemini/settings.json/folder", "");
    check_refused(
        &folder,
        "claude-code",
        expect![[r#"
            ! remindb: cannot understand `DIR/project/.mcp.json`: line 2: unterminated object; nothing was changed
            = 2
        "#]],
    );
    check_refused(
        &folder,
        "claude-code --dry-run",
        expect![[r#"
            ! remindb: cannot understand `DIR/project/.mcp.json`: line 2: unterminated object; nothing was changed
            = 2
        "#]],
    );
    check_refused(
        &folder,
        "codex",
        expect![[r#"
        ! remindb: cannot understand `DIR/project/.codex/config.toml`: line 2: duplicate key; nothing was changed
        = 2
    "#]],
    );
    check_refused(
        &folder,
        "vscode",
        expect![[r#"
        ! remindb: cannot read `DIR/project/.vscode/mcp.json`: it is not UTF-8
        = 2
    "#]],
    );
    check_refused(
        &folder,
        "gemini-cli",
        expect![[r#"
        ! remindb: cannot read `DIR/project/.gemini/settings.json`: it is not a file
        = 2
    "#]],
    );
    check_refused(
        &folder,
        "cursor --source nowhere",
        expect![[r#"
        ! remindb: no folder `DIR/project/nowhere`
        = 2
    "#]],
    );
    folder.write("home/.local/state/remindb/setup.json", "[");
    check_refused(
        &folder,
        "cursor",
        expect![[r#"
        ! remindb: cannot understand `DIR/home/.local/state/remindb/setup.json`: EOF while parsing a list at line 1 column 1; move it away, and undo by hand what it lists
        = 2
    "#]],
    );
}

#[test]
fn settings_that_no_edit_keeps_come_with_what_to_paste() {
    let folder = world().file("project/.codex/config.toml", "a = 1\r\nb = 2\n");
    let ran = setup(&folder, "codex --db /m.db");
    let program = env!("CARGO_BIN_EXE_remindb");
    expect![[r#"
        ! remindb: cannot edit `DIR/project/.codex/config.toml`: it is written in a way that no edit here keeps; add this by hand:
        ! [mcp_servers.remindb]
        ! command = "PROGRAM"
        ! args = ["serve", "--db", "/m.db"]
        = 2
    "#]].assert_eq(&ran.transcript().replace(program, "PROGRAM"));
}

#[test]
fn read_only_files_stay() {
    let folder = world().file("project/.mcp.json", "{}");
    let mode = fs::Permissions::from_mode(0o444);
    fs::set_permissions(folder.path("project/.mcp.json"), mode).unwrap();
    check_refused(
        &folder,
        "claude-code",
        expect![[r#"
        ! remindb: cannot change `DIR/project/.mcp.json`: it is read-only; make it writable first
        = 2
    "#]],
    );
}

#[test]
fn links_are_kept_in_a_home_and_may_not_leave_a_project() {
    let folder = world()
        .file("dotfiles/config.toml", "model = 'm'\n")
        .file("project/inside.json", "{}")
        .file("elsewhere/.keep", "");
    fs::create_dir(folder.path("home/.codex")).unwrap();
    symlink(folder.path("dotfiles/config.toml"), folder.path("home/.codex/config.toml")).unwrap();
    symlink("inside.json", folder.path("project/.mcp.json")).unwrap();
    symlink(folder.path("elsewhere"), folder.path("project/.agents")).unwrap();
    symlink("nowhere", folder.path("project/opencode.json")).unwrap();
    let before = everything(&folder);
    check_refused(
        &folder,
        "codex",
        expect![[r#"
        ! remindb: cannot follow `DIR/project/.agents/skills/remindb-read/SKILL.md`: it is a link that leads out of the project
        = 2
    "#]],
    );
    check_refused(
        &folder,
        "opencode",
        expect![[r#"
        ! remindb: cannot follow `DIR/project/opencode.json`: it is a link that leads nowhere
        = 2
    "#]],
    );
    ok(&folder, "codex --scope user");
    ok(&folder, "claude-code");
    assert!(text(&folder, "dotfiles/config.toml").contains("[mcp_servers.remindb]"));
    assert!(text(&folder, "project/inside.json").contains("\"remindb\""));
    ok(&folder, "codex --scope user --remove");
    ok(&folder, "claude-code --remove");
    assert_eq!(everything(&folder), before);
}

#[test]
fn the_environment_says_where_a_user_keeps_things() {
    let folder = world();
    let mut command = command(&folder, "claude-code --scope user");
    command.env("CLAUDE_CONFIG_DIR", folder.path("home/cc"));
    command.env("XDG_DATA_HOME", folder.path("home/data"));
    command.env("XDG_STATE_HOME", folder.path("home/state"));
    let ran = Ran::of(&folder, &mut command);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let settings = text(&folder, "home/cc/.claude.json");
    assert!(settings.contains("DIR/home/data/remindb/memory.db"), "{settings}");
    assert!(folder.path("home/cc/skills/remindb-write/SKILL.md").exists());
    assert!(folder.path("home/state/remindb/setup.json").exists());
}

#[test]
fn the_skills_name_only_tools_that_there_are() {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let readme = fs::read_to_string(readme).unwrap();
    let mut named = Vec::new();
    for skill in ["read", "write"] {
        let path = format!("skills/{skill}.md");
        let skill = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap();
        let words = skill.split(|it: char| !it.is_alphanumeric());
        named.extend(words.filter(|it| it.starts_with("Memory")).map(str::to_owned));
    }
    for tool in &named {
        assert!(readme.contains(&format!("\n| `{tool}` |")), "{tool}");
    }
    for row in readme.lines().filter_map(|it| it.strip_prefix("| `Memory")) {
        let tool = format!("Memory{}", row.split('`').next().unwrap());
        assert!(named.contains(&tool), "{tool}");
    }
}
