import type { Keyring } from '#lib/keys/keyring.ts';
import type { Log } from '#lib/log.ts';
import type { Egress } from '#lib/outside/egress.ts';
import type { Store } from '#lib/postgres/store.ts';
import type { Recorder } from './recorder.ts';

/** What sending needs, in the service as in the worker. */
export type SendingContext = {
  store: Store;
  now: () => Date;
  keyring: Keyring;
  log: Log;
  /** Opened with `createCallbackEgress`. */
  egress: Egress;
  recorder: Recorder;
};
