import { create } from '@bufbuild/protobuf';
import { expect, test } from '@jest/globals';
import { EmailProviderSchema } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { createEgress } from '#lib/outside/egress.ts';
import { startDnsServer } from '../../../test/dns-server.ts';
import { smtp } from '../providers/smtp/provider.ts';
import { closing, givenSink, kinds, people, send } from '../test/given-pool.ts';
import { Admission } from './admission.ts';

const settings = { username: '', password: '', useTls: false, ehloHostname: 'me.example' };

async function givenAdmission() {
  const dns = await startDnsServer((name) => {
    if (name.endsWith('tarpit.example')) return 'silent';
    return name === 'absent.example' ? 'absent' : { a: ['127.0.0.1'] };
  });
  const egress = createEgress({ allow: ['127.0.0.0/8'], dnsServers: [dns.address] });
  const admission = new Admission({ resolve: egress.resolve, mayStart: () => true });
  closing.push(
    () => admission.close(),
    () => egress.close(),
    () => dns.close(),
  );
  return (workspaceId: string, host: string, port = 25) =>
    admission
      .lane({ workspaceId, integrationId: host })
      .open(
        smtp.transport(create(EmailProviderSchema, { smtp: { ...settings, host, port } })),
        60_000_000,
      );
}

test("a workspace's mail goes out at once while the server names of others are never answered", async () => {
  const pool = await givenAdmission();
  const sink = await givenSink();
  const stuck = Array.from({ length: 60 }, (_, number) =>
    send(pool(`attacker${number % 3}`, `mail${number}.tarpit.example`), people(20)),
  );
  let answers = 0;
  for (const each of stuck) void each.then(() => (answers += 1));
  expect(kinds(await send(pool('b', 'smtp.example', sink.port), people(5)))).toEqual(
    Array(5).fill('accepted'),
  );
  expect(answers).toBe(0);
  const outcomes = (await Promise.all(stuck)).flat();
  expect(outcomes).toHaveLength(60 * 20);
  expect(new Set(kinds(outcomes))).toEqual(new Set(['outage']));
});

test.each([
  ['mail.tarpit.example', 'our DNS resolver has no answer for the name now'],
  ['absent.example', 'the server name does not lead to an address that may be called'],
])('mail for a server called %s waits, with the reason: %s', async (host, info) => {
  const pool = await givenAdmission();
  expect(await send(pool('a', host), ['p@example.com'])).toEqual([{ kind: 'outage', info }]);
});
