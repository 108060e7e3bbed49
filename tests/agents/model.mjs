// A stand-in for a model: it answers on a port of this machine in the dialect of a client, plays a
// script with the memory's tools, and records every request.

import { createServer } from "node:http";

// Serves `play(seen)` in a dialect until it is closed. `requests` is what it was asked, with what
// the model sees of it as `seen`; `strangers` are the hosts that somebody wanted through it.
export async function serve(dialect, play) {
  const requests = [];
  const strangers = new Set();
  const server = createServer(async (request, response) => {
    // As a proxy it is asked for whole URLs.
    if (!request.url.startsWith("/")) {
      strangers.add(new URL(request.url).host);
      return response.writeHead(502).end();
    }
    let text = "";
    for await (const piece of request) text += piece;
    const isQuestion = request.method === "POST" && dialect.path.test(request.url);
    const body = parsed(text);
    const asked = { method: request.method, url: request.url, body };
    requests.push(asked);
    if (!isQuestion) {
      response.writeHead(request.method === "HEAD" ? 200 : 404, { "content-type": "application/json" });
      return response.end("{}");
    }
    asked.seen = dialect.read(body);
    const reply = play(asked.seen);
    asked.reply = reply;
    const events = dialect.write(reply, body);
    const isStream = body.stream === true || request.url.includes("streamGenerateContent");
    if (!isStream) {
      response.writeHead(200, { "content-type": "application/json" });
      return response.end(JSON.stringify(dialect.whole?.(reply, body) ?? events[0].data));
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const { event, data } of events) {
      if (event) response.write(`event: ${event}\n`);
      response.write(`data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`);
    }
    response.end();
  });
  server.on("connect", (request, socket) => {
    strangers.add(request.url);
    socket.on("error", () => {});
    socket.end("HTTP/1.1 502 Bad Gateway\r\n\r\n");
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${server.address().port}`, requests, strangers, close };
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
