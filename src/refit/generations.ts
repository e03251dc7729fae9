// The models that refits have made: files in a folder, and a record of them that outlives the server.

import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { z } from 'zod';
import { writeAtomic, writePieces } from '../files/atomic.js';
import { createQueue } from '../math/queue.js';

/** Names of model files that a server may load. */
export const MODEL_FILE = /^[\w][\w.-]*\.safetensors$/;

/** How two models compare on held-back items. */
export const Comparison = z.object({
  metric: z.literal('ndcg'),
  n: z.int().describe('Length of the lists.'),
  users: z.int().describe('Users whose last items were held back.'),
  present: z.number().describe('Of the model that answered at that time.'),
  candidate: z.number().describe('Of the new model.'),
  difference: z.number().describe('Mean over users of candidate less present.'),
  low: z.number().describe('The 95 % interval of the difference.'),
  high: z.number(),
});
export type Comparison = z.infer<typeof Comparison>;

/** A model that a refit has made, and how it compared with the one before. */
export const GenerationRecord = z.object({
  name: z.string().describe('Name of the model file.'),
  time: z.string().describe('When its refit began, as an ISO date.'),
  seconds: z.number(),
  users: z.int(),
  items: z.int(),
  edges: z.int(),
  accepted: z.boolean().describe('Whether it replaced the model before it.'),
  against: z.string().describe('The model file that it was compared with.'),
  data: z.string().optional().describe('Hash of the data that it was fitted to.'),
  comparison: Comparison.optional(),
});
export type GenerationRecord = z.infer<typeof GenerationRecord>;

const name = z.string().regex(MODEL_FILE);
const Records = z.object({
  active: name.optional(),
  /** When it was activated, milliseconds since 1970. */
  activated: z.number().optional(),
  generations: z.array(GenerationRecord.extend({ name })),
});
type Records = z.infer<typeof Records>;

export type Generations = Awaited<ReturnType<typeof openGenerations>>;

const MADE = /^model-(\d{8}T\d{6}Z)\.safetensors$/;
const PART = /^model-\d{8}T\d{6}Z\.safetensors\.[0-9a-f]+\.part$/;
/** Records that are kept, also of files that are gone. */
const MOST_RECORDS = 200;

/** The record in the folder of the models. Services that began with different models do not share it. */
export function recordFile(folder: string, given: string): string {
  return join(folder, `${basename(given, '.safetensors')}.refits.json`);
}

/** The models of a service that was given one to begin with. */
export async function openGenerations(folder: string, given: string, onDamage: (message: string) => void) {
  const path = recordFile(folder, given);
  let state: Records = { generations: [] };
  try {
    state = Records.parse(JSON.parse(await readFile(path, 'utf8')));
  } catch (error) {
    // A damaged record must not keep the server from starting.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') {
      onDamage(`${path}: this record of refits cannot be read and is begun again`);
    }
  }
  const changes = createQueue();
  /** Changes are saved one after the other, so that none is lost. */
  const save = (change: (before: Records) => Partial<Records>) =>
    changes.inOrder(async () => {
      const next = { ...state, ...change(state) };
      await writeAtomic(path, (temporary) =>
        writePieces(temporary, [`${JSON.stringify(next, undefined, 1)}\n`]),
      );
      state = next;
    });
  const made = async () => (await readdir(folder)).filter((name) => MADE.test(name)).sort();

  return {
    /** The newest first. */
    list: (): readonly GenerationRecord[] => state.generations,
    /** The file that was active last, if it is another one and was activated after the given file was written. */
    async resume(): Promise<string | undefined> {
      const { active, activated = 0 } = state;
      if (active === undefined || resolve(folder, active) === resolve(given)) return undefined;
      const [file, other] = await Promise.all(
        [join(folder, active), given].map((one) => stat(one).catch(() => undefined)),
      );
      if (!file?.isFile() || (other && other.mtimeMs > activated)) return undefined;
      return join(folder, active);
    },
    /** A name for a model that is made now: later names sort after earlier ones, even if the clock goes back. */
    async newName(now: number): Promise<string> {
      const last = MADE.exec((await made()).at(-1) ?? '')?.[1];
      const stamp = (time: number) => new Date(time).toISOString().replace(/[-:]|\.\d+/g, '');
      let time = now;
      if (last !== undefined && stamp(time) <= last) {
        time =
          Date.parse(last.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z')) + 1000;
      }
      return `model-${stamp(time)}.safetensors`;
    },
    add: (record: GenerationRecord) =>
      save(({ generations }) => ({ generations: [record, ...generations].slice(0, MOST_RECORDS) })),
    /** Records the file that is active from now on. Resolves to a function that takes this back. */
    async activate(name: string, now: number) {
      let before: Pick<Records, 'active' | 'activated'> = {};
      await save(({ active, activated }) => {
        before = { active, activated };
        return { active: name, activated: now };
      });
      return () => save(({ active }) => (active === name ? before : {}));
    },
    /** Removes all but the newest `keep` of the recorded files, and the one in use. Other files in the folder stay. */
    async prune(keep: number, inUse: string): Promise<string[]> {
      const recorded = new Set(state.generations.map(({ name }) => name));
      const own = (await made()).filter((name) => recorded.has(name));
      const old = own.reverse().slice(keep);
      const gone = old.filter((name) => name !== inUse && name !== state.active);
      for (const name of gone) await rm(join(folder, name), { force: true });
      return gone;
    },
    /** Removes what refits that were killed have left. No refit may be running. */
    async removeParts(): Promise<void> {
      for (const name of await readdir(folder).catch(() => [])) {
        if (PART.test(name)) await rm(join(folder, name), { recursive: true, force: true }).catch(() => {});
      }
    },
  };
}
