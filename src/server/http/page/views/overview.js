// The overview: numbers, what was read most, what changed, the map, and how warm it is.

const VIEWS = {};

VIEWS.overview = {
  uses: ['tree', 'timeline', 'heat'],
  async show(path, signal) {
    const [all, warmth, lately, map] = await Promise.all([read('overview', signal),
      read('heat', signal), read('timeline?limit=6', signal),
      read('map' + query({ path, limit: 60 }), signal)]);
    bornAt = warmth.born;
    await Promise.all(lately.snapshots.map((it) => name(it, signal)));
    if (!all.nodes.total) {
      return { body: [emptyState(say('empty'), say('empty_do'),
        'remindb compile FOLDER --db ' + all.db_path)] };
    }
    return { body: [make('div', { class: 'tiles' }, tiles(all, warmth)), spaceLine(all.space),
      make('div', { class: 'two' },
        panel(say('read_most'), hint(say('read_most_why')), readMost(warmth, signal)),
        panel(say('changed'), rows(lately.snapshots.map(snapshotLine)), undoLast(lately.snapshots),
          make('p', {}, make('a', { href: to('timeline') }, say('changed_all'))))),
      panel(say('map'), hint(say('map_why')), crumbs(path), treemap(map, path)),
      make('div', { class: 'two' },
        panel(say('spread'), histogram(warmth)),
        panel(say('coldest'), rows(warmth.coldest.slice(0, 8).map((it) => nodeRow(it)))))] };
  },
};

function tiles({ nodes, snapshots, relations, db_bytes: bytes }, warmth) {
  const tile = (label, value, more) => make('div', { class: 'tile' }, make('p', { class: 'label' }, label),
    make('p', { class: 'value' }, value), more && make('p', { class: 'more' }, more));
  const last = snapshots.count && ago(Date.now() / 1000 - snapshots.latest_age_s);
  return [tile(say('tile_nodes'), compactFormat.format(nodes.total), nodes.total >= 1000 && numberFormat.format(nodes.total)),
    tile(say('tile_tokens'), compactFormat.format(nodes.tokens),
      say('in_bytes', { n: byteFormat.format(bytes) })),
    tile(say('tile_snapshots'), compactFormat.format(snapshots.count),
      last && say('last_change', { ago: last })),
    tile(say('tile_links'), compactFormat.format(relations.total),
      relations.pending ? say('links_wait', { n: relations.pending }) : say('none_waits')),
    tile(say('tile_read'), compactFormat.format(warmth.read),
      say('read_share', { n: percentFormat.format(warmth.read / nodes.total) })),
    tile(say('tile_cold'), compactFormat.format(warmth.cold), say('n_pinned', { n: warmth.pinned }))];
}

/** Says where a replica stands. */
const spaceLine = (it) => it && hint([say('space', { ...it, n: it.lag ?? '?', standing: it.standing.replace('_', ' ') }),
  ...it.leases.map((it) => it.name + ' ' + it.holder)].join(' · '));

/** How often nodes were read, by their ids and temperatures. */
const readings = new Map();

function readMost(warmth, signal) {
  const most = warmth.warmest.filter((it) => it.temperature > warmth.born).slice(0, 8);
  return most.length ? rows(most.map((it) => nodeRow(it, reading(it, signal)))) : hint(say('read_none'));
}

/** Returns how often a node was read, which is asked for once the row is there. */
function reading({ id, temperature }, signal) {
  const key = id + temperature;
  const times = (it) => (it.access_count ? [say('read_often', { times: say('read_times', { n: it.access_count }),
    ago: ago(secondsOf(it.accessed_at)) })] : []);
  const box = make('span', {}, readings.has(key) ? times(readings.get(key)) : []);
  if (!readings.has(key)) {
    read('node/' + id, signal).then(({ access_count, accessed_at }) => {
      readings.set(key, { access_count, accessed_at });
      box.replaceChildren(...times(readings.get(key)));
    }, () => {});
  }
  return box;
}

/** The names of snapshots that were asked for. */
const names = new Map();

/** Says what a snapshot is about by the label of the node that its message names. */
async function name(snapshot, signal) {
  const [, verb, id] = /^(\w+)(?::\w+)?:([0-9A-Za-z]{11})$/.exec(snapshot.message) || [];
  snapshot.about = names.get(snapshot.id);
  if (!id || snapshot.about) return;
  const { changes } = await read('snapshots/' + snapshot.id + '/changes?limit=20', signal);
  const change = changes.find((it) => it.id === id);
  if (change) names.set(snapshot.id, snapshot.about = verb + ': ' + labelThen(change));
}

/** Returns the label that a node had when it changed, as far as one hunk tells; its present one is newer. */
function labelThen({ hunks, label }) {
  const text = hunks.length === 1 && (hunks[0].after || hunks[0].before);
  const [line] = (text || '').split('\n').map((it) => it.replace(/^#+\s+/, '').trim()).filter(Boolean);
  return line ? [...line].slice(0, 100).join('') + ([...line].length > 100 ? '…' : '') : label;
}

function snapshotLine(it) {
  return [snapshotLink(it), counts(it), moment(it.created_at)];
}

/** Returns how many nodes were added, changed and removed. */
function counts(it) {
  const count = (kind, sign) => it[kind] > 0 && make('span', { class: 'count ' + kind,
    title: numberFormat.format(it[kind]) + ' ' + say(kind) }, sign + compactFormat.format(it[kind]));
  return make('span', { class: 'counts' }, count('added', '+'), count('modified', '~'),
    count('removed', '−'));
}

function crumbs(path) {
  const parts = path ? path.split('/') : [];
  const crumb = (i) => make('a', { href: to('overview', parts.slice(0, i).join('/')), dir: 'auto' },
    i ? parts[i - 1] : say('whole'));
  return path && make('p', { class: 'crumbs' }, [0, ...parts.map((_, i) => i + 1)]
    .flatMap((i) => (i ? [' / ', crumb(i)] : [crumb(i)])));
}

/** Returns areas as large as their texts, coloured by heat. */
function treemap({ items, rest }, path) {
  const shown = items.filter((it) => it.tokens > 0);
  const places = squares(shown.map((it) => it.tokens), 0, 0, 100, 100);
  const nameOf = (it) => (it.name || say('no_file')) + (it.is_folder ? '/' : '');
  const hrefOf = (it) => {
    const whole = (path ? path + '/' : '') + it.name;
    return it.is_folder ? to('overview', whole) : to('tree', it.name ? whole : '');
  };
  const area = (it, i) => {
    const name = nameOf(it);
    const label = say('map_item', { name, nodes: say('n_nodes', { n: it.nodes }),
      tokens: say('n_tokens', { n: it.tokens }), heat: heatFormat.format(it.temperature), read: it.read });
    const [x, y, w, h] = places[i].map((n) => n.toFixed(3) + '%');
    const vars = { x, y, w, h, ...heatVars(it.temperature) };
    return make('a', { class: 'area', href: hrefOf(it), vars, title: label, 'aria-label': label },
      make('span', { dir: 'auto' }, name));
  };
  const line = (it) => [heat(it.temperature), make('a', { class: 'to', href: hrefOf(it), dir: 'auto' }, nameOf(it)),
    make('span', { class: 'size' }, say('n_tokens', { n: it.tokens }), ' · ',
      say('map_read', { read: it.read, nodes: say('n_nodes', { n: it.nodes }) }))];
  return [make('div', { class: 'map' }, shown.map(area)),
    rest.items > 0 && hint(say('map_rest', { n: rest.items })),
    make('details', {}, make('summary', {}, say('map_list')), rows(items.map(line)))];
}

/** Divides a rectangle into areas as square as can be; the values are sorted, the largest first. */
function squares(values, x, y, w, h) {
  const places = [];
  let total = values.reduce((a, b) => a + b, 0);
  let i = 0;
  while (i < values.length) {
    const isWide = w >= h;
    const [side, other] = isWide ? [h, w] : [w, h];
    let [n, sum, worst] = [0, 0, Infinity];
    while (i + n < values.length) {
      const next = sum + values[i + n];
      const depth = other * next / total;
      const least = side * values[i + n] / next;
      const most = side * values[i] / next;
      const worse = Math.max(depth / least, most / depth);
      if (n && worse > worst) break;
      [n, sum, worst] = [n + 1, next, worse];
    }
    const depth = other * sum / total;
    let at = isWide ? y : x;
    for (const value of values.slice(i, i + n)) {
      const length = side * value / sum;
      places.push(isWide ? [x, at, depth, length] : [at, y, length, depth]);
      at += length;
    }
    if (isWide) [x, w] = [x + depth, w - depth];
    else [y, h] = [y + depth, h - depth];
    total -= sum;
    i += n;
  }
  return places;
}

function histogram({ bins, cold, read, never_read: unread, cold_threshold: at }) {
  const most = Math.max(...bins, 1);
  const bar = (n, i) => {
    const [from, until] = [i, i + 1].map((it) => heatFormat.format(it / bins.length));
    const label = say('spread_bar', { from, to: until, nodes: say('n_nodes', { n }) });
    const part = n ? Math.max(2, 100 * Math.log1p(n) / Math.log1p(most)) : 0;
    return make('li', { title: label, class: (i + 1) / bins.length === bornAt ? 'born' : sideOf((i + 0.5) / bins.length), vars: { part: part + '%' } },
      make('span', { class: 'hidden' }, label));
  };
  return [make('ol', { class: 'bars' }, bins.map(bar)),
    make('p', { class: 'axis', 'aria-hidden': 'true' }, [0, 0.5, 1].map((it) =>
      make('span', {}, heatFormat.format(it)))),
    hint(say('n_read', { n: read }) + ' · ' + say('never_read', { n: unread }) + ' · '
      + say('n_cold', { n: cold, at: heatFormat.format(at) }))];
}
