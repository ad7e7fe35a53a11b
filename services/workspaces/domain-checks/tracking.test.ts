import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { DomainRecordState } from '#gen/postrider/workspaces/v1/domains_pb.ts';
import { installationMark, markPath } from '#lib/installation-mark.ts';
import type { Claims } from '#lib/keys/keyring.ts';
import { certificate, trackingCertificate } from '../../../test/certificate.ts';
import { givenRoot } from '../test/given.ts';
import { publish, recordOf, useServiceWithDns, wordOf } from '../test/given-domain.ts';
import { givenWorkspace } from '../test/given-key.ts';

const given = useServiceWithDns();
const name = 'tracking.example';
const host = `links.${name}`;
const trusted = getCACertificates('default');
let root: Claims;
let workspaceId: string;
let server: Server | undefined;
beforeAll(async () => {
  setDefaultCACertificates([...trusted, trackingCertificate.cert]);
  root = await givenRoot(given);
});
afterAll(() => setDefaultCACertificates(trusted));
beforeEach(async () => {
  given.zones[0]?.clear();
  workspaceId = await givenWorkspace(given, root);
});
afterEach(async () => {
  server?.closeAllConnections();
  server?.close();
  server = undefined;
});

/** A server at the host, at the port of the gateway's own address. */
async function serve(answer: RequestListener, pair = trackingCertificate): Promise<void> {
  const own = createServer(pair, answer).listen(0, '127.0.0.1');
  server = own;
  await once(own, 'listening');
  const publicUrl = `https://gateway.example:${(own.address() as AddressInfo).port}`;
  given.context.installation = { ...given.context.installation, publicUrl };
}

const asOurs: RequestListener = ({ url }, response) => {
  const { publicUrl } = given.context.installation;
  response.end(url === markPath ? installationMark(publicUrl) : '');
};

/** Adds the domain, and looks at the record of its tracking host. */
async function look(zone: object = { cname: 'gateway.example' }, trackingHost = host) {
  const domains = given.domains(root);
  const request = { workspaceId, name, trackingHost };
  const { domain } = await domains.createDomain(request);
  publish(given, [recordOf(domain, 'OWNERSHIP')]);
  given.zones[0]?.set(trackingHost, zone);
  given.zones[0]?.set('gateway.example', { a: ['127.0.0.1'] });
  given.zones[0]?.set('cdn.example', { a: ['127.0.0.1'] });
  const verified = await domains.verifyDomain({ workspaceId, name });
  const record = recordOf(verified.domain, 'TRACKING');
  const { domains: sent } = await given.directory.listSendingDomains({ workspaceId });
  await domains.deleteDomain({ workspaceId, name });
  return {
    ...{ state: wordOf(DomainRecordState, record.state), value: record.value },
    ...{ found: record.found, explanation: record.explanation },
    used: sent[0]?.trackingHost,
  };
}

test('a tracking host is ok where it leads to the installation, which answers by HTTPS', async () => {
  await serve(asOurs);
  expect(await look()).toMatchObject({
    ...{ state: 'OK', value: 'gateway.example', found: ['gateway.example'], used: host },
  });
});

test('a tracking host behind another network is ok where the installation answers', async () => {
  await serve(asOurs);
  const found = await look({ cname: 'cdn.example' });
  expect(found).toMatchObject({ state: 'OK', found: ['cdn.example'], used: host });
});

test('a tracking host that a parking page answers for is wrong', async () => {
  await serve((_, response) => response.end('<h1>Buy this domain</h1>'));
  expect(await look()).toMatchObject({
    ...{ state: 'WRONG', used: '' },
    explanation: expect.stringMatching(/not as this installation/),
  });
});

test('a tracking host that sends elsewhere is wrong', async () => {
  await serve((_, response) => response.writeHead(302, { location: '/' }).end());
  expect(await look()).toMatchObject({ state: 'WRONG' });
});

test('a tracking host of another installation is wrong', async () => {
  await serve((_, response) => response.end(installationMark('https://other.example')));
  expect(await look()).toMatchObject({ state: 'WRONG' });
});

test('a tracking host without a certificate of its own is wrong', async () => {
  await serve(asOurs, certificate);
  expect(await look()).toMatchObject({
    ...{ state: 'WRONG', explanation: expect.stringMatching(/no valid certificate/) },
  });
});

test('a tracking host that leads elsewhere is wrong', async () => {
  await serve((_, response) => response.end());
  const found = await look({ cname: 'cdn.example' });
  expect(found).toMatchObject({ state: 'WRONG', found: ['cdn.example'] });
});

test('a tracking host without records is missing', async () => {
  await serve(asOurs);
  expect(await look({}, `none.${name}`)).toMatchObject({ state: 'MISSING', found: [] });
});

test('a tracking host that takes no connection, or gives no answer, is unreachable', async () => {
  await serve(() => {});
  expect(await look()).toMatchObject({ state: 'UNREACHABLE' });
  server?.closeAllConnections();
  server?.close();
  expect(await look()).toMatchObject({
    ...{ state: 'UNREACHABLE', explanation: expect.stringMatching(/nor the host itself/) },
  });
});

test('a tracking host that leads to a private address is not called', async () => {
  let calls = 0;
  await serve((_, response) => {
    calls += 1;
    response.end();
  });
  expect(await look({ a: ['10.0.0.1'] }, `private.${name}`)).toMatchObject({ state: 'WRONG' });
  expect(calls).toBe(0);
});
