import { toJson } from '@bufbuild/protobuf';
import { TimestampSchema, timestampFromDate, timestampMs } from '@bufbuild/protobuf/wkt';
import { ContactDeletedSchema } from '#gen/postrider/events/v1/contact_pb.ts';
import type { ConsumedBatch } from '#lib/events/consume.ts';
import { typeOf } from '#lib/events/contracts.ts';
import type { Store } from '#lib/postgres/store.ts';
import { addErasures } from '../erasing/erase.ts';
import { subjectOf } from '../matching/filters.ts';

const deleted = typeOf(ContactDeletedSchema);

/** Has the deliveries about deleted contacts erased. A repeat of a batch only moves the job. */
export async function eraseDeleted(
  { store, now }: { store: Store; now: () => Date },
  batches: readonly ConsumedBatch[],
): Promise<void> {
  const erasures = batches.flatMap(({ workspaceId, events }) =>
    events.flatMap(({ type, dataJson, occurredAt }) => {
      if (type !== deleted) return [];
      const { email } = subjectOf(type, dataJson);
      const time = occurredAt ?? timestampFromDate(now());
      const at = toJson(TimestampSchema, time);
      return email === '' ? [] : [{ workspaceId, email, sinceMs: timestampMs(time), at }];
    }),
  );
  if (erasures.length > 0) await addErasures(store.fork(), erasures);
}
