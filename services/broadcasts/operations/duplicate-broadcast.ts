import { randomBytes } from 'node:crypto';
import { BroadcastService } from '#gen/postrider/broadcasts/v1/broadcasts_pb.ts';
import { once } from '#lib/rpc/server/idempotency.ts';
import { findBroadcast } from '../broadcast/queries.ts';
import type { Context, Methods } from '../context.ts';
import { copiedDataFeed } from '../feeds/data-feed.ts';
import { writeDraft } from '../lifecycle/draft.ts';

const nameMax = 255;
const suffix = ' (copy)';

export function duplicateBroadcast(context: Context): Methods['duplicateBroadcast'] {
  const { store, keyring } = context;
  return async (request, call) =>
    once(store, call, BroadcastService.method.duplicateBroadcast, request, async (em) => {
      const { workspaceId } = request;
      const original = await findBroadcast(em, request);
      const { audience, test_settings, utm_parameters, integration_id, tags } = original;
      const id = randomBytes(16).toString('hex');
      const from = { workspaceId, id: original.id };
      const draft = {
        name: request.name || copyName(original.name),
        audience,
        test_settings,
        utm_parameters,
        metadata: original.metadata ?? null,
        integration_id,
        tags: tags ?? null,
        data_feed: copiedDataFeed(keyring, original.data_feed ?? null, {
          from,
          to: { workspaceId, id },
        }),
      };
      return writeDraft(context, em, { workspaceId, id, draft });
    });
}

/** Characters are counted as the contract does: an emoji is one. */
function copyName(name: string): string {
  return [...name].slice(0, nameMax - suffix.length).join('') + suffix;
}
