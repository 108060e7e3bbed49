// The frame: routes, navigation, keys, dialogs, and what a view shows while it loads or fails.

const MAIN = ['overview', 'tree', 'search', 'timeline', 'memories', 'concepts', 'sessions', 'doctor',
  'activity'];
const LOADING_MS = 150;

let current;

/** Shows the view of the address. */
function route() {
  const [name, ...rest] = location.hash.slice(1).split('/');
  const known = Object.hasOwn(VIEWS, name) ? name : 'overview';
  let argument = rest.join('/');
  try {
    argument = decodeURIComponent(argument);
  } catch { /* As it is. */ }
  current?.controller.abort();
  current = { name: known, view: VIEWS[known], argument, controller: new AbortController(),
    asked: 0, drawn: 0 };
  if (known !== 'search') find('#q').value = '';
  const { parent } = current.view;
  for (const link of document.querySelectorAll('#views a')) {
    const isHere = link.hash === '#' + (parent || known);
    if (isHere) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  load(current, false);
}

/** Reads what a view shows; a refresh that fails leaves what is there. */
async function load(place, isRefresh) {
  const { name, view, argument, controller } = place;
  const nth = ++place.asked;
  const later = setTimeout(() => {
    if (place === current && !isRefresh && !place.drawn) fill(say(name), [hint(say('loading'))], false);
  }, LOADING_MS);
  try {
    const shown = await view.show(argument, controller.signal);
    // An answer to an earlier question may come later.
    if (place !== current || nth < place.drawn) return;
    fill(shown.title || say(name), shown.body, place.drawn > 0);
    place.drawn = nth;
    document.body.dataset.shown = name;
    performance.mark('shown:' + name);
  } catch (error) {
    if (place !== current || error.name === 'AbortError') return;
    if (error instanceof Locked) lock();
    // What the server refuses is gone; what did not reach it stays as it is.
    else if (!isRefresh || error instanceof Refused) fill(say(name), failure(error), isRefresh);
  } finally {
    clearTimeout(later);
  }
}

function failure(error) {
  return [make('div', { class: 'failed', role: 'alert' }, make('p', {}, say('failed')),
    make('p', { dir: 'auto' }, error.message), button(say('again'), route))];
}

function refresh() {
  if (!current.view.isStill) load(current, true);
}

/** Replaces the content; focus goes to the heading, or stays where it was in a refresh. */
function fill(title, body, isRefresh) {
  const heading = find('#title');
  const active = document.activeElement;
  const at = isRefresh && find('#body').contains(active) ? keyOf(active) : null;
  const folds = isRefresh && [...find('#body').querySelectorAll('details')].map((it) => it.open);
  const typed = isRefresh ? [...find('#body').querySelectorAll('input')].filter((it) => it.value !== it.defaultValue) : [];
  if (heading.textContent !== title) heading.textContent = title;
  document.title = title + ' · remindb';
  find('#body').replaceChildren(...body.flat(9).filter((it) => it != null && it !== false));
  const unfolded = [...find('#body').querySelectorAll('details')];
  // What a reader unfolded stays so, where nothing came or went.
  if (folds.length === unfolded.length) unfolded.forEach((it, i) => { it.open = folds[i]; });
  for (const { id, value } of typed) {
    const again = document.getElementById(id);
    if (again) again.value = value;
  }
  if (at) [...find('#body').querySelectorAll('a, button, summary, [role=treeitem]')].find((it) => keyOf(it) === at)?.focus();
  if (!isRefresh) {
    heading.focus({ preventScroll: true });
    scrollTo(0, 0);
  }
}

const keyOf = (element) => element.dataset.id || (element.getAttribute('href') || '') + element.textContent;

/** Asks for the token. */
function lock() {
  const input = make('input', { id: 'token', name: 'token', type: 'password', required: true,
    autocomplete: 'off' });
  const enterToken = (event) => {
    event.preventDefault();
    sessionStorage.setItem('token', input.value.trim());
    begin();
  };
  fill(say('locked'), [make('p', {}, say('locked_why')),
    make('form', { class: 'line', onsubmit: enterToken },
      make('label', { for: 'token' }, say('token')), input, make('button', {}, say('open')))], false);
  document.body.dataset.shown = 'locked';
  performance.mark('shown:locked');
}

// Saying and asking.

function toast(text, action) {
  const close = button('×', () => find('#toast').replaceChildren(), { 'aria-label': say('dismiss_toast') });
  find('#toast').replaceChildren(said(text), action || '', close);
}

/** Asks before something changes; a `typed` text must be repeated. */
function ask(title, parts, label, typed) {
  return new Promise((resolve) => {
    const input = typed && make('input', { id: 'typed', autocomplete: 'off', required: true });
    const go = make('button', { class: 'main', disabled: !!typed }, label);
    const form = make('form', { onsubmit: (event) => { event.preventDefault(); end(true); } },
      make('h2', {}, title), parts,
      typed && make('label', { for: 'typed' }, say('back_type', { id: typed })), input,
      make('p', { class: 'line' }, go, button(say('cancel'), () => end(false))));
    const dialog = make('dialog', { 'aria-label': title, oncancel: () => end(false) }, form);
    const end = (is) => {
      dialog.remove();
      resolve(is);
    };
    input?.addEventListener('input', () => { go.disabled = input.value.trim() !== String(typed); });
    document.body.append(dialog);
    dialog.showModal();
  });
}

/** Tools that make no snapshot, with those that undo them. */
const OPPOSITES = { MemoryPin: 'MemoryUnpin', MemoryUnpin: 'MemoryPin' };

const newest = async () => (await read('timeline?limit=1')).snapshots[0];

/** Calls a tool after a question; then one goes to `place`, or sees the same view again. */
async function act(name, given, title, why, { parts = [], label = title, place } = {}) {
  if (!await ask(title, [make('p', {}, why), parts], label)) return;
  await perform(name, typeof given === 'function' ? given() : given, title, place);
}

/** Whether a tool is called whose effect is shown at its end. */
let isActing = false;

/** Calls a tool, and offers to undo it. */
async function perform(name, given, title, place) {
  try {
    isActing = true;
    const before = await newest();
    await call(name, given);
    const after = await newest();
    const opposite = OPPOSITES[name];
    const undo = async () => {
      try {
        // Another write since would be taken back, too.
        if (!opposite && (await newest()).id !== after.id) return toast(say('undo_late'));
        await (opposite ? call(opposite, given) : call('MemoryRollback', { snapshot_id: before.id }));
        toast(say('undone'));
        route();
      } catch (error) {
        toast(error.message);
      }
    };
    const can = opposite ? tools.has(opposite)
      : before && after.id === before.id + 1 && tools.has('MemoryRollback');
    toast(say('done', { what: title }), can && button(say('undo'), undo));
    if (place) location.hash = place;
    else refresh();
  } catch (error) {
    toast(error.message);
  } finally {
    isActing = false;
  }
}

function help() {
  const row = (keys, text) => [make('dt', {}, make('kbd', {}, keys)), make('dd', {}, text)];
  const dialog = make('dialog', { 'aria-label': say('keys'), onclose: () => dialog.remove() },
    make('h2', {}, say('keys')),
    make('dl', {}, row('1–9', say('key_views')), row('/', say('key_search')), row('?', say('key_help')),
      row('Esc', say('key_back')), row('Enter', say('key_open')), row('← → ↑ ↓', say('key_tree'))),
    button(say('close'), () => dialog.close()));
  document.body.append(dialog);
  dialog.showModal();
}

document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || find('dialog[open]')) return;
  const isTyping = event.target.matches('input, textarea, select');
  if (event.key === 'Escape') {
    if (isTyping) event.target.blur();
    else if (history.length > 1) history.back();
  } else if (!isTyping && MAIN[event.key - 1]) {
    location.hash = to(MAIN[event.key - 1]);
  } else if (!isTyping && event.key === '/') {
    event.preventDefault();
    find('#q').select();
  } else if (!isTyping && event.key === '?') {
    help();
  }
});

/** Makes the parts that every view has. */
function frame() {
  find('#skip').textContent = say('skip');
  find('#skip').addEventListener('click', (event) => {
    event.preventDefault();
    find('#title').focus();
  });
  find('#views').setAttribute('aria-label', say('views'));
  find('#views').append(make('ul', {}, MAIN.map((name, i) =>
    make('li', {}, make('a', { href: to(name), title: String(i + 1) }, say(name))))));
  const input = make('input', { id: 'q', name: 'q', type: 'search', placeholder: say('search_hint'),
    'aria-label': say('search_label'), autocomplete: 'off', spellcheck: 'false', dir: 'auto' });
  find('#ask').append(input);
  find('#keys').append(button('?', help, { 'aria-label': say('keys'), title: say('keys') }));
  find('#ask').addEventListener('submit', (event) => {
    event.preventDefault();
    location.hash = to('search', input.value.trim());
  });
}

async function begin() {
  try {
    await learnTools();
    read('overview').then((it) => { find('#place').textContent = it.db_path; }, () => {});
  } catch (error) {
    if (error instanceof Locked) return lock();
  }
  startWatching();
  route();
}

frame();
addEventListener('hashchange', () => (/^#once=/.test(location.hash) ? enter().then(begin) : route()));
enter().then(begin);
