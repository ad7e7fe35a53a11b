import { afterEach, expect, test } from '@jest/globals';
import { createNames, NameError, NamesBusyError } from '#lib/outside/names/resolver.ts';
import { startDnsServer, type Zone } from '../../../test/dns-server.ts';
import { ReceiverDirectory } from './directory.ts';

const closing: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

async function givenDirectory(zoneOf: (name: string) => Zone) {
  const dns = await startDnsServer(zoneOf);
  const names = createNames({ servers: [dns.address] });
  closing.push(
    () => dns.close(),
    () => names.close(),
  );
  const directory = new ReceiverDirectory((domain, id) => names.mailHosts(domain, id));
  const groupOf = async (domain: string, workspaceId = 'a') =>
    (await directory.groupsOf(workspaceId, new Set([domain]))).get(domain);
  return { directory, groupOf, asked: dns.asked };
}

const distinct = (count: number, suffix: string) =>
  new Set(Array.from({ length: count }, (_, number) => `d${number}.${suffix}`));

test.each([
  ['gmail-smtp-in.l.google.com', 'google'],
  ['aspmx2.googlemail.com', 'google'],
  ['mta5.am0.yahoodns.net', 'yahoo'],
  ['outlook-com.olc.protection.outlook.com', 'outlook'],
  ['firm-example.mail.protection.outlook.com', 'office365'],
  ['mx.ym.163.com', 'netease'],
  ['mx01.mail.icloud.com', 'icloud'],
  ['mx00.gmx.net', 'gmx'],
  ['mx-ha02.web.de', 'gmx'],
  ['smtp-in.orange.fr', 'orange'],
  ['mx3.qq.com', 'qq'],
  ['mxs.mail.ru', 'mail.ru'],
  ['mx1.eu.mail.provider.co.uk', 'provider.co.uk'],
  ['not-google.com', 'not-google.com'],
])('a domain whose mail %s takes belongs to %s', async (host, group) => {
  const { groupOf } = await givenDirectory(() => ({ mx: [host] }));
  expect(await groupOf('firm.example')).toBe(group);
});

test('a domain without mail hosts is a group of its own, and is asked for once', async () => {
  const { groupOf, asked } = await givenDirectory(() => 'absent');
  expect(await groupOf('firm.example')).toBe('firm.example');
  expect(await groupOf('firm.example')).toBe('firm.example');
  expect(asked).toEqual(['MX firm.example']);
});

test('a domain that is no host name is a group of its own without a question', async () => {
  const { groupOf, asked } = await givenDirectory(() => 'absent');
  for (const domain of ['[127.0.0.1]', 'local', 'a..b', `${'x'.repeat(300)}.example`]) {
    expect(await groupOf(domain)).toBe(domain);
  }
  expect(asked).toEqual([]);
});

test('10,000 domains of one list are each asked for once, whatever waits', async () => {
  const { directory, asked } = await givenDirectory(() => ({ mx: ['mx.host.example'] }));
  const all = [...distinct(10_000, 'example')];
  for (let rounds = 0; rounds < 2; rounds += 1) {
    for (let first = 0; first < all.length; first += 200) {
      const groups = await directory.groupsOf('a', new Set(all.slice(first, first + 200)));
      expect(groups.size).toBe(200);
    }
  }
  expect(directory.size).toBe(10_000);
  expect(new Set(asked).size).toBe(asked.length);
});

test("a tenant's 200,000 domains leave the common ones of others, and others' questions alone", async () => {
  const answers = { asked: 0 };
  const directory = new ReceiverDirectory(async (domain) => {
    answers.asked += 1;
    return domain === 'gmail.com' ? ['gmail-smtp-in.l.google.com'] : [];
  });
  const gmail = new Set(['gmail.com']);
  await directory.groupsOf('b', gmail);
  for (let first = 0; first < 200_000; first += 10_000) {
    const some = new Set(Array.from({ length: 10_000 }, (_, at) => `d${first + at}.example`));
    await directory.groupsOf('a', some);
    await directory.groupsOf('b', gmail);
  }
  expect(directory.size).toBe(50_000);
  expect(answers.asked).toBe(200_001);
});

test('domains that DNS never answers delay a batch by half a second, once, and another tenant not at all', async () => {
  const { directory, groupOf } = await givenDirectory((name) =>
    name.endsWith('tarpit.example') ? 'silent' : { mx: ['mx.host.example'] },
  );
  const stuck = directory.groupsOf('attacker', distinct(200, 'tarpit.example'));
  expect(await groupOf('firm.example', 'b')).toBe('host.example');
  const beganAtMs = performance.now();
  const groups = await stuck;
  expect(performance.now() - beganAtMs).toBeLessThan(2_000);
  expect(groups.get('d7.tarpit.example')).toBe('d7.tarpit.example');
});

test("a domain that fails in one tenant's share is asked for again for another", async () => {
  const directory = new ReceiverDirectory(async (_, workspaceId) => {
    if (workspaceId === 'a') throw new NameError('no answer', { isOurs: true });
    return ['aspmx.l.google.com'];
  });
  const firm = new Set(['firm.example']);
  expect((await directory.groupsOf('a', firm)).get('firm.example')).toBe('firm.example');
  expect((await directory.groupsOf('b', firm)).get('firm.example')).toBe('google');
  expect((await directory.groupsOf('a', firm)).get('firm.example')).toBe('google');
});

test('a domain for which there was no place is asked for again with the next batch', async () => {
  let isBusy = true;
  const directory = new ReceiverDirectory(async () => {
    if (isBusy) throw new NamesBusyError();
    return ['aspmx.l.google.com'];
  });
  const firm = new Set(['firm.example']);
  expect((await directory.groupsOf('a', firm)).get('firm.example')).toBe('firm.example');
  isBusy = false;
  expect((await directory.groupsOf('a', firm)).get('firm.example')).toBe('google');
});
