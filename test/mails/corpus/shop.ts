import { section, type Topic } from './parts.ts';

const contact = {
  email: 'ada@example.com',
  first_name: 'Ada',
  last_name: "O'Neil",
  address_line_1: '12 Mill Lane',
  postcode: 'TN24 8AB',
  country: 'GB',
  language: 'en',
  external_id: 'c-77',
};

const lines = [
  {
    title: 'Sencha, first flush',
    variant: '100 g',
    quantity: 2,
    price: 12.5,
    image: 'https://cdn.example/sencha.png',
    url: 'https://shop.example/sencha?ref=mail&pos=1',
  },
  {
    title: 'Pot “Ridge” & lid',
    variant: '',
    quantity: 1,
    price: 48,
    image: 'https://cdn.example/pot.png',
    url: 'https://shop.example/pot',
  },
];

export const shop: Topic[] = [
  {
    name: 'order-confirmation',
    subject: 'Order {{ order.number }} confirmed',
    preview: 'We have {{ order.lines | size }} items for you',
    body:
      section(
        '<mj-text font-size="20px">Thank you{% if contact.first_name %}, {{ contact.first_name }}{% endif %}!</mj-text><mj-text>Order <b>{{ order.number }}</b>, placed {{ order.placed_at | date: "%e %B %Y" }}</mj-text>',
      ) +
      section(
        '<mj-table><tr style="text-align:left"><th>Item</th><th>Price</th></tr>{% for line in order.lines %}<tr><td>{{ line.quantity }} × {{ line.title }}{% if line.variant != "" %} ({{ line.variant }}){% endif %}</td><td>{{ line.price | times: line.quantity | round: 2 }} €</td></tr>{% endfor %}<tr><td><b>Total</b></td><td><b>{{ order.total }} €</b></td></tr></mj-table><mj-button href="https://shop.example/orders/{{ order.number | url_encode }}">See the order</mj-button>',
      ),
    data: {
      contact,
      order: { number: 'K-1001', placed_at: '2026-11-22T09:05:00Z', lines, total: '73.00' },
    },
  },
  {
    name: 'order-confirmation-in-comments',
    subject:
      '{% if order.is_gift %}Your gift order{% else %}Your order{% endif %} {{ order.name }}',
    before:
      '{% assign has_discount = false %}{% for line in order.lines %}{% if line.discount %}{% assign has_discount = true %}{% endif %}{% endfor %}\n',
    body: section(
      '<mj-text><!-- {% if order.is_gift %} -->A gift note is in the box.<!-- {% else %} -->Your invoice is in the box.<!-- {% endif %} --></mj-text><mj-table><!-- {% for line in order.lines %} --><tr><td>{{ line.title }}</td><td><!-- {% if line.discount %} --><s>{{ line.price }}</s> {{ line.discount }}<!-- {% else %} -->{{ line.price }}<!-- {% endif %} --></td></tr><!-- {% endfor %} --></mj-table><mj-text>{% if has_discount %}You saved.{% endif %}</mj-text>',
    ),
    data: {
      contact,
      order: {
        name: '#1002',
        is_gift: true,
        lines: [
          { title: 'Assam', price: '9.90', discount: '7.90' },
          { title: 'Oil & wax', price: '5.00', discount: null },
        ],
      },
    },
  },
  {
    name: 'shipped',
    subject: 'On its way: {{ order.number }}',
    preview: '{{ shipment.carrier }} brings it on {{ shipment.due | date: "%A" }}',
    body:
      section(
        '<mj-text>{{ shipment.carrier }} has your parcel. {% if shipment.due %}Expected <b>{{ shipment.due | date: "%A, %e %B" }}</b>.{% endif %}</mj-text><mj-button href="{{ shipment.tracking_url }}">Track it</mj-button>',
      ) +
      section(
        '<mj-text>To:<br/>{{ contact.first_name }} {{ contact.last_name }}<br/>{{ shipment.address | newline_to_br }}</mj-text>',
      ),
    data: {
      contact,
      order: { number: 'K-1001' },
      shipment: {
        carrier: 'Parcel & Post',
        due: '2026-11-28',
        tracking_url: 'https://track.example/?n=PP123456789&lang=en',
        address: '12 Mill Lane\nAshford\nTN24 8AB',
      },
    },
  },
  {
    name: 'out-for-delivery',
    subject: 'Today: parcel {{ parcels.first.code }}',
    body:
      '{% for parcel in parcels %}' +
      section(
        '<mj-text>{{ forloop.index }} of {{ forloop.length }}: {{ parcel.code }}, {{ parcel.window }}</mj-text><mj-text><a href="geo:{{ parcel.lat }},{{ parcel.lon }}">On the map</a> or <a href="tel:{{ parcel.phone }}">call the driver</a></mj-text>',
      ) +
      '{% else %}' +
      section('<mj-text>Nothing is on its way.</mj-text>') +
      '{% endfor %}',
    data: {
      contact,
      parcels: [
        { code: 'PP1', window: '10–12', lat: 51.14, lon: 0.87, phone: '+441632960000' },
        { code: 'PP2', window: '14–16', lat: 51.15, lon: 0.88, phone: '+441632960001' },
      ],
    },
  },
  {
    name: 'delivered-with-photo',
    subject: 'Delivered{% if parcel.place %} – {{ parcel.place }}{% endif %}',
    body: section(
      '<mj-text>Your parcel was left {{ parcel.place | default: "at the door" }}.</mj-text><mj-image src="{{ parcel.photo }}" alt="{{ parcel.place }} at {{ parcel.at | date: "%H:%M" }}" width="{{ parcel.photo_width }}px" />',
    ),
    data: {
      contact,
      parcel: {
        place: 'with "Mr & Mrs" Bell',
        at: '2026-11-28T11:04:00Z',
        photo: 'https://cdn.example/p/1.jpg',
        photo_width: 320,
      },
    },
  },
  {
    name: 'refund',
    subject: 'Refund of {{ refund.amount }} {{ refund.currency }}',
    body: section(
      '<mj-text>{% if refund.is_full %}All{% elsif refund.lines.size == 1 %}One item{% else %}{{ refund.lines.size }} items{% endif %} of order {{ refund.order }} refunded to {{ refund.method | downcase }}.</mj-text><mj-table>{% tablerow line in refund.lines cols: 2 %}{{ line }}{% endtablerow %}</mj-table>',
    ),
    data: {
      contact,
      refund: {
        amount: '21.40',
        currency: 'EUR',
        is_full: false,
        order: 'K-1001',
        method: 'VISA •••• 4242',
        lines: ['Sencha', 'Cup & saucer', 'Spoon'],
      },
    },
  },
  {
    name: 'order-cancelled',
    subject: 'Order {{ order.number }} is cancelled',
    body: section(
      '<mj-text>{% capture reason %}{% case order.reason %}{% when "customer" %}as you asked{% when "stock" %}since we ran out of <i>{{ order.missing }}</i>{% else %}since something went wrong{% endcase %}{% endcapture %}We cancelled it {{ reason | raw }}.</mj-text>',
    ),
    data: { contact, order: { number: 'K-1003', reason: 'stock', missing: 'Oil & wax' } },
  },
  {
    name: 'abandoned-cart',
    subject: '{{ contact.first_name | default: "You" }}, your cart waits',
    body:
      '<mj-section>{% for line in cart.lines limit: 3 %}<mj-column><mj-image src="{{ line.image }}" alt="{{ line.title }}" href="{{ line.url }}" /><mj-text>{{ line.title | truncate: 24 }}</mj-text></mj-column>{% endfor %}</mj-section>' +
      section(
        '{% if cart.code %}<mj-text>Use <b>{{ cart.code }}</b> for {{ cart.percent }} % off.</mj-text>{% endif %}<mj-button href="{{ cart.url }}">Back to the cart</mj-button>',
      ),
    data: {
      contact,
      cart: { lines, code: 'TEA10', percent: 10, url: 'https://shop.example/cart/9?k=1&r=2' },
    },
  },
  {
    name: 'back-in-stock',
    subject: '{{ product.title }} is back',
    body: section(
      '<mj-text><picture><source srcset="{{ product.wide }} 2x, {{ product.image }} 1x"><img srcset="{{ product.image }} 1x, {{ product.wide }} 2x" src="{{ product.image }}" alt="{{ product.title }}"></picture></mj-text><mj-button background-color="{{ product.color }}" href="{{ product.url }}">Get it</mj-button>',
    ),
    data: {
      contact,
      product: {
        title: 'Pot “Ridge”',
        image: 'https://cdn.example/pot.png',
        wide: 'https://cdn.example/pot@2x.png',
        color: '#b4532a',
        url: 'https://shop.example/pot',
      },
    },
  },
  {
    name: 'price-drop',
    subject: '{{ product.title }}: {{ product.old | minus: product.new }} less',
    body: section(
      '<mj-text><span style="color:{{ product.color }};text-decoration:line-through">{{ product.old }}</span> <b style="font-size:{{ product.size }}px">{{ product.new }}</b></mj-text><mj-text>That is {{ product.old | minus: product.new | times: 100 | divided_by: product.old | round }} % less.</mj-text>',
    ),
    data: { contact, product: { title: 'Assam', old: 20, new: 15, color: '#6b7280', size: 22 } },
  },
  {
    name: 'review-request',
    subject: 'How is your {{ lines[0].title }}?',
    body: section(
      '{% for line in lines %}<mj-text><b>{{ line.title }}</b><br/>{% for star in (1..5) %}<a href="https://shop.example/review?p={{ line.title | slugify }}&amp;s={{ star }}">{{ star }} ★</a>{% unless forloop.last %} | {% endunless %}{% endfor %}</mj-text>{% endfor %}',
    ),
    data: { contact, lines },
  },
  {
    name: 'gift-card',
    subject: 'A gift of {{ gift.amount }} from {{ gift.from }}',
    body: section(
      '<mj-text align="center"><div style="background:{{ gift.color }};padding:20px"><h1>{{ gift.amount }}</h1><code>{{ gift.code | slice: 0, 4 }} {{ gift.code | slice: 4, 4 }}</code></div></mj-text>{% if gift.note != blank %}<mj-text><blockquote>{{ gift.note | escape | newline_to_br }}</blockquote></mj-text>{% endif %}',
    ),
    data: {
      contact,
      gift: {
        amount: '£50',
        from: 'Söhne & Bell',
        code: 'ABCD1234',
        color: '#ffe4e6',
        note: 'Dear Ada,\n\nfor <3 & tea.\n  B.',
      },
    },
  },
  {
    name: 'wishlist-grid',
    subject: 'From your wish list',
    body: '{% for line in lines %}{% assign side = forloop.index | modulo: 2 %}<mj-section direction="{% if side == 1 %}ltr{% else %}rtl{% endif %}"><mj-column width="40%"><mj-image src="{{ line.image }}" alt="" /></mj-column><mj-column width="60%"><mj-text>{{ line.title }} – {{ line.price }}</mj-text></mj-column></mj-section>{% endfor %}',
    data: { contact, lines },
  },
  {
    name: 'loyalty-points',
    subject: '{{ points.balance }} points',
    preview:
      '{% if points.to_next > 0 %}{{ points.to_next }} to go{% else %}You made it{% endif %}',
    body: section(
      '<mj-text>You have {{ points.balance }} points{% if points.tier %} ({{ points.tier | upcase }}){% endif %}.</mj-text><mj-text><div style="background:#eee;width:100%"><div style="background:#0a0;width:{{ points.percent }}%">&nbsp;</div></div></mj-text><mj-table>{% for entry in points.entries reversed %}<tr><td>{{ entry.at | date: "%d.%m." }}</td><td>{{ entry.what }}</td><td align="right">{% if entry.points > 0 %}+{% endif %}{{ entry.points }}</td></tr>{% endfor %}</mj-table>',
    ),
    data: {
      contact,
      points: {
        balance: 1240,
        to_next: 260,
        percent: 82,
        tier: 'silver',
        entries: [
          { at: '2026-11-01', what: 'Order K-1001', points: 73 },
          { at: '2026-11-20', what: 'Voucher "TEA"', points: -500 },
        ],
      },
    },
  },
  {
    name: 'click-and-collect',
    subject: 'Ready at {{ store.name }}',
    text: 'Ready at {{ store.name }}.\n{% for day in store.hours %}{{ day.name }}: {{ day.open }}\n{% endfor %}Show the code {{ code }}.\n',
    body: section(
      '<mj-text>Ready at <b>{{ store.name }}</b></mj-text><mj-table>{% for day in store.hours %}<tr class="{% cycle "a", "b" %}"><td>{{ day.name }}</td><td>{{ day.open }}</td></tr>{% endfor %}</mj-table><mj-text>Code {{ code }}</mj-text>',
    ),
    data: {
      contact,
      code: '4 711',
      store: {
        name: 'Mill & Lane',
        hours: [
          { name: 'Mon–Fri', open: '9–18' },
          { name: 'Sat', open: '10–14' },
        ],
      },
    },
  },
];
