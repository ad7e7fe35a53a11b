// With Node 24 or newer: node quickstart.ts
const { BASE_URL, TOKEN, WORKSPACE_ID: workspace_id } = process.env;

async function post(operation: string, body: object) {
  const answer = await fetch(`${BASE_URL}/api/${operation}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify({ workspace_id, ...body }),
  });
  if (!answer.ok) throw new Error(`${operation}: ${await answer.text()}`);
  return answer.json();
}

// 1. A list
await post('lists.create', { id: 'readersTs', name: 'Readers' });

// 2. Somebody on it
await post('lists.subscribe', {
  list_ids: ['readersTs'],
  contact: { email: 'ada@example.com', first_name: 'Ada' },
});

// 3. What to write: MJML with Liquid
const mjml_source = `<mjml><mj-body><mj-section><mj-column>
  <mj-text>Welcome. <a href="{{ unsubscribe_url }}">Unsubscribe</a></mj-text>
</mj-column></mj-section></mj-body></mjml>`;
await post('templates.create', {
  id: 'letter-ts',
  name: 'Letter',
  channel: 'email',
  category: 'marketing',
  email: { editor_mode: 'code', subject: 'Hello {{ contact.first_name }}', mjml_source },
});

// 4. Who gets it
const { broadcast } = (await post('broadcasts.create', {
  name: 'First letter',
  audience: { list: 'readersTs' },
  test_settings: { variations: [{ template_id: 'letter-ts', variation_name: 'A' }] },
})) as { broadcast: { id: string } };

// 5. Send it
await post('broadcasts.schedule', { id: broadcast.id, send_now: true });
