import { expect, test } from '@jest/globals';
import type { BacklogNotice } from '../backlog/trim.ts';
import { notifyOfBacklog } from './notify-of-backlog.ts';

test('owners get a mail that says how many deliveries were given up, of which endpoint, and why', async () => {
  const notice: BacklogNotice = {
    ...{ workspaceId: 'acme', name: 'CRM\nBcc: all@example.com', host: 'hooks.example.com' },
    ...{ failed: 5_000, subscriptions: 3, droppedAt: '2030-01-01T12:00:00.000Z' },
    reason: 'more than 100000 deliveries of the subscription were waiting',
  };
  const mails: { key?: string; to?: string; subject?: string; text?: string }[] = [];
  const peers = {
    workspaces: { listOwners: async () => ({ workspaceName: 'Acme', emails: ['a@example.com'] }) },
    systemMail: { sendSystemMail: async (mail: object) => void mails.push(mail) },
  };
  await notifyOfBacklog(peers as never, { log: { warn: () => {} } })(notice);
  expect(mails).toMatchObject([
    {
      key: 'webhook-backlog/acme/1893499200000/0',
      to: 'a@example.com',
      subject: 'Too many webhooks to hooks.example.com are waiting',
    },
  ]);
  expect(mails[0]?.text).toContain(
    'the oldest 5000 deliveries of "CRM Bcc: all example com" (hooks.example.com) and 2 other subscriptions were given up',
  );
  expect(mails[0]?.text).toContain(notice.reason);
});
