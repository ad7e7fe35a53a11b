import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import { createLog } from '#lib/log.ts';
import { until } from '../../test/stack/until.ts';
import { selfSigned } from '../smtp/certificate.ts';
import { readCertificate, watchCertificate } from './certificate-files.ts';

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

function givenFiles() {
  const folder = mkdtempSync(join(tmpdir(), 'postrider-certificate-'));
  closing.push(() => rmSync(folder, { recursive: true }));
  const files = { cert: join(folder, 'tls.crt'), key: join(folder, 'tls.key') };
  const put = (host: string) => {
    const { cert, key } = selfSigned(host);
    writeFileSync(files.cert, cert);
    writeFileSync(files.key, key);
    return String(cert);
  };
  return { files, put };
}

test('a certificate that was replaced is read again, and a broken one is not', async () => {
  const { files, put } = givenFiles();
  put('one.example');
  const seen: string[] = [];
  const stop = watchCertificate({
    ...{ files, known: await readCertificate(files), everyMs: 5 },
    log: createLog('relay', 'silent'),
    changed: ({ cert }) => seen.push(String(cert)),
  });
  closing.unshift(stop);
  writeFileSync(files.key, 'no key');
  const second = put('two.example');
  await until('the new one is read', async () => seen.at(-1) === second);
  writeFileSync(files.cert, 'no certificate');
  const third = put('three.example');
  await until('the next one is read', async () => seen.at(-1) === third);
  expect(seen).toEqual([second, third]);
});

test('a certificate and a key that do not belong together are refused at the start', async () => {
  const { files, put } = givenFiles();
  put('one.example');
  writeFileSync(files.key, selfSigned('two.example').key);
  await expect(readCertificate(files)).rejects.toThrow(/key values mismatch/i);
});
