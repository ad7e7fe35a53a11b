import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statfsSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { givenNotification } from '../fleet/load.ts';
import { givenTemplate, good, mailsTo, unique } from '../stack/given.ts';
import { until } from '../stack/until.ts';
import { startStack, type TestStack } from '../stack.ts';

const diskMb = 600;
/** Written at most while nothing else fits. */
const leftBytes = 256 * 1024;
const fullMs = 30_000;
/** An answer takes no longer, full disk or not. */
const answerMsMax = 31_000;

let stack: TestStack;
let disk: string;
/** A file system of its own for what the stack writes: root alone may mount one. */
beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'postrider-stack-'));
  disk = `${folder}-disk`;
  mkdirSync(disk);
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${diskMb}m,mode=711`, 'tmpfs', disk]);
  for (const name of ['postgres', 'temporal', 'journal', 'logs']) {
    mkdirSync(join(disk, name), { mode: 0o700 });
    symlinkSync(join(disk, name), join(folder, name));
  }
  stack = await startStack({ folder });
}, 300_000);
afterAll(async () => {
  await stack?.stop();
  execFileSync('umount', [disk]);
  rmSync(disk, { recursive: true });
}, 60_000);

const filler = () => join(disk, 'filler');

function fill(): void {
  const { bavail, bsize } = statfsSync(disk);
  writeFileSync(filler(), Buffer.alloc(bavail * bsize - leftBytes));
}

type Seen = { email: string; status: number; retryAfter: string | null; ms: number };

/** Sends a mail, and says what the caller saw. */
async function send(notification: string): Promise<Seen> {
  const email = `${unique('full')}@example.com`.toLowerCase();
  const startedAtMs = performance.now();
  const { status, headers } = await stack.call('transactional.send', {
    workspace_id: stack.workspaceId,
    notification: { id: notification, contact: { email }, channels: ['email'], external_id: email },
  });
  const ms = performance.now() - startedAtMs;
  return { email, status, retryAfter: headers.get('retry-after'), ms };
}

test('with a full disk calls are a 503 in time, and what was accepted is sent once there is room', async () => {
  const notification = await givenNotification(stack, await givenTemplate(stack));
  const seen: Seen[] = [await send(notification)];
  expect(seen[0]?.status).toBe(200);
  fill();
  const fullUntilMs = Date.now() + fullMs;
  while (Date.now() < fullUntilMs) {
    seen.push(...(await Promise.all(Array.from({ length: 20 }, () => send(notification)))));
    await sleep(200);
  }
  const refused = seen.filter(({ status }) => status !== 200);
  expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([503]));
  expect(refused.filter(({ retryAfter }) => retryAfter === null)).toEqual([]);
  expect(Math.max(...seen.map(({ ms }) => ms))).toBeLessThan(answerMsMax);
  rmSync(filler());
  await stack.untilServing();
  await until('mails are accepted again', async () => (await send(notification)).status === 200);
  const accepted = seen.filter(({ status }) => status === 200).map(({ email }) => email);
  const arrived = () => new Set(mailsTo(stack, accepted).map(({ email }) => email));
  await until('accepted mails arrive', async () => arrived().size === accepted.length, {
    withinMs: 90_000,
  });
  // Outcomes that could not be written were kept: nobody gets a mail again.
  expect(mailsTo(stack, accepted)).toHaveLength(accepted.length);
  for (const email of accepted) {
    const query = { workspace_id: stack.workspaceId, email };
    expect(good(await stack.call('contacts.getByEmail', undefined, { query })).contact.email).toBe(
      email,
    );
  }
}, 300_000);
