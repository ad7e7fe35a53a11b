import { toJson } from '@bufbuild/protobuf';
import { type Timestamp, TimestampSchema, timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { MessageLeaf, TimeSpan } from '../tree/tree.ts';

/** The contacts that a statement looks at. Without `last` a range has no end. */
export type StatementScope =
  | { kind: 'all' }
  | { kind: 'range'; after: string; last?: string }
  | { kind: 'emails'; emails: readonly string[] };

export type Inputs = {
  workspaceId: string;
  scope: StatementScope;
  now: Date;
  /** For each leaf about messages the addresses in scope that have such a number of them. */
  facts?: ReadonlyMap<MessageLeaf, readonly string[]>;
};

const dayMs = 86_400_000;
const microsecondNanos = 1_000;

/**
 * A statement as it is written: its parameters, and the sub-selects that contacts are joined to.
 */
export class Statement {
  readonly values: unknown[] = [];
  readonly joins: string[] = [];
  readonly inputs: Inputs;
  readonly #places = new Map<string, Map<unknown, string>>();
  readonly #joined = new Map<string, string>();
  #scopeSql: ((column: string) => string) | undefined;

  constructor(inputs: Inputs) {
    this.inputs = inputs;
  }

  /**
   * SQL of a value; the same for one that is equal and of the same type, so that equal sub-selects
   * are equal texts.
   */
  bind(value: unknown, type = 'text'): string {
    const ofType = this.#places.get(type) ?? new Map<unknown, string>();
    this.#places.set(type, ofType);
    const known = ofType.get(value);
    if (known) return known;
    const place = `$${this.values.push(value)}::${type}`;
    ofType.set(value, place);
    return place;
  }

  /** Writes a part of the statement with another scope: SQL by the column of an address. */
  within<Part>(scopeSql: (column: string) => string, write: () => Part): Part {
    this.#scopeSql = scopeSql;
    try {
      return write();
    } finally {
      this.#scopeSql = undefined;
    }
  }

  /** SQL that is true of an address in scope. */
  inScope(column: string): string {
    if (this.#scopeSql) return this.#scopeSql(column);
    const { scope } = this.inputs;
    switch (scope.kind) {
      case 'all':
        return 'true';
      case 'emails':
        return `${column} = any(${this.bind(scope.emails, 'text[]')})`;
      case 'range': {
        const begin = `${column} > ${this.bind(scope.after)}`;
        return scope.last === undefined
          ? begin
          : `${begin} and ${column} <= ${this.bind(scope.last)}`;
      }
    }
  }

  /**
   * Joins contacts to a select of addresses, each once, and gives SQL that is true of those that it
   * has.
   */
  join(select: string): string {
    const known = this.#joined.get(select);
    if (known) return known;
    const name = `leaf${this.joins.length}`;
    this.joins.push(`left join (${select}) ${name} on ${name}.email = contact.email`);
    const found = `${name}.email is not null`;
    this.#joined.set(select, found);
    return found;
  }

  /** SQL that is true of a time within a span. */
  inSpan(column: string, span: TimeSpan): string {
    const { since, until } = this.boundsOf(span);
    const parts = [since && `${column} >= ${since}`, until && `${column} < ${until}`];
    return parts.filter(Boolean).join(' and ') || 'true';
  }

  /** SQL of the first moment of a span, and of the first after it. */
  boundsOf(span: TimeSpan): { since?: string; until?: string } {
    const { since, until } = bounds(span, this.inputs.now);
    return {
      ...(since ? { since: this.#bindTime(since) } : {}),
      ...(until ? { until: this.#bindTime(until) } : {}),
    };
  }

  #bindTime(time: Timestamp): string {
    return this.bind(toJson(TimestampSchema, time), 'timestamptz');
  }
}

/**
 * The first moment of a span, and the first after it. Days before now are counted from after their
 * first moment.
 */
export function bounds(
  { since, until, lastDays }: TimeSpan,
  now: Date,
): { since?: Timestamp; until?: Timestamp } {
  if (lastDays === undefined) return { ...(since ? { since } : {}), ...(until ? { until } : {}) };
  const begin = timestampFromDate(new Date(now.getTime() - lastDays * dayMs));
  return { since: { ...begin, nanos: begin.nanos + microsecondNanos } };
}
