import type { WaitingWebhookEvent, WebhookDelivery } from '../../typescript/src/made/types.ts';
import type { LocalEvent } from './local-server.ts';

const idForm = /^[0-9A-Za-z_-]{1,64}$/;

/** The events of an answer. Throws if a gateway answers what are none. */
export function eventsOf(waiting: readonly WaitingWebhookEvent[]): LocalEvent[] {
  if (!Array.isArray(waiting)) throw new Error('the gateway answered what is no list of events');
  return waiting.map(eventOf);
}

function eventOf({ id, type, timestamp, data }: WaitingWebhookEvent): LocalEvent {
  const isEvent =
    typeof id === 'string' &&
    idForm.test(id) &&
    typeof type === 'string' &&
    typeof timestamp === 'string' &&
    typeof data === 'object' &&
    data !== null;
  if (!isEvent) throw new Error('the gateway answered what is no event');
  return { id, type, timestamp, data };
}

export function eventOfDelivery(delivery: WebhookDelivery): LocalEvent {
  const { id, event_type: type, occurred_at: timestamp, payload: data } = delivery;
  return eventOf({ id, type, timestamp, data });
}
