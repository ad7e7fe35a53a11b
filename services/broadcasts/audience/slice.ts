import { defineEntity, p } from '@mikro-orm/core';

export type SliceCounts = {
  sent: number;
  failed: number;
  skipped: number;
  deferred: number;
  unknown: number;
  unrendered: number;
};

const schema = defineEntity({
  name: 'Slice',
  tableName: 'slices',
  properties: {
    workspace_id: p.string().primary(),
    broadcast_id: p.string().primary(),
    number: p.integer().primary(),
    /** The variation that this part of the sample gets; null outside of the sample. */
    arm: p.integer().nullable(),
    /** Index in the plan of the list that its recipients belong to. */
    list: p.integer(),
    /** Earliest time of sending; null for at once. */
    due_at: p.datetime().nullable(),
    /** The addresses, in order; null once deleted. Loaded only for sending. */
    emails: p.array().nullable().lazy(),
    size: p.integer(),
    /** How many recipients, counted from the first, have an answer of the first pass. */
    answered: p.integer(),
    sent: p.integer(),
    failed: p.integer(),
    skipped: p.integer(),
    deferred: p.integer(),
    unknown: p.integer(),
    /** The failed ones whose message could not be rendered. */
    unrendered: p.integer(),
    /** Why one of them failed to render; empty if none did. Contains no address. */
    unrendered_reason: p.string(),
    /**
     * The part of the counts that belongs to recipients after `answered`, some of whom have no
     * outcome yet.
     */
    beyond: p.json<SliceCounts>().nullable(),
    /**
     * When messages is asked for the outcomes of open calls; null where everything that was started
     * is counted.
     */
    settle_at: p.datetime().nullable(),
    next_due_at: p.datetime().nullable(),
    done_at: p.datetime().nullable(),
  },
});

/** Some recipients of a broadcast, and the counts of their outcomes. */
export class Slice extends schema.class {}
schema.setClass(Slice);
