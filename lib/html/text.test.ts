import { expect, test } from '@jest/globals';
import { cpuMs } from '../../test/cpu-time.ts';
import { deriveText, htmlToText } from './text.ts';

const row = (...cells: string[]) =>
  `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('\n ')}</tr>`;

test('the cells of a table are separated by bars, and its rows by lines', () => {
  const table = `<table><thead><tr><th>Product</th><th>Price</th></tr></thead><tbody>${row('Saddle', '10 €')}${row('<b>Total</b>', '<i>10 €</i>')}</tbody></table><p>Bye</p>`;
  expect(htmlToText(table)).toBe('Product | Price\nSaddle | 10 €\nTotal | 10 €\n\nBye');
});

test('the cells of a table for layout are separated by a space, and blocks in cells by lines', () => {
  const cells = `<table role="presentation">${row('<a href="https://a.example">A</a>', 'B')}</table>`;
  expect(htmlToText(cells)).toBe('A (https://a.example) B');
  expect(htmlToText(`<table>${row('<p>One</p>', '<p>Two</p>')}</table>`)).toBe('One\n\nTwo');
});

test('Liquid between rows stays between the lines', () => {
  const rows = `<table>{% for item in items %}${row('{{ item.name }}', '{{ item.price }}')}{% endfor %}</table>`;
  expect(deriveText(rows).replace(/\n+/g, '|')).toBe(
    '{% for item in items %}|{{ item.name }} | {{ item.price }}|{% endfor %}',
  );
});

test('converting a row is linear in its cells', () => {
  const wide = `<table><tr>${'<td></td><!-- -->'.repeat(9_000)}</tr></table>`;
  expect(cpuMs(() => htmlToText(wide))).toBeLessThan(2_000);
});
