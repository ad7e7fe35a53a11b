import { once } from 'node:events';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { create } from '@bufbuild/protobuf';
import { expect, test } from '@jest/globals';
import {
  MailgunSettingsSchema,
  PostmarkSettingsSchema,
  ResendSettingsSchema,
} from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { FairShares } from '#lib/limits/fair-shares.ts';
import { EgressError } from '#lib/outside/egress-error.ts';
import { certificate } from '../../../../test/certificate.ts';
import { until } from '../../../../test/stack/until.ts';
import { givenFake } from '../../test/fake-provider/given.ts';
import { closing, count, kinds, people, send } from '../../test/given-pool.ts';
import { mailgunApi } from '../mailgun/api.ts';
import { postmarkApi } from '../postmark/api.ts';
import type { SenderHost } from '../provider.ts';
import { resendApi } from '../resend/api.ts';
import type { HttpApi } from './api.ts';
import { HttpSender, type HttpSenderOptions } from './sender.ts';

const [ann = '', bob = '', carl = ''] = people(3);

const mailgun = (origin: string) =>
  mailgunApi(
    create(MailgunSettingsSchema, { apiKey: 'gun-key', domain: 'mg.example.com' }),
    origin,
  );
const postmark = (origin: string) =>
  postmarkApi(create(PostmarkSettingsSchema, { serverToken: 'server-token' }), origin);
const resend = (origin: string) =>
  resendApi(create(ResendSettingsSchema, { apiKey: 're_key' }), origin);

const toLoopback = async () => ({ address: '127.0.0.1', family: 4 as const });

function opened(api: HttpApi, options: HttpSenderOptions & Partial<SenderHost> = {}): HttpSender {
  const sender = new HttpSender({ resolve: toLoopback, ...options }, api, options);
  closing.push(() => sender.close());
  return sender;
}

/** Batches are full, however busy the machine is. */
const slowly = { fillMs: 60_000 };

/** A server that answers each connection in its own way. */
async function givenServer(onConnection: Parameters<typeof createServer>[1]): Promise<string> {
  const sockets = new Set<{ destroy: () => void }>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    onConnection?.(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('a mail without an answer in time is unknown, and its connection is not used again', async () => {
  const fake = await givenFake('mailgun');
  fake.behaviour.afterTaking = () => undefined;
  const sender = opened(mailgun(fake.origin), { answerMs: 200 });
  expect(await send(sender, [ann])).toEqual([
    { kind: 'unknown', info: 'no answer within 0.2 s before the provider had answered' },
  ]);
  fake.recover();
  expect(kinds(await send(sender, [bob]))).toEqual(['accepted']);
  expect(fake.received.get(ann)).toHaveLength(1);
});

test.each([
  ['headers', 'HTTP/1.1 200 OK\r\nX-Drip: '],
  ['a body', 'HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n'],
])('an answer with %s in drops does not take longer than any other', async (_, head) => {
  const origin = await givenServer((socket) => {
    socket.once('data', () => {
      socket.write(head);
      const timer = setInterval(() => socket.write('a'), 20);
      socket.on('close', () => clearInterval(timer));
    });
  });
  const startedAtMs = performance.now();
  const sender = opened(mailgun(origin), { answerMs: 300 });
  expect(kinds(await send(sender, [ann]))).toEqual(['unknown']);
  expect(performance.now() - startedAtMs).toBeLessThan(2_000);
});

test('a refusal counts by its status when the rest of it does not come', async () => {
  const origin = await givenServer((socket) => {
    socket.once('data', () => socket.write('HTTP/1.1 401 No\r\nContent-Length: 9\r\n\r\nForb'));
  });
  const [outcome] = await send(opened(mailgun(origin), { answerMs: 200 }), [ann]);
  expect(outcome).toEqual({ kind: 'outage', info: '401 Forb' });
});

test('an answer that is no HTTP leaves a mail unknown', async () => {
  const origin = await givenServer((socket) => {
    socket.once('data', () => socket.end('220 sink ESMTP\r\n'));
  });
  expect(kinds(await send(opened(mailgun(origin)), [ann]))).toEqual(['unknown']);
});

test('interim responses before an answer are passed over', async () => {
  const json = '{"id":"<1@x>","message":"Queued"}';
  const answer = `HTTP/1.1 200 OK\r\nContent-Length: ${json.length}\r\n\r\n${json}`;
  const origin = await givenServer((socket) => {
    socket.once('data', () => socket.write(`HTTP/1.1 100 Continue\r\n\r\n${answer}`));
  });
  expect(await send(opened(mailgun(origin)), [ann])).toMatchObject([
    { kind: 'accepted', providerId: '1@x' },
  ]);
});

test('a host that may not be called, and one that is not trusted, are outages', async () => {
  const refused = opened(mailgun('https://api.mailgun.example'), {
    resolve: async () => {
      throw new EgressError('the host is not an address that may be called');
    },
  });
  const info = 'the host is not an address that may be called';
  expect(await send(refused, people(20))).toEqual(Array(20).fill({ kind: 'outage', info }));
  let requests = 0;
  const server = createSecureServer(certificate, () => {
    requests += 1;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => server.close());
  const { port } = server.address() as AddressInfo;
  const untrusted = opened(mailgun(`https://localhost:${port}`));
  expect(await send(untrusted, [ann])).toEqual([
    { kind: 'outage', info: 'its TLS can not be trusted' },
  ]);
  expect(requests).toBe(0);
});

test('the address of a literal host is checked too', async () => {
  const fake = await givenFake('mailgun');
  const hosts: string[] = [];
  const sender = opened(mailgun(fake.origin), {
    resolve: async (host) => {
      hosts.push(host);
      throw new Error('not allowed');
    },
  });
  expect(kinds(await send(sender, [ann]))).toEqual(['outage']);
  expect(hosts).toEqual(['127.0.0.1']);
});

test('a mail whose lease ends while the connection is opened is not written', async () => {
  const fake = await givenFake('mailgun');
  const sender = opened(mailgun(fake.origin), {
    resolve: async () => {
      await new Promise((resolve) => setTimeout(resolve, 300));
      return toLoopback();
    },
  });
  const outcomes = await send(sender, [{ to: ann, leaseMs: 100 }, { to: bob }]);
  expect(kinds(outcomes)).toEqual(['not_started', 'accepted']);
  expect([...fake.received.keys()]).toEqual([bob]);
});

test('a batch leaves out mails that must not be begun', async () => {
  const fake = await givenFake('postmark');
  const begin = (write: (mayWrite: boolean) => void) => setImmediate(() => write(true));
  const outcomes = await send(opened(postmark(fake.origin), slowly), [
    { to: ann, begin },
    { to: bob, begin: (write) => setImmediate(() => write(false)) },
    { to: carl, begin },
  ]);
  expect(kinds(outcomes)).toEqual(['accepted', 'not_started', 'accepted']);
  expect(fake.sizes).toEqual([2]);
});

test('a batch holds no more than its provider takes, or than 5 MB', async () => {
  const fake = await givenFake('postmark');
  const files = [
    {
      ...{ filename: 'a.bin', contentType: 'application/octet-stream', contentId: undefined },
      content: Buffer.alloc(900_000),
    },
  ];
  const prepare = () => ({ headers: [], text: ['hi'], html: [], files });
  const outcomes = await send(
    opened(postmark(fake.origin)),
    people(10).map((to) => ({ to, prepare })),
  );
  expect(count(outcomes, 'accepted')).toBe(10);
  // Each has 1.2 MB in base64.
  expect(Math.max(...fake.sizes)).toBeLessThanOrEqual(4);
  const many = await givenFake('resend');
  const sender = opened(resend(many.origin), slowly);
  expect(count(await send(sender, people(1_000)), 'accepted')).toBe(1_000);
  expect(Math.max(...many.sizes)).toBe(100);
});

test('mails that take long to render do not hold up the process for a whole batch', async () => {
  const fake = await givenFake('postmark');
  const prepare = () => {
    const untilMs = performance.now() + 5;
    while (performance.now() < untilMs);
    return { headers: [], text: ['hi'], html: [], files: [] };
  };
  const recipients = people(100).map((to) => ({ to, prepare }));
  expect(count(await send(opened(postmark(fake.origin)), recipients), 'accepted')).toBe(100);
  // Each fills for 20 ms.
  expect(Math.max(...fake.sizes)).toBeLessThan(10);
  expect(fake.sizes.length).toBeGreaterThan(5);
});

test('senders that have much under way take turns, each with a mail at a time', async () => {
  const bodies = new FairShares(2);
  const [slow, quick] = [await givenFake('mailgun'), await givenFake('postmark')];
  slow.behaviour.latencyMs = 300;
  const holding = send(opened(mailgun(slow.origin), { bodies }), people(2));
  await until('one is on its way', async () => slow.sizes.length > 0);
  const sender = opened(postmark(quick.origin), { bodies });
  let most = 0;
  const outcomes = send(
    sender,
    people(3).map((to) => ({
      to,
      begin: (write) => {
        most = Math.max(most, sender.connections);
        write(true);
      },
    })),
  );
  expect(kinds(await outcomes)).toEqual(['accepted', 'accepted', 'accepted']);
  expect([quick.sizes, most]).toEqual([[1, 1, 1], 1]);
  expect(kinds(await holding)).toEqual(['accepted', 'accepted']);
  await until('nothing is held', async () => bodies.verdict('', 1) === 'granted');
});

test('a mail that did not fit into a batch is not begun once it is over', async () => {
  const fake = await givenFake('resend');
  fake.behaviour.afterTaking = () => undefined;
  const files = [
    { filename: 'a', contentType: 'text/plain', contentId: undefined, content: Buffer.from('a') },
  ];
  const prepare = () => ({ headers: [], text: ['hi'], html: [], files });
  const stop = new AbortController();
  const sender = opened(resend(fake.origin), { answerMs: 1_500, repeatAfterMs: 10 });
  const all = send(
    sender,
    people(40).map((to) => ({ to, prepare, signal: stop.signal })),
  );
  await until('four are on their way', async () => fake.received.size === 4);
  stop.abort();
  sender.dropOver();
  const outcomes = await all;
  expect(count(outcomes, 'not_started')).toBe(36);
  expect(fake.received.size).toBe(4);
});

test('requests are bounded, and grow with a slow provider at a high rate', async () => {
  const fake = await givenFake('mailgun');
  fake.behaviour.latencyMs = 150;
  const sender = opened(mailgun(fake.origin));
  expect(sender.atOnce).toBe(16);
  await send(sender, people(40));
  await until('no request is left', async () => sender.connections === 0);
  expect(sender.atOnce).toBe(16);
  sender.perMinute = 12_000;
  expect(sender.atOnce).toBeGreaterThan(40);
  sender.perMinute = 10_000_000;
  expect(sender.atOnce).toBe(64);
});

test('a sender that is closed knows nothing of what was on its way, and begins nothing', async () => {
  const fake = await givenFake('mailgun');
  fake.behaviour.afterTaking = () => undefined;
  const sender = opened(mailgun(fake.origin));
  const all = send(sender, people(30));
  await until('sixteen are on their way', async () => fake.received.size === 16);
  sender.close();
  const outcomes = await all;
  expect(count(outcomes, 'unknown')).toBe(16);
  expect(count(outcomes, 'not_started')).toBe(14);
});

test('a request that is repeated ends as unknown when no answer comes at all', async () => {
  const fake = await givenFake('resend');
  fake.behaviour.afterTaking = (response) => response.destroy();
  const sender = opened(resend(fake.origin), { repeatAfterMs: 10 });
  expect(kinds(await send(sender, [ann]))).toEqual(['unknown']);
  expect(fake.sizes).toEqual([1, 1, 1]);
  expect(fake.received.get(ann)).toHaveLength(1);
});

test('a request that is repeated is no refusal when the provider is busy by then', async () => {
  const fake = await givenFake('resend');
  let requests = 0;
  fake.behaviour.instead = () => {
    requests += 1;
    return requests > 1 ? fake.kind.busy : undefined;
  };
  fake.behaviour.afterTaking = (response) => response.destroy();
  const sender = opened(resend(fake.origin), { repeatAfterMs: 10 });
  expect(kinds(await send(sender, [ann]))).toEqual(['unknown']);
  expect(fake.received.get(ann)).toHaveLength(1);
});

test('a connection is used again, and opened anew once the provider closes it', async () => {
  let connections = 0;
  const json = '{"id":"<1@x>","message":"Queued"}';
  const origin = await givenServer((socket) => {
    connections += 1;
    let requests = 0;
    socket.on('data', (chunk) => {
      if (!String(chunk).includes('message/rfc822')) return;
      requests += 1;
      const close = requests === 3 ? 'Connection: close\r\n' : '';
      socket.write(`HTTP/1.1 200 OK\r\n${close}Content-Length: ${json.length}\r\n\r\n${json}`);
    });
  });
  const sender = opened(mailgun(origin));
  for (const to of people(6)) expect(kinds(await send(sender, [to]))).toEqual(['accepted']);
  expect(connections).toBe(2);
});
