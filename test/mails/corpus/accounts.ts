import { section, type Topic } from './parts.ts';

const contact = {
  email: 'ben+x@example.com',
  first_name: 'Ben',
  last_name: 'Müller',
  language: 'de',
};

export const accounts: Topic[] = [
  {
    name: 'welcome',
    subject: 'Welcome{% if contact.first_name %}, {{ contact.first_name }}{% endif %}',
    preview: 'Three steps to begin',
    body:
      section(
        '<mj-text font-size="22px">Welcome, {{ contact.first_name | default: "there" }}</mj-text>',
      ) +
      section(
        '<mj-accordion>{% for tip in tips %}<mj-accordion-element><mj-accordion-title>{{ tip.q }}</mj-accordion-title><mj-accordion-text>{{ tip.a }}</mj-accordion-text></mj-accordion-element>{% endfor %}</mj-accordion>',
      ),
    data: {
      contact,
      tips: [
        { q: 'How do I begin?', a: 'Add a <domain> & verify it.' },
        { q: 'Who sees it?', a: 'Only "you".' },
      ],
    },
  },
  {
    name: 'confirm-address',
    subject: 'Confirm {{ contact.email }}',
    body: section(
      '<mj-button href="{{ confirm_subscription_url }}">Confirm {{ contact.email }}</mj-button><mj-text>Or open {{ confirm_subscription_url }}</mj-text>',
    ),
    data: { contact },
  },
  {
    name: 'password-reset',
    subject: 'Reset your password',
    body: section(
      '<mj-text>Hi {{ contact.first_name }}, someone asked for a new password{% if request.city %} from {{ request.city }}{% endif %}.</mj-text><mj-button href="{{ reset_url }}">Choose a new password</mj-button><mj-text>It works for {{ request.minutes | default: 30 }} minutes. In the app: <a href="myapp://reset?token={{ token }}">open</a></mj-text>',
    ),
    data: {
      contact,
      token: 'a+b/c=',
      reset_url: 'https://app.example/reset?token=a%2Bb&u=7',
      request: { city: 'Köln', minutes: 15 },
    },
  },
  {
    name: 'magic-link',
    subject: 'Your sign-in link',
    body: section(
      '<mj-text><a href="{{ link }}">{{ link }}</a></mj-text><mj-text>or type <b style="letter-spacing:4px">{{ code }}</b></mj-text>',
    ),
    text: 'Sign in: {{ link }}\nCode: {{ code }}\n',
    data: { contact, link: 'https://app.example/in?t=9&u=8', code: '042 117' },
  },
  {
    name: 'one-time-code',
    subject: '{{ code }} is your code',
    preview: '{{ code }}',
    body: section('<mj-text align="center" font-size="32px">{{ code }}</mj-text>'),
    data: { contact, code: '042117' },
  },
  {
    name: 'new-sign-in',
    subject: 'New sign-in on {{ device.name }}',
    body: section(
      '<mj-text>{{ device.name }} in {{ device.city | default: "an unknown place" }}, {{ device.at | date: "%e %b %Y %H:%M" }} UTC.</mj-text>{% if device.is_new %}<mj-text><b>We have not seen this device before.</b></mj-text>{% endif %}<mj-button href="https://app.example/security/{{ device.id }}">That was not me</mj-button>',
    ),
    data: {
      contact,
      device: { id: 'd 1/2', name: 'Firefox on Linux', city: '', at: 1795601100, is_new: true },
    },
  },
  {
    name: 'invitation',
    subject: '{{ inviter.name }} invites you to {{ team.name }}',
    body: section(
      '<mj-text><img src="{{ inviter.avatar }}" alt="{{ inviter.name }}" title="{{ inviter.name }} of {{ team.name }}" width="40"> {{ inviter.name }} ({{ inviter.email }}) wants you in <b>{{ team.name }}</b>.</mj-text>{% if inviter.note %}<mj-text font-style="italic">“{{ inviter.note | strip | newline_to_br }}”</mj-text>{% endif %}<mj-button href="https://app.example/join/{{ team.id }}?by={{ inviter.email | url_encode }}">Join {{ team.name | truncate: 20 }}</mj-button>',
    ),
    data: {
      contact,
      team: { id: 't1', name: 'Research & "Development"' },
      inviter: {
        name: "Zoë D'Arc",
        email: 'zoe@example.com',
        avatar: 'https://cdn.example/a.png',
        note: ' Come in!\nIt is fun. ',
      },
    },
  },
  {
    name: 'account-deleted',
    subject: 'Good bye',
    body: section(
      '<mj-text>{%- liquid\nassign days = grace_days | default: 30\nif contact.first_name\n  echo contact.first_name\n  echo ", "\nendif\n-%}your account will be gone in {{ days }} day{% if days != 1 %}s{% endif %}.</mj-text>',
    ),
    data: { contact, grace_days: 14 },
  },
  {
    name: 'onboarding-checklist',
    subject: '{{ steps | where: "done", false | size }} steps left',
    body:
      '{% assign done = steps | where: "done" | size %}' +
      section(
        '<mj-text>{{ done }} of {{ steps.size }} done</mj-text>{% for step in steps %}<mj-text padding="4px 25px">{% if step.done %}✅ <s>{{ step.name }}</s>{% else %}⬜ <a href="https://app.example/setup/{{ step.id }}">{{ step.name }}</a>{% endif %}</mj-text>{% endfor %}{% if done < steps.size %}<mj-button href="https://app.example/setup">Go on</mj-button>{% endif %}',
      ),
    data: {
      contact,
      steps: [
        { id: 'a', name: 'Verify <your> domain', done: true },
        { id: 'b', name: 'Import contacts', done: false },
      ],
    },
  },
  {
    name: 'onboarding-by-role',
    subject: 'For {{ contact.job_title | default: "you" }}',
    body:
      '{% case contact.job_title %}{% when "Engineer", "Developer" %}' +
      section('<mj-text>Read the <a href="https://docs.example/api">API</a>.</mj-text>') +
      '{% when "Marketer" %}' +
      section(
        '<mj-image src="https://cdn.example/m.png" alt="A chart" /><mj-text>Build a campaign.</mj-text>',
      ) +
      '{% else %}' +
      section('<mj-text>Look around.</mj-text>') +
      '{% endcase %}',
    data: { contact: { ...contact, job_title: 'Engineer' } },
  },
  {
    name: 'support-reply',
    subject: 'Re: [{{ ticket.id }}] {{ ticket.subject }}',
    body:
      section('<mj-text>{{ ticket.reply | newline_to_br }}</mj-text>') +
      '{% for message in ticket.history %}' +
      section(
        '<mj-text><small>{{ message.by }}, {{ message.at | date: "%d/%m" }}</small><blockquote style="border-left:2px solid {{ message.color }}">{{ message.html | raw }}</blockquote></mj-text>',
      ) +
      '{% endfor %}',
    data: {
      contact,
      ticket: {
        id: 4711,
        subject: 'Tea & "spoons"',
        reply: 'Hi,\nit is 1 < 2 & fine.\n\nBest',
        history: [
          {
            by: 'Ben',
            at: '2026-11-01',
            color: '#cccccc',
            html: '<p>First<br>line &amp; <a href="https://x.example/?a=1&amp;b=2">link</a></p>',
          },
          { by: 'Us', at: '2026-11-02', color: '#0f766e', html: '<ul><li>One<li>Two</ul><p>Open' },
        ],
      },
    },
  },
  {
    name: 'comment-mention',
    subject: '{{ actor }} mentioned you in “{{ doc.title }}”',
    body: section(
      '<mj-text><b>{{ actor | escape }}</b>: {{ comment | strip_html | truncatewords: 20 }}</mj-text><mj-button href="{{ doc.url }}#comment-{{ comment_id }}">Open</mj-button>',
    ),
    data: {
      contact,
      actor: 'Tom & Co',
      comment: '<p>Look <b>here</b>, @Ben: 3 < 4 & so on</p>',
      comment_id: 12,
      doc: { title: 'Plan "B"', url: 'https://docs.example/d/1?x=1&y=2' },
    },
  },
  {
    name: 'security-digest',
    subject: 'Security of {{ account.name }}',
    body: section(
      '<mj-table>{% for entry in account.log %}{% assign color = "#065f46" %}{% if entry.level == "high" %}{% assign color = "#b91c1c" %}{% endif %}<tr><td style="color:{{ color }}">{{ entry.level | capitalize }}</td><td>{{ entry.what }}</td></tr>{% endfor %}</mj-table>',
    ),
    data: {
      contact,
      account: {
        name: 'Acme',
        log: [
          { level: 'high', what: 'Key <b>leaked</b> & revoked' },
          { level: 'low', what: "Ben's password changed" },
        ],
      },
    },
  },
];
