// The server: who is connected, what the doctor finds, and what is going on.

const clientName = (it) => it.name + (it.version ? ' ' + it.version : '');

VIEWS.sessions = {
  uses: ['logs'],
  async show(_, signal) {
    const [now, past] = await Promise.all([read('sessions', signal), read('sessions/history', signal)]);
    // Where one only looks, others are known by their ledgers, which have no address, and leases.
    const isAlone = now.servers && !now.servers.length && now.sessions.every((it) => it.listen);
    const present = now.sessions.map((it) => [make('strong', { dir: 'auto' }, clientName(it.client_meta)),
      it.client_meta.name === NAME && it.listen && chip(say('this_page')), now.servers && !it.listen && chip(say('by_ledger')),
      said('MCP ' + it.client_meta.protocol + ' · ' + it.transport, { class: 'from' }),
      say('n_calls', { n: it.count_tool_calls }), make('span', {}, say('active') + ' ', moment(it.last_activity))]);
    const ever = past.clients.map((it) => [make('strong', { dir: 'auto' }, clientName(it.client)),
      said(it.transport, { class: 'from' }), say('n_sessions', { n: it.sessions }),
      say('n_calls', { n: it.tool_calls }), say('lasted', { n: lasting(it.lifetime_seconds) })]);
    return { body: [hint(say('claims')),
      panel(say('sessions_now'), present.length ? rows(present)
        : emptyState(say('sessions_none'), say('sessions_do'), 'remindb setup'),
      servers(now), isAlone && hint(say('sessions_alone'))),
      panel(say('sessions_past'), ever.length ? rows(ever) : hint(say('past_none')))] };
  },
};

/** Returns what other processes do to the memory, where one only looks. */
const servers = (now) => now.servers?.length > 0 && rows(now.servers.map((it) => say('server_does', { id: it.pid,
  work: say(Object.hasOwn(WORDS, 'does_' + it.work) ? 'does_' + it.work : 'does_other') })));

const lasting = (seconds) => (seconds < 5400 ? say('minutes', { n: Math.round(seconds / 60) })
  : say('hours', { n: Math.round(seconds / 360) / 10 }));

/** The last report of this tab: it is long work, so nothing repeats it. */
let lastReport = JSON.parse(sessionStorage.getItem('doctor'));

VIEWS.doctor = {
  uses: [],
  isStill: true,
  async show() {
    const box = make('div', {});
    if (lastReport) box.append(...reported(lastReport));
    return { body: [hint(say('doctor_why')), make('p', { class: 'line' }, examination(box)), box] };
  },
};

function examination(box) {
  const start = button(say('doctor_run'), async () => {
    const [controller, begun] = [new AbortController(), performance.now()];
    current.controller.signal.addEventListener('abort', () => controller.abort());
    const clock = make('span', { role: 'timer' });
    const stop = button(say('cancel'), () => controller.abort());
    const elapsed = () => (performance.now() - begun) / 1000;
    const tick = () => { clock.textContent = say('doctor_runs', { n: Math.round(elapsed()) }); };
    const timer = setInterval(tick, 1000);
    tick();
    start.hidden = true;
    start.after(clock, stop);
    try {
      const report = await read('doctor', controller.signal);
      lastReport = { report, at: Date.now() / 1000, took: elapsed() };
      sessionStorage.setItem('doctor', JSON.stringify(lastReport));
      box.replaceChildren(...reported(lastReport));
    } catch (error) {
      if (error.name !== 'AbortError') box.replaceChildren(...failure(error));
    } finally {
      clearInterval(timer);
      clock.remove();
      stop.remove();
      start.hidden = false;
    }
  }, { class: 'main' });
  return start;
}

const WORST = ['fail', 'warn', 'pass'];

function reported({ report, at, took }) {
  const rank = (it) => WORST.indexOf(it.status);
  const checks = [...report.checks].sort((a, b) => rank(a) - rank(b));
  const isWell = report.status === 'pass';
  return [make('p', { class: isWell ? 'well' : 'unwell', role: 'status' },
    say(isWell ? 'doctor_ok' : 'doctor_bad')),
  hint(say('doctor_at'), ' ', moment(at), ', ', say('doctor_took', { took: Math.round(took * 10) / 10 })),
  ...(isWell ? [] : [hint(say('doctor_do')), commandHere('remindb doctor --fix')]),
  rows(checks.map((it) => [chip(it.status, it.status), make('strong', {}, it.name), said(it.detail)]))];
}

let logLevel = 'info';
let logWords = '';
let isPaused = false;

VIEWS.activity = {
  uses: ['logs', 'rescan'],
  async show(_, signal) {
    const [log, scan, now] = await Promise.all(['logs', 'rescan', 'sessions'].map((it) => read(it, signal)));
    const others = servers(now);
    const levels = say('levels').split(' ');
    const list = make('ul', { class: 'log' });
    const draw = () => {
      const isShown = (it) => levels.indexOf(it.level.toLowerCase()) >= levels.indexOf(logLevel)
        && (it.msg + JSON.stringify(it.attrs)).toLowerCase().includes(logWords.toLowerCase());
      const shown = log.records.filter(isShown).reverse().slice(0, 300);
      list.replaceChildren(...(shown.length ? shown.map(logLine) : [make('li', {}, say('log_none'))]));
    };
    const choose = make('select', { id: 'level', onchange: ({ target }) => { logLevel = target.value; draw(); } },
      levels.map((it) => make('option', { value: it, selected: it === logLevel }, it)));
    const words = make('input', { id: 'words', type: 'search', value: logWords,
      oninput: ({ target }) => { logWords = target.value; draw(); } });
    const pause = button(say(isPaused ? 'resume' : 'pause'), () => {
      isPaused = !isPaused;
      VIEWS.activity.isStill = isPaused;
      pause.textContent = say(isPaused ? 'resume' : 'pause');
    });
    draw();
    return { body: [panel(say('rescan'), others ? [others, hint(say('rescan_other'))] : scanned(scan)),
      panel(say('log'), now.servers && hint(say('log_own')), make('p', { class: 'line' }, make('label', { for: 'level' }, say('level')), choose,
        make('label', { for: 'words' }, say('filter')), words, pause),
      log.dropped > 0 && hint(say('log_lost', { n: log.dropped })), list)] };
  },
};

function scanned({ interval_s: n, last_meta: last }) {
  if (!n) return hint(say('rescan_none'));
  if (!last.run_at) return hint(say('rescan_first', { n }));
  return [hint(say('rescan_at', { n, ago: ago(last.run_at) })), make('p', {}, counts(last)),
    last.error && make('p', { class: 'failed', dir: 'auto' }, last.error)];
}

function logLine(it) {
  const attributes = Object.entries(it.attrs).map(([name, value]) => name + '=' + value).join(' ');
  return make('li', {}, moment(it.time / 1000, timeFormat.format(it.time)), chip(it.level.toLowerCase()),
    said(it.msg), attributes && said(attributes, { class: 'from' }));
}
