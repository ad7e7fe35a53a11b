import { expect, test } from '@jest/globals';
import { variables } from '#lib/liquid/variables.ts';
import { scopeOf } from './compose.ts';

const rootOf = (name: string) => name.split('.')[0];
const documented = new Set(variables.map(({ name }) => rootOf(name)));

test('every value that a mail is rendered with is documented', () => {
  const scope = scopeOf({
    from: { email: 'a@b.example', name: '' },
    replyTo: '',
    feedbackId: [],
    utm: {},
    values: {},
  })({
    messageId: 'm',
    email: 'a@b.example',
    contact: {},
    urls: { unsubscribe: '', preferences: '', confirm: '', webVersion: '' },
    trackingToken: '',
  });
  expect(Object.keys(scope).filter((name) => !documented.has(name))).toEqual([]);
});
