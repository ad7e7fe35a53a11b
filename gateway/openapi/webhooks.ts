import { type DeclaredEvent, publicEvents } from '#lib/events/contracts.ts';
import { exampleOf } from '#lib/events/example.ts';
import type { Schemas } from './messages.ts';
import type { Schema } from './schema.ts';
import { commentOf, titleOf } from './words.ts';

const at = new Date('2026-11-21T09:30:00Z');

const header = (name: string, description: string, example: string): Schema => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: { type: 'string' },
  example,
});

/** The headers of each callback, as parameters of the document. */
export const callbackHeaders: Record<string, Schema> = {
  WebhookId: header('webhook-id', 'The `id` of the body.', '7c9e6679-7425-40de-944b-e07fc1f90ae7'),
  WebhookTimestamp: header(
    'webhook-timestamp',
    'When this attempt was signed, in seconds since 1970.',
    '1795253400',
  ),
  WebhookSignature: header(
    'webhook-signature',
    "`v1,` and, in base64, the HMAC-SHA256 by the subscription's secret of `<webhook-id>.<webhook-timestamp>.<body>`.",
    'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  ),
  PostriderAttempt: header('postrider-attempt', 'The number of this attempt, from 1.', '1'),
};

/** The callbacks to a subscription's address, one for each type of event. */
export function createWebhooks(schemas: Schemas): Record<string, Schema> {
  return Object.fromEntries(
    publicEvents.map((event) => [event.type, { post: describe(event, schemas) }]),
  );
}

function describe({ type, since, data }: DeclaredEvent, schemas: Schemas): Schema {
  return {
    operationId: `webhook.${type}`,
    summary: titleOf(data.name),
    description: `${commentOf(data)}\n\nSince ${since}.`,
    security: [],
    parameters: Object.keys(callbackHeaders).map((name) => ({
      $ref: `#/components/parameters/${name}`,
    })),
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: bodySchema(type, schemas.refTo(data, 'response')),
          example: bodyExample(type, exampleOf(data, at)),
        },
      },
    },
    responses: {
      '2XX': { description: 'Delivered.' },
      '410': { description: 'Disables the subscription.' },
    },
  };
}

function bodySchema(type: string, data: Schema): Schema {
  return {
    type: 'object',
    properties: {
      id: {
        type: 'string',
        description: 'The delivery; the same in each attempt, and for no other event.',
      },
      type: { type: 'string', enum: [type] },
      workspace_id: { type: 'string' },
      timestamp: {
        type: 'string',
        format: 'date-time',
        description:
          'When it happened, in microseconds; the same in each attempt. Of two changes of a contact the later one has the later time.',
      },
      data,
    },
    required: ['id', 'type', 'workspace_id', 'timestamp', 'data'],
  };
}

/** The body of a callback as the documentation shows it. */
export function bodyExample(type: string, data: object): Record<string, unknown> {
  const id = '7c9e6679-7425-40de-944b-e07fc1f90ae7';
  return { id, type, workspace_id: 'demo', timestamp: '2026-11-21T09:30:00.123456Z', data };
}
