import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DescMessage } from '@bufbuild/protobuf';
import type { Route } from '../api/routes.ts';
import { errorSchema, headers } from './answers.ts';
import { createSchemas } from './messages.ts';
import { describe, parameters, resourceOf } from './operations.ts';
import type { Schema } from './schema.ts';
import { callbackHeaders, createWebhooks } from './webhooks.ts';
import { commentOf } from './words.ts';

export type Document = Schema & {
  paths: Record<string, Record<string, Schema>>;
  webhooks: Record<string, Schema>;
  components: Record<string, Record<string, Schema>>;
};

const packageFile = join(import.meta.dirname, '../../package.json');
const { version }: { version: string } = JSON.parse(readFileSync(packageFile, 'utf8'));

const introduction = `
Transactional mail, newsletters and broadcasts for many tenants, called workspaces.

- **Authenticate** with \`Authorization: Bearer <token>\`: a user's session or a workspace's API key.
- **Read** with GET and query parameters; **change** with POST and a JSON body. An unknown query parameter is a 400 that
  names it; an unknown field of a body is ignored, unless the header \`Prefer: handling=strict\` asks for a 400. A null field counts as absent, unless its description says otherwise.
- **Times** are RFC 3339 in UTC, ids are opaque, arrays are never null.
- **Errors** are \`{error, code, request_id, details}\`. \`code\` is stable; \`error\` is for people.
- **Retry** after a 429 or 503 when \`Retry-After\` seconds are over; with an \`Idempotency-Key\`, if an operation
  accepts one, a repeat gets the first answer.
- **Mails**: [Liquid](/docs/liquid) lists variables, tags and filters; [preview](/docs/preview) shows a template as a mail.
- Every operation is also a gRPC method with the same token and the same checks.
`.trim();

/** The OpenAPI document of all operations and webhooks, made from the contract's descriptors. */
export function createDocument(routes: ReadonlyMap<string, readonly Route[]>): Document {
  const all = [...routes.values()].flat();
  const schemas = createSchemas(
    new Set(all.flatMap(({ method }) => [...reachable(method.output)])),
  );
  const paths: Document['paths'] = {};
  for (const route of all) {
    paths[route.path] = {
      ...paths[route.path],
      [route.verb.toLowerCase()]: describe(route, schemas),
    };
  }
  const webhooks = createWebhooks(schemas);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Postrider API',
      version,
      description: introduction,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    security: [{ token: [] }],
    tags: tagsOf(all),
    paths,
    webhooks,
    components: {
      securitySchemes: {
        token: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description:
            'The token of a session (`user.verifyCode`, `user.rootSignin`) or of an API key (`workspaces.createAPIKey`).',
        },
      },
      parameters: { ...parameters, ...callbackHeaders },
      headers,
      schemas: { Error: errorSchema, ...schemas.components },
    },
  };
}

/** One per resource, described by the comment of its service. */
function tagsOf(routes: readonly Route[]): Schema[] {
  const tags = new Map<string, string>();
  for (const route of routes) {
    const name = resourceOf(route);
    if (!tags.has(name)) tags.set(name, commentOf(route.method.parent));
  }
  return [...tags].map(([name, description]) => ({ name, description }));
}

function reachable(desc: DescMessage, found = new Set<DescMessage>()): Set<DescMessage> {
  if (found.has(desc)) return found;
  found.add(desc);
  for (const { message } of desc.fields) if (message) reachable(message, found);
  return found;
}
