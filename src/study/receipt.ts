// Reads the receipt in a results.json. All of it is validated, by the declarations of the options, before any of it is used.
// Output paths never come from it.

import { z } from 'zod';
import { InputError } from '../errors.js';
import { checkOptions } from '../options/check-options.js';
import { STUDY } from '../options/commands/study.js';
import type { Declaration, OptionsOf } from '../options/declare.js';
import { listOptions, valueAt } from '../options/option-list.js';
import { READ } from '../options/shared.js';
import { documentProblem } from '../text/documents.js';
import type { StudySettings } from './options.js';
import { RESULTS_VERSION, type StudyResults } from './results.js';

/** Where the data of a receipt came from. */
interface ReceiptSource {
  readonly source: string;
  readonly sourceFrom: string | null;
}

/** What is needed to repeat a study. */
export interface CheckedReceipt {
  readonly results: StudyResults;
  readonly settings: StudySettings;
  readonly fingerprint: string;
  /** Several if files were read as one. */
  readonly data: readonly ReceiptSource[];
  /** Options of the reader, less the paths that it would write. */
  readonly read: OptionsOf<typeof READ>;
  /** Whether bad rows were left out. */
  readonly setAside: boolean;
  /** The column of the times. */
  readonly time: string | number | undefined;
  readonly titles: ReceiptSource | null;
  /** The table about the items. */
  readonly itemInfo: (ReceiptSource & { readonly columns: readonly string[] | undefined }) | null;
}

const path = z
  .string()
  .min(1)
  .max(65_536)
  .refine((text) => !text.includes('\0'), 'expected a path');
const source = { source: path, sourceFrom: path.nullish().transform((from) => from ?? null) };
const columns = z.array(z.string().max(1000)).max(1000).nullable();
const anything = z.looseObject({});

const RESULTS = z.looseObject({
  format: z.literal('graphex-study'),
  version: z.literal(RESULTS_VERSION),
  receipt: z.looseObject({
    fingerprint: z.string().regex(/^[\w-]{8,128}$/, 'expected a fingerprint'),
    settings: anything,
    origin: z.looseObject({
      ...source,
      sources: z.array(z.object(source)).min(1).max(100_000).optional(),
      read: anything,
      time: z.union([z.string().min(1).max(1000), z.number().int().min(1)]).optional(),
      titles: z.object(source).nullable(),
      itemInfo: z.object({ ...source, columns: columns.transform((names) => names ?? undefined) }).optional(),
    }),
  }),
  check: anything,
  runs: z.array(anything),
  chosen: anything,
  evidence: z.array(anything),
  topics: anything.nullable(),
  summary: anything,
});

/** The results of a study as JSON holds them; throws an InputError that says where they are not. */
export function checkReceipt(document: unknown): CheckedReceipt {
  const { format, version } = (document ?? {}) as { format?: unknown; version?: unknown };
  if (format === 'graphex-study' && version !== RESULTS_VERSION) {
    const older = typeof version === 'number' && version < RESULTS_VERSION;
    throw new InputError(
      older
        ? `an earlier graphex wrote it (format version ${version}, now ${RESULTS_VERSION}); run the study again`
        : `it has version ${JSON.stringify(version)?.slice(0, 40)} of the format, this graphex reads ${RESULTS_VERSION}; update graphex`,
    );
  }
  const parsed = RESULTS.safeParse(document);
  if (!parsed.success) {
    const what = documentProblem(parsed.error);
    throw new InputError(
      `it is not the results.json of a study (${what}); give one that graphex study wrote`,
    );
  }
  const { fingerprint, origin } = parsed.data.receipt;
  // From the document itself: a parser drops keys such as __proto__, and none may be dropped silently.
  const { receipt } = document as { receipt: { settings: object; origin: { read: object } } };
  // Earlier versions ranked the items of the test part, and weighed no edge by age.
  const checked = {
    protocol: 'split',
    halfLife: 'never',
    ...checkPart(STUDY, receipt.settings, 'receipt.settings'),
  };
  for (const { path: place } of listOptions(STUDY)) {
    // Hyperparameters are present if they were given; everything else is always present.
    if (place.length === 1 && valueAt(checked, place) === undefined) {
      throw new InputError(
        `receipt.settings.${place[0]} is missing; give a results.json that graphex study wrote`,
      );
    }
  }
  const { rejects, ...read } = checkPart(READ, receipt.origin.read, 'receipt.origin.read') as OptionsOf<
    typeof READ
  >;
  const { parts, kept } = (document as StudyResults).receipt.origin!;
  if (kept) {
    throw new InputError('that study was of thinned data, which no command makes; study all of the data');
  }
  if (parts) {
    throw new InputError(
      'that study was given its split; give the same parts and options again instead of its results',
    );
  }
  return {
    results: document as StudyResults,
    settings: checked as unknown as StudySettings,
    fingerprint,
    data: origin.sources ?? [{ source: origin.source, sourceFrom: origin.sourceFrom }],
    read,
    time: origin.time,
    setAside: rejects !== undefined,
    itemInfo: origin.itemInfo ?? null,
    titles: origin.titles,
  };
}

function checkPart(declared: Declaration, part: object, place: string): Record<string, unknown> {
  try {
    return checkOptions(declared, part) as Record<string, unknown>;
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    throw new InputError(`${place}: ${error.message}`);
  }
}
