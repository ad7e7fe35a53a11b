import type { Tenant } from './broadcast.ts';

/**
 * About 10 KB as sent: a table of the order, five links, values of the order and of the contact.
 */
const receipt = `<mjml>
  <mj-head><mj-preview>Your order {{ order }} is on its way</mj-preview></mj-head>
  <mj-body background-color="#f4f4f4">
    <mj-section background-color="#ffffff"><mj-column>
      <mj-text font-size="24px">Thank you, {{ contact.first_name | default: "friend" }}</mj-text>
      <mj-text>Your order {{ order }} of {{ total }} EUR has left our house. We write again when the rider
        has handed it over; until then you can follow it step by step.</mj-text>
      <mj-table>
        <tr><th align="left">Article</th><th align="right">Price</th></tr>
        <tr><td>{{ lines[0].name }}</td><td align="right">{{ lines[0].price }} EUR</td></tr>
        {% if lines[1] %}<tr><td>{{ lines[1].name }}</td><td align="right">{{ lines[1].price }} EUR</td></tr>{% endif %}
      </mj-table>
      <mj-button href="https://shop.example/orders/follow">Follow your order</mj-button>
    </mj-column></mj-section>
    ${['Returns', 'Invoice', 'Help']
      .map(
        (title) => `<mj-section background-color="#ffffff"><mj-column>
      <mj-text font-size="18px">${title}</mj-text>
      <mj-text>Whatever it is about, a person answers within a working day; tell them the number of the order and
        what you need. <a href="https://shop.example/help/${title.toLowerCase()}">Read more</a></mj-text>
    </mj-column></mj-section>`,
      )
      .join('')}
    <mj-section><mj-column><mj-text font-size="12px">Sent to {{ contact.email }} by
      <a href="https://shop.example">the shop</a>.</mj-text></mj-column></mj-section>
  </mj-body>
</mjml>`;

/** The notification `receipt` of 10 KB. */
export async function givenReceipt({ api, workspaceId }: Tenant): Promise<void> {
  const key = { workspace_id: workspaceId };
  await api('templates.create', {
    body: {
      ...key,
      id: 'receipt',
      name: 'Receipt',
      channel: 'email',
      category: 'transactional',
      email: { editor_mode: 'code', mjml_source: receipt, subject: 'Your order {{ order }}' },
    },
  });
  const channels = { email: { template_id: 'receipt' } };
  await api('transactional.create', {
    body: { ...key, notification: { id: 'receipt', name: 'Receipt', channels } },
  });
}

/** A receipt for a contact; `order` is new in each call. */
export function orderReceipt(email: string, order: string): object {
  return {
    id: 'receipt',
    contact: { email, first_name: 'Ann', last_name: 'Lee' },
    channels: ['email'],
    external_id: order,
    data: { order, total: '10.40', lines: [{ name: 'Saddle', price: '10' }] },
  };
}
