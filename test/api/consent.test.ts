import { createHmac } from 'node:crypto';
import { beforeAll, expect, test } from '@jest/globals';
import { unique } from '../stack/given.ts';
import { ownerToken } from '../stack/owner.ts';
import { borrowedStack } from '../stack/shared.ts';

/** A subscriber's first steps over HTTP, as a site's own form and server take them. */

let token: string;
const listId = unique('consent').replace(/[^a-zA-Z0-9]/g, '');
const stack = borrowedStack();
beforeAll(async () => {
  token = await ownerToken(stack.settings);
  const list = { workspace_id: stack.workspaceId, id: listId, name: 'Consent' };
  await stack.call('lists.create', list, { token });
}, 60_000);

async function subscribe(contact: object, listIds: string[] = [listId]) {
  const answer = await fetch(`${stack.settings.BASE_URL}/subscribe`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ workspace_id: stack.workspaceId, contact, list_ids: listIds }),
  });
  return {
    status: answer.status,
    headers: answer.headers,
    body: (await answer.json()) as Record<string, unknown>,
  };
}

test('a private list opens for the right email_hmac only, and null is absent', async () => {
  const email = `${unique('person')}@example.com`;
  const { body } = await stack.call('workspaces.getEmailHmacKey', undefined, {
    token,
    query: { workspace_id: stack.workspaceId },
  });
  const hmac = createHmac('sha256', body.key).update(email).digest('hex');
  for (const email_hmac of ['', null, 'zz', hmac.toUpperCase()]) {
    const { status, body } = await subscribe({ email, email_hmac });
    expect({ status, error: body.error }).toEqual({ status: 400, error: 'list is not public' });
  }
  const proven = await subscribe({ email, email_hmac: hmac, first_name: null, last_name: 'Lee' });
  expect(proven).toMatchObject({ status: 200, body: { success: true } });
  const read = await stack.call('contacts.getByEmail', undefined, {
    token,
    query: { workspace_id: stack.workspaceId, email },
  });
  expect(read.body.contact).toMatchObject({
    email,
    first_name: null,
    last_name: 'Lee',
    contact_lists: [{ list_id: listId, list_name: 'Consent', status: 'active', deleted_at: null }],
    contact_segments: [],
  });
});

test('the eleventh request for an address within a minute is a 429 that says when to come back', async () => {
  const email = `${unique('flood')}@example.com`;
  const statuses: number[] = [];
  for (let count = 1; count <= 10; count += 1) statuses.push((await subscribe({ email })).status);
  expect(statuses).toEqual(Array(10).fill(400));
  const refused = await subscribe({ email });
  expect(refused.status).toBe(429);
  expect(refused.body.error).toBe(
    'Too many subscription attempts. Please try again in a few minutes.',
  );
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
});
