import { parseArgs } from 'node:util';
import { Pool } from 'undici';
import { type BenchStack, startBenchStack } from './bench-stack.ts';
import { type Consumer, startConsumer } from './events.ts';
import { readPids, usageOf } from './processes.ts';
import { givenReceipt, orderReceipt } from './receipt.ts';
import { type Receiver, startReceiver } from './webhooks/receiver.ts';
import { subscribe } from './webhooks/tenant.ts';

type Request = { path: string; body?: object };
type Operation = { name: string; request: (number: number) => Request };

const contactsRead = 1_000;
/** Of the loop of `lists.get` between two others. */
const getSeconds = 2;
const listId = 'bench';
/** Each of its calls has one event for the endpoint. */
const webhookOperation = 'customEvents.upsert';
const addressOf = (number: number) => `reader${number % contactsRead}@example.com`;

/** `number` counts the calls of a loop; `loop` is another word for each loop. */
const operationsOf = (workspace_id: string, loop: string): Operation[] => {
  const fresh = (number: number) => `${loop}.${number}@example.com`;
  const query = (path: string, more: Record<string, string>) => ({
    path: `${path}?${new URLSearchParams({ workspace_id, ...more })}`,
  });
  const post = (path: string, body: object) => ({ path, body: { workspace_id, ...body } });
  return [
    { name: 'lists.get', request: () => query('lists.get', { id: listId }) },
    {
      name: 'contacts.getByEmail',
      request: (number) => query('contacts.getByEmail', { email: addressOf(number) }),
    },
    { name: 'contacts.list', request: () => query('contacts.list', { limit: '20' }) },
    { name: 'messages.list', request: () => query('messages.list', { limit: '20' }) },
    { name: 'templates.get', request: () => query('templates.get', { id: 'receipt' }) },
    {
      name: 'contacts.upsert, new',
      request: (number) =>
        post('contacts.upsert', { contact: { email: fresh(number), first_name: 'Ann' } }),
    },
    {
      name: 'contacts.upsert, changed',
      request: (number) =>
        post('contacts.upsert', {
          contact: { email: addressOf(number), first_name: `${loop} ${number}` },
        }),
    },
    {
      name: 'contacts.upsert, unchanged',
      request: (number) =>
        post('contacts.upsert', { contact: { email: addressOf(number), last_name: 'Lee' } }),
    },
    {
      name: 'lists.subscribe',
      request: (number) =>
        post('lists.subscribe', { contact: { email: fresh(number) }, list_ids: [listId] }),
    },
    {
      name: 'contactLists.updateStatus',
      request: (number) =>
        post('contactLists.updateStatus', {
          email: addressOf(number),
          list_id: listId,
          status: Math.floor(number / contactsRead) % 2 === 0 ? 'unsubscribed' : 'active',
        }),
    },
    {
      name: webhookOperation,
      request: (number) =>
        post('customEvents.upsert', {
          email: addressOf(number),
          event_name: 'order',
          external_id: `${loop}-${number}`,
          properties: { total: 10 },
        }),
    },
    {
      name: 'transactional.send',
      request: (number) =>
        post('transactional.send', {
          notification: orderReceipt(fresh(number), `${loop}-${number}`),
        }),
    },
    {
      name: 'transactional.send, known',
      request: (number) =>
        post('transactional.send', {
          notification: {
            ...orderReceipt(addressOf(number), `${loop}-known-${number}`),
            contact: { email: addressOf(number), last_name: 'Lee' },
          },
        }),
    },
  ];
};

/** Ordinary calls in closed loops, each beside `lists.get` directly before it and after it. */
export async function benchCalls(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      seconds: { type: 'string', default: '5' },
      callers: { type: 'string', default: '1,16,64' },
      only: { type: 'string', default: '' },
      'with-listener': { type: 'boolean', default: false },
      'with-webhook': { type: 'boolean', default: false },
    },
  });
  const consumer = values['with-listener'] ? await startConsumer() : undefined;
  const stack = await startBenchStack({
    variables: consumer?.variables ?? {},
    keys: consumer?.keys,
  });
  const receiver = values['with-webhook'] ? await startReceiver() : undefined;
  try {
    await consumer?.listen(stack);
    if (receiver) await subscribe(stack, receiver.good, 'custom_event.created');
    await givenContacts(stack);
    await givenReceipt(stack);
    const callerCounts = values.callers.split(',').map(Number);
    const wanted = ({ name }: Operation) => name === 'lists.get' || name.includes(values.only);
    for (const operation of operationsOf(stack.workspaceId, 'warm').filter(wanted)) {
      const { count } = await measure({ stack, consumer }, operation, { callers: 8, seconds: 3 });
      if (operation.name === webhookOperation) await receiver?.takeAll(count);
    }
    for (const callers of callerCounts) {
      console.log(`\n${callers} callers        calls/s   ÷ get   p50 ms   p99 ms   CPU µs a call`);
      const [get, ...others] = operationsOf(stack.workspaceId, `c${callers}`).filter(wanted);
      if (!get) continue;
      const seconds = Number(values.seconds);
      const run = (operation: Operation, forSeconds: number) =>
        measure({ stack, consumer }, operation, { callers, seconds: forSeconds });
      const first = await run(get, seconds);
      print(get.name, first, 1);
      let before = first.rate;
      for (const operation of others) {
        const found = await run(operation, seconds);
        const delivered =
          receiver && operation.name === webhookOperation
            ? await deliveredOf(receiver, found)
            : undefined;
        // The machine changes its speed within a run.
        const after = (await run(get, getSeconds)).rate;
        const beside = (before + after) / 2;
        before = after;
        print(operation.name, found, found.rate / beside);
        if (delivered) printDelivered(delivered, beside);
      }
    }
  } finally {
    await stack.stop();
    consumer?.stop();
    receiver?.stop();
  }
}

type Delivered = { text: string; rate: number };

/** From the first call of a loop until its last callback was received. */
async function deliveredOf(receiver: Receiver, found: Found): Promise<Delivered> {
  const { arrivals, twice } = await receiver.takeAll(found.count);
  const tookMs = Math.max(...arrivals.map(({ atMs }) => atMs)) - found.startedAtMs;
  const rate = (arrivals.length * 1_000) / tookMs;
  return { text: `delivered ${arrivals.length} of ${found.count}, twice ${twice}`, rate };
}

function printDelivered({ text, rate }: Delivered, beside: number): void {
  console.log(`  ${text}: ${rate.toFixed(0)}/s, ÷ get ${(rate / beside).toFixed(2)}`);
}

async function givenContacts({ api, workspaceId }: BenchStack): Promise<void> {
  const key = { workspace_id: workspaceId };
  await api('lists.create', { body: { ...key, id: listId, name: 'Bench' } });
  const contacts = Array.from({ length: contactsRead }, (_, number) => ({
    ...{ email: addressOf(number), first_name: 'Ann', last_name: 'Lee' },
  }));
  await api('contacts.import', { body: { ...key, contacts, subscribe_to_lists: [listId] } });
}

type Found = {
  count: number;
  startedAtMs: number;
  rate: number;
  p50: number;
  p99: number;
  costs: Map<string, number>;
};

async function measure(
  { stack, consumer }: { stack: BenchStack; consumer: Consumer | undefined },
  { name, request }: Operation,
  { callers, seconds }: { callers: number; seconds: number },
): Promise<Found> {
  const pool = new Pool(stack.setting('BASE_URL'), { connections: callers });
  const headers = {
    authorization: `Bearer ${stack.setting('TOKEN')}`,
    'content-type': 'application/json',
  };
  const pids = { ...readPids(stack.folder), ...(consumer ? { consumer: consumer.pid } : {}) };
  const before = usageOf(pids);
  const times: number[] = [];
  const startedAtMs = performance.now();
  let next = 0;
  const loop = async () => {
    while (performance.now() - startedAtMs < seconds * 1_000) {
      next += 1;
      const { path, body } = request(next);
      const beganAtMs = performance.now();
      const answer = await pool.request({
        path: `/api/${path}`,
        method: body ? 'POST' : 'GET',
        headers,
        body: body ? JSON.stringify(body) : null,
      });
      const text = await answer.body.text();
      if (answer.statusCode >= 300) throw new Error(`${name}: ${answer.statusCode} ${text}`);
      times.push(performance.now() - beganAtMs);
    }
  };
  await Promise.all(Array.from({ length: callers }, loop));
  const tookMs = performance.now() - startedAtMs;
  await pool.close();
  const costs = [...usageOf(pids)].map(([process, { cpuMs }]): [string, number] => {
    const spentMs = cpuMs - (before.get(process)?.cpuMs ?? 0);
    return [process, (spentMs / times.length) * 1_000];
  });
  const sorted = times.toSorted((a, b) => a - b);
  const at = (part: number) => sorted[Math.floor(sorted.length * part)] ?? 0;
  return {
    count: times.length,
    startedAtMs: performance.timeOrigin + startedAtMs,
    rate: (times.length / tookMs) * 1_000,
    ...{ p50: at(0.5), p99: at(0.99) },
    costs: new Map(costs),
  };
}

const leastShown = 20;

function print(name: string, { rate, p50, p99, costs }: Found, ratio: number): void {
  const total = [...costs.values()].reduce((sum, cost) => sum + cost, 0);
  const shown = [...costs]
    .filter(([, cost]) => cost >= leastShown)
    .toSorted(([, a], [, b]) => b - a)
    .map(([process, cost]) => `${process} ${cost.toFixed(0)}`);
  const columns = [rate.toFixed(0), ratio.toFixed(2), p50.toFixed(1), p99.toFixed(1)];
  const text = columns.map((column) => column.padStart(9)).join('');
  console.log(`${name.padEnd(27)}${text}   ${total.toFixed(0)} (${shown.join(', ')})`);
}
