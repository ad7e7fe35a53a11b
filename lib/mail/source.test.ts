import { expect, test } from '@jest/globals';
import { mailSource } from './source.ts';

test.each([
  ['<a href={{ b }}>', '<a href="{{ b }}">'],
  ['<a href=https://a.example/{{ b }}>', '<a href="https://a.example/{{ b }}">'],
  ['<a href={% if b == "c" %}d{% endif %}>', '<a href="{% if b == "c" %}d{% endif %}">'],
  ['<a href={% if b %}"{{ b }}"{% else %}"c"{% endif %}>', undefined],
  ['<a href="{{ b }}" id=c>', undefined],
])('quotes stand around an attribute that Liquid could break out of: %s', (source, expected) => {
  expect(mailSource(source).text).toBe(expected ?? source);
});

test('an output knows the attribute in which it stands', () => {
  const { text, attributeAt } = mailSource('<a href="{{ b }}" {{ c }}>{{ d }}</a>');
  const places = ['{{ b', '{{ c', '{{ d'].map((output) => attributeAt(text.indexOf(output)));
  expect(places).toEqual(['href', undefined, undefined]);
});
