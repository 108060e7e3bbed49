// A client of the server's own /mcp, without sessions: each request is complete by itself.

const VERSION = '2026-07-28';
const NAME = 'remindb-view';
const META = {
  'io.modelcontextprotocol/protocolVersion': VERSION,
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': { name: NAME, version: '1' },
};
const channel = new BroadcastChannel('remindb');
let lastId = 0;

/** Without the token there is nothing to see. */
class Locked extends Error {}

/** The server answered that it cannot. */
class Refused extends Error {}

/** Posts a request; the answer is JSON or a stream of events. */
async function post(method, params, signal, name, isSecond) {
  const token = sessionStorage.getItem('token');
  const headers = {
    'Content-Type': 'application/json',
    Accept: 'application/json, text/event-stream',
    'MCP-Protocol-Version': VERSION,
    'Mcp-Method': method,
  };
  if (name) headers['Mcp-Name'] = name;
  if (token) headers.Authorization = 'Bearer ' + token;
  const message = { jsonrpc: '2.0', id: ++lastId, method, params: { ...params, _meta: META } };
  const body = JSON.stringify(message);
  const response = await fetch('/mcp', { method: 'POST', signal, headers, body });
  if (response.status !== 401) return response;
  if (!isSecond && await tokenOfOthers()) return post(method, params, signal, name, true);
  sessionStorage.removeItem('token');
  throw new Locked();
}

/** Asks the other tabs for the token. */
function tokenOfOthers() {
  return new Promise((resolve) => {
    const before = sessionStorage.getItem('token');
    const timer = setTimeout(() => end(false), 250);
    const end = (has) => {
      clearTimeout(timer);
      channel.removeEventListener('message', heard);
      resolve(has);
    };
    const heard = ({ data }) => {
      if (!data.token || data.token === before) return;
      sessionStorage.setItem('token', data.token);
      end(true);
    };
    channel.addEventListener('message', heard);
    channel.postMessage({ ask: 'token' });
  });
}

/** Yields the messages of a stream of events. */
async function* messagesOf(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let waiting = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    waiting += value;
    const events = waiting.split('\n\n');
    waiting = events.pop();
    for (const event of events) {
      const lines = event.split('\n').filter((it) => it.startsWith('data:'));
      const data = lines.map((it) => it.slice(5)).join('\n').trim();
      if (data) yield JSON.parse(data);
    }
  }
}

/** Returns the result of a request. */
async function request(method, params, signal, name) {
  const response = await post(method, params, signal, name);
  let answer;
  if ((response.headers.get('Content-Type') || '').startsWith('text/event-stream')) {
    for await (const message of messagesOf(response)) if ('id' in message) answer = message;
  } else {
    answer = await response.json();
  }
  if (answer.error) throw new Refused(answer.error.message);
  return answer.result;
}

/** Reads a resource of `remindb://` unless it has a scheme of its own. */
async function read(uri, signal) {
  const whole = uri.includes('://') ? uri : 'remindb://' + uri;
  const { contents } = await request('resources/read', { uri: whole }, signal, whole);
  return JSON.parse(contents[0].text);
}

/** Returns a query of a URI; empty values are left out. */
function query(values) {
  const given = Object.entries(values).filter(([, value]) => value != null && value !== '');
  const parts = given.map(([name, value]) => name + '=' + encodeURIComponent(value));
  return parts.length ? '?' + parts.join('&') : '';
}

/** The tools that there are: empty where one only looks. */
let tools = new Set();

async function learnTools() {
  const { capabilities } = await request('server/discover', {});
  // The token works: tabs that wait for one may have it.
  const token = sessionStorage.getItem('token');
  if (token) channel.postMessage({ token });
  if (!capabilities.tools) return;
  let cursor;
  do {
    const page = await request('tools/list', cursor ? { cursor } : {});
    page.tools.forEach((it) => tools.add(it.name));
    cursor = page.nextCursor;
  } while (cursor);
}

/** Calls a tool and returns its text. */
async function call(name, given) {
  const result = await request('tools/call', { name, arguments: given }, undefined, name);
  const text = result.content.map((it) => it.text || '').join('\n');
  if (result.isError) throw new Error(text);
  return text;
}

/** Gives the link's secret for a token, and keeps it out of the address. */
async function enter() {
  const once = /^#once=(.+)$/.exec(location.hash);
  if (!once) return;
  history.replaceState(null, '', '#overview');
  const response = await fetch('/session', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ once: decodeURIComponent(once[1]) }),
  });
  if (!response.ok) return;
  sessionStorage.setItem('token', (await response.json()).token);
}
