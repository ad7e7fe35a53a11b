import { randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { UsageError } from '../failures.ts';
import { folderOf } from '../profiles.ts';

const form = /^whsec_[A-Za-z0-9+/]{43}=$/;

/**
 * The secret by which `listen` signs, of this person on this machine: made at the first use, and
 * the same from then on, in a file that only its owner reads. No server knows it.
 */
export function listenSecret(env: Record<string, string | undefined>): string {
  const file = join(folderOf(env), 'listen-secret');
  const known = textIn(file);
  if (known !== undefined) return checked(file, known);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const part = `${file}.${process.pid}`;
  writeFileSync(part, `whsec_${randomBytes(32).toString('base64')}\n`, { mode: 0o600 });
  try {
    linkSync(part, file);
  } catch (error) {
    // Another `listen` was first.
    if (!isCode(error, 'EEXIST')) throw error;
  } finally {
    rmSync(part, { force: true });
  }
  return checked(file, textIn(file) ?? '');
}

function checked(file: string, text: string): string {
  if (form.test(text)) return text;
  throw new UsageError(`${file} holds no signing secret; delete it, and another one is made`);
}

function textIn(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined;
    throw new UsageError(`${file} cannot be read: ${error}`);
  }
}

const isCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code;
