// The stages of a study: a code, and its name for progress and reports.

/** A stage and its model, if it has one: auto, sparse, dense or the ranker. */
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
  /** The number of features, if the study has several. */
  readonly features?: number | undefined;
}

/** 'fit sparse model (K = 30)', 'evaluate ranker', 'baselines'. */
export function stageLabel({ stage, model, features }: Stage): string {
  const which = features === undefined ? '' : ` (K = ${features})`;
  if (model === undefined) return stage + which;
  if (model === 'ranking') return stage === 'fit' ? 'fit ranker' : `${stage} ranker`;
  return `${stage} ${model} model${which}`;
}
