// The timeline: bars by day, snapshots with their changes, and the way back.

VIEWS.timeline = {
  uses: ['timeline'],
  async show(id, signal) {
    if (/^\d+$/.test(id)) return oneSnapshot(+id, signal);
    const page = await read('timeline', signal);
    if (!page.snapshots.length) return { body: [emptyState(say('timeline_none'), say('empty_do'),
      'remindb compile FOLDER')] };
    const list = make('div', {});
    const draw = (snapshots) => {
      for (const it of snapshots) {
        const day = dayOf(secondsOf(it.created_at));
        if (list.dataset.day !== day) list.append(make('h2', {}, list.dataset.day = day));
        list.append(make('p', { class: 'snapshot' }, make('a', { class: 'to', href: to('timeline', it.id),
          dir: 'auto' }, '#' + it.id + ' ' + it.message), it.is_head && chip(say('now')), counts(it),
        moment(it.created_at, timeFormat.format(secondsOf(it.created_at) * 1000))));
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
    const [head, previous] = page.snapshots;
    const undo = previous && tools.has('MemoryRollback')
      && button(say('undo_last'), () => goBack(previous.id, [head]), { title: say('undo_last_why',
        { id: head.id, message: head.message, ago: ago(secondsOf(head.created_at)) }) });
    return { body: [undo && make('p', {}, undo), dayBars(page.buckets), list, next && more] };
  },
};

function dayBars(buckets) {
  const most = Math.max(...buckets.map((it) => it.added + it.modified + it.removed), 1);
  const bar = (it) => {
    const n = it.added + it.modified + it.removed;
    const label = say('day_bar', { ...it, snapshots: say('n_snapshots', { n: it.snapshots }) });
    return make('li', { title: label, vars: { part: Math.max(2, 100 * Math.log1p(n) / Math.log1p(most)) + '%' } },
      make('span', { class: 'hidden' }, label));
  };
  return panel(say('days'), make('ol', { class: 'bars' }, [...buckets].reverse().map(bar)));
}

async function oneSnapshot(id, signal) {
  const [around, changes] = await Promise.all([
    read('timeline' + query({ before: id + 1, limit: 1 }), signal),
    read('snapshots/' + id + '/changes?limit=50', signal)]);
  const it = around.snapshots[0];
  const list = make('div', {}, changes.changes.map(changeOf));
  let { next } = changes;
  const more = button(say('more'), async () => {
    const page = await read('snapshots/' + id + '/changes' + query({ after: next, limit: 50 }));
    list.append(...page.changes.map(changeOf));
    next = page.next;
    if (!next) more.remove();
  });
  const isHere = it.is_head;
  return { title: '#' + id + ' ' + it.message, body: [
    make('p', { class: 'facts' }, moment(it.created_at), counts(it), isHere && chip(say('now'))),
    !isHere && wayBack(id), list, !changes.changes.length && hint(say('no_changes')), next && more] };
}

function changeOf(it) {
  return folded(it, it.op === 'mod', [opChip(it.op), it.op === 'rem' ? said(it.label) : nodeLink(it),
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
