import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ContactService } from '#gen/postrider/contacts/v1/contacts_pb.ts';
import {
  startGateway,
  startService,
  type TestGateway,
  type TestService,
  tokenFor,
} from '../testing.ts';

let service: TestService;
let gateway: TestGateway;
let authorization: string;

beforeAll(async () => {
  service = await startService((router) => {
    router.service(ContactService, {
      upsertContact: ({ contact }) => ({ email: contact?.email, action: 'create' }),
      importContacts: ({ contacts }) => ({
        operations: contacts.map(({ email, rowError }) => ({ email, error: rowError })),
      }),
    });
  });
  gateway = await startGateway(service.port);
  authorization = `Bearer ${await tokenFor('user-1')}`;
});

afterAll(async () => {
  await gateway.stop();
  await service.stop();
});

/** Posts to contacts.upsert. A body in several pieces is sent in chunks, without a length. */
async function post(pieces: (string | Buffer)[], headers: Record<string, string> = {}) {
  const length =
    pieces.length === 1 ? { 'content-length': Buffer.byteLength(pieces[0] ?? '') } : {};
  const sending = request(`${gateway.url}/api/contacts.upsert`, {
    method: 'POST',
    headers: { authorization, ...length, ...headers },
  });
  const responded = once(sending, 'response');
  // A client that is answered before it has sent everything may see the connection closed later.
  sending.on('error', () => {});
  for (const piece of pieces) sending.write(piece);
  sending.end();
  const [response] = (await responded) as [IncomingMessage];
  return { status: response.statusCode, json: JSON.parse(await text(response)) };
}

/** The answer to bytes on a plain connection. */
async function raw(bytes: string): Promise<string> {
  const socket = connect(gateway.port, '127.0.0.1');
  socket.write(bytes);
  return text(socket);
}

/** The bytes of buffers that are still referenced, after garbage collection. */
function heldBytes(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc');
  collect();
  // V8 frees buffers in a thread of its own, and the next collection waits for it.
  collect();
  return process.memoryUsage().arrayBuffers;
}

const contact = (fields: string) => `{"workspace_id":"w","contact":{"email":"a@b.co"${fields}}}`;

test('a body of 60 MB is a 413 before it is read', async () => {
  const sending = request(`${gateway.url}/api/contacts.upsert`, {
    method: 'POST',
    headers: { authorization, 'content-length': 60 * 1024 * 1024 },
  });
  sending.on('error', () => {});
  sending.flushHeaders();
  const [response] = await once(sending, 'response');
  expect(response.statusCode).toBe(413);
  sending.destroy();
});

test('a client that sends 60 MB anyway can read the 413', async () => {
  const { status, json } = await post([Buffer.alloc(60 * 1024 * 1024, 'x')]);
  expect(status).toBe(413);
  expect(json).toMatchObject({ error: 'Request body too large', code: 'payload_too_large' });
}, 60_000);

test('the rest of a refused body is read slowly', async () => {
  const sending = request(`${gateway.url}/api/contacts.upsert`, {
    method: 'POST',
    headers: { authorization, 'content-length': 60 * 1024 * 1024 },
  });
  sending.on('error', () => {});
  sending.write(Buffer.alloc(60 * 1024 * 1024 - 1, 'x'));
  const [response] = await once(sending, 'response');
  expect(response.statusCode).toBe(413);
  await new Promise((done) => setTimeout(done, 1_000));
  // Bytes in the socket buffers of both sides count as written.
  const { bytesWritten = 0, writableLength = 0 } = sending.socket ?? {};
  expect(bytesWritten - writableLength).toBeLessThan(40 * 1024 * 1024);
  sending.destroy();
});

test('60 MB without a length are a 413, and are not kept in memory', async () => {
  const before = heldBytes();
  const piece = Buffer.alloc(1024 * 1024, 'x');
  const { status } = await post(new Array(60).fill(piece));
  expect(status).toBe(413);
  expect(heldBytes() - before).toBeLessThan(20 * 1024 * 1024);
}, 60_000);

test('a client that expects 100 Continue gets the 413 without sending', async () => {
  const sending = request(`${gateway.url}/api/contacts.upsert`, {
    method: 'POST',
    headers: { authorization, expect: '100-continue', 'content-length': 60 * 1024 * 1024 },
  });
  let asked = false;
  sending.on('continue', () => {
    asked = true;
  });
  sending.on('error', () => {});
  sending.flushHeaders();
  const [response] = await once(sending, 'response');
  expect(response.statusCode).toBe(413);
  expect(asked).toBe(false);
  sending.destroy();
});

test('a client that expects 100 Continue may send a body within the limit', async () => {
  const { status } = await post([contact('')], { expect: '100-continue' });
  expect(status).toBe(200);
});

test('JSON 20,000 levels deep is a 400 in any field', async () => {
  const deep = (open: string, close: string) => open.repeat(20_000) + close.repeat(20_000);
  for (const body of [
    deep('[', ']'),
    contact(`,"custom_json_1":${deep('{"a":', '}').replace('}', '1}')}`),
    contact(`,"first_name":${deep('[', ']')}`),
    contact(`,"custom_json_1":{"a":[12345678901234567890,${deep('[', ']')}]}`),
  ]) {
    expect((await post([body])).status).toBe(400);
  }
});

test('an object of 100,000 keys is read quickly', async () => {
  const keys = Array.from({ length: 100_000 }, (_, index) => `"k${index}":1`).join();
  // The gateway runs in this process; the time of others on the machine does not count.
  const before = process.cpuUsage();
  const { status } = await post([`{${keys.slice(0, 1_000_000).replace(/,[^,]*$/, '')}}`]);
  expect(status).toBe(200);
  expect(process.cpuUsage(before).user / 1_000).toBeLessThan(1_000);
});

test.each([
  ['a number past the largest double', contact(',"custom_number_1":1e400')],
  ['NaN', contact(',"custom_number_1":NaN')],
  ['a huge integer', contact(`,"custom_number_1":${'9'.repeat(400)}`)],
  ['a huge integer in a free-form object', contact(`,"custom_json_1":{"a":${'9'.repeat(400)}}`)],
  ['an escaped NUL', contact(',"first_name":"\\u0000"')],
  ['a lone surrogate', contact(',"first_name":"\\ud83d"')],
  ['a raw NUL', contact(',"first_name":"\0"')],
  ['trailing garbage', `${contact('')}x`],
  ['two values', `${contact('')}${contact('')}`],
  ['an array', '[]'],
  ['null', 'null'],
  ['a text', '"a"'],
  ['nothing', ''],
])('%s is a 400', async (_name, body) => {
  const { status, json } = await post([body]);
  expect(status).toBe(400);
  expect(json.code).toBe('invalid_argument');
});

test('bytes that are not UTF-8 are a 400', async () => {
  const body = Buffer.from(contact(',"first_name":"x"'));
  body[body.length - 4] = 0xff;
  expect(await post([body])).toMatchObject({
    status: 400,
    json: { error: 'Invalid request body' },
  });
});

test('a byte order mark is skipped, and the last of duplicate keys wins', async () => {
  const body = `\uFEFF{"contact":{"email":"a@b.co","email":"c@d.co"}}`;
  expect(await post([body])).toMatchObject({ status: 200, json: { email: 'c@d.co' } });
});

test('a body in chunks is read, also if a character is split', async () => {
  const body = Buffer.from('{"contact":{"email":"ä@b.co"}}');
  const pieces = [...body].map((byte) => Buffer.from([byte]));
  expect(await post(pieces)).toMatchObject({ status: 200, json: { email: 'ä@b.co' } });
});

test.each([
  ['application/json', 200],
  ['application/json; charset=utf-8', 200],
  ['application/json;charset="UTF-8"', 200],
  ['application/vnd.api+json', 200],
  ['APPLICATION/JSON', 200],
  ['application/json; charset=latin1', 415],
  ['application/jsonp', 415],
  ['application/x-www-form-urlencoded', 415],
  ['text/json', 415],
  ['nonsense', 415],
])('the content type %s is a %i', async (type, status) => {
  expect((await post([contact('')], { 'content-type': type })).status).toBe(status);
});

test('a compressed body is a 415', async () => {
  expect((await post(['x'], { 'content-encoding': 'gzip' })).status).toBe(415);
});

test('a row that cannot be read gets an error of its own', async () => {
  const response = await fetch(`${gateway.url}/api/contacts.import`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: '{"contacts":[{"email":"a@b.co","phone":5},{"email":"c@d.co"}]}',
  });
  expect(await response.json()).toEqual({
    operations: [
      { email: 'a@b.co', action: '', error: 'phone: must be a string' },
      { email: 'c@d.co', action: '', error: '' },
    ],
    error: null,
  });
});

const head = (extra: string) =>
  `POST /api/contacts.upsert HTTP/1.1\r\nhost: x\r\nauthorization: ${authorization}\r\n${extra}\r\n\r\n`;

test('invalid chunks are a JSON 400', async () => {
  const answer = await raw(`${head('transfer-encoding: chunked')}zz\r\ngarbage`);
  expect(answer).toMatch(/^HTTP\/1\.1 400 /);
  expect(answer).toMatch(
    /\{"error":"Invalid request","code":"invalid_argument","request_id":"[^"]+"\}/,
  );
});

test('a length together with chunks is a 400', async () => {
  const answer = await raw(`${head('transfer-encoding: chunked\r\ncontent-length: 5')}0\r\n\r\n`);
  expect(answer).toMatch(/^HTTP\/1\.1 400 /);
});

test('10,000 headers are a 431', async () => {
  const headers = Array.from({ length: 10_000 }, (_, index) => `x-${index}: y`).join('\r\n');
  expect(await raw(head(headers))).toMatch(/^HTTP\/1\.1 431 /);
});

test('bytes that are not HTTP are a 400', async () => {
  expect(await raw('hello\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 /);
});
