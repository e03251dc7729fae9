import { describe, expect, it } from 'vitest';
import { simulate } from '../../src/process/poisson-model.js';
import type { Progress } from '../../src/progress.js';
import { findingWords } from '../../src/report/words/findings.js';
import { studySettings } from '../../src/study/options.js';
import type { StudyFinding } from '../../src/study/results.js';
import { stageCount } from '../../src/study/stage-times.js';
import { study } from '../../src/study/study.js';
import { USERS_AND_ITEMS } from '../../src/text/sides.js';

const SIDE = { sigma: 0.2, tau: 1, shape: 0.3, rate: 0.3, size: 40 };

describe('the steps of a study', () => {
  it('are counted before it starts, for every K and split', () => {
    const settings = studySettings(
      { features: [2, 3], model: 'sparse', repeats: 2, baselines: ['popularity'] },
      1000,
    );
    expect(stageCount(settings, { truth: {} as never })).toBe(1 + 2 + 2 * (2 + 4 + 2 + 1 + 1));
  });
});

describe('a running study', () => {
  it('gives its verdict before anything is fitted, then each result as it comes, and reaches every step that it planned', async () => {
    const { graph } = await simulate({ users: SIDE, items: SIDE, features: 3, seed: 3 });
    const options = {
      features: 2,
      draws: 4,
      iterations: 20,
      ranker: true,
      baselines: ['popularity' as const],
    };
    const told: string[] = [];
    const findings: StudyFinding[] = [];
    const progress: Progress[] = [];
    const results = await study(graph, {
      ...options,
      engine: 'reference',
      onFinding: (finding) => {
        findings.push(finding);
        told.push(finding.kind === 'check' ? 'check' : finding.row.id);
      },
      onProgress: (p) => {
        progress.push(p);
        told.push(p.stage.split(':', 1)[0]);
      },
    });
    expect(told.indexOf('check')).toBeLessThan(told.findIndex((stage) => stage.startsWith('fit')));
    const [first, ...rows] = findings;
    expect(first).toEqual({ kind: 'check', check: results.check });
    const leaderboard = results.runs[0].leaderboard.rows;
    const ids = rows.map((finding) => (finding.kind === 'method' ? finding.row.id : ''));
    for (const row of leaderboard) {
      const found = rows.find((finding) => finding.kind === 'method' && finding.row.id === row.id);
      expect(found, row.id).toMatchObject({
        recall: row.all.recall.mean,
        ndcg: row.all.ndcg.mean,
        run: null,
      });
    }
    expect(told.indexOf(ids[0])).toBeLessThan(told.indexOf('baselines'));
    const steps = progress.map(({ overall }) => overall!.step);
    expect(steps).toEqual([...steps].sort((a, b) => a - b));
    expect(steps.at(-1)).toBe(progress[0].overall!.steps);
    expect(progress.at(-1)!.overall!.seconds).toBeGreaterThan(0);
    expect(findingWords(first, USERS_AND_ITEMS)).toMatch(/^Is it sparse\? {2}.+ users .+\./i);
    expect(findingWords(rows[0], USERS_AND_ITEMS)).toMatch(
      /^The \w+ model: recall@20 0\.\d{3}, nDCG 0\.\d{3}; its 90 % intervals contain \d of 5 figures of the test set\.$/,
    );
    expect(findingWords(rows.at(-1)!, USERS_AND_ITEMS)).toMatch(
      /^Popularity: recall@20 0\.\d{3}, nDCG 0\.\d{3}\.$/,
    );
  }, 60_000);
});
