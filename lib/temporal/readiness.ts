import type { Client } from '@temporalio/client';
import type { Readiness } from '../process/part.ts';
import {
  attributeCommand,
  knownSearchAttributes,
  type SearchAttributes,
} from './search-attributes.ts';

const answerMaxDefaultMs = 4_000;

/**
 * Whether Temporal answers and has the namespace; search attributes that it lacks are warnings with
 * the command that adds them.
 */
export async function temporalReadiness(
  temporal: Client,
  wanted: SearchAttributes,
  answerMaxMs = answerMaxDefaultMs,
): Promise<Readiness> {
  const { namespace } = temporal.options;
  return temporal.connection.withDeadline(Date.now() + answerMaxMs, async () => {
    try {
      await temporal.connection.workflowService.describeNamespace({ namespace });
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      return { missing: [`Temporal, namespace ${namespace}: ${reason}`], warnings: [] };
    }
    return { missing: [], warnings: await missingAttributes(temporal, wanted) };
  });
}

async function missingAttributes(temporal: Client, wanted: SearchAttributes): Promise<string[]> {
  const { namespace } = temporal.options;
  try {
    const known = await knownSearchAttributes(temporal, wanted);
    return Object.entries(wanted)
      .filter(([name]) => !known.includes(name))
      .map(
        ([name, type]) =>
          `search attribute ${name} is missing: run \`${attributeCommand(namespace, name, type)}\``,
      );
  } catch {
    return [`search attributes of the namespace ${namespace} cannot be listed`];
  }
}
