// Every word that the page says itself, and the numbers and times among them.
//
// A text with `|` has two forms, for one and for several: `n` decides. `{name}` is a value.

const WORDS = {
  // The frame.
  views: 'Views',
  skip: 'Skip to the content',
  search_label: 'Search the memory',
  search_hint: 'Search as the agent does   /',
  live: 'Live',
  live_tip: 'Changes appear by themselves',
  connecting: 'Connecting',
  offline: 'Offline: trying again',
  loading: 'Loading …',
  failed: 'This could not be loaded',
  again: 'Try again',
  more: 'Show more',
  shown_of: '{n} of {all}',
  close: 'Close',
  dismiss_toast: 'Close this message',
  just_now: 'just now',
  cancel: 'Cancel',
  nothing: 'Nothing',
  unnamed: '(without a name)',
  no_file: 'Without a file',
  pinned: 'pinned',
  n_nodes: '{n} node|{n} nodes',
  n_tokens: '{n} token|{n} tokens',
  n_calls: '{n} call|{n} calls',
  n_episodes: '{n} episode|{n} episodes',
  n_concepts: '{n} concept|{n} concepts',
  keys: 'Keys',
  key_views: 'Views, in their order',
  key_search: 'Search',
  key_help: 'These keys',
  key_back: 'Back',
  key_open: 'Open what has the focus',
  key_tree: 'In the tree: move, open, close; letters jump',

  // Getting in.
  locked: 'This page needs its link',
  locked_why: 'A link opens one browser once, within a minute. Press Enter in the terminal where '
    + 'the server runs, and open the link that it prints. Or give the token of the server:',
  token: 'Token',
  open: 'Open',

  // Heat.
  warm: 'read lately',
  born: 'as it began',
  cool: 'cooling',
  heat_of: 'temperature {n}, {side}',

  // Overview.
  overview: 'Overview',
  empty: 'This memory is empty.',
  empty_do: 'Fill it from a folder of notes:',
  space: '{space}, entry {seq}: {standing}, lag {n}',
  tile_nodes: 'Nodes',
  tile_tokens: 'Tokens',
  tile_snapshots: 'Snapshots',
  tile_links: 'Links',
  tile_read: 'Ever read',
  tile_cold: 'Cold',
  in_bytes: '{n} in a file',
  last_change: 'changed {ago}',
  none_waits: 'all resolved',
  links_wait: '{n} waits for its target|{n} wait for their targets',
  read_share: '{n} of all nodes',
  n_pinned: '{n} pinned',
  read_most: 'What the agent read most',
  read_most_why: 'Reading warms a node, and what nobody reads cools: read most of late stands first.',
  read_often: '{times} · {ago}',
  read_none: 'No agent has read anything yet. Each read of a tool shows here.',
  changed: 'What changed lately',
  changed_all: 'All changes',
  map: 'What the memory holds',
  map_why: 'The area is the size of the text, the colour its heat: blue cooled, orange was read.',
  map_list: 'The same as a list',
  map_read: '{read} of {nodes} read',
  map_rest: '{n} smaller one|{n} smaller ones',
  map_item: '{name}: {nodes}, {tokens}, temperature {heat}, {read} read',
  whole: 'All',
  spread: 'How warm it is',
  spread_bar: 'From {from} to {to}: {nodes}',
  never_read: '{n} never read',
  n_read: '{n} read',
  n_cold: '{n} cold, below {at}',
  coldest: 'The coldest',

  // Tree.
  tree: 'Tree',
  tree_of: 'Tree of {file}',
  tree_rows: '{n} of {all} nodes are shown. Open a branch for what is below it.',
  tree_rows_of: '{n} node is shown|{n} nodes are shown',
  tree_full: '{n} rows are shown, the most there are at once. Close a branch to see more.',

  // Search.
  search: 'Search',
  search_start: 'Type words above. You see what an agent would see, in its order, and why. '
    + 'Looking warms nothing.',
  search_none: 'Nothing here answers that.',
  search_none_do: 'Try fewer or other words. An agent gets this reply:',
  hits: '{n} hit|{n} hits',
  hits_for: '{hits} for “{q}”',
  score_is: '{score} = {relevance} relevance × {warmth} warmth',
  has_words: 'has',
  in_section: 'found by its section',
  by_neighbour: 'found by a neighbour',
  budget: 'Budget',
  budget_used: '{used} of {all} tokens used',
  budget_open: '{used} tokens used',
  left_out: '{n} hit did not fit the budget|{n} hits did not fit the budget',
  left_out_more: '{n} hits or more did not fit the budget',
  left_out_open: '{n} more hit, which a reply without a budget leaves out|'
    + '{n} more hits, which a reply without a budget leaves out',
  left_out_open_more: '{n} more hits at least, which a reply without a budget leaves out',
  reply: 'The exact reply that an agent gets',
  type: 'Type',
  type_any: 'Every type',
  budget_any: 'None: the first 20',

  // Node.
  node: 'Node',
  node_text: 'Text',
  rendered: 'Rendered',
  source: 'Source',
  read_times: 'read {n} time|read {n} times',
  read_never: 'never read',
  read_at: 'last {ago}',
  made_at: 'made {ago}',
  no_text: 'This node has no text of its own.',
  below: 'Below it',
  links: 'Links',
  links_in: 'From other nodes',
  links_out: 'To other nodes',
  link_pending: 'waits for its target',
  no_links: 'Nothing refers to it, and it refers to nothing.',
  history: 'History',
  no_history: 'No change of this node is kept.',
  graph_open: 'Graph',
  checked: 'done: ',
  unchecked: 'open: ',
  image: 'Image: {alt}',

  // Graph.
  graph: 'Graph',
  graph_of: 'Around {label}',
  graph_why: 'What refers to it is on the left, what it refers to on the right.',
  graph_wider: 'One step further',
  graph_cut: 'The {n} nearest nodes are drawn.',

  // Timeline.
  timeline: 'Timeline',
  timeline_none: 'Nothing was written yet.',
  today: 'Today',
  yesterday: 'Yesterday',
  days: 'Changes by day',
  day_bar: '{day}: {snapshots}, {added} added, {modified} changed, {removed} removed',
  n_snapshots: '{n} snapshot|{n} snapshots',
  added: 'added',
  modified: 'changed',
  removed: 'removed',
  now: 'now',
  no_changes: 'No node changed.',
  n_hunks: 'its text|{n} places of its text',
  text_cut: 'Shortened here; the node has all of it.',
  before: 'Before',
  after: 'After',
  undo_last: 'Undo the last change',
  undo_late: 'Something was written since. The timeline has the way back.',
  back_to: 'Return to #{id}',
  undo_by: 'This page only looks. In a terminal, this takes {name} back:',
  back_by: 'This page only looks. To return here, run in a terminal:',
  back_title: 'Return to snapshot #{id}',
  back_counts: 'This takes back {snapshots}, newest first: {added} added, {modified} changed and '
    + '{removed} removed nodes. A node that changed twice counts twice.',
  back_keeps: 'Nothing is lost: it is one new snapshot, which can be undone in the same way.',
  back_type: 'Type {id} to confirm',
  compare: 'Compare',
  compare_from: 'From #',
  compare_to: 'to #',
  compared: 'Changes from #{id}',
  compare_all: 'All snapshots',
  compare_far: 'A part of the newest {n} snapshots.',

  // Acting.
  pin: 'Pin',
  pin_why: 'A pinned node keeps its temperature and never cools.',
  unpin: 'Unpin',
  unpin_why: 'The node cools again from its temperature on.',
  forget: 'Forget',
  forget_why: 'The node leaves the memory, with what is below it. History keeps it.',
  edit: 'Edit',
  edit_why: 'The new text replaces the old one, in one snapshot.',
  save: 'Save',
  done: 'Done: {what}',
  undo: 'Undo',
  undone: 'Undone',
  resolve: 'This one holds',
  resolve_why: 'The other statements become superseded. History keeps them.',
  dismiss: 'No conflict',
  dismiss_why: 'The statements stand side by side.',

  // Sessions.
  sessions: 'Sessions',
  sessions_now: 'Present',
  sessions_past: 'Ever seen',
  sessions_alone: 'Only this page is known here. Servers with a source folder show.',
  by_ledger: 'by its ledger',
  server_does: 'A server, process {id}, {work}',
  does_rescan: 'scans a folder',
  does_compile: 'compiles a folder',
  does_other: 'works on this memory',
  sessions_none: 'No agent is connected.',
  sessions_do: 'Tell your agents about this memory:',
  past_none: 'No session is recorded yet. A server with a source folder records them.',
  this_page: 'this page',
  claims: 'Names are what clients say of themselves; nobody verified them.',
  active: 'active',
  n_sessions: '{n} session|{n} sessions',
  lasted: '{n} in all',
  minutes: '{n} min',
  hours: '{n} h',

  // Doctor.
  doctor: 'Doctor',
  doctor_why: 'Examines the whole file, and repairs nothing. A large memory takes half a minute.',
  doctor_run: 'Examine',
  doctor_runs: 'Examining for {n} s',
  doctor_ok: 'All is well',
  doctor_bad: 'Something needs attention',
  doctor_at: 'Examined',
  doctor_took: 'in {took} s',
  doctor_do: 'Repair what can be repaired:',

  // Knowledge.
  memories: 'Memories',
  core: 'Core',
  learnings: 'Learnings',
  tasks: 'Tasks',
  memories_none: 'No typed memories yet. Agents store core facts, learnings and tasks with '
    + 'MemoryRemember.',
  status_in_progress: 'In progress',
  status_blocked: 'Blocked',
  status_completed: 'Completed lately',
  blocked_by: 'Waits for: {what}',
  concepts: 'Concepts',
  concepts_none: 'No concepts yet. Agents remember episodes, and consolidate them.',
  all_topics: 'Topics',
  all_entities: 'Entities',
  conflicts: 'Statements that contradict each other',
  waiting: 'Waiting to be consolidated',
  waiting_of: '{n} episode waits|{n} episodes wait',
  newest: 'The newest concepts',
  confidence: 'confidence {n}',
  importance_of: '{n} importance',
  statements: 'Statements',
  sources: 'From episodes',
  evidence: 'Evidence',
  relations: 'Relations',
  merged: 'It was merged into another concept.',

  // Activity.
  activity: 'Activity',
  rescan: 'Scans of the folder',
  rescan_none: 'No folder is watched by this server.',
  rescan_other: 'What a scan finds is in the timeline.',
  log_own: 'Only the log of this process is known here.',
  rescan_at: 'every {n} s, last {ago}',
  rescan_first: 'every {n} s, none ended yet',
  log: 'Log of this server',
  log_none: 'No records yet.',
  log_lost: '{n} older record left the log|{n} older records left the log',
  level: 'At least',
  filter: 'With the words',
  pause: 'Pause',
  resume: 'Go on',
  levels: 'debug info warn error',
};

const LOCALE = navigator.languages;
const numberFormat = new Intl.NumberFormat(LOCALE, { maximumFractionDigits: 2 });
const compactFormat = new Intl.NumberFormat(LOCALE,
  { notation: 'compact', maximumFractionDigits: 1 });
const heatFormat = new Intl.NumberFormat(LOCALE,
  { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const percentFormat = new Intl.NumberFormat(LOCALE, { style: 'percent' });
const byteFormat = new Intl.NumberFormat(LOCALE,
  { notation: 'compact', style: 'unit', unit: 'byte', unitDisplay: 'narrow' });
const agoFormat = new Intl.RelativeTimeFormat(LOCALE, { numeric: 'auto' });
const dayFormat = new Intl.DateTimeFormat(LOCALE,
  { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' });
const timeFormat = new Intl.DateTimeFormat(LOCALE, { timeStyle: 'short' });
const momentFormat = new Intl.DateTimeFormat(LOCALE, { dateStyle: 'medium', timeStyle: 'medium' });
const plural = new Intl.PluralRules('en');

/** Returns a text of the table with its values; numbers as the reader writes them. */
function say(key, values = {}) {
  const forms = WORDS[key].split('|');
  const text = forms.length > 1 && plural.select(values.n) !== 'one' ? forms[1] : forms[0];
  return text.replace(/\{(\w+)\}/g, (_, name) => {
    const value = values[name];
    return typeof value === 'number' && name !== 'id' ? numberFormat.format(value) : value;
  });
}

/** Returns how long ago a time was, in seconds since 1970. */
function ago(seconds) {
  const age = seconds - Date.now() / 1000;
  const units = [['year', 31557600], ['month', 2629800], ['day', 86400], ['hour', 3600], ['minute', 60]];
  const [unit, length] = units.find((it) => Math.abs(age) >= it[1]) || [];
  return unit ? agoFormat.format(Math.round(age / length), unit) : say('just_now');
}

/** Returns the day of a time as a text that names it. */
function dayOf(seconds) {
  const day = new Date(seconds * 1000);
  const today = new Date();
  if (day.toDateString() === today.toDateString()) return say('today');
  today.setDate(today.getDate() - 1);
  if (day.toDateString() === today.toDateString()) return say('yesterday');
  return dayFormat.format(day);
}
