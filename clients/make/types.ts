/** The part of JSON JsonSchema that the document uses. */
export type JsonSchema = {
  $ref?: string;
  type?: string | string[];
  description?: string;
  enum?: unknown[];
  anyOf?: JsonSchema[];
  items?: JsonSchema;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  additionalProperties?: JsonSchema | boolean;
};

const refPrefix = '#/components/schemas/';
const lineWidth = 96;
/** The end of a line in the middle of a paragraph. */
const brokenLine = /(?<!\n)\n(?=[^\n\s*-])/g;

/** The name of a referenced schema. */
export const nameOfRef = (ref: string): string => ref.slice(refPrefix.length);

/** TypeScript for the values of a schema. `scope` goes before names of schemas. */
export function typeOf(schema: JsonSchema, scope = ''): string {
  if (schema.$ref) return scope + nameOfRef(schema.$ref);
  if (schema.enum) return unionOf(schema.enum.map((value) => JSON.stringify(value)));
  if (schema.anyOf) return unionOf(schema.anyOf.map((each) => typeOf(each, scope)));
  const kinds: string[] = [schema.type ?? []].flat();
  return kinds.length === 0
    ? 'unknown'
    : unionOf(kinds.map((kind) => typeOfKind(kind, schema, scope)));
}

function typeOfKind(kind: string, schema: JsonSchema, scope: string): string {
  if (kind === 'integer' || kind === 'number') return 'number';
  if (kind === 'array') return `Array<${typeOf(schema.items ?? {}, scope)}>`;
  if (kind !== 'object') return kind;
  if (schema.properties) return objectOf(fieldsOf(schema), scope);
  const values = schema.additionalProperties;
  return `Record<string, ${typeof values === 'object' ? typeOf(values, scope) : 'unknown'}>`;
}

const unionOf = (types: readonly string[]): string => [...new Set(types)].join(' | ');

export type Field = { name: string; schema: JsonSchema; isRequired: boolean };

/** The fields of an object. */
export function fieldsOf({ properties = {}, required = [] }: JsonSchema): Field[] {
  return Object.entries(properties).map(
    ([name, schema]): Field => ({ name, schema, isRequired: required.includes(name) }),
  );
}

/** An object type, each field with its comment. */
export function objectOf(fields: readonly Field[], scope = ''): string {
  if (fields.length === 0) return 'Record<string, never>';
  const lines = fields.map(({ name, schema, isRequired }) => {
    const key = /^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name);
    return `${commentOf(schema.description)}${key}${isRequired ? '' : '?'}: ${typeOf(schema, scope)};`;
  });
  return `{\n${lines.join('\n')}\n}`;
}

/** Each paragraph on one line. */
export const unbroken = (text: string): string => text.replaceAll(brokenLine, ' ');

/** A comment before a declaration, with the line that ends it; empty without a text. */
export function commentOf(text = ''): string {
  if (text === '') return '';
  const lines = unbroken(text.replaceAll('*/', '*\u200B/'))
    .split('\n')
    .flatMap((line) => wrapped(line));
  if (lines.length === 1 && (lines[0]?.length ?? 0) < lineWidth) return `/** ${lines[0]} */\n`;
  return `/**\n${lines.map((line) => ` * ${line}`.trimEnd()).join('\n')}\n */\n`;
}

/** A paragraph in lines. */
export function wrapped(text: string, width = lineWidth): string[] {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? '';
    if (line !== '' && line.length + word.length >= width) lines.push(word);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  return lines;
}

/** A type with its comment. */
export function declarationOf(name: string, schema: JsonSchema): string {
  return `${commentOf(schema.description)}export type ${name} = ${typeOf(schema)};\n`;
}
