// The models that refits have made: files in a folder, and a record of them that outlives the server.

import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { writeAtomic, writePieces } from '../files/atomic.js';

const Compared = z.object({
  metric: z.literal('ndcg'),
  n: z.number(),
  users: z.number(),
  present: z.number(),
  candidate: z.number(),
  difference: z.number(),
  low: z.number(),
  high: z.number(),
});

const Record = z.object({
  name: z.string().regex(/^[\w][\w.-]*\.safetensors$/),
  /** When the refit began, as an ISO date. */
  time: z.string(),
  seconds: z.number(),
  users: z.number(),
  items: z.number(),
  edges: z.number(),
  /** Whether it replaced the model before it. */
  accepted: z.boolean(),
  /** The file of the model that it was compared with. */
  against: z.string(),
  comparison: Compared.optional(),
});

const Records = z.object({
  active: z.string().optional(),
  /** When it was activated, milliseconds since 1970. */
  activated: z.number().optional(),
  generations: z.array(Record),
});

/** A model that a refit has made, and how it compared with the one before. */
export type GenerationRecord = z.infer<typeof Record>;

export interface Generations {
  /** The newest first. */
  list(): readonly GenerationRecord[];
  /** The file that was active last, if it is newer than the given file. */
  resume(given: string): Promise<string | undefined>;
  /** A name for a model that is made now: later names sort after earlier ones, even if the clock goes back. */
  newName(now: number): Promise<string>;
  add(record: GenerationRecord): Promise<void>;
  activate(name: string, now: number): Promise<void>;
  /** Removes all but the newest `keep` files and the one in use. */
  prune(keep: number, inUse: string): Promise<string[]>;
  /** Removes what refits that were killed have left. No refit may be running. */
  removeParts(): Promise<void>;
}

/** In the folder of the models. */
const RECORD_FILE = 'refits.json';
const MADE = /^model-(\d{8}T\d{6}Z)\.safetensors$/;
const PART = /^model-\d{8}T\d{6}Z\.safetensors\.[0-9a-f]+\.part$/;
/** Records that are kept, also of files that are gone. */
const MOST_RECORDS = 200;

export async function openGenerations(
  folder: string,
  onDamage: (message: string) => void,
): Promise<Generations> {
  const path = join(folder, RECORD_FILE);
  let state: z.infer<typeof Records> = { generations: [] };
  try {
    state = Records.parse(JSON.parse(await readFile(path, 'utf8')));
  } catch (error) {
    // A damaged record must not keep the server from starting.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') {
      onDamage(`${path}: this record of refits cannot be read and is begun again`);
    }
  }
  const save = () =>
    writeAtomic(path, (temporary) => writePieces(temporary, [`${JSON.stringify(state, undefined, 1)}\n`]));
  const made = async () => (await readdir(folder)).filter((name) => MADE.test(name)).sort();

  return {
    list: () => state.generations,
    async resume(given) {
      const { active, activated = 0 } = state;
      if (active === undefined) return undefined;
      const [file, other] = await Promise.all(
        [join(folder, active), given].map((one) => stat(one).catch(() => undefined)),
      );
      if (!file?.isFile() || (other && other.mtimeMs > activated)) return undefined;
      return join(folder, active);
    },
    async newName(now) {
      const last = MADE.exec((await made()).at(-1) ?? '')?.[1];
      const stamp = (time: number) => new Date(time).toISOString().replace(/[-:]|\.\d+/g, '');
      let time = now;
      if (last !== undefined && stamp(time) <= last) {
        time =
          Date.parse(last.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z')) + 1000;
      }
      return `model-${stamp(time)}.safetensors`;
    },
    async add(record) {
      state = { ...state, generations: [record, ...state.generations].slice(0, MOST_RECORDS) };
      await save();
    },
    async activate(name, now) {
      state = { ...state, active: name, activated: now };
      await save();
    },
    async prune(keep, inUse) {
      const old = (await made()).reverse().slice(keep);
      const gone = old.filter((name) => name !== inUse && name !== state.active);
      for (const name of gone) await rm(join(folder, name), { force: true });
      return gone;
    },
    async removeParts() {
      for (const name of await readdir(folder).catch(() => [])) {
        if (PART.test(name)) await rm(join(folder, name), { recursive: true, force: true }).catch(() => {});
      }
    },
  };
}
