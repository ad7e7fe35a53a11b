import { parseArgs } from 'node:util';
import { readEnv } from '#lib/config.ts';
import type { Env } from '#lib/env.ts';
import {
  databaseVariable,
  readDatabaseUrl,
  readGivenUrls,
  readSharedUrl,
} from '#lib/postgres/config.ts';
import type { Store } from '#lib/postgres/store.ts';
import { readSuperuserUrl, superuserVariable } from './config.ts';
import { isService, type ServiceName, serviceNames } from './parts.ts';
import { provision, provisionShared } from './provision.ts';

type OpenStore = (url: string) => Promise<Store>;

const stores: Record<ServiceName, () => Promise<OpenStore>> = {
  workspaces: async () => (await import('../../services/workspaces/store.ts')).openWorkspacesStore,
  contacts: async () => (await import('../../services/contacts/store.ts')).openContactsStore,
  templates: async () => (await import('../../services/templates/store.ts')).openTemplatesStore,
  broadcasts: async () => (await import('../../services/broadcasts/store.ts')).openBroadcastsStore,
  messages: async () => (await import('../../services/messages/store.ts')).openMessagesStore,
  webhooks: async () => (await import('../../services/webhooks/store.ts')).openWebhooksStore,
};

export async function openServiceStore(service: ServiceName, url: string): Promise<Store> {
  return (await stores[service]())(url);
}

/**
 * Brings the schemas of all services up to date, or those of the services that are named. It reads
 * database URLs alone. `--provision` first makes databases, roles and schemas, as the superuser of
 * `SUPERUSER_DATABASE_URL`.
 */
export async function migrate(args: string[], env: Env): Promise<void> {
  const { values, positionals } = parseArgs({
    args,
    options: { provision: { type: 'boolean', default: false } },
    allowPositionals: true,
  });
  const names = positionals.length > 0 ? positionals.filter(isService) : serviceNames;
  const stray = positionals.filter((name) => !isService(name));
  if (stray.length > 0) throw new Error(`no service is called ${stray.join(', ')}`);
  const urls = readEnv(env, (variables) =>
    names.map((name) => ({ name, url: readDatabaseUrl(variables, name) })),
  );
  if (values.provision) await provisionAll(names, env);
  for (const { name, url } of urls) await migrateOne(name, url);
}

async function migrateOne(name: ServiceName, url: string): Promise<void> {
  const store = await openServiceStore(name, url);
  try {
    const pending = await store.pendingMigrations();
    await store.migrate();
    const done = pending.length === 0 ? 'nothing to do' : pending.join(', ');
    process.stdout.write(`${name}: ${done}\n`);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`${name}: ${reason}`, { cause: error });
  } finally {
    await store.close();
  }
}

/** Services that share a database by URLs of their own are provisioned together. */
async function provisionAll(names: readonly ServiceName[], env: Env): Promise<void> {
  const superuser = readEnv(env, readSuperuserUrl);
  const { shared, own } = readEnv(env, (variables) => ({
    shared: readSharedUrl(variables),
    own: names.flatMap((name) => {
      const text = readGivenUrls(variables, name).own;
      return text === '' ? [] : [{ name, url: new URL(text) }];
    }),
  }));
  if (own.length < names.length) await provisionShared(superuser, shared, superuserVariable);
  for (const { name, url } of own) {
    if (decodeURIComponent(url.username) !== name)
      throw new Error(
        `${databaseVariable(name)}: --provision makes roles with the names of services`,
      );
  }
  for (const [database, group] of Map.groupBy(own, ({ url }) => url.pathname)) {
    const target = new URL(superuser);
    target.pathname = database;
    const passwords = group.map(({ name, url }) => [name, decodeURIComponent(url.password)]);
    await provision(target.href, Object.fromEntries(passwords), {
      services: group.map(({ name }) => name),
      variable: superuserVariable,
    });
  }
}
