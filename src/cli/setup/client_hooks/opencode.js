// Hooks of remindb, the memory of this agent. `remindb setup opencode --remove` removes this file.
//
// The model is told what the memory holds at the beginning of a session and about each prompt; a
// note of the session is kept at its end. Where anything fails, nothing happens.

import { spawnSync } from "node:child_process";

const COMMAND = ["REMINDB"];

// The note of a session that goes on is updated this often.
const NOTE_MS = 10 * 60 * 1000;

function hook(event, input) {
  try {
    const [program, word, ...flags] = COMMAND;
    const { stdout } = spawnSync(program, [word, event, ...flags], {
      input: JSON.stringify(input),
      encoding: "utf8",
      timeout: 3000,
    });
    return stdout ? JSON.parse(stdout).hookSpecificOutput.additionalContext : undefined;
  } catch {
    return undefined;
  }
}

export const RemindbPlugin = async ({ client, directory }) => {
  // By the id of a session: its context, the time of its note, and its messages.
  const sessions = new Map();

  const session = (id) => {
    if (!sessions.has(id)) sessions.set(id, { noted: -Infinity });
    return sessions.get(id);
  };

  const input = (id, fields) => ({ session_id: id, cwd: directory, ...fields });

  const read = async (id) => {
    try {
      const { data } = await client.session.messages({ path: { id } });
      if (data) session(id).messages = data;
    } catch {
      // The messages of the time before are kept.
    }
    return session(id).messages;
  };

  const note = async (event, id) => {
    const messages = await read(id);
    if (messages) hook(event, input(id, { messages }));
    session(id).noted = Date.now();
  };

  return {
    "experimental.chat.system.transform": async ({ sessionID: id }, output) => {
      if (!id) return;
      const it = session(id);
      it.context ??= hook("session-start", input(id)) ?? "";
      if (it.context) output.system.push(it.context);
    },

    "chat.message": async ({ sessionID: id }, { message, parts }) => {
      const text = parts.find((it) => it.type === "text" && !it.synthetic);
      const context = text && hook("prompt", input(id, { prompt: text.text }));
      if (!context) return;
      parts.push({
        id: `prt_remindb${Date.now().toString(36)}`,
        sessionID: id,
        messageID: message.id,
        type: "text",
        text: context,
        synthetic: true,
      });
    },

    "experimental.session.compacting": async ({ sessionID: id }) => {
      if (id) await note("pre-compact", id);
    },

    event: async ({ event }) => {
      const id = event.properties?.sessionID ?? event.properties?.info?.id;
      if (event.type === "session.idle") {
        if (NOTE_MS < Date.now() - session(id).noted) await note("pre-compact", id);
        else await read(id);
      }
      if (event.type === "session.deleted") sessions.delete(id);
    },

    dispose: async () => {
      for (const [id, { messages }] of sessions) {
        if (messages) hook("session-end", input(id, { messages }));
      }
    },
  };
};
