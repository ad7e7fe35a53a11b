import { expect, test } from '@jest/globals';
import { givenBroadcast, sendNow, setRate, untilFlowing, untilStatus } from '../stack/given.ts';
import { borrowedStack } from '../stack/shared.ts';

const stack = borrowedStack();

/** A reading operation of each service and whose processes it needs. */
const reads: Record<string, string> = {
  workspaces: 'workspaces.list',
  contacts: 'contacts.count',
  templates: 'templates.list',
  broadcasts: 'broadcasts.list',
  messages: 'messages.list',
};

const replicas = (service: string): string[] =>
  service === 'messages' ? ['messages', 'messages-2'] : [service];

function read(service: string) {
  const query = { workspace_id: stack.workspaceId };
  return stack.call(reads[service] ?? '', undefined, { query });
}

test.each(['contacts', 'templates', 'broadcasts', 'messages'])(
  'calls to a killed %s are a 503 with Retry-After, others work, and it restarts automatically',
  async (down) => {
    await stack.processes.without(replicas(down), async () => {
      for (const service of Object.keys(reads)) {
        const { status, headers } = await read(service);
        expect([service, status]).toEqual([service, service === down ? 503 : 200]);
        if (service === down) expect(headers.get('retry-after')).toMatch(/^\d+$/);
      }
    });
    await stack.untilServing();
  },
  60_000,
);

test('with workspaces killed no token can be checked: every call is a 503, none a 500 or 401', async () => {
  await stack.processes.without(['workspaces'], async () => {
    // Permissions are cached for a second.
    await new Promise((done) => setTimeout(done, 1_100));
    for (const service of Object.keys(reads)) {
      const { status, headers } = await read(service);
      expect([service, status]).toEqual([service, 503]);
      expect(headers.get('retry-after')).toMatch(/^\d+$/);
    }
  });
  await stack.untilServing();
}, 60_000);

test('all services killed at once restart automatically', async () => {
  const names = Object.keys(reads).flatMap(replicas);
  for (const name of names) stack.processes.kill(name);
  await stack.untilServing();
}, 60_000);

test('a frozen replica ends no waiting process, and its claims are sent in the end', async () => {
  const { id, emails } = await givenBroadcast(stack, 600);
  await setRate(stack, 6_000);
  await stack.sink.behave({ latencyMs: 300 });
  await sendNow(stack, id);
  await untilFlowing(stack, emails);
  const callers = ['gateway', 'broadcasts-worker'];
  const pids = callers.map((name) => stack.processes.pid(name));
  stack.processes.freeze('messages-2');
  try {
    // Its callers find out by pings, within five seconds, again and again.
    const untilMs = Date.now() + 13_000;
    while (Date.now() < untilMs) expect((await read('messages')).status).toBe(200);
  } finally {
    // Other files borrow the stack.
    stack.processes.thaw('messages-2');
  }
  expect(callers.map((name) => stack.processes.pid(name))).toEqual(pids);
  const { sent_count: sent } = await untilStatus(stack, id, 'sent');
  expect(sent).toBe(600);
}, 90_000);
