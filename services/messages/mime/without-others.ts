import { fieldsOf, headOf, type WrittenField } from './head.ts';

/** Fields that name recipients. */
const recipients = /^(?:(?:resent-)?(?:to|cc)|(?:delivered|apparently|envelope|x-original)-to)$/i;

const betweenAddresses = /[\s<>(),;:"]+/;

/** Whether the header of a mail names a recipient beside one. */
export function namesOthers(mail: Buffer, email: string): boolean {
  const fields = fieldsOf(headOf(mail)) ?? [];
  return fields.some(
    ({ name, value }) =>
      recipients.test(name) &&
      value
        .split(betweenAddresses)
        .some((each) => each.includes('@') && each.toLowerCase() !== email.toLowerCase()),
  );
}

/**
 * A finished mail whose header names no recipient but one. Each recipient of a mail may be erased,
 * and nothing else leads from one to the copies of the others.
 */
export function withoutOthers(mail: Buffer, email: string): Buffer {
  const head = headOf(mail);
  const fields = fieldsOf(head) ?? [];
  const kept = fields.map((field) =>
    recipients.test(field.name) ? ofOne(field, email) : field.bytes,
  );
  return Buffer.concat([...kept, mail.subarray(head.length)]);
}

function ofOne({ name, value }: WrittenField, email: string): Buffer {
  const isNamed = value.toLowerCase().includes(email.toLowerCase());
  return Buffer.from(isNamed ? `${name}: ${email}\r\n` : '');
}
