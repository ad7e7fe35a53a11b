import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import { type Algorithm, verified } from '../../services/messages/test/given-domain.ts';
import { givenSink } from '../../services/messages/test/given-pool.ts';
import {
  bodiesOf,
  givenSigner,
  givenThreads,
  sendSigned,
} from '../../services/messages/test/given-signed.ts';
import { randomMail } from '../../services/messages/test/random-mails.ts';
import { byDkimpy, byOpenDkim, noVerifiers, writeMails } from './verifiers.ts';

/*
 * A thousand random mails of the renderer, signed by each algorithm and by both, as a server gets
 * them: OpenDKIM, dkimpy and mailauth take all of them, and none with a byte changed.
 */

const reason = noVerifiers();
if (reason) process.stderr.write(`Verifiers do not run here, so tests are skipped: ${reason}.\n`);
const withVerifiers = reason ? test.skip : test;

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function givenFolder(mails: readonly string[], records: ReadonlyMap<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), 'postrider-dkim-'));
  folders.push(folder);
  writeMails(folder, mails, records);
  return folder;
}

/** With another letter in the last part of the mail, which all signatures cover. */
function changed(mail: string, index: number): string {
  const at = mail.indexOf('\r\n\r\n') + 4 + ((index * 7_919) % 200);
  const byte = mail.charCodeAt(at);
  const other = String.fromCharCode(byte === 0x61 ? 0x62 : 0x61);
  return mail.slice(0, at) + other + mail.slice(at + 1);
}

const kinds: [Algorithm[], number][] = [
  [['rsa'], 333],
  [['ed25519'], 333],
  [['rsa', 'ed25519'], 334],
];

withVerifiers.each(kinds)(
  'mails signed by %j are taken by three verifiers (%i mails)',
  async (algorithms, count) => {
    const { domain, records } = givenSigner(...algorithms);
    const sink = await givenSink({}, count);
    const mails = await Promise.all(
      Array.from({ length: count }, (_, index) => randomMail(count * 1_000 + index, domain.name)),
    );
    const outcomes = await sendSigned(sink.port, mails, { domain, threads: givenThreads() });
    expect(new Set(outcomes.map(({ kind }) => kind))).toEqual(new Set(['accepted']));
    const sent = bodiesOf(sink, count);
    const folder = givenFolder(sent, records);
    const wanted = algorithms.map((algorithm) => `pass ${algorithm}`);
    expect(await Promise.all(sent.map((mail) => verified(mail, records)))).toEqual(
      sent.map(() => wanted),
    );
    expect(byDkimpy(folder)).toEqual(sent.map(() => algorithms.map(() => 'pass').join(' ')));
    expect(byOpenDkim(folder)).toEqual(sent.map(() => true));
    const wrong = sent.slice(0, 100).map(changed);
    const other = givenFolder(wrong, records);
    const results = await Promise.all(wrong.map((mail) => verified(mail, records)));
    expect(results.flat().filter((result) => result.startsWith('pass'))).toEqual([]);
    expect(byDkimpy(other)).toEqual(wrong.map(() => algorithms.map(() => 'fail').join(' ')));
    expect(byOpenDkim(other)).toEqual(wrong.map(() => false));
  },
  600_000,
);
