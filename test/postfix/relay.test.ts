import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createTransport } from 'nodemailer';
import { freePort } from '../../deploy/local/ports.ts';
import { useService } from '../../services/messages/test/given.ts';
import { givenRelay, key } from '../relay/given-relay.ts';
import { until } from '../stack/until.ts';
import { noPostfix, type Postfix, startPostfix } from './postfix.ts';

/*
 * Debian's Postfix as a client of the relay: it signs in by TLS, keeps what is to come again, and
 * sends a mail for several recipients as one.
 */

const reason = noPostfix();
if (reason)
  process.stderr.write(`Postfix does not run here, so its tests are skipped: ${reason}.\n`);
const withPostfix = reason ? test.skip : test;

const given = useService();
const withinMs = 40_000;
let postfix: Postfix | undefined;
let relay: Awaited<ReturnType<typeof givenRelay>>;

beforeAll(async () => {
  if (reason) return;
  given.context.transactional.queue.start();
  relay = await givenRelay(given, { allowsPlaintext: false });
  const domains = { 'relayed.example': relay.port };
  postfix = await startPostfix(await freePort(), domains, {
    passwords: { [relay.port]: key },
  });
}, 180_000);
afterAll(async () => {
  await postfix?.stop();
  await relay?.stop();
});

/** Gives Postfix a mail, as a program on its machine does. */
async function give(to: readonly string[], from = 'news@sender.example') {
  const transport = createTransport({
    ...{ host: '127.0.0.1', port: postfix?.port ?? 0, ignoreTLS: true },
  });
  const raw = `From: ${from}\r\nTo: ${to[0]}\r\nSubject: Grüße\r\n\r\n.\r\nHällo\r\n`;
  await transport.sendMail({ envelope: { from, to: [...to] }, raw: Buffer.from(raw) });
  transport.close();
}

async function arrived(to: string): Promise<string> {
  await until('the mail arrives', async () => given.sink.bodies(to).length > 0, { withinMs });
  return Buffer.from(given.sink.bodies(to)[0] ?? '', 'latin1').toString();
}

withPostfix(
  'Postfix relays a mail for several recipients by the relay',
  async () => {
    const to = ['one@relayed.example', 'two@relayed.example'];
    await give(to);
    for (const each of to) {
      const body = await arrived(each);
      expect(body).toMatch(
        /^Received: by relay\.example \(Postrider\) with (?:UTF8SMTP|ESMTP)SA id /,
      );
      expect(body).toContain('\r\nSubject: Grüße\r\n');
      expect(body).toContain('\r\n\r\n..\r\nHällo\r\n');
    }
    await until('Postfix says so', async () =>
      /queued as [0-9a-f-]{36}/.test(postfix?.log() ?? ''),
    );
  },
  60_000,
);

withPostfix(
  'Postfix returns a mail whose From is no sender',
  async () => {
    await give(['nobody@relayed.example'], 'eve@other.example');
    await until(
      'Postfix says so',
      async () => /550 5\.7\.1 .*must be the address of a sender/.test(postfix?.log() ?? ''),
      { withinMs },
    );
    expect(given.sink.bodies('nobody@relayed.example')).toEqual([]);
  },
  60_000,
);
