import { workspaceField } from '../typescript/src/http.ts';
import type { ApiDocument } from './document.ts';
import {
  classTexts,
  declarationsOf,
  docstringOf,
  lineWidth,
  pythonTypeOf,
  snakeOf,
  titleOf,
  typingText,
} from './python-types.ts';
import { classOf, descriptionOf, type Method, methodsOf, pageOf } from './resources.ts';
import type { Field, JsonSchema } from './types.ts';

const head = '# Made from the contract by `npm run gen`.\n';
const betweenClasses = '\n\n';

/** The files of the Python client, by name. */
export function pythonFiles(document: ApiDocument): Map<string, string> {
  const byResource = Map.groupBy(methodsOf(document), ({ resource }) => resource);
  const files = new Map([
    ['__init__.py', ''],
    ['types.py', typesText(document)],
    ['events.py', eventsText(document)],
    ['client.py', clientText([...byResource.keys()], document)],
  ]);
  for (const [resource, methods] of byResource) {
    files.set(`${snakeOf(resource)}.py`, resourceText(resource, methods, document));
  }
  return new Map([...files].map(([name, text]) => [name, head + text]));
}

/** A request may leave out its workspace: the client has one. */
function typesText(document: ApiDocument): string {
  const requests = new Set(methodsOf(document).map(({ request }) => request.type));
  const declarations = Object.entries(document.components.schemas).flatMap(([name, schema]) =>
    declarationsOf(name, requests.has(`types.${name}`) ? inWorkspace(schema) : schema),
  );
  return `${typingText}
from .._typing import NotRequired
${betweenClasses}${declarations.join(betweenClasses)}`;
}

const inWorkspace = (schema: JsonSchema): JsonSchema => ({
  ...schema,
  required: (schema.required ?? []).filter((name) => name !== workspaceField),
});

function eventsText({ webhooks }: ApiDocument): string {
  const events = Object.entries(webhooks).map(([type, { post }]) => {
    const schema = post.requestBody?.content['application/json']?.schema ?? {};
    const name = `${titleOf(type)}Event`;
    const described = { ...schema, description: post.description ?? '' };
    return { name, texts: declarationsOf(name, described, 'types.') };
  });
  const declarations = events.flatMap(({ texts }) => texts);
  const names = events.map(({ name }) => `    ${name},\n`).join('');
  const union = `WebhookEvent = t.Union[\n${names}]\n"""The body of any webhook; \`type\` says which one."""\n`;
  return `${typingText}
from . import types
${betweenClasses}${[...declarations, union].join(betweenClasses)}`;
}

function clientText(resources: readonly string[], document: ApiDocument): string {
  const sorted = resources.toSorted();
  const imports = sorted.map(
    (name) => `from .${snakeOf(name)} import Async${classOf(name)}, ${classOf(name)}\n`,
  );
  const classWith = (prefix: string, doc: string) => {
    const properties = sorted.map(
      (name) => `
    @cached_property
    def ${snakeOf(name)}(self) -> ${prefix}${classOf(name)}:
${docstringOf(descriptionOf(name, document), '        ')}        return ${prefix}${classOf(name)}(self._http)
`,
    );
    return `class ${prefix}Postrider(${prefix}Client):
    """${doc}"""
${properties.join('')}`;
  };
  return `from __future__ import annotations

from functools import cached_property

from .._http import AsyncClient, Client
${imports.join('')}
${[
  '',
  classWith('', 'All operations, by resource.'),
  classWith('Async', 'All operations, by resource, for `asyncio`.'),
]
  .join(betweenClasses)
  .slice(1)}`;
}

/** Both classes of a resource. */
function resourceText(resource: string, methods: readonly Method[], document: ApiDocument): string {
  const declarations = [...new Set(methods.flatMap(queryTexts))];
  const operations = methods.map(
    ({ name, operation: { verb, path, keyed } }) =>
      `${constantOf(name)} = Operation("${verb}", "${path}"${keyed ? ', keyed=True' : ''})\n`,
  );
  const classes = [false, true].map((isAsync) => {
    const texts = methods.flatMap((method) => methodTexts(method, { document, isAsync }));
    const about = docstringOf(descriptionOf(resource, document), '    ');
    const prefix = isAsync ? 'Async' : '';
    return `class ${prefix}${classOf(resource)}:
${about}
    def __init__(self, http: ${prefix}Http) -> None:
        self._http = http

${texts.join('\n')}`;
  });
  const body = [...declarations, ...classes];
  const csv = body.join('').includes('CsvImportSummary')
    ? 'from ..csv_import import AsyncContent, Content, CsvImportSummary\n'
    : '';
  const extensions = body.join('').includes('NotRequired[') ? 'NotRequired, Unpack' : 'Unpack';
  return `${typingText}
from .._http import AsyncHttp, Http, Operation, RequestOptions
from .._typing import ${extensions}
${csv}from . import types

${operations.join('')}
${['', ...body].join(betweenClasses).slice(1)}`;
}

const constantOf = (name: string): string => `_${snakeOf(name).replace(/_$/, '').toUpperCase()}`;

/** The types of a method that have no schema of their own. */
function queryTexts(method: Method): string[] {
  const { request, csv, answer, isCsvAnswer } = method;
  const queries = [...(request.declaration === '' ? [] : [request]), ...(csv ? [csv] : [])];
  const texts = queries.flatMap(({ type, fields }) => {
    // A method for each format of an export leaves no choice of it.
    const own = isCsvAnswer ? fields.filter(({ name }) => name !== 'format') : fields;
    return classTexts({ name: type, doc: '', fields: own.map(ofKeyword), prefix: 'types.' });
  });
  if (!answer.properties) return texts;
  return [...texts, ...declarationsOf(answerNameOf(method), answer, 'types.')];
}

/** A parameter of a function cannot be a word of the language. */
const ofKeyword = ({ name, schema, isRequired }: Field): Field => ({
  name: snakeOf(name),
  schema,
  isRequired: isRequired && name !== workspaceField,
});

const answerNameOf = ({ resource, name }: Method): string =>
  `${titleOf(resource)}${titleOf(name)}Answer`;

/** `call` ends with its bracket. */
function answerText(type: string, call: string, values: string): string {
  const line = `        answer: ${type} = ${call}${values})`;
  const broken = `        answer: ${type} = ${call}\n            ${values}\n        )`;
  return `${line.length > lineWidth ? broken : line}\n        return answer\n`;
}

type Kind = { document: ApiDocument; isAsync: boolean };

function methodTexts(method: Method, { document, isAsync }: Kind): string[] {
  const { name, description, request, answer, lines, csv, isCsvAnswer } = method;
  const own = snakeOf(name);
  const plain = own.replace(/_$/, '');
  const constant = constantOf(name);
  const iterator = isAsync ? 't.AsyncIterator' : 't.Iterator';
  const [define, wait] = isAsync ? ['async def', 'await '] : ['def', ''];
  const scope = { prefix: 'types.', objectName: answerNameOf(method) };
  const signature = (given: string, type: string, more = '') => `(
        self,
${more}        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[${given}],
    ) -> ${type}:
`;
  if (request.fields.some((field) => field.name === 'options')) {
    throw new Error(`${method.resource}.${name} has a field named as the options of a call`);
  }
  const doc = (text: string) => docstringOf(text, '        ');
  if (lines) {
    const item = pythonTypeOf(lines, scope);
    return [
      `    def ${own}${signature(request.type, `${iterator}[${item}]`)}${doc(description)}        return self._http.lines(${constant}, request, options)
`,
      ...(isCsvAnswer
        ? [
            `    def ${plain}_csv${signature(request.type, `${iterator}[bytes]`)}${doc(`The bytes of \`${own}\` as a CSV file.`)}        return self._http.stream(${constant}, {**request, "format": "csv"}, options)
`,
          ]
        : []),
    ];
  }
  const type = pythonTypeOf(answer, scope);
  const page = pageOf(method, document);
  return [
    `    ${define} ${own}${signature(request.type, type)}${doc(description)}${answerText(type, `${wait}self._http.call(`, `${constant}, request, options`)}`,
    ...(csv
      ? [
          `    ${define} ${plain}_csv${signature(csv.type, 'CsvImportSummary', `        content: ${isAsync ? 'Async' : ''}Content,\n`)}${doc(`\`${own}\` with a CSV file of any length in place of JSON, which is sent once. \`map.Plan\` and other names that are none of Python are given as \`**{"map.Plan": "custom_string_1"}\`.`)}${answerText('CsvImportSummary', `${wait}self._http.send_file(`, `${constant}, request, options, content`)}`,
        ]
      : []),
    ...(page
      ? [
          `    def ${plain}_all${signature(request.type, `${iterator}[${pythonTypeOf(page.schema, scope)}]`)}${doc(`The items of all pages of \`${own}\`, each page asked for as it is needed.`)}        return self._http.pages(${constant}, request, options, "${page.items}")
`,
        ]
      : []),
  ];
}
