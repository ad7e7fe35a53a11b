import { expect, test } from '@jest/globals';
import { textForPeople } from './output.ts';
import { withoutControls } from './terminal.ts';

const lists = [
  { id: 'readers', name: 'Readers', is_public: true, description: '', tags: ['a'] },
  { id: 'b', name: 'Buyers', is_public: false, description: '' },
];

test('the list of an answer is a table of its texts and numbers, with the rest below', () => {
  expect(textForPeople({ lists, next_cursor: 'abc', total: null }).split('\n')).toEqual([
    'ID       NAME     IS_PUBLIC',
    'readers  Readers  true',
    'b        Buyers   false',
    'next_cursor: abc',
  ]);
});

test('columns that do not fit are left out', () => {
  expect(textForPeople({ lists }, 18).split('\n')[0]).toBe('ID       NAME');
});

test('the only object of an answer is a line for each field', () => {
  const list = { id: 'readers', description: null, welcome: { notification_id: 'hello' } };
  expect(textForPeople({ list }).split('\n')).toEqual([
    'id       readers',
    'welcome  {"notification_id":"hello"}',
  ]);
});

test('an empty list says so', () => {
  expect(textForPeople({ lists: [] })).toBe('none');
});

test('lines and tabs stay, whatever stands beside them', () => {
  expect(withoutControls('a,b\r\nc\td\u001b\ne')).toBe('a,b \nc\td \ne');
});

test('texts of other people do not drive the terminal', () => {
  expect(textForPeople({ contacts: [{ first_name: 'A\u001b[2J\nda\u202e' }] })).toBe(
    'FIRST_NAME\nA [2J da',
  );
});
