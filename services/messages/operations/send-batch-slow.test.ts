import { create } from '@bufbuild/protobuf';
import { expect, test } from '@jest/globals';
import { GetTemplateContentResponseSchema } from '#gen/postrider/templates/v1/templates_pb.ts';
import { ThreadBusyError } from '#lib/killable-thread.ts';
import { createPlans } from '../plans/plans.ts';
import type { RenderedParts } from '../render/compose.ts';
import { RenderThread } from '../render/thread.ts';
import { batchOf, people, useService } from '../test/given.ts';
import { defaultContent } from '../test/given-peers.ts';

const given = useService();

const doubled = (name: string, text: string) =>
  `{% assign ${name} = "${text}" %}${`{% assign ${name} = ${name} | append: ${name} %}`.repeat(12)}`;

/** Four thousand conditions for each of four thousand elements, without a loop. */
const bomb =
  `${doubled('condition', 'i or ')}${doubled('list', 'a,')}{% assign condition = condition | append: "i" %}` +
  '{{ list | split: "," | where_exp: "i", condition | size }}';

/** Answers the bomber once the other tenant is done, whatever the machine is busy with. */
class HeldThread extends RenderThread {
  readonly isBombed = Promise.withResolvers<void>();
  readonly isCalmOver = Promise.withResolvers<void>();

  override async render(...asked: Parameters<RenderThread['render']>): Promise<RenderedParts> {
    const [, , tenant] = asked;
    if (tenant === 'bomber') this.isBombed.resolve();
    return super.render(...asked).finally(() => tenant === 'bomber' && this.isCalmOver.promise);
  }
}

/** It is killed three times; a thread waits for the processor for up to 40 s. */
const bombMaxMs = 150_000;

test(
  'a template that doubles its values and filters by them holds up no other tenant',
  async () => {
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
    const thread = new HeldThread();
    const { sender, context } = given.newProcess({ plans, thread });
    // A thread that has loaded its modules gives a message two seconds.
    await thread.text({ text: 'x' }, {});
    const before = process.threadCpuUsage();
    let isBombOver = false;
    const bombing = sender
      .sendBatch({ ...batchOf(people(1, 'bomb')), workspaceId: 'bomber' }, { timeoutMs: bombMaxMs })
      .finally(() => {
        isBombOver = true;
      });
    await thread.isBombed.promise;
    const answer = await sender.sendBatch(batchOf(people(20, 'calm')));
    expect(isBombOver).toBe(false);
    thread.isCalmOver.resolve();
    expect(answer).toMatchObject({ sent: 20, failed: 0 });
    expect(await bombing).toMatchObject({ sent: 0, failed: 1 });
    // On the main thread this took twenty seconds.
    const { user, system } = process.threadCpuUsage(before);
    expect((user + system) / 1e6).toBeLessThan(5);
    await context.thread.close();
    context.admission.close();
  },
  bombMaxMs,
);

/** Refuses its first request, as one does for which too many wait. */
class BusyThread extends RenderThread {
  isBusy = true;

  override async compile(...asked: Parameters<RenderThread['compile']>) {
    if (!this.isBusy) return super.compile(...asked);
    this.isBusy = false;
    throw new ThreadBusyError('too many requests wait');
  }
}

test('a message for which the thread has no room is given back', async () => {
  const thread = new BusyThread();
  const { sender, context } = given.newProcess({ thread });
  const batch = batchOf(people(3, 'room'));
  expect(await sender.sendBatch(batch)).toMatchObject({ sent: 3, failed: 0 });
  for (const email of people(3, 'room')) expect(given.sink.bodies(email)).toHaveLength(1);
  await context.thread.close();
  context.admission.close();
});
