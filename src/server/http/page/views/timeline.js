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
    const draw = (snapshots) => {
      for (const it of snapshots) {
        const day = dayOf(secondsOf(it.created_at));
        if (list.dataset.day !== day) list.append(make('h2', {}, list.dataset.day = day));
        const link = snapshotLink(it);
        list.append(make('p', { class: 'snapshot' }, link, it.is_head && chip(say('now')), counts(it),
          moment(it.created_at, timeFormat.format(secondsOf(it.created_at) * 1000))));
        if (snapshots.indexOf(it) < NAMED_MAX) {
          name(it, signal).then(() => { link.textContent = snapshotName(it); }, () => {});
        }
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
    return { body: [undoLast(page.snapshots), dayBars(page.buckets), comparison(page.snapshots), list,
      next && more] };
  },
};

const NAMED_MAX = 30;

const snapshotName = (it) => '#' + it.id + ' ' + (it.about || it.message);
const snapshotLink = (it) => make('a', { class: 'to', href: to('timeline', it.id), dir: 'auto',
  title: it.message }, snapshotName(it));

/** Returns the button that takes the newest snapshot back, and what it would take back. */
function undoLast([head, previous]) {
  return previous && tools.has('MemoryRollback') && make('p', { class: 'line' },
    button(say('undo_last'), () => goBack(previous.id, [head]), { id: 'undo' }),
    said(say('undo_last_why', { name: snapshotName(head), ago: ago(secondsOf(head.created_at)) }),
      { class: 'from' }));
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
  return { title: say('compared', { id: from + ' – #' + until }), body: [
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

function dayBars(buckets) {
  const most = Math.max(...buckets.map((it) => it.added + it.modified + it.removed), 1);
  const bar = (it) => {
    const n = it.added + it.modified + it.removed;
    const label = say('day_bar', { ...it, snapshots: say('n_snapshots', { n: it.snapshots }) });
    return make('li', { title: label, vars: { part: Math.max(2, 100 * Math.log1p(n) / Math.log1p(most)) + '%' } },
      make('span', { class: 'hidden' }, label));
  };
  const days = [...buckets].reverse();
  const ends = [...new Set([days[0], days.at(-1)])];
  return panel(say('days'), make('ol', { class: 'bars days' }, days.map(bar)),
    hint(ends.map((it) => dayOf(Date.parse(it.day + 'T12:00') / 1000)).join(' – ')));
}

async function oneSnapshot(id, signal) {
  const [around, changes] = await Promise.all([
    read('timeline' + query({ before: id + 1, limit: 1 }), signal),
    read('snapshots/' + id + '/changes?limit=50', signal)]);
  const it = around.snapshots[0];
  if (it?.id !== id) throw new Error(say('snapshot_none', { id }));
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
    make('p', { class: 'facts' }, moment(it.created_at), counts(it), isHere && chip(say('now'))),
    !isHere && wayBack(id), list, !changes.changes.length && hint(say('no_changes')), next && more] };
}

function changeOf(it, isOpen = false) {
  return folded(it, isOpen === true || it.op === 'mod', [opChip(it.op), it.op === 'rem' ? said(it.label) : nodeLink(it),
    it.source && said(it.source, { class: 'from' })]);
}

function wayBack(id) {
  if (!tools.has('MemoryRollback')) return [hint(say('back_by')), command('remindb rollback ' + id)];
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
  if (!isSure) return;
  try {
    await call('MemoryRollback', { snapshot_id: id });
    toast(say('done', { what: say('back_to', { id }) }));
    refresh();
  } catch (error) {
    toast(error.message);
  }
}
