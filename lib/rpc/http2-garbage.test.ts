import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';
import { once } from 'node:events';
import { connect, createServer } from 'node:http2';
import { expect, test } from '@jest/globals';
import { PassingMap } from '#lib/collections/passing-map.ts';
import { listen } from '../test/obedient-service.ts';
import { forgetStreams, lightenBind, stateOf } from './http2-garbage.ts';

lightenBind();

test('sessions of this Node keep their streams in tables that let them go, and calls work', async () => {
  const server = createServer().on('stream', (stream) => stream.respond());
  server.on('session', forgetStreams);
  const opened = once(server, 'session');
  const session = connect(`http://127.0.0.1:${await listen(server)}`);
  forgetStreams(session);
  const [there] = await opened;
  const stream = session.request({ ':path': '/' });
  await once(stream, 'response');
  for (const end of [session, there]) {
    expect(stateOf(end)).toMatchObject({
      streams: expect.any(PassingMap),
      pendingStreams: { size: 0 },
    });
    expect(stateOf(end)).toHaveProperty('streams.size', 1);
  }
  const closed = once(stream, 'close');
  session.destroy();
  await closed;
  expect(stream.destroyed).toBe(true);
  server.close();
});

test('a session that Node keeps in another way stays as it is', () => {
  const session = { [Symbol('state')]: { streams: [] } };
  forgetStreams(session as never);
  expect(stateOf(session as never)).toEqual({ streams: [] });
});

test('a bound function runs in the context of its resource, with its own this or the one that it was given', () => {
  const storage = new AsyncLocalStorage<string>();
  const resource = storage.run('outer', () => new AsyncResource('test'));
  function seen(this: unknown, ...args: number[]) {
    return [this, storage.getStore(), ...args];
  }
  const bound = Reflect.apply(resource.bind, resource, [seen, 'given']);
  const free = resource.bind(seen);
  expect(storage.run('inner', () => bound(1, 2))).toEqual(['given', 'outer', 1, 2]);
  expect(storage.run('inner', () => Reflect.apply(free, 'own', [3]))).toEqual(['own', 'outer', 3]);
  expect(Object.keys(Object.getOwnPropertyDescriptors(free))).not.toContain('asyncResource');
});
