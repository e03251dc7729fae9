// Request fields from the declarations in options/: meaning, bounds and default are declared once.

import { z } from '@hono/zod-openapi';
import type { FlagOption, NumberOption, TextOption } from '../options/declare.js';
import { defaultWords } from '../options/option-list.js';
import { capital } from '../text/phrases.js';
import { LIMITS } from './limits.js';

interface FieldOptions {
  /** The server's bound, if it is below the option's. */
  readonly max?: number;
  /** Whether the field stands in a query string, where every value is text. */
  readonly inQuery?: boolean;
  readonly example?: unknown;
}

type PlainText = TextOption & { readonly kind: 'text' };

const aboutFlag = (option: FlagOption) => `${capital(option.meaning)}. Default ${option.default}.`;

/** A flag in a query string: true or false. */
export const queryFlag = (option: FlagOption) =>
  z
    .enum(['true', 'false'])
    .transform((text) => text === 'true')
    .optional()
    .openapi({ type: 'boolean', description: aboutFlag(option) });

/** An optional field of a request. */
export function field(option: FlagOption, more?: FieldOptions): z.ZodOptional<z.ZodBoolean>;
export function field(option: NumberOption, more?: FieldOptions): z.ZodOptional<z.ZodNumber>;
export function field(option: PlainText, more?: FieldOptions): z.ZodOptional<z.ZodString>;
export function field(option: FlagOption | NumberOption | PlainText, more: FieldOptions = {}) {
  if (option.kind === 'flag') return z.boolean().optional().describe(aboutFlag(option));
  const usual = defaultWords(option);
  const description = `${capital(option.meaning)}.${usual === '' ? '' : ` Default ${usual}.`}`;
  const about = { description, ...(more.example !== undefined && { example: more.example }) };
  if (option.kind === 'text') {
    return z
      .string()
      .min(1)
      .max(more.max ?? LIMITS.text)
      .optional()
      .openapi(about);
  }
  const { min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER } = option;
  return (more.inQuery ? z.coerce.number() : z.number())
    .int()
    .min(min)
    .max(Math.min(max, more.max ?? max))
    .optional()
    .openapi(about);
}

/** An id or a title in a path or a query string. */
export const idText = (description: string, example: string) =>
  z.string().min(1).max(LIMITS.text).openapi({ description, example });

/** An answer that the server makes itself, without a worker. */
export const serverAnswer = <F extends z.ZodRawShape>(name: string, fields: F) =>
  object(name, { ...fields, requestId: z.string() });

/** An object of a request or an answer, by its name in the OpenAPI document. It takes no other fields. */
export const object = <F extends z.ZodRawShape>(name: string, fields: F, description?: string) =>
  z.strictObject(fields).openapi(name, description === undefined ? {} : { description });
