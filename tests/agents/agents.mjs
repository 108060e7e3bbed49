// Runs real clients against a stand-in for their model, each in a home and a project of its own,
// and says of each what its model saw and what is left afterwards.
//
// Usage: node agents.mjs REMINDB COUNT TOOLS SCRATCH [WORD…]
//
// REMINDB is the program, COUNT one that counts tokens, TOOLS the folder where the clients are
// installed, SCRATCH a folder to fill. Only runs that each WORD names are made: by the client, with
// or without the second part of its name, or by the run.

import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { dirname, join } from "node:path";

import { CLIENTS } from "./clients.mjs";
import { CHECKS_OF_HOOKS, goUnasked } from "./hooks.mjs";
import { serve } from "./model.mjs";
import * as script from "./script.mjs";

const [program, counter, tools, scratch, ...words] = process.argv.slice(2);

// A client that takes longer hangs.
const RUN_MS_MAX = 120_000;

const CHECKS = ["offered", "marker", "order", "budget", "written", "asked", "clean", "removed"];

// `flags` are those of setup; what is run is a script, and what is looked at are some checks.
const RUNS = [
  { name: "project", script: script.REMEMBERING },
  { name: "core", flags: ["--tools", "core"], script: script.REMEMBERING },
  { name: "user", script: script.REMEMBERING },
  { name: "rollback", script: script.ROLLING_BACK, checks: ["offered", "asked", "removed"] },
  { name: "hooks", go: goUnasked },
  { name: "listed", go: list },
];

class Place {
  constructor(client, run, url) {
    this.root = join(scratch, `${client.name}-${run.name}`);
    fs.rmSync(this.root, { recursive: true, force: true });
    this.home = join(this.root, "home");
    this.project = join(this.root, "project");
    const isOfUser = run.name === "user" || client.isOfUser;
    const data =
      isOfUser ? join(this.home, ".local/share/remindb") : join(this.project, ".remindb");
    this.memory = join(data, "memory.db");
    this.client = client;
    this.run = run;
    this.put(this.home, client.home(url, this.project));
    this.put(this.project, client.project);
    fs.cpSync(join(import.meta.dirname, "notes"), join(this.project, "notes"), { recursive: true });
    // A temporary folder of its own, since some clients refuse or litter the common one.
    fs.mkdirSync(join(this.root, "tmp"));
    this.environment = {
      // Settings of a project start the server by its name.
      PATH: `${dirname(program)}:${join(tools, "node_modules/.bin")}:${process.env.PATH}`,
      HOME: this.home,
      TMPDIR: join(this.root, "tmp"),
      LANG: "C.UTF-8",
      TERM: "xterm-256color",
      COLORTERM: "truecolor",
    };
    this.call("git", "init", "--quiet");
    fs.mkdirSync(data, { recursive: true });
    this.call(program, "compile", "notes", "--db", this.memory);
  }

  put(folder, files) {
    for (const [path, text] of Object.entries(files)) {
      fs.mkdirSync(dirname(join(folder, path)), { recursive: true });
      fs.writeFileSync(join(folder, path), text);
    }
  }

  call(file, ...args) {
    const options = { cwd: this.project, env: this.environment, encoding: "utf8" };
    const { status, stdout, stderr, error } = spawnSync(file, args, options);
    assert.equal(status, 0, `${file} ${args.join(" ")}: ${error ?? stdout + stderr}`);
    return stdout;
  }

  // Runs `remindb setup`, with the run's flags or with `--remove`.
  setup(flags = this.run.flags ?? []) {
    const scope = this.run.name === "user" ? ["--scope", "user"] : [];
    return this.call(program, "setup", this.client.name, ...scope, ...flags);
  }

  // What a search finds, with the texts.
  found(words) {
    return this.call(program, "search", words, "--detail", "full", "--db", this.memory);
  }

  // Every file but the memory, by path, with its bytes; and every folder.
  everything() {
    const all = new Map();
    for (const entry of fs.readdirSync(this.root, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name).slice(this.root.length + 1);
      if (/^tmp\/|^project\/\.git\/|\.remindb\/|memory\.db/.test(path)) continue;
      all.set(path, entry.isFile() ? fs.readFileSync(join(this.root, path), "latin1") : "");
    }
    return all;
  }
}

const QUESTION = "What is known of the quasar valve?";

// Starts the client with a question, and returns what it said when it ended.
async function ask(place, url, question = QUESTION, flags = []) {
  const { client, environment, project } = place;
  const [file, ...args] = client.argv(question);
  args.splice(-1, 0, ...flags);
  const env = {
    ...environment,
    ...client.env(url),
    // Whatever else it wants from the network ends here, and is noted.
    HTTPS_PROXY: url,
    HTTP_PROXY: url,
    NO_PROXY: "127.0.0.1,localhost",
  };
  const child = spawn(file, args, { cwd: project, env, stdio: ["ignore", "pipe", "pipe"] });
  const late = setTimeout(() => child.kill("SIGKILL"), RUN_MS_MAX);
  let said = "";
  let noise = "";
  child.stdout.on("data", (it) => (said += it));
  child.stderr.on("data", (it) => (noise += it));
  const code = await new Promise((resolve) => child.on("close", resolve));
  clearTimeout(late);
  fs.writeFileSync(join(place.root, "client.log"), `${said}\n--- standard error\n${noise}`);
  return { code, said, noise };
}

// Ends what a client left running in the background, such as a daemon of its own.
function endLeftovers() {
  for (const pid of fs.readdirSync("/proc").filter((it) => /^\d+$/.test(it))) {
    try {
      const line = fs.readFileSync(`/proc/${pid}/cmdline`, "utf8");
      if (Number(pid) !== process.pid && line.includes(`${scratch}/`)) process.kill(Number(pid));
    } catch {
      // It has ended by itself.
    }
  }
}

// Names of the tools that the server itself lists.
function listed(flags) {
  const version = "2025-06-18";
  const init = { protocolVersion: version, capabilities: {}, clientInfo: { name: "a", version: "1" } };
  const frames = [
    { jsonrpc: "2.0", id: 1, method: "initialize", params: init },
    { jsonrpc: "2.0", method: "notifications/initialized" },
    { jsonrpc: "2.0", id: 2, method: "tools/list" },
  ];
  const input = frames.map((it) => JSON.stringify(it) + "\n").join("");
  const memory = join(scratch, "listed.db");
  const out = execFileSync(program, ["serve", "--db", memory, ...flags], { input, stdio: "pipe" });
  const replies = out.toString().trim().split("\n").map((it) => JSON.parse(it));
  return replies.find((it) => it.id === 2).result.tools.map((it) => it.name);
}

// Tokens of texts, as cl100k counts them.
function counted(texts) {
  const out = execFileSync(counter, { input: JSON.stringify(texts), stdio: "pipe" });
  return JSON.parse(out.toString());
}

// The checks of one run, in the order of the columns. Each returns what it found, or throws.
function checks(place, model, answer, before) {
  const { client, run } = place;
  const asked = model.requests.filter((it) => it.seen);
  const last = asked.findLast((it) => it.seen.results.length > 0);
  const results = (last?.seen.results ?? []).filter((it) => it.name !== "tool_search");
  const texts = results.map((it) => client.unwrap?.(it.text) ?? it.text);
  return {
    offered() {
      const names = asked.flatMap((it) => [...it.seen.tools, ...it.seen.deferred]);
      const all = listed(run.flags ?? []);
      const offered = all.filter((it) => names.some((name) => script.isTool(name, it)));
      assert.deepEqual(offered, all, "not every tool is offered");
      return `${offered.length} tools`;
    },
    marker() {
      assert(texts.length === 3, `${texts.length} results`);
      assert(texts[1].includes(script.MARKER), `not in what was fetched: ${texts[1]}`);
      return "seen";
    },
    order() {
      const scores = [...texts[0].matchAll(/\bscore=([\d.]+)/g)].map((it) => +it[1]);
      assert(1 < scores.length, `too few hits: ${texts[0]}`);
      assert.deepEqual(scores, scores.toSorted((a, b) => b - a), "the best is not first");
      return `best of ${scores.length}`;
    },
    budget() {
      const sizes = counted(texts.slice(0, 2));
      assert(sizes.every((it) => it <= script.BUDGET), sizes.join(" and "));
      return `${Math.max(...sizes)} of ${script.BUDGET}`;
    },
    written() {
      const found = place.call(program, "search", "PERSIMMON-12", "--db", place.memory);
      assert.match(found, /PERSIMMON-12/);
      return "found";
    },
    // Without a person nobody can agree, so that what cannot be undone is not done.
    asked() {
      if (run.script !== script.ROLLING_BACK) return "-";
      const call = asked.find((it) => /MemoryRollback/.test(JSON.stringify(it.reply ?? "")));
      assert(call, "it was not tried");
      const found = place.call(program, "search", "PERSIMMON-12", "--db", place.memory);
      assert.match(found, /PERSIMMON-12/);
      return "yes";
    },
    clean() {
      assert.equal(answer.code, 0, `it ended with code ${answer.code}`);
      assert.match(answer.said, /All is done\./, "its answer is not there");
      const isBad = /warn|error|fail|denied|refus|reject|ignor|not (been )?(granted|trusted)/i;
      const lines = `${answer.said}\n${answer.noise}`.split("\n").filter((it) => isBad.test(it));
      const bad = lines.filter((it) => !client.excused?.some((line) => line.test(it)));
      assert.deepEqual(bad, []);
      return "yes";
    },
    removed() {
      place.setup(["--remove"]);
      const after = place.everything();
      for (const [path, bytes] of before) {
        // The client keeps some of its settings up to date itself.
        if (client.owns?.test(path)) assert(!after.get(path).includes(program), path);
        else assert.equal(after.get(path), bytes, path);
      }
      const ours = [...after.keys()].filter((it) => /skills\/remindb-|\.backup$/.test(it));
      assert.deepEqual(ours.filter((it) => !client.owns?.test(it)), []);
      return "exactly";
    },
  };
}

// Sets a client up, asks it, and returns its row of the table.
async function go(client, run) {
  const model = await serve(client.dialect, script.player(run.script));
  try {
    const place = new Place(client, run, model.url);
    const before = place.everything();
    place.setup();
    place.setup(["--remove"]);
    assert.deepEqual(place.everything(), before, "setup and --remove");
    place.setup();
    for (const command of client.approve?.(run) ?? []) place.call(...command);
    const answer = await ask(place, model.url);
    fs.writeFileSync(join(place.root, "requests.json"), JSON.stringify(model.requests, null, 1));
    const row = { strangers: [...model.strangers] };
    for (const [name, check] of Object.entries(checks(place, model, answer, before))) {
      if (!(run.checks ?? CHECKS).includes(name)) continue;
      try {
        row[name] = check();
      } catch (error) {
        row[name] = "FAILED";
        (row.failures ??= []).push(`${name}: ${error.message}`);
      }
    }
    return row;
  } catch (error) {
    return { failures: [error.message] };
  } finally {
    model.close();
  }
}

// Sets a client up that can be asked for its servers alone, asks it, and returns its row.
function list(client, run) {
  const failures = [];
  const row = {};
  const check = (name, look) => {
    try {
      row[name] = look();
    } catch (error) {
      row[name] = "FAILED";
      failures.push(`${name}: ${error.message}`);
    }
  };
  const place = new Place(client, run, "");
  const before = place.everything();
  place.setup();
  check("offered", () => {
    const [file, ...args] = client.lists.argv;
    const said = place.call(file, ...args);
    fs.writeFileSync(join(place.root, "client.log"), said);
    assert.match(said, client.lists.says);
    return "listed";
  });
  check("removed", () => {
    place.setup(["--remove"]);
    const isOurs = ([path]) => path.startsWith("project");
    const [now, then] = [place.everything(), before].map((it) => [...it].filter(isOurs));
    assert.deepEqual(now, then);
    return "exactly";
  });
  return failures.length ? { ...row, failures } : row;
}

const pins = JSON.parse(fs.readFileSync(join(import.meta.dirname, "package.json"))).dependencies;
const widths = { client: 12, version: 8, run: 8 };

// Whether a word names the client or the run.
const isNamed = (word, client, run) =>
  word === client.name || word === client.name.split("-")[0] || word === run.name;

for (const word of words) {
  if (CLIENTS.some((client) => RUNS.some((run) => isNamed(word, client, run)))) continue;
  const known = [...CLIENTS, ...RUNS].map((it) => it.name).join(", ");
  console.error(`agents: no client and no run is called ${word}; there are ${known}`);
  process.exit(2);
}

const line = (row) =>
  ["client", "version", "run", ...CHECKS]
    .map((it) => String(row[it] ?? "-").padEnd(widths[it] ?? 10))
    .join("  ")
    .trimEnd();

console.log(line(Object.fromEntries(["client", "version", "run", ...CHECKS].map((it) => [it, it]))));
let n_runs = 0;
let n_failed = 0;
for (const client of CLIENTS) {
  for (const run of RUNS) {
    if ((run.go === list) !== (client.lists !== undefined)) continue;
    if (client.asksNobody && run.script === script.ROLLING_BACK) continue;
    if (client.hasNoHooks && run.go === goUnasked) continue;
    if (!words.every((it) => isNamed(it, client, run))) continue;
    const started = Date.now();
    const row = run.go ? await run.go(client, run, { Place, ask }) : await go(client, run);
    endLeftovers();
    n_runs += 1;
    console.log(line({ ...row, client: client.name, version: pins[client.package], run: run.name }));
    if (row.strangers?.length) console.log(`    kept from ${row.strangers.join(", ")}`);
    if (run.go === goUnasked) console.log(`    ${CHECKS_OF_HOOKS.map((it) => `${it}: ${row[it]}`).join(", ")}`);
    for (const failure of row.failures ?? []) console.log(`    ${failure.replaceAll("\n", "\n    ")}`);
    if (row.failures) n_failed += 1;
    if (process.env.SHOW_TIMES) console.log(`    ${Date.now() - started} ms`);
  }
}
console.log(`${n_runs - n_failed} passed, ${n_failed} failed`);
process.exit(n_failed === 0 && 0 < n_runs ? 0 : 1);
