import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import { renderFailureReason } from '../audience/render-failures.ts';
import type { Broadcast, BroadcastKey } from '../broadcast/broadcast.ts';
import { countsOf, findIfThere, noCounts, type RecipientCounts } from '../broadcast/queries.ts';
import { isFreezing, type StoredStatus } from '../broadcast/row.ts';
import type { Context } from '../context.ts';
import {
  type AudienceParts,
  type AudienceProgress,
  nextStep,
  type Step,
} from '../lifecycle/next-step.ts';

/**
 * The row is read again after a step: after a minute's work at the broadcast's rate, as far as
 * these allow.
 */
const slicesPerStep = { min: 2, max: 8 };

/** The next step by the row, and what an operator reads about it. */
export type Look = { step: Step; story: Story };

export type Story = {
  status: StoredStatus | 'deleted';
  recipients: number;
  /** Whether the recipients are not all read yet. */
  isFreezing: boolean;
  counts: RecipientCounts;
  startsAt: string | null;
  pausedBy: 'person' | 'system' | null;
  /** When a pause ends automatically. */
  retriesAt: string | null;
  reason: string | null;
  winner: string | null;
  /**
   * A link to the broadcast's page; absent where there is none, and in histories of older versions.
   */
  pageUrl?: string | undefined;
};

const deleted: Look = {
  step: { do: 'end' },
  story: {
    status: 'deleted',
    recipients: 0,
    isFreezing: false,
    counts: noCounts,
    startsAt: null,
    pausedBy: null,
    retriesAt: null,
    reason: null,
    winner: null,
  },
};

export function readPlan({ store, now, pageLinks }: Context) {
  return async (key: BroadcastKey): Promise<Look> => {
    const em = store.fork();
    const broadcast = await findIfThere(em, key);
    if (!broadcast) return deleted;
    const counts = (await countsOf(em, key.workspaceId, [key.id]))(key.id);
    return {
      step: nextStep(broadcast, await partsOf(em, broadcast, now()), now()),
      story: {
        status: broadcast.status,
        recipients: broadcast.enqueued_count,
        isFreezing: isFreezing(broadcast),
        counts,
        startsAt: broadcast.starts_at?.toISOString() ?? null,
        pausedBy: broadcast.paused_by ?? null,
        retriesAt: broadcast.retry_at?.toISOString() ?? null,
        reason: broadcast.pause_reason ?? null,
        winner: broadcast.winning_template ?? null,
        pageUrl: pageLinks.urlOf(key),
      },
    };
  };
}

type SliceRow = {
  number: number;
  size: number;
  is_sample: boolean;
  is_open: boolean;
  next_due_at: string | null;
  settle_at: string | null;
};

/**
 * In the order of sending: the sample first, and the slices of its arms in turn, so that time
 * favours none. Slices whose deferred messages are due take turns with those that go on: mail that
 * waits for one receiver may be due again and again, and holds up no other.
 */
async function partsOf(em: EntityManager, broadcast: Broadcast, now: Date): Promise<AudienceParts> {
  const key = { workspaceId: broadcast.workspace_id, id: broadcast.id };
  const perMinute = broadcast.plan?.rate_limit_per_minute ?? 0;
  const rows = await query<SliceRow>(
    em,
    `select number, size, arm is not null as is_sample, is_open,
       greatest(due_at, next_due_at) as next_due_at, settle_at
     from (
       select *, row_number() over (
         partition by arm is null, is_open, answered < size order by due_at nulls first, turn, arm, list
       ) as place
       from (
         select number, arm, list, due_at, answered, size, next_due_at, settle_at, done_at,
           row_number() over (partition by arm, due_at, list order by number) as turn,
           coalesce(due_at <= $3, true)
             and (answered < size or coalesce(next_due_at <= $3, true)) as is_open
         from slices where workspace_id = $1 and broadcast_id = $2
       ) slice
       where done_at is null
     ) placed
     order by arm is null, place, answered = size, due_at nulls first, turn, arm, list`,
    [key.workspaceId, key.id, now],
  );
  return {
    sample: progressOf(
      rows.filter((row) => row.is_sample),
      perMinute,
    ),
    all: progressOf(rows, perMinute),
    settleAt: earliest(rows.map((row) => row.settle_at)),
    hasTooManyRenderFailures: (await renderFailureReason(em, key)) !== undefined,
  };
}

function progressOf(rows: readonly SliceRow[], perMinute: number): AudienceProgress {
  const open = rows.filter((row) => row.is_open);
  let recipients = 0;
  const first = open.slice(0, slicesPerStep.max).filter(({ size }, index) => {
    recipients += size;
    return index < slicesPerStep.min || recipients <= perMinute;
  });
  return {
    open: first.map((row) => row.number),
    unfinished: rows.length,
    nextDueAt: earliest(rows.map((row) => row.next_due_at)),
  };
}

function earliest(times: readonly (string | null)[]): Date | null {
  const ms = times.flatMap((time) => (time === null ? [] : [new Date(time).getTime()]));
  return ms.length > 0 ? new Date(Math.min(...ms)) : null;
}
