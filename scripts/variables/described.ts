import { join, resolve } from 'node:path';
import { describeVariables } from '#lib/config.ts';
import { type DescribedVariable, required, type Variables } from '#lib/env.ts';
import type { Role } from '#lib/process/config.ts';
import { readMailsMax } from '../../deploy/local/inbox/config.ts';
import { readCacheFolder, readStack } from '../../deploy/local/stack-config.ts';
import { servicesWithWorkflows } from '../../deploy/local/stack-ports.ts';
import { readProgram, readSuperuserUrl } from '../../deploy/postrider/config.ts';
import { serviceNames } from '../../deploy/postrider/parts.ts';
import { readConfig as readGateway } from '../../gateway/config.ts';
import { readConfig as readRelay } from '../../gateway/relay/config.ts';
import { readConfig as readInbound } from '../../gateway/returned-mail/config.ts';

/**
 * The variables that each process reads, with their texts: each `config.ts` is run with no variable
 * set.
 */

export const root = resolve(import.meta.dirname, '../..');

export type VariableReader = {
  /** A service, `gateway`, `inbound`, `relay` or `migrate`. */
  name: string;
  read(variables: Variables): unknown;
};

type ServiceReader = { readConfig(variables: Variables, role: Role): unknown };

/** A worker reads what its service does, but for the port and certificate. */
export async function readers(): Promise<VariableReader[]> {
  const ofServices = serviceNames.map(async (name) => {
    const file = join(root, 'services', name, 'config.ts');
    const { readConfig }: ServiceReader = await import(file);
    return { name, read: inProgram((variables) => readConfig(variables, 'serve')) };
  });
  return [
    { name: 'gateway', read: inProgram((variables) => readGateway(variables, serviceNames)) },
    { name: 'inbound', read: inProgram(readInbound) },
    { name: 'relay', read: inProgram(readRelay) },
    ...(await Promise.all(ofServices)),
    { name: 'migrate', read: readSuperuserUrl },
  ];
}

const inProgram =
  (read: VariableReader['read']): VariableReader['read'] =>
  (variables) => {
    readProgram(variables);
    read(variables);
  };

/** The variables of `npm start` and `npm run demo`. */
export function readLocal(variables: Variables): void {
  readStack(variables, root);
  readCacheFolder(variables);
  readMailsMax(variables);
}

/** Ends of names that each service has one of. */
const ofServices = ['ADDR', 'PORT', 'DATABASE_URL'];

/** Each once; the names that differ by a service alone as one, with `<NAME>`. */
export function describedBy(
  read: VariableReader['read'],
  ends: readonly string[] = ofServices,
): DescribedVariable[] {
  const services = serviceNames.map((name) => name.toUpperCase()).join('|');
  const form = new RegExp(`^(?:${services})_(${ends.join('|')})$`);
  const found = new Map<string, DescribedVariable>();
  for (const each of describeVariables(read)) {
    const variable = { ...each, name: each.name.replace(form, '<NAME>_$1') };
    // Of several services some may be left out.
    if (!found.has(textOf(variable)) || isRequired(variable)) found.set(textOf(variable), variable);
  }
  return [...found.values()];
}

const textOf = ({ name, about }: DescribedVariable) => `${name} ${about}`;

export type VariableGroup = { readBy: string; variables: DescribedVariable[] };

/** By the processes that read them, first those that all read; in each, required ones first. */
export async function groups(): Promise<VariableGroup[]> {
  const read = (await readers()).flatMap(({ name, read }) =>
    describedBy(read).map((variable) => ({ reader: name, variable })),
  );
  const rows = [...Map.groupBy(read, ({ variable }) => textOf(variable)).values()].map((same) => ({
    readers: same.map(({ reader }) => reader),
    variables: same.map(({ variable }) => variable),
  }));
  const byReaders = Map.groupBy(rows, ({ readers }) => readers.join());
  return [...byReaders.values()]
    .toSorted(([left], [right]) => (right?.readers.length ?? 0) - (left?.readers.length ?? 0))
    .map((group) => ({
      readBy: headingOf(group[0]?.readers ?? []),
      variables: group
        .flatMap(({ variables }) => mostDemanding(variables))
        .toSorted((left, right) => Number(isRequired(right)) - Number(isRequired(left))),
    }));
}

const isRequired = ({ fallback }: DescribedVariable) => fallback === required;

/** Some of its readers may do without it. */
const mostDemanding = (variables: readonly DescribedVariable[]) =>
  variables.find(isRequired) ?? variables[0] ?? [];

function headingOf(readers: readonly string[]): string {
  if (readers.length === serviceNames.length + 1) return 'Every process';
  if (readers.length === serviceNames.length) return 'Every service and its worker';
  if (readers.join() === 'migrate') return 'Migrations';
  const isWithWorkers = readers.every((name) =>
    servicesWithWorkflows.some((each) => each === name),
  );
  const names = new Intl.ListFormat('en-GB').format(readers);
  const workers = readers.length > 1 ? ', and their workers' : ' and its worker';
  return `${names.charAt(0).toUpperCase()}${names.slice(1)}${isWithWorkers ? workers : ''}`;
}
