import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readGraph } from '../../src/ingest/read.js';
import { termsOf } from '../../src/ingest/recipes/words.js';
import { edgesOf, scratchFolder } from './scratch.js';

const scratch = scratchFolder();

describe('netflix', () => {
  it('reads a file per movie', async () => {
    mkdirSync(scratch.path('training_set'));
    scratch.write('training_set/mv_0000001.txt', '1:\n1488844,3,2005-09-06\n822109,5,2005-05-13\n');
    scratch.write('training_set/mv_0000002.txt', '2:\n822109,4,2005-10-19\n');
    scratch.write('training_set/README', 'not a rating\n');
    const { graph, read, guess } = await readGraph(`netflix:${scratch.path('training_set')}`);
    expect(edgesOf(graph)).toEqual(['["1488844","1",1]', '["822109","1",1]', '["822109","2",1]']);
    expect(read).toEqual({ rows: 3, kept: 3, merged: 0, rejected: 0 });
    expect([guess.format, graph.users.ids.kind]).toEqual(['netflix', 'integer']);
  });

  it('reads the combined files, across their borders', async () => {
    mkdirSync(scratch.path('combined'));
    scratch.write(
      'combined/combined_data_1.txt',
      '1:\r\n7,3,2005-09-06\r\n2:\r\n7,1,2005-01-01\r\n8,5,2004-02-02',
    );
    scratch.write('combined/combined_data_2.txt', '3:\n9,2,2005-09-06\n');
    const { graph } = await readGraph(`netflix:${scratch.path('combined')}`);
    expect(edgesOf(graph)).toEqual(['["7","1",1]', '["7","2",1]', '["8","2",1]', '["9","3",1]']);
  });

  it('refuses what is not its format, with file and line', async () => {
    mkdirSync(scratch.path('odd'));
    await expect(readGraph(`netflix:${scratch.path('odd')}`)).rejects.toThrow(
      /neither mv_\*\.txt nor combined_data/,
    );
    const file = scratch.write('odd/mv_0000001.txt', '1:\n7,3,2005-09-06\n7,9,2005-09-06\n');
    await expect(readGraph(`netflix:${scratch.path('odd')}`)).rejects.toThrow(`${file}, line 3: expected`);
    scratch.write('odd/mv_0000001.txt', '7,3,2005-09-06\n');
    await expect(readGraph(`netflix:${scratch.path('odd')}`)).rejects.toThrow(/before the first "MOVIE:"/);
    scratch.write('odd/mv_0000001.txt', '1:\n7,3,2005-09-06\n7,x\n');
    const { read } = await readGraph(`netflix:${scratch.path('odd')}`, {
      rejects: scratch.path('netflix-bad.csv'),
    });
    expect(read).toEqual({ rows: 2, kept: 1, merged: 0, rejected: 1 });
  });
});

describe('echonest', () => {
  it('reads triplets: an edge per played song, or the plays', async () => {
    const file = scratch.write(
      'train_triplets.txt',
      'b80344d063b5ccb3212f76538f3d9e43d87dca9e\tSOAKIMP12A8C130995\t1\n' +
        'b80344d063b5ccb3212f76538f3d9e43d87dca9e\tSOBBMDR12A8C13253B\t2\n' +
        '85c1f87fea955d09b4bec2e36aee110927aedf9a\tSOBBMDR12A8C13253B\t14\n',
    );
    const simple = await readGraph(`echonest:${file}`);
    expect([simple.graph.users.count, simple.graph.items.count, simple.graph.total]).toEqual([2, 2, 3]);
    const plays = await readGraph(`echonest:${file}`, { multigraph: true });
    expect(plays.graph.total).toBe(17);
    scratch.write('train_triplets.txt', 'a\tb\t0\n');
    await expect(readGraph(`echonest:${file}`)).rejects.toThrow(/line 1: column 3: the count is 0/);
  });
});

describe('wikitext', () => {
  const raw = [
    ' ',
    ' = Valkyria Chronicles III = ',
    ' ',
    ' Senjō no Valkyria 3 : Unrecorded Chronicles ( Japanese : 戦場のヴァルキュリア3 ) is a role @-@ playing game . ',
    ' ',
    ' = = Gameplay = = ',
    ' ',
    ' Players play playing games . ',
    ' = = = Battles = = = ',
    ' ',
    ' = Robert Boulter = ',
    ' ',
    ' Robert Boulter is an English actor . ',
    ' = Robert Boulter = ',
    ' Another actor of that name . ',
  ].join('\n');

  it('cuts articles at their headings, stems, and drops stop words', async () => {
    const file = scratch.write('wiki.train.raw', raw);
    const { graph, guess } = await readGraph(`wikitext:${file}`, { commonWords: 1, multigraph: true });
    expect(graph.users.ids.values).toEqual([
      'Robert Boulter',
      'Robert Boulter (2)',
      'Valkyria Chronicles III',
    ]);
    expect(edgesOf(graph)).toEqual(
      expect.arrayContaining([
        '["Robert Boulter (2)","actor",1]',
        '["Valkyria Chronicles III","game",2]',
        '["Valkyria Chronicles III","play",3]',
        '["Valkyria Chronicles III","gameplay",1]',
        '["Valkyria Chronicles III","戦場のヴァルキュリア3",1]',
      ]),
    );
    for (const absent of ['the', 'is', 'playing', 'players', '3', '@-@']) {
      expect(graph.items.ids.find(absent)).toBe(-1);
    }
    expect(guess.kind).toBe('wikitext');
    expect(guess.text).toEqual({ documents: 3, commonWords: 0, commonShare: 1, wordless: 0 });
    expect(graph.names?.users.many).toBe('articles');
  });

  it('refuses a file without headings', async () => {
    const file = scratch.write('plain.txt', 'Just some text.\n');
    await expect(readGraph(`wikitext:${file}`)).rejects.toThrow(
      /line 1: text before the first article heading/,
    );
  });
});

describe('text', () => {
  it('takes a document per line, and leaves out words of most documents', async () => {
    const file = scratch.write('lines.txt', 'Apples and pears\n\nApple pie, apples!\nPlums\n');
    const result = await readGraph(`text:${file}`, { multigraph: true });
    expect(edgesOf(result.graph)).toEqual(['["1","pear",1]', '["3","pie",1]', '["4","plum",1]']);
    expect(result.guess.text).toEqual({ documents: 3, commonWords: 1, commonShare: 0.5, wordless: 0 });
    expect([result.graph.names?.users.many, result.graph.names?.items.one]).toEqual(['documents', 'word']);
    const all = await readGraph(`text:${file}`, { commonWords: 0.7, multigraph: true });
    expect(edgesOf(all.graph)).toContain('["3","appl",2]');
    await expect(readGraph(`text:${file}`, { commonWords: 0 })).rejects.toThrow(
      /commonWords 0: expected a number, above 0 and at most 1/,
    );
  });

  it('takes a folder of .txt files', async () => {
    mkdirSync(scratch.path('docs'));
    await expect(readGraph(`text:${scratch.path('docs')}`)).rejects.toThrow(/no \.txt file/);
    scratch.write('docs/one.txt', 'Green tea\nand cake\n');
    scratch.write('docs/two.txt', 'Black coffee');
    scratch.write('docs/three.md', 'No document');
    const { graph } = await readGraph(`text:${scratch.path('docs')}`);
    expect(edgesOf(graph)).toEqual([
      '["one","cake",1]',
      '["one","green",1]',
      '["one","tea",1]',
      '["two","black",1]',
      '["two","coffe",1]',
    ]);
    scratch.write('docs/bad.txt', Buffer.from([0xff, 0xfe, 0x41]));
    await expect(readGraph(`text:${scratch.path('docs')}`)).rejects.toThrow(/bad\.txt is not UTF-8/);
  });

  it('makes terms: lower case, stems, no stop words, no bare numbers', () => {
    expect(termsOf("The nation's generously-funded 1990s; don’t re-elect A X, 42 naïve ÉCOLES")).toEqual([
      'nation',
      'generous',
      'fund',
      "don't",
      're',
      'elect',
      'naïv',
      'école',
    ]);
  });
});

describe('recipes and built-in sets', () => {
  it('refuse options that describe a table, and unknown names', async () => {
    await expect(readGraph('text:x', { sep: ',' })).rejects.toThrow(/sep ,: text: has a fixed layout/);
    await expect(readGraph('@sotu', { users: 1 })).rejects.toThrow(/users 1: @sotu has a fixed layout/);
    await expect(readGraph('x.csv', { commonWords: 0.3 })).rejects.toThrow(/commonWords 0.3: only texts/);
    await expect(readGraph('netflix:')).rejects.toThrow(/a path is missing/);
    await expect(readGraph('@nothing')).rejects.toThrow(/no such built-in set; there are @sotu, @simulated/);
    await expect(readGraph('lastfm:x')).rejects.toThrow(/lastfm:x: there is no such file.*netflix:/);
  });

  it('@sotu: addresses × stems', async () => {
    const { graph, read } = await readGraph('@sotu', { multigraph: true });
    expect(graph.users.count).toBe(233);
    expect(graph.users.ids.at(0)).toBe('1790-George Washington');
    expect(graph.items.ids.find('tariff')).toBeGreaterThanOrEqual(0);
    expect(graph.items.ids.find('govern')).toBe(-1); // in more than half of the addresses
    expect(read.kept).toBe(graph.edges);
    expect(graph.total).toBeGreaterThan(graph.edges);
  });

  it('@simulated-small: always the same draw', async () => {
    const { graph } = await readGraph('@simulated-small');
    const again = await readGraph('@simulated-small', { multigraph: true, threads: 1 });
    expect(again.graph.edges).toBe(graph.edges);
    // The multigraph has s·α·K = 432,000 edges in expectation.
    expect(again.graph.total / 432_000).toBeGreaterThan(0.8);
    expect(again.graph.total / 432_000).toBeLessThan(1.2);
  });

  it('stop on request while standard input is silent', async () => {
    const program = `import { readGraph } from ${JSON.stringify(new URL('../../dist/ingest/read.js', import.meta.url).href)};
      const controller = new AbortController();
      setTimeout(() => controller.abort(), 100);
      await readGraph('-', { signal: controller.signal }).catch((error) => process.stdout.write(error.name));`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    let output = '';
    child.stdout.on('data', (data) => {
      output += data;
    });
    await new Promise((resolve) => child.on('exit', resolve));
    expect(output).toBe('AbortError');
  });

  it('read standard input', () => {
    const program = `import { readGraph } from ${JSON.stringify(new URL('../../dist/ingest/read.js', import.meta.url).href)};
      const { graph, read } = await readGraph(process.argv[1]);
      process.stdout.write(JSON.stringify([graph.users.count, graph.items.count, read.rows]));`;
    const run = (source: string, input: string) =>
      execFileSync(process.execPath, ['--input-type=module', '-e', program, source], {
        input,
        encoding: 'utf8',
      });
    expect(run('-', 'a,b\na,c\n')).toBe('[1,2,2]');
    expect(run('-', '{"u":1,"i":2}\n{"u":3,"i":2}\n')).toBe('[2,1,2]');
    expect(run('text:-', 'one fish\ntwo birds\nred cats\n')).toBe('[3,6,6]');
  });
});
