import { section, type Topic } from './parts.ts';

const contact = {
  email: 'di@example.com',
  first_name: 'Di',
  language: 'en',
  custom_string_1: 'pro',
  custom_number_1: 120,
};

const items = [
  {
    title: 'Night mail over the ridge',
    url: 'https://news.example/1?a=1&b=2',
    image: 'https://cdn.example/1.png',
    author: 'A. Bell',
    at: '2026-11-20T07:00:00Z',
    tags: ['roads', 'mail & more'],
    text: 'Two riders found a path that is quicker in summer, and a saddlebag that keeps paper dry.',
    content:
      '<p>Two riders &amp; a <a href="https://news.example/1?full=1&amp;x=2">path</a>.</p><ul><li>Quick</li><li>Dry</li></ul>',
  },
  {
    title: 'Ink & paper <prices>',
    url: 'https://news.example/2',
    image: 'https://cdn.example/2.png',
    author: '',
    at: '2026-11-21T07:00:00Z',
    tags: [],
    text: 'Up again.',
    content: '<p>Up again<br/>by 3&nbsp;%</p><img src="https://cdn.example/c.png" alt="A chart">',
  },
];

export const news: Topic[] = [
  {
    name: 'newsletter-of-columns',
    subject: '{{ items[0].title }}',
    preview: '{{ items | map: "title" | join: " · " }}',
    body: '<mj-section>{% for item in items %}<mj-column><mj-image src="{{ item.image }}" alt="{{ item.title }}" /><mj-text><a href="{{ item.url }}">{{ item.title }}</a></mj-text></mj-column>{% endfor %}</mj-section>',
    data: { contact, items },
  },
  {
    name: 'digest-of-feed',
    subject: '{{ recipient_feed.items | size }} stories',
    body:
      '{% for item in recipient_feed.items %}' +
      section(
        '<mj-text><h2><a href="{{ item.url }}">{{ item.title }}</a></h2><small>{{ item.at | date: "%e %b" }}{% if item.author != "" %} by {{ item.author }}{% endif %}</small></mj-text><mj-text>{{ item.content | raw }}</mj-text>',
      ) +
      '{% else %}' +
      section('<mj-text>A quiet week.</mj-text>') +
      '{% endfor %}',
    data: { contact, recipient_feed: { items } },
  },
  {
    name: 'digest-short',
    subject: 'Your week',
    body: section(
      '<mj-text>{% for item in global_feed.items %}{% unless forloop.first %}<hr>{% endunless %}<a href="{{ item.url }}"><b>{{ item.title }}</b></a> {{ item.text | truncatewords: 6 }}{% endfor %}</mj-text>',
    ),
    data: { contact, global_feed: { items } },
  },
  {
    name: 'digest-in-raw',
    subject: 'Today',
    body: '{% for item in items %}<mj-raw><table><tr><td><a href="{{ item.url }}">{{ item.title }}</a></td></tr></table></mj-raw>{% endfor %}',
    data: { contact, items },
  },
  {
    name: 'changelog',
    subject: 'Version {{ release.version }}',
    body: section(
      '<mj-text>{% for group in release.changes %}<h3>{{ group.kind | capitalize }}</h3><ul>{% for change in group.list %}<li><code>{{ change }}</code></li>{% endfor %}</ul>{% endfor %}</mj-text>',
    ),
    data: {
      contact,
      release: {
        version: '5.1.0',
        changes: [
          { kind: 'added', list: ['`{{ x }}` in <mj-style>', 'a & b'] },
          { kind: 'fixed', list: [] },
        ],
      },
    },
  },
  {
    name: 'code-sample',
    subject: 'How to write {{ "{{ name }}" }}',
    body: section(
      '<mj-text><pre style="background:#eee">{% raw %}{{ contact.first_name | default: "there" }}{% endraw %}\n  {{ sample }}</pre></mj-text>',
    ),
    data: { contact, sample: 'if (a < b) {\n    return "x";\n}' },
  },
  {
    name: 'segmented-blocks',
    subject: '{% if contact.custom_string_1 == "pro" %}For pros{% else %}For all{% endif %}',
    body:
      '{% if contact.custom_string_1 == "pro" and contact.custom_number_1 > 100 %}' +
      section(
        '<mj-text>Pro news</mj-text><mj-button href="https://app.example/pro/{{ contact.custom_number_1 }}">Open</mj-button>',
      ) +
      '{% elsif contact.custom_string_1 contains "pro" %}' +
      section('<mj-text>Nearly pro</mj-text>') +
      '{% endif %}' +
      section('<mj-text>For all</mj-text>'),
    data: { contact },
  },
  {
    name: 'carousel',
    subject: 'Look',
    body: section(
      '<mj-carousel>{% for item in items %}<mj-carousel-image src="{{ item.image }}" alt="{{ item.title }}" href="{{ item.url }}" />{% endfor %}</mj-carousel>',
    ),
    data: { contact, items },
  },
  {
    name: 'tags-and-filters',
    subject: '{{ items | map: "tags" | join: " " | default: "News" }}',
    body: section(
      '{% assign sorted = items | sort: "title" | reverse %}<mj-text>{% for item in sorted %}<p>{{ item.title | append: " – " | append: item.author }} {% if item.tags.size > 0 %}[{{ item.tags | join: "] [" }}]{% endif %}</p>{% endfor %}</mj-text><mj-text>{{ items.first.tags | json }}</mj-text>',
    ),
    data: { contact, items },
  },
  {
    name: 'sponsored',
    subject: '{{ sponsor.name }} presents',
    body:
      section(
        '<mj-text>{{ sponsor.html | raw }}</mj-text>',
        'background-color="{{ sponsor.color }}"',
      ) + section('<mj-text><img src="{{ sponsor.pixel }}" width="1" height="1" alt=""></mj-text>'),
    data: {
      contact,
      sponsor: {
        name: 'Bolt & Nut',
        color: '#fff5d6',
        html: '<div><a href="https://bolt.example/?u=1">Bolt</a>, <b>never loose',
        pixel: 'https://px.example/p.gif?c=1&r=2',
      },
    },
  },
  {
    name: 'job-alert',
    subject: '{{ jobs.size }} jobs{% if jobs.size == 1 %}: {{ jobs[0].title }}{% endif %}',
    body: '{% for job in jobs %}<mj-section border-bottom="1px solid #ddd"><mj-column width="70%"><mj-text><a href="https://jobs.example/{{ job.id }}">{{ job.title }}</a><br/>{{ job.company | upcase }} · {{ job.places | join: ", " | default: "anywhere" }}</mj-text></mj-column><mj-column width="30%"><mj-text align="right">{% if job.pay %}{{ job.pay }}{% endif %}</mj-text></mj-column></mj-section>{% endfor %}',
    data: {
      contact,
      jobs: [
        {
          id: 1,
          title: 'C++ & Rust dev',
          company: 'Bolt',
          places: ['Köln', 'Remote'],
          pay: '€ 80k',
        },
        { id: 2, title: 'Writer', company: 'Ledger', places: [], pay: null },
      ],
    },
  },
  {
    name: 'weather',
    subject: '{{ days[0].text }}, {{ days[0].max }}°',
    body: section(
      '<mj-table>{% tablerow day in days cols: 3 limit: 6 %}{{ day.name }}<br>{{ day.max }}° / {{ day.min }}°{% endtablerow %}</mj-table>',
    ),
    data: {
      contact,
      days: [
        { name: 'Mon', max: 9, min: -1, text: 'Sun & cloud' },
        { name: 'Tue', max: 7, min: 0, text: 'Rain' },
        { name: 'Wed', max: 8, min: 2, text: 'Fog' },
        { name: 'Thu', max: 8, min: 2, text: 'Fog' },
      ],
    },
  },
  {
    name: 'video',
    subject: 'Watch: {{ video.title }}',
    head: '<mj-style>{% for size in video.sizes %}.v{{ size }} { width: {{ size }}px; }{% endfor %}</mj-style>',
    body: section(
      '<mj-image src="{{ video.poster }}" srcset="{{ video.poster }} 600w" sizes="100vw" alt="{{ video.title }}" href="{{ video.url }}" /><mj-text>{{ video.seconds | divided_by: 60 }}:{{ video.seconds | modulo: 60 }}</mj-text>',
    ),
    data: {
      contact,
      video: {
        title: 'Tea & "time"',
        sizes: [200, 400],
        poster: 'https://cdn.example/v.jpg',
        url: 'https://video.example/watch?v=1&t=2',
        seconds: 125,
      },
    },
  },
  {
    name: 'ab-headline',
    subject: '{{ variants[contact.custom_number_1] | default: variants.first }}',
    body: section(
      '{% assign bucket = contact.custom_number_1 | modulo: 2 %}<mj-text font-size="{% if bucket == 0 %}24px{% else %}32px{% endif %}">{{ variants[bucket] }}</mj-text>',
    ),
    data: { contact, variants: ['A < B', 'B & A'] },
  },
];
