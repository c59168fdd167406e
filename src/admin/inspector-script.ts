/**
 * The inspector page's script, run by the browser. Writes text through `textContent` only: whatever a record holds
 * can't become markup. Asks the admin port it came from and nobody else.
 */
export const inspectorScript = String.raw`
'use strict';
const byId = (id) => document.getElementById(id);
const element = (tag, className, text) => {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
};
const masks = { text: '▒▒', whitespace: '␣', digits: '00', punctuation: '¶', media: '▣', unknown: '?', control: '⟨⟩' };

function drawWindow(window, range) {
  const row = element('div', 'window');
  for (const piece of window.pieces) {
    const found = range && piece.position >= range.start && piece.position < range.end;
    const cell = element('span', 'piece ' + piece.class + (found ? ' found' : ''));
    cell.title = 'token ' + piece.position + ': ' + piece.class + (piece.id ? ', id pseudonym ' + piece.id : '');
    if (piece.id) cell.dataset.id = piece.id;
    const visible = piece.text === undefined ? masks[piece.class] : piece.text.replaceAll('\n', '⏎');
    cell.append(element('span', '', visible), element('span', 'at', piece.position));
    row.append(cell);
  }
  return row;
}

function markSame(card, hovered) {
  for (const cell of card.querySelectorAll('.piece')) {
    cell.classList.toggle('same', Boolean(hovered && hovered.dataset.id && cell.dataset.id === hovered.dataset.id));
  }
}

function drawFinding(record) {
  const card = element('article', 'finding ' + record.severity);
  const head = element('div', 'bar');
  const name = element('span');
  const label = record.kind + (record.cause ? ': ' + record.cause : '');
  name.append(element('span', 'level', record.severity), element('span', 'kind', label));
  const when = element('time', 'soft right', new Date(record.time).toLocaleTimeString());
  when.title = record.time;
  head.append(name, element('span', 'soft', 'by ' + record.culprit), when);
  card.append(head, element('p', '', record.message));
  if (record.window) card.append(drawWindow(record.window, record.tokens));
  if (record.ancestorWindow) {
    card.append(element('p', 'soft', 'The earlier turn there:'), drawWindow(record.ancestorWindow, record.tokens));
  }
  card.addEventListener('mouseover', (event) => markSame(card, event.target.closest('.piece')));
  card.addEventListener('mouseleave', () => markSame(card, null));
  card.append(element('p', 'soft', record.advice));
  const place = record.tokens ? 'tokens ' + record.tokens.start + '–' + (record.tokens.end - 1) : undefined;
  const lost = record.lostTokens === undefined ? undefined : record.lostTokens + ' tokens lost';
  const saved = record.savedTokens === undefined ? undefined : record.savedTokens + ' tokens saved by repair';
  const facts = [record.model, record.route, 'client ' + record.client, record.session && 'session ' + record.session,
    record.field && 'field ' + record.field, place, lost, saved, 'action ' + record.action, 'request ' + record.requestId];
  card.append(element('div', 'facts', facts.filter(Boolean).join(' · ')));
  return card;
}

function duration(seconds) {
  if (seconds < 60) return Math.round(seconds) + ' s';
  return seconds < 3600 ? Math.round(seconds / 60) + ' min' : (seconds / 3600).toFixed(1) + ' h';
}

function drawSession(session) {
  const row = element('tr');
  for (const text of [session.session, session.client, session.model]) row.append(element('td', '', text));
  const numbers = [session.turns, session.heads, session.tokens.toLocaleString(), duration(session.ageMs / 1000)];
  for (const text of numbers) row.append(element('td', 'number', text));
  return row;
}

function drawEvent(record) {
  const row = element('div', 'event bar' + (record.trouble ? ' warning' : ''));
  const when = element('time', 'soft right', new Date(record.time).toLocaleTimeString());
  when.title = record.time;
  const told = Object.entries(record.fields).map(([name, value]) => name + ' ' + value).join(' · ');
  row.append(element('span', 'level', record.event), element('span', '', record.message), when);
  row.append(element('span', 'facts', told));
  return row;
}

async function ask(path) {
  const response = await fetch(path, { headers: { accept: 'application/json' } });
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.detail || response.statusText);
  return answer;
}

const drawn = new Map();
function replaceIfChanged(id, value, draw) {
  const signature = JSON.stringify(value);
  if (drawn.get(id) === signature) return;
  drawn.set(id, signature);
  byId(id).replaceChildren(...value.map(draw));
}

async function refresh() {
  const query = new URLSearchParams({ limit: '100' });
  for (const name of ['kind', 'severity']) if (byId(name).value) query.set(name, byId(name).value);
  try {
    const [{ seen, findings }, { events }, { sessions }] = await Promise.all([
      ask('/api/findings?' + query), ask('/api/events?limit=10'), ask('/api/sessions')]);
    replaceIfChanged('findings', findings, drawFinding);
    replaceIfChanged('events', events, drawEvent);
    replaceIfChanged('sessions', sessions, drawSession);
    byId('no-findings').hidden = findings.length > 0;
    byId('no-events').hidden = events.length > 0;
    byId('no-sessions').hidden = sessions.length > 0;
    byId('state').textContent = seen + ' findings since start, ' + findings.length + ' shown';
  } catch (error) {
    byId('state').textContent = 'The admin port does not answer: ' + error.message;
  }
}

async function keepFresh() {
  if (!byId('pause').checked) await refresh();
  setTimeout(keepFresh, 2000);
}
for (const name of ['kind', 'severity']) byId(name).addEventListener('change', refresh);
ask('/version').then((version) => { byId('version').textContent = version.version; }, () => undefined);
keepFresh();
`;
