import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';
import type { ApiDocument } from './document.ts';
import { classOf, descriptionOf, methodsOf, resourceText } from './resources.ts';
import { commentOf, declarationOf, typeOf } from './types.ts';

const head = '// Made from the contract by `npm run gen`.\n';
const biome = resolve(import.meta.dirname, '../../node_modules/.bin/biome');

/** The files of the TypeScript client, by name. */
export function typescriptFiles(document: ApiDocument): Map<string, string> {
  const byResource = Map.groupBy(methodsOf(document), ({ resource }) => resource);
  const files = new Map([
    ['types.ts', typesText(document)],
    ['events.ts', eventsText(document)],
    ['client.ts', clientText([...byResource.keys()], document)],
  ]);
  for (const [resource, methods] of byResource) {
    const text = resourceText(resource, methods, document);
    files.set(`${resource}.ts`, text);
  }
  return new Map([...files].map(([name, text]) => [name, formatted(head + text)]));
}

function formatted(text: string): string {
  return execFileSync(biome, ['format', '--stdin-file-path=made.ts'], {
    input: text,
    encoding: 'utf8',
  });
}

function typesText({ components }: ApiDocument): string {
  return Object.entries(components.schemas)
    .map(([name, schema]) => declarationOf(name, schema))
    .join('\n');
}

function eventsText({ webhooks }: ApiDocument): string {
  const events = Object.entries(webhooks).map(([type, { post }]) => {
    const schema = post.requestBody?.content['application/json']?.schema ?? {};
    return `${commentOf(post.description)}${JSON.stringify(type)}: ${typeOf(schema, 'types.')};`;
  });
  return `import type * as types from './types.ts';

/** The body of a webhook, by the type of its event. */
export type WebhookEvents = {
${events.join('\n')}
};

/** The body of any webhook; \`type\` says which one. */
export type WebhookEvent = WebhookEvents[keyof WebhookEvents];
`;
}

function clientText(resources: readonly string[], document: ApiDocument): string {
  const sorted = resources.toSorted();
  const imports = sorted.map((name) => `import { ${classOf(name)} } from './${name}.ts';`);
  const fields = sorted.map(
    (name) => `${commentOf(descriptionOf(name, document))}readonly ${name}: ${classOf(name)};`,
  );
  const made = sorted.map((name) => `this.${name} = new ${classOf(name)}(http);`);
  return `import { type ClientOptions, Http } from '../http.ts';
${imports.join('\n')}

/** All operations, by resource. A bundle that needs few of them imports their classes instead. */
export class Postrider {
${fields.join('\n')}

  constructor(options: ClientOptions) {
    const http = new Http(options);
    ${made.join('\n')}
  }
}
`;
}
