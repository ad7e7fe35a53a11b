import type { DescMethodUnary } from '@bufbuild/protobuf';
import { MethodOptions_IdempotencyLevel as Level } from '@bufbuild/protobuf/wkt';
import { beforeAll, expect, test } from '@jest/globals';
import { requestExample } from '../../gateway/openapi/examples.ts';
import { givenBroadcast, good, unique } from '../stack/given.ts';
import { ownerToken } from '../stack/owner.ts';
import { borrowedStack } from '../stack/shared.ts';
import type { TestStack } from '../stack.ts';
import { isWithinWorkspace, overHttp, routes, workspaceFieldOf } from './operations.ts';

/**
 * Ids of another workspace in every id field of every request. The caller owns both workspaces, so
 * that only the request's own workspace separates them.
 */

type Ids = Record<'list' | 'segment' | 'template' | 'broadcast' | 'integration' | 'email', string>;

let owner: string;
let home: { workspaceId: string; ids: Ids };
let foreign: { workspaceId: string; ids: Ids };
/** Unknown ids, the same in every request: a foreign id must be answered like these. */
const nobody = unknownIds();

const stack = borrowedStack();
beforeAll(async () => {
  owner = await ownerToken(stack.settings);
  home = await givenWorkspace();
  foreign = await givenWorkspace();
}, 60_000);

const provider = {
  kind: 'smtp',
  smtp: { host: '127.0.0.1', port: 2525 },
  senders: [{ email: 'a@example.com', name: 'A', is_default: true }],
  rate_limit_per_minute: 60,
};

/** A workspace with one resource of each kind, whose names are recognizable in any answer. */
async function givenWorkspace(): Promise<{ workspaceId: string; ids: Ids }> {
  const workspaceId = unique('w');
  good(await stack.call('workspaces.create', { id: workspaceId, name: 'W' }, { token: owner }));
  const call: TestStack['call'] = (operation, body, options) =>
    stack.call(operation, body, { token: owner, ...options });
  const { id, listId, templateId, emails } = await givenBroadcast(
    { ...stack, workspaceId, call },
    2,
  );
  const created = await call('workspaces.createIntegration', {
    workspace_id: workspaceId,
    name: unique('integration'),
    type: 'email',
    provider,
  });
  const integration = good(created).integration_id;
  const email = emails[0] ?? '';
  const segment = unique('s');
  good(
    await call('segments.create', {
      workspace_id: workspaceId,
      id: segment,
      name: 'S',
      color: 'red',
      timezone: 'UTC',
      tree: inList(listId),
    }),
  );
  return {
    workspaceId,
    ids: { list: listId, segment, template: templateId, broadcast: id, integration, email },
  };
}

const inList = (list_id: string) => ({
  kind: 'leaf',
  leaf: { source: 'contact_lists', contact_list: { operator: 'in', list_id } },
});

/** Unknown ids in the form of existing ones. */
function unknownIds(): Ids {
  return {
    list: unique('list'),
    segment: unique('s'),
    template: unique('t'),
    broadcast: crypto.randomUUID().replaceAll('-', ''),
    integration: crypto.randomUUID(),
    email: `r0.${unique('list')}@example.com`,
  };
}

type Request = Record<string, unknown>;
type Place = readonly (string | number)[];

const idName = /(?:^|_)(?:id|ids|list|lists|segments|template|email|cursor)$/;

/** Every id field of a request, by its name. */
function idPlaces(value: unknown, place: Place = [], name = ''): Place[] {
  if (typeof value === 'string') return idName.test(name) ? [place] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, part]) =>
    idPlaces(part, [...place, key], Array.isArray(value) ? name : key),
  );
}

function withText(request: Request, place: Place, text: string): Request {
  const changed = structuredClone(request);
  let at = changed as Record<string | number, unknown>;
  for (const step of place.slice(0, -1)) at = at[step] as typeof at;
  at[place.at(-1) ?? ''] = text;
  return changed;
}

/** Own ids in all other fields, so that only the changed one can be refused. */
function requestOf(method: DescMethodUnary, resource: string): Request {
  const { workspaceId, ids } = home;
  const own: Record<string, string> = {
    [workspaceFieldOf(method)]: workspaceId,
    list: ids.list,
    list_id: ids.list,
    list_ids: ids.list,
    segment_id: ids.segment,
    subscribe_to_lists: ids.list,
    template_id: ids.template,
    broadcast_id: ids.broadcast,
    integration_id: ids.integration,
    email: ids.email,
    contact_email: ids.email,
  };
  const ofResource = {
    lists: ids.list,
    segments: ids.segment,
    templates: ids.template,
    broadcasts: ids.broadcast,
  }[resource];
  const optional = method.input.fields
    .filter(({ name }) => idName.test(name))
    .map(({ name }) => name);
  let request: Request = { ...Object.fromEntries(optional.map((name) => [name, 'x'])) };
  request = { ...request, ...requestExample(method.input) };
  for (const place of idPlaces(request)) {
    const name = String(place.findLast((step) => !/^\d+$/.test(String(step))));
    const text = own[name] ?? (name === 'id' ? ofResource : undefined);
    if (text) request = withText(request, place, text);
  }
  return request;
}

const reads = ({ idempotency }: DescMethodUnary) => idempotency === Level.NO_SIDE_EFFECTS;

/** Reads come first: later calls write foreign addresses into the caller's own workspace. */
const reached = routes
  .filter(({ method }) => isWithinWorkspace(method))
  .toSorted((a, b) => Number(reads(b.method)) - Number(reads(a.method)));

test.each(reached.map((route) => [route.path, route] as const))(
  '%s reveals nothing of another workspace',
  async (path, route) => {
    const resource = path.replace(/^\/api\//, '').replace(/\..*$/, '');
    const request = requestOf(route.method, resource);
    const places = idPlaces(request).filter(([first]) => first !== workspaceFieldOf(route.method));
    for (const place of places) {
      for (const kind of Object.keys(nobody) as (keyof Ids)[]) {
        const ask = async (id: string) => {
          const asked = withText(request, place, id);
          const told = await overHttp(stack.settings.BASE_URL ?? '', route, {
            token: owner,
            request: asked,
          });
          return {
            ...told,
            error: told.error.replaceAll(id, 'ID'),
            text: told.text.replaceAll(id, 'ID'),
          };
        };
        const { status, error, text } = await ask(foreign.ids[kind]);
        const unknown = await ask(nobody[kind]);
        const where = `${place.join('.')} as a ${kind}`;
        expect({ where, status, error }).toEqual({
          where,
          status: unknown.status,
          error: unknown.error,
        });
        expect(status).toBeLessThan(500);
        for (const secret of Object.values(foreign.ids)) expect(text).not.toContain(secret);
      }
    }
  },
  60_000,
);

/** Fields that name the parent of a page. */
const selectors = ['list_id', 'segment_id', 'id', 'email'];

// A stream has no cursors.
const paged = reached.filter(
  ({ method, paging }) =>
    paging === undefined && method.input.fields.some(({ name }) => name === 'cursor'),
);

test.each(paged.map((route) => [route.path, route] as const))(
  '%s reveals nothing for a cursor of another workspace',
  async (path, route) => {
    const resource = path.replace(/^\/api\//, '').replace(/\..*$/, '');
    const selects = (name: string) =>
      selectors.includes(name) && route.method.input.fields.some((field) => field.name === name);
    const ask = (workspaceId: string, more: Request) => {
      const request = { ...requestOf(route.method, resource), workspace_id: workspaceId, ...more };
      const kept = ['workspace_id', 'limit', 'cursor', ...selectors];
      const asked = Object.fromEntries(
        Object.entries(request).filter(([name]) => kept.includes(name)),
      );
      return overHttp(stack.settings.BASE_URL ?? '', route, { token: owner, request: asked });
    };
    const { list, segment, template, email } = foreign.ids;
    const all: Request = { list_id: list, segment_id: segment, id: template, email };
    const selected = Object.entries(all).filter(([name]) => selects(name));
    const theirs = await ask(foreign.workspaceId, {
      limit: 1,
      cursor: '',
      ...Object.fromEntries(selected),
    });
    expect(theirs.status).toBe(200);
    const cursor = JSON.parse(theirs.text).next_cursor ?? '';
    // Without one the answer has what the tests above have sent.
    if (cursor === '') return;
    const { status, text } = await ask(home.workspaceId, { cursor });
    expect([200, 400]).toContain(status);
    for (const secret of Object.values(foreign.ids)) expect(text).not.toContain(secret);
  },
);
