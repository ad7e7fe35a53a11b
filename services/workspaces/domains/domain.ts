/*
 * A domain that a workspace sends from, and its keys.
 *
 * Owner: `domain_owners` has one workspace for a name, the first whose ownership record was found.
 * It keeps the domain until it deletes it, or until the domain is held since the record is gone,
 * and another workspace proves it. The domain then stays held for the loser, until that deletes it
 * or proves it again while nobody else has it.
 *
 * A check reads the row, looks at DNS without a transaction, and stores what it has found only if
 * neither a call nor a later check has changed the row meanwhile (`revision`, `checked_at`).
 *
 * A key is waiting; published once it is found; signing once all DNS servers have shown it for
 * some time; retired once another signs in its place; revoked after 7 days, without its private
 * half; and deleted after 30 more.
 */

import { defineEntity, p } from '@mikro-orm/core';

export type RecordState = 'unchecked' | 'ok' | 'missing' | 'wrong' | 'conflict' | 'unreachable';

/** The result of a look at one record. */
export type RecordFinding = {
  state: RecordState;
  /** The values that are there, bounded. */
  found: string[];
  /** The next step, where the state alone does not say it. */
  note?: string;
};

export type StoredFinding = RecordFinding & {
  /** The last state that was not `unreachable`. */
  known: RecordState;
  /** Whether it has ever been in order. */
  was_ok: boolean;
};

/** By the key of the record. */
export type Findings = Record<string, StoredFinding>;

const schema = defineEntity({
  name: 'Domain',
  tableName: 'sending_domains',
  properties: {
    workspace_id: p.string().primary(),
    name: p.string().primary(),
    /** Names it below DKIM_ZONE. */
    id: p.string(),
    ownership_token: p.string(),
    dkim_algorithms: p.json<Algorithm[]>(),
    return_path_host: p.string(),
    tracking_host: p.string(),
    /** Raised by each call that changes what is looked at. */
    revision: p.integer(),
    findings: p.json<Findings>(),
    /** Since something changed. */
    checks: p.integer(),
    /** When the last stored check began. */
    checked_at: p.datetime().nullable(),
    next_check_at: p.datetime(),
    failing_since: p.datetime().nullable(),
    /** Since when nothing proves it, or no key of it can be read. */
    gone_since: p.datetime().nullable(),
    gone_checks: p.integer(),
    is_held: p.boolean(),
    /** Whether the owners were mailed that it is broken, and not yet that it is in order again. */
    is_noticed: p.boolean(),
    noticed_at: p.datetime().nullable(),
    created_at: p.datetime(),
    updated_at: p.datetime(),
  },
});

/** One of the domains of a workspace. */
export class Domain extends schema.class {
  /** Notes a change by a call: checks that have begun store nothing, and the next one is due. */
  noteChange(at: Date): void {
    this.revision += 1;
    this.checks = 0;
    this.next_check_at = at;
    this.updated_at = at;
  }
}
schema.setClass(Domain);

export const algorithms = ['rsa', 'ed25519'] as const;
export type Algorithm = (typeof algorithms)[number];

const keySchema = defineEntity({
  name: 'DomainKey',
  tableName: 'dkim_keys',
  properties: {
    workspace_id: p.string().primary(),
    /** Of its record. */
    host: p.string().primary(),
    domain: p.string(),
    selector: p.string(),
    algorithm: p.enum(algorithms),
    /** As in the tag `p`. */
    public_key: p.string(),
    /** Null once it is revoked. */
    sealed_private_key: p.string().nullable(),
    state: p.enum(['waiting', 'published', 'signing', 'retired', 'revoked'] as const),
    since: p.datetime(),
    created_at: p.datetime(),
  },
});

/** A key of a domain; its private half is sealed to messages. */
export class DomainKey extends keySchema.class {}
keySchema.setClass(DomainKey);

/** Keys of a domain, whatever their states. */
export const keysOfDomainMax = 12;
export const domainsMax = 100;

const hostPart = '._domainkey.';

/** The host of the record of a key (RFC 6376, 3.6.2.1). */
export const keyHost = (selector: string, domain: string): string =>
  `${selector}${hostPart}${domain}`;

/** The reverse. */
export function keyAt(host: string): { selector: string; domain: string } {
  const [selector = '', domain = ''] = host.split(hostPart);
  return { selector, domain };
}

/** Names the record of a key among the findings. */
export const keyRecord = (selector: string): string => `dkim ${selector}`;
