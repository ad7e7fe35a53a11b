import { WebhookListeners } from '../typescript/src/made/webhookListeners.ts';
import { type CommonOptions, callerOf, type Invocation } from './invocation.ts';
import { say, write } from './terminal.ts';

/** Gives a made-up event to the listeners of the workspace; false if none wants it. */
export async function trigger(
  invocation: Invocation,
  type: string,
  options: CommonOptions,
): Promise<boolean> {
  const { terminal } = invocation;
  const { http } = callerOf(invocation, options);
  const { listeners } = await new WebhookListeners(http).trigger({ event_type: type });
  const isForPeople = terminal.stdout.isTTY && !options.json;
  const text = isForPeople
    ? `${type} goes to ${listeners} ${listeners === 1 ? 'listener' : 'listeners'}.`
    : JSON.stringify({ listeners });
  await write(terminal, `${text}\n`);
  if (listeners === 0) say(terminal, `No listener wants ${type}: start one by postrider listen.`);
  return listeners > 0;
}
