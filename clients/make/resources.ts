import { type Operation, workspaceField } from '../typescript/src/http.ts';
import type { ApiDocument, Described, Parameter } from './document.ts';
import {
  commentOf,
  type Field,
  fieldsOf,
  type JsonSchema,
  nameOfRef,
  objectOf,
  typeOf,
  unbroken,
} from './types.ts';

/** One operation, with all that its method needs. */
export type Method = {
  resource: string;
  name: string;
  operation: Operation;
  /** Each paragraph on one line. */
  description: string;
  /** Type of the request, and its declaration if it has no schema of its own. */
  request: Request;
  answer: JsonSchema;
  /** Present where the answer is a stream of these. */
  lines: JsonSchema | undefined;
  isCsvAnswer: boolean;
  /** Present where a file can be sent: its query. */
  csv: Request | undefined;
};

type Request = { type: string; declaration: string; fields: Field[] };

const json = 'application/json';
const ndjson = 'application/x-ndjson';
const csv = 'text/csv';
const refOfKey = '#/components/parameters/IdempotencyKey';

/** The methods of all operations, in the order of the document. */
export function methodsOf({ paths, components: { schemas } }: ApiDocument): Method[] {
  return Object.entries(paths).flatMap(([path, { get, post }]) => [
    ...(get ? [methodOf({ verb: 'GET', path }, get, schemas)] : []),
    ...(post ? [methodOf({ verb: 'POST', path }, post, schemas)] : []),
  ]);
}

type Place = Pick<Operation, 'verb' | 'path'>;

function methodOf(place: Place, described: Described, schemas: Record<string, JsonSchema>): Method {
  const { operationId, description, parameters = [], requestBody, responses } = described;
  const [resource = '', name = ''] = operationId.split('.');
  const title = titleOf(operationId);
  const content =
    Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1].content ?? {};
  const query = queryOf(`${title}Query`, parameters);
  const bodies = requestBody?.content ?? {};
  const request = bodies[json] ? bodyOf(bodies[json].schema, schemas) : query;
  const isKeyed = parameters.some(({ $ref }) => $ref === refOfKey);
  return {
    resource,
    name,
    operation: { ...place, ...(isKeyed && { keyed: true }) },
    description: unbroken(description ?? ''),
    request,
    answer: content[json]?.schema ?? {},
    lines: content[ndjson]?.schema.contentSchema,
    isCsvAnswer: csv in content,
    csv: bodies[csv] ? query : undefined,
  };
}

const titleOf = (id: string): string =>
  id.replaceAll(/(?:^|\.)(\w)/g, (_, letter: string) => letter.toUpperCase());

/** `segments[]` is `segments`: either is read. */
function queryOf(type: string, parameters: readonly Parameter[]): Request {
  const query = parameters.filter((parameter) => parameter.in === 'query');
  const fields = query.map(({ name, schema, description = '', required }) => ({
    name: name.replace('[]', ''),
    schema: { ...schema, description },
    isRequired: required === true,
  }));
  const declaration = `export type ${type} = ${objectOf(fields, 'types.')};\n`;
  return { type, declaration, fields };
}

function bodyOf({ $ref = '' }: JsonSchema, schemas: Record<string, JsonSchema>): Request {
  const name = nameOfRef($ref);
  return { type: `types.${name}`, declaration: '', fields: fieldsOf(schemas[name] ?? {}) };
}

/** The class of a resource. */
export function resourceText(
  resource: string,
  methods: readonly Method[],
  document: ApiDocument,
): string {
  const declarations = new Set(
    methods.flatMap(({ request, csv: file }) => [request.declaration, file?.declaration ?? '']),
  );
  const texts = methods.flatMap((method) => methodTexts(method, document));
  const uses = texts.join('').includes('pages(') ? "import { pages } from '../pages.ts';\n" : '';
  const csvImport = texts.join('').includes('CsvImportLine')
    ? `import type { Content } from '../content.ts';
import type { CsvImportLine } from '../csv-import.ts';
`
    : '';
  return `${csvImport}import type { Http, InWorkspace, RequestOptions } from '../http.ts';
${uses}import type * as types from './types.ts';

${[...declarations].join('\n')}
${commentOf(descriptionOf(resource, document))}export class ${classOf(resource)} {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

${texts.join('\n')}}
`;
}

export const descriptionOf = (resource: string, { tags }: ApiDocument): string =>
  tags.find(({ name }) => name === resource)?.description ?? '';

export const classOf = (resource: string): string =>
  resource.charAt(0).toUpperCase() + resource.slice(1);

function methodTexts(method: Method, document: ApiDocument): string[] {
  const { name, description, request, answer, lines } = method;
  const operation = JSON.stringify(method.operation);
  const parameter = parameterOf(method);
  if (lines) return exportTexts(method, operation, parameter);
  const result = typeOf(answer, 'types.');
  const texts = [
    `${commentOf(description)}${name}(${parameter}, options?: RequestOptions): Promise<${result}> {
  return this.#http.call(${operation}, request, options);
}
`,
  ];
  if (method.csv) {
    texts.push(`/**
 * \`${name}\` with a CSV file of any length in place of JSON, which is sent once: each row that
 * failed, the counts now and then, and the summary last. A time-out ends with the answer's head.
 */
${name}Csv(query: InWorkspace<${method.csv.type}>, content: Content, options?: RequestOptions): AsyncGenerator<CsvImportLine, void, undefined> {
  return this.#http.lines(${operation}, query, options, { content, type: 'text/csv' });
}
`);
  }
  const page = pageOf(method, document);
  if (page) {
    texts.push(`/** The items of all pages of \`${name}\`, each asked for as it is needed. */
${name}All(${parameter.replace(request.type, `Omit<${request.type}, 'cursor'>`)}, options?: RequestOptions): AsyncGenerator<${typeOf(page.schema, 'types.')}, void, undefined> {
  return pages(async (cursor) => {
    const answer = await this.${name}({ ...request, ...(cursor === undefined ? {} : { cursor }) }, options);
    return { items: answer.${page.items}, next: answer.next_cursor${page.isNullable ? ' ?? undefined' : ''} };
  });
}
`);
  }
  return texts;
}

function exportTexts(method: Method, operation: string, parameter: string): string[] {
  const { name, description, lines, isCsvAnswer, request } = method;
  const plain = isCsvAnswer
    ? parameter.replace(request.type, `Omit<${request.type}, 'format'>`)
    : parameter;
  const texts = [
    `${commentOf(description)}${name}(${plain}, options?: RequestOptions): AsyncGenerator<${typeOf(lines ?? {}, 'types.')}, void, undefined> {
  return this.#http.lines(${operation}, request, options);
}
`,
  ];
  if (isCsvAnswer) {
    texts.push(`/** \`${name}\` as a CSV file. */
${name}Csv(${plain}, options?: RequestOptions): Promise<ReadableStream<Uint8Array>> {
  return this.#http.stream(${operation}, { ...request, format: 'csv' }, options);
}
`);
  }
  return texts;
}

/** \`request\`, which may be left out if nothing but the workspace is required. */
function parameterOf({ request }: Method): string {
  const isOptional = request.fields.every(
    ({ name, isRequired }) => !isRequired || name === workspaceField,
  );
  return `request: InWorkspace<${request.type}>${isOptional ? ' = {}' : ''}`;
}

/** Of an operation that gives pages by a cursor, the field with the items. */
export function pageOf({ request, answer }: Method, { components }: ApiDocument) {
  const { properties = {} } = components.schemas[nameOfRef(answer.$ref ?? '')] ?? {};
  const hasCursor = request.fields.some(({ name }) => name === 'cursor');
  if (!hasCursor || !properties.next_cursor) return undefined;
  const arrays = Object.entries(properties).filter(([, { type }]) => type === 'array');
  const [[items, schema] = []] = arrays;
  if (arrays.length !== 1 || items === undefined) return undefined;
  return {
    items,
    schema: schema?.items ?? {},
    isNullable: typeOf(properties.next_cursor).includes('null'),
  };
}
