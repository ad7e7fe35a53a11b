import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough, Readable } from 'node:stream';
import { afterEach, expect, test } from '@jest/globals';
import { waitMs } from './http.ts';
import {
  type ClientOptions,
  ConnectionError,
  InvalidRequestError,
  NotFoundError,
  Postrider,
  PostriderError,
  RateLimitError,
  ServerError,
  TimeoutError,
} from './index.ts';

type Handler = (request: IncomingMessage, response: ServerResponse, attempt: number) => void;

type Received = {
  url: string;
  key: unknown;
  headers: IncomingMessage['headers'];
  body: string;
};

let end = () => {};
afterEach(() => end());

type Options = Partial<ClientOptions> & { basePath?: string };

/** A client of a server that answers by `handler`, and the requests that came. */
async function given(handler: Handler, { basePath = '', ...options }: Options = {}) {
  const requests: Received[] = [];
  const server = createServer((request, response) => {
    const { url = '', headers } = request;
    const received: Received = { url, key: headers['idempotency-key'], headers, body: '' };
    requests.push(received);
    request.on('data', (part) => {
      received.body += part;
    });
    request.on('end', () => handler(request, response, requests.length));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  end = () => {
    server.close();
    server.closeAllConnections();
  };
  const { port } = server.address() as AddressInfo;
  const baseUrl = `http://127.0.0.1:${port}${basePath}`;
  const postrider = new Postrider({ baseUrl, token: 'key', workspaceId: 'demo', ...options });
  return { postrider, requests };
}

function answer(response: ServerResponse, status: number, body: object, headers = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

const list = { id: 'readers', name: 'Readers' };

test('a read sends its fields as the query, with the workspace of the client', async () => {
  const { postrider, requests } = await given((_, response) => answer(response, 200, {}));
  await postrider.contacts.list({ segments: ['a', 'b'], limit: 10, with_contact_lists: true });
  const [{ url, headers } = { url: '', headers: {} }] = requests;
  const query = 'workspace_id=demo&segments=a&segments=b&limit=10&with_contact_lists=true';
  expect(url).toBe(`/api/contacts.list?${query}`);
  expect(headers.authorization).toBe('Bearer key');
});

test('a call that takes a key is repeated under the same one after a 503', async () => {
  const { postrider, requests } = await given((_, response, attempt) =>
    attempt < 3 ? answer(response, 503, {}) : answer(response, 201, { list }),
  );
  await expect(postrider.lists.create(list)).resolves.toMatchObject({ list });
  const keys = new Set(requests.map(({ key }) => key));
  expect({ attempts: requests.length, keys: keys.size }).toEqual({ attempts: 3, keys: 1 });
  expect([...keys][0]).toMatch(/^[0-9a-f-]{36}$/);
});

test('a call without a key that may have been done is not repeated', async () => {
  const { postrider, requests } = await given((request) => request.socket.destroy());
  await expect(postrider.lists.update(list)).rejects.toThrow(ConnectionError);
  expect(requests).toHaveLength(1);
});

test('a call without a key that was refused for its rate is repeated', async () => {
  const { postrider, requests } = await given((_, response, attempt) =>
    attempt === 1
      ? answer(response, 429, { error: 'slow down' }, { 'retry-after': '0' })
      : answer(response, 200, { list }),
  );
  await postrider.lists.update(list);
  expect(requests).toHaveLength(2);
});

test('nobody waits for minutes where a server asks for that', async () => {
  const { postrider, requests } = await given((_, response) =>
    answer(response, 429, { error: 'quota' }, { 'retry-after': '3600' }),
  );
  const failed = postrider.lists.list();
  await expect(failed).rejects.toThrow(RateLimitError);
  await expect(failed).rejects.toMatchObject({ retryAfterSeconds: 3600 });
  expect(requests).toHaveLength(1);
});

test('a read is repeated when its connection breaks', async () => {
  const { postrider, requests } = await given((request, response, attempt) =>
    attempt === 1 ? request.socket.destroy() : answer(response, 200, { lists: [list] }),
  );
  await expect(postrider.lists.list()).resolves.toEqual({ lists: [list] });
  expect(requests).toHaveLength(2);
});

test('an error says which field is at fault', async () => {
  const details = [{ field: 'id', description: 'too long' }];
  const body = { error: 'id: too long', code: 'invalid_argument', request_id: 'r1', details };
  const { postrider } = await given((_, response) => answer(response, 400, body));
  const failed = postrider.lists.create(list);
  await expect(failed).rejects.toThrow(InvalidRequestError);
  await expect(failed).rejects.toMatchObject({
    message: 'id: too long',
    code: 'invalid_argument',
    requestId: 'r1',
    fields: details,
  });
});

test('the answer of a proxy is an error as well', async () => {
  const { postrider } = await given((_, response) => response.writeHead(404).end('<h1>no</h1>'));
  await expect(postrider.lists.get({ id: 'a' })).rejects.toThrow(NotFoundError);
});

test('a 500 is not repeated', async () => {
  const { postrider, requests } = await given((_, response) => answer(response, 500, {}));
  await expect(postrider.lists.list()).rejects.toThrow(ServerError);
  expect(requests).toHaveLength(1);
});

test('an answer that does not come ends with a time-out', async () => {
  const { postrider } = await given(() => {}, { timeoutMs: 50, retries: 0 });
  await expect(postrider.lists.list()).rejects.toThrow(TimeoutError);
});

test('a body that stops ends with a time-out', async () => {
  const { postrider } = await given(
    (_, response) => {
      response.writeHead(200).write('{');
    },
    { timeoutMs: 50, retries: 0 },
  );
  await expect(postrider.lists.list()).rejects.toThrow(TimeoutError);
});

test('a caller can end a call, and its wait for the next attempt', async () => {
  const { postrider, requests } = await given((_, response) =>
    answer(response, 503, {}, { 'retry-after': '30' }),
  );
  const controller = new AbortController();
  const failed = postrider.lists.list({}, { signal: controller.signal });
  while (requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  controller.abort(new Error('the user left'));
  await expect(failed).rejects.toThrow('the user left');
  expect(requests).toHaveLength(1);
});

test('all pages come one by one, each with the cursor of the one before', async () => {
  const pages: Record<string, object> = {
    '': { contacts: [{ email: 'a' }, { email: 'b' }], next_cursor: 'two' },
    two: { contacts: [], next_cursor: 'three' },
    three: { contacts: [{ email: 'c' }] },
  };
  const { postrider, requests } = await given(({ url }, response) => {
    const cursor = new URL(url ?? '', 'http://a').searchParams.get('cursor') ?? '';
    answer(response, 200, pages[cursor] ?? {});
  });
  const found: string[] = [];
  for await (const { email } of postrider.contacts.listAll({ limit: 2 })) found.push(email);
  expect(found).toEqual(['a', 'b', 'c']);
  expect(requests).toHaveLength(3);
});

test('an export gives each line, also where chunks end in the middle of a letter', async () => {
  const lines = Buffer.from(
    '{"contact":{"first_name":"Jörg"}}\n{"contact":{"first_name":"Ada"}}\n',
  );
  const { postrider } = await given(async (_, response) => {
    for (const byte of lines) {
      response.write(Buffer.of(byte));
      await new Promise((resolve) => setImmediate(resolve));
    }
    response.end();
  });
  const names: unknown[] = [];
  for await (const { contact } of postrider.lists.export({ list_id: 'a' })) {
    names.push(contact.first_name);
  }
  expect(names).toEqual(['Jörg', 'Ada']);
});

test('an export that is cut throws', async () => {
  const { postrider } = await given((_, response) => {
    response.write('{"contact":{}}\n');
    setTimeout(() => response.destroy(), 50);
  });
  const read = async () => {
    for await (const _ of postrider.lists.export({ list_id: 'a' }));
  };
  await expect(read()).rejects.toThrow(ConnectionError);
});

/** Bytes until the reader has enough. */
function endless(response: ServerResponse, status: number, part: string): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  const more = () => {
    if (!response.destroyed) response.write(part, () => setImmediate(more));
  };
  more();
}

test('an answer without an end is left at its limit, and asked for once', async () => {
  const { postrider, requests } = await given(
    (_, response) => endless(response, 200, 'x'.repeat(65_536)),
    { answerMaxBytes: 1_000_000, timeoutMs: 20_000 },
  );
  const read = postrider.contacts.list({});
  await expect(read).rejects.toThrow('GET /api/contacts.list answered more than 1000000 bytes');
  await expect(read).rejects.toThrow(PostriderError);
  await expect(read).rejects.not.toThrow(ConnectionError);
  expect(requests).toHaveLength(1);
});

test('an error without an end is an error', async () => {
  const { postrider } = await given((_, response) => endless(response, 404, 'x'.repeat(65_536)), {
    timeoutMs: 20_000,
  });
  const beganMs = performance.now();
  await expect(postrider.contacts.list({})).rejects.toThrow(NotFoundError);
  expect(performance.now() - beganMs).toBeLessThan(10_000);
});

test('an export takes answers of any length, but no line beyond the limit of an answer', async () => {
  const line = `${JSON.stringify({ email: `${'a'.repeat(1_000)}@example.com` })}\n`;
  const { postrider } = await given(
    (_, response, attempt) =>
      attempt === 1 ? response.end(line.repeat(1_000)) : endless(response, 200, 'x'.repeat(65_536)),
    { answerMaxBytes: 100_000 },
  );
  const read = async () => {
    let count = 0;
    for await (const _ of postrider.lists.export({ list_id: 'a' })) count += 1;
    return count;
  };
  expect(await read()).toBe(1_000);
  await expect(read()).rejects.toThrow('a line of the answer is longer than 100000 bytes');
});

test('Retry-After as a date is waited for, and what is no time is none', async () => {
  const headers: Record<string, string> = {
    date: new Date(Date.now() + 3_600_000).toUTCString(),
    negative: '-5',
    word: '3 soon',
  };
  const { postrider } = await given(
    ({ url }, response) => {
      const cursor = new URL(url ?? '', 'http://a').searchParams.get('cursor') ?? '';
      answer(response, 429, {}, { 'retry-after': headers[cursor] });
    },
    { retries: 0 },
  );
  const late = await postrider.contacts.list({ cursor: 'date' }).catch((error) => error);
  expect(late.retryAfterSeconds).toBeGreaterThan(3_500);
  expect(late.retryAfterSeconds).toBeLessThanOrEqual(3_600);
  for (const cursor of ['negative', 'word']) {
    const failed = postrider.contacts.list({ cursor });
    await expect(failed).rejects.toMatchObject({ retryAfterSeconds: undefined });
  }
});

test('a base address keeps its path', async () => {
  const { postrider, requests } = await given((_, response) => answer(response, 200, {}), {
    basePath: '/mail/',
  });
  await postrider.lists.list();
  expect(requests[0]?.url).toBe('/mail/api/lists.list?workspace_id=demo');
});

test('a workspace that is undefined is that of the client', async () => {
  const { postrider, requests } = await given((_, response) => answer(response, 200, {}));
  await postrider.lists.list({ workspace_id: undefined } as object);
  expect(requests[0]?.url).toBe('/api/lists.list?workspace_id=demo');
});

test.each([
  ['NaN', Number.NaN],
  ['Infinity', Number.POSITIVE_INFINITY],
  ['a BigInt', 1n],
  ['an invalid date', new Date(Number.NaN)],
])('%s is refused before it is sent, since JSON would make it null', async (_, value) => {
  const { postrider, requests } = await given((_, response) => answer(response, 200, {}));
  const made = postrider.lists.create({ ...list, description: value } as never);
  await expect(made).rejects.toThrow(PostriderError);
  await expect(made).rejects.toThrow('description');
  expect(requests).toHaveLength(0);
});

test.each([
  [200, ''],
  [204, ''],
  [200, '<h1>Sign in</h1>'],
])(
  'an answer %i without JSON is an error of the client, and is asked for once',
  async (status, text) => {
    const { postrider, requests } = await given((_, response) =>
      response.writeHead(status).end(text),
    );
    const read = postrider.lists.list();
    await expect(read).rejects.toThrow('GET /api/lists.list answered no JSON');
    await expect(read).rejects.toThrow(PostriderError);
    await expect(read).rejects.not.toThrow(ConnectionError);
    expect(requests).toHaveLength(1);
  },
);

test('a redirect is not followed, so that no write becomes a read', async () => {
  const { postrider, requests } = await given((_, response) =>
    response.writeHead(301, { location: '/elsewhere' }).end(),
  );
  await expect(postrider.lists.create(list)).rejects.toThrow('was redirected');
  expect(requests).toHaveLength(1);
});

test('a call whose first attempt still runs is repeated until that has ended', async () => {
  const { postrider, requests } = await given((_, response, attempt) =>
    attempt === 1
      ? answer(response, 409, { error: 'it is running', reason: 'IDEMPOTENCY_KEY_IN_USE' })
      : answer(response, 201, { list }),
  );
  await expect(postrider.lists.create(list)).resolves.toMatchObject({ list });
  expect(requests).toHaveLength(2);
});

test('a time-out of any length is a limit, and no end at once', async () => {
  const { postrider } = await given((_, response) => answer(response, 200, { lists: [] }), {
    timeoutMs: Number.POSITIVE_INFINITY,
  });
  await expect(postrider.lists.list()).resolves.toEqual({ lists: [] });
});

test('an export that ends in the middle of a line throws', async () => {
  const { postrider } = await given((_, response) => response.end('{"contact":{}}\n{"cont'));
  const read = async () => {
    for await (const _ of postrider.lists.export({ list_id: 'a' }));
  };
  await expect(read()).rejects.toThrow(ConnectionError);
});

test.each([
  [{ retries: Number.NaN }, 'retries'],
  [{ retries: Number.POSITIVE_INFINITY }, 'retries'],
  [{ retries: -1 }, 'retries'],
  [{ timeoutMs: Number.NaN }, 'timeoutMs'],
  [{ timeoutMs: 0 }, 'timeoutMs'],
])('%o is refused, for a client and for a call', async (wrong, name) => {
  const { postrider, requests } = await given((_, response) => answer(response, 503, {}));
  const baseUrl = 'http://127.0.0.1:1';
  expect(() => new Postrider({ baseUrl, ...wrong })).toThrow(PostriderError);
  expect(() => new Postrider({ baseUrl, ...wrong })).toThrow(name);
  // An end, so that a client that takes it repeats for this time at most.
  const signal = AbortSignal.timeout(1_000);
  await expect(postrider.lists.list({}, { ...wrong, signal })).rejects.toThrow(name);
  expect(requests).toHaveLength(0);
});

test('an answer without a limit is no option', () => {
  const made = () => new Postrider({ baseUrl: 'http://127.0.0.1:1', answerMaxBytes: Number.NaN });
  expect(made).toThrow('answerMaxBytes');
});

test('the wait before an attempt grows, up to a minute and a half', () => {
  const error = new ConnectionError('cut');
  const waits = [0, 4, 9, 100, 2_000].map((attempt) => waitMs(attempt, error));
  expect(waits[0]).toBeLessThanOrEqual(300);
  expect(waits[1]).toBeGreaterThanOrEqual(1_600);
  expect(Math.min(...waits.slice(2))).toBeGreaterThanOrEqual(30_000);
  expect(Math.max(...waits)).toBeLessThanOrEqual(90_000);
});

const secretText = 'pk_live\n4f1d';

test.each([
  ['a token with a line break', { token: secretText }, 'token'],
  ['a token with a letter that headers do not have', { token: `${secretText[0]}…` }, 'token'],
  ['a base address with a password', { baseUrl: 'http://ops:4f1d@127.0.0.1:1' }, 'baseUrl'],
  ['a base address without a scheme', { baseUrl: 'localhost:3000' }, 'baseUrl'],
  ['a base address that is none', { baseUrl: '4f1d' }, 'baseUrl'],
])('%s is refused at once, and not shown', (_, options, name) => {
  const failed = errorOf(() => new Postrider({ baseUrl: 'http://127.0.0.1:1', ...options }));
  expect(failed).toBeInstanceOf(PostriderError);
  expect(failed.message).toContain(name);
  expect([failed.message, failed.cause].join()).not.toContain('4f1d');
});

function errorOf(run: () => unknown): Error {
  try {
    run();
  } catch (error) {
    return error as Error;
  }
  throw new Error('nothing was thrown');
}

test('an idempotency key that no header can have is refused, and not repeated', async () => {
  const { postrider, requests } = await given((_, response) => answer(response, 200, {}));
  const made = postrider.lists.create(list, { idempotencyKey: 'order\n17' });
  await expect(made).rejects.toThrow('idempotencyKey');
  await expect(made).rejects.not.toThrow(ConnectionError);
  expect(requests).toHaveLength(0);
});

test('a caller can end an export, and gets its own reason', async () => {
  const controller = new AbortController();
  const { postrider } = await given((_, response) => response.write('{"contact":{}}\n'));
  const read = async () => {
    const lines = postrider.lists.export({ list_id: 'a' }, { signal: controller.signal });
    for await (const _ of lines) controller.abort(new Error('the user left'));
  };
  await expect(read()).rejects.toThrow('the user left');
});

test('a line of an export that is no JSON is an error without its content', async () => {
  const { postrider } = await given((_, response) => response.end('ada@example.com\n{}\n'));
  const read = async () => {
    for await (const _ of postrider.lists.export({ list_id: 'a' }));
  };
  const failed = await read().catch((error) => error);
  expect(failed).toBeInstanceOf(PostriderError);
  expect([failed.message, failed.cause].join()).not.toContain('ada@');
});

test('a cursor that comes again is an error, and no loop', async () => {
  const { postrider, requests } = await given((_, response, attempt) =>
    answer(response, attempt > 5 ? 400 : 200, { contacts: [{ email: 'a' }], next_cursor: 'two' }),
  );
  const read = async () => {
    for await (const _ of postrider.contacts.listAll());
  };
  await expect(read()).rejects.toThrow('two pages have the same cursor');
  expect(requests).toHaveLength(2);
});

test.each([
  ['no text', { error: { message: 'no' }, code: 7, reason: [], request_id: {}, details: 'no' }],
  ['a list', ['no']],
  ['null', null],
  ['fields without names', { error: 5, details: [null, { field: 3 }] }],
])('an error whose body has %s has a status and no fields', async (_, body) => {
  const { postrider } = await given((_, response) => answer(response, 422, body as object));
  const failed = await postrider.lists.list().catch((error) => error);
  expect(failed).toBeInstanceOf(InvalidRequestError);
  const { message, code, reason, requestId, fields } = failed;
  expect({ message, code, reason, requestId, fields }).toEqual({
    message: '422 Unprocessable Entity',
    code: '',
    reason: undefined,
    requestId: undefined,
    fields: [],
  });
});

test('dates in the query of a read are as the API writes them', async () => {
  const { postrider, requests } = await given((_, response) => answer(response, 200, {}));
  const at = new Date('2026-11-27T10:00:00.250Z');
  await postrider.contacts.list({ created_after: [at, at], limit: 10n } as never);
  const { searchParams } = new URL(requests[0]?.url ?? '', 'http://a');
  expect(searchParams.getAll('created_after')).toEqual(Array(2).fill('2026-11-27T10:00:00.250Z'));
  expect(searchParams.get('limit')).toBe('10');
});

test.each([
  ['NaN', Number.NaN],
  ['an invalid date', new Date(Number.NaN)],
  ['an object', { from: 1 }],
])('%s in the query of a read is refused before it is sent', async (_, value) => {
  const { postrider, requests } = await given((_, response) => answer(response, 200, {}));
  const read = postrider.contacts.list({ limit: value } as never);
  await expect(read).rejects.toThrow(PostriderError);
  await expect(read).rejects.toThrow('limit');
  expect(requests).toHaveLength(0);
});

const rows = ['email\n', 'ada@example.com\n', 'jörg@example.com\n'];

/** As programs have them: streams of Node.js, and generators. */
const sources = {
  'a stream of Node.js': () => {
    const stream = new PassThrough();
    for (const row of rows) stream.write(row);
    return stream.end();
  },
  'a stream of Node.js that gives text': () => {
    const stream = new PassThrough({ encoding: 'utf8' });
    for (const row of rows) stream.write(row);
    return stream.end();
  },
  'a generator': async function* () {
    yield* rows;
  },
  bytes: () => Buffer.from(rows.join('')),
};

test.each(Object.entries(sources))('a CSV file comes from %s', async (_, source) => {
  const { postrider, requests } = await given((_, response) => response.end('{"summary":{}}\n'));
  for await (const _ of postrider.contacts.importCsv({}, source()));
  expect(requests[0]?.body).toBe(rows.join(''));
});

test('a file that cannot be read is no error of the connection', async () => {
  const { postrider } = await given((_, response) => response.end('{"summary":{}}\n'));
  async function* broken() {
    yield 'email\n';
    throw new Error('the disk is gone');
  }
  const sent = async () => {
    for await (const _ of postrider.contacts.importCsv({}, broken()));
  };
  const failed = await sent().catch((error) => error);
  expect(failed).toBeInstanceOf(PostriderError);
  expect(failed).not.toBeInstanceOf(ConnectionError);
  expect(failed.cause).toEqual(new Error('the disk is gone'));
});

test.each([
  ['a generator', (parts: AsyncGenerator<string>) => parts],
  ['a stream of Node.js', (parts: AsyncGenerator<string>) => Readable.from(parts)],
  [
    'a ReadableStream',
    (parts: AsyncGenerator<string>) =>
      ReadableStream.from(parts).pipeThrough(new TextEncoderStream()),
  ],
])('%s without an end is closed with its call', async (_, sourceOf) => {
  const { postrider } = await given((_, response) => response.end());
  const controller = new AbortController();
  let isClosed = false;
  async function* endless() {
    try {
      for (;;) yield await new Promise<string>((go) => setImmediate(go, 'ada@example.com\n'));
    } finally {
      isClosed = true;
    }
  }
  setTimeout(() => controller.abort(new Error('the user left')), 50);
  const sent = async () => {
    const { signal } = controller;
    for await (const _ of postrider.contacts.importCsv({}, sourceOf(endless()), { signal }));
  };
  await expect(sent()).rejects.toThrow('the user left');
  for (let turn = 0; turn < 1_000 && !isClosed; turn += 1) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  expect(isClosed).toBe(true);
});

test.each([
  ['an object', { path: 'a.csv' }],
  ['undefined', undefined],
  ['a number', 7],
])('%s is no CSV file', async (_, content) => {
  const { postrider, requests } = await given((_, response) => response.end());
  const sent = postrider.contacts.importCsv({}, content as never).next();
  await expect(sent).rejects.toThrow(PostriderError);
  expect(requests).toHaveLength(0);
});
