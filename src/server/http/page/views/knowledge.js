// Knowledge: typed memories, tasks as a board, concepts with their facts, conflicts to resolve.

VIEWS.memories = {
  uses: ['core', 'learnings', 'tasks/active', 'tree'],
  async show(_, signal) {
    const [core, learnings, active, completed] = await Promise.all(['core', 'learnings', 'tasks/active',
      'tasks/completed'].map((it) => read('memory://' + it, signal)));
    if (![core, learnings, active, completed].some((it) => it.count)) {
      return { body: [emptyState(say('memories_none'), say('sessions_do'), 'remindb setup')] };
    }
    const of = (status) => active.memories.filter((it) => it.task_metadata?.status === status);
    const lane = (title, tasks) => make('section', { class: 'lane' },
      make('h3', {}, title + ' · ' + numberFormat.format(tasks.length)), tasks.map(card));
    return { body: [panel(say('core'), cards(core.memories)),
      panel(say('tasks'), make('div', { class: 'board' }, lane(say('status_blocked'), of('blocked')),
        lane(say('status_in_progress'), of('in-progress')),
        lane(say('status_completed'), [...of('completed'), ...completed.memories
          .filter((it) => !of('completed').some((other) => other.id === it.id))]))),
      panel(say('learnings'), cards(learnings.memories))] };
  },
};

const plain = (name) => name.replaceAll('_', ' ');
const confidence = (it) => make('span', { class: 'size' },
  say('confidence', { n: percentFormat.format(it.confidence ?? 0.5) }));
const cards = (memories) => (memories.length ? make('div', { class: 'cards' }, memories.map(card))
  : hint(say('nothing')));

function card(it) {
  const task = it.task_metadata || {};
  return make('article', { class: 'card' }, make('p', { dir: 'auto' }, it.content),
    task.blockers?.length > 0 && hint(say('blocked_by', { what: task.blockers.join(', ') })),
    task.outcome && hint(said(task.outcome)),
    make('p', { class: 'facts' }, it.importance && it.importance !== 'medium' && chip(say('importance_of', { n: it.importance })),
      it.category && it.category !== task.status && chip(it.category),
      (it.tags || []).map((tag) => chip(tag, 'tag')), moment(it.updated_at || it.created_at),
      make('a', { href: to('node', it.id) }, say('open'))));
}

VIEWS.concepts = {
  uses: ['tree'],
  async show(id, signal) {
    if (id) return oneConcept(id, signal);
    const [topics, concepts, entities, conflicts, waiting] = await Promise.all(['topics', 'concepts',
      'entities', 'conflicts', 'episodes?pending=true&limit=10'].map((it) => read(it, signal)));
    if (!concepts.total && !waiting.total && !topics.topics.length && !conflicts.conflicts.length) {
      return { body: [emptyState(say('concepts_none'), say('sessions_do'), 'remindb setup')] };
    }
    const most = [...entities.entities].sort((a, b) => b.mentions - a.mentions).slice(0, 30);
    return { body: [
      conflicts.conflicts.length > 0 && panel(say('conflicts'),
        make('div', { class: 'cards wide-cards' }, conflicts.conflicts.map(conflict)),
        conflicts.conflicts.length < conflicts.total
          && hint(say('shown_of', { n: conflicts.conflicts.length, all: conflicts.total }))),
      make('div', { class: 'two' },
        panel(say('newest'), rows(concepts.concepts.map((it) => [conceptLink(it), chip(plain(it.kind)),
          confidence(it)])),
        concepts.concepts.length < concepts.total
          && hint(say('shown_of', { n: concepts.concepts.length, all: concepts.total }))),
        panel(say('waiting'), hint(say('waiting_of', { n: waiting.total })),
          rows(waiting.episodes.map((it) => [chip(plain(it.kind)), nodeLink(it), it.at && moment(it.at)])))),
      make('div', { class: 'two' },
        panel(say('all_topics'), rows(topics.topics.map((it) => [searchLink(it.name),
          say('n_episodes', { n: it.episodes }), say('n_concepts', { n: it.concepts })]))),
        panel(say('all_entities'), rows(most.map((it) => [searchLink(it.name), chip(it.type),
          numberFormat.format(it.mentions)]))))] };
  },
};

const searchLink = (name) => make('a', { class: 'to', href: to('search', name), dir: 'auto' }, name);
const conceptLink = (it) => make('a', { class: 'to', href: to('concepts', it.id), dir: 'auto' },
  it.title || say('unnamed'));

async function oneConcept(id, signal) {
  const it = await read('concepts/' + encodeURIComponent(id), signal);
  if (it.merged_into) return { body: [hint(say('merged')), conceptLink({ id: it.merged_into })] };
  const list = (items, row) => items?.length > 0 && rows(items.map(row));
  const linked = [...(it.links || []), ...(it.links_in || [])];
  return { title: it.title || say('unnamed'), body: [
    make('p', { class: 'facts' }, it.kind && chip(plain(it.kind)), confidence(it),
      (it.tags || []).map((tag) => chip(tag, 'tag')), make('a', { href: to('node', id) }, say('node'))),
    make('p', { dir: 'auto', class: 'prose' }, it.summary || ''),
    it.facts?.length > 0 && panel(say('statements'), list(it.facts, (fact) => [said(fact.text),
      fact.status && chip(plain(fact.status)), fact.valid_from && moment(fact.valid_from)])),
    it.sources?.length > 0 && panel(say('sources'), list(it.sources, (source) => [nodeLink(source),
      source.at && moment(source.at)])),
    it.evidence?.length > 0 && panel(say('evidence'), list(it.evidence, (one) => [chip(one.type),
      nodeLink({ id: one.episode || one.id, label: one.title || one.note })])),
    linked.length > 0 && panel(say('relations'), rows(linked.map((link) => [chip(plain(link.type)),
      conceptLink({ id: link.to || link.from || link.id, title: link.title })])))] };
}

function conflict(it) {
  const apply = (operation, title, why) => act('MemoryApply', { operations: [operation] }, title, why);
  const can = tools.has('MemoryApply');
  return make('article', { class: 'card' },
    make('div', { class: 'facts' }, make('h3', { dir: 'auto' }, it.about), chip(it.severity), it.note && said(it.note)),
    rows(it.facts.map((fact) => [said(fact.text, { class: 'to' }), can && button(say('resolve'), () =>
      apply({ op: 'resolve', id: it.id, winner: fact.id }, say('resolve'), say('resolve_why')))])),
    can && button(say('dismiss'), () => apply({ op: 'dismiss', id: it.id }, say('dismiss'), say('dismiss_why'))));
}
