import { Code, ConnectError } from '@connectrpc/connect';
import type { Transport } from '../provider.ts';
import type { HttpApi } from './api.ts';
import { HttpSender } from './sender.ts';

/** The way to an account that is reached by HTTP; its settings and the origin name it. */
export function httpTransport(kind: string, settings: object, api: HttpApi): Transport {
  return {
    kind,
    key: JSON.stringify([kind, api.origin, settings]),
    ...(api.takesMime && { takesMime: api.takesMime }),
    open: (host) => new HttpSender(host, api),
  };
}

/** A secret that an account needs, or its settings as a whole. */
export function required<Value>(value: Value | undefined, what: string): NonNullable<Value> {
  if (value) return value;
  throw new ConnectError(`the integration has no ${what}`, Code.InvalidArgument);
}
