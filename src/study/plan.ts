// The steps of a study in the order in which they come, and how long each is likely to take beside the others: so that
// a reader knows from the first fit on how long the whole will last.

import { AUTO } from '../options/commands/fit.js';
import { type Stage, stageLabel } from '../text/stages.js';
import { modelsOf, type StudySettings } from './options.js';

/** A step, and its length in fits of one model. */
export interface Step {
  readonly label: string;
  readonly run: number | null;
  readonly weight: number;
}

/** Rough figures of studies of 10⁵ to 10⁶ edges on one thread; they only have to tell minutes from hours. */
const WEIGHTS = {
  check: 0.1,
  features: 6,
  evaluate: 0.2,
  draw: 0.005,
  replica: 3,
  /** Of auto, whose draws are checked on data that training knows. */
  known: 2,
  evidence: 0.5,
  ranking: 8,
  trial: 0.06,
  ceilings: 0.1,
} as const;

/** What is under way for hardly any time, a split or a comparison, is no step. */
export function planOf(settings: StudySettings, withTruth: boolean): Step[] {
  const steps: Step[] = [];
  const add = (run: number | null, stage: Stage, weight: number) =>
    steps.push({ label: stageLabel(stage), run, weight });
  add(null, { stage: 'check' }, WEIGHTS.check);
  if (settings.features.includes(AUTO)) add(null, { stage: 'features' }, WEIGHTS.features);
  const { draws, calibrate, baselines, trials } = settings;
  const judged = WEIGHTS.evaluate + draws * WEIGHTS.draw;
  const tuned = baselines.filter((name) => name !== 'popularity').length;
  for (let run = 0; run < settings.repeats; run++) {
    for (const features of settings.features) {
      // How many features evidence will choose is not known yet, and neither is the label of their steps.
      const named = settings.features.length > 1 && features !== AUTO ? { features } : {};
      for (const model of modelsOf(settings)) {
        add(run, { stage: 'fit', model, ...named }, 1);
        const checked = draws > 0 && model === 'auto' ? WEIGHTS.known : 0;
        add(run, { stage: 'evaluate', model, ...named }, judged + checked + calibrate * WEIGHTS.replica);
        if (model === 'sparse' && run === 0) {
          add(run, { stage: 'evidence', ...(features === AUTO ? {} : { features }) }, WEIGHTS.evidence);
        }
      }
    }
    if (settings.ranker) {
      add(run, { stage: 'fit', model: 'ranking' }, WEIGHTS.ranking);
      add(run, { stage: 'evaluate', model: 'ranking' }, WEIGHTS.evaluate);
    }
    if (baselines.length > 0) {
      add(run, { stage: 'baselines' }, WEIGHTS.evaluate + tuned * trials * WEIGHTS.trial);
    }
    if (withTruth) add(run, { stage: 'ceilings' }, WEIGHTS.ceilings);
  }
  return steps;
}

/** Where in its plan a study is. */
export class Course {
  /** The step under way, from 0; −1 before the first. */
  #at = -1;
  #spent = { seconds: 0, weight: 0 };
  /** Steps that were done beside others. */
  readonly #passed = new Set<Step>();
  /** How many parts are worked on at once. */
  atOnce = 1;

  constructor(readonly steps: readonly Step[]) {}

  /** Goes on to the step of this label; those before it that did not come were not needed. */
  begin(label: string, run: number | null): void {
    const next = this.steps.findIndex(
      (step, at) => at > this.#at && step.run === run && sameStep(step.label, label),
    );
    if (next >= 0) this.#at = next;
  }

  end(label: string, seconds: number): void {
    const step = this.steps[this.#at];
    // The check is another kind of work: it says nothing of how fast fits are.
    if (!step || !sameStep(step.label, label) || this.#at === 0) return;
    this.#spent = {
      seconds: this.#spent.seconds + seconds,
      weight: this.#spent.weight + step.weight,
    };
  }

  /** A step that was done beside others: how long it took says nothing of the pace. */
  pass(label: string, run: number | null): void {
    const step = this.steps.find((step) => step.run === run && sameStep(step.label, label));
    if (step) this.#passed.add(step);
  }

  /** The step, from 1, and about how long the whole will last; undefined before the first step. */
  where(
    seconds: number,
  ):
    | { readonly step: number; readonly steps: number; readonly secondsLeft?: number | undefined }
    | undefined {
    if (this.#at < 0) return undefined;
    const place = { step: this.#at + 1, steps: this.steps.length };
    if (this.#spent.weight === 0) return place;
    const pace = this.#spent.seconds / this.#spent.weight;
    const own = this.steps[this.#at].weight * pace;
    let left = Math.max(own - seconds, 0.1 * own);
    for (const step of this.steps.slice(this.#at + 1)) {
      if (!this.#passed.has(step)) left += step.weight * pace;
    }
    // What goes on beside this step has come as far by its own pace.
    return { ...place, secondsLeft: left / this.atOnce };
  }
}

/** A step whose number of features was not known when it was planned fits any. */
function sameStep(planned: string, label: string): boolean {
  return planned === label || planned === label.replace(/ \(K = \d+\)$/, '');
}
