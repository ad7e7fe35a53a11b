import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdtempSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { afterEach, beforeAll, expect, test } from '@jest/globals';

/** `postrider contacts import` with gateways that answer as the test says. */

const program = resolve(import.meta.dirname, '../../deploy/postrider/main.ts');
const mebibyte = 1_024 * 1_024;

/** It has what the first command has compiled. */
const home = mkdtempSync(join(tmpdir(), 'postrider-import-'));
beforeAll(async () => {
  const env = { PATH: process.env.PATH, HOME: home };
  await promisify(execFile)(process.execPath, [program, 'contacts', 'import', '--help'], { env });
});

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

type Answer = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** The program with a file, and a gateway that takes it. */
async function given(file: string, answer: Answer) {
  const server = createServer((request, response) => {
    response.writeHead(200, { 'content-type': 'application/x-ndjson' });
    void answer(request, response).catch(() => response.destroy());
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    ...{ BASE_URL: `http://127.0.0.1:${port}`, TOKEN: 't', WORKSPACE_ID: 'w' },
  };
  const child = spawn(process.execPath, [program, 'contacts', 'import', file], { env });
  ends.push(() => {
    child.kill('SIGKILL');
    server.closeAllConnections();
    server.close();
  });
  const said = { out: '', err: '' };
  child.stdout.on('data', (part) => {
    said.out += part;
  });
  child.stderr.on('data', (part) => {
    said.err += part;
  });
  const over = once(child, 'close').then(([code, signal]) => ({ code, signal }));
  return { child, said, over };
}

const progressOf = (rows: number, nextByte: number) => ({
  progress: {
    ...{ rows, created: rows, updated: 0, failed: 0 },
    ...{ header_bytes: 6, next_byte: nextByte, next_line: rows + 2 },
  },
});

async function givenFile(bytes: number): Promise<string> {
  const file = join(mkdtempSync(join(tmpdir(), 'postrider-import-')), 'readers.csv');
  const row = 'reader@example.com\n';
  const part = row.repeat(Math.floor(mebibyte / row.length));
  await pipeline(function* () {
    yield 'email\n';
    for (let left = bytes; left > 0; left -= part.length) yield part;
  }, createWriteStream(file));
  return file;
}

async function residentBytes(pid: number | undefined): Promise<number> {
  const { stdout } = await promisify(execFile)('ps', ['-o', 'rss=', '-p', String(pid)]);
  return Number(stdout) * 1_024;
}

test('a file of 200 MiB is sent in less than 150 MB of memory', async () => {
  let resident = 0;
  const { child, said, over } = await given(
    await givenFile(200 * mebibyte),
    async (request, response) => {
      let bytes = 0;
      for await (const part of request) {
        bytes += (part as Buffer).length;
        response.write(`${JSON.stringify(progressOf(Math.floor(bytes / 19), bytes))}\n`);
      }
      resident = await residentBytes(child.pid);
      const summary = { rows: 1, created: 1, updated: 0, failed_total: 0 };
      response.end(`${JSON.stringify({ summary })}\n`);
    },
  );
  expect({ ...(await over), said }).toMatchObject({ code: 0 });
  expect(resident).toBeLessThan(150_000_000);
}, 120_000);

test('a signal ends an import with a line that says how it goes on', async () => {
  const { child, said, over } = await given(await givenFile(mebibyte), async (_, response) => {
    response.write(`${JSON.stringify(progressOf(7, 100))}\n`);
  });
  child.stderr.on('data', () => {
    if (said.err.includes('7 rows')) child.kill('SIGINT');
  });
  expect(await over).toEqual({ code: null, signal: 'SIGINT' });
  expect(said.err).toContain('Stopped after 7 rows. The same command with --resume goes on.\n');
});
