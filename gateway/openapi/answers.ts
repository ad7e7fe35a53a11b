import { type DescMessage, getOption } from '@bufbuild/protobuf';
import { type Operation, operation } from '#gen/postrider/options/v1/options_pb.ts';
import { codeNamed } from '../api/errors.ts';
import { allowed } from '../api/operation.ts';
import type { Route } from '../api/routes.ts';
import { responseExample, responseFieldExample } from './examples.ts';
import type { Schemas } from './messages.ts';
import type { Schema } from './schema.ts';
import { commentOf, type OperationOutcome } from './words.ts';

/** A failure of the gateway's own, or of every operation of a kind. */
type Failure = {
  status: number;
  code: string;
  /**
   * The text of the error; absent where it depends on the request, so that no example is invented.
   */
  text: string | undefined;
  reason: string;
};

const header = (name: string): Schema => ({ $ref: `#/components/headers/${name}` });

export const headers: Record<string, Schema> = {
  'X-Request-Id': {
    description:
      "The request's id: the caller's own if it sent one of 1 to 64 letters, digits, hyphens, dots and underscores.",
    schema: { type: 'string' },
    required: true,
  },
  'Retry-After': {
    description: 'Seconds to wait before a repeat.',
    schema: { type: 'integer', minimum: 1 },
  },
  Allow: { description: 'The methods that the path answers.', schema: { type: 'string' } },
  'WWW-Authenticate': { description: 'The scheme to use.', schema: { type: 'string' } },
  'Idempotency-Replayed': {
    description: '`true` if this is the answer to an earlier request with the same key.',
    schema: { type: 'string', enum: ['true'] },
  },
  'RateLimit-Policy': {
    description:
      'The limit: its name, its quota `q` of requests and its window `w` in seconds (draft-ietf-httpapi-ratelimit-headers).',
    schema: { type: 'string' },
    example: '"key";q=1000;w=2',
  },
  RateLimit: {
    description:
      'The state of the limit: `r` requests remain, and `t` is in how many seconds there are more.',
    schema: { type: 'string' },
    example: '"key";r=0;t=1',
  },
};

const rateLimits = ['RateLimit-Policy', 'RateLimit'];
const headersOf = new Map<number, string[]>([
  [401, ['WWW-Authenticate']],
  [405, ['Allow']],
  [429, ['Retry-After', ...rateLimits]],
  [503, ['Retry-After']],
]);

export const errorSchema: Schema = {
  type: 'object',
  description: 'An error.',
  properties: {
    error: { type: 'string', description: 'A text for people.' },
    code: { type: 'string', description: 'Stable, for programs.' },
    reason: {
      type: 'string',
      description: 'Why, more exactly than the code: stable, for programs; see `/docs/errors`.',
    },
    request_id: { type: 'string', description: 'The same as in `X-Request-Id`.' },
    details: {
      type: 'array',
      description: 'The fields at fault, if any are.',
      items: {
        type: 'object',
        properties: {
          field: {
            type: 'string',
            description: 'Its path, such as `contact.phone`; empty for the body itself.',
          },
          description: { type: 'string', description: 'What is wrong with it.' },
        },
        required: ['field', 'description'],
      },
    },
  },
  required: ['error', 'code', 'request_id'],
};

/** Everything that an operation may answer, by status. */
export function answersOf(
  route: Route,
  outcomes: readonly OperationOutcome[],
  schemas: Schemas,
): Record<string, Schema> {
  const isLimited = outcomes.some(({ code }) => code === 'RESOURCE_EXHAUSTED');
  const found = [...outcomes.map(documented), ...common(route)];
  const statuses = [...new Set(found.map(({ status }) => status))].sort();
  return {
    [route.successStatus]: success(route, schemas, isLimited),
    ...Object.fromEntries(
      statuses.map((status) => [status, failure(found.filter((each) => each.status === status))]),
    ),
  };
}

/** An error from the comment of the RPC. */
function documented({ code, text, reason }: OperationOutcome): Failure {
  const [status, word] = codeNamed(code);
  return { status, code: word, text, reason };
}

function common(route: Route): Failure[] {
  const own = (
    status: number,
    code: string,
    text: string | undefined,
    reason: string,
  ): Failure => ({
    status,
    code,
    text,
    reason,
  });
  const all = [
    own(
      400,
      'invalid_argument',
      route.verb === 'GET' ? undefined : 'Invalid request body',
      'What was given can not be read, or breaks a rule.',
    ),
    own(
      405,
      'method_not_allowed',
      'Method not allowed',
      `Another method than ${allowed([route])}.`,
    ),
    own(
      429,
      'resource_exhausted',
      'too many requests for this workspace; slow down',
      'The key, the workspace or the address sends more requests than its limit, or has too many open at once.',
    ),
    own(
      431,
      'headers_too_large',
      'Request headers too large',
      'The address and the header fields have more than 16 KiB.',
    ),
    own(
      500,
      'internal',
      route.failureText,
      'The fault is ours; the log has the cause by the request id.',
    ),
    own(
      503,
      'unavailable',
      route.failureText,
      'Something that is needed is down. Nothing was done.',
    ),
    own(504, 'deadline_exceeded', route.failureText, 'It took too long; it may have been done.'),
  ];
  if (!route.isPublic)
    all.push(
      own(
        401,
        'unauthenticated',
        'Invalid token',
        'The token is missing, invalid, expired or revoked.',
      ),
    );
  const isOpen = ['public', 'token'].includes(ruleOf(route));
  if (!isOpen)
    all.push(
      own(
        403,
        'permission_denied',
        'user is not a member of the workspace',
        'The caller may not do this in this workspace, or it does not exist.',
      ),
    );
  if (route.verb === 'GET') return all;
  const limitKb = route.bodyLimitBytes / 1024;
  return [
    ...all,
    own(
      409,
      'aborted',
      'changed by another request at the same time; try again',
      'Another request was faster.',
    ),
    own(
      413,
      'payload_too_large',
      'Request body too large',
      `The body has more than ${limitKb} KiB.`,
    ),
    own(
      415,
      'unsupported_media_type',
      `Content-Type must be ${route.csv ? 'application/json or text/csv' : 'application/json'}`,
      `The body is not JSON${route.csv ? ' or CSV' : ''} in UTF-8.`,
    ),
  ];
}

function ruleOf({ method }: Route): string {
  return getOption(method, operation).access?.rule.case ?? '';
}

function failure(found: readonly Failure[]): Schema {
  const [first] = found;
  if (!first) throw new Error('a status without a failure');
  const real = found.filter(({ text }) => text !== undefined);
  const examples = real.map(({ text, code }, index) => [
    `${code}${index === 0 ? '' : index + 1}`,
    { value: { error: text, code, request_id: '9f1c4c0e-6f0b-4b52-8f6e-0c8f0c9f5a11' } },
  ]);
  const names = ['X-Request-Id', ...(headersOf.get(first.status) ?? [])];
  return {
    description: found.map(({ reason }) => sentence(reason)).join('\n\n'),
    headers: Object.fromEntries(names.map((name) => [name, header(name)])),
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/Error' },
        ...(examples.length > 0 && { examples: Object.fromEntries(examples) }),
      },
    },
  };
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function success(route: Route, schemas: Schemas, isLimited: boolean): Schema {
  const { output } = route.method;
  const { idempotent, bodyField, ndjson } = getOption(route.method, operation);
  const names = [
    'X-Request-Id',
    ...(idempotent ? ['Idempotency-Replayed'] : []),
    ...(isLimited ? rateLimits : []),
  ];
  return {
    description: commentOf(output),
    headers: Object.fromEntries(names.map((name) => [name, header(name)])),
    // A file may be answered by lines or CSV as well; named here, they would be in the types of the
    // answer that generated clients give to callers who send JSON.
    content: contentOf(output, { bodyField, ndjson, schemas }),
  };
}

const text: Schema = { schema: { type: 'string' } };

type Content = Pick<Operation, 'bodyField' | 'ndjson'> & { schemas: Schemas };

function contentOf(output: DescMessage, { bodyField, ndjson, schemas }: Content): Schema {
  if (!ndjson) return { 'application/json': bodyOf(output, bodyField, schemas) };
  const { items, document, format } = ndjson;
  if (document) return { 'application/json': documentOf(output, items, schemas) };
  const lines = { 'application/x-ndjson': linesOf(output, items, schemas) };
  return format === '' ? lines : { ...lines, 'text/csv': text };
}

/** The items of all pages. */
function documentOf(output: DescMessage, items: string, schemas: Schemas): Schema {
  const field = output.fields.find(({ name }) => name === items);
  if (!field) throw new Error(`${output.typeName} has no ${items}`);
  return {
    schema: {
      type: 'object',
      required: [items],
      properties: { [items]: schemas.ofField(field, 'response') },
    },
    example: { [items]: responseFieldExample(field) },
  };
}

function bodyOf(output: DescMessage, bodyField: string, schemas: Schemas): Schema {
  const field = output.fields.find(({ name }) => name === bodyField);
  return field
    ? { schema: schemas.ofField(field, 'response'), example: responseFieldExample(field) }
    : { schema: schemas.refTo(output, 'response'), example: responseExample(output) };
}

/** A text for JSON Schema; `contentSchema` is that of one of its lines. */
function linesOf(output: DescMessage, items: string, schemas: Schemas): Schema {
  const { message } = output.fields.find(({ name }) => name === items) ?? {};
  if (!message) throw new Error(`${output.typeName}.${items} has no messages`);
  const schema = {
    type: 'string',
    description: 'Each line is one item in JSON.',
    contentMediaType: 'application/x-ndjson',
    contentSchema: schemas.refTo(message, 'response'),
  };
  return { schema, example: `${JSON.stringify(responseExample(message))}\n` };
}
