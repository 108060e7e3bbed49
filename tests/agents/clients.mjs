// The clients: how each is started without a person, and what a person has set up in it before.
//
// - `home` and `project`: files that are there before `remindb setup`, by path. They point the
//   client at the stand-in, keep it off the network, and trust the project's folder, as its dialog
//   would; what stands in a project's file must survive.
// - `approve(run)`: commands that a person gives once after `setup`, as its last line says.
// - `unwrap(text)`: a result without what the client itself puts around it.
// - `excused`: lines that look like a warning and have nothing to do with the memory.
// - `owns`: files of `home` that the client itself writes in.
// - `asksNobody`: whether it runs every tool when it is started without a person.
// - `hasNoHooks`: whether it calls no hooks.
// - `isOfUser`: whether it has only settings of a user.
// - `trusting`: flags that stand for a person who trusts the hooks in the client's dialog.
// - `lists`: its command that lists its servers, and a line that it has to say. Such a client wants
//   an account before it asks any model, so that nothing else of it can be run.

import * as dialects from "./dialects.mjs";

const json = (value) => JSON.stringify(value, null, 2) + "\n";

export const CLIENTS = [
  {
    name: "claude-code",
    package: "@anthropic-ai/claude-code",
    dialect: dialects.messages,
    argv: (prompt) => ["claude", "-p", prompt],
    env: (url) => ({
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: "none",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      DISABLE_AUTOUPDATER: "1",
    }),
    home: (_, project) => ({
      ".claude.json": json({ projects: { [project]: { hasTrustDialogAccepted: true } } }),
    }),
    owns: /^home\/\.claude\.json/,
    project: { ".claude/settings.json": '{"permissions": {"deny": ["WebFetch"]}}\n' },
  },
  {
    name: "codex",
    package: "@openai/codex",
    dialect: dialects.responses,
    argv: (prompt) => ["codex", "exec", prompt],
    trusting: ["--dangerously-bypass-hook-trust"],
    env: () => ({ STAND_IN_KEY: "none" }),
    home: (url, project) => ({
      ".codex/config.toml": `# mine
model = "gpt-5.5"
model_provider = "stand-in"
check_for_update_on_startup = false

[model_providers.stand-in]
name = "stand-in"
base_url = "${url}/v1"
wire_api = "responses"
env_key = "STAND_IN_KEY"

[analytics]
enabled = false

[features]
apps = false
plugins = false

[projects."${project}"]
trust_level = "trusted"
`,
    }),
    project: { ".codex/config.toml": "hide_agent_reasoning = true # mine\n" },
    unwrap: (text) => text.replace(/^Wall time: .*\nOutput:\n/, ""),
    // Of its own sandbox for commands, on a machine that lacks a program for it.
    excused: [/bubblewrap/],
  },
  {
    name: "gemini-cli",
    package: "@google/gemini-cli",
    dialect: dialects.contents,
    argv: (prompt) => ["gemini", "-p", prompt],
    env: (url) => ({ GEMINI_API_KEY: "none", GOOGLE_GEMINI_BASE_URL: url }),
    home: (_, project) => ({
      ".gemini/trustedFolders.json": json({ [project]: "TRUST_FOLDER" }),
      ".gemini/settings.json": json({
        general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
        // One model for all: no question goes to another one first that chooses.
        model: { name: "gemini-2.5-flash" },
        privacy: { usageStatisticsEnabled: false },
        security: { auth: { selectedType: "gemini-api-key" } },
      }),
    }),
    project: { ".gemini/settings.json": '{\n  // mine\n  "ui": {}\n}\n' },
    unwrap: (text) => text.replace(/^<untrusted_context>\n|\n<\/untrusted_context>$/g, ""),
  },
  {
    name: "opencode",
    package: "opencode-ai",
    dialect: dialects.chat,
    argv: (prompt) => ["opencode", "run", prompt],
    env: () => ({
      OPENCODE_DISABLE_AUTOUPDATE: "1",
      OPENCODE_DISABLE_MODELS_FETCH: "1",
      OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
      // It asks npm for the types of plugins, and would wait a minute before it asks once more.
      npm_config_fetch_retries: "0",
    }),
    home: (url) => ({
      ".config/opencode/opencode.json": json({
        $schema: "https://opencode.ai/config.json",
        model: "stand-in/stand-in",
        small_model: "stand-in/stand-in",
        provider: {
          "stand-in": {
            npm: "@ai-sdk/openai-compatible",
            options: { baseURL: `${url}/v1`, apiKey: "none" },
            models: { "stand-in": { name: "stand-in", tool_call: true } },
          },
        },
      }),
    }),
    // It adds its schema to settings that have none.
    project: {
      "opencode.jsonc":
        '{\n\t"$schema": "https://opencode.ai/config.json",\n\t"share": "disabled", // mine\n}\n',
    },
  },
  {
    name: "qwen-code",
    package: "@qwen-code/qwen-code",
    dialect: dialects.chat,
    argv: (prompt) => ["qwen", "-p", prompt],
    env: (url) => ({
      OPENAI_API_KEY: "none",
      OPENAI_BASE_URL: `${url}/v1`,
      OPENAI_MODEL: "stand-in",
    }),
    home: () => ({
      ".qwen/settings.json": json({
        $version: 4,
        general: { enableAutoUpdate: false },
        privacy: { usageStatisticsEnabled: false },
        security: { auth: { selectedType: "openai" } },
        tools: { useRipgrep: false },
      }),
    }),
    // It brings settings of an older version up to date.
    project: { ".qwen/settings.json": '{\n  // mine\n  "$version": 4\n}\n' },
    approve: (run) => (run.name === "user" ? [] : [["qwen", "mcp", "approve", "remindb"]]),
  },
  {
    name: "copilot-cli",
    package: "@github/copilot",
    dialect: dialects.chat,
    // Its settings allow no tool; these flags do, as the manual says.
    argv: (prompt) => [
      "copilot",
      "-p",
      prompt,
      ...["remindb", "remindb-user"].flatMap((it) => [
        `--allow-tool=${it}`,
        `--deny-tool=${it}(MemoryRollback)`,
      ]),
    ],
    env: (url) => ({
      COPILOT_OFFLINE: "true",
      COPILOT_MODEL: "stand-in",
      COPILOT_PROVIDER_BASE_URL: `${url}/v1`,
    }),
    home: (_, project) => ({ ".copilot/config.json": json({ trusted_folders: [project] }) }),
    owns: /^home\/\.copilot\/config\.json/,
    project: {},
  },
  {
    name: "cline",
    package: "cline",
    dialect: dialects.chat,
    argv: (prompt) => ["cline", prompt],
    env: () => ({}),
    home: (url) => ({
      ".cline/data/settings/providers.json": json({
        version: 1,
        lastUsedProvider: "openai-compatible",
        modes: {},
        providers: {
          "openai-compatible": {
            settings: {
              provider: "openai-compatible",
              apiKey: "none",
              model: "stand-in",
              baseUrl: `${url}/v1`,
            },
            updatedAt: "2026-01-01T00:00:00.000Z",
            tokenSource: "manual",
          },
        },
      }),
    }),
    owns: /^home\/\.cline\/data\/settings\/providers\.json/,
    project: {},
    isOfUser: true,
    asksNobody: true,
    hasNoHooks: true,
    unwrap: (text) => (text.startsWith("{") ? JSON.parse(text).content[0].text : text),
    // Of the library that it speaks with its model through.
    excused: [/AI SDK Warning/i, /ai sdk|AI_SDK/],
  },
  {
    name: "droid",
    package: "@factory/cli",
    home: () => ({}),
    project: {},
    // It starts the server, and speaks with it.
    lists: { argv: ["droid", "mcp", "list"], says: /^ *remindb +stdio +connected/m },
  },
  {
    name: "amp",
    package: "@sourcegraph/amp",
    home: () => ({}),
    project: {},
    // It starts no server before an account approved it.
    lists: { argv: ["amp", "mcp", "list"], says: /^ *remindb +command +remindb serve/m },
  },
];
