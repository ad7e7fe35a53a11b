/** Expressions of Liquid that read `V`, the field of a contact: every filter of the engine. */

const list = 'V | split: " "';
const objects = 'list';

/** Uses of each filter, on its input and in its arguments. `raw` is left out: it is for markup. */
export const filterUses: Record<string, string[]> = {
  ...plain(
    'escape xml_escape escape_once newline_to_br strip_html abs ceil floor round url_decode url_encode cgi_escape uri_escape slugify size lstrip downcase upcase rstrip strip strip_newlines squish capitalize normalize_whitespace number_of_words base64_encode base64_decode sha256 jsonify to_integer json inspect base64_url_safe_encode base64_url_safe_decode date date_to_xmlschema date_to_rfc822 date_to_string date_to_long_string',
  ),
  at_least: ['V | at_least: 2', '2 | at_least: V'],
  at_most: ['V | at_most: 2', '2 | at_most: V'],
  divided_by: ['V | divided_by: 2', '2 | divided_by: V'],
  minus: ['V | minus: 2', '2 | minus: V'],
  plus: ['V | plus: 2', '2 | plus: V'],
  modulo: ['V | modulo: 2', '2 | modulo: V'],
  times: ['V | times: 2', '2 | times: V'],
  ...onList(
    'first last reverse sort sort_natural uniq compact pop shift sum array_to_sentence_string',
  ),
  join: [`${list} | join: ", "`, '"a b" | split: " " | join: V', 'list | map: "title" | join: V'],
  map: [`${objects} | map: "title"`, `${objects} | map: "title" | join`],
  concat: [`"a b" | split: " " | concat: list | map: "title"`, `${list} | concat: list | json`],
  push: [`${list} | push: V`, '"a" | split: " " | push: V | join'],
  unshift: [`${list} | unshift: V`],
  slice: ['V | slice: 0, 20', `${list} | slice: 0, 2`],
  where: [`${objects} | where: "title", V | map: "title"`, `${objects} | where: "title" | json`],
  reject: [`${objects} | reject: "title", "x" | map: "title"`],
  where_exp: [`${objects} | where_exp: "each", "each.title == V" | map: "title"`],
  reject_exp: [`${objects} | reject_exp: "each", "each.no == 9" | map: "title"`],
  group_by: [
    `${objects} | group_by: "title" | json`,
    `${objects} | group_by: "title" | map: "name"`,
  ],
  group_by_exp: [`${objects} | group_by_exp: "each", "each.title" | map: "name"`],
  has: [`${objects} | has: "title", V`],
  has_exp: [`${objects} | has_exp: "each", "each.title == V"`],
  find: [`${objects} | find: "title", V | json`, `${objects} | find: "no", 1 | inspect`],
  find_exp: [`${objects} | find_exp: "each", "each.no == 1" | json`],
  find_index: [`${objects} | find_index: "title", V`],
  find_index_exp: [`${objects} | find_index_exp: "each", "each.title == V"`],
  sample: [`${list} | sample: 100 | size`],
  append: ['V | append: "z"', '"z" | append: V'],
  prepend: ['V | prepend: "z"', '"z" | prepend: V'],
  remove: ['V | remove: "z"', '"z" | remove: V'],
  remove_first: ['V | remove_first: "z"', '"z" | remove_first: V'],
  remove_last: ['V | remove_last: "z"', '"z" | remove_last: V'],
  split: ['V | split: ""', 'V | split: " "', '"a b" | split: V'],
  replace: ['V | replace: "z", V', '"a z" | replace: "z", V'],
  replace_first: ['V | replace_first: "z", V', '"a z" | replace_first: "z", V'],
  replace_last: ['V | replace_last: "z", V', '"a z" | replace_last: "z", V'],
  truncate: ['V | truncate: 12', 'V | truncate: 12, V', '"a long text" | truncate: 3, V'],
  truncatewords: ['V | truncatewords: 1', '"a long text" | truncatewords: 1, V'],
  hmac_sha256: ['V | hmac_sha256: "k"', '"k" | hmac_sha256: V'],
  default: ['V | default: "z"', '"" | default: V', 'nothing | default: V'],
};
filterUses.date?.push('"2026-11-26" | date: V', 'V | date: V');

function plain(names: string): Record<string, string[]> {
  return Object.fromEntries(names.split(' ').map((name) => [name, [`V | ${name}`]]));
}

function onList(names: string): Record<string, string[]> {
  return Object.fromEntries(
    names.split(' ').map((name) => [name, [`${list} | ${name}`, `${list} | ${name} | json`]]),
  );
}

/** Uses of each tag that authors may write; those that need files are none of them. */
export const tagUses: Record<string, string[]> = {
  assign: [
    '{% assign made = V %}{{ made }}',
    '{% assign made = V | append: V %}{{ made | upcase }}',
  ],
  capture: [
    '{% capture made %}{{ V }}{% endcapture %}{{ made }}',
    '{% capture made %}{{ V }}{% endcapture %}{{ made | append: V }}',
    '{% capture made %}{{ V }}{% endcapture %}{% capture again %}{{ made }}{% endcapture %}{{ again }}',
    '{% capture made %}<i>{{ V }}</i>{% endcapture %}{{ made | raw }}',
    '{% capture made %}<i>z</i>{% endcapture %}{% capture again %}{{ V | append: made }}{% endcapture %}{{ again | raw }}',
  ],
  for: [
    '{% for each in list %}{{ each.title }}{{ forloop.index }}{% else %}{{ V }}{% endfor %}',
    '{% assign words = V | split: " " %}{% for each in words %}{{ each }}{% endfor %}',
    '{% for each in V %}{{ each }}{% endfor %}',
    '{% for each in list %}{{ each }}{% endfor %}',
  ],
  tablerow: ['<table>{% tablerow each in list %}{{ each.title }}{% endtablerow %}</table>'],
  case: ['{% case V %}{% when V %}{{ V }}{% else %}none{% endcase %}'],
  if: ['{% if V %}{{ V }}{% endif %}', '{% if V contains "b" %}one{% elsif V %}{{ V }}{% endif %}'],
  unless: ['{% unless V == "z" %}{{ V }}{% endunless %}'],
  comment: ['{% comment %}{{ V }}{% endcomment %}z'],
  raw: ['{% raw %}{{ V }}{% endraw %}'],
  increment: ['{% increment c %}{{ V }}'],
  decrement: ['{% decrement c %}{{ V }}'],
  cycle: ['{% cycle V, "z" %}', '{% cycle V: V, "z" %}'],
  echo: ['{% echo V %}', '{% echo V | upcase %}'],
  liquid: ['{% liquid\nassign made = V\necho made\necho V | downcase %}'],
  break: ['{% for each in list %}{{ each.title }}{% break %}{% endfor %}'],
  continue: ['{% for each in list %}{{ each.title }}{% continue %}{% endfor %}'],
  '#': ['{% # V %}{{ V }}'],
};
