import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { dkimSign } from 'mailauth/lib/dkim/sign.js';
import { resetAfterEach, useService } from '../../services/messages/test/given.ts';
import { newDomainKey, verified } from '../../services/messages/test/given-domain.ts';
import { until } from '../stack/until.ts';
import { givenRelay, givenSignedIn, send } from './given-relay.ts';
import { otherMails } from './other-mails.ts';

const given = useService();
resetAfterEach(given);
let relay: Awaited<ReturnType<typeof givenRelay>>;
beforeAll(async () => {
  given.context.transactional.queue.start();
  relay = await givenRelay(given);
});
afterAll(() => relay.stop());

let count = 0;
const trace = /^Received: by relay\.example [^;]*;\r\n\t[^\r]+\r\n/;
const stuffed = (mail: Buffer) => mail.toString('latin1').replace(/(?<=^|\r\n)\./g, '..');

/** The mail as the server took it, without the line of the relay. */
async function through(mail: Buffer): Promise<Buffer> {
  count += 1;
  const to = `other-${count}@example.com`;
  const client = await givenSignedIn(relay.port);
  expect(await send(client, { to: [to], mail: stuffed(mail), params: ' BODY=8BITMIME' })).toMatch(
    /^250 2\.0\.0 /,
  );
  client.socket.destroy();
  await until('the mail arrives', async () => given.sink.bodies(to).length > 0, {
    withinMs: 15_000,
  });
  const body = (given.sink.bodies(to)[0] ?? '').replace(/(?<=^|\r\n)\.(?=\.)/g, '');
  expect(body).toMatch(trace);
  return Buffer.from(body.replace(trace, ''), 'latin1');
}

const control = [
  'X-PM-Tag: other',
  'Postrider-Metadata-System: other',
  'Bcc: eve@example.com',
  'X-SMTPAPI: {}',
]
  .map((line) => `${line}\r\n`)
  .join('');

test.each(Object.entries(otherMails))(
  'a mail as %s writes it goes out byte for byte but for the fields that are named',
  async (_, text) => {
    const mail = Buffer.from(text);
    expect(await through(mail)).toEqual(mail);
    expect(await through(Buffer.from(control + text))).toEqual(mail);
  },
);

test.each(Object.entries(otherMails))(
  'the signature that the origin of a mail as %s writes it has made still verifies',
  async (_, text) => {
    const { key, record } = newDomainKey('rsa', 'origin');
    const domain = {
      signingDomain: 'sender.example',
      selector: 'origin',
      privateKey: key.key.export({ type: 'pkcs8', format: 'pem' }).toString(),
    };
    const signed = await dkimSign(text, {
      ...{ canonicalization: 'simple/simple', algorithm: 'rsa-sha256' },
      // The types want it in one place, and the function in the other.
      ...{ ...domain, signatureData: [domain] },
    });
    expect(signed.errors).toEqual([]);
    const out = await through(Buffer.from(signed.signatures + text));
    const records = new Map([['origin._domainkey.sender.example', record]]);
    expect(await verified(out.toString('latin1'), records)).toEqual(['pass origin']);
  },
);
