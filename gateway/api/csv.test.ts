import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { Code, ConnectError } from '@connectrpc/connect';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import {
  ContactService,
  type ImportContactsRequest,
  type ImportContactsResponse,
  MembershipStatus,
} from '#gen/postrider/contacts/v1/contacts_pb.ts';
import { retryLater } from '#lib/errors/errors.ts';
import { until } from '../../test/stack/until.ts';
import {
  startGateway,
  startService,
  type TestGateway,
  type TestService,
  tokenFor,
} from '../testing.ts';

/** The calls of the service, and its answers in place of the usual ones. */
let asked: ImportContactsRequest[];
let faults: (ConnectError | Promise<void> | undefined)[];
let unknownLists: string[];
let service: TestService;
let gateway: TestGateway;
/** One with little patience. */
let hasty: TestGateway;

const emailText = /^[^@\s]+@[^@\s]+$/;

beforeAll(async () => {
  service = await startService((router) => {
    router.rpc(ContactService.method.importContacts, async (request) => {
      const fault = faults.shift();
      if (fault instanceof ConnectError) throw fault;
      await fault;
      asked.push(request);
      const operations = request.contacts.map(({ email, rowError }) => {
        const error = rowError || (emailText.test(email) ? '' : 'invalid email format');
        return error === '' ? { email, action: 'create' } : { email, action: 'error', error };
      });
      const unknown = unknownLists.length > 0 ? { unknownLists: { names: unknownLists } } : {};
      return { operations, ...unknown } as unknown as ImportContactsResponse;
    });
  });
  gateway = await startGateway(service.port, { trustedProxies: ['127.0.0.0/8'] });
  hasty = await startGateway(service.port, {
    requestTimeoutMs: 300,
    limits: { bodyStallMs: 400, importMinBytes: 1_000 },
  });
});
beforeEach(() => {
  asked = [];
  faults = [];
  unknownLists = [];
});
afterAll(async () => {
  await gateway.stop();
  await hasty.stop();
  await service.stop();
});

type Sending = { query?: string; accept?: string; type?: string; through?: TestGateway };

async function send(body: string | Buffer | ReadableStream, sending: Sending = {}) {
  const { query = '', accept = '*/*', type = 'text/csv', through = gateway } = sending;
  const headers = {
    authorization: `Bearer ${await tokenFor(crypto.randomUUID())}`,
    'content-type': type,
    accept,
  };
  const url = `${through.url}/api/contacts.import?workspace_id=w1${query}`;
  return fetch(url, { method: 'POST', headers, body, duplex: 'half' } as RequestInit);
}

const answerTo = async (file: string | Buffer, sending?: Sending) => {
  const answer = await send(file, sending);
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
};

const linesOf = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

const rows = () => asked.flatMap(({ contacts }) => contacts);
const numbered = (count: number) =>
  Array.from({ length: count }, (_, at) => `user${at}@example.com,Ann ${at}\n`).join('');

test('a file is taken, and answered with a summary', async () => {
  const file = 'email,First-Name,Shoe size,custom_number_1\na@example.com,Ann,39,-1.5\nnobody,,,\n';
  const { status, body } = await answerTo(file, { query: '&lists=news,vip&status=unsubscribed' });
  expect([status, body]).toEqual([
    200,
    {
      rows: 2,
      created: 1,
      updated: 0,
      failed_total: 1,
      failed: [{ line: 3, email: 'nobody', error: 'invalid email format' }],
      ignored_columns: ['Shoe size'],
      unknown_lists: [],
    },
  ]);
  expect(asked[0]).toMatchObject({
    workspaceId: 'w1',
    subscribeToLists: ['news', 'vip'],
    status: MembershipStatus.UNSUBSCRIBED,
  });
  expect(rows()[0]).toMatchObject({ firstName: 'Ann', customNumber1: -1.5 });
});

test("exports of Mailchimp's audiences are read as they are", async () => {
  const file = [
    'Email Address,First Name,Last Name,Address,Phone Number,Birthday,MEMBER_RATING,OPTIN_TIME,TIMEZONE,UNSUB_TIME,CLEAN_TIME,TAGS',
    'a@example.com,Ann,Lee,"1 Way  Town",+1 555,01/02,2,"2024-01-02 10:11:12",Europe/Paris,,,"""Gold, Club"",""vip"""',
    'b@example.com,,,,,,,,,"2024-02-02 10:11:12",,',
    'c@example.com,,,,,,,,,,"2024-02-02 10:11:12",',
    '',
  ].join('\r\n');
  const { body } = await answerTo(`\uFEFF${file}`, { query: '&map.TAGS=lists&lists=all' });
  expect(body).toMatchObject({
    rows: 3,
    ignored_columns: ['Birthday', 'MEMBER_RATING', 'OPTIN_TIME'],
  });
  const [ann, unsubscribed, cleaned] = rows();
  expect(ann).toMatchObject({
    email: 'a@example.com',
    firstName: 'Ann',
    lastName: 'Lee',
    addressLine1: '1 Way  Town',
    phone: '+1 555',
    timezone: 'Europe/Paris',
    lists: ['Gold, Club', 'vip'],
    status: MembershipStatus.UNSPECIFIED,
  });
  expect(unsubscribed?.status).toBe(MembershipStatus.UNSUBSCRIBED);
  expect(cleaned?.status).toBe(MembershipStatus.BOUNCED);
});

test("exports of listmonk's subscribers are read as they are", async () => {
  const file = [
    'uuid,email,name,attributes,status,created_at,updated_at',
    '5f4c,a@example.com,Ann Lee,"{""city"": ""Bonn""}",enabled,2024-01-01,2024-01-01',
    '6f4c,b@example.com,Bob,{},blocklisted,2024-01-01,2024-01-01',
    '7f4c,c@example.com,Cid,oops,enabled,2024-01-01,2024-01-01',
    '8f4c,d@example.com,Dan,{},gone,2024-01-01,2024-01-01',
  ].join('\n');
  const { body } = await answerTo(file);
  expect(rows().slice(0, 2)).toMatchObject([
    {
      externalId: '5f4c',
      fullName: 'Ann Lee',
      customJson1: { city: 'Bonn' },
      status: MembershipStatus.ACTIVE,
    },
    { status: MembershipStatus.UNSUBSCRIBED },
  ]);
  expect(body.failed).toEqual([
    { line: 4, email: 'c@example.com', error: 'custom_json_1: must be an object' },
    {
      line: 5,
      email: 'd@example.com',
      error: 'status: must be one of active, pending, unsubscribed, bounced, complained',
    },
  ]);
});

test('columns are mapped by the caller, and names of other columns give way', async () => {
  const file = 'Mail;email;Plan;Notes\na@example.com;b@example.com;gold;x\n';
  const query = '&map.Mail=email&map.Plan=custom_string_1&map.notes=';
  const { body } = await answerTo(file, { query });
  expect(body.ignored_columns).toEqual(['email', 'Notes']);
  expect(rows()).toMatchObject([{ email: 'a@example.com', customString1: 'gold' }]);
});

test.each([
  ['no column is read as email; name the one with it by map.<column>=email', 'Name,Phone\n', ''],
  ['two columns are read as email: email, Email Address', 'email,Email Address\n', ''],
  ['map.Plan: the file has no such column', 'email\na@example.com\n', '&map.Plan=phone'],
  ['the file has no rows', 'email\n', ''],
  ['the file has no rows', '', ''],
  ['unknown query parameter: list', 'email\na@example.com\n', '&list=news'],
  ['status: must be one of', 'email\na@example.com\n', '&status=gone'],
  ['the file has more than 1000 columns', `email${','.repeat(1_000)}\n`, ''],
])('a file that cannot be read is a 400: %s', async (text, file, query) => {
  const { status, body } = await answerTo(file, { query });
  expect([status, body.error]).toEqual([400, expect.stringContaining(text)]);
  expect(asked).toEqual([]);
});

test('a map to no field names the fields', async () => {
  const { status, body } = await answerTo('email\na@b.c\n', { query: '&map.email=mail' });
  expect(status).toBe(400);
  expect(body.details).toMatchObject([
    { field: 'map.email', description: expect.stringContaining('one of email, external_id') },
  ]);
});

test.each([
  ['text/csv; charset=latin1', {}],
  ['text/plain', {}],
])('%s is a 415', async (type) => {
  const { status, body } = await answerTo('email\na@example.com\n', { type });
  expect([status, body.error]).toEqual([415, 'Content-Type must be application/json or text/csv']);
});

test('batches follow each other in the order of the file', async () => {
  const { body } = await answerTo(`email,first_name\n${numbered(10_000)}`);
  expect(body).toMatchObject({ rows: 10_000, created: 10_000, failed_total: 0 });
  expect(rows().map(({ firstName }) => firstName)).toEqual(
    Array.from({ length: 10_000 }, (_, at) => `Ann ${at}`),
  );
  const sizes = asked.map(({ contacts }) => contacts.length);
  expect(Math.max(...sizes)).toBe(2_500);
});

test('with application/x-ndjson rows that failed, progress and the summary are lines', async () => {
  const file = `email,first_name\nbad,x\n${numbered(3_000)}worse,y\n`;
  const answer = await send(file, { accept: 'application/x-ndjson' });
  expect(answer.headers.get('content-type')).toBe('application/x-ndjson');
  const lines = linesOf(await answer.text());
  expect(lines.filter(({ failed }) => failed)).toEqual([
    { failed: { line: 2, email: 'bad', error: 'invalid email format' } },
    { failed: { line: 3_003, email: 'worse', error: 'invalid email format' } },
  ]);
  expect(lines.filter(({ progress }) => progress).length).toBe(asked.length);
  expect(lines.at(-1)).toEqual({
    summary: {
      rows: 3_002,
      created: 3_000,
      updated: 0,
      failed_total: 2,
      ignored_columns: [],
      unknown_lists: [],
    },
  });
});

test('with text/csv the rows that failed are a file that can be sent again', async () => {
  unknownLists = ['gone'];
  const cell = '"=1+1, ""x"""';
  const answer = await send(`email,note,phone\na@example.com,n,1\nbad,${cell},+49\n`, {
    accept: 'text/csv',
  });
  const text = await answer.text();
  expect(text).toBe(
    `email,note,phone,line,reason\r\nbad,"'=1+1, ""x""",'+49,3,invalid email format\r\n`,
  );
  await answerTo(text, { query: '&map.note=custom_string_1' });
  expect(rows().at(-1)).toMatchObject({ email: 'bad', phone: '+49', customString1: '=1+1, "x"' });
});

test('a row with a NUL, or with more cells than the header, fails alone', async () => {
  const { body } = await answerTo(
    'email,phone\na@example.com,1\0\nb@example.com,1,2\nc@example.com\n',
  );
  expect(body.failed).toEqual([
    { line: 2, email: 'a@example.com', error: 'phone: must not contain NUL characters' },
    { line: 3, email: 'b@example.com', error: 'the row has 3 cells, and the header 2' },
  ]);
});

test('a header that comes again is a row that fails', async () => {
  const { body } = await answerTo('email,phone\nemail,phone\na@example.com,1\n');
  expect(body).toMatchObject({ created: 1, failed: [{ line: 2, email: 'email' }] });
});

test('the summary names 1,000 rows that failed, and counts all', async () => {
  const { body } = await answerTo(`email\n${'bad\n'.repeat(3_000)}`);
  expect(body).toMatchObject({ failed_total: 3_000, rows: 3_000 });
  expect(body.failed).toHaveLength(1_000);
});

const broken = `email,first_name\n${numbered(3_000)}x@example.com,"never closed\n${numbered(10)}`;

test('rows before a line that cannot be read are written, and the answer has the line', async () => {
  const { status, body } = await answerTo(broken);
  expect([status, body]).toEqual([
    400,
    expect.objectContaining({
      error: 'line 3002: a quote of the row is not closed',
      rows: 3_000,
      created: 3_000,
      stopped_at_line: 3_002,
    }),
  ]);
  expect(rows()).toHaveLength(3_000);
});

test('a stream that is stopped says so in its last line or row', async () => {
  const lines = linesOf(await (await send(broken, { accept: 'application/x-ndjson' })).text());
  expect(lines.at(-1)).toMatchObject({
    summary: {
      rows: 3_000,
      stopped_at_line: 3_002,
      error: 'line 3002: a quote of the row is not closed',
      code: 'invalid_argument',
    },
  });
  const file = await (await send(broken, { accept: 'text/csv' })).text();
  expect(file).toMatch(/^email,first_name,line,reason\r\n,,3002,stopped: line 3002: .*\r\n$/);
});

test('a refusal of the first batch is an answer like any other, in every form', async () => {
  for (const accept of ['*/*', 'application/x-ndjson', 'text/csv']) {
    faults = [new ConnectError('no permission', Code.PermissionDenied)];
    const { status, body } = await answerTo(`email,first_name\n${numbered(20_000)}`, { accept });
    expect([status, body.error]).toEqual([403, 'no permission']);
  }
  expect(asked).toEqual([]);
});

test('a batch that is refused for now is repeated', async () => {
  faults = [
    undefined,
    retryLater('busy', Code.ResourceExhausted, 1),
    retryLater('x', Code.Unavailable, 1),
  ];
  const { status, body } = await answerTo(`email,first_name\n${numbered(5_000)}`);
  expect([status, body.rows, rows().length]).toEqual([200, 5_000, 5_000]);
});

test('a fault of ours in the middle is a 500 with what was done, or cuts the stream', async () => {
  const file = `email,first_name\n${numbered(5_000)}`;
  faults = [undefined, new ConnectError('secret', Code.Internal)];
  const { status, body } = await answerTo(file);
  expect(status).toBe(500);
  expect(body).toMatchObject({ error: 'Failed to import contacts', rows: rows().length });
  expect(body.stopped_at_line).toBe(rows().length + 2);
  faults = [undefined, new ConnectError('secret', Code.Internal)];
  const cut = await send(file, { accept: 'application/x-ndjson' });
  await expect(cut.text()).rejects.toThrow();
});

/** A request whose body is sent bit by bit. */
async function slowly(through: TestGateway, headers: Record<string, string> = {}) {
  const request = httpRequest({
    port: through.port,
    path: '/api/contacts.import?workspace_id=w1',
    method: 'POST',
    headers: {
      authorization: `Bearer ${await tokenFor(crypto.randomUUID())}`,
      'content-type': 'text/csv',
      ...headers,
    },
  });
  request.on('error', () => {});
  const answer = once(request, 'response').then(async ([response]) => {
    let text = '';
    for await (const chunk of response) text += chunk;
    return { status: response.statusCode as number, text };
  });
  answer.catch(() => {});
  return { request, answer };
}

test('a file that makes progress may take longer than any other request', async () => {
  const { request, answer } = await slowly(hasty, { accept: 'application/x-ndjson' });
  request.write('email,first_name\n');
  for (let part = 0; part < 20; part += 1) {
    request.write(numbered(100));
    await sleep(100);
  }
  request.end();
  const { status, text } = await answer;
  expect([status, linesOf(text).at(-1)]).toMatchObject([200, { summary: { rows: 2_000 } }]);
}, 20_000);

test('a file that pauses is a 408 with what was written', async () => {
  const { request, answer } = await slowly(hasty);
  request.write(`email,first_name\n${numbered(10)}`);
  const { status, text } = await answer;
  expect([status, JSON.parse(text)]).toMatchObject([
    408,
    { code: 'request_timeout', rows: 9, stopped_at_line: 11 },
  ]);
  request.destroy();
});

test('a file of a byte now and then is a 408', async () => {
  const { request, answer } = await slowly(hasty);
  const timer = setInterval(() => request.write('e'), 50);
  expect((await answer).status).toBe(408);
  clearInterval(timer);
  request.destroy();
});

test('the import of a caller who has gone ends after what was sent', async () => {
  const token = await tokenFor('leaver');
  const headers = { authorization: `Bearer ${token}` };
  for (let round = 0; round < 3; round += 1) {
    const { request } = await slowly(gateway, headers);
    asked = [];
    request.write(`email,first_name\n${numbered(10)}`);
    while (asked.length === 0) await sleep(5);
    request.destroy();
  }
  let status = 429;
  while (status === 429) {
    const { request, answer } = await slowly(gateway, headers);
    request.end('email\na@example.com\n');
    ({ status } = await answer);
  }
  expect(status).toBe(200);
});

test('nothing is read on while a batch is written', async () => {
  const held = Promise.withResolvers<void>();
  faults = [undefined, held.promise];
  const part = Buffer.from(`a@example.com,${'x'.repeat(1_000)}\n`.repeat(50));
  let sent = 0;
  const body = new ReadableStream({
    start: (controller) => controller.enqueue(Buffer.from('email,custom_string_1\n')),
    pull(controller) {
      sent += 1;
      controller.enqueue(part);
      if (sent === 300) controller.close();
    },
  });
  const answering = send(body);
  let before = -1;
  while (before !== sent || faults.length > 0) {
    before = sent;
    await sleep(200);
  }
  // A few MiB are in the sockets between.
  expect(sent).toBeLessThan(250);
  held.resolve();
  expect(((await (await answering).json()) as { rows: number }).rows).toBe(15_000);
}, 120_000);

test('a caller has two imports at once, a workspace four, and room again after one', async () => {
  const token = await tokenFor('importer');
  const held = Promise.withResolvers<void>();
  faults = Array.from({ length: 6 }, () => held.promise);
  const headers = { authorization: `Bearer ${token}` };
  const open = [await slowly(gateway, headers), await slowly(gateway, headers)];
  for (const { request } of open) request.write(`email,first_name\n${numbered(10)}`);
  while (faults.length > 4) await sleep(10);
  const third = await slowly(gateway, headers);
  third.request.end('email\na@example.com\n');
  expect(await third.answer).toMatchObject({
    status: 429,
    text: expect.stringContaining('too many imports'),
  });
  const others = [await slowly(gateway), await slowly(gateway), await slowly(gateway)];
  for (const { request } of others) request.write(`email,first_name\n${numbered(10)}`);
  while (faults.length > 1) await sleep(10);
  held.resolve();
  const refused = await Promise.race(others.map(({ answer }) => answer));
  expect([refused.status, JSON.parse(refused.text)]).toMatchObject([429, { rows: 9 }]);
  for (const { request } of [...open, ...others]) request.end();
  for (const { answer } of open) expect((await answer).status).toBe(200);
  faults = [];
  const again = await slowly(gateway, headers);
  again.request.end('email\na@example.com\n');
  expect((await again.answer).status).toBe(200);
});

test('files without a row leave half of the places to other networks', async () => {
  const open = [];
  for (let each = 0; each < 4; each += 1) {
    const headers = { authorization: `Bearer ${await tokenFor(`rowless-${each}`)}` };
    open.push(await slowly(gateway, headers), await slowly(gateway, headers));
  }
  for (const { request } of open) request.write('email\n');
  const ask = async (headers: Record<string, string> = {}) => {
    const { request, answer } = await slowly(gateway, headers);
    request.end('email\na@example.com\n');
    return (await answer).status;
  };
  const elsewhere = { 'x-forwarded-for': '203.0.113.9' };
  await until('the ninth of the network finds no place', async () => (await ask()) === 429, {
    withinMs: 5_000,
  });
  expect(await ask(elsewhere)).toBe(200);
  for (const { request } of open) request.end('a@example.com\n');
  for (const { answer } of open) expect((await answer).status).toBe(200);
  expect(await ask()).toBe(200);
});
