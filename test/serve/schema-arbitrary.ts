// Generators of values that the JSON Schemas of the OpenAPI document allow, and of values that they forbid.

import fc from 'fast-check';

export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly pattern?: string;
  readonly format?: string;
}

export interface Generators {
  /** Values that the schema allows; `words` are texts that mean something to the server. */
  valid(schema: Schema): fc.Arbitrary<unknown>;
  /** An object that is wrong in one field, and that field. */
  wrong(schema: Schema): fc.Arbitrary<{ readonly value: unknown; readonly field: string }>;
}

export function generators(schemas: Readonly<Record<string, Schema>>, words: readonly string[]): Generators {
  const resolve = (schema: Schema): Schema =>
    schema.$ref === undefined ? schema : schemas[schema.$ref.split('/').at(-1) as string];

  function valid(given: Schema): fc.Arbitrary<unknown> {
    const schema = resolve(given);
    if (schema.enum) return fc.constantFrom(...schema.enum);
    if (schema.anyOf) return fc.oneof(...schema.anyOf.map(valid));
    switch (schema.type) {
      case 'object': {
        const fields = Object.entries(schema.properties ?? {});
        const required = fields.map(([name]) => name).filter((name) => schema.required?.includes(name));
        return fc.record(Object.fromEntries(fields.map(([name, field]) => [name, valid(field)])), {
          requiredKeys: required,
          noNullPrototype: true,
        });
      }
      case 'array':
        return fc.array(valid(schema.items ?? {}), {
          minLength: schema.minItems ?? 0,
          maxLength: Math.min(6, schema.maxItems ?? 6),
        });
      case 'string': {
        const { minLength = 0, maxLength = 40 } = schema;
        if (schema.format === 'date') return fc.constantFrom('2025-01-31', '1969-12-31');
        if (schema.format === 'date-time')
          return fc.constantFrom('2025-01-31T10:00:00Z', '2025-01-31T10:00:00+02:00');
        const text = fc.string({ minLength, maxLength: Math.min(40, maxLength), unit: 'grapheme' });
        return fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...words) }, { weight: 1, arbitrary: text });
      }
      case 'integer':
      case 'number': {
        const { minimum = 0, maximum = 1000 } = schema;
        const whole = fc.integer({ min: Math.max(minimum, -100), max: Math.min(maximum, 100) });
        return fc.oneof(whole, fc.constantFrom(Math.max(minimum, -(2 ** 53) + 1), maximum));
      }
      case 'boolean':
        return fc.boolean();
      default:
        throw new Error(`no generator for ${JSON.stringify(schema)}`);
    }
  }

  /** Values that the schema does not allow. */
  function outside(given: Schema): unknown[] {
    const schema = resolve(given);
    if (schema.anyOf) return [null, true, {}, [[]]];
    if (schema.enum) return ['none of these', 7, null];
    switch (schema.type) {
      case 'array': {
        const { items = {}, maxItems } = schema;
        const [bad] = outside(items);
        const long = maxItems === undefined ? [] : [new Array(maxItems + 1).fill(1)];
        return ['a', 1, null, {}, [bad], ...long];
      }
      case 'string':
        return [1, null, [], 'x'.repeat((schema.maxLength ?? 1e5) + 1)];
      case 'integer':
        return ['1', 1.5, null, [], (schema.maximum ?? 0) + 1, (schema.minimum ?? 0) - 1];
      case 'boolean':
        return ['true', 0, null, []];
      default:
        return [1, 'a', null];
    }
  }

  function wrong(given: Schema): fc.Arbitrary<{ value: unknown; field: string }> {
    const schema = resolve(given);
    const fields = Object.entries(schema.properties ?? {});
    const bad = fields.flatMap(([field, inner]) => outside(inner).map((value) => ({ field, value })));
    return fc
      .tuple(valid(schema), fc.constantFrom(...bad, { field: '', value: 1 }))
      .map(([good, { field, value }]) => ({
        value: { ...(good as object), [field === '' ? 'surplus' : field]: value },
        field,
      }));
  }

  return { valid, wrong };
}
