// The tree: branches that open page by page, one row with the focus, letters jump.

const TREE_MAX = 2000;
const PAGE = 100;

/** The open branches by node, kept while the page lives: rows, and where the next page begins. */
const opened = new Map();

async function childrenOf(of, after, signal) {
  return read('children' + query({ of, after, limit: PAGE }), signal);
}

VIEWS.tree = {
  uses: ['tree'],
  async show(root, signal) {
    const [first, all] = await Promise.all([childrenOf(root, null, signal),
      root ? null : read('overview', signal)]);
    if (!first.nodes.length && !root) return { body: [emptyState(say('empty'), say('empty_do'),
      'remindb compile FOLDER')] };
    // The only heading of a file is what one came for.
    const [only] = first.nodes;
    if (root && first.nodes.length === 1 && only.n_children && !opened.has(only.id)) opened.set(only.id, await childrenOf(only.id, null, signal));
    for (const id of [...opened.keys()]) {
      if (opened.get(id)) opened.set(id, await childrenOf(id, null, signal).catch(() => null));
    }
    const tree = make('ul', { role: 'tree', class: 'tree', 'aria-label': say('tree'),
      onkeydown: treeKey });
    const count = hint('');
    const draw = (at) => {
      tree.replaceChildren(...branch(first, null, 1, draw));
      const items = [...tree.querySelectorAll('[role=treeitem]')];
      const focused = items.find((it) => it.dataset.id === at);
      items.forEach((it) => { it.tabIndex = -1; });
      (focused || items[0])?.setAttribute('tabindex', '0');
      focused?.focus();
      const n = items.filter((it) => it.dataset.id).length;
      const text = n >= TREE_MAX ? 'tree_full' : all ? 'tree_rows' : 'tree_rows_of';
      count.textContent = say(text, { n, all: all?.nodes.total });
    };
    draw();
    return { title: root ? say('tree_of', { file: root }) : null, body: [count, tree] };
  },
};

function branch(page, of, level, draw) {
  const items = page.nodes.map((node) => treeItem(node, level, draw));
  if (!page.next) return items;
  const more = async () => {
    if (find('.tree').querySelectorAll('[data-id]').length >= TREE_MAX) return;
    const next = await childrenOf(page.of, page.next);
    page.nodes.push(...next.nodes);
    page.next = next.next;
    draw(next.nodes[0]?.id);
  };
  const row = make('li', { role: 'treeitem', tabindex: -1, 'aria-level': level, class: 'more-row',
    'aria-label': say('more'), onclick: more }, make('span', { class: 'small' }, say('more')));
  row.toggle = more;
  return [...items, row];
}

function treeItem(node, level, draw) {
  const page = opened.get(node.id);
  const toggle = async () => {
    const isFull = find('.tree').querySelectorAll('[data-id]').length >= TREE_MAX;
    if (opened.get(node.id)) opened.set(node.id, null);
    else if (!isFull) opened.set(node.id, await childrenOf(node.id));
    draw(node.id);
  };
  const row = make('div', { class: 'row', onclick: (event) => {
    if (node.n_children && !event.target.closest('a')) toggle();
  } }, heat(node.temperature),
    make('span', { class: 'twist', vars: { level: level - 1 }, 'aria-hidden': 'true' }, node.n_children ? (page ? '▾' : '▸') : ''),
    make('a', { href: to('node', node.id), tabindex: -1, class: 'to', dir: 'auto' }, node.label || say('unnamed')),
    chip(node.type), node.pinned && chip(say('pinned')),
    level === 1 && node.source && make('span', { class: 'from', dir: 'auto' }, node.source));
  const item = make('li', { role: 'treeitem', tabindex: -1, 'data-id': node.id, 'aria-level': level,
    'aria-label': node.label || say('unnamed'), 'aria-expanded': node.n_children ? String(!!page) : null },
  row, page && make('ul', { role: 'group' }, branch(page, node.id, level + 1, draw)));
  item.toggle = toggle;
  return item;
}

function treeKey(event) {
  const items = [...event.currentTarget.querySelectorAll('[role=treeitem]')];
  const item = document.activeElement.closest('[role=treeitem]');
  const at = items.indexOf(item);
  if (at < 0 || event.target.matches('button')) return;
  const go = (target) => {
    if (!target) return;
    item.tabIndex = -1;
    target.tabIndex = 0;
    target.focus();
  };
  const isOpen = item.getAttribute('aria-expanded');
  const { key } = event;
  if (key === 'ArrowDown') go(items[at + 1]);
  else if (key === 'ArrowUp') go(items[at - 1]);
  else if (key === 'Home') go(items[0]);
  else if (key === 'End') go(items.at(-1));
  else if (key === 'ArrowRight' && isOpen === 'false') item.toggle();
  else if (key === 'ArrowRight' && isOpen) go(items[at + 1]);
  else if (key === 'ArrowLeft' && isOpen === 'true') item.toggle();
  else if (key === 'ArrowLeft') go(item.parentElement.closest('[role=treeitem]'));
  else if (key === 'Enter') item.dataset.id ? location.hash = to('node', item.dataset.id) : item.toggle();
  else if (/^\p{L}$/u.test(key)) {
    const begins = (it) => it.getAttribute('aria-label').toLowerCase().startsWith(key.toLowerCase());
    go([...items.slice(at + 1), ...items.slice(0, at)].find(begins));
  } else return;
  event.preventDefault();
  event.stopPropagation();
}
