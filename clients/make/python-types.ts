import { type Field, fieldsOf, type JsonSchema, nameOfRef, unbroken, wrapped } from './types.ts';

export const lineWidth = 100;
/** The words of Python that fields have as names. */
const keywords = new Set(['class', 'from', 'import']);
const kinds: Record<string, string> = {
  string: 'str',
  integer: 'int',
  number: 'float',
  boolean: 'bool',
};

/** The imports of modules with types. The contract has a `List` as well. */
export const typingText = `from __future__ import annotations

import typing as t
`;

/** Of the places where a type stands: before names of schemas, and the name of an object's type. */
type Scope = { prefix: string; objectName: string };

/** Python for the values of a schema. */
export function pythonTypeOf(schema: JsonSchema, scope: Scope): string {
  if (schema.$ref) return scope.prefix + nameOfRef(schema.$ref);
  if (schema.enum) {
    return `t.Literal[${schema.enum.map((value) => JSON.stringify(value)).join(', ')}]`;
  }
  if (schema.anyOf) return unionOf(schema.anyOf.map((each) => pythonTypeOf(each, scope)));
  return unionOf([schema.type ?? []].flat().map((kind) => typeOfKind(kind, schema, scope)));
}

function typeOfKind(kind: string, schema: JsonSchema, scope: Scope): string {
  if (kind === 'null') return 'None';
  if (kind === 'array') return `t.List[${pythonTypeOf(schema.items ?? {}, scope)}]`;
  if (kind !== 'object') return kinds[kind] ?? 't.Any';
  if (schema.properties) return scope.objectName;
  const values = schema.additionalProperties;
  return `t.Dict[str, ${typeof values === 'object' ? pythonTypeOf(values, scope) : 't.Any'}]`;
}

function unionOf(types: readonly string[]): string {
  const others = [...new Set(types)].filter((type) => type !== 'None');
  if (others.length === 0 && types.length > 0) return 'None';
  const [first = 't.Any', ...more] = others;
  const type = more.length > 0 ? `t.Union[${others.join(', ')}]` : first;
  return types.includes('None') ? `t.Optional[${type}]` : type;
}

/** A type by its name, behind those of the objects in it. */
export function declarationsOf(name: string, schema: JsonSchema, prefix = ''): string[] {
  if (!schema.properties) {
    const text = docstringOf(schema.description, '');
    return [
      `${name} = ${brokenUnion(pythonTypeOf(schema, { prefix, objectName: name }))}\n${text}`,
    ];
  }
  const doc = schema.description ?? '';
  return classTexts({ name, doc, fields: fieldsOf(schema), prefix });
}

type Declared = { name: string; doc: string; fields: readonly Field[]; prefix: string };

/** The class of an object, behind those of the objects in it. */
export function classTexts({ name, doc, fields, prefix }: Declared): string[] {
  const typed = fields.map((field) => {
    const objectName = name + titleOf(field.name);
    return { ...field, objectName, type: pythonTypeOf(field.schema, { prefix, objectName }) };
  });
  const inner = typed.flatMap(({ schema, objectName }) => {
    const object = schema.items ?? schema;
    return object.properties ? declarationsOf(objectName, object, prefix) : [];
  });
  const own = fields.some((field) => keywords.has(field.name))
    ? dictText(name, doc, typed)
    : classText(name, doc, typed);
  return [...inner, own];
}

type TypedField = Field & { type: string };

function classText(name: string, doc: string, fields: readonly TypedField[]): string {
  const texts = fields.map((field) => {
    const type = field.isRequired ? field.type : `NotRequired[${field.type}]`;
    return `    ${field.name}: ${type}\n${docstringOf(field.schema.description, '    ')}`;
  });
  const about = docstringOf(doc, '    ');
  const body = [...(about === '' ? [] : [about]), ...texts].join('\n');
  return `class ${name}(t.TypedDict):\n${body === '' ? '    pass\n' : body}`;
}

/** With fields whose names are words of Python. */
function dictText(name: string, doc: string, fields: readonly TypedField[]): string {
  const texts = fields.map((field) => {
    const type = field.isRequired ? field.type : `NotRequired[${field.type}]`;
    const lines = unbroken(field.schema.description ?? '').split('\n');
    const comment = lines
      .flatMap((line) => wrapped(line, lineWidth - 10))
      .map((line) => `        # ${line}`.trimEnd())
      .join('\n');
    return `${comment}\n        "${field.name}": "${type.replaceAll('"', "'")}",\n`;
  });
  const about = docstringOf(doc, '');
  return `${name} = t.TypedDict(\n    "${name}",\n    {\n${texts.join('')}    },\n)\n${about}`;
}

/** A docstring with the line that ends it; empty without a text. */
export function docstringOf(text = '', indent: string): string {
  if (text === '') return '';
  const safe = unbroken(text).replaceAll('\\', '\\\\').replaceAll('"""', '\\"\\"\\"');
  const lines = safe.split('\n').flatMap((line) => wrapped(line, lineWidth - indent.length - 1));
  const [only = '', ...others] = lines;
  if (others.length === 0 && only.length + indent.length <= lineWidth - 6 && !only.endsWith('"')) {
    return `${indent}"""${only}"""\n`;
  }
  const body = lines.map((line) => `${indent}${line}`.trimEnd()).join('\n');
  return `${indent}"""\n${body}\n${indent}"""\n`;
}

/** A list of literals in lines. */
function brokenUnion(type: string): string {
  if (type.length < lineWidth / 2) return type;
  const [, outer = '', inner = ''] = /^([\w.]+)\[(.*)\]$/.exec(type) ?? [];
  return `${outer}[\n${inner
    .split(', ')
    .map((each) => `    ${each},\n`)
    .join('')}]`;
}

/** A name of the contract as Python writes it, such as `get_by_external_id`. */
export function snakeOf(name: string): string {
  const words = name.replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, '_').toLowerCase();
  return keywords.has(words) ? `${words}_` : words;
}

/** `next_cursor` or `email.bounced` as the name of a class. */
export const titleOf = (name: string): string =>
  name.replaceAll(/(?:^|[._])(\w)/g, (_, letter: string) => letter.toUpperCase());
