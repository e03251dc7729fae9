// Ids, headers, names and files that try to take over a reader's terminal. Every command runs on them, and every byte
// of its text output is checked.

import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { lines, oneLine, safeJson, shown } from '../../src/text/untrusted.js';
import { bin, graphex, type Run, scratch } from './run.js';

vi.setConfig({ testTimeout: 300_000 });
const folder = scratch();
const at = (name: string) => join(folder, name);

const CLIPBOARD = '\x1b]52;c;cm0gLXJm\x07';
const TITLE = '\x1b]0;owned\x1b\\';
const CLEAR = '\x1b[2J\x1b[H';
const C1 = '\x9b2J\x9d0;x\x9c\x85';
const BIDI = '\u202egnp.exe\u202c\u2066x\u2069\u200f\u061c';
const NEWLINES = 'a\nerror: forged\r\nwarning: forged\u2028x\u2029y';
const LONG = 'x'.repeat(50_000);
const HOSTILE = [
  CLIPBOARD,
  TITLE,
  CLEAR,
  C1,
  BIDI,
  NEWLINES,
  LONG,
  '\0\b\x7f',
  'a\ufeffbom\u200b',
  '\u{e0041}',
];

/** Nothing but line ends may be a control character, and no bidi mark at all. */
const RAW = /[^\P{Cc}\n]|[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\u200b\ufeff\u{e0000}-\u{e007f}]/u;

function expectHarmless(name: string, text: string): void {
  const found = RAW.exec(text);
  expect(
    found && `${name}: ${JSON.stringify(text.slice(Math.max(0, found.index - 60), found.index + 60))}`,
  ).toBe(null);
}

function expectHarmlessRun(name: string, { stdout, stderr }: Run): void {
  expectHarmless(`${name} stdout`, stdout);
  expectHarmless(`${name} stderr`, stderr);
  for (const line of [...stdout.split('\n'), ...stderr.split('\n')])
    expect(line).not.toMatch(/^(error|warning): forged/);
}

const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;

describe('text from outside', () => {
  it('is written out and cut, whatever it holds', () => {
    for (const text of HOSTILE) {
      for (const made of [shown(text), oneLine(text), lines(text)]) expectHarmless('text', made);
      expect(shown(text)).not.toContain('\n');
      expect(shown(text).length).toBeLessThanOrEqual(80);
    }
    expect(shown('\x1b]52')).toBe('\\u001b]52');
    expect(shown('\u{1f469}\u200d\u{1f467} e\u0301 \u0645\u200c\u0646')).toBe(
      '\u{1f469}\u200d\u{1f467} e\u0301 \u0645\u200c\u0646',
    );
    expect(shown(`${'a'.repeat(52)}${'\u{1f600}'.repeat(40)}`)).not.toMatch(/\p{Cs}/u);
    expect(oneLine(`${'x'.repeat(1e6)}; check the path`)).toMatch(/^x+…x+; check the path$/);
  });

  it('in JSON is escaped to the same document', () => {
    const document = { [C1]: HOSTILE, indented: [1, 2] };
    for (const indent of [0, 2]) {
      const text = safeJson(JSON.stringify(document, null, indent));
      expectHarmless('json', text);
      expect(JSON.parse(text)).toEqual(document);
    }
  });
});

describe('every command on hostile ids and headers', () => {
  const data = at('data.csv');
  const jsonl = at('data.jsonl');
  const model = at('model.safetensors');
  const split = at('split');
  const whole = at('whole.safetensors');

  beforeAll(async () => {
    const ids = (side: string, n: number) => `${HOSTILE[n % HOSTILE.length].replaceAll('\0', '')}${side}${n}`;
    const pairs = Array.from({ length: 900 }, (_, r) => [
      ids('u', (r + Math.floor(r / 50)) % 60),
      ids('i', (r * 7 + (r % 11)) % 50),
    ]);
    const header = [`user${TITLE}${C1}${BIDI}`, `item${CLIPBOARD}${NEWLINES}`];
    writeFileSync(data, [header, ...pairs].map((row) => row.map(quoted).join(',')).join('\n'));
    const [u, i] = header;
    writeFileSync(jsonl, pairs.map(([a, b]) => JSON.stringify({ [u]: a, [i]: b })).join('\n'));
  }, 60_000);

  const runs: [string, () => string[]][] = [
    ['check', () => ['check', data, '-o', at('check')]],
    ['check of JSON lines', () => ['check', jsonl, '--replicates', '1']],
    ['split', () => ['split', data, '-o', split, '--test-users', '0.4', '--test-items', '0.4']],
    ['fit', () => ['fit', split, '-k', '3', '--iterations', '20', '-o', model]],
    ['evaluate', () => ['evaluate', model, split, '--draws', '5']],
    ['fit of a table', () => ['fit', data, '-k', '3', '--iterations', '20', '--no-evidence', '-o', whole]],
    ['recommend', () => ['recommend', whole, '--user', readUser(), '--explain', '-n', '40']],
    ['recommend to many', () => ['recommend', whole, '--batch', writeBatch(), '-n', '3']],
    [
      'study',
      () => [
        ...['study', data, '-k', '3', '--iterations', '5', '--draws', '3', '--trials', '2'],
        ...['-o', at('report'), '--force'],
      ],
    ],
  ];
  const readUser = () => `${TITLE}u1`;
  const writeBatch = () => {
    const path = at('batch.txt');
    writeFileSync(path, [`${TITLE}u1`, `${CLEAR}u2`].join('\n'));
    return path;
  };

  it.each(runs)('%s prints nothing that a terminal obeys', async (name, args) => {
    const text = await graphex(...args());
    expectHarmlessRun(name, text);
    expect(text.status, text.stderr).toBe(0);
    const json = await graphex(...args(), '--json');
    expectHarmlessRun(`${name} --json`, json);
    expect(() => JSON.parse(json.stdout)).not.toThrow();
    for (const line of text.stdout.split('\n')) expect(line.length).toBeLessThan(3000);
  });

  it('pages and pictures hold none of it either', () => {
    for (const place of ['check', 'report', 'report/figures']) {
      for (const name of readdirSync(at(place))) {
        if (/\.(html|svg|json)$/.test(name))
          expectHarmless(`${place}/${name}`, readFileSync(at(`${place}/${name}`), 'utf8'));
      }
    }
  });

  it.each([
    ['a column that is not there', () => ['check', data, '--users', CLIPBOARD]],
    ['a file that is not there', () => ['check', at(`no${TITLE}${NEWLINES}`)]],
    ['a user who is not there', () => ['recommend', model, '--user', CLEAR + LONG]],
    ['an option that is not there', () => ['check', data, `--${CLIPBOARD}`]],
    ['a command that is not there', () => [CLEAR]],
    ['a number that is none', () => ['check', data, '--seed', TITLE]],
    ['bad rows', () => ['check', badRows()]],
    ['a split that is none', () => ['evaluate', model, badSplit()]],
  ])('errors about %s are one harmless line', async (name, args) => {
    const run = await graphex(...args());
    expectHarmlessRun(name, run);
    expect([run.status, run.stdout]).toEqual([2, '']);
    expect(run.stderr.length).toBeLessThan(6000);
  });

  it.each([
    ['liked items that are not there', () => ['recommend', model, '--likes', `${BIDI},${C1}`]],
    ['ids to leave out that are unknown', () => ['recommend', model, '--likes', 'i', '--exclude', data]],
  ])('warnings about %s are short and harmless', async (name, args) => {
    const run = await graphex(...args());
    expectHarmlessRun(name, run);
    expect(run.status, run.stderr).toBe(0);
    expect(run.stderr).toContain('warning');
    expect(run.stderr.length).toBeLessThan(6000);
  });

  const badRows = () => {
    const path = at('bad.csv');
    writeFileSync(path, `a,b\n1,2\n${CLIPBOARD}${C1}\n`);
    return path;
  };
  const badSplit = () => {
    const place = at(`split${TITLE}`);
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, 'split.json'), JSON.stringify({ format: CLEAR, version: C1 }));
    return place;
  };
});

describe('a terminal', () => {
  const script = (() => {
    try {
      execFileSync('script', ['--version'], { stdio: 'ignore' });
      return true;
    } catch {
      return false;
    }
  })();

  it.skipIf(!script).each([
    ['TERM=dumb', { TERM: 'dumb' }, false],
    ['NO_COLOR', { TERM: 'xterm', NO_COLOR: '1' }, false],
    ['neither', { TERM: 'xterm', NO_COLOR: '' }, true],
  ])('with %s: escapes only where they are wanted', (_name, env, wanted) => {
    const command = `${process.execPath} ${bin} check @simulated-small --replicates 5`;
    const { stdout } = spawnSync('script', ['-qec', command, '/dev/null'], {
      env: { ...process.env, ...env },
      encoding: 'utf8',
    });
    expect(stdout).toMatch(/verdict/);
    expect(stdout.includes('\x1b')).toBe(wanted);
  });
});
