import {
  expectedField,
  readOperations,
  sendPath,
  type Tool,
  writeOperations,
} from '../mcp/tools.ts';
import { workspaceField } from '../typescript/src/http.ts';
import type { ApiDocument } from './document.ts';
import { type Method, methodsOf } from './resources.ts';
import { type JsonSchema, nameOfRef } from './types.ts';

/** The tools, as text of JSON. */
export function toolsText(document: ApiDocument): string {
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
  const { resource, name, operation, description } = method;
  return {
    ...{ name: `${resource}_${name}`, title: `${resource}.${name}`, operation, isRead },
    ...{ description, inputSchema: inputOf(method, document) },
  };
}

/** The request, whose workspace is that of the program, with all schemas that it names. */
function inputOf(
  { request, operation: { path } }: Method,
  { components: { schemas } }: ApiDocument,
): Tool['inputSchema'] {
  const fields = request.fields.filter(({ name }) => name !== workspaceField);
  const properties = Object.fromEntries(fields.map(({ name, schema }) => [name, schema]));
  const defs: Record<string, JsonSchema> = {};
  collect(Object.values(properties), schemas, defs);
  const expected: JsonSchema = {
    type: 'integer',
    description:
      'How many people the audience has, as the tool said when it was asked without this.',
  };
  return local({
    type: 'object',
    properties: { ...properties, ...(path === sendPath ? { [expectedField]: expected } : {}) },
    required: fields.filter(({ isRequired }) => isRequired).map(({ name }) => name),
    additionalProperties: false,
    ...(Object.keys(defs).length > 0 ? { $defs: defs } : {}),
  });
}

function collect(
  value: unknown,
  schemas: Record<string, JsonSchema>,
  into: Record<string, JsonSchema>,
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
