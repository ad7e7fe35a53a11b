import { setTimeout as sleep } from 'node:timers/promises';
import { Code, ConnectError } from '@connectrpc/connect';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { parse } from 'csv-parse/sync';
import { ContactService, MembershipStatus } from '#gen/postrider/contacts/v1/contacts_pb.ts';
import { ListService } from '#gen/postrider/contacts/v1/lists_pb.ts';
import {
  type ExportMessagesRequest,
  MessageService,
} from '#gen/postrider/messages/v1/messages_pb.ts';
import {
  startGateway,
  startService,
  type TestGateway,
  type TestService,
  tokenFor,
} from '../testing.ts';

/** Pages by cursor. Others hold as many messages as `endless` says, for ever. */
let pages: Record<string, string[] | ConnectError | 'hangs'>;
let endless: number;
let asked: ExportMessagesRequest[];
let service: TestService;
let gateway: TestGateway;
/** One with little patience. */
let hasty: TestGateway;
/** Resolves once a call that hangs was given up by its caller. */
let givenUp: PromiseWithResolvers<void>;
const streamsPerCallerMax = 2;

beforeAll(async () => {
  service = await startService((router) => {
    router.service(MessageService, {
      async exportMessages(request, { signal }) {
        asked.push(request);
        const { cursor } = request;
        if (pages[cursor] === 'hangs') {
          signal.addEventListener('abort', () => givenUp.resolve());
          await givenUp.promise;
          throw new ConnectError('given up', Code.Canceled);
        }
        const page: string[] | ConnectError =
          pages[cursor] ?? Array(endless).fill('x'.repeat(1_000));
        if (page instanceof ConnectError) throw page;
        const messages = page.map((id) => ({ id }));
        const next = Number(cursor) + 1;
        const isLast = endless === 0 && pages[next] === undefined;
        return isLast ? { messages } : { messages, nextCursor: String(next) };
      },
    });
    router.rpc(ListService.method.exportList, ({ cursor }) => {
      const page = pages[cursor] ?? [];
      if (page === 'hangs' || page instanceof ConnectError) throw page;
      const next = Number(cursor) + 1;
      const members = page.map((email) => ({
        contact: {
          email,
          phone: '+49 1',
          lastName: 'a "b", c',
          customJson1: { a: '=1' },
          customNumber1: -5,
        },
        status: MembershipStatus.ACTIVE,
        joinedAt: { seconds: 0n, nanos: 0 },
      }));
      return { members, nextCursor: pages[next] && String(next) };
    });
    router.rpc(ContactService.method.exportContact, ({ cursor }) => {
      const page = pages[cursor] ?? [];
      if (page === 'hangs' || page instanceof ConnectError) throw page;
      const next = Number(cursor) + 1;
      const records = page.map((kind) => ({ kind }));
      return { records, nextCursor: pages[next] && String(next) };
    });
  });
  gateway = await startGateway(service.port, { limits: { streamsPerCallerMax } });
  hasty = await startGateway(service.port, { limits: { readStallMs: 100 } });
  reset();
});
afterEach(reset);
afterAll(async () => {
  await gateway.stop();
  await hasty.stop();
  await service.stop();
});

function reset(): void {
  pages = {};
  endless = 0;
  asked = [];
  givenUp = Promise.withResolvers();
}

async function ask(query = '', options: RequestInit & { through?: TestGateway } = {}) {
  const { through = gateway, ...rest } = options;
  const authorization = `Bearer ${await tokenFor(crypto.randomUUID())}`;
  const url = `${through.url}/api/messages.export?workspace_id=w1${query}`;
  return fetch(url, { headers: { authorization }, ...rest });
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await sleep(10);
}

test('all pages are one stream of lines, with the filters of the request', async () => {
  pages = { '': ['a', 'b'], 1: [], 2: ['c'] };
  const answer = await ask('&broadcast_id=b1&limit=2');
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toBe('application/x-ndjson');
  expect(answer.headers.get('x-request-id')).not.toBeNull();
  const lines = (await answer.text()).split('\n');
  expect(lines.pop()).toBe('');
  expect(lines.map((line) => JSON.parse(line).id)).toEqual(['a', 'b', 'c']);
  expect(asked).toMatchObject(
    ['', '1', '2'].map((cursor) => ({ cursor, broadcastId: 'b1', limit: 2, workspaceId: 'w1' })),
  );
});

test('an export of nothing is an empty body', async () => {
  pages = { '': [] };
  const answer = await ask();
  expect([answer.status, await answer.text()]).toEqual([200, '']);
});

const document = async () => {
  const authorization = `Bearer ${await tokenFor(crypto.randomUUID())}`;
  const url = `${gateway.url}/api/contacts.export?workspace_id=w1&email=a@example.com`;
  return fetch(url, { headers: { authorization } });
};

test('an operation whose answer is a document is one JSON object of all pages', async () => {
  pages = { '': [], 1: ['a', 'b'], 2: ['c'] };
  const answer = await document();
  expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
  const { records } = (await answer.json()) as { records: { kind: string }[] };
  expect(records.map(({ kind }) => kind)).toEqual(['a', 'b', 'c']);
  pages = { '': [] };
  expect(await (await document()).json()).toEqual({ records: [] });
});

test('a document that is cut is no JSON', async () => {
  pages = { '': ['a'], 1: new ConnectError('no more', Code.Unavailable) };
  await expect((await document()).json()).rejects.toThrow();
});

const list = async (format: string) => {
  const authorization = `Bearer ${await tokenFor(crypto.randomUUID())}`;
  const url = `${gateway.url}/api/lists.export?workspace_id=w1&list_id=l1${format}`;
  return fetch(url, { headers: { authorization } });
};

test('an export in CSV has a column for each field, and runs in no spreadsheet', async () => {
  pages = { '': ['=a@example.com'], 1: [], 2: ['b@example.com'] };
  const answer = await list('&format=csv');
  expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8');
  const [header = '', ...rows] = parse(await answer.text());
  expect(header.slice(0, 3)).toEqual(['email', 'external_id', 'timezone']);
  expect(header.slice(-3)).toEqual(['status', 'joined_at', 'status_changed_at']);
  expect(header).not.toContain('contact_lists');
  const [first, second] = rows.map((cells) =>
    Object.fromEntries(cells.map((cell, at) => [header[at], cell])),
  );
  expect(first).toMatchObject({
    email: "'=a@example.com",
    phone: "'+49 1",
    last_name: 'a "b", c',
    custom_json_1: '{"a":"=1"}',
    custom_number_1: '-5',
    custom_string_1: '',
    status: 'active',
    joined_at: '1970-01-01T00:00:00Z',
  });
  expect([second?.email, rows.length]).toEqual(['b@example.com', 2]);
});

test('an export in CSV of nothing is its header, and one in lines has the contact as an object', async () => {
  pages = { '': [] };
  expect((await (await list('&format=csv')).text()).split('\r\n')).toHaveLength(2);
  pages = { '': ['a@example.com'] };
  for (const format of ['', '&format=ndjson']) {
    const line = JSON.parse(await (await list(format)).text());
    expect(line).toMatchObject({ contact: { email: 'a@example.com' }, status: 'active' });
  }
  expect((await list('&format=xml')).status).toBe(400);
});

test('a CSV file that is cut has no end', async () => {
  pages = { '': ['a'], 1: new ConnectError('no more', Code.Unavailable) };
  await expect((await list('&format=csv')).text()).rejects.toThrow();
});

test('an error of the first page is an answer like any other', async () => {
  pages = { '': new ConnectError('invalid cursor', Code.InvalidArgument) };
  const answer = await ask();
  expect(answer.status).toBe(400);
  expect(await answer.json()).toMatchObject({ error: 'invalid cursor', code: 'invalid_argument' });
});

test('an error in the middle cuts the stream, and is logged', async () => {
  pages = { '': ['a'], 1: new ConnectError('no more', Code.Unavailable) };
  const answer = await ask();
  await expect(answer.text()).rejects.toThrow();
  const id = answer.headers.get('x-request-id');
  await until(() => gateway.logged.some(({ requestId }) => requestId === id));
});

test('a read ends once the client has gone', async () => {
  pages = { '': ['a'], 1: [], 2: 'hangs' };
  const gone = new AbortController();
  const answer = await ask('', { signal: gone.signal });
  await answer.body?.getReader().read();
  await until(() => asked.length === 3);
  gone.abort();
  await givenUp.promise;
});

test('a client that does not read is not read for, and then disconnected', async () => {
  endless = 1_000;
  const answer = await ask('', { through: hasty });
  const id = answer.headers.get('x-request-id');
  await until(() => hasty.logged.some(({ requestId }) => requestId === id));
  // A page has a megabyte; the sockets between hold a few.
  expect(asked.length).toBeLessThan(30);
  await expect(answer.text()).rejects.toThrow();
});

test('HEAD reads one page and sends none', async () => {
  endless = 1;
  const answer = await ask('', { method: 'HEAD' });
  expect([answer.status, await answer.text(), asked.length]).toEqual([200, '', 1]);
});

test('a caller has few streams at once, and room again once one is over', async () => {
  endless = 1_000;
  const controllers = Array.from({ length: streamsPerCallerMax }, () => new AbortController());
  const token = await tokenFor('busy');
  // A caller is the same however it writes its token, and by which token.
  const written = [`Bearer ${token}`, `bearer   ${token}`];
  const headers = { authorization: `BEARER ${await tokenFor('busy', 61)}` };
  // A response that nobody holds is cancelled by the collector.
  const open: Response[] = [];
  for (const [place, { signal }] of controllers.entries()) {
    const authorization = written[place] ?? '';
    open.push(await ask('', { headers: { authorization }, signal }));
  }
  expect(open.map(({ status }) => status)).toEqual([200, 200]);
  const refused = await ask('', { headers });
  expect(refused.status).toBe(429);
  expect(refused.headers.get('retry-after')).toBe('5');
  expect(await refused.json()).toMatchObject({ error: 'too many exports run at once' });
  const other = new AbortController();
  expect((await ask('', { signal: other.signal })).status).toBe(200);
  other.abort();
  for (const controller of controllers) controller.abort();
  let status = 429;
  while (status === 429) {
    const last = new AbortController();
    ({ status } = await ask('', { headers, signal: last.signal }));
    last.abort();
  }
  expect(status).toBe(200);
});
