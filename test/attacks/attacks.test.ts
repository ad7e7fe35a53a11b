import { beforeAll, expect, test } from '@jest/globals';
import { mailsTo } from '../stack/given.ts';
import { ownerToken } from '../stack/owner.ts';
import { borrowedStack } from '../stack/shared.ts';
import { until } from '../stack/until.ts';
import { attacks, type Site } from './attacks.ts';
import { givenOtherTenant, type OtherTenant } from './other-tenant.ts';
import { givenTenant } from './tenant.ts';

/**
 * Each attack of a tenant or an unauthenticated caller, beside another tenant that must not notice.
 * `npm run bench -- neighbours` measures the times.
 */

const stack = borrowedStack();
let site: Site;
let otherTenant: OtherTenant;

beforeAll(async () => {
  const smtpPort = Number(new URL(stack.settings.SMTP_URL ?? '').port);
  const owner = await ownerToken(stack.settings);
  site = { baseUrl: stack.settings.BASE_URL ?? '', owner, smtpPort };
  otherTenant = await givenOtherTenant(await givenTenant(site.baseUrl, site));
}, 60_000);

test.each(attacks.map((attack) => [attack.name, attack] as const))(
  'a tenant works on beside %s',
  async (_, { begin }) => {
    const attack = await begin(site);
    const seen = await otherTenant.live({ requests: 60, perSecond: 20, mails: 5 });
    expect(seen.statuses.filter((status) => status !== 200)).toEqual([]);
    const emails = [...seen.mailsAskedAtMs.keys()];
    await until('the mails have arrived', async () => mailsTo(stack, emails).length >= 5);
    await attack.stop();
    expect(attack.tally.has(500)).toBe(false);
  },
  120_000,
);
