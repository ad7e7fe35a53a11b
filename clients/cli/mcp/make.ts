import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ApiDocument, apiDocument } from '../../typescript/make/document.ts';
import { type Method, methodsOf } from '../../typescript/make/resources.ts';
import { nameOfRef, type Schema, unbroken } from '../../typescript/make/types.ts';
import { workspaceField } from '../request.ts';
import { expectedField, readOperations, sendPath, type Tool, writeOperations } from './tools.ts';

export const madeFile = join(import.meta.dirname, '../made/tools.json');

/** The tools, as text of JSON. */
export function madeText(): string {
  const document = apiDocument();
  const methods = new Map(
    methodsOf(document).map((method) => [`${method.resource}.${method.name}`, method]),
  );
  const tools = [...readOperations, ...writeOperations].map((id) => {
    const method = methods.get(id);
    if (!method) throw new Error(`there is no operation ${id}`);
    return toolOf(method, { isRead: readOperations.includes(id), document });
  });
  return `${JSON.stringify(tools, null, 1)}\n`;
}

function toolOf(
  method: Method,
  { isRead, document }: { isRead: boolean; document: ApiDocument },
): Tool {
  const { resource, name, verb, path, isKeyed } = method;
  return {
    ...{ name: `${resource}_${name}`, title: `${resource}.${name}`, verb, path, isKeyed, isRead },
    description: unbroken(method.description ?? ''),
    inputSchema: inputOf(method, document),
  };
}

/** The request, whose workspace is the session's, with all schemas that it names. */
function inputOf({ request, path }: Method, document: ApiDocument): Tool['inputSchema'] {
  const { schemas } = document.components;
  const body = request.body ? (schemas[nameOfRef(request.body.$ref ?? '')] ?? {}) : undefined;
  const given = body?.properties ?? queryOf(request.query);
  const { [workspaceField]: _, ...properties } = given;
  const required =
    body?.required ?? request.query.filter((each) => each.required).map((each) => each.name);
  const defs: Record<string, Schema> = {};
  collect(Object.values(properties), schemas, defs);
  const expected: Schema = {
    type: 'integer',
    description:
      'How many people the audience has, as the tool said when it was asked without this.',
  };
  return local({
    type: 'object',
    properties: { ...properties, ...(path === sendPath ? { [expectedField]: expected } : {}) },
    required: required.filter((name) => name !== workspaceField),
    additionalProperties: false,
    ...(Object.keys(defs).length > 0 ? { $defs: defs } : {}),
  });
}

function queryOf(query: Method['request']['query']): Record<string, Schema> {
  const fields = query.map(({ name, schema, description = '' }): [string, Schema] => [
    name.replace('[]', ''),
    { ...schema, description },
  ]);
  return Object.fromEntries(fields);
}

function collect(
  value: unknown,
  schemas: Record<string, Schema>,
  into: Record<string, Schema>,
): void {
  if (typeof value !== 'object' || value === null) return;
  if ('$ref' in value && typeof value.$ref === 'string') {
    const name = nameOfRef(value.$ref);
    const schema = schemas[name];
    if (schema && !into[name]) {
      into[name] = schema;
      collect(schema, schemas, into);
    }
  }
  for (const part of Object.values(value)) collect(part, schemas, into);
}

/** With references into itself. */
function local<Value>(schema: Value): Value {
  return JSON.parse(JSON.stringify(schema).replaceAll('#/components/schemas/', '#/$defs/'));
}

if (import.meta.main) writeFileSync(madeFile, madeText());
