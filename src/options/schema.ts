// A declaration as a JSON Schema, for the server's description and for forms. It accepts exactly what the check accepts.

import { LONGEST_LIST, LONGEST_TEXT } from './check-options.js';
import type { AnyOption, Declaration, Range } from './declare.js';

/** The subset of JSON Schema (2020-12) that options need. */
interface JsonSchema {
  readonly type?: string | undefined;
  readonly description?: string | undefined;
  readonly default?: unknown;
  readonly enum?: readonly unknown[] | undefined;
  readonly const?: unknown;
  readonly minimum?: number | undefined;
  readonly maximum?: number | undefined;
  readonly exclusiveMinimum?: number | undefined;
  readonly exclusiveMaximum?: number | undefined;
  readonly maxLength?: number | undefined;
  readonly pattern?: string | undefined;
  readonly items?: JsonSchema | undefined;
  readonly minItems?: number | undefined;
  readonly maxItems?: number | undefined;
  readonly anyOf?: readonly JsonSchema[] | undefined;
  readonly properties?: Readonly<Record<string, JsonSchema>> | undefined;
  readonly required?: readonly string[] | undefined;
  readonly additionalProperties?: false | undefined;
}

/** The schema of an object: its fields, and which of them must be given. */
export interface ObjectSchema extends JsonSchema {
  readonly properties: Readonly<Record<string, JsonSchema>>;
}

/**
 * The options of a declaration as a JSON Schema. What only a program can give, a function or a signal, is not in it.
 * @example toJsonSchema(SPLIT).properties.testUsers // { type: 'number', exclusiveMinimum: 0, … }
 */
export function toJsonSchema(declared: Declaration): ObjectSchema {
  const given = Object.entries(declared).filter(([, option]) => option.kind !== 'value');
  const needed = given.filter(([, option]) => option.required).map(([name]) => name);
  return {
    type: 'object',
    properties: Object.fromEntries(given.map(([name, option]) => [name, schemaOf(option)])),
    ...(needed.length > 0 && { required: needed }),
    additionalProperties: false,
  };
}

function schemaOf(option: AnyOption): JsonSchema {
  const { meaning, default: usual } = option;
  return { ...shapeOf(option), description: meaning, ...(usual !== undefined && { default: usual }) };
}

/** A NUL ends a text where it becomes a path. */
const TEXT: JsonSchema = { type: 'string', maxLength: LONGEST_TEXT, pattern: '^[^\\u0000]*$' };

function shapeOf(option: AnyOption): JsonSchema {
  switch (option.kind) {
    case 'whole':
      return orWords(option.words, { type: 'integer', ...within(option, Number.MAX_SAFE_INTEGER) });
    case 'decimal':
      return orTrue(option.bare, { type: 'number', ...within(option, Number.MAX_VALUE) });
    case 'choice':
      return { type: 'string', enum: option.values };
    case 'flag':
      return { type: 'boolean' };
    case 'column':
      return { anyOf: [TEXT, { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER }] };
    case 'text':
    case 'input':
    case 'output':
      return orTrue(option.bare, TEXT);
    case 'pair':
      return {
        type: 'object',
        properties: { users: TEXT, items: TEXT },
        required: ['users', 'items'],
        additionalProperties: false,
      };
    case 'list': {
      const one = shapeOf(option.of);
      const many = { type: 'array', items: one, maxItems: LONGEST_LIST, minItems: option.orOne ? 1 : 0 };
      if (option.orAll) return { anyOf: [{ type: 'boolean' }, many] };
      return option.orOne ? { anyOf: [one, many] } : many;
    }
    case 'section':
      return toJsonSchema(option.fields);
    case 'value':
      return {};
  }
}

function within({ min, max, above, below }: Range, largest: number): JsonSchema {
  return {
    ...(above !== undefined ? { exclusiveMinimum: above } : { minimum: min ?? -largest }),
    ...(below !== undefined ? { exclusiveMaximum: below } : { maximum: max ?? largest }),
    // An inclusive and an exclusive bound on the same side are both written.
    ...(above !== undefined && min !== undefined && { minimum: min }),
    ...(below !== undefined && max !== undefined && { maximum: max }),
  };
}

function orWords(words: readonly string[] | undefined, shape: JsonSchema): JsonSchema {
  return words ? { anyOf: [{ type: 'string', enum: words }, shape] } : shape;
}

function orTrue(bare: boolean | undefined, shape: JsonSchema): JsonSchema {
  return bare ? { anyOf: [{ const: true }, shape] } : shape;
}
