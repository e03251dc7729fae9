// Search within the manual: every word must occur, and sections with a word in their heading come first.
const field = document.getElementById('search');
const found = document.getElementById('found');
const MOST = 15;
const AROUND = 70;
const up = field.dataset.up;
let sections;

field.hidden = false;
field.addEventListener('focus', load, { once: true });
field.addEventListener('input', async () => {
  await load();
  show(field.value);
});
document.addEventListener('keydown', (event) => {
  if (event.key === '/' && document.activeElement?.tagName !== 'INPUT') {
    event.preventDefault();
    field.focus();
  } else if (event.key === 'Escape' && !found.hidden) {
    found.hidden = true;
    field.focus();
  }
});

function load() {
  sections ??= fetch(`${up}/search.json`)
    .then((answer) => answer.json())
    .then((all) =>
      all.map((section) => ({
        ...section,
        head: `${section.of} ${section.title}`.toLowerCase(),
        all: `${section.of} ${section.title} ${section.text}`.toLowerCase(),
      })),
    );
  return sections;
}

async function show(asked) {
  const words = asked.toLowerCase().split(/\s+/).filter(Boolean);
  found.replaceChildren();
  found.hidden = words.length === 0;
  if (words.length === 0) return;
  const all = await sections;
  if (asked !== field.value) return; // somebody typed on
  const hits = all
    .filter((section) => words.every((word) => section.all.includes(word)))
    .map((section) => ({ section, score: score(section, words) }))
    .sort((a, b) => b.score - a.score);
  const line = document.createElement('p');
  line.textContent =
    hits.length === 0
      ? 'Nothing has all of these words.'
      : hits.length > MOST
        ? `${hits.length} places, the best ${MOST} shown`
        : `${hits.length} ${hits.length === 1 ? 'place' : 'places'}`;
  const list = document.createElement('ul');
  for (const { section } of hits.slice(0, MOST)) list.append(entry(section, words[0]));
  found.append(line, list);
}

function score({ head, all, page }, words) {
  let sum = page.startsWith('api/') || page.startsWith('project/') ? 0 : 2;
  for (const word of words) sum += head.includes(word) ? 10 : Math.min(3, all.split(word).length - 1);
  return sum;
}

function entry({ page, id, of, title, text }, word) {
  const item = document.createElement('li');
  const link = document.createElement('a');
  link.href = `${up}/${page}${id ? `#${id}` : ''}`;
  link.textContent = title && title !== of ? `${of}: ${title}` : of;
  const at = Math.max(0, text.toLowerCase().indexOf(word) - AROUND / 2);
  const part = document.createElement('span');
  part.textContent = `${at > 0 ? '… ' : ''}${text.slice(at, at + 2 * AROUND)}${at + 2 * AROUND < text.length ? ' …' : ''}`;
  item.append(link, document.createElement('br'), part);
  return item;
}
