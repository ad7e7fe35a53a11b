import type { Client } from '@temporalio/client';
import type { Log } from '#lib/log.ts';

/** Names and numbers of Temporal's IndexedValueType. */
const types = { Keyword: 2, Int: 3 } as const;

/** The search attributes of broadcasts. Temporal on SQL has room for three of type Int in a namespace. */
const wanted = {
  WorkspaceId: 'Keyword',
  BroadcastStatus: 'Keyword',
  RecipientCount: 'Int',
} as const;
type Name = keyof typeof wanted;
const names = Object.keys(wanted) as Name[];

/** The search attributes of broadcasts that the namespace has. */
export async function knownSearchAttributes(temporal: Client): Promise<Name[]> {
  const { namespace } = temporal.options;
  const { operatorService } = temporal.connection;
  const { customAttributes } = await operatorService.listSearchAttributes({ namespace });
  return names.filter((name) => name in customAttributes);
}

/** Registers missing search attributes. Broadcasts run without them; failures are logged with the command to run. */
export async function registerSearchAttributes(
  temporal: Client,
  log: Pick<Log, 'warn'>,
): Promise<void> {
  const { namespace } = temporal.options;
  const known = await knownSearchAttributes(temporal).catch((): Name[] => []);
  const missing: Name[] = [];
  let err: unknown;
  for (const name of names.filter((each) => !known.includes(each))) {
    try {
      await temporal.connection.operatorService.addSearchAttributes({
        namespace,
        searchAttributes: { [name]: types[wanted[name]] },
      });
    } catch (error) {
      missing.push(name);
      err ??= error;
    }
  }
  if (missing.length === 0) return;
  const commands = missing.map(
    (name) =>
      `temporal operator search-attribute create --namespace ${namespace} --name ${name} --type ${wanted[name]}`,
  );
  log.warn({ err, missing, commands }, 'search attributes of broadcasts are missing');
}
