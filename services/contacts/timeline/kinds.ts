import { type DeclaredEvent, declaredEvents } from '#lib/events/contracts.ts';

const eventsOf = (producer: string): readonly DeclaredEvent[] =>
  declaredEvents.filter((event) => event.producer === producer && event.timelineKind !== '');

/** Events with entries of messages, which the messages service knows. */
export const messageEvents = eventsOf('messages');

const messageKinds = messageEvents.map(({ timelineKind }) => timelineKind);
const ownKinds = eventsOf('contacts').map(({ timelineKind }) => timelineKind);
const eventPrefix = 'custom_event.';
const eventKind = /^custom_event\.(?:[a-z0-9_./-]{1,100}|(?:[a-z0-9_./-]{1,99}\.)?\*)$/;

/** Which kinds somebody asked for. */
export type Kinds = {
  /** Those of contacts, memberships and segments. */
  own: ReadonlySet<string>;
  /** Names of custom events, and how names begin; an empty prefix is for all of them. */
  events: { names: readonly string[]; prefixes: readonly string[] };
  messages: ReadonlySet<string>;
};

/** Whether it is a kind, or ends with `.*` and is the beginning of one. */
export function isKind(text: string): boolean {
  if (eventKind.test(text)) return true;
  return [...ownKinds, ...messageKinds].some(matcher(text));
}

/** All of them if none is named. A name that is no kind stands for nothing. */
export function kindsOf(named: readonly string[]): Kinds {
  const isNamed = named.length > 0 ? anyOf(named.map(matcher)) : () => true;
  const events = named
    .filter((text) => text.startsWith(eventPrefix))
    .map((text) => text.slice(eventPrefix.length));
  const all = named.length === 0;
  return {
    own: new Set(ownKinds.filter(isNamed)),
    events: {
      names: events.filter((name) => !name.endsWith('*')),
      prefixes: all ? [''] : events.filter((name) => name.endsWith('*')).map(withoutStar),
    },
    messages: new Set(messageKinds.filter(isNamed)),
  };
}

const withoutStar = (text: string) => text.slice(0, -1);

function matcher(text: string): (kind: string) => boolean {
  if (!text.endsWith('.*')) return (kind) => kind === text;
  const prefix = withoutStar(text);
  return (kind) => kind.startsWith(prefix);
}

function anyOf(matchers: readonly ((kind: string) => boolean)[]): (kind: string) => boolean {
  return (kind) => matchers.some((matches) => matches(kind));
}
