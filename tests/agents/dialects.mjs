// The APIs that clients speak with a model, each as three functions over the same plain values.
//
// - `path`: which requests ask the model.
// - `read(body)` returns what the model is sent: `{ tools: [name], results: [{ name, text }] }`,
//   the results of tools in the order of the conversation; `deferred` are names of tools that
//   stand in a text only, to be called through another tool.
// - `write(reply, body)` returns the events of one reply, `{ call, args }` or `{ say }`.

let serial = 0;
const fresh = (prefix) => `${prefix}_${String(++serial).padStart(8, "0")}`;

// Text of a content that is a string or a list of blocks.
const textOf = (content) =>
  typeof content === "string" ? content : (content ?? []).map((it) => it.text ?? "").join("\n");

// Pairs results, by the id of their call, with the names of the calls.
function paired(calls, results) {
  const names = new Map(calls.map(({ id, name }) => [id, name]));
  return results.map(({ id, text }) => ({ name: names.get(id) ?? "", text }));
}

// Anthropic: Messages.
export const messages = {
  path: /\/v1\/messages(\?|$)/,
  read(body) {
    const blocks = body.messages.flatMap((it) => (Array.isArray(it.content) ? it.content : []));
    const results = blocks.filter((it) => it.type === "tool_result");
    return {
      tools: (body.tools ?? []).map((it) => it.name),
      results: paired(
        blocks.filter((it) => it.type === "tool_use"),
        results.map((it) => ({ id: it.tool_use_id, text: textOf(it.content) })),
      ),
      deferred: [],
    };
  },
  write(reply, body) {
    const usage = { input_tokens: 1, output_tokens: 1 };
    const [block, delta] = reply.call
      ? [
          { type: "tool_use", id: fresh("toolu"), name: reply.call, input: {} },
          { type: "input_json_delta", partial_json: JSON.stringify(reply.args) },
        ]
      : [{ type: "text", text: "" }, { type: "text_delta", text: reply.say }];
    const stop_reason = reply.call ? "tool_use" : "end_turn";
    const message = { type: "message", role: "assistant", model: body.model, content: [] };
    const events = [
      {
        type: "message_start",
        message: { id: fresh("msg"), ...message, stop_reason: null, stop_sequence: null, usage },
      },
      { type: "content_block_start", index: 0, content_block: block },
      { type: "content_block_delta", index: 0, delta },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage },
      { type: "message_stop" },
    ];
    return events.map((it) => ({ event: it.type, data: it }));
  },
};

// OpenAI: Responses. Tools of a server stand in a namespace, which calls name beside the tool; they
// may come only after a search for tools.
export const responses = {
  path: /\/responses(\?|$)/,
  read(body) {
    const input = Array.isArray(body.input) ? body.input : [];
    const found = input.filter((it) => it.type === "tool_search_output");
    const tools = [...(body.tools ?? []), ...found.flatMap((it) => it.tools)];
    const calls = input.filter((it) => it.type === "function_call");
    const results = input.filter((it) => /^(function_call|tool_search)_output$/.test(it.type));
    return {
      tools: tools.flatMap((it) =>
        it.type === "namespace"
          ? it.tools.map((tool) => `${it.name}/${tool.name}`)
          : [it.name ?? it.type],
      ),
      results: results.map((it) => ({
        name: calls.find((call) => call.call_id === it.call_id)?.name ?? "tool_search",
        text: textOf(it.output ?? ""),
      })),
      deferred: [],
    };
  },
  write(reply, body) {
    const usage = {
      input_tokens: 1,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 1,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 2,
    };
    const item = itemOf(reply);
    const response = { id: fresh("resp"), object: "response", model: body.model };
    const events = [
      { type: "response.created", response: { ...response, status: "in_progress", output: [] } },
      { type: "response.output_item.added", output_index: 0, item },
      { type: "response.output_item.done", output_index: 0, item },
      {
        type: "response.completed",
        response: { ...response, status: "completed", output: [item], usage },
      },
    ];
    return events.map((it) => ({ event: it.type, data: it }));
  },
};

function itemOf(reply) {
  const call_id = fresh("call");
  if (reply.say) {
    const content = [{ type: "output_text", text: reply.say, annotations: [] }];
    return { type: "message", id: fresh("msg"), role: "assistant", content };
  }
  if (reply.call === "tool_search") {
    const type = "tool_search_call";
    return { type, id: fresh("ts"), call_id, execution: "client", arguments: reply.args };
  }
  const [name, namespace] = reply.call.split("/").reverse();
  const call = { name, ...(namespace && { namespace }), arguments: JSON.stringify(reply.args) };
  return { type: "function_call", id: fresh("fc"), call_id, ...call };
}

// Google: generateContent.
export const contents = {
  path: /:(streamGenerateContent|generateContent)(\?|$)/,
  read(body) {
    const parts = (body.contents ?? []).flatMap((it) => it.parts ?? []);
    return {
      tools: (body.tools ?? [])
        .flatMap((it) => it.functionDeclarations ?? [])
        .map((it) => it.name),
      results: parts
        .filter((it) => it.functionResponse)
        .map(({ functionResponse: { name, response } }) => ({
          name,
          text: response.output ?? response.error ?? JSON.stringify(response),
        })),
      deferred: [],
    };
  },
  write(reply) {
    const part = reply.call
      ? { functionCall: { name: reply.call, args: reply.args } }
      : { text: reply.say };
    const usage = { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 };
    const candidate = { content: { role: "model", parts: [part] }, finishReason: "STOP", index: 0 };
    return [{ data: { candidates: [candidate], usageMetadata: usage } }];
  },
};

// OpenAI: chat completions.
export const chat = {
  path: /\/chat\/completions(\?|$)/,
  read(body) {
    const calls = body.messages.flatMap((it) => it.tool_calls ?? []);
    const results = body.messages.filter((it) => it.role === "tool");
    const named = ({ name, arguments: args }) =>
      name === "tool_call" ? JSON.parse(args).name : name;
    const text = body.messages.map((it) => textOf(it.content)).join("\n");
    return {
      tools: (body.tools ?? []).map((it) => it.function.name),
      results: paired(
        calls.map((it) => ({ id: it.id, name: named(it.function) })),
        results.map((it) => ({ id: it.tool_call_id, text: textOf(it.content) })),
      ),
      deferred: [...text.matchAll(/^- "(mcp__[\w-]+)"/gm)].map((it) => it[1]),
    };
  },
  write(reply, body) {
    const call = () => ({
      index: 0,
      id: fresh("call"),
      type: "function",
      function: { name: reply.call, arguments: JSON.stringify(reply.args) },
    });
    const delta = reply.call
      ? { role: "assistant", content: null, tool_calls: [call()] }
      : { role: "assistant", content: reply.say };
    const chunk = { id: fresh("chat"), object: "chat.completion.chunk", model: body.model };
    const finish_reason = reply.call ? "tool_calls" : "stop";
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    return [
      { data: { ...chunk, created: 0, choices: [{ index: 0, delta, finish_reason: null }] } },
      { data: { ...chunk, created: 0, choices: [{ index: 0, delta: {}, finish_reason }], usage } },
      { data: "[DONE]" },
    ];
  },
};
