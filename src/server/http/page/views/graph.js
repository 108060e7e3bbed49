// The neighbourhood of a node: what refers to it, itself, what it refers to; drawn, and as a list.

const GRAPH_MAX = 60;

VIEWS.graph = {
  parent: 'tree',
  uses: ['graph', 'tree'],
  async show(id, signal) {
    const [node, links] = await Promise.all([read('node/' + encodeURIComponent(id), signal),
      read('links/' + encodeURIComponent(id) + '?limit=' + GRAPH_MAX, signal)]);
    const unique = (direction) => [...new Map(links.links
      .filter((it) => it.direction === direction && it.id !== node.id).map((it) => [it.id, it])).values()];
    const sides = [unique('in'), unique('out')].map((it) => it.slice(0, GRAPH_MAX / 2));
    const title = say('graph_of', { label: node.label });
    const wider = button(say('graph_wider'), async () => {
      const near = sides.flat().slice(0, 12);
      const further = await Promise.all(near.map((it) =>
        read('links/' + encodeURIComponent(it.id) + '?limit=8').catch(() => ({ links: [] }))));
      ring.replaceChildren(...near.map((it, i) => panel(nodeLink(it, 'graph'),
        rows(further[i].links.filter((link) => link.id !== node.id)
          .map((link) => [link.direction === 'in' ? '← ' : '→ ', nodeLink(link, 'graph'), chip(link.type)])))));
    });
    const ring = make('div', { class: 'two' });
    return { title, body: [hint(say('graph_why')), make('p', {}, nodeLink(node)),
      sides.flat().length ? [drawn(node, sides, title),
        panel(say('links'), linkLists({ links: sides.flat(), pending: [] })), links.next && hint(say('graph_cut', { n: GRAPH_MAX })), wider, ring] : hint(say('no_links'))] };
  },
};

function drawn(node, [left, right], title) {
  const height = Math.max(left.length, right.length, 3) * 26 + 20;
  const middle = height / 2;
  const half = short(node.label).length * 3.4 + 12;
  const label = (text, x, y, anchor, href) => make('a', { drawn: true, href },
    make('text', { x, y: y + 4, 'text-anchor': anchor, class: x === 400 && 'here' }, short(text)));
  const side = (nodes, isLeft) => nodes.map((it, i) => {
    const y = middle + (i - (nodes.length - 1) / 2) * 26;
    const [x, near] = isLeft ? [250, 400 - half] : [550, 400 + half];
    return [make('path', { class: 'edge', d: `M${x} ${y} C${(x + near) / 2} ${y} ${(x + near) / 2} ${middle} ${near} ${middle}` }),
      label(it.label, isLeft ? x - 6 : x + 6, y, isLeft ? 'end' : 'start', to('graph', it.id))];
  });
  return make('div', { class: 'wide', tabindex: 0, role: 'group', 'aria-label': title },
    make('svg', { viewBox: `0 0 800 ${height}`, class: 'graph', width: 800, height },
      side(left, true), side(right, false),
      label(node.label, 400, middle, 'middle', to('node', node.id))));
}

const short = (text) => ([...(text || say('unnamed'))].length > 30
  ? [...text].slice(0, 29).join('') + '…' : text || say('unnamed'));
