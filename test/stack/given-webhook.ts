import { Webhook } from 'standardwebhooks';
import { givenEndpoint, type Received } from '../../services/webhooks/test/given-endpoint.ts';
import type { TestStack } from '../stack.ts';
import { until } from './until.ts';
import { type Subscription, subscribe } from './webhooks.ts';

/** A callback whose signature is right. */
export type Callback = {
  id: string;
  type: string;
  workspace_id: string;
  timestamp: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read data as any receiver does.
  data: any;
};

/** Subscribes an endpoint of the test to events of the stack's workspace. */
export async function givenWebhook(
  stack: TestStack,
  eventTypes: readonly string[],
  answer?: Parameters<typeof givenEndpoint>[0],
) {
  const endpoint = await givenEndpoint(answer);
  const subscription = await subscribe(stack, endpoint.url, eventTypes);
  const callbacks = () => endpoint.received.map((each) => verify(subscription, each));
  return {
    endpoint,
    subscription,
    callbacks,
    /** Waits for the callbacks of some types, of the contact with this address if one is given. */
    untilCalled: (types: readonly string[], email?: string): Promise<void> =>
      until(`${types} arrive`, async () => {
        const found = callbacks().filter(({ data }) => !email || emailOf(data) === email);
        return types.every((type) => found.some((each) => each.type === type));
      }),
  };
}

export const emailOf = (data: Callback['data']): string => data.contact?.email ?? data.email;

/** Throws if the signature is wrong. */
function verify({ secret }: Subscription, { headers, body }: Received): Callback {
  return new Webhook(secret).verify(body, headers as Record<string, string>) as Callback;
}
