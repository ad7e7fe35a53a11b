import { section, type Topic } from './parts.ts';

const contact = {
  email: 'cy@example.com',
  first_name: 'Cy',
  language: 'fr',
  country: 'FR',
  timezone: 'Europe/Paris',
};

export const billing: Topic[] = [
  {
    name: 'invoice',
    subject: 'Invoice {{ invoice.number }} ({{ invoice.total }} {{ invoice.currency }})',
    body:
      '{% assign sum = 0 %}' +
      section(
        '<mj-table cellpadding="4">{% for line in invoice.lines %}{% assign cost = line.units | times: line.rate %}{% assign sum = sum | plus: cost %}<tr><td>{{ line.what }}</td><td align="right">{{ line.units }} × {{ line.rate }}</td><td align="right">{{ cost | round: 2 }}</td></tr>{% endfor %}<tr><td colspan="2">Sum</td><td align="right">{{ sum | round: 2 }}</td></tr></mj-table><mj-text>Due {{ invoice.due | date: "%d %B %Y" }}{% if invoice.vat_id %}, VAT {{ invoice.vat_id }}{% endif %}</mj-text><mj-button href="{{ invoice.url }}">Pay</mj-button>',
      ),
    data: {
      contact,
      invoice: {
        number: 'F-2026/17',
        total: '1 240,00',
        currency: 'EUR',
        due: '2026-12-10',
        vat_id: 'FR 12 345',
        url: 'https://pay.example/i/17?k=a&l=b',
        lines: [
          { what: 'Hosting & mail', units: 3, rate: 99.5 },
          { what: 'Support', units: 10, rate: 94.15 },
        ],
      },
    },
  },
  {
    name: 'receipt-of-payment',
    subject: 'Receipt for {{ payment.amount }}',
    body: section(
      '<mj-table>{% tablerow row in payment.rows cols: 2 %}<b>{{ row.name }}</b> {{ row.value }}{% endtablerow %}</mj-table>',
    ),
    data: {
      contact,
      payment: {
        amount: '€ 99',
        rows: [
          { name: 'Plan', value: 'Team & more' },
          { name: 'Card', value: '•••• 4242' },
          { name: 'For', value: 'Nov 2026' },
        ],
      },
    },
  },
  {
    name: 'dunning-first',
    subject: 'Your payment failed',
    body: section(
      '<mj-text>We could not charge {{ card.brand }} {{ card.last4 | prepend: "•••• " }}. {% if attempt < 3 %}We try again in {{ 3 | minus: attempt }} days.{% else %}This was the last attempt.{% endif %}</mj-text><mj-button href="https://pay.example/card?c={{ contact.external_id | url_encode }}" background-color="{% if attempt < 3 %}#f59e0b{% else %}#b91c1c{% endif %}">Update the card</mj-button>',
    ),
    data: {
      contact: { ...contact, external_id: 'x&y' },
      attempt: 1,
      card: { brand: 'Visa', last4: '4242' },
    },
  },
  {
    name: 'dunning-last',
    subject:
      '{% if days_left == 0 %}Today{% else %}{{ days_left }} days{% endif %} until we pause {{ account.name }}',
    body:
      '{% if days_left <= 1 %}' +
      section(
        '<mj-text color="#b91c1c" font-weight="bold">Last day</mj-text>',
        'background-color="#fee2e2"',
      ) +
      '{% endif %}' +
      section('<mj-text>Owed: {{ account.owed | join: ", " }}</mj-text>'),
    data: { contact, days_left: 0, account: { name: 'Acme', owed: ['€ 10', '£ 8', '<3 $'] } },
  },
  {
    name: 'trial-ends',
    subject: 'Your trial ends {{ trial.ends | date: "%e %B" }}',
    body: section(
      '<mj-text>{% increment step %}. Choose a plan<br/>{% increment step %}. Pay<br/>{% increment step %}. Go on</mj-text>{% for plan in plans %}<mj-text><b>{{ plan.name }}</b>: {{ plan.price | default: "free" }}</mj-text>{% endfor %}',
    ),
    data: {
      contact,
      trial: { ends: '2026-12-01' },
      plans: [
        { name: 'Solo', price: null },
        { name: 'Team & Co', price: 99 },
      ],
    },
  },
  {
    name: 'plan-changed',
    subject: '{{ plan.old }} → {{ plan.new }}',
    body:
      '<mj-section><mj-column width="50%"><mj-text><s>{{ plan.old }}</s></mj-text></mj-column><mj-column width="50%"><mj-text>{{ plan.new }}</mj-text></mj-column></mj-section>' +
      '{% unless plan.features == empty %}' +
      section(
        '<mj-text><ul>{% for feature in plan.features %}<li>{{ feature }}</li>{% endfor %}</ul></mj-text>',
      ) +
      '{% endunless %}',
    data: { contact, plan: { old: 'Solo', new: 'Team', features: ['Ten people', 'SSO & audit'] } },
  },
  {
    name: 'usage-report',
    subject: 'Usage in {{ usage.month }}',
    body: section(
      '<mj-table>{% for part in usage.parts %}<tr><td width="30%">{{ part.name }}</td><td><div style="width:{{ part.percent | at_most: 100 }}%;background:{% if part.percent > 90 %}#b91c1c{% elsif part.percent > 70 %}#f59e0b{% else %}#0f766e{% endif %}">&nbsp;</div></td><td>{{ part.percent }} %</td></tr>{% endfor %}</mj-table>',
    ),
    data: {
      contact,
      usage: {
        month: 'November',
        parts: [
          { name: 'Mails', percent: 64 },
          { name: 'Seats', percent: 80 },
          { name: 'Storage', percent: 140 },
        ],
      },
    },
  },
  {
    name: 'card-expires',
    subject: 'Your card expires {{ card.month }}/{{ card.year }}',
    body: section(
      '<mj-text>{{ card.month | prepend: "0" | slice: -2, 2 }}/{{ card.year | modulo: 100 }}</mj-text>',
    ),
    data: { contact, card: { month: 3, year: 2027 } },
  },
  {
    name: 'donation-receipt',
    subject: 'Merci, {{ contact.first_name }}',
    body: section(
      '<mj-text>{{ gift.amount }} € for {{ gift.cause | escape_once }}. {% if gift.is_monthly %}Every month.{% endif %}</mj-text><mj-text font-size="11px">{{ gift.legal | raw }}</mj-text>',
    ),
    data: {
      contact,
      gift: {
        amount: 50,
        cause: 'Trees &amp; birds',
        is_monthly: true,
        legal: 'Deductible under <a href="https://law.example/200?a=1">art. 200</a>.<br>Keep this.',
      },
    },
  },
  {
    name: 'quote',
    subject: 'Quote {{ quote.id }} for {{ quote.company }}',
    body:
      '{% capture rows %}{% for line in quote.lines %}<tr><td>{{ line.what }}</td><td>{{ line.price }}</td></tr>{% endfor %}{% endcapture %}' +
      section('<mj-table>{{ rows | raw }}</mj-table><mj-text>{{ quote.terms }}</mj-text>'),
    data: {
      contact,
      quote: {
        id: 'Q7',
        company: 'Söhne & Co <Berlin>',
        terms: 'Net 30, "as is"',
        lines: [
          { what: 'Paint & brush', price: 12 },
          { what: 'Work', price: 340.5 },
        ],
      },
    },
  },
];
