import { Code, ConnectError, createClient, type Transport } from '@connectrpc/connect';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { RetryInfoSchema } from '#gen/google/rpc/error_details_pb.ts';
import { AudienceService } from '#gen/postrider/contacts/v1/audience_pb.ts';
import { WorkspaceService } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import {
  closeAll,
  givenWait,
  request,
  seen,
  servers,
  transports,
} from '../test/obedient-service.ts';
import { messageMaxBytes } from './wire.ts';

afterAll(closeAll);

const kinds = ['lean', 'stock'] as const;
const pairs = kinds.flatMap((client) => kinds.map((server) => [client, server] as const));

describe.each(pairs)('%s transport, %s server:', (transportName, serverName) => {
  let transport: Transport;
  let wish: (listId: string, given?: object) => Promise<unknown>;
  beforeAll(async () => {
    transport = transports[transportName](await servers[serverName]());
    const client = createClient(AudienceService, transport);
    wish = (listId, given) => client.listAudience(request(listId), given);
  });

  test('a call is answered', async () => {
    expect(await wish('one')).toMatchObject({ emails: ['one'] });
  });

  test('metadata goes both ways', async () => {
    const told: (string | null)[] = [];
    await wish('metadata', {
      headers: { 'x-asked': 'how' },
      onHeader: (header: Headers) => told.push(header.get('x-told')),
      onTrailer: (trailer: Headers) => told.push(trailer.get('x-after')),
    });
    expect(told).toEqual(['how', 'all']);
  });

  const codes = Object.values(Code).filter((code) => typeof code === 'number');
  const said = codes.filter((code) => code !== Code.Internal && code !== Code.Canceled);
  test.each(said)('code %i has its text, details and metadata', async (code) => {
    const error = ConnectError.from(await wish(`fail:${code}`).catch((reason) => reason));
    expect(error).toMatchObject({ code, rawMessage: `it is ${code} – naïve` });
    expect(error.findDetails(RetryInfoSchema)[0]?.retryDelay?.seconds).toBe(7n);
    expect(error.metadata.get('x-why')).toBe('because');
  });

  test('an internal error keeps only its code', async () => {
    const error = ConnectError.from(await wish(`fail:${Code.Internal}`).catch((reason) => reason));
    expect(error).toMatchObject({ code: Code.Internal, rawMessage: 'internal error' });
    expect(error.findDetails(RetryInfoSchema)).toEqual([]);
  });

  test('a call past its deadline is DeadlineExceeded, and ends at the server', async () => {
    const { name, ended } = givenWait();
    const late = wish(name, { timeoutMs: 100 });
    await expect(late).rejects.toMatchObject({ code: Code.DeadlineExceeded });
    await ended;
  });

  test('a call that is cancelled before it begins is Canceled and never made', async () => {
    const left = wish('never', { signal: AbortSignal.abort() });
    await expect(left).rejects.toMatchObject({ code: Code.Canceled });
    await wish('after');
    expect(seen).not.toContain('never');
  });

  test('a call that is cancelled while it runs is Canceled, and ends at the server', async () => {
    const { name, begun, ended } = givenWait();
    const leave = new AbortController();
    const left = expect(wish(name, { signal: leave.signal })).rejects.toMatchObject({
      code: Code.Canceled,
    });
    await begun;
    leave.abort();
    await left;
    await ended;
  });

  test('a message that is too large is ResourceExhausted either way, and the next call works', async () => {
    const exhausted = { code: Code.ResourceExhausted };
    for (const sizeBytes of [messageMaxBytes, 60_000_000]) {
      await expect(wish('x'.repeat(sizeBytes))).rejects.toMatchObject(exhausted);
    }
    await expect(wish('huge')).rejects.toMatchObject(exhausted);
    expect(await wish('next')).toMatchObject({ emails: ['next'] });
  });

  test('a message of some megabytes arrives complete', async () => {
    const large = 'x'.repeat(5_000_000);
    expect(await wish(large)).toEqual(expect.objectContaining({ emails: [large] }));
  });

  test('an unknown method is Unimplemented', async () => {
    const asked = createClient(WorkspaceService, transport).getWorkspace({ id: 'w1' });
    await expect(asked).rejects.toMatchObject({ code: Code.Unimplemented });
  });

  test('many calls at once are all answered', async () => {
    // A busy machine takes longer than calls may by default.
    const calls = Array.from({ length: 1_200 }, (_, number) =>
      wish(`many ${number}`, { timeoutMs: 50_000 }),
    );
    expect(await Promise.all(calls)).toHaveLength(1_200);
  });
});
