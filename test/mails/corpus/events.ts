import { section, type Topic } from './parts.ts';

const contact = {
  email: 'ed+x@example.com',
  first_name: 'Ed',
  timezone: 'Europe/Berlin',
  language: 'de',
};
const event = {
  id: 7,
  title: 'Riders’ Night & Fair',
  at: '2026-12-05T18:00:00Z',
  ends: '2026-12-05T22:00:00Z',
  place: 'The Old Mill, "Hall 2"',
  lat: 52.5,
  lon: 13.4,
  is_full: false,
  seats: 3,
  speakers: [
    { name: 'Zoë', photo: 'https://cdn.example/z.png', topic: 'Letters <that> last' },
    { name: "D'Arc", photo: 'https://cdn.example/d.png', topic: 'Fast & slow' },
  ],
};

export const events: Topic[] = [
  {
    name: 'event-invitation',
    subject: '{{ event.title }}: {{ event.at | date: "%e %B" }}',
    preview: '{{ event.place }}',
    body:
      section(
        '<mj-text><b>When</b> {{ event.at | date: "%A, %e %B %Y %H:%M" }}<br/><b>Where</b> {{ event.place }}</mj-text><mj-text><a href="webcal://events.example/{{ event.id }}.ics">Add to the calendar</a> · <a href="https://events.example/{{ event.id }}.ics">.ics</a> · <a href="geo:{{ event.lat }},{{ event.lon }}?q={{ event.place | url_encode }}">Map</a></mj-text>',
      ) +
      '{% unless event.is_full %}' +
      section(
        '<mj-button href="https://events.example/rsvp?e={{ event.id }}&amp;mail={{ contact.email | url_encode }}">Save my seat</mj-button>',
      ) +
      '{% else %}' +
      section('<mj-text>It is full.</mj-text>') +
      '{% endunless %}',
    data: { contact, event },
  },
  {
    name: 'event-reminder',
    subject: 'Tomorrow: {{ event.title }}',
    body:
      '<mj-section>{% for speaker in event.speakers %}<mj-column><mj-image border-radius="50%" width="80px" src="{{ speaker.photo }}" alt="{{ speaker.name }}" /><mj-text align="center">{{ speaker.name }}<br/><i>{{ speaker.topic }}</i></mj-text></mj-column>{% endfor %}</mj-section>' +
      section(
        '<mj-text>{{ event.seats }} seat{% if event.seats != 1 %}s{% endif %} left</mj-text>',
      ),
    data: { contact, event },
  },
  {
    name: 'event-ticket',
    subject: 'Your ticket',
    body: section(
      '<mj-image src="cid:qr-{{ ticket.code }}" alt="Code {{ ticket.code }}" /><mj-image src="https://qr.example/?d={{ ticket.code | url_encode }}" alt="" /><mj-text align="center">{{ ticket.code }}{% if ticket.seat %} · seat {{ ticket.seat }}{% endif %}</mj-text>',
    ),
    data: { contact, ticket: { code: 'A/7 9', seat: '12 B' } },
  },
  {
    name: 'webinar-by-phone',
    subject: 'How to join',
    body: section(
      '<mj-text><a href="{{ room.url }}">{{ room.url }}</a><br/><a href="tel:{{ room.phone }},,{{ room.pin }}#">{{ room.phone }}</a><br/><a href="whatsapp://send?text={{ room.url | url_encode }}">Share</a> <a href="sms:?body={{ room.title | url_encode }}">Text</a> <a href="mailto:?subject={{ room.title | url_encode }}&amp;body={{ room.url | url_encode }}">Mail</a></mj-text>',
    ),
    data: {
      contact,
      room: {
        url: 'https://meet.example/r?p=1&q=2',
        phone: '+4930123',
        pin: 99,
        title: 'Ask & answer',
      },
    },
  },
  {
    name: 'event-cancelled',
    subject: 'Cancelled: {{ event.title }}',
    body: section(
      '<mj-text>{{ event.title }} does not take place. {% comment %} ask legal {% endcomment %}{% if refund %}You get {{ refund }} back.{% endif %}</mj-text>',
    ),
    data: { contact, event, refund: '€ 20' },
  },
  {
    name: 'programme',
    subject: 'Programme',
    body: section(
      '<mj-table>{% for slot in slots %}<tr{% if slot.is_break %} style="color:#6b7280"{% endif %}><td>{{ slot.at }}</td><td>{{ slot.what }}</td></tr>{% endfor %}</mj-table>',
    ),
    data: {
      contact,
      slots: [
        { at: '18:00', what: 'Doors & drinks', is_break: true },
        { at: '19:00', what: 'Talk: 1 < 2', is_break: false },
      ],
    },
  },
  {
    name: 'survey-scale',
    subject: 'How was it, {{ contact.first_name }}?',
    body:
      '<mj-section>{% for n in (1..5) %}<mj-column width="20%"><mj-button href="https://survey.example/{{ survey.id }}?s={{ n }}&amp;m={{ contact.email | url_encode }}">{{ n }}</mj-button></mj-column>{% endfor %}</mj-section>' +
      section('<mj-text>Open until {{ survey.until | date: "%d.%m.%Y" }}</mj-text>'),
    data: { contact, survey: { id: 's 1', until: '2026-12-24' } },
  },
  {
    name: 'survey-choice',
    subject: '{{ survey.question }}',
    body: section(
      '<mj-text>{{ survey.question }}</mj-text><mj-table>{% for choice in survey.choices %}<tr><td>{{ forloop.index0 | plus: 65 }}</td><td><a href="{{ survey.url }}?c={{ choice | url_encode }}">{{ choice }}</a></td></tr>{% endfor %}</mj-table>',
    ),
    data: {
      contact,
      survey: {
        question: 'Tea or "coffee"?',
        url: 'https://survey.example/2',
        choices: ['Tea', 'Coffee & milk', '<none>'],
      },
    },
  },
  {
    name: 'survey-results',
    subject: 'What you said',
    body: '<mj-section>{% for answer in answers %}<mj-column width="{{ answer.share }}%" background-color="{{ answer.color }}"><mj-text>{{ answer.share }} %<br/>{{ answer.text }}</mj-text></mj-column>{% endfor %}</mj-section>',
    data: {
      contact,
      answers: [
        { share: 60, color: '#ccfbf1', text: 'Tea' },
        { share: 40, color: '#fde68a', text: 'Not tea & not coffee' },
      ],
    },
  },
  {
    name: 'birthday',
    subject: '🎂 {{ contact.first_name }}',
    body: section(
      '<mj-text>Happy birthday, {{ contact.first_name | capitalize }}{{ contact.last_name | prepend: " " }}! {% assign parts = wishes | split: "," %}{% for wish in parts %}{{ wish | strip | capitalize }}{% if forloop.rindex0 > 0 %}, {% endif %}{% endfor %}.</mj-text>',
    ),
    data: { contact, wishes: 'health, tea,  time' },
  },
  {
    name: 'three-languages',
    subject:
      '{% case contact.language %}{% when "de" %}Hallo{% when "fr" %}Bonjour{% else %}Hello{% endcase %} {{ contact.first_name }}',
    body: section(
      '{% if contact.language == "de" %}<mj-text>Schön, dass du da bist.</mj-text>{% elsif contact.language == "fr" %}<mj-text>Ravis de vous voir.</mj-text>{% else %}<mj-text>Good to see you.</mj-text>{% endif %}<mj-text css-class="lang-{{ contact.language }}">{{ texts[contact.language] | default: texts.en }}</mj-text>',
    ),
    data: { contact, texts: { en: 'Tea & time', de: 'Tee & Zeit', fr: "L'heure du thé" } },
  },
  {
    name: 'right-to-left-order',
    subject: 'طلبك {{ order.id }} في الطريق',
    body: section(
      '<mj-text align="right"><bdi>{{ contact.first_name }}</bdi>، وصلت طلبيتك.</mj-text>{% if order.is_gift %}<mj-text align="right">🎁 {{ order.note }}</mj-text>{% endif %}<mj-button href="https://shop.example/ar/{{ order.id }}">تتبع الطلب</mj-button>',
      'direction="rtl"',
    ),
    data: {
      contact: { ...contact, first_name: 'ليلى' },
      order: { id: 'ط-5', is_gift: true, note: 'مع بطاقة & "هدية"' },
    },
  },
];
