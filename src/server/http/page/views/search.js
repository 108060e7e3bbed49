// Search as an agent sees it: order, reasons, the budget, and the exact reply.

/** Hits that are ranked for the page, at most. */
const HITS_MAX = 50;

let budgetWanted = '';
let typeWanted = '';

VIEWS.search = {
  uses: ['tree'],
  async show(q, signal) {
    find('#q').value = q;
    if (!q) return { body: [hint(say('search_start'))] };
    const found = await read('search' + query({ q, type: typeWanted, budget: budgetWanted }), signal);
    const { hits, budget } = found;
    const all = { hits: say('hits', { n: hits.length }), q };
    return { title: say('hits_for', all), body: [choices(), budgetLine(budget),
      hits.length ? make('ol', { class: 'hits' }, hits.map(hitItem))
        : emptyState(say('search_none'), say('search_none_do')),
      budget.left_out.length > 0 && make('details', {},
        make('summary', {}, say('left_out' + (budget.asked ? '' : '_open')
          + (hits.length + budget.left_out.length < HITS_MAX ? '' : '_more'), { n: budget.left_out.length })),
        rows(budget.left_out.map((it) => [nodeLink(it), say('n_tokens', { n: it.tokens })]))),
      make('details', { open: !hits.length }, make('summary', {}, say('reply')),
        make('pre', { dir: 'auto', tabindex: 0, class: 'reply' }, found.text))] };
  },
};

function budgetLine({ asked, used }) {
  return hint(asked ? say('budget_used', { used, all: asked }) : say('budget_open', { used }));
}

function choices() {
  const choose = (label, value, options, set) => {
    const id = 'choose-' + label;
    return [make('label', { for: id }, say(label)), make('select', { id, onchange: (event) => {
      set(event.target.value);
      route();
    } }, options.map(([it, text]) => make('option', { value: it, selected: it === value }, text)))];
  };
  const types = ['heading', 'text', 'list', 'table', 'code', 'core', 'learning', 'task', 'episode',
    'concept', 'fact'];
  return make('p', { class: 'line' },
    choose('budget', budgetWanted, [['', say('budget_any')], ...['100', '200', '500', '1000', '4000']
      .map((it) => [it, say('n_tokens', { n: +it })])], (it) => { budgetWanted = it; }),
    choose('type', typeWanted, [['', say('type_any')], ...types.map((it) => [it, it])],
      (it) => { typeWanted = it; }));
}

function hitItem(hit) {
  const { why } = hit;
  const sum = { score: heatFormat.format(hit.score), relevance: heatFormat.format(why.relevance),
    warmth: heatFormat.format(why.warmth) };
  return make('li', {}, make('p', {}, make('a', { class: 'to', href: to('node', hit.id), dir: 'auto' },
    marked(hit.label || say('unnamed'), why.words)), chip(hit.type), heat(hit.temperature)),
  make('p', { class: 'why' },
    make('span', { class: 'score', title: say('score_is', sum) }, say('score_is', sum)),
    why.words.length > 0 && [say('has_words'), why.words.map((it) => make('mark', { dir: 'auto' }, it))],
    why.section && chip(say('in_section')), why.neighbour && chip(say('by_neighbour'))),
  make('p', { class: 'hint' }, hit.source && said(hit.source, { class: 'from' }),
    say('n_tokens', { n: hit.tokens })));
}
