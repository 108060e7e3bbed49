// Changes as they happen: one open request a browser, whoever of its tabs holds the lock.
//
// A hidden tab listens to nothing and gives the lock away. A tab that comes back reads again.

const WATCHED = ['tree', 'graph', 'snapshots', 'files', 'rescan', 'temperature', 'logs', 'heat',
  'timeline'].map((it) => 'remindb://' + it)
  .concat(['recent', 'core', 'learnings', 'tasks/active'].map((it) => 'memory://' + it));
const RETRY_MS_MIN = 500;
const RETRY_MS_MAX = 30000;
const REFRESH_MS = 500;

let liveState = 'connecting';
let watching;
let isLeader = false;

function setLive(state) {
  const was = liveState;
  liveState = state;
  document.body.dataset.live = state;
  find('#live').textContent = say(state);
  find('#live').title = state === 'live' ? say('live_tip') : '';
  if (state === 'live' && was !== 'live') changed();
}

function tell(message) {
  hear(message);
  channel.postMessage(message);
}

function hear(message) {
  if (message.state) setLive(message.state);
  if (message.changed) changed(message.changed);
}

channel.addEventListener('message', ({ data }) => {
  const token = sessionStorage.getItem('token');
  if (data.token && document.body.dataset.shown === 'locked') {
    sessionStorage.setItem('token', data.token);
    begin();
  }
  if (data.ask === 'token' && token) channel.postMessage({ token });
  if (data.ask === 'state' && isLeader) channel.postMessage({ state: liveState });
  hear(data);
});

/** Listens until the signal ends it, as the only tab of the browser. */
async function watch(signal) {
  const lead = () => {
    isLeader = true;
    return lifeOf(signal).finally(() => { isLeader = false; });
  };
  channel.postMessage({ ask: 'state' });
  // Browsers have locks only on secure origins; elsewhere each tab listens for itself.
  if (!navigator.locks) return lead();
  await navigator.locks.request('remindb-live', { signal }, lead).catch(() => {});
}

/** Keeps one request open, and opens it again when it ends. */
async function lifeOf(signal) {
  let wait = RETRY_MS_MIN;
  while (!signal.aborted) {
    try {
      const wanted = { notifications: { resourceSubscriptions: WATCHED } };
      const response = await post('subscriptions/listen', wanted, signal);
      if (!response.ok) throw new Error(response.status);
      for await (const message of messagesOf(response)) {
        if (message.method === 'notifications/subscriptions/acknowledged') {
          wait = RETRY_MS_MIN;
          tell({ state: 'live' });
        } else if (message.method === 'notifications/resources/updated') {
          tell({ changed: message.params.uri });
        }
      }
    } catch (error) {
      if (error instanceof Locked) return lock();
    }
    if (signal.aborted) return;
    tell({ state: 'offline' });
    await pauseFor(wait, signal);
    wait = Math.min(wait * 2, RETRY_MS_MAX);
  }
}

function pauseFor(milliseconds, signal) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    const now = () => { clearTimeout(timer); resolve(); };
    signal.addEventListener('abort', now, { once: true });
    addEventListener('online', now, { once: true });
  });
}

function startWatching() {
  watching?.abort();
  if (document.hidden) return;
  watching = new AbortController();
  watch(watching.signal);
}

document.addEventListener('visibilitychange', () => {
  startWatching();
  if (!document.hidden) changed();
});

// Refreshing: at most each 500 ms, and never while somebody selects or types.

let refreshedAt = 0;
let refreshTimer;

function changed(uri) {
  if (!current || (uri && !current.view.uses.some((it) => uri.endsWith('//' + it)))) return;
  clearTimeout(refreshTimer);
  const wait = Math.max(0, refreshedAt + REFRESH_MS - performance.now());
  refreshTimer = setTimeout(isBusy() ? changed : refreshNow, isBusy() ? REFRESH_MS : wait);
}

function refreshNow() {
  if (isBusy()) return changed();
  refreshedAt = performance.now();
  refresh();
}

function isBusy() {
  const selection = getSelection();
  const active = document.activeElement;
  return isActing || (selection && !selection.isCollapsed) || !!find('dialog[open]')
    || (find('#body').contains(active) && active.matches('input, textarea, select'));
}
