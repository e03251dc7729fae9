// What graphex fit prints: its JSON document and its text.

import type { TunedRanking } from '../evaluate/tune.js';
import type { SparsityEvidence } from '../fit/evidence.js';
import type { FitResult } from '../fit/fit.js';
import { featureCount, fitCount, type Model, modelHyper } from '../fit/model.js';
import { SIDES } from '../graph/graph.js';
import type { ReadResult } from '../ingest/options.js';
import { describeRead } from './describe-read.js';
import { textTable } from './text-table.js';

export function fitJson(
  result: FitResult,
  evidence: SparsityEvidence | undefined,
  tuned: TunedRanking | undefined,
  read: ReadResult | undefined,
) {
  const { model } = result;
  const { provenance } = model;
  const hyper = modelHyper(model);
  const pair = (name: 'sigma' | 'size' | 'tau' | 'shape' | 'rate') =>
    hyper ? { users: hyper.users[name], items: hyper.items[name] } : null;
  const posterior = model.type === 'posterior' ? model : undefined;
  return {
    model: kindOf(model) ?? null,
    objective: posterior ? 'evidence' : 'ranking',
    features: featureCount(model) ?? null,
    iterations: provenance.iterations,
    converged: provenance.converged,
    bound: posterior?.bound ?? null,
    bounds: (posterior?.provenance.bounds ?? []).map(([iteration, bound]) => ({ iteration, bound })),
    seconds: result.seconds,
    secondsPerIteration: result.seconds / Math.max(1, provenance.iterations),
    engine: result.engine,
    engineReason: result.engineReason,
    threads: result.threads,
    sigma: pair('sigma'),
    size: pair('size'),
    tau: pair('tau'),
    shape: pair('shape'),
    rate: pair('rate'),
    evidence: evidence ?? null,
    read: read?.read ?? null,
    average: fitCount(model),
    tuned: tuned ? { score: tuned.score, trials: tuned.trials, finished: tuned.finished } : null,
    posterior: result.posterior
      ? { chains: result.posterior.chains, draws: result.posterior.draws, scalars: result.posterior.scalars }
      : null,
  };
}

export function fitText(
  result: FitResult,
  evidence: SparsityEvidence | undefined,
  tuned: TunedRanking | undefined,
  read: ReadResult | undefined,
  output: string,
): string {
  const { model } = result;
  const { provenance } = model;
  const hyper = modelHyper(model);
  const bound = model.type === 'posterior' ? model.bound : undefined;
  const number = (x: number) => (Math.abs(x) >= 100 ? x.toFixed(0) : x.toPrecision(3));
  const lines = [
    ...(read ? [describeRead(read), ''] : []),
    `${headline(model)}, ${model.users.count} users × ${model.items.count} items`,
    `engine       ${result.engine} (${result.engineReason})`,
    `iterations   ${provenance.iterations}${provenance.converged ? ', converged' : ', not converged: raise --iterations'}`,
    ...(bound === undefined ? [] : [`bound        ${bound.toFixed(1)}`]),
    `time         ${result.seconds.toFixed(1)} s`,
  ];
  if (hyper) {
    lines.push(
      '',
      textTable([
        ['', 'users', 'items'],
        ...(['sigma', 'size', 'tau', 'shape', 'rate'] as const).map((name) => [
          name,
          ...SIDES.map((side) => {
            const value = hyper[side][name];
            return name === 'size' && value === 0 ? 'none' : number(value);
          }),
        ]),
      ]),
    );
    const closed = SIDES.filter((side) => hyper[side].size === 0);
    if (closed.length > 0) {
      lines.push('', `size none    the model expects no ${closed.join(' or ')} beyond those of the data`);
    }
  }
  if (evidence) {
    lines.push('', `evidence     ${describeEvidence(evidence)}`);
  }
  if (bound !== undefined) {
    lines.push(
      '',
      'Bounds of sparse and dense fits are comparable only through the evidence of a sparse fit.',
    );
  }
  if (tuned) {
    lines.push(
      '',
      `tuned        ${tuned.trials.length} settings on held-back users, mean of recall@20 and nDCG ${tuned.score.toFixed(4)}` +
        `${tuned.finished ? '' : '; the budget ended the search'}`,
    );
  }
  if (model.type === 'ranker') {
    const fits = fitCount(model);
    if (fits > 1) lines.push('', `The scores of ${fits} fits from different seeds are added.`);
    lines.push(
      '',
      'This objective is made for ranking: it does not ascend the evidence bound, and no draws come from it.',
    );
  }
  lines.push('', `model        ${output}`);
  return lines.join('\n');
}

/** Sparse or dense; undefined for baselines, which are neither. */
function kindOf(model: Model): unknown {
  return model.type === 'posterior' ? model.kind : model.provenance.options.model;
}

function headline(model: Model): string {
  const kind = kindOf(model);
  const features = featureCount(model);
  const name = kind === undefined ? (model as { readonly method: string }).method : `${kind} model`;
  return features === undefined ? name : `${name}, ${features} features`;
}

/** The evidence in a line, for this command and for `check --model`. */
export function describeEvidence({ difference }: SparsityEvidence): string {
  const verdict = difference > 0 ? 'speaks for the sparse model' : 'speaks for the dense model';
  return `sparse − dense = ${difference.toFixed(1)} nats: ${verdict}`;
}
