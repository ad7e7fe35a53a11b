import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { inFolder, releaseDownload, unpack } from './download.ts';
import { freePort } from './ports.ts';

const root = mkdtempSync(join(tmpdir(), 'postrider-download-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const member = join(root, 'program');
writeFileSync(member, '#!/bin/sh\necho ready\n');
const wheel = join(root, 'program.whl');
execFileSync('python3', ['-m', 'zipfile', '-c', wheel, member]);
const tarball = join(root, 'program.tar.gz');
execFileSync('tar', ['-czf', tarball, '-C', root, 'program']);

function sumOf(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}

test.each([wheel, tarball])('unpack extracts an executable program (%#)', async (archive) => {
  const target = join(root, `target-${archive.length}`);
  const wanted = { archive, sha256: sumOf(archive), member: 'program', target };
  await inFolder(root, (folder) => unpack(wanted, folder));
  expect(execFileSync(target, { encoding: 'utf8' })).toBe('ready\n');
  expect(statSync(target).mode & 0o777).toBe(0o755);
});

test('unpack refuses an archive with another checksum and leaves no file', async () => {
  const target = join(root, 'refused');
  const wanted = { archive: wheel, sha256: '0'.repeat(64), member: 'program', target };
  await expect(inFolder(root, (folder) => unpack(wanted, folder))).rejects.toThrow(
    'expected 000000',
  );
  expect(existsSync(target)).toBe(false);
});

test('a release is accepted with the checksum in its own list', async () => {
  const port = await freePort();
  const files = new Map([
    ['/checksums.txt', Buffer.from(`${'1'.repeat(64)}  other.tar.gz\nabc  program.tar.gz\n`)],
    ['/program.tar.gz', readFileSync(tarball)],
  ]);
  const site = createServer((request, response) => response.end(files.get(request.url ?? '')));
  site.listen(port, '127.0.0.1');
  const base = `http://127.0.0.1:${port}`;
  try {
    const { archive, sha256 } = await inFolder(root, async (folder) => {
      const fetched = await releaseDownload(base, 'program.tar.gz', folder);
      return { ...fetched, archive: sumOf(fetched.archive) };
    });
    expect({ archive, sha256 }).toEqual({ archive: sumOf(tarball), sha256: 'abc' });
    await expect(releaseDownload(base, 'unlisted.tar.gz', root)).rejects.toThrow('does not list');
  } finally {
    site.close();
  }
});
