import { expect, test } from '@jest/globals';
import { ReportVerdict } from '#gen/postrider/messages/v1/reports_pb.ts';
import { query } from '#lib/postgres/query.ts';
import { resetAfterEach, useService } from '../test/given.ts';
import { givenKey, givenSent, report } from '../test/given-reports.ts';

const given = useService();
resetAfterEach(given);

const workspaceId = 'w1';
let count = 0;
const unique = (name: string) => `${name}-${count++}@example.com`;

test('a hard bounce is shown by the message, counts, suppresses the address and is an event', async () => {
  const email = unique('ghost');
  const key = await givenKey(given);
  const { ids, broadcastId } = await givenSent(given, [email]);
  const [id = ''] = ids;
  const words = `550 5.1.1 <${email}>: no such user`;
  const bounce = { event: 'bounce', message_id: id, recipient: email, diagnostic_code: words };
  expect(await report(given, key, bounce)).toBe(ReportVerdict.RECORDED);
  const { message } = await given.messages.getMessage({ workspaceId, id });
  expect(message).toMatchObject({
    ...{ status: 'bounced', bounceClass: 'hard' },
    diagnostic: '550 5.1.1 <[address]>: no such user',
  });
  expect(message?.bouncedAt).toBeDefined();
  const { stats } = await given.messages.getBroadcastStats({ workspaceId, broadcastId });
  expect(stats).toMatchObject({ totalSent: 1, totalBounced: 1, totalSoftBounced: 0 });
  const { suppressions } = await given.suppressions.listSuppressions({
    workspaceId,
    emailPrefix: email,
  });
  expect(suppressions).toMatchObject([{ reason: 'bounced' }]);
  const rows = await query<{ state: string }>(
    given.store.fork(),
    'select state from inbound_reports where email = $1',
    [email],
  );
  expect(rows).toEqual([{ state: 'applied' }]);
});
