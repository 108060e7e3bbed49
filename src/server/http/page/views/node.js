// One node: where it stands, its text, its links, its history, and what can be done to it.

const BLOCKS = new Set(('p h1 h2 h3 h4 h5 h6 ul ol li blockquote pre code em strong del sub sup table '
  + 'thead tbody tr th td hr br').split(' '));

/** Builds elements from blocks; a tag that is not known becomes its text. */
function built(blocks) {
  return blocks.map((it) => {
    if (typeof it === 'string') return it;
    const of = () => built(it.of || []);
    if (it.tag === 'a') {
      return it.node ? make('a', { href: to('node', it.node) }, of())
        : make('span', { class: 'outside', title: it.href }, of());
    }
    if (it.tag === 'img') return make('span', { class: 'outside', title: it.href },
      say('image', { alt: it.of.filter((alt) => typeof alt === 'string').join('') }));
    if (!BLOCKS.has(it.tag)) return of();
    const heading = /^h[1-6]$/.test(it.tag);
    const tag = heading ? 'h' + Math.min(6, +it.tag[1] + 2) : it.tag;
    const more = it.tag === 'pre' || it.tag === 'table' ? { tabindex: 0 } : {};
    if (it.start != null) more.start = it.start;
    if (it.align) more.class = 'to-' + it.align;
    const box = it.checked != null && make('span', { class: 'box' }, it.checked ? '☑ ' : '☐ ',
      make('span', { class: 'hidden' }, say(it.checked ? 'checked' : 'unchecked')));
    return make(tag, more, box, of());
  });
}

let isRendered = true;

VIEWS.node = {
  parent: 'tree',
  uses: ['tree', 'heat', 'graph'],
  async show(id, signal) {
    const found = read('node/' + encodeURIComponent(id), signal);
    const [node, links, past, below] = await Promise.all([found,
      read('links/' + encodeURIComponent(id) + '?limit=100', signal),
      read('history/' + encodeURIComponent(id) + '?limit=10', signal),
      // Files have nodes at the same level; what the address names is one of them.
      found.then((it) => read('children' + query({ of: it.id, limit: 50 }), signal))]);
    return { title: node.label || say('unnamed'), body: [
      make('p', { class: 'crumbs' }, node.source && make('a', { href: to('tree', node.source), dir: 'auto' },
        node.source), node.ancestors.map((it) => [' / ', nodeLink(it)])),
      facts(node), actions(node),
      (node.type !== 'heading' || node.content !== node.label) && panel(say('node_text'), textOf(node)),
      node.n_children > 0 && panel(say('below'), rows(below.nodes.map((it) => nodeRow(it))),
        below.next && hint(say('shown_of', { n: below.nodes.length, all: node.n_children }))),
      panel(say('links'), linkLists(links),
        make('p', {}, make('a', { href: to('graph', node.id) }, say('graph_open')))),
      panel(say('history'), past.history.length ? past.history.map(pastChange) : hint(say('no_history')))] };
  },
};

function facts(node) {
  const read = node.access_count ? say('read_times', { n: node.access_count }) : say('read_never');
  return make('p', { class: 'facts' }, heat(node.temperature), chip(node.type),
    node.pinned && chip(say('pinned')), make('span', {}, read),
    node.accessed_at && make('span', {}, say('read_at', { ago: ago(secondsOf(node.accessed_at)) })),
    node.created_at && make('span', {}, say('made_at', { ago: ago(secondsOf(node.created_at)) })),
    make('span', {}, say('n_tokens', { n: node.tokens })), make('code', {}, node.id));
}

function actions(node) {
  const can = (name, text, run) => tools.has(name) && button(say(text), run);
  const pin = node.pinned ? 'unpin' : 'pin';
  const edit = () => {
    const area = make('textarea', { rows: 10, dir: 'auto', 'aria-label': say('edit') });
    area.value = node.content;
    act('MemoryWrite', () => ({ anchor: node.id, payload: area.value, mode: 'replace' }), say('edit'),
      say('edit_why'), { parts: area, label: say('save') });
  };
  return make('p', { class: 'line' },
    can(node.pinned ? 'MemoryUnpin' : 'MemoryPin', pin, () => act(node.pinned ? 'MemoryUnpin'
      : 'MemoryPin', { node_id: node.id }, say(pin), say(pin + '_why'))),
    !node.next && can('MemoryWrite', 'edit', edit),
    // The view of a node that is gone makes way for what was above it.
    can('MemoryForget', 'forget', () => act('MemoryForget', { node_id: node.id, mode: 'cascade' },
      say('forget'), say('forget_why'), {
        parts: make('p', { dir: 'auto' }, make('strong', {}, node.label || say('unnamed'))),
        place: node.ancestors.length ? to('node', node.ancestors.at(-1).id) : to('tree'),
      })));
}

/** Returns a text, rendered or as it is, page by page. */
function textOf(node) {
  if (!node.content) return hint(say('no_text'));
  const box = make('div', { class: 'prose', dir: 'auto' });
  const pieces = [node];
  const draw = () => box.replaceChildren(...pieces.flatMap((it) => (isRendered && it.blocks
    ? built(it.blocks) : [make('pre', { tabindex: 0, dir: 'auto' }, it.content)])));
  const more = button(say('more'), async () => {
    pieces.push(await read('node/' + encodeURIComponent(node.id) + query({ from: pieces.at(-1).next })));
    draw();
    if (!pieces.at(-1).next) more.remove();
  });
  const swap = node.blocks && button(say(isRendered ? 'source' : 'rendered'), () => {
    isRendered = !isRendered;
    swap.textContent = say(isRendered ? 'source' : 'rendered');
    draw();
  }, { class: 'small' });
  draw();
  return [swap, box, node.next && more];
}

function linkLists({ links, pending }) {
  const of = (direction) => links.filter((it) => it.direction === direction);
  const list = (items) => rows(items.map((it) => [nodeLink(it), chip(it.type),
    it.origin !== 'parsed' && chip(it.origin)]));
  const waits = rows(pending.map((it) => [said(it.label || it.path || it.id_hint || ''),
    chip(say('link_pending'))]));
  if (!links.length && !pending.length) return hint(say('no_links'));
  return [of('in').length > 0 && [make('h3', {}, say('links_in')), list(of('in'))],
    (of('out').length > 0 || pending.length > 0) && [make('h3', {}, say('links_out')), list(of('out')),
      waits]];
}

function pastChange(it) {
  return folded(it, false, [opChip(it.op), make('a', { href: to('timeline', it.snapshot) },
    '#' + it.snapshot), said(it.message), moment(it.created_at)]);
}

/** Returns a change with its hunks behind a fold. */
function folded(it, isOpen, line) {
  return make('article', { class: 'change' }, make('p', { class: 'facts' }, line),
    it.hunks.length > 0 && make('details', { open: isOpen },
      make('summary', {}, say('n_hunks', { n: it.hunks.length })), it.hunks.map(hunk),
      it.cut && hint(say('text_cut'))));
}

function opChip(op) {
  const kind = { add: 'added', mod: 'modified', rem: 'removed' }[op];
  return make('span', { class: 'count ' + kind }, say(kind));
}
