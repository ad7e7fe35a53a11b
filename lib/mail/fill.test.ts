import { expect, test } from '@jest/globals';
import { Filler, joined } from './fill.ts';
import type { RecipientLink } from './links.ts';
import type { MarkedValue } from './marker.ts';
import type { Piece, Structure } from './structure.ts';

const fixed = (piece: string): Piece => ({ kind: 'static', piece, size: piece.length });
const value = (number: number, over = {}): Piece => ({ kind: 'value', number, begin: 0, ...over });
const marked = (text: string): MarkedValue => ({ text, html: text.replace(/</g, '&lt;') });

function fillerOf(structure: Partial<Structure>, texts: string[], written: RecipientLink[] = []) {
  const whole = { html: [], text: [], links: [], anchors: [], ...structure };
  return new Filler(whole, {
    values: texts.map(marked),
    recipient: { token: 'T', systemUrls: [] },
    writeLink: (link) => {
      written.push(link);
      return { url: link.rendered, link: `${link.rendered}&"` };
    },
  });
}

test('values are HTML in the HTML and text in the text', () => {
  const pieces = [fixed('a '), value(0), { kind: 'token' as const }];
  const filler = fillerOf({ html: pieces, text: pieces }, ['<b>']);
  expect(joined(filler.html)).toBe('a &lt;b>T');
  expect(joined(filler.text)).toBe('a <b>T');
});

test('white space within a value is one space in the text, and where Outlook alone reads it', () => {
  const pieces = [value(0), fixed('|'), value(0, { isSpaced: true })];
  const filler = fillerOf({ html: pieces, text: [value(0)] }, ['a \n\n b']);
  expect(joined(filler.html)).toBe('a \n\n b|a b');
  expect(joined(filler.text)).toBe('a b');
});

test('white space that only MJML knows is one space in a text that Outlook does not read', () => {
  const filler = fillerOf({ text: [value(0), fixed('|'), value(0, { isSpaced: true })] }, [
    'a\ufeff b',
  ]);
  expect(joined(filler.text)).toBe('a\ufeff b|a b');
});

test('a link is made once, from its values, and is escaped in the HTML', () => {
  const link = { parts: [fixed('https://a/?'), value(0)], start: 'https://a/?', attribute: 'href' };
  const place: Piece = { kind: 'link', number: 0 };
  const written: RecipientLink[] = [];
  const links = [{ ...link, number: 4 }];
  const filler = fillerOf({ html: [place, place], text: [place], links }, ['x'], written);
  expect(joined(filler.html)).toBe('https://a/?x&amp;&#34;https://a/?x&amp;&#34;');
  expect(joined(filler.text)).toBe('https://a/?x&"');
  expect(written).toEqual([
    { rendered: 'https://a/?x', start: 'https://a/?', attribute: 'href', number: 4 },
  ]);
});

test.each([
  ['the words are the address', 'https://a', 'https://a', ''],
  ['the words are others', 'https://a', 'here', ' (https://a)'],
  ['there are no words', 'https://a', '', 'https://a'],
  ['it leads to a place in the mail', '#top', 'here', ''],
  ['it leads nowhere', '', 'here', ''],
  ['the words are the mail address', 'mailto:a@b.c', 'a@b.c', ''],
])(
  'a text says of a link after its words what a reader needs: %s',
  (_what, address, words, said) => {
    const anchor = {
      words: words === '' ? [] : [value(0)],
      link: undefined,
      address,
      written: [fixed(address)],
      space: ' ' as const,
    };
    const filler = fillerOf({ text: [{ kind: 'anchor', number: 0 }], anchors: [anchor] }, [words]);
    expect(joined(filler.text)).toBe(said);
  },
);

test('a value is what it is, also where it is spelled as a mark or a pattern', () => {
  const texts = ['m0xv1n0z', '$& $1', '{{ a }}'];
  const filler = fillerOf({ html: texts.map((_, number) => value(number)) }, texts);
  expect(joined(filler.html)).toBe(texts.join(''));
});

test('parts are made one after the other, so that a limit ends the work', () => {
  const sizes: number[] = [];
  const filler = fillerOf({ html: [fixed('abc'), value(0), value(0)] }, ['x'.repeat(10)]);
  expect(() =>
    filler.html((_part, size) => {
      sizes.push(size);
      if (size > 5) throw new Error('too large');
    }),
  ).toThrow('too large');
  expect(sizes).toEqual([3, 10]);
});
