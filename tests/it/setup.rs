//! Tests setting up clients: the files written, and their complete removal.
//!
//! `DIR` is the test's own folder, with the user's home in `home` and a project in `project`.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use super::support::{Folder, Ran};

/// Every client, and whether it has settings of a project.
const CLIENTS: &[(&str, bool)] = &[
    ("claude-code", true),
    ("claude-desktop", false),
    ("codex", true),
    ("gemini-cli", true),
    ("opencode", true),
    ("qwen-code", true),
    ("copilot-cli", true),
    ("cursor", true),
    ("vscode", true),
    ("windsurf", false),
    ("cline", false),
    ("zed", true),
    ("amp", true),
    ("crush", true),
    ("droid", true),
    ("goose", false),
];

/// Returns the scopes of every client.
fn all_scopes() -> impl Iterator<Item = (&'static str, &'static str)> {
    CLIENTS.iter().flat_map(|(client, has_project)| {
        let scopes = if *has_project { &["project", "user"][..] } else { &["user"] };
        scopes.iter().map(|scope| (*client, *scope))
    })
}

fn world() -> Folder {
    Folder::new().file("home/.keep", "").file("project/.keep", "")
}

fn command(folder: &Folder, args: &str) -> Command {
    let mut command = folder.command(["setup"].into_iter().chain(args.split_whitespace()));
    for name in ["CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME"] {
        command.env_remove(name);
    }
    // The client finds the program here.
    command.env("PATH", Path::new(env!("CARGO_BIN_EXE_remindb")).parent().unwrap());
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
        memory: DIR/project/.remindb/memory.db (the server makes it)
        allowed 23 tools to read and write the memory without asking; it asks before MemoryRollback
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
              "command": "remindb",
              "args": ["serve", "--scope", "project", "--source", "."]
            }
          }
        }
    "#]]
    .assert_eq(&text(&folder, "project/.mcp.json"));
    let skill = text(&folder, "project/.claude/skills/remindb-read/SKILL.md");
    assert!(skill.starts_with("---\nname: remindb-read\ndescription: "), "{skill}");
}

#[test]
fn the_folder_that_made_the_memory_is_kept_compiled() {
    let folder = world();
    folder.write("project/notes/a.md", "# A\n");
    folder.ok(["compile", "project/notes"]);
    let shown = ok(&folder, "claude-code --no-hooks");
    let note = "the server keeps `notes` compiled, where the memory is; --source names another";
    assert!(shown.contains(note), "{shown}");
    let settings = text(&folder, "project/.mcp.json");
    let args = r#""--db", "notes/.remindb/memory.db", "--source", "notes"]"#;
    assert!(settings.contains(args), "{settings}");
    ok(&folder, "claude-code --no-hooks --source .");
    let settings = text(&folder, "project/.mcp.json");
    assert!(settings.contains(r#""--source", "."]"#), "{settings}");
}

#[test]
fn a_project_whose_notes_are_in_no_memory_is_told_of_source() {
    let folder = world();
    let note = "no folder of notes is kept compiled; --source FOLDER does that";
    assert!(ok(&folder, "claude-code").contains(note));
    assert!(!ok(&folder, "claude-code --source .").contains(note));
    assert!(!ok(&folder, "claude-code --scope user").contains(note));
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
                  "mcp__remindb__MemoryApply",
                  "mcp__remindb__MemoryCompile",
                  "mcp__remindb__MemoryConsolidate",
                  "mcp__remindb__MemoryDelta",
                  "mcp__remindb__MemoryDiff",
                  "mcp__remindb__MemoryFetch",
                  "mcp__remindb__MemoryFetchBatch",
                  "mcp__remindb__MemoryForget",
                  "mcp__remindb__MemoryHistory",
                  "mcp__remindb__MemoryIngest",
                  "mcp__remindb__MemoryPin",
                  "mcp__remindb__MemoryRecall",
                  "mcp__remindb__MemoryRelate",
                  "mcp__remindb__MemoryRelated",
                  "mcp__remindb__MemoryRemember",
                  "mcp__remindb__MemoryReview",
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
            allowed 23 tools to read and write the memory without asking; it asks before MemoryRollback
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
                  "mcp__remindb-user__MemoryDelta",
                  "mcp__remindb-user__MemoryFetch",
                  "mcp__remindb-user__MemoryFetchBatch",
                  "mcp__remindb-user__MemorySearch",
                  "mcp__remindb-user__MemoryStats",
                  "mcp__remindb-user__MemoryTree",
                  "mcp__remindb-user__MemoryWrite"
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
            command = "remindb"
            args = ["serve", "--scope", "project"]
            default_tools_approval_mode = "approve"

            [mcp_servers.remindb.tools.MemoryRollback]
            approval_mode = "prompt"
            allowed 23 tools to read and write the memory without asking; it asks before MemoryRollback
            to be asked each time: remindb setup codex --ask
        "#]],
    );
    check_allowed(
        "codex --tools core",
        "project/.codex/config.toml",
        expect![[r#"
            [mcp_servers.remindb]
            command = "remindb"
            args = ["serve", "--scope", "project", "--tools", "core"]
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
                  "command": "remindb",
                  "args": ["serve", "--scope", "project"],
                  "trust": true
                }
              },
              "tools": {
                "confirmationRequired": ["mcp_remindb_MemoryRollback"]
              }
            }
            allowed 23 tools to read and write the memory without asking; it asks before MemoryRollback
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
                "remindb-user": {
                  "command": "PROGRAM",
                  "args": ["serve", "--db", "DIR/home/.local/share/remindb/memory.db"],
                  "trust": true
                }
              },
              "permissions": {
                "ask": ["mcp__remindb-user__MemoryRollback"]
              }
            }
            allowed 23 tools to read and write the memory without asking; it asks before MemoryRollback
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
                  "command": ["remindb", "serve", "--scope", "project"]
                }
              },
              "permission": {
                "remindb_MemoryRollback": "ask"
              }
            }
            allowed 23 tools to read and write the memory without asking; it asks before MemoryRollback
            to be asked each time: remindb setup opencode --ask
        "#]],
    );
}

/// Compares the settings files that a client gets.
#[track_caller]
fn check_settings(client: &str, paths: &[&str], expected: Expect) {
    let folder = world();
    for scope in ["project", "user"] {
        if CLIENTS.contains(&(client, true)) || scope == "user" {
            ok(&folder, &format!("{client} --scope {scope} --tools core"));
        }
    }
    let all = paths.iter().map(|path| format!("{path}\n{}", text(&folder, path)));
    expected.assert_eq(&all.collect::<String>());
}

#[test]
fn claude_desktop_is_set_up_for_a_user() {
    check_settings(
        "claude-desktop",
        &["home/.config/Claude/claude_desktop_config.json"],
        expect![[r#"
            home/.config/Claude/claude_desktop_config.json
            {
              "mcpServers": {
                "remindb-user": {
                  "command": "PROGRAM",
                  "args": ["serve", "--db", "DIR/home/.local/share/remindb/memory.db", "--tools", "core"]
                }
              }
            }
        "#]],
    );
    check_refused(
        &world(),
        "claude-desktop --scope project",
        expect![[r#"
        ! remindb: Claude Desktop has no settings of a project; add --scope user
        = 2
    "#]],
    );
}

#[test]
fn copilot_shows_its_model_every_tool() {
    check_settings(
        "copilot-cli",
        &["project/.github/mcp.json", "home/.copilot/mcp-config.json"],
        expect![[r#"
            project/.github/mcp.json
            {
              "mcpServers": {
                "remindb": {
                  "type": "stdio",
                  "command": "remindb",
                  "args": ["serve", "--scope", "project", "--tools", "core"],
                  "tools": ["*"]
                }
              }
            }
            home/.copilot/mcp-config.json
            {
              "mcpServers": {
                "remindb-user": {
                  "type": "stdio",
                  "command": "PROGRAM",
                  "args": ["serve", "--db", "DIR/home/.local/share/remindb/memory.db", "--tools", "core"],
                  "tools": ["*"]
                }
              }
            }
        "#]],
    );
}

#[test]
fn windsurf_is_set_up_for_a_user() {
    check_settings(
        "windsurf",
        &["home/.codeium/windsurf/mcp_config.json"],
        expect![[r#"
        home/.codeium/windsurf/mcp_config.json
        {
          "mcpServers": {
            "remindb-user": {
              "command": "PROGRAM",
              "args": ["serve", "--db", "DIR/home/.local/share/remindb/memory.db", "--tools", "core"]
            }
          }
        }
    "#]],
    );
}

#[test]
fn cline_approves_each_tool_that_can_be_undone() {
    check_settings(
        "cline",
        &["home/.cline/data/settings/cline_mcp_settings.json"],
        expect![[r#"
            home/.cline/data/settings/cline_mcp_settings.json
            {
              "mcpServers": {
                "remindb-user": {
                  "command": "PROGRAM",
                  "args": ["serve", "--db", "DIR/home/.local/share/remindb/memory.db", "--tools", "core"],
                  "autoApprove": [
                    "MemoryDelta",
                    "MemoryFetch",
                    "MemoryFetchBatch",
                    "MemorySearch",
                    "MemoryStats",
                    "MemoryTree",
                    "MemoryWrite"
                  ]
                }
              }
            }
        "#]],
    );
}

#[test]
fn zed_allows_each_tool_that_can_be_undone() {
    check_settings(
        "zed",
        &["project/.zed/settings.json", "home/.config/zed/settings.json"],
        expect![[r#"
            project/.zed/settings.json
            {
              "context_servers": {
                "remindb": {
                  "command": "remindb",
                  "args": ["serve", "--scope", "project", "--tools", "core"]
                }
              }
            }
            home/.config/zed/settings.json
            {
              "context_servers": {
                "remindb-user": {
                  "command": "PROGRAM",
                  "args": ["serve", "--db", "DIR/home/.local/share/remindb/memory.db", "--tools", "core"]
                }
              },
              "agent": {
                "tool_permissions": {
                  "tools": {
                    "mcp:remindb-user:MemoryDelta": {
                      "default": "allow"
                    },
                    "mcp:remindb-user:MemoryFetch": {
                      "default": "allow"
                    },
                    "mcp:remindb-user:MemoryFetchBatch": {
                      "default": "allow"
                    },
                    "mcp:remindb-user:MemorySearch": {
                      "default": "allow"
                    },
                    "mcp:remindb-user:MemoryStats": {
                      "default": "allow"
                    },
                    "mcp:remindb-user:MemoryTree": {
                      "default": "allow"
                    },
                    "mcp:remindb-user:MemoryWrite": {
                      "default": "allow"
                    }
                  }
                }
              }
            }
        "#]],
    );
}

#[test]
fn amp_has_its_servers_under_a_key_with_a_dot() {
    check_settings(
        "amp",
        &["project/.amp/settings.json", "home/.config/amp/settings.json"],
        expect![[r#"
            project/.amp/settings.json
            {
              "amp.mcpServers": {
                "remindb": {
                  "command": "remindb",
                  "args": ["serve", "--scope", "project", "--tools", "core"]
                }
              }
            }
            home/.config/amp/settings.json
            {
              "amp.mcpServers": {
                "remindb-user": {
                  "command": "PROGRAM",
                  "args": ["serve", "--db", "DIR/home/.local/share/remindb/memory.db", "--tools", "core"]
                }
              }
            }
        "#]],
    );
}

#[test]
fn crush_allows_each_tool_that_can_be_undone() {
    check_settings(
        "crush",
        &["project/crush.json", "home/.config/crush/crush.json"],
        expect![[r#"
            project/crush.json
            {
              "mcp": {
                "remindb": {
                  "type": "stdio",
                  "command": "remindb",
                  "args": ["serve", "--scope", "project", "--tools", "core"]
                }
              },
              "permissions": {
                "allowed_tools": [
                  "mcp_remindb_MemoryDelta",
                  "mcp_remindb_MemoryFetch",
                  "mcp_remindb_MemoryFetchBatch",
                  "mcp_remindb_MemorySearch",
                  "mcp_remindb_MemoryStats",
                  "mcp_remindb_MemoryTree",
                  "mcp_remindb_MemoryWrite"
                ]
              }
            }
            home/.config/crush/crush.json
            {
              "mcp": {
                "remindb-user": {
                  "type": "stdio",
                  "command": "PROGRAM",
                  "args": ["serve", "--db", "DIR/home/.local/share/remindb/memory.db", "--tools", "core"]
                }
              },
              "permissions": {
                "allowed_tools": [
                  "mcp_remindb-user_MemoryDelta",
                  "mcp_remindb-user_MemoryFetch",
                  "mcp_remindb-user_MemoryFetchBatch",
                  "mcp_remindb-user_MemorySearch",
                  "mcp_remindb-user_MemoryStats",
                  "mcp_remindb-user_MemoryTree",
                  "mcp_remindb-user_MemoryWrite"
                ]
              }
            }
        "#]],
    );
}

#[test]
fn droid_has_a_file_for_its_servers() {
    check_settings(
        "droid",
        &["project/.factory/mcp.json", "home/.factory/mcp.json"],
        expect![[r#"
            project/.factory/mcp.json
            {
              "mcpServers": {
                "remindb": {
                  "type": "stdio",
                  "command": "remindb",
                  "args": ["serve", "--scope", "project", "--tools", "core"]
                }
              }
            }
            home/.factory/mcp.json
            {
              "mcpServers": {
                "remindb-user": {
                  "type": "stdio",
                  "command": "PROGRAM",
                  "args": ["serve", "--db", "DIR/home/.local/share/remindb/memory.db", "--tools", "core"]
                }
              }
            }
        "#]],
    );
}

#[test]
fn goose_has_its_extensions_in_yaml() {
    check_settings(
        "goose",
        &["home/.config/goose/config.yaml"],
        expect![[r#"
        home/.config/goose/config.yaml
        extensions:
          remindb-user:
            enabled: true
            type: "stdio"
            name: "remindb-user"
            cmd: "PROGRAM"
            args: ["serve", "--db", "DIR/home/.local/share/remindb/memory.db", "--tools", "core"]
            timeout: 300
    "#]],
    );
}

#[test]
fn editors_that_start_servers_elsewhere_get_the_folder_as_a_variable() {
    check_settings(
        "cursor",
        &["project/.cursor/mcp.json"],
        expect![[r#"
        project/.cursor/mcp.json
        {
          "mcpServers": {
            "remindb": {
              "type": "stdio",
              "command": "remindb",
              "args": ["serve", "--db", "${workspaceFolder}/.remindb/memory.db", "--tools", "core"]
            }
          }
        }
    "#]],
    );
    check_settings(
        "vscode",
        &["project/.vscode/mcp.json"],
        expect![[r#"
        project/.vscode/mcp.json
        {
          "servers": {
            "remindb": {
              "type": "stdio",
              "command": "remindb",
              "args": ["serve", "--db", "${workspaceFolder}/.remindb/memory.db", "--tools", "core"]
            }
          }
        }
    "#]],
    );
}

#[test]
fn settings_of_a_project_hold_no_path_of_this_machine() {
    for (client, _) in CLIENTS.iter().filter(|it| it.1) {
        let folder = world().file("project/notes/a.md", "# A\n");
        let before = everything(&folder);
        let said = ok(&folder, &format!("{client} --source notes --db .remindb/memory.db"));
        assert!(!said.contains("note:"), "{said}");
        let here = folder.path("").to_str().unwrap().to_owned();
        for (path, text) in everything(&folder) {
            let is_new = path.starts_with("project/") && before.get(&path) != Some(&text);
            assert!(!is_new || !text.contains(&here), "{client}: {path}: {text}");
            assert!(!is_new || !text.contains(env!("CARGO_BIN_EXE_remindb")), "{client}: {path}");
        }
    }
    let said = ok(&world(), "codex --db /elsewhere/memory.db");
    assert!(said.contains("note: `/elsewhere/memory.db` is a path of this machine;"), "{said}");
}

#[test]
fn a_server_that_listens_is_set_up_by_its_address() {
    for (args, path, expected) in [
        (
            "claude-code --http http://127.0.0.1:7474/mcp --token-env TOKEN",
            "project/.mcp.json",
            r#""headers": {"Authorization": "Bearer ${TOKEN}"}"#,
        ),
        (
            "codex --http http://127.0.0.1:7474/mcp --token-env TOKEN",
            "project/.codex/config.toml",
            "bearer_token_env_var = \"TOKEN\"",
        ),
        (
            "gemini --http http://127.0.0.1:7474/mcp --token-env TOKEN",
            "project/.gemini/settings.json",
            r#""headers": {"Authorization": "Bearer $TOKEN"}"#,
        ),
        (
            "goose --http http://127.0.0.1:7474/mcp --token abc",
            "home/.config/goose/config.yaml",
            r#"headers: {"Authorization":"Bearer abc"}"#,
        ),
        (
            "windsurf --http http://127.0.0.1:7474/mcp --token abc",
            "home/.codeium/windsurf/mcp_config.json",
            r#""serverUrl": "http://127.0.0.1:7474/mcp""#,
        ),
    ] {
        let folder = world();
        let before = everything(&folder);
        ok(&folder, args);
        let settings = text(&folder, path);
        assert!(settings.contains(expected), "{settings}");
        let is_private = args.contains("--token abc");
        let mode = fs::metadata(folder.path(path)).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode == 0o600, is_private, "{path}: {mode:o}");
        // From an address to a command, and back, nothing of the other is left.
        let client = args.split(' ').next().unwrap();
        ok(&folder, client);
        assert!(!text(&folder, path).contains("7474"), "{}", text(&folder, path));
        ok(&folder, args);
        assert!(text(&folder, path).contains(expected), "{}", text(&folder, path));
        ok(&folder, &format!("{client} --remove"));
        assert_eq!(everything(&folder), before);
    }
    check_refused(
        &world(),
        "codex --http http://x/mcp --token abc",
        expect![[r#"
        ! remindb: others see the settings of a project; name a variable with --token-env, or add --scope user
        = 2
    "#]],
    );
    check_refused(
        &world(),
        "claude-desktop --http http://x/mcp",
        expect![[r#"
        ! remindb: cannot set up `DIR/home/.config/Claude/claude_desktop_config.json`: its settings start servers, and name no address; leave out --http
        = 2
    "#]],
    );
    check_refused(
        &world(),
        "zed --http http://x/mcp --token-env T",
        expect![[r#"
        ! remindb: cannot set up `DIR/project/.zed/settings.json`: it reads no variables in headers; use --token with --scope user
        = 2
    "#]],
    );
    check_refused(
        &world(),
        "codex --token-env T",
        expect![[r#"
            ! remindb: `--token-env` is for `--http`; add its address; see `remindb help setup`
            = 2
        "#]],
    );
    check_refused(
        &world(),
        "codex --http x --db m.db",
        expect![[r#"
            ! remindb: `--db` is for `serve` at that address; see `remindb help setup`
            = 2
        "#]],
    );
}

#[test]
fn a_skill_that_two_clients_read_is_written_once_and_goes_with_the_last() {
    let folder = world();
    let before = everything(&folder);
    let skills = |folder: &Folder| -> Vec<String> {
        everything(folder).into_keys().filter(|it| it.ends_with("remindb-read/SKILL.md")).collect()
    };
    for client in ["codex", "amp", "zed", "gemini", "opencode", "crush", "copilot", "vscode"] {
        ok(&folder, client);
        assert_eq!(skills(&folder), ["project/.agents/skills/remindb-read/SKILL.md"], "{client}");
    }
    for client in ["codex", "amp", "zed", "gemini", "opencode", "crush", "copilot"] {
        let said = ok(&folder, &format!("{client} --remove"));
        assert!(said.contains("another client reads it, too"), "{said}");
        assert_eq!(skills(&folder), ["project/.agents/skills/remindb-read/SKILL.md"], "{client}");
    }
    ok(&folder, "vscode --remove");
    assert_eq!(everything(&folder), before);
    // Codex lists the skills of both scopes.
    ok(&folder, "codex --scope user");
    ok(&folder, "codex");
    assert_eq!(skills(&folder), ["home/.agents/skills/remindb-read/SKILL.md"]);
    ok(&folder, "codex --remove --scope user");
    ok(&folder, "codex --remove");
    assert_eq!(everything(&folder), before);
}

#[test]
fn a_setup_of_an_earlier_version_gets_the_new_name() {
    let folder = world().file("home/.cursor/mcp.json", "{\n  \"mcpServers\": {}\n}\n");
    let before = everything(&folder);
    ok(&folder, "cursor --scope user");
    // As earlier versions wrote and recorded it.
    for path in ["home/.cursor/mcp.json", "home/.local/state/remindb/setup.json"] {
        let text =
            fs::read_to_string(folder.path(path)).unwrap().replace("remindb-user", "remindb");
        folder.write(path, text);
    }
    ok(&folder, "cursor --scope user");
    let settings = text(&folder, "home/.cursor/mcp.json");
    assert!(settings.contains("\"remindb-user\": {"), "{settings}");
    assert!(!settings.contains("\"remindb\": {"), "{settings}");
    ok(&folder, "cursor --scope user --remove");
    let left = text(&folder, "home/.cursor/mcp.json");
    assert_eq!(left, "{\n  \"mcpServers\": {}\n}\n");
    let new = everything(&folder).into_keys().filter(|it| !before.contains_key(it));
    assert_eq!(new.filter(|it| !it.ends_with(".backup")).count(), 0);
}

#[test]
fn all_that_are_installed_are_set_up_together() {
    let folder = world().file("home/.codex/config.toml", "").file("home/.gemini/x", "");
    check_refused(
        &folder,
        "",
        expect![[r#"
        installed here:
          1  codex           Codex
          2  gemini-cli      Gemini CLI
        ! remindb: which one? type `remindb setup codex`, or `remindb setup --all` for all of them
        = 2
    "#]],
    );
    let said = ok(&folder, "--all");
    assert!(said.starts_with("Codex:\nmade DIR/project/.codex/config.toml\n"), "{said}");
    assert!(said.contains("Gemini CLI:\nmade DIR/project/.gemini/settings.json\n"), "{said}");
    let said: Value = serde_json::from_str(&ok(&folder, "--all --json")).unwrap();
    let clients: Vec<&str> =
        said.as_array().unwrap().iter().map(|it| it["client"].as_str().unwrap()).collect();
    assert_eq!(clients, ["codex", "gemini-cli"]);
    ok(&folder, "--all --remove");
    assert!(!folder.path("project/.codex").exists());
    assert_eq!(setup(&folder, "--all --remove").code, Some(1));
    check_refused(
        &world(),
        "--all",
        expect![[r#"
        ! remindb: none of the clients that `remindb help setup` lists is installed; name one
        = 2
    "#]],
    );
}

#[test]
fn the_list_says_what_is_connected_to_which_memory() {
    let folder = world().file("home/.codex/config.toml", "").file("project/.mcp.json", "{");
    ok(&folder, "codex");
    ok(&folder, "goose");
    ok(&folder, "zed --scope user --ask");
    ok(&folder, "cursor --http http://127.0.0.1:7474/mcp");
    let said = ok(&folder, "--list").replace(folder.path("").to_str().unwrap(), "DIR/");
    expect![[r#"
        claude-code     project  its settings are broken, line 1: unterminated object
        codex           project  DIR/project/.remindb/memory.db (allowed, hooks)
        codex           user     not connected
        cursor          project  http://127.0.0.1:7474/mcp
        zed             project  not connected
        zed             user     DIR/home/.local/share/remindb/memory.db (asked)
        goose           user     DIR/home/.local/share/remindb/memory.db
    "#]]
    .assert_eq(&said);
    let said: Value = serde_json::from_str(&ok(&folder, "--list --json")).unwrap();
    let rows = said.as_array().unwrap();
    assert_eq!(rows.len(), all_scopes().count());
    for row in rows {
        for key in ["client", "scope", "file", "memory", "permissions", "hooks"] {
            assert!(row.get(key).is_some(), "{row}");
        }
    }
    let of = |client: &str, scope: &str| {
        let row = rows.iter().find(|it| it["client"] == client && it["scope"] == scope).unwrap();
        row.clone()
    };
    assert_eq!(of("codex", "project")["memory"], "DIR/project/.remindb/memory.db");
    assert_eq!(of("codex", "project")["permissions"], "allowed");
    assert_eq!(of("codex", "project")["hooks"], "installed");
    assert_eq!(of("codex", "user")["memory"], Value::Null);
    assert_eq!(of("codex", "user")["hooks"], "none");
    assert_eq!(of("zed", "user")["hooks"], Value::Null);
    assert_eq!(of("zed", "user")["permissions"], "asked");
    assert_eq!(of("cursor", "project")["memory"], "http://127.0.0.1:7474/mcp");
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
                  {"hooks": [{"type": "command", "command": "remindb hook session-start --client claude-code --scope project || true", "timeout": 3}]}
                ],
                "UserPromptSubmit": [
                  {"hooks": [{"type": "command", "command": "remindb hook prompt --client claude-code --scope project || true", "timeout": 3}]}
                ],
                "PreCompact": [
                  {"hooks": [{"type": "command", "command": "remindb hook pre-compact --client claude-code --scope project || true", "timeout": 3}]}
                ],
                "SessionEnd": [
                  {"hooks": [{"type": "command", "command": "remindb hook session-end --client claude-code --scope project || true", "timeout": 3}]}
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
                  {"hooks": [{"type": "command", "command": "remindb hook session-start --client codex --scope project || true", "timeout": 3}]}
                ],
                "UserPromptSubmit": [
                  {"hooks": [{"type": "command", "command": "remindb hook prompt --client codex --scope project || true", "timeout": 3}]}
                ],
                "PreCompact": [
                  {"hooks": [{"type": "command", "command": "remindb hook pre-compact --client codex --scope project || true", "timeout": 3}]}
                ],
                "SessionEnd": [
                  {"hooks": [{"type": "command", "command": "remindb hook session-end --client codex --scope project || true", "timeout": 3}]}
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
                  "command": "remindb",
                  "args": ["serve", "--scope", "project"]
                }
              },
              "hooks": {
                "SessionStart": [
                  {"hooks": [{"name": "remindb", "type": "command", "command": "remindb hook session-start --client gemini-cli --scope project || true", "timeout": 3000}]}
                ],
                "BeforeAgent": [
                  {"hooks": [{"name": "remindb", "type": "command", "command": "remindb hook prompt --client gemini-cli --scope project || true", "timeout": 3000}]}
                ],
                "PreCompress": [
                  {"hooks": [{"name": "remindb", "type": "command", "command": "remindb hook pre-compact --client gemini-cli --scope project || true", "timeout": 3000}]}
                ],
                "SessionEnd": [
                  {"hooks": [{"name": "remindb", "type": "command", "command": "remindb hook session-end --client gemini-cli --scope project || true", "timeout": 3000}]}
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
                  "command": "remindb",
                  "args": ["serve", "--scope", "project"]
                }
              },
              "hooks": {
                "SessionStart": [
                  {"hooks": [{"type": "command", "command": "remindb hook session-start --client qwen-code --scope project || true", "timeout": 3}]}
                ],
                "UserPromptSubmit": [
                  {"hooks": [{"type": "command", "command": "remindb hook prompt --client qwen-code --scope project || true", "timeout": 3}]}
                ],
                "PreCompact": [
                  {"hooks": [{"type": "command", "command": "remindb hook pre-compact --client qwen-code --scope project || true", "timeout": 3}]}
                ],
                "Stop": [
                  {"hooks": [{"type": "command", "command": "remindb hook pre-compact --client qwen-code --scope project || true", "timeout": 3}]}
                ],
                "SessionEnd": [
                  {"hooks": [{"type": "command", "command": "remindb hook session-end --client qwen-code --scope project || true", "timeout": 3}]}
                ]
              }
            }
        "#]],
    );
}

#[test]
fn opencode_gets_a_plugin() {
    let source = include_str!("../../src/cli/setup/client_hooks/opencode.js");
    for (scope, path, words) in [
        (
            "",
            "project/.opencode/plugins/remindb.js",
            r#"["remindb","hook","--client","opencode","--scope","project"]"#,
        ),
        (
            " --scope user",
            "home/.config/opencode/plugins/remindb.js",
            r#"["PROGRAM","hook","--client","opencode","--db","DIR/home/.local/share/remindb/memory.db"]"#,
        ),
    ] {
        let folder = world();
        let said = ok(&folder, &format!("opencode{scope}"));
        assert!(said.contains("\nadded hooks: "), "{said}");
        assert_eq!(text(&folder, path), source.replace(r#"["REMINDB"]"#, words));
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
fn copilot_gets_a_file_of_hooks() {
    check_hooks(
        "copilot-cli",
        "project/.github/hooks/remindb.json",
        expect![[r#"
            added hooks: the agent is told what the memory holds, and a note of each session is kept
            to leave them out: remindb setup copilot-cli --no-hooks
            {
              "version": 1,
              "hooks": {
                "sessionStart": [
                  {
                    "type": "command",
                    "bash": "remindb hook session-start --client copilot-cli --scope project || true",
                    "timeoutSec": 3
                  }
                ],
                "userPromptTransformed": [
                  {
                    "type": "command",
                    "bash": "remindb hook prompt --client copilot-cli --scope project || true",
                    "timeoutSec": 3
                  }
                ],
                "preCompact": [
                  {
                    "type": "command",
                    "bash": "remindb hook pre-compact --client copilot-cli --scope project || true",
                    "timeoutSec": 3
                  }
                ],
                "sessionEnd": [
                  {
                    "type": "command",
                    "bash": "remindb hook session-end --client copilot-cli --scope project || true",
                    "timeoutSec": 3
                  }
                ]
              }
            }
        "#]],
    );
    check_hooks(
        "copilot-cli --scope user",
        "home/.copilot/hooks/remindb.json",
        expect![[r#"
        added hooks: the agent is told what the memory holds, and a note of each session is kept
        to leave them out: remindb setup copilot-cli --scope user --no-hooks
        {
          "version": 1,
          "hooks": {
            "sessionStart": [
              {
                "type": "command",
                "bash": "PROGRAM hook session-start --client copilot-cli --db DIR/home/.local/share/remindb/memory.db || true",
                "timeoutSec": 3
              }
            ],
            "userPromptTransformed": [
              {
                "type": "command",
                "bash": "PROGRAM hook prompt --client copilot-cli --db DIR/home/.local/share/remindb/memory.db || true",
                "timeoutSec": 3
              }
            ],
            "preCompact": [
              {
                "type": "command",
                "bash": "PROGRAM hook pre-compact --client copilot-cli --db DIR/home/.local/share/remindb/memory.db || true",
                "timeoutSec": 3
              }
            ],
            "sessionEnd": [
              {
                "type": "command",
                "bash": "PROGRAM hook session-end --client copilot-cli --db DIR/home/.local/share/remindb/memory.db || true",
                "timeoutSec": 3
              }
            ]
          }
        }
    "#]],
    );
}

#[test]
fn copilot_beside_claude_code_in_one_project_is_told_twice_and_setup_says_so() {
    let told = |said: &str| -> String {
        said.lines().filter(|it| it.starts_with("note: ")).map(|it| format!("{it}\n")).collect()
    };
    for (first, second) in [("claude-code", "copilot-cli"), ("copilot-cli", "claude-code")] {
        let folder = world();
        let (first, second) = (format!("{first} --source ."), format!("{second} --source ."));
        assert_eq!(told(&ok(&folder, &first)), String::new());
        expect![[r#"
            note: Copilot CLI runs the hooks of Claude Code in a project, too, and is told twice; to leave out its own: remindb setup copilot-cli --no-hooks
        "#]].assert_eq(&told(&ok(&folder, &second)));
        assert_eq!(told(&ok(&folder, &format!("{second} --no-hooks"))), String::new());
    }
}

#[test]
fn codex_says_that_hooks_need_trust() {
    let next = |args: &str| {
        let said = ok(&world(), args);
        said.lines().last().unwrap().to_owned()
    };
    let with_hooks = expect![
        "next: start Codex here and trust the project; `/mcp` shows the server; trust the hooks in \
         `/hooks`, which do not run before that"
    ];
    with_hooks.assert_eq(&next("codex"));
    expect!["next: start Codex here and trust the project; `/mcp` shows the server"]
        .assert_eq(&next("codex --no-hooks"));
}

#[test]
fn a_server_that_listens_gets_no_hooks_and_takes_those_of_a_memory_away() {
    let folder = world();
    ok(&folder, "claude-code");
    let said = ok(&folder, "claude-code --http http://127.0.0.1:7474/mcp");
    assert!(!said.contains("hooks"), "{said}");
    let settings = text(&folder, "project/.claude/settings.json");
    assert!(!settings.contains("hook"), "{settings}");
}

#[test]
fn a_missing_hook_shows_in_the_list() {
    let folder = world();
    ok(&folder, "gemini-cli");
    let path = "project/.gemini/settings.json";
    let settings = text(&folder, path).replace("hook pre-compact", "true");
    folder.write(path, &settings);
    let rows: Value = serde_json::from_str(&ok(&folder, "--list --json --scope project")).unwrap();
    let row = rows.as_array().unwrap().iter().find(|it| it["client"] == "gemini-cli").unwrap();
    assert_eq!(row["hooks"], "partly installed");
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
fn gemini_is_told_that_its_user_trusts_the_hooks_of_the_project() {
    let record = "home/.gemini/trusted_hooks.json";
    let mine = "{\n  \"/other\": [\n    \"mine:true\"\n  ]\n}";
    let folder = world().file(record, mine);
    let before = everything(&folder);
    let said = ok(&folder, "gemini-cli");
    assert!(said.contains("\nGemini CLI trusts them for you alone\nto leave them out: "), "{said}");
    let now: Value = serde_json::from_slice(&fs::read(folder.path(record)).unwrap()).unwrap();
    let project = folder.path("project");
    let keys = now[project.to_str().unwrap()].as_array().unwrap();
    // Gemini CLI compares each with the name and the command of the hook.
    let settings: Value =
        serde_json::from_str(&text(&folder, "project/.gemini/settings.json")).unwrap();
    let hooks = settings["hooks"].as_object().unwrap();
    assert_eq!((keys.len(), hooks.len()), (4, 4));
    for hook in hooks.values().map(|it| &it[0]["hooks"][0]) {
        let key =
            format!("{}:{}", hook["name"].as_str().unwrap(), hook["command"].as_str().unwrap());
        assert!(keys.contains(&json!(key)), "{key}");
    }
    assert_eq!(now["/other"], json!(["mine:true"]));
    // One who wants to be asked is warned, too.
    for asking in ["gemini-cli --ask", "gemini-cli --no-hooks"] {
        ok(&folder, "gemini-cli");
        let said = ok(&folder, asking);
        assert!(!said.contains("trusts"), "{said}");
        assert!(!text(&folder, record).contains("remindb"), "{asking}");
    }
    ok(&folder, "gemini-cli --remove");
    assert_eq!(everything(&folder), before);
    // For a user there is no project to trust.
    let folder = world();
    ok(&folder, "gemini-cli --scope user");
    assert!(!folder.path(record).exists());
}

#[test]
fn words_of_a_hook_are_quoted_for_the_shell() {
    let folder = world();
    ok(&folder, "claude-code --ask --db it's.db");
    let settings = text(&folder, "project/.claude/settings.json");
    assert!(settings.contains(r"--db 'it'\\''s.db' || true"), "{settings}");
}

#[test]
fn asking_leaves_the_permissions_out_and_takes_them_back() {
    for (client, _) in CLIENTS {
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
        ok(&folder, &format!("claude-code --scope {scope}"));
    }
    for (path, name) in [("project/.mcp.json", "remindb"), ("home/.claude.json", "remindb-user")] {
        let settings = fs::read_to_string(folder.path(path)).unwrap();
        let settings: Value = serde_json::from_str(&settings).unwrap();
        let server = &settings["mcpServers"][name];
        let args = server["args"].as_array().unwrap().iter().map(|it| it.as_str().unwrap());
        let mut served = command(&folder, "");
        let (program, envs) = (server["command"].as_str().unwrap(), served.get_envs());
        let envs: Vec<_> =
            envs.filter_map(|(key, value)| Some((key.to_owned(), value?.to_owned()))).collect();
        served = Command::new(program);
        served.args(args).envs(envs).current_dir(folder.path("project"));
        let served = served.stdin(std::process::Stdio::null()).output().unwrap();
        assert!(served.status.success(), "{}", String::from_utf8_lossy(&served.stderr));
    }
    assert!(folder.path("project/.remindb/memory.db").exists());
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
        .file(
            "home/.config/goose/config.yaml",
            "GOOSE_MODE: auto # mine\nextensions:\n  a:\n    cmd: x",
        )
        .file("project/.zed/settings.json", "// mine\n{\n  \"theme\": \"One Dark\",\n}\n")
        .file(
            "home/.config/zed/settings.json",
            "{\n  \"agent\": {\n    \"enabled\": true\n  },\n}\n",
        )
        .file("home/.config/amp/settings.jsonc", "{\"amp.showCosts\": false}\n")
        .file("project/.crush.json", "{\"permissions\": {\"allowed_tools\": [\"view\"]}}\n")
        .file("home/.codeium/windsurf/mcp_config.json", "{\"mcpServers\": {}}")
        .file("home/.copilot/mcp-config.json", "{\n    \"mcpServers\": {\n    }\n}")
        .file("home/.factory/mcp.json", "{}")
        .file("home/.qwen/settings.json", "{\n  \"permissions\": {\"ask\": [\"x\"]} // mine\n}")
        .file("project/.cursor/skills/remindb-read/SKILL.md", "my own\n");
    let mode = fs::Permissions::from_mode(0o600);
    fs::set_permissions(folder.path("home/.claude.json"), mode).unwrap();
    let before = everything(&folder);
    for n_times in [1, 2] {
        for (client, scope) in all_scopes() {
            let said = ok(&folder, &format!("{client} --scope {scope} --json"));
            let said: Value = serde_json::from_str(&said).unwrap();
            for file in said["files"].as_array().unwrap() {
                let is_change = file["action"] != "left";
                let is_shared = file["why"] == "this client reads it, too";
                assert!(is_change == (n_times == 1) || is_shared, "{said}");
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
    for (client, scope) in all_scopes() {
        ok(&folder, &format!("{client} --remove --scope {scope}"));
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
        +      "command": ["remindb", "serve", "--scope", "project"]
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
        ! command = "remindb"
        ! args = ["serve", "--scope", "project", "--db", "/m.db"]
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
    assert!(text(&folder, "dotfiles/config.toml").contains("[mcp_servers.remindb-user]"));
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
