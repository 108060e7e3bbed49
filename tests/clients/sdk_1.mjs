// A day of the official TypeScript SDK, 1.x: `sdk_1.mjs legacy stdio|URL COMMAND…`

import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  ElicitRequestSchema,
  ResourceUpdatedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { main } from "./day.mjs";
import { Memory } from "./sdk.mjs";

await main(async (day, era, address, [command, ...args]) => {
  assert.equal(era, "legacy");
  const me = { name: "clients", version: "1" };
  const client = new Client(me, { capabilities: { elicitation: {} } });
  client.setRequestHandler(ElicitRequestSchema, (question) => day.ask(question));
  const heard = ResourceUpdatedNotificationSchema;
  client.setNotificationHandler(heard, (notice) => day.tell(notice.params.uri));
  const transport =
    address === "stdio"
      ? new StdioClientTransport({ command, args })
      : new StreamableHTTPClientTransport(new URL(address));
  await client.connect(transport);
  await day.spend(new Memory(client));
  await transport.terminateSession?.();
  await client.close();
});
