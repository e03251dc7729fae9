// How an option is declared. A declaration is plain data: types, checks, flags, help, receipts, pages and schemas are all
// derived from it.

declare const VALUE: unique symbol;

export interface Range {
  /** Inclusive bounds. */
  readonly min?: number;
  readonly max?: number;
  /** Exclusive bounds. */
  readonly above?: number;
  readonly below?: number;
  /** Why the bound exists, if that is not obvious. */
  readonly why?: string;
}

/** What every kind of option can declare. */
export interface About {
  /** What it means, in a line of the help; no full stop. */
  readonly meaning: string;
  /** More to know: shown by --help-all, in the manual and in editors. */
  readonly details?: string;
  /** Whether --help shows it; the others are shown by --help-all. */
  readonly common?: boolean;
  /** The value if none is given. */
  readonly default?: unknown;
  /** The default in words, if it is not a single value: 'by the size of the data'. */
  readonly otherwise?: string | undefined;
  /** The flag, as in '-k, --features'; null: only programs can set it. Default: from the name. */
  readonly flag?: string | null;
  /** What stands for the value in the help. Default: by the kind. */
  readonly argument?: string;
  /** Heading in the help and in forms. */
  readonly group?: string | undefined;
  /** Whether it must be given. */
  readonly required?: boolean;
}

/** The type of the value, for the compiler alone. */
export interface Typed<T> {
  readonly [VALUE]?: T;
}

export interface NumberOption extends About, Range {
  readonly kind: 'whole' | 'decimal';
  /** Words allowed instead of the number. */
  readonly words?: readonly string[];
}
interface ChoiceOption extends About {
  readonly kind: 'choice';
  readonly values: readonly string[];
}
export interface FlagOption extends About {
  readonly kind: 'flag';
  /** The flag that turns it off. Default: --no-… if the default is true, else none. */
  readonly off?: string | undefined;
  /** What that flag means. Default: derived from `meaning`. */
  readonly offMeaning?: string;
}
export interface TextOption extends About {
  /** column: a header name or a 1-based number. input, output: a path that is read or written. */
  readonly kind: 'text' | 'column' | 'input' | 'output';
  /** Whether the flag may stand without a path: the value is then true. */
  readonly bare?: boolean;
  /** How a command line writes the value, if not literally. */
  readonly spell?: (value: string) => string;
}
export interface ListOption extends About {
  readonly kind: 'list';
  readonly of: NumberOption | ChoiceOption | TextOption;
  /** Whether a single value is allowed instead of a list. */
  readonly orOne?: boolean;
  /** Whether the flag is repeated, once for each value, so that values may hold commas. */
  readonly repeated?: boolean;
  /** Whether true (`all` on a command line) and false (`none`) are allowed for all values and for none. */
  readonly orAll?: boolean;
}
/** A word for each side; on a command line with a comma between. */
interface PairOption extends About {
  readonly kind: 'pair';
}
/** Options of options, such as the hyperparameters of one side. */
export interface SectionOption extends About {
  readonly kind: 'section';
  readonly fields: Declaration;
}
/** A value that only a program can give: a function, a signal, a large array. */
export interface ValueOption extends About {
  readonly kind: 'value';
  readonly type: 'function' | 'object';
  /** A further check, and what it expects. */
  readonly only?: { readonly words: string; readonly is: (given: unknown) => boolean };
}

export type AnyOption =
  | NumberOption
  | ChoiceOption
  | FlagOption
  | TextOption
  | ListOption
  | PairOption
  | SectionOption
  | ValueOption;

export interface Declaration {
  readonly [name: string]: AnyOption;
}

type ValueOf<O> = O extends Typed<infer T> ? T : never;

/** The options as a program gives them. */
export type OptionsOf<D> = { readonly [K in keyof D]?: ValueOf<D[K]> | undefined };

/** Names of options with a default, and of sections in which every option has one. */
type Defaulted<D> = { [K in keyof D]: HasDefault<D[K]> extends true ? K : never }[keyof D];
type HasDefault<O> = O extends { readonly default: unknown }
  ? true
  : O extends { readonly kind: 'section'; readonly fields: infer F }
    ? { [K in keyof F]: F[K] extends { readonly default: unknown } ? never : K }[keyof F] extends never
      ? true
      : false
    : false;
type DefaultedValue<O> = O extends { readonly kind: 'section'; readonly fields: infer F }
  ? { readonly [K in keyof F]: ValueOf<F[K]> }
  : ValueOf<O>;

/** The options with their defaults filled in; an option without a default may be absent. */
export type SettingsOf<D> = { readonly [K in Defaulted<D>]: DefaultedValue<D[K]> } & {
  readonly [K in Exclude<keyof D, Defaulted<D>>]?: ValueOf<D[K]> | undefined;
};

/** Makes the function that declares the options of a kind: `More` are the fields that only this kind has. */
function kind<K extends AnyOption['kind'], Value, More = unknown>(name: K, usual: Partial<About> = {}) {
  return <const A extends About & More>(about: A) =>
    ({ kind: name, ...usual, ...about }) as { readonly kind: K } & A & Typed<Value>;
}

export const whole = kind<'whole', number, Range>('whole');
export const decimal = kind<'decimal', number, Range>('decimal');
export const flag = kind<'flag', boolean, Pick<FlagOption, 'off' | 'offMeaning'>>('flag');
export const text = kind<'text', string, Pick<TextOption, 'spell'>>('text');
export const pair = kind<'pair', { readonly users: string; readonly items: string }>('pair');
export const column = kind<'column', string | number>('column');
/** A path that is read. */
export const input = kind<'input', string>('input', { argument: 'file' });
/** A path that is written; a receipt never holds it. */
export const output = kind<'output', string>('output', { argument: 'file' });

/** A path that is read; the flag may stand without it, and the value is then true. */
export function inputOrBare<const A extends About>(about: A) {
  const made = { ...input(about), bare: true };
  return made as { readonly kind: 'input'; readonly bare: true } & A & Typed<string | true>;
}

/** A whole number, or one of some words. */
export function wholeOr<const W extends string, const A extends About & Range>(
  words: readonly W[],
  about: A,
) {
  const made = { ...whole(about), words };
  return made as { readonly kind: 'whole'; readonly words: readonly W[] } & A & Typed<number | W>;
}

/** The type of `decimal`, for declarations that are computed. */
export type Decimal = { readonly kind: 'decimal' } & About & Range & Typed<number>;

export function oneOf<const V extends string, const A extends About>(values: readonly V[], about: A) {
  const made = { kind: 'choice', values, ...about };
  return made as { readonly kind: 'choice'; readonly values: readonly V[] } & A & Typed<V>;
}

/** The file that a command writes. */
export function outputFile<const A extends About>(about: A) {
  return output({ flag: '-o, --output', common: true, ...about });
}

/** The folder that a command writes. */
export function outputFolder<const A extends About>(about: A) {
  return outputFile({ argument: 'dir', ...about });
}

type ListOf<O, A, More, Value> = { readonly kind: 'list'; readonly of: O } & More & A & Typed<Value>;

export function list<const O extends ListOption['of'], const A extends About>(of: O, about: A) {
  return { kind: 'list', of, ...about } as ListOf<O, A, unknown, readonly ValueOf<O>[]>;
}

/** A list whose flag is given once for each value. */
export function repeated<const O extends ListOption['of'], const A extends About>(of: O, about: A) {
  const made = { ...list(of, about), repeated: true };
  return made as ListOf<O, A, { readonly repeated: true }, readonly ValueOf<O>[]>;
}

/** A list, or a single value. */
export function listOrOne<const O extends ListOption['of'], const A extends About>(of: O, about: A) {
  const made = { ...list(of, about), orOne: true };
  return made as ListOf<O, A, { readonly orOne: true }, readonly ValueOf<O>[] | ValueOf<O>>;
}

/** A list, or true for all values and false for none. */
export function listOrAll<const O extends ChoiceOption, const A extends About>(of: O, about: A) {
  const made = { ...list(of, about), orAll: true };
  return made as ListOf<O, A, { readonly orAll: true }, readonly ValueOf<O>[] | boolean>;
}

export function section<const F extends Declaration>(fields: F, meaning: string) {
  return { kind: 'section', fields, meaning } as {
    readonly kind: 'section';
    readonly fields: F;
    readonly meaning: string;
  } & Typed<OptionsOf<F>>;
}

export function value<T>(
  type: ValueOption['type'],
  meaning: string,
  more: Pick<ValueOption, 'only' | 'required'> = {},
) {
  return { kind: 'value', type, meaning, flag: null, ...more } as ValueOption & Typed<T>;
}

/** The same options under another heading. */
export function inGroup<const D extends Declaration>(group: string, options: D): D {
  const grouped = Object.entries(options).map(([name, option]) => [
    name,
    option.kind === 'section' ? { ...option, fields: inGroup(group, option.fields) } : { ...option, group },
  ]);
  return Object.fromEntries(grouped) as D;
}
