import type { Client } from '@temporalio/client';
import type { Log } from '../log.ts';

/** Names and numbers of Temporal's IndexedValueType. */
const types = { Keyword: 2, Int: 3 } as const;

/**
 * The search attributes of a workflow, with their types. Temporal on SQL has room for three of type
 * Int in a namespace.
 */
export type SearchAttributes = Readonly<Record<string, keyof typeof types>>;

/** The wanted search attributes that the namespace has. */
export async function knownSearchAttributes(
  temporal: Client,
  wanted: SearchAttributes,
): Promise<string[]> {
  const { namespace } = temporal.options;
  const { operatorService } = temporal.connection;
  const { customAttributes } = await operatorService.listSearchAttributes({ namespace });
  return Object.keys(wanted).filter((name) => name in customAttributes);
}

/**
 * Registers missing search attributes. Workflows run without them; failures are logged with the
 * command to run.
 */
export async function registerSearchAttributes(
  temporal: Client,
  wanted: SearchAttributes,
  log: Pick<Log, 'warn'>,
): Promise<void> {
  const { namespace } = temporal.options;
  const known = await knownSearchAttributes(temporal, wanted).catch((): string[] => []);
  const missing: [name: string, type: keyof typeof types][] = [];
  let err: unknown;
  for (const [name, type] of Object.entries(wanted).filter(([each]) => !known.includes(each))) {
    try {
      await temporal.connection.operatorService.addSearchAttributes({
        namespace,
        searchAttributes: { [name]: types[type] },
      });
    } catch (error) {
      missing.push([name, type]);
      err ??= error;
    }
  }
  if (missing.length === 0) return;
  const names = missing.map(([name]) => name);
  const commands = missing.map(([name, type]) => attributeCommand(namespace, name, type));
  log.warn({ err, missing: names, commands }, 'search attributes are missing');
}

/** The command that adds a search attribute. */
export function attributeCommand(namespace: string, name: string, type: string): string {
  return `temporal operator search-attribute create --namespace ${namespace} --name ${name} --type ${type}`;
}
