import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { setCurrentDetails, upsertSearchAttributes } from '@temporalio/workflow';
import type { Retries } from '../../services/webhooks/sending/retries.ts';

const circuit = defineSearchAttributeKey('WebhookCircuit', SearchAttributeType.KEYWORD);

/**
 * Shows operators the state of the subscription: a search attribute for lists, a table for the
 * page.
 */
export function tell(state: Retries | null, attributes: readonly string[]): void {
  setCurrentDetails(state ? tableOf(state) : 'The subscription was deleted.');
  if (attributes.includes(circuit.name)) {
    upsertSearchAttributes([{ key: circuit, value: state ? circuitOf(state) : 'deleted' }]);
  }
}

function tableOf(state: Retries): string {
  return [
    '| Webhooks | |',
    '|---|---|',
    `| Subscription | ${cell(state.name)} |`,
    `| Endpoint | ${cell(state.host)} |`,
    `| Circuit | ${circuitOf(state)} |`,
    `| Disabled because | ${cell(state.disabledReason ?? '')} |`,
    `| Pending | ${state.pending} |`,
    `| Waiting for a retry | ${state.retries} |`,
    `| Next attempt | ${state.nextDueAt === null ? 'none' : new Date(state.nextDueAt).toISOString()} |`,
    `| Last error | ${cell(state.lastError ?? '')} |`,
  ].join('\n');
}

function circuitOf({ enabled, probeAt }: Retries): string {
  if (!enabled) return 'disabled';
  return probeAt === null ? 'closed' : 'open';
}

/** Texts of tenants must not break the table. */
function cell(text: string): string {
  return text.replace(/[|\r\n`<>[\]]/g, ' ');
}
