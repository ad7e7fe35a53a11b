/** A part of an OpenAPI 3.1 document: a JSON Schema or one of the document's own objects. */
export type Schema = { [keyword: string]: unknown };

/** Lets a schema be null as well. */
export function orNull(schema: Schema): Schema {
  if (typeof schema.type !== 'string') return { anyOf: [schema, { type: 'null' }] };
  const { enum: words } = schema;
  const withNull = { ...schema, type: [schema.type, 'null'] };
  return Array.isArray(words) ? { ...withNull, enum: [...words, null] } : withNull;
}
