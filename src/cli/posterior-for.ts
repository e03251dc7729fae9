import { needPosterior, type PosteriorModel } from '../fit/model.js';
import { loadModel } from '../store/model-file.js';

/** The posterior of --model for these data. One of other data, such as a split's training part, gets a warning. */
export async function posteriorFor(
  path: string,
  use: string,
  ofData: string,
  warn: (message: string) => void,
): Promise<PosteriorModel> {
  const model = await loadModel(path);
  needPosterior(model, `--model ${path}: ${use}`);
  if (model.provenance.fingerprint !== ofData) {
    warn(`${path} was fitted to other data, or to a part of these data`);
  }
  return model;
}
