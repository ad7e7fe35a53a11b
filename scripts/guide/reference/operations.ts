import { getOption } from '@bufbuild/protobuf';
import { operation } from '#gen/postrider/options/v1/options_pb.ts';
import { codeNamed } from '../../../gateway/api/errors.ts';
import type { Route } from '../../../gateway/api/routes.ts';
import { quoted } from '../../../gateway/docs/page.ts';
import { createDocument, type Document } from '../../../gateway/openapi/document.ts';
import { resourceOf } from '../../../gateway/openapi/operations.ts';
import { commentOf, readComment } from '../../../gateway/openapi/words.ts';
import { anchorOf } from '../links.ts';
import { markdownTable, type Page } from '../page.ts';

type Routes = ReadonlyMap<string, readonly Route[]>;

/** The part of a schema that the pages show. */
type Schema = {
  $ref?: string;
  type?: string | string[];
  description?: string;
  enum?: unknown[];
  anyOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
};

type Described = {
  summary: string;
  description: string;
  parameters: { name?: string; description?: string; required?: boolean; schema?: Schema }[];
  requestBody?: { content: Record<string, { schema: Schema; example?: unknown }> };
  responses: Record<string, { content?: Record<string, { schema: Schema }> }>;
};

const folder = 'reference/operations';

/** A page for each resource, and one that lists all operations. */
export function operationPages(routes: Routes): Page[] {
  const document = createDocument(routes);
  const byResource = Map.groupBy([...routes.values()].flat(), resourceOf);
  const pages = [...byResource].map(([resource, some]) => resourcePage(resource, some, document));
  return [indexPage(byResource), ...pages];
}

function indexPage(byResource: ReadonlyMap<string, readonly Route[]>): Page {
  const sections = [...byResource].map(([resource, routes]) => {
    const lines = routes.map((route) => {
      const { description } = readComment(commentOf(route.method));
      const [first = ''] = description.replaceAll(/\s+/g, ' ').match(/^.+?\.(?= |$)/) ?? [];
      return `- [${quoted(nameOf(route))}](${resource}.md#${anchorOf(nameOf(route))}): ${first}`;
    });
    return `## ${resource}\n\n${lines.join('\n')}`;
  });
  const text = `# Operations

The JSON API by resource. Every operation is a POST with a JSON body or a GET with a query, under the
address of the gateway. It takes \`Authorization: Bearer <token>\` unless it says otherwise. \`/docs\` of a gateway shows the same and
sends requests; \`/openapi.json\` is the same for programs.

${sections.join('\n\n')}
`;
  return { path: `${folder}/index.md`, text };
}

const nameOf = ({ path }: Route) => path.replace(/^\/(?:api\/)?/, '');

function resourcePage(resource: string, routes: readonly Route[], document: Document): Page {
  const shown = new Shown(document.components.schemas as Record<string, Schema>);
  const about = (document.tags as { name: string; description: string }[]).find(
    ({ name }) => name === resource,
  );
  const sections = routes.map((route) => {
    const described = document.paths[route.path]?.[route.verb.toLowerCase()] as Described;
    return operationSection(route, described, shown);
  });
  const objects = shown.objects();
  const text = [
    `# ${resource}`,
    about?.description ?? '',
    ...sections,
    ...(objects.length > 0 ? ['## Objects', ...objects] : []),
  ];
  return { path: `${folder}/${resource}.md`, text: `${text.join('\n\n')}\n` };
}

function operationSection(route: Route, described: Described, shown: Shown): string {
  const { description, parameters, requestBody, responses } = described;
  const body = requestBody?.content['application/json'];
  const query = parameters.filter(({ name }) => name !== undefined);
  const fields = body
    ? shown.fieldsOf(body.schema, true)
    : query.map(({ name = '', required, schema, description: about = '' }) =>
        shown.row(name, { ...schema, description: about }, true, required === true),
      );
  const success = Object.entries(responses).find(([status]) => status.startsWith('2'));
  const answer = success?.[1].content?.['application/json']?.schema;
  const keyed = getOption(route.method, operation).idempotent
    ? ['It takes an `Idempotency-Key`.']
    : [];
  return [
    `## ${nameOf(route)}`,
    `\`${route.verb} ${route.path}\``,
    description,
    [accessOf(route), ...keyed].join(' '),
    ...(fields.length > 0
      ? [markdownTable({ heads: ['Field', 'Type', 'Meaning'], rows: fields })]
      : []),
    ...(body?.example ? [`\`\`\`json\n${JSON.stringify(body.example, null, 2)}\n\`\`\``] : []),
    ...(answer ? [`Answers ${success?.[0]} with ${shown.typeOf(answer, false)}.`] : []),
    ...errorsOf(route),
  ].join('\n\n');
}

/** The errors of its own. */
function errorsOf({ method }: Route): string[] {
  const { outcomes } = readComment(commentOf(method));
  if (outcomes.length === 0) return [];
  const rows = outcomes.map(({ code, text, reason }) => {
    const [status, word] = codeNamed(code);
    return [`${status} ${quoted(word)}`, text ? quoted(text) : '', reason];
  });
  return [markdownTable({ heads: ['Error', 'Text', 'When'], rows })];
}

function accessOf({ method }: Route): string {
  const rule = getOption(method, operation).access?.rule;
  switch (rule?.case) {
    case 'public':
      return 'Anyone may call it, without a token.';
    case 'member': {
      const { resource, write } = rule.value;
      return `Needs the permission to ${write ? 'write' : 'read'} ${quoted(resource)}.`;
    }
    case 'owner':
      return 'Owners of the workspace may call it.';
    case 'root':
      return 'Root users may call it.';
    default:
      return 'Any valid token may call it.';
  }
}

/** The types that a page names, each of which it explains once. */
class Shown {
  readonly #schemas: Record<string, Schema>;
  /** By name: whether callers send it, so that it matters which fields they must give. */
  readonly #named = new Map<string, boolean>();

  constructor(schemas: Record<string, Schema>) {
    this.#schemas = schemas;
  }

  typeOf(schema: Schema, isSent: boolean): string {
    if (schema.$ref) {
      const name = schema.$ref.split('/').at(-1) ?? '';
      const found = this.#schemas[name] ?? {};
      if (!found.properties) return this.typeOf(found, isSent);
      this.#named.set(name, isSent || this.#named.get(name) === true);
      return `[${name}](#${anchorOf(name)})`;
    }
    if (schema.enum) return schema.enum.map((word) => quoted(String(word))).join(', ');
    if (schema.anyOf) {
      const types = schema.anyOf.map((each) => this.typeOf(each, isSent));
      return [...new Set(types)].join(' or ');
    }
    if (schema.items) return `list of ${this.typeOf(schema.items, isSent)}`;
    return [schema.type ?? 'any JSON'].flat().join(' or ');
  }

  row(name: string, schema: Schema, isSent: boolean, isRequired: boolean): string[] {
    const { description = '' } = schema;
    const isMarked = isSent && isRequired && !description.startsWith('Required');
    return [
      quoted(name),
      this.typeOf(schema, isSent),
      isMarked ? `**Required.** ${description}` : description,
    ];
  }

  fieldsOf(schema: Schema, isSent: boolean): string[][] {
    const name = schema.$ref?.split('/').at(-1) ?? '';
    const { properties = {}, required = [] } = this.#schemas[name] ?? schema;
    return Object.entries(properties).map(([field, of]) =>
      this.row(field, of, isSent, required.includes(field)),
    );
  }

  /** The sections of all that was named, and of what these name. */
  objects(): string[] {
    const sections: string[] = [];
    for (const [name, isSent] of this.#named) {
      const { description = '' } = this.#schemas[name] ?? {};
      const rows = this.fieldsOf({ $ref: name }, isSent);
      const fields = markdownTable({ heads: ['Field', 'Type', 'Meaning'], rows });
      sections.push(
        [`### ${name}`, description, ...(rows.length > 0 ? [fields] : [])].join('\n\n'),
      );
    }
    return sections;
  }
}
