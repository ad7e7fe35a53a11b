import { expect, test } from '@jest/globals';
import PostalMime from 'postal-mime';
import { until } from '../../../test/stack/until.ts';
import { sendConfirmations } from '../tasks/send-confirmations.ts';
import { batchOf, people, resetAfterEach, useService } from '../test/given.ts';
import {
  type Algorithm,
  type GivenDomain,
  givenDomain,
  type Records,
  verified,
} from '../test/given-domain.ts';
import { givenNotification, sendOf } from '../test/given-notification.ts';
import { defaultContent } from '../test/given-peers.ts';

const given = useService();
resetAfterEach(given);
const workspaceId = 'w1';
const both = [
  ['rsa', 'r1'],
  ['ed25519', 'e1'],
] as const;

/** The notice that settings have changed, as workspaces gives it. */
function change(domains: GivenDomain[], process = given.newProcess()) {
  given.world.domains = domains;
  process.context.plans.refresh(workspaceId);
  return process;
}

/** Sends to each address, and gives the mails as the server got them. */
async function sendTo(emails: string[], { sender }: Pick<typeof given, 'sender'>) {
  expect(await sender.sendBatch(batchOf(emails))).toMatchObject({ sent: emails.length });
  return emails.map((email) => given.sink.bodies(email)[0] ?? '');
}

const resultsOf = (mails: string[], records: Records) =>
  Promise.all(mails.map((mail) => verified(mail, records)));

test.each([[[both[0]]], [[both[1]]], [both]] as (readonly (readonly [Algorithm, string])[])[][])(
  'mails of a domain are signed by its keys %j',
  async (keys) => {
    const { domain, records } = givenDomain(keys);
    const process = change([domain]);
    const mails = await sendTo(people(20, `signed${keys.length}${keys[0]?.[0]}`), process);
    const wanted = keys.map(([, selector]) => `pass ${selector}`);
    expect(await resultsOf(mails, records)).toEqual(mails.map(() => wanted));
  },
);

test.each(['pipelining', 'one command at a time'])(
  'signed mails and others take turns on one connection (%s)',
  async (how) => {
    given.sink.behaviour.pipelining = how === 'pipelining';
    const { domain, records } = givenDomain([['ed25519', 'e1']]);
    given.world.senders = [{ id: 's3', email: 'hello@other.example', name: 'Other' }];
    const process = change([domain]);
    given.sink.behaviour.latencyMs = 2;
    const batches: { senderId: string; emails: string[]; sending: Promise<unknown> }[] = [];
    for (const [index, senderId] of ['s1', 's3', 's1', 's3'].entries()) {
      const emails = people(60, `turn${index}${how.length}`);
      given.world.content = { ...defaultContent, senderId };
      batches.push({ senderId, emails, sending: process.sender.sendBatch(batchOf(emails)) });
      // The template is read by then.
      const hasMail = (email: string) => given.sink.bodies(email).length > 0;
      await until('the batch is begun', async () => emails.some(hasMail));
    }
    for (const { senderId, emails, sending } of batches) {
      expect(await sending).toMatchObject({ sent: 60 });
      const mails = emails.map((email) => given.sink.bodies(email)[0] ?? '');
      const wanted = senderId === 's1' ? ['pass e1'] : ['none undefined'];
      expect(await resultsOf(mails, records)).toEqual(mails.map(() => wanted));
    }
  },
);

test('the mail of a domain without keys is the same as of no domain, but for its time and id', async () => {
  const emails = people(1, 'same');
  const shapes: string[] = [];
  for (const domains of [[], [{ name: 'sender.example', signingKeys: [] }]]) {
    const [mail = ''] = await sendTo(emails, change(domains));
    given.sink.reset();
    shapes.push(
      mail
        .replace(/^Message-ID: .*$/m, '')
        .replace(/^Date: .*$/m, '')
        .replace(/^Feedback-ID: .*$/m, '')
        .replaceAll(/\/u\/w1\/[\w-]{43}/g, ''),
    );
  }
  expect(shapes[0]).toBe(shapes[1]);
  expect(shapes[0]).not.toContain('DKIM-Signature');
});

test('a sender whose domain has capitals, or is not ASCII, is signed by the domain in ASCII', async () => {
  given.world.senders = [
    { id: 's3', email: 'news@Sender.EXAMPLE', name: 'Capitals' },
    { id: 's4', email: 'news@bücher.example', name: 'IDN' },
  ];
  const ascii = givenDomain([['ed25519', 'e1']]);
  const idn = givenDomain([['ed25519', 'e2']], { name: 'xn--bcher-kva.example' });
  const process = change([ascii.domain, idn.domain]);
  const records = new Map([...ascii.records, ...idn.records]);
  for (const [senderId, selector] of [
    ['s3', 'e1'],
    ['s4', 'e2'],
  ]) {
    given.world.content = { ...defaultContent, ...(senderId && { senderId }) };
    const mails = await sendTo(people(1, `idn-${senderId}`), process);
    expect(await resultsOf(mails, records)).toEqual([[`pass ${selector}`]]);
  }
});

test('a subdomain is not signed by the keys of the domain above it', async () => {
  given.world.senders = [{ id: 's3', email: 'a@sub.sender.example', name: 'Below' }];
  given.world.content = { ...defaultContent, senderId: 's3' };
  const { domain, records } = givenDomain([['ed25519', 'e1']]);
  const mails = await sendTo(people(1, 'sub'), change([domain]));
  expect(await resultsOf(mails, records)).toEqual([['none undefined']]);
});

test('a domain of which one key cannot be used is signed by the other', async () => {
  const { domain, records } = givenDomain(both);
  const [rsa, ed25519] = domain.signingKeys;
  if (!rsa || !ed25519) throw new Error('no keys');
  const process = change([{ ...domain, signingKeys: [{ ...rsa, selector: 'r2' }, ed25519] }]);
  const mails = await sendTo(people(3, 'half'), process);
  expect(await resultsOf(mails, records)).toEqual(mails.map(() => ['pass e1']));
});

test('while keys are replaced under way no mail is unsigned, and each is signed by keys that were answered', async () => {
  const generations = Array.from({ length: 5 }, (_, index) =>
    givenDomain([
      ['rsa', `r${index}`],
      ['ed25519', `e${index}`],
    ]),
  );
  const records: Records = new Map(generations.flatMap(({ records: of }) => [...of]));
  const [first] = generations;
  if (!first) throw new Error('no keys');
  const process = change([first.domain]);
  given.sink.behaviour.latencyMs = 20;
  let isRotating = true;
  const sendOn = async () => {
    for (let batch = 0; isRotating; batch += 1) {
      const emails = people(10, `rotated${batch}-`);
      expect(await process.sender.sendBatch(batchOf(emails))).toMatchObject({ sent: 10 });
    }
  };
  const sending = sendOn();
  const endedAt = new Map<string, number>();
  for (const [index, { domain }] of generations.entries()) {
    change([domain], process);
    await given.peers.domains.read(workspaceId);
    // The keys before this one are in no answer from now on; mails that are signed are under way.
    const total = given.sink.total();
    endedAt.set(`r${index - 1}`, total);
    await until('some are sent with it', async () => given.sink.total() > total + 25);
  }
  isRotating = false;
  await sending;
  const mails = given.sink.bodies();
  const results = await resultsOf(mails, records);
  expect(
    results.filter((each) => each.length !== 2 || !each.every((of) => /^pass/.test(of))),
  ).toEqual([]);
  const selectors = results.map(([of = '']) => of.replace('pass ', ''));
  expect(new Set(selectors).size).toBe(generations.length);
  for (const [selector, total] of endedAt) {
    // Each connection may have a mail under way that was signed before.
    const underway = given.sink.connectionsPeak();
    expect(selectors.slice(total + underway)).not.toContain(selector);
  }
});

test('transactional mails with copies and files, tests and confirmations are signed', async () => {
  const { domain, records } = givenDomain(both);
  const process = change([domain]);
  const notification = await givenNotification(given);
  const email = 'signed-ann@example.com';
  await process.transactional.sendTransactional(
    sendOf(notification, {
      contact: { email },
      emailOptions: {
        cc: ['copy@example.com'],
        attachments: [{ filename: 'a.txt', content: Buffer.from('.\r\n.').toString('base64') }],
        headers: { 'X-Own': 'a  b' },
      },
    }),
  );
  given.world.testData = {};
  await process.transactional.testTemplate({
    ...{ workspaceId, templateId: 'receipt', integrationId: 'smtp-1', senderId: 's1' },
    recipientEmail: 'signed-dev@example.com',
  });
  await given.events.consumeEvents({
    workspaceId,
    batchId: crypto.randomUUID(),
    events: [
      {
        type: 'confirmation.due',
        dataJson: JSON.stringify({ email: 'signed-new@example.com', list_id: 'weekly' }),
      },
    ],
  });
  await sendConfirmations(process.context)({ workspaceId, listId: 'weekly' });
  for (const to of [email, 'signed-dev@example.com', 'signed-new@example.com']) {
    await until('it arrives', async () => given.sink.bodies(to).length === 1);
    expect(await resultsOf(given.sink.bodies(to), records)).toEqual([['pass r1', 'pass e1']]);
  }
});

test('a signature of the caller’s own is refused', async () => {
  const notification = await givenNotification(given);
  for (const name of ['DKIM-Signature', 'dkim-signature', 'From', 'List-ID', 'Sender']) {
    const request = sendOf(notification, { emailOptions: { headers: { [name]: 'v=1' } } });
    await expect(given.transactional.sendTransactional(request)).rejects.toThrow(
      `header '${name}' is not allowed`,
    );
  }
});

test('mails of a workspace whose domains cannot be read are not begun, and go out signed later', async () => {
  const { domain, records } = givenDomain([['ed25519', 'e1']]);
  const process = change([domain]);
  const batch = batchOf(people(10, 'unread'));
  await process.context.plans.settings(workspaceId);
  given.world.listingDomains = async () => {
    throw new Error('workspaces is away');
  };
  await expect(process.sender.sendBatch(batch)).rejects.toThrow();
  given.world.listingDomains = undefined;
  expect(await process.sender.sendBatch(batch)).toMatchObject({ sent: 10 });
  expect(await resultsOf(given.sink.bodies(), records)).toEqual(
    Array.from({ length: 10 }, () => ['pass e1']),
  );
});

test('links, pixel and pages of a mail are at the tracking host of its domain', async () => {
  given.world.isTracked = true;
  given.world.content = {
    ...defaultContent,
    html: '<a href="https://a.example/">a</a><a href="{{ unsubscribe_url }}">leave</a><a href="{{ notification_center_url }}">p</a>{{ workspace.base_url }}',
  };
  const tracked = { name: 'sender.example', trackingHost: 'links.sender.example' };
  const process = change([{ ...tracked, signingKeys: [] }]);
  const [mail = ''] = await sendTo(people(1, 'tracked'), process);
  const { html = '', headers } = await PostalMime.parse(Buffer.from(mail, 'latin1'));
  const host = 'https://links.sender.example';
  for (const path of ['/r/w1/', '/t/w1/', '/u/w1/', '/p/w1/']) expect(html).toContain(host + path);
  expect(html).not.toContain('mail.example');
  const unsubscribe = headers.find(({ key }) => key === 'list-unsubscribe')?.value;
  expect(unsubscribe).toMatch(/^<https:\/\/links\.sender\.example\/u\/w1\/[\w-]{43}>$/);
  change([], process);
  const [later = ''] = await sendTo(people(1, 'untracked'), process);
  expect(later).toContain('https://mail.example/u/w1/');
  expect(later).not.toContain('links.sender.example');
});
