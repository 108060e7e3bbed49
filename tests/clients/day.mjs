// An agent's day with its memory, for any client that has the methods that are called here; the
// steps are those of day.py. A tool that fails throws, like every other error.

import assert from "node:assert/strict";

const TEMPLATE = "remindb://tree/{rootId}{?depth}";

export class Day {
  step = "connect";
  // What the user was asked, who always says yes.
  questions = [];
  // URIs of the resources that the server said were updated, and who waits for one.
  #updated = [];
  #waiting = () => {};

  tell(uri) {
    this.#updated.push(uri);
    this.#waiting();
  }

  async updated() {
    let late;
    await new Promise((resolve, reject) => {
      this.#waiting = resolve;
      late = setTimeout(() => reject(new Error("no update within 10 s")), 10_000);
      if (this.#updated.length > 0) resolve();
    });
    clearTimeout(late);
    return this.#updated.shift();
  }

  ask(question) {
    this.questions.push(question.params.message);
    return { action: "accept", content: { confirm: true } };
  }

  async spend(memory) {
    this.step = "orient";
    if (memory.instructions) assert.match(memory.instructions(), /MemorySearch/);
    const tools = await memory.tools();
    assert(tools.includes("MemorySearch") && tools.includes("MemoryWrite"), tools.join());
    assert((await memory.prompts()).includes("orient"), "no prompt `orient`");
    assert.match(await memory.prompt("orient", { topic: "on call" }), /`on call`/);
    const before = (await memory.call("MemoryStats")).head.id;

    this.step = "search";
    const found = await memory.call("MemorySearch", { query: "who is on call?" });
    const ana = found.hits[0].id;

    this.step = "fetch";
    const fetched = await memory.call("MemoryFetch", { anchor: ana });
    assert.match(JSON.stringify(fetched.nodes), /odd weeks/);
    await assert.rejects(memory.call("MemoryFetch", { anchor: "nowhere" }), /nowhere/);

    if (memory.complete) {
      this.step = "complete";
      const values = await memory.complete(TEMPLATE, "rootId", ana.slice(0, 4));
      assert(values.includes(ana), `${ana} is not among ${values}`);
    }
    if (memory.subscribe) {
      this.step = "subscribe";
      await memory.subscribe("remindb://tree");
    }

    this.step = "write";
    const written = await memory.call("MemoryWrite", { payload: "Ben takes over in June." });
    const ben = written.node_id;
    if (memory.subscribe) {
      this.step = "be told";
      assert.equal(await this.updated(), "remindb://tree");
    }

    this.step = "relate";
    await memory.call("MemoryRelate", { source_id: ben, target_id: ana, weight: 2 });
    const related = await memory.call("MemoryRelated", { anchor: ben, direction: "out" });
    assert.deepEqual(related.nodes.map((node) => node.id), [ana]);

    this.step = "delta";
    const delta = await memory.call("MemoryDelta", { since_snapshot: before });
    assert.deepEqual(delta.changes.map((it) => [it.op, it.id]), [["add", ben]]);

    this.step = "read";
    assert((await memory.resources()).includes("remindb://overview"), "no overview");
    assert((await memory.templates()).includes(TEMPLATE), "no template of trees");
    assert((await memory.read("remindb://overview")).nodes.total > 0, "an empty overview");
    assert.equal((await memory.read(`remindb://tree/${ben}?depth=1`)).roots[0].id, ben);
    await assert.rejects(memory.read("remindb://nothing"), /remindb:\/\/nothing/);

    this.step = "roll back";
    await memory.call("MemoryRollback", { snapshot_id: before });
    await assert.rejects(memory.call("MemoryFetch", { anchor: ben }), new RegExp(ben));
    assert.equal(this.questions.length, 0);

    this.step = "roll back for good";
    const forever = { snapshot_id: before, drop_after: true };
    const gone = await memory.call("MemoryRollback", forever);
    assert(gone.dropped >= 2, JSON.stringify(gone));
    assert.equal(this.questions.length, memory.asks ? 1 : 0);
  }
}

// What a program reads of a tool's result; the text beside it is the agent's.
export function answerOf(result) {
  const text = result.content.map((block) => block.text).join("\n");
  if (result.isError) throw new Error(text);
  assert(text, JSON.stringify(result));
  return result.structuredContent;
}

// What is in a resource.
export function documentOf(result) {
  return JSON.parse(result.contents[0].text);
}

// Spends a day with `client(day, era, address, command)` and says how it went in one line.
export async function main(client) {
  const [era, address, ...command] = process.argv.slice(2);
  const day = new Day();
  try {
    await client(day, era, address, command);
    console.log("ok");
    process.exit(0);
  } catch (error) {
    console.error(error);
    console.log(`failed: ${day.step}: ${String(error?.message ?? error).trim().split("\n")[0]}`);
    process.exit(1);
  }
}
