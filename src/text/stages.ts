// The stages of a study: a code with what it is about, and its name for progress and reports.

/** A stage and, where it has one, its model: auto, sparse, dense or the ranker. */
export interface Stage {
  readonly stage:
    | 'check'
    | 'features'
    | 'split'
    | 'fit'
    | 'evaluate'
    | 'evidence'
    | 'baselines'
    | 'ceilings'
    | 'compare';
  readonly model?: 'auto' | 'sparse' | 'dense' | 'ranking' | undefined;
  /** The number of features, where there are several to tell apart. */
  readonly features?: number | undefined;
}

/** 'fit sparse model (K = 30)', 'evaluate ranker', 'baselines'. */
export function stageLabel({ stage, model, features }: Stage): string {
  const which = features === undefined ? '' : ` (K = ${features})`;
  if (model === undefined) return stage + which;
  if (model === 'ranking') return stage === 'fit' ? 'fit ranker' : `${stage} ranker`;
  return `${stage} ${model} model${which}`;
}
