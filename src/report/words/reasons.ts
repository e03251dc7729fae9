// Why an item is recommended, in a line or two: what speaks for it beyond what speaks for everything, and what is left.

import type { Reasons } from '../../predict/reasons.js';
import type { ScoreShare } from '../../predict/recommend.js';
import { many } from '../../text/phrases.js';
import type { SideNames } from '../../text/sides.js';

/** Parts below this share of the score are not worth a word. */
const LEAST = 0.005;
/** A part that is this many times its usual one speaks for the item. */
const TELLING = 1.15;

/** One line for the user's items, one for the features; `name` writes an id as the reader knows it. */
export function reasonWords(
  { items, others, features, rest }: Reasons,
  score: number,
  names: SideNames,
  name: (id: string) => string,
): string[] {
  const percent = (part: number) => `${Math.round((100 * part) / score)} %`;
  const part = ({ share, usual }: ScoreShare) => `${percent(share)}, usually ${percent(usual)}`;
  const telling = ({ share, usual }: ScoreShare) => share > TELLING * usual && share >= LEAST * score;
  const told = items.filter(telling);
  // Where nothing stands out, the largest parts are all that there is to say.
  const shown = told.length > 0 ? told : items.filter(({ share }) => share >= LEAST * score).slice(0, 2);
  const left = items.filter((one) => !shown.includes(one));
  const count = left.length + others.count;
  // A single one is named: nothing shorter could be said in its place.
  const [lone] = count === 1 ? left : [];
  const ofOthers = left.reduce((sum, { share }) => sum + share, others.share);
  const parts = [
    ...shown.map((one) => `${name(one.item)} (${told.length > 0 ? part(one) : percent(one.share)})`),
    ...(lone ? [`${name(lone.item)} (${percent(lone.share)})`] : []),
    ...(count > 0 && !lone
      ? [
          `${many(count, { one: `other ${names.items.one}`, many: `other ${names.items.many}` })} (${percent(ofOthers)})`,
        ]
      : []),
    ...(Math.abs(rest) >= LEAST * Math.abs(score) ? [`not explained by any of them (${percent(rest)})`] : []),
  ];
  const tellingFeatures = features.filter(telling);
  const main = [...features].sort((a, b) => b.share - a.share).slice(0, 1);
  const byFeature = (tellingFeatures.length > 0 ? tellingFeatures : main).map(
    (one) => `feature ${one.feature} (${one.about.map(name).join(', ')}): ${part(one)}`,
  );
  return [
    `${told.length > 0 ? '' : 'as usual, '}because of ${parts.join('; ')}`,
    ...(byFeature.length > 0 ? [`by ${byFeature.join('; ')}`] : []),
  ];
}
