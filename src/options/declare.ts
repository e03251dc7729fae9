// The kinds of options: what each one takes, in a program, on a command line and in a file. A declaration is plain data,
// so that types, checks, flags, receipts, pages and schemas can all be read off it.

declare const VALUE: unique symbol;

export interface Range {
  /** Inclusive bounds. */
  readonly min?: number;
  readonly max?: number;
  /** Exclusive bounds. */
  readonly above?: number;
  readonly below?: number;
  /** The reason for a bound, where it is not plain. */
  readonly why?: string;
}

/** What any option says of itself. */
export interface About {
  /** What it means, as the help says it; no full stop. */
  readonly meaning: string;
  /** The value that is meant when nobody says one. */
  readonly default?: unknown;
  /** The default in words, where it is no single value: 'by the size of the data'. */
  readonly otherwise?: string;
  /** The flag, as in '-k, --features'; null: for programs only. Default: from the name. */
  readonly flag?: string | null;
  /** What stands for the value in the help. Default: by the kind. */
  readonly argument?: string;
  /** Heading in the help and in forms. */
  readonly group?: string;
  /** Whether there is nothing to do without it. */
  readonly required?: boolean;
}

/** The type of the value, for the compiler alone. */
export interface Typed<T> {
  readonly [VALUE]?: T;
}

export interface NumberOption extends About, Range {
  readonly kind: 'whole' | 'decimal';
  /** Words that may stand for the number. */
  readonly words?: readonly string[];
  /** On a command line the number may be left out: the value is then true. */
  readonly bare?: boolean;
}
export interface ChoiceOption extends About {
  readonly kind: 'choice';
  readonly values: readonly string[];
}
export interface FlagOption extends About {
  readonly kind: 'flag';
  /** The flag that says no. Default: none, or --no-… where the default is true or open. */
  readonly off?: string | undefined;
  /** What that flag means. Default: not the other. */
  readonly offMeaning?: string;
}
export interface TextOption extends About {
  /** column: a header name or a 1-based number. input, output: a path that is read or written. */
  readonly kind: 'text' | 'column' | 'input' | 'output';
  /** On a command line the path may be left out: the value is then true. */
  readonly bare?: boolean;
  /** How a command line writes it, where that is not the text itself. */
  readonly spell?: (value: string) => string;
}
export interface ListOption extends About {
  readonly kind: 'list';
  readonly of: NumberOption | ChoiceOption | TextOption;
  /** Whether one value may stand for a list of one. */
  readonly orOne?: boolean;
  /** Whether a command line gives one value at a time, as often as there are any: then values may hold commas. */
  readonly repeated?: boolean;
  /** Whether true and false (all and none on a command line) stand for all values and for none. */
  readonly orAll?: boolean;
}
/** A word for each side; on a command line with a comma between. */
export interface PairOption extends About {
  readonly kind: 'pair';
}
/** Options of options, such as the hyperparameters of one side. */
export interface SectionOption extends About {
  readonly kind: 'section';
  readonly fields: Declaration;
}
/** What only a program can give: a function, a signal, a large value. */
export interface ValueOption extends About {
  readonly kind: 'value';
  readonly type: 'function' | 'object';
  /** A closer look, and what it looks for. */
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

/** Names of options with a default, sections whose every option has one among them. */
type Settled<D> = { [K in keyof D]: HasDefault<D[K]> extends true ? K : never }[keyof D];
type HasDefault<O> = O extends { readonly default: unknown }
  ? true
  : O extends { readonly kind: 'section'; readonly fields: infer F }
    ? { [K in keyof F]: F[K] extends { readonly default: unknown } ? never : K }[keyof F] extends never
      ? true
      : false
    : false;
type SettledValue<O> = O extends { readonly kind: 'section'; readonly fields: infer F }
  ? { readonly [K in keyof F]: ValueOf<F[K]> }
  : ValueOf<O>;

/** The options with their defaults filled in; what has none may be absent. */
export type SettingsOf<D> = { readonly [K in Settled<D>]: SettledValue<D[K]> } & {
  readonly [K in Exclude<keyof D, Settled<D>>]?: ValueOf<D[K]> | undefined;
};

export function whole<const A extends About & Range>(about: A) {
  return { kind: 'whole', ...about } as { readonly kind: 'whole' } & A & Typed<number>;
}

/** A whole number, or a word that stands for one. */
export function wholeOr<const W extends string, const A extends About & Range>(
  words: readonly W[],
  about: A,
) {
  return { kind: 'whole', words, ...about } as { readonly kind: 'whole'; readonly words: readonly W[] } & A &
    Typed<number | W>;
}

export function decimal<const A extends About & Range>(about: A) {
  return { kind: 'decimal', ...about } as { readonly kind: 'decimal' } & A & Typed<number>;
}

/** A decimal of which the compiler knows no more than that. */
export type Decimal = { readonly kind: 'decimal' } & About & Range & Typed<number>;

/** A number that may be left out behind its flag. */
export function decimalOrBare<const A extends About & Range>(about: A) {
  return { kind: 'decimal', bare: true, ...about } as { readonly kind: 'decimal'; readonly bare: true } & A &
    Typed<number | true>;
}

export function oneOf<const V extends string, const A extends About>(values: readonly V[], about: A) {
  return { kind: 'choice', values, ...about } as {
    readonly kind: 'choice';
    readonly values: readonly V[];
  } & A &
    Typed<V>;
}

export function flag<const A extends About & { readonly off?: string; readonly offMeaning?: string }>(
  about: A,
) {
  return { kind: 'flag', ...about } as { readonly kind: 'flag' } & A & Typed<boolean>;
}

export function text<const A extends About & { readonly spell?: TextOption['spell'] }>(about: A) {
  return { kind: 'text', ...about } as { readonly kind: 'text' } & A & Typed<string>;
}

export function pair<const A extends About>(about: A) {
  return { kind: 'pair', ...about } as { readonly kind: 'pair' } & A &
    Typed<{ readonly users: string; readonly items: string }>;
}

export function column<const A extends About>(about: A) {
  return { kind: 'column', ...about } as { readonly kind: 'column' } & A & Typed<string | number>;
}

/** A path that is read, and may be left out behind its flag on a command line: the value is then true. */
export function inputOrBare<const A extends About>(about: A) {
  return { kind: 'input', argument: 'file', bare: true, ...about } as {
    readonly kind: 'input';
    readonly bare: true;
  } & A &
    Typed<string | true>;
}

/** A path that is read. */
export function input<const A extends About>(about: A) {
  return { kind: 'input', argument: 'file', ...about } as { readonly kind: 'input' } & A & Typed<string>;
}

/** A path that is written: it never comes from a file. */
export function output<const A extends About>(about: A) {
  return { kind: 'output', argument: 'file', ...about } as { readonly kind: 'output' } & A & Typed<string>;
}

type Listed<O> = Typed<readonly ValueOf<O>[]>;

export function list<const O extends ListOption['of'], const A extends About>(of: O, about: A) {
  return { kind: 'list', of, ...about } as { readonly kind: 'list'; readonly of: O } & A & Listed<O>;
}

/** A list whose flag is given once for each value. */
export function repeated<const O extends ListOption['of'], const A extends About>(of: O, about: A) {
  return { kind: 'list', of, repeated: true, ...about } as {
    readonly kind: 'list';
    readonly of: O;
    readonly repeated: true;
  } & A &
    Listed<O>;
}

/** A list, or the one value that it would hold. */
export function listOrOne<const O extends ListOption['of'], const A extends About>(of: O, about: A) {
  return { kind: 'list', of, orOne: true, ...about } as {
    readonly kind: 'list';
    readonly of: O;
    readonly orOne: true;
  } & A &
    Typed<readonly ValueOf<O>[] | ValueOf<O>>;
}

/** A list, or true for everything and false for nothing. */
export function listOrAll<const O extends ChoiceOption, const A extends About>(of: O, about: A) {
  return { kind: 'list', of, orAll: true, ...about } as {
    readonly kind: 'list';
    readonly of: O;
    readonly orAll: true;
  } & A &
    Typed<readonly ValueOf<O>[] | boolean>;
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
