// A day of the official TypeScript SDK, 2.x: `sdk_2.mjs modern|legacy stdio|URL COMMAND…`

import assert from "node:assert/strict";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { main } from "./day.mjs";
import { Memory } from "./sdk.mjs";

await main(async (day, era, address, [command, ...args]) => {
  const client = new Client(
    { name: "clients", version: "1" },
    {
      capabilities: { elicitation: {} },
      versionNegotiation: { mode: era === "modern" ? "auto" : era },
    },
  );
  client.setRequestHandler("elicitation/create", (question) => day.ask(question));
  const heard = "notifications/resources/updated";
  client.setNotificationHandler(heard, (notice) => day.tell(notice.params.uri));
  const transport =
    address === "stdio"
      ? new StdioClientTransport({ command, args })
      : new StreamableHTTPClientTransport(new URL(address));
  await client.connect(transport);
  assert.equal(client.getNegotiatedProtocolVersion() >= "2026", era === "modern");
  const memory = new Memory(client);
  if (era === "modern") {
    memory.subscribe = async (uri) => {
      const told = await client.listen({ resourceSubscriptions: [uri] });
      assert.deepEqual(told.honoredFilter.resourceSubscriptions, [uri]);
    };
  }
  await day.spend(memory);
  await client.close();
});
