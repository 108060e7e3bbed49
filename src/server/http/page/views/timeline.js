// The timeline: bars by day, snapshots with their changes, and the way back.

VIEWS.timeline = {
  uses: ['timeline'],
  async show(id, signal) {
    const [from, until] = /^(\d+)\.\.(\d+)$/.exec(id)?.slice(1).map(Number) || [];
    if (from < until) return compared(from, until, signal);
    if (/^\d+$/.test(id)) return oneSnapshot(+id, signal);
    const page = await read('timeline', signal);
    if (!page.snapshots.length) return { body: [emptyState(say('timeline_none'), say('empty_do'),
      'remindb compile FOLDER')] };
    const list = make('div', {});
    let ofDay;
    const draw = (snapshots) => {
      for (const it of snapshots) {
        const day = dayOf(secondsOf(it.created_at));
        if (list.dataset.day !== day) {
          list.append(make('h2', {}, list.dataset.day = day), ofDay = rows([]));
        }
        ofDay.append(snapshotItem(it, snapshots.indexOf(it) < NAMED_MAX && signal));
      }
    };
    draw(page.snapshots);
    let { next } = page;
    const more = button(say('more'), async () => {
      const older = await read('timeline' + query({ before: next }));
      draw(older.snapshots);
      next = older.next;
      if (!next) more.remove();
    });
    await name(page.snapshots[0], signal);
    const bars = panel(say('days'), dayBars(page.snapshots));
    weeksOf(page, signal).then((all) => bars.replaceChildren(make('h2', {}, say('days')), ...dayBars(all)), () => {});
    return { body: [undoLast(page.snapshots), bars, comparison(page.snapshots), list, next && more] };
  },
};

const NAMED_MAX = 30;
const DAYS_MIN = 14;
const DAYS_MAX = 42;
const DAY_MS = 86400000;

/** Returns a row of a snapshot: its number and message, its numbers of changes, its time. */
function snapshotItem(it, signal) {
  const link = snapshotLink(it);
  const message = make('code', { class: 'from' });
  const item = make('li', { class: 'snapshot' }, make('span', { class: 'to' }, link, ' ', message),
    it.is_head && chip(say('now')), counts(it),
    moment(it.created_at, timeFormat.format(secondsOf(it.created_at) * 1000)));
  if (signal) {
    name(it, signal).then(() => {
      if (!it.about) return;
      link.textContent = snapshotName(it);
      message.textContent = it.message;
    }, () => {});
  }
  return item;
}

/** Returns the snapshots of the last weeks, of a page and those after it, as far as a few pages go. */
async function weeksOf(page, signal) {
  const all = [...page.snapshots];
  const isEnough = () => secondsOf(all.at(-1).created_at) * 1000 < Date.now() - DAYS_MAX * DAY_MS;
  for (let { next } = page, n = 0; next && n < 10 && !isEnough(); n += 1) {
    const older = await read('timeline' + query({ before: next, limit: 200 }), signal);
    all.push(...older.snapshots);
    next = older.next;
  }
  return all;
}

const snapshotName = (it) => '#' + it.id + ' ' + (it.about || it.message);
const snapshotLink = (it) => make('a', { class: 'to', href: to('timeline', it.id), dir: 'auto',
  title: it.message }, snapshotName(it));

/** Returns the button or the command that takes the newest snapshot back, and what it would take back. */
function undoLast([head, previous]) {
  if (!previous) return null;
  if (!tools.has('MemoryRollback')) {
    return make('details', {}, make('summary', { id: 'undo' }, say('undo_last')), hint(say('undo_by', { name: snapshotName(head) })),
      commandHere('remindb undo'));
  }
  return make('p', { class: 'line' },
    button(say('undo_last'), () => goBack(previous.id, [head]), { id: 'undo' }),
    said(snapshotName(head), { class: 'from' }), moment(head.created_at));
}

/** Asks for two snapshots. */
function comparison(snapshots) {
  if (snapshots.length < 2) return null;
  const number = (id, value) => make('input', { id, type: 'number', min: 1, max: snapshots[0].id,
    required: true, value: String(value) });
  const [from, until] = [number('from', snapshots[1].id), number('until', snapshots[0].id)];
  return make('form', { class: 'line', onsubmit: (event) => {
    event.preventDefault();
    const [older, newer] = [+from.value, +until.value].sort((a, b) => a - b);
    location.hash = to('timeline', older === newer ? older : older + '..' + newer);
  } }, make('label', { for: 'from' }, say('compare_from')), from,
  make('label', { for: 'until' }, say('compare_to')), until, make('button', {}, say('compare')));
}

const COMPARED_MAX = 50;

/** Shows what changed from one snapshot to another, each node once, the newest first. */
async function compared(from, until, signal) {
  const page = await read('timeline' + query({ before: until + 1, limit: COMPARED_MAX }), signal);
  const between = page.snapshots.filter((it) => it.id > from);
  const pages = await Promise.all(between.map((it) => read('snapshots/' + it.id + '/changes', signal)));
  const nodes = new Map();
  for (const it of pages.flatMap((one) => one.changes)) {
    const newer = nodes.get(it.id);
    nodes.set(it.id, newer ? joined(it, newer) : it);
  }
  const changes = [...nodes.values()].filter(Boolean);
  const isCut = pages.some((it) => it.next) || (page.next && page.snapshots.at(-1).id > from + 1);
  return { title: say('compared', { id: from + ' to #' + until }), body: [
    make('p', {}, make('a', { href: to('timeline') }, say('compare_all'))),
    isCut && hint(say('compare_far', { n: between.length })),
    changes.map((one) => changeOf(one)), !changes.length && hint(say('no_changes'))] };
}

/** Returns two changes of a node as one, or null where it came and went. */
function joined(older, newer) {
  if (older.op === 'add' && newer.op === 'rem') return null;
  const op = older.op === 'add' ? 'add' : older.op === 'rem' && newer.op === 'add' ? 'mod' : newer.op;
  return { ...newer, op, hunks: [...older.hunks, ...newer.hunks], cut: older.cut || newer.cut };
}

/** Returns a bar for each day of the last weeks, and a line that names the first and the last. */
function dayBars(snapshots) {
  const noon = (time) => new Date(new Date(time).setHours(12, 0, 0, 0)).getTime();
  const today = noon(Date.now());
  const first = noon(secondsOf(snapshots.at(-1).created_at) * 1000);
  const n_days = Math.min(DAYS_MAX, Math.max(DAYS_MIN, Math.round((today - first) / DAY_MS) + 1));
  const days = Array.from({ length: n_days }, () => ({ snapshots: 0, added: 0, modified: 0, removed: 0 }));
  for (const it of snapshots) {
    const day = days[n_days - 1 - Math.round((today - noon(secondsOf(it.created_at) * 1000)) / DAY_MS)];
    if (!day) continue;
    day.snapshots += 1;
    for (const kind of ['added', 'modified', 'removed']) day[kind] += it[kind];
  }
  const sum = (it) => it.added + it.modified + it.removed;
  const most = Math.max(...days.map(sum), 1);
  const nameOf = (i) => dayOf((today - (n_days - 1 - i) * DAY_MS) / 1000);
  const bar = (it, i) => {
    const label = say('day_bar', { ...it, day: nameOf(i), snapshots: say('n_snapshots', { n: it.snapshots }) });
    const part = it.snapshots ? Math.max(4, 100 * Math.log1p(sum(it)) / Math.log1p(most)) : 0;
    return make('li', { title: label, vars: { part: part + '%' } }, make('span', { class: 'hidden' }, label));
  };
  return [make('ol', { class: 'bars days' }, days.map(bar)),
    make('p', { class: 'axis', 'aria-hidden': 'true' }, make('span', {}, nameOf(0)), make('span', {}, say('today')))];
}

async function oneSnapshot(id, signal) {
  const changes = await read('snapshots/' + id + '/changes?limit=50', signal);
  const it = (await read('timeline' + query({ before: id + 1, limit: 1 }), signal)).snapshots[0];
  await name(it, signal);
  const isFew = changes.changes.length <= 8;
  const list = make('div', {}, changes.changes.map((one) => changeOf(one, isFew)));
  let { next } = changes;
  const more = button(say('more'), async () => {
    const page = await read('snapshots/' + id + '/changes' + query({ after: next, limit: 50 }));
    list.append(...page.changes.map((one) => changeOf(one)));
    next = page.next;
    if (!next) more.remove();
  });
  const isHere = it.is_head;
  return { title: snapshotName(it), body: [
    make('p', { class: 'facts' }, moment(it.created_at), counts(it), isHere && chip(say('now')),
      it.about && make('code', { class: 'from' }, it.message)),
    !isHere && wayBack(id), list, !changes.changes.length && hint(say('no_changes')), next && more] };
}

function changeOf(it, isOpen = false) {
  return folded(it, isOpen === true || it.op === 'mod', [opChip(it.op), it.op === 'rem' ? said(it.label) : nodeLink(it),
    it.source && said(it.source, { class: 'from' })]);
}

function wayBack(id) {
  if (!tools.has('MemoryRollback')) return [hint(say('back_by')), commandHere('remindb rollback ' + id)];
  return make('p', {}, button(say('back_to', { id }), async () => {
    const undone = [];
    let before;
    do {
      const page = await read('timeline' + query({ before, limit: 200 }));
      undone.push(...page.snapshots.filter((it) => it.id > id));
      before = page.snapshots.at(-1).id > id ? page.next : null;
    } while (before);
    goBack(id, undone);
  }));
}

/** Returns to a snapshot, after a preview and the number typed. */
async function goBack(id, undone) {
  const sum = (kind) => undone.reduce((n, it) => n + it[kind], 0);
  const preview = say('back_counts', { snapshots: say('n_snapshots', { n: undone.length }),
    added: sum('added'), modified: sum('modified'), removed: sum('removed') });
  const isSure = await ask(say('back_title', { id }),
    [make('p', {}, preview), make('p', {}, say('back_keeps'))], say('back_to', { id }), id);
  if (isSure) perform('MemoryRollback', { snapshot_id: id }, say('back_to', { id }));
}
