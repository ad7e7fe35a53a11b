import { declaredEvent, publicEvents } from '#lib/events/contracts.ts';

/** All types of events, in the order of the API. */
export const eventTypes = publicEvents.map(({ type }) => type);

/** The resource that the data of an event belong to. Getting them needs the right to read it. */
export function resourceOf(type: string): string {
  return declaredEvent(type)?.resource ?? 'contacts';
}
