import { setTimeout as sleep } from 'node:timers/promises';
import { create } from '@bufbuild/protobuf';
import { expect, test } from '@jest/globals';
import { EmailProviderSchema } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { kindsOfProvider } from '#lib/providers/all.ts';
import { until } from '../../../test/stack/until.ts';
import { textHeader } from '../mime/headers.ts';
import { staticText } from '../mime/mail.ts';
import { givenFake, type KindName, kindNames, senderAt } from '../test/fake-provider/given.ts';
import { closing, count, givenSink, kinds, mailOf, people, send } from '../test/given-pool.ts';
import { providers } from './all.ts';
import type { Sender, SenderHost } from './provider.ts';
import { smtp } from './smtp/provider.ts';

/** A server of a kind, and how it misbehaves. */
type Server = {
  open(host?: Partial<SenderHost>): Sender;
  /** A sender to a port where nobody listens. */
  openNowhere(): Sender;
  /** How often each recipient has got a mail. */
  received(): Map<string, number>;
  /** The last mail to a recipient, as far as the server keeps its words. */
  mail(to: string): string;
  refuseRecipient(to: string): void;
  refuseSender(): void;
  failAll(): void;
  putOff(): void;
  takeSlowly(latencyMs: number): void;
  /** Reads a mail, and ends the connection in place of an answer. */
  dropAfterReading(): void;
  recover(): void;
};

const resolve = async () => ({ address: '127.0.0.1', family: 4 as const });

const opened = (sender: Sender) => {
  closing.push(() => sender.close());
  return sender;
};

async function smtpServer(): Promise<Server> {
  const sink = await givenSink({}, 1_000);
  const settings = { host: '127.0.0.1', port: sink.port, ehloHostname: 'me.example' };
  const provider = create(EmailProviderSchema, { kind: 'smtp', smtp: settings });
  const reply = (step: 'mail' | 'rcpt', text: string, recipient?: string) => {
    sink.behaviour.replies = [{ step, reply: text, ...(recipient && { recipient }) }];
  };
  return {
    open: (host) => opened(smtp.transport(provider).open({ resolve, ...host })),
    openNowhere: () => {
      const nowhere = create(EmailProviderSchema, { smtp: { ...settings, port: 1 } });
      return opened(smtp.transport(nowhere).open({ resolve }));
    },
    received: () => new Map([...sink.received].map(([to, { count: times }]) => [to, times])),
    // Soft line breaks of quoted-printable join what they part.
    mail: (to) => (sink.bodies(to).at(-1) ?? '').replaceAll('=\r\n', ''),
    refuseRecipient: (to) => reply('rcpt', '550 5.1.1 no such user', to),
    refuseSender: () => reply('mail', '550 5.7.1 sender not allowed'),
    failAll: () => {
      sink.behaviour.greeting = '554 no mail today';
    },
    putOff: () => reply('rcpt', '450 4.2.1 try again in 120 seconds'),
    takeSlowly: (latencyMs) => {
      sink.behaviour.latencyMs = latencyMs;
    },
    dropAfterReading: () => {
      sink.behaviour.dropAfterDot = 1;
    },
    recover: () => {
      Object.assign(sink.behaviour, { replies: [], greeting: '220 sink ESMTP', dropAfterDot: 0 });
    },
  };
}

/** A provider that is called by HTTP. */
async function fakeServer(name: KindName): Promise<Server> {
  const fake = await givenFake(name);
  const { behaviour } = fake;
  return {
    open: fake.open,
    openNowhere: () => senderAt(name, 'http://127.0.0.1:1'),
    received: () => new Map([...fake.received].map(([to, { length }]) => [to, length])),
    mail: (to) => JSON.stringify(fake.received.get(to)?.at(-1)),
    refuseRecipient: (to) => behaviour.verdicts.set(to, 'dead'),
    refuseSender: () => behaviour.verdicts.set('', 'wrongSender'),
    failAll: () => {
      behaviour.instead = () => fake.kind.wrongKey;
    },
    putOff: () => {
      behaviour.instead = () => ({ ...fake.kind.busy, headers: { 'retry-after': '120' } });
    },
    takeSlowly: (latencyMs) => {
      behaviour.latencyMs = latencyMs;
    },
    dropAfterReading: () => {
      behaviour.afterTaking = (response) => response.destroy();
    },
    recover: fake.recover,
  };
}

const servers: readonly (readonly [kind: string, start: () => Promise<Server>])[] = [
  ['smtp', smtpServer],
  ...kindNames.map((name) => [name, () => fakeServer(name)] as const),
];

test('every kind that an integration may have can send, and has a server here', () => {
  const kindsSent = providers.map(({ kind }) => kind).toSorted();
  expect(kindsSent).toEqual(kindsOfProvider.map(({ kind }) => kind).toSorted());
  const kindsServed = servers.map(([kind]): string => kind);
  expect(kindsSent.filter((kind) => !kindsServed.includes(kind))).toEqual([]);
});

const [ann = '', bob = '', carl = ''] = people(3);

test.each(servers)(
  '%s sends a mail with its subject, text and HTML, once each',
  async (_, start) => {
    const server = await start();
    const prepare = () => ({
      ...mailOf(['text for Ann'], [textHeader('Subject', 'Hello Ann')]),
      html: [staticText('<p>for '), 'Ann', staticText('</p>')],
    });
    const recipients = people(100);
    const outcomes = await send(
      server.open(),
      recipients.map((to) => ({ to, prepare })),
    );
    expect(count(outcomes, 'accepted')).toBe(100);
    expect(server.received()).toEqual(new Map(recipients.map((to) => [to, 1])));
    for (const words of ['Hello Ann', 'text for Ann', '<p>for Ann</p>']) {
      expect(server.mail(ann)).toContain(words);
    }
  },
);

test.each(servers)('%s lets a refused recipient bounce alone', async (kind, start) => {
  const server = await start();
  server.refuseRecipient(bob);
  // SES looks at recipients later, and reports them.
  const refused = kind === 'ses' ? 'failed' : 'bounced';
  expect(kinds(await send(server.open(), [ann, bob, carl]))).toEqual([
    'accepted',
    refused,
    'accepted',
  ]);
});

test.each(servers)(
  '%s takes a refused sender for an outage, and fails nobody',
  async (_, start) => {
    const server = await start();
    server.refuseSender();
    expect(count(await send(server.open(), people(20)), 'outage')).toBe(20);
    server.recover();
    expect(count(await send(server.open(), people(20)), 'accepted')).toBe(20);
  },
);

test.each(servers)(
  '%s settles all as an outage when the provider takes no mail',
  async (_, start) => {
    const server = await start();
    server.failAll();
    const outcomes = await send(server.open(), people(50));
    expect(new Set(kinds(outcomes))).toEqual(new Set(['outage']));
    expect(server.received().size).toBe(0);
  },
);

test.each(servers)('%s settles all as an outage when nobody listens', async (_, start) => {
  const outcomes = await send((await start()).openNowhere(), people(50));
  expect(new Set(kinds(outcomes))).toEqual(new Set(['outage']));
});

test.each(servers)('%s puts a message off for as long as the provider asks', async (_, start) => {
  const server = await start();
  server.putOff();
  const [outcome] = await send(server.open(), [ann]);
  expect(outcome).toMatchObject({ kind: 'deferred', retryAfterMs: 120_000 });
});

test.each(servers)(
  '%s sends to a slow provider side by side, urgent mail first',
  async (_, start) => {
    const server = await start();
    server.takeSlowly(100);
    let isHeld = true;
    const sender = server.open({ mayStart: () => !isHeld });
    const order: string[] = [];
    const bulk = send(sender, people(60)).then(() => order.push('bulk'));
    const urgent = send(sender, ['urgent@example.com'], { isUrgent: true });
    const both = Promise.all([bulk, urgent.then(() => order.push('urgent'))]);
    isHeld = false;
    sender.resume();
    await both;
    expect(order).toEqual(['urgent', 'bulk']);
    expect(sender.messageMs).toBeGreaterThanOrEqual(90);
  },
);

test.each(servers)('%s does not know what became of a mail without an answer', async (_, start) => {
  const server = await start();
  server.dropAfterReading();
  expect(kinds(await send(server.open(), [ann]))).toEqual(['unknown']);
  // It may have arrived, so that nobody sends it again by itself.
  expect(server.received().get(ann) ?? 0).toBeLessThanOrEqual(1);
});

test.each(servers)(
  '%s sends nothing of what is stopped, and ends what has begun',
  async (_, start) => {
    const server = await start();
    server.takeSlowly(200);
    const stop = new AbortController();
    const sender = server.open();
    const all = send(
      sender,
      people(200).map((to) => ({ to, signal: stop.signal })),
    );
    await until('some are under way', async () => sender.waiting < 200 && sender.messageMs > 0);
    stop.abort();
    sender.dropOver();
    const outcomes = await all;
    const accepted = count(outcomes, 'accepted');
    expect(accepted).toBeGreaterThan(0);
    expect(accepted + count(outcomes, 'not_started')).toBe(200);
    expect(server.received().size).toBe(accepted);
  },
);

test.each(servers)('%s writes no body that must not be written', async (_, start) => {
  const server = await start();
  const refused = { to: ann, begin: (write: (mayWrite: boolean) => void) => write(false) };
  expect(kinds(await send(server.open(), [refused, bob]))).toEqual(['not_started', 'accepted']);
  expect([...server.received().keys()]).toEqual([bob]);
});

test.each(servers)('%s settles what waits when it is closed', async (_, start) => {
  const server = await start();
  const sender = server.open({ mayStart: () => false });
  const all = send(sender, people(10));
  await sleep(0);
  sender.close();
  expect(count(await all, 'not_started')).toBe(10);
});
