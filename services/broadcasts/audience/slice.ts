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
    /** The variation that its part of the sample gets; null for the rest. */
    arm: p.integer().nullable(),
    /** The list that its recipients are there through: its place in the plan. */
    list: p.integer(),
    /** Nobody of it is sent to before; null for at once. */
    due_at: p.datetime().nullable(),
    /** Their addresses, in order; null once forgotten. Only who sends asks for them. */
    emails: p.array().nullable().lazy(),
    size: p.integer(),
    /** How many, from its first recipient on, have an answer of the first pass. */
    answered: p.integer(),
    sent: p.integer(),
    failed: p.integer(),
    skipped: p.integer(),
    deferred: p.integer(),
    unknown: p.integer(),
    /** Of the failed ones, those whose message could not be rendered. */
    unrendered: p.integer(),
    /** Why one of them could not; empty where all could. Names no address. */
    unrendered_reason: p.string(),
    /** What the counts contain of recipients after `answered`, of whom only some have an outcome. */
    beyond: p.json<SliceCounts>().nullable(),
    /** When messages is asked what calls did that may be open; null where everything that was started is counted. */
    settle_at: p.datetime().nullable(),
    next_due_at: p.datetime().nullable(),
    done_at: p.datetime().nullable(),
  },
});

/** Some recipients, and what became of them: the progress of a broadcast. */
export class Slice extends schema.class {}
schema.setClass(Slice);
