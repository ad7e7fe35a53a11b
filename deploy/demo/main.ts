import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createApi } from './api.ts';
import { startTest, watchRest, watchTest } from './broadcast.ts';
import { check, report } from './outcome.ts';
import { readMails } from './readers.ts';
import { draw, untilCounted } from './results.ts';
import { runningStack, type Settings } from './running-stack.ts';
import { givenList, givenTemplates, importContacts, type Job } from './story.ts';

const { values } = parseArgs({ options: { once: { type: 'boolean', default: false } } });
const stack = await runningStack();
try {
  const isGood = await tell(stack.settings);
  process.exitCode = isGood ? 0 : 1;
} finally {
  if (values.once) await stack.stop?.();
  else if (stack.stop) console.log('\nThe stack goes on; Ctrl-C stops it.');
}

/** Runs the demo through the public API. True if every number is as expected. */
async function tell(settings: Settings): Promise<boolean> {
  const { BASE_URL = '', WORKSPACE_ID = '' } = settings;
  const api = createApi(BASE_URL, await signIn(settings));
  const run = Date.now().toString(36);
  const job = { api, workspaceId: WORKSPACE_ID, run };
  console.log(`\nTesting and sending a newsletter with Postrider (run ${run})\n`);
  const listId = await givenList(job);
  const imported = await importContacts(job, listId);
  await givenTemplates(job);
  const broadcast = await testAndSend(job, settings, listId);
  const outcome = await check(job, settings, { imported, broadcast });
  report(outcome);
  return outcome.problems.length === 0;
}

/** Two variations go to a sample, readers react, the better one goes to everybody else. */
async function testAndSend(job: Job, settings: Settings, listId: string) {
  const running = await startTest(job, listId);
  const { status, pause_reason: reason = '' } = await watchTest(running);
  if (status !== 'test_completed') throw new Error(`the test is ${status} ${reason}`);
  const results = await untilCounted(job, running, await readMails(job, settings));
  draw(results);
  const { recommended_winner: winner = '' } = results;
  console.log(
    `  Winner    “${results.variation_results[winner]?.template_name}”, as recommended\n`,
  );
  await running.act('selectWinner', { template_id: winner });
  return watchRest(running);
}

/** Signs in as a deployment script does: by a signature over address and time. */
async function signIn({
  BASE_URL = '',
  SECRET_KEY = '',
  ROOT_EMAIL = '',
}: Settings): Promise<string> {
  const [email = ''] = ROOT_EMAIL.split(/[,;]/);
  const [key = ''] = SECRET_KEY.split(',');
  // A signature works once, and the stack's own start may have signed in within this second.
  await sleep(1_000);
  const timestamp = Math.floor(Date.now() / 1000);
  const signature = createHmac('sha256', key).update(`${email}:${timestamp}`).digest('hex');
  const body = { email, timestamp, signature };
  const { token } = await createApi(BASE_URL)<{ token: string }>('user.rootSignin', { body });
  return token;
}
