import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname } from 'node:path';

const outputChars = 600;

/** Runs a program to its end; answers what it printed. The error has the end of it. */
export async function run(
  command: string,
  args: readonly string[],
  { cwd, env = process.env }: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<string> {
  const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const said = { all: '', out: '' };
  child.stderr.setEncoding('utf8').on('data', (text) => {
    said.all += text;
  });
  child.stdout.setEncoding('utf8').on('data', (text) => {
    said.all += text;
    said.out += text;
  });
  const [code] = await once(child, 'close');
  if (code === 0) return said.out;
  throw new Error(
    `${command} ${args[0]} ended with ${code}: ${said.all.trim().slice(-outputChars)}`,
  );
}

/** Gets an engine; the error says which one could not be had, and what it takes. */
export async function have<T>(engine: string, needs: string, get: () => Promise<T>): Promise<T> {
  try {
    return await get();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`${engine} could not be had, which needs ${needs}: ${reason}`, {
      cause: error,
    });
  }
}

/**
 * The environment without the project's own programs: npm puts its Node in front of the machine's.
 */
export function plainEnvironment(more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const folders = (process.env.PATH ?? '').split(delimiter);
  const path = folders.filter((folder) => !folder.includes('node_modules')).join(delimiter);
  return { ...process.env, PATH: path, ...more };
}

/** Throws if the file is not the one that is pinned. */
export function requireSum(file: string, algorithm: 'sha256' | 'sha512', wanted: string): void {
  const encoding = algorithm === 'sha256' ? 'hex' : 'base64';
  const found = createHash(algorithm).update(readFileSync(file)).digest(encoding);
  if (found !== wanted) throw new Error(`${file} has ${algorithm} ${found}, expected ${wanted}`);
}

const connectMsMax = 4_000;

export async function download(url: string, file: string): Promise<void> {
  const answer = await fetch(url, { signal: AbortSignal.timeout(connectMsMax) });
  if (!answer.ok) throw new Error(`${url}: ${answer.status}`);
  writeFileSync(file, Buffer.from(await answer.arrayBuffer()));
}

export const unpackAll = (archive: string): Promise<string> =>
  run('tar', ['-xzf', archive, '-C', dirname(archive)]);
