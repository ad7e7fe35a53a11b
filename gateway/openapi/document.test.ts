import { getOption } from '@bufbuild/protobuf';
import { Code } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { operation } from '#gen/postrider/options/v1/options_pb.ts';
import { publicEvents } from '#lib/events/contracts.ts';
import { contracts } from '../api/contracts.ts';
import { routesOf } from '../api/routes.ts';
import { createDocument } from './document.ts';
import type { Schema } from './schema.ts';
import { commentOf, readComment } from './words.ts';

const routes = routesOf(contracts);
const document = createDocument(routes);
const all = [...routes.values()].flat();

// biome-ignore lint/suspicious/noExplicitAny: tests read the document as any client does.
const schemas: Record<string, any> = document.components.schemas ?? {};
// biome-ignore lint/suspicious/noExplicitAny: the same.
const of = (path: string, verb = 'post'): any => document.paths[path]?.[verb];

async function problemsOf(text: Schema): Promise<string[]> {
  const config = await createConfig({
    extends: ['recommended-strict'],
    rules: {
      'no-invalid-media-type-examples': 'error',
      'no-invalid-parameter-examples': 'error',
      'no-invalid-schema-examples': 'error',
    },
  });
  const problems = await lintFromString({ source: JSON.stringify(text), config });
  return problems.map(({ message, location }) => `${message} at ${location[0]?.pointer}`);
}

test('a linter finds nothing wrong with the document', async () => {
  expect(await problemsOf(document)).toEqual([]);
});

test('the linter finds a broken reference and an example that does not match its schema', async () => {
  const [path = ''] = Object.keys(document.paths);
  const paths = { [path]: structuredClone(document.paths[path]) };
  const broken = { ...document, paths } as typeof document;
  const answers = broken.paths[path]?.get?.responses as Record<string, Schema>;
  answers['200'] = {
    description: 'Broken.',
    content: { 'application/json': { schema: { type: 'string' }, example: 5 } },
  };
  answers['201'] = { $ref: '#/components/responses/Missing' };
  const problems = (await problemsOf(broken)).filter((each) => each.includes('/responses/20'));
  expect(problems.length).toBeGreaterThanOrEqual(2);
});

test.each(all.map((route) => [route.path, route] as const))(
  '%s says what it does, what it takes and what it answers',
  (path, route) => {
    const described = of(path, route.verb.toLowerCase());
    expect(described.summary).toMatch(/^[A-Z]/);
    expect(described.description).not.toBe('');
    const { idempotent } = getOption(route.method, operation);
    const references = described.parameters.map(({ $ref }: Schema) => $ref);
    expect(references.includes('#/components/parameters/IdempotencyKey')).toBe(idempotent);
    const statuses = Object.keys(described.responses).map(Number);
    const always = [route.successStatus, 400, 405, 500, 503, 504];
    const others = [...(route.isPublic ? [] : [401]), ...(route.verb === 'POST' ? [413, 415] : [])];
    expect(statuses).toEqual(expect.arrayContaining([...always, ...others]));
    expect(described.security).toEqual(route.isPublic ? [] : undefined);
  },
);

test('every part of every schema is described, and hidden fields are not shown', () => {
  for (const [name, { properties }] of Object.entries(schemas)) {
    for (const [field, schema] of Object.entries<Schema>(properties ?? {})) {
      expect([name, field, schema.description]).toEqual([name, field, expect.stringMatching(/./)]);
    }
  }
  expect(schemas.ContactInput.properties).not.toHaveProperty('row_error');
  expect(schemas.ContactInput.properties).not.toHaveProperty('null_fields');
});

test('limits come from rules, standard or in CEL, and from comments', () => {
  const list = schemas.CreateListRequest;
  expect(list.properties.id).toMatchObject({
    type: 'string',
    minLength: 1,
    maxLength: 32,
    pattern: '^[a-zA-Z0-9]*$',
  });
  expect(list.properties.description).toMatchObject({ type: ['string', 'null'], maxLength: 1000 });
  expect(list.required).toEqual(['workspace_id', 'id', 'name']);
  const contacts = schemas.ImportContactsRequest.properties.contacts;
  expect(contacts).toMatchObject({ type: 'array', minItems: 1, maxItems: 10_000 });
  expect(schemas.ContactInput.properties.phone).toMatchObject({ maxLength: 50 });
  expect(schemas.SmtpSettingsInput.properties.port).toMatchObject({ minimum: 1, maximum: 65_535 });
});

test('an answer always has its nullable fields and those that the contract marks, and no other field is null', () => {
  const { properties, required } = schemas.Contact;
  expect(required).toContain('phone');
  expect(properties.phone.type).toEqual(['string', 'null']);
  expect(properties.email.type).toBe('string');
  expect(required).toContain('created_at');
  expect(schemas.Broadcast.required).toEqual(expect.arrayContaining(['status', 'audience']));
  expect(schemas.Broadcast.required).not.toContain('started_at');
  expect(schemas.ContactInput.required).toEqual(['email']);
});

test('enums are lower-case words, times are date-times, free-form objects allow any property', () => {
  expect(schemas.MembershipStatus.enum).toEqual([
    'active',
    'pending',
    'unsubscribed',
    'bounced',
    'complained',
  ]);
  expect(schemas.Contact.properties.created_at).toMatchObject({ format: 'date-time' });
  expect(schemas.Broadcast.properties.metadata).toMatchObject({ additionalProperties: true });
});

test('a bare array is the whole answer, and success need not be 200', () => {
  const listed = of('/api/workspaces.list', 'get').responses[200].content['application/json'];
  expect(listed.schema).toMatchObject({ type: 'array' });
  expect(of('/api/lists.create').responses).toHaveProperty('201');
});

const codes = Object.keys(Code).filter((name) => Number.isNaN(Number(name)));
const words = codes.map((name) => name.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase());

test('every code that an RPC comment names becomes a documented error, and none stays in the description', () => {
  for (const { method } of all) {
    const { description, outcomes } = readComment(commentOf(method));
    const texts = [description, ...outcomes.map(({ reason }) => reason)].join(' ').split(/\W+/);
    expect([method.name, words.filter((word) => texts.includes(word))]).toEqual([method.name, []]);
  }
});

test('the codes in an RPC comment become its statuses, with their texts', () => {
  const { responses, description } = of('/api/user.rootSignin');
  expect(description).not.toMatch(/UNAUTHENTICATED|RESOURCE_EXHAUSTED/);
  expect(responses[429].headers).toHaveProperty('Retry-After');
  expect(JSON.stringify(responses[401])).toContain('Invalid credentials');
  const missing = of('/api/contacts.getByEmail', 'get').responses[404];
  expect(JSON.stringify(missing)).toContain('Contact not found');
});

test('an operation that demo mode refuses says so', () => {
  for (const route of all) {
    const { description } = of(route.path, route.verb.toLowerCase());
    expect([route.path, /DEMO_MODE/.test(description)]).toEqual([route.path, route.refusedInDemo]);
  }
});

test('every public event is a webhook, whose data have all fields and no null where none may be', () => {
  expect(Object.keys(document.webhooks)).toEqual(publicEvents.map(({ type }) => type));
  // biome-ignore lint/suspicious/noExplicitAny: the same.
  const { post }: any = document.webhooks['email.bounced'];
  const { schema, example } = post.requestBody.content['application/json'];
  expect(schema.properties.type).toEqual({ type: 'string', enum: ['email.bounced'] });
  expect(schema.properties.data).toEqual({ $ref: '#/components/schemas/EmailBounced' });
  expect(example).toMatchObject({ type: 'email.bounced', data: { channel: 'email' } });
  const { properties, required } = schemas.EmailBounced;
  expect(required).toEqual(Object.keys(properties));
  expect(properties.list_id.type).toEqual(['string', 'null']);
  expect(properties.email.type).toBe('string');
});
