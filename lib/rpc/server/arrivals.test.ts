import { once } from 'node:events';
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from 'node:http2';
import { setTimeout as sleep } from 'node:timers/promises';
import { create, toBinary, toJson } from '@bufbuild/protobuf';
import { Code, createClient, type Transport } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import { afterEach, expect, test } from '@jest/globals';
import {
  ContactService,
  UpsertContactRequestSchema,
} from '#gen/postrider/contacts/v1/contacts_pb.ts';
import { keyring, ownerEverywhere, serviceClaims } from '../../../test/setup/service.ts';
import { until } from '../../../test/stack/until.ts';
import { createLog } from '../../log.ts';
import { connectTo } from '../client/client.ts';
import { streamLimits } from './lasting-streams.ts';
import { type RunningService, type ServiceOptions, serve } from './serve.ts';

let service: RunningService;
let session: ClientHttp2Session;
afterEach(async () => {
  session.destroy();
  await service.drain();
});

/** A service whose calls end by themselves only. `nobody` may do nothing. */
async function given(over: Partial<ServiceOptions> = {}) {
  service = await serve(
    {
      services: [ContactService],
      routes: (router) => router.service(ContactService, { upsertContact: () => ({}) }),
      keyring,
      authorize: async (user, ...rest) => ({
        ...(await ownerEverywhere(user, ...rest)),
        role: user === 'nobody' ? 'member' : 'owner',
      }),
      demo: false,
      reflection: false,
      log: createLog('test', 'silent'),
      isReady: async () => true,
      ...over,
    },
    { host: '127.0.0.1', port: 0 },
  );
  session = connect(`http://127.0.0.1:${service.port}`, { maxSessionMemory: 512 });
  session.on('error', () => {});
}

const bearer = async (subject: string) =>
  `Bearer ${await keyring.signToken({ type: 'api_key', subject, sessionId: '' }, 60)}`;

/** A request whose size is about that of its address. */
const message = (sizeBytes: number) =>
  create(UpsertContactRequestSchema, {
    workspaceId: 'w1',
    contact: { email: 'x'.repeat(sizeBytes) },
  });

const path = `/${ContactService.typeName}/UpsertContact`;
const largeBytes = 15 * 1024 * 1024;
const binary = (sizeBytes: number) => toBinary(UpsertContactRequestSchema, message(sizeBytes));

type Protocol = { type: string; body: (sizeBytes: number) => Uint8Array };
const protocols: Record<string, Protocol> = {
  lean: { type: 'application/proto', body: binary },
  gRPC: {
    type: 'application/grpc',
    body(sizeBytes) {
      const [head, body] = [Buffer.alloc(5), binary(sizeBytes)];
      head.writeUInt32BE(body.length, 1);
      return Buffer.concat([head, body]);
    },
  },
  'Connect with JSON': {
    type: 'application/json',
    body: (sizeBytes) =>
      Buffer.from(JSON.stringify(toJson(UpsertContactRequestSchema, message(sizeBytes)))),
  },
};

const beginnings = new Map<string, Uint8Array>();

/** The first bytes of a message of 15 MiB, which takes long to make. */
function beginningOf(protocol: string, sentBytes: number): Uint8Array {
  const made = beginnings.get(protocol) ?? protocols[protocol]!.body(largeBytes).slice(0, 200_000);
  beginnings.set(protocol, made);
  return made.subarray(0, sentBytes);
}

/** A call that sends the beginning of its message, of 15 MiB, and no more. */
async function begin(subject: string, sentBytes: number, protocol = 'gRPC', more = {}) {
  const stream = session.request({
    ':method': 'POST',
    ':path': path,
    'content-type': protocols[protocol]!.type,
    authorization: await bearer(subject),
    ...more,
  });
  stream.on('error', () => {}).resume();
  if (sentBytes > 0) stream.write(beginningOf(protocol, sentBytes));
  return stream;
}

/** The status that a call ends with: that of gRPC, or of HTTP. */
async function statusOf(stream: ClientHttp2Stream): Promise<number> {
  const [headers] = await once(stream, 'response');
  const isWhole = headers[':status'] !== 200 || headers['grpc-status'] !== undefined;
  const [last] = isWhole ? [headers] : await once(stream, 'trailers');
  return Number(last['grpc-status'] ?? last[':status']);
}

const codes = {
  denied: [Code.PermissionDenied, 403],
  exhausted: [Code.ResourceExhausted, 429],
  late: [Code.DeadlineExceeded, 504],
};

test.each(Object.keys(protocols))(
  'the rest of a large message by %s is not awaited from a key without the permission',
  async (protocol) => {
    await given();
    const denied = await begin('nobody', 200_000, protocol);
    expect(codes.denied).toContain(await statusOf(denied));
  },
);

test.each(['gRPC', 'lean'])(
  'a large message by %s arrives from a key that may send it',
  async (protocol) => {
    await given();
    const baseUrl = `http://127.0.0.1:${service.port}`;
    const transport: Transport =
      protocol === 'gRPC' ? createGrpcTransport({ baseUrl }) : connectTo(new URL(baseUrl).host);
    const headers = { authorization: await bearer('owner') };
    const answer = createClient(ContactService, transport).upsertContact(message(10_000_000), {
      headers,
    });
    expect(await answer).toMatchObject({ action: '' });
  },
);

test('a large message without its workspace at the beginning is refused', async () => {
  await given();
  const stream = await begin('owner', 0);
  const head = Buffer.alloc(5);
  head.writeUInt32BE(largeBytes, 1);
  const contact = toBinary(
    UpsertContactRequestSchema,
    create(UpsertContactRequestSchema, { contact: { email: 'x'.repeat(largeBytes) } }),
  );
  stream.write(Buffer.concat([head, contact]).subarray(0, 600_000));
  expect(codes.exhausted).toContain(await statusOf(stream));
});

test.each(['gRPC', 'lean'])(
  'a caller by %s has half of the memory for messages, until its calls end, and others have theirs',
  async (protocol) => {
    await given({ messagesMaxBytes: 1_600_000 });
    const statuses: number[] = [];
    const all: ClientHttp2Stream[] = [];
    for (let each = 0; each < 12; each += 1) {
      const stream = await begin('one', 100_000, protocol);
      all.push(stream);
      statusOf(stream).then(
        (status) => statuses.push(status),
        () => {},
      );
    }
    await until('four are refused', async () => statuses.length >= 4, { withinMs: 5_000 });
    expect(statuses.every((status) => codes.exhausted.includes(status))).toBe(true);
    const call = async (subject: string) => {
      const transport = connectTo(`127.0.0.1:${service.port}`);
      const headers = { authorization: await bearer(subject) };
      return createClient(ContactService, transport).upsertContact(message(150_000), { headers });
    };
    await call('other');
    await expect(call('one')).rejects.toMatchObject({ code: Code.ResourceExhausted });
    for (const stream of all) stream.close();
    await until('it is given back', () =>
      call('one').then(
        () => true,
        () => false,
      ),
    );
    // Nothing of what was refused stays open.
    session.destroy();
    const drained = service.drain().then(() => 'at once');
    expect(await Promise.race([drained, sleep(8_000, 'later')])).toBe('at once');
  },
);

test('no room is made for gRPC messages that have not arrived', async () => {
  await given();
  const head = Buffer.alloc(5);
  head.writeUInt32BE(largeBytes, 1);
  const start = Buffer.concat([head, binary(1_000)]);
  const before = process.memoryUsage().arrayBuffers;
  for (let each = 0; each < 20; each += 1) {
    const stream = await begin('owner', 0);
    stream.write(start);
  }
  await new Promise((done) => session.ping(done));
  await sleep(200);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(5 * largeBytes);
});

test.each(['gRPC', 'lean'])(
  'the rest of refused messages by %s is read slowly',
  async (protocol) => {
    await given();
    const whole = Buffer.alloc(largeBytes);
    const statuses = [];
    for (let each = 0; each < 8; each += 1) {
      const stream = await begin('nobody', 200_000, protocol);
      statuses.push(statusOf(stream));
      stream.write(whole.subarray(200_001));
    }
    await Promise.all(statuses);
    await sleep(1_000);
    expect(session.socket.bytesWritten).toBeLessThan(4 * largeBytes);
  },
);

test.each(['gRPC', 'lean'])(
  'a message by %s that does not end is ended, whatever its deadline',
  async (protocol) => {
    await given({ streamLimits: { ...streamLimits, messageMaxMs: 200 } });
    const deadline = { 'connect-timeout-ms': '600000', 'grpc-timeout': '600S' };
    const stream = await begin('owner', 1_000, protocol, deadline);
    await once(stream, 'close');
  },
);

test('the connection of a service, or of the gateway for its clients, has 2,048 streams by gRPC as well', async () => {
  await given();
  const gateway = `Bearer ${await keyring.signToken(serviceClaims, 60)}`;
  const vouched = { 'x-client-address': '203.0.113.7', 'x-client-address-token': gateway };
  const health = { ':path': '/grpc.health.v1.Health/Check' };
  (await begin('owner', 0, 'lean', health)).end();
  await sleep(100);
  expect(session.remoteSettings.maxConcurrentStreams).toBe(100);
  (await begin('owner', 0, 'gRPC', vouched)).end();
  await until(
    'the client knows the limit',
    async () => session.remoteSettings.maxConcurrentStreams === 2_048,
  );
});
