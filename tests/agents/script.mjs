// What the stand-in does with the memory: it searches, fetches the first hit that it was shown,
// writes, and says that it is done. It knows of the conversation only what a model sees.

export const QUERY = "at which pressure is the quasar valve calibrated at the reference port?";
export const MARKER = "marker TANGERINE-7731 on its plate";
export const WRITTEN = "The spring of the quasar valve was changed: PERSIMMON-12.";
// Tokens of one reply; small enough that something has to be left out.
export const BUDGET = 260;

// Ids of nodes as they stand in a reply, in its order.
const idsOf = (text) => [...text.matchAll(/\bid=([0-9A-Za-z]{11})\b/g)].map((it) => it[1]);

export const REMEMBERING = [
  ["MemorySearch", () => ({ query: QUERY, budget: BUDGET })],
  ["MemoryFetch", (results) => ({ anchor: idsOf(results[0].text)[0] ?? "nothing", budget: BUDGET })],
  ["MemoryWrite", () => ({ payload: WRITTEN })],
];

export const ROLLING_BACK = [
  ["MemoryWrite", () => ({ payload: WRITTEN })],
  ["MemoryRollback", () => ({ snapshot_id: 1, drop_after: true })],
];

// Plays a script. A client that keeps tools back until somebody looks for them is asked for them.
export function player(script) {
  return ({ tools, deferred, results: all }) => {
    const results = all.filter((it) => it.name !== "tool_search");
    const hasLooked = all.at(-1)?.name === "tool_search";
    const [tool, args] = script[results.length] ?? [];
    if (!tool) return { say: "All is done." };
    const declared = tools.find((it) => isTool(it, tool));
    if (declared) return { call: declared, args: args(results) };
    const known = deferred.find((it) => isTool(it, tool));
    if (known && hasLooked) {
      return { call: "tool_call", args: { name: known, arguments: args(results) } };
    }
    if (!tools.includes("tool_search") || hasLooked) return { say: `There is no ${tool}.` };
    // By its name where that is known, else as somebody looks who wants to remember something.
    const query = known ? { query: `select:${known}` } : { query: "remindb memory", limit: 50 };
    return { call: "tool_search", args: query };
  };
}

// Whether a client's name of a tool is that of the memory's tool.
export const isTool = (name, tool) => name.endsWith(tool) && name.includes("remindb");
