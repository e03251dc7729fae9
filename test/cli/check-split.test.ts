import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readGraph } from '../../src/ingest/read.js';
import { loadSplit } from '../../src/store/split-folder.js';
import { edgeList } from '../sample/random-graph.js';
import { graphex, scratch, writeTable } from './run.js';

const folder = scratch();
/** Terminal output without its line breaks. */
const words = (text: string) => text.replace(/\s+/g, ' ');
const data = join(folder, 'data.csv');
writeTable(data, 4000);

describe('graphex check', () => {
  it('prints a table, the reason, and how the data were read', async () => {
    const { status, stdout } = await graphex('check', data);
    expect(status).toBe(0);
    expect(words(stdout)).toMatch(
      /read 4,000 rows: [\d,]+ kept, [\d,]+ merged, 0 rejected \(.*users person; items thing\)/,
    );
    expect(words(stdout)).toContain('first row read as header: use --no-header if it is data');
    const told = await graphex('check', data, '--header', '--quiet');
    expect(words(told.stdout)).toContain('; with header; ');
    const none = await graphex('check', data, '--no-header', '--quiet');
    expect(words(none.stdout)).toContain('; no header; ');
    const bare = join(folder, 'bare.csv');
    writeFileSync(bare, readFileSync(data, 'utf8').replace('person,thing\n', ''));
    const guessed = await graphex('check', bare, '--quiet');
    expect(words(guessed.stdout)).toContain(
      '; no header found: use --header if there is one; users 1; items 2)',
    );
    const fitted = await graphex('fit', data, '-k', '2', '--iterations', '5', '-o', join(folder, 'm.st'));
    expect(words(fitted.stdout)).toMatch(
      /^read 4,000 rows: .*first row read as header: use --no-header if it is data/,
    );
    expect(stdout).toMatch(/verdict +(sparse|dense|unclear) +(sparse|dense|unclear)/);
    expect(stdout).toMatch(/of people \(tests things\)/);
    expect(stdout).toMatch(/Reason for the people: .+\nReason for the things: .+\./s);
  });

  it('gives shards the verdict of the data in one piece, from the degrees alone', async () => {
    const parts = join(folder, 'parts');
    expect((await graphex('partition', data, '--shards', '3', '-o', parts)).status).toBe(0);
    // No shard is read.
    for (const name of readdirSync(parts)) if (name.startsWith('shard-')) rmSync(join(parts, name));
    const page = join(folder, 'of parts');
    const {
      source: _,
      written,
      ...ofParts
    } = JSON.parse((await graphex('check', parts, '--json', '-o', page)).stdout);
    const whole = JSON.parse((await graphex('check', data, '--json', '--replicates', '0')).stdout);
    const { source: __, written: ___, ...expected } = whole;
    expect(ofParts).toEqual(expected);
    expect(written).toHaveLength(3);
    const { stdout } = await graphex('check', parts);
    expect(stdout).toMatch(/in 3 shards; read when partitioned: 4,000 rows: [\d,]+ kept/);
    const sampled = await graphex('check', parts, '--replicates', '3');
    expect(sampled.status).toBe(2);
    expect(sampled.stderr).toContain('--replicates 3: sampled points need the data in one piece');
    const again = await graphex('check', parts, '--users', 'person');
    expect(again.stderr).toContain('was read when it was partitioned; leave this option out');
  });

  it('has all documented fields in --json', async () => {
    const check = JSON.parse((await graphex('check', data, '--json', '--replicates', '3')).stdout);
    const { graph } = await readGraph(data);
    expect(check).toMatchObject({ users: graph.users.count, items: graph.items.count, edges: graph.edges });
    expect(check.total).toBe(graph.edges);
    expect(check.density).toBeCloseTo(graph.edges / graph.users.count / graph.items.count, 12);
    expect(check.read).toEqual({ rows: 4000, kept: graph.edges, merged: 4000 - graph.edges, rejected: 0 });
    for (const side of ['users', 'items']) {
      expect(check.degrees[side].max).toBeGreaterThan(check.degrees[side].min);
      const sigma = check.sigma[side];
      for (const value of [
        sigma.half,
        sigma.mean,
        sigma.likelihood.estimate,
        sigma.likelihood.standardError,
      ]) {
        expect(value).toBeTypeOf('number');
      }
      expect(check.curves[side]).toHaveLength(20);
      for (const point of check.curves[side]) {
        expect(point.level).toBeGreaterThan(0);
        expect(point.expected).toBeGreaterThan(0);
        expect(point.sampled.length).toBeLessThanOrEqual(3);
      }
      expect(['sparse', 'dense', 'unclear']).toContain(check.verdict[side]);
    }
    expect(check.verdict.text).toBeTypeOf('string');
  });

  it('says when a side looks like row numbers', async () => {
    const rows = Array.from({ length: 60 }, (_, r) => `${r},u${(r * 7) % 13},i${(r * 5) % 11}`);
    const numbered = join(folder, 'numbered.csv');
    writeFileSync(numbered, [',user,item', ...rows].join('\n'));
    const { stdout } = await graphex('check', numbered);
    expect(words(stdout)).toMatch(
      /The users are .* like row numbers: if they are row numbers, name the right columns with --users and --items/,
    );
    const named = await graphex('check', numbered, '--users', 'user', '--items', 'item');
    expect(named.stdout).not.toContain('row numbers');
  });

  it('-o writes two charts and a page, whole, and the same for the same seed', async () => {
    const out = join(folder, 'a', 'check');
    const { status, stdout } = await graphex('check', data, '-o', out);
    expect(status).toBe(0);
    expect(stdout).toContain(join(out, 'check.html'));
    expect(readdirSync(out).sort()).toEqual(['.graphex.json', 'check.html', 'degrees.svg', 'density.svg']);
    const page = readFileSync(join(out, 'check.html'), 'utf8');
    expect(page).toContain('Is data.csv sparse?');
    expect(page.trimEnd().endsWith('</html>')).toBe(true);
    const again = join(folder, 'again');
    await graphex('check', data, '-o', again, '--threads', '1');
    for (const file of readdirSync(out)) {
      expect(readFileSync(join(again, file), 'utf8')).toBe(readFileSync(join(out, file), 'utf8'));
    }
    await graphex('check', data, '-o', again, '--seed', '2');
    expect(readFileSync(join(again, 'density.svg'), 'utf8')).not.toBe(
      readFileSync(join(out, 'density.svg'), 'utf8'),
    );
  });
});

describe('graphex split', () => {
  it('writes parts that load again and add up, and says what it drew and dropped', async () => {
    const out = join(folder, 'split');
    const { status, stdout } = await graphex('split', data, '-o', out, '--json', '--test-users', '0.3');
    expect(status).toBe(0);
    const result = JSON.parse(stdout);
    const parts = await loadSplit(out);
    const { graph } = await readGraph(data);
    expect([parts.train, parts.foldIn, parts.test].flatMap(edgeList).sort()).toEqual(edgeList(graph));
    for (const [name, part] of [
      ['train', parts.train],
      ['foldin', parts.foldIn],
      ['test', parts.test],
    ] as const) {
      expect(result[name]).toEqual({ users: part.users.count, items: part.items.count, edges: part.edges });
    }
    expect(result.coins.users).toBe(parts.assignment.users.drawn.reduce((a, b) => a + b, 0));
    expect(result.dropped).toBe(result.unseen.foldin.edges + result.unseen.test.edges);
    expect(result).toMatchObject({ method: 'pq', seed: 1, testUsers: 0.3, testItems: 0.2 });
    for (const side of ['users', 'items']) {
      const { whole, test, heldOutDegree } = result.bias[side];
      expect(whole.meanDegree).toBeGreaterThan(test.meanDegree);
      expect(heldOutDegree).toBeGreaterThan(0);
    }
  });

  it('gives the same parts for the same seed and others for another; splits by edges for comparison', async () => {
    const fingerprints = async (...args: string[]) => {
      const out = join(folder, `s${args.join('')}`);
      expect((await graphex('split', data, '-o', out, ...args)).status).toBe(0);
      return JSON.parse(readFileSync(join(out, 'split.json'), 'utf8')).parts.test.fingerprint;
    };
    const one = await fingerprints('--seed', '7');
    expect(await fingerprints('--seed', '7', '--threads', '1')).toBe(one);
    expect(await fingerprints('--seed', '8')).not.toBe(one);
    const { stdout } = await graphex('split', data, '-o', join(folder, 'edges'), '--method', 'edges');
    expect(stdout).toMatch(/a split by edges favours vertices with many\s+edges/);
  });

  it('a split that cannot be made leaves nothing behind', async () => {
    const out = join(folder, 'none');
    const { status, stderr } = await graphex('split', data, '-o', out, '--test-users', '0.000001');
    expect(status).toBe(2);
    expect(stderr).toMatch(/test part of the split has no edges/);
    expect(existsSync(out)).toBe(false);
  });
});
