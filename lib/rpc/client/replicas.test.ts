import { setImmediate as turn } from 'node:timers/promises';
import type { Transport } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import { followReplicas } from './replicas.ts';

const named = new Map<Transport, string>();
function connect(address: string, ip = ''): Transport {
  const transport = {} as Transport;
  named.set(transport, `${address} ${ip}`.trim());
  return transport;
}
const namesOf = (transports: readonly Transport[]) => transports.map((each) => named.get(each));

function given(...answers: (readonly string[])[]) {
  const hosts: string[] = [];
  const replicas = followReplicas(['contacts.mail.svc:4411'], connect, {
    everyMs: -1,
    async resolve(host) {
      hosts.push(host);
      const answer = answers.shift();
      if (!answer) throw new Error('no answer');
      return answer;
    },
  });
  return { hosts, replicas };
}

test('the addresses behind a name are followed as they come and go', async () => {
  const { hosts, replicas } = given(['10.0.0.1', '10.0.0.2'], ['10.0.0.2', '10.0.0.3']);
  expect(namesOf(replicas())).toEqual(['contacts.mail.svc:4411']);
  await turn();
  const second = replicas();
  expect(namesOf(second)).toEqual([
    'contacts.mail.svc:4411 10.0.0.1',
    'contacts.mail.svc:4411 10.0.0.2',
  ]);
  await turn();
  const third = replicas();
  expect(namesOf(third)).toEqual([
    'contacts.mail.svc:4411 10.0.0.2',
    'contacts.mail.svc:4411 10.0.0.3',
  ]);
  // A replica that stays keeps its connection.
  expect(third[0]).toBe(second[1]);
  expect(hosts[0]).toBe('contacts.mail.svc');
});

test('without an answer the addresses of before stay', async () => {
  const { replicas } = given(['10.0.0.1'], []);
  for (let round = 0; round < 4; round += 1) {
    replicas();
    await turn();
  }
  expect(namesOf(replicas())).toEqual(['contacts.mail.svc:4411 10.0.0.1']);
});

test('an address is not looked up', () => {
  const resolve = () => Promise.reject(new Error('looked up'));
  const replicas = followReplicas(['127.0.0.1:1', '[::1]:2'], connect, { resolve });
  expect(namesOf(replicas())).toEqual(['127.0.0.1:1', '[::1]:2']);
});
