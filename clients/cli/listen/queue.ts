import type { LocalEvent } from './local-server.ts';

/** At most as many events as answers of two listeners, or of one and a page of history, hold. */
export type ListenQueue = {
  /** The oldest event that is to be sent. */
  first(): LocalEvent | undefined;
  /** The first one was sent. */
  shift(): void;
  /** Ids of the listener's events that were sent and that the gateway has not heard of. */
  readonly taken: readonly string[];
  /** Replaces the events of the listener by what waits now. */
  renew(events: readonly LocalEvent[]): void;
  /** Adds events that no listener has. */
  add(events: readonly LocalEvent[]): void;
  /** Keeps the events of a listener that has ended. */
  forgetListener(): void;
};

export function listenQueue(): ListenQueue {
  /** Of no listener that is there; they go first. */
  let stray: LocalEvent[] = [];
  let waiting: LocalEvent[] = [];
  let taken: string[] = [];
  return {
    first: () => stray[0] ?? waiting[0],
    shift() {
      if (stray.shift()) return;
      const event = waiting.shift();
      if (event) taken.push(event.id);
    },
    get taken() {
      return taken;
    },
    renew(events) {
      waiting = [...events];
      taken = [];
    },
    add(events) {
      stray.push(...events);
    },
    forgetListener() {
      stray = [...stray, ...waiting];
      waiting = [];
      taken = [];
    },
  };
}
