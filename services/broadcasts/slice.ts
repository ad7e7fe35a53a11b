import { defineEntity, p } from '@mikro-orm/core';

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
    first: p.integer(),
    last: p.integer(),
    /** The last recipient of the first pass that has an answer; `first - 1` before any has. */
    position: p.integer(),
    sent: p.integer(),
    failed: p.integer(),
    skipped: p.integer(),
    deferred: p.integer(),
    unknown: p.integer(),
    next_due_at: p.datetime().nullable(),
    done_at: p.datetime().nullable(),
  },
});

/** A range of recipients, and what became of them: the progress of a broadcast. */
export class Slice extends schema.class {}
schema.setClass(Slice);
