import { givenList, givenTemplate, good, unique } from '../stack/given.ts';
import type { TestStack } from '../stack.ts';
import type { Sent } from './checker.ts';
import { randomFrom } from './schedule.ts';

type Person = { email: string; country: string | null; custom_number_1: number | null };

const importSize = 5_000;
const countries = ['FR', 'DE', 'IT', null];
/** How many leave a list, and how many change right before the start. */
const [leavers, changers] = [50, 500];

/**
 * A draft to two segments that overlap, and to no list. Some contacts have left a list, and others
 * change right before the start, so that who is a member of a segment is not up to date yet. Its
 * recipients are those for whom the plain evaluation says yes.
 */
export async function givenSegmentBroadcast(
  stack: TestStack,
  { recipients, seed }: { recipients: number; seed: number },
): Promise<Sent> {
  const random = randomFrom(seed);
  const domain = `${unique('s')}.example.com`;
  const personOf = (email: string): Person => ({
    email,
    country: countries[Math.floor(random() * countries.length)] ?? null,
    custom_number_1: random() < 0.2 ? null : Math.floor(random() * 10),
  });
  const people = Array.from({ length: recipients }, (_, at) => personOf(`p${at}@${domain}`));
  await importPeople(stack, people);
  const segments = await givenSegments(stack, domain);
  const left = people.filter((_, at) => at % Math.ceil(recipients / leavers) === 0);
  await leaveList(stack, left);
  const changed = people.slice(-changers).map((old) => changedOf(old, personOf(old.email)));
  const templateId = await givenTemplate(stack);
  const { broadcast } = good(
    await stack.call('broadcasts.create', {
      workspace_id: stack.workspaceId,
      name: 'To segments',
      audience: { list: '', segments },
      test_settings: { variations: [{ template_id: templateId, variation_name: 'A' }] },
    }),
  );
  await importPeople(stack, changed);
  const now = new Map([...people, ...changed].map((person) => [person.email, person]));
  const out = new Set(left.map(({ email }) => email));
  const all = [...now.values()];
  const wanted = all.filter((person) => isWanted(person) && !out.has(person.email));
  const emails = wanted.map(({ email }) => email).toSorted();
  const isRecipient = new Set(emails);
  const outsiders = all.map(({ email }) => email).filter((email) => !isRecipient.has(email));
  return { id: broadcast.id, emails, outsiders };
}

/** An import keeps what it has no value for. */
function changedOf(old: Person, { country, custom_number_1 }: Person): Person {
  return {
    email: old.email,
    country: country ?? old.country,
    custom_number_1: custom_number_1 ?? old.custom_number_1,
  };
}

/** The trees of `givenSegments`, written once more. */
function isWanted({ country, custom_number_1: number }: Person): boolean {
  const livesThere = country === 'FR' || country === 'DE';
  return (livesThere && number !== null && number >= 5) || (country !== 'IT' && number === 7);
}

async function givenSegments(stack: TestStack, domain: string): Promise<string[]> {
  const ours = where('email', 'contains', domain);
  const livesThere = branch(
    'or',
    where('country', 'equals', 'FR'),
    where('country', 'equals', 'DE'),
  );
  const trees = [
    branch('and', ours, livesThere, where('custom_number_1', 'gte', 5)),
    branch(
      'and',
      ours,
      where('country', 'not_equals', 'IT'),
      where('custom_number_1', 'equals', 7),
    ),
  ];
  const ids: string[] = [];
  for (const tree of trees) {
    const body = { id: unique('seg'), name: 'Chaos', color: 'red', tree, timezone: 'UTC' };
    const answer = await stack.call('segments.create', {
      workspace_id: stack.workspaceId,
      ...body,
    });
    ids.push(good(answer).segment.id);
  }
  return ids;
}

const branch = (operator: 'and' | 'or', ...leaves: object[]) => ({
  kind: 'branch',
  branch: { operator, leaves },
});

function where(field_name: string, operator: string, value: string | number): object {
  const values =
    typeof value === 'number'
      ? { field_type: 'number', number_values: [value] }
      : { field_type: 'string', string_values: [value] };
  const filter = { field_name, operator, ...values };
  return { kind: 'leaf', leaf: { source: 'contacts', contact: { filters: [filter] } } };
}

async function importPeople({ call, workspaceId }: TestStack, people: Person[]): Promise<void> {
  for (let first = 0; first < people.length; first += importSize) {
    const contacts = people.slice(first, first + importSize);
    good(await call('contacts.import', { workspace_id: workspaceId, contacts }));
  }
}

async function leaveList(stack: TestStack, people: Person[]): Promise<void> {
  const { call, workspaceId } = stack;
  const key = { workspace_id: workspaceId, list_id: await givenList(stack) };
  const contacts = people.map(({ email }) => ({ email }));
  const body = { workspace_id: workspaceId, contacts, subscribe_to_lists: [key.list_id] };
  good(await call('contacts.import', body));
  for (const { email } of people) {
    good(await call('contactLists.updateStatus', { ...key, email, status: 'unsubscribed' }));
  }
}
