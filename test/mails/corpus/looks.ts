import { type Look, section } from './parts.ts';

const brand = {
  name: 'Kettle & Co',
  color: '#2f3e2f',
  accent: '#b4532a',
  site: 'https://kettle.example',
  logo: 'https://cdn.example/kettle/logo.png',
  address: '4 Mill Lane, Ashford TN24 8AB',
  width: '600px',
  radius: '6px',
};

const leave =
  '<a href="{{ unsubscribe_url }}">Unsubscribe</a> &middot; <a href="{{ notification_center_url }}">Your choices</a>';

export const looks: Look[] = [
  {
    name: 'plain',
    head: '',
    header: '',
    footer: section(`<mj-text font-size="12px">${leave}</mj-text>`),
    data: {},
  },
  {
    name: 'attributes',
    head: '<mj-attributes><mj-all font-family="Georgia, serif" /><mj-text font-size="15px" line-height="1.6" color="#2b2b2b" /><mj-class name="lead" font-size="22px" font-weight="bold" /><mj-class name="fine" font-size="12px" color="#6b7280" /><mj-button background-color="{{ brand.color }}" border-radius="{{ brand.radius }}" /></mj-attributes>',
    header: section(
      '<mj-image width="120px" src="{{ brand.logo }}" alt="{{ brand.name }}" href="{{ brand.site }}" />',
      'background-color="{{ brand.color }}"',
    ),
    footer: section(
      `<mj-text mj-class="fine" align="center">{{ brand.name }}, {{ brand.address }}<br/>${leave}</mj-text>`,
    ),
    data: { brand },
  },
  {
    name: 'dark-mode',
    page: 'background-color="#ffffff" css-class="page"',
    head: '<mj-raw><meta name="color-scheme" content="light dark"><meta name="supported-color-schemes" content="light dark"></mj-raw><mj-style>:root { color-scheme: light dark; } @media (prefers-color-scheme: dark) { .page, .page > table { background: {{ brand.dark | default: "#111418" }} !important; } .ink div { color: #e6e9ee !important; } {% if brand.hides_logo %}.logo { display: none !important; }{% endif %} }</mj-style>',
    header: section('<mj-image css-class="logo" src="{{ brand.logo }}" alt="" width="90px" />'),
    footer: section(`<mj-text css-class="ink" font-size="12px">${leave}</mj-text>`),
    data: { brand: { ...brand, dark: '#10161a', hides_logo: true } },
  },
  {
    name: 'inline-styles',
    head: '<mj-style inline="inline">{% if brand.is_round %}.card { border-radius: {{ brand.radius }}; border: 1px solid {{ brand.accent }}; }{% else %}.card { border: 0; }{% endif %} .fine { color: #6b7280; } .fine a { color: {{ brand.color }}; }</mj-style>',
    header: section(
      '<mj-text><div class="card"><a class="home" href="{{ brand.site }}">{{ brand.name }}</a></div></mj-text>',
    ),
    footer: section(`<mj-text><p class="fine">{{ brand.address }}<br/>${leave}</p></mj-text>`),
    data: { brand: { ...brand, is_round: true } },
  },
  {
    name: 'navbar-and-social',
    head: '<mj-font name="Inter" href="https://fonts.example/inter.css" /><mj-attributes><mj-all font-family="Inter, Arial" /></mj-attributes><mj-breakpoint width="480px" />',
    header: section(
      '<mj-navbar base-url="{{ brand.site }}" hamburger="hamburger" ico-color="{{ brand.color }}">{% for page in brand.pages %}<mj-navbar-link href="/{{ page.path }}" color="{{ brand.color }}">{{ page.title }}</mj-navbar-link>{% endfor %}</mj-navbar>',
      'full-width="full-width" background-color="#f4efe8"',
    ),
    footer: section(
      `<mj-social mode="horizontal" icon-size="24px">{% for network in brand.networks %}<mj-social-element name="{{ network.name }}-noshare" href="{{ network.url }}">{{ network.name | capitalize }}</mj-social-element>{% endfor %}</mj-social><mj-text align="center">${leave}</mj-text>`,
    ),
    data: {
      brand: {
        ...brand,
        pages: [
          { path: 'tea', title: 'Teas' },
          { path: 'pots', title: 'Pots & cups' },
          { path: 'sale', title: 'Sale' },
        ],
        networks: [
          { name: 'facebook', url: 'https://social.example/kettle' },
          { name: 'instagram', url: 'https://photos.example/kettle?from=mail&v=2' },
        ],
      },
    },
  },
  {
    name: 'comments-of-liquid',
    before:
      '{% assign brand_name = brand.name | upcase %}{% capture greeting %}Hello {{ contact.first_name | default: "friend" }}{% endcapture %}\n',
    head: '<mj-raw><!-- {% if brand.is_vip %} --><meta name="x-vip" content="{{ brand.tier }}"><!-- {% endif %} --></mj-raw><mj-style>.shop-name__cell { color: {{ brand.color }}; }</mj-style>',
    header: section(
      '<mj-text css-class="shop-name__cell"><!-- {% if brand.logo %} --><img src="{{ brand.logo }}" alt="{{ brand.name }}" width="{{ brand.logo_width }}"><!-- {% else %} --><h1>{{ brand_name }}</h1><!-- {% endif %} --></mj-text><mj-text>{{ greeting }},</mj-text>',
    ),
    footer: section(
      `<mj-text font-size="12px"><!-- {% unless brand.is_vip %} -->Free delivery over 40.<!-- {% endunless %} -->${leave}</mj-text>`,
    ),
    data: { brand: { ...brand, is_vip: true, tier: 'gold', logo_width: 180 } },
  },
  {
    name: 'outlook',
    root: 'owa="desktop"',
    head: '<mj-raw position="file-start"><!-- Kettle, {{ brand.name }} --></mj-raw><mj-raw><!--[if mso]><style>.mso-fix { padding: {{ brand.gap }} !important; }</style><![endif]--></mj-raw><mj-html-attributes><mj-selector path=".home a"><mj-html-attribute name="data-id">home</mj-html-attribute></mj-selector></mj-html-attributes>',
    header:
      '<mj-raw><!--[if mso]><table width="600"><tr><td>{{ brand.name }} in Outlook<![endif]--></mj-raw>\n' +
      section(
        '<mj-text css-class="home"><a href="{{ brand.site }}">{{ brand.name }}</a></mj-text>',
      ) +
      '<mj-raw><!--[if mso]></td></tr></table><![endif]--></mj-raw>\n',
    footer: section(
      `<mj-text><!--[if mso]><v:roundrect href="{{ brand.site }}/app" arcsize="10%"><![endif]--><a href="{{ brand.site }}/app">Get the app</a><!--[if mso]></v:roundrect><![endif]--></mj-text><mj-text>${leave}</mj-text>`,
    ),
    data: { brand: { ...brand, gap: '12px' } },
  },
  {
    name: 'right-to-left',
    root: 'lang="ar" dir="rtl"',
    head: '<mj-attributes><mj-all font-family="Tahoma, Arial, sans-serif" /><mj-text align="right" line-height="1.8" /></mj-attributes>',
    header: section(
      '<mj-text font-size="24px">مرحبا {{ contact.first_name | default: "بك" }}</mj-text>',
      'direction="rtl" background-color="#eef2f7"',
    ),
    footer: section(
      '<mj-text font-size="12px">{{ brand.name }}<br/><a href="{{ unsubscribe_url }}">إلغاء الاشتراك</a></mj-text>',
    ),
    data: { brand: { ...brand, name: 'متجر الغلاية' } },
  },
  {
    name: 'hero',
    page: 'width="{{ brand.width }}" background-color="#f7f3ee"',
    head: '<mj-title>{{ brand.name }} – {{ brand.season | capitalize }}</mj-title><mj-preview>{{ brand.season | capitalize }} at {{ brand.name }}</mj-preview>',
    header:
      '<mj-hero mode="fixed-height" height="220px" background-width="600px" background-height="220px" background-url="{{ brand.picture }}" background-color="{{ brand.color }}" padding="60px 20px"><mj-text align="center" color="#ffffff" font-size="34px">{{ brand.season | capitalize }}{% if contact.first_name %}, {{ contact.first_name }}{% endif %}</mj-text></mj-hero>\n',
    footer:
      '{% if brand.has_shop %}' +
      section('<mj-text align="center">Visit us: {{ brand.address }}</mj-text>') +
      '{% endif %}' +
      section(`<mj-text align="center" font-size="12px">${leave}</mj-text>`),
    data: {
      brand: {
        ...brand,
        season: 'autumn',
        has_shop: true,
        picture: 'https://cdn.example/kettle/autumn.jpg',
      },
    },
  },
  {
    name: 'wrapper',
    page: 'background-color="{{ theme.page }}"',
    head: '<mj-attributes>{% if theme.is_large %}<mj-text font-size="18px" />{% else %}<mj-text font-size="14px" />{% endif %}<mj-section padding="{{ theme.gap }}" /></mj-attributes>',
    header:
      '<mj-wrapper background-color="{{ theme.card }}" padding="{{ theme.gap }}" border="1px solid {{ theme.line }}">\n' +
      section(
        '<mj-text font-weight="bold">{{ theme.title }}</mj-text><mj-divider border-width="1px" border-color="{{ theme.line }}" />',
      ),
    footer:
      '</mj-wrapper>\n' +
      section(`<mj-text align="center" font-size="11px">${leave}</mj-text>`, 'padding="8px"'),
    data: {
      theme: {
        page: '#e5e7eb',
        card: '#ffffff',
        line: '#d1d5db',
        gap: '16px',
        is_large: false,
        title: 'Ledger & Sons',
      },
    },
  },
  {
    name: 'two-languages',
    root: 'lang="{{ contact.language | default: "en" }}"',
    before:
      '{% case contact.language %}{% when "de" %}{% assign bye = "Abmelden" %}{% assign hi = "Hallo" %}{% when "fr", "fr-CA" %}{% assign bye = "Se désabonner" %}{% assign hi = "Bonjour" %}{% else %}{% assign bye = "Unsubscribe" %}{% assign hi = "Hello" %}{% endcase %}\n',
    head: '<mj-title>{{ hi }} {{ contact.first_name }}</mj-title>',
    header: section('<mj-text font-size="20px">{{ hi }} {{ contact.first_name }}</mj-text>'),
    footer: section('<mj-text><a href="{{ unsubscribe_url }}">{{ bye }}</a></mj-text>'),
    data: {},
  },
  {
    name: 'menu-of-columns',
    head: '<mj-style>@media (max-width: 480px) { .wide { display: none } }</mj-style>',
    header:
      '<mj-section>{% for page in menu limit: 4 %}<mj-column width="{{ 100 | divided_by: menu.size }}%"><mj-text align="center" css-class="{% cycle "odd", "even" %}"><a href="{{ page.url }}">{{ page.title }}</a></mj-text></mj-column>{% endfor %}</mj-section>\n',
    footer:
      '<mj-section><mj-group><mj-column><mj-text font-size="12px">© {{ "2026-11-26" | date: "%Y" }}</mj-text></mj-column><mj-column><mj-text font-size="12px">' +
      leave +
      '</mj-text></mj-column></mj-group></mj-section>\n',
    data: {
      menu: [
        { title: 'News', url: 'https://press.example/news' },
        { title: 'Talks & meets', url: 'https://press.example/talks?y=2026&m=11' },
      ],
    },
  },
];
