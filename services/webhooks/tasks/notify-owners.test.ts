import { Code, ConnectError } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import type { OwnerNotice } from '../lifecycle/owner-notice.ts';
import { notifyOwners } from './notify-owners.ts';

const disabled: OwnerNotice = {
  key: { workspaceId: 'acme', id: 's1' },
  name: 'CRM\nBcc: all@evil.example',
  host: 'hooks.example.com',
  reason: 'The endpoint answered 410 Gone',
  disabledAt: '2030-01-01T12:00:00.000Z',
};

type Mail = { key?: string; to?: string; subject?: string; text?: string };

/** Notifies two owners; `refusal` is what the mail server says to the first. */
async function notified(refusal?: ConnectError) {
  const mails: Mail[] = [];
  const warnings: object[] = [];
  const peers = {
    workspaces: {
      listOwners: async () => ({
        workspaceName: 'Acme',
        emails: ['a@example.com', 'b@example.com'],
      }),
    },
    systemMail: {
      async sendSystemMail(mail: Mail) {
        if (refusal && mail.to === 'a@example.com') throw refusal;
        mails.push(mail);
        return {};
      },
    },
  };
  const warn = (entry: object) => void warnings.push(entry);
  await notifyOwners(peers as never, { log: { warn } as never })(disabled);
  return { mails, warnings };
}

test('every owner gets a mail with the endpoint, the time and the reason', async () => {
  const { mails } = await notified();
  expect(mails.map(({ to }) => to)).toEqual(['a@example.com', 'b@example.com']);
  expect(mails[0]).toMatchObject({
    subject: 'Webhooks to hooks.example.com were disabled',
    key: 'webhook/s1/1893499200000/0',
  });
  for (const words of ['"Acme"', disabled.host, disabled.reason, disabled.disabledAt]) {
    expect(mails[0]?.text).toContain(words);
  }
  expect(mails[0]?.text).toContain('"CRM Bcc: all evil example"');
});

test.each([Code.FailedPrecondition, Code.InvalidArgument])(
  'an owner who cannot be notified (%s) is logged without address, and the others are notified',
  async (code) => {
    const { mails, warnings } = await notified(new ConnectError('no', code));
    expect(mails.map(({ to }) => to)).toEqual(['b@example.com']);
    expect(JSON.stringify(warnings)).not.toContain('a@example.com');
    expect(warnings).toMatchObject([{ workspaceId: 'acme', subscription: 's1' }]);
  },
);

test('a mail server that is down is tried again', async () => {
  await expect(notified(new ConnectError('down', Code.Unavailable))).rejects.toMatchObject({
    code: Code.Unavailable,
  });
});
