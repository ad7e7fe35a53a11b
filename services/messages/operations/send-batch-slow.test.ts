import { monitorEventLoopDelay } from 'node:perf_hooks';
import { create } from '@bufbuild/protobuf';
import { expect, test } from '@jest/globals';
import { GetTemplateContentResponseSchema } from '#gen/postrider/templates/v1/templates_pb.ts';
import { createPlans } from '../plans/plans.ts';
import { batchOf, people, useService } from '../test/given.ts';
import { defaultContent } from '../test/given-peers.ts';

const given = useService();

const doubled = (name: string, text: string) =>
  `{% assign ${name} = "${text}" %}${`{% assign ${name} = ${name} | append: ${name} %}`.repeat(12)}`;

/** Four thousand conditions for each of four thousand elements, without a loop. */
const bomb =
  `${doubled('condition', 'i or ')}${doubled('list', 'a,')}{% assign condition = condition | append: "i" %}` +
  '{{ list | split: "," | where_exp: "i", condition | size }}';

test('a template that doubles its values and filters by them holds up no other tenant', async () => {
  const { templates } = given.peers;
  const plans = createPlans({
    ...given.peers,
    templates: {
      getTemplateContent: (request, options) =>
        request.workspaceId === 'bomber'
          ? Promise.resolve(
              create(GetTemplateContentResponseSchema, { ...defaultContent, html: bomb }),
            )
          : templates.getTemplateContent(request, options),
    },
  });
  const { sender, context } = given.newProcess({ plans });
  // A thread that has loaded its modules gives a message two seconds.
  await context.thread.text({ text: 'x' }, {});
  const delay = monitorEventLoopDelay({ resolution: 20 });
  delay.enable();
  let isBombOver = false;
  const bombing = sender
    .sendBatch({ ...batchOf(people(1, 'bomb')), workspaceId: 'bomber' })
    .finally(() => {
      isBombOver = true;
    });
  const answer = await sender.sendBatch(batchOf(people(20, 'calm')));
  expect(isBombOver).toBe(false);
  expect(answer).toMatchObject({ sent: 20, failed: 0 });
  expect(await bombing).toMatchObject({ sent: 0, failed: 1 });
  delay.disable();
  // The machine itself may stall for a second or two; on the main thread this took twenty.
  expect(delay.max / 1e6).toBeLessThan(5_000);
  await context.thread.close();
  context.admission.close();
});
