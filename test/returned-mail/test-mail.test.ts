import { createServer, type Server } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { createTransport } from 'nodemailer';
import { DomainTestState } from '#gen/postrider/messages/v1/domain_tests_pb.ts';
import { query } from '#lib/postgres/query.ts';
import { resetAfterEach, useService } from '../../services/messages/test/given.ts';
import { givenDomain } from '../../services/messages/test/given-domain.ts';
import { applyAll } from '../../services/messages/test/given-reports.ts';
import { dsnOf } from '../../services/messages/test/given-returned-mail.ts';
import { startDnsServer, type Zone } from '../dns-server.ts';
import { domain as bounceDomain, givenDoor, returnPaths } from './given-door.ts';

const given = useService();
resetAfterEach(given);

const workspaceId = 'w1';
const name = 'sender.example';
const { PENDING, ARRIVED, FAILED } = DomainTestState;
const closing: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
  await query(given.store.fork(), 'truncate domain_tests, messages, suppressions', []);
});

const spfHost = `w1.${bounceDomain}`;

/** A door whose verifier asks a DNS server with the records of the sender's domain. */
async function givenSetting({
  zones = {},
  spamd,
  isDelivered = true,
}: {
  zones?: Record<string, Zone>;
  spamd?: Server;
  /** Whether the mail server of the integration is the door itself; else nothing arrives. */
  isDelivered?: boolean;
} = {}) {
  const { domain, records } = givenDomain([
    ['rsa', 'r1'],
    ['ed25519', 'e1'],
  ]);
  const all: Record<string, Zone> = {
    ...Object.fromEntries([...records].map(([host, txt]) => [host, { txt: [txt] }])),
    [spfHost]: { txt: ['v=spf1 ip4:127.0.0.1 -all'] },
    [`_dmarc.${name}`]: { txt: ['v=DMARC1; p=reject'] },
    ...zones,
  };
  const dns = await startDnsServer((host) => all[host] ?? 'absent');
  closing.push(dns.close);
  const port = spamd && Number(Object(spamd.address()).port);
  const door = await givenDoor(given, {
    dnsServers: [dns.address],
    spamd: port === undefined ? undefined : { host: '127.0.0.1', port },
  });
  closing.unshift(() => door.process.context.admission.close(), door.stop);
  if (isDelivered) given.world.port = door.port;
  given.world.domains = [domain];
  given.world.isTracked = true;
  door.process.context.plans.refresh(workspaceId);
  return { ...door, dns, ...door.process };
}

async function startSpamd(answer: (request: string) => string): Promise<Server> {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    let request = '';
    socket.on('error', () => undefined);
    socket.on('data', (more) => {
      request += more;
    });
    socket.on('end', () => {
      socket.end(answer(request));
    });
    closing.unshift(() => socket.destroy());
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  closing.push(() => server.close());
  return server;
}

type Setting = Awaited<ReturnType<typeof givenSetting>>;

const sent = async ({ domainTests }: Setting, over: object = {}) =>
  (await domainTests.sendDomainTest({ workspaceId, name, ...over })).test;
const resultOf = async ({ domainTests }: Setting, id = '') =>
  (await domainTests.getDomainTest({ workspaceId, id })).test;

/** The header that a test's mail is known by, as the sink took it. */
const markOf = (address: string) =>
  /^X-Postrider-Test: .*\r\n/m.exec(given.sink.bodies(address)[0] ?? '')?.[0] ?? '';

/** A mail that the sink took, handed to the door by somebody. */
function bring({ port }: Setting, to: string, raw: Buffer | string) {
  const transport = createTransport({
    host: '127.0.0.1',
    port,
    tls: { rejectUnauthorized: false },
  });
  closing.unshift(() => transport.close());
  return transport
    .sendMail({ envelope: { from: `news@${name}`, to }, raw })
    .then(({ response }) => response)
    .catch((error: Error) => error.message);
}

test('a test mail arrives, and its result says what a receiver finds', async () => {
  const spamd = await startSpamd((request) =>
    /^CHECK SPAMC\/1\.5\r\nContent-length: \d+\r\n\r\nDKIM-Signature/.test(request)
      ? 'SPAMD/1.1 0 EX_OK\r\nContent-length: 2\r\nSpam: False ; 0.4 / 5.0\r\n\r\n\r\n'
      : 'SPAMD/1.0 76 Bad header line\r\n',
  );
  const setting = await givenSetting({ spamd });
  const { id = '', state } = (await sent(setting)) ?? {};
  expect(state).toBe(ARRIVED);
  expect(await resultOf(setting, id)).toMatchObject({
    name,
    integrationId: 'smtp-1',
    sender: `news@${name}`,
    state: ARRIVED,
    result: {
      spf: { result: 'pass', domain: spfHost },
      dkim: [
        { result: 'pass', domain: name, selector: 'r1', algorithm: 'rsa-sha256', reason: '' },
        { result: 'pass', domain: name, selector: 'e1', algorithm: 'ed25519-sha256', reason: '' },
      ],
      dmarc: { result: 'pass', policy: 'reject', isSpfAligned: false, isDkimAligned: true },
      oneClick: { isRight: true, isSigned: true },
      sizeBytes: expect.any(Number),
      spamScore: 0.4,
    },
  });
});

test('a mail that somebody else sends to the address is refused, and one with the mark counts once', async () => {
  const setting = await givenSetting({ isDelivered: false });
  const { id = '', messageId = '', state } = (await sent(setting)) ?? {};
  expect(state).toBe(PENDING);
  const address = returnPaths.ofTest({ workspaceId, testId: id });
  const mark = markOf(address);
  const rest = 'From: a@b.example\r\n\r\nhi\r\n';
  // The return path has the id of the message.
  const wrongMarks = [`${messageId}`, '\0'].map((wrong) => `X-Postrider-Test: ${wrong}\r\n`);
  for (const wrong of ['', ...wrongMarks]) {
    expect(await bring(setting, address, wrong + rest)).toContain('550 5.7.1');
  }
  expect((await resultOf(setting, id))?.state).toBe(PENDING);
  const real = given.sink.bodies(address)[0] ?? '';
  expect(await bring(setting, address.toUpperCase(), real)).toBe('250 2.0.0 stored');
  const first = await resultOf(setting, id);
  expect(first).toMatchObject({
    state: ARRIVED,
    result: { isEncrypted: true, oneClick: { isRight: true, isSigned: true } },
  });
  expect(await bring(setting, address, mark + rest)).toBe('250 2.0.0 stored');
  expect(await bring(setting, address, rest)).toBe('250 2.0.0 stored');
  expect(await resultOf(setting, id)).toEqual(first);
});

test('an address with another code is refused before its mail', async () => {
  const setting = await givenSetting();
  const right = returnPaths.ofTest({ workspaceId, testId: crypto.randomUUID() });
  const ofReturnPath = returnPaths.of({ workspaceId, messageId: crypto.randomUUID() });
  for (const forged of [
    right.replace('@w1.', '@w2.'),
    right.slice(0, 6) + (right[6] === 'a' ? 'b' : 'a') + right.slice(7),
    ofReturnPath.replace(/^b-/, 't-'),
  ]) {
    expect(await bring(setting, forged, 'Subject: x\r\n\r\nx')).toContain('550 5.1.1');
  }
});

test('the verdict on a mail without signature, policy and records names what is missing', async () => {
  const setting = await givenSetting({
    zones: { [spfHost]: 'absent', [`_dmarc.${name}`]: 'absent' },
  });
  given.world.domains = [];
  setting.context.plans.refresh(workspaceId);
  const { id = '' } = (await sent(setting)) ?? {};
  expect((await resultOf(setting, id))?.result).toMatchObject({
    spf: { result: 'none' },
    dkim: [],
    dmarc: { result: 'none', policy: '', isSpfAligned: false, isDkimAligned: false },
    oneClick: { isRight: true, isSigned: false },
  });
});

test('a mail that was changed on its way fails, with the reason', async () => {
  const setting = await givenSetting({ isDelivered: false });
  const { id = '' } = (await sent(setting)) ?? {};
  const address = returnPaths.ofTest({ workspaceId, testId: id });
  const real = given.sink.bodies(address)[0] ?? '';
  await bring(setting, address, real.replace('This mail shows', 'This male shows'));
  const { result } = (await resultOf(setting, id)) ?? {};
  expect(result?.dkim).toMatchObject([
    { selector: 'r1', result: 'neutral', reason: 'body hash did not verify' },
    { selector: 'e1', result: 'neutral', reason: 'body hash did not verify' },
  ]);
  expect(result).toMatchObject({ dmarc: { result: 'fail' }, oneClick: { isSigned: false } });
});

test('a mail with a thousand signatures is not verified, and costs no look-up', async () => {
  const setting = await givenSetting({ isDelivered: false });
  const { id = '' } = (await sent(setting)) ?? {};
  const address = returnPaths.ofTest({ workspaceId, testId: id });
  const field = `DKIM-Signature: v=1; a=rsa-sha256; d=${name}; s=r1; h=from; bh=x; b=x\r\n`;
  const mail = `${field.repeat(1_000)}${markOf(address)}From: a@${name}\r\n\r\nhi`;
  expect(await bring(setting, address, mail)).toBe('250 2.0.0 stored');
  expect((await resultOf(setting, id))?.result).toMatchObject({
    dkim: [],
    problem: 'the mail has 1000 DKIM signatures, and more than 10 are not verified',
  });
  expect(setting.dns.asked).toEqual([]);
});

test('a mail of 25 MB is read to its end and refused', async () => {
  const setting = await givenSetting({ isDelivered: false });
  const { id = '' } = (await sent(setting)) ?? {};
  const address = returnPaths.ofTest({ workspaceId, testId: id });
  const head = `${markOf(address)}From: a@${name}\r\n\r\n`;
  const mail = Buffer.concat([Buffer.from(head), Buffer.alloc(25_000_000, 'x\r\n')]);
  expect(await bring(setting, address, mail)).toMatch(/55[24]/);
  expect((await resultOf(setting, id))?.state).toBe(PENDING);
});

test('DNS servers that never answer end the verification after 8 s, and the result says so', async () => {
  const silent: Zone = 'silent';
  const setting = await givenSetting({
    zones: {
      [spfHost]: silent,
      [`_dmarc.${name}`]: silent,
      [`r1._domainkey.${name}`]: silent,
      [`e1._domainkey.${name}`]: silent,
    },
    isDelivered: false,
  });
  const { id = '' } = (await sent(setting)) ?? {};
  const address = returnPaths.ofTest({ workspaceId, testId: id });
  const startedMs = Date.now();
  await bring(setting, address, given.sink.bodies(address)[0] ?? '');
  expect(Date.now() - startedMs).toBeLessThan(12_000);
  expect((await resultOf(setting, id))?.result).toMatchObject({
    dkim: [{ result: 'temperror' }, { result: 'temperror' }],
    problem: 'DNS servers did not answer in time',
  });
}, 30_000);

test('a test mail that comes in copies at once is taken once, and the others come again', async () => {
  const setting = await givenSetting({
    zones: { [`r1._domainkey.${name}`]: 'silent' },
    isDelivered: false,
  });
  const { id = '' } = (await sent(setting)) ?? {};
  const address = returnPaths.ofTest({ workspaceId, testId: id });
  const [real = ''] = given.sink.bodies(address);
  const copies = [address, address.toUpperCase(), address, address, address];
  const answers = await Promise.all(copies.map((to) => bring(setting, to, real)));
  expect(answers.filter((answer) => answer === '250 2.0.0 stored')).toHaveLength(1);
  expect(answers.filter((answer) => answer.includes('451 4.3.0'))).toHaveLength(4);
  expect((await resultOf(setting, id))?.state).toBe(ARRIVED);
  expect(setting.errors).toEqual([]);
}, 30_000);

test('SPF records that name each other without end cost a bounded number of look-ups', async () => {
  const hosts = Array.from({ length: 100 }, (_, at) => `h${at}.example`);
  const setting = await givenSetting({
    zones: {
      [spfHost]: { txt: [`v=spf1 ${hosts.map((host) => `mx:${host}`).join(' ')} -all`] },
      ...Object.fromEntries(
        hosts.map((host) => [
          host,
          { mx: Array.from({ length: 20 }, (_, at) => `m${at}.${host}`) },
        ]),
      ),
    },
  });
  const { id = '' } = (await sent(setting)) ?? {};
  expect((await resultOf(setting, id))?.state).toBe(ARRIVED);
  expect(setting.dns.asked.length).toBeLessThanOrEqual(60 * 2);
});

test('a thousand mails to one address change nothing, and none of them is verified', async () => {
  const setting = await givenSetting();
  const { id = '' } = (await sent(setting)) ?? {};
  const before = await resultOf(setting, id);
  const asked = setting.dns.asked.length;
  const transport = createTransport({
    ...{ host: '127.0.0.1', port: setting.port, pool: true, maxConnections: 8, maxMessages: 1_000 },
    tls: { rejectUnauthorized: false },
  });
  closing.unshift(() => transport.close());
  const to = returnPaths.ofTest({ workspaceId, testId: id });
  const envelope = { from: 'x@y.example', to };
  const mails = Array.from({ length: 1_000 }, () =>
    transport.sendMail({ envelope, raw: 'Subject: x\r\n\r\nx' }),
  );
  const answers = new Set((await Promise.all(mails)).map(({ response }) => response));
  expect([...answers]).toEqual(['250 2.0.0 stored']);
  expect(setting.dns.asked.length).toBe(asked);
  expect(await resultOf(setting, id)).toEqual(before);
}, 60_000);

test('a test mail that comes back has failed, with the words of the server, and nothing is suppressed', async () => {
  const setting = await givenSetting({ isDelivered: false });
  given.sink.behaviour.dsn = true;
  const { id = '' } = (await sent(setting)) ?? {};
  const address = returnPaths.ofTest({ workspaceId, testId: id });
  const [envelope = ''] = given.sink.envelopes(address)[0] ?? [];
  const returnPath = /<(.*?)>/.exec(envelope)?.[1] ?? '';
  await bring(setting, returnPath, dsnOf(address, { diagnostic: '550 5.1.1 no such user' }));
  await applyAll(setting.context);
  expect(await resultOf(setting, id)).toMatchObject({
    state: FAILED,
    error: expect.stringContaining('no such user'),
  });
  const { suppressions } = await given.suppressions.listSuppressions({ workspaceId });
  expect(suppressions).toEqual([]);
});

test('the mail of a workspace that was deleted meanwhile is refused', async () => {
  const setting = await givenSetting({ isDelivered: false });
  const { id = '' } = (await sent(setting)) ?? {};
  const address = returnPaths.ofTest({ workspaceId, testId: id });
  await query(given.store.fork(), 'delete from domain_tests', []);
  expect(await bring(setting, address, given.sink.bodies(address)[0] ?? '')).toContain('550 5.7.1');
});
