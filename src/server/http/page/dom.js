// Elements. Only the tags and attributes named here are ever made; no text becomes HTML.

const TAGS = new Set(('a article button code dd del details dialog div dl dt em fieldset figure '
  + 'form h1 h2 h3 h4 h5 h6 hr br input kbd label legend li mark ol option p pre section select '
  + 'span strong sub summary sup table tbody td textarea th thead time tr ul blockquote').split(' '));
const DRAWN = new Set(['svg', 'path', 'text', 'g']);
const ATTRIBUTES = new Set(('autocomplete class colspan d datetime dir disabled for height href id '
  + 'max min name open placeholder required role rows selected spellcheck start tabindex title '
  + 'transform type value viewBox width x y text-anchor').split(' '));
const SVG = 'http://www.w3.org/2000/svg';

const find = (selector) => document.querySelector(selector);

/**
 * Makes an element. Attributes named `on…` listen, `vars` become custom properties; null and false
 * are left out. A link leads to a place of this page or nowhere.
 */
function make(tag, attributes = {}, ...children) {
  if (!TAGS.has(tag) && !DRAWN.has(tag)) throw new Error(tag);
  const isDrawn = DRAWN.has(tag) || attributes.drawn;
  const made = isDrawn ? document.createElementNS(SVG, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value == null || value === false || name === 'drawn') continue;
    if (name.startsWith('on')) made.addEventListener(name.slice(2), value);
    else if (name === 'vars') setVars(made, value);
    else if (!ATTRIBUTES.has(name) && !/^(aria|data)-/.test(name)) throw new Error(name);
    else if (name === 'href' && !String(value).startsWith('#')) throw new Error(name);
    else made.setAttribute(name, value === true ? '' : value);
  }
  made.append(...children.flat(9).filter((it) => it != null && it !== false));
  return made;
}

function setVars(element, values) {
  for (const [name, value] of Object.entries(values)) {
    element.style.setProperty('--' + name, value);
  }
}

/** Returns the address of a view. */
function to(view, argument) {
  return '#' + view + (argument == null || argument === '' ? '' : '/' + encodeURIComponent(argument));
}

// Parts that several views show.

const panel = (heading, ...children) =>
  make('section', { class: 'panel' }, heading && make('h2', {}, heading), children);
const hint = (...children) => make('p', { class: 'hint' }, children);
const said = (text, more = {}) => make('span', { dir: 'auto', ...more }, text);
/** Returns a command for this memory. */
const commandHere = (text) => {
  const path = find('#place').textContent;
  return command(text + (path ? ' --db ' + (/^[\w./-]+$/.test(path) ? path : "'" + path.replaceAll("'", "'\\''") + "'") : ''));
};
const command = (text) => make('pre', { class: 'command', tabindex: 0 }, make('code', {}, text));
const button = (text, onclick, more = {}) => make('button', { type: 'button', onclick, ...more }, text);
const cell = (it) => (typeof it === 'string' ? make('span', {}, it) : it);
const rows = (items) => make('ul', { class: 'rows' },
  items.map((it) => make('li', {}, [it].flat(9).map(cell))));
const chip = (text, kind = '') => make('span', { class: ('chip ' + kind).trim() }, text);
const emptyState = (text, then, line) =>
  make('div', { class: 'empty' }, make('p', {}, text), then && hint(then), line && command(line));

/** Returns a link to a node by its label. */
function nodeLink(node, view = 'node') {
  return make('a', { class: 'to', href: to(view, node.id), dir: 'auto' },
    node.label || node.title || say('unnamed'));
}

/** Returns the seconds since 1970 of a time in any of the forms that resources have. */
const secondsOf = (time) => (typeof time === 'string' ? Date.parse(time) / 1000 : time);

/** Returns a time as a distance that grows, with the moment itself beside; or as a text. */
function moment(time, text) {
  const at = new Date(secondsOf(time) * 1000);
  return make('time', { datetime: at.toISOString(), title: momentFormat.format(at),
    'data-ago': !text && '' }, text || ago(at / 1000));
}

setInterval(() => {
  for (const it of document.querySelectorAll('[data-ago]')) it.textContent = ago(Date.parse(it.dateTime) / 1000);
}, 20000);

// Heat: a number and a bar, centred on the temperature at which nodes are born.

let bornAt = 0.5;

/** Returns where a temperature lies between cold (-1), that of birth (0) and hot (1). */
function warmthOf(temperature) {
  const away = temperature - bornAt;
  return Math.max(-1, Math.min(1, away / (away < 0 ? bornAt || 1 : 1 - bornAt || 1)));
}

function sideOf(temperature) {
  const warmth = warmthOf(temperature);
  if (Math.abs(warmth) < 0.01) return 'born';
  return warmth < 0 ? 'cool' : 'warm';
}

function heatVars(temperature) {
  const warmth = warmthOf(temperature);
  return { warm: Math.round(100 * Math.max(0, warmth)) + '%',
    cool: Math.round(100 * Math.max(0, -warmth)) + '%' };
}

function heat(temperature) {
  const side = sideOf(temperature);
  const number = heatFormat.format(temperature);
  return make('span', { class: 'heat ' + side, title: say('heat_of', { n: number, side: say(side) }) },
    make('span', { class: 'meter', 'aria-hidden': 'true', vars: { part: temperature * 100 + '%' } }),
    number);
}

/** Returns a row of a node: heat, label, and below it where it is from, and its size or more. */
function nodeRow(node, more) {
  return [heat(node.temperature), make('span', { class: 'stack' }, nodeLink(node),
    make('span', { class: 'size' }, node.source && [said(node.source), ' · '],
      more || say('n_tokens', { n: node.tokens }))),
  node.pinned && chip(say('pinned'))];
}

/** Returns a text with the words marked that begin one of its own; a number is marked as a whole. */
function marked(text, words) {
  if (!words.length) return [text];
  const escaped = [...words].sort((a, b) => b.length - a.length).map((it) => it.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  const parts = text.split(new RegExp('(?<![a-z0-9])(' + escaped.join('|') + ')(?![0-9])', 'iu'));
  return parts.map((it, i) => (i % 2 ? make('mark', {}, it) : it));
}

/** Returns the changes of a text, old above new; each line has its sign. */
function hunk({ before, after }) {
  const side = (text, kind, label) => text && make('pre', { class: kind, dir: 'auto', tabindex: 0,
    'aria-label': say(label) }, text.replace(/\n$/, '').split('\n').map((it) => make('span', {}, it + '\n')));
  return make('div', { class: 'hunk' }, side(before, 'old', 'before'), side(after, 'new', 'after'));
}
