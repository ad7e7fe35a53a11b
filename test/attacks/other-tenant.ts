import { setTimeout as sleep } from 'node:timers/promises';
import { createCall } from '../stack/client.ts';
import { unique } from '../stack/given.ts';
import { act, givenNotification, mailTo, plainMail, type Tenant } from './tenant.ts';

export type Experience = {
  /** Of each request. */
  statuses: number[];
  timesMs: number[];
  /** When each mail was asked for, by address, in Unix milliseconds. */
  mailsAskedAtMs: Map<string, number>;
};

export type OtherTenant = {
  /** Reads and writes at a steady rate, whether or not answers keep up, and mails among them. */
  live(load: Load): Promise<Experience>;
};

type Load = {
  requests: number;
  perSecond: number;
  mails: number;
  /**
   * The tenant is at work before, without mails; what is answered before is neither counted nor
   * seen.
   */
  from?: Promise<unknown> | undefined;
};

/** A tenant that does nothing but its work. A webhook gets the changes of its contacts. */
export async function givenOtherTenant(tenant: Tenant, hookUrl?: string): Promise<OtherTenant> {
  const { baseUrl, token, workspaceId } = tenant;
  const call = createCall(baseUrl, token);
  if (hookUrl) {
    await act(tenant, 'webhookSubscriptions.create', {
      name: 'Changes',
      url: hookUrl,
      event_types: ['contact.created', 'contact.updated'],
    });
  }
  const notification = await givenNotification(tenant, { source: plainMail });
  const read = () =>
    call('contacts.getByEmail', undefined, {
      query: { workspace_id: workspaceId, email: 'reader@example.com' },
    });
  const write = (number: number) =>
    call('contacts.upsert', {
      workspace_id: workspaceId,
      contact: {
        email: number === 0 ? 'reader@example.com' : `r${number % 50}@example.com`,
        first_name: unique('name'),
      },
    });
  return {
    async live({ requests, perSecond, mails, from = Promise.resolve() }) {
      const prefix = unique('other');
      const seen: Experience = { statuses: [], timesMs: [], mailsAskedAtMs: new Map() };
      let isSeen = false;
      const timed = async (ask: () => Promise<{ status: number }>) => {
        const beganAtMs = performance.now();
        const { status } = await ask().catch(() => ({ status: 0 }));
        if (!isSeen) return;
        seen.timesMs.push(performance.now() - beganAtMs);
        seen.statuses.push(status);
      };
      const mail = (number: number) => {
        const email = `${prefix}.${number}@example.com`;
        seen.mailsAskedAtMs.set(email, Date.now());
        return call('transactional.send', {
          workspace_id: workspaceId,
          ...mailTo(email, notification),
        });
      };
      await write(0);
      const see = () => {
        isSeen = true;
      };
      from.then(see, see);
      const beganAtMs = performance.now();
      const open: Promise<void>[] = [];
      const mailEvery = mails === 0 ? 0 : Math.max(1, Math.floor(requests / mails));
      for (let number = 0, counted = 0; counted < requests; number += 1) {
        await sleep(Math.max(0, beganAtMs + (number * 1_000) / perSecond - performance.now()));
        open.push(timed(() => (number % 2 === 0 ? read() : write(number))));
        if (!isSeen) continue;
        const isMail = mailEvery > 0 && counted % mailEvery === 0;
        if (isMail && seen.mailsAskedAtMs.size < mails) open.push(timed(() => mail(number)));
        counted += 1;
      }
      await Promise.all(open);
      return seen;
    },
  };
}
