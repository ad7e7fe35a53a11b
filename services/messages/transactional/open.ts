import type { SendContext } from '../delivery/send-all.ts';
import { Acceptance, type AcceptContext } from './acceptance.ts';
import { SendableNotifications } from './notifications.ts';
import type { PrepareContext } from './prepare.ts';
import { QueueRunner } from './queue-runner.ts';
import type { SendNowContext } from './send-now.ts';

type Base = SendContext &
  Omit<PrepareContext, 'notifications'> &
  Pick<SendNowContext, 'plans'> &
  Pick<AcceptContext, 'quotas'>;

/** The parts that accept and send transactional mail. */
export type Transactional = {
  acceptance: Acceptance;
  notifications: SendableNotifications;
  queue: QueueRunner;
  /** Begins nothing more. */
  stop(): Promise<void>;
};

export function openTransactional(base: Base): Transactional {
  const closing = new AbortController();
  const sending: SendNowContext = {
    ...base,
    closing: closing.signal,
    held: { fileBytes: 0 },
    queued: () => queue.poke(),
  };
  const queue = new QueueRunner(sending);
  const notifications = new SendableNotifications(base.store);
  const { contacts, quotas } = base;
  const acceptance = new Acceptance({ ...sending, contacts, notifications, quotas });
  return {
    acceptance,
    notifications,
    queue,
    async stop() {
      closing.abort();
      await queue.stop();
    },
  };
}
