import { isDeepStrictEqual } from 'node:util';
import type { MessageInitShape } from '@bufbuild/protobuf';
import type { UpsertedRecipientSchema } from '#gen/postrider/contacts/v1/audience_pb.ts';
import type { ContactInput } from '#gen/postrider/contacts/v1/contacts_pb.ts';
import { hiddenArray } from '#lib/postgres/prepared.ts';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import { readable } from '../contact/fields.ts';
import { type ContactRow, readContact } from '../contact/input.ts';
import { upsertAndRead } from '../contact/queries.ts';
import { beyondQuota, findBeyondQuota } from '../contact/room.ts';
import type { Context, Methods } from '../context.ts';

export function upsertRecipients(context: Context): Methods['upsertRecipients'] {
  return async ({ workspaceId, contacts, mayChange, fields }) => {
    const given = contacts.map((contact) => checkRecipient(contact, mayChange));
    const { rounds, roundOf } = inRounds(given);
    const answers: AnswersByAddress[] = [];
    for (const round of rounds) {
      const recipients = [...round.values()];
      answers.push(
        await upsertRound(context, { workspaceId, given: recipients, mayChange, fields }),
      );
    }
    return {
      recipients: given.map((each) => {
        if (each.error !== '') return { error: each.error };
        return answers[roundOf.get(each) ?? 0]?.get(each.row.email) ?? {};
      }),
    };
  };
}

type CheckedRecipient = {
  row: ContactRow;
  cleared: readonly string[];
  changes: boolean;
  error: string;
};

function checkRecipient(contact: ContactInput, mayChange: boolean): CheckedRecipient {
  const { row, faults } = readContact(contact);
  const cleared = contact.nullFields?.paths ?? [];
  const hasFields = cleared.length > 0 || row.values.some((value) => value !== undefined);
  return { row, cleared, changes: mayChange && hasFields, error: faults[0]?.description ?? '' };
}

/** The recipients to write, by address. */
type Round = Map<string, CheckedRecipient>;

/**
 * Rows of one address are written one after the other, in a round each, and are answered as the
 * contact is then. A row that would change nothing after the one before it is answered with that.
 */
function inRounds(given: readonly CheckedRecipient[]) {
  const rounds: Round[] = [];
  const roundOf = new Map<CheckedRecipient, number>();
  const latest = new Map<string, CheckedRecipient>();
  for (const each of given) {
    if (each.error !== '') continue;
    const { email } = each.row;
    const before = latest.get(email);
    const number = before ? (roundOf.get(before) ?? 0) + (isRepeat(each, before) ? 0 : 1) : 0;
    const round = rounds[number] ?? new Map();
    rounds[number] = round;
    if (!round.has(email)) round.set(email, each);
    roundOf.set(each, number);
    latest.set(email, each);
  }
  return { rounds, roundOf };
}

function isRepeat({ row, cleared, changes }: CheckedRecipient, before: CheckedRecipient): boolean {
  return !changes || isDeepStrictEqual([row, cleared], [before.row, before.cleared]);
}

type AnswersByAddress = Map<string, MessageInitShape<typeof UpsertedRecipientSchema>>;

/** Writes recipients of whom each has another address. */
async function upsertRound(
  context: Context,
  request: RecipientsRequest,
): Promise<AnswersByAddress> {
  const { store, quotas } = context;
  const { workspaceId, given } = request;
  const emails = given.map(({ row }) => row.email);
  const beyond = await findBeyondQuota({ em: store.fork(), workspaceId, quotas }, emails);
  const within = given.filter(({ row }) => !beyond.has(row.email));
  const values = await writeAndRead(context, { ...request, given: within });
  const error = beyond.size > 0 ? (await beyondQuota({ workspaceId, quotas })).rawMessage : '';
  return new Map(
    emails.map((email) => [
      email,
      beyond.has(email)
        ? { error, isBeyondQuota: true }
        : { email, valuesJson: values.get(email) ?? '' },
    ]),
  );
}

type RecipientsRequest = {
  workspaceId: string;
  given: readonly CheckedRecipient[];
  mayChange: boolean;
  fields: readonly string[];
};

/**
 * Contacts that stay as they are, are only read: a lock that an import holds does not stop their
 * mail, and nothing waits for a commit.
 */
async function writeAndRead(
  { store, outbox, quotas, now }: Context,
  { workspaceId, given, mayChange, fields }: RecipientsRequest,
): Promise<Map<string, string>> {
  const em = store.fork();
  const scope = { em, outbox, quotas, workspaceId };
  const key = { workspaceId, fields };
  const kept = given.filter(({ changes }) => !changes).map(({ row }) => row.email);
  const known = await readValues(em, key, kept);
  const written = given.filter(({ row, changes }) => changes || !known.has(row.email));
  // The fields to clear are the same for all rows of a statement.
  const groups = Object.groupBy(written, ({ cleared }) => cleared.toSorted().join());
  for (const group of Object.values(groups)) {
    if (!group?.[0]) continue;
    const rows = group.map(({ row }) => row);
    const { cleared } = group[0];
    const upsert = {
      ...{ rows, cleared, at: now() },
      ...{ skipExisting: !mayChange, locksChangedOnly: true },
    };
    for (const [email, values] of await upsertAndRead(scope, upsert)) {
      known.set(
        email,
        JSON.stringify(fields.map((name) => values[places.get(name) ?? -1] ?? null)),
      );
    }
  }
  const missed = written.flatMap(({ row: { email } }) => (known.has(email) ? [] : email));
  return new Map([...known, ...(await readValues(em, key, missed))]);
}

const places = new Map([...readable.keys()].map((name, place) => [name, place]));

type Key = { workspaceId: string; fields: readonly string[] };

/** The values of contacts by address. PostgreSQL writes the JSON. */
async function readValues(
  em: EntityManager,
  { workspaceId, fields }: Key,
  emails: readonly string[],
): Promise<Map<string, string>> {
  if (emails.length === 0) return new Map();
  const wanted = fields.map((name) => readable.get(name) ?? 'null').join(', ');
  const rows = await query<{ email: string; fields: string }>(
    em,
    `select contact.email, json_build_array(${wanted})::text as fields
     from unnest(${hiddenArray('$2::text[]')}) as asked (email)
     -- Looked up one by one: a join of whole tables is what the planner takes without statistics.
     cross join lateral (
       select * from contacts where workspace_id = $1 and email = asked.email limit 1
     ) contact`,
    [workspaceId, emails],
  );
  return new Map(rows.map(({ email, fields: values }) => [email, values]));
}
