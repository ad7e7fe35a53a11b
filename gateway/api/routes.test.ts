import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { getOption, hasOption } from '@bufbuild/protobuf';
import { expect, test } from '@jest/globals';
import { http } from '#gen/google/api/annotations_pb.ts';
import { contracts } from './contracts.ts';
import { routesOf, servicesOf } from './routes.ts';

const routes = routesOf(contracts);

test('every contract with a path is listed', () => {
  const cwd = resolve(import.meta.dirname, '../../proto');
  const files = globSync('postrider/*/v1/*.proto', { cwd }).filter((file) =>
    readFileSync(join(cwd, file), 'utf8').includes('(google.api.http)'),
  );
  expect(files.length).toBeGreaterThan(0);
  expect(contracts.map(({ name }) => `${name}.proto`).sort()).toEqual(files.sort());
});

test('every RPC with a path has a route, and no other has', () => {
  const methods = contracts.flatMap(({ services }) =>
    services.flatMap((service) => service.methods),
  );
  const paths = methods
    .filter((method) => hasOption(method, http))
    .map((method) => getOption(method, http).pattern.value);
  expect([...routes.keys()].sort()).toEqual(paths.sort());
  expect(paths).toContain('/api/contacts.import');
});

test('a route has the options of the contract', () => {
  expect(routes.get('/api/contacts.import')).toMatchObject([
    {
      verb: 'POST',
      name: 'postrider.contacts.v1.ContactService.ImportContacts',
      service: 'contacts',
      isPublic: false,
      successStatus: 200,
      bodyLimitBytes: 16 * 1024 * 1024,
      failureText: 'Failed to import contacts',
    },
  ]);
  expect(routes.get('/api/user.rootSignin')).toMatchObject([
    { isPublic: true, service: 'workspaces', bodyLimitBytes: 64 * 1024 },
  ]);
  expect(routes.get('/api/lists.create')).toMatchObject([{ successStatus: 201 }]);
});

test('the services are derived from the packages', () => {
  expect([...servicesOf(routes)].sort()).toEqual([
    'broadcasts',
    'contacts',
    'messages',
    'templates',
    'webhooks',
    'workspaces',
  ]);
});
