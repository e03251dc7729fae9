// Requests of the page to its session, the worker that holds data and model, and their answers: plain values only.

import type { FilterColumn } from '../attributes/item-filter.js';
import type { SplitAudit } from '../audit/audit.js';
import type { PackedError } from '../errors.js';
import type { PredictiveCheck } from '../evaluate/predictive.js';
import type { GrowthForecast } from '../forecast/forecast.js';
import type { PartSize } from '../graph/graph.js';
import type { NamedBlob } from '../ingest/blob.js';
import type { ReadCounts, ReadGuess } from '../ingest/options.js';
import type { TablePreview } from '../ingest/preview.js';
import type { IdShares } from '../math/id-draws.js';
import type { ModelKind } from '../options/names.js';
import type { Reasons } from '../predict/explain/reasons.js';
import type { DescribedFeature } from '../predict/features.js';
import type { SimilarItem } from '../predict/similar.js';
import type { Progress } from '../progress.js';
import type { ComparedLists, ItemTable, PageMachine, Purpose } from '../report/words/page.js';
import type { GrowthAsked } from '../report/words/same-as.js';
import type { SparsityCheck } from '../sparsity/check.js';
import type { ListsKind, UserList } from '../store/list-pieces.js';
import type { StudyResults } from '../study/results.js';
import type { SideNames } from '../text/sides.js';
import type { PackedNames } from './map/packed-names.js';
import type { Settings } from './settings.js';

/** Samples that come with the page. */
export const SAMPLES = ['@sotu', '@simulated-small', '@simulated'] as const;
export type SampleName = (typeof SAMPLES)[number];

export type Source =
  | ({ readonly kind: 'blob' } & NamedBlob)
  | { readonly kind: 'sample'; readonly name: SampleName };

/** Options of the reader that have a control on the page. */
export interface ReadChoice {
  readonly users?: string | undefined;
  readonly items?: string | undefined;
  readonly count?: string | undefined;
  readonly sep?: string | undefined;
  readonly header?: boolean | undefined;
  readonly multigraph?: boolean | undefined;
  /** Continue after bad rows. */
  readonly setAside?: boolean | undefined;
}

export interface Opened extends PartSize {
  readonly source: string;
  readonly total: number;
  readonly multigraph: boolean;
  readonly fingerprint: string;
  readonly names: SideNames;
  readonly read: ReadCounts;
  readonly guess: ReadGuess;
  /** Sentences on how the table was read. */
  readonly words: readonly string[];
  /** The first bad rows that were set aside. */
  readonly rejected: readonly { readonly line: number; readonly reason: string }[];
  /** Shares that thinning kept and its seed, if the data were thinned. */
  readonly kept?: IdShares | undefined;
  /** How the page asked for the table to be read. */
  readonly choice: ReadChoice;
  /** Rows that were left out while the table was read. They are not in memory. */
  readonly passedOver?: number | undefined;
}

/** Of both sides. */
export type Shares = Pick<IdShares, 'users' | 'items'>;

export interface SplitSummary extends Readonly<Record<'train' | 'foldIn' | 'test', PartSize>> {
  readonly words: string;
}

export type SplitChoice = Pick<Settings, 'testUsers' | 'testItems' | 'seed'>;

export type { Purpose };
export const PURPOSES: readonly Purpose[] = ['understand', 'recommend'];

/** Features, kind and iterations are those of a model that describes; a ranker has its own. */
export interface FitChoice
  extends Pick<Settings, 'features' | 'model' | 'iterations' | 'engine' | 'seed' | 'time' | 'halfLife'> {
  readonly purpose: Purpose;
  /** Undefined: all rows are fitted, and no test part is left for an evaluation. */
  readonly split?: SplitChoice | undefined;
}

export interface LiveFit {
  readonly purpose: Purpose;
  readonly split?: SplitSummary | undefined;
  readonly bounds: readonly (readonly [number, number])[];
  readonly predictive?: PredictiveCheck | undefined;
  /** The iteration of the draws. */
  readonly iteration: number;
}

export interface ModelSummary {
  readonly purpose: Purpose;
  readonly names: SideNames;
  readonly users: number;
  readonly items: number;
  readonly features: number | undefined;
  readonly bound?: number | undefined;
  readonly bounds: readonly (readonly [number, number])[];
  readonly iterations: number;
  readonly converged: boolean;
  /** Of the fit; undefined for a model that was opened. */
  readonly seconds?: number | undefined;
  readonly engine?: string | undefined;
  /** Why this engine was chosen; undefined for a model that was opened. */
  readonly why?: string | undefined;
  /** Sentences on the priors of both sides, or on how a ranker weighs edges. */
  readonly words: readonly string[];
  /** The column of times by which a half-life of the edges was searched. */
  readonly time?: string | undefined;
  /** A warning about times that are perhaps none. */
  readonly caution?: string | undefined;
  readonly split?: SplitSummary | undefined;
  /** What the page asked for; undefined for a model that was opened. */
  readonly choice?: FitChoice | undefined;
  /** What a model file says about its items. */
  readonly itemTable?: FoundItemTable | undefined;
  /** Whether the model is on the server that sent the page. */
  readonly served?: true | undefined;
  /** Attributes that a filter can name, of a model on the server. */
  readonly attributes?: readonly FilterColumn[] | undefined;
}

/** How well each model lists the hidden items of the held-out users, the best first. */
export interface Comparison extends ComparedLists {
  /** What the figures leave out, in words. */
  readonly leftOut: string;
}

export interface EvaluationSummary {
  readonly predictive: PredictiveCheck | undefined;
  readonly kind: ModelKind;
  /** What the page asked for. */
  readonly choice: { readonly seed: number; readonly draws: number };
  /** Sentences about the figures: their meaning, and their intervals. */
  readonly words: readonly string[];
}

export interface ItemMap {
  /** In two dimensions, both about −1 to 1. */
  readonly x: Float32Array;
  readonly y: Float32Array;
  /** The main feature of each item, from 0. */
  readonly feature: Uint16Array;
  readonly degree: Uint32Array;
  readonly names: PackedNames;
}

/** The one to recommend for: a user of the data or of the model, or somebody new who has these items. */
export type ListQuery = { readonly user: string } | { readonly likes: readonly string[] };

export interface Listed {
  readonly item: string;
  /** Whether no user of the data has it: its score comes from its attributes. */
  readonly isNew?: boolean | undefined;
  readonly score: number;
  readonly reasons?: Reasons | undefined;
  readonly low?: number | undefined;
  readonly high?: number | undefined;
}

export interface Answer {
  /** The user's items, the most common first. */
  readonly has: readonly string[];
  readonly items: readonly Listed[];
  readonly basis: UserList['basis'];
  /** The confidence of the list, in words. */
  readonly confidence?: string | undefined;
  readonly milliseconds: number;
  /** Whether the user was held out: the list is made from the items, which the model sees as somebody new's. */
  readonly heldOut?: boolean | undefined;
}

/** The list on screen, and what was asked for. */
export interface ShownList {
  readonly query: ListQuery;
  readonly by: Purpose;
  readonly n: number;
  readonly filter?: string | undefined;
  readonly exclude: readonly string[];
  readonly answer: Answer;
}

/** An item that was found; fields that are not known are left out. */
export interface FoundItem {
  readonly item: string;
  readonly users?: number | undefined;
  /** Its index on the map, and its main feature, from 0. */
  readonly at?: number | undefined;
  readonly feature?: number | undefined;
}

export interface FoundItems {
  readonly items: readonly FoundItem[];
  /** The number of all items that match, if it is known. */
  readonly total?: number | undefined;
}

export interface FoundUsers {
  readonly users: readonly { readonly user: string; readonly items: number }[];
  readonly total: number;
}

/** What was found in a table about the items. */
export interface FoundItemTable extends ItemTable {
  /** Ids and titles, one after the other. */
  readonly ids: PackedNames;
  readonly titles: PackedNames;
}

export interface NearItem extends SimilarItem {
  readonly at?: number | undefined;
}

export interface Forecast {
  readonly found: GrowthForecast;
  readonly seed: number;
  /** What was asked: a multiple of the users or a period, and the column of times. */
  readonly asked: GrowthAsked;
  /** Whether the data have counts, which a forecast ignores. */
  readonly multigraph: boolean;
  /** A warning about times that are perhaps none. */
  readonly caution?: string | undefined;
}

/** The columns of a table of an audit, as they were guessed. */
export interface AuditedColumns {
  readonly users: string;
  readonly items: string;
  readonly time?: string | undefined;
}

/** The tables of an audit. */
export type AuditPart = 'train' | 'foldIn' | 'test';
export type AuditFiles = Readonly<Partial<Record<AuditPart, NamedBlob>>>;

export interface Audited {
  readonly audit: SplitAudit;
  readonly seed: number;
  readonly names: SideNames;
  readonly columns: Readonly<Partial<Record<AuditPart, AuditedColumns>>>;
}

export interface Machine {
  readonly gpu: NonNullable<PageMachine['gpu']>;
  /** Milliseconds of a short computation: how fast this machine is. */
  readonly burst: number;
}

export type Export =
  | { readonly what: 'model'; readonly purpose: Purpose }
  | { readonly what: 'features' }
  | {
      readonly what: 'lists';
      readonly by: Purpose;
      readonly n: number;
      readonly filter?: string | undefined;
      readonly exclude: readonly string[];
      readonly format: 'csv' | 'parquet';
    }
  | { readonly what: 'list'; readonly list: UserList; readonly format: ListsKind }
  | {
      readonly what: 'edges';
      readonly part: 'all' | 'train' | 'foldIn' | 'test';
      readonly format: 'csv' | 'parquet';
    };

/** Method → [input, answer, partial answer]. */
export interface Api {
  machine: [undefined, Machine, never];
  preview: [{ source: NamedBlob; options: ReadChoice }, TablePreview, never];
  read: [{ source: Source; options: ReadChoice; shares?: IdShares | undefined }, Opened, never];
  thin: [IdShares, Opened, never];
  check: [{ seed: number }, SparsityCheck, SparsityCheck];
  fit: [FitChoice, ModelSummary, LiveFit];
  compare: [{ seed: number; n: number }, Comparison, never];
  evaluate: [{ seed: number; draws: number }, EvaluationSummary, never];
  openModel: [NamedBlob, ModelSummary, never];
  features: [{ n: number }, DescribedFeature[], never];
  map: [{ seed: number }, ItemMap, never];
  similar: [{ item: string; n: number }, readonly NearItem[], never];
  find: [{ text: string; n: number; feature?: number | undefined }, FoundItems, never];
  findUsers: [{ text: string; n: number }, FoundUsers, never];
  itemTable: [{ source: NamedBlob; seed: number }, FoundItemTable, never];
  /** The answer: what an opened model itself says about its items. */
  removeItemTable: [undefined, { stored: FoundItemTable | undefined }, never];
  recommend: [
    { query: ListQuery; n: number; by: Purpose; filter?: string | undefined; exclude: readonly string[] },
    Answer,
    Answer,
  ];
  forecast: [
    { time: string | undefined; next: string | undefined; usersTimes: number; seed: number },
    Forecast,
    never,
  ];
  audit: [{ files: AuditFiles; seed: number }, Audited, never];
  study: [{ seed: number; features: number }, StudyResults, never];
  export: [Export, { name: string; blob: Blob }, never];
}
export type Method = keyof Api;

export type Request =
  | { readonly id: number; readonly method: Method; readonly input: unknown }
  | { readonly id: number; readonly cancel: true };

export type Reply =
  | { readonly id: number; readonly progress: Progress }
  | { readonly id: number; readonly partial: unknown }
  | { readonly id: number; readonly output: unknown }
  | { readonly id: number; readonly error: PackedError };
