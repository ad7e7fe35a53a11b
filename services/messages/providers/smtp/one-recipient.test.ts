import { expect, test } from '@jest/globals';
import { query } from '#lib/postgres/query.ts';
import { batchOf, people, resetAfterEach, useService } from '../../test/given.ts';

const given = useService();
resetAfterEach(given);

const replies = [
  '500 5.5.2 syntax error in address',
  '502 5.5.1 not implemented for this recipient',
  '503 5.5.1 bad sequence of commands',
  '530 5.7.0 authentication required for this recipient',
];
const cases = replies.flatMap((reply) =>
  [true, false].map((pipelining): [string, boolean] => [reply, pipelining]),
);

const statusOf = async (email: string) => {
  const [row] = await query<{ status: string; status_info: string }>(
    given.store.fork(),
    'select status, status_info from messages where contact_email = $1',
    [email],
  );
  return row;
};

test.each(cases)(
  'a recipient whose RCPT is answered with %s fails alone when others pass (pipelining: %p)',
  async (reply, pipelining) => {
    const prefix = `${reply.slice(0, 3)}${pipelining ? 'p' : 's'}`;
    given.sink.behaviour.pipelining = pipelining;
    given.sink.behaviour.replies = [{ step: 'rcpt', recipient: '^poison', reply }];
    const poison = `poison-${prefix}@example.com`;
    const others = people(120, prefix);
    const batch = batchOf([...others.slice(0, 60), poison, ...others.slice(60)]);
    const answer = await given.sender.sendBatch(batch);
    expect(answer).toMatchObject({ sent: 120, notStarted: 0, outage: '' });
    expect(await statusOf(poison)).toEqual({ status: 'failed', status_info: reply });
  },
);

test.each(replies)(
  'a message that is answered with %s after its end fails alone',
  async (reply) => {
    given.sink.behaviour.replies = [{ step: 'dot', recipient: '^poison', reply }];
    const poison = `poison-end-${reply.slice(0, 3)}@example.com`;
    const others = people(20, `end${reply.slice(0, 3)}`);
    const batch = batchOf([poison, ...others]);
    const answer = await given.sender.sendBatch(batch);
    expect(answer).toMatchObject({ sent: 20, failed: 1, notStarted: 0, outage: '' });
  },
);

test.each(replies)(
  'a lone recipient who is answered with %s is tried again later',
  async (reply) => {
    given.sink.behaviour.replies = [{ step: 'rcpt', reply }];
    const answer = await given.sender.sendBatch(batchOf([`lone-${reply.slice(0, 3)}@example.com`]));
    expect(answer).toMatchObject({ deferred: 1, failed: 0, outage: '' });
  },
);
