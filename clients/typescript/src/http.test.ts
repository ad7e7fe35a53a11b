import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import {
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

let end = () => {};
afterEach(() => end());

type Options = {
  retries?: number;
  timeoutMs?: number;
  answerMaxBytes?: number;
  basePath?: string;
};

/** A client of a server that answers by `handler`, and the requests that came. */
async function given(handler: Handler, { basePath = '', ...options }: Options = {}) {
  const requests: { url: string; key: unknown; headers: IncomingMessage['headers'] }[] = [];
  const server = createServer((request, response) => {
    const { url = '', headers } = request;
    requests.push({ url, key: headers['idempotency-key'], headers });
    request.resume().on('end', () => handler(request, response, requests.length));
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
