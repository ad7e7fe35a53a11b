import { counter, gauge } from '#lib/telemetry/metrics.ts';
import type { Admission } from '../admission/admission.ts';
import type { IntegrationLane } from '../admission/lane.ts';
import type { Hold } from '../hold/hold.ts';
import type { ResultRecorder } from '../record/recorder.ts';
import type { SendResult } from '../record/results.ts';

/** Outcomes of messages, as they are recorded. */
const messagesTotal = counter(
  'postrider_messages_total',
  'Messages that this process has brought to an end or put off, by their status.',
  ['status'],
);

/** Looked up once: a label costs more than the count. */
const counts = {
  sent: messagesTotal.labels('sent'),
  failed: messagesTotal.labels('failed'),
  deferred: messagesTotal.labels('deferred'),
};

export function countMessage(status: SendResult['status']): void {
  counts[status].inc();
}

const lanesOf = { labelNames: ['workspace_id', 'integration_id'] } as const;

type Sums = [name: string, help: string, of: (lane: IntegrationLane) => number][];

const sums: Sums = [
  ['batches_waiting', 'Calls that wait for room to send.', ({ waiting }) => waiting],
  [
    'messages_held',
    'Messages that are admitted, or claimed and not in the record yet.',
    ({ taken }) => taken,
  ],
  [
    'provider_messages_waiting',
    'Messages that wait for a connection to their provider.',
    ({ sender }) => sender?.waiting ?? 0,
  ],
  [
    'provider_connections_open',
    'Open connections to providers.',
    ({ sender }) => sender?.connections ?? 0,
  ],
];

const alone: Sums = [
  ['window_messages', 'Messages that may be on their way at a time.', ({ window }) => window],
  [
    'rate_limit_per_second',
    'Messages a second that this process may send.',
    ({ sender }) => (sender?.perMinute ?? 0) / 60,
  ],
  [
    'provider_breaker_open',
    'Whether the provider refuses all alike and gets one message at a time.',
    ({ sender }) => Number(sender?.isProbing ?? false),
  ],
];

/**
 * Measures what waits and is on its way; for the busiest integrations, as many as are asked for,
 * also one by one.
 */
export function measureSending(
  { admission, recorder, hold }: { admission: Admission; recorder: ResultRecorder; hold: Hold },
  integrationsMax: number,
): void {
  for (const [name, help, of] of sums) {
    gauge({ name: `postrider_${name}`, help }, (set) =>
      set(admission.lanes.reduce((sum, lane) => sum + of(lane), 0)),
    );
  }
  const states = { name: 'postrider_integrations', help: 'Integrations in use, by state.' };
  gauge({ ...states, labelNames: ['state'] }, (set) => {
    const byState = Map.groupBy(admission.lanes, stateOf);
    for (const state of ['sending', 'probing', 'outage'] as const) {
      set(byState.get(state)?.length ?? 0, { state });
    }
  });
  const unstored = 'Outcomes of messages that are not in the record yet.';
  gauge({ name: 'postrider_outcomes_unstored', help: unstored }, (set) =>
    set(recorder.unstoredAll),
  );
  const onHold = 'Whether the installation is on hold, so that nothing is sent: 1 or 0.';
  gauge({ name: 'postrider_on_hold', help: onHold }, (set) => set(Number(hold.reason !== '')));
  if (integrationsMax === 0) return;
  for (const [name, help, of] of [...sums, ...alone]) {
    gauge({ name: `postrider_integration_${name}`, help, ...lanesOf }, (set) => {
      for (const lane of busiest(admission.lanes, integrationsMax)) {
        set(of(lane), { workspace_id: lane.workspaceId, integration_id: lane.integrationId });
      }
    });
  }
}

function stateOf({ hasOutage, sender }: IntegrationLane): 'sending' | 'probing' | 'outage' {
  if (sender?.isProbing) return 'probing';
  return hasOutage ? 'outage' : 'sending';
}

function busiest(lanes: readonly IntegrationLane[], max: number): IntegrationLane[] {
  const work = ({ taken, waiting }: IntegrationLane) => taken + waiting;
  return lanes.toSorted((one, other) => work(other) - work(one)).slice(0, max);
}
