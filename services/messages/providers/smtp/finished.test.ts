import { expect, test } from '@jest/globals';
import { finishedMail } from '../../mime/mail.ts';
import { givenPool, givenSink, kinds, send } from '../../test/given-pool.ts';

const to = 'ann@example.com';
const mailOf = (subject: string, body: string) =>
  finishedMail(Buffer.from(`From: me@sender.example\r\nSubject: ${subject}\r\n\r\n${body}\r\n`));

test.each([
  ['of ASCII', mailOf('Hi', 'Hello'), ''],
  ['with another body', mailOf('Hi', 'Grüße'), ' BODY=8BITMIME'],
  ['with another header', mailOf('Grüße', 'Hello'), ' BODY=8BITMIME SMTPUTF8'],
])('MAIL of a finished mail %s has the parameters that it needs', async (_, mail, params) => {
  const sink = await givenSink({}, 1);
  const given = { to, from: 'me@sender.example', prepare: () => mail };
  expect(kinds(await send(givenPool(sink.port), [given]))).toEqual(['accepted']);
  expect(sink.envelopes(to)[0]?.[0]).toBe(`MAIL FROM:<me@sender.example>${params}`);
  expect(sink.bodies(to)).toEqual([mail.finished?.toString('latin1')]);
});

test('a finished mail is signed without the dots that SMTP adds', async () => {
  const sink = await givenSink({}, 1);
  const mail = mailOf('Hi', '.\r\n..x\r\n.y');
  const signed: string[] = [];
  const signature = {
    room: 100,
    make(bytes: Buffer, done: (fields: string) => void) {
      signed.push(bytes.toString());
      done('DKIM-Signature: x\r\n');
    },
  };
  await send(givenPool(sink.port), [{ to, prepare: () => mail, signature }]);
  expect(signed).toEqual([`${mail.finished}`]);
  expect(sink.bodies(to)[0]).toContain('\r\n\r\n..\r\n...x\r\n..y\r\n');
});
