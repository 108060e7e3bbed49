// Two sessions of a client whose model never calls a tool: what hooks tell the model without being
// asked, and what they keep.

import assert from "node:assert/strict";
import * as fs from "node:fs";
import { join } from "node:path";

import { serve } from "./model.mjs";
import { MARKER } from "./script.mjs";

export const CHECKS_OF_HOOKS = ["started", "brought", "kept", "known", "secret", "removed"];

// Put together here, so that no file of this project holds what looks like a secret.
const SECRET = ["ghp", "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"].join("_");

const QUESTION =
  `At which pressure is the quasar valve calibrated at the reference port? My token is ${SECRET}.`;
const ANSWER = "It is calibrated; the sheet is signed: PERSIMMON-12.";
const LATER = "Please go on.";

// Runs one session, and returns the requests in which the model was offered tools.
async function session(place, model, ask, question) {
  const n_before = model.requests.length;
  const { code, said, noise } = await ask(place, model.url, question, place.client.trusting);
  assert.equal(code, 0, said + noise);
  const asked = model.requests.slice(n_before).filter((it) => 0 < it.seen?.tools.length);
  assert(0 < asked.length, "the model was never asked");
  return asked.map((it) => JSON.stringify(it.body));
}

// Every byte below a folder, but for what the client itself keeps.
function bytes(place) {
  const folders = [place.project, join(place.home, ".local/state/remindb")];
  let all = "";
  for (const folder of folders.filter((it) => fs.existsSync(it))) {
    for (const entry of fs.readdirSync(folder, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name);
      if (entry.isFile() && !path.includes("/.git/")) all += fs.readFileSync(path, "latin1");
    }
  }
  return all;
}

// Sets a client up, runs two sessions, and returns its row of the table.
export async function goUnasked(client, run, { Place, ask }) {
  const row = {};
  const check = (name, text, parts) => {
    const missing = parts.filter((it) => !text.includes(it));
    row[name] = missing.length === 0 ? "yes" : "FAILED";
    if (0 < missing.length) (row.failures ??= []).push(`${name}: no ${missing.join(", no ")}`);
  };
  let answer = ANSWER;
  const model = await serve(client.dialect, () => ({ say: answer }));
  try {
    const place = new Place(client, run, model.url);
    const before = place.everything();
    place.setup();
    for (const command of client.approve?.(run) ?? []) place.call(...command);
    const first = await session(place, model, ask, QUESTION);
    check("started", first[0], ["remindb memory: ", "MemoryWrite", "Pumping station"]);
    check("brought", first[0], [MARKER]);
    const note = place.found("PERSIMMON-12");
    check("kept", note, ["asked: At which pressure is the quasar valve", `answered: ${ANSWER}`]);
    answer = "All is done.";
    const second = await session(place, model, ask, LATER);
    fs.writeFileSync(join(place.root, "requests.json"), JSON.stringify(model.requests, null, 1));
    check("known", second[0], ["At which pressure is the quasar valve", "PERSIMMON-12"]);
    assert(!bytes(place).includes(SECRET), "the secret is in the memory");
    row.secret = "nowhere";
    place.setup(["--remove"]);
    const after = place.everything();
    for (const [path, text] of before) {
      if (!client.owns?.test(path)) assert.equal(after.get(path), text, path);
    }
    const ours = [...after.keys()].filter((it) => /remindb-|remindb\.js|\.backup$/.test(it));
    assert.deepEqual(ours.filter((it) => !client.owns?.test(it)), []);
    row.removed = "exactly";
  } catch (error) {
    (row.failures ??= []).push(error.message);
  } finally {
    model.close();
  }
  return row;
}
