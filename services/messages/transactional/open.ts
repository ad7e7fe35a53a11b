import { LeasedPermits } from '../admission/leased-permits.ts';
import { Outages } from '../admission/outages.ts';
import type { SendContext } from '../delivery/batch.ts';
import { Acceptance, type AcceptContext } from './acceptance.ts';
import { SendableNotifications } from './notifications.ts';
import type { PrepareContext } from './prepare.ts';
import type { SendNowContext } from './send-now.ts';
import { Sweep } from './sweep.ts';

type Base = SendContext &
  Omit<PrepareContext, 'notifications'> &
  Pick<SendNowContext, 'plans'> &
  Pick<AcceptContext, 'quotas'>;

/** The parts that accept and send transactional mail. */
export type Transactional = {
  acceptance: Acceptance;
  notifications: SendableNotifications;
  sweep: Sweep;
  /** Begins nothing more. */
  stop(): Promise<void>;
};

export function openTransactional(base: Base): Transactional {
  const closing = new AbortController();
  const permits = new LeasedPermits(base);
  const sending: SendNowContext = {
    ...base,
    outages: new Outages(),
    permits,
    closing: closing.signal,
    held: { fileBytes: 0 },
    queued: () => sweep.poke(),
  };
  const sweep = new Sweep(sending);
  const notifications = new SendableNotifications(base.store);
  const { contacts, quotas } = base;
  const acceptance = new Acceptance({ ...sending, contacts, notifications, quotas });
  return {
    acceptance,
    notifications,
    sweep,
    async stop() {
      closing.abort();
      await sweep.stop();
      await permits.close();
    },
  };
}
