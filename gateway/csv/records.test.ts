import { expect, jest, test } from '@jest/globals';
import { CsvFault } from './fault.ts';
import { type CsvRecord, recordsOf } from './records.ts';

/** The records of a file that arrives in parts of some bytes, and the fault that ends it. */
async function read(file: string | Buffer, partBytes = 7) {
  const bytes = Buffer.from(file);
  async function* chunks() {
    for (let from = 0; from < bytes.length; from += partBytes) {
      yield bytes.subarray(from, from + partBytes);
    }
  }
  const records: [line: number, ...cells: string[]][] = [];
  try {
    for await (const some of recordsOf(chunks())) {
      records.push(...some.map(({ line, cells }) => [line, ...cells] as [number, ...string[]]));
    }
  } catch (error) {
    if (!(error instanceof CsvFault)) throw error;
    return { records, fault: `${error.line}: ${error.message}` };
  }
  return { records };
}

test.each([1, 2, 3, 7, 100_000])('a file is the same in parts of %i bytes', async (partBytes) => {
  const file = '\uFEFFa,b\r\n\r\n1,"x\r\ny\nz"\r\n\n2,"5"" q"\n3,5" p\né🦜,"q"x';
  expect(await read(file, partBytes)).toEqual({
    records: [
      [1, 'a', 'b'],
      [3, '1', 'x\r\ny\nz'],
      [7, '2', '5" q'],
      [8, '3', '5" p'],
      [9, 'é🦜', '"q"x'],
    ],
  });
});

const lineFeeds = (bytes: Buffer) => bytes.filter((byte) => byte === 0x0a).length;

test.each([
  '\uFEFFa,b\r\n\r\n1,"x\r\ny\nz"\r\n\n2,"5"" q"\n3,5" p\né🦜,"q"x',
  'a;b\r\n1;"x,"\nx;y\r\n2;3\n',
  'a\tb\r1\t2\r\r3\t4\r5\t6',
])('the header and what follows a record are a file of the records behind it: %j', async (text) => {
  const file = Buffer.from(text);
  async function* whole() {
    yield file;
  }
  const all: CsvRecord[] = [];
  for await (const some of recordsOf(whole())) all.push(...some);
  const [header, ...rows] = all;
  expect(rows.length).toBeGreaterThan(2);
  const head = file.subarray(0, header?.end.byte);
  for (const [at, { end }] of rows.entries()) {
    const { records } = await read(Buffer.concat([head, file.subarray(end.byte)]), 100_000);
    const found = records
      .slice(1)
      .map(([line, ...cells]) => [line - lineFeeds(head) - 1 + end.line, ...cells]);
    expect(found).toEqual(rows.slice(at + 1).map(({ line, cells }) => [line, ...cells]));
  }
});

test.each([
  ['a comma', 'a,b;c\n1,2;3\n', [1, 'a', 'b;c']],
  ['a semicolon', 'a;b;"c,d,e,f"\n1;2;3', [1, 'a', 'b', 'c,d,e,f']],
  ['a tab', 'a\tb\n1\t2', [1, 'a', 'b']],
  ['none', 'email\na@example.com', [1, 'email']],
])('the delimiter is found from the first line: %s', async (_, file, header) => {
  expect((await read(file)).records[0]).toEqual(header);
});

test.each(['\n', '\r\n', '\r'])('lines end with %j', async (end) => {
  const { records } = await read(['a,b', '1,2', '3,4', ''].join(end));
  expect(records.map(([, ...cells]) => cells)).toEqual([
    ['a', 'b'],
    ['1', '2'],
    ['3', '4'],
  ]);
});

test.each([
  ['Latin-1', Buffer.from('a,b\n1,2\né,3\n', 'latin1'), 3, 2],
  ['UTF-16', Buffer.from('\uFEFFa,b\n1,2\n', 'utf16le'), 1, 0],
  ['half a character at the end', Buffer.from('a\n1\n🦜').subarray(0, -1), 3, 2],
  ['a lone surrogate', Buffer.from([0x61, 0x0a, 0xed, 0xa0, 0x80, 0x0a]), 2, 1],
])('%s is refused with its line, after the rows before', async (_, file, line, before) => {
  for (const partBytes of [1, 3, 1_000]) {
    const { records, fault } = await read(file, partBytes);
    expect(fault).toBe(`${line}: the text is not UTF-8; save the file in that encoding`);
    expect(records).toHaveLength(before);
  }
});

test('a quote that is never closed ends the file at its row', async () => {
  const { records, fault } = await read('a,b\n1,2\n3,"4\n5,6\n');
  expect(records).toHaveLength(2);
  expect(fault).toBe('3: a quote of the row is not closed');
});

test('a row of more than 1 MiB ends the file before it is read whole', async () => {
  let given = 0;
  async function* endless() {
    yield Buffer.from('a,b\n1,2\n3,"');
    for (; given < 200; given += 1) yield Buffer.alloc(64 * 1024, 'x\n');
  }
  const found = [];
  const reading = (async () => {
    for await (const some of recordsOf(endless())) found.push(...some);
  })();
  await expect(reading).rejects.toMatchObject({
    line: 3,
    message: 'the row has more than 1 MiB; perhaps a quote is not closed',
  });
  expect([found.length, given < 20]).toEqual([2, true]);
});

test('a first line of more than 64 KiB is refused', async () => {
  const { fault } = await read(Buffer.alloc(200_000, 'x'), 10_000);
  expect(fault).toMatch('1: the first line has more than 64 KiB');
});

test.each(['\n', ','])(
  'a file with nothing but %j ends after 4 MiB',
  async (nothing) => {
    let sent = 0;
    async function* chunks() {
      yield Buffer.from('email\na@example.com\n');
      for (; sent < 64; sent += 1) yield Buffer.alloc(1024 * 1024, nothing);
    }
    const read = async () => {
      for await (const records of recordsOf(chunks())) expect(records.length).toBeGreaterThan(0);
    };
    await expect(read()).rejects.toThrow('the file has 4 MiB without a row');
    expect(sent).toBeLessThan(8);
  },
  30_000,
);

test('a file without a row in time ends, and one with a row may be slow', async () => {
  let nowMs = 0;
  const clock = jest.spyOn(performance, 'now').mockImplementation(() => nowMs);
  const taken = async (...parts: string[]) => {
    async function* chunks() {
      for (const part of parts) {
        yield Buffer.from(part);
        nowMs += 31_000;
      }
    }
    const records = [];
    for await (const some of recordsOf(chunks())) records.push(...some);
    return records.length;
  };
  await expect(taken('email\n', '"a', 'b"\n')).rejects.toThrow('no row came within 30 s');
  expect(await taken('email\nann@example.com\nbob@example.com\n', 'c\n', 'd\n')).toBe(5);
  clock.mockRestore();
});
