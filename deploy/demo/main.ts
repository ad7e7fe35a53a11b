import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createApi } from './api.ts';
import { startTest, watchRest, watchTest } from './broadcast.ts';
import { check, type DemoOutcome, report } from './outcome.ts';
import { readMails } from './readers.ts';
import { draw, untilCounted } from './results.ts';
import { sendAndReturn } from './returns.ts';
import { runningStack, type StackSettings } from './running-stack.ts';
import { forgetSegments, writeToReaders } from './segment.ts';
import { type DemoJob, givenList, givenTemplates, importContacts } from './story.ts';
import { expectedOf, subscribe, unsubscribe, untilArrived } from './webhooks.ts';

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
async function tell(settings: StackSettings): Promise<boolean> {
  const { BASE_URL = '', WORKSPACE_ID = '' } = settings;
  const api = createApi(BASE_URL, await signIn(settings));
  const run = Date.now().toString(36);
  const job = { api, workspaceId: WORKSPACE_ID, run };
  console.log(`\nTesting and sending a newsletter with Postrider (run ${run})\n`);
  await unsubscribe(job, settings);
  await forgetSegments(job);
  await subscribe(job, settings);
  try {
    const outcome = await importAndSend(job, settings);
    report(outcome);
    return outcome.problems.length === 0;
  } finally {
    await endSubscription(job, settings);
  }
}

/** Its own failure must not hide that of the demo. */
async function endSubscription(job: DemoJob, settings: StackSettings): Promise<void> {
  try {
    await unsubscribe(job, settings);
    console.log(
      'The demo has deleted its webhook subscription; the page above stays until the stack stops.',
    );
  } catch (error) {
    console.log(`The webhook subscription could not be deleted: ${error}`);
  }
}

async function importAndSend(job: DemoJob, settings: StackSettings): Promise<DemoOutcome> {
  const listId = await givenList(job);
  const imported = await importContacts(job, listId);
  await givenTemplates(job);
  const { reads, segment, broadcast } = await testAndSend(job, settings, listId);
  const expected = expectedOf(imported, reads, { broadcast, segment });
  const counts = await untilArrived(job, settings, expected);
  const webhooks = { expected, counts };
  const outcome = await check(job, settings, { imported, broadcast, segment, webhooks });
  // After the counts, since their contacts are new.
  const returned = await sendAndReturn(job);
  return {
    ...outcome,
    facts: [...outcome.facts, ...returned.facts],
    problems: [...outcome.problems, ...returned.problems],
  };
}

/**
 * Two variations go to a sample, readers react and get a letter, the better variation goes to
 * everybody else.
 */
async function testAndSend(job: DemoJob, settings: StackSettings, listId: string) {
  const running = await startTest(job, listId);
  const { status, pause_reason: reason = '' } = await watchTest(running);
  if (status !== 'test_completed') throw new Error(`the test is ${status} ${reason}`);
  const reads = await readMails(job, settings);
  const results = await untilCounted(job, running, reads);
  draw(results);
  const segment = await writeToReaders(job, { listId, reads });
  const { recommended_winner: winner = '' } = results;
  console.log(
    `  Winner    “${results.variation_results[winner]?.template_name}”, as recommended\n`,
  );
  await running.act('selectWinner', { template_id: winner });
  return { reads, segment, broadcast: await watchRest(running) };
}

/** Signs in as a deployment script does: by a signature over address and time. */
async function signIn({
  BASE_URL = '',
  SECRET_KEY = '',
  ROOT_EMAIL = '',
}: StackSettings): Promise<string> {
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
